// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <muster/apis/jobset/job_set.hpp>
#include <muster/document/json_text.hpp>
#include <muster/gangs/job_object.hpp>

namespace muster {
inline namespace v0_1 {
namespace translate {

/// Which framework a runtime sets up.
enum class training_framework : std::uint8_t { plain, torch, mpi, jax };

/// A trainer.kubeflow.org/v1alpha1 TrainingRuntime or ClusterTrainingRuntime: the JobSet that its
/// TrainJobs are made into.
struct training_runtime {
    std::string_view name_space; ///< empty: of the cluster
    std::string_view name;
    job_set set; ///< without an object of its own
    training_framework framework = training_framework::plain;
    std::optional<std::int64_t> nodes; ///< mlPolicy.numNodes
    std::string processes;             ///< numProcPerNode: a number or a word; empty: unsaid
    bool launcher_is_node = false;     ///< mpi.runLauncherAsNode
    /// podGroupPolicy: coscheduling with how long members wait, or Volcano.
    bool coscheduling = false;
    std::optional<std::int64_t> wait_seconds;
    bool volcano = false;
    bool topology_is_hard = true;
    const boost::json::object* topology = nullptr;    ///< Volcano's networkTopology
    const boost::json::object* annotations = nullptr; ///< of the JobSet
};

/// What a TrainJob changes in the pods of some replicated jobs.
struct training_override {
    std::vector<std::string_view> jobs;
    const boost::json::object* pod_template = nullptr; ///< parts of a PodTemplateSpec
};

/// A trainer.kubeflow.org/v1alpha1 TrainJob, as its manifest says it.
struct train_job {
    job_object object;
    std::string_view runtime;
    bool cluster_runtime = true; ///< else a TrainingRuntime of its namespace
    const boost::json::object* trainer = nullptr;
    std::optional<std::int64_t> nodes;            ///< trainer.numNodes
    std::string processes;                        ///< trainer.numProcPerNode
    const boost::json::object* dataset = nullptr; ///< initializer.dataset
    const boost::json::object* model = nullptr;   ///< initializer.model
    std::vector<training_override> overrides;
    const boost::json::object* annotations = nullptr; ///< spec.annotations, of the JobSet
    std::vector<std::string_view> lifecycle;
};

/// A TrainJob and the JobSet that it is made into. Not copyable: the set's templates are in it.
struct resolved_train_job {
    resolved_train_job() = default;
    resolved_train_job(const resolved_train_job&) = delete;
    resolved_train_job& operator=(const resolved_train_job&) = delete;

    const train_job* job = nullptr;
    const training_runtime* runtime = nullptr;
    job_set set;
    std::deque<boost::json::object> templates;
};

namespace detail {

inline constexpr std::string_view training_step = "trainer.kubeflow.org/trainjob-ancestor-step";

/// The list under a key, made if there is none.
inline boost::json::array& list_under(boost::json::object& object, std::string_view key) {
    boost::json::value& list = object[key];
    if (!list.is_array())
        list = boost::json::array{};
    return list.get_array();
}

/// Puts an element into a list whose elements have names, in place of the one of that name.
inline void put_named(boost::json::array& list, const boost::json::value& element) {
    const auto name = translate::find_text(element.if_object(), "name");
    for (boost::json::value& each : list)
        if (name && translate::find_text(each.if_object(), "name") == name) {
            each = element;
            return;
        }
    list.push_back(element);
}

inline void put_env(boost::json::object& container, std::string_view name, std::string_view value) {
    put_named(list_under(container, "env"), boost::json::object{{"name", name}, {"value", value}});
}

template<class Visit>
void each_container(boost::json::object& pod_template, std::string_view list, Visit&& visit) {
    boost::json::value* const spec = pod_template.if_contains("spec");
    boost::json::value* const all =
        spec && spec->is_object() ? spec->get_object().if_contains(list) : nullptr;
    if (all && all->is_array())
        for (boost::json::value& each : all->get_array())
            if (boost::json::object* const one = each.if_object())
                visit(*one);
}

inline void merge_texts(boost::json::object& into, std::string_view key,
                        const boost::json::object* from) {
    if (const auto* const more = find_object(from, key)) {
        boost::json::value& all = into[key];
        if (!all.is_object())
            all = boost::json::object{};
        for (const auto& each : *more)
            all.get_object()[each.key()] = each.value();
    }
}

/// Merges parts of a PodTemplateSpec into one: maps by key, lists by the names of their elements,
/// containers only in what they have of env and volumeMounts; anything else is replaced.
inline void merge_template(boost::json::object& into, const boost::json::object* from) {
    if (const auto* const metadata = find_object(from, "metadata")) {
        boost::json::value& own = into["metadata"];
        if (!own.is_object())
            own = boost::json::object{};
        for (const std::string_view key : {"labels", "annotations"})
            merge_texts(own.get_object(), key, metadata);
    }
    const boost::json::object* const more = find_object(from, "spec");
    boost::json::value* const own = into.if_contains("spec");
    if (!more || !own || !own->is_object())
        return;
    boost::json::object& spec = own->get_object();
    for (const auto& field : *more) {
        const std::string_view key(field.key().data(), field.key().size());
        const auto* const list = field.value().if_array();
        if (key == "nodeSelector") {
            merge_texts(spec, key, more);
        } else if (!list) {
            spec[key] = field.value();
        } else if (key == "containers" || key == "initContainers") {
            for (const boost::json::value& change : *list)
                each_container(into, key, [&](boost::json::object& container) {
                    const auto* const named = change.if_object();
                    if (translate::find_text(named, "name") !=
                        translate::find_text(&container, "name"))
                        return;
                    for (const std::string_view part : {"env", "volumeMounts"})
                        if (const auto* const parts = find_array(named, part))
                            for (const boost::json::value& each : *parts)
                                put_named(list_under(container, part), each);
                });
        } else {
            for (const boost::json::value& each : *list)
                put_named(list_under(spec, key), each);
        }
    }
}

/// What an initializer of the TrainJob says, into the container of that name.
inline void initialize(boost::json::object& pod_template, std::string_view name,
                       const boost::json::object* said) {
    if (!said)
        return;
    each_container(pod_template, "containers", [&](boost::json::object& container) {
        if (translate::find_text(&container, "name") != name)
            return;
        if (const auto uri = translate::find_text(said, "storageUri"))
            put_env(container, "STORAGE_URI", *uri);
        if (const auto* const env = find_array(said, "env"))
            for (const boost::json::value& each : *env)
                put_named(list_under(container, "env"), each);
        if (const auto* const secret = find_object(said, "secretRef"))
            list_under(container, "envFrom")
                .emplace_back(boost::json::object{{"secretRef", *secret}});
    });
}

/// Image, command, resources and environment of the trainer, into the container `node`.
inline void train(const resolved_train_job& made, boost::json::object& pod_template,
                  std::int64_t nodes) {
    const train_job& job = *made.job;
    const std::string name(job.object.name);
    const std::string& said = job.processes.empty() ? made.runtime->processes : job.processes;
    const std::string processes = said.empty() ? "auto" : said;
    const std::string index = "metadata.labels['batch.kubernetes.io/job-completion-index']";
    const auto from_index = [&](std::string_view variable) {
        return boost::json::object{{"name", variable},
                                   {"valueFrom", {{"fieldRef", {{"fieldPath", index}}}}}};
    };
    each_container(pod_template, "containers", [&](boost::json::object& container) {
        if (translate::find_text(&container, "name") != "node")
            return;
        for (const std::string_view key : {"image", "command", "args"})
            if (const auto* const value = find(job.trainer, key))
                container[key] = *value;
        if (const auto* const resources = find_object(job.trainer, "resourcesPerNode"))
            container["resources"] = *resources;
        if (const auto* const env = find_array(job.trainer, "env"))
            for (const boost::json::value& each : *env)
                put_named(list_under(container, "env"), each);
        switch (made.runtime->framework) {
        case training_framework::torch:
            put_env(container, "PET_NNODES", std::to_string(nodes));
            put_env(container, "PET_NPROC_PER_NODE", processes);
            put_named(list_under(container, "env"), from_index("PET_NODE_RANK"));
            put_env(container, "PET_MASTER_ADDR", name + "-node-0-0." + name);
            put_env(container, "PET_MASTER_PORT", "29400");
            break;
        case training_framework::jax:
            put_env(container, "JAX_NUM_PROCESSES", std::to_string(nodes));
            put_named(list_under(container, "env"), from_index("JAX_PROCESS_ID"));
            put_env(container, "JAX_COORDINATOR_ADDRESS", name + "-node-0-0." + name + ":6666");
            break;
        case training_framework::mpi:
            put_env(container, "OMPI_MCA_orte_default_hostfile", "/etc/mpi/hostfile");
            put_env(container, "OMPI_MCA_orte_keep_fqdn_hostnames", "true");
            put_env(container, "OMPI_MCA_plm_rsh_args", "-o ConnectionAttempts=10");
            put_env(container, "OMPI_MCA_orte_set_default_slots",
                    processes == "auto" ? "1" : processes);
            break;
        case training_framework::plain:
            break;
        }
    });
}

} // namespace detail

/// Fills in the JobSet that a TrainJob is made into. The job and the runtime outlive it. The
/// trainer step gets the number of nodes; of an MPI runtime the replicated job `node` does, less
/// one when the launcher is a node too.
inline void resolve(const train_job& job, const training_runtime& runtime,
                    resolved_train_job& made) {
    made.job = &job;
    made.runtime = &runtime;
    made.set = runtime.set;
    made.set.object = job.object;
    made.set.exclusive_topology = translate::find_text(job.annotations, job_set_exclusive)
                                      .value_or(runtime.set.exclusive_topology);
    for (const std::string_view each : job.lifecycle)
        if (std::ranges::find(made.set.lifecycle, each) == made.set.lifecycle.end())
            made.set.lifecycle.push_back(each);
    for (job_set_gang& each : made.set.gangs)
        each.name = std::string(job.object.name) + each.name; // "-driver" of a runtime
    if (runtime.coscheduling || runtime.volcano) {
        made.set.gangs.clear();
        job_set_gang& all = made.set.gangs.emplace_back();
        all.name = job.object.name;
        for (std::size_t i = 0; i < made.set.jobs.size(); ++i)
            all.jobs.push_back(i);
        made.set.gangs_of = runtime.volcano ? target::volcano : target::scheduler_plugins;
    }
    const std::int64_t nodes = job.nodes.value_or(runtime.nodes.value_or(1));
    for (replicated_job& part : made.set.jobs) {
        boost::json::object& pod_template = made.templates.emplace_back();
        if (part.job.pod_template)
            pod_template = *part.job.pod_template;
        part.job.pod_template = &pod_template;
        const std::string_view step =
            translate::find_text(part.labels, detail::training_step).value_or(std::string_view{});
        if (!step.empty())
            part.replicas = 1;
        const bool by_name = runtime.framework == training_framework::mpi;
        if (by_name ? part.name == "node" : step == "trainer") {
            const std::int64_t own =
                by_name && runtime.launcher_is_node ? std::max<std::int64_t>(0, nodes - 1) : nodes;
            part.job.parallelism = own;
            part.job.completions = own;
        }
        if (step == "trainer")
            detail::train(made, pod_template, nodes);
        if (step == "dataset-initializer")
            detail::initialize(pod_template, step, job.dataset);
        if (step == "model-initializer")
            detail::initialize(pod_template, step, job.model);
        for (const training_override& change : job.overrides)
            if (std::ranges::find(change.jobs, part.name) != change.jobs.end())
                detail::merge_template(pod_template, change.pod_template);
    }
}

/// The gang of a TrainJob. With a podGroupPolicy all its pods, named as the job; without one, and
/// for the podgrouper, the gang of its JobSet.
[[nodiscard]] inline job_plan gangs_of(const resolved_train_job& made,
                                       const job_options& options = {}) {
    job_plan plan = gangs_of(made.set, options);
    const training_runtime& runtime = *made.runtime;
    gang_object& gang = plan.gangs.front().gang;
    for (const boost::json::object* const from : {made.job->annotations, runtime.annotations})
        if (const auto queue = translate::find_text(from, owner_mark::volcano_queue);
            queue && !gang.queue)
            gang.queue = std::string(*queue);
    if (made.set.gangs.empty() || options.rules == job_rules::podgrouper) {
        gang.owners = {
            {"jobset.x-k8s.io/v1alpha2", "JobSet", std::string(made.set.object.name), {}, true}};
        return plan;
    }
    if (runtime.coscheduling)
        gang.wait_seconds = runtime.wait_seconds.value_or(60);
    if (runtime.volcano && runtime.topology)
        gang.own_words.push_back({gang_api::volcano,
                                  runtime.topology_is_hard ? loss_kind::topology_required
                                                           : loss_kind::topology_preferred,
                                  "networkTopology", *runtime.topology});
    return plan;
}

[[nodiscard]] inline job_gangs pods_of(const resolved_train_job& made, job_plan plan,
                                       const job_options& options = {}) {
    return pods_of(made.set, std::move(plan), options);
}

} // namespace translate
} // namespace v0_1
} // namespace muster
