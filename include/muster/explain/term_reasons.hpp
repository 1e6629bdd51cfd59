// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <muster/base/id.hpp>
#include <muster/base/ranges.hpp>
#include <muster/base/sequence.hpp>
#include <muster/cluster/cluster_state.hpp>
#include <muster/explain/affinity_refusal.hpp>
#include <muster/index/node_query.hpp>
#include <muster/index/weights.hpp>
#include <muster/plan/plan.hpp>
#include <muster/problem/members.hpp>
#include <muster/problem/topology_requirement.hpp>
#include <muster/vocabulary/reason.hpp>

namespace muster {
inline namespace v0_1 {
namespace detail {

struct most_allocated_first {
    template<std::size_t Width>
    [[nodiscard]] constexpr std::int64_t operator()(const placement_weights<Width>& weights,
                                                    const resources<Width>& free,
                                                    const resources<Width>&) const noexcept {
        return ~weights.key(free);
    }
};

/// Finds the pod terms that stop a gang's members.
template<class Traits>
class term_reason_finder {
    static constexpr std::size_t width = Traits::width;

public:
    term_reason_finder(const cluster_state<Traits>& cluster, const gang_members<width>& members)
        : cluster_(&cluster), members_(&members), accounts_(cluster.accounts()), into_(accounts_) {}

    /// Returns the terms that stop the first member that finds no node: the terms that exclude
    /// nodes with room for it or, if there are none, that exclude any nodes. If no term excludes a
    /// node for this member, returns the terms that stop the first member with such a term; if
    /// there is no such member, all terms. The reasons are marked as not minimal: they are only
    /// supported by the fact that no placement order was found, or by the proof for the whole gang.
    [[nodiscard]] std::vector<reason> find() {
        if (!terms_bear_on(*cluster_, *members_))
            return {};
        auto refused = first_refusal(*cluster_, *members_, into_, most_allocated_first{});
        if (!refused)
            return {};
        count(*refused, true);
        if (stopped_.empty())
            count(*refused, false);
        if (stopped_.empty()) {
            // This member only lacks room, so look for one that a term stops.
            into_.rollback({});
            auto other = first_refusal(*cluster_, *members_, into_, most_allocated_first{}, true);
            if (other)
                refused = std::move(other);
            count(*refused, false);
        }
        if (stopped_.empty())
            count_all_terms();
        return made_of(*refused, stopped_.size() > 1 ? reason_kind::blocking_together
                                                     : reason_kind::blocking);
    }

    /// Returns, to be added to other reasons, the terms that exclude nodes with room for the first
    /// member that finds no node.
    [[nodiscard]] std::vector<reason> find_contributing() {
        if (!terms_bear_on(*cluster_, *members_))
            return {};
        const auto refused = first_refusal(*cluster_, *members_, into_, most_allocated_first{});
        if (!refused)
            return {};
        count(*refused, true);
        std::vector<reason> found = made_of(*refused, reason_kind::contributing);
        // If members of a vertex must share a domain because of a volume, that has its own reason.
        std::erase_if(found, [&](const reason& contributing) {
            return contributing.shares_volume &&
                   detail::any_of(members_->topology, &topology_requirement::of_volume);
        });
        return found;
    }

private:
    [[nodiscard]] std::vector<reason> made_of(const affinity_refusal& refused, reason_kind kind) {
        std::vector<reason> found;
        const vertex_index role = members_->classes[refused.member_class].role;
        for (const stopping_term& term : stopped_) {
            reason made;
            made.code = term.code;
            made.kind = kind;
            made.not_minimal = true;
            made.topology = term.topology;
            made.shares_volume = made.code == reason_code::affinity_unmet &&
                                 only_volumes_seek(refused.member_class, made.topology);
            made.nodes = term.nodes;
            made.unlabelled = term.unlabelled;
            const std::int64_t needed =
                (*members_->tree)[role].min_member - members_->holding[role.value()];
            const auto placed = detail::count_if(into_.placements(), [&](const placement& one) {
                return (*cluster_)[one.pod].role == role;
            });
            made.roles.push_back({role, std::max<std::int64_t>(needed, placed + 1),
                                  members_->holding[role.value()], placed});
            found.push_back(std::move(made));
        }
        return found;
    }

    /// True if every required affinity of the class with that topology label is for a volume that
    /// its pods share.
    [[nodiscard]] bool only_volumes_seek(std::size_t of_class, const std::string& label) const {
        const auto& where = cluster_->constraint_sets()[members_->classes[of_class].where].value;
        return where.pods && detail::all_of(where.pods->affinity, [&](const auto& term) {
                   return term.of_volume || term.topology != label;
               });
    }

    void count(const affinity_refusal& refused, bool with_room) {
        const auto& refused_class = members_->classes[refused.member_class];
        const auto query = query_for(*cluster_, refused_class.shape, members_->queue_nodes);
        for (const affinity_refusal::place& place : refused.nodes) {
            if (place.why == affinity_violation::none ||
                (with_room && room_on(into_.accounts(), query, place.node, 1) == 0))
                continue;
            const reason_code code =
                place.why == affinity_violation::affinity        ? reason_code::affinity_unmet
                : place.why == affinity_violation::anti_affinity ? reason_code::anti_affinity_met
                : place.why == affinity_violation::existing_anti_affinity
                    ? reason_code::kept_off_by_others
                    : reason_code::spread_uneven;
            stopping_term& stops = stopped(code, place.topology);
            ++stops.nodes;
            stops.unlabelled += place.why == affinity_violation::spread_label ? 1 : 0;
        }
    }

    /// Counts all terms, because they stop the gang only together with missing room: the terms of
    /// its members, and the anti-affinity of running pods against the members.
    void count_all_terms() {
        const pod_population& population = cluster_->population();
        for (const pod_index member : members_->pods) {
            const pod_record& record = (*cluster_)[member];
            const identity_index identity =
                population.identity_of(record.labels, (*cluster_)[record.gang].tenant);
            population.for_each_selector(identity, [&](selector_index which) {
                for (const constraint_index where : population.carriers(which))
                    count_repelling(*population.terms(where), which);
            });
        }
        for (const auto& waiting_class : members_->classes) {
            const auto& terms = cluster_->constraint_sets()[waiting_class.where].value.pods;
            if (!terms)
                continue;
            for (const affinity_term& term : terms->affinity)
                static_cast<void>(stopped(reason_code::affinity_unmet, term.topology));
            for (const affinity_term& term : terms->anti_affinity)
                static_cast<void>(stopped(reason_code::anti_affinity_met, term.topology));
            for (const spread_term& term : terms->spread)
                if (term.required)
                    static_cast<void>(stopped(reason_code::spread_uneven, term.topology));
        }
    }

    void count_repelling(const known_terms& theirs, selector_index which) {
        if (theirs.counts.empty())
            return;
        for (const known_term& term : theirs.anti_affinity)
            if (term.pods == which)
                static_cast<void>(
                    stopped(reason_code::kept_off_by_others,
                            cluster_->topologies()[term.topology].value().levels.front()));
    }

    /// A term, the number of nodes that it excludes, and how many of these lack the label of the
    /// term.
    struct stopping_term {
        reason_code code{};
        std::string topology;
        std::int64_t nodes = 0;
        std::int64_t unlabelled = 0;
    };

    /// Returns the entry of a term; adds it if there is none.
    [[nodiscard]] stopping_term& stopped(reason_code code, const std::string& topology) {
        auto at = stopped_.begin();
        while (at != stopped_.end() &&
               (at->code < code || (at->code == code && at->topology < topology)))
            ++at;
        if (at == stopped_.end() || at->code != code || at->topology != topology)
            at = stopped_.insert(at, {code, topology, 0, 0});
        return *at;
    }

    const cluster_state<Traits>* cluster_;
    const gang_members<width>* members_;
    ledger<width> accounts_;
    plan<width> into_;
    /// In the order of reason codes, then of labels.
    sequence<stopping_term> stopped_;
};

} // namespace detail
} // namespace v0_1
} // namespace muster
