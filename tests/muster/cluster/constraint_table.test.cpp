// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstddef>
#include <vector>

#include <muster/cluster/constraint_table.hpp>
#include <muster/cluster/records.hpp>
#include <muster/vocabulary/traits.hpp>

namespace cluster_constraint_table_test {

namespace {

using namespace muster;
using record = node_record<1>;

record in_zone(const char* zone) {
    record made;
    made.present = true;
    made.spec.labels = {{"zone", zone}};
    return made;
}

constraints to_zone(const char* zone) {
    constraints made;
    made.selector.requirements.push_back({"zone", label_operator::in, {zone}});
    return made;
}

struct fixture {
    std::vector<record> nodes{in_zone("a"), in_zone("b")};
    constraint_table table;

    constraint_index acquire(const constraints& value) {
        return table.acquire(value, nodes.size(),
                             [this](std::size_t at) -> const record& { return nodes[at]; });
    }
};

TEST_CASE_FIXTURE(fixture, "a set of constraints says of every node what stands between") {
    const auto& row = table[acquire(to_zone("a"))];
    CHECK(row.failed_filters[0] == node_filter_none);
    CHECK(row.failed_filters[1] == node_filter_selector);
}

TEST_CASE_FIXTURE(fixture, "equal constraints are one set, different ones are two") {
    const auto first = acquire(to_zone("a"));
    CHECK(acquire(to_zone("a")) == first);
    CHECK(acquire(to_zone("b")) != first);
    CHECK(table[first].users == 2);
}

TEST_CASE_FIXTURE(fixture, "a set lives until its last user, and its place is used again") {
    const auto first = acquire(to_zone("a"));
    static_cast<void>(acquire(to_zone("a")));
    table.release(first);
    CHECK(acquire(to_zone("b")) != first);
    table.release(first);
    CHECK(acquire(to_zone("c")) == first);
    CHECK(table[first].value == to_zone("c"));
    CHECK(table[first].failed_filters[0] == node_filter_selector);
}

TEST_CASE_FIXTURE(fixture, "a node that changes or comes is evaluated for every set") {
    const auto index = acquire(to_zone("c"));
    nodes.at(1) = in_zone("c");
    table.node_changed(1, nodes.at(1));
    nodes.push_back(in_zone("c"));
    table.node_changed(2, nodes.at(2));
    CHECK(table[index].failed_filters[0] == node_filter_selector);
    CHECK(table[index].failed_filters[1] == node_filter_none);
    CHECK(table[index].failed_filters[2] == node_filter_none);
}

TEST_CASE_FIXTURE(fixture, "nobody may stand on an absent node, nor does anybody prefer it") {
    constraints liking = to_zone("a");
    liking.preferred.push_back({5, {to_zone("a").selector, {}}});
    const auto index = acquire(liking);
    CHECK(table[index].preference[0] == 5);
    nodes.at(0).present = false;
    table.node_changed(0, nodes.at(0));
    CHECK(table[index].failed_filters[0] == node_filter_absent_node);
    CHECK(table[index].preference[0] == 0);
}

} // namespace

} // namespace cluster_constraint_table_test
