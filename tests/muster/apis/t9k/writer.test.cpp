// SPDX-License-Identifier: Apache-2.0
#include <muster/apis/t9k/writer.hpp>

#include <string>

#include <doctest/doctest.h>

#include <muster/gangs/write_with.hpp>

#include "muster/gangs/gangs.hpp"

namespace translate_to_t9k_test {

using namespace muster::translate;
using namespace translate_tests;

namespace {

written to_t9k(const gang_bundle& bundle) {
    return write_with(t9k_writer{}, bundle);
}

} // namespace

TEST_CASE("a total and minima of roles go to T9k without loss") {
    gang_bundle made = master_and_workers();
    made.gang.tree.require_members(muster::vertex_index{0}, 5);
    made.gang.queue = "default";
    made.gang.priority.number = 50;
    const written out = to_t9k(made);
    CHECK(object(out, "PodGroup") ==
          json("{'apiVersion': 'scheduler.tensorstack.dev/v1beta1', 'kind': 'PodGroup', "
               "'metadata': {'name': 'train', 'namespace': 'ns'}, 'spec': {'minMember': 5, "
               "'roles': [{'name': 'master', 'minMember': 1}, {'name': 'worker', 'minMember': 3}], "
               "'queue': 'default', 'priority': 50}}"));
    CHECK(losses(out) == "");
    CHECK(violations(out) == "");
}

TEST_CASE("a T9k pod names its group, role and queue, and the scheduler") {
    gang_bundle made = master_and_workers();
    made.gang.queue = "default";
    const written out = to_t9k(made);
    CHECK(count(out, "Pod") == 5);
    CHECK(metadata(out, "Pod", 4) ==
          json("{'name': 'train-worker-3', 'namespace': 'ns', 'labels': {"
               "'scheduler.tensorstack.dev/group-name': 'train', 'scheduler.tensorstack.dev/role': "
               "'worker', 'scheduler.tensorstack.dev/queue': 'default'}}"));
    CHECK(spec(out, "Pod", 4).at("schedulerName") == "t9k-scheduler");
}

TEST_CASE("a T9k group of one role, or of roles without minima, has no roles") {
    CHECK(spec(to_t9k(gang("g", 3)), "PodGroup") == json("{'minMember': 3}"));
    gang_bundle made = gang("g", 5);
    add(made, "ps", 0, 1);
    add(made, "worker", 0, 4);
    const written out = to_t9k(made);
    CHECK(spec(out, "PodGroup") == json("{'minMember': 5}"));
    CHECK(metadata(out, "Pod").at("labels").at("scheduler.tensorstack.dev/role") == "ps");
    CHECK(losses(out) == "");
}

TEST_CASE("a T9k total below the sum of the roles' minima stays as it was declared") {
    gang_bundle made = master_and_workers();
    made.gang.tree.require_members(muster::vertex_index{0}, 2);
    CHECK(spec(to_t9k(made), "PodGroup").at("minMember") == 2);
    made.gang.tree.require_members(muster::vertex_index{0}, 0);
    CHECK(spec(to_t9k(made), "PodGroup").at("minMember") == 4);
}

TEST_CASE("T9k has no k of n: the roles are not asked for, the least total is") {
    gang_bundle made = gang("g", 0);
    add(made, "a", 2, 2);
    add(made, "b", 2, 2);
    made.gang.tree.require_subgroups(muster::vertex_index{0}, 1);
    const written out = to_t9k(made);
    CHECK(spec(out, "PodGroup") == json("{'minMember': 2}"));
    CHECK(losses(out) == "subgroup-minima");
}

TEST_CASE("T9k has roles in one level: subgroups of subgroups are lost, their minima are not") {
    gang_bundle made = gang("g", 0);
    const auto half = add(made, "half", 0);
    add(made, "a", 1, 1, half);
    add(made, "b", 2, 2, half);
    const written out = to_t9k(made);
    CHECK(spec(out, "PodGroup") == json("{'minMember': 3, 'roles': [{'name': 'a', 'minMember': 1}, "
                                        "{'name': 'b', 'minMember': 2}]}"));
    CHECK(losses(out) == "nesting");
    made.gang.tree.require_members(half, 4);
    CHECK(losses(to_t9k(made)) == "total-minimum nesting");
}

TEST_CASE("T9k's priorities are numbers from 0 to 100") {
    gang_bundle made = gang("g", 1);
    made.gang.priority.number = 101;
    CHECK(losses(to_t9k(made)) == "priority");
    CHECK(spec(to_t9k(made), "PodGroup") == json("{'minMember': 1}"));
    made.gang.priority.number = 100;
    CHECK(losses(to_t9k(made)) == "");
    made.gang.priority.number.reset();
    made.gang.priority.class_name = "high";
    CHECK(losses(to_t9k(made)) == "priority");
}

TEST_CASE("a name that pods cannot carry in a label is shortened, for T9k's group and pods alike") {
    gang_bundle made = gang(std::string(64, 'g'), 0);
    add(made, "worker", 1, 1);
    const written out = to_t9k(made);
    CHECK(losses(out) == "name");
    const auto name = metadata(out, "PodGroup").at("name").as_string();
    CHECK(name.size() == 63);
    CHECK(metadata(out, "Pod").at("labels").at("scheduler.tensorstack.dev/group-name") == name);
    CHECK(violations(out) == "");
}

TEST_CASE("what only T9k can say comes back to it") {
    gang_bundle made = gang("g", 1);
    made.gang.own_words.push_back(
        {gang_api::t9k, loss_kind::topology_required, "topologyPolicy", "x"});
    CHECK(spec(to_t9k(made), "PodGroup").at("topologyPolicy") == "x");
    CHECK(losses(to_t9k(made)) == "");
    made.gang.own_words[0].api = gang_api::volcano;
    CHECK(losses(to_t9k(made)) == "topology-required");
    CHECK(spec(to_t9k(made), "PodGroup") == json("{'minMember': 1}"));
}

TEST_CASE("an owner that has no uid yet is left out") {
    gang_bundle made = gang("g", 1);
    made.gang.owners = {{"v1", "A", "a", "", true}, {"v1", "B", "b", "u", true}};
    CHECK(metadata(to_t9k(made), "PodGroup").at("ownerReferences") ==
          json("[{'apiVersion': 'v1', 'kind': 'B', 'name': 'b', 'uid': 'u', 'controller': true}]"));
}

TEST_CASE("a pod's owner that has no uid yet is left out, too") {
    gang_bundle made = gang("g", 0);
    add(made, "worker", 1, 2);
    made.pods[0].document["metadata"].as_object()["ownerReferences"] =
        json("[{'kind': 'A', 'uid': ''}, {'kind': 'B', 'uid': 'u'}]");
    made.pods[1].document["metadata"].as_object()["ownerReferences"] = json("[{'kind': 'A'}]");
    const written out = to_t9k(made);
    CHECK(metadata(out, "Pod").at("ownerReferences") == json("[{'kind': 'B', 'uid': 'u'}]"));
    CHECK_FALSE(metadata(out, "Pod", 1).as_object().contains("ownerReferences"));
}

TEST_CASE("a gang in two namespaces becomes one in each, and says so") {
    gang_bundle made = gang("g", 0);
    add(made, "a", 1, 1);
    add(made, "b", 2, 2);
    made.gang.sizes[1].name_space = "other";
    const written out = to_t9k(made);
    CHECK(count(out, "PodGroup") == 2);
    CHECK(metadata(out, "PodGroup", 0) == json("{'name': 'g', 'namespace': 'ns'}"));
    CHECK(metadata(out, "PodGroup", 1) == json("{'name': 'g', 'namespace': 'other'}"));
    CHECK(spec(out, "PodGroup", 1).at("minMember") == 2);
    CHECK(count(out, "Pod") == 3);
    CHECK(losses(out) == "namespaces all-or-nothing");
}

TEST_CASE("labels, annotations and names that the API server would refuse are told of") {
    gang_bundle made = gang("g", 1);
    made.gang.labels["team"] = std::string(64, 'x');
    made.gang.labels["a/b/c"] = "x";
    made.gang.annotations["big"] = std::string(256 * 1024, 'x');
    made.gang.name_space = "n.s";
    const std::string found = violations(to_t9k(made));
    INFO(found);
    CHECK(found.find("metadata.labels[team]: ") != std::string::npos);
    CHECK(found.find("metadata.labels: 'a/b/c'") != std::string::npos);
    CHECK(found.find("metadata.annotations: 262147 bytes") != std::string::npos);
    CHECK(found.find("metadata.namespace: 'n.s'") != std::string::npos);
}

} // namespace translate_to_t9k_test
