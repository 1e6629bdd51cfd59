// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstdlib>

namespace muster {
inline namespace v0_1 {
namespace testing {

/// A number from the environment, or `otherwise` where it is not set.
[[nodiscard]] inline std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
    const char* set = std::getenv(name);
    return set ? std::strtoull(set, nullptr, 10) : otherwise;
}

/// Of something that a test always does `usually` times, how often it does it here: one in as many
/// as MUSTER_PART says (for builds in which everything is slow), at least once.
[[nodiscard]] inline std::uint64_t part_of(std::uint64_t usually) {
    const std::uint64_t part = from_environment("MUSTER_PART", 1);
    return part > 1 ? (usually + part - 1) / part : usually;
}

} // namespace testing
} // namespace v0_1
} // namespace muster
