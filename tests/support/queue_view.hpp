// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include <muster/base/checked.hpp>
#include <muster/base/id.hpp>
#include <muster/cluster/state.hpp>
#include <muster/vocabulary/certificate.hpp>

namespace muster {
inline namespace v0_1 {
namespace testing {

[[nodiscard]] inline bool takes_room(const pod_record& pod) {
    return pod.node && pod.phase != pod_phase::succeeded && pod.phase != pod_phase::failed;
}

/// The tree of queues as its rules say it, added up anew from the records of a state.
template<class Traits>
class queue_view {
public:
    static constexpr std::size_t width = Traits::width;

    queue_view(const state<Traits>& known, certificate_scope scope) : known_(&known) {
        if (scope == certificate_scope::empty_cluster)
            return;
        for (const auto& kept : known.reservations())
            for (std::size_t kind = 0; kept.queue && kind < width; ++kind)
                own_[kept.queue->value()][kind] += kept.quota[kind];
        for (const auto& [key, pod] : known.pod_keys()) {
            const auto queue = known[known[pod].gang].queue;
            if (!queue || !takes_room(known[pod]))
                continue;
            for (std::size_t kind = 0; kind < width; ++kind) {
                own_[queue->value()][kind] += known.request(pod)[kind];
                if (!known[known[pod].gang].spec.preemptible)
                    firm_[queue->value()][kind] += known.request(pod)[kind];
            }
        }
    }

    /// The queue, the one above it, and so on.
    [[nodiscard]] std::vector<queue_index> upwards(queue_index queue) const {
        std::vector<queue_index> all;
        for (std::optional<queue_index> at = queue; at; at = (*known_)[*at].parent)
            all.push_back(*at);
        return all;
    }

    /// What pods of the queue itself hold.
    [[nodiscard]] std::int64_t own(queue_index queue, std::size_t kind) const {
        const auto at = own_.find(queue.value());
        return at == own_.end() ? 0 : at->second[kind];
    }

    /// What pods of the queue and of all below it hold.
    [[nodiscard]] std::int64_t used(queue_index queue, std::size_t kind) const {
        std::int64_t sum = own(queue, kind);
        for (const queue_index child : below(queue))
            sum += used(child, kind);
        return sum;
    }

    /// The same of pods that nobody may evict.
    [[nodiscard]] std::int64_t non_preemptible(queue_index queue, std::size_t kind) const {
        const auto at = firm_.find(queue.value());
        std::int64_t sum = at == firm_.end() ? 0 : at->second[kind];
        for (const queue_index child : below(queue))
            sum += non_preemptible(child, kind);
        return sum;
    }

    /// What counts against its quota if pods of `taker` held that much more.
    [[nodiscard]] int128 claimed(queue_index queue, std::size_t kind, queue_index taker,
                                 std::int64_t more) const {
        int128 sum = own(queue, kind);
        if (queue == taker)
            sum += more;
        for (const queue_index child : below(queue))
            sum += std::max<int128>((*known_)[child].spec.guarantee[kind],
                                    claimed(child, kind, taker, more));
        return sum;
    }

    /// No ceiling above what the queue would take more of is broken by its taking it.
    [[nodiscard]] bool may_take(queue_index queue, std::size_t kind, std::int64_t more,
                                bool firmly = false) const {
        for (const queue_index at : upwards(queue)) {
            const auto lower = (*known_)[at].spec.non_preemptible_quota[kind_id{kind}];
            if (firmly && lower && more > 0 && int128{non_preemptible(at, kind)} + more > *lower)
                return false;
            const auto ceiling = (*known_)[at].spec.quota[kind_id{kind}];
            const int128 after = claimed(at, kind, queue, more);
            if (ceiling && after > claimed(at, kind, queue, 0) && after > *ceiling)
                return false;
        }
        return true;
    }

    /// The most that the queue may take, nothing when no ceiling bounds it.
    [[nodiscard]] std::optional<std::int64_t> room(queue_index queue, std::size_t kind,
                                                   bool firmly = false) const {
        std::int64_t beyond = 1;
        bool bounded = false;
        for (const queue_index at : upwards(queue)) {
            const auto& spec = (*known_)[at].spec;
            const auto lower = firmly ? spec.non_preemptible_quota[kind_id{kind}] : std::nullopt;
            bounded = bounded || spec.quota[kind_id{kind}] || lower;
            beyond +=
                spec.quota[kind_id{kind}].value_or(0) + spec.guarantee[kind] + lower.value_or(0);
        }
        if (!bounded)
            return std::nullopt;
        std::int64_t fits = 0;
        while (beyond - fits > 1) {
            const std::int64_t middle = fits + (beyond - fits) / 2;
            (may_take(queue, kind, middle, firmly) ? fits : beyond) = middle;
        }
        return fits;
    }

private:
    [[nodiscard]] std::vector<queue_index> below(queue_index queue) const {
        std::vector<queue_index> all;
        for (const auto& [key, which] : known_->queue_keys())
            if ((*known_)[which].parent == queue)
                all.push_back(which);
        return all;
    }

    const state<Traits>* known_;
    std::map<std::size_t, resources<width>> own_;
    std::map<std::size_t, resources<width>> firm_;
};

} // namespace testing
} // namespace v0_1
} // namespace muster
