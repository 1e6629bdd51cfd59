// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include <muster/base/checked.hpp>
#include <muster/base/id.hpp>
#include <muster/base/sequence.hpp>
#include <muster/problem/fit_problem.hpp>
#include <muster/resource/resources.hpp>

namespace muster {
inline namespace v0_1 {
namespace detail {

/// Lists the maximal patterns of a node: counts of members per class that it can take together and
/// to which no member can be added. Every count vector that the node can take is below one of them,
/// so no others are needed for weights that are not negative.
///
/// If classes demand devices, the list may also contain patterns to which a member can be added.
///
/// Otherwise the last two classes are enumerated as a staircase: when the count of the one falls by
/// one, what is left for the other grows by a fixed quotient and remainder per kind, so the loop
/// needs no division.
template<std::size_t Width>
class pattern_lister {
public:
    /// Switches to another problem. O(width).
    void reset(const fit_problem<Width>& problem) {
        problem_ = &problem;
        classes_ = problem.members.size();
        current_.assign(classes_, 0);
        if (classes_ < 2)
            return;
        const auto& falling = problem.members[classes_ - 2].request;
        const auto& rising = problem.members[classes_ - 1].request;
        for (std::size_t column = 0; column < Width; ++column) {
            if (rising[column] <= 0)
                continue;
            quotient_step_[column] = falling[column] / rising[column];
            remainder_step_[column] = falling[column] % rising[column];
        }
    }

    /// Writes the row's patterns over `into`, one after the other. Returns false, with `into`
    /// unspecified, if the steps run out; the enumeration takes two steps for every vertex.
    [[nodiscard]] bool list(std::size_t row, std::int64_t& steps,
                            detail::sequence<std::int64_t>& into) {
        into.clear();
        into_ = &into;
        most_ = problem_->most_of(row);
        steps_ = &steps;
        node_ = problem_->rows[row].node;
        current_.assign(classes_, 0);
        find_binding(problem_->rows[row].free);
        explore(0, problem_->rows[row].free);
        return steps >= 0;
    }

private:
    /// Steps that one call of the device rule costs.
    static constexpr std::int64_t steps_of_rule = 16;

    [[nodiscard]] const resources<Width>& request(std::size_t at) const noexcept {
        return problem_->members[at].request;
    }

    /// Finds the binding kinds: those that all members together would exceed.
    void find_binding(const resources<Width>& free) {
        kinds_ = 0;
        for (std::size_t column = 0; column < Width; ++column) {
            int128 sum = 0;
            for (std::size_t at = 0; at < classes_; ++at)
                sum += static_cast<int128>(request(at)[column]) * most_[at];
            if (sum > 0 && sum > free[column])
                kind_[kinds_++] = column;
        }
    }

    [[nodiscard]] bool stopped(std::size_t at) const noexcept {
        for (std::size_t other = 0; other < at; ++other)
            if (current_[other] > 0 && problem_->apart[at * classes_ + other])
                return true;
        return false;
    }

    [[nodiscard]] std::int64_t room(std::size_t at, const resources<Width>& free) const noexcept {
        if (most_[at] == 0 || stopped(at))
            return 0;
        std::int64_t count = most_[at];
        for (std::size_t kind = 0; kind < kinds_; ++kind)
            if (const std::int64_t asked = request(at)[kind_[kind]]; asked > 0)
                count = std::min(count, free[kind_[kind]] / asked);
        return count;
    }

    void explore(std::size_t at, const resources<Width>& free) {
        if (at + 2 == classes_ && !problem_->devices.any()) {
            staircase(free);
            return;
        }
        if (problem_->devices.any())
            *steps_ -= steps_of_rule;
        const std::int64_t upper =
            problem_->devices.room(node_, current_.data(), at, room(at, free));
        if (at + 1 == classes_) {
            current_[at] = upper;
            *steps_ -= 2;
            keep();
            current_[at] = 0;
            return;
        }
        resources<Width> rest = free;
        for (std::size_t kind = 0; kind < kinds_; ++kind)
            rest[kind_[kind]] -= request(at)[kind_[kind]] * upper;
        for (std::int64_t take = upper;; --take) {
            if ((*steps_ -= 4) < 0)
                return;
            current_[at] = take;
            explore(at + 1, rest);
            if (take == 0)
                return;
            for (std::size_t kind = 0; kind < kinds_; ++kind)
                rest[kind_[kind]] += request(at)[kind_[kind]];
        }
    }

    void staircase(const resources<Width>& free) {
        const std::size_t falling = classes_ - 2;
        const std::size_t rising = classes_ - 1;
        current_[falling] = 0;
        const std::int64_t most_rising = most_[rising] == 0 || stopped(rising) ? 0 : most_[rising];
        const bool apart = problem_->apart[rising * classes_ + falling] != 0;
        const std::int64_t upper = room(falling, free);

        // Only kinds that the rising class requests limit it.
        std::array<std::int64_t, Width> count{};
        std::array<std::int64_t, Width> remainder{};
        std::array<std::size_t, Width> bounding{};
        std::size_t bounds = 0;
        for (std::size_t at = 0; at < kinds_ && most_rising > 0; ++at) {
            const std::size_t column = kind_[at];
            const std::int64_t asked = request(rising)[column];
            if (asked <= 0)
                continue;
            const std::int64_t left = free[column] - request(falling)[column] * upper;
            count[bounds] = left / asked;
            remainder[bounds] = left % asked;
            bounding[bounds++] = column;
        }
        std::int64_t before = -1;
        for (std::int64_t take = upper; take >= 0; --take) {
            if ((*steps_ -= 2) < 0)
                return;
            std::int64_t rise = apart && take > 0 ? 0 : most_rising;
            for (std::size_t at = 0; at < bounds; ++at) {
                if (take < upper) {
                    const std::int64_t asked = request(rising)[bounding[at]];
                    count[at] += quotient_step_[bounding[at]];
                    remainder[at] += remainder_step_[bounding[at]];
                    const bool carry = remainder[at] >= asked;
                    count[at] += carry ? 1 : 0;
                    remainder[at] -= carry ? asked : 0;
                }
                rise = std::min(rise, count[at]);
            }
            if (rise > before) {
                before = rise;
                current_[falling] = take;
                current_[rising] = rise;
                if (falling == 0 || nobody_more(free))
                    keep();
            }
            if (rise == most_rising)
                break;
        }
        current_[falling] = 0;
        current_[rising] = 0;
    }

    /// Returns true if no member of the classes before the last two can be added. `free` is what
    /// those classes leave.
    [[nodiscard]] bool nobody_more(const resources<Width>& free) const noexcept {
        const std::size_t falling = classes_ - 2;
        const std::size_t rising = classes_ - 1;
        resources<Width> rest = free;
        for (std::size_t at = 0; at < kinds_; ++at)
            rest[kind_[at]] -= request(falling)[kind_[at]] * current_[falling] +
                               request(rising)[kind_[at]] * current_[rising];
        for (std::size_t at = 0; at < falling; ++at) {
            if (current_[at] >= most_[at])
                continue;
            bool more = true;
            for (std::size_t kind = 0; kind < kinds_ && more; ++kind) {
                const std::int64_t asked = request(at)[kind_[kind]];
                more = asked <= 0 || asked <= rest[kind_[kind]];
            }
            for (std::size_t other = 0; other < classes_ && more; ++other)
                more = current_[other] == 0 || !problem_->apart[at * classes_ + other];
            if (more)
                return false;
        }
        return true;
    }

    void keep() { into_->insert(into_->end(), current_.begin(), current_.end()); }

    const fit_problem<Width>* problem_ = nullptr;
    std::size_t classes_ = 0;
    /// The number of binding kinds on the row, and the kinds.
    std::size_t kinds_ = 0;
    std::array<std::size_t, Width> kind_{};
    /// Per kind: what one member less of the last but one class leaves for the last class.
    std::array<std::int64_t, Width> quotient_step_{};
    std::array<std::int64_t, Width> remainder_step_{};
    node_index node_;
    const std::int64_t* most_ = nullptr;
    std::int64_t* steps_ = nullptr;
    detail::sequence<std::int64_t> current_;
    detail::sequence<std::int64_t>* into_ = nullptr;
};

} // namespace detail
} // namespace v0_1
} // namespace muster
