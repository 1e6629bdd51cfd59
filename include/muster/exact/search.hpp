// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <utility>

#include <muster/base/checked.hpp>
#include <muster/base/sequence.hpp>
#include <muster/exact/branch_bounds.hpp>
#include <muster/exact/choice.hpp>
#include <muster/exact/column_generation.hpp>
#include <muster/exact/multipliers.hpp>
#include <muster/exact/proof_list.hpp>
#include <muster/exact/rounding_heuristic.hpp>
#include <muster/exact/search_subgradient.hpp>
#include <muster/problem/fit_problem.hpp>
#include <muster/vocabulary/certificate.hpp>

namespace muster {
inline namespace v0_1 {

enum class fit_outcome : std::uint8_t { fits, impossible, undecided };

/// Decides fit problems exactly, within a budget of steps.
///
/// At every vertex of the search tree it tries weights under which the nodes cannot carry what the
/// gang needs, which gives a leaf of the certificate: first every minimum and every quota on its
/// own, then the weights that come closest to a proof (`detail::column_generation`; for gangs with
/// many classes, multipliers that follow the subgradient). The patterns found on the way often are
/// a placement, or become one by a few exchanges. If neither succeeds, it branches on the count of
/// one class on one node. Once all counts are fixed, one of the two succeeds, so the search ends
/// with an answer unless the steps run out.
///
/// One search can decide many problems, one after the other, and reuses its memory.
template<std::size_t Width>
class fit_search {
public:
    /// The deepest branching and the largest proof; beyond these the result is `undecided`.
    static constexpr std::size_t max_depth = 256;
    static constexpr std::size_t largest_proof = 20'000;

    fit_search() = default;
    fit_search(const fit_problem<Width>& problem, std::int64_t steps)
        : problem_(&problem), steps_left_(steps) {}
    fit_search(const fit_search&) = delete;
    fit_search& operator=(const fit_search&) = delete;

    /// Decides a problem within this many steps (see `budget`). Discards the results of the problem
    /// before.
    [[nodiscard]] fit_outcome run(const fit_problem<Width>& problem, std::int64_t steps) {
        problem_ = &problem;
        steps_left_ = steps;
        return run();
    }

    /// Decides the problem that was passed to the constructor.
    [[nodiscard]] fit_outcome run() {
        proof_.clear();
        counts_.clear();
        choices_.reset(*problem_->tree, problem_->holding, classes(),
                       [&](std::size_t at) { return problem_->members[at].role; });
        if (!choices_.complete())
            return fit_outcome::undecided;
        multipliers_.prices.assign(problem_->quotas.size(), 0);
        if (prove_by_counts())
            return fit_outcome::impossible;
        if (place_only_class())
            return fit_outcome::fits;
        steps_left_ -= static_cast<std::int64_t>(problem_->rows.size() / 2);
        bounds_.reset(*problem_, steps_left_);
        guess_.weights.clear();
        const fit_outcome outcome = steps_left_ < 0 ? fit_outcome::undecided : explore(0);
        return steps_left_ < 0 && outcome != fit_outcome::fits ? fit_outcome::undecided : outcome;
    }

    /// After `impossible`: returns the proof, depth first.
    [[nodiscard]] std::span<const certificate::vertex> proof() const noexcept {
        return proof_.all();
    }
    /// After `fits`: returns rows × classes, the number of members of each class on each row.
    [[nodiscard]] const detail::sequence<std::int64_t>& counts() const noexcept { return counts_; }
    [[nodiscard]] std::int64_t steps_left() const noexcept { return steps_left_; }

    /// After `impossible`, if the proof is one leaf of weights alone: returns by how much the nodes
    /// carry too little weight for every choice of waiting members. While members and quotas stay
    /// the same, the proof holds as long as what the nodes can carry grows by less than this.
    /// Returns nothing if that is not known.
    [[nodiscard]] std::optional<int128> slack() {
        if (proof_.size() != 1 || !proof().front().prices.empty() || bound_ < 0)
            return std::nullopt;
        // The choice in the proof was limited by what each node can take, which may grow too, so
        // the limits here are the waiting members.
        costs_.assign(proof().front().weights.begin(), proof().front().weights.end());
        lower_.assign(classes(), 0);
        upper_.resize(classes());
        for (std::size_t at = 0; at < classes(); ++at)
            upper_[at] = problem_->members[at].waiting;
        if (!choices_.find(costs_, lower_, upper_, chosen_) || chosen_.cost <= bound_)
            return std::nullopt;
        return chosen_.cost - bound_;
    }

private:
    using pattern = typename detail::branch_bounds<Width>::pattern;

    /// The count to branch on, and the highest value of the low side.
    struct branch {
        std::size_t row = 0;
        std::size_t at = 0;
        std::int64_t at_most = 0;
    };

    [[nodiscard]] std::size_t classes() const noexcept { return problem_->members.size(); }

    /// Tries one minimum at a time. What each class alone could reach on every node bounds what all
    /// classes reach together. Most gangs that do not fit are proven so here, before any node is
    /// read twice.
    [[nodiscard]] bool prove_by_counts() {
        upper_.assign(classes(), 0);
        for (std::size_t row = 0; row < problem_->rows.size(); ++row)
            for (std::size_t at = 0; at < classes(); ++at)
                upper_[at] += problem_->most_of(row)[at];
        lower_.assign(classes(), 0);
        alone_ = upper_;
        for (std::size_t at = 0; at < classes(); ++at)
            upper_[at] = std::min(upper_[at], problem_->members[at].waiting);
        for (std::size_t vertex = problem_->tree->size(); vertex-- > 0;) {
            if (!price_vertex(vertex))
                continue;
            int128 bound = 0;
            for (std::size_t at = 0; at < classes(); ++at)
                bound += static_cast<int128>(multipliers_.weights[at]) * alone_[at];
            if (choose() && chosen_.cost <= bound)
                continue;
            bound_ = bound;
            add_leaf();
            return true;
        }
        return false;
    }

    /// A single class competes with no other: if its count proved nothing, it fits, unless there
    /// are quotas.
    [[nodiscard]] bool place_only_class() {
        if (classes() != 1 || !problem_->quotas.empty())
            return false;
        multipliers_.weights.assign(1, 1);
        if (!choose())
            return false;
        std::int64_t left = chosen_.counts[0];
        for (std::size_t row = 0; row < problem_->rows.size(); ++row) {
            counts_.push_back(std::min(left, problem_->most[row]));
            left -= counts_.back();
        }
        return true;
    }

    // ---- bounds --------------------------------------------------------------------------------

    void settle_box() {
        lower_ = bounds_.lower();
        upper_ = bounds_.upper();
        for (std::size_t at = 0; at < classes(); ++at)
            upper_[at] = std::min(upper_[at], problem_->members[at].waiting);
    }

    /// Sets weight 1 for the members at or below one vertex and 0 for others. Returns false if the
    /// vertex has no minimum of its own.
    [[nodiscard]] bool price_vertex(std::size_t vertex) {
        const gang_tree& tree = *problem_->tree;
        if (tree[vertex].min_member == 0 && vertex > 0)
            return false;
        multipliers_.weights.resize(classes());
        for (std::size_t at = 0; at < classes(); ++at) {
            std::size_t above = problem_->members[at].role;
            while (above > vertex)
                above = tree[above].parent;
            multipliers_.weights[at] = above == vertex ? 1 : 0;
        }
        return true;
    }

    /// Finds the cheapest choice for the multipliers.
    [[nodiscard]] bool choose() {
        costs_.resize(classes());
        for (std::size_t at = 0; at < classes(); ++at) {
            costs_[at] = multipliers_.weights[at];
            for (std::size_t quota = 0; quota < problem_->quotas.size(); ++quota)
                costs_[at] += static_cast<int128>(multipliers_.prices[quota]) *
                              problem_->members[at].charge[problem_->quotas[quota].kind];
        }
        return choices_.find(costs_, lower_, upper_, chosen_);
    }

    enum class trial : std::uint8_t { proven, found, open, spent };

    [[nodiscard]] trial price_once() {
        steps_left_ -= 8 + static_cast<std::int64_t>(4 * classes());
        const bool possible = choose() && bounds_.price_nodes(multipliers_.weights, steps_left_,
                                                              selected_, carried_, bound_);
        if (steps_left_ < 0)
            return trial::spent;
        if (!possible) {
            bound_ = -1;
            add_leaf();
            return trial::proven;
        }
        for (std::size_t quota = 0; quota < problem_->quotas.size(); ++quota)
            bound_ +=
                static_cast<int128>(multipliers_.prices[quota]) * problem_->quotas[quota].left;
        if (chosen_.cost > bound_) {
            add_leaf();
            return trial::proven;
        }
        rounded_.clear();
        return place_carried() ? trial::found : trial::open;
    }

    void add_leaf() {
        certificate::vertex& leaf = proof_.add();
        leaf.weights.assign(multipliers_.weights.begin(), multipliers_.weights.end());
        for (std::size_t quota = 0; quota < problem_->quotas.size(); ++quota)
            if (multipliers_.prices[quota] > 0)
                leaf.prices.push_back({problem_->quotas[quota].kind, multipliers_.prices[quota]});
    }

    /// Returns true, and writes the counts, if the selected patterns (with the exchanges made)
    /// carry a choice that meets the minima and the quotas: they are then a placement.
    [[nodiscard]] bool place_carried() {
        if (chosen_.least)
            for (std::size_t at = 0; at < classes(); ++at)
                if (carried_[at] < chosen_.counts[at])
                    return false;
        covered_.resize(classes());
        for (std::size_t at = 0; at < classes(); ++at)
            covered_[at] = std::min(carried_[at], upper_[at]);
        if (!choices_.find(costs_, lower_, covered_, fitting_))
            return false;
        uses_.resize(classes());
        for (std::size_t quota = 0; !detail::within_quotas(*problem_, fitting_.counts); ++quota) {
            if (quota == problem_->quotas.size())
                return false;
            for (std::size_t at = 0; at < classes(); ++at)
                uses_[at] = problem_->members[at].charge[problem_->quotas[quota].kind];
            if (!choices_.find(uses_, lower_, covered_, fitting_))
                return false;
        }
        write_counts();
        return true;
    }

    void write_counts() {
        counts_.resize(problem_->rows.size() * classes());
        for (std::size_t row = 0; row < problem_->rows.size(); ++row)
            if (bounds_.settled(row))
                std::copy_n(problem_->most_of(row), classes(), counts_of(row));
        std::size_t share = 0;
        for (std::size_t which = 0; which < bounds_.parts().size(); ++which) {
            std::int64_t taken = 0;
            bounds_.for_each_row(which, [&](std::size_t row) {
                // If there are no shares, all nodes of a part take the selected pattern.
                while (share < rounded_.size() &&
                       (rounded_[share].part != which || taken == rounded_[share].times)) {
                    taken = 0;
                    ++share;
                }
                ++taken;
                const pattern& takes =
                    share < rounded_.size() ? rounded_[share].takes : selected_[which];
                for (std::size_t at = 0; at < classes(); ++at)
                    counts_of(row)[at] = bounds_.count(takes, at);
            });
        }
        for (std::size_t at = 0; at < classes(); ++at) {
            std::int64_t excess = carried_[at] - fitting_.counts[at];
            for (std::size_t row = problem_->rows.size(); row-- > 0 && excess > 0;) {
                const std::int64_t drop = std::min(excess, counts_of(row)[at]);
                counts_of(row)[at] -= drop;
                excess -= drop;
            }
        }
    }

    [[nodiscard]] std::int64_t* counts_of(std::size_t row) noexcept {
        return counts_.data() + row * classes();
    }

    /// Tries multipliers until some give a proof or a placement, or none promise more. If the
    /// result is `open`, `branch_` is the count to branch on, if `has_branch_`.
    [[nodiscard]] trial try_multipliers() {
        settle_box();
        has_branch_ = false;
        multipliers_.weights.assign(classes(), 0);
        for (std::size_t quota = 0; quota < multipliers_.prices.size(); ++quota) {
            multipliers_.prices[quota] = 1;
            const trial result = price_once();
            multipliers_.prices[quota] = 0;
            if (result != trial::open)
                return result;
        }
        multipliers_.weights.assign(classes(), 1);
        if (const trial result = price_once(); result != trial::open || classes() < 2)
            return result;
        // If the choice is the least one in every class, each quota was just checked on its own,
        // which suffices.
        const std::size_t quotas = chosen_.least ? 0 : problem_->quotas.size();
        if (classes() + quotas > detail::column_generation::max_classes)
            return follow_subgradient();
        const trial result = generate_columns(quotas);
        multipliers_.prices.assign(multipliers_.prices.size(), 0);
        return result;
    }

    /// Computes the point for column generation: per class, what the patterns carry minus the
    /// choice, and per quota, what the choice leaves of it, in units of about one member's charge.
    void measure(std::size_t quotas) {
        excess_.resize(classes());
        for (std::size_t at = 0; at < classes(); ++at)
            excess_[at] = carried_[at] - chosen_.counts[at];
        point_ = excess_;
        for (std::size_t quota = 0; quota < quotas; ++quota) {
            int128 left = problem_->quotas[quota].left;
            for (std::size_t at = 0; at < classes(); ++at)
                left -= static_cast<int128>(chosen_.counts[at]) *
                        problem_->members[at].charge[problem_->quotas[quota].kind];
            point_.push_back(saturate(left / detail::quota_unit(*problem_, quota)));
        }
    }

    [[nodiscard]] trial generate_columns(std::size_t quotas) {
        if (guess_.weights.empty()) {
            guess_.prices.assign(multipliers_.prices.size(), 0);
            for (std::size_t at = 0; at < classes(); ++at)
                guess_.weights.push_back((std::int64_t{1} << 40U) /
                                         std::max<std::int64_t>(1, bounds_.upper()[at]));
        }
        multipliers_ = guess_;
        if (const trial result = price_once(); result != trial::open)
            return result;
        measure(quotas);
        direction_.resize(point_.size());
        for (std::size_t at = 0; at < direction_.size(); ++at)
            direction_[at] = std::max<std::int64_t>(
                1, at < classes() ? chosen_.counts[at]
                                  : problem_->quotas[at - classes()].left /
                                        detail::quota_unit(*problem_, at - classes()));
        detail::column_generation columns;
        columns.start(direction_, point_);
        selections_.resize(point_.size() + 1);
        selections_[point_.size()] = selected_;
        for (std::int64_t turn = 0; turn < turns && columns.weights(raw_); ++turn) {
            detail::set_multipliers(*problem_, raw_, multipliers_);
            detail::spread_zeros(bounds_.upper(), multipliers_);
            if (const trial result = price_once(); result != trial::open)
                return result;
            measure(quotas);
            steps_left_ -= static_cast<std::int64_t>(8 * point_.size());
            const std::size_t place = columns.add(point_);
            if (place == detail::column_generation::nothing)
                break;
            selections_[place] = selected_;
        }
        guess_ = multipliers_;
        mix_.clear();
        for (std::size_t place = 0; place <= point_.size(); ++place)
            if (const std::int64_t share = columns.share(place); share > 0)
                mix_.push_back({&selections_[place], share});
        if (rounding_.run(bounds_, selected_, mix_, multipliers_.weights, excess_, steps_left_)) {
            rounded_ = rounding_.shares(bounds_, selected_);
            carried_ = bounds_.settled_sum();
            for (const auto& share : rounded_)
                for (std::size_t at = 0; at < classes() && share.times > 0; ++at)
                    carried_[at] += share.times * bounds_.count(share.takes, at);
            if (place_carried())
                return trial::found;
        }
        if (steps_left_ < 0)
            return trial::spent;
        choose_branch();
        return trial::open;
    }

    /// Branches on the count in which the patterns of the mix differ most.
    void choose_branch() {
        std::int64_t widest = 0;
        for (std::size_t which = 0; which < bounds_.parts().size(); ++which) {
            if (bounds_.parts()[which].times == 0)
                continue;
            for (std::size_t at = 0; at < classes(); ++at) {
                std::int64_t low = std::numeric_limits<std::int64_t>::max();
                std::int64_t high = 0;
                for (const auto& component : mix_) {
                    const std::int64_t count = bounds_.count((*component.selection)[which], at);
                    low = std::min(low, count);
                    high = std::max(high, count);
                }
                if (high - low <= widest || high < low)
                    continue;
                widest = high - low;
                has_branch_ = true;
                branch_ = {bounds_.parts()[which].row, at, low + (high - low) / 2};
            }
        }
    }

    [[nodiscard]] trial follow_subgradient() {
        detail::subgradient::start(classes(), multipliers_);
        trial result = trial::open;
        for (std::int64_t turn = 0; turn < turns && result == trial::open; ++turn) {
            result = price_once();
            if (result != trial::open ||
                !detail::subgradient::step(*problem_, chosen_, carried_, turn, multipliers_))
                break;
        }
        multipliers_.prices.assign(multipliers_.prices.size(), 0);
        return result;
    }

    // ---- branches ------------------------------------------------------------------------------

    [[nodiscard]] fit_outcome explore(std::size_t depth) {
        switch (try_multipliers()) {
        case trial::proven:
            return fit_outcome::impossible;
        case trial::found:
            return fit_outcome::fits;
        case trial::spent:
            return fit_outcome::undecided;
        case trial::open:
            break;
        }
        if (!has_branch_) {
            const auto cell = bounds_.widest();
            if (!cell)
                return fit_outcome::undecided;
            branch_ = {cell->row, cell->at, cell->low + (cell->high - cell->low) / 2};
        }
        if (depth == max_depth || proof_.size() >= largest_proof)
            return fit_outcome::undecided;
        const branch here = branch_;
        certificate::vertex& inner = proof_.add();
        inner.leaf = false;
        inner.member_class = here.at;
        inner.node = problem_->rows[here.row].node;
        inner.at_most = here.at_most;
        const auto deeper = [&] { return explore(depth + 1); };
        const fit_outcome low = bounds_.within(here.row, here.at, here.at_most, false, deeper);
        return low == fit_outcome::impossible
                   ? bounds_.within(here.row, here.at, here.at_most, true, deeper)
                   : low;
    }

    static constexpr std::int64_t turns = 48;

    const fit_problem<Width>* problem_ = nullptr;
    std::int64_t steps_left_ = 0;
    choice_finder choices_;
    detail::branch_bounds<Width> bounds_;
    detail::rounding_heuristic<Width> rounding_;
    detail::multipliers multipliers_;
    // Results of the last pricing:
    detail::sequence<int128> costs_;
    choice chosen_;
    detail::sequence<pattern> selected_;
    detail::sequence<std::int64_t> carried_;
    int128 bound_ = 0;
    detail::sequence<typename detail::rounding_heuristic<Width>::share> rounded_;
    // Bounds on the choice from the branch bounds:
    detail::sequence<std::int64_t> lower_;
    detail::sequence<std::int64_t> upper_;
    // Scratch:
    detail::sequence<std::int64_t> alone_;
    detail::sequence<std::int64_t> covered_;
    detail::sequence<int128> uses_;
    choice fitting_;
    detail::sequence<std::int64_t> direction_;
    detail::sequence<std::int64_t> excess_;
    detail::sequence<std::int64_t> point_;
    detail::sequence<std::int64_t> raw_;
    /// The selections of the points in the basis, by place.
    detail::sequence<detail::sequence<pattern>> selections_;
    detail::sequence<typename detail::rounding_heuristic<Width>::ingredient> mix_;
    /// The multipliers at which the last column generation ended; the next one starts there.
    detail::multipliers guess_;
    bool has_branch_ = false;
    branch branch_;
    detail::proof_list proof_;
    detail::sequence<std::int64_t> counts_;
};

} // namespace v0_1
} // namespace muster
