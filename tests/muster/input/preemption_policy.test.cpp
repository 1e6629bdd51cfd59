// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <string>
#include <tuple>

#include <muster/cycle/cycle.hpp>
#include <muster/input/cluster.hpp>
#include <muster/input/manifests.hpp>
#include <muster/input/read_documents.hpp>

namespace codec_preemption_policy_test {

using namespace muster::codec;

namespace {

/// Whether others may be evicted for the pod `p`; findings go to `out`.
bool may_preempt(const std::string& text, diagnostics& out) {
    const auto documents = read_documents("f", text, out);
    const manifests objects = read_manifests(documents, {}, out);
    bool may = false;
    if (auto made_cluster = make_cluster(objects, {}, out)) {
        auto& cluster = *made_cluster;
        for (const auto& [key, gang] : cluster.state.gang_keys())
            if (key.name == "p")
                may = cluster.state[gang].spec.may_preempt;
    }
    return may;
}

std::string pod(const std::string& more) {
    return "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n"
           "spec: {containers: [{name: c}]" +
           more + "}\n---\n";
}

/// A pod of a queue of T9k's, running on the node when `runs`.
std::string queued(const std::string& name, int priority, bool runs) {
    const std::string group = "apiVersion: scheduler.tensorstack.dev/v1beta1\nkind: PodGroup\n"
                              "metadata: {name: " +
                              name + "}\nspec: {minMember: 1, queue: " + name.substr(0, 1) +
                              ", priority: " + std::to_string(priority) + "}\n---\n";
    return group + "apiVersion: v1\nkind: Pod\nmetadata: {name: " + name +
           ", labels: {scheduler.tensorstack.dev/group-name: " + name + "}}\nspec: {" +
           (runs ? "nodeName: n1, " : "") +
           "containers: [{name: c, resources: {requests: {cpu: 50}}}]}\nstatus: {phase: " +
           (runs ? "Running" : "Pending") + "}\n---\n";
}

std::string four_queues() {
    std::string text = "apiVersion: v1\nkind: Node\nmetadata: {name: n1}\n"
                       "status: {allocatable: {cpu: 300, pods: 110}}\n---\n";
    for (const auto& [name, quota, priority] : {std::tuple("A", 200, 1), std::tuple("B", 100, 1),
                                                std::tuple("C", 50, 2), std::tuple("D", 200, 2)})
        text += "apiVersion: scheduler.tensorstack.dev/v1beta1\nkind: Queue\nmetadata: {name: " +
                std::string(name) +
                ", namespace: t9k-system}\nspec: {priority: " + std::to_string(priority) +
                ", quota: {requests: {cpu: " + std::to_string(quota) +
                "}}, namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: default}}}\n"
                "---\n";
    return text;
}

/// What a cycle with T9k's preemption does to pods: those placed, and those evicted behind a dash;
/// and how the gang `asked` stands.
std::string decide(const std::string& text, const std::string& asked) {
    diagnostics out;
    const auto documents = read_documents("f", text, out);
    const manifests objects = read_manifests(documents, {}, out);
    auto cluster = make_cluster<8>(objects, {}, out);
    CHECK(out.ok());
    muster::policy how{
        muster::best_fit{},        muster::priority_then_age{}, muster::priority_then_share{},
        muster::no_reservations{}, muster::surplus_at_once{},   muster::most_packed{},
        muster::t9k_preemption{}};
    const auto result = muster::cycle(cluster.state, cluster.now, how);
    std::string done;
    for (const muster::decision& each : result.decisions) {
        for (const muster::pod_index pod : each.evictions)
            done += "-" + cluster.state.key(pod).name + " ";
        for (const muster::placement& one : each.placements)
            done += cluster.state.key(one.pod).name + " ";
    }
    for (const auto& [key, gang] : cluster.state.gang_keys()) {
        const auto& last = cluster.state[gang].last;
        if (key.name == asked && last.kind == muster::answer::waiting)
            done += last.at == muster::gate::quota   ? "waits for quota"
                    : last.at == muster::gate::space ? "waits for room"
                                                     : "waits";
    }
    return done;
}

} // namespace

TEST_CASE(
    "T9k's four queues, from manifests: B2 waits for room, C2 for quota, and A3 goes for D2") {
    const auto standing = [](bool a3) {
        return four_queues() + queued("A1", 2, true) + queued("A2", 2, true) +
               (a3 ? queued("A3", 1, true) : std::string{}) + queued("B1", 2, true) +
               queued("C1", 2, true) + queued("D1", 2, true);
    };
    const std::string b2 = queued("B2", 0, false);
    const std::string c2 = queued("C2", 0, false);
    const std::string d2 = queued("D2", 0, false);
    CHECK(decide(standing(true) + b2, "B2") == "waits for room");
    CHECK(decide(standing(true) + b2 + c2, "C2") == "waits for quota");
    CHECK(decide(standing(true) + b2 + c2 + d2, "B2") == "-A3 D2 waits for room");
    CHECK(decide(standing(false) + b2 + c2 + d2, "C2") == "D2 waits for quota");
}

TEST_CASE("nobody is evicted for a pod whose preemption policy, or whose class's, is Never") {
    const std::string patient = "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\n"
                                "metadata: {name: patient}\nvalue: 9\npreemptionPolicy: Never\n";
    diagnostics out;
    CHECK(may_preempt(pod(""), out));
    CHECK(may_preempt(pod(", preemptionPolicy: PreemptLowerPriority"), out));
    CHECK_FALSE(may_preempt(pod(", preemptionPolicy: Never"), out));
    CHECK_FALSE(may_preempt(pod(", priorityClassName: patient") + patient, out));
    CHECK(may_preempt(pod("") + patient, out));
    CHECK(out.ok());
}

TEST_CASE("a preemption policy that does not exist is an error") {
    diagnostics out;
    static_cast<void>(may_preempt(pod(", preemptionPolicy: Sometimes"), out));
    REQUIRE(out.findings().size() == 1);
    CHECK(to_text(out.findings().front()) ==
          "f:4:51: spec.preemptionPolicy: \"Sometimes\" is not a policy (expected Never or "
          "PreemptLowerPriority)");
}

} // namespace codec_preemption_policy_test
