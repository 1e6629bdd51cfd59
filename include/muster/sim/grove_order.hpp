// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include <muster/apis/core/objects.hpp>
#include <muster/base/id.hpp>
#include <muster/vocabulary/gang.hpp>
#include <muster/vocabulary/pod.hpp>

namespace muster {
inline namespace v0_1 {
namespace sim {

/// What the sets of a run ask of those who have the nodes.
struct grove_order {
    enum class verb : std::uint8_t {
        add_gang,    ///< with `tree`, `queue` and `priority_class`
        add_pod,     ///< `pod`, to `gang` at `leaf`
        end_pod,     ///< it is over, with `phase`
        remove_pod,  ///< it may never have been added
        remove_gang, ///< after its pods
    };
    verb what = verb::add_gang;
    codec::object_key whom;
    gang_tree tree{};
    std::string queue{};
    std::string priority_class{};
    std::string gang{};
    vertex_index leaf{};
    codec::pod_object pod{};
    pod_phase phase = pod_phase::pending;
};

} // namespace sim
} // namespace v0_1
} // namespace muster
