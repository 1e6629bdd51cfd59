// SPDX-License-Identifier: Apache-2.0
#include <muster/apis/write.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "muster/gangs/gangs.hpp"

namespace translate_write_test {

using namespace muster::translate;
using namespace translate_tests;

namespace {

gang_bundle plain() {
    gang_bundle made = gang("g", 0);
    add(made, "worker", 2, 3);
    return made;
}

/// Which targets lose something of a gang: "t9k kai-0.14", in the order of targets; all but the
/// last, which is about pods alone.
std::string losers(const gang_bundle& bundle, loss_kind what) {
    std::string text;
    for (const auto& [to, name] : targets) {
        if (to == target::pods)
            continue;
        for (const loss& each : write(to, bundle).losses)
            if (each.what == what) {
                text += (text.empty() ? "" : " ") + std::string(name);
                break;
            }
    }
    return text;
}

constexpr const char* workloads = "workload-1.35 workload-1.36 workload-1.37";
/// Without CompositePodGroups.
constexpr const char* old_workloads = "workload-1.35 workload-1.36";

} // namespace

// What an API has no words for (the rows), by target.

TEST_CASE("the total of a gang of one role is lost nowhere") {
    CHECK(losers(plain(), loss_kind::total_minimum) == "");
    CHECK(losers(plain(), loss_kind::role_minima) == "");
    CHECK(losers(plain(), loss_kind::all_or_nothing) == "");
}

TEST_CASE("a total beyond the roles' minima is kept by those that have both") {
    gang_bundle made = gang("g", 4);
    add(made, "master", 1, 2);
    add(made, "worker", 1, 4);
    CHECK(losers(made, loss_kind::total_minimum) ==
          "ack-1.30 ack-1.31 koordinator kai-0.14 kai-0.15 " + std::string(workloads) +
              " grove yunikorn");
}

TEST_CASE("minima of roles are kept by all but one number, or by gangs side by side") {
    CHECK(losers(master_and_workers(), loss_kind::role_minima) == "scheduler-plugins");
    CHECK(losers(master_and_workers(), loss_kind::all_or_nothing) == old_workloads);
}

TEST_CASE("k of n subgroups are kept by KAI since 0.15, Kubernetes 1.37, and Volcano if equal") {
    gang_bundle made = gang("g", 0);
    for (const char* name : {"a", "b", "c"})
        add(made, name, 2, 2);
    made.gang.tree.require_subgroups(muster::vertex_index{0}, 2);
    CHECK(losers(made, loss_kind::subgroup_minima) ==
          "t9k ack-1.30 ack-1.31 scheduler-plugins koordinator kai-0.14 " +
              std::string(old_workloads) + " grove yunikorn");
}

TEST_CASE("subgroups of subgroups are KAI's, and of Kubernetes since 1.37") {
    gang_bundle made = gang("g", 0);
    const auto inner = add(made, "inner", 0);
    add(made, "a", 1, 2, inner);
    add(made, "b", 1, 2, inner);
    CHECK(losers(made, loss_kind::nesting) ==
          "t9k ack-1.30 ack-1.31 scheduler-plugins volcano koordinator " +
              std::string(old_workloads) + " grove yunikorn");
}

TEST_CASE("gangs across namespaces are for gang groups only") {
    gang_bundle made = master_and_workers();
    made.gang.sizes[1].name_space = "other";
    CHECK(losers(made, loss_kind::namespaces) ==
          "t9k scheduler-plugins volcano kai-0.14 kai-0.15 " + std::string(workloads) +
              " grove yunikorn");
    for (const auto& each : targets)
        CHECK_MESSAGE(count(write(each.first, made), "Pod") == 5, each.second);
}

TEST_CASE("a queue is lost by ACK, scheduler-plugins and Kubernetes") {
    gang_bundle made = plain();
    made.gang.queue = "q";
    CHECK(losers(made, loss_kind::queue) ==
          "ack-1.30 ack-1.31 scheduler-plugins " + std::string(workloads));
}

TEST_CASE("a priority class is lost by T9k, a number by all others") {
    gang_bundle made = plain();
    made.gang.priority.class_name = "high";
    CHECK(losers(made, loss_kind::priority) == "t9k");
    made.gang.priority = {50, ""};
    CHECK(losers(made, loss_kind::priority) ==
          "ack-1.30 ack-1.31 scheduler-plugins volcano koordinator kai-0.14 kai-0.15 " +
              std::string(workloads) + " grove yunikorn");
    made.gang.priority = {0, ""}; // what everybody has
    CHECK(losers(made, loss_kind::priority) == "");
}

TEST_CASE("a timeout is Koordinator's, scheduler-plugins' and YuniKorn's") {
    gang_bundle made = plain();
    made.gang.wait_seconds = 60;
    CHECK(losers(made, loss_kind::timeout) ==
          "t9k ack-1.30 ack-1.31 volcano kai-0.14 kai-0.15 " + std::string(workloads) + " grove");
}

TEST_CASE("minResources are scheduler-plugins' and Volcano's; Koordinator does not look at them") {
    gang_bundle made = plain();
    made.gang.min_resources.emplace();
    CHECK(losers(made, loss_kind::min_resources) ==
          "t9k ack-1.30 ack-1.31 koordinator kai-0.14 kai-0.15 " + std::string(workloads) +
              " grove yunikorn");
}

TEST_CASE("whether a gang may be evicted is KAI's and Volcano's to say") {
    gang_bundle made = plain();
    made.gang.preemptible = true;
    CHECK(losers(made, loss_kind::preemptibility) ==
          "t9k ack-1.30 ack-1.31 scheduler-plugins koordinator " + std::string(workloads) +
              " grove yunikorn");
}

TEST_CASE("a part of a GPU is KAI's to give, also to the pods of a PodGang") {
    gang_bundle made = plain();
    for (auto& pod : made.pods)
        pod.document["metadata"].as_object()["annotations"] = {{"gpu-fraction", "0.5"}};
    CHECK(losers(made, loss_kind::device_share) ==
          "t9k ack-1.30 ack-1.31 scheduler-plugins volcano koordinator " + std::string(workloads) +
              " yunikorn");
    const auto losses = write(target::volcano, made).losses;
    REQUIRE(losses.size() == 1);
    CHECK(losses[0].detail == "gpu-fraction 0.5 of its pods, which ask for no whole device");
}

TEST_CASE("topology is KAI's, Grove's, Koordinator's in layers, and Kubernetes' if required") {
    gang_bundle made = plain();
    made.gang.topology_name = "dc";
    made.gang.tree.constrain_topology(muster::vertex_index{0},
                                      levels({"topology.kubernetes.io/rack"}, 0));
    CHECK(losers(made, loss_kind::topology_required) ==
          "t9k ack-1.30 ack-1.31 scheduler-plugins volcano workload-1.35 yunikorn");
    made.gang.tree.constrain_topology(muster::vertex_index{0},
                                      levels({"topology.kubernetes.io/rack"}, -1, 0));
    CHECK(losers(made, loss_kind::topology_preferred) ==
          "t9k ack-1.30 ack-1.31 scheduler-plugins volcano " + std::string(workloads) +
              " yunikorn");
    made.gang.tree.constrain_topology(muster::vertex_index{0}, levels({"row"}, 0));
    CHECK(losers(made, loss_kind::topology_required) ==
          "t9k ack-1.30 ack-1.31 scheduler-plugins volcano koordinator workload-1.35 yunikorn");
}

TEST_CASE("all that a target writes is legal there, whatever names a gang has") {
    for (const std::string& name : {std::string("g"), std::string("g.h"), std::string(80, 'g')})
        for (const std::string& role :
             {std::string("worker"), std::string("A_b.c"), std::string(80, 'r'), std::string("")}) {
            gang_bundle made = gang("g", 0);
            add(made, role + "x", 1, 2);
            add(made, role, 0, 1);
            made.gang.name = name;
            for (std::size_t at = 0; at < made.pods.size(); ++at)
                made.pods[at].document["metadata"].as_object()["name"] = "p" + std::to_string(at);
            for (const auto& each : targets) {
                const written out = write(each.first, made);
                CAPTURE(each.second);
                CHECK(violations(out) == "");
                CHECK(count(out, "Pod") == 3);
            }
        }
}

TEST_CASE("nothing of ours is written into a target's objects") {
    gang_bundle made = master_and_workers();
    made.gang.queue = "q";
    made.gang.priority = {50, "high"};
    made.gang.wait_seconds = 5;
    made.gang.preemptible = true;
    made.gang.tree.constrain_topology(muster::vertex_index{0}, levels({"rack"}, 0));
    for (const auto& to : targets)
        for (const auto& each : write(to.first, made).objects)
            CHECK_MESSAGE(boost::json::serialize(each).find("muster") == std::string::npos,
                          to.second);
}

TEST_CASE("the same gang is written the same way every time") {
    for (const auto& [to, name] : targets) {
        std::string first;
        for (int time = 0; time < 2; ++time) {
            std::string all;
            for (const auto& each : write(to, master_and_workers()).objects)
                all += boost::json::serialize(each);
            CHECK((first.empty() || first == all));
            first = all;
        }
    }
}

TEST_CASE("an option names another scheduler") {
    write_options options;
    options.scheduler_name = "mine";
    for (const auto& to : targets)
        if (to.first != target::pods)
            CHECK_MESSAGE(spec(write(to.first, plain(), options), "Pod").at("schedulerName") ==
                              "mine",
                          to.second);
}

TEST_CASE("a scheduler of somebody's own stays where it serves the target's API") {
    const auto scheduler = [](target from, const char* asked, target to) {
        gang_bundle made = plain();
        made.gang.origin = from;
        made.pods[0].marks =
            json(std::string("{'spec': {'schedulerName': '") + asked + "'}}").as_object();
        const boost::json::value made_of = spec(write(to, made), "Pod");
        const auto* const said = made_of.as_object().if_contains("schedulerName");
        return said ? std::string(said->as_string()) : std::string();
    };
    CHECK(scheduler(target::volcano, "volcano-2", target::volcano) == "volcano-2");
    CHECK(scheduler(target::volcano, "volcano-2", target::kai_0_15) == "kai-scheduler");
    CHECK(scheduler(target::scheduler_plugins, "mine", target::scheduler_plugins) == "mine");
    CHECK(scheduler(target::koordinator, "mine", target::scheduler_plugins) ==
          "scheduler-plugins-scheduler");
    // What comes without a scheduler's name may be anybody's.
    CHECK(scheduler(target::volcano, "mine", target::workload_1_37) == "mine");
    CHECK(scheduler(target::volcano, "volcano", target::workload_1_37) == "");
    CHECK(scheduler(target::volcano, "kube-batch", target::volcano) == "volcano");
}

TEST_CASE("pods get back the marks that they came with") {
    gang_bundle made = plain();
    for (gang_pod& pod : made.pods)
        pod.marks = json("{'metadata': {'labels': {'pod-group.scheduling.sigs.k8s.io/name': 'g', "
                         "'pod-group.scheduling.sigs.k8s.io/min-available': '2'}}, 'spec': "
                         "{'schedulerName': 's'}}")
                        .as_object();
    made.gang.origin = target::ack_1_31;
    const written out = write(target::pods, made);
    CHECK(out.objects.size() == 3);
    CHECK(metadata(out, "Pod").at("labels") == made.pods[0].marks.at("metadata").at("labels"));
    CHECK(spec(out, "Pod").at("schedulerName") == "s");
    CHECK(losses(out) == "");
}

TEST_CASE("pods of a job get the marks of the API that its controller uses") {
    gang_bundle made = plain();
    made.gang.origin = target::t9k;
    const written out = write(target::pods, made);
    CHECK(out.objects.size() == 3);
    CHECK(metadata(out, "Pod").at("labels").at("scheduler.tensorstack.dev/group-name") == "g");
    // Its minimum stands in the PodGroup.
    CHECK(losses(out) == "total-minimum role-minima");
    made.gang.origin = target::ack_1_30;
    CHECK(losses(write(target::pods, made)) == "");
}

TEST_CASE("pods of no gang API are plain, and a gang of several is lost") {
    const written out = write(target::pods, plain());
    CHECK(object(out, "Pod") == plain().pods[0].document);
    CHECK(losses(out) == "total-minimum role-minima");
    gang_bundle single = gang("p", 0);
    add(single, "w", 1, 1);
    CHECK(losses(write(target::pods, single)) == "");
}

TEST_CASE("of a gang all is named that no plain pod says") {
    gang_bundle made = plain();
    gang_object& asked = made.gang;
    asked.origin = target::kai_0_15;
    asked.queue = "team";
    asked.priority.class_name = "high";
    asked.preemptible = true;
    asked.wait_seconds = 30;
    asked.min_resources = json("{'cpu': '3'}").as_object();
    asked.topology_name = "dc";
    asked.tree.constrain_topology(muster::vertex_index{0}, levels({"zone", "rack"}, 0, 1));
    asked.own_words.push_back({gang_api::kai, loss_kind::lifecycle, "schedulingBackoff", 1});
    const std::string all = "total-minimum role-minima queue priority preemptibility timeout "
                            "min-resources topology-required topology-preferred lifecycle";
    CHECK(losses(write(target::pods, made)) == all);
    // Marks that pods come with say some of it.
    for (gang_pod& pod : made.pods) {
        pod.document["spec"].as_object()["priorityClassName"] = "high";
        pod.marks = json("{'metadata': {'labels': {'kai.scheduler/queue': 'team', "
                         "'kai.scheduler/preemptibility': 'preemptible'}, 'annotations': "
                         "{'gang.scheduling.koordinator.sh/waiting-time': '30s', "
                         "'kai.scheduler/topology-required-placement': 'zone', "
                         "'kai.scheduler/topology-preferred-placement': 'rack'}}}")
                        .as_object();
    }
    CHECK(losses(write(target::pods, made)) == "total-minimum role-minima min-resources lifecycle");
    // One pod that does not say it is enough to lose it.
    made.pods.front().marks.clear();
    made.pods.front().document["spec"].as_object().erase("priorityClassName");
    CHECK(losses(write(target::pods, made)) == all);
    // Without pods nothing says anything.
    made.pods.clear();
    CHECK(losses(write(target::pods, made)) == all);
}

TEST_CASE("subgroups are lost with the object that lists them") {
    gang_bundle made = gang("g", 0);
    const auto part = add(made, "part", 1);
    add(made, "a", 1, 1, part);
    add(made, "b", 1, 1, part);
    made.gang.tree.require_subgroups(part, 1);
    CHECK(losses(write(target::pods, made)) == "subgroup-minima nesting");
}

} // namespace translate_write_test
