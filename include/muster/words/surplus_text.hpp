// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <muster/base/short_text.hpp>

namespace muster {
inline namespace v0_1 {
namespace words {

/// Returns which members wait beyond the minimum of their gang: "a, b wait beyond the minimum".
[[nodiscard]] inline std::string surplus_text(const std::vector<std::string>& pods) {
    return list_text(pods, "pod") + (pods.size() == 1 ? " waits" : " wait") + " beyond the minimum";
}

} // namespace words
} // namespace v0_1
} // namespace muster
