// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include <muster/admission/certificate.hpp>
#include <muster/admission/choice.hpp>
#include <muster/admission/fit_problem.hpp>
#include <muster/admission/pattern.hpp>
#include <muster/base/assert.hpp>
#include <muster/base/checked.hpp>

namespace muster::inline v0_1 {

enum class fit_outcome : std::uint8_t { fits, impossible, undecided };

/// Decides a fit problem exactly, as far as its steps go.
///
/// At every vertex of the search it tries weights under which the nodes cannot carry what the gang
/// needs (a leaf of the certificate): first every minimum and every quota on its own, then
/// Lagrange multipliers moved along the subgradient, whose patterns often are a placement. When
/// neither comes of it, it splits the count of one class on one node in two. With all counts
/// settled one of the two must come, so it ends with an answer unless the steps end first.
template<std::size_t Width>
class fit_search {
public:
    /// Deeper splits and larger proofs than these are given up.
    static constexpr std::size_t deepest = 256;
    static constexpr std::size_t largest_proof = 20'000;

    fit_search(const fit_problem<Width>& problem, std::int64_t steps)
        : problem_(&problem),
          steps_left_(steps),
          patterns_(problem, steps_left_),
          choices_(*problem.tree, problem.holding, roles_of(problem)) {}

    [[nodiscard]] fit_outcome run() {
        if (!choices_.complete())
            return fit_outcome::undecided;
        if (prove_by_counts())
            return fit_outcome::impossible;
        prepare();
        const fit_outcome outcome = explore(0);
        return steps_left_ < 0 && outcome != fit_outcome::fits ? fit_outcome::undecided : outcome;
    }

    /// After `impossible`: the proof, depth first.
    [[nodiscard]] std::vector<certificate::vertex>& proof() noexcept { return proof_; }
    /// After `fits`: rows × classes, how many stand where.
    [[nodiscard]] const std::vector<std::int64_t>& counts() const noexcept { return counts_; }
    [[nodiscard]] std::int64_t steps_left() const noexcept { return steps_left_; }

private:
    /// Nodes that are alike until a split tells them apart.
    struct group {
        std::vector<std::size_t> rows;
        std::size_t untouched = 0;
    };

    static std::vector<std::size_t> roles_of(const fit_problem<Width>& problem) {
        std::vector<std::size_t> roles;
        for (const auto& member : problem.members)
            roles.push_back(member.role);
        return roles;
    }

    [[nodiscard]] std::size_t classes() const noexcept { return problem_->members.size(); }

    void prepare() {
        const std::size_t rows = problem_->rows.size();
        at_most_ = problem_->most;
        at_least_.assign(at_most_.size(), 0);
        group_of_.assign(rows, 0);
        touched_.assign(rows, 0);
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

    /// One at a time: each class alone on every node bounds what all of them can reach together, so
    /// most gangs that do not fit are proven so before any node is looked at twice.
    [[nodiscard]] bool prove_by_counts() {
        std::vector<std::int64_t> alone(classes(), 0);
        for (std::size_t row = 0; row < problem_->rows.size(); ++row)
            for (std::size_t at = 0; at < classes(); ++at)
                alone[at] += problem_->most_of(row)[at];
        lower_.assign(classes(), 0);
        upper_ = alone;
        for (std::size_t at = 0; at < classes(); ++at)
            upper_[at] = std::min(upper_[at], problem_->members[at].waiting);
        weighing by = nothing();
        for (std::size_t vertex = problem_->tree->size(); vertex-- > 0;) {
            if (!weigh_vertex(by, vertex))
                continue;
            chosen_ = choices_.cheapest(costs(by), lower_, upper_);
            int128 bound = 0;
            for (std::size_t at = 0; at < classes(); ++at)
                bound += static_cast<int128>(by.weights[at]) * alone[at];
            if (chosen_ && chosen_->cost <= bound)
                continue;
            add_leaf(by);
            return true;
        }
        return false;
    }

    // ---- bounds --------------------------------------------------------------------------------

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

    /// Fills `carried_` with the best patterns' sums; false when some node has no pattern.
    [[nodiscard]] bool carry(const std::vector<std::int64_t>& weights, int128& bound) {
        bound = 0;
        carried_.assign(classes(), 0);
        bool possible = true;
        for_each_distinct([&](std::size_t row, std::size_t times) {
            if (!possible || steps_left_ < 0)
                return;
            possible = find_pattern(row, weights);
            if (!possible)
                return;
            bound += patterns_.weight() * static_cast<int128>(times);
            for (std::size_t at = 0; at < classes(); ++at)
                carried_[at] += patterns_.counts()[at] * static_cast<std::int64_t>(times);
        });
        return possible;
    }

    [[nodiscard]] bool find_pattern(std::size_t row, const std::vector<std::int64_t>& weights) {
        return patterns_.find(problem_->rows[row].free, at_least_.data() + row * classes(),
                              at_most_.data() + row * classes(), weights);
    }

    void settle_box() {
        lower_.assign(classes(), 0);
        upper_.assign(classes(), 0);
        for_each_distinct([&](std::size_t row, std::size_t times) {
            for (std::size_t at = 0; at < classes(); ++at) {
                lower_[at] += at_least_[row * classes() + at] * static_cast<std::int64_t>(times);
                upper_[at] += at_most_[row * classes() + at] * static_cast<std::int64_t>(times);
            }
        });
        for (std::size_t at = 0; at < classes(); ++at)
            upper_[at] = std::min(upper_[at], problem_->members[at].waiting);
    }

    /// A weighing: a leaf if it proves, else its subgradient.
    struct weighing {
        std::vector<std::int64_t> weights;
        std::vector<std::int64_t> prices;
    };

    [[nodiscard]] weighing nothing() const {
        return {std::vector<std::int64_t>(classes(), 0),
                std::vector<std::int64_t>(problem_->quotas.size(), 0)};
    }

    /// Weighs the members below one vertex alike and no others; false when it asks for nothing of
    /// its own.
    [[nodiscard]] bool weigh_vertex(weighing& by, std::size_t vertex) const {
        const gang_tree& tree = *problem_->tree;
        if (tree[vertex].min_member == 0 && vertex > 0)
            return false;
        for (std::size_t at = 0; at < classes(); ++at) {
            std::size_t above = problem_->members[at].role;
            while (above > vertex)
                above = tree[above].parent;
            by.weights[at] = above == vertex ? 1 : 0;
        }
        return true;
    }

    [[nodiscard]] std::vector<int128> costs(const weighing& by) const {
        std::vector<int128> sum(classes());
        for (std::size_t at = 0; at < classes(); ++at) {
            sum[at] = by.weights[at];
            for (std::size_t quota = 0; quota < problem_->quotas.size(); ++quota)
                sum[at] += static_cast<int128>(by.prices[quota]) *
                           problem_->members[at].charge[problem_->quotas[quota].kind];
        }
        return sum;
    }

    enum class trial : std::uint8_t { proven, found, open, spent };

    [[nodiscard]] trial weigh_once(const weighing& by) {
        const std::vector<int128> cost = costs(by);
        chosen_ = choices_.cheapest(cost, lower_, upper_);
        int128 bound = 0;
        const bool possible = carry(by.weights, bound);
        if (steps_left_ < 0)
            return trial::spent;
        if (!chosen_ || !possible) {
            add_leaf(by);
            return trial::proven;
        }
        for (std::size_t quota = 0; quota < problem_->quotas.size(); ++quota)
            bound += static_cast<int128>(by.prices[quota]) * problem_->quotas[quota].left;
        if (chosen_->cost > bound) {
            add_leaf(by);
            return trial::proven;
        }
        return place_carried(by, cost) ? trial::found : trial::open;
    }

    void add_leaf(const weighing& by) {
        certificate::vertex leaf;
        leaf.weights = by.weights;
        for (std::size_t quota = 0; quota < problem_->quotas.size(); ++quota)
            if (by.prices[quota] > 0)
                leaf.prices.push_back({problem_->quotas[quota].kind, by.prices[quota]});
        proof_.push_back(std::move(leaf));
    }

    [[nodiscard]] bool within_quotas(const std::vector<std::int64_t>& counts) const {
        return std::ranges::all_of(problem_->quotas, [&](const auto& quota) {
            int128 sum = 0;
            for (std::size_t at = 0; at < classes(); ++at)
                sum += static_cast<int128>(counts[at]) * problem_->members[at].charge[quota.kind];
            return sum <= quota.left;
        });
    }

    /// When some choice is covered by the patterns just found, they are a placement.
    [[nodiscard]] bool place_carried(const weighing& by, const std::vector<int128>& cost) {
        std::vector<std::int64_t> covered(classes());
        for (std::size_t at = 0; at < classes(); ++at)
            covered[at] = std::min(carried_[at], upper_[at]);
        std::optional<choice> fitting = choices_.cheapest(cost, lower_, covered);
        if (!fitting)
            return false;
        for (std::size_t quota = 0; !within_quotas(fitting->counts); ++quota) {
            if (quota == problem_->quotas.size())
                return false;
            std::vector<int128> use(classes());
            for (std::size_t at = 0; at < classes(); ++at)
                use[at] = problem_->members[at].charge[problem_->quotas[quota].kind];
            fitting = choices_.cheapest(use, lower_, covered);
        }
        counts_.assign(problem_->rows.size() * classes(), 0);
        for (std::size_t row = 0; row < problem_->rows.size(); ++row) {
            const bool possible = find_pattern(row, by.weights);
            if (steps_left_ < 0 || !possible)
                return false;
            std::ranges::copy(patterns_.counts(),
                              counts_.begin() + static_cast<std::ptrdiff_t>(row * classes()));
        }
        for (std::size_t at = 0; at < classes(); ++at) {
            std::int64_t excess = carried_[at] - fitting->counts[at];
            for (std::size_t row = problem_->rows.size(); row-- > 0 && excess > 0;) {
                const std::size_t cell = row * classes() + at;
                const std::int64_t drop = std::min(excess, counts_[cell] - at_least_[cell]);
                counts_[cell] -= drop;
                excess -= drop;
            }
        }
        return true;
    }

    /// Tries weighings until one proves, one places, or none promises more.
    [[nodiscard]] trial weigh() {
        settle_box();
        weighing by = nothing();
        for (std::size_t vertex = problem_->tree->size(); vertex-- > 0;) {
            if (!weigh_vertex(by, vertex))
                continue;
            if (const trial result = weigh_once(by); result != trial::open)
                return result;
        }
        by.weights.assign(classes(), 0);
        for (std::size_t quota = 0; quota < by.prices.size(); ++quota) {
            by.prices.assign(by.prices.size(), 0);
            by.prices[quota] = 1;
            if (const trial result = weigh_once(by); result != trial::open)
                return result;
        }
        if (classes() < 2)
            return trial::open;
        by.prices.assign(by.prices.size(), 0);
        by.weights.assign(classes(), scale);
        for (std::int64_t turn = 0; turn < turns; ++turn) {
            if (const trial result = weigh_once(by); result != trial::open)
                return result;
            if (!step(by, turn))
                break;
        }
        return trial::open;
    }

    /// Moves the multipliers along the subgradient; false when it is zero.
    [[nodiscard]] bool step(weighing& by, std::int64_t turn) const {
        std::int64_t largest = 0;
        for (std::size_t at = 0; at < classes(); ++at) {
            const std::int64_t gap = chosen_->counts[at] - carried_[at];
            largest = std::max(largest, gap < 0 ? -gap : gap);
        }
        const int128 length = scale / (1 + turn / 2);
        bool moved = largest > 0;
        for (std::size_t at = 0; at < classes() && largest > 0; ++at) {
            const std::int64_t gap = chosen_->counts[at] - carried_[at];
            by.weights[at] = saturate(std::max<int128>(0, by.weights[at] + length * gap / largest));
        }
        for (std::size_t quota = 0; quota < problem_->quotas.size(); ++quota) {
            int128 use = 0;
            std::int64_t unit = 1;
            for (std::size_t at = 0; at < classes(); ++at) {
                const std::int64_t each =
                    problem_->members[at].charge[problem_->quotas[quota].kind];
                use += static_cast<int128>(each) * chosen_->counts[at];
                unit = std::max(unit, each);
            }
            const int128 gap = (use - problem_->quotas[quota].left) / unit;
            const int128 price =
                by.prices[quota] + length / unit * gap / std::max<std::int64_t>(1, largest);
            const auto next = saturate(std::clamp<int128>(price, 0, scale));
            moved = moved || next != by.prices[quota];
            by.prices[quota] = next;
        }
        return moved;
    }

    // ---- branches ------------------------------------------------------------------------------

    struct split {
        std::size_t row = 0;
        std::size_t at = 0;
        std::int64_t low = 0;
        std::int64_t high = 0;
    };

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

    [[nodiscard]] fit_outcome explore(std::size_t depth) {
        switch (weigh()) {
        case trial::proven:
            return fit_outcome::impossible;
        case trial::found:
            return fit_outcome::fits;
        case trial::spent:
            return fit_outcome::undecided;
        case trial::open:
            break;
        }
        const std::optional<split> cell = widest();
        if (!cell || depth == deepest || proof_.size() >= largest_proof)
            return fit_outcome::undecided;
        const std::int64_t middle = cell->low + (cell->high - cell->low) / 2;
        certificate::vertex inner;
        inner.leaf = false;
        inner.member_class = cell->at;
        inner.node = problem_->rows[cell->row].node;
        inner.at_most = middle;
        proof_.push_back(std::move(inner));

        const std::size_t at = cell->row * classes() + cell->at;
        touch(cell->row, 1);
        const std::int64_t upper = std::exchange(at_most_[at], middle);
        fit_outcome outcome = explore(depth + 1);
        at_most_[at] = upper;
        if (outcome == fit_outcome::impossible) {
            const std::int64_t lower = std::exchange(at_least_[at], middle + 1);
            outcome = explore(depth + 1);
            at_least_[at] = lower;
        }
        touch(cell->row, -1);
        return outcome;
    }

    static constexpr std::int64_t scale = std::int64_t{1} << 50;
    static constexpr std::int64_t turns = 48;

    const fit_problem<Width>* problem_;
    std::int64_t steps_left_;
    pattern_finder<Width> patterns_;
    choice_finder choices_;
    std::vector<group> groups_;
    std::vector<std::size_t> group_of_;
    std::vector<int> touched_;
    std::vector<std::int64_t> at_least_;
    std::vector<std::int64_t> at_most_;
    std::vector<std::int64_t> lower_;
    std::vector<std::int64_t> upper_;
    std::vector<std::int64_t> carried_;
    std::optional<choice> chosen_;
    std::vector<certificate::vertex> proof_;
    std::vector<std::int64_t> counts_;
};

} // namespace muster::inline v0_1
