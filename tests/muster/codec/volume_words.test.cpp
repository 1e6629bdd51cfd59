// SPDX-License-Identifier: Apache-2.0
#include <muster/codec/volume_words.hpp>
#include <muster/codec/volume_zones.hpp>

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

} // namespace codec_volume_words_test
