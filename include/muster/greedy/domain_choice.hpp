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

/// The domain order that compares all domains as equal: ties are then broken by their labels'
/// values.
struct listed_domains {
    [[nodiscard]] constexpr bool operator()(const domain_rank&, const domain_rank&) const noexcept {
        return false;
    }
};

/// The choice of a domain for a vertex whose members must share one.
struct chosen_domain {
    enum class form : std::uint8_t {
        /// Nothing is decided: no member below the vertex has a node.
        open,
        /// No member may be placed below the vertex.
        nowhere,
        domain,
        /// No preferred domain was possible, and no level is required.
        anywhere,
    };
    form shape = form::open;
    std::size_t level = 0;
    domain_index domain;
};

/// The domains chosen for the vertices of one gang while its members are placed. A vertex with a
/// topology constraint is numbered by its place in `gang_members::topology`.
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

    /// Returns the first undecided topology constraint that applies to the vertex (it is at the
    /// vertex or above it).
    [[nodiscard]] std::size_t first_open(std::size_t vertex) const {
        for (std::size_t at = 0; at < chosen_.size(); ++at)
            if (chosen_[at].shape == form::open && concerns(at, vertex))
                return at;
        return none;
    }

    /// Writes the domains to which the vertex is confined, by itself and by its ancestors, over
    /// `into`. Returns false if no member may be placed there.
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

    /// Lists all choices for a constraint, the best first: the domains of the preferred level, then
    /// those of each coarser level down to the required one, or `anywhere` if none is required.
    /// Omits domains with less free than `least` of some kind, because the members that must be
    /// placed cannot fit them.
    void list(std::size_t at, const domain_sum<width>& least, node_finder<Traits>& finder,
              const any_domain_order& order, sequence<chosen_domain>& into) {
        into.clear();
        const topology_requirement& requirement = members_->topology[at];
        static_cast<void>(confine(members_->topology[at].vertex, among_));
        const std::size_t last = requirement.required.value_or(0);
        const std::size_t finest = std::max(last, requirement.preferred.value_or(last));
        for (std::size_t level = finest + 1; level-- > last;) {
            const bool must = requirement.required && level == last;
            listed_.clear();
            list_candidate_domains(*cluster_, *members_->tree, requirement, level, true, among_,
                                   ways_);
            for (const auto& way : ways_) {
                if (way)
                    offer(requirement.within, *way, least, finder);
                else if (must)
                    into.push_back({form::nowhere, level, {}});
            }
            detail::sort_short(listed_, [&](const entry& lhs, const entry& rhs) {
                if (order(lhs.rank, rhs.rank) || order(rhs.rank, lhs.rank))
                    return order(lhs.rank, rhs.rank);
                return lhs.place < rhs.place;
            });
            for (const entry& candidate : listed_)
                into.push_back({form::domain, level, candidate.domain});
        }
        if (!requirement.required)
            into.push_back({form::anywhere, 0, {}});
    }

    /// Decides the open constraints by the placements: chooses the domain of the finest preferred
    /// level that all members of the vertex with a node share. `placed` must be placements of this
    /// gang only.
    void settle(std::span<const placement> placed) {
        for (std::size_t at = 0; at < chosen_.size(); ++at) {
            if (chosen_[at].shape != form::open)
                continue;
            topology_requirement requirement = members_->topology[at];
            for (const placement& placed_member : placed)
                if (concerns(at, (*cluster_)[placed_member.pod].role.value()))
                    requirement.hold(*cluster_, placed_member.node);
            if (!requirement.held)
                continue;
            const std::size_t last = requirement.required.value_or(0);
            const std::size_t finest = std::max(last, requirement.preferred.value_or(last));
            if (requirement.shared > last)
                choose_at(at, requirement, std::min(finest, requirement.shared - 1));
            else
                chosen_[at].shape = requirement.required ? form::nowhere : form::anywhere;
        }
    }

    /// Copies the constraints that apply to the subgroup at `vertex`, which are those of its
    /// ancestors (as constraints of its root) and those inside it: open ones to `part`, decided
    /// ones to `among`.
    void restrict_to(std::size_t vertex, subgroup<width>& part,
                     std::vector<vertex_domain>& among) const {
        for (std::size_t at = 0; at < chosen_.size(); ++at) {
            topology_requirement requirement = members_->topology[at];
            if (!concerns(at, vertex) &&
                part.places[requirement.vertex] == subgroup<width>::outside)
                continue;
            requirement.vertex = concerns(at, vertex) ? 0 : part.places[requirement.vertex];
            if (chosen_[at].shape == form::open)
                part.members.topology.push_back(requirement);
            else if (chosen_[at].shape != form::anywhere)
                among.push_back({requirement.vertex, requirement.within,
                                 chosen_[at].shape == form::domain
                                     ? std::optional(chosen_[at].domain)
                                     : std::nullopt});
        }
    }

    /// Gives up choices that are only preferred. Returns false if there are none.
    [[nodiscard]] bool widen() {
        bool any = false;
        for (std::size_t at = 0; at < chosen_.size(); ++at) {
            const topology_requirement& requirement = members_->topology[at];
            if (chosen_[at].shape != form::domain ||
                (requirement.required && chosen_[at].level <= *requirement.required))
                continue;
            any = true;
            if (!requirement.required) {
                chosen_[at].shape = form::anywhere;
                continue;
            }
            const topology_domains& domains = cluster_->topologies()[requirement.within];
            chosen_[at].level = *requirement.required;
            chosen_[at].domain =
                *domains.find(domains[chosen_[at].domain].nodes.front(), *requirement.required);
        }
        return any;
    }

private:
    struct entry {
        domain_rank rank;
        std::size_t place = 0;
        domain_index domain;
    };

    /// Returns true if the constraint applies to the vertex, which is then at or below the
    /// constraint's vertex.
    [[nodiscard]] bool concerns(std::size_t at, std::size_t vertex) const {
        return is_below(*members_->tree, vertex, members_->topology[at].vertex);
    }

    void choose_at(std::size_t at, const topology_requirement& requirement, std::size_t level) {
        chosen_[at] = {
            form::domain, level,
            *cluster_->topologies()[requirement.within].find(requirement.witness, level)};
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

/// Returns a lower bound, kind by kind, on what the vertex needs until it meets its minima.
/// `counts` are the members per leaf that hold a node, `used` the placed members of each class.
/// `scratch` is left as it was. O(vertices · (children + classes · width)).
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
