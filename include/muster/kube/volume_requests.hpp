// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include <muster/apis/core/objects.hpp>
#include <muster/apis/core/volumes/storage_objects.hpp>
#include <muster/document/object_metadata.hpp>
#include <muster/kube/http.hpp>

namespace muster {
inline namespace v0_1 {
namespace kube {

// The writes by which a scheduler gets volumes bound. Each request has the observed uid and
// resourceVersion as preconditions, so it never changes another object of the same name or a newer
// version.

/// Asks the provisioner of a claim for a volume that this node can use (annotation
/// `selected-node`).
[[nodiscard]] inline http_request select_node_request(const codec::claim_object& claim,
                                                      const std::string& version,
                                                      const std::string& node) {
    const codec::object_key& key = claim.metadata.key;
    http_request made;
    made.method = http_method::patch;
    made.path = "/api/v1/namespaces/" + escape(key.name_space) + "/persistentvolumeclaims/" +
                escape(key.name);
    made.content_type = merge_patch_type;
    made.body = boost::json::serialize(
        boost::json::object{{"metadata",
                             {{"uid", claim.metadata.uid},
                              {"resourceVersion", version},
                              {"annotations", {{"volume.kubernetes.io/selected-node", node}}}}}});
    return made;
}

/// Reserves a volume for a claim (`spec.claimRef`). The PersistentVolume controller completes the
/// bind.
[[nodiscard]] inline http_request keep_volume_request(const codec::volume_object& volume,
                                                      const std::string& version,
                                                      const codec::claim_object& claim) {
    http_request made;
    made.method = http_method::patch;
    made.path = "/api/v1/persistentvolumes/" + escape(volume.metadata.key.name);
    made.content_type = merge_patch_type;
    made.body = boost::json::serialize(
        boost::json::object{{"metadata",
                             {{"uid", volume.metadata.uid},
                              {"resourceVersion", version},
                              {"annotations", {{"pv.kubernetes.io/bound-by-controller", "yes"}}}}},
                            {"spec",
                             {{"claimRef",
                               {{"apiVersion", "v1"},
                                {"kind", "PersistentVolumeClaim"},
                                {"namespace", claim.metadata.key.name_space},
                                {"name", claim.metadata.key.name},
                                {"uid", claim.metadata.uid}}}}}});
    return made;
}

} // namespace kube
} // namespace v0_1
} // namespace muster
