// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include <muster/document/object_metadata.hpp>
#include <muster/gangs/gang_claims.hpp>

namespace muster {
inline namespace v0_1 {
namespace apis {

/// Returns what is missing if no object is the group that a mark of a pod names: "there is no
/// PodGroup g of scheduling.volcano.sh/v1beta1 in namespace n: annotation
/// scheduling.k8s.io/group-name names it".
[[nodiscard]] inline std::string missing_text(std::string_view kind, const codec::object_key& group,
                                              std::string_view version, const std::string& mark) {
    return "there is no " + std::string(kind) + " " + group.name + " of " + std::string(version) +
           " in namespace " + group.name_space + ": " + mark + " names it";
}

} // namespace apis
} // namespace v0_1
} // namespace muster
