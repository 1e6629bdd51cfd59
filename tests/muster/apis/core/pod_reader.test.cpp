// SPDX-License-Identifier: Apache-2.0
#include <muster/apis/core/pod_reader.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <muster/input/read_documents.hpp>

namespace codec_pod_reader_test {

using namespace muster::codec;
using muster::pod_phase;

namespace {

struct read_result {
    pod_object pod;
    std::string findings;
    std::optional<timestamp> newest;
};

read_result read_text(const std::string& text) {
    read_result made;
    diagnostics out;
    const auto documents = read_documents("f", text, out);
    REQUIRE(documents.size() == 1);
    reading_context context;
    object_reader root(documents[0], out);
    made.pod = read_pod(root, context);
    made.newest = context.newest;
    for (const diagnostic& finding : out.findings())
        made.findings += to_text(finding) + '\n';
    return made;
}

/// A pod whose spec has these lines, indented by two, behind its first two lines.
read_result read(const std::string& spec, const std::string& after = {}) {
    return read_text("metadata: {name: p}\nspec:\n" + spec + "  containers: [{}]\n" + after);
}

/// True when the pod may stand on a node with this name and these labels.
bool allows(const pod_object& pod, const std::string& name, muster::label_set labels) {
    muster::node<1> target;
    target.name = name;
    target.labels = std::move(labels);
    return (muster::failed_filters(pod.where, target) & muster::node_filter_selector) == 0;
}

bool tolerates(const std::string& toleration, const muster::taint& what) {
    const auto [pod, findings, newest] = read("  tolerations: [" + toleration + "]\n");
    CHECK(findings.empty());
    return muster::tolerated(what, pod.where.tolerations);
}

std::string terms(const std::string& list) {
    return "  affinity:\n    nodeAffinity:\n      requiredDuringSchedulingIgnoredDuringExecution:\n"
           "        nodeSelectorTerms: " +
           list + "\n";
}

constexpr auto no_schedule = muster::taint_effect::no_schedule;
constexpr auto no_execute = muster::taint_effect::no_execute;

} // namespace

TEST_CASE("a pod's own words are kept") {
    const auto [pod, findings, newest] = read_text(R"(apiVersion: v1
kind: Pod
metadata:
  name: p
  namespace: team
  uid: "17"
  labels: {a: b}
  annotations: {c: d}
  creationTimestamp: 2024-01-01T00:00:00Z
spec:
  schedulerName: t9k-scheduler
  priority: -5
  priorityClassName: high
  containers: [{name: c, image: nginx}]
)");
    CHECK(findings.empty());
    CHECK(pod.metadata.key == object_key{"team", "p"});
    CHECK(pod.metadata.uid == "17");
    CHECK(*pod.metadata.labels.find("a") == "b");
    CHECK(*pod.metadata.annotations.find("c") == "d");
    CHECK(pod.metadata.created == parse_timestamp("2024-01-01T00:00:00Z"));
    CHECK(pod.scheduler_name == "t9k-scheduler");
    CHECK(pod.priority == -5);
    CHECK(pod.priority_class == "high");
    CHECK(pod.unsupported.empty());
    CHECK(pod.node.empty());
    CHECK_FALSE(pod.metadata.terminating);
    CHECK_FALSE(read("").pod.priority);
    CHECK_FALSE(read("").pod.metadata.created);
    CHECK(read("").pod.metadata.key.name_space == "default");
}

TEST_CASE("phases are the model's, a pending pod with a node is bound, one with gates is gated") {
    const auto phase = [](const std::string& spec, const std::string& api) {
        const auto [pod, findings, newest] = read(spec, "status: {phase: " + api + "}\n");
        CHECK(findings.empty());
        return pod.phase;
    };
    const std::string gates = "  schedulingGates: [{name: a}]\n";
    CHECK(phase("", "Pending") == pod_phase::pending);
    CHECK(phase("", "''") == pod_phase::pending);
    CHECK(read("").pod.phase == pod_phase::pending);
    CHECK(read("").pod.api_phase == "Pending");
    CHECK(phase("  schedulingGates: []\n", "Pending") == pod_phase::pending);
    CHECK(phase(gates, "Pending") == pod_phase::gated);
    CHECK(phase("  nodeName: a\n", "Pending") == pod_phase::bound);
    CHECK(phase("  nodeName: a\n", "Running") == pod_phase::running);
    CHECK(phase("  nodeName: a\n", "Unknown") == pod_phase::unknown);
    CHECK(phase("", "Succeeded") == pod_phase::succeeded);
    CHECK(phase("", "Failed") == pod_phase::failed);
    CHECK(phase(gates, "Failed") == pod_phase::failed);
    CHECK(read("  nodeName: a\n").pod.node == "a");
    CHECK(read("  schedulingGates: [{name: b}, {name: a}]\n").pod.gates ==
          std::vector<std::string>{"b", "a"});
    CHECK(read("  nodeName: a\n" + gates).pod.gates.empty());
}

TEST_CASE("another phase is an error, and so is running on no node") {
    CHECK(read("", "status: {phase: running}\n").findings ==
          "f:4:17: status.phase: \"running\" is not a phase (expected Pending, Running, Succeeded, "
          "Failed or Unknown)\n");
    CHECK(read("", "status: {phase: Running}\n").findings ==
          "f:4:17: status.phase: the pod runs without spec.nodeName (expected the name of its "
          "node)\n");
}

TEST_CASE("a pod with a deletionTimestamp is terminating, and that time does not date the input") {
    const auto read = read_text(R"(metadata:
  name: p
  creationTimestamp: 2024-01-01T00:00:00Z
  deletionTimestamp: 2030-01-01T00:00:00Z
spec: {containers: [{}]}
)");
    CHECK(read.pod.metadata.terminating);
    CHECK(read.newest == parse_timestamp("2024-01-01T00:00:00Z"));
}

TEST_CASE("PodScheduled=True says since when a pod has its node; the newest of all times is kept") {
    const auto [pod, findings, newest] = read("", R"(status:
  startTime: 2024-01-01T00:00:03Z
  conditions:
  - {type: PodScheduled, status: "True", lastTransitionTime: 2024-01-01T00:00:02Z}
  - {type: Ready, status: "True", lastTransitionTime: 2024-01-01T00:00:09Z}
)");
    CHECK(findings.empty());
    CHECK(pod.scheduled == parse_timestamp("2024-01-01T00:00:02Z"));
    CHECK(newest == parse_timestamp("2024-01-01T00:00:09Z"));
    CHECK_FALSE(read("", R"(status:
  conditions:
  - {type: PodScheduled, status: "False", lastTransitionTime: 2024-01-01T00:00:02Z}
)")
                    .pod.scheduled);
}

TEST_CASE("a malformed time is an error") {
    CHECK(read_text("metadata: {name: p, creationTimestamp: yesterday}\n"
                    "spec: {containers: [{}]}\n")
              .findings == "f:1:40: metadata.creationTimestamp: found \"yesterday\", expected an "
                           "RFC 3339 time such as 2023-12-17T13:48:16Z\n");
}

TEST_CASE("a node selector wants every label to be equal") {
    const auto [pod, findings, newest] = read("  nodeSelector: {a: b, c: ''}\n");
    CHECK(findings.empty());
    CHECK(allows(pod, "x", {{"a", "b"}, {"c", ""}, {"d", "e"}}));
    CHECK_FALSE(allows(pod, "x", {{"a", "b"}}));
    CHECK_FALSE(allows(pod, "x", {{"a", "z"}, {"c", ""}}));
    CHECK(read("  nodeSelector: {gpu: true}\n").findings ==
          "f:3:23: spec.nodeSelector.gpu: found true, expected a string (quote it)\n");
}

TEST_CASE("what only the kubelet looks into must be of its type all the same") {
    const auto container = [](const std::string& fields) {
        return read_text("metadata: {name: p}\nspec: {containers: [{" + fields + "}]}\n").findings;
    };
    CHECK(
        container("name: c, image: i, command: [sh], args: ['1'], workingDir: /w, tty: true, env: "
                  "[{name: A, value: '1'}, {name: B}]") == "");
    CHECK(container("image: no") == "f:2:29: spec.containers[0].image: found no, which YAML takes "
                                    "for false, expected a string (quote it)\n");
    CHECK(container("command: [8080]") ==
          "f:2:32: spec.containers[0].command[0]: found 8080, expected a string (quote it)\n");
    CHECK(container("args: [null]") ==
          "f:2:29: spec.containers[0].args[0]: found nothing, expected a string\n");
    CHECK(container("env: [{name: A, value: yes}]") ==
          "f:2:45: spec.containers[0].env[0].value: found yes, which YAML takes for true, expected "
          "a string (quote it)\n");
    CHECK(container("tty: 'true'") ==
          "f:2:27: spec.containers[0].tty: found \"true\", expected true or false\n");
    CHECK(read("  hostname: n\n").findings ==
          "f:3:13: spec.hostname: found n, which YAML takes for "
          "false, expected a string (quote it)\n");
    CHECK(read("  terminationGracePeriodSeconds: '5'\n").findings ==
          "f:3:34: spec.terminationGracePeriodSeconds: found \"5\", expected a whole number\n");
}

TEST_CASE("of the terms of a node affinity one must match, of its expressions all") {
    const auto [pod, findings, newest] = read(terms(R"(
        - matchExpressions:
          - {key: a, operator: In, values: [b, c]}
          - {key: d, operator: Exists}
        - matchExpressions:
          - {key: e, operator: NotIn, values: [f]}
          - {key: a, operator: DoesNotExist})"));
    CHECK(findings.empty());
    CHECK(allows(pod, "x", {{"a", "c"}, {"d", ""}}));
    CHECK(allows(pod, "x", {}));
    CHECK(allows(pod, "x", {{"e", "g"}}));
    CHECK_FALSE(allows(pod, "x", {{"a", "b"}}));
    CHECK_FALSE(allows(pod, "x", {{"e", "f"}}));
    CHECK_FALSE(allows(pod, "x", {{"a", "z"}, {"d", ""}}));
}

TEST_CASE("node selector and node affinity must both hold") {
    const auto pod = read("  nodeSelector: {a: b}\n" +
                          terms("[{matchExpressions: [{key: c, operator: Exists}]}]"))
                         .pod;
    CHECK(allows(pod, "x", {{"a", "b"}, {"c", ""}}));
    CHECK_FALSE(allows(pod, "x", {{"a", "b"}}));
    CHECK_FALSE(allows(pod, "x", {{"c", ""}}));
}

TEST_CASE("matchFields speaks of the node's name, and of nothing else") {
    const auto pod = read(terms("[{matchFields: [{key: metadata.name, operator: In, values: "
                                "[one]}], matchExpressions: [{key: a, operator: Exists}]}]"))
                         .pod;
    CHECK(allows(pod, "one", {{"a", ""}}));
    CHECK_FALSE(allows(pod, "two", {{"a", ""}}));
    CHECK_FALSE(allows(pod, "one", {}));
    CHECK(read(terms("[{matchFields: [{key: spec.x, operator: Exists}]}]")).findings ==
          "f:6:43: spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution."
          "nodeSelectorTerms[0].matchFields: \"spec.x\" is not a field (expected "
          "metadata.name)\n");
}

TEST_CASE("Gt and Lt compare whole numbers, and nothing matches what is none") {
    const auto pod = read(terms("[{matchExpressions: [{key: 'n', operator: Gt, values: ['4']}, "
                                "{key: m, operator: Lt, values: ['4']}]}]"))
                         .pod;
    CHECK(allows(pod, "x", {{"n", "5"}, {"m", "-3"}}));
    CHECK_FALSE(allows(pod, "x", {{"n", "4"}, {"m", "3"}}));
    CHECK_FALSE(allows(pod, "x", {{"n", "5"}, {"m", "4"}}));
    CHECK_FALSE(allows(pod, "x", {{"n", "many"}, {"m", "3"}}));
    CHECK_FALSE(allows(pod, "x", {{"m", "3"}}));
}

TEST_CASE("an empty term matches no node, and so does an empty list of terms") {
    CHECK_FALSE(allows(read(terms("[{}]")).pod, "x", {}));
    CHECK(allows(read(terms("[{}, {matchExpressions: [{key: a, operator: DoesNotExist}]}]")).pod,
                 "x", {}));
    CHECK_FALSE(allows(read(terms("[]")).pod, "x", {}));
    CHECK(allows(read("  affinity: {}\n").pod, "x", {}));
    CHECK(allows(read("  affinity: {nodeAffinity: {}}\n").pod, "x", {}));
    CHECK(read("  affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {}}}\n")
              .findings.ends_with(".nodeSelectorTerms: required, but missing\n"));
}

TEST_CASE("malformed requirements are errors that name what was expected") {
    const auto finding = [](const std::string& requirement) {
        const std::string all =
            read("  affinity:\n    nodeAffinity:\n"
                 "      requiredDuringSchedulingIgnoredDuringExecution:\n"
                 "        nodeSelectorTerms:\n        - matchExpressions:\n          - " +
                 requirement + "\n")
                .findings;
        const std::string path =
            ": spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution."
            "nodeSelectorTerms[0].matchExpressions[0]";
        const std::size_t at = all.find(path);
        return at == std::string::npos ? all : all.substr(0, at) + all.substr(at + path.size());
    };
    CHECK(finding("{key: a, operator: in, values: [b]}") ==
          "f:8:32.operator: \"in\" is not an operator (expected In, NotIn, Exists, DoesNotExist, "
          "Gt or Lt)\n");
    CHECK(finding("{key: a, operator: In}") ==
          "f:8:13: values are missing (expected at least one with In and NotIn)\n");
    CHECK(finding("{key: a, operator: Gt, values: ['1', '2']}") ==
          "f:8:13: values are wrong (expected exactly one with Gt and Lt)\n");
    CHECK(finding("{key: a, operator: Exists, values: [b]}") ==
          "f:8:48.values: values are there (expected none with Exists and DoesNotExist)\n");
    CHECK(finding("{operator: Exists}") == "f:8:13.key: required, but missing\n");
    CHECK(finding("{key: a, operator: In, values: [1]}") ==
          "f:8:45.values[0]: found 1, expected a string (quote it)\n");
}

TEST_CASE("preferred node affinity adds up, its weights are 1 to 100") {
    const std::string list = "  affinity:\n    nodeAffinity:\n"
                             "      preferredDuringSchedulingIgnoredDuringExecution:\n";
    const auto [pod, findings, newest] = read(list + R"(
      - weight: 100
        preference: {matchExpressions: [{key: a, operator: Exists}]}
      - weight: 1
        preference: {matchFields: [{key: metadata.name, operator: In, values: [one]}]}
)");
    CHECK(findings.empty());
    muster::node<1> target;
    target.labels.set("a", "");
    CHECK(muster::preference(pod.where, target) == 100);
    target.name = "one";
    CHECK(muster::preference(pod.where, target) == 101);
    CHECK_FALSE(pod.where.affinity);
    CHECK(read(list + "      - {weight: 101, preference: {}}\n")
              .findings.ends_with("[0].weight: found 101, expected a whole number from 1 to "
                                  "100\n"));
}

TEST_CASE("a pod's operating system excludes nodes whose label names another one") {
    const auto pod = read("  os: {name: windows}\n").pod;
    CHECK(allows(pod, "n", {{"kubernetes.io/os", "windows"}}));
    CHECK(allows(pod, "n", {}));
    CHECK_FALSE(allows(pod, "n", {{"kubernetes.io/os", "linux"}}));
    CHECK_FALSE(allows(read("  os: {name: linux}\n").pod, "n", {{"kubernetes.io/os", "windows"}}));
    CHECK(read("  os: {name: plan9}\n").findings ==
          "f:3:14: spec.os.name: \"plan9\" is not an operating system (expected linux or "
          "windows)\n");
}

TEST_CASE("Equal compares key and value, Exists takes any value") {
    const muster::taint taint{"k", "v", no_schedule};
    CHECK(tolerates("{key: k, operator: Equal, value: v}", taint));
    CHECK(tolerates("{key: k, value: v}", taint));
    CHECK_FALSE(tolerates("{key: k, value: w}", taint));
    CHECK_FALSE(tolerates("{key: k}", taint));
    CHECK(tolerates("{key: k}", {"k", "", no_schedule}));
    CHECK_FALSE(tolerates("{key: j, value: v}", taint));
    CHECK(tolerates("{key: k, operator: Exists}", taint));
    CHECK_FALSE(tolerates("{key: j, operator: Exists}", taint));
}

TEST_CASE("an empty key with Exists takes every key, an empty effect every effect") {
    CHECK(tolerates("{operator: Exists}", {"k", "v", no_execute}));
    CHECK(tolerates("{key: '', operator: Exists, effect: ''}", {"k", "v", no_schedule}));
    CHECK_FALSE(tolerates("{operator: Exists, effect: NoExecute}", {"k", "v", no_schedule}));
    CHECK(tolerates("{operator: Exists, effect: NoExecute, tolerationSeconds: 300}",
                    {"k", "v", no_execute}));
}

TEST_CASE("Gt and Lt tolerate taints whose number is greater or less") {
    CHECK(tolerates("{key: k, operator: Gt, value: '5'}", {"k", "6", no_schedule}));
    CHECK_FALSE(tolerates("{key: k, operator: Gt, value: '5'}", {"k", "5", no_schedule}));
    CHECK(tolerates("{key: k, operator: Lt, value: '5'}", {"k", "-6", no_schedule}));
    CHECK_FALSE(tolerates("{key: k, operator: Lt, value: '5'}", {"k", "low", no_schedule}));
    CHECK(read("  tolerations: [{key: k, operator: Gt, value: '05'}]\n").findings ==
          "f:3:47: spec.tolerations[0].value: \"05\" is not a number that Gt compares (expected a "
          "decimal integer of 64 bits)\n");
    CHECK(read("  tolerations: [{operator: Lt, value: '5'}]\n").findings ==
          "f:3:28: spec.tolerations[0].operator: the operator is Lt without a key (expected "
          "Exists)\n");
}

TEST_CASE("a malformed toleration is an error") {
    CHECK(read("  tolerations: [{operator: exists}]\n").findings ==
          "f:3:28: spec.tolerations[0].operator: \"exists\" is not an operator (expected Exists, "
          "Equal, Gt or Lt)\n");
    CHECK(read("  tolerations: [{effect: NoSchedule}]\n").findings ==
          "f:3:17: spec.tolerations[0].operator: the operator is Equal without a key (expected "
          "Exists)\n");
    CHECK(read("  tolerations: [{operator: Exists, effect: Never}]\n").findings ==
          "f:3:44: spec.tolerations[0].effect: \"Never\" is not an effect (expected NoSchedule, "
          "PreferNoSchedule or NoExecute)\n");
}

TEST_CASE("host ports are claimed with protocol and address") {
    const auto [pod, findings, newest] = read_text(R"(metadata: {name: p}
spec:
  containers:
  - ports:
    - {containerPort: 80}
    - {containerPort: 80, hostPort: 8080, name: http}
    - {containerPort: 53, hostPort: 53, protocol: UDP, hostIP: 10.0.0.1}
    - {containerPort: 54, hostPort: 54, hostIP: 0.0.0.0}
)");
    CHECK(findings.empty());
    REQUIRE(pod.where.claims.ports.size() == 3);
    CHECK(pod.where.claims.ports[0] == muster::host_port{"TCP", "", 8080});
    CHECK(pod.where.claims.ports[1] == muster::host_port{"UDP", "10.0.0.1", 53});
    CHECK(pod.where.claims.ports[2] == muster::host_port{"TCP", "", 54});
}

TEST_CASE("on the host's network every container port is a host port") {
    const auto pod = read_text(R"(metadata: {name: p}
spec:
  hostNetwork: true
  containers:
  - ports: [{containerPort: 80}, {containerPort: 81, hostPort: 0}, {containerPort: 82, hostPort: 82}]
)")
                         .pod;
    REQUIRE(pod.where.claims.ports.size() == 3);
    CHECK(pod.where.claims.ports[0].port == 80);
    CHECK(pod.where.claims.ports[1].port == 81);
    CHECK(pod.where.claims.ports[2].port == 82);
}

TEST_CASE("ports of sidecars are claimed, those of other init containers are not") {
    const auto pod = read_text(R"(metadata: {name: p}
spec:
  initContainers:
  - {restartPolicy: Always, ports: [{containerPort: 1, hostPort: 1}]}
  - ports: [{containerPort: 2, hostPort: 2}]
  containers:
  - ports: [{containerPort: 3, hostPort: 3}]
)")
                         .pod;
    REQUIRE(pod.where.claims.ports.size() == 2);
    CHECK(pod.where.claims.ports[0].port == 1);
    CHECK(pod.where.claims.ports[1].port == 3);
    CHECK(read_text("metadata: {name: p}\nspec:\n  containers:\n  - ports: [{hostPort: 65536}]\n")
              .findings == "f:4:24: spec.containers[0].ports[0].hostPort: found 65536, expected a "
                           "whole number from 0 to 65535\n");
}

TEST_CASE("what bears on placement and is not modelled is named by its field") {
    const auto unsupported = [](const std::string& spec) {
        const auto [pod, findings, newest] = read(spec);
        CHECK(findings.empty());
        std::string all;
        for (const std::string& each : pod.unsupported)
            all += each + ' ';
        return all;
    };
    CHECK(unsupported("  affinity: {podAffinity: {}, podAntiAffinity: "
                      "{requiredDuringSchedulingIgnoredDuringExecution: []}}\n") == "");
    CHECK(unsupported("  topologySpreadConstraints: []\n") == "");
    CHECK(unsupported("  resourceClaims: [{name: a}]\n") == "spec.resourceClaims[0] ");
    CHECK(unsupported("  schedulingGroup: {podGroupName: a}\n") == "spec.schedulingGroup ");
    CHECK(unsupported("  workloadRef: {name: a}\n") == "spec.workloadRef ");
    CHECK(unsupported("  volumes:\n  - {name: a, fc: {lun: 1}}\n  - {name: d, emptyDir: {}}\n"
                      "  - {name: e, configMap: {name: x}}\n") == "spec.volumes[0].fc ");
}

TEST_CASE("volumes that bear on placement are read, each by its source") {
    const auto [pod, findings, newest] =
        read("  volumes:\n  - {name: a, persistentVolumeClaim: {claimName: b}}\n"
             "  - {name: c, ephemeral: {volumeClaimTemplate: {spec: {storageClassName: s}}}}\n"
             "  - {name: d, csi: {driver: x}}\n"
             "  - {name: e, gcePersistentDisk: {pdName: f, readOnly: true}}\n"
             "  - {name: g, hostPath: {path: /}}\n");
    CHECK(findings.empty());
    CHECK(pod.unsupported.empty());
    REQUIRE(pod.volumes.size() == 4);
    CHECK(pod.volumes[0].claim == "b");
    CHECK(pod.volumes[1].from == pod_volume::source::ephemeral);
    CHECK(pod.volumes[1].claim == pod.metadata.key.name + "-c");
    CHECK(pod.volumes[1].draft.storage_class == "s");
    CHECK(pod.volumes[2].driver == "x");
    CHECK(pod.volumes[3].driver == "pd.csi.storage.gke.io");
    CHECK(pod.volumes[3].handle == "f");
    CHECK(pod.volumes[3].read_only);
}

TEST_CASE("a part of a GPU is not modelled: its pod waits instead of asking for nothing") {
    for (const std::string key : {"gpu-fraction", "gpu-memory"}) {
        const auto read = read_text("metadata: {name: p, annotations: {" + key +
                                    ": \"0.5\"}}\nspec: {containers: [{}]}\n");
        CHECK(read.pod.unsupported ==
              std::vector<std::string>{"metadata.annotations[" + key + "] (only KAI serves it)"});
    }
}

TEST_CASE("a pod of a gang API that is not read is not taken for one of its own") {
    for (const char* key : {"pod-group.scheduling.sigs.k8s.io", "scheduling.x-k8s.io/pod-group",
                            "pod-group.scheduling.sigs.k8s.io/groups"}) {
        CAPTURE(key);
        const auto pod = read_text("metadata: {name: p, labels: {" + std::string(key) +
                                   ": g}}\nspec: {containers: [{}]}\n")
                             .pod;
        CHECK(pod.unsupported ==
              std::vector<std::string>{"metadata.labels[" + std::string(key) + "]"});
    }
    for (const char* key :
         {"gang.scheduling.koordinator.sh/name", "scheduling.k8s.io/group-name", "pod-group-name",
          "gang.scheduling.koordinator.sh/groups", "pod-group.scheduling.sigs.k8s.io/groups"}) {
        CAPTURE(key);
        const auto pod = read_text("metadata: {name: p, annotations: {" + std::string(key) +
                                   ": g}}\nspec: {containers: [{}]}\n")
                             .pod;
        CHECK(pod.unsupported ==
              std::vector<std::string>{"metadata.annotations[" + std::string(key) + "]"});
    }
    CHECK(read_text("metadata: {name: p, labels: {pod-group.scheduling.sigs.k8s.io/name: g}}\n"
                    "spec: {containers: [{}]}\n")
              .pod.unsupported.empty());
}

TEST_CASE("a pod without containers, a name or a spec is an error") {
    CHECK(read_text("metadata: {name: p}\nspec: {}\n").findings ==
          "f:2:7: spec.containers: required, but missing\n");
    CHECK(read_text("metadata: {}\nspec: {containers: [{}]}\n").findings ==
          "f:1:11: metadata.name: required, but missing\n");
    CHECK(read_text("metadata: {name: p}\n").findings == "f:1:1: spec: required, but missing\n");
}

TEST_CASE("unknown fields are warned of with the place of their key") {
    CHECK(read_text(R"(metadata: {name: p}
spec:
  nodeselector: {a: b}
  containers:
  - name: c
    comand: [x]
    ports:
    - {containerPort: 80, hostport: 80}
)")
              .findings ==
          "f:8:27: warning: spec.containers[0].ports[0].hostport: unknown field, ignored (did you "
          "mean hostPort?)\n"
          "f:6:5: warning: spec.containers[0].comand: unknown field, ignored (did you mean "
          "command?)\n"
          "f:3:3: warning: spec.nodeselector: unknown field, and the pod waits because it may say "
          "where the pod may run (expected a field of Kubernetes 1.37; did you mean "
          "nodeSelector?)\n");
}

TEST_CASE("how long a pod runs is the least of what it declares and its deadline") {
    constexpr std::int64_t second = 1'000'000'000;
    const auto with = [](const std::string& seconds, const std::string& spec) {
        return read_text("metadata: {name: p, annotations: {muster.dev/run-seconds: \"" + seconds +
                         "\"}}\nspec: {" + spec + "containers: [{}]}\n");
    };
    CHECK_FALSE(read("").pod.run_time);
    CHECK(read("  activeDeadlineSeconds: 60\n").pod.run_time == 60 * second);
    CHECK(with("30", "").pod.run_time == 30 * second);
    CHECK(with("30, 90", "").pod.run_time == 30 * second); // of several attempts, the first
    CHECK(with("30", "activeDeadlineSeconds: 60, ").pod.run_time == 30 * second);
    CHECK(with("90", "activeDeadlineSeconds: 60, ").pod.run_time == 60 * second);
    for (const char* wrong : {"", "0", "-5", "1h", "3000000000"}) {
        CAPTURE(wrong);
        const auto made = with(wrong, "");
        CHECK_FALSE(made.pod.run_time);
        CHECK(made.findings.find("is no number of seconds, and says nothing") != std::string::npos);
    }
    CHECK(read("", "status: {startTime: 2024-05-01T08:00:00Z}\n").pod.started ==
          parse_timestamp("2024-05-01T08:00:00Z"));
}

} // namespace codec_pod_reader_test
