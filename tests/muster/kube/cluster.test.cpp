// SPDX-License-Identifier: Apache-2.0
#include <muster/kube/cluster.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/object.hpp>
#include <doctest/doctest.h>

#include <muster/adapter/driver.hpp>
#include <muster/kube/group_status.hpp>
#include <muster/policy/victim_rule.hpp>
#include <muster/serve/kubelets.hpp>
#include <muster/serve/volume_controller.hpp>
#include <muster/testing/cluster_conformance.hpp>

#include "store_carrier.hpp"

namespace kube_cluster_test {

namespace adapter = muster::adapter;
namespace codec = muster::codec;
namespace kube = muster::kube;
using namespace muster::testing::api_server;
using kube::minute;
using kube::second;
using muster::state;
using muster_test::store_carrier;

namespace {

constexpr std::size_t width = 8;

/// Says how many members run.
struct count_status {
    boost::json::object operator()(const kube::group_report& of, std::int64_t) const {
        boost::json::object made{{"members", of.members.size()}};
        if (of.status->running > 0)
            made["running"] = of.status->running;
        return made;
    }
};

using cluster_type = kube::cluster<width, store_carrier, count_status>;
static_assert(adapter::cluster<cluster_type>);

kube::cluster_options scheduler(std::optional<std::string> identity = {}) {
    kube::cluster_options how;
    how.events.controller = "muster.dev/scheduler";
    if (identity) {
        how.election.emplace();
        how.election->name_space = "muster";
        how.election->name = "scheduler";
        how.election->identity = *identity;
    }
    return how;
}

/// A server with T9k's kinds, nodes and kubelets.
struct world {
    api_store store{7};
    kubelets nodes{store};

    world() {
        store.set_time(1'700'000'000 * second);
        for (const std::string kind : {"PodGroup", "Queue"}) {
            const std::string plural = kind == "Queue" ? "queues" : "podgroups";
            post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
                 R"({"metadata":{"name":")" + plural +
                     R"(.scheduler.tensorstack.dev"},"spec":{"group":"scheduler.tensorstack.dev",)"
                     R"("scope":"Namespaced","names":{"kind":")" +
                     kind + R"(","plural":")" + plural +
                     R"("},"versions":[{"name":"v1beta1","served":true,"storage":true,)"
                     R"("subresources":{"status":{}},"schema":{"openAPIV3Schema":{"type":"object",)"
                     R"("x-kubernetes-preserve-unknown-fields":true}}}]}})");
        }
        post("/api/v1/namespaces", R"({"metadata":{"name":"team"}})");
        post("/api/v1/namespaces", R"({"metadata":{"name":"muster"}})");
    }
    answer ask(std::string method, std::string_view target, std::string body = {}) {
        request made;
        made.method = std::move(method);
        made.body = std::move(body);
        read_target(target, made);
        return store.handle(made);
    }
    void post(std::string_view target, const std::string& body) {
        const answer made = ask("POST", target, body);
        CAPTURE(boost::json::serialize(made.body));
        REQUIRE(made.code == 201);
    }
    void node(const std::string& name, int cpu) {
        post("/api/v1/nodes", R"({"metadata":{"name":")" + name +
                                  R"("},"status":{"allocatable":{"cpu":")" + std::to_string(cpu) +
                                  R"(","memory":"64Gi","pods":"110"}}})");
    }
    void group(const std::string& name, int minimum) {
        post("/apis/scheduler.tensorstack.dev/v1beta1/namespaces/team/podgroups",
             R"({"metadata":{"name":")" + name + R"("},"spec":{"minMember":)" +
                 std::to_string(minimum) + "}}");
    }
    void pod(const std::string& name, const std::string& group, const std::string& cpu = "1",
             const std::string& by = "t9k-scheduler") {
        const std::string label =
            group.empty()
                ? ""
                : R"(,"labels":{"scheduler.tensorstack.dev/group-name":")" + group + "\"}";
        post("/api/v1/namespaces/team/pods",
             R"({"metadata":{"name":")" + name + "\"" + label + R"(},"spec":{"schedulerName":")" +
                 by +
                 R"(","containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":")" +
                 cpu + R"("}}}]}})");
    }
    std::string at(const std::string& path, std::initializer_list<std::string_view> field) {
        return std::string(text_at(ask("GET", path).body, field));
    }
    std::string where(const std::string& pod) {
        return at("/api/v1/namespaces/team/pods/" + pod, {"spec", "nodeName"});
    }
    /// What a pod says of its waiting.
    std::string waits(const std::string& pod) {
        const kube::pod_waiting found =
            kube::waiting_of(ask("GET", "/api/v1/namespaces/team/pods/" + pod).body);
        return found.reason.empty() ? "" : found.reason + ": " + found.message;
    }
    std::size_t writes(std::string_view resource) const {
        std::size_t count = 0;
        for (const journal_entry& each : store.journal())
            count += each.resource == resource && each.code < 300 ? 1U : 0U;
        return count;
    }
};

/// A client of it, to be held to what every cluster promises.
struct promised {
    using cluster_type = kube::cluster<width, store_carrier, kube::group_status>;
    using traits = cluster_type::traits;

    world server;
    store_carrier carrier{server.store};
    bool loses = false;
    cluster_type client;

    explicit promised(bool elects)
        : client(carrier, scheduler(elects ? std::optional<std::string>("a") : std::nullopt)) {
        carrier.harm = [this](const kube::http_request& asked) {
            return asked.path.ends_with("/binding") && std::exchange(loses, false)
                       ? store_carrier::mishap::lost
                       : store_carrier::mishap::none;
        };
    }

    cluster_type& cluster() { return client; }
    state<traits> make_state() { return state<traits>(client.objects().pods_kind()); }
    static codec::object_key pod(const std::string& name) { return {"team", name}; }
    static std::string node(const std::string& name) { return name; }
    static codec::group_key gang(const std::string& name) {
        return {"team", name, codec::group_origin::pod_group};
    }
    void put_node(const std::string& name, std::int64_t size) {
        server.node(name, static_cast<int>(size));
    }
    void put_gang(const std::string& name, std::int64_t minimum) {
        const std::string at =
            "/apis/scheduler.tensorstack.dev/v1beta1/namespaces/team/podgroups/" + name;
        if (server.ask("GET", at).code != 200)
            return server.group(name, static_cast<int>(minimum));
        request change;
        change.method = "PATCH";
        change.content_type = "application/merge-patch+json";
        change.body = R"({"spec":{"minMember":)" + std::to_string(minimum) + "}}";
        read_target(at, change);
        REQUIRE(server.store.handle(change).code == 200);
    }
    void create_pod(const std::string& name, const std::string& in, bool ours) {
        server.pod(name, in, "1", ours ? "t9k-scheduler" : "somebody-else");
    }
    void delete_pod(const std::string& name) {
        static_cast<void>(server.ask("DELETE", "/api/v1/namespaces/team/pods/" + name,
                                     R"({"gracePeriodSeconds":0})"));
    }
    std::string uid_of(const std::string& name) {
        return server.at("/api/v1/namespaces/team/pods/" + name, {"metadata", "uid"});
    }
    std::string node_of(const std::string& name) { return server.where(name); }
    void bind_elsewhere(const std::string& name, const std::string& on) {
        server.post("/api/v1/namespaces/team/pods/" + name + "/binding",
                    R"({"target":{"kind":"Node","name":")" + on + R"("}})");
    }
    bool lose_next_answer() {
        loses = true;
        return true;
    }
    void wait() {
        client.pump(0);
        carrier.pass(20 * kube::millisecond);
        client.pump(0);
    }
};
static_assert(muster::testing::conformance_world<promised>);

/// Evicts pods of groups of lower priority.
struct preempting : muster::policy<> {
    muster::priority_preemption victims{};
};

/// A scheduler that runs on it.
struct process {
    store_carrier carrier;
    cluster_type cluster;
    state<cluster_type::traits> known;
    adapter::driver<cluster_type> driver;

    explicit process(world& of, kube::cluster_options how = scheduler())
        : carrier(of.store),
          cluster(carrier, std::move(how)),
          known(cluster.objects().pods_kind()),
          driver(cluster, known) {}

    void run(world& of, std::int64_t span) {
        const std::int64_t end = carrier.now().steady + span;
        while (carrier.now().steady < end) {
            const auto report = driver.step();
            const std::int64_t now = carrier.now().steady;
            cluster.pump(std::clamp<std::int64_t>(report.next - now, 0, 50 * kube::millisecond));
            of.nodes.step();
            carrier.pass(10 * kube::millisecond);
        }
    }
};

} // namespace

TEST_CASE("a client of a Kubernetes API server is a cluster") {
    using conformance = muster::testing::cluster_conformance<promised>;
    for (const auto& rule : conformance::rules())
        for (const bool elects : {false, true}) {
            const std::string name(rule.name);
            CAPTURE(name);
            CAPTURE(elects);
            promised fresh(elects);
            for (const std::string& wrong : conformance::check(rule, fresh))
                FAIL_CHECK(wrong);
        }
}

TEST_CASE("a gang is bound whole, by uid, and its status and one event tell of it") {
    world of;
    of.node("a", 2);
    of.node("b", 2);
    of.group("train", 4);
    for (int i = 0; i < 4; ++i)
        of.pod("train-" + std::to_string(i), "train");
    process run(of);
    run.run(of, 5 * second);
    CHECK(run.cluster.synced());
    CHECK(run.cluster.troubles().empty());
    CHECK(of.writes("pods/binding") == 4);
    CHECK(of.nodes.running() == 4);
    CHECK(of.nodes.refused() == 0);
    const std::string group =
        "/apis/scheduler.tensorstack.dev/v1beta1/namespaces/team/podgroups/train";
    const answer seen = of.ask("GET", group);
    CHECK(seen.body.at("status").at("running").as_int64() == 4);
    CHECK(of.writes("events") == 1);
    // Converged: nothing more is written.
    const std::size_t before = of.store.journal().size();
    run.run(of, 2 * minute);
    CHECK(of.store.journal().size() == before);
}

TEST_CASE("a gang that does not fit waits, and goes when a node comes") {
    world of;
    of.node("a", 2);
    of.group("train", 3);
    for (int i = 0; i < 3; ++i)
        of.pod("train-" + std::to_string(i), "train");
    process run(of);
    run.run(of, 2 * second);
    CHECK(of.writes("pods/binding") == 0);
    CHECK(of.writes("events") == 1);
    of.node("b", 1);
    run.run(of, 5 * second);
    CHECK(of.nodes.running() == 3);
}

TEST_CASE("pods that wait for a while come to say why, with an event each, and then no more") {
    world of;
    of.node("a", 2);
    of.group("train", 3);
    for (int i = 0; i < 3; ++i)
        of.pod("train-" + std::to_string(i), "train");
    of.pod("foreign", "train", "1", "default-scheduler");
    process run(of);
    run.run(of, 5 * second);
    CHECK(of.waits("train-0") == "Unschedulable: it does not fit the nodes that are free");
    CHECK(of.waits("train-2") == of.waits("train-0"));
    CHECK(of.waits("foreign").empty());
    CHECK(of.writes("pods/status") == 3);
    CHECK(of.writes("events") == 4);
    const std::size_t before = of.store.journal().size();
    run.run(of, 2 * minute);
    CHECK(of.store.journal().size() == before);
    // Another reason is said anew.
    request patch;
    patch.method = "PATCH";
    patch.content_type = "application/merge-patch+json";
    patch.path = "/apis/scheduler.tensorstack.dev/v1beta1/namespaces/team/podgroups/train";
    patch.body = R"({"spec":{"minMember":4}})";
    REQUIRE(of.store.handle(patch).code == 200);
    run.run(of, 5 * second);
    CHECK(of.waits("train-0") == "NotEnoughMembers: it has too few members yet");
    CHECK(of.writes("pods/status") == 6);
    patch.body = R"({"spec":{"minMember":3}})";
    REQUIRE(of.store.handle(patch).code == 200);
    of.node("b", 1);
    run.run(of, 5 * second);
    CHECK(of.nodes.running() == 3);
    CHECK(of.waits("train-0").empty());
}

TEST_CASE("a surplus pod that finds no node comes to say why, once, and is bound when one comes") {
    world of;
    of.node("a", 2);
    of.group("train", 2);
    for (int i = 0; i < 3; ++i)
        of.pod("train-" + std::to_string(i), "train");
    process run(of);
    run.run(of, 10 * second);
    CHECK(of.nodes.running() == 2);
    CHECK(of.waits("train-0").empty());
    CHECK(of.waits("train-2") ==
          "Unschedulable: its gang has its minimum, and no node has room for more members");
    // Two are those of the kubelet.
    CHECK(of.writes("pods/status") == 3);
    const std::size_t before = of.store.journal().size();
    run.run(of, 2 * minute);
    CHECK(of.store.journal().size() == before);
    of.node("b", 1);
    run.run(of, 5 * second);
    CHECK(of.nodes.running() == 3);
    CHECK(of.waits("train-2").empty());
}

TEST_CASE(
    "a pod whose volumes are not ready has a reason of its own, unless other fields hold it") {
    world of;
    of.node("a", 2);
    const auto pod = [&](const std::string& name, const std::string& more) {
        of.post(
            "/api/v1/namespaces/team/pods",
            R"({"metadata":{"name":")" + name +
                R"("},"spec":{"schedulerName":"t9k-scheduler","containers":[{"name":"c","image":"i"}],)"
                R"("volumes":[{"name":"v","persistentVolumeClaim":{"claimName":"missing"}}])" +
                more + "}}");
    };
    pod("volume", "");
    pod("both", R"(,"affinity":{"unknownAffinity":{}})");
    process run(of);
    run.run(of, 5 * second);
    CHECK(of.waits("volume") == "VolumeNotReady: volumes or claims of members are not ready");
    CHECK(of.waits("both") ==
          "UnsupportedConstraint: members carry constraints that are not supported");
}

TEST_CASE("a surplus pod whose volumes are not ready has their reason while its gang runs") {
    world of;
    of.node("a", 4);
    of.group("train", 1);
    of.pod("train-0", "train");
    of.post("/api/v1/namespaces/team/pods",
            R"({"metadata":{"name":"train-1","labels":{"scheduler.tensorstack.dev/group-name":)"
            R"("train"}},"spec":{"schedulerName":"t9k-scheduler",)"
            R"("containers":[{"name":"c","image":"i"}],"volumes":)"
            R"([{"name":"v","persistentVolumeClaim":{"claimName":"missing"}}]}})");
    process run(of);
    run.run(of, 10 * second);
    CHECK(of.where("train-0") == "a");
    CHECK(of.waits("train-1") == "VolumeNotReady: volumes or claims of members are not ready");
}

TEST_CASE("a pod has a condition while its volumes are provisioned, and runs once they are bound") {
    world of;
    volume_controller volumes(of.store);
    of.node("a", 2);
    of.post("/apis/storage.k8s.io/v1/storageclasses",
            R"({"metadata":{"name":"fast"},"provisioner":"example.com/disk",)"
            R"("volumeBindingMode":"WaitForFirstConsumer"})");
    of.post("/api/v1/namespaces/team/persistentvolumeclaims",
            R"({"metadata":{"name":"c"},"spec":{"storageClassName":"fast",)"
            R"("accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}})");
    of.post("/api/v1/namespaces/team/pods",
            R"({"metadata":{"name":"p"},"spec":{"schedulerName":"t9k-scheduler",)"
            R"("containers":[{"name":"c","image":"i"}],"volumes":)"
            R"([{"name":"v","persistentVolumeClaim":{"claimName":"c"}}]}})");
    process run(of);
    run.run(of, 5 * second);
    CHECK(of.waits("p") ==
          "VolumeNotReady: node a is selected; waiting for volumes to be bound to claims c");
    CHECK(of.writes("events") == 1);
    volumes.step();
    run.run(of, 2 * second);
    CHECK(of.where("p") == "a");
    CHECK(of.waits("p").empty());
}

TEST_CASE("a pod waits while another volume is attached to the only node that it may use") {
    world of;
    of.node("a", 2);
    of.post("/apis/storage.k8s.io/v1/csinodes",
            R"({"metadata":{"name":"a"},"spec":{"drivers":[{"name":"csi.x","nodeID":"a",)"
            R"("allocatable":{"count":1}}]}})");
    of.post("/apis/storage.k8s.io/v1/volumeattachments",
            R"({"metadata":{"name":"old"},"spec":{"attacher":"csi.x","nodeName":"a",)"
            R"("source":{"persistentVolumeName":"old"}}})");
    of.post("/api/v1/namespaces/team/pods",
            R"({"metadata":{"name":"p"},"spec":{"schedulerName":"t9k-scheduler",)"
            R"("containers":[{"name":"c","image":"i"}],)"
            R"("volumes":[{"name":"v","csi":{"driver":"csi.x"}}]}})");
    process run(of);
    run.run(of, 5 * second);
    CHECK(of.where("p").empty());
    of.ask("DELETE", "/apis/storage.k8s.io/v1/volumeattachments/old", "");
    run.run(of, 5 * second);
    CHECK(of.where("p") == "a");
}

TEST_CASE("that a pod waits is never written after somebody has bound it") {
    world of;
    of.node("a", 1);
    of.pod("large", "", "2");
    process run(of);
    bool bound = false;
    run.carrier.harm = [&](const kube::http_request& what) {
        if (what.path.ends_with("/large/status") && !std::exchange(bound, true))
            of.post("/api/v1/namespaces/team/pods/large/binding",
                    R"({"target":{"kind":"Node","name":"a"}})");
        return store_carrier::mishap::none;
    };
    run.run(of, 30 * second);
    CHECK(bound);
    CHECK(of.waits("large").empty());
    CHECK(of.writes("events") == 0);
}

TEST_CASE("what cannot be said of a pod is tried again, and given up in the end") {
    for (const bool refused : {false, true}) {
        CAPTURE(refused);
        world of;
        of.node("a", 1);
        of.pod("large", "", "2");
        process run(of);
        int tried = 0;
        run.carrier.harm = [&](const kube::http_request& what) {
            if (!what.path.ends_with("/large/status"))
                return store_carrier::mishap::none;
            ++tried;
            return refused ? store_carrier::mishap::refused : store_carrier::mishap::not_sent;
        };
        run.run(of, 2 * minute);
        CHECK(tried == (refused ? 1 : 5));
        CHECK(of.waits("large").empty());
        CHECK(run.cluster.wakes() > run.carrier.now().steady);
    }
}

TEST_CASE("other schedulers' pods take room and are never touched") {
    world of;
    of.node("a", 2);
    of.pod("other", "train", "1", "default-scheduler");
    of.pod("foreign", "", "1", "default-scheduler");
    of.post("/api/v1/namespaces/team/pods/foreign/binding",
            R"({"target":{"kind":"Node","name":"a"}})");
    of.group("train", 2);
    of.pod("train-0", "train");
    of.pod("train-1", "train");
    process run(of);
    run.run(of, 5 * second);
    CHECK(of.writes("pods/binding") == 1);
    CHECK(of.where("other").empty());
    CHECK(of.where("train-0").empty());
    of.ask("DELETE", "/api/v1/namespaces/team/pods/foreign", R"({"gracePeriodSeconds":0})");
    run.run(of, 5 * second);
    CHECK(of.writes("pods/binding") == 3);
    CHECK(of.where("other").empty());
}

TEST_CASE("gangs do not get the room of a pod that another scheduler has nominated") {
    world of;
    of.node("a", 2);
    of.pod("guest", "", "1", "default-scheduler");
    const auto nominate = [&](const std::string& node) {
        request patch;
        patch.method = "PATCH";
        patch.content_type = "application/merge-patch+json";
        patch.path = "/api/v1/namespaces/team/pods/guest/status";
        patch.body = R"({"status":{"nominatedNodeName":)" + node + "}}";
        REQUIRE(of.store.handle(patch).code == 200);
    };
    nominate(R"("a")");
    of.group("train", 2);
    of.pod("train-0", "train");
    of.pod("train-1", "train");
    process run(of);
    run.run(of, 5 * second);
    CHECK(of.writes("pods/binding") == 0);
    nominate("null");
    run.run(of, 5 * second);
    CHECK(of.where("train-0") == "a");
    CHECK(of.where("train-1") == "a");
    CHECK(of.where("guest").empty());
}

TEST_CASE("pods of a gang that waits for evicted pods name their future nodes") {
    world of;
    of.node("a", 2);
    const auto ranked = [&](const std::string& name, const std::string& priority) {
        of.post("/apis/scheduler.tensorstack.dev/v1beta1/namespaces/team/podgroups",
                R"({"metadata":{"name":")" + name + R"("},"spec":{"minMember":1,"priority":)" +
                    priority + "}}");
        of.pod(name + "-0", name, "2");
    };
    store_carrier carrier(of.store);
    cluster_type cluster(carrier, scheduler());
    state<cluster_type::traits> known(cluster.objects().pods_kind());
    adapter::driver<cluster_type, preempting> driver(cluster, known);
    bool victims_go = true;
    const auto runs_until = [&](const auto& reached) {
        const std::int64_t end = carrier.now().steady + 2 * minute;
        while (!reached() && carrier.now().steady < end) {
            static_cast<void>(driver.step());
            cluster.pump(0);
            if (victims_go)
                of.nodes.step();
            carrier.pass(10 * kube::millisecond);
        }
        return reached();
    };
    ranked("low", "1");
    REQUIRE(runs_until([&] { return of.where("low-0") == "a"; }));
    ranked("high", "9");
    const auto nominated = [&] {
        return of.at("/api/v1/namespaces/team/pods/high-0", {"status", "nominatedNodeName"});
    };
    int failures = 0;
    SUBCASE("at once") {}
    SUBCASE("though the first writes do not arrive") {
        carrier.harm = [&](const kube::http_request& what) {
            if (what.body.find("nominatedNodeName") == std::string::npos || failures == 2)
                return store_carrier::mishap::none;
            ++failures;
            return store_carrier::mishap::not_sent;
        };
        // The victim does not go meanwhile.
        victims_go = false;
    }
    CHECK(runs_until([&] { return nominated() == "a"; }));
    CHECK(failures == (victims_go ? 0 : 2));
    victims_go = true;
    CHECK(of.where("high-0").empty());
    CHECK(runs_until([&] { return of.where("high-0") == "a"; }));
}

TEST_CASE("groups by labels, pods of their own, and groups that are missing") {
    world of;
    of.node("a", 8);
    of.post("/api/v1/namespaces/team/pods",
            R"({"metadata":{"name":"ack","labels":{"pod-group.scheduling.sigs.k8s.io/name":"g",)"
            R"("pod-group.scheduling.sigs.k8s.io/min-available":"1"}},"spec":{"schedulerName":)"
            R"("t9k-scheduler","containers":[{"name":"c","image":"i"}]}})");
    of.pod("alone", "");
    of.pod("lost", "nowhere");
    process run(of);
    run.run(of, 5 * second);
    CHECK(of.where("ack") == "a");
    CHECK(of.where("alone") == "a");
    CHECK(of.where("lost").empty());
    of.group("nowhere", 1);
    run.run(of, 5 * second);
    CHECK(of.where("lost") == "a");
}

TEST_CASE("where no API has queues, the default queue is there all the same") {
    world of;
    of.node("a", 8);
    of.post(
        "/api/v1/namespaces/team/pods",
        R"({"metadata":{"name":"p","labels":{"quota.scheduling.koordinator.sh/name":"default"},)"
        R"("annotations":{"gang.scheduling.koordinator.sh/name":"g",)"
        R"("gang.scheduling.koordinator.sh/min-available":"1"}},"spec":{"schedulerName":)"
        R"("koord-scheduler","containers":[{"name":"c","image":"i"}]}})");
    kube::cluster_options how = scheduler();
    how.live.dialects = {kube::dialect::koordinator};
    how.live.scheduler_names = {"koord-scheduler"};
    process run(of, std::move(how));
    run.run(of, 5 * second);
    CHECK(of.where("p") == "a");
}

TEST_CASE("a queue's quota and its tenants are kept to, and changes of them too") {
    world of;
    of.node("a", 8);
    const std::string queues =
        "/apis/scheduler.tensorstack.dev/v1beta1/namespaces/t9k-system/queues";
    of.post("/api/v1/namespaces", R"({"metadata":{"name":"t9k-system"}})");
    of.post(queues, R"({"metadata":{"name":"default"},"spec":{"quota":{"requests":{"cpu":"1"}},)"
                    R"("namespaceSelector":{"matchLabels":{"may":"yes"}}}})");
    of.group("first", 1);
    of.pod("one", "first");
    process run(of);
    run.run(of, 3 * second);
    CHECK(of.where("one").empty());
    request patch;
    patch.method = "PATCH";
    patch.content_type = "application/merge-patch+json";
    patch.path = "/api/v1/namespaces/team";
    patch.body = R"({"metadata":{"labels":{"may":"yes"}}})";
    REQUIRE(of.store.handle(patch).code == 200);
    run.run(of, 3 * second);
    CHECK(of.where("one") == "a");
    of.group("more", 1);
    of.pod("three", "more");
    run.run(of, 3 * second);
    CHECK(of.where("three").empty());
    patch.path = queues + "/default";
    patch.body = R"({"spec":{"quota":{"requests":{"cpu":"5"}}}})";
    REQUIRE(of.store.handle(patch).code == 200);
    run.run(of, 3 * second);
    CHECK(of.where("three") == "a");
}

TEST_CASE(
    "pods that get older than their queue's maxDuration are evicted, unless owners see to it") {
    world of;
    of.node("a", 8);
    of.post("/api/v1/namespaces", R"({"metadata":{"name":"t9k-system"}})");
    of.post("/apis/scheduler.tensorstack.dev/v1beta1/namespaces/t9k-system/queues",
            R"({"metadata":{"name":"default"},"spec":{"maxDuration":"1m",)"
            R"("namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":"team"}}}})");
    const auto owned = [&](const std::string& name, const std::string& more,
                           const std::string& spec = "") {
        of.group(name, 1);
        of.post("/api/v1/namespaces/team/pods",
                R"({"metadata":{"name":")" + name +
                    R"(","labels":{"scheduler.tensorstack.dev/group-name":")" + name + "\"}" +
                    more + R"(},"spec":{"schedulerName":"t9k-scheduler",)" + spec +
                    R"("containers":[{"name":"c","image":"i"}]}})");
    };
    const auto owner = [](const std::string& version, const std::string& kind) {
        return R"(,"ownerReferences":[{"apiVersion":")" + version + R"(","kind":")" + kind +
               R"(","name":"o","uid":"u"}])";
    };
    owned("plain", "");
    owned("beam", owner("batch.tensorstack.dev/v1beta1", "BeamJob"));
    owned("job", owner("batch.tensorstack.dev/v1beta1", "GenericJob"));
    owned("daemon", owner("apps/v1", "DaemonSet"));
    owned("system", "", R"("priority":2000000000,)");
    process run(of);
    run.run(of, 55 * second);
    CHECK(of.nodes.running() == 5);
    CHECK(of.writes("pods/eviction") == 0);
    run.run(of, 50 * second);
    CHECK(of.writes("pods/eviction") == 2);
    CHECK(of.ask("GET", "/api/v1/namespaces/team/pods/plain").code == 404);
    CHECK(of.ask("GET", "/api/v1/namespaces/team/pods/beam").code == 404);
    CHECK(of.nodes.running() == 3);
}

TEST_CASE("binds whose answers are lost are found out, and every member is bound once") {
    world of;
    of.node("a", 8);
    of.group("train", 4);
    for (int i = 0; i < 4; ++i)
        of.pod("train-" + std::to_string(i), "train");
    process run(of);
    int binds = 0;
    run.carrier.harm = [&](const kube::http_request& what) {
        return what.path.ends_with("/binding") && ++binds % 2 == 1 ? store_carrier::mishap::lost
                                                                   : store_carrier::mishap::none;
    };
    run.run(of, 20 * second);
    CHECK(of.nodes.running() == 4);
    CHECK(of.writes("pods/binding") == 4);
}

TEST_CASE("after history is forgotten all is listed anew, and what was deleted is gone") {
    world of;
    of.node("a", 1);
    of.group("train", 1);
    of.pod("train-0", "train");
    process run(of);
    run.run(of, 3 * second);
    REQUIRE(of.where("train-0") == "a");
    of.group("next", 1);
    of.pod("next-0", "next");
    run.run(of, second);
    CHECK(of.where("next-0").empty());
    of.ask("DELETE", "/api/v1/namespaces/team/pods/train-0", R"({"gracePeriodSeconds":0})");
    of.store.compact();
    run.run(of, 10 * second);
    CHECK(of.where("next-0") == "a");
}

TEST_CASE("of two schedulers one writes, and the other takes over when it is gone") {
    world of;
    of.node("a", 8);
    process first(of, scheduler("first"));
    first.run(of, 2 * second);
    CHECK(first.cluster.may_write());
    process second_one(of, scheduler("second"));
    second_one.run(of, 5 * second);
    CHECK_FALSE(second_one.cluster.may_write());
    first.cluster.stop();
    for (int i = 0; i < 5; ++i)
        first.cluster.pump(0);
    CHECK(first.cluster.stopped());
    of.pod("alone", "");
    std::int64_t longest = 0;
    second_one.carrier.harm = [&](const kube::http_request& what) {
        if (what.path.ends_with("/binding"))
            longest = std::max(longest, what.patience);
        return store_carrier::mishap::none;
    };
    second_one.run(of, 5 * second);
    CHECK(second_one.cluster.may_write());
    CHECK(of.where("alone") == "a");
    // A write that is begun when the last renewal is ten seconds old ends before the lease does.
    CHECK(longest == 5 * second);
}

TEST_CASE("a listing for comparison shows what the view shows") {
    world of;
    of.node("a", 1);
    of.group("train", 1);
    of.pod("train-0", "train");
    of.pod("other", "", "1", "default-scheduler");
    process run(of);
    run.run(of, 3 * second);
    adapter::listing<cluster_type::traits> all;
    run.cluster.ask_listing();
    CHECK_FALSE(run.cluster.take_listing(all));
    for (int i = 0; i < 4; ++i)
        run.cluster.pump(0);
    REQUIRE(run.cluster.take_listing(all));
    CHECK(all.nodes == std::vector<std::string>{"a"});
    REQUIRE(all.gangs.size() == 1);
    REQUIRE(all.pods.size() == 2);
    CHECK(all.pods[0].key.name == "other");
    CHECK_FALSE(all.pods[0].ours);
    CHECK(all.pods[1].on == "a");
    run.run(of, 25 * minute);
    CHECK(run.cluster.troubles().empty());
}

TEST_CASE("a group is current when it is as the view was told, not as it came in since") {
    world of;
    of.node("a", 8);
    of.group("train", 1);
    of.pod("train-0", "train");
    process run(of);
    run.run(of, 3 * second);
    const auto key = codec::group_key{"team", "train", codec::group_origin::pod_group};
    adapter::is_current_order<cluster_type::traits> order{
        1, key, run.cluster.objects().gangs().objects_of(key).at(0)->who.uid};
    const auto ask = [&] {
        std::vector<adapter::order_result<cluster_type::traits>> results;
        run.cluster.is_current({&order, 1});
        run.cluster.pump(0);
        run.cluster.take_results(results);
        REQUIRE(results.size() == 1);
        return results[0].what;
    };
    CHECK(ask() == adapter::outcome::applied);
    request patch;
    patch.method = "PATCH";
    patch.content_type = "application/merge-patch+json";
    patch.path = "/apis/scheduler.tensorstack.dev/v1beta1/namespaces/team/podgroups/train";
    patch.body = R"({"spec":{"minMember":2}})";
    REQUIRE(of.store.handle(patch).code == 200);
    CHECK(ask() == adapter::outcome::conflict);
    // The change has come in by now, and still nobody was told.
    run.cluster.pump(0);
    CHECK(ask() == adapter::outcome::conflict);
    run.run(of, second);
    CHECK(ask() == adapter::outcome::applied);
    order.uid = "another";
    CHECK(ask() == adapter::outcome::replaced);
}

TEST_CASE("what cannot be read in full is never guessed at, and harms nobody else") {
    world of;
    of.store.store_unchecked();
    of.node("a", 8);
    of.post("/api/v1/nodes", R"({"metadata":{"name":"odd"},"status":{"allocatable":{"cpu":"-1",)"
                             R"("pods":"110"}}})");
    of.post("/api/v1/nodes", R"({"metadata":{"name":"vast"},"status":{"allocatable":{)"
                             R"("cpu":"1e30","memory":"9Ei","pods":"x"}}})");
    of.pod("negative", "", "-1");
    of.pod("tiny", "", "1e-2147483647");
    of.pod("beyond", "", "1e4294967297");
    of.pod("words", "", "many");
    of.pod("unit", "", "1e30");
    of.group("broken", 1);
    of.pod("member", "broken");
    of.pod("fine", "", "0.1m");
    request patch;
    patch.method = "PATCH";
    patch.content_type = "application/merge-patch+json";
    patch.path = "/apis/scheduler.tensorstack.dev/v1beta1/namespaces/team/podgroups/broken";
    patch.body = R"({"spec":{"minMember":"one","roles":7},"more":{"x":[]}})";
    REQUIRE(of.store.handle(patch).code == 200);
    process run(of);
    run.run(of, 5 * second);
    CHECK(of.where("fine") == "a");
    CHECK(of.where("tiny") == "a");
    for (const std::string waits : {"negative", "beyond", "words", "unit", "member"}) {
        CAPTURE(waits);
        CHECK(of.where(waits).empty());
    }
    CHECK(of.writes("pods/binding") == 2);
    CHECK(run.cluster.objects().broken().contains("Node /odd"));
    CHECK(run.cluster.objects().broken().contains("PodGroup team/broken"));
    CHECK(run.cluster.objects().broken().contains("Pod team/words"));
    patch.body = R"({"spec":{"minMember":1,"roles":null}})";
    REQUIRE(of.store.handle(patch).code == 200);
    run.run(of, 5 * second);
    CHECK(of.where("member") == "a");
    CHECK_FALSE(run.cluster.objects().broken().contains("PodGroup team/broken"));
}

TEST_CASE("a group nested too deeply waits; other gangs of its list and watch start") {
    world of;
    of.node("a", 8);
    const auto deep_group = [&](const std::string& name) {
        of.post("/apis/scheduler.tensorstack.dev/v1beta1/namespaces/team/podgroups",
                R"({"metadata":{"name":")" + name + R"("},"spec":{"minMember":1,"more":)" +
                    std::string(70, '[') + std::string(70, ']') + "}}");
        of.pod(name + "-0", name);
    };
    deep_group("listed");
    of.group("before", 1);
    of.pod("before-0", "before");
    process run(of);
    run.run(of, 5 * second);
    deep_group("watched");
    of.group("after", 1);
    of.pod("after-0", "after");
    run.run(of, 5 * second);
    CHECK(of.where("before-0") == "a");
    CHECK(of.where("after-0") == "a");
    CHECK(of.where("listed-0").empty());
    CHECK(of.where("watched-0").empty());
    CHECK(run.cluster.troubles().empty());
    CHECK(run.cluster.objects().broken().at("PodGroup team/watched").front() ==
          "spec.more: nested too deeply (expected at most 64 levels)");
    CHECK(of.ask("DELETE", "/apis/scheduler.tensorstack.dev/v1beta1/namespaces/team/podgroups/"
                           "watched")
              .code == 200);
    of.group("watched", 1);
    run.run(of, 5 * second);
    CHECK(of.where("watched-0") == "a");
    CHECK_FALSE(run.cluster.objects().broken().contains("PodGroup team/watched"));
}

} // namespace kube_cluster_test
