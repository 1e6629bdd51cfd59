// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include <muster/index/bit_slices.hpp>
#include <muster/resource/resources.hpp>

namespace muster {
inline namespace v0_1 {
namespace detail {

/// A request, prepared for the thresholds of one generation.
template<std::size_t Width>
struct threshold_query {
    resources<Width> request;
    /// No row that the request fits has a lower rank, unless the row has a negative amount of some
    /// kind.
    std::int64_t from = std::numeric_limits<std::int64_t>::min();
    /// Every row that the request fits satisfies all of these thresholds. None of them is implied
    /// by another.
    std::uint64_t thresholds = 0;
    /// The request fits exactly the rows that satisfy these thresholds.
    bool exact = false;
    /// The generation of the thresholds; 0 if the query was not prepared.
    std::uint32_t generation = 0;
};

/// Up to 64 request vectors. Free amounts satisfy a threshold if they cover every kind that it
/// requests. The sketch of free amounts has one bit for each threshold that they satisfy.
template<std::size_t Width, std::size_t Thresholds>
class threshold_set {
public:
    [[nodiscard]] std::size_t size() const noexcept { return count_; }
    [[nodiscard]] const resources<Width>& operator[](std::size_t at) const noexcept {
        return thresholds_[at];
    }
    [[nodiscard]] std::uint32_t generation() const noexcept { return generation_; }

    /// Replaces all thresholds by the first of these requests that are distinct and not zero, as
    /// far as there is room for them. O(thresholds² · width).
    void assign(std::span<const resources<Width>> requests) noexcept {
        ++generation_;
        count_ = 0;
        for (resources<Width> threshold : requests) {
            if (count_ == Thresholds)
                break;
            threshold = greater(threshold, {});
            const auto end = thresholds_.begin() + static_cast<std::ptrdiff_t>(count_);
            if (threshold != resources<Width>{} &&
                std::find(thresholds_.begin(), end, threshold) == end)
                thresholds_[count_++] = threshold;
        }
        widest_ = 1;
        for (std::size_t column = 0; column < Width; ++column)
            lay_steps(column);
        for (std::size_t threshold = 0; threshold < count_; ++threshold)
            implied_[threshold] = sketch(thresholds_[threshold]) & ~(std::uint64_t{1} << threshold);
    }

    /// Returns the thresholds that the amounts satisfy. O(width · log thresholds).
    [[nodiscard]] std::uint64_t sketch(const resources<Width>& free) const noexcept {
        // Binary searches of all kinds, interleaved and without branches, so that no load waits for
        // a load of another kind.
        std::array<std::size_t, Width> reached{};
        for (std::size_t half = widest_; half > 0; half /= 2)
            for (std::size_t column = 0; column < Width; ++column) {
                const std::int64_t amount = steps_[column].amounts[reached[column] + half - 1];
                reached[column] +=
                    half & (std::size_t{0} - static_cast<std::size_t>(amount <= free[column]));
            }
        std::uint64_t satisfied = low_bits(count_);
        for (std::size_t column = 0; column < Width; ++column)
            satisfied &= steps_[column].satisfied[reached[column]];
        return satisfied;
    }

    /// Prepares a query for the current thresholds. O(width · log thresholds + thresholds below the
    /// request).
    [[nodiscard]] threshold_query<Width> prepare(const resources<Width>& request,
                                                 std::int64_t from) const noexcept {
        const std::uint64_t below = sketch(request);
        std::uint64_t implied = 0;
        for_each_bit(below, [&](std::size_t threshold) { implied |= implied_[threshold]; });
        threshold_query<Width> query{request, from, below & ~implied, false, generation_};
        if (query.thresholds == 0)
            query.exact = request == resources<Width>{};
        else if (count_bits(query.thresholds) == 1)
            query.exact = request ==
                          thresholds_[static_cast<std::size_t>(std::countr_zero(query.thresholds))];
        return query;
    }

private:
    /// The distinct threshold amounts of one kind in ascending order, padded with the largest
    /// int64; and per step the thresholds that are satisfied in this kind by amounts that reach it.
    struct steps {
        std::array<std::int64_t, 2 * Thresholds> amounts{};
        std::array<std::uint64_t, 2 * Thresholds> satisfied{};
        std::size_t count = 0;

        void add(std::int64_t amount) noexcept {
            std::size_t at = 0;
            while (at < count && amounts[at] < amount)
                ++at;
            if (at < count && amounts[at] == amount)
                return;
            for (std::size_t place = count++; place > at; --place)
                amounts[place] = amounts[place - 1];
            amounts[at] = amount;
        }
    };

    void lay_steps(std::size_t column) noexcept {
        steps& laid = steps_[column];
        laid.count = 0;
        laid.amounts.fill(std::numeric_limits<std::int64_t>::max());
        std::uint64_t unasked = 0;
        for (std::size_t threshold = 0; threshold < count_; ++threshold) {
            const std::int64_t amount = thresholds_[threshold][column];
            if (amount > 0)
                laid.add(amount);
            else
                unasked |= std::uint64_t{1} << threshold;
        }
        laid.satisfied[0] = unasked;
        for (std::size_t step = 0; step < laid.count; ++step) {
            std::uint64_t here = 0;
            for (std::size_t threshold = 0; threshold < count_; ++threshold)
                here |=
                    static_cast<std::uint64_t>(thresholds_[threshold][column] == laid.amounts[step])
                    << threshold;
            laid.satisfied[step + 1] = laid.satisfied[step] | here;
        }
        for (std::size_t step = laid.count + 1; step < laid.satisfied.size(); ++step)
            laid.satisfied[step] = laid.satisfied[laid.count];
        while (2 * widest_ <= laid.count)
            widest_ *= 2;
    }

    std::array<resources<Width>, Thresholds> thresholds_{};
    /// Per threshold: the other thresholds that it implies.
    std::array<std::uint64_t, Thresholds> implied_{};
    std::array<steps, Width> steps_{};
    std::size_t count_ = 0;
    /// The first stride of the binary search: the largest power of two that is at most the number
    /// of steps of some kind.
    std::size_t widest_ = 0;
    std::uint32_t generation_ = 1;
};

} // namespace detail
} // namespace v0_1
} // namespace muster
