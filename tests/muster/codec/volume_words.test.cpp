// SPDX-License-Identifier: Apache-2.0
#include <muster/codec/volume_words.hpp>
#include <muster/codec/volume_zones.hpp>

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

std::string reach_text(std::vector<node_term> terms) {
    std::vector<muster::node<1>> nodes(2);
    nodes[0].labels.set("topology.kubernetes.io/zone", "a");
    nodes[1].labels.set("topology.kubernetes.io/zone", "b");
    volume_effects effects;
    effects.reach.push_back({std::move(terms), true});
    effects.reach_of.push_back("claim c (volume p)");
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
    CHECK(reach_text(*zone_terms(volume)) == "claim c (volume p): 0 of 2 nodes");
}

TEST_CASE("a volume that some node reaches by another label is in no zone") {
    CHECK(reach_text({of_label("topology.kubernetes.io/zone", {"c"}), of_label("rack", {"r"})}) ==
          "claim c (volume p): 0 of 2 nodes");
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

} // namespace codec_volume_words_test
