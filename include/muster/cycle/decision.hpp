// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
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
    /// holds already meets the minima and nothing more fits.
    std::vector<placement> placements;
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

struct cycle_result {
    /// In the order in which they were made.
    std::vector<decision> decisions;
    cycle_counters counters;
};

} // namespace muster::inline v0_1
