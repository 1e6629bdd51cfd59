// SPDX-License-Identifier: Apache-2.0
#include <muster/apis/ack/writer.hpp>

#include <string>

#include <doctest/doctest.h>

#include <muster/gangs/write_with.hpp>

#include "muster/gangs/gangs.hpp"

namespace translate_to_ack_test {

using namespace muster::translate;
using namespace translate_tests;

namespace {

written to_ack(const gang_bundle& bundle, const write_options& options = {}) {
    return write_with(ack_writer{ack_version::v1_31}, bundle, options);
}

const std::string prefix = "pod-group.scheduling.sigs.k8s.io/";

} // namespace

TEST_CASE("ACK's labels stand on every pod, the minimum as a string") {
    gang_bundle made = gang("tf-smoke-gpu", 5);
    add(made, "ps", 0, 1);
    add(made, "worker", 0, 4);
    for (const ack_version version : {ack_version::v1_30, ack_version::v1_31}) {
        const written out = write_with(ack_writer{version}, made);
        CHECK(out.objects.size() == 5);
        for (std::size_t at = 0; at < 5; ++at)
            CHECK(
                metadata(out, "Pod", at).at("labels") ==
                json("{'" + prefix + "name': 'tf-smoke-gpu', '" + prefix + "min-available': '5'}"));
        CHECK(losses(out) == "");
        CHECK(violations(out) == "");
    }
}

TEST_CASE("ACK's gang group keeps minima of roles that one gang would lose") {
    const written out = to_ack(master_and_workers());
    CHECK(losses(out) == "");
    CHECK(violations(out) == "");
    const std::string groups = "'annotations': {'gang.scheduling.koordinator.sh/groups': "
                               "'[\\\"ns/train-master\\\",\\\"ns/train-worker\\\"]'}";
    CHECK(metadata(out, "Pod", 4) ==
          json("{'name': 'train-worker-3', 'namespace': 'ns', 'labels': {'" + prefix +
               "name': 'train-worker', '" + prefix + "min-available': '3'}, " + groups + "}"));
}

TEST_CASE("as one gang ACK keeps the total and loses minima of roles") {
    write_options one;
    one.ack_gang_groups = false;
    const written out = to_ack(master_and_workers(), one);
    CHECK(losses(out) == "role-minima");
    CHECK(metadata(out, "Pod", 4).at("labels") ==
          json("{'" + prefix + "name': 'train', '" + prefix + "min-available': '4'}"));
}

TEST_CASE("a role without a minimum cannot be in a gang group of ACK's") {
    gang_bundle made = master_and_workers();
    add(made, "tensorboard", 0, 1);
    const written out = to_ack(made);
    CHECK(losses(out) == "all-or-nothing");
    CHECK_FALSE(metadata(out, "Pod", 5).as_object().contains("labels"));
}

TEST_CASE("without pods ACK's PodGroup is that of its version") {
    const gang_bundle made = gang("g", 2);
    CHECK(object(write_with(ack_writer{ack_version::v1_30}, made), "PodGroup").at("apiVersion") ==
          "scheduling.sigs.k8s.io/v1alpha1");
    CHECK(object(to_ack(made), "PodGroup") ==
          json("{'apiVersion': 'scheduling.x-k8s.io/v1alpha1', 'kind': 'PodGroup', 'metadata': "
               "{'name': 'g', 'namespace': 'ns'}, 'spec': {'minMember': 2}}"));
}

TEST_CASE("a gang group of ACK's may reach into several namespaces") {
    gang_bundle made = master_and_workers();
    made.gang.sizes[0].name_space = "other";
    made.gang.sizes[0].object = "lead";
    const written out = to_ack(made);
    CHECK(losses(out) == "");
    CHECK(metadata(out, "Pod").at("annotations").at("gang.scheduling.koordinator.sh/groups") ==
          "[\"other/lead\",\"ns/train-worker\"]");
}

TEST_CASE("ACK names are DNS subdomains of at most 63 characters") {
    gang_bundle made = gang(std::string(60, 'g'), 0);
    add(made, "master", 1, 1);
    add(made, "worker", 1, 2);
    const written out = to_ack(made);
    CHECK(losses(out) == "name");
    CHECK(violations(out) == "");
    CHECK(metadata(out, "Pod", 0).at("labels").at(prefix + "name") !=
          metadata(out, "Pod", 1).at("labels").at(prefix + "name"));
}

TEST_CASE("pods of one ACK gang have one priority") {
    gang_bundle made = gang("g", 2);
    add(made, "worker", 0, 2);
    CHECK(violations(to_ack(made)) == "");
    made.pods[1].document["spec"].as_object()["priorityClassName"] = "high";
    CHECK(violations(to_ack(made)).find("spec.priorityClassName") != std::string::npos);
}

TEST_CASE("ACK has a match policy, and no mode") {
    gang_bundle made = gang("g", 1);
    add(made, "worker", 0, 1);
    made.gang.own_words = {{gang_api::coscheduling, loss_kind::matching,
                            "gang.scheduling.koordinator.sh/match-policy", "only-waiting"}};
    CHECK(losses(to_ack(made)) == "");
    CHECK(metadata(to_ack(made), "Pod").at("labels").at(prefix + "match-policy") == "only-waiting");
    made.gang.own_words[0].field = "gang.scheduling.koordinator.sh/mode";
    CHECK(losses(to_ack(made)) == "matching");
}

} // namespace translate_to_ack_test
