// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <muster/base/checked.hpp>
#include <muster/base/sequence.hpp>
#include <muster/cluster/cluster_state.hpp>
#include <muster/index/node_query.hpp>
#include <muster/problem/fit_problem.hpp>
#include <muster/problem/members.hpp>
#include <muster/vocabulary/certificate.hpp>
#include <muster/vocabulary/subtree_status.hpp>

namespace muster {
inline namespace v0_1 {

/// Computes how many members of each class a gang needs if there is no choice: every role must
/// reach its minimum and has one class of members, and the gang as a whole needs no more than its
/// roles do. Returns false otherwise.
template<std::size_t Width>
[[nodiscard]] bool fixed_needs(const gang_members<Width>& members,
                               detail::sequence<std::int64_t>& needs) {
    const gang_tree& tree = *members.tree;
    if (!is_flat(tree))
        return false;
    needs.assign(members.classes.size(), 0);
    std::int64_t placed = 0;
    for (const std::int64_t held : members.holding)
        placed += held;
    for (std::size_t at = 0; at < members.classes.size(); ++at) {
        const std::size_t role = members.classes[at].role.value();
        if (at > 0 && members.classes[at - 1].role.value() == role)
            return false;
        needs[at] = tree[role].min_member - members.holding[role];
        needs[at] = needs[at] < 0 ? 0 : needs[at];
        placed += needs[at];
    }
    return placed >= tree[0].min_member;
}

namespace detail {

/// Creates proofs and reuses the memory of recycled ones.
class proof_pool {
public:
    /// Returns a proof with one price: the quota of the kind is exceeded, whatever the nodes could
    /// take.
    [[nodiscard]] certificate of_price(certificate_scope scope, std::size_t classes, kind_id kind) {
        certificate proof = blank_leaf(scope, classes);
        proof.vertices[0].prices.push_back({kind, 1});
        return proof;
    }
    /// Returns a proof with one weight: the nodes cannot take as many members of the class as are
    /// needed.
    [[nodiscard]] certificate of_class(certificate_scope scope, std::size_t classes,
                                       std::size_t which) {
        certificate proof = blank_leaf(scope, classes);
        proof.vertices[0].weights[which] = 1;
        return proof;
    }

    /// Returns a proof with a copy of these vertices.
    [[nodiscard]] certificate of(certificate_scope scope,
                                 std::span<const certificate::vertex> vertices) {
        certificate proof = blank(scope, vertices.size());
        std::copy(vertices.begin(), vertices.end(), proof.vertices.begin());
        return proof;
    }

    void recycle(std::optional<certificate>& proof) {
        if (proof && proof->vertices.size() == 1) {
            if (leaves_.size() < max_leaves)
                leaves_.push_back(std::move(*proof));
        } else if (proof && trees_.size() < max_trees && proof->vertices.size() <= largest_tree) {
            trees_.push_back(std::move(*proof));
        }
        proof.reset();
    }

private:
    static constexpr std::size_t max_leaves = 1024;
    static constexpr std::size_t max_trees = 64;
    static constexpr std::size_t largest_tree = 1024;

    /// Returns a proof with this many vertices, preferably in the memory of a proof of the same
    /// size, because resizing frees the memory of the vertices that it removes.
    [[nodiscard]] certificate blank(certificate_scope scope, std::size_t vertices) {
        certificate proof;
        auto& spare = vertices == 1 ? leaves_ : trees_;
        if (!spare.empty()) {
            const auto same =
                std::find_if(spare.rbegin(), spare.rend(), [&](const certificate& recycled) {
                    return recycled.vertices.size() == vertices;
                });
            if (same != spare.rend() && same != spare.rbegin())
                std::swap(*same, spare.back());
            proof = std::move(spare.back());
            spare.pop_back();
        }
        proof.scope = scope;
        proof.caps.clear();
        proof.vertices.resize(vertices);
        return proof;
    }
    [[nodiscard]] certificate blank_leaf(certificate_scope scope, std::size_t classes) {
        certificate proof = blank(scope, 1);
        certificate::vertex& leaf = proof.vertices[0];
        leaf.leaf = true;
        leaf.weights.assign(classes, 0);
        leaf.prices.clear();
        return proof;
    }

    /// Recycled proofs: those of one leaf, and others.
    std::vector<certificate> leaves_;
    std::vector<certificate> trees_;
};

} // namespace detail

/// Returns a kind of which `asked(kind)` exceeds what the quotas of the queue and of its ancestors
/// leave, if there is one. O(depth × width), and `asked` for each limited kind.
template<class Traits, class Asked>
[[nodiscard]] std::optional<kind_id> over_quota(const cluster_state<Traits>& cluster,
                                                std::optional<queue_charge> queue,
                                                certificate_scope scope, const Asked& asked) {
    if (!queue)
        return std::nullopt;
    const auto left = cluster.accounts().headroom(*queue, counted_in(scope));
    for (std::size_t column = 0; left.any() && column < Traits::width; ++column) {
        const kind_id kind{column};
        if (!left.limited(kind))
            continue;
        const int128 amount = asked(kind);
        if (amount > 0 && amount > *left[kind])
            return kind;
    }
    return std::nullopt;
}
/// The same for what the members need. O((classes + depth) × width).
template<class Traits>
[[nodiscard]] std::optional<kind_id>
over_quota(const cluster_state<Traits>& cluster, const gang_members<Traits::width>& members,
           const detail::sequence<std::int64_t>& needs, certificate_scope scope) {
    return over_quota(cluster, members.queue, scope, [&](kind_id kind) {
        int128 asked = 0;
        for (std::size_t at = 0; at < needs.size(); ++at)
            asked += static_cast<int128>(needs[at]) * members.classes[at].request[kind];
        return asked;
    });
}

/// The result of checking the empty cluster node by node for a gang whose needs are fixed.
enum class empty_cluster_outcome : std::uint8_t {
    fits,
    /// A class alone has too little room.
    impossible,
    /// Only the search can decide.
    open,
};

/// Looks for room in the cluster with all pods gone, for each class on nodes that no other class
/// uses, and stops as soon as there is enough. `short_of` is the class that alone has too little
/// room. O(nodes) for a class at worst, usually only as many nodes as its members need.
template<class Traits>
class empty_cluster_check {
public:
    [[nodiscard]] empty_cluster_outcome look(const cluster_state<Traits>& cluster,
                                             const gang_members<Traits::width>& members,
                                             const detail::sequence<std::int64_t>& needs,
                                             std::size_t& short_of) {
        given_.resize(cluster.accounts().nodes(), 0);
        ++round_;
        empty_cluster_outcome outcome = empty_cluster_outcome::fits;
        bool any_given = false;
        for (std::size_t at = 0; at < needs.size(); ++at) {
            if (needs[at] == 0)
                continue;
            auto query = detail::query_for(cluster, members.classes[at].shape, members.queue_nodes);
            query.filters = filters_in_force({}, certificate_scope::empty_cluster);
            const auto& claims = *members.classes[at].claims;
            const std::int64_t most =
                max_beside_itself(claims, std::numeric_limits<std::int64_t>::max());
            std::int64_t apart = 0;
            std::int64_t alone = 0;
            for (const node_index node : cluster.node_order()) {
                if (apart >= needs[at])
                    break;
                if (!eligible(query, node))
                    continue;
                const std::int64_t here =
                    fit_count(*query.request, cluster.accounts().allocatable(node),
                              std::min(most, needs[at]));
                if (here == 0)
                    continue;
                alone += here;
                if (any_given && given_[node.value()] == round_)
                    continue;
                apart += here;
                given_[node.value()] = round_;
            }
            any_given = true;
            if (alone < needs[at]) {
                short_of = at;
                return empty_cluster_outcome::impossible;
            }
            if (apart < needs[at])
                outcome = empty_cluster_outcome::open;
        }
        return outcome;
    }

private:
    /// Per node: the last round in which it was given to a class. There is one round per call.
    detail::sequence<std::uint64_t> given_;
    std::uint64_t round_ = 0;
};

} // namespace v0_1
} // namespace muster
