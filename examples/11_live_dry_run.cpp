// SPDX-License-Identifier: Apache-2.0
// muster: kube
// Prints what Muster would start on a live cluster, and writes nothing. Reads the API server at a
// URL without authentication, such as that of kubectl proxy or `muster up --plain`.
#include <cstdio>
#include <string>

#include <muster/adapter/cluster_view.hpp>
#include <muster/cycle/cycle.hpp>
#include <muster/kube/cluster.hpp>
#include <muster/kube/dialect.hpp>
#include <muster/kube/transport.hpp>

namespace kube = muster::kube;

/// Waits until all objects are listed. Returns false after ten seconds without that.
template<class Cluster, class View>
bool list_everything(Cluster& cluster, View& view) {
    const std::int64_t end = cluster.now().steady + 10 * kube::second;
    while (!cluster.observe(view).synced) {
        if (cluster.now().steady >= end)
            return false;
        cluster.pump(kube::second);
    }
    return true;
}

int main(int argc, char** argv) {
    const std::string url = argc > 1 ? argv[1] : "http://127.0.0.1:8001";
    auto to = kube::plain_connection(url);
    if (!to) {
        std::fprintf(stderr, "%s\n", to.error().c_str());
        return 1;
    }
    auto opened = kube::transport::open(std::move(to).value());
    if (!opened) {
        std::fprintf(stderr, "%s\n", opened.error().c_str());
        return 1;
    }

    // Selects the pods that name T9k's scheduler. muster::core has cycles for 32 resource kinds.
    kube::cluster_options options;
    options.live.dialects = {kube::dialect::t9k};
    options.live.scheduler_names = kube::scheduler_names_of(options.live.dialects);
    kube::cluster<32> cluster(**opened, options);
    muster::state<kube::cluster<32>::traits> state(cluster.objects().pods_kind());
    muster::adapter::cluster_view view(state);
    if (!list_everything(cluster, view)) {
        for (const std::string& trouble : cluster.troubles())
            std::fprintf(stderr, "%s\n", trouble.c_str());
        return 1;
    }

    for (const auto& decision : muster::cycle(state, cluster.now().wall).decisions) {
        const bool starts = decision.outcome.kind == muster::answer::admitted;
        std::printf("%s %s\n", state.key(decision.gang).name.c_str(), starts ? "starts" : "waits");
        for (const auto& [pod, node] : decision.placements)
            std::printf("  %s on %s\n", state.key(pod).name.c_str(), state.key(node).c_str());
    }
}
