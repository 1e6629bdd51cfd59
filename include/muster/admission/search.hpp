// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <muster/admission/certificate.hpp>
#include <muster/admission/choice.hpp>
#include <muster/admission/fit_problem.hpp>
#include <muster/admission/pattern.hpp>
#include <muster/admission/search_box.hpp>
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
          choices_(*problem.tree, problem.holding, roles_of(problem)),
          box_(problem) {}

    [[nodiscard]] fit_outcome run() {
        if (!choices_.complete())
            return fit_outcome::undecided;
        if (prove_by_counts())
            return fit_outcome::impossible;
        if (place_only_class())
            return fit_outcome::fits;
        box_.group_alike();
        const fit_outcome outcome = explore(0);
        return steps_left_ < 0 && outcome != fit_outcome::fits ? fit_outcome::undecided : outcome;
    }

    /// After `impossible`: the proof, depth first.
    [[nodiscard]] std::vector<certificate::vertex>& proof() noexcept { return proof_; }
    /// After `fits`: rows × classes, how many stand where.
    [[nodiscard]] const std::vector<std::int64_t>& counts() const noexcept { return counts_; }
    [[nodiscard]] std::int64_t steps_left() const noexcept { return steps_left_; }

private:
    static std::vector<std::size_t> roles_of(const fit_problem<Width>& problem) {
        std::vector<std::size_t> roles;
        for (const auto& member : problem.members)
            roles.push_back(member.role);
        return roles;
    }

    [[nodiscard]] std::size_t classes() const noexcept { return problem_->members.size(); }

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

    /// A single class has no rival on any node: when its count did not prove the contrary, it fits,
    /// unless a quota says no.
    [[nodiscard]] bool place_only_class() {
        if (classes() != 1 || !problem_->quotas.empty())
            return false;
        chosen_ = choices_.cheapest({1}, lower_, upper_);
        if (!chosen_)
            return false;
        std::int64_t left = chosen_->counts[0];
        for (std::size_t row = 0; row < problem_->rows.size(); ++row) {
            counts_.push_back(std::min(left, problem_->most[row]));
            left -= counts_.back();
        }
        return true;
    }

    // ---- bounds --------------------------------------------------------------------------------

    /// Fills `carried_` with the best patterns' sums; false when some node has no pattern.
    [[nodiscard]] bool carry(const std::vector<std::int64_t>& weights, int128& bound) {
        bound = 0;
        carried_.assign(classes(), 0);
        bool possible = true;
        box_.for_each_distinct([&](std::size_t row, std::size_t times) {
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
        return patterns_.find(problem_->rows[row].free, box_.at_least(row), box_.at_most(row),
                              weights);
    }

    void settle_box() {
        lower_.assign(classes(), 0);
        upper_.assign(classes(), 0);
        box_.for_each_distinct([&](std::size_t row, std::size_t times) {
            for (std::size_t at = 0; at < classes(); ++at) {
                lower_[at] += box_.at_least(row)[at] * static_cast<std::int64_t>(times);
                upper_[at] += box_.at_most(row)[at] * static_cast<std::int64_t>(times);
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
                const std::int64_t drop = std::min(excess, counts_[cell] - box_.at_least(row)[at]);
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
        const auto cell = box_.widest();
        if (!cell || depth == deepest || proof_.size() >= largest_proof)
            return fit_outcome::undecided;
        const std::int64_t middle = cell->low + (cell->high - cell->low) / 2;
        certificate::vertex inner;
        inner.leaf = false;
        inner.member_class = cell->at;
        inner.node = problem_->rows[cell->row].node;
        inner.at_most = middle;
        proof_.push_back(std::move(inner));

        const auto deeper = [&] { return explore(depth + 1); };
        const std::int64_t least = box_.at_least(cell->row)[cell->at];
        const std::int64_t most = box_.at_most(cell->row)[cell->at];
        const fit_outcome low = box_.within(*cell, least, middle, deeper);
        return low == fit_outcome::impossible ? box_.within(*cell, middle + 1, most, deeper) : low;
    }

    static constexpr std::int64_t scale = std::int64_t{1} << 50;
    static constexpr std::int64_t turns = 48;

    const fit_problem<Width>* problem_;
    std::int64_t steps_left_;
    pattern_finder<Width> patterns_;
    choice_finder choices_;
    search_box<Width> box_;
    std::vector<std::int64_t> lower_;
    std::vector<std::int64_t> upper_;
    std::vector<std::int64_t> carried_;
    std::optional<choice> chosen_;
    std::vector<certificate::vertex> proof_;
    std::vector<std::int64_t> counts_;
};

} // namespace muster::inline v0_1
