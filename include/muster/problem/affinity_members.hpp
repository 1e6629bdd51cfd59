// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <muster/base/id.hpp>
#include <muster/base/sequence.hpp>
#include <muster/cluster/cluster_state.hpp>
#include <muster/index/node_query.hpp>
#include <muster/problem/members.hpp>
#include <muster/problem/reused_list.hpp>

namespace muster {
inline namespace v0_1 {
namespace detail {

/// How pod affinity and topology spread affect the waiting members of a gang.
enum class affinity_effect : std::uint8_t {
    none,
    /// Terms only add to the scores of nodes.
    preferred,
    /// Terms keep members off nodes.
    required,
};

/// Returns the effect on the gang's waiting members. O(members), and O(1) while no pod of the
/// cluster has terms.
template<class Traits>
[[nodiscard]] affinity_effect affinity_effect_on(const cluster_state<Traits>& cluster,
                                                 const gang_members<Traits::width>& members) {
    const pod_population& population = cluster.population();
    if (!population.in_use())
        return affinity_effect::none;
    affinity_effect found = affinity_effect::none;
    for (const auto& shape_class : members.classes) {
        const auto& terms = cluster.constraint_sets()[shape_class.where].value.pods;
        if (!terms)
            continue;
        if (terms->requires_something())
            return affinity_effect::required;
        found = affinity_effect::preferred;
    }
    if (population.anybody_repels())
        for (const pod_index pod : members.pods)
            if (population.repelled(
                    population.identity_of(cluster[pod].labels, cluster[cluster[pod].gang].tenant)))
                return affinity_effect::required;
    return found;
}

/// Returns true if required terms, of the pod or of pods on nodes, may exclude the pod from nodes.
template<class Traits>
[[nodiscard]] bool terms_bear_on(const cluster_state<Traits>& cluster, pod_index pod) {
    const pod_population& population = cluster.population();
    if (!population.in_use())
        return false;
    const auto& terms = cluster.where(pod).value.pods;
    return (terms && terms->requires_something()) ||
           (population.anybody_repels() &&
            population.repelled(
                population.identity_of(cluster[pod].labels, cluster[cluster[pod].gang].tenant)));
}

/// Waiting members of one class of `gang_members` that pod terms cannot distinguish either.
template<std::size_t Width>
struct affinity_class {
    vertex_index role;
    /// Their class in `gang_members`.
    const member_class<Width>* shape = nullptr;
    /// One of their identities. The same selectors match all of their identities.
    identity_index identity;
    /// The terms of their pods, or null.
    const known_terms* terms = nullptr;
    const pod_terms* values = nullptr;
    node_query<Width> query;
    /// The pods, oldest first, then by key.
    std::vector<pod_index> pods;
};

/// A gang's waiting members in classes that also distinguish which pod terms select them.
template<std::size_t Width>
struct affinity_members {
    reused_list<affinity_class<Width>> classes;
    /// The class of every waiting member, in the order of `gang_members::turns`.
    detail::sequence<std::uint32_t> turns;
};

/// Sorts members into these classes. Scratch memory is reused from gang to gang.
template<std::size_t Width>
class identity_sorter {
public:
    /// O(members), plus O(classes) for each pair of identity and class of `members`.
    template<class Traits>
    void sort(const cluster_state<Traits>& cluster, const gang_members<Width>& members,
              affinity_members<Width>& into) {
        const pod_population& population = cluster.population();
        into.classes.clear();
        into.turns.clear();
        used_.assign(members.classes.size(), 0);
        ++round_;
        for (const std::uint32_t shape : members.turns) {
            const member_class<Width>& from = members.classes[shape];
            const pod_index pod = members.of(from)[used_[shape]++];
            const identity_index identity =
                population.identity_of(cluster[pod].labels, cluster[cluster[pod].gang].tenant);
            if (last_of_.size() <= identity.value())
                last_of_.resize(identity.value() + 1);
            entry& last = last_of_[identity.value()];
            if (last.round != round_ || last.shape != shape) {
                std::uint32_t number = 0;
                while (number < into.classes.size() &&
                       !(into.classes[number].shape == &from &&
                         population.alike(into.classes[number].identity, identity)))
                    ++number;
                if (number == into.classes.size())
                    add(cluster, members, from, identity, into);
                last = {round_, shape, number};
            }
            into.classes[last.of].pods.push_back(pod);
            into.turns.push_back(last.of);
        }
    }

private:
    /// Per identity: the class that it was last sorted into.
    struct entry {
        std::uint64_t round = 0;
        std::uint32_t shape = 0;
        std::uint32_t of = 0;
    };

    template<class Traits>
    static void add(const cluster_state<Traits>& cluster, const gang_members<Width>& members,
                    const member_class<Width>& from, identity_index identity,
                    affinity_members<Width>& into) {
        affinity_class<Width>& next = into.classes.add();
        next.role = from.role;
        next.shape = &from;
        next.identity = identity;
        next.query = query_for(cluster, from.shape, members.queue_nodes);
        next.query.of = members.spec;
        const auto& terms = next.query.where->value.pods;
        next.terms = terms ? cluster.population().terms(from.where) : nullptr;
        next.values = terms ? &*terms : nullptr;
        next.pods.clear();
    }

    sequence<entry> last_of_;
    detail::sequence<std::size_t> used_;
    std::uint64_t round_ = 0;
};

} // namespace detail
} // namespace v0_1
} // namespace muster
