// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include <muster/base/ranges.hpp>
#include <muster/base/sequence.hpp>
#include <muster/resource/resources.hpp>

namespace muster {
inline namespace v0_1 {
namespace detail {

/// A request and its weight: how often it was queried, roughly.
template<std::size_t Width>
struct weighed_request {
    resources<Width> request;
    std::uint64_t weight = 0;
};

/// Appends a grid of at most `most` vectors for requests of the same kinds: per kind a selection of
/// the requested amounts, evenly spaced, and every combination of them.
template<std::size_t Width>
void append_grid(std::span<const weighed_request<Width>> requests, std::size_t most,
                 sequence<resources<Width>>& into) {
    std::array<detail::sequence<std::int64_t>, Width> sorted;
    std::array<std::size_t, Width> distinct{};
    std::array<std::size_t, Width> levels{};
    for (std::size_t column = 0; column < Width; ++column) {
        for (const auto& at : requests)
            sorted[column].push_back(at.request[column]);
        detail::sort_short(sorted[column]);
        distinct[column] = 1;
        for (std::size_t at = 1; at < sorted[column].size(); ++at)
            distinct[column] += sorted[column][at] != sorted[column][at - 1] ? 1U : 0U;
        levels[column] = 1;
    }
    for (std::size_t product = 1;;) {
        std::size_t finer = Width;
        for (std::size_t column = 0; column < Width; ++column)
            if (levels[column] < distinct[column] &&
                product / levels[column] * (levels[column] + 1) <= most &&
                (finer == Width || levels[column] < levels[finer]))
                finer = column;
        if (finer == Width)
            break;
        product = product / levels[finer] * (levels[finer] + 1);
        ++levels[finer];
    }
    std::array<std::size_t, Width> step{};
    for (bool more = true; more;) {
        resources<Width> corner;
        for (std::size_t column = 0; column < Width; ++column)
            corner[column] = sorted[column][step[column] * requests.size() / levels[column]];
        into.push_back(corner);
        more = false;
        for (std::size_t column = 0; column < Width && !more; ++column) {
            more = ++step[column] < levels[column];
            if (!more)
                step[column] = 0;
        }
    }
}

/// Returns at most `most` thresholds for the requests: all requests if they are few enough;
/// otherwise the requests of high weight, and grids over the others. The result depends only on the
/// requests and their order. O(requests · log requests).
template<std::size_t Width>
[[nodiscard]] sequence<resources<Width>>
choose_thresholds(sequence<weighed_request<Width>> requests, std::size_t most) {
    const auto heavier = [](const auto& lhs, const auto& rhs) {
        return lhs.weight != rhs.weight ? lhs.weight > rhs.weight : lhs.request < rhs.request;
    };
    detail::sort_short(requests, heavier);
    std::uint64_t total = 0;
    for (const auto& candidate : requests)
        total += candidate.weight;
    sequence<resources<Width>> chosen;
    std::size_t taken = 0;
    while (taken < requests.size() &&
           (requests.size() <= most || (taken < most / 2 && requests[taken].weight * most > total)))
        chosen.push_back(requests[taken++].request);
    if (taken == requests.size())
        return chosen;

    // The other requests are grouped by the kinds that they request. Each group gets a share of the
    // thresholds in proportion to its size.
    const auto kinds_of = [](const weighed_request<Width>& candidate) {
        std::array<bool, Width> asks{};
        for (std::size_t column = 0; column < Width; ++column)
            asks[column] = candidate.request[column] > 0;
        return asks;
    };
    const auto rest = std::span(requests).subspan(taken);
    detail::sort_short(rest, [&](const auto& lhs, const auto& rhs) {
        const auto left = kinds_of(lhs);
        const auto right = kinds_of(rhs);
        return left != right ? left < right : lhs.request < rhs.request;
    });
    const std::size_t left = most - taken;
    for (std::size_t first = 0; first < rest.size();) {
        std::size_t last = first + 1;
        while (last < rest.size() && kinds_of(rest[last]) == kinds_of(rest[first]))
            ++last;
        const std::size_t share = left * (last - first) / rest.size();
        if (share > 0)
            append_grid<Width>(rest.subspan(first, last - first), share, chosen);
        first = last;
    }
    return chosen;
}

} // namespace detail
} // namespace v0_1
} // namespace muster
