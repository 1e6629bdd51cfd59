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

/// Finds the weights that come closest to a proof, by column generation with exact integer pivots.
///
/// Pricing the nodes with some weights gives a point: per class, what the nodes then carry minus
/// what the gang needs. Every mix of patterns gives a point at or below the convex hull of all such
/// points. A ray of fixed positive direction starts far below the hull, passes through the origin,
/// and leaves the hull at a facet, whose normal is the vector of weights. The basis is the facet of
/// the hull of the points known so far: at most one point per class, and slack columns ("less of a
/// class") for the rest. A point beyond the facet replaces one of them. If no such point exists,
/// the weights are the best possible.
///
/// This is the simplex method on columns that pricing generates (Dantzig-Wolfe). The inverse of the
/// basis is stored as integers over a common denominator (Edmonds), so that nothing is rounded. If
/// the integers grow too large, it stops.
class column_generation {
public:
    static constexpr std::size_t max_classes = 8;

    /// Starts with one point. `direction` must be positive. Both vectors have one entry per class
    /// and then one per quota, 2 to `max_classes` in all.
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
            for (std::size_t entry = 0; entry < classes_; ++entry)
                entering[entry] = -direction[entry];
            replace(at, solve(entering));
        }
        replace(classes_, solve(column_of(point)));
    }

    /// Removes from the basis what would make a weight negative, and writes the weights. Returns
    /// false if that does not succeed within `turns` pivots.
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
        // Larger weights are rounded. They are then no longer the normal of the facet, but still
        // valid weights.
        while (largest / common >= std::int64_t{1} << 36U)
            common *= 2;
        into.resize(classes_);
        for (std::size_t at = 0; at < classes_; ++at)
            into[at] = static_cast<std::int64_t>(-inverse_[out_][at] / common);
        return true;
    }

    static constexpr std::size_t nothing = ~std::size_t{0};

    /// Adds a point if it lies beyond the facet. Returns the place of the element that it replaces,
    /// 0 up to and including the number of classes, or `nothing`.
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

    /// Returns the share of the place's point in the mix at which the ray ends, in parts of
    /// `whole`.
    static constexpr std::int64_t whole = std::int64_t{1} << 20;
    [[nodiscard]] std::int64_t share(std::size_t place) const noexcept {
        if (!exact_ || place > classes_ || place == out_ || !holds_point_[place])
            return 0;
        return static_cast<std::int64_t>(inverse_[place][classes_] * whole / denominator_);
    }

private:
    [[nodiscard]] static bool takes(const detail::sequence<std::int64_t>& amounts) noexcept {
        constexpr std::int64_t end = std::int64_t{1} << 40U;
        return detail::all_of(amounts,
                              [](std::int64_t amount) { return -end < amount && amount < end; });
    }

    using column = std::array<int128, max_classes + 1>;

    [[nodiscard]] column column_of(const detail::sequence<std::int64_t>& point) const {
        column made{};
        std::copy(point.begin(), point.end(), made.begin());
        made[classes_] = 1;
        return made;
    }

    /// Returns true if the value is so small that products of two such values can be added without
    /// overflow.
    [[nodiscard]] static bool in_range(int128 value) noexcept {
        constexpr int128 end = static_cast<int128>(1) << 62U;
        return -end < value && value < end;
    }

    /// Returns the column in terms of the basis, times the denominator.
    [[nodiscard]] column solve(const column& entering) noexcept {
        column found{};
        for (std::size_t row = 0; row <= classes_; ++row) {
            for (std::size_t at = 0; at <= classes_; ++at)
                found[row] += inverse_[row][at] * entering[at];
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

    /// Ratio test: replaces an element such that the ray still passes between the elements of the
    /// basis. Returns its place, or `nothing`.
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
    /// False once a number has left the range in which the arithmetic is exact.
    bool exact_ = true;
    /// The place of the ray's column.
    std::size_t out_ = 0;
    std::array<column, max_classes + 1> inverse_{};
    int128 denominator_ = 1;
    std::array<bool, max_classes + 1> holds_point_{};
};

} // namespace detail
} // namespace v0_1
} // namespace muster
