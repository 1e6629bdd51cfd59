// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include <muster/base/assert.hpp>
#include <muster/base/id.hpp>
#include <muster/base/ranges.hpp>
#include <muster/base/sequence.hpp>
#include <muster/cluster/cluster_state.hpp>
#include <muster/plan/plan.hpp>
#include <muster/problem/affinity_domains.hpp>
#include <muster/problem/affinity_members.hpp>
#include <muster/problem/reused_list.hpp>
#include <muster/problem/steady_list.hpp>
#include <muster/vocabulary/taints.hpp>

namespace muster {
inline namespace v0_1 {

/// The kind of term that excludes a pod from a node. If several do, the first in kube-scheduler's
/// order of filters.
enum class affinity_violation : std::uint8_t {
    none,
    /// The node lacks the label key of a spread term.
    spread_label,
    spread,
    affinity,
    anti_affinity,
    /// The required anti-affinity of pods that are already there.
    existing_anti_affinity,
};

namespace detail {

/// The violated kind of term, and the domains of its label key.
struct violated_affinity {
    affinity_violation kind = affinity_violation::none;
    const topology_domains* by = nullptr;
};

/// How the pods to evaluate against differ from the pods in the state.
struct other_pods {
    /// Terminating pods count as gone, and nominated pods as running.
    bool ahead = false;
    /// These pods, which are running or nominated in the state, count as gone.
    std::span<const pod_index> gone;
    /// These placements count as running pods.
    std::span<const placement> come;
};

/// Evaluates pod affinity, anti-affinity and topology spread for the classes of a gang's waiting
/// members, node by node, given the pods on nodes and the members placed so far. The rules are
/// those of kube-scheduler for one pod after the other.
template<class Traits>
class affinity_counts {
public:
    static constexpr std::size_t width = Traits::width;

    affinity_counts() = default;
    affinity_counts(const cluster_state<Traits>& cluster, const affinity_members<width>& members,
                    const other_pods& other = {}) {
        reset(cluster, members, other);
    }
    affinity_counts(const affinity_counts&) = delete;
    affinity_counts& operator=(const affinity_counts&) = delete;

    /// Starts with another gang, of which no member is placed; memory is reused. O(classes · (nodes
    /// + pods that match a term + pods in `other`)).
    void reset(const cluster_state<Traits>& cluster, const affinity_members<width>& members,
               const other_pods& other = {}) {
        cluster_ = &cluster;
        members_ = &members;
        ahead_ = other.ahead;
        differences_.clear();
        views_.clear();
        effects_.clear();
        counts_.clear();
        affinities_.clear();
        spreads_.clear();
        for (std::size_t at = 0; at < members.classes.size(); ++at) {
            views_.add().clear();
            effects_.add().clear();
        }
        for (const pod_index pod : other.gone)
            differs(pod, *cluster[pod].node, -1);
        for (const placement& added : other.come)
            differs(added.pod, added.node, 1);
        for (std::size_t at = 0; at < views_.size(); ++at)
            look(at);
    }

    /// Counts a member of the class as placed (`change` 1) or removed (-1).
    void place(std::size_t of_class, node_index node, std::int64_t change) {
        for (const effect& affected : effects_[of_class]) {
            if (affected.spread) {
                affected.spread->add(node, change);
            } else if (affected.counts) {
                affected.counts->add(node, affected.weight * change);
            } else {
                add_to_affinity(*affected.affinity, node, change, change);
            }
        }
    }

    /// Returns the term that now excludes a member of the class from the node. O(terms).
    [[nodiscard]] violated_affinity violation_on(std::size_t of_class,
                                                 node_index node) const noexcept {
        const view& own = views_[of_class];
        for (const spread& own_spread : own.spreads) {
            if (!own_spread.counts->term().required)
                continue;
            if (!own_spread.counts->has_label(node))
                return {affinity_violation::spread_label, &own_spread.counts->domains()};
            if (own_spread.counts->too_many(node, own_spread.self) ||
                (own_spread.found && own_spread.found->too_many(node, own_spread.self)))
                return {affinity_violation::spread, &own_spread.counts->domains()};
        }
        for (const affinity_view* affinity : own.affinities)
            if (const topology_domains* lonely = unmet(*affinity, node))
                return {affinity_violation::affinity, lonely};
        for (const domain_counts* term_counts : own.apart)
            if (term_counts->at(node) > 0)
                return {affinity_violation::anti_affinity, term_counts->domains};
        for (const domain_counts* term_counts : own.repelled)
            if (term_counts->at(node) > 0)
                return {affinity_violation::existing_anti_affinity, term_counts->domains};
        return {};
    }

    /// Returns true if no member of the class may ever use the node, whichever pods are placed
    /// later: the node lacks the label key of a term or, with `existing_pods`, anti-affinity with
    /// pods on nodes excludes it.
    [[nodiscard]] bool kept_off(std::size_t of_class, node_index node,
                                bool existing_pods) const noexcept {
        const view& own = views_[of_class];
        const auto met = [&](const domain_counts* term_counts) {
            return term_counts->at(node) > 0;
        };
        return detail::any_of(own.spreads,
                              [&](const spread& own_spread) {
                                  return own_spread.counts->term().required &&
                                         !own_spread.counts->has_label(node);
                              }) ||
               detail::any_of(own.affinities,
                              [&](const affinity_view* affinity) {
                                  return detail::any_of(
                                      affinity->terms, [&](const domain_counts& term_counts) {
                                          return !term_counts.domains->find(node, 0);
                                      });
                              }) ||
               (existing_pods &&
                (detail::any_of(own.apart, met) || detail::any_of(own.repelled, met)));
    }
    /// Returns the counts of a spread term of the class, by the term's number.
    [[nodiscard]] const spread_counts& spread_of(std::size_t of_class,
                                                 std::size_t term) const noexcept {
        return *views_[of_class].spreads[term].counts;
    }

    /// Returns true if preferred terms or spread terms that are not required affect the class.
    [[nodiscard]] bool has_preferences(std::size_t of_class) const noexcept {
        return !views_[of_class].preferred_counts.empty() || views_[of_class].soft > 0;
    }
    /// Returns the sum of the weights of preferred terms that the node satisfies: the class's own
    /// and those of other pods.
    [[nodiscard]] std::int64_t preference_score(std::size_t of_class,
                                                node_index node) const noexcept {
        std::int64_t sum = 0;
        for (const domain_counts* preferred : views_[of_class].preferred_counts)
            sum += preferred->at(node);
        return sum;
    }
    /// Calls `use(counts)` for the spread terms of the class that are not required and only affect
    /// scores.
    template<class Use>
    void for_each_soft_spread(std::size_t of_class, const Use& use) const {
        for (const spread& term_counts : views_[of_class].spreads)
            if (!term_counts.counts->term().required)
                use(*term_counts.counts);
    }
    /// Returns the label keys of required affinity that affects the class: its own, or that of
    /// another class which it satisfies.
    [[nodiscard]] const sequence<topology_index>& pulls(std::size_t of_class) const noexcept {
        return views_[of_class].pulls;
    }
    /// Calls `use(class)` for every class of the gang that satisfies the required affinity of the
    /// class.
    template<class Use>
    void for_each_leader(std::size_t of_class, const Use& use) const {
        const auto& classes = members_->classes;
        for (std::size_t at = 0; !views_[of_class].affinities.empty() && at < classes.size(); ++at)
            if (matches_any_group(*classes[of_class].terms, classes[at].identity))
                use(at);
    }

private:
    /// Required affinity terms that count together: the number of pods that match all of them, per
    /// term and domain.
    struct affinity_view {
        reused_list<domain_counts> terms;
        /// The number of such pods in any domain, nominated pods included.
        std::int64_t anywhere = 0;
        /// True if the class matches its own terms.
        bool self = false;
    };
    struct spread {
        spread_counts* counts = nullptr;
        std::int64_t self = 0;
        /// The counts without nominated pods, or null if there are none. Nominated pods might
        /// otherwise make the spread even before they run.
        spread_counts* found = nullptr;
    };
    struct view {
        sequence<const affinity_view*> affinities;
        sequence<const domain_counts*> apart;
        sequence<const domain_counts*> repelled;
        sequence<const domain_counts*> preferred_counts;
        sequence<spread> spreads;
        std::size_t soft = 0;
        sequence<topology_index> pulls;

        void clear() noexcept {
            affinities.clear();
            apart.clear();
            repelled.clear();
            preferred_counts.clear();
            spreads.clear();
            soft = 0;
            pulls.clear();
        }
    };
    /// A count that changes when a member of a class is placed. Exactly one of the three pointers
    /// is set.
    struct effect {
        domain_counts* counts = nullptr;
        affinity_view* affinity = nullptr;
        spread_counts* spread = nullptr;
        std::int64_t weight = 1;
    };

    /// Adds `found` pods on the node that satisfy the terms, and `all` pods that are there or
    /// nominated.
    static void add_to_affinity(affinity_view& to, node_index node, std::int64_t found,
                                std::int64_t all) noexcept {
        bool any = false;
        for (domain_counts& term_counts : to.terms) {
            any = any || term_counts.domains->find(node, 0);
            term_counts.add(node, found);
        }
        to.anywhere += any ? all : 0;
    }

    /// Returns the domains of the first term that the node does not satisfy; null if it satisfies
    /// all. A missing label comes before a missing pod. The first pod of a group that matches its
    /// own terms needs no other pod.
    [[nodiscard]] static const topology_domains* unmet(const affinity_view& view,
                                                       node_index node) noexcept {
        const topology_domains* lonely = nullptr;
        for (const domain_counts& term_counts : view.terms) {
            if (!term_counts.domains->find(node, 0))
                return term_counts.domains;
            if (!lonely && term_counts.at(node) <= 0)
                lonely = term_counts.domains;
        }
        return view.anywhere == 0 && view.self ? nullptr : lonely;
    }

    /// Terms that count together: those of the pod itself (`alone` is null), or one of a volume.
    [[nodiscard]] static bool is_in_group(const known_term& term,
                                          const known_term* alone) noexcept {
        return alone ? &term == alone : !term.of_volume;
    }
    [[nodiscard]] bool matches_all(const known_terms& terms, const known_term* alone,
                                   identity_index identity) const noexcept {
        return detail::all_of(terms.affinity, [&](const known_term& term) {
            return !is_in_group(term, alone) || cluster_->population().matches(term.pods, identity);
        });
    }
    [[nodiscard]] bool matches_any_group(const known_terms& terms,
                                         identity_index identity) const noexcept {
        return detail::any_of(terms.affinity, [&](const known_term& term) {
            return matches_all(terms, term.of_volume ? &term : nullptr, identity);
        });
    }

    /// A pod that is not on the node that the state says: see `other_pods`.
    struct difference {
        identity_index who;
        const known_terms* terms = nullptr;
        pod_counts count;
    };

    void differs(pod_index pod, node_index node, std::int32_t change) {
        const pod_population& population = cluster_->population();
        const auto& record = (*cluster_)[pod];
        const known_terms* terms = population.terms(cluster_->shapes()[record.shape].where);
        pod_counts count{node, change, 0, 0, 0};
        // A nominated pod that is gone was counted as coming; a placement of the plan counts as
        // staying.
        if (change < 0 && record.nominated)
            count = {node, 0, 0, change, terms && !terms->affinity.empty() ? change : 0};
        differences_.push_back(
            {population.identity_of(record.labels, (*cluster_)[record.gang].tenant), terms, count});
    }
    /// Returns the pods that count for all but required affinity and spread: terminating pods count
    /// until they are gone, nominated pods count already.
    [[nodiscard]] std::int64_t total(const pod_counts& counted) const noexcept {
        return std::int64_t{counted.staying} + counted.coming + (ahead_ ? 0 : counted.leaving);
    }
    /// Returns the pods that satisfy a required affinity term. Nominated pods do not count before
    /// they run. If terminating pods count as gone, nominated pods count, except those with
    /// required affinity of their own: they might wait for one another.
    [[nodiscard]] std::int64_t found(const pod_counts& counted) const noexcept {
        return std::int64_t{counted.staying} +
               (ahead_ ? counted.coming - counted.seeking : counted.leaving);
    }

    /// Calls `use(count)` with the counts, per node, of the pods that the selector matches,
    /// nominated pods included.
    template<class Use>
    void for_each_count(selector_index which, const Use& use) const {
        for (const identity_index identity : cluster_->population().matched(which))
            for (const pod_counts& entry : cluster_->population().counts_of(identity))
                use(entry);
        for (const difference& entry : differences_)
            if (cluster_->population().matches(which, entry.who))
                use(entry.count);
    }

    void look(std::size_t at) {
        const affinity_class<width>& own = members_->classes[at];
        if (own.terms) {
            bool any_own = false;
            for (const known_term& term : own.terms->affinity)
                if (!term.of_volume && !std::exchange(any_own, true))
                    look_together(at, *own.terms, term, nullptr);
            for (const known_term& term : own.terms->affinity)
                if (term.of_volume)
                    look_together(at, *own.terms, term, &term);
            for (const known_term& term : own.terms->anti_affinity)
                look_apart(at, term);
            for (const known_term& term : own.terms->preferred)
                liked_by_own(at, term);
            look_spread(at);
        }
        look_at_others(at);
    }

    /// Adds the terms that count together with `first`, the first of them: see is_in_group().
    void look_together(std::size_t at, const known_terms& terms, const known_term& first,
                       const known_term* alone) {
        const pod_population& population = cluster_->population();
        affinity_view& made = affinities_.add();
        made.terms.clear();
        made.anywhere = 0;
        views_[at].affinities.push_back(&made);
        for (const known_term& entry : terms.affinity) {
            if (!is_in_group(entry, alone))
                continue;
            made.terms.add().reset(cluster_->topologies()[entry.topology]);
            views_[at].pulls.push_back(entry.topology);
        }
        for (const identity_index identity : population.matched(first.pods))
            if (matches_all(terms, alone, identity))
                for (const pod_counts& entry : population.counts_of(identity))
                    add_to_affinity(made, entry.node, found(entry), total(entry));
        for (const difference& entry : differences_)
            if (matches_all(terms, alone, entry.who))
                add_to_affinity(made, entry.count.node, found(entry.count), total(entry.count));
        made.self = matches_all(terms, alone, members_->classes[at].identity);
        for (std::size_t other = 0; other < views_.size(); ++other)
            if (matches_all(terms, alone, members_->classes[other].identity)) {
                effects_[other].push_back({nullptr, &made, nullptr, 1});
                for (const known_term& entry : terms.affinity)
                    if (is_in_group(entry, alone))
                        views_[other].pulls.push_back(entry.topology);
            }
    }

    void look_apart(std::size_t at, const known_term& term) {
        domain_counts& made = counted_by(term.topology);
        views_[at].apart.push_back(&made);
        for_each_count(term.pods,
                       [&](const pod_counts& entry) { made.add(entry.node, total(entry)); });
        add_effects(term.pods, {&made, nullptr, nullptr, 1});
    }

    void liked_by_own(std::size_t at, const known_term& term) {
        domain_counts& made = counted_by(term.topology);
        views_[at].preferred_counts.push_back(&made);
        for_each_count(term.pods, [&](const pod_counts& entry) {
            made.add(entry.node, std::int64_t{term.weight} * total(entry));
        });
        add_effects(term.pods, {&made, nullptr, nullptr, term.weight});
    }

    [[nodiscard]] domain_counts& counted_by(topology_index label) {
        domain_counts& made = counts_.add();
        made.reset(cluster_->topologies()[label]);
        return made;
    }

    /// Adds the effect to all classes that the selector matches.
    void add_effects(selector_index which, const effect& what) {
        for (std::size_t other = 0; other < views_.size(); ++other)
            if (cluster_->population().matches(which, members_->classes[other].identity))
                effects_[other].push_back(what);
    }

    void look_spread(std::size_t at) {
        const affinity_class<width>& own = members_->classes[at];
        for (std::size_t number = 0; number < own.terms->spread.size(); ++number) {
            const spread_term& term = own.values->spread[number];
            const known_term& where = own.terms->spread[number];
            spread_counts& made = spreads_.add();
            made.reset(*cluster_, cluster_->topologies()[where.topology], term,
                       [&](node_index node) { return counts(own, term, node); });
            const bool self = cluster_->population().matches(where.pods, own.identity);
            views_[at].spreads.push_back({&made, self ? 1 : 0});
            views_[at].soft += term.required ? 0U : 1U;
            if (!count_spread(where.pods, made, true) || ahead_)
                continue;
            spread_counts& found = spreads_.add();
            views_[at].spreads.back().found = &found;
            found.reset(*cluster_, cluster_->topologies()[where.topology], term,
                        [&](node_index node) { return made.counts(node); });
            count_spread(where.pods, found, false);
        }
    }
    /// Counts the pods that the selector matches. Returns true if some of them are nominated.
    bool count_spread(selector_index which, spread_counts& made, bool with_coming) {
        bool any_nominated = false;
        for_each_count(which, [&](const pod_counts& entry) {
            any_nominated = any_nominated || entry.coming != 0;
            const std::int64_t there = entry.staying + (with_coming ? entry.coming : 0);
            if (there != 0)
                made.add(entry.node, there);
        });
        add_effects(which, {nullptr, nullptr, &made, 1});
        return any_nominated;
    }

    /// Returns true if the node counts for the spread term: it has the label keys of all terms of
    /// the same kind (required or not), and is not excluded by the node affinity or taints that the
    /// term honours.
    [[nodiscard]] bool counts(const affinity_class<width>& member, const spread_term& term,
                              node_index node) const {
        for (std::size_t at = 0; at < member.terms->spread.size(); ++at)
            if (member.values->spread[at].required == term.required &&
                !cluster_->topologies()[member.terms->spread[at].topology].find(node, 0))
                return false;
        unsigned found = member.query.where->failed_filters[node.value()];
        if (member.query.queue_nodes)
            found |= member.query.queue_nodes->failed_filters[node.value()] &
                     static_cast<unsigned>(node_filter_selector | node_filter_absent_node);
        if ((found & node_filter_absent_node) != 0 ||
            (term.honor_affinity && (found & node_filter_selector) != 0))
            return false;
        if (!term.honor_taints)
            return true;
        // A cordon excludes the node only by its taint.
        const auto& spec = (*cluster_)[node].spec;
        return detail::all_of(spec.taints, [&](const taint& node_taint) {
            return node_taint.effect == taint_effect::prefer_no_schedule ||
                   tolerated(node_taint, member.query.where->value.tolerations);
        });
    }

    /// Evaluates the terms of other pods, on nodes or of this gang, that select the class.
    void look_at_others(std::size_t at) {
        const pod_population& population = cluster_->population();
        repelled_by_.assign(cluster_->topologies().size(), nullptr);
        liked_by_.assign(cluster_->topologies().size(), nullptr);
        const auto counts_for = [&](sequence<domain_counts*>& from, topology_index label) {
            domain_counts*& found = from[label.value()];
            if (!found)
                found = &counted_by(label);
            return found;
        };
        population.for_each_selector(members_->classes[at].identity, [&](selector_index which) {
            for (const constraint_index where : population.carriers(which)) {
                const known_terms& theirs = *population.terms(where);
                for_each_term(theirs.anti_affinity, which, [&](const known_term& term) {
                    pull(theirs, *counts_for(repelled_by_, term.topology), 1);
                });
                // As in kube-scheduler, required affinity of pods that are already there adds to
                // the score, with weight 1.
                for_each_term(theirs.affinity, which, [&](const known_term& term) {
                    pull(theirs, *counts_for(liked_by_, term.topology), 1);
                });
                for_each_term(theirs.preferred, which, [&](const known_term& term) {
                    pull(theirs, *counts_for(liked_by_, term.topology), term.weight);
                });
            }
        });
        for (domain_counts* counted : repelled_by_)
            if (counted)
                views_[at].repelled.push_back(counted);
        for (domain_counts* counted : liked_by_)
            if (counted)
                views_[at].preferred_counts.push_back(counted);
    }

    template<class Use>
    static void for_each_term(const sequence<known_term>& among, selector_index which,
                              const Use& use) {
        for (const known_term& term : among)
            if (term.pods == which)
                use(term);
    }

    /// Lets every pod that carries `theirs` add `weight` to `to` on its node.
    void pull(const known_terms& theirs, domain_counts& to, std::int64_t weight) {
        for (const pod_counts& entry : theirs.counts)
            to.add(entry.node, weight * total(entry));
        for (const difference& entry : differences_)
            if (entry.terms == &theirs)
                to.add(entry.count.node, weight * total(entry.count));
        for (std::size_t other = 0; other < views_.size(); ++other)
            if (members_->classes[other].terms == &theirs)
                effects_[other].push_back({&to, nullptr, nullptr, weight});
    }

    const cluster_state<Traits>* cluster_ = nullptr;
    const affinity_members<width>* members_ = nullptr;
    bool ahead_ = false;
    sequence<difference> differences_;
    reused_list<view> views_;
    /// Per class: what placing a member changes.
    reused_list<sequence<effect>> effects_;
    // Views and effects point into these lists.
    steady_list<domain_counts> counts_;
    steady_list<affinity_view> affinities_;
    steady_list<spread_counts> spreads_;
    // Scratch, by topology.
    sequence<domain_counts*> repelled_by_;
    sequence<domain_counts*> liked_by_;
};

} // namespace detail
} // namespace v0_1
} // namespace muster
