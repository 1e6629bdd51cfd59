// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>

#include <support/world.hpp>

namespace muster {
inline namespace v0_1 {
namespace testing {

// Short words for worlds made by hand. What they return is the object added, to be changed further
// until the next one is added.

[[nodiscard]] inline resources<world_width> amounts(std::initializer_list<std::int64_t> columns) {
    resources<world_width> made;
    std::size_t column = 0;
    for (const std::int64_t amount : columns)
        made[column++] = amount;
    return made;
}

inline node<world_width>& add_node(world& to, std::string key,
                                   std::initializer_list<std::int64_t> allocatable) {
    to.nodes.push_back({std::move(key), {}});
    to.nodes.back().spec.allocatable = amounts(allocatable);
    return to.nodes.back().spec;
}

inline gang<std::string>& add_gang(world& to, std::string key, gang_tree tree) {
    to.gangs.push_back({std::move(key), {}});
    to.gangs.back().spec.tree = std::move(tree);
    return to.gangs.back().spec;
}

inline queue<world_width>& add_queue(world& to, std::string key) {
    to.queues.push_back({std::move(key), {}, {}});
    return to.queues.back().spec;
}

inline world::named_pod& add_pod(world& to, std::string key, std::string gang, std::size_t role,
                                 std::initializer_list<std::int64_t> request) {
    world::named_pod made;
    made.key = std::move(key);
    made.gang = std::move(gang);
    made.spec.role = vertex_index{role};
    made.spec.request = amounts(request);
    to.pods.push_back(std::move(made));
    return to.pods.back();
}

} // namespace testing
} // namespace v0_1
} // namespace muster
