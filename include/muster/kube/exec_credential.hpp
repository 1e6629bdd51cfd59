// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include <muster/base/result.hpp>
#include <muster/base/timestamp.hpp>
#include <muster/kube/arrived.hpp>
#include <muster/kube/connection.hpp>
#include <muster/kube/plugin_environment.hpp>
#include <muster/kube/time.hpp>

namespace muster {
inline namespace v0_1 {
namespace kube {

struct exec_credential {
    std::string token;       ///< empty = only a certificate
    std::string certificate; ///< PEM, with `key`; empty = only a token
    std::string key;
    /// In wall clock time; absent: for as long as the server takes it.
    std::optional<std::int64_t> expires;
};

/// Reads what a plugin printed. The error never holds what it printed.
[[nodiscard]] inline result<exec_credential, std::string> read_exec_credential(std::string text) {
    std::string wrong;
    const auto document = detail::one_document("ExecCredential", std::move(text), wrong);
    if (!document)
        return failure{std::string("printed something that is not one JSON object")};
    const boost::json::object& top = document->root().get_object();
    const boost::json::object* const status = detail::object_in(top, "status");
    if (detail::string_in(top, "kind") != "ExecCredential" || !status)
        return failure{std::string("printed no ExecCredential with a status")};
    exec_credential made;
    made.token = detail::string_in(*status, "token");
    made.certificate = detail::string_in(*status, "clientCertificateData");
    made.key = detail::string_in(*status, "clientKeyData");
    for (const std::string* const pem : {&made.certificate, &made.key})
        if (!pem->empty() && pem->find("-----BEGIN ") == std::string::npos)
            return failure{std::string("printed a client certificate or key that is not PEM")};
    if (made.certificate.empty() != made.key.empty())
        return failure{std::string("printed a client certificate or a key alone (expected both)")};
    if ((made.token.empty() && made.certificate.empty()) ||
        made.token.find_first_of("\r\n") != std::string::npos)
        return failure{std::string("printed no token and no client certificate")};
    const std::string expires = detail::string_in(*status, "expirationTimestamp");
    if (!expires.empty()) {
        made.expires = parse_timestamp(expires);
        if (!made.expires)
            return failure{std::string("printed an expirationTimestamp that is no RFC 3339 time")};
    }
    return made;
}

/// Runs a plugin without a shell, with nothing in its environment but HOME, a PATH and what its
/// entry lists, and waits for at most `patience`. What it says on stderr is for the user. The
/// caller has seen to it that it may be run.
[[nodiscard]] inline result<exec_credential, std::string>
run_exec_plugin(const exec_plugin& plugin, const std::string& home,
                std::int64_t patience = 30 * second) {
    const auto failed = [&](const std::string& what) {
        return failure{"the credential plugin " + codec::in_quotes(plugin.command) + " " + what};
    };
    for (const auto& [name, value] : plugin.environment)
        if (!is_plugin_variable(name))
            return failed("may not be run: " + refused_variable_text(name));
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return failed(std::string("has no pipe: ") + std::strerror(errno));
    std::vector<std::string> words{plugin.command};
    words.insert(words.end(), plugin.arguments.begin(), plugin.arguments.end());
    const boost::json::object info{{"apiVersion", plugin.api_version},
                                   {"kind", "ExecCredential"},
                                   {"spec", {{"interactive", false}}}};
    std::vector<std::string> environment{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + home,
                                         "KUBERNETES_EXEC_INFO=" + boost::json::serialize(info)};
    for (const auto& [name, value] : plugin.environment)
        environment.push_back(name + "=" + value);
    const auto pointers = [](std::vector<std::string>& texts) {
        std::vector<char*> made;
        for (std::string& text : texts)
            made.push_back(text.data());
        made.push_back(nullptr);
        return made;
    };
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, ends[1], 1);
    pid_t child = 0;
    const int spawned = posix_spawn(&child, plugin.command.c_str(), &files, nullptr,
                                    pointers(words).data(), pointers(environment).data());
    posix_spawn_file_actions_destroy(&files);
    close(ends[1]);
    if (spawned != 0) {
        close(ends[0]);
        return failed(std::string("cannot be run: ") + std::strerror(spawned));
    }
    constexpr std::size_t most = 1U << 20U;
    std::string printed;
    const auto started = std::chrono::steady_clock::now();
    const auto left = [&] {
        const auto gone = std::chrono::duration_cast<std::chrono::nanoseconds>(
            std::chrono::steady_clock::now() - started);
        return patience - gone.count();
    };
    bool ended = false;
    while (!ended && printed.size() <= most && left() > 0) {
        pollfd waits{ends[0], POLLIN, 0};
        if (poll(&waits, 1, static_cast<int>(left() / millisecond) + 1) <= 0)
            continue;
        char part[4096];
        const ssize_t got = ::read(ends[0], part, sizeof part);
        if (got > 0)
            printed.append(part, static_cast<std::size_t>(got));
        else if (got == 0 || errno != EINTR)
            ended = true;
    }
    close(ends[0]);
    int status = 0;
    pid_t waited = 0;
    while (ended && left() > 0 && (waited = waitpid(child, &status, WNOHANG)) == 0)
        poll(nullptr, 0, 5);
    if (waited != child) {
        kill(child, SIGKILL);
        while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
        }
        return failed(printed.size() > most ? "printed too much" : "took too long");
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return failed("failed");
    auto made = read_exec_credential(std::move(printed));
    if (!made)
        return failed(made.error());
    return made;
}

} // namespace kube
} // namespace v0_1
} // namespace muster
