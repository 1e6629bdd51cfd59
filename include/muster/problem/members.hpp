// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <muster/base/id.hpp>
#include <muster/base/ranges.hpp>
#include <muster/base/sequence.hpp>
#include <muster/cluster/cluster_state.hpp>
#include <muster/index/node_query.hpp>
#include <muster/problem/shared_volumes.hpp>
#include <muster/problem/topology_requirement.hpp>
#include <muster/resource/resources.hpp>
#include <muster/vocabulary/gang.hpp>
#include <muster/vocabulary/subtree_status.hpp>

namespace muster {
inline namespace v0_1 {

/// Waiting members of one role with the same request and the same constraints.
template<std::size_t Width>
struct member_class {
    vertex_index role;
    shape_index shape;
    resources<Width> request;
    constraint_index where;
    const node_claims* claims = nullptr;
    std::size_t first = 0;
    std::size_t count = 0;

    [[nodiscard]] std::int64_t waiting() const noexcept { return static_cast<std::int64_t>(count); }
};

/// A gang's members, sorted for a decision.
template<std::size_t Width>
struct gang_members {
    /// The gang; null if the members belong to no gang.
    const gang<queue_index>* spec = nullptr;
    const gang_tree* tree = nullptr;
    /// The queue that the members are charged to.
    std::optional<queue_charge> queue;
    /// The node selectors of the queue and of its ancestors, which apply to all members; nothing if
    /// there are none.
    std::optional<constraint_index> queue_nodes;
    /// By role, then by their oldest pod.
    detail::sequence<member_class<Width>> classes;
    /// The waiting members, class by class, oldest first and then by key.
    std::vector<pod_index> pods;
    /// The class of every waiting member, in the order in which members are placed: by role, then
    /// oldest first, then by key.
    detail::sequence<std::uint32_t> turns;
    /// Per vertex (leaves only): members that hold a node already, or have succeeded.
    detail::sequence<std::int64_t> holding;
    /// Per vertex (leaves only): members that exist, in any phase.
    detail::sequence<std::int64_t> alive;
    /// Per vertex (leaves only): waiting members that no node can take (`constraints::held`).
    detail::sequence<std::int64_t> unsupported;
    /// Vertices whose members must share a domain, in the order of the vertices.
    detail::sequence<topology_requirement> topology;

    [[nodiscard]] std::span<const pod_index> of(const member_class<Width>& which) const noexcept {
        return {pods.data() + which.first, which.count};
    }
    /// Returns true if a waiting member can be taken by no node. O(vertices).
    [[nodiscard]] bool any_held() const noexcept {
        return detail::any_of(unsupported, [](std::int64_t count) { return count > 0; });
    }
};

/// Counts the members that no node can take at present (`constraints::held`) as placed, during its
/// lifetime. Any node may be able to take them later, so what is proven for the empty cluster holds
/// whatever becomes of them. O(vertices).
template<std::size_t Width>
class held_as_placed {
public:
    explicit held_as_placed(gang_members<Width>& members) noexcept : of_(&members) { count(1); }
    ~held_as_placed() { count(-1); }
    held_as_placed(const held_as_placed&) = delete;
    held_as_placed& operator=(const held_as_placed&) = delete;

private:
    void count(std::int64_t sign) noexcept {
        for (std::size_t at = 0; at < of_->holding.size(); ++at)
            of_->holding[at] += sign * of_->unsupported[at];
    }

    gang_members<Width>* of_;
};

/// Leaves out the topology requirements whose domains may change, during its lifetime: they prove
/// nothing about what can ever start. O(requirements).
template<std::size_t Width>
class without_changing_domains {
public:
    explicit without_changing_domains(gang_members<Width>& members) : of_(&members) {
        const auto may_change = [](const topology_requirement& one) {
            return one.domains_may_change;
        };
        if (!detail::any_of(members.topology, may_change))
            return;
        all_ = members.topology;
        erase_if(members.topology, may_change);
    }
    ~without_changing_domains() {
        if (!all_.empty())
            std::swap(of_->topology, all_);
    }
    without_changing_domains(const without_changing_domains&) = delete;
    without_changing_domains& operator=(const without_changing_domains&) = delete;

private:
    gang_members<Width>* of_;
    /// Empty if nothing is left out.
    detail::sequence<topology_requirement> all_;
};

/// Sorts gangs' members into classes. Scratch memory is reused from gang to gang.
template<std::size_t Width>
class member_sorter {
public:
    /// Members that no node can take (`constraints::held`) belong to no class. With
    /// `assume_volumes_ready`, members that only wait for volumes belong to classes as well.
    /// O(members).
    template<class Traits>
    void sort(const cluster_state<Traits>& cluster, gang_index which, gang_members<Width>& into,
              bool assume_volumes_ready = false) {
        const auto& group = cluster[which];
        const std::size_t vertices = group.spec.tree.size();
        into.spec = &group.spec;
        into.tree = &group.spec.tree;
        into.queue = group.charged_to();
        into.queue_nodes = detail::queue_nodes_of(cluster, group.queue);
        into.classes.clear();
        into.turns.clear();
        into.holding.assign(vertices, 0);
        into.alive.assign(vertices, 0);
        into.unsupported.assign(vertices, 0);
        waiting_.clear();
        assume_volumes_ready_ = assume_volumes_ready;
        share_volumes_ = false;
        if (class_of_.size() < cluster.shapes().size())
            class_of_.resize(cluster.shapes().size());

        std::size_t role = std::numeric_limits<std::size_t>::max();
        for (const pod_index member : group.members) {
            const auto& record = cluster[member];
            // Pods may arrive before their gang, whose roles are unknown until then.
            if (!record.alive() || record.role.value() >= vertices)
                continue;
            if (record.role.value() != role) {
                role = record.role.value();
                ++round_;
            }
            ++into.alive[role];
            if (record.holding())
                ++into.holding[role];
            else if (const std::uint32_t number = class_of(cluster, record, into);
                     number == unsupported)
                ++into.unsupported[role];
            else
                take_turn(member, number, into);
        }
        into.topology.clear();
        for (const vertex_topology& one : group.together)
            gather(cluster, group, one, into);
        if (share_volumes_)
            detail::keep_near_volumes(cluster, group, into);
        std::size_t first = 0;
        for (member_class<Width>& shape_class : into.classes) {
            shape_class.first = first;
            first += std::exchange(shape_class.count, 0);
        }
        into.pods.resize(waiting_.size());
        for (std::size_t turn = 0; turn < waiting_.size(); ++turn) {
            member_class<Width>& to = into.classes[into.turns[turn]];
            into.pods[to.first + to.count++] = waiting_[turn];
        }
    }

private:
    static constexpr std::uint32_t unsupported = std::numeric_limits<std::uint32_t>::max();

    template<class Traits>
    static void gather(const cluster_state<Traits>& cluster, const gang_record& group,
                       const vertex_topology& one, gang_members<Width>& into) {
        topology_requirement made;
        made.vertex = one.vertex.value();
        made.within = one.within;
        made.required = one.required;
        made.preferred = one.preferred;
        for (const pod_index member : group.members) {
            const auto& record = cluster[member];
            if (record.alive() && record.charged() &&
                is_below(*into.tree, record.role.value(), made.vertex))
                made.hold(cluster, *record.node);
        }
        into.topology.push_back(made);
    }

    void take_turn(pod_index member, std::uint32_t number, gang_members<Width>& into) {
        ++into.classes[number].count;
        into.turns.push_back(number);
        waiting_.push_back(member);
    }

    template<class Traits>
    [[nodiscard]] std::uint32_t class_of(const cluster_state<Traits>& cluster,
                                         const pod_record& record, gang_members<Width>& into) {
        entry& found = class_of_[record.shape.value()];
        if (found.round == round_)
            return found.of;
        const auto& shape = cluster.shapes()[record.shape];
        const constraints& where = cluster.constraint_sets()[shape.where].value;
        const bool is_held = assume_volumes_ready_ ? where.unsupported : where.held();
        found = {round_, is_held ? unsupported : static_cast<std::uint32_t>(into.classes.size())};
        if (is_held)
            return found.of;
        into.classes.push_back(
            {record.role, record.shape, shape.request, shape.where, &where.claims, 0, 0});
        share_volumes_ = share_volumes_ || detail::shares_new_volume(where);
        return found.of;
    }

    /// Per shape: its class in the current role, if `round` is the current round. There is one
    /// round per role.
    struct entry {
        std::uint64_t round = 0;
        std::uint32_t of = 0;
    };

    detail::sequence<entry> class_of_;
    detail::sequence<pod_index> waiting_;
    bool assume_volumes_ready_ = false;
    /// True if a class shares a volume that does not exist yet.
    bool share_volumes_ = false;
    std::uint64_t round_ = 0;
};

/// Memory for `hold_level_of`.
struct hold_scratch {
    detail::sequence<std::int64_t> holding;
    subtree_status status;
};

enum class hold_level : std::uint8_t { nothing, some, minima };

/// Returns whether the gang's members that hold a node are none, some, or enough for its minima.
/// O(members).
template<class Traits>
[[nodiscard]] hold_level hold_level_of(const cluster_state<Traits>& cluster, gang_index which,
                                       hold_scratch& scratch) {
    const gang_tree& tree = cluster[which].spec.tree;
    scratch.holding.assign(tree.size(), 0);
    bool holds = false;
    for (const pod_index member : cluster[which].members) {
        const auto& record = cluster[member];
        if (record.role.value() >= tree.size() || !record.alive() || !record.holding())
            continue;
        ++scratch.holding[record.role.value()];
        holds = true;
    }
    if (!holds)
        return hold_level::nothing;
    return reaches_minima(tree, scratch.holding, scratch.status) ? hold_level::minima
                                                                 : hold_level::some;
}

template<class Traits>
[[nodiscard]] hold_level hold_level_of(const cluster_state<Traits>& cluster, gang_index which) {
    hold_scratch scratch;
    return hold_level_of(cluster, which, scratch);
}

/// Returns a gang's members, sorted. For `assume_volumes_ready` see member_sorter::sort().
/// O(members + shapes of the state).
template<class Traits>
[[nodiscard]] gang_members<Traits::width> members_of(const cluster_state<Traits>& cluster,
                                                     gang_index which,
                                                     bool assume_volumes_ready = false) {
    gang_members<Traits::width> found;
    member_sorter<Traits::width>().sort(cluster, which, found, assume_volumes_ready);
    return found;
}

} // namespace v0_1
} // namespace muster
