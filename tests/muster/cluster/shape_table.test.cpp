// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <muster/cluster/shape_table.hpp>

#include "../builders.hpp"

namespace cluster_shape_table_test {

namespace {

using namespace builders;
using namespace muster;

struct fixture {
    shape_table<traits::width> shapes;
    bool fresh = false;

    shape_index acquire(std::int64_t cpus, std::size_t where) {
        return shapes.acquire(units(cpus), constraint_index{where}, fresh);
    }
};

TEST_CASE_FIXTURE(fixture, "equal requests under the same constraints are one shape") {
    const shape_index one = acquire(2, 0);
    CHECK(fresh);
    CHECK(acquire(2, 0) == one);
    CHECK_FALSE(fresh);
    CHECK(shapes[one].users == 2);
    CHECK(shapes[one].request == units(2));
    CHECK(shapes[one].where == constraint_index{0});
    CHECK(shapes.size() == 1);
}

TEST_CASE_FIXTURE(fixture, "another request, or other constraints, are another shape") {
    const shape_index one = acquire(2, 0);
    const shape_index larger = acquire(3, 0);
    CHECK(fresh);
    const shape_index elsewhere = acquire(2, 1);
    CHECK(fresh);
    CHECK(larger != one);
    CHECK(elsewhere != one);
    CHECK(elsewhere != larger);
    CHECK(shapes[larger].stamp != shapes[one].stamp);
    CHECK(shapes[elsewhere].where == constraint_index{1});
}

TEST_CASE_FIXTURE(fixture, "a shape goes with its last user, and whoever comes next is another") {
    const shape_index one = acquire(2, 0);
    static_cast<void>(acquire(2, 0));
    const std::uint64_t stamp = shapes[one].stamp;
    CHECK_FALSE(shapes.release(one));
    CHECK(shapes[one].users == 1);
    CHECK(shapes.release(one));
    const shape_index next = acquire(5, 3);
    CHECK(fresh);
    CHECK(next == one);
    CHECK(shapes.size() == 1);
    CHECK(shapes[next].stamp != stamp);
    CHECK(shapes[next].request == units(5));
    CHECK(shapes[next].users == 1);
}

TEST_CASE_FIXTURE(fixture, "the same shape that comes again is told apart from what it was") {
    const shape_index one = acquire(2, 0);
    const std::uint64_t stamp = shapes[one].stamp;
    CHECK(shapes.release(one));
    const shape_index again = acquire(2, 0);
    CHECK(fresh);
    CHECK(shapes[again].stamp != stamp);
}

TEST_CASE("pods share a shape in a state, and it goes with the last of them") {
    cluster known;
    ok(known.upsert_gang("g", gang_of(1)));
    add_members(known, "g", 3, asking(2));
    const shape_index shared = known[known.find_pod("g-0")->index].shape;
    CHECK(known.shapes()[shared].users == 3);
    CHECK(known[known.find_pod("g-2")->index].shape == shared);
    ok(known.upsert_pod("g-1", "g", asking(3)));
    CHECK(known.shapes()[shared].users == 2);
    CHECK(known.request(known.find_pod("g-1")->index) == units(3));
    ok(known.remove_pod("g-0"));
    ok(known.remove_pod("g-2"));
    CHECK(known.shapes()[shared].users == 0);
    ok(known.upsert_pod("g-1", "g", asking(3)));
    CHECK(known.shapes()[known[known.find_pod("g-1")->index].shape].users == 1);
}

TEST_CASE("a shape holds its constraints once, however many pods have it") {
    cluster known;
    ok(known.upsert_gang("g", gang_of(1)));
    cluster::pod_type pod = asking(2);
    pod.where.selector = label_is("zone", "a");
    add_members(known, "g", 3, pod);
    const auto& shape = known.shapes()[known[known.find_pod("g-0")->index].shape];
    CHECK(known.constraint_sets()[shape.where].users == 1);
    pod.request = units(4);
    ok(known.upsert_pod("g-0", "g", pod));
    const auto& other = known.shapes()[known[known.find_pod("g-0")->index].shape];
    const constraint_index where = other.where;
    CHECK(known.constraint_sets()[where].users == 2);
    for (const char* name : {"g-0", "g-1", "g-2"})
        ok(known.remove_pod(name));
    CHECK(known.constraint_sets()[where].users == 0);
}

} // namespace

} // namespace cluster_shape_table_test
