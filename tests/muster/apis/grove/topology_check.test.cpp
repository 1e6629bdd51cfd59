// SPDX-License-Identifier: Apache-2.0
#include <muster/apis/grove/topology_check.hpp>

#include <string>

#include <doctest/doctest.h>

namespace translate_grove_topology_check_test {

using namespace muster::translate;

namespace {

std::string faults(grove_packing of_set, grove_packing of_group, grove_packing of_clique) {
    const grove_topology within{"t", {{"zone", "z"}, {"rack", "r"}, {"host", "h"}}};
    grove_set set;
    set.packing = of_set;
    set.groups.resize(1);
    set.groups[0].name = "g";
    set.groups[0].packing = of_group;
    set.cliques.resize(2);
    set.cliques[0].name = "in";
    set.cliques[0].group = 0;
    set.cliques[0].packing = of_clique;
    set.cliques[1].name = "out";
    std::string text;
    for (const grove_topology_fault& each : grove_topology_faults(set, within))
        text += each.field + ": " + each.message + '\n';
    return text;
}

} // namespace

TEST_CASE("what stands within another constraint is as narrow or narrower") {
    CHECK(faults({"t", "zone", ""}, {"", "rack", "host"}, {"", "host", ""}).empty());
    CHECK(faults({"t", "rack", ""}, {}, {"", "rack", ""}).empty());
    CHECK(faults({"t", "rack", ""}, {"", "zone", ""}, {}) ==
          "podCliqueScalingGroups[g].topologyConstraint: 'zone' is broader than 'rack' around it "
          "(expected that or narrower)\n");
    // Through a level that says nothing.
    CHECK(
        faults({"t", "rack", ""}, {}, {"", "", "zone"}) ==
        "cliques[in].topologyConstraint: 'zone' is broader than 'rack' around it (expected that or "
        "narrower)\n");
    // A preference binds nobody.
    CHECK(faults({"t", "", "rack"}, {"", "zone", ""}, {}).empty());
}

TEST_CASE("a domain is one of its topology's") {
    CHECK(faults({"t", "room", ""}, {}, {}) == "topologyConstraint.pack.required: 'room' is no "
                                               "domain of the topology 't' (expected one of "
                                               "zone rack host)\n");
}

} // namespace translate_grove_topology_check_test
