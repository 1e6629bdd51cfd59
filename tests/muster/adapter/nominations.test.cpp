// SPDX-License-Identifier: Apache-2.0
#include <muster/adapter/nominations.hpp>
#include <muster/cluster/state.hpp>

#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace adapter_nominations_test {

using namespace muster;
using traits = string_traits<4>;

namespace {

/// A node of 8, and a gang g of one pod that asks for 3.
struct bench {
    bench() : context(known, {}) {
        node<4> machine;
        machine.allocatable[kind_id{0}] = 8;
        view.node("n", machine);
        adapter::seen_gang<traits> gang;
        gang.uid = "g";
        gang.spec.tree = single_role(1);
        view.gang("g", gang);
        pod();
    }
    void pod(std::optional<std::string> on = {}) {
        adapter::seen_pod<traits> seen;
        seen.uid = "1";
        seen.gang = "g";
        seen.spec.request[kind_id{0}] = 3;
        seen.spec.phase = on ? pod_phase::bound : pod_phase::pending;
        seen.on = std::move(on);
        view.pod("p", seen);
    }
    void nominate() { REQUIRE(known.nominate("p", "n") == event_result::applied); }
    /// The published nominations: pod, uid and node, or `-` for none.
    std::string told() {
        std::vector<adapter::nominate_order<traits>> orders;
        all.give(orders);
        std::string out;
        for (const auto& each : orders) {
            last = each.of;
            out += each.pod + " " + each.uid + " " + each.node.value_or("-");
        }
        return out;
    }
    /// What the last order comes to.
    void ends(adapter::outcome what) { CHECK(all.take({last, what, {}, {}, {}})); }

    state<traits> known;
    adapter::driver_context<traits> context;
    adapter::cluster_view<traits>& view = context.view;
    adapter::nominations<traits> all{context};
    adapter::ticket last = 0;
};

} // namespace

TEST_CASE("a nomination is published once, and again after forget_all") {
    bench on;
    CHECK(on.told() == "");
    on.nominate();
    CHECK(on.told() == "p 1 n");
    CHECK(on.told() == "");
    on.all.forget_all();
    CHECK(on.told() == "p 1 n");
}

TEST_CASE("a nomination that is given up is removed") {
    bench on;
    on.nominate();
    CHECK(on.told() == "p 1 n");
    REQUIRE(on.known.forget("p") == event_result::applied);
    CHECK(on.told() == "p 1 -");
    CHECK(on.told() == "");
}

TEST_CASE("a nominated pod that starts keeps its nomination, unless its bind fails") {
    bench on;
    on.nominate();
    CHECK(on.told() == "p 1 n");
    REQUIRE(on.known.assume_nominated(on.known[on.known.find_pod("p")->index].gang));
    CHECK(on.told() == "");
    SUBCASE("the bind is observed") {
        on.pod("n");
        CHECK(on.told() == "");
    }
    SUBCASE("the bind fails") {
        on.view.release("p");
        CHECK(on.told() == "p 1 -");
    }
    SUBCASE("the pod is gone") {
        on.view.pod_gone("p");
        CHECK(on.told() == "");
    }
}

TEST_CASE("a nomination that could not be written is written again after a while") {
    bench on;
    on.nominate();
    CHECK(on.told() == "p 1 n");
    on.ends(adapter::outcome::transient);
    CHECK(on.told() == "");
    REQUIRE(on.all.next() > on.context.now);
    on.context.now = on.all.next();
    CHECK(on.told() == "p 1 n");
    SUBCASE("until it is written") {
        on.ends(adapter::outcome::applied);
    }
    SUBCASE("unless it is refused") {
        on.ends(adapter::outcome::refused);
    }
    on.context.now += adapter::minute;
    CHECK(on.told() == "");
}

TEST_CASE("a nomination that could not be taken back is taken back after a while") {
    bench on;
    on.nominate();
    CHECK(on.told() == "p 1 n");
    on.ends(adapter::outcome::applied);
    REQUIRE(on.known.forget("p") == event_result::applied);
    CHECK(on.told() == "p 1 -");
    on.ends(adapter::outcome::unknown);
    on.context.now = on.all.next();
    CHECK(on.told() == "p 1 -");
    on.ends(adapter::outcome::applied);
    on.context.now += adapter::minute;
    CHECK(on.told() == "");
}

} // namespace adapter_nominations_test
