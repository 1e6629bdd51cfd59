// SPDX-License-Identifier: Apache-2.0
#include <muster/kube/device_choices.hpp>

#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "fed_objects.hpp"

namespace device_choices_test {

namespace kube = muster::kube;

namespace {

struct world : fed_objects {
    std::vector<std::pair<std::string, std::string>> placed;

    world() {
        for (const std::string name : {"n1", "n2"})
            take("---\napiVersion: v1\nkind: Node\nmetadata: {name: " + name +
                 "}\nstatus: {allocatable: {cpu: 8}}\n");
        take("---\napiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata: {name: gpu}\n");
    }
    void slice(const std::string& name, const std::string& rest) {
        take("---\napiVersion: resource.k8s.io/v1\nkind: ResourceSlice\nmetadata: {name: " + name +
             "}\nspec: {driver: x.com, pool: {name: " + name +
             ", generation: 1, resourceSliceCount: 1}, " + rest + "}\n");
    }
    void claim(const std::string& name, const std::string& on,
               const std::string& class_name = "gpu") {
        take("---\napiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {name: " + name +
             "}\nspec: {devices: {requests: [{name: r, exactly: {deviceClassName: " + class_name +
             "}}]}}\n");
        placed.emplace_back(name, on);
    }
    kube::device_choices
    choose(const std::map<muster::codec::object_key, kube::device_choice>& kept = {}) {
        std::vector<kube::unallocated_on> wanted;
        const auto& devices = objects.storage().devices();
        for (const auto& [name, on] : placed)
            wanted.push_back({devices.claim({"team", name}), objects.find_node(on)});
        return kube::choose_devices(devices.make_catalog(), kept, wanted);
    }
};

std::string device_of(const kube::device_choices& in, const std::string& name) {
    const auto at = in.of.find({"team", name});
    if (at == in.of.end())
        return "none";
    const muster::device_id& id = at->second.devices.devices.front().id;
    return id.pool + "/" + id.device;
}

} // namespace

TEST_CASE("a device that several nodes can use goes to the node that has no other") {
    world w;
    w.slice("shared", "allNodes: true, devices: [{name: d0}]");
    w.slice("z", "nodeName: n1, devices: [{name: d0}]");
    w.claim("first", "n1");
    w.claim("second", "n2");
    const auto made = w.choose();
    CHECK(made.lacking.empty());
    CHECK(device_of(made, "first") == "z/d0");
    CHECK(device_of(made, "second") == "shared/d0");
}

TEST_CASE("a node without devices for all of its claims is named, and the others get theirs") {
    world w;
    w.slice("a", "nodeName: n1, devices: [{name: d0}]");
    w.slice("b", "nodeName: n2, devices: [{name: d0}]");
    w.claim("one", "n1");
    w.claim("two", "n2");
    w.claim("three", "n2");
    const auto made = w.choose();
    CHECK(made.lacking.size() == 1);
    CHECK(made.lacking.at("n2") == "the devices that are free do not satisfy all claims");
    CHECK(device_of(made, "one") == "a/d0");
    CHECK(device_of(made, "two") == "none");
}

TEST_CASE("devices that were chosen before are not chosen again") {
    world w;
    w.slice("a", "nodeName: n1, devices: [{name: d0}, {name: d1}]");
    w.claim("one", "n1");
    const auto kept = w.choose();
    CHECK(device_of(kept, "one") == "a/d0");
    w.placed.clear();
    w.claim("two", "n1");
    CHECK(device_of(w.choose(kept.of), "two") == "a/d1");
}

TEST_CASE("a claim of an unknown class gets no device, with the reason") {
    world w;
    w.slice("a", "nodeName: n1, devices: [{name: d0}]");
    w.claim("one", "n1", "other");
    CHECK(w.choose().lacking.at("n1") == "the device class does not exist: other");
}

} // namespace device_choices_test
