// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <muster/base/checked.hpp>
#include <muster/base/id.hpp>
#include <muster/base/sequence.hpp>
#include <muster/exact/choice.hpp>
#include <muster/problem/members.hpp>
#include <muster/vocabulary/gang.hpp>

namespace muster {
inline namespace v0_1 {
namespace detail {

/// Sums `counts`, which is per leaf, up the tree. Returns the members at or below each vertex.
/// O(vertices).
[[nodiscard]] inline detail::sequence<std::int64_t>
members_below(const gang_tree& tree, detail::sequence<std::int64_t> counts) {
    for (std::size_t vertex = tree.size(); vertex-- > 1;)
        counts[tree[vertex].parent] += counts[vertex];
    return counts;
}

/// Counts how many more members a vertex of a gang's tree needs to meet its minima.
class missing_members {
public:
    template<std::size_t Width>
    missing_members(const gang_members<Width>& members, std::size_t vertex)
        : part_((*members.tree)[vertex].min_member) {
        const gang_tree& tree = *members.tree;
        std::vector<std::optional<vertex_index>> copies(tree.size());
        const auto copy = [&](std::size_t from, vertex_index to) {
            copies[from] = to;
            if (const auto& least = tree[from].min_subgroups)
                part_.require_subgroups(to, *least);
            holding_.push_back(members.holding[from]);
        };
        copy(vertex, vertex_index{0});
        for (std::size_t at = vertex + 1; at < tree.size(); ++at)
            if (const auto parent = copies[tree[at].parent])
                copy(at, part_.add(*parent, tree[at].min_member));
        for (const auto& waiting_class : members.classes)
            if (const auto role = copies[waiting_class.role.value()])
                add(role->value(), waiting_class.waiting());
    }

    /// Returns the smallest number of waiting members that meets the minima. If the waiting members
    /// are too few, counts as if each role had any number of them.
    [[nodiscard]] std::int64_t count() {
        if (const auto waiting = cheapest())
            return *waiting;
        roles_.clear();
        waiting_.clear();
        std::int64_t all = 0;
        for (std::size_t at = 0; at < part_.size(); ++at)
            all = saturating_add(all, part_[at].min_member);
        for (std::size_t at = 0; at < part_.size(); ++at)
            if (part_.is_leaf(at))
                add(at, all);
        return cheapest().value_or(part_[std::size_t{0}].min_member);
    }

private:
    void add(std::size_t role, std::int64_t waiting) {
        roles_.push_back(role);
        waiting_.push_back(waiting);
    }
    [[nodiscard]] std::optional<std::int64_t> cheapest() const {
        const choice_finder choices(part_, holding_, roles_);
        const auto found =
            choices.cheapest(detail::sequence<int128>(roles_.size(), 1),
                             detail::sequence<std::int64_t>(roles_.size(), 0), waiting_);
        return found ? std::optional(saturate(found->cost)) : std::nullopt;
    }

    /// A copy of the subtree at the vertex.
    gang_tree part_;
    detail::sequence<std::int64_t> holding_;
    /// Per class: its leaf, and the number of its waiting members.
    detail::sequence<std::size_t> roles_;
    detail::sequence<std::int64_t> waiting_;
};

} // namespace detail
} // namespace v0_1
} // namespace muster
