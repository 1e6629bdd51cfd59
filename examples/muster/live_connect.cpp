// SPDX-License-Identifier: Apache-2.0
#include "live_connect.hpp"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <utility>
#include <vector>

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
            say(made.error());
            return std::nullopt;
        }
        return std::move(made).value();
    };
    if (!asked.server.empty())
        return taken(kube::plain_connection(asked.server));
    std::vector<std::string> files{asked.kubeconfig};
    if (asked.kubeconfig.empty())
        files = kube::kubeconfig_paths(variable("KUBECONFIG"), variable("HOME"));
    bool any = !asked.kubeconfig.empty() || variable("KUBECONFIG") != nullptr;
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
        say(to_text(each));
    return made;
}

} // namespace

void say(const std::string& line) {
    std::fprintf(stderr, "%s\n", line.c_str());
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
    say(made.error());
    return nullptr;
}

} // namespace cli
