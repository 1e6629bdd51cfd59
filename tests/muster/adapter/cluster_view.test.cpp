// SPDX-License-Identifier: Apache-2.0
#include <muster/adapter/cluster_view.hpp>
#include <muster/adapter/comparer.hpp>

#include <cstdint>
#include <optional>
#include <string>

#include <doctest/doctest.h>

#include <muster/cluster/state.hpp>

namespace adapter_cluster_view_test {

using namespace muster;
using adapter::object_kind;
using traits = string_traits<4>;

struct bench {
    bench() : view(known) {
        machine("n", 8);
        group("g", single_role(2));
    }
    void machine(const std::string& name, std::int64_t size) {
        node<4> spec;
        spec.allocatable[kind_id{0}] = size;
        view.node(name, spec);
    }
    void group(const std::string& name, gang_tree tree, const std::string& uid = "1") {
        adapter::seen_gang<traits> seen;
        seen.uid = uid;
        seen.spec.tree = std::move(tree);
        seen.reached = false;
        view.gang(name, seen);
    }
    void pod(const std::string& name, const std::string& uid, std::optional<std::string> on = {},
             std::size_t role = 0) {
        adapter::seen_pod<traits> seen;
        seen.uid = uid;
        seen.gang = "g";
        seen.spec.role = vertex_index{role};
        seen.spec.request[kind_id{0}] = 3;
        seen.spec.phase = on ? pod_phase::running : pod_phase::pending;
        seen.on = std::move(on);
        seen.ours = ours;
        seen.nominated = nominated;
        view.pod(name, seen);
    }
    /// As a decision does it.
    void assume(const std::string& name) {
        const auto pod = known.find_pod(name)->index;
        const auto node = known.find_node("n")->index;
        REQUIRE(known.nominate(name, "n") == event_result::applied);
        REQUIRE(known.assume_nominated(known[pod].gang));
        REQUIRE(known[pod].node == node);
    }
    std::int64_t free() { return known.accounts().free(known.find_node("n")->index)[kind_id{0}]; }
    pod_phase phase(const std::string& name) { return known[known.find_pod(name)->index].phase; }

    state<traits> known;
    adapter::cluster_view<traits> view;
    bool ours = true;
    std::optional<std::string> nominated;
};

TEST_CASE("a pod of another uid is a new one, even where the end of the old one was not seen") {
    bench on;
    on.pod("a", "1", "n");
    const auto before = *on.known.find_pod("a");
    CHECK(on.free() == 5);
    on.pod("a", "2");
    CHECK(on.free() == 8);
    CHECK_FALSE(on.known.resolve(before));
    CHECK(on.view.find_pod("a", "1") == nullptr);
    CHECK(on.view.find_pod("a", "2") != nullptr);
}

TEST_CASE("what a listing leaves out is gone, and other kinds are not") {
    bench on;
    on.pod("a", "1", "n");
    on.pod("b", "1", "n");
    on.view.begin_listing(object_kind::pod);
    on.view.begin_listing(object_kind::node);
    on.pod("b", "1", "n");
    on.view.end_listing(object_kind::pod);
    CHECK_FALSE(on.known.find_pod("a"));
    CHECK(on.known.find_pod("b"));
    CHECK(on.free() == 5);
    on.view.end_listing(object_kind::node);
    CHECK_FALSE(on.known[on.known.find_node("n")->index].present);
    CHECK(on.known[on.known.find_gang("g")->index].present);
}

TEST_CASE("an assumed pod stays assumed, however often it is seen without a node") {
    bench on;
    on.pod("a", "1");
    on.assume("a");
    on.pod("a", "1");
    CHECK(on.free() == 5);
    on.view.release("a");
    CHECK(on.free() == 8);
}

TEST_CASE("an assumed pod keeps its place when its gang's tree changes, until it is released") {
    bench on;
    on.pod("a", "1");
    on.assume("a");
    gang_tree tree(2);
    tree.add(vertex_index{0}, 1, "server");
    const auto worker = tree.add(vertex_index{0}, 1, "worker");
    on.group("g", tree);
    CHECK(on.free() == 5);
    on.pod("a", "1", {}, worker.value());
    CHECK(on.known[on.known.find_pod("a")->index].role == worker);
    CHECK(on.free() == 5);
    on.view.release("a");
    CHECK(on.free() == 8);
    CHECK(on.phase("a") == pod_phase::pending);
}

TEST_CASE("another scheduler's pod counts once it has a node, and is nothing before") {
    bench on;
    on.ours = false;
    on.pod("a", "1");
    CHECK_FALSE(on.known.find_pod("a"));
    on.pod("a", "1", "n");
    CHECK(on.free() == 5);
}

TEST_CASE("room is reserved for another scheduler's pod on the node that it is nominated to") {
    bench on;
    on.ours = false;
    on.nominated = "n";
    on.pod("a", "1");
    CHECK(on.free() == 5);
    SUBCASE("until it is no longer nominated") {
        on.nominated.reset();
        on.pod("a", "1");
        CHECK_FALSE(on.known.find_pod("a"));
        CHECK(on.free() == 8);
    }
    SUBCASE("and counts once when it is bound there") {
        on.pod("a", "1", "n");
        CHECK(on.free() == 5);
        on.view.pod_gone("a");
        CHECK(on.free() == 8);
    }
    SUBCASE("and the comparison finds a difference only if the listing lacks the pod") {
        adapter::listing<traits> all;
        all.nodes = {"n"};
        all.gangs = {{"g", "1"}};
        all.pods.push_back({"a", "1", std::nullopt, false, false});
        CHECK(adapter::compare(on.view, all).empty());
        all.pods.clear();
        CHECK(adapter::compare(on.view, all).size() == 1);
    }
}

TEST_CASE("a nomination to an unknown node counts once the node is observed") {
    bench on;
    on.ours = false;
    on.nominated = "late";
    on.pod("a", "1");
    CHECK(on.free() == 8);
    on.machine("late", 4);
    CHECK(on.known.accounts().free(on.known.find_node("late")->index)[kind_id{0}] == 1);
}

TEST_CASE("an observed nomination of this scheduler's own pod is ignored") {
    bench on;
    on.nominated = "n";
    on.pod("a", "1");
    CHECK(on.free() == 8);
    CHECK(on.phase("a") == pod_phase::pending);
}

TEST_CASE("members of a gang that is held back are no members, those to come included") {
    bench on;
    on.pod("a", "1");
    on.pod("b", "1", "n");
    on.view.hold_gang("g");
    on.pod("c", "1");
    CHECK(on.phase("a") == pod_phase::gated);
    CHECK(on.phase("b") == pod_phase::running);
    CHECK(on.phase("c") == pod_phase::gated);
    on.view.hold_pod("c");
    on.view.let_go_gang("g");
    CHECK(on.phase("a") == pod_phase::pending);
    CHECK(on.phase("c") == pod_phase::gated);
    on.view.let_go_pod("c");
    CHECK(on.phase("c") == pod_phase::pending);
}

TEST_CASE("that its minima were reached once outlives everything but the gang itself") {
    bench on;
    CHECK_FALSE(on.view.find_gang("g")->reached);
    on.view.mark_reached("g");
    on.group("g", single_role(3));
    CHECK(on.view.find_gang("g")->reached);
    on.group("g", single_role(3), "2");
    CHECK_FALSE(on.view.find_gang("g")->reached);
}

TEST_CASE("what the core refuses is listed until it is taken") {
    bench on;
    on.machine("n", -1);
    CHECK(on.view.refused().nodes.at("n") == event_result::out_of_range);
    CHECK_FALSE(on.known[on.known.find_node("n")->index].present);
    on.machine("n", 8);
    CHECK(on.view.refused().nodes.empty());
}

} // namespace adapter_cluster_view_test
