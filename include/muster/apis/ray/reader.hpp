// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/apis/core/reading_context.hpp>
#include <muster/apis/job_reader.hpp>
#include <muster/apis/ray/cluster.hpp>
#include <muster/document/field_reader.hpp>
#include <muster/document/generated_name.hpp>
#include <muster/gangs/job_object.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {
namespace detail {

/// What a group says of its nodes to Ray itself.
inline void note_ray_words(object_reader& object, translate::ray_cluster& cluster) {
    std::vector<std::string_view> said;
    note_present(object, {"resources", "labels"}, said);
    for (const std::string_view each : said)
        if (std::ranges::find(cluster.unsaid, each) == cluster.unsaid.end())
            cluster.unsaid.push_back(each);
}

inline void read_ray_workers(object_reader& object, const reading_context& context,
                             translate::job_rules rules, translate::ray_cluster& cluster) {
    translate::ray_workers read;
    const field name_at = object.optional("groupName");
    read.name = text_of(name_at);
    if (read.name.empty())
        read.name = "worker-group-" + std::to_string(cluster.workers.size());
    const field replicas_at = object.optional("replicas");
    read.replicas = count_of(replicas_at).value_or(0);
    const field least_at = object.optional("minReplicas");
    read.least = count_of(least_at).value_or(0);
    const auto most = count_of(object.optional("maxReplicas"));
    read.hosts = count_of(object.optional("numOfHosts"), 1).value_or(1);
    read.suspended = object.optional("suspend").as_boolean().value_or(false) ||
                     object.optional("suspended").as_boolean().value_or(false);
    if (most && read.least > *most)
        least_at.error(std::to_string(read.least) + " is more than maxReplicas (expected at most " +
                       std::to_string(*most) + ")");
    if (read.least > read.replicas) {
        if (replicas_at.is_present() && rules == translate::job_rules::podgrouper)
            replicas_at.error(std::to_string(read.replicas) +
                              " is less than minReplicas (expected at least " +
                              std::to_string(read.least) + ")");
        read.replicas = read.least;
    }
    if (read.replicas * read.hosts > most_pods_of_a_job) {
        report_too_many_pods(object);
        read.replicas = read.least = 0;
    }
    read.pod_template = read_pod_template(object.required("template"), context);
    note_present(object, {"scaleStrategy", "idleTimeoutSeconds", "priority"}, cluster.lifecycle);
    read.start_params = read_texts(object.optional("rayStartParams"));
    note_ray_words(object, cluster);
    object.finish();
    if (std::ranges::find(cluster.workers, read.name, &translate::ray_workers::name) !=
            cluster.workers.end() ||
        read.name == "headgroup")
        name_at.error(in_quotes(read.name) + " is there twice (expected every name once)");
    cluster.workers.push_back(std::move(read));
}

inline void read_ray_spec(object_reader& spec, const reading_context& context,
                          translate::job_rules rules, translate::ray_cluster& cluster) {
    const field head_at = spec.required("headGroupSpec");
    object_reader head = head_at.as_object();
    cluster.head_template = read_pod_template(head.required("template"), context);
    cluster.head_params = read_texts(head.optional("rayStartParams"));
    note_ray_words(head, cluster);
    if (const auto type = text_of(head.optional("serviceType"));
        !type.empty() && type != "ClusterIP")
        cluster.lifecycle.push_back("serviceType");
    note_present(head, {"headService", "enableIngress", "ingressOptions"}, cluster.lifecycle);
    head.ignore({"replicas"});
    head.finish();
    const field workers_at = spec.optional("workerGroupSpecs");
    const array_reader workers = workers_at.as_array();
    workers.for_each_object(
        [&](object_reader& each) { read_ray_workers(each, context, rules, cluster); });
    cluster.autoscaled = spec.optional("enableInTreeAutoscaling").as_boolean().value_or(false);
    note_present(spec,
                 {"enableInTreeAutoscaling", "suspend", "managedBy", "upgradeStrategy",
                  "autoscalerOptions", "gcsFaultToleranceOptions", "authOptions", "networkPolicy",
                  "tlsOptions"},
                 cluster.lifecycle);
    if (const field history_at = spec.optional("historyServerOptions"); history_at.is_present())
        history_at.warning("the requests of the collector that KubeRay adds to each pod are not "
                           "counted");
    cluster.service_annotations = read_texts(spec.optional("headServiceAnnotations"));
    spec.ignore({"rayVersion"});
    spec.finish();
}

/// The cluster that a RayJob or RayService has made, by the name that its status knows.
[[nodiscard]] inline std::string made_cluster(object_reader& object,
                                              const translate::job_object& job) {
    const field status_at = object.optional("status");
    object_reader status = status_at.as_object();
    std::string name(text_of(status.optional("rayClusterName")));
    if (name.empty())
        name = translate::generated_name(job.name_space, std::string(job.name) + '-', 0);
    return name;
}

} // namespace detail

enum class ray_kind : std::uint8_t { cluster, job, service };

/// ray.io/v1 and v1alpha1 RayCluster, RayJob and RayService.
template<ray_kind Kind>
[[nodiscard]] translate::job_gangs read_ray(object_reader& object, reading_context& context,
                                            const translate::job_options& options) {
    translate::ray_cluster cluster;
    cluster.object = read_job_object(object, context);
    cluster.name = cluster.object.name;
    const field spec_at = object.required("spec");
    object_reader spec = spec_at.as_object();
    if constexpr (Kind == ray_kind::cluster) {
        detail::read_ray_spec(spec, context, options.rules, cluster);
    } else {
        constexpr bool job = Kind == ray_kind::job;
        const std::string_view below = job ? "rayClusterSpec" : "rayClusterConfig";
        const field selector_at = spec.optional("clusterSelector");
        const bool elsewhere = job && selector_at.is_present();
        const field inner_at = elsewhere ? spec.optional(below) : spec.required(below);
        object_reader inner = inner_at.as_object();
        if (inner.is_present() && !elsewhere)
            detail::read_ray_spec(inner, context, options.rules, cluster);
        cluster.name = detail::made_cluster(object, cluster.object);
        note_present(spec,
                     {"shutdownAfterJobFinishes", "ttlSecondsAfterFinished",
                      "activeDeadlineSeconds", "backoffLimit", "suspend", "managedBy",
                      "deletionPolicy", "deletionStrategy", "preRunningDeadlineSeconds",
                      "upgradeStrategy", "serviceUnhealthySecondThreshold",
                      "deploymentUnhealthySecondThreshold", "rayClusterDeletionDelaySeconds"},
                     cluster.lifecycle);
        const std::string_view mode = text_of(spec.optional("submissionMode"));
        cluster.submitter = job && (mode.empty() || mode == "K8sJobMode");
        // Of a job the submitter's pod would say it.
        if (!cluster.submitter)
            note_present(spec, {"entrypoint", "serveConfigV2", "serveService"}, cluster.lifecycle);
        spec.ignore({"entrypoint", "runtimeEnvYAML", "jobId", "metadata", "submitterPodTemplate",
                     "submitterConfig", "entrypointNumCpus", "entrypointNumGpus",
                     "entrypointMemory", "entrypointResources", "excludeHeadPodFromServeSvc",
                     "runtimeEnv"});
        spec.finish();
        object.finish();
        if (elsewhere) {
            selector_at.warning("it runs in a cluster that is there already: it has no gang of its "
                                "own");
            return {};
        }
    }
    object.finish();
    translate::job_plan plan = gangs_of(cluster, options);
    if (!can_make(plan, object))
        return {};
    return pods_of(cluster, std::move(plan), options);
}

} // namespace codec
} // namespace v0_1
} // namespace muster
