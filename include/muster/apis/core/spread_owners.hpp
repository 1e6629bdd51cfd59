// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/apis/core/objects.hpp>
#include <muster/apis/core/pod_reader.hpp>
#include <muster/apis/core/reading_context.hpp>
#include <muster/document/field_reader.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

namespace detail {

/// The kinds of which default constraints use the pod selectors: apiVersion and kind.
inline constexpr std::array<std::pair<std::string_view, std::string_view>, 4> spread_kinds{{
    {"v1", "Service"},
    {"v1", "ReplicationController"},
    {"apps/v1", "ReplicaSet"},
    {"apps/v1", "StatefulSet"},
}};

/// True if default constraints use the pod selectors of this kind.
[[nodiscard]] constexpr bool selects_for_spread(std::string_view version,
                                                std::string_view kind) noexcept {
    return std::ranges::find(spread_kinds, std::pair(version, kind)) != spread_kinds.end();
}

/// Reads a Service, ReplicationController, ReplicaSet or StatefulSet.
[[nodiscard]] inline spread_owner_object
read_spread_owner(object_reader& object, std::string_view kind, reading_context& context) {
    spread_owner_object read;
    read.metadata = read_metadata(object, true, context);
    read.kind = kind;
    const field spec_at = object.optional("spec");
    object_reader spec = spec_at.as_object();
    const field selector_at = spec.optional("selector");
    if (kind == "ReplicaSet" || kind == "StatefulSet") {
        read.pods = read_label_selector(selector_at);
    } else if (selector_at.is_present()) {
        read.pods = {{require_equal(read_labels(selector_at))}};
    } else if (kind == "ReplicationController") {
        const field template_at = spec.optional("template");
        object_reader made = template_at.as_object();
        const field metadata_at = made.optional("metadata");
        object_reader metadata = metadata_at.as_object();
        read.pods = {{require_equal(read_labels(metadata.optional("labels")))}};
    }
    return read;
}

/// Returns the pod's owner that is its controller, if any.
[[nodiscard]] inline std::optional<controller_reference> read_controller(object_reader& pod) {
    std::optional<controller_reference> read;
    const field metadata_at = pod.optional("metadata");
    object_reader metadata = metadata_at.as_object();
    const field owners_at = metadata.optional("ownerReferences");
    const array_reader owners = owners_at.as_array();
    owners.for_each_object([&](object_reader& each) {
        if (read || !each.optional("controller").as_boolean().value_or(false))
            return;
        read.emplace();
        read->version = each.optional("apiVersion").as_string().value_or("");
        read->kind = each.optional("kind").as_string().value_or("");
        read->name = each.optional("name").as_string().value_or("");
    });
    return read;
}

} // namespace detail

/// Reads a pod, with its controller if the rules have default spread constraints.
[[nodiscard]] inline pod_object read_pod_with_controller(object_reader& object,
                                                         reading_context& context) {
    std::optional<controller_reference> controller;
    if (!context.rules.default_spread.empty())
        controller = detail::read_controller(object);
    pod_object read = read_pod(object, context);
    read.controller = std::move(controller);
    return read;
}

/// Finds the objects that select a pod for its default spread constraints. Refers to the objects,
/// which must outlive it.
class spread_owners {
public:
    void add(const spread_owner_object& object) {
        if (!object.pods)
            return;
        if (object.kind == "Service")
            services_[object.metadata.key.name_space].insert(&object);
        else
            controllers_.emplace(std::pair(object.kind, object.metadata.key), &object);
    }
    void remove(const spread_owner_object& object) {
        if (const auto at = services_.find(object.metadata.key.name_space); at != services_.end())
            at->second.erase(&object);
        if (const auto at = controllers_.find({object.kind, object.metadata.key});
            at != controllers_.end() && at->second == &object)
            controllers_.erase(at);
    }

    /// Returns the requirements of the Services that select the pod and of its controller. Empty if
    /// there are none.
    [[nodiscard]] std::set<label_requirement> selectors_of(const pod_object& pod) const {
        std::set<label_requirement> found;
        const auto add = [&](const spread_owner_object& owner) {
            found.insert(owner.pods->requirements.begin(), owner.pods->requirements.end());
        };
        const std::string& home = pod.metadata.key.name_space;
        if (const auto at = services_.find(home); at != services_.end())
            for (const spread_owner_object* const each : at->second)
                if (each->pods->matches(pod.metadata.labels))
                    add(*each);
        if (pod.controller &&
            detail::selects_for_spread(pod.controller->version, pod.controller->kind)) {
            const auto at = controllers_.find({pod.controller->kind, {home, pod.controller->name}});
            if (at != controllers_.end())
                add(*at->second);
        }
        return found;
    }

private:
    std::map<std::string, std::set<const spread_owner_object*>> services_;
    std::map<std::pair<std::string, object_key>, const spread_owner_object*> controllers_;
};

} // namespace codec
} // namespace v0_1
} // namespace muster
