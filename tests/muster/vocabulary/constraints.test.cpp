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
    CHECK(failed_filters(constraints{}, node<1>{}) == node_filter_none);
    node<1> cordoned;
    cordoned.unschedulable = true;
    CHECK(failed_filters(constraints{}, cordoned) == node_filter_cordon);
    CHECK(failed_filters(constraints{}, tainted("gpu")) == node_filter_taint);
    CHECK(failed_filters(constraints{}, tainted("gpu", taint_effect::no_execute)) ==
          node_filter_taint);
}

TEST_CASE("taints of a node's condition and its cordon are told from the others") {
    CHECK(failed_filters(constraints{}, tainted("node.kubernetes.io/not-ready")) ==
          node_filter_condition_taint);
    CHECK(failed_filters(constraints{}, tainted("node.kubernetes.io/unschedulable")) ==
          node_filter_cordon);
}

TEST_CASE("every obstacle that is there is named") {
    node<1> target = tainted("gpu");
    target.taints.push_back({"node.kubernetes.io/not-ready", "", taint_effect::no_execute});
    target.unschedulable = true;
    constraints of;
    of.selector.requirements.push_back(is("zone", "a"));
    CHECK(failed_filters(of, target) == (node_filter_selector | node_filter_taint |
                                         node_filter_condition_taint | node_filter_cordon));
}

TEST_CASE("who tolerates the cordon's taint may stand on a cordoned node") {
    node<1> cordoned;
    cordoned.unschedulable = true;
    constraints of;
    of.tolerations.push_back({"node.kubernetes.io/unschedulable", {}, {}});
    CHECK(failed_filters(of, cordoned) == node_filter_none);
    of.tolerations = {{"gpu", {}, {}}};
    CHECK(failed_filters(of, cordoned) == node_filter_cordon);
}

TEST_CASE("node selector and one term of the required affinity must both match") {
    constraints of;
    of.selector.requirements.push_back(is("zone", "a"));
    of.affinity = {{{{is("disk", "ssd")}}, {}}, {{{is("disk", "nvme")}}, {}}};
    CHECK(failed_filters(of, labelled({{"zone", "a"}, {"disk", "nvme"}})) == node_filter_none);
    CHECK(failed_filters(of, labelled({{"zone", "a"}, {"disk", "hdd"}})) == node_filter_selector);
    CHECK(failed_filters(of, labelled({{"zone", "b"}, {"disk", "ssd"}})) == node_filter_selector);
}

TEST_CASE("a required affinity without terms, or with an empty one, matches no node") {
    constraints of;
    of.affinity.emplace();
    CHECK(failed_filters(of, node<1>{}) == node_filter_selector);
    of.affinity->push_back({});
    CHECK(failed_filters(of, node<1>{}) == node_filter_selector);
}

TEST_CASE("a node must reach every volume, and unbound volumes are a separate obstacle") {
    constraints of;
    of.volumes.push_back({{{{{is("zone", "a")}}, {}}, {{{is("zone", "b")}}, {}}}, true});
    CHECK(failed_filters(of, labelled({{"zone", "b"}})) == node_filter_none);
    CHECK(failed_filters(of, labelled({{"zone", "c"}})) == node_filter_volume);
    of.volumes.push_back({{{{{is("disk", "ssd")}}, {}}}, false});
    CHECK(failed_filters(of, labelled({{"zone", "b"}})) == node_filter_unbound_volume);
    CHECK(failed_filters(of, node<1>{}) == (node_filter_volume | node_filter_unbound_volume));
    CHECK(failed_filters(of, labelled({{"zone", "a"}, {"disk", "ssd"}})) == node_filter_none);
    of.volumes.push_back({{}, true});
    CHECK(failed_filters(of, labelled({{"zone", "a"}, {"disk", "ssd"}})) == node_filter_volume);
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
    CHECK(failed_filters(of, node<1>{}) == node_filter_none);
    CHECK(preference(of, node<1>{}) == 0);
    CHECK(preference(of, labelled({{"zone", "a"}})) == 50);
    CHECK(preference(of, labelled({{"zone", "a"}, {"disk", "ssd"}})) == 57);
    const node<1> avoided = tainted("old", taint_effect::prefer_no_schedule);
    CHECK(failed_filters(of, avoided) == node_filter_none);
    CHECK(preference(of, avoided) == -100);
    of.tolerations.push_back({});
    CHECK(preference(of, avoided) == 0);
}

} // namespace

} // namespace vocabulary_constraints_test
