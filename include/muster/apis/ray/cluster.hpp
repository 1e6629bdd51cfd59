// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/object.hpp>

#include <muster/apis/ray/start.hpp>
#include <muster/document/generated_name.hpp>
#include <muster/gangs/gang_leaves.hpp>
#include <muster/gangs/gang_marks.hpp>
#include <muster/gangs/job_companions.hpp>
#include <muster/gangs/job_object.hpp>
#include <muster/gangs/pod_draft.hpp>

namespace muster {
inline namespace v0_1 {
namespace translate {

/// An entry of a RayCluster's workerGroupSpecs.
struct ray_workers {
    std::string name;
    std::int64_t replicas = 0;
    std::int64_t least = 0; ///< minReplicas
    std::int64_t hosts = 1; ///< pods per replica
    bool suspended = false;
    const boost::json::object* start_params = nullptr;
    const boost::json::object* pod_template = nullptr;
};

/// A ray.io/v1 RayCluster, or the RayJob or RayService that has one made.
struct ray_cluster {
    job_object object;
    std::string name; ///< of the cluster
    const boost::json::object* head_template = nullptr;
    const boost::json::object* head_params = nullptr;         ///< its rayStartParams
    bool autoscaled = false;                                  ///< enableInTreeAutoscaling
    const boost::json::object* service_annotations = nullptr; ///< of the head's Service
    /// What groups say of `ray start` beside its parameters.
    std::vector<std::string_view> unsaid;
    std::vector<ray_workers> workers;
    /// A RayJob whose submitter is a pod of its own, made when the cluster is ready.
    bool submitter = false;
    std::vector<std::string_view> lifecycle;
};

/// How many pods of the group must start: of an autoscaled one its least replicas, else all.
[[nodiscard]] inline std::int64_t minimum_of(const ray_workers& group) {
    return group.suspended ? 0 : (group.least > 0 ? group.least : group.replicas) * group.hosts;
}

/// The one gang of a cluster, named as the object: the head and enough workers of each group. A
/// group without workers or suspended is no part of it. O(groups).
[[nodiscard]] inline job_plan gangs_of(const ray_cluster& cluster, const job_options& = {}) {
    job_plan plan;
    planned_gang planned;
    planned.series.push_back({vertex_index{0}, "headgroup", cluster.head_template, 0, 1, 0, false});
    std::vector<const boost::json::object*> templates{cluster.head_template};
    std::vector<std::int64_t> minima{1};
    for (const ray_workers& group : cluster.workers) {
        if (group.suspended || (group.least == 0 && group.replicas == 0))
            continue;
        planned.series.push_back({vertex_index{0}, group.name, group.pod_template, 0,
                                  group.replicas * group.hosts, group.hosts, false});
        templates.push_back(group.pod_template);
        minima.push_back(minimum_of(group));
    }
    const auto labelled = settle_marks(planned.series);
    gang_object& gang = planned.gang;
    gang = gang_of(cluster.object, std::string(labelled ? labelled->name : cluster.object.name),
                   templates, false);
    if (const auto own = translate::find_text(cluster.object.labels, "ray.io/priority-class-name");
        own && !own->empty())
        gang.priority.class_name = *own;
    if (labelled)
        gang.origin = target::ack_1_31;
    const vertex_index root{0};
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < planned.series.size(); ++i) {
        pod_series& series = planned.series[i];
        if (series.loose)
            continue;
        sum += minima[i];
        series.leaf = gang.tree.add(root, labelled ? 0 : minima[i], series.role);
        const boost::json::object* const said = detail::annotations_of(series.pod_template);
        if (auto asked = closeness_asked(said)) {
            gang.tree.constrain_topology(series.leaf, std::move(*asked));
            if (gang.topology_name.empty())
                gang.topology_name = translate::find_text(said, owner_mark::topology_name)
                                         .value_or(std::string_view{});
        }
    }
    gang.tree.require_members(root, labelled ? labelled->minimum : sum);
    settle_leaves(planned);
    plan.gangs.push_back(std::move(planned));
    if (cluster.submitter)
        lose(plan, loss_kind::startup_order, cluster.object,
             "the pod that submits the job is made when the cluster is ready; it is none of the "
             "gang");
    std::string unsaid;
    for (const std::string_view each : cluster.unsaid)
        unsaid.append(unsaid.empty() ? "" : ", ").append(each);
    if (!unsaid.empty())
        lose(plan, loss_kind::pod_contents, cluster.object,
             unsaid + " of its groups, which KubeRay tells Ray");
    if (cluster.autoscaled)
        lose(plan, loss_kind::pod_contents, cluster.object,
             "the autoscaler's container, which KubeRay adds to the head");
    lose_lifecycle(plan, cluster.object, cluster.lifecycle);
    return plan;
}

/// Whose pods and Service they are.
[[nodiscard]] inline object_reference owner_of(const ray_cluster& cluster) {
    if (cluster.object.kind == "RayCluster")
        return reference_to(cluster.object);
    return {std::string(cluster.object.api_version), "RayCluster", cluster.name, {}};
}

/// The port at which the head listens.
[[nodiscard]] inline std::string port_of(const ray_cluster& cluster) {
    const auto said = translate::find_text(cluster.head_params, "port");
    return std::string(said && !said->empty() ? *said : "6379");
}

/// The Service by which workers find the head.
[[nodiscard]] inline boost::json::object service_of(const ray_cluster& cluster) {
    const boost::json::object head{{"ray.io/cluster", cluster.name},
                                   {"ray.io/identifier", cluster.name + "-head"},
                                   {"ray.io/node-type", "head"},
                                   {"app.kubernetes.io/name", "kuberay"},
                                   {"app.kubernetes.io/created-by", "kuberay-operator"}};
    boost::json::array ports;
    for (const auto& [name, number] : {std::pair{"gcs-server", 6379},
                                       {"client", 10001},
                                       {"dashboard", 8265},
                                       {"metrics", 8080},
                                       {"serve", 8000}})
        ports.push_back(boost::json::object{{"name", name}, {"port", number}});
    boost::json::object made = headless_service(cluster.object, cluster.name + "-head-svc", head,
                                                head, false, owner_of(cluster), std::move(ports));
    if (cluster.service_annotations)
        child_at(made, "metadata")["annotations"] = *cluster.service_annotations;
    return made;
}

/// The pods `<cluster>-head-<letters>` and `<cluster>-<group>-worker-<letters>` with the labels,
/// addresses and commands that KubeRay gives them.
[[nodiscard]] inline job_gangs pods_of(const ray_cluster& cluster, job_plan plan,
                                       const job_options& options = {}) {
    job_gangs made = make_pods(
        cluster.object, std::move(plan), options,
        [&](const planned_gang&, const pod_series& series, std::int64_t index) {
            std::string stem = cluster.name + '-';
            stem += series.role == "headgroup" ? "head-" : series.role + "-worker-";
            return generated_name(cluster.object.name_space, std::move(stem), index);
        },
        [&](pod_draft& pod, const planned_gang&, const pod_series& series, std::int64_t index) {
            const bool head = series.role == "headgroup";
            const std::string_view type = head ? "head" : "worker";
            pod.own(owner_of(cluster));
            pod.label("ray.io/cluster", cluster.name);
            pod.label("ray.io/group", series.role);
            pod.label("ray.io/node-type", type);
            pod.label("ray.io/identifier", cluster.name + '-' + std::string(type));
            pod.label("ray.io/is-ray-node", "yes");
            pod.label("app.kubernetes.io/name", "kuberay");
            pod.label("app.kubernetes.io/created-by", "kuberay-operator");
            if (series.part > 1)
                pod.label("ray.io/host-index", std::to_string(index % series.part));
            const std::string address = cluster.name + "-head-svc." +
                                        std::string(cluster.object.name_space) +
                                        ".svc.cluster.local";
            boost::json::object* const main = pod.container({});
            if (!main)
                return;
            const auto set = [&](std::string_view name, std::string_view value) {
                pod_draft::add_env(*main, name, value);
            };
            set("RAY_CLUSTER_NAME", cluster.name);
            set("RAY_NODE_TYPE_NAME", series.role);
            const std::string port = port_of(cluster);
            set("RAY_PORT", port);
            set("RAY_ADDRESS", (head ? "127.0.0.1" : address) + ':' + port);
            set("RAY_IP", head ? std::string("127.0.0.1") : cluster.name + "-head-svc");
            set("FQ_RAY_IP", head ? std::string("127.0.0.1") : address);
            set("RAY_USAGE_STATS_KUBERAY_IN_USE", "1");
            const std::string head_address = address + ':' + port;
            ray_node node;
            node.head = head;
            node.params = cluster.head_params;
            for (const ray_workers& group : cluster.workers)
                if (!head && group.name == series.role)
                    node.params = group.start_params;
            node.head_address = head_address;
            node.autoscaled = cluster.autoscaled;
            node.keeps_command =
                translate::find_text(cluster.object.annotations, ray_keeps_command) == "true" ||
                translate::find_text(detail::annotations_of(series.pod_template),
                                     ray_keeps_command) == "true";
            start_ray(pod, node);
        });
    if (options.pods)
        made.companions.push_back(service_of(cluster));
    return made;
}

} // namespace translate
} // namespace v0_1
} // namespace muster
