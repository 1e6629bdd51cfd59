// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <muster/adapter/backoff.hpp>
#include <muster/adapter/instant.hpp>
#include <muster/adapter/token_bucket.hpp>
#include <muster/vocabulary/budget.hpp>

namespace muster {
inline namespace v0_1 {
namespace adapter {

/// How a driver goes about its work. Times are nanoseconds of steady time.
struct driver_options {
    /// For the spread of retries.
    std::uint64_t seed = 1;
    /// Nothing is decided on a view that was whole longer ago than this.
    std::int64_t stale_after = 5 * second;
    /// How often a cycle is made though nothing happened, for what time alone brings about; and how
    /// soon another when the last one left something open.
    std::int64_t cycle_every = 1 * second;
    std::int64_t cycle_again = 1 * millisecond;
    /// For how long one bind is tried again.
    std::int64_t bind_deadline = 10 * second;
    /// A gang that never reached its minima, of which pods stand and no more come to stand for so
    /// long, is evicted.
    std::int64_t heal_after = 30 * second;
    /// For how long an eviction that does not go through is tried again; then the pod stays.
    std::int64_t eviction_deadline = 60 * second;
    /// How long after something happened to a gang its status is written, with all that happened to
    /// it meanwhile.
    std::int64_t status_delay = 500 * millisecond;
    /// How often it is at most, where nothing but how many members run, have ended or exist is
    /// another than before: a gang's members come to run one by one.
    std::int64_t counts_every = 2 * second;
    /// How often what is said to people of a gang that goes on waiting at the same gate is made
    /// anew, when something of it was seen: numbers in it may change all the time.
    std::int64_t words_every = 30 * second;
    /// For how many gangs words are made in one step.
    std::size_t most_words = 16;
    /// How often all that wait are asked again whatever happened: for mistakes of ours.
    std::int64_t flush_every = 5 * minute;
    /// How often the view is compared with a fresh listing, and how long after a difference again,
    /// to tell a mistake from a delay.
    std::int64_t compare_every = 10 * minute;
    std::int64_t compare_again = 10 * second;
    /// Between tries of one order.
    backoff_options retries{200 * millisecond, 5 * second, 1 * minute};
    /// Before the server is asked what became of an order whose answer was lost.
    std::int64_t ask_after = 200 * millisecond;
    /// How long a gang of which a bind failed for good is held back.
    backoff_options holds{1 * second, 60 * second, 10 * minute};
    /// How long a gang whose object turned out to be newer than the view is held back at most.
    std::int64_t catch_up = 500 * millisecond;
    /// Binds, ungatings and evictions; statuses and events. A bucket each.
    rate binds{5'000, 5'000};
    rate reports{100, 200};
    /// Orders for pods under way at a time.
    std::size_t most_under_way = 256;
    /// Events that wait to be sent; the oldest beyond are dropped and counted.
    std::size_t most_events = 1'000;
    /// Ask the server before a gang's first bind whether its object is as it was seen.
    bool check_gangs = true;
    budget limit{};
};

} // namespace adapter
} // namespace v0_1
} // namespace muster
