// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <muster/apis/core/reading_context.hpp>
#include <muster/apis/job_reader.hpp>
#include <muster/apis/jobset/job_set_reader.hpp>
#include <muster/apis/kubeflow/train_job.hpp>
#include <muster/apis/owners/workload.hpp>
#include <muster/apis/volcano/job_reader.hpp>
#include <muster/document/field_reader.hpp>
#include <muster/document/json_text.hpp>
#include <muster/gangs/job_object.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

inline constexpr std::string_view trainer_api = "trainer.kubeflow.org/v1alpha1";

/// The runtimes of an input: they must all be read before its TrainJobs.
class training_runtimes {
public:
    /// trainer.kubeflow.org/v1alpha1 TrainingRuntime or ClusterTrainingRuntime. The document must
    /// outlive this.
    void add(object_reader& object, reading_context& context);

    [[nodiscard]] const translate::training_runtime* find(std::string_view name_space,
                                                          std::string_view name) const noexcept {
        for (const translate::training_runtime& each : all_)
            if (each.name_space == name_space && each.name == name)
                return &each;
        return nullptr;
    }

private:
    std::deque<translate::training_runtime> all_;
};

namespace detail {

/// A number of processes, or a word for it such as auto.
[[nodiscard]] inline std::string processes_of(const field& at) {
    if (at.value() && at.value()->is_string())
        return std::string(text_of(at));
    const auto number = at.as_integer(1, most_replicas);
    return number ? std::to_string(*number) : std::string{};
}

inline void read_ml_policy(const field& at, translate::training_runtime& read) {
    object_reader policy = at.as_object();
    read.nodes = count_of(policy.optional("numNodes"), 1);
    const field torch_at = policy.optional("torch");
    object_reader torch = torch_at.as_object();
    if (torch.is_present()) {
        read.framework = translate::training_framework::torch;
        read.processes = processes_of(torch.optional("numProcPerNode"));
        torch.ignore_rest();
    }
    const field mpi_at = policy.optional("mpi");
    object_reader mpi = mpi_at.as_object();
    if (mpi.is_present()) {
        read.framework = translate::training_framework::mpi;
        read.processes = processes_of(mpi.optional("numProcPerNode"));
        read.launcher_is_node = mpi.optional("runLauncherAsNode").as_boolean().value_or(false);
        mpi.ignore_rest();
    }
    if (policy.optional("jax").is_present())
        read.framework = translate::training_framework::jax;
    policy.ignore_rest();
}

inline void read_group_policy(const field& at, translate::training_runtime& read) {
    object_reader policy = at.as_object();
    const field coscheduling_at = policy.optional("coscheduling");
    object_reader coscheduling = coscheduling_at.as_object();
    read.coscheduling = coscheduling.is_present();
    read.wait_seconds = count_of(coscheduling.optional("scheduleTimeoutSeconds"));
    coscheduling.finish();
    const field volcano_at = policy.optional("volcano");
    object_reader volcano = volcano_at.as_object();
    read.volcano = volcano.is_present();
    if (const auto topology = read_hypernodes(volcano.optional("networkTopology"))) {
        read.topology = topology->document;
        read.topology_is_hard = topology->hard;
    }
    volcano.finish();
    policy.finish();
    if (read.coscheduling && read.volcano)
        volcano_at.error("coscheduling is there too (expected one of them)");
}

/// spec.podTemplateOverrides: parts of a pod template for the replicated jobs that are listed.
inline void read_overrides(const field& at, translate::train_job& job) {
    const array_reader list = at.as_array();
    list.for_each_object([&](object_reader& each) {
        translate::training_override read;
        const field targets_at = each.required("targetJobs");
        const array_reader targets = targets_at.as_array();
        targets.for_each_object([&](object_reader& target) {
            read.jobs.push_back(text_of(target.required("name")));
            target.finish();
        });
        read.pod_template = each.value()->if_object();
        each.ignore({"metadata", "spec", "manager"});
        each.finish();
        job.overrides.push_back(std::move(read));
    });
}

/// spec.runtimePatches: the same by the way of the JobSet's own fields.
inline void read_patches(const field& at, translate::train_job& job) {
    using translate::find_array;
    using translate::find_object;
    const array_reader list = at.as_array();
    list.for_each_object([&](object_reader& each) {
        const boost::json::object* below = each.value()->if_object();
        for (const std::string_view key : {"trainingRuntimeSpec", "template", "spec"})
            below = find_object(below, key);
        if (const auto* const jobs = find_array(below, "replicatedJobs"))
            for (const boost::json::value& one : *jobs) {
                const boost::json::object* pod = one.if_object();
                for (const std::string_view key : {"template", "spec", "template"})
                    pod = find_object(pod, key);
                if (const auto name = translate::find_text(one.if_object(), "name"); name && pod)
                    job.overrides.push_back({{*name}, pod});
            }
        each.ignore_rest();
    });
}

inline void read_trainer(const field& at, translate::train_job& job) {
    object_reader trainer = at.as_object();
    if (!trainer.is_present())
        return;
    job.trainer = at.value()->if_object();
    job.nodes = count_of(trainer.optional("numNodes"), 1);
    job.processes = processes_of(trainer.optional("numProcPerNode"));
    static_cast<void>(trainer.optional("image").as_string());
    check_strings(trainer.optional("command"));
    check_strings(trainer.optional("args"));
    check_environment(trainer.optional("env"));
    container_memory memory;
    check_resources(trainer.optional("resourcesPerNode"), "node", memory);
    trainer.finish();
}

/// A TrainJob of a runtime that is not in the input: nothing but its number of nodes is known.
[[nodiscard]] inline translate::job_gangs without_runtime(const translate::train_job& job,
                                                          object_reader& object,
                                                          const translate::job_options& options) {
    object.warning("its runtime " + in_quotes(job.runtime) +
                   " is not in the input, so its pods are not known: the gang has none (expected "
                   "the runtime beside it)");
    translate::workload made;
    made.object = job.object;
    made.minimum = job.nodes.value_or(1);
    return pods_of(made, gangs_of(made, options), options);
}

} // namespace detail

inline void training_runtimes::add(object_reader& object, reading_context& context) {
    translate::training_runtime read;
    const translate::job_object own = read_job_object(object, context);
    read.name = own.name;
    if (own.kind == "TrainingRuntime")
        read.name_space = own.name_space;
    const field spec_at = object.required("spec");
    object_reader spec = spec_at.as_object();
    detail::read_ml_policy(spec.optional("mlPolicy"), read);
    detail::read_group_policy(spec.optional("podGroupPolicy"), read);
    const field template_at = spec.required("template");
    object_reader made = template_at.as_object();
    const field metadata_at = made.optional("metadata");
    object_reader metadata = metadata_at.as_object();
    read.annotations = read_texts(metadata.optional("annotations"));
    const field set_at = made.required("spec");
    object_reader set = set_at.as_object();
    read_job_set_spec(set, context, read.set);
    spec.finish();
    object.finish();
    if (find(read.name_space, read.name))
        object.error("the runtime " + in_quotes(read.name) + " is there twice (expected it once)");
    else
        all_.push_back(std::move(read));
}

/// trainer.kubeflow.org/v1alpha1 TrainJob, made into a JobSet by its runtime.
[[nodiscard]] inline translate::job_gangs read_train_job(object_reader& object,
                                                         reading_context& context,
                                                         const translate::job_options& options,
                                                         const training_runtimes& runtimes) {
    translate::train_job job;
    job.object = read_job_object(object, context);
    const field spec_at = object.required("spec");
    object_reader spec = spec_at.as_object();
    const field reference_at = spec.required("runtimeRef");
    object_reader reference = reference_at.as_object();
    job.runtime = text_of(reference.required("name"));
    const field kind_at = reference.optional("kind");
    const std::string_view kind = text_of(kind_at);
    job.cluster_runtime = kind != "TrainingRuntime";
    if (!kind.empty() && kind != "TrainingRuntime" && kind != "ClusterTrainingRuntime")
        kind_at.error(in_quotes(kind) +
                      " is no runtime (expected TrainingRuntime or ClusterTrainingRuntime)");
    reference.ignore({"apiGroup"});
    reference.finish();
    detail::read_trainer(spec.optional("trainer"), job);
    const field initializer_at = spec.optional("initializer");
    object_reader initializer = initializer_at.as_object();
    for (const auto& [key, into] : {std::pair{"dataset", &job.dataset}, {"model", &job.model}})
        if (const field at = initializer.optional(key); at.as_object().is_present())
            *into = at.value()->if_object();
    initializer.finish();
    detail::read_overrides(spec.optional("podTemplateOverrides"), job);
    detail::read_overrides(spec.optional("podSpecOverrides"), job);
    detail::read_patches(spec.optional("runtimePatches"), job);
    static_cast<void>(read_texts(spec.optional("labels")));
    job.annotations = read_texts(spec.optional("annotations"));
    note_present(spec, {"suspend", "managedBy", "activeDeadlineSeconds"}, job.lifecycle);
    spec.finish();
    object.finish();
    const translate::training_runtime* const runtime = runtimes.find(
        job.cluster_runtime ? std::string_view{} : job.object.name_space, job.runtime);
    if (!runtime)
        return detail::without_runtime(job, object, options);
    translate::resolved_train_job made;
    resolve(job, *runtime, made);
    if (!can_make(made.set, object))
        return {};
    return pods_of(made, gangs_of(made, options), options);
}

} // namespace codec
} // namespace v0_1
} // namespace muster
