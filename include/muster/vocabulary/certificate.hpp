// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <muster/base/id.hpp>

namespace muster {
inline namespace v0_1 {

/// The cluster that a certificate is about.
enum class certificate_scope : std::uint8_t {
    /// What is free now, cordons and condition taints in force, quotas less their use.
    free_now,
    /// Every pod gone, cordons and `node.kubernetes.io/*` taints lifted, quotas whole. Members that
    /// hold already still count, and take no room; so do members that no node can take at present
    /// (`constraints::held`), whatever they wait for.
    empty_cluster,
};

/// A proof that a gang does not fit, for separate code to check. Classes of members are numbered as
/// `members_of` gives them: by role, then by their oldest pod.
///
/// It is a tree. An inner vertex splits on how many members of one class are on one node: at most
/// k in the one branch, at least k + 1 in the other. Or it splits on the domain of the members at
/// or below one vertex of the gang's tree that must share one, with a branch for each of
/// `candidate_domains` on the required level: there they are allowed on the nodes of that domain
/// only, h = 0 elsewhere. Under the limits l ≤ x ≤ h that the branches above it set, a leaf with
/// weights w ≥ 0 per class and prices p ≥ 0 per quota-listed kind holds when D > B + p·max(quota
/// left, 0), where
///  - B is the sum over the nodes of the largest Σ w·x among the patterns x that the node can take
///    (requests and claims beside what it holds, eligibility, `caps`, l ≤ x ≤ h, and no more of a
///    class than wait); when some node has no such pattern the leaf holds at once;
///  - D is the least Σ (w + p·q)·m over the choices m of waiting members that, with those holding,
///    meet every minimum of the tree, where m of a class is at least the sum of its l over the
///    nodes, and at most both the members waiting and what the nodes can take one by one under h;
///    when there is no such choice the leaf holds at once.
/// Every placement has patterns x and a choice m with m = Σ x, so D ≤ Σ w·x + p·Σ q·m ≤ B + p·left
/// would follow if the gang fitted.
struct certificate {
    /// What required terms between pods come to on every node by itself, however the members are
    /// placed. Terms that a proof does not name do not count in it.
    struct cap {
        enum class rule : std::uint8_t {
            /// None of the class where a label is absent that its affinity or spread goes by; nor,
            /// of `free_now`, where a pod that its anti-affinity selects is in the domain, or a pod
            /// whose own anti-affinity selects the whole class.
            kept_off,
            /// Term `term` of the class's anti-affinity selects all of the class `other`: where the
            /// term's label is, no two of theirs are on one node.
            apart,
            /// Term `term` of the class's spread, which is required and selects the whole class: on
            /// each node that counts there come to be no more than max_skew + `fewest`, less the
            /// pods in its domain that are not terminating. `fewest` is no less than what the
            /// emptiest domain can come to have: 0 where there are fewer domains than min_domains;
            /// else what a domain has and its nodes, one class at a time, can take of those that
            /// the term selects, or an even share of all pods, waiting ones included. Of
            /// `empty_cluster`, where others may come, only the first, and where taints are not
            /// honored.
            spread,
        };
        rule by = rule::kept_off;
        std::size_t member_class = 0;
        std::size_t other = 0;
        std::size_t term = 0;
        std::int64_t fewest = 0;

        [[nodiscard]] friend bool operator==(const cap&, const cap&) = default;
    };
    struct price {
        kind_id kind;
        std::int64_t value = 0;
    };
    struct vertex {
        bool leaf = true;
        // Leaf.
        std::vector<std::int64_t> weights;
        std::vector<price> prices;
        // Inner vertex that branches on a number. Its branches follow, the low one first, each with
        // its subtree.
        std::size_t member_class = 0;
        node_index node;
        std::int64_t at_most = 0;
        // Inner vertex that branches on domains: the vertex of the gang's tree. Its branches follow
        // in the order of `candidate_domains`.
        std::optional<vertex_index> together;
    };

    certificate_scope scope = certificate_scope::free_now;
    std::vector<cap> caps;
    /// Depth first.
    std::vector<vertex> vertices;
};

} // namespace v0_1
} // namespace muster
