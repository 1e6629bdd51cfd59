// SPDX-License-Identifier: Apache-2.0
// muster: translate
// Plans a cluster from files, such as those that `muster snapshot` or `kubectl get -o yaml` writes.
#include <cstdio>
#include <string>
#include <vector>

#include <muster/cycle/cycle.hpp>
#include <muster/explain/explain.hpp>
#include <muster/input/cluster.hpp>
#include <muster/input/cluster_input.hpp>
#include <muster/input/read_inputs.hpp>

int main(int argc, char** argv) {
    std::vector<std::string> files(argv + 1, argv + argc);
    if (files.empty())
        files = {"data/deadlock-gangs.yaml", "data/gpu-node-0.yaml"};

    muster::codec::diagnostics found;
    auto documents = muster::codec::read_inputs(files, found);
    const auto objects = muster::codec::read_cluster(documents, {}, found);
    auto cluster = muster::codec::make_cluster(objects, {}, found);
    for (const auto& finding : found.findings())
        std::fprintf(stderr, "%s\n", to_text(finding).c_str());
    if (!cluster || !found.ok())
        return 1;

    auto& state = cluster->state;
    for (const auto& decision : muster::cycle(state, cluster->now).decisions) {
        const bool starts = decision.outcome.kind == muster::answer::admitted;
        std::printf("%s %s\n", state.key(decision.gang).name.c_str(), starts ? "starts" : "waits");
        for (const auto& [pod, node] : decision.placements)
            std::printf("  %s on %s\n", state.key(pod).name.c_str(), state.key(node).c_str());
        if (!starts)
            for (const auto& reason : muster::explain(state, decision.gang))
                std::printf("  %s\n", std::string(name_of(reason.code)).c_str());
    }
}
