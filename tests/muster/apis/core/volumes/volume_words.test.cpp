// SPDX-License-Identifier: Apache-2.0
#include <muster/apis/core/volumes/volume_words.hpp>
#include <muster/apis/core/volumes/volume_zones.hpp>

#include <cstddef>
#include <initializer_list>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

namespace codec_volume_words_test {

using namespace muster::codec;
using muster::label_operator;
using muster::label_requirement;
using muster::node_term;

namespace {

node_term of_label(const std::string& key, std::vector<std::string> values) {
    node_term term;
    term.labels.requirements.push_back({key, label_operator::in, std::move(values)});
    return term;
}

std::string reach_text(std::vector<node_term> terms, const std::string& verb = {}) {
    std::vector<muster::node<1>> nodes(2);
    nodes[0].labels.set("topology.kubernetes.io/zone", "a");
    nodes[1].labels.set("topology.kubernetes.io/zone", "b");
    volume_effects effects;
    effects.reach.push_back({std::move(terms), verb.empty()});
    effects.reach_of.push_back("claim c (volume p)");
    if (!verb.empty())
        effects.verbs.emplace(0, verb);
    return volume_reach_text<1>({{"x", &effects}}, {&nodes[0], &nodes[1]});
}

volume_effects user_of(std::initializer_list<std::pair<std::string, std::string>> marks) {
    volume_effects made;
    made.labels = marks;
    return made;
}

} // namespace

TEST_CASE("the reach of a volume names its zone") {
    CHECK(reach_text({of_label("topology.kubernetes.io/zone", {"a"})}) ==
          "claim c (volume p) is in zone a: 1 of 2 nodes");
    CHECK(reach_text({of_label("topology.kubernetes.io/zone", {"d", "c"})}) ==
          "claim c (volume p) is in zones c, d: 0 of 2 nodes");
}

TEST_CASE("the zone of a volume may be given by its labels") {
    volume_object volume;
    volume.metadata.labels = {{"failure-domain.beta.kubernetes.io/zone", "b"}};
    CHECK(reach_text(*zone_terms(volume)) == "claim c (volume p) is in zone b: 1 of 2 nodes");
    volume.metadata.labels = {{"topology.kubernetes.io/region", "r"}};
    CHECK(reach_text(*zone_terms(volume)) == "claim c (volume p) is in region r: 0 of 2 nodes");
}

TEST_CASE("a volume with labels of a zone and a region is in both") {
    volume_object volume;
    volume.metadata.labels = {{"topology.kubernetes.io/zone", "a"},
                              {"topology.kubernetes.io/region", "r"}};
    CHECK(reach_text(*zone_terms(volume)) ==
          "claim c (volume p) is in zone a of region r: 0 of 2 nodes");
    volume.metadata.labels.set("failure-domain.beta.kubernetes.io/region", "r__s");
    CHECK(reach_text(*zone_terms(volume)) ==
          "claim c (volume p) is in zone a of regions r, s: 0 of 2 nodes");
}

TEST_CASE("a claim that is not bound is nowhere yet") {
    CHECK(reach_text({of_label("topology.kubernetes.io/zone", {"a"})}, "can only be provisioned") ==
          "claim c (volume p) can only be provisioned in zone a: 1 of 2 nodes");
    CHECK(reach_text({of_label("rack", {"r"})}, "can only be provisioned") ==
          "claim c (volume p): 0 of 2 nodes");
}

TEST_CASE("the reach of a volume of a node names the node") {
    CHECK(reach_text({of_label("kubernetes.io/hostname", {"h"})}) ==
          "claim c (volume p) is on node h: 0 of 2 nodes");
    CHECK(reach_text({of_label("kubernetes.io/hostname", {"h4", "h3", "h2", "h1"}),
                      of_label("kubernetes.io/hostname", {"h5"})}) ==
          "claim c (volume p) is on nodes h1, h2, h3 (+2 nodes): 0 of 2 nodes");
}

TEST_CASE("a volume that some node reaches by another label is in no zone") {
    CHECK(reach_text({of_label("topology.kubernetes.io/zone", {"c"}), of_label("rack", {"r"})}) ==
          "claim c (volume p): 0 of 2 nodes");
}

TEST_CASE("the reach of a resource claim names the nodes, if they are few") {
    const auto text = [](std::vector<std::string> names, std::size_t count) {
        std::vector<muster::node<1>> nodes(count);
        std::vector<const muster::node<1>*> all;
        for (std::size_t at = 0; at < count; ++at) {
            nodes[at].name = "n" + std::to_string(at);
            nodes[at].labels.set("topology.kubernetes.io/zone", "a");
            all.push_back(&nodes[at]);
        }
        volume_effects effects;
        node_term term;
        term.name.push_back({"metadata.name", label_operator::in, std::move(names)});
        effects.reach.push_back({{term}, true, true});
        effects.reach_of.push_back("resource claim r");
        CHECK(only_devices_restrict({{"x", &effects}}));
        return volume_reach_text<1>({{"x", &effects}}, all);
    };
    CHECK(text({"n1"}, 2) == "resource claim r is available on 1 of 2 nodes (n1)");
    CHECK(text({"gone"}, 2) == "resource claim r is available on none of the 2 nodes");
    CHECK(text({"n0", "n1", "n2", "n3"}, 5) == "resource claim r is available on 4 of 5 nodes");
    volume_effects both;
    both.reach = {{{of_label("rack", {"r"})}, true}, {{of_label("rack", {"r"})}, true, true}};
    CHECK_FALSE(only_devices_restrict({{"x", &both}}));
}

TEST_CASE("a shortage of storage names the claims of its class alone") {
    const std::string kind = muster::storage_kinds::volumes_of("local");
    volume_effects user;
    user.amounts[kind] = 1;
    user.unbound = {{"local", {"b", "a"}}, {"net", {"c"}}};
    volume_effects other;
    other.unbound = {{"local", {"d"}}};
    CHECK(unbound_claims_text({{"x", &user}, {"y", &other}}, kind) == "a, b");
    CHECK(unbound_claims_text({{"x", &user}}, "cpu").empty());
    user.unbound["local"] = {"a", "b", "e", "f"};
    CHECK(unbound_claims_text({{"x", &user}}, kind) == "a, b, e (+1 claim)");
}

TEST_CASE("claims for which pods go to one domain are named by its label") {
    const auto user = [](const std::string& claim, const std::string& label) {
        volume_effects made;
        muster::affinity_term term;
        term.pods.labels.requirements.push_back({"claim:ns/" + claim, label_operator::exists, {}});
        term.topology = label;
        made.near.push_back(term);
        return made;
    };
    const volume_effects a = user("a", "zone");
    const volume_effects b = user("b", "zone");
    const volume_effects c = user("c", "rack");
    CHECK(shared_claims_text({{"x", &a}, {"y", &c}}, "zone") == "claim a (not bound)");
    CHECK(shared_claims_text({{"x", &b}, {"y", &a}}, "zone") == "claims a, b (not bound)");
}

TEST_CASE("claims that one pod alone may use are named with the pod that uses them") {
    volume_plan plan;
    plan.pods[{"a", "x"}] = user_of({{"claim:a/c", "alone"}, {"claim:a/s", "shared"}});
    plan.pods[{"a", "y"}] = user_of({{"claim:a/c", "alone"}, {"claim:a/d", "alone"}});
    plan.pods[{"a", "z"}] = user_of({{"claim:a/d", "alone"}, {"disk:k", "used"}});
    plan.pods[{"b", "x"}] = user_of({{"claim:b/c", "alone"}});
    std::set<object_key> placed;
    const auto text = [&](const char* pod) {
        const object_key key{"a", pod};
        return lone_claims_text({{pod, &plan.pods.at(key)}}, plan,
                                [&](const object_key& each) { return placed.contains(each); });
    };
    CHECK(text("y") == "another pod uses claim c, another pod uses claim d");
    placed.insert({"b", "x"});
    CHECK(text("y") == "another pod uses claim c, another pod uses claim d");
    placed.insert({"a", "x"});
    CHECK(text("y") == "pod x uses claim c");
    CHECK(text("z") == "another pod uses claim d");
    placed.insert({"a", "z"});
    CHECK(text("y") == "pod x uses claim c, pod z uses claim d");
}

TEST_CASE("a disk that pods may not share on a node is named, with its users") {
    volume_plan plan;
    const auto add = [&](const char* name, const std::vector<std::string>& disks) {
        volume_effects& of = plan.pods[{"a", name}];
        for (const std::string& each : disks) {
            of.labels.set("disk:x.csi/" + each, "used");
            muster::affinity_term term;
            term.pods.labels.requirements.push_back(
                {"disk:x.csi/" + each, muster::label_operator::exists, {}});
            term.topology = muster::volume_node_label;
            of.apart.push_back(term);
        }
    };
    add("u", {"d"});
    add("v", {"d", "zone/e"});
    add("w", {"d", "zone/e"});
    std::set<object_key> placed;
    const auto text = [&](const char* pod) {
        return disks_text({{pod, &plan.pods.at({"a", pod})}}, plan,
                          [&](const object_key& each) { return placed.contains(each); });
    };
    CHECK(text("w") == "disk d of x.csi, disk zone/e of x.csi");
    placed.insert({"a", "u"});
    CHECK(text("w") == "disk d of x.csi is used by pod a/u");
    placed.insert({"a", "v"});
    CHECK(text("w") == "disk d of x.csi is used by pods a/u, a/v, disk zone/e of x.csi is used by "
                       "pod a/v");
}

TEST_CASE("claims that are not ready are named by cause, each with its pods") {
    const auto user = [](std::vector<std::string> waits) {
        volume_effects made;
        made.waits = std::move(waits);
        return made;
    };
    const volume_effects lost =
        user({"claim a has lost its volume (phase Lost): replace the claim"});
    const volume_effects deleted =
        user({"claim b is being deleted: create it again once it is gone"});
    const volume_effects ready;
    CHECK(waiting_volumes_text({{"w", &ready}}).empty());
    CHECK(waiting_volumes_text({{"w", &ready}, {"x", &lost}, {"y", &deleted}}) ==
          "pod x: claim a has lost its volume (phase Lost): replace the claim; pod y: claim b is "
          "being deleted: create it again once it is gone");
    CHECK(waiting_volumes_text({{"x", &lost}, {"y", &lost}}) ==
          "pods x, y: claim a has lost its volume (phase Lost): replace the claim");
    // Claims that wait for one cause are named together.
    const volume_effects first =
        user({"claim a is not bound: w", "resource claim r does not exist"});
    const volume_effects second = user({"claim b is not bound: w"});
    CHECK(waiting_volumes_text({{"x", &first}}) ==
          "pod x: claim a is not bound: w, resource claim r does not exist");
    CHECK(waiting_volumes_text({{"x", &first}, {"y", &second}}) ==
          "pods x, y: claims a, b are not bound: w; pod x: resource claim r does not exist");
    CHECK(
        waiting_volumes_text({{"x", &lost}, {"y", &second}, {"z", &deleted}, {"u", &first}}) ==
        "pod x: claim a has lost its volume (phase Lost): replace the claim; pods y, u: claims b, "
        "a are not bound: w (+2 claims)");
    const volume_effects more = user({"claim c is not bound: w", "claim d is not bound: w"});
    CHECK(waiting_volumes_text({{"x", &first}, {"y", &second}, {"z", &more}, {"u", &second}}) ==
          "pods x, y, z (+1 pod): claims a, b, c are not bound: w (+2 claims)");
    const volume_effects unmade = user({"the resource claim for r is still to be made"});
    CHECK(waiting_volumes_text({{"x", &unmade}, {"y", &unmade}}) ==
          "pods x, y: the resource claim for r is still to be made");
}

TEST_CASE("supplies that other gangs got are named with the claims and the gangs") {
    const auto user = [](const std::string& mark, const std::string& own, const std::string& claim,
                         bool waits) {
        volume_effects made;
        made.labels.set(mark, own);
        made.handed[mark].insert(claim);
        if (waits) {
            muster::affinity_term term;
            term.pods.labels.requirements.push_back({mark, label_operator::exists, {}});
            term.topology = muster::volume_supply_label;
            made.apart.push_back(term);
        }
        return made;
    };
    volume_plan plan;
    plan.pods[{"a", "x"}] = user("volume:pv", "a/c", "c", true);
    plan.pods[{"b", "y"}] = user("volume:pv", "b/d", "d", false);
    plan.pods[{"b", "z"}] = user("pool:zonal/p", "b/e", "e", false);
    const volume_effects pool = user("pool:zonal/p", "a/c", "s", true);
    std::set<object_key> placed;
    const auto holder = [&](const object_key& pod) {
        return placed.contains(pod) ? "gang " + pod.name_space + "/of-" + pod.name : std::string();
    };
    const volume_effects& own = plan.pods.at({"a", "x"});
    CHECK(taken_supplies_text({{"x", &own}}, plan, holder) ==
          "claim c was to get free volume pv, which another gang got");
    placed = {{"a", "x"}, {"b", "y"}};
    CHECK(taken_supplies_text({{"x", &own}}, plan, holder) ==
          "claim c was to get free volume pv, which gang b/of-y got");
    CHECK(taken_supplies_text({{"x", &own}, {"p", &pool}}, plan, holder) ==
          "claim c was to get free volume pv, which gang b/of-y got");
    placed.insert({"b", "z"});
    CHECK(taken_supplies_text({{"p", &pool}}, plan, holder) ==
          "claim s was to get storage of pool p (class zonal), which gang b/of-z got");
    const volume_effects other = user("volume:pv", "a/c", "f", true);
    CHECK(taken_supplies_text({{"x", &own}, {"o", &other}}, plan, holder) ==
          "claims c, f were to get free volume pv, which gang b/of-y got");
}

} // namespace codec_volume_words_test
