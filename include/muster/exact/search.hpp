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

/// Decides fit problems exactly, as far as the steps go.
///
/// At every vertex of the search it tries weights under which the nodes cannot carry what the gang
/// needs (a leaf of the certificate): first every minimum and every quota on its own, then the
/// weights that come closest to a proof (`detail::column_generation`; for gangs with many classes
/// multipliers moved along the subgradient). The patterns found on the way often are a placement,
/// or become one by a few exchanges. When neither comes of it, the count of one class on one node
/// is split in two. With all counts settled one of the two must come, so it ends with an answer
/// unless the steps end first.
///
/// One search may decide many problems, one after the other: it keeps what it has allocated.
template<std::size_t Width>
class fit_search {
public:
    /// Deeper splits and larger proofs than these are given up.
    static constexpr std::size_t max_depth = 256;
    static constexpr std::size_t largest_proof = 20'000;

    fit_search() = default;
    fit_search(const fit_problem<Width>& problem, std::int64_t steps)
        : problem_(&problem), steps_left_(steps) {}
    fit_search(const fit_search&) = delete;
    fit_search& operator=(const fit_search&) = delete;

    /// Decides a problem within so many steps (see `budget`). What the search
    /// holds of the problem before is gone.
    [[nodiscard]] fit_outcome run(const fit_problem<Width>& problem, std::int64_t steps) {
        problem_ = &problem;
        steps_left_ = steps;
        return run();
    }

    /// Decides the problem that the search was made with.
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

    /// After `impossible`: the proof, depth first.
    [[nodiscard]] std::span<const certificate::vertex> proof() const noexcept {
        return proof_.all();
    }
    /// After `fits`: rows × classes, how many are on which row.
    [[nodiscard]] const detail::sequence<std::int64_t>& counts() const noexcept { return counts_; }
    [[nodiscard]] std::int64_t steps_left() const noexcept { return steps_left_; }

    /// After `impossible`, when the proof is one leaf of weights alone: by how much its nodes carry
    /// too little for any choice of waiting members. The proof holds as long as what the nodes can
    /// carry has grown by less, while members and quotas stay. Nothing when that cannot be told.
    [[nodiscard]] std::optional<int128> slack() {
        if (proof_.size() != 1 || !proof().front().prices.empty() || bound_ < 0)
            return std::nullopt;
        // The choice was held to what the nodes can take one by one, which may grow too.
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

    /// Where to split, and the last count of the low side.
    struct branch {
        std::size_t row = 0;
        std::size_t at = 0;
        std::int64_t at_most = 0;
    };

    [[nodiscard]] std::size_t classes() const noexcept { return problem_->members.size(); }

    /// One at a time: each class alone on every node bounds what all of them can reach together, so
    /// most gangs that do not fit are proven so before any node is looked at twice.
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

    /// A single class has no rival on any node: when its count did not prove the contrary, it fits,
    /// unless a quota says no.
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

    /// Weighs the members below one vertex alike and no others; false when it asks for nothing of
    /// its own.
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

    /// The cheapest choice for the weighing.
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

    /// When some choice is covered by what the selected patterns carry, with the exchanges made,
    /// they are a placement.
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
                // Without shares all nodes of a part take the selected pattern.
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

    /// Tries multipliers until one proves, one places, or none promises more. When all stay open
    /// `branch_` says where to split, if anywhere.
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
        // Where a choice is the least one in every class, it has just been held to each quota.
        const std::size_t quotas = chosen_.least ? 0 : problem_->quotas.size();
        if (classes() + quotas > detail::column_generation::max_classes)
            return follow_subgradient();
        const trial result = generate_columns(quotas);
        multipliers_.prices.assign(multipliers_.prices.size(), 0);
        return result;
    }

    /// What the patterns carry less what is chosen, per class, and what that leaves of the quotas,
    /// in units of about a member's share.
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

    /// Branches where the patterns in the mix at the facet differ most.
    void choose_branch() {
        std::int64_t widest = 0;
        for (std::size_t which = 0; which < bounds_.parts().size(); ++which) {
            if (bounds_.parts()[which].times == 0)
                continue;
            for (std::size_t at = 0; at < classes(); ++at) {
                std::int64_t low = std::numeric_limits<std::int64_t>::max();
                std::int64_t high = 0;
                for (const auto& each : mix_) {
                    const std::int64_t count = bounds_.count((*each.selection)[which], at);
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
    // The last weighing's:
    detail::sequence<int128> costs_;
    choice chosen_;
    detail::sequence<pattern> selected_;
    detail::sequence<std::int64_t> carried_;
    int128 bound_ = 0;
    detail::sequence<typename detail::rounding_heuristic<Width>::share> rounded_;
    // Bounds of the choice in the box:
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
    /// Selections of the points in the basis, by their places.
    detail::sequence<detail::sequence<pattern>> selections_;
    detail::sequence<typename detail::rounding_heuristic<Width>::ingredient> mix_;
    /// Where the last column generation ended: the next one starts there.
    detail::multipliers guess_;
    bool has_branch_ = false;
    branch branch_;
    detail::proof_list proof_;
    detail::sequence<std::int64_t> counts_;
};

} // namespace v0_1
} // namespace muster
