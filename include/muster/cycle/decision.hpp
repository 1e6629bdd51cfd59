// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <muster/base/id.hpp>
#include <muster/plan/plan.hpp>
#include <muster/preempt/eviction_shortage.hpp>
#include <muster/vocabulary/answer.hpp>
#include <muster/vocabulary/verdict.hpp>

namespace muster {
inline namespace v0_1 {

/// The answer to one gang, with its placements and evictions.
struct decision {
    gang_index gang;
    verdict outcome;
    /// For an admitted gang: the members placed, in the order of placement. Empty if the members
    /// that hold room already meet the minima and nothing more fits. Refers to memory of the
    /// `cycle_result`.
    std::span<const placement> placements;
    /// The pods to evict first. They occupy their nodes until they are reported gone.
    std::span<const pod_index> evictions;
    /// The evicted pods that move, with their target nodes. Room on the target node is reserved for
    /// the replacement of the pod.
    std::span<const placement> moves;
    /// The placements apply once the evicted pods have left. A later cycle places the members
    /// again, this time finally, when there is room for all of them.
    bool nominated = false;
    /// The evictions are the remaining members of this gang, which was below its minima for too
    /// long.
    bool stale = false;
    /// For a waiting gang: what it would be short of if all permitted victims were evicted; absent
    /// = unknown.
    std::optional<eviction_shortage> short_after_evictions;
    /// Index of the first placement, eviction and move among those of the whole result.
    std::size_t first = 0;
    std::size_t first_eviction = 0;
    std::size_t first_move = 0;
};

/// How many gangs have each answer, whether asked or not, and how much work the cycle did.
struct cycle_counters : answer_counts {
    /// Number of gangs asked.
    std::size_t asked = 0;
    /// Number of gangs not asked, because nothing changed that could change their answer, or
    /// because of strict order.
    std::size_t skipped = 0;
    std::size_t pods_placed = 0;
    std::size_t pods_nominated = 0;
    /// Includes pods that move.
    std::size_t pods_evicted = 0;
    std::size_t pods_moved = 0;
    std::int64_t search_steps = 0;
};

/// The answers of a cycle. A caller that passes the same result to every cycle reuses its memory
/// and allocates nothing.
class cycle_result {
public:
    cycle_result() = default;
    cycle_result(const cycle_result& other)
        : decisions(other.decisions),
          counters(other.counters),
          placed_(other.placed_),
          evicted_(other.evicted_),
          moved_(other.moved_) {
        bind();
    }
    cycle_result(cycle_result&& other) noexcept = default;
    cycle_result& operator=(cycle_result other) noexcept {
        decisions = std::move(other.decisions);
        counters = other.counters;
        placed_ = std::move(other.placed_);
        evicted_ = std::move(other.evicted_);
        moved_ = std::move(other.moved_);
        return *this;
    }
    ~cycle_result() = default;

    /// Decisions in the order in which they were made.
    std::vector<decision> decisions;
    cycle_counters counters;

    void clear() noexcept {
        decisions.clear();
        placed_.clear();
        evicted_.clear();
        moved_.clear();
        counters = {};
    }

    /// Appends a decision. Call `bind` before its placements are read.
    void add(gang_index gang, verdict&& outcome, const std::vector<placement>& placements) {
        const std::size_t first = placed_.size();
        placed_.insert(placed_.end(), placements.begin(), placements.end());
        decision made;
        made.gang = gang;
        made.outcome = std::move(outcome);
        made.placements = {placed_.data(), placements.size()};
        made.first = first;
        decisions.push_back(std::move(made));
    }
    /// Turns the decision into a nomination: the gang starts once the evicted pods have left.
    void nominate(decision& made, std::span<const placement> placements,
                  std::span<const pod_index> evictions, std::span<const placement> moves = {}) {
        made.nominated = true;
        made.first = placed_.size();
        placed_.insert(placed_.end(), placements.begin(), placements.end());
        made.placements = {placed_.data(), placements.size()};
        made.first_eviction = evicted_.size();
        evicted_.insert(evicted_.end(), evictions.begin(), evictions.end());
        made.evictions = {evicted_.data(), evictions.size()};
        made.first_move = moved_.size();
        moved_.insert(moved_.end(), moves.begin(), moves.end());
        made.moves = {moved_.data(), moves.size()};
    }

    /// Adds the eviction of the gang's remaining members to the decision.
    void dissolve(decision& made, std::span<const pod_index> evictions) {
        made.stale = true;
        made.first_eviction = evicted_.size();
        evicted_.insert(evicted_.end(), evictions.begin(), evictions.end());
        made.evictions = {evicted_.data(), evictions.size()};
    }

    /// Makes the placements and evictions of all decisions readable.
    void bind() noexcept {
        for (decision& entry : decisions) {
            entry.placements = {placed_.data() + entry.first, entry.placements.size()};
            entry.evictions = {evicted_.data() + entry.first_eviction, entry.evictions.size()};
            entry.moves = {moved_.data() + entry.first_move, entry.moves.size()};
        }
    }

private:
    std::vector<placement> placed_;
    std::vector<pod_index> evicted_;
    std::vector<placement> moved_;
};

} // namespace v0_1
} // namespace muster
