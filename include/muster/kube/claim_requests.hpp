// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include <muster/apis/core/claims/device_objects.hpp>
#include <muster/apis/core/claims/extended_requests.hpp>
#include <muster/apis/core/objects.hpp>
#include <muster/devices/device_claim.hpp>
#include <muster/document/object_metadata.hpp>
#include <muster/kube/http.hpp>

namespace muster {
inline namespace v0_1 {
namespace kube {

// The writes by which a scheduler gets device claims allocated, reserved and released. Each request
// has the observed uid as precondition and, but for a reservation, the observed resourceVersion, so
// it never changes another claim of the same name or a newer version.

namespace detail {

[[nodiscard]] inline http_request claim_patch(const codec::resource_claim_object& claim,
                                              std::string_view below, std::string_view type) {
    const codec::object_key& key = claim.metadata.key;
    http_request made;
    made.method = http_method::patch;
    made.path = "/apis/resource.k8s.io/v1/namespaces/" + escape(key.name_space) +
                "/resourceclaims/" + escape(key.name) + std::string(below);
    made.content_type = type;
    return made;
}

[[nodiscard]] inline boost::json::object observed_claim(const codec::resource_claim_object& claim,
                                                        const std::string& version) {
    return {{"uid", claim.metadata.uid}, {"resourceVersion", version}};
}

[[nodiscard]] inline boost::json::array consumers(const std::vector<codec::claim_consumer>& users) {
    boost::json::array made;
    for (const codec::claim_consumer& each : users) {
        boost::json::object one{
            {"resource", each.resource}, {"name", each.name}, {"uid", each.uid}};
        if (each.resource == "podgroups")
            one["apiGroup"] = "scheduling.k8s.io";
        made.push_back(std::move(one));
    }
    return made;
}

} // namespace detail

/// Adds the finalizer without which a claim is not allocated, and the annotation by which a later
/// process finds what it allocated for the pod.
[[nodiscard]] inline http_request protect_claim_request(const codec::resource_claim_object& claim,
                                                        const std::string& version,
                                                        const codec::pod_object& pod) {
    http_request made = detail::claim_patch(claim, {}, strategic_patch_type);
    boost::json::object metadata = detail::observed_claim(claim, version);
    metadata["finalizers"] = boost::json::array{codec::claim_finalizer};
    metadata["annotations"] = boost::json::object{{codec::allocated_for, pod.metadata.uid}};
    made.body = boost::json::serialize(boost::json::object{{"metadata", std::move(metadata)}});
    return made;
}

/// Writes the allocation of a claim, and reserves the claim for these users.
[[nodiscard]] inline http_request
allocate_claim_request(const codec::resource_claim_object& claim, const std::string& version,
                       const std::vector<codec::claim_consumer>& users,
                       boost::json::object allocation) {
    http_request made = detail::claim_patch(claim, "/status", merge_patch_type);
    made.body = boost::json::serialize(boost::json::object{
        {"metadata", detail::observed_claim(claim, version)},
        {"status",
         {{"allocation", std::move(allocation)}, {"reservedFor", detail::consumers(users)}}}});
    return made;
}

/// Adds a pod or PodGroup to the consumers of an allocated claim (`status.reservedFor`).
[[nodiscard]] inline http_request reserve_claim_request(const codec::resource_claim_object& claim,
                                                        const codec::claim_consumer& user) {
    http_request made = detail::claim_patch(claim, "/status", strategic_patch_type);
    made.body = boost::json::serialize(
        boost::json::object{{"metadata", {{"uid", claim.metadata.uid}}},
                            {"status", {{"reservedFor", detail::consumers({user})}}}});
    return made;
}

/// Drops the allocation of a claim, with all reservations and what drivers said of its devices.
[[nodiscard]] inline http_request release_claim_request(const codec::resource_claim_object& claim,
                                                        const std::string& version) {
    http_request made = detail::claim_patch(claim, "/status", merge_patch_type);
    made.body = boost::json::serialize(boost::json::object{
        {"metadata", detail::observed_claim(claim, version)},
        {"status", {{"allocation", nullptr}, {"reservedFor", nullptr}, {"devices", nullptr}}}});
    return made;
}

/// Removes what protect_claim_request() added. A claim for extended resources keeps the annotation:
/// it is deleted next.
[[nodiscard]] inline http_request unprotect_claim_request(const codec::resource_claim_object& claim,
                                                          const std::string& version) {
    http_request made = detail::claim_patch(claim, {}, strategic_patch_type);
    boost::json::object metadata = detail::observed_claim(claim, version);
    metadata["$deleteFromPrimitiveList/finalizers"] = boost::json::array{codec::claim_finalizer};
    if (!claim.is_extended)
        metadata["annotations"] = boost::json::object{{codec::allocated_for, nullptr}};
    made.body = boost::json::serialize(boost::json::object{{"metadata", std::move(metadata)}});
    return made;
}

/// Creates the claim for the extended resources of a pod, with the finalizer and the annotation.
[[nodiscard]] inline http_request create_claim_request(const codec::resource_claim_object& claim,
                                                       const codec::pod_object& pod) {
    const codec::object_key& key = claim.metadata.key;
    http_request made;
    made.method = http_method::post;
    made.path = "/apis/resource.k8s.io/v1/namespaces/" + escape(key.name_space) + "/resourceclaims";
    made.content_type = json_type;
    boost::json::array requests;
    for (const device_request& each : claim.spec.asks.requests)
        requests.push_back(
            boost::json::object{{"name", each.name},
                                {"exactly",
                                 {{"deviceClassName", each.alternatives.front().class_name},
                                  {"allocationMode", "ExactCount"},
                                  {"count", each.alternatives.front().count}}}});
    const boost::json::object owner{{"apiVersion", "v1"},
                                    {"kind", "Pod"},
                                    {"name", pod.metadata.key.name},
                                    {"uid", pod.metadata.uid},
                                    {"controller", true}};
    boost::json::object metadata{{"name", key.name}, {"namespace", key.name_space}};
    metadata["annotations"] = boost::json::object{{codec::extended_claim_mark, "true"},
                                                  {codec::allocated_for, pod.metadata.uid}};
    metadata["finalizers"] = boost::json::array{codec::claim_finalizer};
    metadata["ownerReferences"] = boost::json::array{owner};
    made.body = boost::json::serialize(
        boost::json::object{{"apiVersion", "resource.k8s.io/v1"},
                            {"kind", "ResourceClaim"},
                            {"metadata", std::move(metadata)},
                            {"spec", {{"devices", {{"requests", std::move(requests)}}}}}});
    return made;
}

/// Deletes a claim for extended resources.
[[nodiscard]] inline http_request delete_claim_request(const codec::resource_claim_object& claim,
                                                       const std::string& version) {
    http_request made = detail::claim_patch(claim, {}, json_type);
    made.method = http_method::erase;
    made.body = boost::json::serialize(
        boost::json::object{{"apiVersion", "v1"},
                            {"kind", "DeleteOptions"},
                            {"preconditions", detail::observed_claim(claim, version)}});
    return made;
}

/// Says in the status of a pod which claim, and which of its requests, serve the pod's extended
/// resources. Without a name: that none does.
[[nodiscard]] inline http_request
extended_status_request(const codec::pod_object& pod, const std::string& claim,
                        const std::vector<codec::extended_mapping>& mappings) {
    const codec::object_key& key = pod.metadata.key;
    http_request made;
    made.method = http_method::patch;
    made.path =
        "/api/v1/namespaces/" + escape(key.name_space) + "/pods/" + escape(key.name) + "/status";
    made.content_type = merge_patch_type;
    boost::json::value status = nullptr;
    if (!claim.empty()) {
        boost::json::array list;
        for (const codec::extended_mapping& each : mappings)
            list.push_back(boost::json::object{{"containerName", each.container},
                                               {"resourceName", each.resource},
                                               {"requestName", each.request}});
        status =
            boost::json::object{{"resourceClaimName", claim}, {"requestMappings", std::move(list)}};
    }
    made.body = boost::json::serialize(
        boost::json::object{{"metadata", {{"uid", pod.metadata.uid}}},
                            {"status", {{"extendedResourceClaimStatus", std::move(status)}}}});
    return made;
}

} // namespace kube
} // namespace v0_1
} // namespace muster
