// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <muster/lifecycle/object_step.hpp>

namespace muster {
inline namespace v0_1 {
namespace lifecycle {
namespace detail {

/// Fields that objects of this kind (`group/Kind`) have or lack as their set says: where one is not
/// wanted, it goes. All others that are not wanted are somebody else's (a default of the API, a
/// webhook's, what a scheduler notes down) and stay: taken out, they would come back for ever.
[[nodiscard]] inline std::span<const std::string_view>
fields_at_times(std::string_view kind) noexcept {
    static constexpr std::array<std::string_view, 2> clique{"autoScalingConfig", "startsAfter"};
    static constexpr std::array<std::string_view, 5> gang{"preferred", "priorityClassName",
                                                          "required", "topologyConstraint",
                                                          "topologyConstraintGroupConfigs"};
    static constexpr std::array<std::string_view, 10> kai{"minMember",
                                                          "minSubGroup",
                                                          "parent",
                                                          "preemptibility",
                                                          "preferredTopologyLevel",
                                                          "priorityClassName",
                                                          "queue",
                                                          "requiredTopologyLevel",
                                                          "subGroups",
                                                          "topologyConstraint"};
    static constexpr std::array<std::string_view, 5> volcano{
        "minResources", "minTaskMember", "priorityClassName", "queue", "subGroupPolicy"};
    static constexpr std::array<std::string_view, 2> koordinator{"minResources",
                                                                 "scheduleTimeoutSeconds"};
    if (kind == "grove.io/PodClique")
        return clique;
    if (kind == "scheduler.grove.io/PodGang")
        return gang;
    if (kind == "scheduling.run.ai/PodGroup")
        return kai;
    if (kind == "scheduling.volcano.sh/PodGroup")
        return volcano;
    if (kind == "scheduling.sigs.k8s.io/PodGroup")
        return koordinator;
    return {};
}

[[nodiscard]] inline bool is_one_of(std::span<const std::string_view> names,
                                    std::string_view name) {
    return std::ranges::find(names, name) != names.end();
}

/// Everything of `wanted` stands in `seen`, and of the fields `at_times` no others; lists have no
/// further elements.
[[nodiscard]] inline bool stands_in(const boost::json::value& seen,
                                    const boost::json::value& wanted,
                                    std::span<const std::string_view> at_times) {
    if (const auto* object = wanted.if_object()) {
        const auto* other = seen.if_object();
        return other &&
               std::ranges::all_of(*object,
                                   [&](const auto& each) {
                                       const auto* value = other->if_contains(each.key());
                                       return value ? stands_in(*value, each.value(), at_times)
                                                    : each.value().is_null();
                                   }) &&
               std::ranges::none_of(*other, [&](const auto& each) {
                   return !object->contains(each.key()) && is_one_of(at_times, each.key());
               });
    }
    if (const auto* list = wanted.if_array()) {
        const auto* other = seen.if_array();
        if (!other || other->size() != list->size())
            return false;
        for (std::size_t at = 0; at < list->size(); ++at)
            if (!stands_in((*other)[at], (*list)[at], at_times))
                return false;
        return true;
    }
    return seen == wanted;
}

/// `seen`, an object of this kind, as it should be, or nothing when it is that way. Labels and
/// annotations of others stay, and so do fields of the spec (`fields_at_times`) and the
/// value that the field `kept` has.
///
/// What else is gone from below a field, as from a template of pods, only a label or annotation
/// tells that changed with it, such as the hash of that template.
[[nodiscard]] inline std::optional<boost::json::object> restored(std::string_view kind,
                                                                 const boost::json::object& seen,
                                                                 const boost::json::object& wanted,
                                                                 std::string_view kept) {
    boost::json::object made = seen;
    bool changed = false;
    boost::json::object& metadata = made["metadata"].emplace_object();
    metadata = seen.at("metadata").as_object();
    const boost::json::object& own = wanted.at("metadata").as_object();
    for (const std::string_view part : {"labels", "annotations"}) {
        const auto* entries = object_at(own, part);
        if (!entries)
            continue;
        if (!metadata[part].is_object())
            metadata[part].emplace_object();
        for (const auto& each : *entries) {
            boost::json::value& value = metadata[part].get_object()[each.key()];
            changed |= value != each.value();
            value = each.value();
        }
    }
    const bool relabelled = changed;
    if (const auto* owners = own.if_contains("ownerReferences"))
        if (!metadata.contains("ownerReferences") ||
            !stands_in(metadata["ownerReferences"], *owners, {})) {
            metadata["ownerReferences"] = *owners;
            changed = true;
        }
    if (const auto* spec = object_at(wanted, "spec")) {
        const auto at_times = fields_at_times(kind);
        boost::json::object next = *spec;
        if (const auto* known = object_at(seen, "spec"))
            for (const auto& each : *known)
                if (each.key() == kept ||
                    (!spec->contains(each.key()) && !is_one_of(at_times, each.key())))
                    next.insert_or_assign(each.key(), each.value());
        if (relabelled || !seen.contains("spec") || !stands_in(seen.at("spec"), next, at_times)) {
            changed |= !seen.contains("spec") || seen.at("spec") != next;
            made["spec"] = std::move(next);
        }
    }
    return changed ? std::optional(std::move(made)) : std::nullopt;
}

} // namespace detail
} // namespace lifecycle
} // namespace v0_1
} // namespace muster
