// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include <muster/apis/gang_facts.hpp>
#include <muster/apis/koordinator/gang_group.hpp>
#include <muster/gangs/check_manifest.hpp>
#include <muster/gangs/expressiveness.hpp>
#include <muster/gangs/gang_claims.hpp>
#include <muster/gangs/writing.hpp>

namespace muster {
inline namespace v0_1 {
namespace translate {

/// Koordinator: a PodGroup for every role that has a minimum of its own, all in one gang group,
/// which starts whole or not at all and may reach into several namespaces.
struct koordinator_writer {
    [[nodiscard]] static constexpr expressiveness can() {
        return {.api = gang_api::coscheduling,
                .queue = true,
                .timeout = true,
                .topology_required = true,
                .topology_preferred = true,
                .namespaces = true,
                .parts = true};
    }

    static void write(writing& out) {
        const gang_object& gang = out.gang();
        const gang_minima& minima = out.minima();
        const bool grouped = out.spans_namespaces() ||
                             (gang.origin == target::koordinator && minima.roles.size() > 1 &&
                              !minima.some_optional) ||
                             (out.from_grove() && !minima.some_optional) ||
                             (!minima.roles_follow && !minima.some_optional);
        const std::vector<gang_of_group> gangs = grouped ? gang_group_of(out) : one_gang_of(out);
        if (grouped)
            out.lose_all_above_roles();
        else
            out.lose_all_but_total();
        lose_inner_levels(grouped, out);
        const std::string list =
            gangs.size() > 1 || out.from_grove() ? group_list(gangs) : std::string();
        for (const gang_of_group& each : gangs) {
            boost::json::object group = out.manifest(sigs_group_version, "PodGroup", each.name);
            if (!each.name_space.empty())
                child_at(group, "metadata")["namespace"] = each.name_space;
            if (out.from_grove())
                set_label(group, keys::grove_gang, gang.name);
            const part_words* const own = each.role ? each.role->own : nullptr;
            if (own)
                label_part(group, *own, out);
            boost::json::object& spec = child_at(group, "spec");
            spec["minMember"] = each.minimum;
            if (const auto& least = own ? own->min_resources : gang.min_resources;
                least && (own || gangs.size() == 1))
                spec["minResources"] = *least;
            const auto said = own ? own->wait_seconds : gang.wait_seconds;
            if (const auto wait =
                    out.from_grove() && !said ? out.options().koordinator_wait_seconds : said)
                spec["scheduleTimeoutSeconds"] = *wait;
            annotate(group, each, list, out);
            out.add(std::move(group));
        }
        if (gang.queue && out.bundle().pods.empty())
            out.lose(loss_kind::queue, "queue '" + *gang.queue + "': only pods can say it");
        const auto by_leaf = gangs_by_leaf(gangs, gang.tree);
        for (gang_pod& pod : out.pods(schedulers::koordinator)) {
            const gang_of_group* own = by_leaf[pod.leaf.value()];
            set_label(pod.document, keys::sigs_group, own->name);
            if (gang.queue)
                set_label(pod.document, keys::koord_queue,
                          out.name(*gang.queue, label_value, "the queue"));
            out.add(std::move(pod.document));
        }
    }

    static void check(manifest_check& manifest) {
        if (!manifest.is(sigs_group_version, "PodGroup"))
            return;
        manifest.expect_object_name(labelled_object);
        manifest.expect_int32("spec.minMember", manifest.at({"spec", "minMember"}), 0);
        manifest.expect_int32("spec.scheduleTimeoutSeconds",
                              manifest.at({"spec", "scheduleTimeoutSeconds"}), 0);
    }

private:
    static void label_part(boost::json::object& group, const part_words& own, const writing& out) {
        boost::json::object& metadata = child_at(group, "metadata");
        if (!out.from_grove())
            writing::own(metadata, own.owners);
        for (const auto& [key, entries] :
             {std::pair<std::string_view, const boost::json::object*>{"labels", &own.labels},
              {"annotations", &own.annotations}}) {
            metadata.erase(key);
            if (!entries->empty())
                metadata[key] = *entries;
        }
    }

    [[nodiscard]] static std::string_view layer_of(std::string_view level) {
        constexpr std::array<std::pair<std::string_view, std::string_view>, 3> layers{{
            {"kubernetes.io/hostname", "hostLayer"},
            {"topology.kubernetes.io/rack", "rackLayer"},
            {"topology.kubernetes.io/block", "blockLayer"},
        }};
        for (const auto& [key, layer] : layers)
            if (key == level)
                return layer;
        return {};
    }

    static void annotate(boost::json::object& group, const gang_of_group& each,
                         const std::string& list, writing& out) {
        const part_words* const own = each.role ? each.role->own : nullptr;
        out.give_back(group, own ? own->own_words : out.gang().own_words, [](const own_word& word) {
            return word.field != keys::koord_matching ||
                   word.value != boost::json::value("waiting-running-succeed"); // ACK's alone
        });
        const auto note = [&](std::string_view key, std::string value) {
            child_at(child_at(group, "metadata"), "annotations").emplace(key, std::move(value));
        };
        if (!list.empty())
            note(keys::koord_groups, list);
        if (out.from_grove()) {
            note(keys::koord_mode, "Strict");
            note(keys::koord_matching, "once-satisfied");
        }
        // How many there are to be, where Koordinator or Grove said it.
        const std::vector<gang_role>& roles = out.minima().roles;
        const gang_role* const role = each.role || roles.size() != 1 ? each.role : &roles.front();
        if ((out.from_grove() || out.gang().origin == target::koordinator) && role &&
            role->replicas && *role->replicas >= each.minimum)
            note(keys::koord_total, std::to_string(*role->replicas));
        // Gangs of a group are placed together: what the whole asks for, each of them asks for.
        const gang_tree& tree = out.gang().tree;
        const std::size_t leaf = each.role ? each.role->leaf : 0;
        const std::size_t from = tree[leaf].together ? leaf : 0;
        if (from != 0 && tree[0].together)
            out.lose_levels_of(0);
        if (boost::json::object rule = gather(from, out); !rule.empty())
            note(keys::koord_topology,
                 boost::json::serialize(
                     boost::json::object{{"gatherStrategy", boost::json::array{std::move(rule)}}}));
    }

    // One rule: the required one, else the preferred.
    [[nodiscard]] static boost::json::object gather(std::size_t at, writing& out) {
        const gang_tree::vertex& vertex = out.gang().tree[at];
        const std::string required = required_level(vertex);
        const std::string preferred = preferred_level(vertex);
        const std::string_view must = layer_of(required);
        const std::string_view rather = layer_of(preferred);
        if (!required.empty() && must.empty()) {
            if (out.from_grove())
                out.refuse("PodGang", "topologyConstraint.packConstraint.required",
                           "'" + required + "' of " + out.vertex_text(at) +
                               " (expected a label that is one of Koordinator's layers: "
                               "kubernetes.io/hostname, topology.kubernetes.io/rack or /block)");
            else
                out.lose(loss_kind::topology_required,
                         out.vertex_text(at) + " within one " + required + ": none of its layers");
        }
        if (!preferred.empty() && (rather.empty() || !must.empty()))
            out.lose(loss_kind::topology_preferred,
                     out.vertex_text(at) + " rather within one " + preferred +
                         (rather.empty() ? ": none of its layers" : ": one rule only"));
        if (!must.empty())
            return {{"layer", must}, {"strategy", "MustGather"}};
        if (!rather.empty())
            return {{"layer", rather}, {"strategy", "PreferGather"}};
        return {};
    }

    static void lose_inner_levels(bool grouped, writing& out) {
        const gang_tree& tree = out.gang().tree;
        for (std::size_t at = 1; at < tree.size() && grouped; ++at)
            if (!tree.is_leaf(at) && tree[at].together) {
                if (out.from_grove())
                    out.refuse("PodGang", "spec.topologyConstraintGroupConfigs",
                               "of " + out.vertex_text(at) +
                                   " (expected none: Koordinator has no subgroups)");
                else
                    out.lose_levels_of(at);
            }
    }
};

} // namespace translate
} // namespace v0_1
} // namespace muster
