// SPDX-License-Identifier: Apache-2.0
#include <muster/serve/stored_workloads.hpp>

#include <string>

#include <doctest/doctest.h>

#include "asking.hpp"

namespace api_server_test {

TEST_CASE("a workload without a controller gets one event, when it is created") {
    asking server;
    stored_workloads workloads(server.store);
    REQUIRE(server.post("/apis/batch/v1/namespaces/default/jobs", R"({"metadata":{"name":"j"}})")
                .code == 201);
    REQUIRE(server.pod("p").code == 201);
    for (int turn = 0; turn < 2; ++turn)
        workloads.step();
    REQUIRE(server.merge("/apis/batch/v1/namespaces/default/jobs/j", R"({"spec":{"suspend":true}})")
                .code == 200);
    workloads.step();
    const answer events = server.get("/api/v1/namespaces/default/events");
    const json::array& found = *array_at(events.body, {"items"});
    REQUIRE(found.size() == 1);
    CHECK(text_at(found[0].get_object(), {"reason"}) == "NoController");
    CHECK(text_at(found[0].get_object(), {"involvedObject", "kind"}) == "Job");
    CHECK(text_at(found[0].get_object(), {"involvedObject", "name"}) == "j");
}

} // namespace api_server_test
