// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <muster/cluster/state.hpp>
#include <muster/testing/random.hpp>

#include "../builders.hpp"

namespace cluster_cluster_objects_test {

namespace {

using namespace builders;
using namespace muster;

cluster::queue_type guaranteed(std::int64_t cpus) {
    cluster::queue_type made;
    made.guarantee = units(cpus);
    return made;
}

cluster::queue_type in_zone(const std::string& zone) {
    cluster::queue_type made;
    made.nodes = label_is("zone", zone);
    return made;
}

std::int64_t left_cpu(const cluster& in, const std::string& queue) {
    return in.accounts().headroom(queue_charge(in.find_queue(queue)->index))[cpu].value_or(-1);
}

label_selector nodes_of(const cluster& in, const std::string& queue) {
    return in.constraint_sets()[in[in.find_queue(queue)->index].nodes].value.selector;
}

TEST_CASE("a parent that is not known yet bounds nothing until it is") {
    cluster known;
    ok(known.upsert_queue("child", {}, "parent"));
    CHECK_FALSE(known[known.find_queue("parent")->index].present);
    CHECK(left_cpu(known, "child") == -1);
    ok(known.upsert_queue("parent", quota_of(5)));
    CHECK(left_cpu(known, "child") == 5);
    ok(known.remove_queue("parent"));
    CHECK(left_cpu(known, "child") == -1);
}

TEST_CASE("a queue that would stand below itself is refused and nothing changes") {
    cluster known;
    CHECK(known.upsert_queue("a", {}, "a") == event_result::circular);
    CHECK_FALSE(known.find_queue("a").has_value());
    ok(known.upsert_queue("a", quota_of(4), "b"));
    ok(known.upsert_queue("b", {}, "c"));
    const auto before = known.accounts();
    const auto epoch = known.queue_epoch();
    CHECK(known.upsert_queue("c", {}, "a") == event_result::circular);
    CHECK(known.upsert_queue("b", {}, "a") == event_result::circular);
    CHECK(known.upsert_queue("a", {}, "a") == event_result::circular);
    CHECK(known.accounts() == before);
    CHECK(known.queue_epoch() == epoch);
    CHECK_FALSE(known[known.find_queue("c")->index].present);
}

TEST_CASE("negative amounts, weights out of range and sums beyond int64 are refused") {
    constexpr auto top = std::numeric_limits<std::int64_t>::max();
    cluster known;
    const auto refused = [&](const cluster::queue_type& spec) {
        return known.upsert_queue("q", spec, "p") == event_result::out_of_range &&
               !known.find_queue("q").has_value();
    };
    CHECK(refused(quota_of(-1)));
    CHECK(refused(guaranteed(-1)));
    cluster::queue_type spec;
    spec.deserved.set(cpu, -1);
    CHECK(refused(spec));
    spec = {};
    spec.weight = -1;
    CHECK(refused(spec));
    spec.weight = largest_weight + 1;
    CHECK(refused(spec));
    CHECK_FALSE(known.find_queue("p").has_value());
    ok(known.upsert_queue("other", guaranteed(top), "p"));
    CHECK(refused(guaranteed(1)));
    spec.weight = largest_weight;
    ok(known.upsert_queue("q", spec, "p"));
}

TEST_CASE("what gangs hold moves with their queue") {
    cluster known;
    ok(known.upsert_node("n", machine(9)));
    ok(known.upsert_queue("left", quota_of(4)));
    ok(known.upsert_queue("right", quota_of(9)));
    ok(known.upsert_queue("q", {}, "left"));
    add_running(known, "g", 3, "n", "q");
    CHECK(used_cpu(known, "left") == 3);
    CHECK(left_cpu(known, "left") == 1);
    ok(known.upsert_queue("q", {}, "right"));
    CHECK(used_cpu(known, "left") == 0);
    CHECK(used_cpu(known, "right") == 3);
    ok(known.upsert_queue("q", {}));
    CHECK(used_cpu(known, "right") == 0);
    CHECK(used_cpu(known, "q") == 3);
}

TEST_CASE("a gang that moves between queues of one tree leaves what is above as it was") {
    cluster known;
    ok(known.upsert_node("n", machine(9)));
    ok(known.upsert_queue("a", {}, "root"));
    ok(known.upsert_queue("b", {}, "root"));
    add_running(known, "g", 3, "n", "a");
    ok(known.upsert_gang("g", gang_of(1, "b")));
    CHECK(used_cpu(known, "root") == 3);
    CHECK(used_cpu(known, "a") == 0);
    CHECK(used_cpu(known, "b") == 3);
}

TEST_CASE("a queue allows the nodes that it and every queue above it allows") {
    cluster known;
    ok(known.upsert_queue("child", in_zone("a"), "middle"));
    ok(known.upsert_queue("middle", {}, "root"));
    CHECK(nodes_of(known, "child").requirements.size() == 1);
    ok(known.upsert_queue("root", in_zone("b")));
    CHECK(nodes_of(known, "child").requirements.size() == 2);
    CHECK(nodes_of(known, "middle").requirements.size() == 1);
    ok(known.upsert_queue("middle", {}));
    CHECK(nodes_of(known, "child").requirements.size() == 1);
    CHECK(nodes_of(known, "middle").requirements.empty());
    ok(known.upsert_queue("middle", {}, "root"));
    ok(known.remove_queue("root"));
    CHECK(nodes_of(known, "child").requirements.size() == 1);
    CHECK(nodes_of(known, "middle").requirements.empty());
}

TEST_CASE("a gang goes only where all queues above it may, and only while they are open") {
    cluster known;
    cluster::node_type node = machine(9);
    node.labels = {{"zone", "a"}};
    ok(known.upsert_node("n", node));
    ok(known.upsert_queue("q", {}, "root"));
    cluster::queue_type root = in_zone("b");
    ok(known.upsert_queue("root", root));
    add_gang(known, "g", 1, 1, "q");
    static_cast<void>(cycle(known, 0));
    CHECK(is(answered(known, "g"), answer::never, gate::space));
    root = in_zone("a");
    root.closed = true;
    ok(known.upsert_queue("root", root));
    static_cast<void>(cycle(known, 0));
    CHECK(is(answered(known, "g"), answer::waiting, gate::queue));
    root.closed = false;
    ok(known.upsert_queue("root", root));
    static_cast<void>(cycle(known, 0));
    CHECK(is(answered(known, "g"), answer::admitted));
}

TEST_CASE("who may use a queue is the queue's own affair") {
    cluster known;
    ok(known.upsert_node("n", machine(9)));
    cluster::queue_type root;
    root.tenants.reset();
    ok(known.upsert_queue("root", root));
    ok(known.upsert_queue("q", {}, "root"));
    add_gang(known, "g", 1, 1, "q");
    add_gang(known, "h", 1, 1, "root");
    static_cast<void>(cycle(known, 0));
    CHECK(is(answered(known, "g"), answer::admitted));
    CHECK(is(answered(known, "h"), answer::waiting, gate::queue));
}

TEST_CASE("a gang larger than what siblings' guarantees leave of a ceiling can never start") {
    cluster known;
    ok(known.upsert_node("n", machine(20)));
    ok(known.upsert_queue("root", quota_of(10)));
    ok(known.upsert_queue("kept", guaranteed(4), "root"));
    ok(known.upsert_queue("q", {}, "root"));
    add_gang(known, "large", 1, 7, "q");
    add_gang(known, "small", 1, 6, "q");
    static_cast<void>(cycle(known, 0));
    CHECK(is(answered(known, "large"), answer::never, gate::quota));
    CHECK(is(answered(known, "small"), answer::admitted));
    add_gang(known, "own", 1, 4, "kept");
    static_cast<void>(cycle(known, 0));
    CHECK(is(answered(known, "own"), answer::admitted));
}

TEST_CASE("the order in which queues, gangs and pods are told does not show in the accounts") {
    testing::random chance(7);
    std::vector<std::string> said;
    for (int turn = 0; turn < 50; ++turn) {
        cluster known;
        std::vector<std::function<void()>> events;
        const auto queue = [&](const std::string& key, std::int64_t quota, std::int64_t guarantee,
                               const std::optional<std::string>& parent) {
            events.push_back([&known, key, quota, guarantee, parent] {
                cluster::queue_type spec = quota_of(quota);
                spec.guarantee = units(guarantee);
                ok(known.upsert_queue(key, spec, parent));
            });
        };
        queue("root", 20, 0, std::nullopt);
        queue("a", 15, 5, "root");
        queue("b", 9, 3, "root");
        queue("a1", 8, 4, "a");
        queue("a2", 8, 2, "a");
        const auto running = [&](const std::string& name, const std::string& in,
                                 std::int64_t cpus) {
            events.push_back([&known, name, in] { ok(known.upsert_gang(name, gang_of(1, in))); });
            events.push_back([&known, name, cpus] {
                ok(known.upsert_pod(name + "-0", name, in_phase(pod_phase::running, asking(cpus)),
                                    "n"));
            });
        };
        running("g", "a1", 2);
        running("h", "a2", 3);
        running("i", "b", 1);
        running("j", "root", 1);
        chance.shuffle(events);
        for (const auto& event : events)
            event();
        std::string all;
        for (const auto& [key, which] : known.queue_keys())
            all += key + " " + std::to_string(known.accounts().used(which)[cpu]) + " " +
                   std::to_string(left_cpu(known, key)) + "; ";
        said.push_back(all);
    }
    CHECK(said.front() == "a 5 8; a1 2 6; a2 3 5; b 1 8; root 7 9; ");
    CHECK(std::ranges::count(said, said.front()) == 50);
}

} // namespace

} // namespace cluster_cluster_objects_test
