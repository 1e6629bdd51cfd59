// SPDX-License-Identifier: Apache-2.0
#include <muster/kube/claim_binder.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <doctest/doctest.h>

#include "fed_objects.hpp"

namespace claim_binder_test {

namespace adapter = muster::adapter;
namespace codec = muster::codec;
namespace json = boost::json;
namespace kube = muster::kube;
using codec::object_key;
using progress = kube::claim_binder::progress;

namespace {

std::string node(const std::string& name) {
    return "---\napiVersion: v1\nkind: Node\nmetadata: {name: " + name +
           "}\nstatus: {allocatable: {cpu: 8, pods: 110}}\n";
}
std::string slice(const std::string& on, const std::string& devices) {
    return "---\napiVersion: resource.k8s.io/v1\nkind: ResourceSlice\nmetadata: {name: s-" + on +
           "}\nspec: {driver: x.com, nodeName: " + on + ", pool: {name: " + on +
           ", generation: 1, resourceSliceCount: 1}, devices: [" + devices + "]}\n";
}
const std::string gpu_class =
    "---\napiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata: {name: gpu}\nspec: "
    "{selectors: [{cel: {expression: \"device.driver == 'x.com'\"}}]}\n";
const std::string spec =
    "spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu}}]}}\n";

/// Pods of one gang, each with the ResourceClaim of its name, and nodes n1 and n2.
struct world : fed_objects {
    kube::claim_binder binder;
    std::set<object_key> starting;
    std::int64_t now = 0;
    int version = 1;

    static muster::kube::live_options with_workloads() {
        muster::kube::live_options how = options();
        how.dialects.push_back(muster::kube::dialect::workload);
        return how;
    }
    world() : fed_objects(with_workloads()) {
        take(node("n1") + node("n2") + gpu_class +
             "---\napiVersion: scheduler.tensorstack.dev/v1beta1\nkind: PodGroup\nmetadata: "
             "{name: gang}\nspec: {minMember: 1}\n");
    }

    void pod(const std::string& name) {
        take(
            "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " + name +
            ", labels: {scheduler.tensorstack.dev/group-name: gang}}\nspec: {schedulerName: gangs, "
            "containers: [{name: c, image: i}], resourceClaims: "
            "[{name: g, resourceClaimName: " +
            name + "}]}\n");
        claim(name, "metadata: {name: " + name + "}\n" + spec);
    }
    void claim(const std::string&, const std::string& rest) {
        take("---\napiVersion: resource.k8s.io/v1\nkind: ResourceClaim\n" + rest);
    }
    void want(const std::string& name, const std::string& on) {
        starting.insert({"team", name});
        static_cast<void>(devices());
        binder.want({"team", name}, "u-" + name, on,
                    objects.gangs().pods().at({"team", name}).told_in, now);
    }
    [[nodiscard]] const kube::live_devices& devices() {
        objects.tell(view, std::exchange(first, {}));
        return objects.storage().devices();
    }
    [[nodiscard]] auto node_of() const {
        return [this](const std::string& name) { return objects.find_node(name); };
    }
    void review() {
        const auto is_starting = [&](const object_key& key) { return starting.contains(key); };
        binder.review(devices(), objects.gangs().pods(), is_starting, now);
    }
    std::vector<kube::claim_binder::write> writes() {
        std::vector<kube::claim_binder::write> made;
        while (auto one = binder.next(devices(), objects.gangs().pods(), node_of(), {now, 0}))
            made.push_back(std::move(*one));
        return made;
    }
    /// The server carries out the writes, and the claims are observed as they are then.
    std::vector<std::string> carry_out() {
        std::vector<std::string> said;
        for (const auto& each : writes()) {
            said.push_back(each.about.name);
            apply(each);
        }
        return said;
    }
    void apply(const kube::claim_binder::write& each) {
        const std::string list = "/resourceclaims/";
        const std::size_t at_name = each.request.path.find(list) + list.size();
        const std::string name =
            each.request.path.substr(at_name, each.request.path.find('/', at_name) - at_name);
        json::object& at = stored[name];
        const json::object body = json::parse(each.request.body).as_object();
        if (each.request.path.ends_with("/status")) {
            json::object& status = at["status"].is_object() ? at["status"].get_object()
                                                            : at["status"].emplace_object();
            for (const auto& [key, value] : body.at("status").as_object())
                if (value.is_null())
                    status.erase(key);
                else
                    status[key] = value;
        } else if (body.at("metadata").as_object().contains("finalizers")) {
            at["metadata"] =
                json::object{{"finalizers", body.at("metadata").as_object().at("finalizers")},
                             {"annotations", body.at("metadata").as_object().at("annotations")}};
        } else {
            at.erase("metadata");
        }
        binder.done(each.about, adapter::outcome::applied, {}, now);
        observe(name);
    }
    /// Claims are observed with a new version each time.
    void observe(const std::string& name) {
        json::object made = stored[name];
        json::object metadata{{"name", name}, {"namespace", "team"}};
        if (const json::value* const more = made.if_contains("metadata"))
            for (const auto& [key, value] : more->as_object())
                metadata[key] = value;
        metadata["uid"] = "u-" + name;
        metadata["resourceVersion"] = std::to_string(++version);
        made["apiVersion"] = "resource.k8s.io/v1";
        made["kind"] = "ResourceClaim";
        made["metadata"] = metadata;
        made["spec"] = json::parse(R"({"devices":{"requests":[
            {"name":"r","exactly":{"deviceClassName":"gpu"}}]}})");
        const auto read = kube::read_sent_object("sent", json::serialize(made));
        REQUIRE(read);
        objects.take(stream_of(made), kube::arrived(*kube::detail::identify(json::value(made)),
                                                    read->document, read->faults));
    }
    kube::claim_binder::verdict judge(const std::string& name) {
        return binder.judge(objects.gangs().pods().at({"team", name}).object, devices(), node_of(),
                            now);
    }
    [[nodiscard]] std::string device_of(const std::string& name) {
        const json::value& status = stored[name]["status"];
        if (!status.is_object() || !status.get_object().contains("allocation"))
            return "none";
        const json::object& result =
            status.at("allocation").at("devices").at("results").at(0).as_object();
        return std::string(result.at("pool").as_string()) + "/" +
               std::string(result.at("device").as_string());
    }
    std::map<std::string, json::object> stored;
};

} // namespace

TEST_CASE(
    "claim_binder: a claim gets the finalizer, then its allocation, and then its pod is ready") {
    world w;
    w.take(slice("n1", "{name: d0}"));
    w.pod("a");
    w.want("a", "n1");
    CHECK(w.judge("a").why == "resource claim a is not allocated yet");
    CHECK(w.carry_out() == std::vector<std::string>{"protection of resource claim a for pod a"});
    CHECK(w.stored["a"]["metadata"].at("annotations").at("muster.dev/allocated-for") == "u-a");
    CHECK(w.judge("a").what == progress::waiting);
    CHECK(w.carry_out() == std::vector<std::string>{"allocation of resource claim a for pod a"});
    CHECK(w.device_of("a") == "n1/d0");
    CHECK(w.judge("a").what == progress::ready);
    CHECK(w.writes().empty());
}

namespace {

/// Pods of one gang with one ResourceClaim `c`.
struct shared_world : world {
    explicit shared_world(const std::vector<std::string>& names, const std::string& group = "") {
        take(slice("n1", "{name: d0}, {name: d1}"));
        for (const std::string& name : names)
            take("---\napiVersion: v1\nkind: Pod\nmetadata: {name: " + name +
                 (group.empty() ? ", labels: {scheduler.tensorstack.dev/group-name: gang}" : "") +
                 "}\nspec: {schedulerName: gangs, containers: [{name: c, image: i}], " +
                 (group.empty() ? "" : "schedulingGroup: {podGroupName: " + group + "}, ") +
                 "resourceClaims: [{name: g, resourceClaimName: c}]}\n");
        observe("c");
    }
    /// What the claim is reserved for: "pods/a ".
    std::string reserved() {
        std::string text;
        const json::value& status = stored["c"]["status"];
        if (!status.is_object() || !status.get_object().contains("reservedFor"))
            return text;
        for (const json::value& each : status.at("reservedFor").as_array())
            text += std::string(each.at("resource").as_string()) + "/" +
                    std::string(each.at("name").as_string()) + " ";
        return text;
    }
};

} // namespace

TEST_CASE("claim_binder: a claim that pods share is allocated once, and reserved for all of them") {
    shared_world w({"a", "b"});
    w.want("a", "n1");
    w.want("b", "n1");
    CHECK(w.carry_out() == std::vector<std::string>{"protection of resource claim c for pod a"});
    CHECK(w.judge("b").why == "resource claim c is not allocated yet");
    CHECK(w.carry_out() == std::vector<std::string>{"allocation of resource claim c for pod a"});
    CHECK(w.reserved() == "pods/a pods/b ");
    CHECK(w.judge("a").what == progress::ready);
    CHECK(w.judge("b").what == progress::ready);
    CHECK(w.writes().empty());
}

TEST_CASE("claim_binder: a pod that comes to share a claim later is added to its consumers") {
    shared_world w({"a", "b"});
    w.want("b", "n1");
    w.carry_out();
    w.carry_out();
    CHECK(w.reserved() == "pods/b ");
    w.want("a", "n1");
    const auto made = w.writes();
    REQUIRE(made.size() == 1);
    CHECK(made.front().about.name == "reservation of resource claim c for pod a");
    CHECK(made.front().request.body ==
          R"({"metadata":{"uid":"u-c"},"status":{"reservedFor":[{"resource":"pods","name":"a",)"
          R"("uid":"u-a"}]}})");
}

TEST_CASE("claim_binder: if the order of the first pod ends, another one allocates the claim") {
    shared_world w({"a", "b"});
    w.want("a", "n1");
    w.want("b", "n1");
    w.carry_out();
    w.binder.end({"team", "a"}, false);
    CHECK(w.carry_out() == std::vector<std::string>{"protection of resource claim c for pod b"});
    CHECK(w.carry_out() == std::vector<std::string>{"allocation of resource claim c for pod b"});
    CHECK(w.reserved() == "pods/b ");
}

TEST_CASE("claim_binder: a shared claim is released once none of its pods is about to start") {
    shared_world w({"a", "b"});
    w.want("a", "n1");
    w.want("b", "n1");
    w.carry_out();
    w.carry_out();
    w.binder.end({"team", "a"}, false);
    w.starting.erase({"team", "a"});
    w.review();
    w.now += 60 * adapter::second;
    w.review();
    CHECK(w.writes().empty());
    w.binder.end({"team", "b"}, true);
    w.starting.erase({"team", "b"});
    w.review();
    CHECK(w.carry_out() == std::vector<std::string>{"release of resource claim c"});
    CHECK(w.reserved().empty());
    w.review();
    CHECK(w.carry_out() == std::vector<std::string>{"release of resource claim c"});
    CHECK(!w.stored["c"].contains("metadata"));
    w.review();
    CHECK(w.writes().empty());
}

TEST_CASE("claim_binder: a claim is not released while a pod is about to start with it") {
    shared_world w({"a", "b"});
    w.want("a", "n1");
    w.carry_out();
    w.carry_out();
    w.binder.end({"team", "a"}, true);
    w.starting.erase({"team", "a"});
    w.review();
    w.want("b", "n1");
    const auto made = w.writes();
    REQUIRE(made.size() == 1);
    CHECK(made.front().about.name == "reservation of resource claim c for pod b");
}

TEST_CASE("claim_binder: a claim is not reserved for a pod on a node that cannot use it") {
    shared_world w({"a", "b"});
    w.want("a", "n1");
    w.carry_out();
    w.carry_out();
    w.want("b", "n2");
    CHECK(w.writes().empty());
    CHECK(w.judge("a").what == progress::ready);
    CHECK(w.judge("b").what == progress::failed);
}

TEST_CASE("claim_binder: a pod fails if its claim is allocated late, for another node") {
    world w;
    w.take(slice("n1", "{name: d0}"));
    w.pod("a");
    w.want("a", "n1");
    w.carry_out();
    const auto sent = w.writes();
    REQUIRE(sent.size() == 1);
    w.binder.end({"team", "a"}, false);
    w.want("a", "n2");
    w.apply(sent.front());
    CHECK(w.device_of("a") == "n1/d0");
    CHECK(w.judge("a").what == progress::failed);
    CHECK(w.judge("a").why == "resource claim a is allocated on other nodes than node n2");
}

TEST_CASE("claim_binder: devices of an allocation that is not observed yet are not given away") {
    shared_world w({"p", "q"});
    w.want("p", "n1");
    w.carry_out();
    const auto sent = w.writes();
    REQUIRE(sent.size() == 1);
    w.binder.done(sent.front().about, adapter::outcome::applied, {}, w.now);
    w.binder.end({"team", "p"}, false);
    w.want("q", "n1");
    const auto second = w.writes();
    REQUIRE(second.size() == 1);
    CHECK(second.front().about.name == "protection of resource claim c for pod q");
    w.binder.done(second.front().about, adapter::outcome::conflict, "changed", w.now);
    w.pod("b");
    w.want("b", "n1");
    w.carry_out();
    w.carry_out();
    CHECK(w.device_of("b") == "n1/d1");
}

TEST_CASE("claim_binder: pods on several nodes share a claim of devices that all of them reach") {
    shared_world w({"a", "b"});
    // The first device in the order of pools is of node n1 alone.
    w.take(
        "---\napiVersion: resource.k8s.io/v1\nkind: ResourceSlice\nmetadata: {name: s-net}\nspec: "
        "{driver: x.com, allNodes: true, pool: {name: net, generation: 1, resourceSliceCount: "
        "1}, devices: [{name: d0}]}\n");
    w.want("a", "n1");
    w.want("b", "n2");
    w.carry_out();
    CHECK(w.carry_out() == std::vector<std::string>{"allocation of resource claim c for pod a"});
    CHECK(w.device_of("c") == "net/d0");
    CHECK(w.reserved() == "pods/a pods/b ");
    CHECK(w.judge("a").what == progress::ready);
    CHECK(w.judge("b").what == progress::ready);
}

TEST_CASE("claim_binder: the claim of a PodGroup is reserved for the PodGroup") {
    shared_world w({"a", "b"}, "g");
    w.take("---\napiVersion: scheduling.k8s.io/v1alpha2\nkind: PodGroup\nmetadata: {name: g}\n"
           "spec: {schedulingPolicy: {basic: {}}, resourceClaims: [{name: g, resourceClaimName: "
           "c}]}\n");
    w.want("a", "n1");
    w.want("b", "n1");
    w.carry_out();
    CHECK(w.carry_out() == std::vector<std::string>{"allocation of resource claim c for pod a"});
    CHECK(w.reserved() == "podgroups/g ");
    CHECK(w.judge("b").what == progress::ready);
}

TEST_CASE("claim_binder: pods on one node get different devices, and each what it can use") {
    // The first pod must not get the only device that the second one asks for.
    world w;
    w.take(slice("n1", "{name: d0, attributes: {big: {bool: true}}}, {name: d1}"));
    w.pod("a");
    w.pod("b");
    const std::string big = R"({"devices":{"requests":[{"name":"r","exactly":{
        "deviceClassName":"gpu","selectors":[{"cel":{"expression":
        "'big' in device.attributes['x.com'] && device.attributes['x.com'].big"}}]}}]}})";
    w.claim("b", "metadata: {name: b}\nspec: " + big + "\n");
    w.want("a", "n1");
    w.want("b", "n1");
    CHECK(w.writes().size() == 2);
    const kube::device_choices chosen =
        kube::choose_devices(w.devices().make_catalog(), {},
                             {{w.devices().claim({"team", "a"}), w.objects.find_node("n1")},
                              {w.devices().claim({"team", "b"}), w.objects.find_node("n1")}});
    REQUIRE(chosen.lacking.empty());
    CHECK(chosen.of.at({"team", "a"}).devices.devices.front().id.device == "d1");
    CHECK(chosen.of.at({"team", "b"}).devices.devices.front().id.device == "d0");
}

TEST_CASE("claim_binder: nothing is written for a gang if one of its nodes lacks devices") {
    world w;
    w.take(slice("n1", "{name: d0}") + slice("n2", "{name: d0}"));
    for (const std::string name : {"a", "b", "c"})
        w.pod(name);
    w.want("a", "n1");
    w.want("b", "n2");
    w.want("c", "n2");
    CHECK(w.writes().empty());
    CHECK(w.judge("a").what == progress::failed);
    CHECK(w.judge("a").why == "resource claim a cannot be allocated: on node n2 the devices that "
                              "are free do not satisfy all claims");
}

TEST_CASE("claim_binder: a device that was chosen stays chosen until the allocation is observed") {
    world w;
    w.take(slice("n1", "{name: d0}, {name: d1}"));
    w.pod("a");
    w.want("a", "n1");
    w.carry_out();
    const auto sent = w.writes();
    REQUIRE(sent.size() == 1);
    w.pod("b");
    w.want("b", "n1");
    const auto second = w.writes();
    REQUIRE(second.size() == 1);
    w.apply(second.front());
    CHECK(w.carry_out().size() == 1);
    CHECK(w.device_of("b") == "n1/d1");
    w.apply(sent.front());
    CHECK(w.device_of("a") == "n1/d0");
}

TEST_CASE("claim_binder: an allocation with an unknown result does not bind a pod to its node") {
    for (const bool is_late : {false, true}) {
        world w;
        w.take(slice("n1", "{name: d0}") + slice("n2", "{name: d0}"));
        w.pod("a");
        w.want("a", "n1");
        w.carry_out();
        const auto sent = w.writes();
        REQUIRE(sent.size() == 1);
        w.binder.done(sent.front().about, adapter::outcome::unknown, "timed out", w.now);
        w.binder.end({"team", "a"}, true);
        w.want("a", "n2");
        CHECK(w.writes().empty());
        w.now += adapter::second;
        if (is_late) {
            // The server carries out the first write before the second one, which has a conflict.
            const auto fence = w.writes();
            REQUIRE(fence.size() == 1);
            CHECK(fence.front().about.name == "release of resource claim a");
            w.apply(sent.front());
            w.binder.done(fence.front().about, adapter::outcome::conflict, "changed", w.now);
            CHECK(w.judge("a").why == "resource claim a is allocated on other nodes than node n2");
            continue;
        }
        CHECK(w.carry_out() == std::vector<std::string>{"release of resource claim a"});
        CHECK(w.carry_out() ==
              std::vector<std::string>{"protection of resource claim a for pod a"});
        CHECK(w.carry_out() ==
              std::vector<std::string>{"allocation of resource claim a for pod a"});
        CHECK(w.device_of("a") == "n2/d0");
        CHECK(w.judge("a").what == progress::ready);
    }
}

TEST_CASE("claim_binder: an unknown allocation is fenced if its pod moves and another one stays") {
    shared_world w({"a", "b"});
    w.want("a", "n1");
    w.want("b", "n1");
    w.carry_out();
    const auto sent = w.writes();
    REQUIRE(sent.size() == 1);
    CHECK(sent.front().about.name == "allocation of resource claim c for pod a");
    w.binder.done(sent.front().about, adapter::outcome::unknown, "timed out", w.now);
    w.binder.end({"team", "a"}, false);
    w.want("a", "n2");
    CHECK(w.writes().empty());
    w.now += adapter::second;
    CHECK(w.carry_out() == std::vector<std::string>{"release of resource claim c"});
}

TEST_CASE("claim_binder: on the same node an allocation with an unknown result is repeated") {
    world w;
    w.take(slice("n1", "{name: d0}"));
    w.pod("a");
    w.want("a", "n1");
    w.carry_out();
    const auto sent = w.writes();
    REQUIRE(sent.size() == 1);
    w.binder.done(sent.front().about, adapter::outcome::unknown, "timed out", w.now);
    w.now += adapter::second;
    CHECK(w.carry_out() == std::vector<std::string>{"allocation of resource claim a for pod a"});
    CHECK(w.judge("a").what == progress::ready);
}

TEST_CASE("claim_binder: devices that were perhaps allocated for a pod that is gone become free") {
    world w;
    w.take(slice("n1", "{name: d0}"));
    w.pod("a");
    w.want("a", "n1");
    w.carry_out();
    const auto sent = w.writes();
    REQUIRE(sent.size() == 1);
    w.binder.done(sent.front().about, adapter::outcome::unknown, "timed out", w.now);
    w.binder.end({"team", "a"}, false);
    w.starting.erase({"team", "a"});
    w.pod("b");
    w.want("b", "n1");
    w.now += adapter::second;
    CHECK(w.carry_out() == std::vector<std::string>{"release of resource claim a"});
    CHECK(w.carry_out() == std::vector<std::string>{"protection of resource claim b for pod b"});
    CHECK(w.carry_out() == std::vector<std::string>{"allocation of resource claim b for pod b"});
    CHECK(w.device_of("b") == "n1/d0");
}

TEST_CASE("claim_binder: after a conflict the write is made again for the newer version") {
    world w;
    w.take(slice("n1", "{name: d0}"));
    w.pod("a");
    w.want("a", "n1");
    w.carry_out();
    const auto sent = w.writes();
    REQUIRE(sent.size() == 1);
    w.binder.done(sent.front().about, adapter::outcome::conflict, "changed", w.now);
    CHECK(w.writes().empty());
    w.observe("a");
    CHECK(w.carry_out() == std::vector<std::string>{"allocation of resource claim a for pod a"});
    CHECK(w.judge("a").what == progress::ready);
}

TEST_CASE("claim_binder: a choice is made again if another claim got the device meanwhile") {
    world w;
    w.take(slice("n1", "{name: d0}, {name: d1}"));
    w.pod("a");
    w.want("a", "n1");
    w.carry_out();
    w.claim("other", "metadata: {name: other}\n" + spec +
                         "status: {allocation: {devices: {results: [{request: r, driver: x.com, "
                         "pool: n1, device: d0}]}}}\n");
    w.carry_out();
    CHECK(w.device_of("a") == "n1/d1");
}

TEST_CASE("claim_binder: a pod is ready when all binding conditions of its devices hold") {
    world w;
    w.take(slice("n1", "{name: d0, bindingConditions: [Up], bindingFailureConditions: [Down]}"));
    w.pod("a");
    w.want("a", "n1");
    w.carry_out();
    w.carry_out();
    CHECK(w.judge("a").why == "resource claim a waits for Up of device d0");
    const auto say = [&](const std::string& condition) {
        w.stored["a"]["status"].as_object()["devices"] =
            json::parse(R"([{"driver":"x.com","pool":"n1","device":"d0","conditions":[{"type":")" +
                        condition + R"(","status":"True","message":"so"}]}])");
        w.observe("a");
    };
    SUBCASE("they hold") {
        say("Up");
        CHECK(w.judge("a").what == progress::ready);
    }
    SUBCASE("one says that the device cannot be used") {
        say("Down");
        CHECK(w.judge("a").why ==
              "resource claim a has a device that cannot be used: Down of device d0: so");
    }
    SUBCASE("it takes too long") {
        w.now = 120 * adapter::second;
        CHECK(w.judge("a").what == progress::failed);
        CHECK(w.judge("a").why == "resource claim a waits for Up of device d0 (waited 120 s)");
    }
}

TEST_CASE("claim_binder: an allocated claim is only reserved") {
    world w;
    w.pod("a");
    w.stored["a"]["status"] = json::parse(R"({"allocation":{"devices":{"results":[
        {"request":"r","driver":"x.com","pool":"n1","device":"d0"}]}}})");
    w.observe("a");
    w.want("a", "n1");
    const auto made = w.writes();
    REQUIRE(made.size() == 1);
    CHECK(made.front().request.path ==
          "/apis/resource.k8s.io/v1/namespaces/team/resourceclaims/a/status");
    CHECK(made.front().request.body == R"({"metadata":{"uid":"u-a"},"status":{"reservedFor":[)"
                                       R"({"resource":"pods","name":"a","uid":"u-a"}]}})");
    w.binder.done(made.front().about, adapter::outcome::refused, "too many", 0);
    CHECK(w.judge("a").why == "resource claim a cannot be reserved: too many");
}

TEST_CASE("claim_binder: claims of a gang of which a pod failed are released") {
    world w;
    w.take(slice("n1", "{name: d0}") + slice("n2", "{name: d0}"));
    w.pod("a");
    w.pod("b");
    w.want("a", "n1");
    w.want("b", "n2");
    w.carry_out();
    CHECK(w.carry_out().size() == 2);
    w.binder.end({"team", "b"}, true);
    w.review();
    CHECK(w.writes().empty()); // the scheduler has not given up the gang yet
    w.starting.clear();
    w.review();
    CHECK(w.judge("a").what == progress::cancelled);
    w.binder.end({"team", "a"}, false);
    w.review();
    CHECK(w.carry_out() ==
          std::vector<std::string>{"release of resource claim a", "release of resource claim b"});
    CHECK(w.device_of("a") == "none");
    w.review();
    CHECK(w.carry_out().size() == 2);
    CHECK(!w.stored["a"].contains("metadata"));
    w.review();
    CHECK(w.writes().empty());
}

TEST_CASE("claim_binder: a new binder releases what is allocated for pods that do not start") {
    world before;
    before.take(slice("n1", "{name: d0}"));
    before.pod("a");
    before.want("a", "n1");
    before.carry_out();
    before.carry_out();
    before.binder = kube::claim_binder();
    before.starting.clear();
    before.review();
    CHECK(before.writes().empty());
    before.now = 9 * adapter::second;
    before.review();
    CHECK(before.writes().empty());
    SUBCASE("it does not start within ten seconds") {
        before.now = 11 * adapter::second;
        before.review();
        CHECK(before.carry_out() == std::vector<std::string>{"release of resource claim a"});
    }
    SUBCASE("it starts") {
        before.want("a", "n1");
        before.now = 11 * adapter::second;
        before.review();
        CHECK(before.writes().empty());
        CHECK(before.judge("a").what == progress::ready);
    }
}

TEST_CASE(
    "claim_binder: a claim that others allocated, or that has another user, is not released") {
    world w;
    w.pod("a");
    w.pod("b");
    const std::string devices = R"("devices":{"results":[
        {"request":"r","driver":"x.com","pool":"n1","device":"d0"}]})";
    w.stored["a"]["status"] = json::parse("{\"allocation\":{" + devices + "}}");
    w.stored["b"]["metadata"] =
        json::parse(R"({"annotations":{"muster.dev/allocated-for":"u-b"}})");
    w.stored["b"]["status"] =
        json::parse("{\"allocation\":{" + devices +
                    R"(},"reservedFor":[{"resource":"pods","name":"z","uid":"u-z"}]})");
    w.observe("a");
    w.observe("b");
    w.review();
    w.now = 100 * adapter::second;
    w.review();
    CHECK(w.writes().empty());
}

TEST_CASE("claim_binder: a pod is not ready while its claim is being released") {
    world w;
    w.take(slice("n1", "{name: d0}"));
    w.pod("a");
    w.want("a", "n1");
    w.carry_out();
    w.carry_out();
    w.binder.end({"team", "a"}, true);
    w.starting.clear();
    w.review();
    const auto release = w.writes();
    REQUIRE(release.size() == 1);
    w.want("a", "n1");
    CHECK(w.judge("a").why == "resource claim a is being released");
    w.binder.done(release.front().about, adapter::outcome::applied, {}, 0);
    CHECK(w.judge("a").why == "resource claim a is being released");
    w.apply(release.front());
    CHECK(w.judge("a").why == "resource claim a is not allocated yet");
    CHECK(w.carry_out() == std::vector<std::string>{"allocation of resource claim a for pod a"});
    CHECK(w.judge("a").what == progress::ready);
}

TEST_CASE("claim_binder: devices are chosen again once the release of a wanted claim is observed") {
    world w;
    w.take(slice("n1", "{name: d0}"));
    w.pod("a");
    w.want("a", "n1");
    w.carry_out();
    w.carry_out();
    w.binder.end({"team", "a"}, true);
    w.starting.clear();
    w.review();
    const auto release = w.writes();
    REQUIRE(release.size() == 1);
    w.want("a", "n1");
    CHECK(w.writes().empty());
    w.apply(release.front());
    CHECK(w.writes().size() == 1);
}

TEST_CASE("claim_binder: a claim is made for extended resources that devices serve on the node") {
    world w;
    w.take("---\napiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata: {name: gpu}\nspec: "
           "{extendedResourceName: x.com/gpu, selectors: [{cel: {expression: \"device.driver == "
           "'x.com'\"}}]}\n" +
           slice("n1", "{name: d0}"));
    const auto pod = [](const std::string& more) {
        return "---\napiVersion: v1\nkind: Pod\nmetadata: {name: a, labels: "
               "{scheduler.tensorstack.dev/group-name: gang}}\nspec: {schedulerName: gangs, "
               "containers: [{name: c, image: i, resources: {requests: {cpu: 1, x.com/gpu: 1}, "
               "limits: {x.com/gpu: 1}}}]}\n" +
               more;
    };
    w.take(pod(""));
    w.want("a", "n1");
    CHECK(w.judge("a").what == progress::waiting);
    const auto made = w.writes();
    REQUIRE(made.size() == 1);
    CHECK(made.front().request.method == kube::http_method::post);
    json::object claim = json::parse(made.front().request.body).as_object();
    const std::string name(claim.at("metadata").at("name").as_string());
    CHECK(name.starts_with("a-extended-resources-"));
    CHECK(claim.at("spec") == json::parse(R"({"devices":{"requests":[{"name":
        "container-0-request-1","exactly":{"deviceClassName":"gpu","allocationMode":"ExactCount",
        "count":1}}]}})"));
    const auto observe = [&](const std::string& version) {
        claim["metadata"].as_object()["uid"] = "u-claim";
        claim["metadata"].as_object()["namespace"] = "team";
        claim["metadata"].as_object()["resourceVersion"] = version;
        const auto read = kube::read_sent_object("sent", json::serialize(claim));
        REQUIRE(read);
        w.objects.take(w.stream_of(claim),
                       kube::arrived(*kube::detail::identify(json::value(claim)), read->document,
                                     read->faults));
    };
    w.binder.done(made.front().about, adapter::outcome::applied, {}, 0);
    observe("5");
    const auto allocated = w.writes();
    REQUIRE(allocated.size() == 1);
    CHECK(allocated.front().request.path.ends_with(name + "/status"));
    const json::value body = json::parse(allocated.front().request.body);
    claim["status"] = body.at("status");
    w.binder.done(allocated.front().about, adapter::outcome::applied, {}, 0);
    observe("6");
    CHECK(w.judge("a").why ==
          "the pod's status does not name the claim for its extended resources yet");
    const auto told = w.writes();
    REQUIRE(told.size() == 1);
    CHECK(told.front().request.path == "/api/v1/namespaces/team/pods/a/status");
    CHECK(json::parse(told.front().request.body).at("status") ==
          json::parse(R"({"extendedResourceClaimStatus":{"resourceClaimName":")" + name +
                      R"(","requestMappings":[{"containerName":"c","resourceName":"x.com/gpu",
                      "requestName":"container-0-request-1"}]}})"));
    w.binder.done(told.front().about, adapter::outcome::applied, {}, 0);
    w.take(pod("status: {extendedResourceClaimStatus: {resourceClaimName: " + name + "}}\n"));
    CHECK(w.judge("a").what == progress::ready);

    SUBCASE("the claim is deleted if the pod does not start") {
        w.binder.end({"team", "a"}, true);
        w.starting.clear();
        const auto next = [&](const std::string& version) {
            observe(version);
            w.review();
            auto all = w.writes();
            REQUIRE(all.size() == 1);
            w.binder.done(all.front().about, adapter::outcome::applied, {}, 0);
            return all.front().request;
        };
        CHECK(json::parse(next("7").body).at("status").at("allocation").is_null());
        claim.erase("status");
        CHECK(next("8").body.find("$deleteFromPrimitiveList/finalizers") != std::string::npos);
        claim["metadata"].as_object().erase("finalizers");
        CHECK(next("9").method == kube::http_method::erase);
    }
    SUBCASE("the claim is released first if the pod goes to a node that lists the resource") {
        w.take("---\napiVersion: v1\nkind: Node\nmetadata: {name: n2}\nstatus: {allocatable: "
               "{cpu: 8, pods: 110, x.com/gpu: 1}}\n");
        w.binder.end({"team", "a"}, false);
        w.want("a", "n2");
        const auto all = w.writes();
        REQUIRE(all.size() == 1);
        CHECK(json::parse(all.front().request.body).at("status").at("allocation").is_null());
        CHECK(w.judge("a").why == "resource claim " + name + " is still to be deleted");
    }
}

} // namespace claim_binder_test
