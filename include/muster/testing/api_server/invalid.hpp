// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/testing/api_server/answer.hpp>
#include <muster/testing/api_server/json_values.hpp>
#include <muster/testing/api_server/kinds.hpp>
#include <muster/testing/api_server/schema.hpp>

namespace muster::inline v0_1 {
namespace testing {
namespace api_server {

/// 422: what is wrong with an object, field by field.
[[nodiscard]] inline answer invalid(const kind_info& of, const std::string& name,
                                    const std::vector<field_cause>& wrong) {
    std::string text;
    json::array causes;
    for (const field_cause& each : wrong) {
        text += (text.empty() ? "" : ", ") + each.field + ": " + each.message;
        causes.push_back(json::object{
            {"reason", each.reason}, {"message", each.message}, {"field", each.field}});
    }
    if (wrong.size() > 1)
        text = "[" + text + "]";
    json::object details = details_of(name, of.group, of.kind);
    details["causes"] = std::move(causes);
    return refused(422, "Invalid",
                   of.kind + (of.group.empty() ? "" : "." + of.group) + " \"" + name +
                       "\" is invalid: " + text,
                   std::move(details));
}

/// 409: somebody else wrote first.
[[nodiscard]] inline answer modified(const kind_info& of, std::string_view name) {
    return conflict(of.plural, of.group, name,
                    "the object has been modified; please apply your changes to the latest "
                    "version and try again");
}

/// Adds what is wrong with a new object's name. Roles and policies may have colons in theirs.
inline void check_name(std::string_view name, std::vector<field_cause>& wrong) {
    const auto plain = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
    if (name.empty()) {
        wrong.push_back({"FieldValueRequired", "Required value: name or generateName is required",
                         "metadata.name"});
        return;
    }
    const bool right = name.size() <= 253 && plain(name.front()) && plain(name.back()) &&
                       std::ranges::all_of(name, [&](char c) {
                           return plain(c) || c == '-' || c == '.' || c == ':';
                       });
    if (!right)
        wrong.push_back({"FieldValueInvalid",
                         "Invalid value: \"" + std::string(name) +
                             "\": a lowercase RFC 1123 subdomain must consist of lower case "
                             "alphanumeric characters, '-' or '.', and must start and end with an "
                             "alphanumeric character",
                         "metadata.name"});
}

} // namespace api_server
} // namespace testing
} // namespace muster::inline v0_1
