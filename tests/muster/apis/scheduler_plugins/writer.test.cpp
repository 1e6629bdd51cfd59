// SPDX-License-Identifier: Apache-2.0
#include <muster/apis/scheduler_plugins/writer.hpp>

#include <string>

#include <doctest/doctest.h>

#include <muster/gangs/write_with.hpp>

#include "muster/gangs/gangs.hpp"

namespace translate_to_scheduler_plugins_test {

using namespace muster::translate;
using namespace translate_tests;

namespace {

written to_plugins(const gang_bundle& bundle) {
    return write_with(scheduler_plugins_writer{}, bundle);
}

} // namespace

TEST_CASE("a gang of one role is a PodGroup of scheduler-plugins, with timeout and resources") {
    gang_bundle made = gang("nginx", 3);
    made.gang.wait_seconds = 10;
    made.gang.min_resources = json("{'cpu': '3'}").as_object();
    const written out = to_plugins(made);
    CHECK(object(out, "PodGroup") ==
          json("{'apiVersion': 'scheduling.x-k8s.io/v1alpha1', 'kind': 'PodGroup', 'metadata': {"
               "'name': 'nginx', 'namespace': 'ns'}, 'spec': {'minMember': 3, 'minResources': "
               "{'cpu': '3'}, 'scheduleTimeoutSeconds': 10}}"));
    CHECK(losses(out) == "");
    CHECK(violations(out) == "");
}

TEST_CASE("scheduler-plugins keeps the total of a PodGang and loses which roles it is made of") {
    gang_bundle made = master_and_workers();
    made.gang.origin = target::grove;
    const written out = to_plugins(made);
    CHECK(spec(out, "PodGroup") == json("{'minMember': 4}"));
    CHECK(losses(out) == "role-minima"); // four workers and no master would do
    CHECK(metadata(out, "Pod").at("labels") == json("{'scheduling.x-k8s.io/pod-group': 'train'}"));
    CHECK(spec(out, "Pod").at("schedulerName") == "scheduler-plugins-scheduler");
}

TEST_CASE("a total is exact for one podgroup, and where every role needs all of its pods") {
    gang_bundle one = gang("g", 0);
    one.gang.origin = target::grove;
    add(one, "worker", 3, 4);
    CHECK(losses(to_plugins(one)) == "");
    gang_bundle all = gang("g", 0);
    all.gang.origin = target::grove;
    add(all, "master", 1, 1);
    add(all, "worker", 4, 4);
    CHECK(losses(to_plugins(all)) == "");
    CHECK(spec(to_plugins(all), "PodGroup") == json("{'minMember': 5}"));
}

TEST_CASE("scheduler-plugins wants at least one member, which is no more than none") {
    CHECK(spec(to_plugins(gang("g", 0)), "PodGroup") == json("{'minMember': 1}"));
}

TEST_CASE("pods say their gang's class for scheduler-plugins, which has no other word for it") {
    gang_bundle made = gang("g", 0);
    add(made, "worker", 1, 1);
    made.gang.priority.class_name = "high";
    CHECK(spec(to_plugins(made), "Pod").at("priorityClassName") == "high");
    CHECK(losses(to_plugins(made)) == "");
    made.pods[0].document["spec"].as_object()["priorityClassName"] = "low";
    CHECK(losses(to_plugins(made)) == "priority");
    CHECK(spec(to_plugins(made), "Pod").at("priorityClassName") == "low");
    made.pods.clear();
    CHECK(losses(to_plugins(made)) == "priority");
}

} // namespace translate_to_scheduler_plugins_test
