// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "../builders.hpp"

namespace cluster_state_test {

namespace {

using namespace builders;
using namespace muster;

constexpr auto top = std::numeric_limits<std::int64_t>::max();

/// Everything that decides, in the order of keys.
std::string listing(const cluster& of) {
    std::string out;
    const auto amounts_of = [](const amounts& from) {
        return " " + std::to_string(from[cpu]) + "/" + std::to_string(from[gpu]);
    };
    for (const node_index node : of.node_order())
        out += "\n" + of.key(node) + (of[node].present ? "" : " absent") +
               amounts_of(of.accounts().free(node)) + amounts_of(of.accounts().allocatable(node));
    for (const auto& [key, queue] : of.queue_keys())
        out += "\n" + key + (of[queue].present ? "" : " absent") +
               amounts_of(of.accounts().used(queue));
    for (const auto& [key, gang] : of.gang_keys()) {
        out += "\n" + key + (of[gang].present ? "" : " absent") + " " +
               std::to_string(of[gang].spec.tree.size());
        for (const auto& [pod, index] : of.pod_keys())
            if (of[index].gang == gang)
                out += "\n  " + pod + amounts_of(of.request(index)) + " on " + node_of(of, pod);
    }
    return out;
}

// ---- refusals ----------------------------------------------------------------------------------

TEST_CASE("an allocatable that is negative or beyond 2^57 is refused") {
    cluster known;
    ok(known.upsert_node("n", machine(4)));
    const std::string before = listing(known);
    CHECK(known.upsert_node("n", machine(-1)) == event_result::out_of_range);
    CHECK(known.upsert_node("m", machine(largest_allocatable + 1)) == event_result::out_of_range);
    CHECK(listing(known) == before);
    CHECK_FALSE(known.find_node("m").has_value());
    ok(known.upsert_node("m", machine(largest_allocatable)));
}

TEST_CASE("a negative quota is refused, and the queue stays as it was") {
    cluster known;
    ok(known.upsert_queue("q", quota_of(4)));
    CHECK(known.upsert_queue("q", quota_of(-1)) == event_result::out_of_range);
    CHECK(known.upsert_queue("r", quota_of(-1)) == event_result::out_of_range);
    CHECK(known[known.find_queue("q")->index].spec.quota[cpu] == 4);
    CHECK_FALSE(known.find_queue("r").has_value());
}

TEST_CASE("a negative request is refused") {
    cluster known;
    CHECK(known.upsert_pod("p", "g", asking(-1)) == event_result::out_of_range);
    CHECK_FALSE(known.find_pod("p").has_value());
    CHECK_FALSE(known.find_gang("g").has_value());
    ok(known.upsert_pod("p", "g", asking(1)));
    CHECK(known.upsert_pod("p", "g", asking(-1)) == event_result::out_of_range);
    CHECK(known.request(known.find_pod("p")->index) == units(1));
}

TEST_CASE("a pod whose charge would leave int64 is refused, and nothing of it is left behind") {
    cluster known;
    ok(known.upsert_queue("q", {}));
    add_running(known, "g", top, "n", "q");
    ok(known.upsert_gang("h", gang_of(1, "q")));
    const std::string before = listing(known);
    const auto pod = in_phase(pod_phase::running, asking(2));
    CHECK(known.upsert_pod("on-node", "x", in_phase(pod_phase::running, asking(top)), "n") ==
          event_result::out_of_range);
    CHECK(known.upsert_pod("in-queue", "h", pod, "n") == event_result::out_of_range);
    CHECK(listing(known) == before);
    CHECK(known.upsert_pod("in-queue", "h", pod, "elsewhere") == event_result::out_of_range);
    CHECK(listing(known) == before);
}

TEST_CASE("a change of a pod that would leave int64 is refused, and the pod stays charged") {
    cluster known;
    ok(known.upsert_queue("q", {}));
    add_running(known, "g", top - 5, "n", "q");
    add_running(known, "h", 3, "m", "q");
    const std::string before = listing(known);
    const auto grown = in_phase(pod_phase::running, asking(6));
    CHECK(known.upsert_pod("h-0", "h", grown, "m") == event_result::out_of_range);
    CHECK(listing(known) == before);
    ok(known.upsert_pod("h-0", "h", in_phase(pod_phase::running, asking(5)), "m"));
}

TEST_CASE("a gang that would overflow its new queue stays in the old one") {
    cluster known;
    ok(known.upsert_queue("q", {}));
    add_running(known, "g", top, "n", "q");
    add_running(known, "h", 1, "m", "old");
    const std::string before = listing(known);
    CHECK(known.upsert_gang("h", gang_of(1, "q")) == event_result::out_of_range);
    CHECK(listing(known) == before);
    CHECK(known.spec_of(gang_at(known, "h")).queue == "old");
}

TEST_CASE("whatever pods a node took, it takes its own events") {
    cluster known;
    ok(known.upsert_node("n", machine(0)));
    add_running(known, "g", top, "n");
    ok(known.upsert_gang("h", gang_of(1)));
    // Whether it is refused is one matter, that the node can be told of a change another.
    static_cast<void>(known.upsert_pod("h-0", "h", in_phase(pod_phase::running, asking(1)), "n"));
    CHECK(known.upsert_node("n", machine(4)) == event_result::applied);
    CHECK(known.remove_node("n") == event_result::applied);
}

TEST_CASE("the gang and the role of a pod never change") {
    cluster known;
    gang_tree tree;
    const vertex_index first = tree.add({}, 1);
    const vertex_index second = tree.add({}, 1);
    ok(known.upsert_gang("g", gang_of(tree)));
    ok(known.upsert_gang("h", gang_of(tree)));
    ok(known.upsert_pod("p", "g", in_role(first, asking(1))));
    const std::string before = listing(known);
    CHECK(known.upsert_pod("p", "h", in_role(first, asking(1))) == event_result::immutable);
    CHECK(known.upsert_pod("p", "new", in_role(first, asking(1))) == event_result::immutable);
    CHECK(known.upsert_pod("p", "g", in_role(second, asking(1))) == event_result::immutable);
    CHECK(listing(known) == before);
}

TEST_CASE("a pod belongs to a leaf of its gang's tree") {
    cluster known;
    gang_tree tree;
    const vertex_index worker = tree.add({}, 1);
    ok(known.upsert_gang("g", gang_of(tree)));
    CHECK(known.upsert_pod("p", "g", asking(1)) == event_result::no_such_role);
    CHECK(known.upsert_pod("p", "g", in_role(vertex_index{2}, asking(1))) ==
          event_result::no_such_role);
    CHECK_FALSE(known.find_pod("p").has_value());
    ok(known.upsert_pod("p", "g", in_role(worker, asking(1))));
    CHECK(known.upsert_gang("g", gang_of(1)) == event_result::no_such_role);
    CHECK(known[gang_at(known, "g")].spec.tree.size() == 2);
}

TEST_CASE("what is not there cannot be removed, confirmed or forgotten") {
    cluster known;
    ok(known.upsert_pod("pending", "g", asking(1)));
    CHECK(known.remove_node("n") == event_result::unexpected);
    CHECK(known.remove_queue("q") == event_result::unexpected);
    CHECK(known.remove_gang("x") == event_result::unexpected);
    CHECK(known.remove_gang("g") == event_result::unexpected);
    CHECK(known.remove_pod("x") == event_result::unexpected);
    CHECK(known.confirm_bound("x") == event_result::unexpected);
    CHECK(known.confirm_bound("pending") == event_result::unexpected);
    CHECK(known.forget("pending") == event_result::unexpected);
    ok(known.upsert_node("n", machine(1)));
    ok(known.remove_node("n"));
    CHECK(known.remove_node("n") == event_result::unexpected);
}

// ---- who counts (ruling 1) ---------------------------------------------------------------------

TEST_CASE("pending, bound, running, unknown and succeeded members count; gated and failed do not") {
    cluster known;
    const auto record = [&](pod_phase phase, bool terminating = false) {
        cluster::pod_type spec = in_phase(phase, asking(1));
        spec.terminating = terminating;
        ok(known.upsert_pod("p", "g", spec));
        return known[known.find_pod("p")->index];
    };
    for (const pod_phase phase :
         {pod_phase::bound, pod_phase::running, pod_phase::unknown, pod_phase::succeeded}) {
        CHECK(record(phase).alive());
        CHECK(record(phase).holding());
        CHECK_FALSE(record(phase).placeable());
    }
    CHECK(record(pod_phase::pending).alive());
    CHECK_FALSE(record(pod_phase::pending).holding());
    CHECK(record(pod_phase::pending).placeable());
    CHECK_FALSE(record(pod_phase::gated).alive());
    CHECK_FALSE(record(pod_phase::failed).alive());
    for (const pod_phase phase : {pod_phase::pending, pod_phase::running, pod_phase::succeeded}) {
        CHECK_FALSE(record(phase, true).alive());
        CHECK_FALSE(record(phase, true).holding());
        CHECK_FALSE(record(phase, true).placeable());
    }
}

TEST_CASE("a pod takes room from when it stands on a node until it is terminal") {
    cluster known;
    ok(known.upsert_node("n", machine(8)));
    ok(known.upsert_queue("q", quota_of(8)));
    ok(known.upsert_gang("g", gang_of(1, "q")));
    const auto left = [&](pod_phase phase, bool terminating = false) {
        cluster::pod_type spec = in_phase(phase, asking(3));
        spec.terminating = terminating;
        ok(known.upsert_pod("p", "g", spec, "n"));
        CHECK(used_cpu(known, "q") == 8 - free_cpu(known, "n"));
        return free_cpu(known, "n");
    };
    CHECK(left(pod_phase::bound) == 5);
    CHECK(left(pod_phase::running) == 5);
    CHECK(left(pod_phase::running, true) == 5);
    CHECK(left(pod_phase::unknown) == 5);
    CHECK(left(pod_phase::succeeded) == 8);
    CHECK(left(pod_phase::failed) == 8);
}

TEST_CASE("a pending pod that is seen on a node has been bound: it is not placed again") {
    cluster known;
    ok(known.upsert_node("n", machine(4)));
    ok(known.upsert_gang("g", gang_of(1)));
    ok(known.upsert_pod("p", "g", asking(1), "n"));
    const auto& record = known[known.find_pod("p")->index];
    CHECK(record.holding());
    CHECK_FALSE(record.placeable());
    CHECK(free_cpu(known, "n") == 3);
}

// ---- nodes -------------------------------------------------------------------------------------

TEST_CASE("a pod may be seen on a node before the node is") {
    cluster known;
    add_running(known, "g", 3, "n");
    CHECK(free_cpu(known, "n") == -3);
    CHECK_FALSE(known[known.find_node("n")->index].present);
    ok(known.upsert_node("n", machine(8)));
    CHECK(free_cpu(known, "n") == 5);
}

TEST_CASE("a node that is removed under running pods and comes back is charged with them") {
    cluster known;
    ok(known.upsert_node("n", machine(8)));
    add_running(known, "g", 3, "n");
    const std::string before = listing(known);
    ok(known.remove_node("n"));
    CHECK(free_cpu(known, "n") == -3);
    CHECK(node_of(known, "g-0") == "n");
    ok(known.upsert_node("n", machine(8)));
    CHECK(listing(known) == before);
}

TEST_CASE("nothing is placed on a node that is gone") {
    cluster known;
    ok(known.upsert_node("n", machine(8)));
    ok(known.remove_node("n"));
    add_gang(known, "nothing-asked", 1, 0);
    add_gang(known, "one-asked", 1, 1);
    CHECK(started(known, cycle(known, 0)).empty());
}

TEST_CASE("nodes stand in the order of their keys, in whatever order they came") {
    cluster known;
    for (const char* key : {"m", "z", "a", "n"})
        ok(known.upsert_node(key, machine(1)));
    std::string order;
    for (const node_index node : known.node_order())
        order += known.key(node);
    CHECK(order == "amnz");
}

// ---- handles -----------------------------------------------------------------------------------

TEST_CASE("the handle of a pod that is gone is not that of the next one of its name or place") {
    cluster known;
    ok(known.upsert_gang("g", gang_of(1)));
    ok(known.upsert_pod("p", "g", asking(1)));
    const auto before = known.find_pod("p");
    ok(known.remove_pod("p"));
    CHECK_FALSE(known.find_pod("p").has_value());
    ok(known.upsert_pod("q", "g", asking(1)));
    CHECK(known.find_pod("q")->index == before->index);
    CHECK(known.find_pod("q") != before);
    CHECK(known[before->index].generation != before->generation);
}

TEST_CASE("handles of nodes, queues and gangs that were removed go stale") {
    cluster known;
    ok(known.upsert_node("n", machine(1)));
    ok(known.upsert_queue("q", {}));
    ok(known.upsert_gang("g", gang_of(1)));
    const auto node = known.find_node("n");
    const auto queue = known.find_queue("q");
    const auto gang = known.find_gang("g");
    ok(known.remove_node("n"));
    ok(known.remove_queue("q"));
    ok(known.remove_gang("g"));
    ok(known.upsert_node("n", machine(1)));
    ok(known.upsert_queue("q", {}));
    ok(known.upsert_gang("g", gang_of(1)));
    CHECK(known.find_node("n") != node);
    CHECK(known.find_queue("q") != queue);
    CHECK(known.find_gang("g") != gang);
}

TEST_CASE("a change leaves handles as they are") {
    cluster known;
    ok(known.upsert_node("n", machine(1)));
    ok(known.upsert_pod("p", "g", asking(1)));
    const auto node = known.find_node("n");
    const auto pod = known.find_pod("p");
    const auto gang = known.find_gang("g");
    ok(known.upsert_node("n", machine(2)));
    ok(known.upsert_pod("p", "g", asking(2)));
    ok(known.upsert_gang("g", gang_of(1)));
    CHECK(known.find_node("n") == node);
    CHECK(known.find_pod("p") == pod);
    CHECK(known.find_gang("g") == gang);
}

// ---- gangs and queues --------------------------------------------------------------------------

TEST_CASE("members may come before their gang, and stay when it goes") {
    cluster known;
    add_members(known, "g", 2, asking(1));
    CHECK_FALSE(known[gang_at(known, "g")].present);
    CHECK(known[gang_at(known, "g")].spec.fault == gang_fault::missing);
    ok(known.upsert_gang("g", gang_of(2)));
    CHECK(known[gang_at(known, "g")].members.size() == 2);
    ok(known.remove_gang("g"));
    CHECK(known[gang_at(known, "g")].members.size() == 2);
    CHECK(known[gang_at(known, "g")].spec.fault == gang_fault::missing);
    ok(known.remove_pod("g-0"));
    ok(known.remove_pod("g-1"));
    CHECK_FALSE(known.find_gang("g").has_value());
}

TEST_CASE("what a gang holds moves with it to another queue") {
    cluster known;
    ok(known.upsert_node("n", machine(8)));
    ok(known.upsert_queue("q", {}));
    ok(known.upsert_queue("r", {}));
    add_running(known, "g", 3, "n", "q");
    ok(known.upsert_gang("g", gang_of(1, "r")));
    CHECK(used_cpu(known, "q") == 0);
    CHECK(used_cpu(known, "r") == 3);
    ok(known.upsert_gang("g", gang_of(1)));
    CHECK(used_cpu(known, "r") == 0);
    CHECK(free_cpu(known, "n") == 5);
}

TEST_CASE("a queue that goes and comes back is charged with what its gangs hold") {
    cluster known;
    ok(known.upsert_queue("q", quota_of(4)));
    add_running(known, "g", 3, "n", "q");
    ok(known.remove_queue("q"));
    CHECK_FALSE(known[known.find_queue("q")->index].present);
    ok(known.upsert_queue("q", quota_of(4)));
    CHECK(used_cpu(known, "q") == 3);
}

TEST_CASE("a gang removed under its pods leaves what a cluster that never saw it would have") {
    cluster grown;
    ok(grown.upsert_node("n", machine(8)));
    ok(grown.upsert_queue("q", quota_of(4)));
    cluster rebuilt = grown;
    add_running(grown, "g", 3, "n", "q");
    ok(grown.remove_gang("g"));
    ok(rebuilt.upsert_pod("g-0", "g", in_phase(pod_phase::running, asking(3)), "n"));
    CHECK(used_cpu(grown, "q") == used_cpu(rebuilt, "q"));
    for (cluster* each : {&grown, &rebuilt})
        add_gang(*each, "next", 1, 4, "q");
    CHECK(started(grown, cycle(grown, 0)) == started(rebuilt, cycle(rebuilt, 0)));
}

// ---- epochs ------------------------------------------------------------------------------------

TEST_CASE("the release epoch moves with what could make a gang fit, and with nothing else") {
    cluster known;
    ok(known.upsert_node("n", machine(8)));
    ok(known.upsert_queue("q", quota_of(8)));
    add_running(known, "g", 3, "n", "q");
    const auto moves = [&](auto&& event) {
        const auto before = known.release_epoch();
        event();
        return known.release_epoch() != before;
    };
    const auto bound = in_phase(pod_phase::bound, asking(1));
    const auto running = in_phase(pod_phase::running, asking(1));
    CHECK_FALSE(moves([&] { ok(known.upsert_gang("h", gang_of(1, "q"))); }));
    CHECK_FALSE(moves([&] { ok(known.upsert_pod("p", "h", asking(1))); }));
    CHECK_FALSE(moves([&] { ok(known.upsert_pod("p", "h", bound, "n")); }));
    CHECK_FALSE(moves([&] { ok(known.upsert_pod("p", "h", running, "n")); }));
    CHECK(
        moves([&] { ok(known.upsert_pod("p", "h", in_phase(pod_phase::failed, running), "n")); }));
    CHECK_FALSE(moves([&] { ok(known.remove_pod("p")); }));
    CHECK(moves([&] { ok(known.remove_pod("g-0")); }));
    CHECK(moves([&] { ok(known.upsert_node("n", machine(9))); }));
    CHECK(moves([&] { ok(known.upsert_queue("q", quota_of(9))); }));
}

TEST_CASE("the capability epoch moves with allocatable, labels, taints and quotas, not with pods") {
    cluster known;
    ok(known.upsert_node("n", machine(8)));
    ok(known.upsert_queue("q", quota_of(8)));
    const auto start = known.capability_epoch();
    add_running(known, "g", 3, "n", "q");
    ok(known.remove_pod("g-0"));
    CHECK(known.capability_epoch() == start);
    ok(known.upsert_node("n", machine(4)));
    const auto shrunk = known.capability_epoch();
    CHECK(shrunk != start);
    ok(known.upsert_queue("q", quota_of(2)));
    const auto lowered = known.capability_epoch();
    CHECK(lowered != shrunk);
    ok(known.remove_node("n"));
    CHECK(known.capability_epoch() != lowered);
}

TEST_CASE("the loss epoch moves when less could start than before, not when more could") {
    cluster known;
    const auto loses = [&](const char* name, const cluster::node_type& spec) {
        const auto before = known.loss_epoch();
        ok(known.upsert_node(name, spec));
        return known.loss_epoch() != before;
    };
    cluster::node_type spec = machine(8);
    CHECK_FALSE(loses("n", spec));
    CHECK_FALSE(loses("n", machine(9)));
    CHECK(loses("n", spec));
    spec.unschedulable = true;
    CHECK_FALSE(loses("n", spec));
    spec.unschedulable = false;
    CHECK_FALSE(loses("n", spec));
    spec.taints.push_back({"k", "v", taint_effect::no_schedule});
    CHECK(loses("n", spec));
    spec.labels = {{"pool", "p"}};
    CHECK(loses("n", spec));
    spec.name = "host";
    CHECK(loses("n", spec));
    CHECK_FALSE(loses("m", machine(2)));
    auto before = known.loss_epoch();
    ok(known.remove_node("m"));
    CHECK(known.loss_epoch() != before);
    CHECK_FALSE(loses("m", machine(1)));
    before = known.loss_epoch();
    ok(known.upsert_queue("q", quota_of(8)));
    CHECK(known.loss_epoch() != before);
}

// ---- gangs that finish, members that wait ------------------------------------------------------

std::size_t placeable(const cluster& known, const std::string& gang) {
    return known[gang_at(known, gang)].placeable;
}

/// Members that wait for a node, counted.
std::size_t counted_placeable(const cluster& known, const std::string& gang) {
    std::size_t count = 0;
    for (const pod_index member : known[gang_at(known, gang)].members)
        count += known[member].placeable() ? 1U : 0U;
    return count;
}

TEST_CASE("a gang that finished has succeeded where it stood, and its room and quota are free") {
    cluster known;
    ok(known.upsert_node("a", machine(4)));
    ok(known.upsert_node("b", machine(9)));
    ok(known.upsert_queue("q", quota_of(20)));
    ok(known.upsert_gang("g", gang_of(2, "q")));
    // Alike and not, node by node and not, assumed and seen, and one that waits.
    ok(known.upsert_pod("g-0", "g", in_phase(pod_phase::running, asking(1)), "a"));
    ok(known.upsert_pod("g-1", "g", in_phase(pod_phase::running, asking(1)), "a"));
    ok(known.upsert_pod("g-2", "g", in_phase(pod_phase::bound, asking(2)), "a"));
    ok(known.upsert_pod("g-3", "g", in_phase(pod_phase::running, asking(1)), "b"));
    ok(known.upsert_pod("g-4", "g", asking(2)));
    ok(known.upsert_pod("g-5", "g", asking(99)));
    cluster::pod_type claiming = in_phase(pod_phase::running, asking(1));
    claiming.where.claims.ports.push_back({"TCP", "", 80});
    ok(known.upsert_pod("g-6", "g", claiming, "b"));
    claiming.where.claims.ports.front().port = 81;
    ok(known.upsert_pod("g-7", "g", claiming, "b"));
    add_running(known, "other", 1, "b", "q");
    static_cast<void>(cycle(known, 0));
    CHECK(known[known.find_pod("g-4")->index].assumed);
    CHECK(free_cpu(known, "a") == 0);
    CHECK(used_cpu(known, "q") == 10);
    const auto release = known.release_epoch();
    ok(known.finish_gang("g"));
    CHECK(free_cpu(known, "a") == 4);
    CHECK(free_cpu(known, "b") == 8);
    CHECK(known.accounts().claims(known.find_node("b")->index).empty());
    CHECK(used_cpu(known, "q") == 1);
    CHECK(known.release_epoch() != release);
    for (const char* name : {"g-0", "g-2", "g-4", "g-7"}) {
        CHECK(known[known.find_pod(name)->index].phase == pod_phase::succeeded);
        CHECK_FALSE(known[known.find_pod(name)->index].assumed);
    }
    CHECK(known[known.find_pod("g-5")->index].phase == pod_phase::pending);
    CHECK(placeable(known, "g") == 1);
    CHECK(placeable(known, "g") == counted_placeable(known, "g"));
}

TEST_CASE("a gang of which nothing stands anywhere cannot finish") {
    cluster known;
    ok(known.upsert_node("n", machine(4)));
    CHECK(known.finish_gang("g") == event_result::unexpected);
    add_gang(known, "g", 1, 2);
    CHECK(known.finish_gang("g") == event_result::unexpected);
    const auto named = *known.find_gang("g");
    static_cast<void>(cycle(known, 0));
    ok(known.finish_gang(named));
    CHECK(known.finish_gang(named) == event_result::unexpected);
    ok(known.remove_pod("g-0"));
    ok(known.remove_gang("g"));
    add_running(known, "h", 1, "n");
    CHECK(known.finish_gang(named) == event_result::unexpected);
    CHECK(free_cpu(known, "n") == 3);
}

TEST_CASE("a gang that finished is what a cluster that saw its pods succeed has") {
    cluster finished;
    ok(finished.upsert_node("n", machine(8)));
    ok(finished.upsert_queue("q", quota_of(8)));
    add_gang(finished, "g", 3, 2, "q");
    static_cast<void>(cycle(finished, 0));
    cluster seen = finished;
    ok(finished.finish_gang("g"));
    for (const char* name : {"g-0", "g-1", "g-2"})
        ok(seen.upsert_pod(name, "g", in_phase(pod_phase::succeeded, asking(2)), "n"));
    CHECK(finished.accounts() == seen.accounts());
    CHECK(placeable(finished, "g") == placeable(seen, "g"));
    for (cluster* each : {&finished, &seen})
        add_gang(*each, "next", 4, 2, "q");
    CHECK(started(finished, cycle(finished, 0)) == started(seen, cycle(seen, 0)));
}

TEST_CASE("how many members wait for a node is kept through everything that happens to them") {
    cluster known;
    ok(known.upsert_node("n", machine(6)));
    const auto agrees = [&](std::size_t expected) {
        return placeable(known, "g") == expected && counted_placeable(known, "g") == expected;
    };
    add_members(known, "g", 3, asking(2));
    CHECK(agrees(3));
    ok(known.upsert_gang("g", gang_of(1)));
    CHECK(agrees(3));
    ok(known.upsert_pod("g-0", "g", in_phase(pod_phase::gated, asking(2))));
    CHECK(agrees(2));
    static_cast<void>(cycle(known, 0));
    CHECK(agrees(0));
    ok(known.upsert_pod("g-0", "g", asking(2)));
    CHECK(agrees(1));
    // Seen pending, it stays assumed.
    ok(known.upsert_pod("g-1", "g", asking(2)));
    CHECK(agrees(1));
    ok(known.forget("g-1"));
    CHECK(agrees(2));
    ok(known.confirm_bound("g-2"));
    CHECK(agrees(2));
    ok(known.upsert_pod("g-1", "g", in_phase(pod_phase::running, asking(2)), "n"));
    CHECK(agrees(1));
    ok(known.upsert_pod("g-1", "g", in_phase(pod_phase::failed, asking(2)), "n"));
    CHECK(agrees(1));
    cluster::pod_type leaving = asking(2);
    leaving.terminating = true;
    ok(known.upsert_pod("g-0", "g", leaving));
    CHECK(agrees(0));
    ok(known.upsert_pod("g-3", "g", asking(2)));
    ok(known.remove_pod("g-0"));
    CHECK(agrees(1));
    ok(known.remove_pod("g-3"));
    CHECK(agrees(0));
    ok(known.finish_gang("g"));
    CHECK(agrees(0));
    ok(known.remove_gang("g"));
    CHECK(agrees(0));
}

} // namespace

} // namespace cluster_state_test
