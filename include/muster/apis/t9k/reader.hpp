// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/apis/core/objects.hpp>
#include <muster/apis/core/reading_context.hpp>
#include <muster/document/duration.hpp>
#include <muster/document/field_reader.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

inline constexpr std::int64_t largest_member_count = std::numeric_limits<std::int32_t>::max();

[[nodiscard]] inline std::vector<condition> read_conditions(const field& at,
                                                            reading_context& context) {
    std::vector<condition> read;
    const array_reader list = at.as_array();
    list.for_each_object([&](object_reader& each) {
        condition one;
        if (const auto type = each.required("type").as_string())
            one.type = *type;
        if (const auto status = each.required("status").as_string())
            one.is_true = *status == "True";
        if (const auto reason = each.optional("reason").as_string())
            one.reason = *reason;
        if (const auto message = each.optional("message").as_string())
            one.message = *message;
        if (const auto id = each.optional("transitionID").as_string())
            one.transition_id = *id;
        one.changed = context.time(each.optional("lastTransitionTime"));
        each.ignore({"lastProbeTime", "lastUpdateTime", "observedGeneration"});
        each.finish();
        read.push_back(std::move(one));
    });
    return read;
}

/// A scheduler.tensorstack.dev/v1beta1 PodGroup.
[[nodiscard]] inline pod_group_object read_pod_group(object_reader& object,
                                                     reading_context& context) {
    pod_group_object read;
    read.metadata = read_metadata(object, true, context);
    const field spec_at = object.required("spec");
    object_reader spec = spec_at.as_object();
    read.min_member = spec.optional("minMember").as_integer(0, largest_member_count).value_or(0);
    if (const auto queue = spec.optional("queue").as_string(); queue && !queue->empty())
        read.queue = *queue;
    read.priority = spec.optional("priority").as_integer(0, 100).value_or(0);
    // Nobody documents what its values mean.
    read.topology_policy = spec.optional("topologyPolicy").is_present();
    const field roles_at = spec.optional("roles");
    const array_reader roles = roles_at.as_array();
    roles.for_each_object([&](object_reader& each) {
        role_minimum role;
        const field name_at = each.required("name");
        const auto name = name_at.as_string();
        role.min_member =
            each.optional("minMember").as_integer(0, largest_member_count).value_or(0);
        each.finish();
        if (!name)
            return;
        role.name = *name;
        if (role.name.empty())
            name_at.error("is empty (expected the name of a role)");
        else if (std::ranges::find(read.roles, role.name, &role_minimum::name) != read.roles.end())
            name_at.error(in_quotes(role.name) + " is there twice (expected every role once)");
        else
            read.roles.push_back(std::move(role));
    });
    spec.finish();
    const field status_at = object.optional("status");
    object_reader status = status_at.as_object();
    read.conditions = read_conditions(status.optional("conditions"), context);
    status.ignore({"allocated", "pending", "running", "succeeded", "failed", "unknown", "phase"});
    status.finish();
    object.ignore({"apiVersion", "kind"});
    object.finish();
    return read;
}

/// A scheduler.tensorstack.dev/v1beta1 Queue.
[[nodiscard]] inline queue_object read_queue(object_reader& object, reading_context& context) {
    queue_object read;
    read.metadata = read_metadata(object, true, context);
    const field spec_at = object.optional("spec");
    object_reader spec = spec_at.as_object();
    const field quota_at = spec.optional("quota");
    object_reader quota = quota_at.as_object();
    const field requests_at = quota.optional("requests");
    object_reader requests = requests_at.as_object();
    requests.for_each([&](std::string_view kind, const field& at) {
        if (const auto amount = read_quantity(at))
            read.quota.emplace(std::string(kind), capacity_units(kind, *amount));
    });
    quota.finish();
    read.priority = spec.optional("priority").as_integer(0, 100).value_or(0);
    read.closed = spec.optional("closed").as_boolean().value_or(false);
    read.preemptible = spec.optional("preemptible").as_boolean().value_or(true);
    read.namespaces = read_label_selector(spec.optional("namespaceSelector"));
    if (auto nodes = read_label_selector(spec.optional("nodeSelector")))
        read.nodes = std::move(*nodes);
    const field longest_at = spec.optional("maxDuration");
    if (const auto text = longest_at.as_string()) {
        const auto longest = parse_duration(*text);
        if (!longest)
            longest_at.error(in_quotes(*text) + " is not a duration (expected e.g. 90m or 1d12h)");
        else if (*longest > 0)
            read.max_duration = *longest;
    }
    if (const field profile = spec.optional("resourceShapeProfile"); profile.is_present())
        profile.warning("is not looked at: what its pods may ask for at most is not checked");
    spec.finish();
    object.ignore({"apiVersion", "kind", "status"});
    object.finish();
    return read;
}

} // namespace codec
} // namespace v0_1
} // namespace muster
