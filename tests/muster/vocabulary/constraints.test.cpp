// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <muster/vocabulary/constraints.hpp>

namespace vocabulary_constraints_test {

namespace {

using namespace muster;

label_requirement is(const char* key, const char* value) {
    return {key, label_operator::in, {value}};
}

node<1> labelled(label_set labels) {
    node<1> made;
    made.labels = std::move(labels);
    return made;
}

node<1> tainted(const char* key, taint_effect effect = taint_effect::no_schedule) {
    node<1> made;
    made.taints.push_back({key, "", effect});
    return made;
}

TEST_CASE("a pod without constraints stands anywhere but on a cordoned or tainted node") {
    CHECK(obstacles(constraints{}, node<1>{}) == obstacle_none);
    node<1> cordoned;
    cordoned.unschedulable = true;
    CHECK(obstacles(constraints{}, cordoned) == obstacle_cordon);
    CHECK(obstacles(constraints{}, tainted("gpu")) == obstacle_taint);
    CHECK(obstacles(constraints{}, tainted("gpu", taint_effect::no_execute)) == obstacle_taint);
}

TEST_CASE("taints of a node's condition and its cordon are told from the others") {
    CHECK(obstacles(constraints{}, tainted("node.kubernetes.io/not-ready")) ==
          obstacle_condition_taint);
    CHECK(obstacles(constraints{}, tainted("node.kubernetes.io/unschedulable")) == obstacle_cordon);
}

TEST_CASE("every obstacle that is there is named") {
    node<1> target = tainted("gpu");
    target.taints.push_back({"node.kubernetes.io/not-ready", "", taint_effect::no_execute});
    target.unschedulable = true;
    constraints of;
    of.selector.requirements.push_back(is("zone", "a"));
    CHECK(obstacles(of, target) ==
          (obstacle_selector | obstacle_taint | obstacle_condition_taint | obstacle_cordon));
}

TEST_CASE("who tolerates the cordon's taint may stand on a cordoned node") {
    node<1> cordoned;
    cordoned.unschedulable = true;
    constraints of;
    of.tolerations.push_back({"node.kubernetes.io/unschedulable", {}, {}});
    CHECK(obstacles(of, cordoned) == obstacle_none);
    of.tolerations = {{"gpu", {}, {}}};
    CHECK(obstacles(of, cordoned) == obstacle_cordon);
}

TEST_CASE("node selector and one term of the required affinity must both match") {
    constraints of;
    of.selector.requirements.push_back(is("zone", "a"));
    of.affinity = {{{{is("disk", "ssd")}}, {}}, {{{is("disk", "nvme")}}, {}}};
    CHECK(obstacles(of, labelled({{"zone", "a"}, {"disk", "nvme"}})) == obstacle_none);
    CHECK(obstacles(of, labelled({{"zone", "a"}, {"disk", "hdd"}})) == obstacle_selector);
    CHECK(obstacles(of, labelled({{"zone", "b"}, {"disk", "ssd"}})) == obstacle_selector);
}

TEST_CASE("a required affinity without terms, or with an empty one, matches no node") {
    constraints of;
    of.affinity.emplace();
    CHECK(obstacles(of, node<1>{}) == obstacle_selector);
    of.affinity->push_back({});
    CHECK(obstacles(of, node<1>{}) == obstacle_selector);
}

TEST_CASE("a node must reach every volume, and unbound volumes are a separate obstacle") {
    constraints of;
    of.volumes.push_back({{{{{is("zone", "a")}}, {}}, {{{is("zone", "b")}}, {}}}, true});
    CHECK(obstacles(of, labelled({{"zone", "b"}})) == obstacle_none);
    CHECK(obstacles(of, labelled({{"zone", "c"}})) == obstacle_volume);
    of.volumes.push_back({{{{{is("disk", "ssd")}}, {}}}, false});
    CHECK(obstacles(of, labelled({{"zone", "b"}})) == obstacle_unbound_volume);
    CHECK(obstacles(of, node<1>{}) == (obstacle_volume | obstacle_unbound_volume));
    CHECK(obstacles(of, labelled({{"zone", "a"}, {"disk", "ssd"}})) == obstacle_none);
    of.volumes.push_back({{}, true});
    CHECK(obstacles(of, labelled({{"zone", "a"}, {"disk", "ssd"}})) == obstacle_volume);
}

TEST_CASE("unsupported constraints and volumes that are not ready hold a pod") {
    constraints of;
    CHECK_FALSE(of.held());
    of.volume_not_ready = true;
    CHECK(of.held());
    of = {};
    of.unsupported = true;
    CHECK(of.held());
}

TEST_CASE("a term may ask for the node's name") {
    node<1> target;
    target.name = "n7";
    const node_term term{{}, {is("metadata.name", "n7")}};
    CHECK(term.matches(target));
    target.name = "n8";
    CHECK_FALSE(term.matches(target));
}

TEST_CASE("a preference never keeps a pod off a node") {
    constraints of;
    of.preferred.push_back({50, {{{is("zone", "a")}}, {}}});
    of.preferred.push_back({7, {{{is("disk", "ssd")}}, {}}});
    CHECK(obstacles(of, node<1>{}) == obstacle_none);
    CHECK(preference(of, node<1>{}) == 0);
    CHECK(preference(of, labelled({{"zone", "a"}})) == 50);
    CHECK(preference(of, labelled({{"zone", "a"}, {"disk", "ssd"}})) == 57);
    const node<1> avoided = tainted("old", taint_effect::prefer_no_schedule);
    CHECK(obstacles(of, avoided) == obstacle_none);
    CHECK(preference(of, avoided) == -100);
    of.tolerations.push_back({});
    CHECK(preference(of, avoided) == 0);
}

} // namespace

} // namespace vocabulary_constraints_test
