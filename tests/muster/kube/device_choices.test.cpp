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

namespace {

/// Class yy has a device of node n1 and one of all nodes; class x has one of node n1.
struct shared_world : world {
    shared_world() {
        for (const std::string type : {"x", "yy"})
            take(
                "---\napiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata: {name: " + type +
                "}\nspec: {selectors: [{cel: {expression: \"device.attributes['x.com'].t == '" +
                type + "'\"}}]}\n");
        slice("local", "nodeName: n1, devices: [{name: d0, attributes: {t: {string: yy}}}, "
                       "{name: d1, attributes: {t: {string: x}}}]");
        slice("net", "allNodes: true, devices: [{name: d0, attributes: {t: {string: yy}}}]");
        claim("cx", "n1", "x");
        claim("cy", "n1", "yy");
    }
    /// Pods on n2 share both claims. Those that share cx are of another gang if `is_foreign`.
    kube::device_choices choose(bool is_foreign, bool may_leave_out) {
        const auto& devices = objects.storage().devices();
        const auto* const n1 = objects.find_node("n1");
        const auto* const n2 = objects.find_node("n2");
        std::vector<kube::unallocated_on> wanted{{devices.claim({"team", "cx"}), n1},
                                                 {devices.claim({"team", "cy"}), n1, {n2}}};
        (is_foreign ? wanted.front().foreign : wanted.front().others).push_back(n2);
        return kube::choose_devices(devices.make_catalog(), {}, wanted, may_leave_out);
    }
};

} // namespace

TEST_CASE("nodes of other gangs are left out for the claims that get no devices with them") {
    shared_world w;
    const auto made = w.choose(true, true);
    CHECK(made.lacking.empty());
    CHECK(device_of(made, "cx") == "local/d1");
    CHECK_FALSE(made.of.at({"team", "cx"}).is_for("n2"));
    CHECK(device_of(made, "cy") == "net/d0");
    CHECK(made.of.at({"team", "cy"}).is_for("n2"));
    CHECK_FALSE(w.choose(true, false).lacking.empty());
}

TEST_CASE("if pods of one gang cannot all reach a claim's devices, all of their nodes lack them") {
    shared_world w;
    const auto made = w.choose(false, true);
    CHECK(made.lacking.size() == 2);
    CHECK(made.of.empty());
}

TEST_CASE("a claim of several nodes gets all devices only if all nodes reach the same") {
    const auto choose = [](const std::string& more) {
        world w;
        w.slice("net", "allNodes: true, devices: [{name: d0" + more);
        w.claim("c", "n1", "gpu, allocationMode: All");
        const auto& devices = w.objects.storage().devices();
        return kube::choose_devices(devices.make_catalog(), {},
                                    {{devices.claim({"team", "c"}),
                                      w.objects.find_node("n1"),
                                      {w.objects.find_node("n2")}}});
    };
    CHECK(device_of(choose("}]"), "c") == "net/d0");
    const std::string updated = "}]}\n---\napiVersion: resource.k8s.io/v1\nkind: ResourceSlice\n"
                                "metadata: {name: u}\nspec: {driver: x.com, pool: {name: u, "
                                "generation: 1, resourceSliceCount: 2}, allNodes: true, devices: "
                                "[{name: d0}]";
    CHECK(choose(updated).lacking.at("n2") ==
          "the request needs all devices, and a pool is being updated or invalid");
    const std::string binding = "}, {name: d1, bindsToNode: true}]";
    CHECK(choose(binding).lacking.at("n2") ==
          "a claim needs all devices, and the nodes of its pods do not reach the same");
}

} // namespace device_choices_test
