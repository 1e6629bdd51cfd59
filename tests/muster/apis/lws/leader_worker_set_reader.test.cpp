// SPDX-License-Identifier: Apache-2.0
#include <muster/apis/lws/leader_worker_set_reader.hpp>

#include <string>

#include <doctest/doctest.h>

#include <muster/job_fixture.hpp>

namespace codec_leader_worker_set_reader_test {

using namespace muster_job_fixture;

namespace {

const std::string worker = "workerTemplate: {spec: {containers: [{name: w}]}}";

std::string set(const std::string& pods, const std::string& fields = {},
                const std::string& annotations = {}) {
    return "apiVersion: leaderworkerset.x-k8s.io/v1\nkind: LeaderWorkerSet\nmetadata: {name: l, "
           "namespace: ns, annotations: {" +
           annotations + "}}\nspec:\n  leaderWorkerTemplate: {" + pods + ", " + worker + "}\n" +
           fields;
}

read_result read(const std::string& text) {
    return read_job(read_leader_worker_set, text);
}

std::string tree(const std::string& text) {
    const auto made = read(text);
    CAPTURE(made.findings);
    REQUIRE(!made.gangs.empty());
    return tree_text(made.gangs[0].gang.tree);
}

} // namespace

TEST_CASE("each group of a LeaderWorkerSet is a gang of its size, with a leader and workers") {
    const auto made = read(set("size: 3", "  replicas: 2\n"));
    CHECK(made.findings.empty());
    REQUIRE(made.gangs.size() == 2);
    CHECK(made.gangs[0].gang.name == "l-group-0");
    CHECK(made.gangs[1].gang.name == "l-group-1");
    CHECK(tree_text(made.gangs[1].gang.tree) == "3 (leader 1, workers 2)");
    CHECK(pod_names(made.gangs[1].pods) == "l-1 l-1-1 l-1-2");
}

TEST_CASE("a group of one is its leader") {
    CHECK(tree(set("size: 1")) == "1");
    CHECK(read(set("size: 1")).gangs.at(0).pods.size() == 1);
}

TEST_CASE("with LeaderReady a group starts with its leader") {
    const auto made = read(set("size: 3", "  startupPolicy: LeaderReady\n"));
    CHECK(tree_text(made.gangs.at(0).gang.tree) == "1 (leader 1, workers 0)");
    CHECK(made.gangs.at(0).pods.size() == 3);
    CHECK(loss_text(made.losses).find("startup-order: LeaderWorkerSet ns/l: startupPolicy") == 0);
}

TEST_CASE("segments of a group are subgroups, the leader in the first") {
    // Five pods in twos: the workers fill two segments evenly, so the leader is one more.
    CHECK(tree(set("size: 5, subGroupPolicy: {subGroupSize: 2}")) ==
          "5 (segment-0 0 (leader 1, workers 2), segment-1 2)");
    // Four pods in twos: the leader takes one of the places.
    CHECK(tree(set("size: 4, subGroupPolicy: {subGroupSize: 2}")) ==
          "4 (segment-0 0 (leader 1, workers 1), segment-1 2)");
    // The last segment may be smaller.
    CHECK(tree(set("size: 6, subGroupPolicy: {subGroupSize: 4}")) ==
          "6 (segment-0 0 (leader 1, workers 3), segment-1 2)");
    CHECK(tree(set("size: 5, subGroupPolicy: {subGroupSize: 2, subGroupPolicyType: "
                   "LeaderExcluded}")) == "5 (leader 1, segment-0 2, segment-1 2)");
    CHECK(tree(set("size: 5", {}, "kai.scheduler/segment-size: \"2\"")) ==
          "5 (segment-0 0 (leader 1, workers 2), segment-1 2)");
}

TEST_CASE("the pods of a segment stand below its leaf, and say which it is") {
    const auto made = read(set("size: 5, subGroupPolicy: {subGroupSize: 2}"));
    const auto& pods = made.gangs.at(0).pods;
    CHECK(pod_names(pods) == "l-0 l-0-1 l-0-2 l-0-3 l-0-4");
    CHECK(made.gangs.at(0).gang.tree[pods[3].leaf].name == "segment-1");
    CHECK(made.gangs.at(0).gang.tree[pods[2].leaf].name == "workers");
    CHECK(at(pods[3].document, "metadata|labels|leaderworkerset.sigs.k8s.io/subgroup-index") ==
          "1");
}

TEST_CASE("exclusive topologies put groups and segments into one domain each") {
    const auto made = read(set("size: 5, subGroupPolicy: {subGroupSize: 2}", {},
                               "leaderworkerset.sigs.k8s.io/exclusive-topology: block, "
                               "leaderworkerset.sigs.k8s.io/subgroup-exclusive-topology: rack"));
    const auto& tree = made.gangs.at(0).gang.tree;
    REQUIRE(tree[0].together);
    CHECK(tree[0].together->within.levels.at(0) == "block");
    REQUIRE(tree[1].together);
    CHECK(tree[1].together->within.levels.at(0) == "rack");
    CHECK(made.losses.empty());
    const std::string first = boost::json::serialize(made.gangs[0].pods.at(0).document);
    CHECK(first.find("\"topologyKey\":\"block\"") != std::string::npos);
    CHECK(first.find("\"topologyKey\":\"rack\"") != std::string::npos);
    const std::string second = boost::json::serialize(made.gangs[0].pods.at(1).document);
    CHECK(second.find("\"topologyKey\":\"block\"") == std::string::npos);
    CHECK(second.find("\"topologyKey\":\"rack\"") != std::string::npos);
}

TEST_CASE("a placement policy puts each group into one domain, alone there or not") {
    const auto with = [](const std::string& type) {
        return read(
            set("size: 2", "  groupPlacementPolicy: {type: " + type + ", topologyKey: pool}\n"));
    };
    for (const std::string type : {"Colocated", "Exclusive"}) {
        const auto made = with(type);
        REQUIRE(made.gangs.at(0).gang.tree[0].together);
        CHECK(made.gangs[0].gang.tree[0].together->within.levels.at(0) == "pool");
        CHECK(made.losses.empty());
        CHECK((boost::json::serialize(made.gangs[0].pods.at(0).document).find("podAntiAffinity") !=
               std::string::npos) == (type == "Exclusive"));
    }
    CHECK(with("Near").findings.find("groupPlacementPolicy.type: \"Near\" is no type") !=
          std::string::npos);
}

TEST_CASE("pods of a LeaderWorkerSet know their group, their index and their leader") {
    const auto made = read(set("size: 2, leaderTemplate: {spec: {containers: [{name: lead}], "
                               "initContainers: [{name: i}]}}",
                               "  replicas: 2\n"));
    const auto& leader = made.gangs.at(1).pods.at(0).document;
    const auto& other = made.gangs.at(1).pods.at(1).document;
    CHECK(at(leader, "spec|containers|0|name") == "lead");
    CHECK(at(leader, "spec|initContainers|0|env|1|value") == "2");
    CHECK(at(other, "spec|containers|0|name") == "w");
    CHECK(env_of(other, "LWS_LEADER_ADDRESS") == "l-1.l.ns");
    CHECK(env_of(other, "LWS_GROUP_SIZE") == "2");
    CHECK(env_of(other, "LWS_WORKER_INDEX") == "1");
    CHECK(at(other, "metadata|labels|leaderworkerset.sigs.k8s.io/name") == "l");
    CHECK(at(other, "metadata|labels|leaderworkerset.sigs.k8s.io/group-index") == "1");
    CHECK(at(other, "metadata|labels|leaderworkerset.sigs.k8s.io/worker-index") == "1");
    CHECK(at(other, "metadata|annotations|leaderworkerset.sigs.k8s.io/size") == "2");
    CHECK(at(other, "metadata|annotations|leaderworkerset.sigs.k8s.io/leader-name") == "l-1");
    CHECK(at(leader, "metadata|ownerReferences|0|name") == "l");
    CHECK(at(other, "metadata|ownerReferences|0|name") == "l-1");
    CHECK(at(other, "spec|subdomain") == "l");
    const auto unique =
        read(set("size: 2", "  networkConfig: {subdomainPolicy: UniquePerReplica}\n"));
    CHECK(env_of(unique.gangs.at(0).pods.at(1).document, "LWS_LEADER_ADDRESS") == "l-0.l-0.ns");
}

TEST_CASE("how often groups may restart is the controller's affair") {
    const auto made = read(set("size: 2, maxGroupRestarts: 3"));
    CHECK(made.findings == "");
    CHECK(loss_text(made.losses).find("maxGroupRestarts: the job's own controller") !=
          std::string::npos);
}

TEST_CASE("a DisaggregatedSet is a LeaderWorkerSet per role") {
    const std::string inner = "leaderWorkerTemplate: {size: 2, " + worker + "}";
    const auto made = read_job(
        read_disaggregated_set,
        "apiVersion: disaggregatedset.x-k8s.io/v1\nkind: DisaggregatedSet\nmetadata: {name: d, "
        "namespace: ns}\nspec: {roles: [{name: prefill, spec: {replicas: 2, " +
            inner + "}}, {name: decode, spec: {" + inner + "}}]}\n");
    CHECK(made.findings.empty());
    REQUIRE(made.gangs.size() == 3);
    CHECK(made.gangs[1].gang.name == "d-prefill-group-1");
    CHECK(made.gangs[2].gang.name == "d-decode-group-0");
    CHECK(made.gangs[2].gang.owners.at(0).name == "d");
    CHECK(pod_names(made.gangs[2].pods) == "d-decode-0 d-decode-0-1");
}

TEST_CASE("a role of a DisaggregatedSet adds labels and annotations to the set's, and wins") {
    const auto made = read_job(
        read_disaggregated_set,
        "apiVersion: disaggregatedset.x-k8s.io/v1\nkind: DisaggregatedSet\nmetadata: {name: d, "
        "labels: {kai.scheduler/queue: q, a: set}, annotations: {b: set}}\nspec: {roles: [{name: "
        "p, metadata: {labels: {a: role, c: role}, annotations: {d: role}}, spec: "
        "{leaderWorkerTemplate: {" +
            worker + "}}}, {name: r, spec: {leaderWorkerTemplate: {" + worker + "}}}]}\n");
    CHECK(made.findings.empty());
    const auto& of_role = made.gangs.at(0).gang;
    CHECK(of_role.queue == "q");
    CHECK(of_role.labels == boost::json::object{{"a", "role"}, {"c", "role"}});
    CHECK(of_role.annotations == boost::json::object{{"b", "set"}, {"d", "role"}});
    CHECK(made.gangs.at(1).gang.labels == boost::json::object{{"a", "set"}});
}

TEST_CASE("slices of a DisaggregatedSet are copies of all its roles") {
    const auto read_set = [](const std::string& spec) {
        return read_job(read_disaggregated_set,
                        "apiVersion: disaggregatedset.x-k8s.io/v1\nkind: DisaggregatedSet\n"
                        "metadata: {name: d, namespace: ns}\nspec: {" +
                            spec +
                            "roles: [{name: p, scaling: {mode: External}, spec: "
                            "{leaderWorkerTemplate: {" +
                            worker + "}}}, {name: q, spec: {leaderWorkerTemplate: {" + worker +
                            "}}}]}\n");
    };
    const auto made = read_set("slices: 2, placementPolicy: {type: ExclusiveSlice, topology: z}, ");
    CHECK(made.findings.empty());
    REQUIRE(made.gangs.size() == 4);
    CHECK(made.gangs[0].gang.name == "d-0-p-group-0");
    CHECK(made.gangs[3].gang.name == "d-1-q-group-0");
    CHECK(made.gangs[3].gang.owners.at(0).name == "d");
    CHECK(pod_names(made.gangs[3].pods) == "d-1-q-0");
    const auto& pod = made.gangs[3].pods.at(0).document;
    CHECK(at(pod, "metadata|labels|disaggregatedset.x-k8s.io/name") == "d");
    CHECK(at(pod, "metadata|labels|disaggregatedset.x-k8s.io/slice") == "1");
    CHECK(at(pod, "metadata|labels|disaggregatedset.x-k8s.io/role") == "q");
    REQUIRE(made.losses.size() == 2);
    CHECK(made.losses[0].detail ==
          "placementPolicy ExclusiveSlice: the roles of a slice stand in one domain of z, alone "
          "there");
    CHECK(made.losses[1].detail.find("scaling") != std::string::npos);
    CHECK(read_set("slices: 0, ").findings.find("spec.slices: found 0") != std::string::npos);
    CHECK(read_set("placementPolicy: {type: Near}, ").findings.find("\"Near\" is no type") !=
          std::string::npos);
}

TEST_CASE("a LeaderWorkerSet's scheduling says whose pods start together") {
    const auto gangs = [](const std::string& scheduling) {
        const auto made =
            read(set("size: 3", "  replicas: 2\n  scheduling: {" + scheduling + "}\n"));
        CHECK(made.findings == "");
        std::string text;
        for (const auto& each : made.gangs) {
            CHECK(each.gang.origin == target::workload_1_37);
            text += each.gang.name + " " + tree_text(each.gang.tree) + " | " +
                    pod_names(each.pods) + "\n";
        }
        return text;
    };
    const std::string replicas = "l-group-0 3 (leader 0, workers 0) | l-0 l-0-1 l-0-2\n"
                                 "l-group-1 3 (leader 0, workers 0) | l-1 l-1-1 l-1-2\n";
    CHECK(gangs("") == replicas);
    CHECK(gangs("replica: {}") == replicas);
    CHECK(gangs("replica: {schedulingPolicy: {gang: {}}}") == replicas);
    CHECK(gangs("replica: {schedulingPolicy: {basic: {}}}")
              .starts_with("l-group-0 1 (leader 0, workers 0) | "));
    CHECK(gangs("schedulingPolicy: {gang: {}}") ==
          "l 6 (leader 0, workers 0) | l-0 l-0-1 l-0-2 l-1 l-1-1 l-1-2\n");
    CHECK(gangs("schedulingConstraints: {topology: [{key: rack}]}").starts_with("l 1 (leader 0, "));
    CHECK(gangs("replica: {leader: {}, worker: {schedulingPolicy: {gang: {minCount: 2}}}}")
              .starts_with("l-group-0-leader 1 | l-0\nl-group-0-workers 2 | l-0-1 l-0-2\n"));
}

TEST_CASE("levels of a LeaderWorkerSet's scheduling say where, and what is evicted together") {
    const auto made = read(
        set("size: 2", "  scheduling: {replica: {schedulingConstraints: {topology: [{key: rack}]}, "
                       "disruptionMode: {all: {}}, resourceClaims: [{name: c, "
                       "resourceClaimTemplateName: t}]}}\n"));
    REQUIRE(made.gangs.size() == 1);
    CHECK(made.gangs[0].gang.tree[0].together->within.levels.at(0) == "rack");
    REQUIRE(made.gangs[0].gang.own_words.size() == 2);
    CHECK(made.gangs[0].gang.own_words[0].field == "disruptionMode");
    CHECK(made.gangs[0].gang.own_words[1].field == "resourceClaims");
}

TEST_CASE("bad LeaderWorkerSets are refused at the field that is wrong") {
    const auto refused = [](const std::string& text, const std::string& finding) {
        const auto made = read(text);
        CAPTURE(made.findings);
        CHECK(made.findings.find(finding) != std::string::npos);
    };
    refused(set("size: 0"), "spec.leaderWorkerTemplate.size: found 0");
    refused(set("size: 2, subGroupPolicy: {subGroupSize: 3}"),
            "subGroupSize: 3 pods of a segment are more than the group has (expected at most 2)");
    refused(set("size: 4, subGroupPolicy: {subGroupSize: 2, subGroupPolicyType: LeaderExcluded}"),
            "the workers do not fill segments of 2 evenly");
    const std::string levels =
        "  scheduling: {schedulingPolicy: {gang: {}}, replica: {leader: {}}}\n";
    refused(set("size: 2", levels), "spec.scheduling: it speaks of several levels of groups");
    refused(set("size: 2", "  startupPolicy: LeaderReady\n  scheduling: {}\n"),
            "spec.scheduling: a gang of leader and workers waits forever");
    refused(set("size: 2", "  startupPolicy: Never\n"),
            "spec.startupPolicy: \"Never\" is no policy");
    refused(set("size: 2", {}, "kai.scheduler/segment-size: x"),
            "kai.scheduler/segment-size is not a size");
    refused(set("size: 2000000000", "  replicas: 2000000000\n"),
            "the job has more than 1000000 pods");
}

} // namespace codec_leader_worker_set_reader_test
