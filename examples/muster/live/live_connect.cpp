// SPDX-License-Identifier: Apache-2.0
#include "live_connect.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <optional>
#include <utility>
#include <vector>

#include <muster/kube/clock.hpp>
#include <muster/kube/kubeconfig.hpp>

namespace cli {

namespace {

namespace kube = muster::kube;

volatile std::sig_atomic_t stop_signal = 0;
void note_signal(int which) {
    stop_signal = which;
}

const char* variable(const char* name) {
    return std::getenv(name);
}

std::optional<kube::connection> find_connection(const live_request& asked) {
    const auto taken = [](auto made) -> std::optional<kube::connection> {
        if (!made) {
            log_error(made.error());
            return std::nullopt;
        }
        return std::move(made).value();
    };
    if (!asked.server.empty())
        return taken(kube::plain_connection(asked.server));
    std::vector<std::string> files{asked.kubeconfig};
    if (asked.kubeconfig.empty())
        files = kube::kubeconfig_paths(variable("KUBECONFIG"), variable("HOME"));
    const char* const named = variable("KUBECONFIG");
    bool any = !asked.kubeconfig.empty() || (named != nullptr && *named != '\0');
    for (const std::string& file : files)
        any = any || kube::read_small_file(file).has_value();
    const char* const host = variable("KUBERNETES_SERVICE_HOST");
    const char* const port = variable("KUBERNETES_SERVICE_PORT");
    if (!any && host != nullptr)
        return taken(kube::in_cluster_connection(host, port ? port : ""));
    kube::kubeconfig_options how;
    how.context = asked.context;
    how.allowed_plugins = asked.allowed_plugins;
    muster::codec::diagnostics found;
    auto made = kube::load_kubeconfig(files, how, found);
    for (const auto& each : found.findings())
        write_log(each.level == muster::codec::severity::error ? log_level::error
                                                               : log_level::warning,
                  to_text(each));
    return made;
}

} // namespace

void say_not_listed() {
    log_error("the first listing did not finish in time (see --timeout)");
}

void complaints::say_new(std::vector<std::string> found) {
    for (const std::string& each : found)
        if (std::ranges::find(said_, each) == said_.end())
            log_warning(each);
    said_ = std::move(found);
}

std::string own_identity() {
    std::array<char, 256> name{};
    const bool named = gethostname(name.data(), name.size() - 1) == 0;
    return std::string(named ? name.data() : "muster") + "_" + std::to_string(getpid()) + "_" +
           std::to_string(kube::read_clock().wall);
}

std::optional<kube::lease_options> election_of(const leading_request& asked,
                                               const std::string& identity, std::uint64_t seed) {
    if (!asked.elects)
        return std::nullopt;
    kube::lease_options how;
    how.name_space = asked.lease_namespace;
    how.name = asked.lease_name;
    how.identity = identity;
    how.duration = asked.lease_seconds * kube::second;
    how.renew_deadline = how.duration * 2 / 3;
    how.retry = std::max<std::int64_t>(how.duration * 2 / 15, 100 * kube::millisecond);
    how.seed = seed;
    return how;
}

bool told_to_stop() {
    static const bool listening = [] {
        std::signal(SIGINT, note_signal);
        std::signal(SIGTERM, note_signal);
        return true;
    }();
    return listening && stop_signal != 0;
}

std::unique_ptr<kube::transport> connect(const live_request& asked) {
    auto to = find_connection(asked);
    if (!to)
        return nullptr;
    auto made = kube::transport::open(std::move(*to));
    if (made)
        return std::move(made).value();
    log_error(made.error());
    return nullptr;
}

} // namespace cli
