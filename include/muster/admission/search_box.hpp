// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include <muster/admission/fit_problem.hpp>
#include <muster/base/checked.hpp>
#include <muster/resource/resources.hpp>

namespace muster::inline v0_1 {

/// How many of each class every node may take, at least and at most, while a search narrows it
/// down. Nodes that are alike are looked at once until a split tells them apart.
template<std::size_t Width>
class search_box {
public:
    /// The count of one class on one node, and its bounds.
    struct split {
        std::size_t row = 0;
        std::size_t at = 0;
        std::int64_t low = 0;
        std::int64_t high = 0;
    };

    explicit search_box(const fit_problem<Width>& problem)
        : problem_(&problem),
          at_least_(problem.most.size(), 0),
          at_most_(problem.most),
          touched_(problem.rows.size(), 0) {}

    /// Sorts the nodes into groups that are alike. O(nodes · log nodes × width).
    void group_alike() {
        const std::size_t rows = problem_->rows.size();
        group_of_.assign(rows, 0);
        std::vector<std::size_t> order(rows);
        std::iota(order.begin(), order.end(), std::size_t{0});
        const auto compare = [&](std::size_t lhs, std::size_t rhs) {
            const auto by_free = problem_->rows[lhs].free <=> problem_->rows[rhs].free;
            if (by_free != 0)
                return by_free;
            for (std::size_t at = 0; at < classes(); ++at)
                if (const auto by = problem_->most_of(lhs)[at] <=> problem_->most_of(rhs)[at];
                    by != 0)
                    return by;
            return std::strong_ordering::equal;
        };
        std::ranges::stable_sort(
            order, [&](std::size_t lhs, std::size_t rhs) { return compare(lhs, rhs) < 0; });
        for (std::size_t at = 0; at < rows; ++at) {
            if (at == 0 || compare(order[at - 1], order[at]) != 0)
                groups_.push_back({});
            groups_.back().rows.push_back(order[at]);
            group_of_[order[at]] = groups_.size() - 1;
        }
        for (group& each : groups_)
            each.untouched = each.rows.size();
        // Groups in the order of their first node, so that no choice depends on the amounts' sort.
        std::ranges::sort(groups_, {}, [](const group& each) { return each.rows.front(); });
        for (std::size_t at = 0; at < groups_.size(); ++at)
            for (const std::size_t row : groups_[at].rows)
                group_of_[row] = at;
    }

    /// Calls `use(row, times)` for every group of rows that is alike now.
    template<class Use>
    void for_each_distinct(const Use& use) const {
        for (const group& each : groups_) {
            bool shared = false;
            for (const std::size_t row : each.rows) {
                if (touched_[row] > 0) {
                    use(row, std::size_t{1});
                } else if (!shared) {
                    shared = true;
                    use(row, each.untouched);
                }
                if (shared && each.untouched == each.rows.size())
                    break;
            }
        }
    }

    /// The widest count left, on nodes where classes compete before others.
    [[nodiscard]] std::optional<split> widest() const {
        std::optional<split> best;
        bool best_contended = false;
        for_each_distinct([&](std::size_t row, std::size_t) {
            const bool contended = !takes_all(row);
            for (std::size_t at = 0; at < classes(); ++at) {
                const split cell{row, at, at_least_[row * classes() + at], reach(row, at)};
                if (cell.low >= cell.high)
                    continue;
                const bool better =
                    !best || (contended && !best_contended) ||
                    (contended == best_contended && cell.high - cell.low > best->high - best->low);
                if (!better)
                    continue;
                best = cell;
                best_contended = contended;
            }
        });
        return best;
    }

    [[nodiscard]] const std::int64_t* at_least(std::size_t row) const noexcept {
        return at_least_.data() + row * classes();
    }
    [[nodiscard]] const std::int64_t* at_most(std::size_t row) const noexcept {
        return at_most_.data() + row * classes();
    }

    /// Runs `then()` with the count held between the bounds, and restores it.
    template<class Then>
    auto within(const split& cell, std::int64_t least, std::int64_t most, const Then& then) {
        const std::size_t at = cell.row * classes() + cell.at;
        const std::int64_t least_before = std::exchange(at_least_[at], least);
        const std::int64_t most_before = std::exchange(at_most_[at], most);
        touch(cell.row, 1);
        const auto outcome = then();
        touch(cell.row, -1);
        at_least_[at] = least_before;
        at_most_[at] = most_before;
        return outcome;
    }

private:
    /// Nodes that are alike until a split tells them apart.
    struct group {
        std::vector<std::size_t> rows;
        std::size_t untouched = 0;
    };

    [[nodiscard]] std::size_t classes() const noexcept { return problem_->members.size(); }

    /// How many of the class the row can take beside the least of the others.
    [[nodiscard]] std::int64_t reach(std::size_t row, std::size_t at) const {
        resources<Width> free = problem_->rows[row].free;
        for (std::size_t other = 0; other < classes(); ++other) {
            const std::int64_t least = at_least_[row * classes() + other];
            if (other == at || least == 0)
                continue;
            if (problem_->apart[at * classes() + other])
                return 0;
            for (std::size_t column = 0; column < Width; ++column)
                free[column] -= problem_->members[other].request[column] * least;
        }
        return fit_count(problem_->members[at].request, free, at_most_[row * classes() + at]);
    }

    [[nodiscard]] bool takes_all(std::size_t row) const {
        const std::int64_t* most = at_most_.data() + row * classes();
        for (std::size_t column = 0; column < Width; ++column) {
            int128 sum = 0;
            for (std::size_t at = 0; at < classes(); ++at)
                sum += static_cast<int128>(problem_->members[at].request[column]) * most[at];
            if (sum > 0 && sum > problem_->rows[row].free[column])
                return false;
        }
        for (std::size_t one = 0; one < classes(); ++one)
            for (std::size_t other = 0; other < one; ++other)
                if (problem_->apart[one * classes() + other] && most[one] > 0 && most[other] > 0)
                    return false;
        return true;
    }

    void touch(std::size_t row, int by) {
        if (touched_[row] == 0)
            --groups_[group_of_[row]].untouched;
        touched_[row] += by;
        if (touched_[row] == 0)
            ++groups_[group_of_[row]].untouched;
    }

    const fit_problem<Width>* problem_;
    std::vector<std::int64_t> at_least_;
    std::vector<std::int64_t> at_most_;
    /// Per row: how many splits hold it.
    std::vector<int> touched_;
    std::vector<group> groups_;
    std::vector<std::size_t> group_of_;
};

} // namespace muster::inline v0_1
