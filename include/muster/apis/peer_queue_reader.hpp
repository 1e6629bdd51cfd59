// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <muster/apis/core/objects.hpp>
#include <muster/apis/core/reading_context.hpp>
#include <muster/base/checked.hpp>
#include <muster/document/diagnostic.hpp>
#include <muster/document/duration.hpp>
#include <muster/document/field_reader.hpp>
#include <muster/vocabulary/queue.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

// The queues of other schedulers, as the table in policy/README.md writes them.

inline constexpr std::string_view volcano_root = "root";

namespace detail {

/// An amount of a KAI queue: a number that may have a fraction, in units of `of` core units each,
/// rounded down. -1 is unlimited, and so nothing; absent is 0.
[[nodiscard]] inline std::optional<std::int64_t> read_kai_amount(const field& at, std::int64_t of) {
    if (!at.is_present())
        return 0;
    if (!at.value()->is_number()) {
        at.error("found no number (expected -1, which is unlimited, or at least 0)");
        return 0;
    }
    const auto text = at.as_quantity_text();
    if (text == "-1" || text == "-1.0")
        return std::nullopt;
    const auto amount = read_quantity(at);
    const int128 milli = amount ? amount->milli_down() : 0;
    return saturate(milli * of / 1000);
}

[[nodiscard]] inline std::optional<std::int64_t> read_run_time(const field& at) {
    const auto text = at.as_string();
    if (!text)
        return std::nullopt;
    const auto time = parse_duration(*text);
    if (!time)
        at.error(in_quotes(*text) + " is not a duration (expected e.g. 90m or 1h30m)");
    return time;
}

[[nodiscard]] inline std::map<std::string, std::int64_t> read_capacities(const field& at) {
    std::map<std::string, std::int64_t> read;
    object_reader object = at.as_object();
    object.for_each([&](std::string_view kind, const field& one) {
        if (const auto amount = read_quantity(one))
            read.emplace(std::string(kind), capacity_units(kind, *amount));
    });
    return read;
}

} // namespace detail

/// A scheduling.run.ai/v2 Queue. What is named of neither cpu, memory nor GPUs is unlimited.
[[nodiscard]] inline queue_object read_kai_queue(object_reader& object, reading_context& context) {
    struct kind {
        std::string_view field;
        const char* name;
        std::int64_t units;
    };
    constexpr std::array<kind, 3> kinds{
        {{"gpu", "nvidia.com/gpu", 1}, {"cpu", "cpu", 1}, {"memory", "memory", 1'000'000}}};
    queue_object read;
    read.of_cluster = true;
    read.namespaces = label_selector{};
    read.metadata = read_metadata(object, false, context);
    const field spec_at = object.required("spec");
    object_reader spec = spec_at.as_object();
    read.parent = spec.optional("parentQueue").as_string().value_or("");
    const field resources_at = spec.optional("resources");
    object_reader resources = resources_at.as_object();
    if (!resources_at.is_present())
        object.warning(
            "spec.resources: nothing is said of any, so its pods get neither cpu, memory "
            "nor GPUs (expected e.g. cpu: {quota: 0, limit: -1, overQuotaWeight: 1})");
    std::optional<std::int64_t> weight;
    for (const kind& each : kinds) {
        const field at = resources.optional(each.field);
        object_reader one = at.as_object();
        const auto quota = detail::read_kai_amount(one.optional("quota"), each.units);
        const auto limit = detail::read_kai_amount(one.optional("limit"), each.units);
        const field weight_at = one.optional("overQuotaWeight");
        const auto own = weight_at.as_integer(0, largest_weight);
        if (quota) {
            read.deserved.emplace(each.name, *quota);
            read.non_preemptible_quota.emplace(each.name, *quota);
        }
        // Without a limit nothing is had beyond the quota.
        if (limit && (*limit > 0 || quota))
            read.quota.emplace(each.name, *limit > 0 ? *limit : *quota);
        if (own && weight && *own != *weight)
            weight_at.warning(
                "is not what it is for GPUs, or else cpu, which counts for all kinds");
        weight = weight ? weight : own;
        one.finish();
    }
    resources.finish();
    read.weight = weight.value_or(0);
    read.priority = spec.optional("priority").as_integer().value_or(100);
    read.preempt_min_runtime = detail::read_run_time(spec.optional("preemptMinRuntime"));
    read.reclaim_min_runtime = detail::read_run_time(spec.optional("reclaimMinRuntime"));
    spec.ignore({"displayName"});
    spec.finish();
    object.ignore({"apiVersion", "kind", "status"});
    object.finish();
    return read;
}

/// A scheduling.volcano.sh/v1beta1 Queue.
[[nodiscard]] inline queue_object read_volcano_queue(object_reader& object,
                                                     reading_context& context) {
    queue_object read;
    read.of_cluster = true;
    read.namespaces = label_selector{};
    read.metadata = read_metadata(object, false, context);
    const field spec_at = object.optional("spec");
    object_reader spec = spec_at.as_object();
    const bool is_root = read.metadata.key.name == volcano_root;
    const field parent_at = spec.optional("parent");
    const auto parent = parent_at.as_string().value_or("");
    if (is_root && !parent.empty())
        parent_at.error("the root stands below no queue (expected none)");
    else if (!is_root)
        read.parent = parent.empty() ? volcano_root : parent;
    read.quota = detail::read_capacities(spec.optional("capability"));
    read.deserved = detail::read_capacities(spec.optional("deserved"));
    const field guarantee_at = spec.optional("guarantee");
    object_reader guarantee = guarantee_at.as_object();
    read.guarantee = detail::read_capacities(guarantee.optional("resource"));
    guarantee.finish();
    read.weight = spec.optional("weight").as_integer(1, 65535).value_or(1);
    read.preemptible = spec.optional("reclaimable").as_boolean().value_or(true);
    read.priority = spec.optional("priority").as_integer().value_or(0);
    if (const field nodes = spec.optional("affinity"); nodes.is_present())
        nodes.warning("is not looked at: its pods may use every node");
    if (const auto how = spec.optional("dequeueStrategy").as_string(); how && *how != "traverse")
        read.strict_order = *how == "fifo";
    spec.ignore({"type", "extendClusters"});
    spec.finish();
    const field status_at = object.optional("status");
    object_reader status = status_at.as_object();
    const auto state = status.optional("state").as_string().value_or("Open");
    read.closed = state == "Closed" || state == "Closing";
    status.ignore_rest();
    object.ignore({"apiVersion", "kind"});
    object.finish();
    return read;
}

} // namespace codec
} // namespace v0_1
} // namespace muster
