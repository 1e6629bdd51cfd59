// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/apis/core/objects.hpp>
#include <muster/apis/core/reading_context.hpp>
#include <muster/apis/gang_facts.hpp>
#include <muster/document/diagnostic.hpp>
#include <muster/document/field_reader.hpp>
#include <muster/input/membership.hpp>
#include <muster/vocabulary/topology.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

// KAI's annotations, read from PodGroups, or where these have none from pods.
inline constexpr std::string_view topology_annotation = translate::keys::kai_topology;
inline constexpr std::string_view topology_required_annotation =
    translate::keys::kai_topology_required;
inline constexpr std::string_view topology_preferred_annotation =
    translate::keys::kai_topology_preferred;

/// A kai.scheduler/v1alpha1 Topology: levels of node labels from coarse to fine.
[[nodiscard]] inline topology_object read_topology(object_reader& object,
                                                   reading_context& context) {
    topology_object read;
    read.metadata = read_metadata(object, false, context);
    const field spec_at = object.required("spec");
    object_reader spec = spec_at.as_object();
    const field levels_at = spec.required("levels");
    const array_reader levels = levels_at.as_array();
    levels.for_each_object([&](object_reader& each) {
        const field label_at = each.required("nodeLabel");
        const auto label = label_at.as_string();
        const field alias_at = each.optional("alias");
        const auto alias = alias_at.as_string();
        each.finish();
        if (!label)
            return;
        if (alias && !alias->empty() &&
            !read.aliases.try_emplace(std::string(*alias), *label).second)
            alias_at.error(in_quotes(*alias) + " is there twice (expected every alias once)");
        if (std::ranges::find(read.levels.levels, *label) != read.levels.levels.end())
            label_at.error(in_quotes(*label) + " is there twice (expected every level once)");
        else
            read.levels.levels.emplace_back(*label);
    });
    spec.finish();
    object.ignore({"apiVersion", "kind", "status"});
    object.finish();
    return read;
}

namespace detail {

/// What annotations ask of a group's topology.
struct topology_wish {
    std::string name;
    std::string required;
    std::string preferred;

    explicit topology_wish(const label_set& annotations) {
        const auto take = [&](std::string_view key, std::string& into) {
            if (const std::string* value = annotations.find(key))
                into = *value;
        };
        take(topology_annotation, name);
        take(topology_required_annotation, required);
        take(topology_preferred_annotation, preferred);
    }
    [[nodiscard]] bool asks() const noexcept { return !required.empty() || !preferred.empty(); }
    [[nodiscard]] bool operator==(const topology_wish&) const = default;
};

[[nodiscard]] inline std::optional<std::size_t> level_of(const topology& within,
                                                         const std::string& label) {
    const auto at = std::ranges::find(within.levels, label);
    if (at == within.levels.end())
        return std::nullopt;
    return static_cast<std::size_t>(at - within.levels.begin());
}

/// Constrains the group's tree as the wish says, or writes down what is in the way.
inline void grant(const topology_wish& wish, const manifests& objects, const topology& usual,
                  group_facts& facts) {
    topology_constraint how;
    how.within = usual;
    const topology_object* from = nullptr;
    if (!wish.name.empty()) {
        const auto named = std::ranges::find_if(objects.topologies, [&](const auto& each) {
            return each.metadata.key.name == wish.name;
        });
        if (named == objects.topologies.end()) {
            facts.unsupported = "Topology " + wish.name + ", which the input does not hold";
            return;
        }
        how.within = named->levels;
        from = &*named;
    } else if (usual.levels.empty()) {
        // A label by itself is a topology of one level.
        for (const std::string& label : {wish.required, wish.preferred})
            if (!label.empty() && !level_of(how.within, label))
                how.within.levels.push_back(label);
    }
    const auto level = [&](std::string_view annotation, const std::string& label,
                           std::optional<std::size_t>& into) {
        if (label.empty())
            return;
        into = level_of(how.within, from ? from->label_of(label) : label);
        if (into)
            return;
        facts.fault = gang_fault::malformed;
        facts.fault_detail =
            std::string(annotation) + ": " + in_quotes(label) + " is no level of its topology";
        if (how.within.levels.empty()) {
            facts.fault_detail += ": Topology " + wish.name + " has no levels";
            return;
        }
        facts.fault_detail += " (expected one of";
        for (const std::string& each : how.within.levels)
            facts.fault_detail += " " + each;
        facts.fault_detail += ")";
    };
    level(topology_required_annotation, wish.required, how.required);
    level(topology_preferred_annotation, wish.preferred, how.preferred);
    if (facts.fault == gang_fault::none)
        facts.tree.constrain_topology(vertex_index{0}, std::move(how));
}

/// A gang that names no Topology stays together by the usual levels, where these hold what it asks
/// for.
inline void place_among(const topology& usual, group_facts& facts) {
    for (std::size_t at = 0; at < facts.tree.size(); ++at) {
        const auto& together = facts.tree[at].together;
        if (!together)
            continue;
        topology_constraint how;
        how.within = usual;
        for (const auto& [from, into] : {std::pair(together->required, &how.required),
                                         std::pair(together->preferred, &how.preferred)}) {
            if (!from)
                continue;
            const std::string& label = together->within.levels[*from];
            *into = level_of(usual, label);
            if (*into)
                continue;
            facts.fault = gang_fault::malformed;
            facts.fault_detail = in_quotes(label) + " is no level of its topology";
            return;
        }
        facts.tree.constrain_topology(vertex_index{at}, std::move(how));
    }
}

} // namespace detail

/// Takes what annotations ask of groups' topologies into their trees. The levels are those of the
/// Topology that is named; of none `usual`; and where that is empty the labels that are asked for,
/// the required one first. A Topology that the input does not hold makes the members wait.
inline void keep_groups_together(const manifests& objects, const topology& usual, group_map& groups,
                                 diagnostics& out) {
    for (auto& [key, facts] : groups) {
        if (facts.object && facts.object->topology_policy)
            facts.unsupported = "topologyPolicy of its PodGroup";
        if (facts.fault != gang_fault::none)
            continue;
        if (facts.declared) {
            // It says itself what it asks for.
            if (facts.declared->topology.empty() && !usual.levels.empty())
                detail::place_among(usual, facts);
            continue;
        }
        const object_metadata* from = facts.object ? &facts.object->metadata : nullptr;
        if (from && !detail::topology_wish(from->annotations).asks())
            from = nullptr;
        const bool by_pods = from == nullptr;
        for (const std::size_t at : facts.members) {
            const object_metadata& pod = objects.pods[at].metadata;
            if (!by_pods || pod.terminating)
                continue;
            if (!from) {
                from = &pod;
            } else if (!(detail::topology_wish(pod.annotations) ==
                         detail::topology_wish(from->annotations))) {
                facts.fault = gang_fault::disagreement;
                facts.fault_detail = "pods " + from->key.name + " and " + pod.key.name +
                                     " disagree on their topology";
                break;
            }
        }
        if (!from || facts.fault != gang_fault::none)
            continue;
        const detail::topology_wish wish(from->annotations);
        if (!wish.asks())
            continue;
        detail::grant(wish, objects, usual, facts);
        if (facts.fault != gang_fault::none)
            report(out, severity::warning, from->where, {"metadata", "annotations"},
                   facts.fault_detail);
    }
}

} // namespace codec
} // namespace v0_1
} // namespace muster
