// SPDX-License-Identifier: Apache-2.0
#include <muster/lifecycle/grove_edits.hpp>

#include <string>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <doctest/doctest.h>

namespace lifecycle_grove_edits_test {

using namespace muster::lifecycle;
using namespace muster::translate;

namespace {

grove_set set() {
    grove_set made;
    made.name_space = "ns";
    made.name = "set";
    made.cliques.resize(3);
    made.cliques[0].name = "a";
    made.cliques[1].name = "b";
    made.cliques[2].name = "c";
    made.cliques[2].starts_after = {0};
    made.cliques[2].group = 0;
    made.groups.resize(1);
    made.groups[0].name = "g";
    made.groups[0].cliques = {2};
    return made;
}

template<class Change>
std::string edited(const Change& change) {
    grove_set after = set();
    change(after);
    std::string text;
    for (const edit_fault& fault : check_edit(set(), after))
        text += fault.field + ": " + fault.message + '\n';
    return text;
}

constexpr const char* fixed = " is immutable (expected it as it was)\n";

} // namespace

TEST_CASE("numbers, templates and scaling may change") {
    CHECK(edited([](grove_set& of) {
              of.replicas = 7;
              of.update = grove_update::on_delete;
              of.priority_class = "high";
              of.termination_delay = 1;
              of.cliques[0].replicas = 9;
              of.cliques[0].scale = grove_scale{1, 9, nullptr};
              of.groups[0].replicas = 3;
          }).empty());
}

TEST_CASE("cliques and scaling groups stay who they are") {
    CHECK(edited([](grove_set& of) { of.cliques[0].name = "d"; }) ==
          "spec.template.cliques: no clique may come or go (expected those that there were)\n");
    CHECK(edited([](grove_set& of) { of.cliques.pop_back(); }) ==
          "spec.template.cliques: no clique may come or go (expected those that there were)\n");
    CHECK(edited([](grove_set& of) { of.groups.clear(); }) ==
          "spec.template.podCliqueScalingGroups: no scaling group may come or go (expected those "
          "that there were)\n");
    CHECK(edited([](grove_set& of) { of.groups[0].cliques = {1}; }) ==
          std::string("spec.template.podCliqueScalingGroups[g].cliqueNames:") + fixed);
    CHECK(edited([](grove_set& of) { of.name = "other"; }) ==
          "metadata.name: is another set's (expected an edit of the same set)\n");
}

TEST_CASE("minima, roles, order, scheduler and topology are immutable") {
    CHECK(edited([](grove_set& of) { of.cliques[0].min_available = 2; }) ==
          std::string("spec.template.cliques[a].spec.minAvailable:") + fixed);
    CHECK(edited([](grove_set& of) { of.cliques[0].role = "r"; }) ==
          std::string("spec.template.cliques[a].spec.roleName:") + fixed);
    CHECK(edited([](grove_set& of) { of.cliques[2].starts_after = {1}; }) ==
          std::string("spec.template.cliques[c].spec.startsAfter:") + fixed);
    CHECK(edited([](grove_set& of) { of.startup = grove_startup::in_order; }) ==
          std::string("spec.template.cliqueStartupType:") + fixed);
    CHECK(edited([](grove_set& of) { of.scheduler = "volcano"; }) ==
          std::string("spec.template.cliques[].spec.podSpec.schedulerName:") + fixed);
    CHECK(edited([](grove_set& of) { of.packing.required = "rack"; }) ==
          std::string("spec.template.topologyConstraint:") + fixed);
    CHECK(edited([](grove_set& of) { of.groups[0].packing.preferred = "rack"; }) ==
          std::string("spec.template.podCliqueScalingGroups[g].topologyConstraint:") + fixed);
    CHECK(edited([](grove_set& of) { of.groups[0].min_available = 2; }) ==
          std::string("spec.template.podCliqueScalingGroups[g].minAvailable:") + fixed);
}

TEST_CASE("resource claims are immutable, wherever they are shared") {
    const boost::json::array one{boost::json::object{{"name", "gpus"}, {"scope", "PerReplica"}}};
    CHECK(edited([&](grove_set& of) { of.claim_templates = &one; }) ==
          std::string("spec.template.resourceClaimTemplates:") + fixed);
    CHECK(edited([&](grove_set& of) { of.sharing = &one; }) ==
          std::string("spec.template.resourceSharing:") + fixed);
    CHECK(edited([&](grove_set& of) { of.cliques[1].sharing = &one; }) ==
          std::string("spec.template.cliques[b].resourceSharing:") + fixed);
    CHECK(edited([&](grove_set& of) { of.groups[0].sharing = &one; }) ==
          std::string("spec.template.podCliqueScalingGroups[g].resourceSharing:") + fixed);
}

TEST_CASE("cliques may change places where no order depends on it") {
    const auto swap = [](grove_set& of) {
        std::swap(of.cliques[0], of.cliques[1]);
        of.cliques[2].starts_after = {1};
    };
    CHECK(edited(swap).empty());
    grove_set before = set();
    grove_set after = set();
    before.startup = after.startup = grove_startup::in_order;
    swap(after);
    REQUIRE(check_edit(before, after).size() == 1);
    CHECK(check_edit(before, after).front().field == "spec.template.cliques");
}

} // namespace lifecycle_grove_edits_test
