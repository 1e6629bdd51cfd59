// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include <muster/serve/json_values.hpp>

namespace muster {
inline namespace v0_1 {
namespace testing {
namespace api_server {

namespace detail {

/// The field by which the elements of a list are told apart, as Kubernetes' built-in types declare
/// it; empty for a list that is replaced as a whole.
[[nodiscard]] inline std::string_view merge_key(std::string_view list, const json::array& sample) {
    static constexpr std::pair<std::string_view, std::string_view> keys[] = {
        {"containers", "name"},
        {"initContainers", "name"},
        {"ephemeralContainers", "name"},
        {"volumes", "name"},
        {"imagePullSecrets", "name"},
        {"env", "name"},
        {"schedulingGates", "name"},
        {"resourceClaims", "name"},
        {"secrets", "name"},
        {"hostAliases", "ip"},
        {"podIPs", "ip"},
        {"volumeMounts", "mountPath"},
        {"volumeDevices", "devicePath"},
        {"topologySpreadConstraints", "topologyKey"},
        {"conditions", "type"},
        {"addresses", "type"},
        {"ownerReferences", "uid"},
        {"podGroupTemplates", "name"},
        {"reservedFor", "uid"},
    };
    if (list == "ports") {
        for (const json::value& each : sample)
            if (const auto* const port = each.if_object())
                return port->contains("containerPort") ? "containerPort" : "port";
        return "port";
    }
    const auto* const found =
        std::ranges::find(keys, list, &std::pair<std::string_view, std::string_view>::first);
    return found == std::end(keys) ? std::string_view{} : found->second;
}

[[nodiscard]] inline bool is_merged_set(std::string_view list) {
    return list == "finalizers";
}

inline void strategic_merge(json::object& onto, const json::object& patch);

[[nodiscard]] inline json::array::iterator find_element(json::array& in, std::string_view key,
                                                        const json::value& wanted) {
    return std::ranges::find_if(in, [&](const json::value& each) {
        const auto* const object = each.if_object();
        const json::value* const found = object ? object->if_contains(key) : nullptr;
        return found && *found == wanted;
    });
}

/// The patch without its directives, for what is new.
[[nodiscard]] inline json::value without_directives(const json::value& patch) {
    if (const auto* const object = patch.if_object()) {
        json::object made;
        strategic_merge(made, *object);
        return made;
    }
    if (const auto* const list = patch.if_array()) {
        json::array made;
        for (const json::value& each : *list) {
            const auto* const object = each.if_object();
            if (!object || !object->contains("$patch"))
                made.push_back(without_directives(each));
        }
        return made;
    }
    return patch;
}

inline void merge_elements(json::array& onto, const json::array& patch, std::string_view key) {
    for (const json::value& each : patch) {
        const auto* const element = each.if_object();
        if (!element)
            continue;
        const std::string_view directive = text_at(*element, {"$patch"});
        if (directive == "replace") {
            onto.clear();
            for (const json::value& other : patch)
                if (other.is_object() && !other.get_object().contains("$patch"))
                    onto.push_back(without_directives(other));
            return;
        }
        const json::value* const wanted = element->if_contains(key);
        if (!wanted)
            continue;
        const auto at = find_element(onto, key, *wanted);
        if (directive == "delete") {
            if (at != onto.end())
                onto.erase(at);
        } else if (at == onto.end()) {
            onto.push_back(without_directives(each));
        } else if (at->is_object()) {
            strategic_merge(at->get_object(), *element);
        }
    }
}

/// Where an element stands in a list; its size when it does not.
[[nodiscard]] inline std::size_t place_of(const json::array& list, const json::value& element,
                                          std::string_view key) {
    const auto name = [&](const json::value& of) {
        const auto* const object = of.if_object();
        return object && !key.empty() ? object->if_contains(key) : nullptr;
    };
    const json::value* const wanted = key.empty() ? &element : name(element);
    std::size_t at = 0;
    for (; wanted && at < list.size(); ++at)
        if (const json::value* const found = key.empty() ? &list[at] : name(list[at]);
            found && *found == *wanted)
            return at;
    return list.size();
}

/// Brings the elements that `order` names into that order. The others keep theirs, and go before
/// the first of those that they stood before in `former`.
inline void set_order(json::array& list, const json::array& order, const json::array& former,
                      std::string_view key) {
    json::array named;
    for (const json::value& each : order)
        if (const std::size_t at = place_of(list, each, key); at < list.size())
            named.push_back(list[at]);
    json::array made;
    auto next = named.begin();
    for (const json::value& each : list) {
        if (place_of(order, each, key) < order.size())
            continue;
        const std::size_t own = place_of(former, each, key);
        while (next != named.end()) {
            const std::size_t other = place_of(former, *next, key);
            if (own < former.size() && other < former.size() && own < other)
                break;
            made.push_back(*next++);
        }
        made.push_back(each);
    }
    made.insert(made.end(), next, named.end());
    list = std::move(made);
}

inline void drop_elements(json::object& from, std::string_view list, const json::value& which) {
    json::value* const found = from.if_contains(list);
    if (!found || !found->is_array() || !which.is_array())
        return;
    for (const json::value& each : which.get_array())
        if (const auto at = std::ranges::find(found->get_array(), each);
            at != found->get_array().end())
            found->get_array().erase(at);
}

/// `order`: how the patch wants the list to be; the order of its own elements when null.
inline void merge_list(json::value& onto, const json::array& patch, std::string_view name,
                       const json::array* order) {
    const std::string_view key = merge_key(name, patch);
    if (!onto.is_array() || (key.empty() && !is_merged_set(name))) {
        onto = without_directives(patch);
        return;
    }
    if (!key.empty()) {
        const json::array former = onto.get_array();
        merge_elements(onto.get_array(), patch, key);
        set_order(onto.get_array(), order ? *order : patch, former, key);
        return;
    }
    for (const json::value& each : patch)
        if (std::ranges::find(onto.get_array(), each) == onto.get_array().end())
            onto.get_array().push_back(each);
}

inline void strategic_merge(json::object& onto, const json::object& patch) {
    const std::string_view directive = text_at(patch, {"$patch"});
    if (directive == "delete") {
        onto.clear();
        return;
    }
    if (directive == "replace")
        onto.clear();
    if (const json::array* const kept = array_at(patch, {"$retainKeys"})) {
        json::object made;
        for (const json::value& each : *kept)
            if (each.is_string())
                if (const json::value* const found = onto.if_contains(each.get_string()))
                    made[each.get_string()] = *found;
        onto = std::move(made);
    }
    constexpr std::string_view order = "$setElementOrder/";
    constexpr std::string_view drop = "$deleteFromPrimitiveList/";
    for (const auto& [field, value] : patch) {
        const std::string_view name(field.data(), field.size());
        if (name.starts_with(drop)) {
            drop_elements(onto, name.substr(drop.size()), value);
        } else if (name.starts_with('$')) {
            continue;
        } else if (value.is_null()) {
            onto.erase(field);
        } else if (const auto* const object = value.if_object()) {
            strategic_merge(make_object(onto, name), *object);
        } else if (const auto* const list = value.if_array()) {
            merge_list(onto[field], *list, name,
                       array_at(patch, {std::string(order) + std::string(name)}));
        } else {
            onto[field] = value;
        }
    }
    // An order may come without any element to merge.
    for (const auto& [field, value] : patch) {
        const std::string_view name(field.data(), field.size());
        if (!name.starts_with(order) || !value.is_array() ||
            patch.contains(name.substr(order.size())))
            continue;
        json::value* const list = onto.if_contains(name.substr(order.size()));
        if (!list || !list->is_array())
            continue;
        const json::array former = list->get_array();
        set_order(list->get_array(), value.get_array(), former,
                  merge_key(name.substr(order.size()), value.get_array()));
    }
}

} // namespace detail

/// Kubernetes' strategic merge patch: as a merge patch, but lists of named elements are merged by
/// their keys. Knows the lists of pods, nodes and the other built-in kinds that are served.
inline void strategic_merge_patch(json::value& onto, const json::value& patch) {
    if (onto.is_object() && patch.is_object())
        detail::strategic_merge(onto.get_object(), patch.get_object());
}

} // namespace api_server
} // namespace testing
} // namespace v0_1
} // namespace muster
