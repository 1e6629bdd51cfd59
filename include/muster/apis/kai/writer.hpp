// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <muster/apis/gang_facts.hpp>
#include <muster/gangs/check_manifest.hpp>
#include <muster/gangs/expressiveness.hpp>
#include <muster/gangs/gang_claims.hpp>
#include <muster/gangs/writing.hpp>

namespace muster {
inline namespace v0_1 {
namespace translate {

enum class kai_version : std::uint8_t {
    v0_14, ///< and before: minMember at least 1 everywhere, no minSubGroup
    v0_15, ///< and later
};

/// KAI's PodGroups: a tree of subgroups. Beside subgroups the root's minMember counts for nothing.
struct kai_writer {
    kai_version version = kai_version::v0_15;

    [[nodiscard]] static constexpr expressiveness can() {
        return {.api = gang_api::kai,
                .queue = true,
                .priority = priority_word::class_name,
                .preemptibility = true,
                .topology_required = true,
                .topology_preferred = true};
    }

    void write(writing& out) const {
        const gang_object& gang = out.gang();
        const gang_tree& tree = gang.tree;
        const kai_naming naming = out.options().naming.value_or(
            out.from_grove() && out.options().dialect == grove_dialect::seed
                ? kai_naming::podgrouper
                : kai_naming::backend);
        boost::json::object group = out.manifest(
            kai_group_version, "PodGroup", out.name(gang.name, dns_subdomain, "the PodGroup"));
        if (naming == kai_naming::podgrouper)
            name_by_owner(group, out);
        const std::string name(group["metadata"].at("name").as_string());

        const bool with_subgroups = keeps_subgroups(out);
        boost::json::object& spec = child_at(group, "spec");
        if (version == kai_version::v0_15 && with_subgroups && detail::is_optional(tree[0]))
            spec["minSubGroup"] = *tree[0].min_subgroups;
        else
            spec["minMember"] = out.minima().total;
        if (!gang.priority.class_name.empty())
            spec["priorityClassName"] = gang.priority.class_name;
        if (gang.preemptible)
            spec["preemptibility"] = *gang.preemptible ? "preemptible" : "non-preemptible";
        if (gang.queue)
            spec["queue"] = *gang.queue;
        else if (out.from_grove() && out.options().dialect == grove_dialect::upstream)
            out.refuse("PodGang", "metadata.labels[kai.scheduler/queue]",
                       "missing (expected the queue that KAI is to charge)");
        else
            spec["queue"] = out.options().kai_queue;
        if (with_subgroups)
            spec["subGroups"] = subgroups(out);
        spec["topologyConstraint"] = constraint(tree, 0, out);
        out.give_back(group, [&](const own_word& word) {
            const bool gone = word.field == "backoffLimit" || word.field == "completions" ||
                              word.field == "parallelism";
            const bool new_one =
                word.field == "preemptionDelay" || word.field == "stalenessGracePeriod" ||
                word.field == "preemptibility" || word.field == "minNonPreemptible";
            return version == kai_version::v0_14 ? !new_one : !gone;
        });
        out.add(std::move(group));

        for (gang_pod& pod : out.pods(schedulers::kai)) {
            set_annotation(pod.document, keys::kai_group, name);
            if (naming == kai_naming::backend)
                set_annotation(pod.document, keys::kai_skip, "true");
            if (with_subgroups)
                set_label(pod.document, keys::kai_subgroup, subgroup_name(pod.leaf.value(), out));
            out.add(std::move(pod.document));
        }
    }

    void check(manifest_check& manifest) const {
        if (!manifest.is(kai_group_version, "PodGroup"))
            return;
        const std::int64_t least = version == kai_version::v0_14 ? 1 : 0;
        manifest.expect_int32("spec.minMember", manifest.at({"spec", "minMember"}), least);
        manifest.expect_int32("spec.minSubGroup", manifest.at({"spec", "minSubGroup"}), 0);
        const auto* subgroups = manifest.at({"spec", "subGroups"});
        manifest.expect_names("spec.subGroups", subgroups, dns_label);
        manifest.each("spec.subGroups", subgroups, [&](const std::string& at, const auto& each) {
            manifest.expect_int32(at + ".minMember", each.if_contains("minMember"), least);
            manifest.expect_int32(at + ".minSubGroup", each.if_contains("minSubGroup"), 0);
        });
        if (const auto* queue = manifest.at({"spec", "queue"}); queue && queue->as_string().empty())
            manifest.refuse("spec.queue", "empty (expected the name of a queue)");
    }

private:
    static void name_by_owner(boost::json::object& group, writing& out) {
        const gang_object& gang = out.gang();
        object_reference owner{std::string(grove_gang_version), "PodGang", gang.name, gang.uid};
        if (!out.from_grove() && gang.owners.empty()) {
            out.refuse(gang.kind, "metadata.ownerReferences",
                       "none (KAI's podgrouper names PodGroups after their top owner)");
            return;
        }
        if (!out.from_grove())
            owner = gang.owners.front();
        if (owner.uid.empty()) {
            out.refuse(owner.kind, "metadata.uid",
                       "missing (KAI's podgrouper makes it a part of the PodGroup's name)");
            return;
        }
        const std::size_t slash = owner.api_version.find('/');
        const bool core = slash == std::string::npos;
        child_at(group, "metadata")["name"] = "pg-" + owner.name + "-" + owner.uid;
        // The podgrouper copies a PodGang's annotations nowhere.
        if (out.from_grove())
            child_at(group, "metadata").erase("annotations");
        set_annotation(group, keys::kai_owner,
                       "name: " + owner.name + "\nuid: " + owner.uid + "\ngroup: " +
                           (core ? "\"\"" : owner.api_version.substr(0, slash)) + "\nversion: " +
                           (core ? owner.api_version : owner.api_version.substr(slash + 1)) +
                           "\nkind: " + owner.kind + "\n");
        if (out.from_grove())
            for (const gang_role& role : out.minima().roles)
                if (role.minimum < 1)
                    out.refuse("PodGang", "spec.podgroups[" + role.name + "].minReplicas",
                               "0 (KAI's podgrouper expects at least 1)");
    }

    // Names of subgroups stand in labels of pods, and are one flat list.
    [[nodiscard]] static std::string subgroup_name(std::size_t at, writing& out) {
        return out.name(out.vertex_path(at), dns_label, "the subgroup");
    }

    /// Whether the tree can be written down; where it cannot, says what is lost.
    [[nodiscard]] bool keeps_subgroups(writing& out) const {
        const gang_tree& tree = out.gang().tree;
        const gang_minima& minima = out.minima();
        if (tree.size() == 1)
            return out.from_grove() && !tree[0].name.empty();
        bool constrained = false;
        for (std::size_t at = 1; at < tree.size(); ++at)
            constrained |= tree[at].together.has_value();
        if (!out.from_grove() && !minima.any_role_minimum() && !minima.some_optional &&
            !constrained && !minima.nested)
            return false; // a total says it all, and would not count beside subgroups
        const bool some_free = std::ranges::any_of(
            minima.roles, [](const gang_role& role) { return role.needed == 0; });
        if (version == kai_version::v0_14 && (minima.some_optional || some_free)) {
            out.lose_all_but_total();
            return false;
        }
        if (minima.total_beyond_roles ||
            (minima.some_optional && tree[0].min_member > minima.below_root))
            out.lose(loss_kind::total_minimum,
                     std::to_string(tree[0].min_member) +
                         " members in all: beside subgroups only their minima count");
        if (minima.inner_total)
            out.lose(loss_kind::total_minimum,
                     "subgroups with subgroups have no minimum of members");
        return true;
    }

    // Groups of subgroups first, then those with members (what Grove's backend writes).
    [[nodiscard]] boost::json::array subgroups(writing& out) const {
        const gang_tree& tree = out.gang().tree;
        boost::json::array made;
        const auto add = [&](std::size_t at, std::int64_t members) {
            boost::json::object each;
            each["name"] = subgroup_name(at, out);
            if (tree.is_leaf(at))
                each["minMember"] = members;
            else if (version == kai_version::v0_15)
                each["minSubGroup"] =
                    tree[at].min_subgroups.value_or(static_cast<std::int64_t>(tree[at].children));
            if (at > 0 && tree[at].parent > 0)
                each["parent"] = subgroup_name(tree[at].parent, out);
            if (boost::json::object how = constraint(tree, at, out); at > 0 && !how.empty())
                each["topologyConstraint"] = std::move(how);
            made.push_back(std::move(each));
        };
        for (std::size_t at = 1; at < tree.size(); ++at)
            if (!tree.is_leaf(at))
                add(at, 0);
        for (const gang_role& role : out.minima().roles)
            add(role.leaf, role.needed);
        return made;
    }

    [[nodiscard]] static boost::json::object constraint(const gang_tree& tree, std::size_t at,
                                                        writing& out) {
        boost::json::object made;
        if (!tree[at].together)
            return made;
        const std::string required = required_level(tree[at]);
        const std::string preferred = preferred_level(tree[at]);
        std::string topology = out.gang().topology_name.empty() ? out.options().kai_topology
                                                                : out.gang().topology_name;
        for (const vertex_topology& other : out.gang().other_topologies)
            if (other.of.value() == at)
                topology = other.name;
        if (topology.empty() && out.from_grove()) {
            out.refuse("PodGang", "metadata.annotations[grove.io/topology-name]",
                       "missing (expected the Topology whose levels are asked for)");
            return made;
        }
        if (topology.empty()) {
            const std::string detail = ": KAI wants the name of a Topology, and none is named";
            if (!required.empty())
                out.lose(loss_kind::topology_required,
                         out.vertex_text(at) + " within one " + required + detail);
            if (!preferred.empty())
                out.lose(loss_kind::topology_preferred,
                         out.vertex_text(at) + " rather within one " + preferred + detail);
            return made;
        }
        made["topology"] = topology;
        if (!required.empty())
            made["requiredTopologyLevel"] = required;
        if (!preferred.empty())
            made["preferredTopologyLevel"] = preferred;
        return made;
    }
};

} // namespace translate
} // namespace v0_1
} // namespace muster
