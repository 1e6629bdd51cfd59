// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>
#include <string_view>

#include <muster/apis/batch/job_reader.hpp>
#include <muster/apis/job_reader.hpp>
#include <muster/apis/jobset/job_set_reader.hpp>
#include <muster/apis/kubeflow/job.hpp>
#include <muster/apis/kubeflow/job_reader.hpp>
#include <muster/apis/lws/leader_worker_set_reader.hpp>
#include <muster/apis/owners/workload.hpp>
#include <muster/apis/owners/workload_reader.hpp>
#include <muster/apis/ray/reader.hpp>
#include <muster/apis/slurm/batch_script_reader.hpp>
#include <muster/apis/spark/job_reader.hpp>
#include <muster/apis/volcano/job_reader.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// A kind of jobs of others and who reads it.
struct job_kind {
    std::string_view api_version;
    std::string_view kind;
    job_reader read;
};

/// A version of a kind of which it is not known what its controller makes: an error that names
/// those that are read.
[[nodiscard]] inline translate::job_gangs
read_undescribed_version(object_reader& object, reading_context&, const translate::job_options&);

/// The kinds that one object describes wholly; a TrainJob needs its runtime too, see
/// read_train_job(), and any other object that holds a PodTemplateSpec can be read by
/// read_any_workload(). Earlier versions of an API stand here where they write the same fields.
inline constexpr std::array job_kinds{
    job_kind{"kubeflow.org/v1", "TFJob", read_kubeflow<translate::kubeflow_kind::tensorflow>},
    job_kind{"kubeflow.org/v1beta2", "TFJob", read_kubeflow<translate::kubeflow_kind::tensorflow>},
    job_kind{"kubeflow.org/v1", "PyTorchJob", read_kubeflow<translate::kubeflow_kind::pytorch>},
    job_kind{"kubeflow.org/v1beta2", "PyTorchJob",
             read_kubeflow<translate::kubeflow_kind::pytorch>},
    job_kind{"kubeflow.org/v1", "MPIJob", read_kubeflow<translate::kubeflow_kind::mpi>},
    job_kind{"kubeflow.org/v1alpha1", "MPIJob", read_undescribed_version},
    job_kind{"kubeflow.org/v1alpha2", "MPIJob", read_kubeflow<translate::kubeflow_kind::mpi>},
    job_kind{"kubeflow.org/v2beta1", "MPIJob", read_kubeflow<translate::kubeflow_kind::mpi_v2>},
    job_kind{"kubeflow.org/v1", "XGBoostJob", read_kubeflow<translate::kubeflow_kind::xgboost>},
    job_kind{"kubeflow.org/v1", "PaddleJob", read_kubeflow<translate::kubeflow_kind::paddle>},
    job_kind{"kubeflow.org/v1", "JAXJob", read_kubeflow<translate::kubeflow_kind::jax>},
    job_kind{"batch.volcano.sh/v1alpha1", "Job", read_volcano},
    job_kind{"batch.volcano.sh/v1alpha1", "CronJob", read_volcano_cron_job},
    job_kind{"flow.volcano.sh/v1alpha1", "JobTemplate", read_volcano_template},
    job_kind{"flow.volcano.sh/v1alpha1", "JobFlow", read_volcano_flow},
    job_kind{"batch/v1", "Job", read_job},
    job_kind{"batch/v1", "CronJob", read_cron_job},
    job_kind{"batch/v1beta1", "CronJob", read_cron_job},
    job_kind{"jobset.x-k8s.io/v1", "JobSet", read_job_set},
    job_kind{"jobset.x-k8s.io/v1alpha2", "JobSet", read_job_set},
    job_kind{"jobset.x-k8s.io/v1alpha1", "JobSet", read_job_set},
    job_kind{"leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", read_leader_worker_set},
    job_kind{"leaderworkerset.x-k8s.io/v1alpha1", "LeaderWorkerSet", read_leader_worker_set},
    job_kind{"disaggregatedset.x-k8s.io/v1", "DisaggregatedSet", read_disaggregated_set},
    job_kind{"disaggregatedset.x-k8s.io/v1alpha1", "DisaggregatedSet", read_disaggregated_set},
    job_kind{"ray.io/v1", "RayCluster", read_ray<ray_kind::cluster>},
    job_kind{"ray.io/v1", "RayJob", read_ray<ray_kind::job>},
    job_kind{"ray.io/v1", "RayService", read_ray<ray_kind::service>},
    job_kind{"ray.io/v1alpha1", "RayCluster", read_ray<ray_kind::cluster>},
    job_kind{"ray.io/v1alpha1", "RayJob", read_ray<ray_kind::job>},
    job_kind{"ray.io/v1alpha1", "RayService", read_ray<ray_kind::service>},
    job_kind{"sparkoperator.k8s.io/v1beta2", "SparkApplication", read_spark_application},
    job_kind{"sparkoperator.k8s.io/v1beta1", "SparkApplication", read_spark_application},
    job_kind{"slurm.muster.dev/v1", "BatchScript", slurm::read_batch_script},
    job_kind{"apps/v1", "Deployment", read_replicas<translate::workload_kind::deployment>},
    job_kind{"apps/v1", "ReplicaSet", read_replicas<translate::workload_kind::replica_set>},
    job_kind{"v1", "ReplicationController", read_replicas<translate::workload_kind::replica_set>},
    job_kind{"apps/v1", "StatefulSet", read_replicas<translate::workload_kind::stateful_set>},
    job_kind{"kubeflow.org/v1", "Notebook", read_notebook},
    job_kind{"kubeflow.org/v1beta1", "Notebook", read_notebook},
    job_kind{"kubeflow.org/v1alpha1", "Notebook", read_notebook},
    job_kind{"serving.knative.dev/v1", "Service", read_knative_service},
    job_kind{"amlarc.azureml.com/v1alpha1", "AmlJob", read_aml_job},
    job_kind{"apps/v1", "DaemonSet", read_unknown_pods},
    job_kind{"egx.nvidia.io/v1", "SPOTRequest", read_unknown_pods},
    job_kind{"machinelearning.seldon.io/v1", "SeldonDeployment", read_unknown_pods},
    job_kind{"machinelearning.seldon.io/v1alpha2", "SeldonDeployment", read_unknown_pods},
    job_kind{"machinelearning.seldon.io/v1alpha3", "SeldonDeployment", read_unknown_pods},
    job_kind{"kubevirt.io/v1", "VirtualMachineInstance", read_unknown_pods},
    job_kind{"workspace.devfile.io/v1alpha2", "DevWorkspace", read_unknown_pods},
    job_kind{"kubeflow.org/v1beta1", "ScheduledWorkflow", read_unknown_pods},
    job_kind{"tekton.dev/v1", "PipelineRun", read_unknown_pods},
    job_kind{"tekton.dev/v1beta1", "PipelineRun", read_unknown_pods},
    job_kind{"tekton.dev/v1", "TaskRun", read_unknown_pods},
    job_kind{"tekton.dev/v1beta1", "TaskRun", read_unknown_pods},
    job_kind{"argoproj.io/v1alpha1", "Workflow", read_unknown_owner},
    job_kind{"run.ai/v1", "RunaiJob", read_unknown_pods},
    job_kind{"run.ai/v2alpha1", "TrainingWorkload", read_unknown_owner},
    job_kind{"run.ai/v2alpha1", "InteractiveWorkload", read_unknown_owner},
    job_kind{"run.ai/v2alpha1", "InferenceWorkload", read_unknown_owner},
    job_kind{"run.ai/v2alpha1", "DistributedWorkload", read_unknown_owner},
    job_kind{"run.ai/v2alpha1", "DistributedInferenceWorkload", read_unknown_owner},
    job_kind{"nvidia.com/v1alpha1", "DynamoGraphDeployment", read_unknown_owner},
};

inline translate::job_gangs read_undescribed_version(object_reader& object, reading_context&,
                                                     const translate::job_options&) {
    const field version_at = object.optional("apiVersion");
    const auto kind = object.optional("kind").as_string().value_or("");
    std::string read;
    for (const job_kind& each : job_kinds)
        if (each.kind == kind && each.read != read_undescribed_version)
            read.append(read.empty() ? "" : ", ").append(each.api_version);
    version_at.error(in_quotes(version_at.as_string().value_or("")) + " of " + std::string(kind) +
                     " is not read: the pods of this version are unknown (expected " + read + ")");
    object.ignore_rest();
    return {};
}

/// nullptr for a kind that is none of them.
[[nodiscard]] inline const job_kind* find_job_kind(std::string_view api_version,
                                                   std::string_view kind) noexcept {
    for (const job_kind& each : job_kinds)
        if (each.api_version == api_version && each.kind == kind)
            return &each;
    return nullptr;
}

} // namespace codec
} // namespace v0_1
} // namespace muster
