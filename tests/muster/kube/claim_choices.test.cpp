// SPDX-License-Identifier: Apache-2.0
#include <muster/kube/claim_choices.hpp>

#include <string>

#include <doctest/doctest.h>

#include <muster/apis/core/claims/device_reader.hpp>
#include <muster/input/manifests.hpp>
#include <muster/input/read_documents.hpp>

namespace claim_choices_test {

namespace codec = muster::codec;
namespace kube = muster::kube;

namespace {

/// Claims a, b and c of one device each, and two devices on node n1.
struct world {
    kube::live_devices devices;
    codec::node_object node;
    kube::claim_choices choices;
    kube::claim_choices::open_claims open;

    world() {
        std::string text = "apiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata: {name: "
                           "gpu}\nspec: {}\n---\napiVersion: resource.k8s.io/v1\nkind: "
                           "ResourceSlice\nmetadata: {name: s}\nspec: {driver: x.com, nodeName: "
                           "n1, pool: {name: n1, generation: 1, resourceSliceCount: 1}, devices: "
                           "[{name: d0}, {name: d1}]}\n";
        for (const char* const name : {"a", "b", "c"})
            text +=
                "---\napiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {name: " +
                std::string(name) +
                "}\nspec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu}}]}}\n";
        codec::diagnostics out;
        const auto documents = codec::read_documents("f", text, out);
        const codec::manifests read = codec::read_manifests(documents, {}, out);
        REQUIRE(out.ok());
        for (const auto& each : read.devices.claims)
            devices.put(each, "1");
        for (const auto& each : read.devices.slices)
            devices.put(each);
        for (const auto& each : read.devices.classes)
            devices.put(each);
        node.metadata.key.name = "n1";
    }
    void want(const std::string& gang, const std::string& claim) {
        open[of(gang)].push_back({devices.claim({"default", claim}), &node});
    }
    static codec::group_key of(const std::string& gang) {
        return {"default", gang, codec::group_origin::labels};
    }
    void choose() {
        choices.choose(
            devices, [](const codec::object_key&) { return false; }, [&] { return open; });
    }
    std::string device(const std::string& claim) {
        const auto* const made = choices.find({"default", claim});
        return made ? made->choice.devices.devices.front().id.device : "none";
    }
};

} // namespace

TEST_CASE("a claim that several gangs share gets its devices once") {
    world w;
    w.want("g", "a");
    w.want("h", "a");
    w.want("h", "b");
    w.choose();
    CHECK(w.device("a") == "d0");
    CHECK(w.device("b") == "d1");
    CHECK(w.choices.lack_of(world::of("g")) == nullptr);
    CHECK(w.choices.lack_of(world::of("h")) == nullptr);
}

TEST_CASE("if there are not enough devices for all gangs, the first ones get theirs") {
    world w;
    w.want("g", "a");
    w.want("h", "a");
    w.want("h", "b");
    w.want("i", "c");
    w.choose();
    CHECK(w.device("a") == "d0");
    CHECK(w.device("b") == "d1");
    CHECK(w.device("c") == "none");
    REQUIRE(w.choices.lack_of(world::of("i")));
    CHECK(*w.choices.lack_of(world::of("i")) ==
          "on node n1 the devices that are free do not satisfy all claims");
}

TEST_CASE("a gang that lacks devices does not change the choices of other gangs") {
    world w;
    codec::node_object second;
    second.metadata.key.name = "n2";
    codec::diagnostics out;
    const codec::manifests read = codec::read_manifests(
        codec::read_documents("f",
                              "apiVersion: resource.k8s.io/v1\nkind: ResourceSlice\nmetadata: "
                              "{name: net}\nspec: {driver: x.com, allNodes: true, pool: {name: "
                              "net, generation: 1, resourceSliceCount: 1}, devices: [{name: d9}]}",
                              out),
        {}, out);
    REQUIRE(out.ok());
    w.devices.put(read.devices.slices.front());
    // Only one claim gets the device that both nodes reach.
    w.want("g", "a");
    w.want("h", "b");
    w.want("h", "c");
    for (auto& [gang, claims] : w.open)
        for (auto& each : claims)
            each.others.push_back(&second);
    w.choose();
    CHECK(w.device("a") == "d9");
    CHECK(w.choices.find({"default", "a"})->choice.is_for("n2"));
    CHECK(w.device("b") == "none");
    CHECK(w.device("c") == "none");
    CHECK(w.choices.lack_of(world::of("h")));
}

TEST_CASE("a choice that was sent stays, another one is made again") {
    world w;
    w.want("g", "b");
    w.choose();
    CHECK(w.device("b") == "d0");
    w.want("g", "a");
    // Nothing changed.
    w.choose();
    CHECK(w.device("a") == "none");
    w.choices.find({"default", "b"})->is_sent = true;
    w.choices.renew();
    w.choose();
    CHECK(w.device("b") == "d0");
    CHECK(w.device("a") == "d1");
    w.choices.forget([](const codec::object_key& claim) { return claim.name == "a"; });
    CHECK(w.device("b") == "none");
    CHECK(w.device("a") == "d1");
}

} // namespace claim_choices_test
