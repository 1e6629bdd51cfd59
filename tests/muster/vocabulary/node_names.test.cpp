// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <muster/vocabulary/node_names.hpp>

namespace vocabulary_node_names_test {

using namespace muster;

TEST_CASE("labels that name a node, by its name or host name, name its copy") {
    const label_set labels = {{"kubernetes.io/hostname", "host-a"},
                              {"topology.lvm.io/node", "a"},
                              {"topology.csi.io/host", "host-a"},
                              {"topology.kubernetes.io/zone", "z"}};
    const label_set copied = labels_of_copy("a", labels, "b");
    CHECK(*copied.find("kubernetes.io/hostname") == "b");
    CHECK(*copied.find("topology.lvm.io/node") == "b");
    CHECK(*copied.find("topology.csi.io/host") == "b");
    CHECK(*copied.find("topology.kubernetes.io/zone") == "z");
}

TEST_CASE("a requirement names a node if the node's name is the only value that it allows") {
    CHECK(names_node({"rack", label_operator::in, {"a"}}, "a", {}));
    CHECK_FALSE(names_node({"rack", label_operator::in, {"a", "b"}}, "a", {}));
    CHECK_FALSE(names_node({"rack", label_operator::not_in, {"a"}}, "a", {}));
    CHECK_FALSE(names_node({"rack", label_operator::exists, {}}, "a", {}));
}

TEST_CASE("a node without name or host name is named by no label") {
    CHECK_FALSE(names_node("", "", {}));
    CHECK_FALSE(names_node("a", "", {{"rack", "a"}}));
    CHECK(names_node("a", "a", {}));
}

} // namespace vocabulary_node_names_test
