// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <muster/admission/members.hpp>
#include <muster/base/id.hpp>
#include <muster/index/flat_scan.hpp>
#include <muster/model/state.hpp>

namespace muster::inline v0_1 {
namespace detail {

/// What terms between pods mean for a gang's waiting members.
enum class pod_stake : std::uint8_t {
    nothing,
    /// They only weigh nodes.
    wishes,
    /// They keep members off nodes.
    requirements,
};

/// O(members), and O(1) while nobody carries terms.
template<class Traits>
[[nodiscard]] pod_stake stake_in_pods(const state<Traits>& known,
                                      const gang_members<Traits::width>& members) {
    const pod_population& population = known.population();
    if (!population.in_use())
        return pod_stake::nothing;
    pod_stake found = pod_stake::nothing;
    for (const auto& each : members.classes) {
        const auto& terms = known.constraint_sets()[each.where].value.pods;
        if (!terms)
            continue;
        if (terms->requires_something())
            return pod_stake::requirements;
        found = pod_stake::wishes;
    }
    if (population.anybody_repels())
        for (const pod_index pod : members.pods)
            if (population.repelled(
                    population.identity_of(known[pod].labels, known[known[pod].gang].tenant)))
                return pod_stake::requirements;
    return found;
}

/// Required terms, its own or those of pods that stand, may keep the pod off nodes.
template<class Traits>
[[nodiscard]] bool terms_bear_on(const state<Traits>& known, pod_index pod) {
    const pod_population& population = known.population();
    if (!population.in_use())
        return false;
    const auto& terms = known.where(pod).value.pods;
    return (terms && terms->requires_something()) ||
           (population.anybody_repels() && population.repelled(population.identity_of(
                                               known[pod].labels, known[known[pod].gang].tenant)));
}

/// Waiting members that are alike to every question, those of terms between pods included.
template<std::size_t Width>
struct affinity_class {
    std::size_t role = 0;
    /// The class of `gang_members`.
    const member_class<Width>* shape = nullptr;
    /// One of those that they have; the same selectors match all.
    identity_index identity;
    /// The terms that they carry, or null.
    const known_terms* terms = nullptr;
    const pod_terms* values = nullptr;
    node_query<Width> query;
    /// Oldest first, then by key.
    std::vector<pod_index> pods;
};

/// A gang's waiting members once more, told apart by what terms of other pods see of them too.
template<std::size_t Width>
struct affinity_members {
    std::vector<affinity_class<Width>> classes;
    /// The class of every waiting member, in the order of `gang_members::turns`.
    std::vector<std::uint32_t> turns;
    /// Per vertex: the first of its turns; the next vertex's is the end.
    std::vector<std::size_t> first_turn;
};

/// O(members · log identities).
template<class Traits>
[[nodiscard]] affinity_members<Traits::width>
sort_by_identity(const state<Traits>& known, const gang_members<Traits::width>& members,
                 std::optional<constraint_index> queue_nodes) {
    constexpr std::size_t width = Traits::width;
    const pod_population& population = known.population();
    affinity_members<width> made;
    std::map<std::pair<std::uint32_t, std::vector<selector_index>>, std::uint32_t> class_of;
    std::map<std::pair<std::uint32_t, identity_index>, std::uint32_t> class_of_identity;
    std::vector<std::size_t> used(members.classes.size(), 0);
    for (const std::uint32_t shape : members.turns) {
        const member_class<width>& from = members.classes[shape];
        const pod_index pod = members.of(from)[used[shape]++];
        const identity_index who =
            population.identity_of(known[pod].labels, known[known[pod].gang].tenant);
        const auto [seen, unseen] = class_of_identity.try_emplace({shape, who});
        if (unseen) {
            std::vector<selector_index> matched;
            population.for_each_selector(who,
                                         [&](selector_index each) { matched.push_back(each); });
            const auto [alike, fresh] = class_of.try_emplace(
                {shape, std::move(matched)}, static_cast<std::uint32_t>(made.classes.size()));
            seen->second = alike->second;
            if (fresh) {
                affinity_class<width> next;
                next.role = from.role.value();
                next.shape = &from;
                next.identity = who;
                next.query.request = &from.request;
                next.query.where = &known.constraint_sets()[from.where];
                if (queue_nodes)
                    next.query.queue_nodes = &known.constraint_sets()[*queue_nodes];
                if (next.query.where->value.pods) {
                    next.terms = population.terms(from.where);
                    next.values = &*next.query.where->value.pods;
                }
                made.classes.push_back(std::move(next));
            }
        }
        made.classes[seen->second].pods.push_back(pod);
        made.turns.push_back(seen->second);
    }
    const std::size_t vertices = members.tree->size();
    made.first_turn.assign(vertices + 1, made.turns.size());
    for (std::size_t turn = made.turns.size(); turn-- > 0;)
        made.first_turn[made.classes[made.turns[turn]].role] = turn;
    for (std::size_t vertex = vertices; vertex-- > 0;)
        made.first_turn[vertex] = std::min(made.first_turn[vertex], made.first_turn[vertex + 1]);
    return made;
}

} // namespace detail
} // namespace muster::inline v0_1
