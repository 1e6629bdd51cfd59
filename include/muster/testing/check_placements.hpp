// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <muster/base/assert.hpp>
#include <muster/cluster/state.hpp>
#include <muster/testing/meeting_costs.hpp>
#include <muster/testing/node_rules.hpp>
#include <muster/testing/rebuilt_problem.hpp>
#include <muster/vocabulary/answer.hpp>

namespace muster {
inline namespace v0_1 {
namespace testing {

/// Applies a decision to a state by events only: binds placed pods, nominates nominated pods, and
/// evicts or moves the pods that make room for them.
template<class Traits, class Decision>
void observe_bound(state<Traits>& known, const Decision& made) {
    const auto see = [](event_result what) {
        MUSTER_ASSERT(what == event_result::applied, "what was decided can be observed");
        static_cast<void>(what);
    };
    const auto moves_to = [&](pod_index pod) {
        return std::find_if(made.moves.begin(), made.moves.end(),
                            [&](const auto& one) { return one.pod == pod; });
    };
    for (const pod_index pod : made.evictions)
        if (const auto move = moves_to(pod); move != made.moves.end())
            see(known.move(known.key(pod), known.key(move->node)));
        else
            see(known.evict(known.key(pod)));
    for (const auto& [pod, node] : made.placements) {
        const auto key = known.key(pod);
        if (made.nominated) {
            see(known.nominate(key, known.key(node)));
            continue;
        }
        auto spec = known.spec_of(pod);
        spec.phase = pod_phase::bound;
        see(known.upsert_pod(key, known.key(known[pod].gang), spec, known.key(node)));
    }
}

/// Checks one decision on the state as it was just before it, from the records alone: see
/// `rebuilt_problem`.
///
/// Checked: each placed pod is a waiting member and is placed once; its node exists and accepts it;
/// requests, host ports and quotas are respected, counting all running, terminating and nominated
/// pods; topology constraints hold; no vertex of the tree is met in part. For nominated members,
/// the evicted pods have left and the moved pods have arrived. Each evicted pod runs, and its gang
/// keeps its minima or is evicted as a whole.
///
/// Not checked: terms between pods (see `pod_rules.hpp`), disruption budgets, the policy's choice
/// of pods to evict, the order of gangs, reserved room, and whether more could be placed.
template<class Traits>
class placement_checker {
public:
    placement_checker(const state<Traits>& before, gang_index which)
        : known_(before), which_(which), tree_(before[which].spec.tree) {}

    /// What is wrong; empty when all is well.
    template<class Decision>
    [[nodiscard]] std::string fault(const Decision& made) const {
        if (made.outcome.kind != answer::admitted && !made.placements.empty())
            return "a gang that is not admitted places pods";
        supposed beside;
        beside.gone.assign(made.evictions.begin(), made.evictions.end());
        for (const auto& [pod, node] : made.moves)
            beside.moved.push_back({pod, node});
        if (std::string fault = fault_of_evictions(beside, made.stale); !fault.empty())
            return fault;
        bool came = false;
        for (const auto& [pod, node] : made.placements) {
            if (known_[pod].gang != which_)
                return "a pod is placed that does not wait in this gang";
            if (is_in(beside.coming, pod))
                return "a pod is placed twice";
            beside.coming.push_back(pod);
            came = came || known_[pod].nominated;
        }
        // A member that was nominated starts in room that other pods have left, so it counted as
        // future use before.
        rebuilt_problem<Traits> at(known_, which_,
                                   made.nominated ? moment::later
                                   : came         ? moment::now
                                                  : moment::now_and_later,
                                   beside);
        const std::vector<std::int64_t> before = at.holding;
        for (const auto& [pod, node] : made.placements)
            if (std::string fault = fault_of_placement(at, pod, node); !fault.empty())
                return fault;
        for (std::size_t vertex = 0; vertex < tree_.size(); ++vertex)
            if (takes_somebody(at, vertex, before) &&
                costs_of_meeting(tree_, vertex, at.holding, {}).empty())
                return vertex == 0 ? "a gang is placed in part" : "a subgroup is placed in part";
        return {};
    }

private:
    template<class List, class Value>
    [[nodiscard]] static bool is_in(const List& list, const Value& one) {
        return std::find(list.begin(), list.end(), one) != list.end();
    }

    /// Checks a placement, counting the ones checked before, and then counts it too.
    [[nodiscard]] std::string fault_of_placement(rebuilt_problem<Traits>& at, pod_index pod,
                                                 node_index node) const {
        const auto spec = known_.spec_of(pod);
        if (!at.waits(pod) || spec.where.held())
            return "a pod is placed that does not wait in this gang";
        std::size_t to = 0;
        while (to < at.places.size() && at.places[to].node != node)
            ++to;
        if (to == at.places.size())
            return "a pod is placed on a node that is not there";
        auto& place = at.places[to];
        if (!at.welcome(spec.where, *place.spec))
            return "a node is not eligible";
        for (std::size_t vertex = 0; vertex < tree_.size(); ++vertex) {
            const auto& how = tree_[vertex].together;
            if (how && how->required && at.lies_below(spec.role.value(), vertex) &&
                at.domains_open_to(vertex).count(at.domain_of(vertex, *place.spec)) == 0)
                return "members are kept apart that must stand together";
        }
        if (node_rules::clash(spec.where.claims.ports, place.ports))
            return "host ports conflict";
        const device_demand asked = spec.where.claims.devices;
        if (asked != device_demand::none) {
            std::sort(place.devices.begin(), place.devices.end());
            if (known_.accounts().rule().room(place.spec->devices, place.devices, asked, 1) != 1)
                return "devices are over-committed";
            place.devices.push_back(asked);
        }
        for (std::size_t kind = 0; kind < Traits::width; ++kind) {
            const std::int64_t asks = spec.request[kind];
            if (asks > 0 && asks > place.free[kind])
                return "a node is over-committed";
            if (asks > 0 && at.left[kind] && asks > *at.left[kind])
                return "a quota is exceeded";
            place.free[kind] -= asks;
            if (at.left[kind])
                *at.left[kind] -= asks;
        }
        place.ports.insert(place.ports.end(), spec.where.claims.ports.begin(),
                           spec.where.claims.ports.end());
        at.standing.push_back({spec.role.value(), place.spec});
        ++at.holding[spec.role.value()];
        return {};
    }

    [[nodiscard]] bool takes_somebody(const rebuilt_problem<Traits>& at, std::size_t vertex,
                                      const std::vector<std::int64_t>& before) const {
        for (std::size_t role = 0; role < before.size(); ++role)
            if (at.holding[role] > before[role] && at.lies_below(role, vertex))
                return true;
        return false;
    }

    [[nodiscard]] std::string fault_of_evictions(const supposed& beside, bool stale) const {
        for (const pod_index pod : beside.gone) {
            const auto& one = known_[pod];
            if (!one.node || one.phase == pod_phase::succeeded || one.phase == pod_phase::failed ||
                one.nominated || one.terminating || one.evicted ||
                std::count(beside.gone.begin(), beside.gone.end(), pod) > 1)
                return "a pod is evicted that does not stand";
            if ((one.gang == which_) != stale)
                return "a gang evicts members of its own";
            const auto& tree = known_[one.gang].spec.tree;
            rebuilt_problem<Traits> of(known_, one.gang, moment::now);
            const bool met = !costs_of_meeting(tree, 0, of.holding, {}).empty();
            std::size_t left = 0;
            for (const pod_index member : known_[one.gang].members) {
                const auto& other = known_[member];
                const bool goes = is_in(beside.gone, member);
                const bool stays =
                    std::any_of(beside.moved.begin(), beside.moved.end(),
                                [&](const auto& each) { return each.first == member; });
                of.holding[other.role.value()] -= goes && !stays ? 1 : 0;
                left += other.node && other.phase != pod_phase::succeeded && !other.terminating &&
                                !other.evicted && (!goes || stays)
                            ? 1U
                            : 0U;
            }
            if (met && left > 0 && costs_of_meeting(tree, 0, of.holding, {}).empty())
                return "a gang is left below its minima";
        }
        for (const auto& [pod, node] : beside.moved)
            if (!is_in(beside.gone, pod) || known_[pod].node == node)
                return "a pod is moved that does not go";
        return {};
    }

    const state<Traits>& known_;
    gang_index which_;
    const gang_tree& tree_;
};

/// What is wrong with one decision on the state as it was just before; empty when all is well.
template<class Traits, class Decision>
[[nodiscard]] std::string fault_of(const state<Traits>& before, const Decision& made) {
    return placement_checker<Traits>(before, made.gang).fault(made);
}

/// The first fault of a cycle's result on the state as it was before the cycle, or nothing.
template<class Traits, class Result>
[[nodiscard]] std::string check_placements(state<Traits> before, const Result& result) {
    for (const auto& made : result.decisions) {
        std::string fault = fault_of(before, made);
        if (!fault.empty())
            return fault;
        observe_bound(before, made);
    }
    return {};
}

} // namespace testing
} // namespace v0_1
} // namespace muster
