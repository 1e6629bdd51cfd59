// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/serve/answer.hpp>
#include <muster/serve/field_sets.hpp>
#include <muster/serve/invalid.hpp>
#include <muster/serve/json_values.hpp>
#include <muster/serve/patches.hpp>
#include <muster/serve/registry.hpp>
#include <muster/serve/strategic_patch.hpp>

namespace muster {
inline namespace v0_1 {
namespace testing {
namespace api_server {

/// The parameters of a server-side apply.
struct apply_request {
    std::size_t kind = 0;
    object_key key = {};
    std::string_view manager = {};
    /// Take conflicting fields from other managers instead of failing.
    bool force = false;
};

namespace detail {

/// True if `entry` of metadata.managedFields records the applies of `manager`.
[[nodiscard]] inline bool is_entry_of(const json::object& entry, std::string_view manager,
                                      bool status) {
    return text_at(entry, {"manager"}) == manager && text_at(entry, {"operation"}) == "Apply" &&
           (text_at(entry, {"subresource"}) == "status") == status;
}

/// Returns the answer 409 for fields that other managers applied with other values.
[[nodiscard]] inline answer
apply_conflict(const std::vector<std::pair<std::string, std::string>>& found) {
    json::array causes;
    std::string text;
    std::string_view last;
    for (const auto& [manager, field] : found) {
        const std::string with = "conflict with \"" + manager + "\"";
        causes.push_back(
            json::object{{"reason", "FieldManagerConflict"}, {"message", with}, {"field", field}});
        if (found.size() == 1)
            text = with + ": " + field;
        else if (manager != last)
            text += (text.empty() ? "" : "\n") + ("conflicts with \"" + manager + "\":");
        if (found.size() > 1)
            text += "\n- " + field;
        last = manager;
    }
    return refused(409, "Conflict",
                   "Apply failed with " + std::to_string(found.size()) + " conflict" +
                       (found.size() == 1 ? ": " : "s: ") + text,
                   json::object{{"causes", std::move(causes)}});
}

/// Returns an entry of metadata.managedFields. If the field set equals that of `former`, the entry
/// keeps its time, so that a repeated apply does not change the object.
[[nodiscard]] inline json::object managed_entry(const json::object* former, const field_set& own,
                                                std::string_view manager, std::string version,
                                                const std::string& now, bool status) {
    json::object made{{"manager", manager},       {"operation", "Apply"},
                      {"apiVersion", version},    {"time", now},
                      {"fieldsType", "FieldsV1"}, {"fieldsV1", json::value(own)}};
    if (status)
        made["subresource"] = "status";
    if (former && object_at(*former, {"fieldsV1"}) && *object_at(*former, {"fieldsV1"}) == own)
        made["time"] = text_at(*former, {"time"});
    return made;
}

} // namespace detail

/// Server-side apply. Creates the object, or sets the fields in `config` and removes fields that
/// `manager` applied earlier and that `config` lacks. Only applies own fields: a value that another
/// kind of write has set is overwritten without a conflict.
[[nodiscard]] inline answer apply_object(registry& in, const apply_request& asked,
                                         json::object config, write_options how) {
    const kind_info& of = in.kinds[asked.kind];
    if (asked.manager.empty())
        return refused(
            422, "Invalid",
            "PatchOptions.meta.k8s.io \"\" is invalid: fieldManager: Required value: is required "
            "for apply patch",
            json::object{{"causes", json::array{json::object{
                                        {"reason", "FieldValueRequired"},
                                        {"message", "Required value: is required for apply patch"},
                                        {"field", "fieldManager"}}}},
                         {"group", "meta.k8s.io"},
                         {"kind", "PatchOptions"}});
    if (const json::array* const given = array_at(config, {"metadata", "managedFields"});
        given && !given->empty())
        return bad_request("metadata.managedFields must be nil");
    if (const auto name = text_at(config, {"metadata", "name"}); name != asked.key.second)
        return bad_request("the name of the object (" + std::string(name) +
                           ") does not match the name on the URL (" + asked.key.second + ")");
    how.applied = true;
    const field_set own = fields_of(config, !of.custom);
    const shared_object before = in.objects.find(asked.kind, asked.key);
    const auto entry_of = [&](const json::object* former) {
        return detail::managed_entry(former, own, asked.manager, of.api_version(), in.time_now(),
                                     how.status);
    };
    if (!before) {
        if (how.status)
            return in.missing(asked.kind, asked.key.second);
        make_object(config, "metadata")["managedFields"] = json::array{entry_of(nullptr)};
        return in.create(asked.kind, asked.key.first, std::move(config), how);
    }
    json::value made = *before;
    const json::value wanted = std::move(config);
    json::array owners;
    field_set dropped;
    std::vector<field_set> of_others;
    std::vector<std::pair<std::string, std::string>> conflicts;
    bool is_new = true;
    if (const json::array* const known = array_at(*before, {"metadata", "managedFields"}))
        for (const json::value& each : *known) {
            const json::object* const entry = each.if_object();
            const json::object* const fields = entry ? object_at(*entry, {"fieldsV1"}) : nullptr;
            if (!fields)
                continue;
            if (detail::is_entry_of(*entry, asked.manager, how.status)) {
                is_new = false;
                dropped = subtract(*fields, own);
                owners.push_back(entry_of(entry));
                continue;
            }
            std::vector<std::string> paths;
            find_conflicts(own, *fields, &made, &wanted, "", paths);
            for (std::string& path : paths)
                conflicts.emplace_back(text_at(*entry, {"manager"}), std::move(path));
            of_others.push_back(*fields);
            field_set left = paths.empty() ? *fields : subtract(*fields, own);
            if (left.empty())
                continue;
            owners.push_back(*entry);
            owners.back().get_object()["fieldsV1"] = std::move(left);
        }
    if (is_new)
        owners.push_back(entry_of(nullptr));
    if (!conflicts.empty() && !asked.force)
        return detail::apply_conflict(conflicts);
    for (const field_set& each : of_others)
        dropped = subtract(dropped, each);
    drop_fields(made, dropped);
    if (of.custom)
        merge_patch(made, wanted);
    else
        strategic_merge_patch(made, wanted);
    make_object(made.get_object(), "metadata")["managedFields"] = std::move(owners);
    how.patched = true;
    return in.update(asked.kind, asked.key, std::move(made.get_object()), how);
}

} // namespace api_server
} // namespace testing
} // namespace v0_1
} // namespace muster
