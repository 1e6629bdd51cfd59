// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <muster/cycle/decision.hpp>
#include <muster/testing/gang_view.hpp>

namespace muster::inline v0_1 {
namespace testing {

/// Makes a decision's placements facts: the pods are observed bound. The naive way to follow a
/// cycle, by events only.
template<class Traits>
void observe_bound(state<Traits>& known, const decision& made) {
    for (const placement& one : made.placements) {
        const auto pod = known[one.pod];
        auto spec = known.spec_of(one.pod);
        spec.phase = pod_phase::bound;
        const event_result seen =
            known.upsert_pod(pod.key, known[pod.gang].key, spec, known[one.node].key);
        MUSTER_ASSERT(seen == event_result::applied, "a placement can be observed");
        static_cast<void>(seen);
    }
}

/// What is wrong with one decision on the state as it was just before: over-committed nodes,
/// ineligible nodes, conflicting ports, quotas exceeded, pods that do not wait, gangs or subgroups
/// placed in part. Empty when all is well.
template<class Traits>
[[nodiscard]] std::string fault_of(const state<Traits>& before, const decision& made) {
    if (made.placements.empty())
        return {};
    if (made.outcome.kind != answer::admitted)
        return "a gang that is not admitted places pods";
    auto view = view_of(before, made.gang, certificate_scope::free_now);
    std::vector<std::int64_t> counts = view.holding;
    std::vector<bool> placed(view.waiting.size(), false);
    for (const placement& one : made.placements) {
        std::size_t at = 0;
        while (at < view.waiting.size() && view.waiting[at].pod != one.pod)
            ++at;
        if (at == view.waiting.size())
            return "a pod is placed that does not wait in this gang";
        if (placed[at])
            return "a pod is placed twice";
        placed[at] = true;
        std::size_t node = 0;
        while (node < view.nodes.size() && view.nodes[node].node != one.node)
            ++node;
        if (node == view.nodes.size())
            return "a pod is placed on a node that is not there";
        const auto& pod = *view.waiting[at].spec;
        auto& target = view.nodes[node];
        if (!view.welcome(pod.where, *target.spec))
            return "a node is not eligible";
        for (std::size_t vertex = 0; vertex < view.tree->size(); ++vertex) {
            const auto& how = (*view.tree)[vertex].together;
            if (!how || !how->required || !lies_below(*view.tree, view.waiting[at].role, vertex))
                continue;
            const standpoint here = stands(*target.spec, how->within, *how->required);
            const auto allowed = view.standpoints(vertex, how->within, *how->required);
            if (!here || std::find(allowed.begin(), allowed.end(), here) == allowed.end())
                return "members are kept apart that must stand together";
        }
        view.occupied.push_back({view.waiting[at].role, target.spec});
        if (clash(pod.where.ports, target.ports))
            return "host ports conflict";
        if (!draw(pod.request, target.free))
            return "a node is over-committed";
        target.ports.insert(target.ports.end(), pod.where.ports.begin(), pod.where.ports.end());
        for (std::size_t kind = 0; kind < Traits::width; ++kind) {
            if (!view.quota_left[kind] || pod.request[kind] == 0)
                continue;
            *view.quota_left[kind] -= pod.request[kind];
            if (*view.quota_left[kind] < 0)
                return "a quota is exceeded";
        }
        ++counts[view.waiting[at].role];
    }
    for (std::size_t vertex = 0; vertex < counts.size(); ++vertex) {
        if (counts[vertex] == view.holding[vertex])
            continue;
        for (std::size_t above = vertex;; above = (*view.tree)[above].parent) {
            if (!judge(*view.tree, above, counts).met)
                return above == 0 ? "a gang is placed in part" : "a subgroup is placed in part";
            if (above == 0)
                break;
        }
    }
    return {};
}

/// The first fault of a cycle's result on the state as it was before the cycle, or nothing.
template<class Traits>
[[nodiscard]] std::string check_placements(state<Traits> before, const cycle_result& result) {
    for (const decision& made : result.decisions) {
        std::string fault = fault_of(before, made);
        if (!fault.empty())
            return fault;
        observe_bound(before, made);
    }
    return {};
}

} // namespace testing
} // namespace muster::inline v0_1
