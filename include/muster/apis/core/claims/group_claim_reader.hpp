// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <muster/apis/core/claims/device_objects.hpp>
#include <muster/apis/core/pod_claim_reader.hpp>
#include <muster/apis/core/reading_context.hpp>
#include <muster/apis/core/volumes/storage_reader.hpp>
#include <muster/apis/gang_facts.hpp>
#include <muster/document/field_reader.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// True if the object is a PodGroup of Kubernetes' own with ResourceClaims (KEP-5729:
/// scheduling.k8s.io v1alpha2 of 1.36, v1alpha3 and v1beta1 of 1.37).
[[nodiscard]] inline bool has_group_claims(const boost::json::value& object,
                                           std::string_view version, std::string_view kind) {
    if (kind != "PodGroup" || (version != translate::workload_version_1_36 &&
                               version != translate::workload_version_1_37_alpha &&
                               version != translate::workload_version_1_37))
        return false;
    const boost::json::object* const top = object.if_object();
    const boost::json::value* const spec = top ? top->if_contains("spec") : nullptr;
    return spec && spec->is_object() && spec->get_object().contains("resourceClaims");
}

/// Reads the ResourceClaims of a PodGroup, and no other part of it.
[[nodiscard]] inline group_claims_object read_group_claims(object_reader& object,
                                                           reading_context& context) {
    group_claims_object read;
    read.metadata = read_metadata(object, true, context);
    const field spec_at = object.optional("spec");
    object_reader spec = spec_at.as_object();
    const field status_at = object.optional("status");
    object_reader status = status_at.as_object();
    // A malformed entry matches no entry of a pod.
    std::vector<std::string> ignored;
    read.claims = detail::read_pod_claims(spec.optional("resourceClaims"),
                                          status.optional("resourceClaimStatuses"), ignored);
    spec.ignore_rest();
    status.ignore_rest();
    object.ignore_rest();
    return read;
}

} // namespace codec
} // namespace v0_1
} // namespace muster
