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
#include <muster/apis/grove/documents.hpp>
#include <muster/apis/grove/names.hpp>
#include <muster/gangs/check_manifest.hpp>
#include <muster/gangs/expressiveness.hpp>
#include <muster/gangs/gang_claims.hpp>
#include <muster/gangs/writing.hpp>

namespace muster {
inline namespace v0_1 {
namespace translate {

/// Grove's PodGangs: podgroups with minima, and packing in node labels for the whole, for groups of
/// podgroups and for each of them.
struct grove_writer {
    [[nodiscard]] static constexpr expressiveness can() {
        return {.api = gang_api::grove,
                .queue = true,
                .priority = priority_word::class_name,
                .topology_required = true,
                .topology_preferred = true};
    }

    static void write(writing& out) {
        const gang_object& gang = out.gang();
        const bool seed = out.options().dialect == grove_dialect::seed;
        // The gang as a PodGang has it: roles below the root, or below groups that are packed.
        gang_object made;
        made.name_space = gang.name_space;
        made.name = out.name(gang.name, labelled_object, "the PodGang");
        made.labels = gang.labels;
        made.annotations = gang.annotations;
        made.priority.class_name = gang.priority.class_name;
        for (const object_reference& owner : gang.owners)
            if (made.owners.empty() && !owner.uid.empty())
                made.owners.push_back(owner);
        made.labels.emplace(seed ? grove::backend_label : grove::scheduler_label,
                            seed ? "kai" : schedulers::kai);
        if (gang.queue)
            made.labels.emplace(keys::kai_queue, *gang.queue);
        if (!gang.topology_name.empty())
            made.annotations.emplace(grove::topology_annotation, gang.topology_name);
        // By vertex of the gang: the podgroup's.
        const std::vector<std::size_t> podgroup_of = plant(made.tree, out);
        std::vector<std::vector<std::string>> names(made.tree.size());
        for (const gang_pod& pod : out.bundle().pods)
            names[podgroup_of[pod.leaf.value()]].push_back(name_of(pod, out));
        std::vector<std::vector<std::string>> names_in_order;
        for (std::size_t at = 1; at < made.tree.size(); ++at)
            if (made.tree.is_leaf(at))
                names_in_order.push_back(std::move(names[at]));

        boost::json::object document = grove_gang_document(
            made, [&](std::size_t podgroup) { return names_in_order[podgroup]; });
        out.give_back(document);
        out.add(std::move(document));

        for (gang_pod& pod : out.pods(scheduler_of(made.labels))) {
            set_label(pod.document, grove::gang_label, made.name);
            set_label(pod.document, grove::clique_label,
                      made.tree[podgroup_of[pod.leaf.value()]].name);
            // In the dialect `seed` the scheduler lifts the gate; else whoever made the pods does,
            // when the PodGang refers to them, as it does here.
            if (seed)
                hold(pod.document);
            out.add(std::move(pod.document));
        }
    }

    static void check(manifest_check& manifest) {
        if (!manifest.is(grove::scheduler_api_version, "PodGang"))
            return;
        manifest.expect_object_name(labelled_object);
        const auto* podgroups = manifest.at({"spec", "podgroups"});
        manifest.expect_names("spec.podgroups", podgroups, labelled_object);
        manifest.each("spec.podgroups", podgroups, [&](const std::string& at, const auto& each) {
            manifest.expect_int32(at + ".minReplicas", each.if_contains("minReplicas"), 0);
        });
        manifest.expect_names("spec.topologyConstraintGroupConfigs",
                              manifest.at({"spec", "topologyConstraintGroupConfigs"}),
                              dns_subdomain);
    }

private:
    /// The scheduler whose backend the PodGang's labels name.
    [[nodiscard]] static std::string_view scheduler_of(const boost::json::object& labels) {
        const auto text = [&](std::string_view key) {
            const auto* value = labels.if_contains(key);
            return value && value->is_string() ? std::string_view(value->get_string())
                                               : std::string_view{};
        };
        std::string_view name = text(grove::scheduler_label);
        if (const std::string_view backend = text(grove::backend_label); !backend.empty())
            name = backend == "kai"           ? schedulers::kai
                   : backend == "koordinator" ? schedulers::koordinator
                                              : "";
        return name == "default-scheduler" ? std::string_view{} : name;
    }

    [[nodiscard]] static std::string name_of(const gang_pod& pod, writing& out) {
        const auto* metadata = pod.document.if_contains("metadata");
        const auto* name = metadata && metadata->is_object()
                               ? metadata->get_object().if_contains("name")
                               : nullptr;
        if (name && name->is_string())
            return std::string(name->get_string());
        out.refuse("Pod", "metadata.name", "missing (expected a name that the PodGang refers to)");
        return {};
    }

    static void hold(boost::json::object& document) {
        boost::json::value& gates = child_at(document, "spec")["schedulingGates"];
        if (!gates.is_array())
            gates.emplace_array();
        gates.get_array().push_back(boost::json::object{{"name", grove::seed_gate}});
    }

    /// Gives the PodGang's tree its vertices, and says for each leaf of the gang in which of them
    /// its members are.
    [[nodiscard]] static std::vector<std::size_t> plant(gang_tree& to, writing& out) {
        const gang_tree& tree = out.gang().tree;
        const gang_minima& minima = out.minima();
        if (tree[0].together)
            to.constrain_topology(vertex_index{0}, *tree[0].together);
        std::vector<std::size_t> podgroup_of(tree.size());
        bool any_needed = false;
        for (const gang_role& role : minima.roles)
            any_needed |= role.needed > 0;
        if (tree.size() == 1 || minima.some_optional ||
            (minima.total_beyond_roles && !any_needed)) {
            out.lose_all_but_total();
            const std::string& name = tree[0].name.empty() ? out.gang().name : tree[0].name;
            const vertex_index only = to.add(vertex_index{0}, minima.total,
                                             out.name(name, labelled_object, "the podgroup"));
            podgroup_of.assign(tree.size(), only.value());
            return podgroup_of;
        }
        if (minima.total_beyond_roles)
            out.lose(loss_kind::total_minimum,
                     std::to_string(minima.total) + " members in all: only podgroups have minima");
        if (minima.inner_total)
            out.lose(loss_kind::total_minimum, "minima of subgroups with roles");
        // Groups exist to be packed; they hold podgroups, not each other.
        std::vector<vertex_index> moved(tree.size(), vertex_index{0});
        for (std::size_t at = 1; at < tree.size(); ++at) {
            if (tree.is_leaf(at))
                continue;
            if (tree[at].together && holds_roles_only(out, at)) {
                moved[at] = to.add(vertex_index{0}, 0,
                                   out.name(out.vertex_path(at), dns_subdomain, "the group"));
                to.constrain_topology(moved[at], *tree[at].together);
            } else {
                out.lose(loss_kind::nesting, "the subgroup " + out.vertex_text(at));
                out.lose_levels_of(at);
            }
        }
        for (const gang_role& role : minima.roles) {
            const vertex_index leaf =
                to.add(moved[tree[role.leaf].parent], role.needed,
                       out.name(out.vertex_path(role.leaf), labelled_object, "the podgroup"));
            if (tree[role.leaf].together)
                to.constrain_topology(leaf, *tree[role.leaf].together);
            podgroup_of[role.leaf] = leaf.value();
        }
        return podgroup_of;
    }

    [[nodiscard]] static bool holds_roles_only(const writing& out, std::size_t of) {
        const gang_tree& tree = out.gang().tree;
        for (std::size_t at = of + 1; at < tree.size(); ++at)
            if (tree[at].parent == of && !tree.is_leaf(at))
                return false;
        return std::ranges::any_of(out.minima().roles, [&](const gang_role& role) {
            return tree[role.leaf].parent == of;
        });
    }
};

} // namespace translate
} // namespace v0_1
} // namespace muster
