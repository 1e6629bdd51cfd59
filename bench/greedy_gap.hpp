// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace bench {

/// How often greedy admission refuses a gang although a placement exists, which Muster's search
/// found: gangs of two roles with opposite appetites, as large as still fits and a little smaller.
struct greedy_gap_report {
    std::size_t nodes = 0;
    std::size_t clusters = 0;
    /// Gangs that fit, by Muster; and those of them that A refuses.
    std::size_t at_the_limit = 0;
    std::size_t refused_at_the_limit = 0;
    std::size_t at_nine_tenths = 0;
    std::size_t refused_at_nine_tenths = 0;
    /// How much smaller than the largest gang that fits the largest is that A starts.
    double mean_loss = 0.0;
    /// Of the gangs that A refuses, those that it starts when it takes the roles the other way
    /// round; and of these the middle time that Muster's start takes, by the search, and with the
    /// roles given the other way round, by greedy placement.
    std::size_t other_order_at_the_limit = 0;
    std::size_t other_order_at_nine_tenths = 0;
    double searched_p50_ns = 0.0;
    double other_order_p50_ns = 0.0;
    /// Answers that were neither a placement nor a proof.
    std::size_t undecided = 0;
};

[[nodiscard]] greedy_gap_report measure_greedy_gap(std::size_t nodes, std::size_t clusters);

} // namespace bench
