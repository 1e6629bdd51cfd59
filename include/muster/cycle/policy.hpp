// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <muster/policy/gang_order.hpp>
#include <muster/policy/placement.hpp>
#include <muster/policy/queue_order.hpp>

namespace muster::inline v0_1 {

/// The choices that a cycle leaves open, each a small value that satisfies its concept.
template<class Score = best_fit, gang_order GangOrder = priority_then_age,
         queue_order QueueOrder = priority_then_share>
struct policy {
    Score score{};
    GangOrder gangs{};
    QueueOrder queues{};
};

// clang 14 does not deduce the arguments of an aggregate by itself.
template<class Score>
policy(Score) -> policy<Score>;
template<class Score, class GangOrder>
policy(Score, GangOrder) -> policy<Score, GangOrder>;
template<class Score, class GangOrder, class QueueOrder>
policy(Score, GangOrder, QueueOrder) -> policy<Score, GangOrder, QueueOrder>;

} // namespace muster::inline v0_1
