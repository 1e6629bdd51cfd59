// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/base/result.hpp>
#include <muster/document/diagnostic.hpp>

namespace muster {
inline namespace v0_1 {
namespace kube {

/// Certificates or keys in PEM: in a file, which is read again for every connection, or in memory.
struct pem_source {
    std::string file;
    std::string pem;

    [[nodiscard]] bool is_there() const noexcept { return !file.empty() || !pem.empty(); }
};

/// A program that prints credentials (client.authentication.k8s.io). It runs only when its path is
/// on the caller's list.
struct exec_plugin {
    std::string command;
    std::vector<std::string> arguments;
    std::vector<std::pair<std::string, std::string>> environment;
    std::string api_version;
};

/// The identity that requests impersonate. The server checks whether that is allowed.
struct impersonation {
    std::string user; ///< empty = no impersonation
    std::string uid;
    std::vector<std::string> groups;
    std::vector<std::pair<std::string, std::vector<std::string>>> extra;

    [[nodiscard]] bool is_empty() const noexcept {
        return user.empty() && uid.empty() && groups.empty() && extra.empty();
    }
};

/// The address of an API server, and the credentials for it.
struct connection {
    std::string server; ///< https://host:port, perhaps with a path; no slash at the end
    /// The name that the server's certificate must be for, instead of the server's host.
    std::string tls_server_name;
    std::string proxy;
    /// Certificate authority of the server; empty = the system's authorities.
    pem_source authority;
    pem_source certificate;
    pem_source key;
    std::string token;
    std::string token_file; ///< counts before `token`
    std::optional<exec_plugin> plugin;
    impersonation as;
    std::string name_space = "default";
    /// False only in tests that ask for it.
    bool verifies = true;

    [[nodiscard]] bool has_credentials() const noexcept {
        return certificate.is_there() || !token.empty() || !token_file.empty() || plugin;
    }
};

/// The parts of the URL of a server.
struct server_url {
    bool tls = true;
    std::string host; ///< IPv6 without brackets
    std::string port;
    std::string prefix; ///< a path without a slash at its end; mostly empty

    [[nodiscard]] bool is_loopback() const {
        return host == "localhost" || host == "::1" || host.starts_with("127.");
    }
};

/// The error says what was expected.
[[nodiscard]] inline result<server_url, std::string> parse_server(std::string_view text) {
    const auto wrong = [&](const char* what) {
        return failure{codec::in_quotes(text) + " " + what + " (expected e.g. https://host:6443)"};
    };
    server_url made;
    std::string_view rest = text;
    made.tls = rest.starts_with("https://");
    if (!made.tls && !rest.starts_with("http://"))
        return wrong("is no URL of a server");
    rest.remove_prefix(made.tls ? 8 : 7);
    for (const char c : rest)
        if (c <= ' ' || c == 0x7F || c == '@' || c == '?' || c == '#' || c == '\\')
            return wrong("holds what the URL of a server does not have");
    const std::size_t slash = rest.find('/');
    made.prefix = slash == std::string_view::npos ? "" : rest.substr(slash);
    while (made.prefix.ends_with('/'))
        made.prefix.pop_back();
    std::string_view authority = rest.substr(0, slash);
    made.port = made.tls ? "443" : "80";
    if (authority.starts_with('[')) {
        const std::size_t end = authority.find(']');
        if (end == std::string_view::npos)
            return wrong("is no URL of a server");
        made.host = authority.substr(1, end - 1);
        authority.remove_prefix(end + 1);
    } else {
        const std::size_t colon = authority.find(':');
        made.host = authority.substr(0, colon);
        authority = colon == std::string_view::npos ? "" : authority.substr(colon);
    }
    if (!authority.empty())
        made.port = authority.starts_with(':') ? authority.substr(1) : "";
    const bool digits = made.port.find_first_not_of("0123456789") == std::string::npos;
    if (made.host.empty() || made.port.empty() || made.port.size() > 5 || !digits ||
        std::stoi(made.port) > 65535)
        return wrong("is no URL of a server");
    return made;
}

/// Returns the impersonation headers (Impersonate-User and so on) of a request.
[[nodiscard]] inline std::vector<std::string> impersonation_lines(const impersonation& as) {
    // A key becomes part of a header name, so characters that are invalid there are escaped.
    const auto escaped = [](std::string_view key) {
        constexpr std::string_view hex = "0123456789ABCDEF";
        constexpr std::string_view fine = "!#$&'*+-.^_`|~";
        std::string made;
        for (const char c : key) {
            const auto byte = static_cast<unsigned char>(c);
            if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                fine.find(c) != std::string_view::npos) {
                made += c;
            } else {
                made += '%';
                made += hex[byte >> 4U];
                made += hex[byte & 15U];
            }
        }
        return made;
    };
    std::vector<std::string> made;
    if (as.user.empty())
        return made;
    made.push_back("Impersonate-User: " + as.user);
    if (!as.uid.empty())
        made.push_back("Impersonate-Uid: " + as.uid);
    for (const std::string& group : as.groups)
        made.push_back("Impersonate-Group: " + group);
    for (const auto& [key, values] : as.extra)
        for (const std::string& value : values)
            made.push_back("Impersonate-Extra-" + escaped(key) + ": " + value);
    return made;
}

/// What speaks against using a connection as it is; empty when nothing does. Plain HTTP is for
/// `kubectl proxy` on this machine, without credentials.
[[nodiscard]] inline std::string refuse(const connection& to) {
    const auto url = parse_server(to.server);
    if (!url)
        return url.error();
    if (!url->tls && to.has_credentials())
        return codec::in_quotes(to.server) +
               " would send credentials over plain HTTP (expected https)";
    if (!url->tls && !url->is_loopback())
        return codec::in_quotes(to.server) +
               " is plain HTTP to another machine (expected https, or kubectl proxy on this one)";
    if (to.as.user.empty() && !to.as.is_empty())
        return "a uid, groups or extra fields are impersonated without a user (expected as)";
    if (to.certificate.is_there() != to.key.is_there())
        return "a client certificate and its key come together (expected both or neither)";
    return {};
}

/// A server that asks for no credentials, such as `kubectl proxy`; the error says what speaks
/// against it.
[[nodiscard]] inline result<connection, std::string> plain_connection(std::string server) {
    while (server.ends_with('/'))
        server.pop_back();
    connection made;
    made.server = std::move(server);
    if (std::string wrong = refuse(made); !wrong.empty())
        return failure{std::move(wrong)};
    return made;
}

} // namespace kube
} // namespace v0_1
} // namespace muster
