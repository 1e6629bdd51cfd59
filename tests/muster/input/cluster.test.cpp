// SPDX-License-Identifier: Apache-2.0
#include <muster/input/cluster.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <muster/input/manifests.hpp>
#include <muster/input/read_documents.hpp>
#include <muster/muster.hpp>

namespace codec_cluster_test {

using namespace muster::codec;
using muster::reason_code;

namespace {

/// What a cycle decides, by keys.
struct outcome {
    /// By namespace/group.
    std::map<std::string, std::string> answers;
    /// By namespace/pod, the node.
    std::map<std::string, std::string> nodes;
    /// In the order in which they were made.
    std::string order;
    std::map<std::string, reason_code> reasons;
    std::string findings;
    std::size_t kinds = 0;
    timestamp now = 0;

    /// Names of the nodes, a pod after the other.
    [[nodiscard]] std::string placed() const {
        std::string all;
        for (const auto& [pod, node] : nodes)
            all += pod + "=" + node + ' ';
        return all;
    }
    friend bool operator==(const outcome&, const outcome&) = default;
};

std::string name_of(muster::answer kind, muster::gate at) {
    constexpr const char* kinds[] = {"admitted", "waiting", "never", "undecided"};
    constexpr const char* gates[] = {"",          " at members", " at queue", " at unsupported",
                                     " at quota", " at space",   " at order"};
    return std::string(kinds[static_cast<std::size_t>(kind)]) +
           (at == muster::gate::none    ? ""
            : at == muster::gate::group ? " at group"
                                        : gates[static_cast<std::size_t>(at) - 1]);
}

outcome decide(const std::vector<std::string>& texts, const cluster_options& options = {}) {
    outcome made;
    diagnostics out;
    std::vector<document> documents;
    for (const std::string& text : texts)
        for (document& each : read_documents("f", text, out))
            documents.push_back(std::move(each));
    const manifests objects = read_manifests(documents, {}, out);
    if (auto made_cluster = make_cluster(objects, options, out)) {
        auto& cluster = *made_cluster;
        auto& state = cluster.state;
        made.kinds = cluster.kinds.size();
        made.now = cluster.now;
        const auto result = muster::cycle(state, cluster.now);
        for (const muster::decision& each : result.decisions) {
            const group_key& key = state.key(each.gang);
            const std::string name = key.name_space + '/' + key.name;
            made.answers[name] = name_of(each.outcome.kind, each.outcome.at);
            made.order += key.name + ' ';
            for (const muster::placement& one : each.placements)
                made.nodes[state.key(one.pod).name_space + '/' + state.key(one.pod).name] =
                    state.key(one.node);
            muster::explain_options how;
            how.kinds = &cluster.kinds;
            const auto why = muster::explain(state, each.gang, how);
            if (each.outcome.kind != muster::answer::admitted) {
                REQUIRE_FALSE(why.empty());
                made.reasons[name] = why.front().code;
            }
        }
    }
    for (const diagnostic& finding : out.findings())
        made.findings += to_text(finding) + '\n';
    return made;
}

outcome decide(const std::string& text, const cluster_options& options = {}) {
    return decide(std::vector<std::string>{text}, options);
}

std::string node(const std::string& name, const std::string& allocatable,
                 const std::string& more = {}) {
    return "---\n{apiVersion: v1, kind: Node, metadata: {name: " + name +
           "}, status: {allocatable: {pods: 110, " + allocatable + "}}" + more + "}\n";
}

std::string labelled_node(const std::string& name, const std::string& labels,
                          const std::string& allocatable) {
    return "---\n{apiVersion: v1, kind: Node, metadata: {name: " + name + ", labels: {" + labels +
           "}}, status: {allocatable: {pods: 110, " + allocatable + "}}}\n";
}

/// A pod with labels, requests and more of its spec, each as inside of braces.
std::string pod(const std::string& name, const std::string& labels, const std::string& requests,
                const std::string& spec = {}) {
    return "---\n{apiVersion: v1, kind: Pod, metadata: {name: " + name + ", labels: {" + labels +
           "}}, spec: {" + spec + "containers: [{resources: {requests: {" + requests + "}}}]}}\n";
}

std::string queue(const std::string& name, const std::string& spec,
                  const std::string& home = "t9k-system") {
    return "---\n{apiVersion: scheduler.tensorstack.dev/v1beta1, kind: Queue, metadata: {name: " +
           name + ", namespace: " + home + "}, spec: {" + spec + "}}\n";
}

std::string group(const std::string& name, const std::string& spec) {
    return "---\n{apiVersion: scheduler.tensorstack.dev/v1beta1, kind: PodGroup, metadata: "
           "{name: " +
           name + "}, spec: {" + spec + "}}\n";
}

std::string in(const std::string& name) {
    return "scheduler.tensorstack.dev/group-name: " + name;
}

std::string uses(const std::string& name) {
    return "scheduler.tensorstack.dev/queue: " + name;
}

const std::string dance = R"(apiVersion: scheduler.tensorstack.dev/v1beta1
kind: PodGroup
metadata:
  name: dance
spec:
  minMember: 2
  queue: default
  priority: 50
---
apiVersion: v1
kind: Pod
metadata:
  name: test1
  labels:
    scheduler.tensorstack.dev/group-name: dance
spec:
  schedulerName: t9k-scheduler
  containers:
  - image: nginx:latest
    name: test
    resources:
      requests:
        cpu: 1
        memory: 200Mi
---
apiVersion: v1
kind: Pod
metadata:
  name: test2
  labels:
    scheduler.tensorstack.dev/group-name: dance
spec:
  schedulerName: t9k-scheduler
  containers:
  - image: nginx:latest
    name: test
    resources:
      requests:
        cpu: 1
        memory: 200Mi
)";

const std::string role_test = R"(apiVersion: scheduler.tensorstack.dev/v1beta1
kind: PodGroup
metadata:
  name: role-test
spec:
  roles:
  - name: master
    minMember: 1
  - name: worker
    minMember: 1
  minMember: 3
  queue: default
  priority: 50
)";

std::string role_pod(const std::string& name, const std::string& role) {
    return "---\napiVersion: v1\nkind: Pod\nmetadata:\n  name: " + name +
           "\n  labels:\n    scheduler.tensorstack.dev/group-name: role-test\n"
           "    scheduler.tensorstack.dev/role: " +
           role +
           "\nspec:\n  schedulerName: t9k-scheduler\n  containers:\n  - image: nginx:latest\n"
           "    name: test\n    resources: {requests: {cpu: 100m, memory: 200Mi}}\n";
}

/// The pods of ACK's TensorFlow job: a parameter server and four workers of two GPUs.
std::string tf_smoke_gpu(bool gang) {
    const std::string labels = gang ? "pod-group.scheduling.sigs.k8s.io/name: tf-smoke-gpu, "
                                      "pod-group.scheduling.sigs.k8s.io/min-available: '5'"
                                    : "";
    const auto one = [&](const std::string& name, const std::string& limits, int second) {
        return "---\n{apiVersion: v1, kind: Pod, metadata: {name: tf-smoke-gpu-" + name +
               ", creationTimestamp: '2020-05-19T07:00:0" + std::to_string(second) +
               "Z', labels: {" + labels + "}}, spec: {containers: [{resources: {limits: {" +
               limits + "}}}]}}\n";
    };
    std::string all = one("ps-0", "cpu: '1'", 0);
    for (int worker = 0; worker < 4; ++worker)
        all += one("worker-" + std::to_string(worker), "nvidia.com/gpu: 2", worker + 1);
    return all;
}

std::string gpu_node(const std::string& name) {
    return node(name, "cpu: 32, memory: 256Gi, nvidia.com/gpu: 4");
}

} // namespace

TEST_CASE("the seed's PodGroup dance starts whole, and not at all when one pod finds no room") {
    const auto roomy = decide(dance + node("n1", "cpu: 2, memory: 1Gi"));
    CHECK(roomy.findings.empty());
    CHECK(roomy.answers == std::map<std::string, std::string>{{"default/dance", "admitted"}});
    CHECK(roomy.placed() == "default/test1=n1 default/test2=n1 ");

    const auto tight = decide(dance + node("n1", "cpu: 1500m, memory: 1Gi"));
    CHECK(tight.placed() == "");
    CHECK(tight.answers.at("default/dance") == "never at space");
    CHECK(tight.reasons.at("default/dance") == reason_code::insufficient_resource);
}

TEST_CASE("the seed's PodGroup role-test starts when all of its minima are met") {
    const std::string one_node = node("n1", "cpu: 1, memory: 1Gi");
    const std::string master = role_pod("master", "master");
    const std::string workers = role_pod("worker", "worker") + role_pod("worker1", "worker");
    CHECK(decide(role_test + master + workers + one_node).placed() ==
          "default/master=n1 default/worker=n1 default/worker1=n1 ");

    const auto without_worker =
        decide(role_test + master + role_pod("worker", "worker") + one_node);
    CHECK(without_worker.placed() == "");
    CHECK(without_worker.answers.at("default/role-test") == "waiting at members");
    CHECK(without_worker.reasons.at("default/role-test") == reason_code::not_enough_members);

    const auto without_master =
        decide(role_test + workers + role_pod("worker2", "worker") + one_node);
    CHECK(without_master.answers.at("default/role-test") == "waiting at members");
}

TEST_CASE("ACK's five pods wait together on 4 GPUs and run together on 8") {
    const auto four = decide(tf_smoke_gpu(true) + gpu_node("n1"));
    CHECK(four.findings.empty());
    CHECK(four.placed() == "");
    CHECK(four.answers.at("default/tf-smoke-gpu") == "never at space");
    CHECK(four.reasons.at("default/tf-smoke-gpu") == reason_code::insufficient_resource);

    const auto eight = decide(tf_smoke_gpu(true) + gpu_node("n1") + gpu_node("n2"));
    CHECK(eight.answers.at("default/tf-smoke-gpu") == "admitted");
    CHECK(eight.nodes.size() == 5);
}

TEST_CASE("without gang labels ACK's parameter server and two workers run, and two wait") {
    const auto four = decide(tf_smoke_gpu(false) + gpu_node("n1"));
    CHECK(four.placed() == "default/tf-smoke-gpu-ps-0=n1 default/tf-smoke-gpu-worker-0=n1 "
                           "default/tf-smoke-gpu-worker-1=n1 ");
    CHECK(four.answers.at("default/tf-smoke-gpu-worker-2") == "waiting at space");
    CHECK(four.answers.at("default/tf-smoke-gpu-worker-3") == "waiting at space");
}

TEST_CASE("succeeded members count, failed, gated and terminating ones do not") {
    const auto with = [](const std::string& metadata, const std::string& spec,
                         const std::string& status) {
        return decide(group("g", "minMember: 2") + pod("waiting", in("g"), "cpu: 1") +
                      "---\n{apiVersion: v1, kind: Pod, metadata: {name: other, " + metadata +
                      "labels: {" + in("g") + "}}, spec: {" + spec +
                      "containers: [{}]}, status: {" + status + "}}\n" + node("n1", "cpu: 2"))
            .answers.at("default/g");
    };
    CHECK(with("", "nodeName: n1, ", "phase: Succeeded") == "admitted");
    CHECK(with("", "nodeName: n1, ", "phase: Running") == "admitted");
    CHECK(with("", "nodeName: n1, ", "phase: Unknown") == "admitted");
    CHECK(with("", "nodeName: n1, ", "phase: Pending") == "admitted");
    CHECK(with("", "nodeName: n1, ", "phase: Failed") == "waiting at members");
    CHECK(with("", "schedulingGates: [{name: x}], ", "") == "waiting at members");
    // The gate of Grove's dialect `seed` is the scheduler's own.
    CHECK(with("", "schedulingGates: [{name: grove.io/podgang}], ", "") == "admitted");
    CHECK(with("", "schedulingGates: [{name: grove.io/podgang}, {name: x}], ", "") ==
          "waiting at members");
    CHECK(with("deletionTimestamp: '2024-01-01T00:00:00Z', ", "nodeName: n1, ", "phase: Running") ==
          "waiting at members");
}

TEST_CASE("pods whose PodGroup is missing, or in another namespace, wait with that reason") {
    const auto missing = decide(pod("a", in("g"), "cpu: 1") + node("n1", "cpu: 2"));
    CHECK(missing.answers.at("default/g") == "waiting at group");
    CHECK(missing.reasons.at("default/g") == reason_code::group_missing);
    const auto elsewhere = decide(
        "{apiVersion: scheduler.tensorstack.dev/v1beta1, kind: PodGroup, metadata: {name: g, "
        "namespace: other}, spec: {minMember: 1}}\n" +
        pod("a", in("g"), "cpu: 1") + node("n1", "cpu: 2"));
    CHECK(elsewhere.reasons.at("default/g") == reason_code::group_missing);
    CHECK(elsewhere.reasons.at("other/g") == reason_code::not_enough_members);
    CHECK(elsewhere.placed() == "");
}

TEST_CASE("malformed ACK labels never start, disagreeing ones wait, each with its reason") {
    const std::string name = "pod-group.scheduling.sigs.k8s.io/name: g";
    const std::string minimum = "pod-group.scheduling.sigs.k8s.io/min-available: ";
    const auto malformed = decide(pod("a", name, "cpu: 1") + node("n1", "cpu: 2"));
    CHECK(malformed.answers.at("default/a") == "never at group");
    CHECK(malformed.reasons.at("default/a") == reason_code::group_malformed);
    CHECK(malformed.placed() == "");
    const auto split =
        decide(pod("a", name + ", " + minimum + "'1'", "cpu: 1") +
               pod("b", name + ", " + minimum + "'2'", "cpu: 1") + node("n1", "cpu: 2"));
    CHECK(split.answers.at("default/g") == "waiting at group");
    CHECK(split.reasons.at("default/g") == reason_code::members_disagree);
}

TEST_CASE("an unknown queue keeps its pods waiting") {
    const auto made = decide(pod("a", uses("nowhere"), "cpu: 1") + node("n1", "cpu: 2"));
    CHECK(made.answers.at("default/a") == "waiting at queue");
    CHECK(made.reasons.at("default/a") == reason_code::queue_unknown);
}

TEST_CASE("a queue admits the namespaces that it selects, and without a selector nobody") {
    const auto reason = [](const std::string& spec) {
        const auto made = decide(queue("q", spec) +
                                 "---\n{apiVersion: v1, kind: Namespace, metadata: {name: "
                                 "default, labels: {team: a}}}\n" +
                                 pod("a", uses("q"), "cpu: 1") + node("n1", "cpu: 2"));
        return made.nodes.empty() ? made.reasons.at("default/a") : reason_code::search_budget_spent;
    };
    constexpr auto none = reason_code::search_budget_spent;
    CHECK(reason("") == reason_code::queue_forbidden);
    CHECK(reason("namespaceSelector: {}") == reason_code::queue_forbidden);
    CHECK(reason("namespaceSelector: {matchLabels: {team: b}}") == reason_code::queue_forbidden);
    CHECK(reason("namespaceSelector: {matchLabels: {team: a}}") == none);
    CHECK(reason("namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: default}}") ==
          none);
    CHECK(reason("namespaceSelector: {matchExpressions: [{key: x, operator: DoesNotExist}]}") ==
          none);
    CHECK(reason("closed: true, namespaceSelector: {matchLabels: {team: a}}") ==
          reason_code::queue_closed);
}

TEST_CASE("the queue default is everybody's only when it does not exist") {
    const std::string rest = pod("a", uses("default"), "cpu: 1") + node("n1", "cpu: 2");
    CHECK(decide(rest).placed() == "default/a=n1 ");
    CHECK(decide(queue("default", "") + rest).reasons.at("default/a") ==
          reason_code::queue_forbidden);
}

TEST_CASE("a closed queue lets those that hold something complete") {
    const std::string closed =
        queue("q", "closed: true, namespaceSelector: {matchExpressions: [{key: x, operator: "
                   "DoesNotExist}]}");
    const auto made = decide(closed + group("g", "minMember: 2, queue: q") +
                             pod("a", in("g"), "cpu: 1", "nodeName: n1, ") +
                             pod("b", in("g"), "cpu: 1") + node("n1", "cpu: 2"));
    CHECK(made.placed() == "default/b=n1 ");
}

TEST_CASE("a queue elsewhere is ignored with a warning at its namespace") {
    const std::string rest = pod("a", uses("q"), "cpu: 1") + node("n1", "cpu: 2");
    const std::string selector =
        "namespaceSelector: {matchExpressions: [{key: x, operator: DoesNotExist}]}";
    const auto made = decide(queue("q", selector, "team") + rest);
    CHECK(made.findings == "f:2:93: warning: metadata.namespace: a queue in \"team\" is ignored "
                           "(expected namespace t9k-system)\n");
    CHECK(made.reasons.at("default/a") == reason_code::queue_unknown);
    cluster_options options;
    options.queue_namespace = "team";
    CHECK(decide(queue("q", selector, "team") + rest, options).placed() == "default/a=n1 ");
    // Without a namespace it is in the default one; the place is the nearest that there is.
    CHECK(
        decide("{apiVersion: scheduler.tensorstack.dev/v1beta1, kind: Queue, metadata: {name: q}}")
            .findings == "f:1:72: warning: metadata.namespace: a queue in \"default\" is ignored "
                         "(expected namespace t9k-system)\n");
}

TEST_CASE("a quota is a ceiling on what the queue's pods hold, and names only what it limits") {
    const auto with = [](const std::string& requests) {
        return decide(queue("q", "quota: {requests: {" + requests +
                                     "}}, namespaceSelector: {matchExpressions: [{key: x, "
                                     "operator: DoesNotExist}]}") +
                      pod("holds", uses("q"), "cpu: 1", "nodeName: n1, ") +
                      pod("a", uses("q"), "cpu: 1") + node("n1", "cpu: 4"));
    };
    CHECK(with("cpu: 2").placed() == "default/a=n1 ");
    CHECK(with("memory: 0").placed() == "default/a=n1 ");
    CHECK(with("pods: 1").answers.at("default/a") == "waiting at quota");
    const auto over = with("cpu: 1999m");
    CHECK(over.answers.at("default/a") == "waiting at quota");
    CHECK(over.reasons.at("default/a") == reason_code::quota_exceeded);
}

TEST_CASE("a queue's node selector and every node's taints and cordons keep pods away") {
    const auto reason = [](const std::string& spec, const std::string& node_more) {
        const auto made =
            decide(queue("q", "nodeSelector: {matchLabels: {a: b}}, namespaceSelector: "
                              "{matchExpressions: [{key: x, operator: "
                              "DoesNotExist}]}") +
                   pod("p", uses("q"), "cpu: 1", spec) +
                   "---\n{apiVersion: v1, kind: Node, status: {allocatable: {cpu: 2, "
                   "pods: 9}}, " +
                   node_more + "}\n");
        return made.nodes.empty() ? made.reasons.at("default/p") : reason_code::search_budget_spent;
    };
    constexpr auto none = reason_code::search_budget_spent;
    const std::string fits = "metadata: {name: n1, labels: {a: b}}";
    CHECK(reason("", fits) == none);
    CHECK(reason("", "metadata: {name: n1}") == reason_code::node_selector_mismatch);
    const std::string tainted = fits + ", spec: {taints: [{key: k, effect: NoSchedule}]}";
    CHECK(reason("", tainted) == reason_code::untolerated_taint);
    CHECK(reason("tolerations: [{key: k, operator: Exists}], ", tainted) == none);
    const std::string cordoned = fits + ", spec: {unschedulable: true}";
    CHECK(reason("", cordoned) == reason_code::node_unschedulable);
    CHECK(reason("tolerations: [{key: node.kubernetes.io/unschedulable, operator: Exists}], ",
                 cordoned) == none);
}

TEST_CASE("host ports are claimed once per node") {
    const std::string web = "hostNetwork: true, containers: [{ports: [{containerPort: 80}]}]";
    const auto one = [&](const std::string& name, const std::string& spec) {
        return "---\n{apiVersion: v1, kind: Pod, metadata: {name: " + name + "}, spec: {" + spec +
               web + "}}\n";
    };
    const auto made = decide(one("a", "nodeName: n1, ") + one("b", "") + node("n1", "cpu: 4"));
    CHECK(made.reasons.at("default/b") == reason_code::host_port_taken);
    CHECK(decide(one("a", "nodeName: n1, ") + one("b", "") + node("n1", "cpu: 4") +
                 node("n2", "cpu: 4"))
              .placed() == "default/b=n2 ");
}

TEST_CASE("a pod that another scheduler has nominated keeps its room") {
    const std::string node = "apiVersion: v1\nkind: Node\nmetadata: {name: a}\n"
                             "status: {allocatable: {cpu: 4, pods: 9}}\n";
    const auto pod = [](const std::string& name, const std::string& spec,
                        const std::string& status) {
        return "apiVersion: v1\nkind: Pod\nmetadata: {name: " + name + "}\nspec: {" + spec +
               "containers: [{resources: {requests: {cpu: 3}}}]}\nstatus: {" + status + "}\n";
    };
    const std::string nominated = "nominatedNodeName: a, phase: Pending";
    const std::string eager = pod("eager", "priority: 9, ", "");
    const auto answers = [&](const std::string& other, bool heeds = true) {
        cluster_options options;
        if (heeds)
            options.scheduler_names = {"own"};
        const auto made = decide({node, eager, other}, options);
        CHECK(made.findings.empty());
        return made.answers.at("default/eager") + (made.answers.contains("default/other")
                                                       ? ", " + made.answers.at("default/other")
                                                       : std::string());
    };
    CHECK(answers(pod("other", "schedulerName: x, ", nominated)) ==
          "waiting at space, waiting at members");
    CHECK(answers(pod("other", "", nominated)) == "waiting at space, waiting at members");
    for (const std::string& other :
         {pod("other", "schedulerName: own, ", nominated), pod("other", "schedulerName: x, ", "")})
        CHECK(answers(other) == "admitted, waiting at space");
    CHECK(answers(pod("other", "schedulerName: x, ", nominated), false) ==
          "admitted, waiting at space");
    // A nomination to a node that is not in the input keeps nothing.
    CHECK(answers(pod("other", "schedulerName: x, ", "nominatedNodeName: b")) ==
          "admitted, waiting at members");
}

TEST_CASE("each pod takes one of pods") {
    const auto made = decide("{apiVersion: v1, kind: Node, metadata: {name: n1}, status: "
                             "{allocatable: {cpu: 9, pods: 1}}}\n" +
                             pod("a", "", "cpu: 1") + pod("b", "", "cpu: 1"));
    CHECK(made.placed() == "default/a=n1 ");
}

TEST_CASE("pods with what is not modelled wait for as long as they have it") {
    const std::string one_node = node("n1", "cpu: 4");
    for (const char* spec :
         {"resourceClaims: [{name: c}], ", "volumes: [{name: v, fc: {lun: 1}}], ",
          "schedulingGroup: {podGroupName: g}, "}) {
        CAPTURE(spec);
        const auto made = decide(pod("a", "", "cpu: 1", spec) + one_node);
        CHECK(made.answers.at("default/a") == "waiting at unsupported");
        CHECK(made.reasons.at("default/a") == reason_code::unsupported_constraint);
    }
    const auto foreign = decide(pod("a", "scheduling.x-k8s.io/pod-group: g", "cpu: 1") + one_node);
    CHECK(foreign.answers.at("default/a") == "waiting at unsupported");
    // Who stands already is not asked.
    CHECK(decide(pod("a", "", "cpu: 1", "nodeName: n1, resourceClaims: [{name: c}], ") + one_node)
              .answers.at("default/a") == "admitted");
}

TEST_CASE("a standing pod's required anti-affinity keeps pods away that it speaks of") {
    const auto repels = [](const std::string& more) {
        return "nodeName: n1, affinity: {podAntiAffinity: "
               "{requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: host, "
               "labelSelector: {matchLabels: {a: b}}" +
               more + "}]}}, ";
    };
    const std::string both = pod("alike", "a: b", "cpu: 1") + pod("other", "a: c", "cpu: 1");
    const std::string nodes = labelled_node("n1", "host: n1", "cpu: 4");
    const auto made = decide(pod("standing", "", "cpu: 1", repels("")) + both + nodes);
    CHECK(made.answers.at("default/alike") == "waiting at space");
    CHECK(made.placed() == "default/other=n1 ");
    // With another node it goes there.
    CHECK(decide(pod("standing", "", "cpu: 1", repels("")) + both + nodes +
                 labelled_node("n2", "host: n2", "cpu: 1"))
              .placed() == "default/alike=n2 default/other=n1 ");
    // Of another namespace nobody is meant, unless it is named or selected.
    CHECK(decide(pod("standing", "", "cpu: 1", repels(", namespaces: [elsewhere]")) + both + nodes)
              .placed() == "default/alike=n1 default/other=n1 ");
    CHECK(decide(pod("standing", "", "cpu: 1", repels(", namespaceSelector: {}")) + both + nodes)
              .placed() == "default/other=n1 ");
}

TEST_CASE("a pod with affinity goes where a pod that it seeks stands") {
    const std::string seeks =
        "affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: "
        "zone, labelSelector: {matchLabels: {a: b}}}]}}, ";
    const std::string nodes =
        labelled_node("n1", "zone: east", "cpu: 4") + labelled_node("n2", "zone: west", "cpu: 4");
    CHECK(decide(pod("seeker", "", "cpu: 1", seeks) + nodes).answers.at("default/seeker") ==
          "undecided at space");
    CHECK(decide(pod("seeker", "", "cpu: 1", seeks) +
                 pod("found", "a: b", "cpu: 1", "nodeName: n2, ") + nodes)
              .placed() == "default/seeker=n2 ");
}

TEST_CASE("pods of one label are spread over domains") {
    const std::string spread = "topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, "
                               "whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: "
                               "{a: b}}}], ";
    const auto made = decide(
        pod("p", "a: b", "cpu: 1", spread) + pod("q", "a: b", "cpu: 1", spread) +
        labelled_node("n1", "zone: east", "cpu: 4") + labelled_node("n2", "zone: west", "cpu: 4"));
    CHECK(made.placed() == "default/p=n1 default/q=n2 ");
}

TEST_CASE("a request beyond what int64 counts never fits, and no other pod suffers") {
    const auto made = decide(pod("a", "", "cpu: 12E") + pod("b", "", "memory: 1e300") +
                             pod("c", "", "cpu: 1") + node("n1", "cpu: 4, memory: 1Gi"));
    CHECK(made.findings.empty());
    CHECK(made.answers.at("default/a") == "never at space");
    CHECK(made.answers.at("default/b") == "never at space");
    CHECK(made.placed() == "default/c=n1 ");
}

TEST_CASE("standing pods whose requests overflow together are an error with its place") {
    const auto made =
        decide(pod("a", "", "memory: 9E", "nodeName: n1, ") +
               pod("b", "", "memory: 9E", "nodeName: n1, ") + node("n1", "memory: 1Gi"));
    CHECK(made.findings == "f:4:1: \"b\": the requests leave int64, or a sum with others does "
                           "(expected less than 2^63)\n");
}

TEST_CASE("amounts of all kinds but cpu round up to units, and never to zero") {
    const std::string just = node("n1", "cpu: 1, example.com/a: 1");
    CHECK(decide(pod("a", "", "example.com/a: 1m") + just).placed() == "default/a=n1 ");
    CHECK(decide(pod("a", "", "example.com/a: 1001m") + just).placed() == "");
    // Containers are summed first: 500m and 500m are one.
    CHECK(decide("{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{resources: "
                 "{requests: {example.com/a: 500m}}}, {resources: {requests: {example.com/a: "
                 "500m}}}]}}\n" +
                 just)
              .placed() == "default/a=n1 ");
}

TEST_CASE("a cluster is as wide as its kinds ask for, up to 32") {
    const auto with = [](std::size_t kinds) {
        // cpu and pods are two of them.
        std::string amounts = "cpu: 4";
        for (std::size_t kind = 2; kind < kinds; ++kind)
            amounts += ", example.com/k" + std::to_string(kind) + ": 1";
        return decide(node("n1", amounts) + pod("a", "", amounts) + pod("b", "", amounts));
    };
    for (const std::size_t kinds : {2U, 8U, 9U, 16U, 17U, 32U}) {
        CAPTURE(kinds);
        const auto made = with(kinds);
        CHECK(made.findings.empty());
        CHECK(made.kinds == kinds);
        CHECK(made.placed() == "default/a=n1 ");
    }
    const auto wide = with(33);
    CHECK(wide.findings == "(input): the cluster names 33 resource kinds (expected at most 32)\n");
    CHECK(wide.kinds == 0);
}

TEST_CASE("kinds that only a queue or a pod names count too") {
    // cpu and pods besides.
    const auto made =
        decide(queue("q", "quota: {requests: {a: 1, b: 1, c: 1, d: 1, e: 1, f: 1, g: 1, h: 1}}") +
               pod("p", "", "i: 1, j: 1, k: 1, l: 1, m: 1, n: 1, o: 1") + node("n1", "cpu: 1"));
    CHECK(made.kinds == 17);
}

TEST_CASE("now is the newest time of the input, unless it is given") {
    const std::string text = "{apiVersion: v1, kind: Node, metadata: {name: a, creationTimestamp: "
                             "'2024-01-01T00:00:00Z'}}";
    CHECK(decide(text).now == parse_timestamp("2024-01-01T00:00:00Z"));
    cluster_options options;
    options.now = 5;
    CHECK(decide(text, options).now == 5);
    CHECK(decide(node("n1", "cpu: 1")).now == 0);
}

TEST_CASE("pods that were never created come after those that were") {
    const auto made = decide(pod("a", "", "cpu: 1") +
                             "---\n{apiVersion: v1, kind: Pod, metadata: {name: b, "
                             "creationTimestamp: '2024-01-01T00:00:00Z'}, spec: {containers: "
                             "[{resources: {requests: {cpu: 1}}}]}}\n" +
                             node("n1", "cpu: 1"));
    CHECK(made.placed() == "default/b=n1 ");
}

TEST_CASE("priority classes order pods that no PodGroup ranks") {
    const auto made = decide(
        "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, "
        "value: 9}\n" +
        pod("a", "", "cpu: 1", "priority: 8, ") +
        pod("b", "", "cpu: 1", "priorityClassName: high, ") +
        pod("c", "", "cpu: 1", "priorityClassName: system-node-critical, ") + node("n1", "cpu: 2"));
    CHECK(made.order == "c b a ");
    CHECK(made.placed() == "default/b=n1 default/c=n1 ");
}

TEST_CASE("the order of the documents decides nothing") {
    std::vector<std::string> texts{
        group("g", "minMember: 2, queue: q, priority: 5"),
        group("h", "minMember: 3, queue: q, priority: 5"),
        queue("q", "quota: {requests: {cpu: 5}}, namespaceSelector: {matchExpressions: [{key: x, "
                   "operator: DoesNotExist}]}"),
        queue("elsewhere", "", "team"),
        pod("missing-a", in("gone") + ", " + uses("q"), "cpu: 1", "nodeName: n1, "),
        pod("missing-b", in("gone") + ", " + uses("default"), "cpu: 1", "nodeName: n1, "),
        "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: x}, value: 9, "
        "globalDefault: true}\n",
        "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: z}, value: 2, "
        "globalDefault: true}\n",
        pod("single", "", "cpu: 1, memory: 5Mi", "priority: 5, "),
        pod("plain", "", "cpu: 1"),
        tf_smoke_gpu(true),
        gpu_node("n2"),
        gpu_node("n3"),
        node("n1", "cpu: 4, memory: 1Gi, example.com/a: 1"),
    };
    for (const char* name : {"a", "b", "c"}) {
        texts.push_back(pod("g-" + std::string(name), in("g"), "cpu: 1"));
        texts.push_back(pod("h-" + std::string(name), in("h"), "cpu: 1", "nodeSelector: {}, "));
    }
    auto first = decide(texts);
    CHECK(first.nodes.size() >= 8);
    CHECK(first.answers.size() >= 6);
    // The places of findings move with the documents.
    CHECK_FALSE(first.findings.empty());
    first.findings.clear();
    std::uint64_t random = 1;
    for (int round = 0; round < 30; ++round) {
        for (std::size_t at = texts.size(); at > 1; --at) {
            random = random * 6364136223846793005ULL + 1442695040888963407ULL;
            std::swap(texts[at - 1], texts[(random >> 33U) % at]);
        }
        auto again = decide(texts);
        again.findings.clear();
        CHECK(again == first);
    }
}

TEST_CASE("a group runs as long as its longest pod, and no longer than its queue lets pods live") {
    constexpr std::int64_t second = 1'000'000'000;
    const auto duration = [](const std::string& queue, const std::string& first,
                             const std::string& second_pod) {
        const auto pod = [](const std::string& name, const std::string& seconds) {
            return "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " + name +
                   ", labels: {scheduler.tensorstack.dev/group-name: g}}\nspec: {" +
                   (seconds.empty() ? "" : "activeDeadlineSeconds: " + seconds + ", ") +
                   "containers: [{}]}\n";
        };
        diagnostics out;
        const auto documents = read_documents(
            "f",
            "apiVersion: scheduler.tensorstack.dev/v1beta1\nkind: Queue\nmetadata: {name: q, "
            "namespace: t9k-system}\nspec: {" +
                queue +
                "}\n---\napiVersion: scheduler.tensorstack.dev/v1beta1\nkind: "
                "PodGroup\nmetadata: {name: g}\nspec: {queue: q}\n" +
                pod("a", first) + pod("b", second_pod),
            out);
        const manifests objects = read_manifests(documents, {}, out);
        const auto made = make_cluster<8>(objects, {}, out);
        CHECK(out.ok());
        const auto which = made.state.find_gang({"default", "g", group_origin::pod_group});
        return made.state[which->index].spec.duration;
    };
    CHECK(duration("", "10", "20") == 20 * second);
    CHECK_FALSE(duration("", "10", ""));
    CHECK(duration("maxDuration: 1m", "10", "") == 60 * second);
    CHECK(duration("maxDuration: 1m", "10", "70") == 60 * second);
}

} // namespace codec_cluster_test
