// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <muster/serve/answer.hpp>
#include <muster/serve/json_values.hpp>
#include <muster/serve/object_store.hpp>

namespace muster {
inline namespace v0_1 {
namespace testing {
namespace api_server {

/// Sets the priority of a new pod from its PriorityClass; `classes` is the index of that kind.
/// Returns the refusal if there is no such class. If `restored`, a pod without such a class keeps
/// the priority in its spec, if any.
[[nodiscard]] inline std::optional<answer>
set_priority(const object_store& objects, std::size_t classes, json::object& pod, bool restored) {
    const std::string name(text_at(pod, {"spec", "priorityClassName"}));
    if (name.empty())
        return std::nullopt;
    json::object& spec = make_object(pod, "spec");
    if (name == "system-cluster-critical" || name == "system-node-critical") {
        spec["priority"] = name == "system-node-critical" ? 2'000'001'000 : 2'000'000'000;
        return std::nullopt;
    }
    const auto found = objects.find(classes, {"", name});
    if (!found && restored && spec.contains("priority"))
        return std::nullopt;
    if (!found)
        return refused(403, "Forbidden",
                       "pods \"" + std::string(text_at(pod, {"metadata", "name"})) +
                           "\" is forbidden: no PriorityClass with name " + name + " was found",
                       details_of(text_at(pod, {"metadata", "name"}), "", "pods"));
    spec["priority"] = integer_at(*found, {"value"}).value_or(0);
    if (const auto policy = text_at(*found, {"preemptionPolicy"}); !policy.empty())
        spec["preemptionPolicy"] = policy;
    return std::nullopt;
}

} // namespace api_server
} // namespace testing
} // namespace v0_1
} // namespace muster
