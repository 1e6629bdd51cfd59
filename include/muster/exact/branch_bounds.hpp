// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

#include <muster/base/checked.hpp>
#include <muster/base/sequence.hpp>
#include <muster/exact/pattern.hpp>
#include <muster/exact/search_patterns.hpp>
#include <muster/problem/fit_problem.hpp>
#include <muster/resource/resources.hpp>

namespace muster {
inline namespace v0_1 {
namespace detail {

/// The state of the nodes during branch and bound: per node, how many members of each class it must
/// take at least and may take at most, and the patterns that these limits leave.
///
/// A node that can take all members of all classes that it could take alone has one pattern and
/// only adds to a sum (it is settled). The other nodes are in parts: equal nodes share a part until
/// a branch treats one of them differently. Patterns are listed once. Under narrower limits they
/// are clipped, which is exact: every count vector within the limits is below some pattern, and so
/// below that pattern clipped.
template<std::size_t Width>
class branch_bounds {
public:
    /// The patterns of a node that take more steps than this to list are not stored but enumerated
    /// for every pricing.
    static constexpr std::int64_t max_listed = 8192;

    struct part {
        /// Its first row.
        std::size_t row = 0;
        /// The number of its rows.
        std::int64_t times = 0;
        /// The place of its patterns, stored class by class: first the counts of one class in all
        /// patterns.
        std::size_t begin = 0;
        std::size_t size = 0;
        bool listed = true;
        /// The place of its limits: the minimum per class, then the maximum per class.
        std::size_t limits = 0;
    };
    /// The count of class `at` on one node, and its bounds: a candidate for branching.
    struct split {
        std::size_t row = 0;
        std::size_t at = 0;
        std::int64_t low = 0;
        std::int64_t high = 0;
    };
    /// One pattern: the place of its count of the first class, and the distance from one class to
    /// the next.
    struct pattern {
        std::size_t first = 0;
        std::size_t stride = 1;
    };

    /// Sorts the nodes into settled ones, and parts with their patterns. O(nodes × (classes × width
    /// + patterns)); the enumeration takes steps.
    void reset(const fit_problem<Width>& problem, std::int64_t& steps) {
        problem_ = &problem;
        lister_.reset(problem);
        finder_.reset(problem, steps);
        const std::size_t rows = problem.rows.size();
        parts_.clear();
        patterns_.clear();
        limits_.clear();
        settled_.assign(classes(), 0);
        lower_.assign(classes(), 0);
        upper_.assign(classes(), 0);
        part_of_.assign(rows, nobody);
        next_alike_.assign(rows, nobody);
        last_alike_.clear();
        std::size_t slots = 16;
        while (slots < rows * 2)
            slots *= 2;
        slots_.assign(slots, nobody);
        for (std::size_t row = 0; row < rows && steps >= 0; ++row) {
            const std::int64_t* most = problem.most_of(row);
            for (std::size_t at = 0; at < classes(); ++at)
                upper_[at] += most[at];
            steps -= 4;
            if (takes_all(row)) {
                for (std::size_t at = 0; at < classes(); ++at)
                    settled_[at] += most[at];
                continue;
            }
            join(row, steps);
        }
    }

    [[nodiscard]] const sequence<part>& parts() const noexcept { return parts_; }
    /// Per class: the sums over the nodes of the minimum, and of the maximum, that each node may
    /// take.
    [[nodiscard]] const detail::sequence<std::int64_t>& lower() const noexcept { return lower_; }
    [[nodiscard]] const detail::sequence<std::int64_t>& upper() const noexcept { return upper_; }
    /// The sum of what the settled nodes take, per class.
    [[nodiscard]] const detail::sequence<std::int64_t>& settled_sum() const noexcept {
        return settled_;
    }
    [[nodiscard]] std::int64_t count(const pattern& selected, std::size_t at) const noexcept {
        return patterns_[selected.first + at * selected.stride];
    }
    [[nodiscard]] pattern pattern_of(const part& owner, std::size_t number) const noexcept {
        return {owner.begin + number, owner.size};
    }
    /// The counts of one class in the listed patterns of a part.
    [[nodiscard]] const std::int64_t* counts_of(const part& owner, std::size_t at) const noexcept {
        return patterns_.data() + owner.begin + at * owner.size;
    }

    /// Selects the heaviest pattern of every part, writes the sum of these and of the settled nodes
    /// to `carried`, and its weight to `bound`. Returns false if a node has no pattern within its
    /// limits, or if the steps run out.
    [[nodiscard]] bool price_nodes(const detail::sequence<std::int64_t>& weights,
                                   std::int64_t& steps, sequence<pattern>& selected,
                                   detail::sequence<std::int64_t>& carried, int128& bound) {
        int128 reach = 0;
        for (std::size_t at = 0; at < classes(); ++at)
            reach += static_cast<int128>(weights[at]) * upper_[at];
        const bool narrow = reach <= std::numeric_limits<std::int64_t>::max();
        carried = settled_;
        selected.resize(parts_.size());
        for (std::size_t which = 0; which < parts_.size(); ++which) {
            const part& from = parts_[which];
            if (from.times == 0)
                continue;
            if (!from.listed) {
                if (!enumerate(from, weights, selected[which]) || steps < 0)
                    return false;
            } else {
                if (from.size == 0)
                    return false;
                steps -= 2 + static_cast<std::int64_t>(from.size * classes() / 8);
                if (steps < 0)
                    return false;
                const std::size_t number = !narrow          ? heaviest_wide(from, weights)
                                           : classes() == 2 ? heaviest<2>(from, weights)
                                           : classes() == 3 ? heaviest<3>(from, weights)
                                                            : heaviest<0>(from, weights);
                selected[which] = pattern_of(from, number);
            }
            for (std::size_t at = 0; at < classes(); ++at)
                carried[at] += count(selected[which], at) * from.times;
        }
        bound = 0;
        for (std::size_t at = 0; at < classes(); ++at)
            bound += static_cast<int128>(weights[at]) * carried[at];
        return true;
    }

    /// Returns the count with the widest interval left. Counts on nodes with several patterns come
    /// before others.
    [[nodiscard]] std::optional<split> widest() const {
        std::optional<split> best;
        bool best_contended = false;
        const auto offer = [&](bool contended, const split& cell) {
            if (cell.low >= cell.high ||
                (best &&
                 (contended == best_contended ? cell.high - cell.low <= best->high - best->low
                                              : best_contended)))
                return;
            best = cell;
            best_contended = contended;
        };
        for (const part& candidate : parts_)
            for (std::size_t at = 0; at < classes() && candidate.times > 0; ++at)
                offer(!candidate.listed || candidate.size > 1,
                      {candidate.row, at, limits_[candidate.limits + at], reach(candidate, at)});
        for (std::size_t row = 0; row < problem_->rows.size() && !best_contended; ++row)
            for (std::size_t at = 0; at < classes() && part_of_[row] == nobody; ++at)
                offer(false, {row, at, 0, problem_->most_of(row)[at]});
        return best;
    }

    /// Runs `then()` with the count limited to at most `at_most`, or to more if `high`. Then
    /// restores the limits.
    template<class Then>
    auto within(std::size_t row, std::size_t at, std::int64_t at_most, bool high,
                const Then& then) {
        const std::size_t patterns = patterns_.size();
        const std::size_t limits = limits_.size();
        const std::size_t owner = part_of_[row];
        const bool settled = owner == nobody;
        const part before = settled ? settled_part(row) : parts_[owner];
        const bool shared = settled || before.times > 1;
        const std::size_t branched = shared ? parts_.size() : owner;
        std::size_t next_row = row;
        if (settled) {
            for (std::size_t other = 0; other < classes(); ++other)
                settled_[other] -= problem_->most_of(row)[other];
        } else if (shared) {
            next_row = next_in_part(row, owner);
            --parts_[owner].times;
            parts_[owner].row = next_row;
        }
        if (shared)
            parts_.push_back(before);
        part_of_[row] = branched;
        parts_[branched] = clipped(before, row, at, at_most, high);
        const std::int64_t low_moved =
            limits_[parts_[branched].limits + at] - limits_[before.limits + at];
        const std::int64_t high_moved = limits_[parts_[branched].limits + classes() + at] -
                                        limits_[before.limits + classes() + at];
        lower_[at] += low_moved;
        upper_[at] += high_moved;
        const auto outcome = then();
        lower_[at] -= low_moved;
        upper_[at] -= high_moved;
        part_of_[row] = owner;
        if (settled) {
            for (std::size_t other = 0; other < classes(); ++other)
                settled_[other] += problem_->most_of(row)[other];
        } else {
            parts_[owner] = before;
        }
        if (shared)
            parts_.pop_back();
        patterns_.resize(patterns);
        limits_.resize(limits);
        return outcome;
    }

    /// Calls `use(row)` for the rows of a part, in their order.
    template<class Use>
    void for_each_row(std::size_t which, const Use& use) const {
        for (std::size_t row = parts_[which].row; row != nobody; row = next_in_part(row, which))
            use(row);
    }
    /// Returns true if the node is settled and no branch applies to it.
    [[nodiscard]] bool settled(std::size_t row) const noexcept { return part_of_[row] == nobody; }

private:
    static constexpr std::size_t nobody = ~std::size_t{0};

    [[nodiscard]] std::size_t classes() const noexcept { return problem_->members.size(); }

    [[nodiscard]] bool takes_all(std::size_t row) const {
        const std::int64_t* most = problem_->most_of(row);
        for (std::size_t column = 0; column < Width; ++column) {
            int128 sum = 0;
            for (std::size_t at = 0; at < classes(); ++at)
                sum += static_cast<int128>(problem_->members[at].request[column]) * most[at];
            if (sum > 0 && sum > problem_->rows[row].free[column])
                return false;
        }
        for (std::size_t first = 0; first < classes(); ++first)
            for (std::size_t other = 0; other < first; ++other)
                if (problem_->apart[first * classes() + other] && most[first] > 0 &&
                    most[other] > 0)
                    return false;
        return problem_->devices.suffice(problem_->rows[row].node, most);
    }

    [[nodiscard]] bool alike(std::size_t lhs, std::size_t rhs) const noexcept {
        return problem_->rows[lhs].free == problem_->rows[rhs].free &&
               std::equal(problem_->most_of(lhs), problem_->most_of(lhs) + classes(),
                          problem_->most_of(rhs)) &&
               problem_->devices.alike(problem_->rows[lhs].node, problem_->rows[rhs].node);
    }

    /// Adds the row to the part of equal rows, or to a new part. Parts are in the order of their
    /// first rows, so the hash of the amounts has no effect on the order.
    void join(std::size_t row, std::int64_t& steps) {
        std::uint64_t mixed = 0;
        for (std::size_t column = 0; column < Width; ++column)
            mixed = (mixed ^ static_cast<std::uint64_t>(problem_->rows[row].free[column])) *
                    0x9e3779b97f4a7c15U;
        std::size_t slot = (mixed >> 20U) & (slots_.size() - 1);
        while (slots_[slot] != nobody && !alike(parts_[slots_[slot]].row, row))
            slot = (slot + 1) & (slots_.size() - 1);
        steps -= 4;
        if (slots_[slot] != nobody) {
            const std::size_t which = slots_[slot];
            part_of_[row] = which;
            ++parts_[which].times;
            next_alike_[last_alike_[which]] = row;
            last_alike_[which] = row;
            return;
        }
        slots_[slot] = parts_.size();
        part_of_[row] = parts_.size();
        last_alike_.push_back(row);
        part made;
        made.row = row;
        made.times = 1;
        made.begin = patterns_.size();
        made.limits = limits_.size();
        limits_.resize(limits_.size() + classes(), 0);
        limits_.insert(limits_.end(), problem_->most_of(row), problem_->most_of(row) + classes());
        // Each node may use only a fraction of the steps, so that some remain for the search.
        std::int64_t allowed = std::min(max_listed, steps / 64);
        const std::int64_t before = allowed;
        made.listed = lister_.list(row, allowed, listed_);
        steps -= before - allowed;
        if (made.listed) {
            made.size = listed_.size() / classes();
            for (std::size_t at = 0; at < classes(); ++at)
                for (std::size_t number = 0; number < made.size; ++number)
                    patterns_.push_back(listed_[number * classes() + at]);
        }
        parts_.push_back(made);
    }

    [[nodiscard]] std::size_t next_in_part(std::size_t row, std::size_t which) const noexcept {
        do
            row = next_alike_[row];
        while (row != nobody && part_of_[row] != which);
        return row;
    }

    /// Returns a part for a settled node.
    [[nodiscard]] part settled_part(std::size_t row) {
        part made;
        made.begin = patterns_.size();
        made.size = 1;
        made.limits = limits_.size();
        const std::int64_t* most = problem_->most_of(row);
        patterns_.insert(patterns_.end(), most, most + classes());
        limits_.resize(limits_.size() + classes(), 0);
        limits_.insert(limits_.end(), most, most + classes());
        return made;
    }

    [[nodiscard]] part clipped(const part& from, std::size_t row, std::size_t at,
                               std::int64_t at_most, bool high) {
        part made = from;
        made.row = row;
        made.times = 1;
        made.limits = limits_.size();
        for (std::size_t limit = 0; limit < 2 * classes(); ++limit)
            limits_.push_back(limits_[from.limits + limit]);
        std::int64_t& least = limits_[made.limits + at];
        std::int64_t& most = limits_[made.limits + classes() + at];
        if (high)
            least = std::max(least, at_most + 1);
        else
            most = std::min(most, at_most);
        if (!from.listed)
            return made;
        made.begin = patterns_.size();
        const std::int64_t* counts = counts_of(from, at);
        made.size = high ? static_cast<std::size_t>(
                               std::count_if(counts, counts + from.size,
                                             [&](std::int64_t count) { return count >= least; }))
                         : from.size;
        for (std::size_t other = 0; other < classes(); ++other) {
            for (std::size_t number = 0; number < from.size; ++number) {
                if (high && patterns_[from.begin + at * from.size + number] < least)
                    continue;
                const std::int64_t count = patterns_[from.begin + other * from.size + number];
                patterns_.push_back(other == at ? std::min(count, most) : count);
            }
        }
        return made;
    }

    [[nodiscard]] bool enumerate(const part& from, const detail::sequence<std::int64_t>& weights,
                                 pattern& into) {
        const std::int64_t* limits = limits_.data() + from.limits;
        const auto& row = problem_->rows[from.row];
        if (!finder_.find(row.node, row.free, limits, limits + classes(), weights))
            return false;
        into = {patterns_.size(), 1};
        patterns_.insert(patterns_.end(), finder_.counts().begin(), finder_.counts().end());
        return true;
    }

    /// Returns the first of the heaviest patterns. `Classes` is the number of classes if it is
    /// known at compile time, otherwise 0.
    template<std::size_t Classes>
    [[nodiscard]] std::size_t
    heaviest(const part& from, const detail::sequence<std::int64_t>& weights) const noexcept {
        const std::int64_t* counts = patterns_.data() + from.begin;
        const std::size_t size = from.size;
        const auto weigh = [&](std::size_t number) {
            std::int64_t sum = weights[0] * counts[number];
            const std::size_t all = Classes == 0 ? classes() : Classes;
            for (std::size_t at = 1; at < all; ++at)
                sum += weights[at] * counts[at * size + number];
            return sum;
        };
        std::int64_t most = -1;
        for (std::size_t number = 0; number < size; ++number)
            most = std::max(most, weigh(number));
        std::size_t number = 0;
        while (weigh(number) != most)
            ++number;
        return number;
    }

    [[nodiscard]] std::size_t heaviest_wide(const part& from,
                                            const detail::sequence<std::int64_t>& weights) const {
        std::size_t best = 0;
        int128 most = -1;
        for (std::size_t number = 0; number < from.size; ++number) {
            int128 sum = 0;
            for (std::size_t at = 0; at < classes(); ++at)
                sum += static_cast<int128>(weights[at]) *
                       patterns_[from.begin + at * from.size + number];
            if (sum > most) {
                most = sum;
                best = number;
            }
        }
        return best;
    }

    /// Returns how many members of the class a node of the part can take beside the minimum of the
    /// other classes.
    [[nodiscard]] std::int64_t reach(const part& owner, std::size_t at) const {
        resources<Width> free = problem_->rows[owner.row].free;
        const std::int64_t* least = limits_.data() + owner.limits;
        for (std::size_t other = 0; other < classes(); ++other) {
            if (other == at || least[other] == 0)
                continue;
            if (problem_->apart[at * classes() + other])
                return 0;
            for (std::size_t column = 0; column < Width; ++column)
                free[column] -= problem_->members[other].request[column] * least[other];
        }
        return problem_->devices.room(
            problem_->rows[owner.row].node, least, at,
            fit_count(problem_->members[at].request, free, least[classes() + at]));
    }

    const fit_problem<Width>* problem_ = nullptr;
    pattern_lister<Width> lister_;
    pattern_finder<Width> finder_;
    sequence<part> parts_;
    detail::sequence<std::int64_t> patterns_;
    detail::sequence<std::int64_t> limits_;
    /// The sum of what the settled nodes take, per class.
    detail::sequence<std::int64_t> settled_;
    detail::sequence<std::int64_t> lower_;
    detail::sequence<std::int64_t> upper_;
    /// Per row: its part, and the next row that was equal at the start.
    detail::sequence<std::size_t> part_of_;
    detail::sequence<std::size_t> next_alike_;
    /// Per part made at the start: its last row.
    detail::sequence<std::size_t> last_alike_;
    detail::sequence<std::size_t> slots_;
    detail::sequence<std::int64_t> listed_;
};

} // namespace detail
} // namespace v0_1
} // namespace muster
