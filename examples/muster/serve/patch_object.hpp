// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <utility>

#include <muster/serve/answer.hpp>
#include <muster/serve/apply_patch.hpp>
#include <muster/serve/json_values.hpp>
#include <muster/serve/patches.hpp>
#include <muster/serve/registry.hpp>
#include <muster/serve/strategic_patch.hpp>
#include <muster/serve/target.hpp>

namespace muster {
inline namespace v0_1 {
namespace testing {
namespace api_server {

/// Answers a PATCH of any of the four types.
[[nodiscard]] inline answer patch_object(registry& in, const target& at, const request& asked,
                                         const write_options& how) {
    const object_key key{at.in_namespace, at.name};
    const std::string_view type =
        std::string_view(asked.content_type).substr(0, asked.content_type.find(';'));
    const bool applies = type == "application/apply-patch+yaml";
    const shared_object found = in.objects.find(at.kind, key);
    if (!found && !applies)
        return in.missing(at.kind, at.name);
    const auto change = parse_json(asked.body);
    if (!change || (applies && !change->is_object()))
        return bad_request(applies ? "the applied object cannot be read (expected JSON, which is "
                                     "also YAML)"
                                   : "the patch cannot be read");
    if (applies)
        return apply_object(in,
                            {at.kind, key, asked.asked("fieldManager"), asked.asked_true("force")},
                            change->get_object(), how);
    json::value made(*found);
    const bool strategic = type == "application/strategic-merge-patch+json";
    if (type == "application/merge-patch+json") {
        merge_patch(made, *change);
    } else if (strategic && !in.kinds[at.kind].custom) {
        strategic_merge_patch(made, *change);
    } else if (type == "application/json-patch+json") {
        if (auto wrong = json_patch(made, *change))
            return refused(422, "Invalid", *wrong);
    } else {
        // The API server rejects strategic merge patches of custom kinds.
        return strategic
                   ? refused(415, "UnsupportedMediaType",
                             "the body of the request was in an unknown format - "
                             "accepted media types include: "
                             "application/json-patch+json, application/merge-patch+json, "
                             "application/apply-patch+yaml")
                   : refused_as_such(415, "UnsupportedMediaType", "415: Unsupported Media Type");
    }
    if (!made.is_object())
        return bad_request("the patch leaves no object");
    // The resourceVersion is a precondition only if the patch names it.
    write_options patched = how;
    patched.patched = true;
    return in.update(at.kind, key, std::move(made.get_object()), patched);
}

} // namespace api_server
} // namespace testing
} // namespace v0_1
} // namespace muster
