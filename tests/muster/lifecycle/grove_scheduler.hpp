// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <muster/apis/core/pod_reader.hpp>
#include <muster/apis/grove/pods.hpp>
#include <muster/cluster/state.hpp>
#include <muster/cycle/cycle.hpp>
#include <muster/input/gang_reader.hpp>
#include <muster/vocabulary/traits.hpp>

#include "muster/lifecycle/grove_server.hpp"

namespace lifecycle_grove {

/// A scheduler for the server's pods: Muster's core, told what its API says of gangs.
struct grove_scheduler {
    static constexpr std::size_t width = 4; // cpu, memory, GPUs, pods
    using cluster = muster::state<muster::string_traits<width>>;

    int nodes = 4; ///< of 8 GPUs each

    static muster::resources<width> request_of(const muster::codec::pod_object& pod) {
        muster::resources<width> made;
        const char* const kinds[] = {"cpu", "memory", "nvidia.com/gpu"};
        for (std::size_t at = 0; at < 3; ++at)
            if (const auto amount = pod.requests.find(kinds[at]); amount != pod.requests.end())
                made[muster::kind_id{at}] = static_cast<std::int64_t>(
                    at == 0 ? amount->second.milli : (amount->second.milli + 999) / 1000);
        made[muster::kind_id{3}] = 1;
        return made;
    }

    /// One cycle over all gangs: places pods, which run at once. In the dialect `seed` it takes
    /// their gates first; elsewhere gated pods are not its affair. How many were placed.
    int run(grove_server& server) const {
        using muster::event_result;
        cluster known;
        for (int at = 0; at < nodes; ++at) {
            muster::node<width> node;
            node.allocatable[muster::kind_id{0}] = 96'000;
            node.allocatable[muster::kind_id{1}] = std::int64_t{512} << 30;
            node.allocatable[muster::kind_id{2}] = 8;
            node.allocatable[muster::kind_id{3}] = 110;
            REQUIRE(known.upsert_node("node-" + std::to_string(at), node) == event_result::applied);
        }
        // The scheduler reads what it knows: the derived objects and the pods, but no PodGangs.
        muster::codec::diagnostics out;
        std::vector<muster::codec::document> documents;
        for (const auto& [key, each] : server.objects) {
            if (key.starts_with("grove.io/") || key.starts_with("scheduler.grove.io/") ||
                key.starts_with("Service "))
                continue;
            json::object copy = each;
            copy["metadata"].as_object().erase("ownerReferences");
            if (key.starts_with("Pod "))
                copy["metadata"].as_object()["labels"].as_object().erase("grove.io/podgang");
            for (auto& read : muster::codec::read_documents(key, json::serialize(copy), out))
                documents.push_back(std::move(read));
        }
        const auto gangs = muster::codec::read_gangs(documents, {}, out);
        for (const auto& finding : out.findings())
            if (finding.level == muster::codec::severity::error)
                FAIL(to_text(finding));
        for (const auto& bundle : gangs.bundles) {
            muster::gang<std::string> gang;
            gang.tree = bundle.gang.tree;
            REQUIRE(known.upsert_gang(bundle.gang.name, gang) == event_result::applied);
            for (const auto& member : bundle.pods) {
                const auto name =
                    muster::lifecycle::detail::text_at(member.document, "metadata", "name");
                const json::object& document = server.at("Pod " + std::string(name));
                muster::codec::diagnostics findings;
                const auto read =
                    muster::codec::read_documents("pod", json::serialize(document), findings);
                muster::codec::object_reader root(read.at(0), findings);
                muster::codec::reading_context context;
                const auto object = muster::codec::read_pod(root, context);
                muster::pod<width> pod;
                pod.role = member.leaf;
                pod.request = request_of(object);
                pod.phase = object.phase;
                if (pod.phase == muster::pod_phase::gated && server.dialect == grove_dialect::seed)
                    pod.phase = muster::pod_phase::pending;
                std::optional<std::string> node;
                if (!object.node.empty())
                    node = object.node;
                REQUIRE(known.upsert_pod(std::string(name), bundle.gang.name, std::move(pod),
                                         node) == event_result::applied);
            }
        }
        int placed = 0;
        for (const auto& made : muster::cycle(known, 0).decisions)
            for (const auto& [pod, node] : made.placements) {
                json::object& document = server.at("Pod " + known.key(pod));
                muster::translate::open_grove_gate(document, server.dialect);
                server.run_pod(document, known.key(node));
                ++placed;
            }
        return placed;
    }
};

} // namespace lifecycle_grove
