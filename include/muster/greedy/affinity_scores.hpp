// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <muster/base/id.hpp>
#include <muster/base/sequence.hpp>
#include <muster/problem/affinity_counts.hpp>

namespace muster {
inline namespace v0_1 {
namespace detail {

/// Returns ln(n) in units of 1/65536, for n ≥ 1. Uses no floating point, so the result is the same
/// everywhere.
[[nodiscard]] constexpr std::int64_t scaled_log(std::uint64_t n) noexcept {
    const int whole = static_cast<int>(std::bit_width(n)) - 1;
    // `rest` is n / 2^whole in units of 1/2^31. Each squaring gives one more binary digit of the
    // logarithm.
    std::uint64_t rest = whole <= 31 ? n << (31 - whole) : n >> (whole - 31);
    std::int64_t log = whole;
    for (int digit = 0; digit < 16; ++digit) {
        rest = (rest * rest) >> 31U;
        const bool one = rest >= std::uint64_t{1} << 32U;
        rest >>= one ? 1U : 0U;
        log = 2 * log + (one ? 1 : 0);
    }
    constexpr std::int64_t log_of_two = 45'426; // in 1/65536
    return (log * log_of_two + 32'768) / 65'536;
}
static_assert(scaled_log(1) == 0 && scaled_log(2) == 45'426);

/// The affinity scores of nodes for a class of members, from its preferred terms and those of the
/// pods on nodes: 0 to 100 for preferred terms, plus 0 to 100 for spread. The formulas are
/// kube-scheduler's, in integers.
class affinity_scores {
public:
    /// Computes the scores of `nodes`, which are the nodes that can take a member now. O(nodes ·
    /// terms).
    template<class Traits>
    void score(const affinity_counts<Traits>& counts, std::size_t of_class,
               const std::vector<node_index>& nodes) {
        scores_.assign(nodes.size(), 0);
        raw_.clear();
        for (const node_index node : nodes)
            raw_.push_back(counts.preference_score(of_class, node));
        const auto [first, last] = std::minmax_element(raw_.begin(), raw_.end());
        const std::int64_t least = *first;
        const std::int64_t most = *last;
        for (std::size_t at = 0; at < nodes.size() && least < most; ++at)
            scores_[at] += 100 * (raw_[at] - least) / (most - least);
        spread(counts, of_class, nodes);
    }
    [[nodiscard]] std::int64_t operator[](std::size_t at) const noexcept { return scores_[at]; }

private:
    template<class Traits>
    void spread(const affinity_counts<Traits>& counts, std::size_t of_class,
                const std::vector<node_index>& nodes) {
        // Nodes that lack the label of a term get no points.
        constexpr std::int64_t ignored = -1;
        raw_.assign(nodes.size(), 0);
        bool any = false;
        counts.for_each_soft_spread(of_class, [&](const spread_counts& term_counts) {
            any = true;
            for (std::size_t at = 0; at < nodes.size(); ++at)
                if (!term_counts.has_label(nodes[at]))
                    raw_[at] = ignored;
        });
        if (!any)
            return;
        counts.for_each_soft_spread(of_class, [&](const spread_counts& term_counts) {
            seen_.assign(term_counts.domains().size(), 0);
            std::uint64_t domains = 0;
            for (std::size_t at = 0; at < nodes.size(); ++at)
                if (raw_[at] != ignored)
                    domains +=
                        seen_[term_counts.domains().find(nodes[at], 0)->value()]++ == 0 ? 1U : 0U;
            const std::int64_t weight = scaled_log(domains + 2);
            for (std::size_t at = 0; at < nodes.size(); ++at)
                if (raw_[at] != ignored)
                    raw_[at] += term_counts.at(nodes[at]) * weight +
                                (std::int64_t{term_counts.term().max_skew} - 1) * 65'536;
        });
        std::int64_t least = std::numeric_limits<std::int64_t>::max();
        std::int64_t most = 0;
        for (std::int64_t& raw : raw_) {
            if (raw == ignored)
                continue;
            raw = (raw + 32'768) / 65'536;
            least = std::min(least, raw);
            most = std::max(most, raw);
        }
        for (std::size_t at = 0; at < nodes.size(); ++at)
            if (raw_[at] != ignored)
                scores_[at] += most == 0 ? 100 : 100 * (most + least - raw_[at]) / most;
    }

    detail::sequence<std::int64_t> scores_;
    detail::sequence<std::int64_t> raw_;
    detail::sequence<std::uint32_t> seen_;
};

} // namespace detail
} // namespace v0_1
} // namespace muster
