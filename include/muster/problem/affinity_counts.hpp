// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

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

/// Which term keeps a pod off a node: the first in the order in which kube-scheduler looks.
enum class affinity_violation : std::uint8_t {
    none,
    /// The node lacks the label that a spread term goes by.
    spread_label,
    spread,
    affinity,
    anti_affinity,
    /// The required anti-affinity of the pods there.
    existing_anti_affinity,
};

namespace detail {

/// That term, and the label key that it goes by.
struct violated_affinity {
    affinity_violation kind = affinity_violation::none;
    const topology_domains* by = nullptr;
};

/// How the pods on nodes differ from those in the state.
struct other_pods {
    /// Leaving pods are gone, and nominated pods are there.
    bool ahead = false;
    /// These pods, which stay or are nominated, are not there.
    std::span<const pod_index> gone;
    /// And these are there as well.
    std::span<const placement> come;
};

/// What pods on nodes, and members as they are placed, mean for each class of a gang's waiting
/// members, node by node: Kubernetes' rules for pod affinity, anti-affinity and spread, as
/// kube-scheduler applies them to one pod after the other.
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

    /// Starts with another gang, of which no member is placed. Keeps the memory.
    /// O(classes · (nodes + pods that match a term + pods in `other`)).
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
        for (const placement& each : other.come)
            differs(each.pod, each.node, 1);
        for (std::size_t at = 0; at < views_.size(); ++at)
            look(at);
    }

    /// A member of the class is placed (`by` 1) or taken back (-1).
    void place(std::size_t of_class, node_index node, std::int64_t by) {
        for (const effect& each : effects_[of_class]) {
            if (each.spread) {
                each.spread->add(node, by);
            } else if (each.counts) {
                each.counts->add(node, each.weight * by);
            } else {
                add_to_affinity(*each.affinity, node, by, by);
            }
        }
    }

    /// The term that keeps a member of the class off the node now. O(terms).
    [[nodiscard]] violated_affinity violation_on(std::size_t of_class,
                                                 node_index node) const noexcept {
        const view& mine = views_[of_class];
        for (const spread& each : mine.spreads) {
            if (!each.counts->term().required)
                continue;
            if (!each.counts->has_label(node))
                return {affinity_violation::spread_label, &each.counts->domains()};
            if (each.counts->too_many(node, each.self) ||
                (each.found && each.found->too_many(node, each.self)))
                return {affinity_violation::spread, &each.counts->domains()};
        }
        if (mine.affinity)
            if (const topology_domains* lonely = unmet(*mine.affinity, node))
                return {affinity_violation::affinity, lonely};
        for (const domain_counts* each : mine.apart)
            if (each->at(node) > 0)
                return {affinity_violation::anti_affinity, each->domains};
        for (const domain_counts* each : mine.repelled)
            if (each->at(node) > 0)
                return {affinity_violation::existing_anti_affinity, each->domains};
        return {};
    }

    /// No member of the class may use the node, whichever pods are placed: the node lacks a label
    /// that one of its terms goes by, or, with `existing_pods`, anti-affinity forbids it.
    [[nodiscard]] bool kept_off(std::size_t of_class, node_index node,
                                bool existing_pods) const noexcept {
        const view& mine = views_[of_class];
        const auto met = [&](const domain_counts* each) { return each->at(node) > 0; };
        return detail::any_of(mine.spreads,
                              [&](const spread& each) {
                                  return each.counts->term().required &&
                                         !each.counts->has_label(node);
                              }) ||
               (mine.affinity && detail::any_of(mine.affinity->terms,
                                                [&](const domain_counts& each) {
                                                    return !each.domains->find(node, 0);
                                                })) ||
               (existing_pods &&
                (detail::any_of(mine.apart, met) || detail::any_of(mine.repelled, met)));
    }
    /// What is counted for a spread term of the class, by its number.
    [[nodiscard]] const spread_counts& spread_of(std::size_t of_class,
                                                 std::size_t term) const noexcept {
        return *views_[of_class].spreads[term].counts;
    }

    /// Preferences affect the class.
    [[nodiscard]] bool has_preferences(std::size_t of_class) const noexcept {
        return !views_[of_class].liked.empty() || views_[of_class].soft > 0;
    }
    /// By preferred terms, its own and those of others: the sum of their weights.
    [[nodiscard]] std::int64_t liking(std::size_t of_class, node_index node) const noexcept {
        std::int64_t sum = 0;
        for (const domain_counts* each : views_[of_class].liked)
            sum += each->at(node);
        return sum;
    }
    /// Calls `use(counts)` for its spread terms that only weigh nodes.
    template<class Use>
    void for_each_soft_spread(std::size_t of_class, const Use& use) const {
        for (const spread& each : views_[of_class].spreads)
            if (!each.counts->term().required)
                use(*each.counts);
    }
    /// Label keys of required affinity that bears on the class, its own or another's.
    [[nodiscard]] const sequence<topology_index>& pulls(std::size_t of_class) const noexcept {
        return views_[of_class].pulls;
    }
    /// The class has required affinity that some class of the gang satisfies: calls `use(class)`.
    template<class Use>
    void for_each_leader(std::size_t of_class, const Use& use) const {
        const auto& classes = members_->classes;
        if (views_[of_class].affinity)
            for (std::size_t at = 0; at < classes.size(); ++at)
                if (matches_all(*classes[of_class].terms, classes[at].identity))
                    use(at);
    }

private:
    /// Required affinity: pods that match all terms, by the domains of each.
    struct affinity_view {
        reused_list<domain_counts> terms;
        /// Such pods in some domain, nominated ones included.
        std::int64_t anywhere = 0;
        /// The class matches its own terms.
        bool self = false;
    };
    struct spread {
        spread_counts* counts = nullptr;
        std::int64_t self = 0;
        /// Without nominated pods, if there are any: they may make the spread even too early.
        spread_counts* found = nullptr;
    };
    struct view {
        affinity_view* affinity = nullptr;
        sequence<const domain_counts*> apart;
        sequence<const domain_counts*> repelled;
        sequence<const domain_counts*> liked;
        sequence<spread> spreads;
        std::size_t soft = 0;
        sequence<topology_index> pulls;

        void clear() noexcept {
            affinity = nullptr;
            apart.clear();
            repelled.clear();
            liked.clear();
            spreads.clear();
            soft = 0;
            pulls.clear();
        }
    };
    /// What placing a member of some class adds to: one of the three.
    struct effect {
        domain_counts* counts = nullptr;
        affinity_view* affinity = nullptr;
        spread_counts* spread = nullptr;
        std::int64_t weight = 1;
    };

    /// Adds `found` pods that satisfy terms there, and `all` the pods there or are nominated.
    static void add_to_affinity(affinity_view& to, node_index node, std::int64_t found,
                                std::int64_t all) noexcept {
        bool any = false;
        for (domain_counts& each : to.terms) {
            any = any || each.domains->find(node, 0);
            each.add(node, found);
        }
        to.anywhere += any ? all : 0;
    }

    /// The domains in which the node lacks company, if any.
    [[nodiscard]] static const topology_domains* unmet(const affinity_view& of,
                                                       node_index node) noexcept {
        const topology_domains* lonely = nullptr;
        for (const domain_counts& each : of.terms) {
            if (!each.domains->find(node, 0))
                return each.domains;
            if (!lonely && each.at(node) <= 0)
                lonely = each.domains;
        }
        return of.anywhere == 0 && of.self ? nullptr : lonely;
    }

    [[nodiscard]] bool matches_all(const known_terms& terms, identity_index who) const noexcept {
        return detail::all_of(terms.affinity, [&](const known_term& each) {
            return cluster_->population().matches(each.pods, who);
        });
    }

    /// A pod whose node is not the one in the state, or that has none.
    struct difference {
        identity_index who;
        const known_terms* terms = nullptr;
        pod_counts count;
    };

    void differs(pod_index pod, node_index node, std::int32_t by) {
        const pod_population& population = cluster_->population();
        const auto& record = (*cluster_)[pod];
        const known_terms* terms = population.terms(cluster_->shapes()[record.shape].where);
        pod_counts count{node, by, 0, 0, 0};
        // Pods placed in the plan are there.
        if (by < 0 && record.nominated)
            count = {node, 0, 0, by, terms && !terms->affinity.empty() ? by : 0};
        differences_.push_back(
            {population.identity_of(record.labels, (*cluster_)[record.gang].tenant), terms, count});
    }
    /// Leaving pods count as long as they are there; nominated pods count already.
    [[nodiscard]] std::int64_t total(const pod_counts& of) const noexcept {
        return std::int64_t{of.staying} + of.coming + (ahead_ ? 0 : of.leaving);
    }
    /// Pods that satisfy a required affinity term. Nominated pods do not count before they have
    /// come, nor do nominated pods with such terms of their own: they might wait for one another.
    [[nodiscard]] std::int64_t found(const pod_counts& of) const noexcept {
        return std::int64_t{of.staying} + (ahead_ ? of.coming - of.seeking : of.leaving);
    }

    /// Calls `use(count)` for each node with pods, nominated ones included, that the selector
    /// matches.
    template<class Use>
    void for_each_count(selector_index which, const Use& use) const {
        for (const identity_index who : cluster_->population().matched(which))
            for (const pod_counts& each : cluster_->population().counts_of(who))
                use(each);
        for (const difference& each : differences_)
            if (cluster_->population().matches(which, each.who))
                use(each.count);
    }

    void look(std::size_t at) {
        const affinity_class<width>& mine = members_->classes[at];
        if (mine.terms) {
            if (!mine.terms->affinity.empty())
                look_together(at, *mine.terms);
            for (const known_term& term : mine.terms->anti_affinity)
                look_apart(at, term);
            for (const known_term& term : mine.terms->preferred)
                liked_by_own(at, term);
            look_spread(at);
        }
        look_at_others(at);
    }

    void look_together(std::size_t at, const known_terms& terms) {
        const pod_population& population = cluster_->population();
        affinity_view& made = affinities_.add();
        made.terms.clear();
        made.anywhere = 0;
        views_[at].affinity = &made;
        for (const known_term& each : terms.affinity) {
            made.terms.add().reset(cluster_->topologies()[each.topology]);
            views_[at].pulls.push_back(each.topology);
        }
        for (const identity_index who : population.matched(terms.affinity.front().pods))
            if (matches_all(terms, who))
                for (const pod_counts& each : population.counts_of(who))
                    add_to_affinity(made, each.node, found(each), total(each));
        for (const difference& each : differences_)
            if (matches_all(terms, each.who))
                add_to_affinity(made, each.count.node, found(each.count), total(each.count));
        made.self = matches_all(terms, members_->classes[at].identity);
        for (std::size_t other = 0; other < views_.size(); ++other)
            if (matches_all(terms, members_->classes[other].identity)) {
                effects_[other].push_back({nullptr, &made, nullptr, 1});
                for (const known_term& each : terms.affinity)
                    views_[other].pulls.push_back(each.topology);
            }
    }

    void look_apart(std::size_t at, const known_term& term) {
        domain_counts& made = counted_by(term.topology);
        views_[at].apart.push_back(&made);
        for_each_count(term.pods,
                       [&](const pod_counts& each) { made.add(each.node, total(each)); });
        add_effects(term.pods, {&made, nullptr, nullptr, 1});
    }

    void liked_by_own(std::size_t at, const known_term& term) {
        domain_counts& made = counted_by(term.topology);
        views_[at].liked.push_back(&made);
        for_each_count(term.pods, [&](const pod_counts& each) {
            made.add(each.node, std::int64_t{term.weight} * total(each));
        });
        add_effects(term.pods, {&made, nullptr, nullptr, term.weight});
    }

    [[nodiscard]] domain_counts& counted_by(topology_index label) {
        domain_counts& made = counts_.add();
        made.reset(cluster_->topologies()[label]);
        return made;
    }

    /// Members that the selector matches do that.
    void add_effects(selector_index which, const effect& what) {
        for (std::size_t other = 0; other < views_.size(); ++other)
            if (cluster_->population().matches(which, members_->classes[other].identity))
                effects_[other].push_back(what);
    }

    void look_spread(std::size_t at) {
        const affinity_class<width>& mine = members_->classes[at];
        for (std::size_t number = 0; number < mine.terms->spread.size(); ++number) {
            const spread_term& term = mine.values->spread[number];
            const known_term& where = mine.terms->spread[number];
            spread_counts& made = spreads_.add();
            made.reset(*cluster_, cluster_->topologies()[where.topology], term,
                       [&](node_index node) { return counts(mine, term, node); });
            const bool self = cluster_->population().matches(where.pods, mine.identity);
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
    /// True when some are to come.
    bool count_spread(selector_index which, spread_counts& made, bool with_coming) {
        bool anybody_comes = false;
        for_each_count(which, [&](const pod_counts& each) {
            anybody_comes = anybody_comes || each.coming != 0;
            const std::int64_t there = each.staying + (with_coming ? each.coming : 0);
            if (there != 0)
                made.add(each.node, there);
        });
        add_effects(which, {nullptr, nullptr, &made, 1});
        return anybody_comes;
    }

    /// The node counts for the spread term: it has the labels of all terms of its kind, and what
    /// the term honours does not exclude it.
    [[nodiscard]] bool counts(const affinity_class<width>& of, const spread_term& term,
                              node_index node) const {
        for (std::size_t at = 0; at < of.terms->spread.size(); ++at)
            if (of.values->spread[at].required == term.required &&
                !cluster_->topologies()[of.terms->spread[at].topology].find(node, 0))
                return false;
        unsigned found = of.query.where->failed_filters[node.value()];
        if (of.query.queue_nodes)
            found |= of.query.queue_nodes->failed_filters[node.value()] &
                     static_cast<unsigned>(node_filter_selector | node_filter_absent_node);
        if ((found & node_filter_absent_node) != 0 ||
            (term.honor_affinity && (found & node_filter_selector) != 0))
            return false;
        if (!term.honor_taints)
            return true;
        // A cordon counts by its taint alone.
        const auto& spec = (*cluster_)[node].spec;
        return detail::all_of(spec.taints, [&](const taint& one) {
            return one.effect == taint_effect::prefer_no_schedule ||
                   tolerated(one, of.query.where->value.tolerations);
        });
    }

    /// The terms of other pods, on nodes or of this gang, that select the class.
    void look_at_others(std::size_t at) {
        const pod_population& population = cluster_->population();
        repelled_by_.assign(cluster_->topologies().size(), nullptr);
        liked_by_.assign(cluster_->topologies().size(), nullptr);
        const auto of = [&](sequence<domain_counts*>& from, topology_index by) {
            domain_counts*& found = from[by.value()];
            if (!found)
                found = &counted_by(by);
            return found;
        };
        population.for_each_selector(members_->classes[at].identity, [&](selector_index which) {
            for (const constraint_index where : population.carriers(which)) {
                const known_terms& theirs = *population.terms(where);
                for_each_term(theirs.anti_affinity, which, [&](const known_term& term) {
                    pull(theirs, *of(repelled_by_, term.topology), 1);
                });
                // kube-scheduler's weight of a required term of the the pods there already.
                for_each_term(theirs.affinity, which, [&](const known_term& term) {
                    pull(theirs, *of(liked_by_, term.topology), 1);
                });
                for_each_term(theirs.preferred, which, [&](const known_term& term) {
                    pull(theirs, *of(liked_by_, term.topology), term.weight);
                });
            }
        });
        for (domain_counts* each : repelled_by_)
            if (each)
                views_[at].repelled.push_back(each);
        for (domain_counts* each : liked_by_)
            if (each)
                views_[at].liked.push_back(each);
    }

    template<class Use>
    static void for_each_term(const sequence<known_term>& among, selector_index which,
                              const Use& use) {
        for (const known_term& each : among)
            if (each.pods == which)
                use(each);
    }

    /// Each pod with those terms adds to `to` on its node.
    void pull(const known_terms& theirs, domain_counts& to, std::int64_t weight) {
        for (const pod_counts& each : theirs.counts)
            to.add(each.node, weight * total(each));
        for (const difference& each : differences_)
            if (each.terms == &theirs)
                to.add(each.count.node, weight * total(each.count));
        for (std::size_t other = 0; other < views_.size(); ++other)
            if (members_->classes[other].terms == &theirs)
                effects_[other].push_back({&to, nullptr, nullptr, weight});
    }

    const cluster_state<Traits>* cluster_ = nullptr;
    const affinity_members<width>* members_ = nullptr;
    bool ahead_ = false;
    sequence<difference> differences_;
    reused_list<view> views_;
    /// Per class.
    reused_list<sequence<effect>> effects_;
    // Views and effects point into these.
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
