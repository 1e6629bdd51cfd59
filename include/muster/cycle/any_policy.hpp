// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>

#include <muster/cluster/cluster_state.hpp>
#include <muster/cycle/decision.hpp>
#include <muster/cycle/policy.hpp>
#include <muster/index/any_score.hpp>
#include <muster/policy/any_order.hpp>
#include <muster/policy/any_rule.hpp>
#include <muster/policy/any_victim_rule.hpp>
#include <muster/policy/domain_order_concept.hpp>
#include <muster/vocabulary/budget.hpp>

namespace muster {
inline namespace v0_1 {

template<class Traits>
struct any_policy;

namespace detail {

template<class Traits>
struct cycle_context;

/// Runs the preempt phase: nominates waiting gangs to nodes that other pods will leave, as the
/// policy's rules allow. Returns true if the next cycle can skip this phase: all gangs were tried,
/// and none was nominated. Defined in preempt_phase.hpp.
template<class Traits>
[[nodiscard]] bool make_room(cluster_state<Traits>& cluster, std::int64_t now,
                             const any_policy<Traits>& how, budget limit, cycle_result& result,
                             cycle_context<Traits>& context, bool spare_work);

/// A rule with the phase that applies it. A program that uses no such rule does not compile the
/// phase.
template<class Traits, class Any>
class rule_with_phase : public Any {
public:
    using phase = decltype(&make_room<Traits>);

    rule_with_phase() = default;
    template<class Rule>
        requires(!std::same_as<Rule, rule_with_phase> && std::constructible_from<Any, const Rule&>)
    rule_with_phase(const Rule& rule) : Any(rule) {
        if constexpr (!Rule::none)
            phase_ = this->is_none() ? nullptr : &make_room<Traits>;
    }

    /// Returns the phase; null if the rule's type evicts nothing.
    [[nodiscard]] phase make_room_by() const noexcept { return phase_; }

private:
    phase phase_ = nullptr;
};

} // namespace detail

/// Any policy for states of these traits, as one type: each member holds any value that satisfies
/// the concept of the member's name. Cycles are compiled for this type only; a `policy` of other
/// types is converted when it is passed to a cycle. Programs that choose their policy at run time
/// keep an `any_policy`.
template<class Traits>
struct any_policy {
    any_score<Traits::width> score = best_fit{};
    any_gang_order gangs{};
    any_queue_order queues{};
    any_reservation_rule reservations{};
    any_surplus_rule surplus{};
    any_domain_order domains = most_packed{};
    detail::rule_with_phase<Traits, any_victim_rule> victims{};
    detail::rule_with_phase<Traits, any_consolidation_rule> consolidation{};
    any_staleness_rule staleness{};

    any_policy() = default;
    template<class Policy>
        requires(!std::same_as<Policy, any_policy> && cycle_policy<Policy, Traits>)
    any_policy(const Policy& how)
        : score(how.score),
          gangs(how.gangs),
          queues(how.queues),
          reservations(how.reservations),
          surplus(how.surplus),
          domains(how.domains),
          victims(how.victims),
          consolidation(detail::consolidation_in(how)),
          staleness(detail::staleness_in(how)) {}
};

namespace detail {

/// Returns the phase that makes room by eviction or migration; null if the policy does neither.
template<class Traits>
[[nodiscard]] auto make_room_by(const any_policy<Traits>& how) noexcept {
    const auto moves = how.consolidation.make_room_by();
    return moves ? moves : how.victims.make_room_by();
}
/// True if pods are evicted or moved also for members beyond minima.
template<class Traits>
[[nodiscard]] bool serves_surplus_by(const any_policy<Traits>& how) noexcept {
    return how.victims.for_surplus() || how.consolidation.for_surplus();
}

} // namespace detail
} // namespace v0_1
} // namespace muster
