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

/// A request with what is known of it under the thresholds of one generation.
template<std::size_t Width>
struct threshold_query {
    resources<Width> request;
    /// No row that the request fits ranks lower, unless it is short of something.
    std::int64_t from = std::numeric_limits<std::int64_t>::min();
    /// Whatever the request fits satisfies all of these, and none of them follows from another.
    std::uint64_t thresholds = 0;
    /// The thresholds say all there is to say.
    bool exact = false;
    /// 0 is no generation.
    std::uint32_t generation = 0;
};

/// Up to 64 request vectors. Free amounts satisfy a threshold when they are not short of anything
/// that it asks for; which thresholds they satisfy is their sketch, one bit per threshold.
template<std::size_t Width, std::size_t Thresholds>
class threshold_set {
public:
    [[nodiscard]] std::size_t size() const noexcept { return count_; }
    [[nodiscard]] const resources<Width>& operator[](std::size_t at) const noexcept {
        return thresholds_[at];
    }
    [[nodiscard]] std::uint32_t generation() const noexcept { return generation_; }

    /// Replaces all thresholds by the first of these that differ and ask for anything, as many as
    /// there is room for. O(thresholds² · width).
    void assign(std::span<const resources<Width>> requests) noexcept {
        ++generation_;
        count_ = 0;
        for (resources<Width> each : requests) {
            if (count_ == Thresholds)
                break;
            each = greater(each, {});
            const auto end = thresholds_.begin() + static_cast<std::ptrdiff_t>(count_);
            if (each != resources<Width>{} && std::find(thresholds_.begin(), end, each) == end)
                thresholds_[count_++] = each;
        }
        widest_ = 1;
        for (std::size_t column = 0; column < Width; ++column)
            lay_steps(column);
        for (std::size_t each = 0; each < count_; ++each)
            implied_[each] = sketch(thresholds_[each]) & ~(std::uint64_t{1} << each);
    }

    /// The thresholds that the amounts satisfy. O(width · log thresholds).
    [[nodiscard]] std::uint64_t sketch(const resources<Width>& free) const noexcept {
        // All columns are searched at once, without a branch: each waits for its own loads only.
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

    /// O(width · log thresholds + thresholds below the request).
    [[nodiscard]] threshold_query<Width> prepare(const resources<Width>& request,
                                                 std::int64_t from) const noexcept {
        const std::uint64_t below = sketch(request);
        std::uint64_t implied = 0;
        for_each_bit(below, [&](std::size_t each) { implied |= implied_[each]; });
        threshold_query<Width> query{request, from, below & ~implied, false, generation_};
        if (query.thresholds == 0)
            query.exact = request == resources<Width>{};
        else if (count_bits(query.thresholds) == 1)
            query.exact = request ==
                          thresholds_[static_cast<std::size_t>(std::countr_zero(query.thresholds))];
        return query;
    }

private:
    /// One kind's distinct amounts in ascending order, then the highest that there are; and what
    /// is satisfied in that kind by having reached so many of them.
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
            for (std::size_t each = count++; each > at; --each)
                amounts[each] = amounts[each - 1];
            amounts[at] = amount;
        }
    };

    void lay_steps(std::size_t column) noexcept {
        steps& laid = steps_[column];
        laid.count = 0;
        laid.amounts.fill(std::numeric_limits<std::int64_t>::max());
        std::uint64_t unasked = 0;
        for (std::size_t each = 0; each < count_; ++each) {
            const std::int64_t amount = thresholds_[each][column];
            if (amount > 0)
                laid.add(amount);
            else
                unasked |= std::uint64_t{1} << each;
        }
        laid.satisfied[0] = unasked;
        for (std::size_t step = 0; step < laid.count; ++step) {
            std::uint64_t here = 0;
            for (std::size_t each = 0; each < count_; ++each)
                here |= static_cast<std::uint64_t>(thresholds_[each][column] == laid.amounts[step])
                        << each;
            laid.satisfied[step + 1] = laid.satisfied[step] | here;
        }
        for (std::size_t step = laid.count + 1; step < laid.satisfied.size(); ++step)
            laid.satisfied[step] = laid.satisfied[laid.count];
        while (2 * widest_ <= laid.count)
            widest_ *= 2;
    }

    std::array<resources<Width>, Thresholds> thresholds_{};
    /// Per threshold: the others that whatever satisfies it satisfies too.
    std::array<std::uint64_t, Thresholds> implied_{};
    std::array<steps, Width> steps_{};
    std::size_t count_ = 0;
    /// The first stride of the search: the largest power of two not above any column's steps.
    std::size_t widest_ = 0;
    std::uint32_t generation_ = 1;
};

} // namespace detail
} // namespace v0_1
} // namespace muster
