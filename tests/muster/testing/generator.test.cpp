// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <string>

#include <support/cases.hpp>
#include <support/generator.hpp>

namespace testing_generator_test {

using namespace muster;
using namespace muster::testing;

TEST_CASE("a seed makes the same world again, and another seed another") {
    CHECK(text(random_world(7)) == text(random_world(7)));
    CHECK(text(random_world(7)) != text(random_world(8)));
    CHECK(text(critical_world(7)) == text(critical_world(7)));
}

TEST_CASE("the generator's numbers are those of splitmix64") {
    testing::random chance(1234567);
    CHECK(chance.next() == 6457827717110365317U);
    CHECK(chance.next() == 3203168211198807973U);
}

TEST_CASE("random worlds have some of everything that bears on a decision") {
    std::string all;
    for (std::size_t number = 0; number < 400; ++number)
        all += text(random_world(case_seed(1, number)));
    for (const char* word : {"cordoned",
                             "taint(dedicated",
                             "taint(node.kubernetes.io/not-ready",
                             "taint(node.kubernetes.io/unschedulable",
                             "closed",
                             "strict",
                             "(nobody)",
                             "unknown-queue",
                             "fault 2",
                             "fault 3",
                             "of missing",
                             "terminating",
                             "gated",
                             "bound",
                             "running",
                             "succeeded",
                             "failed",
                             "nobody-knows",
                             "UNSUPPORTED",
                             "affinity()",
                             "select{",
                             "prefer ",
                             "tolerates(",
                             "port UDP",
                             "10.0.0.1",
                             " of 1",
                             "name:"})
        CHECK_MESSAGE(all.find(word) != std::string::npos, word);
}

TEST_CASE("a world is shrunk to what its fault needs") {
    const world_check has_a_closed_queue = [](const world& of) {
        for (const auto& [key, spec, parent] : of.queues)
            if (spec.closed)
                return "closed: " + key;
        return std::string();
    };
    std::uint64_t seed = 0;
    while (has_a_closed_queue(random_world(seed)).empty())
        ++seed;
    const world small = shrink(random_world(seed), has_a_closed_queue);
    CHECK(small.queues.size() == 1);
    CHECK(small.nodes.empty());
    CHECK(small.gangs.empty());
    CHECK(small.pods.empty());
}

} // namespace testing_generator_test
