// SPDX-License-Identifier: Apache-2.0
#include <muster/apis/core/reading_rules.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

#include <doctest/doctest.h>

#include <muster/cycle/cycle.hpp>
#include <muster/input/cluster.hpp>
#include <muster/input/manifests.hpp>
#include <muster/input/read_documents.hpp>

namespace codec_reading_rules_test {

using namespace muster::codec;

TEST_CASE("a version is named by its minor number, with or without v and patch") {
    for (const char* text : {"1.38", "v1.38", "1.38.0", "v1.38.12"}) {
        CAPTURE(text);
        CHECK(parse_kubernetes_version(text) == kubernetes_version{38});
    }
    CHECK(parse_kubernetes_version("1.35") == kubernetes_version{35});
    CHECK(kubernetes_version{} == kubernetes_version{37});
}

TEST_CASE("other texts, versions before 1.35 and versions after 1.38 are not versions") {
    for (const char* text : {"", "1", "1.", "1.34", "1.39", "1.99", "2.38", "1.38.", "1.38.x",
                             "1.38-alpha", " 1.38", "1.-38", "-1.38", "1.99999999999", "latest"}) {
        CAPTURE(text);
        CHECK_FALSE(parse_kubernetes_version(text));
    }
}

TEST_CASE("an empty spread selector selects all pods from 1.38 on") {
    CHECK_FALSE(kubernetes_version{37}.empty_spread_selects_all());
    CHECK(kubernetes_version{38}.empty_spread_selects_all());
}

TEST_CASE("quantities beyond int64 saturate at every version: such a request fits no node") {
    const auto answer = [](std::int32_t minor, const std::string& requested,
                           const std::string& allocatable) {
        diagnostics out;
        const auto documents = read_documents(
            "f",
            "apiVersion: v1\nkind: Node\nmetadata: {name: node-a}\nstatus: {allocatable: {pods: 9, "
            "memory: " +
                allocatable +
                "}}\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: "
                "[{name: c, resources: {requests: {memory: " +
                requested + "}}}]}\n",
            out);
        manifest_options options;
        options.rules.kubernetes.minor = minor;
        const manifests objects = read_manifests(documents, options, out);
        std::string made;
        if (auto made_cluster = make_cluster(objects, {}, out)) {
            auto& cluster = *made_cluster;
            for (const muster::decision& each : muster::cycle(cluster.state, cluster.now).decisions)
                made += each.outcome.kind == muster::answer::admitted ? "admitted" : "never";
        }
        for (const diagnostic& each : out.findings())
            made += "; " + each.message;
        return made;
    };
    for (const std::int32_t minor : {35, 37, 38}) {
        CAPTURE(minor);
        // Before 1.38 Kubernetes reads them as 0, the least int64, 0 and 0.
        for (const char* requested : {"100E", "\"9223372036854775808\"", "1e30", "2000E"}) {
            CAPTURE(requested);
            CHECK(answer(minor, requested, "1Gi") == "never");
            const std::string more = answer(minor, requested, requested);
            CHECK(more.starts_with("never; "));
            CHECK(more.ends_with(" counts as 2^57, the most that a node has"));
        }
        CHECK(answer(minor, "1Gi", "100E").starts_with("admitted; "));
    }
}

} // namespace codec_reading_rules_test
