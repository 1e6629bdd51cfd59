// SPDX-License-Identifier: Apache-2.0
#include <muster/apis/kueue/queues.hpp>

#include <limits>
#include <map>
#include <string>

#include <doctest/doctest.h>

#include <muster/input/cluster.hpp>
#include <muster/input/cluster_input.hpp>
#include <muster/input/read_documents.hpp>

namespace codec_kueue_queues_test {
namespace {

using namespace muster::codec;
using muster::preemption_scope;

std::string amounts(const std::map<std::string, std::int64_t>& of) {
    std::string text;
    for (const auto& [kind, amount] : of)
        text += (text.empty() ? "" : ",") + kind + "=" + std::to_string(amount);
    return text.empty() ? "-" : text;
}

/// Every queue in a line: its parent, deserved, quota and guarantee, then what is unusual of it.
std::string line_of(const queue_object& queue) {
    std::string text = queue.metadata.key.name + " < " +
                       (queue.parent.empty() ? "-" : queue.parent) + " deserved " +
                       amounts(queue.deserved) + " quota " + amounts(queue.quota) + " guarantee " +
                       amounts(queue.guarantee);
    text += queue.weight == 1 ? "" : " weight " + std::to_string(queue.weight);
    text += queue.closed ? " closed" : "";
    text += queue.strict_order ? " strict" : "";
    text += queue.nothing_else ? "" : " open";
    text += !queue.namespaces ? " nobody" : queue.namespaces->requirements.empty() ? "" : " some";
    text += queue.nodes.requirements.empty() ? "" : " nodes " + queue.nodes.requirements[0].key;
    return text;
}

std::string read(std::string text) {
    diagnostics out;
    const auto documents = read_documents("in", std::move(text), out);
    const manifests objects = read_manifests(documents, {}, out);
    std::string lines;
    for (const queue_object& queue : objects.queues)
        lines += line_of(queue) + "\n";
    for (const diagnostic& finding : out.findings())
        lines += to_text(finding) + "\n";
    return lines;
}

std::string flavor(const std::string& name, const std::string& spec = "") {
    return "---\n{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: " +
           name + "}, spec: {" + spec + "}}\n";
}
/// One resource group of cpu in the flavor `f`.
std::string group(const std::string& amounts) {
    return "resourceGroups: [{coveredResources: [cpu], flavors: [{name: f, resources: [{name: "
           "cpu, " +
           amounts + "}]}]}]";
}
std::string cluster_queue(const std::string& name, const std::string& spec) {
    return "---\n{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: " +
           name + "}, spec: {namespaceSelector: {}, " + spec + "}}\n";
}
std::string cohort(const std::string& name, const std::string& spec) {
    return "---\n{apiVersion: kueue.x-k8s.io/v1beta2, kind: Cohort, metadata: {name: " + name +
           "}, spec: {" + spec + "}}\n";
}
std::string local_queue(const std::string& name, const std::string& leads_to,
                        const std::string& more = "") {
    return "---\n{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: " + name +
           ", namespace: team}, spec: {clusterQueue: " + leads_to + more + "}}\n";
}

} // namespace

TEST_CASE("a ClusterQueue of no cohort has its nominal quota and nothing else") {
    CHECK(read(flavor("f") + cluster_queue("a", group("nominalQuota: 9"))) ==
          "a < - deserved cpu=9000 quota cpu=9000 guarantee -\n");
}

TEST_CASE("a ClusterQueue limits nothing that is counted for volumes") {
    queue_object object;
    object.nothing_else = true;
    muster::kind_table kinds;
    for (const std::string kind :
         {"pods", "example.com/device", "attachable-volumes-csi-ebs.csi.aws.com",
          "fast.storageclass.storage.k8s.io/requests.storage",
          "local.storageclass.storage.k8s.io/persistentvolumeclaims"})
        REQUIRE(kinds.intern(kind));
    const auto queue = core_queue<8>(object, kinds);
    CHECK(queue.quota[muster::kind_id{1}] == 0);
    for (const std::size_t column : {0U, 2U, 3U, 4U})
        CHECK_FALSE(queue.quota.limited(muster::kind_id{column}));
}

TEST_CASE("queues of a cohort borrow up to their limit, and keep what they do not lend") {
    CHECK(read(flavor("f") +
               cluster_queue("a", "cohortName: c, " + group("nominalQuota: 9, borrowingLimit: 3, "
                                                            "lendingLimit: 4")) +
               cluster_queue("b", "cohortName: c, " + group("nominalQuota: 500m"))) ==
          "a < cohort:c deserved cpu=9000 quota cpu=12000 guarantee cpu=5000\n"
          "b < cohort:c deserved cpu=500 quota - guarantee -\n"
          "cohort:c < - deserved cpu=9500 quota cpu=9500 guarantee - open nobody\n");
}

TEST_CASE("cohorts stand in cohorts, with quotas and limits of their own") {
    CHECK(read(flavor("f") +
               cohort("in", "parentName: top, " + group("nominalQuota: 5, borrowingLimit: 1, "
                                                        "lendingLimit: 2")) +
               cluster_queue("a", "cohortName: in, " + group("nominalQuota: 10"))) ==
          "a < cohort:in deserved cpu=10000 quota - guarantee -\n"
          "cohort:in < cohort:top deserved cpu=15000 quota cpu=16000 guarantee cpu=13000 open "
          "nobody\n"
          "cohort:top < - deserved cpu=15000 quota cpu=15000 guarantee - open nobody\n");
}

TEST_CASE("the versions before call the cohort cohort, and the one above it parent") {
    CHECK(read(flavor("f") +
               "---\n{apiVersion: kueue.x-k8s.io/v1alpha1, kind: Cohort, metadata: {name: c}, "
               "spec: {parent: top}}\n"
               "---\n{apiVersion: kueue.x-k8s.io/v1beta1, kind: ClusterQueue, metadata: {name: "
               "a}, spec: {cohort: c, " +
               group("nominalQuota: 1") + "}}\n") ==
          "a < cohort:c deserved cpu=1000 quota - guarantee - nobody\n"
          "cohort:c < cohort:top deserved cpu=1000 quota - guarantee - open nobody\n"
          "cohort:top < - deserved cpu=1000 quota cpu=1000 guarantee - open nobody\n");
}

TEST_CASE("a ClusterQueue says who may use it, in which order, and whether anybody") {
    CHECK(read(flavor("f") + cluster_queue("a", "queueingStrategy: StrictFIFO, stopPolicy: Hold, " +
                                                    group("nominalQuota: 1"))) ==
          "a < - deserved cpu=1000 quota cpu=1000 guarantee - closed strict\n");
    CHECK(read("{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: a}, "
               "spec: {namespaceSelector: {matchLabels: {x: z}}}}\n") ==
          "a < - deserved - quota - guarantee - some\n");
}

TEST_CASE("weights that are fractions make all weights thousandths") {
    CHECK(read(cluster_queue("a", "fairSharing: {weight: '2'}") +
               cluster_queue("b", "fairSharing: {weight: 0.5}")) ==
          "a < - deserved - quota - guarantee - weight 2000\n"
          "b < - deserved - quota - guarantee - weight 500\n");
    CHECK(read(cluster_queue("a", "fairSharing: {weight: 2}") + cluster_queue("b", "")) ==
          "a < - deserved - quota - guarantee - weight 2\n"
          "b < - deserved - quota - guarantee -\n");
}

TEST_CASE("a ClusterQueue says whose room its groups take") {
    const auto of = [](const std::string& preemption) {
        diagnostics out;
        const auto documents =
            read_documents("in", cluster_queue("a", "preemption: {" + preemption + "}"), out);
        const queue_object queue = read_manifests(documents, {}, out).queues.at(0);
        CHECK(out.findings().empty());
        return std::pair(queue.within_queue, queue.within_cohort);
    };
    CHECK(of("") == std::pair(preemption_scope::never, preemption_scope::never));
    CHECK(of("withinClusterQueue: LowerPriority, reclaimWithinCohort: Any, borrowWithinCohort: "
             "{policy: Never}") ==
          std::pair(preemption_scope::lower_priority, preemption_scope::any));
    CHECK(of("withinClusterQueue: LowerOrNewerEqualPriority, reclaimWithinCohort: "
             "LowerPriority") ==
          std::pair(preemption_scope::lower_or_newer_equal, preemption_scope::lower_priority));
}

TEST_CASE("a ClusterQueue says of what priority others go for a group with which it borrows") {
    const auto of = [](const std::string& preemption, diagnostics& out) {
        const auto documents =
            read_documents("in", cluster_queue("a", "preemption: {" + preemption + "}"), out);
        return read_manifests(documents, {}, out).queues.at(0).borrow_within_cohort;
    };
    diagnostics out;
    CHECK_FALSE(of("reclaimWithinCohort: Any", out));
    CHECK(of("reclaimWithinCohort: Any, borrowWithinCohort: {policy: LowerPriority, "
             "maxPriorityThreshold: 5}",
             out) == 5);
    CHECK(of("reclaimWithinCohort: Any, borrowWithinCohort: {policy: LowerPriority}", out) ==
          std::numeric_limits<std::int64_t>::max());
    CHECK(out.findings().empty());
    CHECK_FALSE(of("reclaimWithinCohort: Any, borrowWithinCohort: {maxPriorityThreshold: 5}", out));
    CHECK(out.findings().size() == 1);
    CHECK(of("borrowWithinCohort: {policy: LowerPriority}", out));
    CHECK(out.findings().size() == 2);
    CHECK_FALSE(out.ok());
}

TEST_CASE("where all that a queue has is of one flavor, its pods stand on that flavor's nodes") {
    CHECK(read(flavor("f", "nodeLabels: {pool: gpu}") +
               cluster_queue("a", group("nominalQuota: 1"))) ==
          "a < - deserved cpu=1000 quota cpu=1000 guarantee - nodes pool\n");
}

TEST_CASE("what queues cannot say of flavors is told") {
    const std::string two = "resourceGroups: [{coveredResources: [cpu], flavors: [{name: f, "
                            "resources: [{name: cpu, nominalQuota: 1}]}, {name: g, resources: "
                            "[{name: cpu, nominalQuota: 2}]}]}]";
    CHECK(read(flavor("f", "nodeLabels: {pool: gpu}") + flavor("g") + cluster_queue("a", two)) ==
          "a < - deserved cpu=3000 quota cpu=3000 guarantee -\n"
          "in:6:125: warning: spec.resourceGroups: a: cpu of flavors f, g counts as one, with the "
          "sum of their quotas (expected one flavor)\n"
          "in:6:125: warning: spec.resourceGroups: the node labels of flavor f are not looked at, "
          "as there are other flavors\n");
    // In a cohort a queue would borrow of its own flavor only.
    const std::string found =
        read(flavor("f") + flavor("g") +
             cluster_queue("a", "cohortName: c, " + group("nominalQuota: 1")) +
             cluster_queue("b", "cohortName: c, resourceGroups: [{coveredResources: [cpu], "
                                "flavors: [{name: g, resources: [{name: cpu, nominalQuota: "
                                "1}]}]}]"));
    CHECK(found.find("cohort c: cpu of flavors f, g counts as one") != std::string::npos);
    CHECK(read(cluster_queue("a", group("nominalQuota: 1"))).find("there is no ResourceFlavor") !=
          std::string::npos);
}

TEST_CASE("what a queue says and nobody looks at is told") {
    CHECK(read(cluster_queue("a", "admissionChecks: [x], stopPolicy: HoldAndDrain")) ==
          "a < - deserved - quota - guarantee - closed\n"
          "in:2:143: warning: spec.stopPolicy: running groups are not drained\n"
          "in:2:126: warning: spec.admissionChecks: is ignored: groups do not wait for "
          "admission checks\n");
}

TEST_CASE("quotas that contradict themselves are errors at their place") {
    CHECK(read(flavor("f") + cluster_queue("a", group("nominalQuota: 1, borrowingLimit: 1"))) ==
          "a < - deserved cpu=1000 quota cpu=1000 guarantee -\n"
          "in:4:229: "
          "spec.resourceGroups[0].flavors[0].resources[0].borrowingLimit: there is no other queue "
          "to share "
          "with (expected none without a cohort above)\n");
    CHECK(read(cluster_queue("a", "queueingStrategy: LIFO")) ==
          "a < - deserved - quota - guarantee -\n"
          "in:2:127: spec.queueingStrategy: \"LIFO\" is not one (expected BestEffortFIFO or "
          "StrictFIFO)\n");
}

TEST_CASE("cohorts in a circle are an error, not a loop") {
    diagnostics out;
    const auto documents =
        read_documents("in", cohort("a", "parentName: b") + cohort("b", "parentName: a"), out);
    const manifests objects = read_manifests(documents, {}, out);
    CHECK(out.ok());
    static_cast<void>(make_cluster<8>(objects, {}, out));
    CHECK_FALSE(out.ok());
}

TEST_CASE("a job waits in the ClusterQueue behind its LocalQueue, though Kueue suspended it") {
    const std::string text =
        flavor("f") + cluster_queue("big", group("nominalQuota: 9")) + local_queue("mine", "big") +
        local_queue("held", "big", ", stopPolicy: Hold") +
        "---\n{apiVersion: kueue.x-k8s.io/v1beta2, kind: WorkloadPriorityClass, metadata: {name: "
        "high}, value: 7}\n"
        "---\n{apiVersion: batch/v1, kind: Job, metadata: {name: j, namespace: team, labels: "
        "{kueue.x-k8s.io/queue-name: mine, kueue.x-k8s.io/priority-class: high}}, spec: {suspend: "
        "true, parallelism: 2, completions: 2, template: {spec: {restartPolicy: Never, containers: "
        "[{name: c, image: i}]}}}}\n"
        "---\n{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: team, labels: "
        "{kueue.x-k8s.io/queue-name: held}}, spec: {containers: [{name: c, image: i}]}}\n"
        "---\n{apiVersion: v1, kind: Pod, metadata: {name: r, namespace: team, labels: "
        "{kueue.x-k8s.io/local-queue-name: mine}}, spec: {containers: [{name: c, image: i}]}}\n"
        "---\n{apiVersion: v1, kind: Pod, metadata: {name: s, namespace: other, labels: "
        "{kueue.x-k8s.io/queue-name: mine}}, spec: {containers: [{name: c, image: i}]}}\n";
    diagnostics out;
    const auto documents = read_documents("in", text, out);
    const manifests objects = read_cluster(documents, {}, out);
    for (const diagnostic& finding : out.findings())
        CHECK(to_text(finding) == "");
    const auto made = make_cluster<8>(objects, {}, out);
    std::map<std::string, std::string> queues;
    for (const auto& [key, facts] : made.groups)
        queues[key.name] = facts.queue + " " + std::to_string(facts.priority);
    CHECK(queues ==
          std::map<std::string, std::string>{
              {"j", "big 7"}, {"p", "team/held 0"}, {"r", "big 0"}, {"s", "other/mine 0"}});
    const auto held = made.state.find_queue("team/held");
    REQUIRE(held);
    CHECK(made.state[held->index].spec.closed);
    const auto missing = made.state.find_queue("other/mine");
    CHECK_FALSE((missing && made.state[missing->index].present));
    // Of kinds without a flavor it has nothing.
    const auto& big = made.state[made.state.find_queue("big")->index].spec;
    for (std::size_t column = 0; column < made.kinds.size(); ++column) {
        const muster::kind_id kind{column};
        const std::string& name = made.kinds.name(kind);
        CAPTURE(name);
        CHECK(big.quota[kind] == (name == "pods"  ? std::nullopt
                                  : name == "cpu" ? std::optional<std::int64_t>(9000)
                                                  : std::optional<std::int64_t>(0)));
    }
}

TEST_CASE(
    "Kueue starts a Job when there is quota for all pods that it runs at a time, or its least") {
    const auto job = [](const std::string& name, const std::string& marks) {
        return "---\n{apiVersion: batch/v1, kind: Job, metadata: {name: " + name + ", " + marks +
               "}, spec: {suspend: true, parallelism: 3, completions: 5, template: {spec: "
               "{restartPolicy: Never, containers: [{name: c, image: i}]}}}}\n";
    };
    const std::string queued = "labels: {kueue.x-k8s.io/queue-name: mine}";
    const std::string text =
        flavor("f") + cluster_queue("big", group("nominalQuota: 9")) + local_queue("mine", "big") +
        job("all", queued + ", namespace: team") +
        job("some", queued + ", namespace: team, annotations: "
                             "{kueue.x-k8s.io/job-min-parallelism: '2'}") +
        job("odd", queued + ", namespace: team, annotations: "
                            "{kueue.x-k8s.io/job-min-parallelism: 'two'}") +
        job("own", queued + ", namespace: team, annotations: "
                            "{kai.scheduler/batch-min-member: '2'}") +
        job("free", "namespace: team, annotations: {kueue.x-k8s.io/job-min-parallelism: '2'}");
    diagnostics out;
    const auto documents = read_documents("in", text, out);
    manifests objects = read_cluster(documents, {}, out);
    std::map<std::string, std::int64_t> minima;
    for (const declared_gang& each : objects.gangs)
        minima[each.metadata.key.name] = each.tree[0].min_member;
    // Who is suspended by somebody else wants no pods yet.
    CHECK(minima ==
          std::map<std::string, std::int64_t>{{"all", 3}, {"some", 2}, {"odd", 3}, {"own", 2}});
    const auto odd = [](const diagnostic& each) {
        return each.message == "\"two\" is no number of pods, and counts as absent (expected a "
                               "whole number of at least 1)";
    };
    CHECK(std::ranges::count_if(out.findings(), odd) == 1);
}

TEST_CASE("a guarantee is told that nobody has to leave, of Kueue's and Volcano's queues alike") {
    const auto told = [](const std::string& text) {
        diagnostics out;
        const auto documents = read_documents("in", text, out);
        const manifests objects = read_cluster(documents, {}, out);
        static_cast<void>(make_cluster<8>(objects, {}, out));
        std::string all;
        for (const diagnostic& finding : out.findings())
            all += to_text(finding) + "\n";
        return all;
    };
    const auto queue = [](const std::string& name, const std::string& spec) {
        return "---\n{apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, metadata: {name: " +
               name + "}, spec: {" + spec + "}}\n";
    };
    const std::string kept = queue("kept", "guarantee: {resource: {cpu: 4}}");
    CHECK(told(queue("root", "capability: {cpu: 10}") + kept).empty());
    const std::string nothing = "warning: spec.guarantee: cpu is guaranteed without effect: no "
                                "queue above has a quota of it "
                                "(expected e.g. what the nodes have as the root's capability)\n";
    CHECK(told(queue("root", "capability: {memory: 10}") + kept).ends_with(nothing));
    CHECK(told(kept).ends_with(nothing));
    CHECK(told(flavor("f") +
               cluster_queue("a", group("nominalQuota: 9, lendingLimit: 4") + ", cohortName: c"))
              .empty());
}

TEST_CASE("without Kueue's queues its marks lead nowhere") {
    diagnostics out;
    const auto documents = read_documents(
        "in",
        "{apiVersion: v1, kind: Pod, metadata: {name: p, labels: {kueue.x-k8s.io/queue-name: q}}, "
        "spec: {containers: [{name: c, image: i}]}}\n",
        out);
    const manifests objects = read_cluster(documents, {}, out);
    CHECK(make_cluster<8>(objects, {}, out).groups.begin()->second.queue.empty());
}

} // namespace codec_kueue_queues_test
