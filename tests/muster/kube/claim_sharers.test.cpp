// SPDX-License-Identifier: Apache-2.0
#include <muster/kube/claim_sharers.hpp>

#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace claim_sharers_test {

namespace codec = muster::codec;
namespace kube = muster::kube;

namespace {

codec::pod_object user(const std::string& name, const std::string& group = "") {
    codec::pod_object made;
    made.metadata.key = {"team", name};
    made.metadata.uid = "u-" + name;
    made.pod_group = group;
    made.claims.push_back({"g", "c", {}, false});
    return made;
}
codec::resource_claim_object claim(const std::string& name, const std::string& mark = "") {
    codec::resource_claim_object made;
    made.metadata.key = {"team", name};
    made.muster_pod = mark;
    return made;
}
std::string text(const std::vector<codec::claim_consumer>& users) {
    std::string made;
    for (const codec::claim_consumer& each : users)
        made += each.resource + "/" + each.name + "/" + each.uid + " ";
    return made;
}

const auto on_n1 = [](const std::string& node) { return node == "n1"; };
const auto anywhere = [](const std::string&) { return true; };

} // namespace

TEST_CASE("the pod that the claim bears the mark of leads, or else the first one") {
    const kube::live_devices devices;
    const codec::pod_object a = user("a");
    const codec::pod_object b = user("b");
    kube::claim_sharers sharers;
    sharers.add(a, "n1", devices);
    sharers.add(b, "n1", devices);
    CHECK(sharers.leads(a, claim("c")));
    CHECK_FALSE(sharers.leads(b, claim("c")));
    CHECK_FALSE(sharers.leads(a, claim("c", "u-b")));
    CHECK(sharers.leads(b, claim("c", "u-b")));
    // The mark of a pod that is not about to start does not count.
    CHECK(sharers.leads(a, claim("c", "u-x")));
    // Each pod leads for a claim of its own.
    CHECK(sharers.leads(b, claim("extended")));
    CHECK(text(sharers.consumers(a, claim("c"), on_n1)) == "pods/a/u-a pods/b/u-b ");
    CHECK(text(sharers.consumers(b, claim("extended"), on_n1)) == "pods/b/u-b ");
}

TEST_CASE("a PodGroup is one consumer, beside pods that are not of the group") {
    kube::live_devices devices;
    codec::group_claims_object group;
    group.metadata.key = {"team", "g"};
    group.metadata.uid = "u-g";
    group.claims.push_back({"g", "c", {}, false});
    devices.put(group);
    const codec::pod_object a = user("a", "g");
    const codec::pod_object b = user("b", "g");
    const codec::pod_object other = user("c");
    kube::claim_sharers sharers;
    for (const codec::pod_object* const each : {&a, &b, &other})
        sharers.add(*each, "n1", devices);
    CHECK(text(sharers.consumers(a, claim("c"), on_n1)) == "podgroups/g/u-g pods/c/u-c ");
    CHECK(sharers.consumer(b, claim("c")).resource == "podgroups");
    CHECK(sharers.consumer(other, claim("c")).resource == "pods");
    devices.lose_group({"team", "g"});
    sharers.clear();
    sharers.add(a, "n1", devices);
    CHECK(text(sharers.consumers(a, claim("c"), on_n1)) == "pods/a/u-a ");
}

TEST_CASE("a claim is reserved for the pods on the nodes that reach its allocation") {
    const kube::live_devices devices;
    const codec::pod_object a = user("a");
    const codec::pod_object b = user("b");
    const codec::pod_object other = user("c");
    kube::claim_sharers sharers;
    sharers.add(a, "n1", devices);
    sharers.add(b, "n2", devices);
    sharers.add(other, "n1", devices);
    CHECK(text(sharers.consumers(a, claim("c"), on_n1)) == "pods/a/u-a pods/c/u-c ");
    CHECK(text(sharers.consumers(b, claim("c", "u-b"), anywhere)) ==
          "pods/a/u-a pods/b/u-b pods/c/u-c ");
    CHECK(sharers.nodes_of({"team", "c"}) == std::set<std::string>{"n1", "n2"});
    CHECK(sharers.nodes_of({"team", "d"}).empty());
    CHECK(sharers.uses({"team", "c"}));
    CHECK_FALSE(sharers.uses({"team", "d"}));
}

TEST_CASE("a claim is reserved for at most 256 pods") {
    const kube::live_devices devices;
    std::vector<codec::pod_object> pods;
    for (int at = 0; at < 300; ++at)
        pods.push_back(user(std::to_string(at)));
    kube::claim_sharers sharers;
    for (const codec::pod_object& each : pods)
        sharers.add(each, "n1", devices);
    CHECK(sharers.consumers(pods.front(), claim("c"), on_n1).size() == 256);
}

} // namespace claim_sharers_test
