// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <muster/apis/gang_definition.hpp>
#include <muster/apis/t9k/group_tree.hpp>
#include <muster/apis/t9k/reader.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// A scheduler.tensorstack.dev/v1beta1 PodGroup. An absent queue or priority stays absent.
[[nodiscard]] inline gang_definition read_t9k_group(object_reader& object, reading_context& context,
                                                    object_place where) {
    gang_definition made =
        start_definition(object, "PodGroup", translate::target::t9k, {}, context, std::move(where));
    const auto* spec = translate::find_object(&object.value()->get_object(), "spec");
    const auto written = [&](std::string_view key) {
        const auto* value = spec ? spec->if_contains(key) : nullptr;
        return value && !value->is_null() ? value : nullptr;
    };
    const pod_group_object read = read_pod_group(object, context);
    const gang_tree tree = tree_of(read);
    made.gang.tree = gang_tree(tree[0].min_member);
    for (const role_minimum& role : read.roles)
        made.gang.tree.add(vertex_index{0}, role.min_member, role.name);
    if (written("queue"))
        made.gang.queue = read.queue;
    if (written("priority"))
        made.gang.priority.number = read.priority;
    if (const auto* policy = written("topologyPolicy"))
        made.gang.own_words.push_back({translate::gang_api::t9k,
                                       translate::loss_kind::topology_preferred, "topologyPolicy",
                                       *policy});
    return made;
}

} // namespace codec
} // namespace v0_1
} // namespace muster
