// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include <muster/admission/decide.hpp>
#include <muster/admission/gates.hpp>
#include <muster/base/sequence.hpp>
#include <muster/cluster/cluster_state.hpp>
#include <muster/exact/domain_proofs.hpp>
#include <muster/exact/plain_proofs.hpp>
#include <muster/exact/term_caps.hpp>
#include <muster/greedy/place.hpp>
#include <muster/index/node_finder.hpp>
#include <muster/plan/plan.hpp>
#include <muster/problem/counted_class.hpp>
#include <muster/problem/fit_problem.hpp>
#include <muster/problem/members.hpp>
#include <muster/vocabulary/budget.hpp>
#include <muster/vocabulary/subtree_status.hpp>
#include <muster/vocabulary/verdict.hpp>

namespace muster {
inline namespace v0_1 {

/// Decides gangs one by one, and reuses its memory. Accessors refer to the gang decided last.
template<class Traits>
class admission {
    static constexpr std::size_t width = Traits::width;
    using cluster_type = cluster_state<Traits>;
    using finder_type = node_finder<Traits>;

public:
    /// Decides one gang. If it is admitted, its placements are added to `into`: the minima first,
    /// then the surplus that fits, up to `surplus`. Otherwise `into` is unchanged. Precondition:
    /// `into` is a plan on the state's own accounts.
    ///
    /// Tries greedy placement first, then proofs without a search, then the search with up to
    /// `steps` steps. The check whether the gang could ever start has another `steps` steps.
    [[nodiscard]] verdict decide(const cluster_type& cluster, gang_index which, plan<width>& into,
                                 finder_type& finder, placer<Traits>& placing, std::int64_t steps,
                                 surplus_request surplus = {}) {
        verdict outcome;
        forget_last();
        sorter_.sort(cluster, which, members_);
        outcome.at = gate_before_search(cluster, which, members_, at_gates_);
        if (outcome.at != gate::none) {
            outcome.kind = answer_at_gate(cluster[which].spec.fault);
            return outcome;
        }
        placing.begin(cluster, members_, into, finder);
        const detail::affinity_effect effect = detail::affinity_effect_on(cluster, members_);
        if (effect == detail::affinity_effect::required) {
            decide_with_pod_affinity(cluster, which, into, finder, placing, outcome, steps,
                                     surplus);
            return outcome;
        }
        if (effect == detail::affinity_effect::preferred) {
            auto& board = placing.with_pod_affinity();
            board.begin(cluster, members_, into, finder.score());
            if (board.meet_minima()) {
                board.place_surplus(surplus);
                outcome.kind = answer::admitted;
                return outcome;
            }
        }
        if (placing.meet_minima()) {
            placing.place_surplus(surplus);
            outcome.kind = answer::admitted;
            return outcome;
        }
        const bool fixed = fixed_needs(members_, needs_);
        if (!(fixed && refuse(cluster, finder, placing.stopped_by(), outcome)) &&
            search(cluster, into, placing, finder, outcome, steps, surplus))
            return outcome;
        check_feasible_when_empty(cluster, which, fixed, finder, outcome, steps);
        return outcome;
    }

    /// Decides a gang again that waits for quota, if its minima, of `classes` classes, still
    /// request more than a quota leaves: `least`, whatever members are chosen. Returns nothing if
    /// it may have to be decided in another way. Leaves `members()` as they are. Precondition:
    /// neither the gang nor a member changed since the last answer. O(depth × width).
    [[nodiscard]] std::optional<verdict> refuse_again(const cluster_type& cluster, gang_index which,
                                                      const resources<width>& least,
                                                      std::size_t classes) {
        const auto& gang = cluster[which];
        // A queue that changed, for one, is a change of capability.
        if (gang.last.kind != answer::waiting || gang.last.at != gate::quota ||
            !gang.last.could_start || gang.last.capability_epoch != cluster.capability_epoch() ||
            cluster.population().in_use())
            return std::nullopt;
        constexpr auto now = certificate_scope::free_now;
        const auto kind = over_quota(cluster, gang.charged_to(), now,
                                     [&](kind_id asked) { return int128{least[asked]}; });
        if (!kind)
            return std::nullopt;
        forget_last();
        return verdict{answer::waiting, gate::quota, true, proofs_.of_price(now, classes, *kind),
                       0};
    }

    /// Prepares `try_minima` for the gang. Returns false if a gate stops the gang or if it already
    /// meets its minima.
    [[nodiscard]] bool prepare(const cluster_type& cluster, gang_index which) {
        sorter_.sort(cluster, which, members_);
        fixed_ = fixed_needs(members_, needs_);
        return gate_before_search(cluster, which, members_, at_gates_) == gate::none &&
               !reaches_minima(*members_.tree, members_.holding, at_gates_.status);
    }
    /// Prepares `try_minima` for one more member of a gang that meets its minima. Returns false if
    /// a gate stops the gang, no member waits, or the minima are not met.
    [[nodiscard]] bool prepare_one_more(const cluster_type& cluster, gang_index which) {
        sorter_.sort(cluster, which, members_);
        if (gate_before_search(cluster, which, members_, at_gates_) != gate::none ||
            members_.turns.empty())
            return false;
        const subtree_status& now = evaluate(*members_.tree, members_.holding, at_gates_.status);
        if (!now.met[0])
            return false;
        raised_ = *members_.tree;
        raised_.require_members(vertex_index{0}, now.counts[0] + 1);
        members_.tree = &raised_;
        fixed_ = fixed_needs(members_, needs_);
        return true;
    }
    /// Returns how many members of each class the prepared gang needs; null if there is a choice.
    [[nodiscard]] const detail::sequence<std::int64_t>* needs() const noexcept {
        return fixed_ ? &needs_ : nullptr;
    }
    /// Like `decide`, for the minima of the prepared gang only, and without the check whether it
    /// could ever start. Subtracts the steps used from `steps`. Pods that the plan has vacated
    /// count for no affinity term.
    [[nodiscard]] answer try_minima(const cluster_type& cluster, plan<width>& into,
                                    finder_type& finder, placer<Traits>& placing,
                                    std::int64_t& steps) {
        placing.begin(cluster, members_, into, finder);
        if (detail::affinity_effect_on(cluster, members_) == detail::affinity_effect::required)
            return try_with_pod_affinity(cluster, into, finder, placing, steps);
        if (placing.meet_minima())
            return answer::admitted;
        verdict outcome;
        if (!(fixed_ && refuse(cluster, finder, placing.stopped_by(), outcome)))
            static_cast<void>(
                search(cluster, into, placing, finder, outcome, steps, surplus_request{0, false}));
        steps -= std::min(steps, outcome.steps);
        recycle(outcome.proof);
        return outcome.kind;
    }

    /// The sorted members of the gang decided last.
    [[nodiscard]] const gang_members<width>& members() const noexcept { return members_; }

    /// One class of the gang decided last that alone proves that the gang does not fit: it needs
    /// `need` pods, and there is room for `room`.
    struct shortage {
        std::size_t member_class = 0;
        std::int64_t need = 0;
        std::int64_t room = 0;
    };
    [[nodiscard]] const std::optional<shortage>& short_of() const noexcept { return short_of_; }

    /// By how much the nodes carry too little weight, if the search refused the gang decided last
    /// with a proof of one leaf; see `fit_search::slack`.
    [[nodiscard]] const std::optional<int128>& slack() const noexcept { return slack_; }

    /// Sets `amount` to the quota that the gang decided last needs at least. Returns false if that
    /// depends on the choice of members, or if the amount exceeds int64.
    [[nodiscard]] bool least_use(resources<width>& amount) {
        return fixed_needs(members_, needs_) && need_of(members_, &needs_, amount);
    }

    /// Sorts the members of a gang into classes. This function and the next three replace
    /// `members()`, so the accessors no longer refer to the gang decided last.
    const gang_members<width>& sort(const cluster_type& cluster, gang_index which) {
        sorter_.sort(cluster, which, members_);
        return members_;
    }
    [[nodiscard]] gate gate_of(const cluster_type& cluster, gang_index which) {
        return gate_before_search(cluster, which, sort(cluster, which), at_gates_);
    }
    /// Returns whether the gang fits the quotas that are left, as if nodes had enough room.
    /// Subtracts the steps used from `steps`. O(members), and a search without nodes.
    [[nodiscard]] fit_outcome fits_quotas(const cluster_type& cluster, gang_index which,
                                          std::int64_t& steps) {
        return search_.run_quotas(cluster, sort(cluster, which), certificate_scope::free_now,
                                  steps);
    }
    /// Returns the proof that the quota alone keeps the gang from starting, if prices of quotas are
    /// a proof; otherwise nullopt. O(members), and a search without nodes if there is a choice of
    /// members. Subtracts the steps used from `steps`.
    [[nodiscard]] std::optional<certificate> quota_proof(const cluster_type& cluster,
                                                         gang_index which, std::int64_t& steps) {
        constexpr auto now = certificate_scope::free_now;
        if (fixed_needs(sort(cluster, which), needs_)) {
            const auto kind = over_quota(cluster, members_, needs_, now);
            if (!kind)
                return std::nullopt;
            return proofs_.of_price(now, members_.classes.size(), *kind);
        }
        if (search_.run_quotas(cluster, members_, now, steps) != fit_outcome::impossible ||
            !detail::of_prices_alone(search_.proof()))
            return std::nullopt;
        return proofs_.of(now, search_.proof());
    }

    /// True if more members of the gang decided last may fit once other pods get a node.
    [[nodiscard]] bool waits_for_pods() const noexcept { return waits_for_pods_; }

    /// True if the search ran out of steps before it decided whether the gang decided last could
    /// ever start.
    [[nodiscard]] bool ever_is_open() const noexcept { return ever_is_open_; }

    /// Takes a proof that is no longer needed, and reuses its memory.
    void recycle(std::optional<certificate>& proof) { proofs_.recycle(proof); }

private:
    void forget_last() noexcept {
        short_of_.reset();
        slack_.reset();
        caps_apply_ = false;
        waits_for_pods_ = false;
        ever_is_open_ = false;
    }

    /// Tries to refuse the gang by proofs that need no search: one quota, one class, or, with a
    /// required topology, one domain after the other. Returns true if one of them is a proof.
    [[nodiscard]] bool refuse(const cluster_type& cluster, finder_type& finder,
                              const std::optional<std::pair<std::size_t, std::int64_t>>& stopped,
                              verdict& outcome) {
        outcome.kind = answer::waiting;
        const std::size_t classes = members_.classes.size();
        constexpr auto now = certificate_scope::free_now;
        if (const auto kind = over_quota(cluster, members_, needs_, now)) {
            outcome.at = gate::quota;
            outcome.proof = proofs_.of_price(now, classes, *kind);
            return true;
        }
        for (std::size_t at = 0; at < classes; ++at) {
            if (needs_[at] == 0)
                continue;
            // The room for the class that stopped the greedy placement is known; for other classes
            // it is counted.
            const std::int64_t room = stopped && stopped->first == at
                                          ? stopped->second
                                          : finder.room(cluster, members_.classes[at].shape,
                                                        members_.queue_nodes, needs_[at]);
            if (room >= needs_[at])
                continue;
            outcome.at = gate::space;
            outcome.proof = proofs_.of_class(now, classes, at);
            short_of_ = shortage{at, needs_[at], room};
            return true;
        }
        if (!detail::has_required_topology(members_) ||
            look_in_domains(cluster, members_, needs_, now, finder, in_domains_) !=
                domains_outcome::impossible)
            return false;
        outcome.proof = proofs_.of(now, in_domains_.vertices.all());
        outcome.at = gate::space;
        return true;
    }

    /// Returns true if the search found a placement, which is then in the plan.
    [[nodiscard]] bool search(const cluster_type& cluster, plan<width>& into,
                              placer<Traits>& placing, finder_type& finder, verdict& outcome,
                              std::int64_t steps, surplus_request surplus) {
        std::int64_t left = steps;
        const fit_outcome now = search_.run(cluster, members_, certificate_scope::free_now, left);
        outcome.steps = steps - left;
        if (now == fit_outcome::fits) {
            placing.begin(cluster, members_, into, finder);
            if (placing.place_found(search_.problem(), search_.counts())) {
                placing.place_surplus(surplus);
                outcome.kind = answer::admitted;
                outcome.at = gate::none;
                return true;
            }
        }
        outcome.at = search_.by_quota() ? gate::quota : gate::space;
        outcome.kind = answer::undecided;
        if (now == fit_outcome::impossible)
            refuse_by_search(outcome);
        return false;
    }

    /// Decides a gang for which required pod affinity, anti-affinity or spread terms may exclude
    /// nodes. Searches without the terms first: if the gang does not fit then, it does not fit with
    /// them. After that, searches within the caps that the terms imply for each node.
    void decide_with_pod_affinity(const cluster_type& cluster, gang_index which, plan<width>& into,
                                  finder_type& finder, placer<Traits>& placing, verdict& outcome,
                                  std::int64_t steps, surplus_request surplus) {
        const bool fixed = fixed_needs(members_, needs_);
        auto& trying = placing.with_pod_affinity();
        trying.begin(cluster, members_, into, finder.score());
        if (!(fixed && refuse(cluster, finder, {}, outcome))) {
            bool met = trying.meet_minima();
            if (!met) {
                std::int64_t left = steps;
                switch (
                    search_with_pod_affinity(cluster, certificate_scope::free_now, trying, left)) {
                case fit_outcome::impossible:
                    refuse_by_search(outcome);
                    break;
                case fit_outcome::fits:
                    met = trying.meet_minima_by(search_.problem(), search_.counts());
                    [[fallthrough]];
                case fit_outcome::undecided:
                    met = met || trying.meet_minima_otherwise(left);
                }
                outcome.steps = steps - left;
            }
            if (met) {
                trying.place_surplus(surplus);
                outcome.kind = answer::admitted;
                waits_for_pods_ = !trying.all_placed();
                return;
            }
            if (!outcome.proof) {
                outcome.kind = answer::undecided;
                outcome.at = gate::space;
                waits_for_pods_ = true;
            }
        }
        // A gang that could start without the terms need not be able to start with them, so
        // `could_start` stays false. The check is not repeated until the gang or the capacity of
        // nodes changes.
        const auto& last = cluster[which].last;
        const bool asked = !cluster[which].dirty && last.is_known && last.unreached_since == 0 &&
                           (last.kind == answer::waiting || last.kind == answer::undecided) &&
                           (last.at == gate::space || last.at == gate::quota);
        if (!asked || last.capability_epoch != cluster.capability_epoch()) {
            const std::int64_t before = outcome.steps;
            check_feasible_when_empty(cluster, which, fixed, finder, outcome, steps);
            const held_as_placed<width> held(members_);
            const without_changing_domains<width> ever(members_);
            std::int64_t left = std::max<std::int64_t>(0, steps - (outcome.steps - before));
            const std::int64_t rest = left;
            if (outcome.kind != answer::never && !detail::has_changing_terms(cluster, members_))
                judge_ever_by_search(
                    search_within_caps(cluster, certificate_scope::empty_cluster, trying, left),
                    outcome);
            outcome.steps += rest - left;
        }
        outcome.could_start = false;
    }

    /// Searches as if there were no terms between pods and, if that is not impossible, within their
    /// caps.
    template<class Trying>
    [[nodiscard]] fit_outcome search_with_pod_affinity(const cluster_type& cluster,
                                                       certificate_scope scope,
                                                       const Trying& trying, std::int64_t& steps) {
        caps_apply_ = false;
        const fit_outcome without = search_.run(cluster, members_, scope, steps);
        if (without == fit_outcome::impossible)
            return without;
        return search_within_caps(cluster, scope, trying, steps);
    }
    template<class Trying>
    [[nodiscard]] fit_outcome search_within_caps(const cluster_type& cluster,
                                                 certificate_scope scope, const Trying& trying,
                                                 std::int64_t& steps) {
        caps_apply_ = caps_.know(cluster, members_, trying.members(), trying.counts(), scope);
        return caps_apply_ ? search_.run(cluster, members_, scope, steps, &caps_)
                           : fit_outcome::undecided;
    }

    /// Maximum steps of one try of `meet_minima_otherwise`, because many tries are made.
    static constexpr std::int64_t steps_of_try = std::int64_t{1} << 16;

    [[nodiscard]] answer try_with_pod_affinity(const cluster_type& cluster, plan<width>& into,
                                               finder_type& finder, placer<Traits>& placing,
                                               std::int64_t& steps) {
        verdict without;
        if (fixed_ && refuse(cluster, finder, {}, without)) {
            recycle(without.proof);
            return answer::waiting;
        }
        auto& trying = placing.with_pod_affinity();
        trying.begin(cluster, members_, into, finder.score());
        bool met = trying.meet_minima();
        steps -= trying.looks();
        if (!met && steps > 0) {
            const std::int64_t most = std::min(steps, steps_of_try);
            std::int64_t left = most;
            met = trying.meet_minima_otherwise(left);
            steps -= most - left;
        }
        return met ? answer::admitted : answer::undecided;
    }

    void refuse_by_search(verdict& outcome) {
        outcome.kind = answer::waiting;
        prove_by_search(certificate_scope::free_now, outcome);
        slack_ = search_.slack();
        waits_for_pods_ = caps_apply_;
    }
    void judge_ever_by_search(fit_outcome found, verdict& outcome) {
        ever_is_open_ = found == fit_outcome::undecided;
        if (found != fit_outcome::impossible)
            return;
        outcome.kind = answer::never;
        recycle(outcome.proof);
        prove_by_search(certificate_scope::empty_cluster, outcome);
    }
    void prove_by_search(certificate_scope scope, verdict& outcome) {
        outcome.at = search_.by_quota() ? gate::quota : gate::space;
        outcome.proof = proofs_.of(scope, search_.proof());
        if (caps_apply_)
            outcome.proof->caps = caps_.said();
    }

    /// Checks whether the gang could ever start, as if members that no node can take at present
    /// become placeable.
    void check_feasible_when_empty(const cluster_type& cluster, gang_index which, bool fixed,
                                   finder_type& finder, verdict& outcome, std::int64_t steps) {
        const auto& last = cluster[which].last;
        outcome.could_start = !cluster[which].dirty && last.is_known &&
                              last.kind == answer::waiting && last.could_start &&
                              last.capability_epoch == cluster.capability_epoch();
        if (outcome.could_start)
            return;
        const held_as_placed<width> held(members_);
        const without_changing_domains<width> lasting(members_);
        if (members_.any_held())
            fixed = fixed_needs(members_, needs_);
        const std::size_t classes = members_.classes.size();
        constexpr auto ever = certificate_scope::empty_cluster;
        if (const auto kind = fixed ? over_quota(cluster, members_, needs_, ever) : std::nullopt) {
            outcome.kind = answer::never;
            outcome.at = gate::quota;
            recycle(outcome.proof);
            outcome.proof = proofs_.of_price(ever, classes, *kind);
            return;
        }
        if (fixed && !detail::asks_for_growing_kinds(cluster, members_)) {
            if (finder.exhaustive() && classes == 1 && !detail::has_required_topology(members_))
                return only_class(finder, outcome);
            std::size_t short_of = 0;
            switch (empty_cluster_.look(cluster, members_, needs_, short_of)) {
            case empty_cluster_outcome::fits:
                if (detail::has_required_topology(members_))
                    break;
                outcome.could_start = true;
                return;
            case empty_cluster_outcome::impossible:
                outcome.kind = answer::never;
                outcome.at = gate::space;
                recycle(outcome.proof);
                outcome.proof = proofs_.of_class(ever, classes, short_of);
                return;
            case empty_cluster_outcome::open:
                break;
            }
            if (detail::has_required_topology(members_) &&
                check_feasible_in_domains(cluster, finder, outcome))
                return;
        }
        std::int64_t left = steps;
        const fit_outcome found = search_.run(cluster, members_, ever, left);
        outcome.steps += steps - left;
        outcome.could_start = found == fit_outcome::fits;
        caps_apply_ = false;
        judge_ever_by_search(found, outcome);
    }

    /// Returns true if room in one domain after the other decides whether the gang could ever
    /// start.
    [[nodiscard]] bool check_feasible_in_domains(const cluster_type& cluster, finder_type& finder,
                                                 verdict& outcome) {
        switch (look_in_domains(cluster, members_, needs_, certificate_scope::empty_cluster, finder,
                                in_domains_)) {
        case domains_outcome::fits:
            outcome.could_start = true;
            return true;
        case domains_outcome::impossible:
            outcome.kind = answer::never;
            outcome.at = gate::space;
            recycle(outcome.proof);
            outcome.proof =
                proofs_.of(certificate_scope::empty_cluster, in_domains_.vertices.all());
            return true;
        case domains_outcome::open:
            break;
        }
        return false;
    }

    /// Decides for a gang of one class: it could start if the empty cluster has room for it.
    void only_class(finder_type& finder, verdict& outcome) {
        const auto& sole_class = members_.classes.front();
        constexpr auto ever = certificate_scope::empty_cluster;
        outcome.could_start = finder.holds(sole_class.shape, members_.queue_nodes,
                                           filters_in_force({}, ever), needs_.front());
        if (outcome.could_start)
            return;
        outcome.kind = answer::never;
        outcome.at = gate::space;
        recycle(outcome.proof);
        outcome.proof = proofs_.of_class(ever, 1, 0);
    }

    member_sorter<width> sorter_;
    gang_members<width> members_;
    detail::sequence<std::int64_t> needs_;
    bool fixed_ = false;
    gate_scratch at_gates_;
    /// The tree of the gang that `prepare_one_more` prepared, with its minimum raised by one.
    gang_tree raised_;
    std::optional<shortage> short_of_;
    std::optional<int128> slack_;
    bool waits_for_pods_ = false;
    bool ever_is_open_ = false;
    empty_cluster_check<Traits> empty_cluster_;
    detail::proof_pool proofs_;
    domain_proof in_domains_;
    detail::gang_search<Traits> search_;
    detail::term_caps<Traits> caps_;
    /// The last search was within the caps.
    bool caps_apply_ = false;
};

/// Decides one gang with a scan of all nodes; see `admission::decide`. O(members + pods placed ×
/// nodes × width), and a search if greedy placement fails.
template<class Traits>
[[nodiscard]] verdict admit(const cluster_state<Traits>& cluster, gang_index which,
                            plan<Traits::width>& into,
                            const placement_weights<Traits::width>& weights,
                            const any_score<Traits::width>& score, std::int64_t steps) {
    node_finder<Traits> finder(weights, score);
    placer<Traits> placing;
    return admission<Traits>().decide(cluster, which, into, finder, placing, steps);
}

} // namespace v0_1
} // namespace muster
