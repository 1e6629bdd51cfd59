// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/apis/core/reading_context.hpp>
#include <muster/apis/gang_definition.hpp>
#include <muster/apis/volcano/job_reader.hpp>
#include <muster/gangs/gang_claims.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {
namespace detail {

/// Volcano's topology speaks of tiers of HyperNodes, not of node labels: only Volcano can say it.
[[nodiscard]] inline translate::loss_kind topology_loss(bool required) {
    return required ? translate::loss_kind::topology_required
                    : translate::loss_kind::topology_preferred;
}

/// spec.subGroupPolicy. What is said there of topology or by other selectors than equality is kept
/// as written too.
inline void read_volcano_subgroups(const field& at, gang_definition& to) {
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    const array_reader list = at.as_array();
    std::set<std::string, std::less<>> names;
    bool asks_topology = false;
    bool required = false;
    list.for_each_object([&](object_reader& each) {
        label_subgroups policy;
        const field name_at = each.required("name");
        if (const auto name = name_at.as_string()) {
            policy.name = *name;
            if (!names.insert(policy.name).second)
                name_at.error(in_quotes(*name) + " is there twice (expected every policy once)");
        }
        policy.size = each.optional("subGroupSize").as_integer(1, most).value_or(1);
        // More subgroups than anybody could fill only cost memory.
        policy.least = each.optional("minSubGroups").as_integer(0, 100'000).value_or(0);
        if (auto selector = read_label_selector(each.optional("labelSelector")))
            policy.selector = std::move(*selector);
        const field keys_at = each.optional("matchLabelKeys");
        const array_reader keys = keys_at.as_array();
        policy.keys = read_strings(keys);
        if (const field topology = each.optional("networkTopology"); topology.is_present()) {
            asks_topology = true;
            const auto asked = read_hypernodes(topology);
            required = required || (asked && asked->hard);
        }
        each.finish();
        to.subgroups.push_back(std::move(policy));
    });
    if (asks_topology)
        keep_word(to, at, translate::gang_api::volcano, "subGroupPolicy", topology_loss(required));
}

} // namespace detail

/// A scheduling.volcano.sh/v1beta1 PodGroup. As Volcano does, it does not count the minima of tasks
/// when minMember is less than their sum.
[[nodiscard]] inline gang_definition
read_volcano_group(object_reader& object, reading_context& context, object_place where) {
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    const auto& manifest = object.value()->get_object();
    gang_definition made =
        start_definition(object, "PodGroup", translate::target::volcano,
                         {translate::keys::volcano_preemptible}, context, std::move(where));
    // On the group, or as a label there.
    for (const std::string_view map : {"annotations", "labels"})
        if (const auto text =
                translate::metadata_entry(manifest, map, translate::keys::volcano_preemptible);
            text == "true" || text == "false")
            made.gang.preemptible = text == "true";
    const field spec_at = object.required("spec");
    object_reader spec = spec_at.as_object();
    const std::int64_t least = spec.optional("minMember").as_integer(0, most).value_or(0);
    const field tasks_at = spec.optional("minTaskMember");
    object_reader tasks = tasks_at.as_object();
    std::vector<std::pair<std::string, std::int64_t>> minima;
    std::int64_t sum = 0;
    tasks.for_each([&](std::string_view task, const field& at) {
        const std::int64_t minimum = at.as_integer(0, most).value_or(0);
        minima.emplace_back(task, minimum);
        sum = saturating_add(sum, minimum);
    });
    const bool counts = least >= sum;
    if (!counts)
        tasks_at.warning("Volcano does not look at it, as minMember, " + std::to_string(least) +
                         ", is less than its sum, " + std::to_string(sum));
    // Nobody waits for nobody: one member is enough.
    made.gang.tree = gang_tree(std::max<std::int64_t>(1, least));
    detail::read_volcano_subgroups(spec.optional("subGroupPolicy"), made);
    if (made.subgroups.empty())
        for (const auto& [task, minimum] : minima)
            made.gang.tree.add(vertex_index{0}, counts ? minimum : 0, task);
    else if (counts && sum > 0)
        keep_word(made, tasks_at, translate::gang_api::volcano, "minTaskMember",
                  translate::loss_kind::role_minima);
    if (const auto queue = spec.optional("queue").as_string(); queue && !queue->empty())
        made.gang.queue = *queue;
    if (const auto name = spec.optional("priorityClassName").as_string())
        made.gang.priority.class_name = *name;
    made.gang.min_resources = read_min_resources(spec.optional("minResources"));
    if (const field topology = spec.optional("networkTopology"); topology.is_present()) {
        const auto asked = detail::read_hypernodes(topology);
        keep_word(made, topology, translate::gang_api::volcano, "networkTopology",
                  detail::topology_loss(asked && asked->hard));
    }
    spec.finish();
    object.finish();
    return made;
}

} // namespace codec
} // namespace v0_1
} // namespace muster
