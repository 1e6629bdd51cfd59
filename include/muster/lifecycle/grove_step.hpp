// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <muster/base/timestamp.hpp>
#include <muster/lifecycle/grove_view.hpp>
#include <muster/lifecycle/object_step.hpp>

namespace muster::inline v0_1 {
namespace lifecycle {

using grove_write = object_write;
using grove_step = object_step;

namespace detail {

/// Everything of `wanted` stands in `seen`; lists have no further elements.
[[nodiscard]] inline bool contains(const boost::json::value& seen,
                                   const boost::json::value& wanted) {
    if (const auto* object = wanted.if_object()) {
        const auto* other = seen.if_object();
        return other && std::ranges::all_of(*object, [&](const auto& each) {
                   const auto* value = other->if_contains(each.key());
                   return value ? contains(*value, each.value()) : each.value().is_null();
               });
    }
    if (const auto* list = wanted.if_array()) {
        const auto* other = seen.if_array();
        if (!other || other->size() != list->size())
            return false;
        for (std::size_t at = 0; at < list->size(); ++at)
            if (!contains((*other)[at], (*list)[at]))
                return false;
        return true;
    }
    return seen == wanted;
}

/// `seen` as it should be, or nothing when it is that way. Labels and annotations of others stay;
/// so do fields of the spec when `open`, and those in `kept` in any case, with their values.
[[nodiscard]] inline std::optional<boost::json::object>
restored(const boost::json::object& seen, const boost::json::object& wanted, bool open,
         std::initializer_list<std::string_view> kept = {}) {
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
    if (const auto* owners = own.if_contains("ownerReferences"))
        if (!metadata.contains("ownerReferences") ||
            !contains(metadata["ownerReferences"], *owners)) {
            metadata["ownerReferences"] = *owners;
            changed = true;
        }
    const auto* spec = object_at(wanted, "spec");
    if (!spec)
        return changed ? std::optional(std::move(made)) : std::nullopt;
    const auto* seen_spec = object_at(seen, "spec");
    const boost::json::object none;
    boost::json::object next = open && seen_spec ? *seen_spec : none;
    for (const auto& each : *spec)
        next.insert_or_assign(each.key(), each.value());
    for (const std::string_view key : kept)
        if (const auto* value = seen_spec ? seen_spec->if_contains(key) : nullptr)
            next.insert_or_assign(key, *value);
    const bool same = seen_spec && seen_spec->size() == next.size() && contains(*seen_spec, next);
    if (!same)
        made["spec"] = std::move(next);
    return changed || !same ? std::optional(std::move(made)) : std::nullopt;
}

/// Conditions as Kubernetes keeps them: the time of a condition is that of its last change.
class conditions {
public:
    conditions(const boost::json::object* object, std::int64_t now) : now_(time_text(now)) {
        if (const auto* list = object ? list_at(*object, "status", "conditions") : nullptr)
            list_ = *list;
    }

    void set(std::string_view type, std::string_view status, std::string_view reason) {
        for (boost::json::value& each : list_)
            if (each.is_object() && text_at(each.get_object(), "type") == type) {
                boost::json::object& known = each.get_object();
                if (text_at(known, "status") != status)
                    known["lastTransitionTime"] = now_;
                known["status"] = status;
                known["reason"] = reason;
                return;
            }
        list_.push_back(boost::json::object{
            {"type", type}, {"status", status}, {"reason", reason}, {"lastTransitionTime", now_}});
    }
    void set(std::string_view type, bool status, std::string_view reason) {
        set(type, std::string_view(status ? "True" : "False"), reason);
    }

    [[nodiscard]] std::string_view status(std::string_view type) const {
        const auto* found = find(type);
        return found ? text_at(*found, "status") : std::string_view{};
    }
    [[nodiscard]] std::string_view reason(std::string_view type) const {
        const auto* found = find(type);
        return found ? text_at(*found, "reason") : std::string_view{};
    }
    /// When it last changed.
    [[nodiscard]] std::optional<std::int64_t> since(std::string_view type) const {
        const auto* found = find(type);
        return found ? parse_timestamp(text_at(*found, "lastTransitionTime")) : std::nullopt;
    }
    [[nodiscard]] const boost::json::array& list() const noexcept { return list_; }

private:
    [[nodiscard]] const boost::json::object* find(std::string_view type) const {
        for (const boost::json::value& each : list_)
            if (each.is_object() && text_at(each.get_object(), "type") == type)
                return &each.get_object();
        return nullptr;
    }

    boost::json::array list_;
    std::string now_;
};

} // namespace detail
} // namespace lifecycle
} // namespace muster::inline v0_1
