// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <type_traits>

#include <muster/policy/consolidation.hpp>
#include <muster/policy/domain_order.hpp>
#include <muster/policy/gang_order.hpp>
#include <muster/policy/kai_reclaim.hpp>
#include <muster/policy/kueue_preemption.hpp>
#include <muster/policy/placement.hpp>
#include <muster/policy/queue_order.hpp>
#include <muster/policy/reservation.hpp>
#include <muster/policy/staleness.hpp>
#include <muster/policy/surplus.hpp>
#include <muster/policy/t9k_preemption.hpp>
#include <muster/policy/victim_rule.hpp>
#include <muster/policy/victim_rule_adaptors.hpp>
#include <muster/policy/volcano_reclaim.hpp>

namespace muster {
inline namespace v0_1 {

/// The configurable choices of a cycle. Each member is a small value that satisfies its concept.
template<class Score = best_fit, gang_order GangOrder = priority_then_age,
         queue_order QueueOrder = priority_then_share,
         reservation_rule Reservations = no_reservations, surplus_rule Surplus = surplus_at_once,
         domain_order DomainOrder = most_packed, victim_rule Victims = no_eviction,
         consolidation_rule Consolidation = no_consolidation, staleness_rule Staleness = keep_stale>
struct policy {
    Score score{};
    GangOrder gangs{};
    QueueOrder queues{};
    Reservations reservations{};
    Surplus surplus{};
    /// For gangs whose members must share a domain.
    DomainOrder domains{};
    Victims victims{};
    Consolidation consolidation{};
    Staleness staleness{};
};

// clang 14 does not deduce the template arguments of an aggregate without these guides.
template<class Score>
policy(Score) -> policy<Score>;
template<class Score, class GangOrder>
policy(Score, GangOrder) -> policy<Score, GangOrder>;
template<class Score, class GangOrder, class QueueOrder>
policy(Score, GangOrder, QueueOrder) -> policy<Score, GangOrder, QueueOrder>;
template<class Score, class GangOrder, class QueueOrder, class Reservations>
policy(Score, GangOrder, QueueOrder, Reservations)
    -> policy<Score, GangOrder, QueueOrder, Reservations>;
template<class Score, class GangOrder, class QueueOrder, class Reservations, class Surplus>
policy(Score, GangOrder, QueueOrder, Reservations, Surplus)
    -> policy<Score, GangOrder, QueueOrder, Reservations, Surplus>;
template<class Score, class GangOrder, class QueueOrder, class Reservations, class Surplus,
         class DomainOrder>
policy(Score, GangOrder, QueueOrder, Reservations, Surplus, DomainOrder)
    -> policy<Score, GangOrder, QueueOrder, Reservations, Surplus, DomainOrder>;
template<class Score, class GangOrder, class QueueOrder, class Reservations, class Surplus,
         class DomainOrder, class Victims>
policy(Score, GangOrder, QueueOrder, Reservations, Surplus, DomainOrder, Victims)
    -> policy<Score, GangOrder, QueueOrder, Reservations, Surplus, DomainOrder, Victims>;
template<class Score, class GangOrder, class QueueOrder, class Reservations, class Surplus,
         class DomainOrder, class Victims, class Consolidation>
policy(Score, GangOrder, QueueOrder, Reservations, Surplus, DomainOrder, Victims, Consolidation)
    -> policy<Score, GangOrder, QueueOrder, Reservations, Surplus, DomainOrder, Victims,
              Consolidation>;

template<class Score, class GangOrder, class QueueOrder, class Reservations, class Surplus,
         class DomainOrder, class Victims, class Consolidation, class Staleness>
policy(Score, GangOrder, QueueOrder, Reservations, Surplus, DomainOrder, Victims, Consolidation,
       Staleness) -> policy<Score, GangOrder, QueueOrder, Reservations, Surplus, DomainOrder,
                            Victims, Consolidation, Staleness>;

/// A policy that a cycle accepts for states with these traits: a `policy`, or any type with the
/// same members, of which `consolidation` and `staleness` may be missing.
template<class Policy, class Traits>
concept cycle_policy = std::copyable<Policy> && requires(const Policy how) {
    requires placement_score<std::remove_cvref_t<decltype(how.score)>, Traits::width>;
    requires gang_order<std::remove_cvref_t<decltype(how.gangs)>>;
    requires queue_order<std::remove_cvref_t<decltype(how.queues)>>;
    requires reservation_rule<std::remove_cvref_t<decltype(how.reservations)>>;
    requires surplus_rule<std::remove_cvref_t<decltype(how.surplus)>>;
    requires domain_order<std::remove_cvref_t<decltype(how.domains)>>;
    requires victim_rule<std::remove_cvref_t<decltype(how.victims)>>;
    requires !requires {
        how.consolidation;
    }
    || consolidation_rule<std::remove_cvref_t<decltype(how.consolidation)>>;
};

namespace detail {

template<class Policy>
[[nodiscard]] constexpr auto consolidation_in(const Policy& how) noexcept {
    if constexpr (requires { how.consolidation; })
        return how.consolidation;
    else
        return no_consolidation{};
}
template<class Policy>
[[nodiscard]] constexpr auto staleness_in(const Policy& how) noexcept {
    if constexpr (requires { how.staleness; })
        return how.staleness;
    else
        return keep_stale{};
}

} // namespace detail
} // namespace v0_1
} // namespace muster
