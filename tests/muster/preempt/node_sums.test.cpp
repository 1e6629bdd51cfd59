// SPDX-License-Identifier: Apache-2.0
#include <muster/preempt/node_sums.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include <muster/testing/random.hpp>

#include "crowded_queues.hpp"

namespace preempt_node_sums_test {

namespace {

using namespace muster;
using namespace builders;

using sums = detail::node_sums<traits::width>;

void check(const sums& of, const cluster& known) {
    sums::sum free{};
    sums::sum used{};
    for (std::size_t at = 0; at < known.accounts().nodes(); ++at) {
        const auto later = known.accounts().future(node_index{at});
        for (std::size_t column = 0; column < traits::width; ++column) {
            free[column] += std::max<std::int64_t>(0, later[column]);
            used[column] += known.accounts().allocatable(node_index{at})[column] - later[column];
        }
    }
    CHECK(of.free() == free);
    CHECK(of.used() == used);
}

} // namespace

TEST_CASE("sums over nodes follow pods that come, go and leave, and nodes that change") {
    testing::random draw(7);
    for (int round = 0; round < 40; ++round) {
        cluster known = crowded_queues::crowded(draw, 8, 0);
        sums of;
        of.read(known.accounts());
        check(of, known);
        for (int step = 0; step < 12; ++step) {
            const std::string number = std::to_string(draw.between(0, 9));
            const std::string pod = "r" + number + "-0";
            if (draw.percent(40))
                crowded_queues::add_some_running(known, "r" + number, draw);
            else if (draw.percent(50) && known.find_pod(pod))
                ok(known.remove_pod(pod));
            else if (draw.percent(50) && known.find_node("n" + number))
                ok(known.upsert_node("n" + number, machine(draw.between(0, 12))));
            of.read(known.accounts());
            check(of, known);
        }
        const cluster other = crowded_queues::crowded(draw, 3, 0);
        of.read(other.accounts());
        check(of, other);
        const cluster empty;
        of.read(empty.accounts());
        check(of, empty);
    }
}

TEST_CASE("sums over nodes follow one node that is read alone") {
    cluster known;
    ok(known.upsert_node("n0", machine(8)));
    ok(known.upsert_node("n1", machine(8)));
    sums of;
    of.read(known.accounts());
    add_running(known, "a", 3, "n1");
    of.read(known.accounts(), known.find_node("n1")->index);
    check(of, known);
    CHECK(of.free()[cpu.value()] == 13);
    CHECK(of.used()[cpu.value()] == 3);
}

} // namespace preempt_node_sums_test
