// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <muster/apis/core/objects.hpp>
#include <muster/gangs/gang_object.hpp>
#include <muster/vocabulary/gang.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// A pod that found its gang.
struct gang_member {
    translate::gang_pod pod;
    object_place where;
    vertex_index anchor; ///< the vertex that the pod's marks name: the root or a leaf
    std::string role;    ///< a leaf below it
};

/// A gang with its members at their leaves, and the gangs with which it starts.
struct joined_gang {
    translate::gang_bundle made;
    object_place where;
    std::vector<object_key> together;
    /// The API of its group; `none` for a single pod and for a job.
    translate::gang_api api = translate::gang_api::none;
    /// Why it cannot be judged, where that is no error of the whole input.
    std::string fault{};
};

} // namespace codec
} // namespace v0_1
} // namespace muster
