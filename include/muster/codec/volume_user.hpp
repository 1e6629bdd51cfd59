// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <muster/codec/objects.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// A pod with volumes, and the place of its gang in the order in which gangs are handed volumes.
struct volume_user {
    const pod_object* pod = nullptr;
    std::size_t gang = 0;
};

} // namespace codec
} // namespace v0_1
} // namespace muster
