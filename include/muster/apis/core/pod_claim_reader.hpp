// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/apis/core/claims/device_objects.hpp>
#include <muster/apis/core/pod_field_types.hpp>
#include <muster/apis/core/pod_fields.hpp>
#include <muster/apis/core/volumes/storage_reader.hpp>
#include <muster/document/field_reader.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {
namespace detail {

/// Reads `spec.resourceClaims` of a pod. Takes the names of claims created from templates from
/// `status.resourceClaimStatuses`. The pod waits if an entry has both or neither of a claim and a
/// template, or a field that is not in the table.
[[nodiscard]] inline std::vector<pod_claim> read_pod_claims(const field& spec_at,
                                                            const field& status_at,
                                                            std::vector<std::string>& unsupported) {
    std::vector<pod_claim> read;
    const array_reader list = spec_at.as_array();
    list.for_each_object([&](object_reader& each) {
        pod_claim made;
        made.name = string_or_empty(each.required("name"));
        made.claim = string_or_empty(each.optional("resourceClaimName"));
        made.from_template = string_or_empty(each.optional("resourceClaimTemplateName"));
        finish(each, pod_tables::resource_claim, unsupported);
        if (made.claim.empty() == made.from_template.empty())
            unsupported.push_back(each.path());
        read.push_back(std::move(made));
    });
    const array_reader statuses = status_at.as_array();
    statuses.for_each_object([&](object_reader& each) {
        const auto name = each.optional("name").as_string().value_or("");
        const auto claim = each.optional("resourceClaimName").as_string();
        each.ignore_rest();
        for (pod_claim& known : read) {
            if (known.name != name || known.from_template.empty())
                continue;
            known.claim = std::string(claim.value_or(""));
            known.needs_none = !claim;
        }
    });
    return read;
}

} // namespace detail
} // namespace codec
} // namespace v0_1
} // namespace muster
