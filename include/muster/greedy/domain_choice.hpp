// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <muster/base/checked.hpp>
#include <muster/base/ranges.hpp>
#include <muster/base/sequence.hpp>
#include <muster/cluster/cluster_state.hpp>
#include <muster/exact/subgroup.hpp>
#include <muster/index/domain_sums.hpp>
#include <muster/index/node_finder.hpp>
#include <muster/index/weights.hpp>
#include <muster/plan/plan.hpp>
#include <muster/policy/domain_order_concept.hpp>
#include <muster/problem/members.hpp>
#include <muster/problem/topology_requirement.hpp>

namespace muster {
inline namespace v0_1 {
namespace detail {

/// Domains in the order of their labels' values.
struct listed_domains {
    [[nodiscard]] constexpr bool operator()(const domain_rank&, const domain_rank&) const noexcept {
        return false;
    }
};

/// The domain of the members of a vertex that must share one.
struct chosen_domain {
    enum class form : std::uint8_t {
        /// No member below the vertex has a node, so nothing is decided.
        open,
        /// No member is to be placed below it.
        nowhere,
        domain,
        /// What it preferred could not be had, and nothing is required.
        anywhere,
    };
    form shape = form::open;
    std::size_t level = 0;
    domain_index domain;
};

/// The domains chosen for one gang's vertices, as its members are placed. Numbers of vertices that
/// must share a domain are places in `gang_members::topology`.
template<class Traits>
class domain_choices {
    static constexpr std::size_t width = Traits::width;
    using form = chosen_domain::form;

public:
    static constexpr std::size_t none = ~std::size_t{0};

    void begin(const cluster_state<Traits>& cluster, const gang_members<width>& members) {
        cluster_ = &cluster;
        members_ = &members;
        chosen_.assign(members.topology.size(), {});
    }

    [[nodiscard]] bool any() const noexcept { return !chosen_.empty(); }
    void choose(std::size_t at, const chosen_domain& way) noexcept { chosen_[at] = way; }

    /// The first vertex above this one, or itself, for which nothing is decided.
    [[nodiscard]] std::size_t first_open(std::size_t vertex) const {
        for (std::size_t at = 0; at < chosen_.size(); ++at)
            if (chosen_[at].shape == form::open && concerns(at, vertex))
                return at;
        return none;
    }

    /// What is decided for the vertex, by those above it and itself; `into` is overwritten. False
    /// if no member may be placed there.
    [[nodiscard]] bool confine(std::size_t vertex, std::vector<vertex_domain>& into) const {
        into.clear();
        for (std::size_t at = 0; at < chosen_.size(); ++at) {
            if (!concerns(at, vertex))
                continue;
            if (chosen_[at].shape == form::nowhere)
                return false;
            if (chosen_[at].shape == form::domain)
                into.push_back({members_->topology[at].vertex, members_->topology[at].within,
                                chosen_[at].domain});
        }
        return true;
    }

    /// Everything that may be chosen for one of them, the best first: domains of the preferred
    /// level, then of each coarser one down to the required level or to none. Domains with less
    /// free than `least` of some kind are left out, as nothing that is asked can fit them.
    void list(std::size_t at, const domain_sum<width>& least, node_finder<Traits>& finder,
              const any_domain_order& order, sequence<chosen_domain>& into) {
        into.clear();
        const topology_requirement& of = members_->topology[at];
        static_cast<void>(confine(members_->topology[at].vertex, among_));
        const std::size_t last = of.required.value_or(0);
        const std::size_t finest = std::max(last, of.preferred.value_or(last));
        for (std::size_t level = finest + 1; level-- > last;) {
            const bool must = of.required && level == last;
            listed_.clear();
            list_candidate_domains(*cluster_, *members_->tree, of, level, true, among_, ways_);
            for (const auto& way : ways_) {
                if (way)
                    offer(of.within, *way, least, finder);
                else if (must)
                    into.push_back({form::nowhere, level, {}});
            }
            detail::sort_short(listed_, [&](const entry& lhs, const entry& rhs) {
                if (order(lhs.rank, rhs.rank) || order(rhs.rank, lhs.rank))
                    return order(lhs.rank, rhs.rank);
                return lhs.place < rhs.place;
            });
            for (const entry& each : listed_)
                into.push_back({form::domain, level, each.domain});
        }
        if (!of.required)
            into.push_back({form::anywhere, 0, {}});
    }

    /// Decides the open vertices by the placements: the finest preferred level on which all running
    /// and placed members of the vertex share a domain. `placed` are members of the gang alone.
    void settle(std::span<const placement> placed) {
        for (std::size_t at = 0; at < chosen_.size(); ++at) {
            if (chosen_[at].shape != form::open)
                continue;
            topology_requirement of = members_->topology[at];
            for (const placement& one : placed)
                if (concerns(at, (*cluster_)[one.pod].role.value()))
                    of.hold(*cluster_, one.node);
            if (!of.held)
                continue;
            const std::size_t last = of.required.value_or(0);
            const std::size_t finest = std::max(last, of.preferred.value_or(last));
            if (of.shared > last)
                choose_at(at, of, std::min(finest, of.shared - 1));
            else
                chosen_[at].shape = of.required ? form::nowhere : form::anywhere;
        }
    }

    /// Copies what is decided, and what is open yet, to the subgroup at `vertex`: what is required
    /// of it and above it.
    void restrict_to(std::size_t vertex, subgroup<width>& part,
                     std::vector<vertex_domain>& among) const {
        for (std::size_t at = 0; at < chosen_.size(); ++at) {
            topology_requirement of = members_->topology[at];
            if (!concerns(at, vertex) && part.places[of.vertex] == subgroup<width>::outside)
                continue;
            of.vertex = concerns(at, vertex) ? 0 : part.places[of.vertex];
            if (chosen_[at].shape == form::open)
                part.members.topology.push_back(of);
            else if (chosen_[at].shape != form::anywhere)
                among.push_back({of.vertex, of.within,
                                 chosen_[at].shape == form::domain
                                     ? std::optional(chosen_[at].domain)
                                     : std::nullopt});
        }
    }

    /// Gives up what was only preferred; false when there is nothing of that.
    [[nodiscard]] bool widen() {
        bool any = false;
        for (std::size_t at = 0; at < chosen_.size(); ++at) {
            const topology_requirement& of = members_->topology[at];
            if (chosen_[at].shape != form::domain ||
                (of.required && chosen_[at].level <= *of.required))
                continue;
            any = true;
            if (!of.required) {
                chosen_[at].shape = form::anywhere;
                continue;
            }
            const topology_domains& domains = cluster_->topologies()[of.within];
            chosen_[at].level = *of.required;
            chosen_[at].domain =
                *domains.find(domains[chosen_[at].domain].nodes.front(), *of.required);
        }
        return any;
    }

private:
    struct entry {
        domain_rank rank;
        std::size_t place = 0;
        domain_index domain;
    };

    /// The vertex is at or below the one that must share a domain.
    [[nodiscard]] bool concerns(std::size_t at, std::size_t vertex) const {
        return is_below(*members_->tree, vertex, members_->topology[at].vertex);
    }

    void choose_at(std::size_t at, const topology_requirement& of, std::size_t level) {
        chosen_[at] = {form::domain, level,
                       *cluster_->topologies()[of.within].find(of.witness, level)};
    }

    void offer(topology_index within, domain_index domain, const domain_sum<width>& least,
               node_finder<Traits>& finder) {
        const domain_sum<width>& sum = finder.free_in(*cluster_, within, domain);
        for (std::size_t column = 0; column < width; ++column)
            if (least.free[column] > 0 && least.free[column] > sum.free[column])
                return;
        entry made;
        made.rank.nodes = cluster_->topologies()[within][domain].nodes.size();
        for (std::size_t column = 0; column < width; ++column)
            made.rank.free += sum.free[column] * finder.weights().per_unit[column];
        made.place = listed_.size();
        made.domain = domain;
        listed_.push_back(made);
    }

    const cluster_state<Traits>* cluster_ = nullptr;
    const gang_members<width>* members_ = nullptr;
    sequence<chosen_domain> chosen_;
    std::vector<vertex_domain> among_;
    sequence<std::optional<domain_index>> ways_;
    sequence<entry> listed_;
};

/// The least that the vertex takes until it meets its minima, kind by kind: a bound from below,
/// where `counts` hold per leaf and `used` of each class are placed; `scratch` is as it was after.
/// O(vertices · (children + classes · width)).
template<std::size_t Width>
[[nodiscard]] domain_sum<Width> least_demand(const gang_members<Width>& members, std::size_t vertex,
                                             const detail::sequence<std::int64_t>& counts,
                                             const detail::sequence<std::size_t>& used,
                                             sequence<domain_sum<Width>>& scratch) {
    const gang_tree& tree = *members.tree;
    std::int64_t missing = tree[vertex].min_member;
    for (std::size_t at = vertex; at < tree.size(); ++at)
        if (is_below(tree, at, vertex))
            missing -= counts[at];
    domain_sum<Width> least;
    if (missing > 0)
        for (std::size_t column = 0; column < Width; ++column) {
            std::optional<std::int64_t> smallest;
            for (std::size_t at = 0; at < members.classes.size(); ++at)
                if (used[at] < members.classes[at].count &&
                    is_below(tree, members.classes[at].role.value(), vertex))
                    smallest = std::min(smallest.value_or(members.classes[at].request[column]),
                                        members.classes[at].request[column]);
            least.free[column] = static_cast<int128>(missing) * smallest.value_or(0);
        }
    if (tree.is_leaf(vertex))
        return least;
    const auto all = static_cast<std::int64_t>(tree[vertex].children);
    const auto needed = static_cast<std::size_t>(tree[vertex].min_subgroups.value_or(all));
    const std::size_t first = scratch.size();
    domain_sum<Width> together;
    for (std::size_t child = vertex + 1; child < tree.size(); ++child) {
        if (tree[child].parent != vertex)
            continue;
        const domain_sum<Width> part = least_demand(members, child, counts, used, scratch);
        if (needed < tree[vertex].children)
            scratch.push_back(part);
        else
            for (std::size_t column = 0; column < Width; ++column)
                together.free[column] += part.free[column];
    }
    for (std::size_t column = 0; column < Width; ++column) {
        int128 sum = together.free[column];
        sort_short(std::span(scratch).subspan(first), [&](const auto& lhs, const auto& rhs) {
            return lhs.free[column] < rhs.free[column];
        });
        for (std::size_t at = first; at < std::min(first + needed, scratch.size()); ++at)
            sum += scratch[at].free[column];
        least.free[column] = std::max(least.free[column], sum);
    }
    scratch.resize(first);
    return least;
}

} // namespace detail
} // namespace v0_1
} // namespace muster
