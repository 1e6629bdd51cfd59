// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <muster/admission/verdict.hpp>
#include <muster/base/id.hpp>
#include <muster/model/answer.hpp>
#include <muster/plan/plan.hpp>

namespace muster::inline v0_1 {

/// The answer to one gang, with what starts now.
struct decision {
    gang_index gang;
    verdict outcome;
    /// Of an admitted gang: the members placed, in the order in which they were; empty when what
    /// holds already meets the minima and nothing more fits. Stands in the result.
    std::span<const placement> placements;
    /// Where they begin among all placements of the result.
    std::size_t first = 0;
};

/// Answers of all gangs, asked or not, and what it took.
struct cycle_counters : answer_counts {
    /// Gangs asked, skipped ones not among them.
    std::size_t asked = 0;
    /// Gangs not asked: nothing changed that could change their answer, or strict order keeps them
    /// where they are.
    std::size_t skipped = 0;
    std::size_t pods_placed = 0;
    std::int64_t search_steps = 0;
};

/// What a cycle answered. One that is used again keeps its memory, so that a caller who hands in
/// the same result every time pays for none.
class cycle_result {
public:
    cycle_result() = default;
    cycle_result(const cycle_result& other)
        : decisions(other.decisions), counters(other.counters), placed_(other.placed_) {
        bind();
    }
    cycle_result(cycle_result&& other) noexcept = default;
    cycle_result& operator=(cycle_result other) noexcept {
        decisions = std::move(other.decisions);
        counters = other.counters;
        placed_ = std::move(other.placed_);
        return *this;
    }
    ~cycle_result() = default;

    /// In the order in which they were made.
    std::vector<decision> decisions;
    cycle_counters counters;

    void clear() noexcept {
        decisions.clear();
        placed_.clear();
        counters = {};
    }

    /// Appends a decision; its placements can be read after `bind`.
    void add(gang_index gang, verdict&& outcome, const std::vector<placement>& placements) {
        const std::size_t first = placed_.size();
        placed_.insert(placed_.end(), placements.begin(), placements.end());
        decisions.push_back({gang, std::move(outcome), {placed_.data(), placements.size()}, first});
    }

    /// Makes the placements of all decisions readable.
    void bind() noexcept {
        for (decision& each : decisions)
            each.placements = {placed_.data() + each.first, each.placements.size()};
    }

private:
    std::vector<placement> placed_;
};

} // namespace muster::inline v0_1
