// SPDX-License-Identifier: Apache-2.0
#include <support/memory_client.hpp>

#include <string>

#include <doctest/doctest.h>

#include <muster/testing/cluster_conformance.hpp>
#include <support/memory_world.hpp>

namespace adapter_memory_client_test {

using namespace muster;
using namespace muster::adapter;

using world = memory_world<memory_client<4>>;
static_assert(testing::conformance_world<world>);

TEST_CASE("a client of a server in memory is a cluster") {
    for (const auto& rule : testing::cluster_conformance<world>::rules())
        for (const bool elects : {false, true}) {
            CAPTURE(rule.name);
            CAPTURE(elects);
            world fresh(election_options{elects});
            for (const std::string& wrong : testing::cluster_conformance<world>::check(rule, fresh))
                FAIL_CHECK(wrong);
        }
}

} // namespace adapter_memory_client_test
