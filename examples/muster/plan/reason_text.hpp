// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <muster/apis/core/numa/numa_words.hpp>
#include <muster/apis/core/volumes/storage_catalog.hpp>
#include <muster/apis/core/volumes/volume_plan.hpp>
#include <muster/document/diagnostic.hpp>
#include <muster/resource/kind_table.hpp>
#include <muster/resource/quantity.hpp>
#include <muster/vocabulary/answer.hpp>
#include <muster/vocabulary/certificate.hpp>
#include <muster/vocabulary/gang.hpp>
#include <muster/vocabulary/reason.hpp>

namespace cli {

using muster::gate;
using muster::reason_code;
using muster::reason_kind;

/// True if the reason is about a pod term that keeps pods with volumes apart.
[[nodiscard]] inline bool is_about_volume(const muster::reason& what) {
    return !what.shares_volume && (what.topology == muster::codec::cluster_mark ||
                                   what.topology == muster::codec::supply_mark ||
                                   what.topology == muster::codec::node_mark);
}

/// The stable name of reasons about pod terms that represent a shared volume.
inline constexpr std::string_view volume_in_use = "VolumeInUse";

/// Returns the stable name of a reason, for programs.
[[nodiscard]] inline std::string_view code_name(const muster::reason& what) {
    return is_about_volume(what) ? volume_in_use
           : what.shares_volume  ? name_of(reason_code::volume_out_of_reach)
                                 : name_of(what.code);
}

/// Returns the noun for nodes with one value of a label: "zone" for topology.kubernetes.io/zone.
[[nodiscard]] inline std::string domain_noun(const std::string& label) {
    for (const char* noun : {"zone", "region"})
        if (label.ends_with("kubernetes.io/" + std::string(noun)))
            return noun;
    return label == "kubernetes.io/hostname" || label == muster::codec::node_mark
               ? "node"
               : "domain of " + label;
}

[[nodiscard]] inline std::string will_be_in_one(const std::string& noun) {
    return (noun == "node" ? " will be on one " : " will be in one ") + noun;
}

[[nodiscard]] constexpr std::string_view kind_name(reason_kind kind) noexcept {
    return kind == reason_kind::blocking            ? "blocking"
           : kind == reason_kind::blocking_together ? "blockingTogether"
                                                    : "contributing";
}

[[nodiscard]] constexpr std::string_view answer_name(muster::answer kind) noexcept {
    return kind == muster::answer::admitted  ? "admitted"
           : kind == muster::answer::waiting ? "waiting"
           : kind == muster::answer::never   ? "never"
                                             : "undecided";
}

/// Whether such a reason is about a queue.
[[nodiscard]] constexpr bool speaks_of_queue(reason_code code) noexcept {
    return code == reason_code::quota_exceeded || code == reason_code::queue_unknown ||
           code == reason_code::queue_closed || code == reason_code::queue_forbidden;
}

/// An amount as the core counts it, as a canonical quantity: kinds of bytes by powers of two, all
/// others by powers of ten.
[[nodiscard]] inline std::string amount_text(std::string_view kind, std::int64_t amount) {
    const bool bytes = kind == "memory" || kind == "ephemeral-storage" ||
                       kind.starts_with("hugepages-") || kind.ends_with("/requests.storage");
    return muster::quantity_text(
        amount, kind == "cpu" ? muster::quantity_scale::milli : muster::quantity_scale::units,
        bytes ? muster::quantity_format::binary_si : muster::quantity_format::decimal_si);
}

/// What a reason does not carry itself and its text speaks of.
struct reason_context {
    const muster::kind_table* kinds = nullptr;
    const muster::gang_tree* tree = nullptr;
    /// The scope that it was explained in.
    muster::certificate_scope scope = muster::certificate_scope::free_now;
    /// The cluster has no nodes.
    bool no_nodes = false;
    /// A pod of its own is no gang.
    bool single_pod = false;
    std::string name_space;
    std::string group;
    /// The one that the reason speaks of, or the group's own.
    std::string queue;
    /// What exactly is wrong with a group, or not modelled of its members.
    std::string detail;
    /// The volumes of the group's pods, and the number of nodes that can use each one.
    std::string volumes;
    /// `volumes` names only ResourceClaims.
    bool only_devices = false;
    /// Whether the demands of the group's pods are for room in NUMA zones, and the room of the
    /// zones.
    muster::codec::numa_share numa = muster::codec::numa_share::none;
    std::string numa_room;
    /// The device classes and the models of GPUs that the group's pods ask for.
    std::string asked_devices;
    /// The registers of GPUs that cannot be read, if the group's pods ask for shares of GPUs.
    std::string unread_registers;
    /// The claims of the group's pods that use the resource of the reason.
    std::string claims;
    /// The supply of each node, if the resource counts volumes or storage: "a 15Gi, b 5Gi".
    std::string by_node;
    /// Some attachments in `by_node` are kept for volumes that waiting pods share.
    bool keeps_shared = false;
    /// The amount may count a volume once for each of several pods.
    bool counted_high = false;
    /// The unbound claims for which the group's pods must be in one domain: "claim a".
    std::string shared_claims;
    /// The ReadWriteOncePod claims that the group's pods share with others, and their users.
    std::string lone_claims;
    /// The disks that the group's pods may not share on one node, and the pods that use them.
    std::string disks;
    /// The free volumes and storage that the group's claims were to get, and which gangs got them.
    std::string taken_supplies;
    /// Of reasons by labels, taints, cordons or host ports: what keeps the pods off which nodes.
    std::string node_filter;
    /// The groups that room is reserved for, as NAMESPACE/NAME.
    std::vector<std::string> owners;
    /// For each vertex of the tree, the number of members with scheduling gates at or below the
    /// vertex; and the names of these gates.
    std::vector<std::int64_t> gated;
    std::set<std::string> gates;
    /// The nodes to which other schedulers have nominated some of these members.
    std::set<std::string> nominated_to;
};

namespace detail {

/// Says why a gang does not start, a clause at a time.
class reason_writer {
public:
    reason_writer(const muster::reason& what, const reason_context& context)
        : what_(&what), context_(&context), who_(context.single_pod ? "the pod" : "the gang") {}

    [[nodiscard]] std::string text() const {
        if (context_->no_nodes && is_about_nodes(what_->code))
            return "the cluster has no nodes";
        if (what_->topology == muster::codec::supply_mark)
            return context_->taken_supplies + roles();
        if (is_about_volume(*what_))
            return what_->topology == muster::codec::cluster_mark
                       ? context_->lone_claims +
                             ": one pod alone may use such a claim (ReadWriteOncePod)" + roles()
                       : "nodes have a pod that uses the same disk (" + context_->disks + ")" +
                             stopped();
        switch (what_->code) {
        case reason_code::group_missing:
            return !context_->detail.empty() ? context_->detail
                                             : "there is no PodGroup " + context_->group +
                                                   " in namespace " + context_->name_space;
        case reason_code::group_malformed:
        case reason_code::members_disagree:
            return context_->detail;
        case reason_code::not_enough_members:
            return counts();
        case reason_code::queue_unknown:
            return "there is no queue " + context_->queue;
        case reason_code::queue_closed:
            return "queue " + context_->queue + " is closed to groups that hold nothing yet";
        case reason_code::queue_forbidden:
            return "queue " + context_->queue + " does not take namespace " + context_->name_space;
        case reason_code::unsupported_constraint:
            return "not modelled: " + context_->detail;
        case reason_code::volume_not_ready:
            return context_->detail;
        case reason_code::volume_out_of_reach:
            return (context_->only_devices ? "too few nodes have the allocated devices: "
                                           : "too few nodes reach the volumes: ") +
                   context_->volumes + roles();
        case reason_code::devices_taken:
            return devices() + roles();
        case reason_code::insufficient_resource:
            return resource() + roles();
        case reason_code::quota_exceeded:
            return quota() + roles();
        case reason_code::node_selector_mismatch:
        case reason_code::untolerated_taint:
        case reason_code::node_unschedulable:
        case reason_code::host_port_taken:
            return context_->node_filter + roles();
        case reason_code::topology_fragmented:
            return topology();
        case reason_code::spread_uneven:
            return spread() + stopped();
        case reason_code::affinity_unmet:
            if (what_->shares_volume)
                return context_->shared_claims + will_be_in_one(domain_noun(what_->topology)) +
                       ", and nodes are outside that of the pods placed first" + stopped();
            return "nodes have no pod that is sought in their " + what_->topology + stopped();
        case reason_code::anti_affinity_met:
            return "nodes have a pod that is avoided in their " + what_->topology + stopped();
        case reason_code::kept_off_by_others:
            return "nodes have a pod that avoids it in their " + what_->topology + stopped();
        case reason_code::room_reserved:
            return reserved();
        case reason_code::behind_in_queue:
            return "a group ahead of it waits, and queue " + context_->queue + " keeps its order";
        case reason_code::fits_by_now:
            return "nothing stops it any more since it was asked: the next cycle asks it again";
        case reason_code::search_budget_spent:
            break;
        }
        return "the search ended at its budget, with neither a placement nor a proof";
    }

private:
    /// True if such a reason says that the nodes have no room, or not where it is needed.
    [[nodiscard]] static constexpr bool is_about_nodes(reason_code code) noexcept {
        return code == reason_code::insufficient_resource ||
               code == reason_code::node_selector_mismatch ||
               code == reason_code::untolerated_taint || code == reason_code::node_unschedulable ||
               code == reason_code::host_port_taken || code == reason_code::topology_fragmented ||
               code == reason_code::volume_out_of_reach || code == reason_code::devices_taken;
    }

    /// Empty for the gang as a whole.
    [[nodiscard]] std::string whose(muster::vertex_index role) const {
        return role.value() == 0 ? "" : (*context_->tree)[role].name + ": ";
    }

    [[nodiscard]] std::string devices() const {
        using muster::codec::numa_share;
        const std::string& asked = context_->asked_devices;
        const std::string& unread = context_->unread_registers;
        return std::string("too few nodes have ") +
               (context_->numa == numa_share::none  ? "devices free"
                : context_->numa == numa_share::all ? "room in NUMA zones"
                                                    : "devices free and room in NUMA zones") +
               " for what the pods ask of them" + (asked.empty() ? "" : " (" + asked + ")") +
               ", taken together" +
               (context_->numa_room.empty() ? "" : ": available on " + context_->numa_room) +
               (unread.empty() ? "" : "; not all devices are known: " + unread);
    }

    [[nodiscard]] std::string counts() const {
        std::string out;
        for (const muster::role_shortage& one : what_->roles) {
            const std::int64_t gated =
                one.role.value() < context_->gated.size() ? context_->gated[one.role.value()] : 0;
            if (gated > 0 && context_->single_pod)
                return who_ + " is held by " + gates();
            out += out.empty() ? "" : "; ";
            out += whose(one.role) + std::to_string(one.possible + gated) + " of " +
                   std::to_string(one.needed) +
                   (one.needed == 1 ? " member exists" : " members exist");
            if (gated > 0)
                out += ", " + std::to_string(gated) + " held by " + gates();
        }
        return out;
    }

    [[nodiscard]] std::string gates() const {
        if (!context_->nominated_to.empty())
            return nomination() + (context_->gates.empty() ? "" : " or " + gate_names());
        return gate_names();
    }

    /// Returns "the nomination to node n1 by another scheduler". Names at most three nodes.
    [[nodiscard]] std::string nomination() const {
        constexpr std::size_t most = 3;
        std::string nodes;
        std::size_t listed = 0;
        for (const std::string& each : context_->nominated_to)
            if (listed++ < most)
                nodes += (nodes.empty() ? "" : ", ") + each;
        return std::string("the nomination to ") +
               (context_->nominated_to.size() == 1 ? "node " : "nodes ") + nodes +
               muster::codec::more_text(context_->nominated_to.size() -
                                            std::min(most, context_->nominated_to.size()),
                                        "node") +
               " by another scheduler";
    }

    [[nodiscard]] std::string gate_names() const {
        std::string names;
        for (const std::string& each : context_->gates)
            names += (names.empty() ? " " : ", ") + each;
        return (context_->gates.size() == 1 ? "scheduling gate" : "scheduling gates") + names;
    }

    [[nodiscard]] std::string reserved() const {
        std::string out = "room for " + who_ + " is free, but kept for ";
        for (std::size_t at = 0; at < context_->owners.size(); ++at)
            out += (at > 0 ? ", " : "") + context_->owners[at];
        return out;
    }

    /// Says how many nodes the reason rules out, and which roles are short.
    [[nodiscard]] std::string stopped() const {
        return ": " + std::to_string(what_->nodes) + " that would do otherwise" + roles();
    }

    [[nodiscard]] std::string spread() const {
        if (what_->unlabelled == 0)
            return "nodes would make the spread over " + what_->topology + " uneven";
        if (what_->unlabelled == what_->nodes)
            return "nodes lack the label " + what_->topology + ", over which pods are spread";
        return "nodes would make the spread over " + what_->topology +
               " uneven, or lack that label (" + std::to_string(what_->unlabelled) + ")";
    }

    /// Says how many members are needed, in addition to those that hold.
    [[nodiscard]] static std::string needed(const muster::role_shortage& one, bool noun) {
        return std::to_string(one.needed) + (one.held > 0 ? " more" : "") +
               (!noun             ? ""
                : one.needed == 1 ? " member"
                                  : " members");
    }

    /// Says which roles are short, and by how much. The room for a role counts as if no other
    /// member used it: if no role is short, says that they do not fit together.
    [[nodiscard]] std::string roles() const {
        if (context_->single_pod || what_->roles.empty())
            return "";
        if (each_has_room())
            return together();
        std::string out;
        for (const muster::role_shortage& one : what_->roles)
            if (one.possible < one.needed)
                out += "; " + whose(one.role) + needed(one, one.role.value() == 0) +
                       " needed, room for " + std::to_string(one.possible);
        return out;
    }

    /// Returns "; needed together: 2 members, a: 1, b: 1 (each alone has room)".
    [[nodiscard]] std::string together() const {
        if (what_->roles.size() == 1)
            return "";
        std::string out;
        for (const muster::role_shortage& one : what_->roles)
            out += (out.empty() ? "; needed together: " : ", ") + whose(one.role) +
                   needed(one, one.role.value() == 0);
        return out + " (each alone has room)";
    }

    /// How many of the vertex's members the roomiest domain takes.
    [[nodiscard]] std::string topology() const {
        if (what_->shares_volume)
            return volume_domains();
        const auto& how = *(*context_->tree)[*what_->together].together;
        const std::string domain = "one domain of " + how.within.levels[*how.required];
        if (what_->spans_domains)
            return whose(*what_->together) + "the members that hold are not in " + domain +
                   ", so no member can join them";
        const std::string lead = whose(*what_->together) + who_ + " must stand in " + domain;
        for (const muster::role_shortage& one : what_->roles)
            if (one.role == *what_->together)
                return lead + ": " + needed(one, true) + " needed, the roomiest has room for " +
                       std::to_string(one.possible);
        return lead + roles();
    }

    /// Returns, for each domain of the shared claims, the number of members that fit and the kinds
    /// of which the domain has too little. Lists at most four domains, the roomiest first.
    [[nodiscard]] std::string volume_domains() const {
        const std::string noun = domain_noun(what_->topology);
        std::string needed;
        for (const muster::role_shortage& one : what_->roles)
            if (one.role == *what_->together)
                needed = " of " + std::to_string(one.needed);
        std::string out =
            whose(*what_->together) + context_->shared_claims + will_be_in_one(noun) + ": ";
        if (what_->domains.empty())
            return out + "no node has the label " + what_->topology;
        std::vector<muster::domain_room> rooms = what_->domains;
        std::ranges::stable_sort(rooms, std::ranges::greater{}, &muster::domain_room::possible);
        constexpr std::size_t most = 4;
        for (std::size_t at = 0; at < std::min(most, rooms.size()); ++at) {
            out += (at > 0 ? ", " : "") + rooms[at].name + (at > 0 ? " for " : " has room for ") +
                   std::to_string(rooms[at].possible) + needed;
            std::string kinds;
            for (const muster::kind_id kind : rooms[at].short_of)
                kinds += (kinds.empty() ? "" : ", ") + context_->kinds->name(kind);
            out += kinds.empty() ? "" : " (too little " + kinds + ")";
        }
        return out + muster::codec::more_text(rooms.size() - std::min(most, rooms.size()), "other");
    }

    [[nodiscard]] bool each_has_room() const {
        for (const muster::role_shortage& one : what_->roles)
            if (one.possible < one.needed)
                return false;
        return true;
    }

    /// Of what asks for more than there is: how much more.
    [[nodiscard]] std::string short_by(const std::string& kind) const {
        if (what_->amount_needed <= what_->amount_left)
            return "";
        const std::int64_t most = std::numeric_limits<std::int64_t>::max();
        if (what_->amount_needed == most)
            return ", which is more than can be counted";
        return ": short by " + amount_text(kind, what_->amount_needed - what_->amount_left);
    }

    /// Names what is short: a resource, or storage for claims.
    [[nodiscard]] std::string supply(const std::string& kind) const {
        using muster::codec::storage_catalog;
        if (const auto driver = storage_catalog::driver_in(kind); !driver.empty())
            return "attachments of CSI driver " + std::string(driver);
        if (context_->claims.empty() || !storage_catalog::counts_storage(kind))
            return kind;
        return (storage_catalog::counts_bytes(kind) ? "storage of class "
                                                    : "free volumes of class ") +
               std::string(storage_catalog::class_in(kind)) +
               (context_->claims.find(',') == std::string::npos ? " for claim " : " for claims ") +
               context_->claims;
    }

    [[nodiscard]] std::string resource() const {
        const std::string& kind = context_->kinds->name(*what_->resource);
        const bool now = context_->scope == muster::certificate_scope::free_now;
        const std::string needed = amount_text(kind, what_->amount_needed);
        const std::string left = amount_text(kind, what_->amount_left);
        const std::string asks = supply(kind) + ": " + who_ + " needs " + needed + ", ";
        // A sum over all nodes is misleading if some nodes have no limit.
        if (!muster::codec::storage_catalog::driver_in(kind).empty() && !context_->by_node.empty())
            return supply(kind) + ": " + who_ + " needs " +
                   (context_->counted_high ? "up to " : "") + needed +
                   (!now ? "; nodes attach at most: "
                    : context_->keeps_shared
                        ? "; attached + kept for volumes that waiting pods share: "
                        : "; attached: ") +
                   context_->by_node;
        if (what_->amount_needed > what_->amount_left)
            return asks +
                   (now ? left + (left == "1" ? " is free" : " are free")
                        : "the whole cluster has " + left) +
                   by_node() + short_by(kind);
        const std::string in_all =
            (now ? left + (left == "1" ? " is free in all" : " are free in all")
                 : "the whole cluster has " + left) +
            by_node();
        if (what_->kind == reason_kind::blocking_together)
            return asks + in_all + ", but too little on the nodes that the other reasons leave";
        if (what_->kind != reason_kind::blocking)
            return asks + in_all + ", but too little where " +
                   (context_->single_pod ? "it" : "its members") + " could be placed";
        if (context_->single_pod)
            return asks + in_all + ", but no node has that much";
        return asks + in_all +
               (each_has_room() ? ", but not where its members fit beside one another"
                                : ", but in pieces too small for all its members");
    }

    [[nodiscard]] std::string by_node() const {
        return context_->by_node.empty() ? "" : " (" + context_->by_node + ")";
    }

    [[nodiscard]] std::string quota() const {
        const std::string& kind = context_->kinds->name(*what_->resource);
        const bool now = context_->scope == muster::certificate_scope::free_now;
        const std::string of_gangs = what_->non_preemptible ? " for non-preemptible gangs" : "";
        return kind + ": " + who_ + " needs " + amount_text(kind, what_->amount_needed) +
               (now ? ", queue " + context_->queue + " has "
                    : ", the quota of queue " + context_->queue + of_gangs + " is ") +
               amount_text(kind, what_->amount_left) +
               (now ? " of its quota" + of_gangs + " left" : "") + short_by(kind);
    }

    const muster::reason* what_;
    const reason_context* context_;
    std::string who_;
};

} // namespace detail

/// A reason in words, one line.
[[nodiscard]] inline std::string reason_text(const muster::reason& what,
                                             const reason_context& context) {
    return detail::reason_writer(what, context).text();
}

} // namespace cli
