// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/apis/core/reading_context.hpp>
#include <muster/base/result.hpp>
#include <muster/document/diagnostic.hpp>
#include <muster/document/document.hpp>
#include <muster/document/field_reader.hpp>
#include <muster/input/read_documents.hpp>
#include <muster/kube/base64.hpp>
#include <muster/kube/connection.hpp>
#include <muster/kube/plugin_environment.hpp>

namespace muster {
inline namespace v0_1 {
namespace kube {

struct kubeconfig_options {
    /// The context to use; empty: the current one.
    std::string context;
    /// The absolute paths of programs that may be run for credentials. None by default.
    std::vector<std::string> allowed_plugins;
    /// For tests only: take insecure-skip-tls-verify at its word.
    bool allow_insecure = false;
};

/// A small file, whole; nothing when it cannot be read or holds more than 1 MiB.
[[nodiscard]] inline std::optional<std::string> read_small_file(const std::string& path) {
    constexpr std::size_t most = 1U << 20U;
    std::ifstream in(path, std::ios::binary);
    if (!in)
        return std::nullopt;
    std::string text(most + 1, '\0');
    in.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(in.gcount()));
    if (in.bad() || text.size() > most)
        return std::nullopt;
    return text;
}

namespace detail {

/// Reads one connection from the documents of kubeconfig files, in the order in which they count.
class kubeconfig_reader {
public:
    kubeconfig_reader(const std::vector<codec::document>& files, const kubeconfig_options& how,
                      codec::diagnostics& out)
        : files_(&files), how_(&how), out_(&out) {}

    [[nodiscard]] std::optional<connection> read() {
        std::string context = how_->context;
        for (const codec::document& file : *files_) {
            codec::object_reader top(file, *out_);
            const auto current = top.optional("current-context").as_string();
            if (context.empty() && current)
                context = *current;
            top.ignore({"apiVersion", "kind", "preferences", "clusters", "users", "contexts",
                        "extensions"});
            top.finish();
        }
        if (context.empty())
            return missing("no context is chosen (expected current-context, or one by name)");
        const bool found = entry("contexts", "context", context, [&](codec::object_reader& chosen) {
            const auto home = chosen.optional("namespace").as_string();
            if (home && !home->empty())
                made_.name_space = *home;
            const codec::field cluster = chosen.required("cluster");
            const codec::field user = chosen.optional("user");
            chosen.ignore({"extensions"});
            refer("clusters", "cluster", cluster,
                  [&](codec::object_reader& body) { read_cluster(body); });
            if (!user.as_string().value_or("").empty())
                refer("users", "user", user, [&](codec::object_reader& body) { read_user(body); });
        });
        if (!found)
            return missing("there is no context " + codec::in_quotes(context) +
                           " (expected the name of one)");
        if (!out_->ok())
            return std::nullopt;
        if (std::string wrong = refuse(made_); !wrong.empty())
            return missing(std::move(wrong));
        return std::move(made_);
    }

private:
    std::optional<connection> missing(std::string what) {
        out_->error({files_->empty() ? "kubeconfig" : files_->front().file(), 0, 0},
                    std::move(what));
        return std::nullopt;
    }

    /// Reads the body of the first entry of a list that has this name; false when there is none.
    template<class Visit>
    bool entry(std::string_view list, std::string_view body, std::string_view name,
               const Visit& visit) {
        for (const codec::document& file : *files_) {
            codec::object_reader top(file, *out_);
            const codec::field list_at = top.optional(list);
            const codec::array_reader entries = list_at.as_array();
            for (std::size_t at = 0; at < entries.size(); ++at) {
                const codec::field entry_at = entries[at];
                codec::object_reader one = entry_at.as_object();
                if (one.required("name").as_string() != name)
                    continue;
                const codec::field body_at = one.required(body);
                codec::object_reader inner = body_at.as_object();
                folder_ = folder_of(file.file());
                visit(inner);
                inner.finish();
                return true;
            }
        }
        return false;
    }

    template<class Visit>
    void refer(std::string_view list, std::string_view body, const codec::field& from,
               const Visit& visit) {
        const auto name = from.as_string();
        if (name && !entry(list, body, *name, visit))
            from.error("there is no " + std::string(body) + " " + codec::in_quotes(*name) +
                       " (expected the name of one)");
    }

    void read_cluster(codec::object_reader& from) {
        const codec::field server = from.required("server");
        if (const auto text = server.as_string()) {
            made_.server = *text;
            while (made_.server.ends_with('/'))
                made_.server.pop_back();
            if (const auto url = parse_server(made_.server); !url)
                server.error(url.error());
        }
        made_.tls_server_name = text_of(from.optional("tls-server-name"));
        made_.proxy = text_of(from.optional("proxy-url"));
        made_.authority = read_pem(from, "certificate-authority", "certificate-authority-data");
        const codec::field insecure = from.optional("insecure-skip-tls-verify");
        if (insecure.as_boolean().value_or(false)) {
            made_.verifies = false;
            if (!how_->allow_insecure)
                insecure.error("is not supported (expected certificate-authority-data)");
        }
        from.ignore({"disable-compression", "extensions"});
    }

    void read_user(codec::object_reader& from) {
        made_.certificate = read_pem(from, "client-certificate", "client-certificate-data");
        made_.key = read_pem(from, "client-key", "client-key-data");
        const codec::field token = from.optional("token");
        made_.token = text_of(token);
        if (made_.token.find_first_of("\r\n") != std::string::npos)
            token.error("holds a line end (expected one line)");
        made_.token_file = located(text_of(from.optional("tokenFile")));
        if (const codec::field plugin = from.optional("exec"); plugin.is_present())
            read_plugin(plugin);
        read_impersonation(from);
        for (const std::string_view key : {"username", "password", "auth-provider"})
            if (const codec::field other = from.optional(key); other.is_present())
                other.error(
                    "is not supported (expected a client certificate, a token or tokenFile)");
        from.ignore({"extensions"});
    }

    void read_impersonation(codec::object_reader& from) {
        const auto line = [](const codec::field& at, std::string_view text) {
            if (text.find_first_of(std::string_view("\r\n\0", 3)) != std::string_view::npos)
                at.error("holds a line end (expected one line)");
            return std::string(text);
        };
        const auto lines = [&](const codec::field& at) {
            const codec::array_reader list = at.as_array();
            std::vector<std::string> made = codec::read_strings(list);
            for (const std::string& each : made)
                static_cast<void>(line(at, each));
            return made;
        };
        const codec::field user = from.optional("as");
        made_.as.user = line(user, text_of(user));
        const codec::field uid = from.optional("as-uid");
        made_.as.uid = line(uid, text_of(uid));
        made_.as.groups = lines(from.optional("as-groups"));
        const codec::field extra_at = from.optional("as-user-extra");
        codec::object_reader extra = extra_at.as_object();
        if (extra_at.is_present() && extra_at.value()->is_object())
            for (const auto& member : extra_at.value()->get_object()) {
                const std::string_view key(member.key());
                made_.as.extra.emplace_back(std::string(key), lines(extra.optional(key)));
            }
    }

    void read_plugin(const codec::field& at) {
        codec::object_reader from = at.as_object();
        exec_plugin made;
        const codec::field command = from.required("command");
        made.command = text_of(command);
        made.api_version = text_of(from.required("apiVersion"));
        const codec::field arguments_at = from.optional("args");
        const codec::array_reader arguments = arguments_at.as_array();
        made.arguments = codec::read_strings(arguments);
        const codec::field environment_at = from.optional("env");
        const codec::array_reader environment = environment_at.as_array();
        environment.for_each_object([&](codec::object_reader& each) {
            const codec::field name_at = each.required("name");
            std::string name = text_of(name_at);
            if (!is_plugin_variable(name))
                name_at.error(refused_variable_text(name));
            made.environment.emplace_back(std::move(name), text_of(each.required("value")));
            each.finish();
        });
        from.ignore({"installHint", "interactiveMode", "provideClusterInfo"});
        from.finish();
        if (!made.command.starts_with('/') ||
            std::ranges::find(how_->allowed_plugins, made.command) == how_->allowed_plugins.end())
            command.error("the program " + codec::in_quotes(made.command) +
                          " may not be run (expected an absolute path that is allowed by name)");
        made_.plugin = std::move(made);
    }

    pem_source read_pem(codec::object_reader& from, std::string_view file_key,
                        std::string_view data_key) {
        pem_source made;
        const codec::field data = from.optional(data_key);
        const codec::field file = from.optional(file_key);
        if (const auto text = data.as_string(); text && !text->empty()) {
            auto pem = decode_base64(*text);
            if (!pem || pem->find("-----BEGIN ") == std::string::npos)
                data.error("is not PEM in base64");
            else
                made.pem = std::move(*pem);
        } else if (const auto path = file.as_string(); path && !path->empty()) {
            made.file = located(std::string(*path));
            if (const auto held = read_small_file(made.file); !held)
                file.error("the file " + codec::in_quotes(made.file, 256) + " cannot be read");
            else if (held->find("-----BEGIN ") == std::string::npos)
                file.error("the file " + codec::in_quotes(made.file, 256) + " is not PEM");
        }
        return made;
    }

    static std::string text_of(const codec::field& at) {
        return std::string(at.as_string().value_or(""));
    }

    static std::string folder_of(const std::string& file) {
        const std::size_t slash = file.rfind('/');
        return slash == std::string::npos ? "" : file.substr(0, slash + 1);
    }

    /// Paths are relative to the file that they stand in.
    std::string located(std::string path) const {
        return path.empty() || path.starts_with('/') ? path : folder_ + path;
    }

    const std::vector<codec::document>* files_;
    const kubeconfig_options* how_;
    codec::diagnostics* out_;
    std::string folder_;
    connection made_;
};

} // namespace detail

/// The connection that kubeconfig documents describe: of entries with the same name the first
/// counts, as kubectl merges files. What is wrong or not supported goes to `out` with its place,
/// and then there is no connection.
[[nodiscard]] inline std::optional<connection>
read_kubeconfig(const std::vector<codec::document>& files, const kubeconfig_options& how,
                codec::diagnostics& out) {
    return detail::kubeconfig_reader(files, how, out).read();
}

/// The same for files by their paths. Files that are not there are passed over, but one must be.
[[nodiscard]] inline std::optional<connection>
load_kubeconfig(const std::vector<std::string>& paths, const kubeconfig_options& how,
                codec::diagnostics& out) {
    std::vector<codec::document> files;
    for (const std::string& path : paths)
        if (auto text = read_small_file(path))
            for (codec::document& each : codec::read_documents(path, std::move(*text), out))
                files.push_back(std::move(each));
    if (files.empty() && out.ok())
        out.error({paths.empty() ? "kubeconfig" : paths.front(), 0, 0},
                  "cannot be read (expected a kubeconfig)");
    return out.ok() ? read_kubeconfig(files, how, out) : std::nullopt;
}

/// The files that $KUBECONFIG lists, or else the one in the home folder.
[[nodiscard]] inline std::vector<std::string> kubeconfig_paths(const char* kubeconfig,
                                                               const char* home) {
    std::vector<std::string> paths;
    std::string_view rest = kubeconfig ? kubeconfig : "";
    while (!rest.empty()) {
        const std::size_t colon = rest.find(':');
        if (colon != 0)
            paths.emplace_back(rest.substr(0, colon));
        rest.remove_prefix(colon == std::string_view::npos ? rest.size() : colon + 1);
    }
    if (paths.empty() && home)
        paths.push_back(std::string(home) + "/.kube/config");
    return paths;
}

/// What a pod is given to speak with its cluster's server: `host` and `port` are the environment's
/// KUBERNETES_SERVICE_HOST and _PORT.
[[nodiscard]] inline result<connection, std::string>
in_cluster_connection(const std::string& host, const std::string& port,
                      const std::string& folder = "/var/run/secrets/kubernetes.io/serviceaccount") {
    if (host.empty() || port.empty())
        return failure{std::string("this is no pod: KUBERNETES_SERVICE_HOST is not set")};
    connection made;
    const bool is_ipv6 = host.find(':') != std::string::npos;
    made.server = "https://" + (is_ipv6 ? "[" + host + "]" : host) + ":" + port;
    made.token_file = folder + "/token";
    made.authority.file = folder + "/ca.crt";
    for (const std::string& file : {made.token_file, made.authority.file})
        if (!read_small_file(file))
            return failure{file + ": cannot be read (expected the pod's service account)"};
    if (auto home = read_small_file(folder + "/namespace"); home && !home->empty())
        made.name_space = std::move(*home);
    if (std::string wrong = refuse(made); !wrong.empty())
        return failure{std::move(wrong)};
    return made;
}

} // namespace kube
} // namespace v0_1
} // namespace muster
