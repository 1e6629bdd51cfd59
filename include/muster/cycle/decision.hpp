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

/// The answer to one gang, with what starts now.
struct decision {
    gang_index gang;
    verdict outcome;
    /// Of an admitted gang: the members placed, in the order in which they were; empty when what
    /// holds already meets the minima and nothing more fits. It is in the result.
    std::span<const placement> placements;
    /// The pods to evict first. They keep their places until they are reported gone.
    std::span<const pod_index> evictions;
    /// Of those, the pods that move: room on that node is reserved for the replacement of the pod.
    std::span<const placement> moves;
    /// The placements are for the time when the evicted pods have left: a later cycle places them
    /// once more, for good, when there is room for all of them.
    bool nominated = false;
    /// The evictions are what is left of the gang itself, which was below its minima for too long.
    bool stale = false;
    /// Of a gang that waits: what all evictions together would leave it short of, where that is
    /// known.
    std::optional<eviction_shortage> short_after_evictions;
    /// Where they begin among all placements and evictions of the result.
    std::size_t first = 0;
    std::size_t first_eviction = 0;
    std::size_t first_move = 0;
};

/// Answers of all gangs, asked or not, and what it took.
struct cycle_counters : answer_counts {
    /// Gangs asked, skipped ones not among them.
    std::size_t asked = 0;
    /// Gangs not asked: nothing changed that could change their answer, or strict order keeps them
    /// where they are.
    std::size_t skipped = 0;
    std::size_t pods_placed = 0;
    std::size_t pods_nominated = 0;
    /// Those that move among them.
    std::size_t pods_evicted = 0;
    std::size_t pods_moved = 0;
    std::int64_t search_steps = 0;
};

/// The answers of a cycle. Its memory is used again: a caller that passes the same result every
/// time allocates nothing.
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

    /// In the order in which they were made.
    std::vector<decision> decisions;
    cycle_counters counters;

    void clear() noexcept {
        decisions.clear();
        placed_.clear();
        evicted_.clear();
        moved_.clear();
        counters = {};
    }

    /// Appends a decision; its placements can be read after `bind`.
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
    /// The gang of the decision starts after all, once the evicted pods have left.
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

    /// The rest of the gang of the decision is evicted.
    void dissolve(decision& made, std::span<const pod_index> evictions) {
        made.stale = true;
        made.first_eviction = evicted_.size();
        evicted_.insert(evicted_.end(), evictions.begin(), evictions.end());
        made.evictions = {evicted_.data(), evictions.size()};
    }

    /// Makes the placements and evictions of all decisions readable.
    void bind() noexcept {
        for (decision& each : decisions) {
            each.placements = {placed_.data() + each.first, each.placements.size()};
            each.evictions = {evicted_.data() + each.first_eviction, each.evictions.size()};
            each.moves = {moved_.data() + each.first_move, each.moves.size()};
        }
    }

private:
    std::vector<placement> placed_;
    std::vector<pod_index> evicted_;
    std::vector<placement> moved_;
};

} // namespace v0_1
} // namespace muster
