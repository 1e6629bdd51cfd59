// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <muster/base/assert.hpp>
#include <muster/base/id.hpp>
#include <muster/vocabulary/labels.hpp>
#include <muster/vocabulary/topology.hpp>

namespace muster {
inline namespace v0_1 {

/// A gang's shape: the root is the gang, inner vertices are subgroups, leaves are roles. Members
/// belong to leaves. Vertices are in the order in which they were added, parents before their
/// children; roles are served in that order.
class gang_tree {
public:
    struct vertex {
        std::size_t parent = 0;
        /// Minimum number of members at or below this vertex that start together; 0 = no minimum.
        std::int64_t min_member = 0;
        /// Number of children that must meet their minima; absent = all.
        std::optional<std::int64_t> min_subgroups;
        /// Name of the role or subgroup, for output; may be empty. The root may have one if it is a
        /// leaf.
        std::string name;
        std::size_t children = 0;
        /// The domains in which the members at or below this vertex must be.
        std::optional<topology_constraint> together;
    };

    gang_tree() : vertices_(1) {}
    explicit gang_tree(std::int64_t min_member) : vertices_(1) {
        vertices_.front().min_member = min_member;
    }

    /// Resets the tree to a root with that minimum. Keeps the allocated memory.
    void restart(std::int64_t min_member) {
        vertices_.resize(1);
        vertices_.front() = {};
        vertices_.front().min_member = min_member;
    }

    /// Adds a child under `parent` and returns its index.
    vertex_index add(vertex_index parent, std::int64_t min_member, std::string name = {}) {
        MUSTER_ASSERT(parent.value() < vertices_.size(), "the parent comes first");
        vertex child;
        child.parent = parent.value();
        child.min_member = min_member;
        child.name = std::move(name);
        vertices_.push_back(std::move(child));
        ++vertices_[parent.value()].children;
        return vertex_index{vertices_.size() - 1};
    }

    void require_members(vertex_index of, std::int64_t count) {
        vertices_[of.value()].min_member = count;
    }
    void require_subgroups(vertex_index of, std::int64_t count) {
        vertices_[of.value()].min_subgroups = count;
    }

    void rename(vertex_index of, std::string name) { vertices_[of.value()].name = std::move(name); }

    void constrain_topology(vertex_index of, topology_constraint how) {
        vertices_[of.value()].together = std::move(how);
    }

    /// Drops the required level of the vertex's topology constraint; keeps a preferred level.
    void let_apart(vertex_index of) {
        auto& together = vertices_[of.value()].together;
        if (together && together->preferred)
            together->required.reset();
        else
            together.reset();
    }

    [[nodiscard]] std::size_t size() const noexcept { return vertices_.size(); }
    [[nodiscard]] const vertex& operator[](vertex_index at) const noexcept {
        return vertices_[at.value()];
    }
    [[nodiscard]] const vertex& operator[](std::size_t at) const noexcept { return vertices_[at]; }
    [[nodiscard]] bool is_leaf(std::size_t at) const noexcept {
        return vertices_[at].children == 0;
    }

private:
    std::vector<vertex> vertices_;
};

/// Returns the tree of a gang with one role; with `min_member` 1, of a single pod.
[[nodiscard]] inline gang_tree single_role(std::int64_t min_member) {
    return gang_tree(min_member);
}

/// Why a gang cannot be evaluated.
enum class gang_fault : std::uint8_t {
    none,
    /// Its pods name a group that does not exist.
    missing,
    /// Its definition is invalid; it can never start as it is.
    malformed,
    /// Its members disagree about the minimum or the priority.
    disagreement,
};

/// A gang, without its members.
template<class QueueKey>
struct gang {
    std::optional<QueueKey> queue{};
    std::int64_t priority = 0;
    /// Creation time in the caller's unit; older goes first among equals.
    std::int64_t created = 0;
    /// Declared run time of the members after their start, in the caller's unit; absent = unknown.
    /// For a gang that resumes after an eviction: the remaining time. It is not enforced; gang
    /// orders and backfill use it.
    std::optional<std::int64_t> duration{};
    /// Deadline of its start; absent = none. It serves orders of gangs.
    std::optional<std::int64_t> start_by{};
    /// How many of its members may be on their way out at a time because they were evicted for
    /// others; absent = as many as it takes.
    std::optional<std::int64_t> max_disrupted{};
    /// For how long it may be below its minima before what is left of it is evicted, where the
    /// policy does that; absent = as the policy says, negative = for ever.
    std::optional<std::int64_t> grace{};
    /// Since when it has been below them, as observed; absent = since a cycle sees it so.
    std::optional<std::int64_t> short_since{};
    gang_tree tree{};
    /// Its pods may be evicted for others, if their queue's may; otherwise they are not
    /// preemptible.
    bool preemptible = true;
    /// Others may be evicted for it; otherwise it waits for room that is there (Kubernetes:
    /// preemptionPolicy).
    bool may_preempt = true;
    gang_fault fault = gang_fault::none;
    /// Labels of the namespace or tenant that asks; queues admit by them.
    label_set tenant{};
};

} // namespace v0_1
} // namespace muster
