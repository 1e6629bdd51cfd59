// SPDX-License-Identifier: Apache-2.0
#include <muster/kube/volume_binder.hpp>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <muster/apis/core/objects.hpp>
#include <muster/apis/core/volumes/storage_objects.hpp>
#include <muster/kube/live_gangs.hpp>
#include <muster/kube/live_storage.hpp>

namespace volume_binder_test {

namespace adapter = muster::adapter;
namespace codec = muster::codec;
namespace kube = muster::kube;
using codec::object_key;

namespace {

struct pod_entry {
    codec::pod_object object;
};

/// Nodes a and b, a class whose volumes exist already, and pods that have nodes but no volumes yet.
struct world {
    kube::live_storage storage;
    kube::live_gangs<8> gangs;
    std::map<object_key, pod_entry> pods;
    std::map<std::string, codec::node_object> nodes;
    kube::volume_binder binder;
    adapter::ticket last = 0;

    world() {
        for (const std::string name : {"a", "b"}) {
            nodes[name].metadata.key.name = name;
            nodes[name].metadata.labels.set("host", name);
        }
        codec::storage_class_object local;
        local.metadata.key.name = "local";
        local.provisioner = "kubernetes.io/no-provisioner";
        local.waits_for_consumer = true;
        storage.put(std::move(local), "1");
    }

    void volume(const std::string& name, std::int64_t bytes, std::vector<std::string> on) {
        codec::volume_object made;
        made.metadata.key.name = name;
        made.metadata.uid = name;
        made.storage_class = "local";
        made.bytes = bytes;
        made.access = codec::read_write_once;
        muster::node_term term;
        term.labels.requirements.push_back({"host", muster::label_operator::in, std::move(on)});
        made.nodes.emplace().push_back(std::move(term));
        storage.put(std::move(made), "1");
    }
    void pod(const std::string& name, const std::string& node) {
        codec::claim_object claim;
        claim.metadata.key = {"team", name};
        claim.metadata.uid = name;
        claim.asks.storage_class = "local";
        claim.asks.bytes = 1;
        claim.asks.access = codec::read_write_once;
        storage.put(std::move(claim), "1");
        codec::pod_object made;
        made.metadata.key = {"team", name};
        made.metadata.uid = name;
        codec::pod_volume use;
        use.claim = name;
        made.volumes.push_back(std::move(use));
        storage.note_pod(made);
        pods[made.metadata.key].object = made;
        static_cast<void>(storage.renew(nodes, gangs));
        binder.want(++last, made.metadata.key, name, node, 0);
    }
    [[nodiscard]] auto node_of() const {
        return [this](const std::string& name) -> const codec::node_object* {
            const auto at = nodes.find(name);
            return at == nodes.end() ? nullptr : &at->second;
        };
    }
    /// A class whose volumes are made, in place of the one above.
    void provision() {
        codec::storage_class_object made;
        made.metadata.key.name = "local";
        made.provisioner = "csi.x";
        made.waits_for_consumer = true;
        storage.put(std::move(made), "2");
    }
    /// The claim is observed with this node as its `selected-node`.
    void select(const std::string& name, const std::string& node, const std::string& version) {
        codec::claim_object claim = storage.claim({"team", name})->object;
        claim.selected_node = node;
        storage.put(std::move(claim), version);
        static_cast<void>(storage.renew(nodes, gangs));
    }
    /// The messages of the orders that end.
    std::vector<std::string> ended() {
        std::vector<std::string> made;
        for (const auto& each : binder.settle(storage, pods, node_of(), 0))
            made.push_back(each.message);
        return made;
    }
    /// The volumes that are reserved for claims, each as "volume for claim".
    std::vector<std::string> writes() {
        std::vector<std::string> made;
        while (auto one = binder.next(storage, pods, node_of(), {})) {
            const auto at = one->request.body.find("\"name\":\"");
            const std::string rest = one->request.body.substr(at + 8);
            made.push_back(one->about.name + " for " + rest.substr(0, rest.find('"')));
        }
        return made;
    }
};

} // namespace

TEST_CASE("volume_binder: a volume that suits two claims goes to the one that has no other") {
    world w;
    // The first claim prefers the smaller volume, which is the only one that b can use.
    w.volume("far", 2, {"a"});
    w.volume("near", 1, {"a", "b"});
    w.pod("first", "a");
    w.pod("second", "b");
    CHECK(w.writes() == std::vector<std::string>{"far for first", "near for second"});
}

TEST_CASE("volume_binder: a claim gets the smallest volume that its node can use, none twice") {
    world w;
    w.volume("large", 3, {"a"});
    w.volume("middle", 2, {"a"});
    w.volume("elsewhere", 1, {"b"});
    w.pod("first", "a");
    CHECK(w.writes() == std::vector<std::string>{"middle for first"});
    w.pod("second", "a");
    CHECK(w.writes() == std::vector<std::string>{"large for second"});
}

TEST_CASE("volume_binder: a free volume goes where none can be made") {
    world all;
    codec::storage_class_object local;
    local.metadata.key.name = "local";
    local.provisioner = "csi.x";
    local.waits_for_consumer = true;
    muster::node_term on_a;
    on_a.labels.requirements.push_back({"host", muster::label_operator::in, {"a"}});
    local.topologies = {on_a};
    all.storage.put(std::move(local), "2");
    all.volume("v", 1, {"a", "b"});
    all.pod("first", "a");
    all.pod("second", "b");
    const auto made = all.writes();
    CHECK(std::ranges::count(made, "v for second") == 1);
    CHECK(std::ranges::count(made, "v for first") == 0);
}

TEST_CASE("volume_binder: an order ends if its node is gone, and nothing is written for it") {
    world w;
    w.provision();
    w.pod("first", "a");
    w.pod("second", "b");
    w.nodes.erase("a");
    CHECK(w.writes().size() == 1);
    CHECK(w.ended() == std::vector<std::string>{"node a does not exist any longer"});
}

TEST_CASE("volume_binder: a claim whose provisioner gave up is not written again in its order") {
    world w;
    w.provision();
    w.pod("first", "a");
    REQUIRE(w.writes().size() == 1);
    w.binder.done({"team", "first"}, adapter::outcome::applied, {}, 0);
    w.select("first", "a", "2");
    CHECK(w.ended().empty());
    w.select("first", "", "3");
    CHECK(w.writes().empty());
    CHECK(w.ended() == std::vector<std::string>{"no volume could be provisioned for claim first"});
}

TEST_CASE("volume_binder: an order ends if its claim is provisioned for another node") {
    world w;
    w.provision();
    w.pod("first", "a");
    REQUIRE(w.writes().size() == 1);
    w.select("first", "b", "2");
    CHECK(w.ended() == std::vector<std::string>{"claim first is provisioned for node b"});
}

TEST_CASE("volume_binder: an allocated claim is reserved for the pod before the order ends") {
    world w;
    w.pod("first", "a");
    codec::claim_object bound = w.storage.claim({"team", "first"})->object;
    bound.bound = true;
    w.storage.put(std::move(bound), "2");
    codec::pod_claim uses;
    uses.name = "gpus";
    uses.claim = "gpus";
    w.pods.begin()->second.object.claims.push_back(uses);
    const auto observe = [&](std::vector<codec::claim_consumer> consumers) {
        codec::resource_claim_object made;
        made.metadata.key = {"team", "gpus"};
        made.metadata.uid = "u-gpus";
        made.allocation.emplace();
        made.reserved_for = std::move(consumers);
        w.storage.put(std::move(made), "1");
        static_cast<void>(w.storage.renew(w.nodes, w.gangs));
    };
    observe({{"pods", "other", "u-other"}});
    const auto write = w.binder.next(w.storage, w.pods, w.node_of(), {});
    REQUIRE(write);
    CHECK(write->request.path ==
          "/apis/resource.k8s.io/v1/namespaces/team/resourceclaims/gpus/status");
    CHECK(write->request.body == "{\"metadata\":{\"uid\":\"u-gpus\"},\"status\":{\"reservedFor\":[{"
                                 "\"resource\":\"pods\",\"name\":\"first\",\"uid\":\"first\"}]}}");
    CHECK(w.writes().empty());
    CHECK(w.ended().empty());
    SUBCASE("the reservation is seen") {
        w.binder.done(write->about, adapter::outcome::applied, {}, 0);
        observe({{"pods", "other", "u-other"}, {"pods", "first", "first"}});
        CHECK(w.ended() == std::vector<std::string>{""});
    }
    SUBCASE("the reservation is refused") {
        w.binder.done(write->about, adapter::outcome::refused, "too many", 0);
        CHECK(w.ended() ==
              std::vector<std::string>{"resource claim gpus cannot be reserved: too many"});
    }
}

TEST_CASE("live_storage: the catalog never refers to a removed object") {
    world w;
    w.volume("v", 1, {"a"});
    w.pod("first", "a");
    w.storage.lose("PersistentVolume", {{}, "v"});
    CHECK(w.storage.catalog().volumes.empty());
    CHECK(w.writes().empty());
    // It is known again after the next plan.
    w.volume("w", 1, {"a"});
    static_cast<void>(w.storage.renew(w.nodes, w.gangs));
    CHECK(w.ended().empty());
    CHECK(w.writes() == std::vector<std::string>{"w for first"});
}

} // namespace volume_binder_test
