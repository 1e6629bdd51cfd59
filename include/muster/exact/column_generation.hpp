// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include <muster/base/checked.hpp>
#include <muster/base/ranges.hpp>
#include <muster/base/sequence.hpp>

namespace muster {
inline namespace v0_1 {
namespace detail {

/// Finds the weights that come closest to a proof, by exact integer pivots.
///
/// Pricing the nodes with some weights gives a point: what the nodes then take less what the gang
/// needs, per class. Whatever mixes of patterns the nodes take, they reach what lies at or below
/// the hull of all such points. A ray in a fixed direction of positive amounts goes from far below
/// through the origin; it leaves the hull at a facet, and the facet's normal are the weights. The
/// basis is the facet of the hull of the points known so far: at most one point per class, and
/// "less of a class" for the others. A point beyond it replaces one of them; when there is none,
/// the weights are the best that exist.
///
/// This is the simplex method on columns that pricing generates (Dantzig-Wolfe), with the inverse
/// kept as integers over a common denominator (Edmonds), so that nothing is rounded. Should they
/// grow too large, it stops there.
class column_generation {
public:
    static constexpr std::size_t max_classes = 8;

    /// Starts with one point; `direction` is positive. Both are per class and then per quota, of 2
    /// to `max_classes` in all.
    void start(const detail::sequence<std::int64_t>& direction,
               const detail::sequence<std::int64_t>& point) {
        classes_ = point.size();
        exact_ = takes(direction) && takes(point);
        out_ = 0;
        for (std::size_t at = 1; at < classes_; ++at)
            if (static_cast<int128>(point[at]) * direction[out_] <
                static_cast<int128>(point[out_]) * direction[at])
                out_ = at;
        inverse_ = {};
        holds_point_ = {};
        for (std::size_t row = 0; row < inverse_.size(); ++row)
            inverse_[row][row] = 1;
        holds_point_[classes_] = true;
        denominator_ = 1;
        for (std::size_t at = 0; at < classes_; ++at) {
            column entering{};
            entering[at] = -1;
            if (at != out_) {
                replace(at, solve(entering));
                continue;
            }
            for (std::size_t each = 0; each < classes_; ++each)
                entering[each] = -direction[each];
            replace(at, solve(entering));
        }
        replace(classes_, solve(column_of(point)));
    }

    /// Drops from the basis what would make a weight negative, then writes the weights. False when
    /// there are no such weights within `turns` pivots.
    [[nodiscard]] bool weights(detail::sequence<std::int64_t>& into, int turns = 16) {
        for (; exact_; --turns) {
            std::size_t negative = classes_;
            for (std::size_t at = classes_; at-- > 0;)
                if (inverse_[out_][at] > 0)
                    negative = at;
            if (negative == classes_)
                break;
            column entering{};
            entering[negative] = -1;
            const std::size_t leaving = turns > 0 ? enter(entering) : nothing;
            if (leaving == nothing)
                return false;
            holds_point_[leaving] = false;
        }
        if (!exact_)
            return false;
        int128 common = 0;
        int128 largest = 1;
        for (std::size_t at = 0; at < classes_; ++at) {
            const int128 weight = -inverse_[out_][at];
            largest = std::max(largest, weight);
            for (int128 other = weight; other != 0;) {
                const int128 rest = common % other;
                common = other;
                other = rest;
            }
        }
        // Weights beyond these are rounded: they are no facet's normal any more, but weights.
        while (largest / common >= std::int64_t{1} << 36U)
            common *= 2;
        into.resize(classes_);
        for (std::size_t at = 0; at < classes_; ++at)
            into[at] = static_cast<std::int64_t>(-inverse_[out_][at] / common);
        return true;
    }

    static constexpr std::size_t nothing = ~std::size_t{0};

    /// Takes a point in when it lies beyond the facet; gives the place whose element it replaces,
    /// from 0 up to and with the number of classes, or `nothing`.
    [[nodiscard]] std::size_t add(const detail::sequence<std::int64_t>& point) {
        if (!exact_ || !takes(point))
            return nothing;
        int128 beyond = -inverse_[out_][classes_];
        for (std::size_t at = 0; at < classes_; ++at)
            beyond -= inverse_[out_][at] * point[at];
        if (beyond <= 0)
            return nothing;
        const std::size_t leaving = enter(column_of(point));
        if (leaving != nothing)
            holds_point_[leaving] = true;
        return leaving;
    }

    /// The share of the place's point in the mix that the ray ends in, in parts of `whole`.
    static constexpr std::int64_t whole = std::int64_t{1} << 20;
    [[nodiscard]] std::int64_t share(std::size_t place) const noexcept {
        if (!exact_ || place > classes_ || place == out_ || !holds_point_[place])
            return 0;
        return static_cast<std::int64_t>(inverse_[place][classes_] * whole / denominator_);
    }

private:
    [[nodiscard]] static bool takes(const detail::sequence<std::int64_t>& amounts) noexcept {
        constexpr std::int64_t end = std::int64_t{1} << 40U;
        return detail::all_of(amounts, [](std::int64_t each) { return -end < each && each < end; });
    }

    using column = std::array<int128, max_classes + 1>;

    [[nodiscard]] column column_of(const detail::sequence<std::int64_t>& point) const {
        column made{};
        std::copy(point.begin(), point.end(), made.begin());
        made[classes_] = 1;
        return made;
    }

    /// Products of two such numbers can be added without overflow.
    [[nodiscard]] static bool in_range(int128 value) noexcept {
        constexpr int128 end = static_cast<int128>(1) << 62U;
        return -end < value && value < end;
    }

    /// The column in terms of the basis, times the denominator.
    [[nodiscard]] column solve(const column& of) noexcept {
        column found{};
        for (std::size_t row = 0; row <= classes_; ++row) {
            for (std::size_t at = 0; at <= classes_; ++at)
                found[row] += inverse_[row][at] * of[at];
            exact_ = exact_ && in_range(found[row]);
        }
        return found;
    }

    void replace(std::size_t place, const column& entering) {
        if (!exact_)
            return;
        const int128 pivot = entering[place];
        for (std::size_t row = 0; row <= classes_; ++row) {
            if (row == place)
                continue;
            for (std::size_t at = 0; at <= classes_; ++at) {
                int128& entry = inverse_[row][at];
                entry = (entry * pivot - entering[row] * inverse_[place][at]) / denominator_;
                exact_ = exact_ && in_range(entry);
            }
        }
        denominator_ = pivot;
        if (denominator_ > 0)
            return;
        denominator_ = -denominator_;
        for (std::size_t row = 0; row <= classes_; ++row)
            for (std::size_t at = 0; at <= classes_; ++at)
                inverse_[row][at] = -inverse_[row][at];
    }

    /// The ratio test: the ray must still pass between the elements of the basis.
    [[nodiscard]] std::size_t enter(const column& entering) {
        const column found = solve(entering);
        std::size_t leaving = nothing;
        for (std::size_t row = 0; row <= classes_ && exact_; ++row) {
            if (row == out_ || found[row] <= 0)
                continue;
            if (leaving == nothing ||
                inverse_[row][classes_] * found[leaving] < inverse_[leaving][classes_] * found[row])
                leaving = row;
        }
        if (leaving != nothing)
            replace(leaving, found);
        return leaving;
    }

    std::size_t classes_ = 0;
    /// Nothing has left the range within which all is exact.
    bool exact_ = true;
    /// The place of the ray itself.
    std::size_t out_ = 0;
    std::array<column, max_classes + 1> inverse_{};
    int128 denominator_ = 1;
    std::array<bool, max_classes + 1> holds_point_{};
};

} // namespace detail
} // namespace v0_1
} // namespace muster
