// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <muster/base/id.hpp>
#include <muster/cluster/cluster_state.hpp>
#include <muster/cycle/fair_shares.hpp>
#include <muster/policy/queue_order_concept.hpp>
#include <muster/resource/share.hpp>

namespace muster {
inline namespace v0_1 {

/// The next gang of a queue: its request, priority and creation time.
template<std::size_t Width>
struct next_gang {
    resources<Width> amount{};
    std::int64_t priority = 0;
    std::int64_t created = 0;

    [[nodiscard]] friend bool operator==(const next_gang&, const next_gang&) = default;
};

/// Returns the rank of a queue that uses `used_now`, with `next` as its next gang. `due`: the fair
/// shares; null if the order does not use them. O(width).
template<class Traits>
[[nodiscard]] queue_rank rank_with(const cluster_state<Traits>& cluster, queue_index which,
                                   const resources<Traits::width>& used_now,
                                   const fair_shares<Traits>* due,
                                   const next_gang<Traits::width>& next = {}) {
    const resources<Traits::width> used = saturating_add(used_now, next.amount);
    const auto& accounts = cluster.accounts();
    const auto& spec = cluster[which].spec;
    queue_rank made;
    made.priority = spec.priority;
    made.weight = spec.weight;
    made.next_priority = next.priority;
    made.next_created = next.created;
    made.dominant = dominant_share(used, spec.quota);
    made.of_deserved = dominant_share(used, spec.deserved);
    for (std::size_t column = 0; column < Traits::width; ++column) {
        const kind_id kind{column};
        made.borrowing =
            made.borrowing || (spec.deserved.limited(kind) && used[kind] > spec.deserved[kind]);
        if (kind == cluster.pods_kind())
            continue;
        if (const share past{spec.past_use[kind], accounts.total(kind)}; past > made.of_past)
            made.of_past = past;
        const int128 all = accounts.total(kind);
        if (due) {
            const std::int64_t fair = (*due)[which][kind];
            const auto deserved = spec.deserved[kind];
            const auto quota = spec.quota[kind];
            made.over_fair_share = made.over_fair_share || used_now[kind] > fair;
            int128 top = deserved ? std::max(fair, *deserved) : all;
            if (quota)
                top = std::min<int128>(top, *quota);
            made.of_due = std::max(made.of_due, share{used[kind], top});
            made.of_due_now = std::max(made.of_due_now, share{used_now[kind], top});
            if (deserved)
                made.due_of_cluster = std::max(made.due_of_cluster, share{saturate(top), all});
        }
        if (used[kind] == 0)
            continue;
        const share candidate{used[kind], all};
        if (candidate > made.of_cluster)
            made.of_cluster = candidate;
    }
    return made;
}

/// Returns the current rank of a queue among its siblings. `due`: the fair shares; null if the
/// order does not use them. O(width).
template<class Traits>
[[nodiscard]] queue_rank rank_of(const cluster_state<Traits>& cluster, queue_index which,
                                 const fair_shares<Traits>* due = nullptr) {
    return rank_with(cluster, which, cluster.accounts().used(which), due);
}

/// Returns the rank of an inner queue's own gangs among the children of that queue: the rank of a
/// child with the settings of the queue and the use of these gangs only. O(width).
template<class Traits>
[[nodiscard]] queue_rank rank_of_own(const cluster_state<Traits>& cluster, queue_index which,
                                     const fair_shares<Traits>* due = nullptr) {
    return rank_with(cluster, which, cluster.accounts().queues().own(which), due);
}

} // namespace v0_1
} // namespace muster
