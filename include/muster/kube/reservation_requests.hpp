// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include <muster/apis/core/objects.hpp>
#include <muster/apis/kai/fractions/node_devices.hpp>
#include <muster/apis/kai/fractions/pod_shares.hpp>
#include <muster/document/object_metadata.hpp>
#include <muster/kube/http.hpp>
#include <muster/kube/order_requests.hpp>

namespace muster {
inline namespace v0_1 {
namespace kube {

/// Options of reservation pods. The defaults are KAI's. KAI's image has no default, because it
/// depends on the installation.
struct reservation_options {
    std::string name_space{codec::kai_fractions::reservation_namespace};
    /// Image of KAI's agent, which writes the GPU of the pod into its annotation.
    std::string image;
    std::string service_account{codec::kai_fractions::reservation_namespace};
    /// Empty = none.
    std::string runtime_class;
    /// Name of the scheduler, for the annotation `muster.dev/reserved-by`.
    std::string scheduler = "muster";
};

/// Returns the name of the reservation pod of a group, which is at most 253 characters long.
[[nodiscard]] inline std::string reservation_name(const std::string& node,
                                                  const std::string& group) {
    constexpr std::size_t longest = 253;
    const std::string first = "gpu-reservation-";
    const std::size_t room = longest - first.size() - 1 - group.size();
    return first + node.substr(0, room) + "-" + group;
}

/// Creates the pod that holds one GPU of the node for the sharers of a group. The pod names its
/// node, so no scheduler places it. Precondition: the group has at most 63 characters.
[[nodiscard]] inline http_request create_reservation_request(const reservation_options& how,
                                                             const std::string& node,
                                                             const std::string& group) {
    using boost::json::array;
    using boost::json::object;
    const auto field_of = [](const char* name, const char* path) {
        return object{{"name", name}, {"valueFrom", {{"fieldRef", {{"fieldPath", path}}}}}};
    };
    // KAI's amounts. A pod without them is the first that the kubelet evicts, and a ResourceQuota
    // rejects it.
    const object requests{
        {"cpu", "1m"}, {"memory", "10Mi"}, {codec::kai_fractions::gpu_resource, "1"}};
    const object limits{
        {"cpu", "50m"}, {"memory", "100Mi"}, {codec::kai_fractions::gpu_resource, "1"}};
    const object container{{"name", "resource-reservation"},
                           {"image", how.image},
                           {"imagePullPolicy", "IfNotPresent"},
                           {"resources", {{"limits", limits}, {"requests", requests}}},
                           {"env", array{field_of("POD_NAME", "metadata.name"),
                                         field_of("POD_NAMESPACE", "metadata.namespace")}}};
    object spec{{"nodeName", node},
                {"serviceAccountName", how.service_account},
                {"containers", array{container}}};
    if (!how.runtime_class.empty())
        spec["runtimeClassName"] = how.runtime_class;
    object metadata{{"name", reservation_name(node, group)}, {"namespace", how.name_space}};
    metadata["labels"] = object{{"app", codec::kai_fractions::reservation_namespace},
                                {codec::kai_fractions::group_label, group}};
    metadata["annotations"] = object{{codec::kai_fractions::reserved_by, how.scheduler},
                                     {"karpenter.sh/do-not-disrupt", "true"}};
    http_request made;
    made.method = http_method::post;
    made.path = "/api/v1/namespaces/" + escape(how.name_space) + "/pods";
    made.content_type = json_type;
    made.body = boost::json::serialize(object{{"apiVersion", "v1"},
                                              {"kind", "Pod"},
                                              {"metadata", std::move(metadata)},
                                              {"spec", std::move(spec)}});
    return made;
}

/// Deletes a reservation pod without a grace period, as KAI does: it has no work to finish.
[[nodiscard]] inline http_request delete_reservation_request(const codec::object_key& pod,
                                                             const std::string& uid) {
    http_request made;
    made.method = http_method::erase;
    made.path = pod_path(pod);
    made.content_type = json_type;
    made.body = boost::json::serialize(boost::json::object{{"apiVersion", "v1"},
                                                           {"kind", "DeleteOptions"},
                                                           {"gracePeriodSeconds", 0},
                                                           {"preconditions", {{"uid", uid}}}});
    return made;
}

/// Creates or changes a ConfigMap of a sharer: the GPUs that its container sees and, if `portion`
/// is not empty, the part of each that it may use. The ConfigMap is deleted with the pod.
[[nodiscard]] inline http_request gpu_config_map_request(const codec::object_metadata& pod,
                                                         const std::string& name,
                                                         const std::string& gpus,
                                                         const std::string& portion) {
    const boost::json::object owner{
        {"apiVersion", "v1"}, {"kind", "Pod"}, {"name", pod.key.name}, {"uid", pod.uid}};
    boost::json::object data{{"NVIDIA_VISIBLE_DEVICES", gpus}};
    if (!portion.empty())
        for (const char* const key : {"RUNAI_NUM_OF_GPUS", "GPU_PORTION"})
            data[key] = portion;
    http_request made;
    made.method = http_method::patch;
    made.path = "/api/v1/namespaces/" + escape(pod.key.name_space) + "/configmaps/" + escape(name);
    made.query = "fieldManager=muster&force=true";
    made.content_type = apply_patch_type;
    made.body = boost::json::serialize(
        boost::json::object{{"apiVersion", "v1"},
                            {"kind", "ConfigMap"},
                            {"metadata",
                             {{"name", name},
                              {"namespace", pod.key.name_space},
                              {"ownerReferences", boost::json::array{owner}}}},
                            {"data", std::move(data)}});
    return made;
}

} // namespace kube
} // namespace v0_1
} // namespace muster
