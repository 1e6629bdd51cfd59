// SPDX-License-Identifier: Apache-2.0
#include <muster/kube/live_reservations.hpp>

#include <string>

#include <doctest/doctest.h>

#include <muster/apis/core/objects.hpp>

namespace live_reservations_test {

using muster::codec::pod_object;
using muster::kube::live_reservations;

namespace {

pod_object pod(const std::string& name_space, const std::string& name, const std::string& group) {
    pod_object made;
    made.metadata.key = {name_space, name};
    made.metadata.uid = "u-" + name;
    made.node = "n1";
    if (!group.empty())
        made.metadata.labels.set("runai-gpu-group", group);
    return made;
}
pod_object reservation(const std::string& name, const std::string& group) {
    pod_object made = pod("reserved", name, group);
    made.metadata.annotations.set("run.ai/reserve_for_gpu_index", "3");
    made.metadata.annotations.set("muster.dev/reserved-by", "gangs");
    return made;
}

live_reservations serving() {
    live_reservations made;
    made.serve("reserved");
    return made;
}

} // namespace

TEST_CASE("a GPU group has its reservation pods and the pods that share the GPU") {
    live_reservations of = serving();
    of.put(reservation("r", "g"));
    of.put(pod("team", "a", "g"));
    pod_object several = pod("team", "b", "");
    several.metadata.labels.set("runai-gpu-group/g", "g");
    several.metadata.labels.set("runai-gpu-group/h", "h");
    of.put(several);
    of.put(pod("team", "none", ""));
    REQUIRE(of.groups().size() == 2);
    CHECK(of.groups().at("g").sharers.size() == 2);
    CHECK(of.groups().at("h").sharers.size() == 1);
    const auto* const found = of.find("g", "n1");
    REQUIRE(found);
    CHECK(found->gpu == "3");
    CHECK(found->made_by == "gangs");
    CHECK_FALSE(found->is_ending);
    CHECK_FALSE(of.find("g", "n2"));
    CHECK_FALSE(of.find("h", "n1"));
}

TEST_CASE(
    "a group goes with the last of its pods, and a pod leaves when it ends or its label does") {
    live_reservations of = serving();
    of.put(reservation("r", "g"));
    of.put(pod("team", "a", "g"));
    of.put(pod("team", "b", "g"));
    pod_object ended = pod("team", "a", "g");
    ended.phase = muster::pod_phase::succeeded;
    of.put(ended);
    CHECK(of.groups().at("g").sharers.size() == 1);
    of.put(pod("team", "b", ""));
    CHECK(of.groups().at("g").sharers.empty());
    of.lose({"reserved", "r"});
    CHECK(of.groups().empty());
    of.lose({"reserved", "r"});
}

TEST_CASE("a reservation pod that ended or terminates is ending, and another one is preferred") {
    live_reservations of = serving();
    pod_object old = reservation("a", "g");
    old.phase = muster::pod_phase::failed;
    of.put(old);
    REQUIRE(of.find("g", "n1"));
    CHECK(of.find("g", "n1")->is_ending);
    of.put(reservation("b", "g"));
    CHECK_FALSE(of.find("g", "n1")->is_ending);
    pod_object leaving = reservation("b", "g");
    leaving.metadata.terminating = true;
    of.put(leaving);
    CHECK(of.find("g", "n1")->is_ending);
}

TEST_CASE("a pod without a node shares no GPU, whatever its labels say") {
    live_reservations of = serving();
    pod_object waiting = pod("team", "a", "g");
    waiting.node.clear();
    of.put(waiting);
    CHECK(of.groups().empty());
    CHECK_FALSE(of.has_sharers("g"));
    of.put(pod("team", "a", "g"));
    CHECK(of.has_sharers("g"));
    of.put(waiting);
    CHECK(of.groups().empty());
}

TEST_CASE("pods get the GPUs of groups that name different ones") {
    live_reservations of = serving();
    of.put(reservation("r", "g"));
    CHECK(of.gpus_of({"g"}, "n1") == "3");
    CHECK(of.gpus_of({"g"}, "n2").empty());
    pod_object other = reservation("s", "h");
    other.metadata.annotations.set("run.ai/reserve_for_gpu_index", "GPU-5");
    of.put(other);
    CHECK(of.gpus_of({"h", "g"}, "n1") == "GPU-5,3");
    CHECK(of.gpus_of({"g", "i"}, "n1").empty());
    of.put(reservation("s", "h"));
    CHECK(of.gpus_of({"g"}, "n1").empty());
    CHECK(of.gpu_fault("g", *of.find("g", "n1")) ==
          "names GPU 3, as reservation pod reserved/s does");
    // An ended pod, or one of another node, has no GPU of this node.
    pod_object ended = reservation("s", "h");
    ended.phase = muster::pod_phase::failed;
    of.put(ended);
    CHECK(of.gpus_of({"g"}, "n1") == "3");
    // Its sharers still use the GPU.
    of.put(pod("team", "x", "h"));
    CHECK(of.gpus_of({"g"}, "n1").empty());
    CHECK(of.gpu_fault("g", *of.find("g", "n1")) ==
          "names GPU 3, as reservation pod reserved/s does, which has ended and has sharers");
    of.lose({"team", "x"});
    CHECK(of.gpus_of({"g"}, "n1") == "3");
    pod_object elsewhere = reservation("s", "h");
    elsewhere.node = "n2";
    of.put(elsewhere);
    CHECK(of.gpus_of({"g"}, "n1") == "3");
}

TEST_CASE("without a namespace of reservation pods there are no groups") {
    live_reservations of;
    of.put(pod("team", "a", "g"));
    CHECK(of.groups().empty());
}

} // namespace live_reservations_test
