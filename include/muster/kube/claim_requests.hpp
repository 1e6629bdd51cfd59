// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include <muster/codec/device_objects.hpp>
#include <muster/codec/object_metadata.hpp>
#include <muster/codec/objects.hpp>
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

[[nodiscard]] inline boost::json::array consumers(const codec::pod_object& pod) {
    return {boost::json::object{
        {"resource", "pods"}, {"name", pod.metadata.key.name}, {"uid", pod.metadata.uid}}};
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

/// Writes the allocation of a claim, and reserves the claim for the pod.
[[nodiscard]] inline http_request allocate_claim_request(const codec::resource_claim_object& claim,
                                                         const std::string& version,
                                                         const codec::pod_object& pod,
                                                         boost::json::object allocation) {
    http_request made = detail::claim_patch(claim, "/status", merge_patch_type);
    made.body = boost::json::serialize(boost::json::object{
        {"metadata", detail::observed_claim(claim, version)},
        {"status",
         {{"allocation", std::move(allocation)}, {"reservedFor", detail::consumers(pod)}}}});
    return made;
}

/// Adds the pod to the consumers of an allocated claim (`status.reservedFor`).
[[nodiscard]] inline http_request reserve_claim_request(const codec::resource_claim_object& claim,
                                                        const codec::pod_object& pod) {
    http_request made = detail::claim_patch(claim, "/status", strategic_patch_type);
    made.body = boost::json::serialize(
        boost::json::object{{"metadata", {{"uid", claim.metadata.uid}}},
                            {"status", {{"reservedFor", detail::consumers(pod)}}}});
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

/// Removes what protect_claim_request() added.
[[nodiscard]] inline http_request unprotect_claim_request(const codec::resource_claim_object& claim,
                                                          const std::string& version) {
    http_request made = detail::claim_patch(claim, {}, strategic_patch_type);
    boost::json::object metadata = detail::observed_claim(claim, version);
    metadata["$deleteFromPrimitiveList/finalizers"] = boost::json::array{codec::claim_finalizer};
    metadata["annotations"] = boost::json::object{{codec::allocated_for, nullptr}};
    made.body = boost::json::serialize(boost::json::object{{"metadata", std::move(metadata)}});
    return made;
}

} // namespace kube
} // namespace v0_1
} // namespace muster
