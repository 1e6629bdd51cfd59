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

/// Watches what queries cost and says when, and by which requests, the thresholds should be
/// learned anew: when what was looked at in vain would have paid for it. Counts only, no clock, so
/// that the same calls learn the same.
template<std::size_t Width, std::size_t Thresholds>
class threshold_learning {
    using query = threshold_query<Width>;

public:
    /// Takes notice of a query. O(1).
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

    /// True when learning is worth its price for so many rows.
    [[nodiscard]] bool due(std::size_t rows) const noexcept {
        return waste_ > patience_ * (rows + 64);
    }

    /// The requests to learn, given the thresholds of now; none when those will do.
    [[nodiscard]] sequence<resources<Width>>
    choose(const threshold_set<Width, Thresholds>& current) {
        // Patience grows while queries go on to waste more than half of what they did before.
        const std::uint64_t rate = waste_ / std::max<std::uint64_t>(1, inexact_);
        patience_ = 2 * rate > last_rate_ && last_rate_ != 0 ? std::min(patience_ * 2, max_patience)
                                                             : least_patience;
        last_rate_ = std::max<std::uint64_t>(1, rate);
        waste_ = 0;
        inexact_ = 0;

        sequence<weighed_request<Width>> requests;
        for (std::size_t each = 0; each < current.size(); ++each)
            if (uses_[each] != 0)
                requests.push_back({current[each], uses_[each]});
        for (weighed_request<Width>& each : sample_) {
            if (each.weight == 0)
                continue;
            const auto same =
                detail::find(requests, each.request, &weighed_request<Width>::request);
            if (same == requests.end())
                requests.push_back(each);
            // What is not asked for any more is forgotten in time.
            each.weight /= 2;
        }
        uses_ = {};
        auto chosen = choose_thresholds<Width>(std::move(requests), Thresholds);
        const auto is_known = [&](const resources<Width>& each) {
            for (std::size_t at = 0; at < current.size(); ++at)
                if (current[at] == each)
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
    /// In rows looked at in vain: a leaf looked at, and learning a row anew.
    static constexpr std::uint64_t leaf_cost = 16;
    static constexpr std::uint64_t least_patience = 64;
    static constexpr std::uint64_t max_patience = std::uint64_t{1} << 20;
    static constexpr std::size_t ways = 4;
    static constexpr std::size_t sets = 64;

    /// Counts the request in a table of a fixed size. Where there is no room for another, the one
    /// that counts least counts less, until it gives way.
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
    /// Per threshold: how many queries asked for just that.
    std::array<std::uint64_t, 64> uses_{};
    std::uint64_t waste_ = 0;
    std::uint64_t inexact_ = 0;
    std::uint64_t last_rate_ = 0;
    std::uint64_t patience_ = least_patience;
};

} // namespace detail
} // namespace v0_1
} // namespace muster
