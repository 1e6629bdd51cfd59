// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace codec_tests {

/// A small input of every kind that can be read as gangs, by its name. `TEMPLATE` stands for a
/// PodTemplateSpec, `POD(name, metadata, spec)` for a pod.
inline std::vector<std::pair<std::string, std::string>> every_kind() {
    std::vector<std::pair<std::string, std::string>> all;
    const std::string pod_spec = "{containers: [{name: main, image: i, resources: {requests: "
                                 "{cpu: '1', memory: 1Gi}, limits: {memory: 1Gi}}}]}";
    const std::string pod_template = "{metadata: {labels: {app: x}}, spec: " + pod_spec + "}";
    const auto object = [](const std::string& version, const std::string& kind,
                           const std::string& name, const std::string& spec,
                           const std::string& metadata = "") {
        return "---\n{apiVersion: " + version + ", kind: " + kind + ", metadata: {name: " + name +
               ", namespace: home, uid: u-" + name + metadata + "}, spec: {" + spec + "}}\n";
    };
    const auto add = [&](const std::string& name, const std::string& text) {
        std::string filled;
        for (std::size_t at = 0; at < text.size();) {
            if (text.compare(at, 8, "TEMPLATE") == 0) {
                filled += pod_template;
                at += 8;
            } else if (text.compare(at, 7, "PODSPEC") == 0) {
                filled += pod_spec;
                at += 7;
            } else {
                filled += text[at++];
            }
        }
        all.emplace_back(name, std::move(filled));
    };
    const auto job = [&](const std::string& version, const std::string& kind,
                         const std::string& spec, const std::string& what = "") {
        add(kind + " " + version + (what.empty() ? "" : ", " + what),
            object(version, kind, "job", spec));
    };
    const auto pod = [&](const std::string& name, const std::string& metadata = "",
                         const std::string& spec = "") {
        return "---\n{apiVersion: v1, kind: Pod, metadata: {name: " + name + ", namespace: home" +
               (metadata.empty() ? "" : ", ") + metadata + "}, spec: {" + spec +
               (spec.empty() ? "" : ", ") + "containers: [{name: main, image: i}]}}\n";
    };

    const std::string t9k = "batch.tensorstack.dev/v1beta1";
    const std::string queue = "scheduler: {t9kScheduler: {queue: team, priority: 5}}, ";
    job(t9k, "GenericJob",
        queue + "replicaSpecs: [{type: ps, replicas: 1, template: TEMPLATE}, "
                "{type: worker, replicas: 2, template: TEMPLATE}]");
    job(t9k, "GenericJob", "replicaSpecs: [{type: worker, replicas: 2, template: TEMPLATE}]",
        "of the default scheduler");
    job(t9k, "TensorFlowTrainingJob",
        queue + "replicaSpecs: [{type: chief, replicas: 1, template: TEMPLATE}, {type: worker, "
                "replicas: 2, template: TEMPLATE}]");
    job(t9k, "PyTorchTrainingJob",
        queue + "replicaSpecs: [{type: worker, replicas: 2, template: "
                "TEMPLATE}]");
    job(t9k, "PyTorchTrainingJob",
        queue + "elastic: {enabled: true, minReplicas: 1, expectedReplicas: 2, maxReplicas: 3}, "
                "replicaSpecs: [{type: worker, template: TEMPLATE}]",
        "elastic");
    job(t9k, "XGBoostTrainingJob",
        queue + "replicaSpecs: [{type: master, replicas: 1, template: "
                "TEMPLATE}, {type: worker, replicas: 2, template: "
                "TEMPLATE}]");
    job(t9k, "MPIJob",
        queue + "worker: {replicas: 2, template: TEMPLATE}, mpirun: {script: "
                "[train]}");
    job(t9k, "MPIJob",
        queue + "replicaSpecs: [{type: launcher, template: TEMPLATE}, {type: "
                "worker, replicas: 2, template: TEMPLATE}]",
        "second generation");
    job(t9k, "ColossalAIJob", queue + "worker: {replicas: 2, template: TEMPLATE}");
    job(t9k, "DeepSpeedJob", queue + "worker: {replicas: 2, template: TEMPLATE}");
    job(t9k, "BeamJob",
        queue + "flinkClusterTemplate: {spec: {jobManager: {template: TEMPLATE}, taskManager: "
                "{replicas: 2, template: TEMPLATE}}}, jobTemplate: {spec: {template: TEMPLATE}}");

    const auto kubeflow = [&](const std::string& version, const std::string& kind,
                              const std::string& key, const std::string& first) {
        job(version, kind,
            "runPolicy: {schedulingPolicy: {queue: team, priorityClass: high, minAvailable: 2, "
            "scheduleTimeoutSeconds: 60, minResources: {cpu: 3}}}, " +
                key + ": {" +
                (first.empty() ? "" : first + ": {replicas: 1, template: TEMPLATE}, ") +
                "Worker: {replicas: 2, template: TEMPLATE}}");
    };
    kubeflow("kubeflow.org/v1", "TFJob", "tfReplicaSpecs", "PS");
    kubeflow("kubeflow.org/v1", "PyTorchJob", "pytorchReplicaSpecs", "Master");
    kubeflow("kubeflow.org/v1", "MPIJob", "mpiReplicaSpecs", "Launcher");
    kubeflow("kubeflow.org/v2beta1", "MPIJob", "mpiReplicaSpecs", "Launcher");
    kubeflow("kubeflow.org/v1", "XGBoostJob", "xgbReplicaSpecs", "Master");
    kubeflow("kubeflow.org/v1", "PaddleJob", "paddleReplicaSpecs", "Master");
    kubeflow("kubeflow.org/v1", "JAXJob", "jaxReplicaSpecs", "");
    add("TrainJob trainer.kubeflow.org/v1alpha1",
        object("trainer.kubeflow.org/v1alpha1", "TrainJob", "job",
               "runtimeRef: {name: r}, trainer: {numNodes: 2}") +
            "---\n{apiVersion: trainer.kubeflow.org/v1alpha1, kind: ClusterTrainingRuntime, "
            "metadata: {name: r}, spec: {mlPolicy: {numNodes: 1}, podGroupPolicy: {coscheduling: "
            "{scheduleTimeoutSeconds: 30}}, template: {spec: {replicatedJobs: [{name: node, "
            "template: {metadata: {labels: {trainer.kubeflow.org/trainjob-ancestor-step: "
            "trainer}}, spec: {template: TEMPLATE}}}]}}}}\n");
    job("batch.volcano.sh/v1alpha1", "Job",
        "queue: team, priorityClassName: high, minAvailable: 3, tasks: [{name: ps, replicas: 1, "
        "template: TEMPLATE}, {name: worker, replicas: 3, minAvailable: 2, template: TEMPLATE}]");
    job("batch/v1", "Job", "parallelism: 2, completions: 2, template: TEMPLATE");
    job("batch/v1", "CronJob",
        "schedule: '0 0 * * *', jobTemplate: {spec: {parallelism: 2, template: TEMPLATE}}");
    job("jobset.x-k8s.io/v1alpha2", "JobSet",
        "replicatedJobs: [{name: leader, replicas: 1, template: {spec: {template: TEMPLATE}}}, "
        "{name: worker, replicas: 2, template: {spec: {parallelism: 2, completions: 2, template: "
        "TEMPLATE}}}]");
    job("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet",
        "replicas: 2, leaderWorkerTemplate: {size: 2, leaderTemplate: TEMPLATE, workerTemplate: "
        "TEMPLATE}");
    const std::string ray = "headGroupSpec: {rayStartParams: {}, template: TEMPLATE}, "
                            "workerGroupSpecs: [{groupName: small, replicas: 2, minReplicas: 1, "
                            "maxReplicas: 3, rayStartParams: {}, template: TEMPLATE}]";
    job("ray.io/v1", "RayCluster", ray);
    job("ray.io/v1", "RayJob", "entrypoint: train, rayClusterSpec: {" + ray + "}");
    job("ray.io/v1", "RayService", "rayClusterConfig: {" + ray + "}");
    const std::string replicas =
        "replicas: 2, selector: {matchLabels: {app: x}}, template: TEMPLATE";
    job("apps/v1", "Deployment", replicas);
    job("apps/v1", "ReplicaSet", replicas);
    job("apps/v1", "StatefulSet", "serviceName: s, " + replicas);
    job("v1", "ReplicationController", "replicas: 2, selector: {app: x}, template: TEMPLATE");
    job("apps/v1", "DaemonSet", "selector: {matchLabels: {app: x}}, template: TEMPLATE");
    job("kubeflow.org/v1", "Notebook", "template: {spec: PODSPEC}");
    job("serving.knative.dev/v1", "Service", "template: {spec: PODSPEC}");
    const std::string task = "{name: worker, replicas: 2, template: TEMPLATE}";
    job("batch.volcano.sh/v1alpha1", "CronJob",
        "schedule: '0 0 * * *', jobTemplate: {spec: {queue: team, tasks: [" + task + "]}}");
    job("flow.volcano.sh/v1alpha1", "JobTemplate", "minAvailable: 2, tasks: [" + task + "]");
    job("disaggregatedset.x-k8s.io/v1", "DisaggregatedSet",
        "roles: [{name: a, spec: {replicas: 2, leaderWorkerTemplate: {size: 2, workerTemplate: "
        "TEMPLATE}}}]");
    job("sparkoperator.k8s.io/v1beta2", "SparkApplication",
        "type: Scala, image: i, batchSchedulerOptions: {queue: team}, driver: {cores: 1, memory: "
        "512m}, executor: {instances: 2, cores: 1, memory: 1g}");
    job("amlarc.azureml.com/v1alpha1", "AmlJob", "job: {options: {envs: {AZUREML_NODE_COUNT: 4}}}");
    // Kinds of which only their controllers know the pods.
    for (const auto& [version, kind] : std::vector<std::pair<std::string, std::string>>{
             {"argoproj.io/v1alpha1", "Workflow"},
             {"egx.nvidia.io/v1", "SPOTRequest"},
             {"machinelearning.seldon.io/v1", "SeldonDeployment"},
             {"kubevirt.io/v1", "VirtualMachineInstance"},
             {"workspace.devfile.io/v1alpha2", "DevWorkspace"},
             {"kubeflow.org/v1beta1", "ScheduledWorkflow"},
             {"tekton.dev/v1", "PipelineRun"},
             {"tekton.dev/v1", "TaskRun"},
             {"run.ai/v1", "RunaiJob"},
             {"run.ai/v2alpha1", "TrainingWorkload"},
             {"run.ai/v2alpha1", "InteractiveWorkload"},
             {"run.ai/v2alpha1", "InferenceWorkload"},
             {"run.ai/v2alpha1", "DistributedWorkload"},
             {"run.ai/v2alpha1", "DistributedInferenceWorkload"},
             {"nvidia.com/v1alpha1", "DynamoGraphDeployment"}})
        job(version, kind, "");
    job("example.org/v1", "Thing", "replicas: 2, template: TEMPLATE");

    job("grove.io/v1alpha1", "PodCliqueSet",
        "replicas: 1, template: {cliques: [{name: leader, labels: {kai.scheduler/queue: team}, "
        "spec: {roleName: leader, replicas: 1, podSpec: PODSPEC}}, {name: worker, labels: "
        "{kai.scheduler/queue: team}, spec: {roleName: worker, replicas: 2, minAvailable: 1, "
        "podSpec: PODSPEC}}], podCliqueScalingGroups: [{name: group, cliqueNames: [worker], "
        "replicas: 2}]}");
    add("PodGang scheduler.grove.io/v1alpha1",
        object("scheduler.grove.io/v1alpha1", "PodGang", "g",
               "priorityClassName: high, topologyConstraint: {packConstraint: {required: zone, "
               "preferred: rack}}, podgroups: [{name: a, minReplicas: 1, podReferences: "
               "[{namespace: home, name: p}]}, {name: b, minReplicas: 1, podReferences: "
               "[{namespace: home, name: q}, {namespace: home, name: r}]}]",
               ", labels: {kai.scheduler/queue: team}, annotations: {grove.io/topology-name: dc}") +
            pod("p") + pod("q") + pod("r"));

    const std::string in_t9k = "labels: {scheduler.tensorstack.dev/group-name: g, "
                               "scheduler.tensorstack.dev/queue: team, "
                               "scheduler.tensorstack.dev/role: ";
    add("PodGroup scheduler.tensorstack.dev/v1beta1",
        object("scheduler.tensorstack.dev/v1beta1", "PodGroup", "g",
               "minMember: 3, queue: team, priority: 5, roles: [{name: a, minMember: 1}, {name: "
               "b, minMember: 1}]") +
            pod("p", in_t9k + "a}") + pod("q", in_t9k + "b}") + pod("r", in_t9k + "b}"));
    const std::string in_ack = "labels: {pod-group.scheduling.sigs.k8s.io/name: g, "
                               "pod-group.scheduling.sigs.k8s.io/min-available: '2'}";
    add("ACK's labels", pod("p", in_ack) + pod("q", in_ack) + pod("r", in_ack));
    add("PodGroup scheduling.x-k8s.io/v1alpha1",
        object("scheduling.x-k8s.io/v1alpha1", "PodGroup", "g",
               "minMember: 2, scheduleTimeoutSeconds: 10, minResources: {cpu: 2}") +
            pod("p", "labels: {scheduling.x-k8s.io/pod-group: g}") +
            pod("q", "labels: {scheduling.x-k8s.io/pod-group: g}"));
    const auto part = [&](const std::string& name, const std::string& least) {
        return object("scheduling.sigs.k8s.io/v1alpha1", "PodGroup", name, "minMember: " + least,
                      ", annotations: {gang.scheduling.koordinator.sh/groups: '[\"home/a\", "
                      "\"home/b\"]', gang.scheduling.koordinator.sh/match-policy: only-waiting}");
    };
    add("PodGroups scheduling.sigs.k8s.io/v1alpha1, a gang group",
        part("a", "1") + part("b", "2") +
            pod("p", "labels: {pod-group.scheduling.sigs.k8s.io: a}") +
            pod("q", "labels: {pod-group.scheduling.sigs.k8s.io: b}") +
            pod("r", "labels: {pod-group.scheduling.sigs.k8s.io: b}"));
    const std::string in_koordinator = "annotations: {gang.scheduling.koordinator.sh/name: g, "
                                       "gang.scheduling.koordinator.sh/min-available: '2', "
                                       "gang.scheduling.koordinator.sh/waiting-time: 30s}";
    add("Koordinator's annotations", pod("p", in_koordinator) + pod("q", in_koordinator));
    const std::string in_volcano =
        "annotations: {scheduling.k8s.io/group-name: g, volcano.sh/task-spec: ";
    add("PodGroup scheduling.volcano.sh/v1beta1",
        object("scheduling.volcano.sh/v1beta1", "PodGroup", "g",
               "minMember: 3, minTaskMember: {a: 1, b: 1}, queue: team, priorityClassName: high, "
               "minResources: {cpu: 2}, networkTopology: {mode: hard, highestTierAllowed: 1}") +
            pod("p", in_volcano + "a}") + pod("q", in_volcano + "b}") +
            pod("r", in_volcano + "b}"));
    const std::string in_kai =
        "annotations: {pod-group-name: g}, labels: {kai.scheduler/subgroup-name: ";
    add("PodGroup scheduling.run.ai/v2alpha2",
        object("scheduling.run.ai/v2alpha2", "PodGroup", "g",
               "queue: team, preemptibility: preemptible, minSubGroup: 1, subGroups: [{name: a, "
               "minMember: 1}, {name: inner, topologyConstraint: {topology: dc, "
               "requiredTopologyLevel: rack}}, {name: b, parent: inner, minMember: 1}, {name: c, "
               "parent: inner, minMember: 1}]") +
            pod("p", in_kai + "a}") + pod("q", in_kai + "b}") + pod("r", in_kai + "c}"));
    add("Workload scheduling.k8s.io/v1alpha1",
        object("scheduling.k8s.io/v1alpha1", "Workload", "w",
               "podGroups: [{name: a, policy: {gang: {minCount: 2}}}]") +
            pod("p", "", "workloadRef: {name: w, podGroup: a}") +
            pod("q", "", "workloadRef: {name: w, podGroup: a}"));
    for (const std::string version : {"v1alpha2", "v1beta1"})
        add("PodGroup scheduling.k8s.io/" + version,
            object("scheduling.k8s.io/" + version, "PodGroup", "g",
                   "schedulingPolicy: {gang: {minCount: 2}}, schedulingConstraints: {topology: "
                   "[{key: rack}]}, priorityClassName: high") +
                pod("p", "", "schedulingGroup: {podGroupName: g}") +
                pod("q", "", "schedulingGroup: {podGroupName: g}"));
    const auto composed = [&](const std::string& name) {
        return object("scheduling.k8s.io/v1alpha3", "PodGroup", name,
                      "parentCompositePodGroupName: c, workloadRef: {workloadName: w, "
                      "templateName: " +
                          name + "}, schedulingPolicy: {gang: {minCount: 1}}");
    };
    add("CompositePodGroup scheduling.k8s.io/v1alpha3",
        object("scheduling.k8s.io/v1alpha3", "CompositePodGroup", "c",
               "schedulingPolicy: {gang: {minGroupCount: 2}}") +
            composed("a") + composed("b") + pod("p", "", "schedulingGroup: {podGroupName: a}") +
            pod("q", "", "schedulingGroup: {podGroupName: b}"));
    // Read as apiVersion: slurm.muster.dev/v1, kind: BatchScript, which the comment says.
    const std::string read_as = "# apiVersion: slurm.muster.dev/v1, kind: BatchScript, of Muster\n";
    add("a batch script of Slurm", "#!/bin/bash\n" + read_as +
                                       "#SBATCH -J job -p team --priority=5 -N1-2 -c2 --mem=1G\n"
                                       "run\n");
    add("a batch script of Slurm, heterogeneous",
        "#!/bin/bash\n#SBATCH -J job -n1 -L x\n#SBATCH hetjob\n#SBATCH -n2 -c2\nrun\n");
    add("a pod by itself", pod("p"));
    return all;
}

} // namespace codec_tests
