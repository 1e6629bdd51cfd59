// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <muster/base/ranges.hpp>
#include <muster/base/sequence.hpp>
#include <muster/index/bit_slices.hpp>
#include <muster/index/capacity_search.hpp>
#include <muster/index/threshold_choice.hpp>
#include <muster/index/thresholds.hpp>
#include <muster/resource/resources.hpp>

namespace muster {
inline namespace v0_1 {
namespace detail {

/// Counts the wasted work of queries, and decides when to replace the thresholds and by which
/// requests: when the wasted work would have paid for it. It uses counts and no clock, so the same
/// calls give the same thresholds.
template<std::size_t Width, std::size_t Thresholds>
class threshold_learning {
    using query = threshold_query<Width>;

public:
    /// Records a query and its work. O(1).
    void note(const query& asked, const search_effort& effort) {
        if (asked.exact) {
            if (asked.thresholds != 0)
                ++uses_[static_cast<std::size_t>(std::countr_zero(asked.thresholds))];
            return;
        }
        ++inexact_;
        const std::uint64_t waste = effort.leaves_in_vain * leaf_cost + effort.rows_in_vain;
        if (waste == 0)
            return;
        waste_ += waste;
        remember(asked.request);
    }

    /// Returns true if replacing the thresholds of this many rows is worth its cost.
    [[nodiscard]] bool due(std::size_t rows) const noexcept {
        return waste_ > patience_ * (rows + 64);
    }

    /// Returns the requests to use as thresholds; none if the current ones are still right.
    [[nodiscard]] sequence<resources<Width>>
    choose(const threshold_set<Width, Thresholds>& current) {
        // Patience doubles if queries still waste more than half of what they wasted before.
        const std::uint64_t rate = waste_ / std::max<std::uint64_t>(1, inexact_);
        patience_ = 2 * rate > last_rate_ && last_rate_ != 0 ? std::min(patience_ * 2, max_patience)
                                                             : least_patience;
        last_rate_ = std::max<std::uint64_t>(1, rate);
        waste_ = 0;
        inexact_ = 0;

        sequence<weighed_request<Width>> requests;
        for (std::size_t sampled = 0; sampled < current.size(); ++sampled)
            if (uses_[sampled] != 0)
                requests.push_back({current[sampled], uses_[sampled]});
        for (weighed_request<Width>& sampled : sample_) {
            if (sampled.weight == 0)
                continue;
            const auto same =
                detail::find(requests, sampled.request, &weighed_request<Width>::request);
            if (same == requests.end())
                requests.push_back(sampled);
            // Requests that are no longer queried lose their weight over time.
            sampled.weight /= 2;
        }
        uses_ = {};
        auto chosen = choose_thresholds<Width>(std::move(requests), Thresholds);
        const auto is_known = [&](const resources<Width>& sampled) {
            for (std::size_t at = 0; at < current.size(); ++at)
                if (current[at] == sampled)
                    return true;
            return false;
        };
        if (detail::all_of(chosen, is_known))
            chosen.clear();
        return chosen;
    }

    [[nodiscard]] std::size_t memory_bytes() const noexcept {
        return sample_.capacity() * sizeof(sample_[0]);
    }

private:
    /// The cost of reading a leaf, in units of rows that were read without result. The patience has
    /// the same unit, per row.
    static constexpr std::uint64_t leaf_cost = 16;
    static constexpr std::uint64_t least_patience = 64;
    static constexpr std::uint64_t max_patience = std::uint64_t{1} << 20;
    static constexpr std::size_t ways = 4;
    static constexpr std::size_t sets = 64;

    /// Counts the request in a table of a fixed size (a set-associative one). If its set is full,
    /// the weight of the lightest entry falls by one; an entry of weight 0 is replaced.
    void remember(const resources<Width>& request) {
        if (sample_.empty())
            sample_.resize(sets * ways);
        std::uint64_t hash = 0;
        for (std::size_t column = 0; column < Width; ++column)
            hash = (hash ^ static_cast<std::uint64_t>(request[column])) * 0x9e3779b97f4a7c15U +
                   (hash >> 29);
        weighed_request<Width>* const set = &sample_[(hash >> 40) % sets * ways];
        weighed_request<Width>* lightest = set;
        for (std::size_t way = 0; way < ways; ++way) {
            if (set[way].request == request) {
                ++set[way].weight;
                return;
            }
            if (set[way].weight < lightest->weight)
                lightest = &set[way];
        }
        if (lightest->weight == 0)
            *lightest = {request, 1};
        else
            --lightest->weight;
    }

    sequence<weighed_request<Width>> sample_;
    /// Per threshold: how many queries requested exactly this vector.
    std::array<std::uint64_t, 64> uses_{};
    std::uint64_t waste_ = 0;
    std::uint64_t inexact_ = 0;
    std::uint64_t last_rate_ = 0;
    std::uint64_t patience_ = least_patience;
};

} // namespace detail
} // namespace v0_1
} // namespace muster
