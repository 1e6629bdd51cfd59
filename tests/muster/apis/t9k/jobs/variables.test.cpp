// SPDX-License-Identifier: Apache-2.0
#include <muster/apis/t9k/jobs/variables.hpp>

#include <optional>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include "muster/t9k_jobs.hpp"

namespace translate_t9k_variables_test {

using namespace muster::translate;
using muster_test::t9k_input;
using muster_test::t9k_of;

namespace {

std::string filled(std::string_view text) {
    return substitute(text, [](std::string_view name) -> std::optional<std::string> {
        if (name == "a")
            return "1";
        if (name == "long name")
            return "$(a)";
        return std::nullopt;
    });
}

} // namespace

TEST_CASE("each variable that is known is replaced once, all else stays") {
    CHECK(filled("") == "");
    CHECK(filled("plain") == "plain");
    CHECK(filled("$(a)") == "1");
    CHECK(filled("x$(a)y$(a)z") == "x1y1z");
    CHECK(filled("$(b)$(a)") == "$(b)1");
    CHECK(filled("$(long name)") == "$(a)");
    CHECK(filled("$") == "$");
    CHECK(filled("$$") == "$$");
    CHECK(filled("$a $( $(a") == "$a $( $(a");
    CHECK(filled("cost: 5$ $(a)") == "cost: 5$ 1");
    CHECK(filled("$()") == "$()");
}

TEST_CASE("a pair of dollars is left for the kubelet") {
    CHECK(filled("$$(a)") == "$$(a)");
    CHECK(filled("$$$(a)") == "$$1");
    CHECK(filled("$$$$(a)") == "$$$$(a)");
}

TEST_CASE("a replica sees its type and rank, the sizes of all types, and hosts and ports") {
    const t9k_input input =
        t9k_of("GenericJob", "{service: {ports: [{name: http, port: 2222}]}, replicaSpecs: [{type: "
                             "worker, replicas: 4}, {type: ps}]}");
    const t9k_variables variables(input.job, {0, 2});
    CHECK(variables("type") == "worker");
    CHECK(variables("rank") == "2");
    CHECK(variables("replicas[worker]") == "4");
    CHECK(variables("replicas[ps]") == "1");
    CHECK(variables("service.worker[3].host") == "j-worker-3");
    CHECK(variables("service.port[http]") == "2222");
    for (const std::string_view unknown :
         {"", "Type", "replicas[chief]", "replicas[]", "replicas", "service.worker[4].host",
          "service.worker[-1].host", "service.worker[x].host", "service.worker[].host",
          "service.worker.host", "service.chief[0].host", "service.port[grpc]", "service.port[]",
          "service.", "service.].host", "service.worker[0]",
          "service.worker[99999999999999999999].host"})
        CHECK_MESSAGE(!variables(unknown), std::string(unknown));
}

TEST_CASE("without spec.service there are no hosts and ports") {
    const t9k_input input = t9k_of("GenericJob", "{replicaSpecs: [{type: worker}]}");
    const t9k_variables variables(input.job, {0, 0});
    CHECK(variables("rank") == "0");
    CHECK_FALSE(variables("service.worker[0].host"));
    CHECK_FALSE(variables("service.port[http]"));
}

TEST_CASE("hosts are named as their pods are, with the five digits too") {
    const t9k_input input = t9k_of("GenericJob", "{service: {}, replicaSpecs: [{type: worker}]}");
    t9k_options options;
    options.suffix = "8961e";
    CHECK(t9k_variables(input.job, {0, 0}, options)("service.worker[0].host") ==
          "j-8961e-worker-0");
}

} // namespace translate_t9k_variables_test
