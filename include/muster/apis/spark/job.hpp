// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <muster/document/document_hash.hpp>
#include <muster/document/json_text.hpp>
#include <muster/gangs/gang_leaves.hpp>
#include <muster/gangs/gang_marks.hpp>
#include <muster/gangs/job_object.hpp>
#include <muster/gangs/pod_draft.hpp>

namespace muster {
inline namespace v0_1 {
namespace translate {

/// The driver or the executors of a SparkApplication.
struct spark_part {
    std::int64_t count = 1;
    std::string cpu = "1";                         ///< what a pod requests
    std::string_view cpu_limit;                    ///< empty: none
    std::int64_t memory_mib = 1024;                ///< of the JVM
    std::int64_t overhead_mib = 384;               ///< beside it
    const boost::json::object* document = nullptr; ///< the part as written
};

/// A sparkoperator.k8s.io SparkApplication, as its manifest says it.
struct spark_job {
    job_object object;
    std::string_view image;
    spark_part driver;
    spark_part executor;
    const boost::json::object* scheduling = nullptr; ///< batchSchedulerOptions
    const boost::json::object* spec = nullptr;       ///< as written
    std::vector<std::string_view> lifecycle;
};

/// Whether a part's labels or annotations tie its pods to a gang of their own.
[[nodiscard]] inline bool is_elsewhere(const spark_part& part) {
    boost::json::object metadata;
    for (const std::string_view map : {"labels", "annotations"})
        if (const boost::json::value* const entries = find(part.document, map))
            metadata[map] = *entries;
    const boost::json::object pod_template{{"metadata", std::move(metadata)}};
    return !membership_mark(&pod_template).empty();
}

/// The one gang of an application: its driver, and executors that start when they can. O(1).
[[nodiscard]] inline job_plan gangs_of(const spark_job& job, const job_options& = {}) {
    job_plan plan;
    planned_gang planned;
    planned.gang = gang_of(job.object, std::string(job.object.name), {});
    planned.gang.tree.require_members(vertex_index{0}, 1);
    if (const auto queue = translate::find_text(job.scheduling, "queue"); queue && !queue->empty())
        planned.gang.queue = std::string(*queue);
    if (const auto name = translate::find_text(job.scheduling, "priorityClassName"))
        planned.gang.priority.class_name = *name;
    planned.series.push_back(
        {vertex_index{0}, "driver", nullptr, 0, 1, 0, is_elsewhere(job.driver)});
    planned.series.push_back({vertex_index{0}, "executor", nullptr, 1, job.executor.count, 0,
                              is_elsewhere(job.executor)});
    settle_leaves(planned);
    plan.gangs.push_back(std::move(planned));
    lose(plan, loss_kind::startup_order, job.object,
         "the driver makes its executors when it runs; here they start together");
    lose(plan, loss_kind::pod_contents, job.object,
         "what the containers run and are configured with: the operator makes it of "
         "mainApplicationFile, arguments, sparkConf and the like");
    lose_lifecycle(plan, job.object, job.lifecycle);
    return plan;
}

namespace detail {

[[nodiscard]] inline boost::json::array& list_of(pod_draft& pod, std::string_view key) {
    boost::json::value& at = pod.spec()[key];
    return at.is_array() ? at.get_array() : at.emplace_array();
}

/// Of the application's volumes those that the part mounts.
inline void mount_spark_volumes(const spark_job& job, const spark_part& part, pod_draft& pod) {
    const auto* const mounts = find_array(part.document, "volumeMounts");
    const auto* const volumes = find_array(job.spec, "volumes");
    if (!mounts || !volumes)
        return;
    for (const boost::json::value& volume : *volumes) {
        const auto name = translate::find_text(volume.if_object(), "name");
        for (const boost::json::value& mount : *mounts)
            if (name && translate::find_text(mount.if_object(), "name") == name) {
                list_of(pod, "volumes").push_back(volume);
                break;
            }
    }
}

} // namespace detail

/// The pods `<application>-driver` and `<application>-exec-<i>` with Spark's labels and what they
/// request. What the operator and Spark put into them beside that (commands, configuration) is left
/// out.
[[nodiscard]] inline job_gangs pods_of(const spark_job& job, job_plan plan,
                                       const job_options& options = {}) {
    const std::string name(job.object.name);
    const std::string selector =
        "spark-" + document_hash{}.add(job.object.name_space).add(name).letters(12);
    return make_pods(
        job.object, std::move(plan), options,
        [&](const planned_gang&, const pod_series& series, std::int64_t index) {
            return series.role == "driver" ? name + "-driver"
                                           : name + "-exec-" + std::to_string(index);
        },
        [&](pod_draft& pod, const planned_gang&, const pod_series& series, std::int64_t index) {
            const bool driver = series.role == "driver";
            const spark_part& part = driver ? job.driver : job.executor;
            if (!driver)
                pod.own({"v1", "Pod", name + "-driver", {}});
            for (const std::string_view map : {"labels", "annotations"})
                if (const auto* const own = find_object(part.document, map))
                    for (const auto& each : *own)
                        if (const auto* const text = each.value().if_string()) {
                            const std::string_view key(each.key().data(), each.key().size());
                            map == "labels" ? pod.label(key, view(*text))
                                            : pod.annotate(key, view(*text));
                        }
            pod.label("spark-app-name", name);
            pod.label("spark-app-selector", selector);
            pod.label("spark-role", series.role);
            pod.label("sparkoperator.k8s.io/app-name", name);
            if (!driver)
                pod.label("spark-exec-id", std::to_string(index));
            const std::string memory = std::to_string(part.memory_mib + part.overhead_mib) + "Mi";
            boost::json::object limits{{"memory", memory}};
            if (!part.cpu_limit.empty())
                limits["cpu"] = part.cpu_limit;
            if (const auto* const gpu = find_object(part.document, "gpu")) {
                const boost::json::value* const quantity = find(gpu, "quantity");
                const auto kind = translate::find_text(gpu, "name");
                if (quantity && kind)
                    limits[*kind] = *quantity;
            }
            boost::json::object container{
                {"name", driver ? "spark-kubernetes-driver" : "spark-kubernetes-executor"},
                {"image", translate::find_text(part.document, "image").value_or(job.image)},
                {"resources",
                 {{"requests", {{"cpu", part.cpu}, {"memory", memory}}}, {"limits", limits}}}};
            for (const std::string_view key : {"env", "envFrom", "volumeMounts", "securityContext"})
                if (const auto* const value = find(part.document, key))
                    container[key] = *value;
            if (const auto policy = translate::find_text(job.spec, "imagePullPolicy"))
                container["imagePullPolicy"] = *policy;
            boost::json::array containers{std::move(container)};
            if (const auto* const beside = find_array(part.document, "sidecars"))
                containers.insert(containers.end(), beside->begin(), beside->end());
            pod.spec()["containers"] = std::move(containers);
            detail::mount_spark_volumes(job, part, pod);
            pod.spec()["restartPolicy"] = "Never";
            for (const std::string_view key :
                 {"nodeSelector", "tolerations", "affinity", "schedulerName", "hostNetwork",
                  "initContainers", "priorityClassName", "terminationGracePeriodSeconds",
                  "hostAliases", "dnsConfig", "shareProcessNamespace"})
                if (const auto* const value = find(part.document, key))
                    pod.spec()[key] = *value;
            if (const auto* const context = find(part.document, "podSecurityContext"))
                pod.spec()["securityContext"] = *context;
            if (const auto* const secrets = find_array(job.spec, "imagePullSecrets"))
                for (const boost::json::value& each : *secrets)
                    if (each.is_string())
                        detail::list_of(pod, "imagePullSecrets")
                            .emplace_back(boost::json::object{{"name", each.get_string()}});
            if (const auto account = translate::find_text(part.document, "serviceAccount"))
                pod.spec()["serviceAccountName"] = *account;
        });
}

} // namespace translate
} // namespace v0_1
} // namespace muster
