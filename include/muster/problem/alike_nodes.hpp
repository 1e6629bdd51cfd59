// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include <muster/base/id.hpp>
#include <muster/base/ranges.hpp>
#include <muster/base/sequence.hpp>
#include <muster/cluster/cluster_state.hpp>
#include <muster/problem/fit_problem.hpp>
#include <muster/problem/members.hpp>
#include <muster/resource/resources.hpp>
#include <muster/vocabulary/certificate.hpp>

namespace muster {
inline namespace v0_1 {
namespace detail {

/// Groups nodes that are equal for a gang: its fit problem has the same row for each of them, with
/// any constraints in force. The nodes of a group fail the same filters for its members, admit the
/// same claims, have the same devices with the same demands held on them if a member demands
/// devices, are in the same domains of its required levels, and have the same free amounts of the
/// kinds that its members request, rounded down to steps of these requests and limited to their
/// sum.
template<class Traits>
class alike_nodes {
    static constexpr std::size_t width = Traits::width;

public:
    /// Expected O(nodes × (classes + requested kinds + required levels)).
    alike_nodes(const cluster_state<Traits>& cluster, const gang_members<width>& members,
                certificate_scope scope)
        : cluster_(&cluster), members_(&members), now_(scope == certificate_scope::free_now) {
        list_kinds();
        if (now_)
            rank_devices();
        const auto& nodes = cluster.node_order();
        std::size_t slots = 64;
        while (slots < 2 * nodes.size())
            slots *= 2;
        table_.assign(slots, none);
        for (const node_index node : nodes) {
            write_key(node);
            add(node);
        }
    }

    /// The first node of each group, in the order of node keys.
    [[nodiscard]] std::span<const node_index> first() const noexcept { return first_; }
    /// The number of nodes in each group.
    [[nodiscard]] const detail::sequence<std::int64_t>& sizes() const noexcept { return sizes_; }

private:
    struct requested_kind {
        std::size_t column = 0;
        /// The greatest common divisor of the requests. Free amounts only matter in multiples of
        /// it.
        std::int64_t unit = 0;
        /// The sum of the requests of all waiting members.
        std::int64_t sum = 0;
    };

    void list_kinds() {
        for (std::size_t column = 0; column < width; ++column) {
            requested_kind made{column, 0, 0};
            int128 sum = 0;
            for (const auto& member_shape : members_->classes) {
                const std::int64_t ask = member_shape.request[column];
                sum += static_cast<int128>(ask) * member_shape.waiting();
                made.unit = std::gcd(made.unit, ask);
            }
            made.sum = saturate(sum);
            if (made.unit > 0)
                kinds_.push_back(made);
        }
    }

    /// Ranks the nodes by their devices and the demands held on them; nodes that are equal in both
    /// have equal ranks. O(n log n) comparisons for n nodes if a member demands devices, otherwise
    /// O(classes).
    void rank_devices() {
        if (none_of(members_->classes, [](const auto& waiting_class) {
                return waiting_class.claims->devices != device_demand::none;
            }))
            return;
        const auto& accounts = cluster_->accounts();
        const auto order = [&](node_index lhs, node_index rhs) {
            return accounts.devices(lhs) != accounts.devices(rhs)
                       ? accounts.devices(lhs) < accounts.devices(rhs)
                       : accounts.claims(lhs).devices() < accounts.claims(rhs).devices();
        };
        std::vector<node_index> nodes = cluster_->node_order();
        std::sort(nodes.begin(), nodes.end(), order);
        device_ranks_.resize(accounts.nodes(), 0);
        std::int64_t rank = 0;
        for (std::size_t at = 0; at < nodes.size(); ++at) {
            rank += at > 0 && order(nodes[at - 1], nodes[at]) ? 1 : 0;
            device_ranks_[nodes[at].value()] = rank;
        }
    }

    void write_key(node_index node) {
        const auto& accounts = cluster_->accounts();
        const auto& free = now_ ? accounts.free(node) : accounts.allocatable(node);
        key_.clear();
        for (const requested_kind& kind : kinds_) {
            const std::int64_t amount = std::clamp<std::int64_t>(free[kind.column], 0, kind.sum);
            key_.push_back(amount / kind.unit);
        }
        for (const auto& waiting_class : members_->classes) {
            std::int64_t bits =
                cluster_->constraint_sets()[waiting_class.where].failed_filters[node.value()];
            if (now_ && !accounts.admits(node, *waiting_class.claims))
                bits |= std::int64_t{1} << 16;
            key_.push_back(bits);
        }
        if (!device_ranks_.empty())
            key_.push_back(device_ranks_[node.value()]);
        if (members_->queue_nodes)
            key_.push_back(
                cluster_->constraint_sets()[*members_->queue_nodes].failed_filters[node.value()]);
        for (const topology_requirement& requirement : members_->topology)
            if (requirement.required) {
                const auto domain =
                    cluster_->topologies()[requirement.within].find(node, *requirement.required);
                key_.push_back(domain ? static_cast<std::int64_t>(domain->value()) : -1);
            }
    }

    void add(node_index node) {
        std::uint64_t hash = 0;
        for (const std::int64_t part : key_) {
            hash = (hash ^ static_cast<std::uint64_t>(part)) * 0x9E37'79B9'7F4A'7C15U;
            hash ^= hash >> 29U;
        }
        const std::size_t mask = table_.size() - 1;
        for (std::size_t slot = hash & mask;; slot = (slot + 1) & mask) {
            const std::uint32_t group = table_[slot];
            if (group == none) {
                table_[slot] = static_cast<std::uint32_t>(first_.size());
                first_.push_back(node);
                sizes_.push_back(1);
                keys_.insert(keys_.end(), key_.begin(), key_.end());
                return;
            }
            if (std::equal(key_.begin(), key_.end(),
                           keys_.begin() + static_cast<std::ptrdiff_t>(group * key_.size()))) {
                ++sizes_[group];
                return;
            }
        }
    }

    static constexpr std::uint32_t none = ~std::uint32_t{0};

    const cluster_state<Traits>* cluster_;
    const gang_members<width>* members_;
    bool now_;
    detail::sequence<requested_kind> kinds_;
    /// Per node; empty if no member demands devices.
    detail::sequence<std::int64_t> device_ranks_;
    detail::sequence<std::int64_t> key_;
    /// The keys of all groups, one after the other.
    detail::sequence<std::int64_t> keys_;
    detail::sequence<std::uint32_t> table_;
    std::vector<node_index> first_;
    detail::sequence<std::int64_t> sizes_;
};

/// A gang's fit problem with one row for each group of equal nodes.
template<std::size_t Width>
struct grouped_problem {
    fit_problem<Width> of;
    /// Per row, the number of nodes.
    detail::sequence<std::int64_t> times;

    /// Writes the problem. If `nodes` is null, each node is a group of its own.
    template<class Traits>
    void pose(const cluster_state<Traits>& cluster, const gang_members<Width>& members,
              certificate_scope scope, const constraints_in_force& force,
              std::span<const vertex_domain> among, const alike_nodes<Traits>* nodes) {
        if (!nodes) {
            muster::pose(cluster, members, scope, force, among, of);
            times.assign(of.rows.size(), 1);
            return;
        }
        pose_on(cluster, members, scope, force, among, nodes->first(), of);
        times.clear();
        std::size_t at = 0;
        for (const auto& row : of.rows) {
            while (nodes->first()[at] != row.node)
                ++at;
            times.push_back(nodes->sizes()[at]);
        }
    }
};

/// Places as many waiting members as it can: those of the minima first, each class on the first
/// nodes that can take it. Returns true if the gang then reaches its minima, so it fits. False
/// proves nothing. Precondition: no two classes exclude each other on a node, and none demands
/// devices. O(classes × (groups + classes)).
template<std::size_t Width>
[[nodiscard]] bool fits_greedily(const grouped_problem<Width>& problem) {
    struct stock {
        std::size_t row;
        resources<Width> free;
        std::int64_t nodes;
    };
    const auto& posed = problem.of;
    const gang_tree& tree = *posed.tree;
    const std::size_t classes = posed.members.size();
    detail::sequence<stock> left;
    detail::sequence<std::pair<int128, std::size_t>> order(classes);
    for (std::size_t at = 0; at < classes; ++at)
        order[at].second = at;
    for (std::size_t row = 0; row < posed.rows.size(); ++row) {
        left.push_back({row, posed.rows[row].free, problem.times[row]});
        for (std::size_t at = 0; at < classes; ++at)
            order[at].first += static_cast<int128>(posed.most_of(row)[at]) * problem.times[row];
    }
    // The classes with the least room come first.
    detail::sort_short(order);
    detail::sequence<std::int64_t> quotas;
    for (const auto& allowance : posed.quotas)
        quotas.push_back(allowance.left);
    detail::sequence<std::int64_t> counts = posed.holding;
    detail::sequence<std::int64_t> waiting;
    for (const auto& member : posed.members)
        waiting.push_back(member.waiting);

    const auto place = [&](std::size_t which, std::int64_t want) {
        const auto& member = posed.members[which];
        for (std::size_t at = 0; at < quotas.size(); ++at)
            if (const std::int64_t charge = member.charge[posed.quotas[at].kind]; charge > 0)
                want = std::min(want, std::max<std::int64_t>(0, quotas[at]) / charge);
        std::int64_t placed = 0;
        const auto take = [&](std::size_t at, std::int64_t per_node, std::int64_t nodes) {
            stock rest = left[at];
            for (std::size_t column = 0; column < Width; ++column)
                rest.free[column] -= member.request[column] * per_node;
            rest.nodes = nodes;
            left[at].nodes -= nodes;
            left.push_back(rest);
            placed += per_node * nodes;
        };
        for (std::size_t at = 0, end = left.size(); at < end && placed < want; ++at) {
            if (posed.most_of(left[at].row)[which] == 0 || left[at].nodes == 0)
                continue;
            const std::int64_t per_node = fit_count(member.request, left[at].free, want - placed);
            if (per_node == 0)
                continue;
            if (const std::int64_t full = std::min(left[at].nodes, (want - placed) / per_node);
                full > 0)
                take(at, per_node, full);
            if (placed < want && left[at].nodes > 0)
                take(at, want - placed, 1);
        }
        for (std::size_t at = 0; at < quotas.size(); ++at)
            quotas[at] -= member.charge[posed.quotas[at].kind] * placed;
        waiting[which] -= placed;
        counts[member.role] += placed;
    };
    for (const auto& [room, which] : order) {
        const std::size_t role = posed.members[which].role;
        place(which,
              std::clamp<std::int64_t>(tree[role].min_member - counts[role], 0, waiting[which]));
    }
    for (const auto& [room, which] : order)
        place(which, waiting[which]);
    return reaches_minima(tree, counts);
}

} // namespace detail
} // namespace v0_1
} // namespace muster
