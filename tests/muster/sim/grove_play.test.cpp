// SPDX-License-Identifier: Apache-2.0
#include <muster/sim/grove_play.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <muster/input/read_documents.hpp>

namespace sim_grove_play_test {

using namespace muster;
using namespace muster::sim;

namespace {

constexpr std::int64_t second = 1'000'000'000;

std::vector<set_input> read(const std::string& text, codec::diagnostics& out) {
    static std::vector<std::vector<codec::document>> kept;
    kept.push_back(codec::read_documents("f", text, out));
    codec::reading_context context;
    return read_sets(kept.back(), context, out);
}

std::string set(const std::string& replicas, const std::string& more = "",
                const std::string& pod = "") {
    return "{apiVersion: grove.io/v1alpha1, kind: PodCliqueSet, metadata: {name: s, namespace: "
           "ns}, "
           "spec: {replicas: " +
           replicas + ", template: {" + more +
           "cliques: [{name: a, annotations: {muster.dev/run-seconds: '10, 100'}, spec: {roleName: "
           "a, replicas: 2, podSpec: {" +
           pod + "containers: [{name: c, image: i}]}}}]}}}\n";
}

/// Everybody gets a node at once.
struct world {
    grove_play play;
    std::int64_t now = 0;
    std::vector<std::string> added; ///< pods, in their order
    std::vector<std::string> gone;
    std::vector<std::string> gangs;
    std::vector<std::string> told; ///< WHAT NAME

    explicit world(std::vector<set_input> sets, codec::diagnostics& out)
        : play(std::move(sets), out) {
        play.begin(0);
        until(0);
    }

    void follow() {
        for (const run_line& each : std::exchange(play.lines, {}))
            told.push_back(each.what + ' ' + each.whom.name);
        for (const grove_order& each : std::exchange(play.orders, {})) {
            if (each.what == grove_order::verb::add_gang)
                gangs.push_back(each.whom.name);
            if (each.what == grove_order::verb::remove_gang)
                std::erase(gangs, each.whom.name);
            if (each.what == grove_order::verb::add_pod) {
                CHECK(std::ranges::find(gangs, each.gang) != gangs.end());
                added.push_back(each.whom.name);
                play.place(each.whom, "node", now);
            }
            if (each.what == grove_order::verb::remove_pod)
                gone.push_back(each.whom.name);
        }
        if (!play.lines.empty() || !play.orders.empty())
            follow();
    }
    void settle() {
        follow();
        while (play.look())
            follow();
    }
    void until(std::int64_t time) {
        for (auto next = play.next(); next && *next <= time; next = play.next()) {
            now = std::max(now, *next);
            play.happen(now);
            settle();
        }
        now = time;
    }
    void act(script_action what, const std::string& name, std::int64_t value = 0,
             const std::string& text = "") {
        script_event event;
        event.what = what;
        event.whom = {"ns", name};
        event.value = value;
        event.text = text;
        CHECK(play.act(event, now));
        settle();
    }
    [[nodiscard]] std::size_t count(const std::string& line) const {
        return static_cast<std::size_t>(std::ranges::count(told, line));
    }
};

} // namespace

TEST_CASE("a set makes gangs, then pods, which are asked for once their gates are open") {
    codec::diagnostics out;
    world all(read(set("2"), out), out);
    CHECK(out.findings().empty());
    CHECK(all.gangs == std::vector<std::string>{"s-0", "s-1"});
    CHECK(all.added.size() == 4);
    CHECK(all.play.gated() == 0);
    CHECK(all.play.foreseen().size() == 1);
    const auto sets = all.play.finish();
    REQUIRE(sets.size() == 1);
    CHECK(sets[0].status.at("availableReplicas") == 2);
    CHECK(sets[0].began == 0);
}

TEST_CASE("a process that ends is started again, and a pod that is taken away made anew") {
    codec::diagnostics out;
    world all(read(set("1"), out), out);
    const std::string first = all.added.at(0);
    all.until(10 * second);
    CHECK(all.count("Restarted " + first) == 1);
    all.play.remove({"ns", first}, "Evicted", "", all.now);
    all.settle();
    CHECK(all.count("Evicted " + first) == 1);
    CHECK(all.gone == std::vector<std::string>{first});
    CHECK(all.added.size() == 3);
    CHECK(all.play.owns({"ns", all.added.back()}));
}

TEST_CASE("pods that end for good take their gang with them after the delay") {
    codec::diagnostics out;
    world all(read(set("1", "terminationDelay: 30s, ", "restartPolicy: Never, "), out), out);
    all.until(39 * second);
    CHECK(all.gone.empty());
    CHECK(all.count("Succeeded " + all.added.at(0)) == 1);
    all.until(40 * second);
    CHECK(all.gone.size() == 2);
    CHECK(all.added.size() == 4);
    CHECK(all.gangs == std::vector<std::string>{"s-0"});
}

TEST_CASE("a set is scaled, updated one replica after the other, and deleted with all it owns") {
    codec::diagnostics out;
    world all(read(set("1"), out), out);
    all.act(script_action::scale, "s", 2);
    CHECK(all.gangs == std::vector<std::string>{"s-0", "s-1"});
    all.told.clear();
    all.act(script_action::set_image, "s", 0, "j");
    CHECK(all.gone.size() == 4);
    CHECK(all.added.size() == 8);
    // Nobody of replica 1 goes before all of replica 0 run again.
    std::size_t running = 0;
    for (const std::string& each : all.told) {
        running += each.starts_with("Running s-0-a-") ? 1U : 0U;
        if (each.starts_with("Deleted s-1-a-"))
            CHECK(running == 2);
    }
    all.act(script_action::scale, "s", 0);
    CHECK(all.gangs.empty());
    all.act(script_action::delete_job, "s");
    CHECK(all.count("Deleted s") == 1);
    CHECK(all.play.finish().at(0).deleted);
    all.act(script_action::scale, "s", 1);
    CHECK(all.count("Ignored s") == 1);
}

TEST_CASE("a set that Grove refuses is an error at its place, and so is a bad list of attempts") {
    codec::diagnostics out;
    CHECK(read("{apiVersion: grove.io/v1alpha1, kind: PodCliqueSet, metadata: {name: s}, spec: "
               "{template: {cliques: []}}}",
               out)
              .empty());
    CHECK_FALSE(out.ok());
    codec::diagnostics again;
    std::string wrong = set("1");
    wrong.replace(wrong.find("10, 100"), 7, "soon");
    const grove_play play(read(wrong, again), again);
    REQUIRE(again.findings().size() == 1);
    CHECK(again.findings()[0].path ==
          "spec.template.cliques[0].annotations[muster.dev/run-seconds]");
}

} // namespace sim_grove_play_test
