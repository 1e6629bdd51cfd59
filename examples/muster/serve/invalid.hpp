// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/serve/answer.hpp>
#include <muster/serve/json_values.hpp>
#include <muster/serve/kinds.hpp>
#include <muster/serve/schema.hpp>

namespace muster {
inline namespace v0_1 {
namespace testing {
namespace api_server {

/// 422: what is wrong with an object, field by field. What is said twice is a cause twice, and one
/// part of the message. `named`: what the answer calls the kind; its own name when empty.
[[nodiscard]] inline answer invalid(const kind_info& of, const std::string& name,
                                    const std::vector<field_cause>& wrong,
                                    std::string_view named = {}) {
    std::string text;
    json::array causes;
    std::size_t parts = 0;
    for (const field_cause& each : wrong) {
        const std::string part = each.field + ": " + each.message;
        if (text.find(part) == std::string::npos) {
            text += (text.empty() ? "" : ", ") + part;
            ++parts;
        }
        causes.push_back(json::object{
            {"reason", each.reason}, {"message", each.message}, {"field", each.field}});
    }
    if (parts > 1)
        text = "[" + text + "]";
    const std::string kind(named.empty() ? std::string_view(of.kind) : named);
    json::object details = details_of(name, of.group, kind);
    details["causes"] = std::move(causes);
    return refused(422, "Invalid",
                   kind + (of.group.empty() ? "" : "." + of.group) + " \"" + name +
                       "\" is invalid: " + text,
                   std::move(details));
}

/// 400: the object cannot be read as one of its kind.
[[nodiscard]] inline answer cannot_decode(const kind_info& of, const std::string& why) {
    return bad_request(of.kind + " in version \"" + of.version + "\" cannot be handled as a " +
                       of.kind + ": " + why);
}

/// 400: the object has fields that its kind does not have, and the client asked for a strict
/// answer.
[[nodiscard]] inline answer unknown_fields(const kind_info& of,
                                           const std::vector<std::string>& paths) {
    std::string text;
    for (const std::string& each : paths)
        text += (text.empty() ? "unknown field \"" : ", unknown field \"") + each + "\"";
    return cannot_decode(of, "strict decoding error: " + text);
}

/// 409: somebody else wrote first.
[[nodiscard]] inline answer modified(const kind_info& of, std::string_view name) {
    return conflict(of.plural, of.group, name,
                    "the object has been modified; please apply your changes to the latest "
                    "version and try again");
}

/// 409: a write that names another uid than the object has, in the words of the storage.
[[nodiscard]] inline answer other_uid(const kind_info& of, const std::string& path,
                                      std::string_view name, std::string_view wanted,
                                      std::string_view found) {
    return conflict(of.plural, of.group, name,
                    "StorageError: invalid object, Code: 4, Key: /registry/" + path +
                        ", ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in "
                        "precondition: " +
                        std::string(wanted) + ", UID in object meta: " + std::string(found));
}

} // namespace api_server
} // namespace testing
} // namespace v0_1
} // namespace muster
