// SPDX-License-Identifier: Apache-2.0
#include <muster/kube/group_status.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <doctest/doctest.h>

namespace group_status_test {

namespace adapter = muster::adapter;
namespace codec = muster::codec;
namespace json = boost::json;
namespace kube = muster::kube;

namespace {

constexpr std::int64_t now = 1'700'000'000'500'000'000;

/// A group of some API, and its pods.
struct group {
    kube::group_record record;
    std::vector<codec::pod_object> pods;
    adapter::gang_status status;

    group(std::string_view version, std::string_view kind, const std::string& spec) {
        for (const kube::collection& each : kube::collections)
            if (each.version == version && each.kind == kind)
                record.of = each;
        REQUIRE(record.of.kind == kind);
        record.who = {{"team", "train"}, "u1", "7"};
        record.generation = 3;
        std::string wrong;
        record.document = kube::detail::one_document("group", R"({"spec":)" + spec + "}", wrong);
        REQUIRE(record.document);
    }
    group& have(int count, const std::string& phase, bool bound = true) {
        for (int i = 0; i < count; ++i) {
            codec::pod_object pod;
            pod.metadata.key = {"team", "p" + std::to_string(pods.size())};
            pod.api_phase = phase;
            pod.phase = phase == "Succeeded" ? muster::pod_phase::succeeded
                        : phase == "Failed"  ? muster::pod_phase::failed
                        : phase == "Running" ? muster::pod_phase::running
                                             : muster::pod_phase::pending;
            pod.node = bound ? "a" : "";
            pod.requests["cpu"] = {1000, muster::quantity_format::decimal_si};
            pods.push_back(std::move(pod));
        }
        return *this;
    }
    group& waiting(int count, muster::gate at) {
        status.waiting = count;
        status.at = at;
        return *this;
    }
    group& reached(int holding) {
        status.reached = status.holds_minima = true;
        status.holding = holding;
        return *this;
    }
    /// The status, which is there from then on.
    json::object write(std::int64_t wall = now) {
        std::vector<const codec::pod_object*> members;
        for (const codec::pod_object& each : pods)
            members.push_back(&each);
        json::object made = kube::group_status{}({&record, members, &status}, wall);
        record.status = made;
        return made;
    }
    std::string phase() { return std::string(write()["phase"].as_string()); }
};

constexpr std::string_view plugins = "scheduling.x-k8s.io/v1alpha1";
constexpr std::string_view sigs = "scheduling.sigs.k8s.io/v1alpha1";
constexpr std::string_view volcano = "scheduling.volcano.sh/v1beta1";
constexpr std::string_view kai = "scheduling.run.ai/v2alpha2";
constexpr std::string_view workload = "scheduling.k8s.io/v1alpha2";

} // namespace

TEST_CASE("T9k's group says why it was not scheduled yet, until it is") {
    group of(plugins, "PodGroup", R"({"minMember":2})");
    for (const kube::collection& each : kube::collections)
        if (each.of == kube::dialect::t9k && each.kind == "PodGroup")
            of.record.of = each;
    const auto says = [&] {
        const json::object made = of.write();
        const json::object& condition = made.at("conditions").as_array().at(1).as_object();
        REQUIRE(condition.at("type") == "GroupScheduled");
        const json::value* const message = condition.if_contains("message");
        return std::string(condition.at("status").as_string()) + ": " +
               (message ? std::string(message->as_string()) : "");
    };
    of.have(2, "Pending", false).waiting(2, muster::gate::space);
    CHECK(says() == "False: ");
    of.status.message = "0/3 nodes are available: 3 Insufficient cpu.";
    CHECK(says() == "False: 0/3 nodes are available: 3 Insufficient cpu.");
    of.reached(2);
    CHECK(says() == "True: Resources have been allocated to PodGroup");
}

TEST_CASE("scheduler-plugins' phase follows the pods, back as well as on") {
    const auto phase = [](const auto& fill) {
        group of(plugins, "PodGroup", R"({"minMember":2})");
        fill(of);
        return of.phase();
    };
    CHECK(phase([](group& of) { of.have(1, "Pending", false); }) == "Pending");
    CHECK(phase([](group& of) { of.have(3, "Pending", false); }) == "Scheduling");
    CHECK(phase([](group& of) { of.have(2, "Running"); }) == "Running");
    CHECK(phase([](group& of) { of.have(1, "Running").have(1, "Succeeded"); }) == "Running");
    CHECK(phase([](group& of) { of.have(1, "Running").have(1, "Failed"); }) == "Failed");
    CHECK(phase([](group& of) { of.have(2, "Succeeded").have(1, "Failed"); }) == "Finished");
    group of(plugins, "PodGroup", R"({"minMember":2})");
    const json::object made = of.have(2, "Running").write();
    CHECK(made == json::parse(R"({"phase":"Running","running":2,)"
                              R"("scheduleStartTime":"2023-11-14T22:13:20Z"})"));
    CHECK(kube::latch_of(of.record.of, of.record.status) == true);
    of.pods.pop_back();
    of.have(1, "Pending", false);
    CHECK(of.phase() == "Scheduling");
    CHECK(of.write(now + 90'000'000'000)["scheduleStartTime"] == "2023-11-14T22:13:20Z");
    CHECK(!kube::latch_of(of.record.of, of.record.status));
}

TEST_CASE("Koordinator's phase keeps that the pods were scheduled") {
    group of(sigs, "PodGroup", R"({"minMember":2})");
    CHECK(of.have(1, "Pending", false).phase() == "Pending");
    CHECK(of.have(1, "Pending", false).phase() == "PreScheduling");
    of.pods[0].node = "a";
    CHECK(of.phase() == "Scheduling");
    CHECK(kube::latch_of(of.record.of, of.record.status) == false);
    of.pods[1].node = "a";
    CHECK(of.write() == json::parse(R"({"phase":"Scheduled","scheduled":2,)"
                                    R"("scheduleStartTime":"2023-11-14T22:13:20Z"})"));
    CHECK(kube::latch_of(of.record.of, of.record.status) == true);
    of.pods[1].node.clear();
    CHECK(of.phase() == "Scheduled");
}

TEST_CASE("Volcano's controllers may create pods as soon as the queue admits the group") {
    group of(volcano, "PodGroup", R"({"minMember":2})");
    CHECK(of.write() == json::parse(R"({"phase":"Inqueue"})"));
    of.have(2, "Pending", false).waiting(2, muster::gate::queue);
    CHECK(of.phase() == "Pending");
    of.waiting(2, muster::gate::space);
    const json::object waits = of.write();
    CHECK(waits.at("phase") == "Inqueue");
    CHECK(waits.at("conditions") ==
          json::parse(R"([{"type":"Unschedulable","status":"True","transitionID":"u1",)"
                      R"("reason":"NotEnoughResources","message":"2/2 tasks in gang unschedulable:)"
                      R"( it does not fit the nodes that are free",)"
                      R"("lastTransitionTime":"2023-11-14T22:13:20Z"}])"));
    CHECK(kube::latch_of(of.record.of, of.record.status) == false);
    of.pods.clear();
    of.have(2, "Running").waiting(0, muster::gate::none).reached(2);
    const json::object runs = of.write();
    CHECK(runs.at("phase") == "Running");
    CHECK(runs.at("running") == 2);
    CHECK(runs.at("conditions") ==
          json::parse(R"([{"type":"Scheduled","status":"True","transitionID":"u1",)"
                      R"("reason":"tasks in gang are ready to be scheduled",)"
                      R"("lastTransitionTime":"2023-11-14T22:13:20Z"}])"));
    CHECK(kube::latch_of(of.record.of, of.record.status) == true);
    // Below its minimum again: the latch stays.
    of.status.holds_minima = false;
    CHECK(of.phase() == "Unknown");
    CHECK(kube::latch_of(of.record.of, of.record.status) == true);
    of.status.holds_minima = true;
    of.status.succeeded = 2;
    CHECK(of.phase() == "Completed");
}

TEST_CASE("KAI's conditions say why a group waits, and that it was scheduled") {
    group of(kai, "PodGroup", R"({"minMember":2})");
    of.have(2, "Pending", false).waiting(2, muster::gate::quota);
    const json::object waits = of.write();
    const json::object& said = waits.at("schedulingConditions").as_array().at(0).as_object();
    CHECK(said.at("type") == "UnschedulableOnNodePool");
    CHECK(said.at("nodePool") == "default");
    CHECK(said.at("transitionID") == "1");
    CHECK(waits.at("resourcesStatus") == json::parse(R"({"requested":{"cpu":"2"}})"));
    CHECK(of.write(now + 60'000'000'000) == waits);
    of.pods.clear();
    of.have(2, "Running").waiting(0, muster::gate::none).reached(2);
    const json::object runs = of.write();
    CHECK(runs.at("schedulingConditions") ==
          json::parse(R"([{"type":"Scheduled","status":"True","transitionID":"2",)"
                      R"("lastTransitionTime":"2023-11-14T22:13:20Z"}])"));
    CHECK(runs.at("resourcesStatus") ==
          json::parse(R"({"allocated":{"cpu":"2"},"requested":{"cpu":"2"}})"));
    CHECK(kube::latch_of(of.record.of, of.record.status) == true);
}

TEST_CASE("Kubernetes' condition stays true once it is, and others stay beside it") {
    group of(workload, "PodGroup", R"({"schedulingPolicy":{"gang":{"minCount":2}}})");
    CHECK(of.write().empty());
    of.record.status = json::parse(R"({"conditions":[{"type":"DisruptionTarget"}]})");
    of.have(2, "Pending", false).waiting(2, muster::gate::space);
    const json::object waits = of.write();
    CHECK(waits.at("conditions") ==
          json::parse(R"([{"type":"DisruptionTarget"},{"type":"PodGroupScheduled",)"
                      R"("status":"False","reason":"Unschedulable","message":)"
                      R"("it does not fit the nodes that are free","observedGeneration":3,)"
                      R"("lastTransitionTime":"2023-11-14T22:13:20Z"}])"));
    CHECK(kube::latch_of(of.record.of, of.record.status) == false);
    of.reached(2).waiting(0, muster::gate::none);
    CHECK(of.write().at("conditions").as_array().at(1).as_object().at("reason") == "Scheduled");
    CHECK(kube::latch_of(of.record.of, of.record.status) == true);
    group old(workload, "Workload", R"({"podGroupTemplates":[]})");
    CHECK(old.reached(2).write().empty());
}

} // namespace group_status_test
