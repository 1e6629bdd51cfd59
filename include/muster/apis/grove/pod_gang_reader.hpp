// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/apis/core/reading_context.hpp>
#include <muster/apis/gang_definition.hpp>
#include <muster/gangs/gang_claims.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// A Grove PodGang, with the pods that it lists.
struct pod_gang {
    gang_definition made;
    std::vector<std::pair<object_key, vertex_index>> pods;
};

namespace detail {

inline void read_pack(const field& at, vertex_index of, const std::string& topology,
                      gang_definition& to) {
    object_reader object = at.as_object();
    const field pack_at = object.optional("packConstraint");
    object_reader pack = pack_at.as_object();
    placement_wish asked{of, topology, {}, {}};
    asked.required = pack.optional("required").as_string().value_or("");
    asked.preferred = pack.optional("preferred").as_string().value_or("");
    pack.finish();
    object.finish();
    wish(to, std::move(asked));
}

} // namespace detail

/// A scheduler.grove.io/v1alpha1 PodGang: a leaf for each podgroup, below a subgroup for each
/// topologyConstraintGroupConfig that names it; subgroups first.
[[nodiscard]] inline pod_gang read_pod_gang(object_reader& object, reading_context& context,
                                            object_place where) {
    namespace keys = translate::keys;
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    const auto& manifest = object.value()->get_object();
    pod_gang read;
    gang_definition& made = read.made;
    // Writers need the marks of Grove's own on it.
    made = start_definition(object, "PodGang", translate::target::grove, {keys::kai_skip}, context,
                            std::move(where));
    const auto entry = [&](std::string_view map, std::string_view key) {
        return std::string(translate::metadata_entry(manifest, map, key));
    };
    for (const std::string& queue :
         {entry("labels", keys::kai_queue), entry("annotations", keys::kai_queue),
          entry("annotations", keys::grove_volcano_queue)})
        if (!queue.empty() && !made.gang.queue)
            made.gang.queue = queue;
    std::string topology = entry("annotations", keys::grove_topology);
    if (topology.empty())
        topology = entry("annotations", keys::kai_topology);
    made.gang.topology_name = topology;
    made.closed = true;

    const field spec_at = object.required("spec");
    object_reader spec = spec_at.as_object();
    detail::read_pack(spec.optional("topologyConstraint"), vertex_index{0}, topology, made);
    std::map<std::string, vertex_index, std::less<>> parents;
    const field configs_at = spec.optional("topologyConstraintGroupConfigs");
    const array_reader configs = configs_at.as_array();
    configs.for_each_object([&](object_reader& each) {
        const auto name = each.required("name").as_string().value_or("");
        const field names_at = each.optional("podGroupNames");
        const array_reader names = names_at.as_array();
        const std::vector<std::string> groups = read_strings(names);
        const field asked = each.optional("topologyConstraint");
        if (groups.empty()) {
            each.ignore_rest();
            return;
        }
        const vertex_index at = made.gang.tree.add(vertex_index{0}, 0, std::string(name));
        detail::read_pack(asked, at, topology, made);
        for (std::size_t one = 0; one < groups.size(); ++one)
            if (!parents.emplace(groups[one], at).second)
                names[one].error(in_quotes(groups[one]) +
                                 " is in two of them (expected at most one)");
        each.finish();
    });
    const field groups_at = spec.required("podgroups");
    const array_reader groups = groups_at.as_array();
    std::map<std::string, bool, std::less<>> seen;
    groups.for_each_object([&](object_reader& each) {
        const field name_at = each.required("name");
        const std::string name(name_at.as_string().value_or(""));
        if (!seen.emplace(name, true).second)
            name_at.error(in_quotes(name) + " is there twice (expected every podgroup once)");
        const std::int64_t least = each.required("minReplicas").as_integer(0, most).value_or(0);
        const auto above = parents.find(name);
        const vertex_index leaf = made.gang.tree.add(
            above == parents.end() ? vertex_index{0} : above->second, least, name);
        detail::read_pack(each.optional("topologyConstraint"), leaf, topology, made);
        const field pods_at = each.optional("podReferences");
        const array_reader pods = pods_at.as_array();
        pods.for_each_object([&](object_reader& pod) {
            object_key key{made.gang.name_space,
                           std::string(pod.required("name").as_string().value_or(""))};
            if (const auto home = pod.optional("namespace").as_string(); home && !home->empty())
                key.name_space = *home;
            pod.finish();
            read.pods.emplace_back(std::move(key), leaf);
        });
        if (pods.size() > 0)
            made.gang.sizes.push_back({leaf, static_cast<std::int64_t>(pods.size())});
        each.finish();
    });
    for (const auto& [name, at] : parents)
        if (!seen.contains(name))
            configs_at.error(in_quotes(name) + " is no podgroup (expected one of podgroups)");
    total_from_leaves(made.gang.tree);
    if (const auto name = spec.optional("priorityClassName").as_string())
        made.gang.priority.class_name = *name;
    keep_word(made, spec.optional("reuseReservationRef"), translate::gang_api::grove,
              "reuseReservationRef", translate::loss_kind::topology_preferred);
    spec.finish();
    object.finish();
    return read;
}

} // namespace codec
} // namespace v0_1
} // namespace muster
