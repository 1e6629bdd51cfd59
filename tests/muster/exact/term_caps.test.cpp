// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <muster/builders.hpp>
#include <muster/cycle/cycle.hpp>
#include <muster/explain/explain.hpp>
#include <muster/testing/verifier.hpp>

namespace exact_term_caps_test {

using namespace builders;
using namespace muster;

namespace {

using rule = certificate::cap::rule;

pod_selector app_is(const std::string& app) {
    return {label_is("app", app), {}};
}
/// A pod of that app that keeps away from another.
cluster::pod_type apart(const std::string& app, const std::string& from, std::int64_t cpus = 1) {
    auto made = asking(cpus);
    made.labels = {{"app", app}};
    made.where.pods.emplace();
    made.where.pods->anti_affinity.push_back({app_is(from), "host"});
    return made;
}
/// One that spreads out over hosts with its like.
cluster::pod_type spread(std::int32_t max_skew, std::int32_t min_domains = 1) {
    auto made = asking(1);
    made.labels = {{"app", "web"}};
    made.where.pods.emplace();
    spread_term term;
    term.pods = app_is("web");
    term.topology = "host";
    term.max_skew = max_skew;
    term.min_domains = min_domains;
    made.where.pods->spread.push_back(term);
    return made;
}

struct scene {
    cluster known;

    explicit scene(detail::sequence<std::int64_t> cpus) {
        for (std::size_t at = 0; at < cpus.size(); ++at)
            add_host(std::string(1, static_cast<char>('a' + at)), cpus[at]);
    }
    void add_host(const std::string& name, std::int64_t cpus, bool labelled = true) {
        auto spec = machine(cpus);
        if (labelled)
            spec.labels = {{"host", name}};
        ok(known.upsert_node(name, spec));
    }
    void run(const std::string& key, cluster::pod_type spec, const std::string& node) {
        ok(known.upsert_gang(key, gang_of(1)));
        ok(known.upsert_pod(key, key, in_phase(pod_phase::running, std::move(spec)), node));
    }
    /// The answer for gang `g`; its proof, if it has one, holds, and needs its caps.
    answer next() {
        const cluster before = known;
        const cycle_result result = cycle(known, 0);
        const gang_index which = gang_at(known, "g");
        const last_verdict& last = known[which].last;
        proof.reset();
        for (const decision& made : result.decisions)
            if (made.gang == which)
                proof = made.outcome.proof;
        CHECK((last.kind != answer::admitted) == !explain(known, which).empty());
        if (!proof)
            return last.kind;
        CHECK(check(before) == testing::proof_check::valid);
        certificate bare = *proof;
        bare.caps.clear();
        CHECK(testing::verify(before, which, bare) == testing::proof_check::invalid);
        return last.kind;
    }
    [[nodiscard]] testing::proof_check check(const cluster& on) const {
        return testing::verify(on, gang_at(on, "g"), *proof);
    }
    [[nodiscard]] bool names(rule by) const {
        for (const certificate::cap& one : proof ? proof->caps : std::vector<certificate::cap>())
            if (one.by == by)
                return true;
        return false;
    }

    std::optional<certificate> proof;
};

} // namespace

TEST_CASE("members that keep away from one another need a node each, and that is proven") {
    scene in({9, 9});
    ok(in.known.upsert_gang("g", gang_of(3)));
    SUBCASE("whoever stands where") {
        add_members(in.known, "g", 3, apart("web", "web"));
        CHECK(in.next() == answer::never);
        CHECK(in.proof->scope == certificate_scope::empty_cluster);
        in.add_host("c", 9);
        CHECK(in.next() == answer::admitted);
    }
    SUBCASE("with what is free now") {
        in.add_host("c", 9);
        in.run("other", asking(9), "c");
        add_members(in.known, "g", 3, apart("web", "web"));
        CHECK(in.next() == answer::waiting);
        CHECK(in.names(rule::apart));
        CHECK(!in.known[gang_at(in.known, "g")].last.could_start);
        ok(in.known.remove_pod("other"));
        CHECK(in.next() == answer::admitted);
    }
    SUBCASE("but not where nodes lack the label that tells them apart") {
        in.add_host("c", 9, false);
        add_members(in.known, "g", 4, apart("web", "web"));
        CHECK(in.next() == answer::admitted);
    }
    SUBCASE("but not of members of which some are not meant") {
        ok(in.known.upsert_pod("g-0", "g", apart("web", "web")));
        auto other = apart("web", "web");
        other.labels = {{"app", "db"}};
        for (const char* pod : {"g-1", "g-2"})
            ok(in.known.upsert_pod(pod, "g", other));
        // One class by request and constraints, yet two of them stand together.
        CHECK(in.next() == answer::admitted);
        CHECK(node_of(in.known, "g-1") == node_of(in.known, "g-2"));
    }
}

TEST_CASE("a role that keeps away from another leaves it too few nodes, and that is proven") {
    scene in({2, 2, 2});
    gang_tree tree;
    const auto server = tree.add(vertex_index{0}, 2);
    const auto worker = tree.add(vertex_index{0}, 3);
    ok(in.known.upsert_gang("g", gang_of(tree)));
    for (int at = 0; at < 2; ++at)
        ok(in.known.upsert_pod("g-s" + std::to_string(at), "g", in_role(server, apart("s", "s"))));
    auto works = asking(1);
    works.labels = {{"app", "w"}};
    works.where.pods = apart("w", "s").where.pods;
    for (int at = 0; at < 3; ++at)
        ok(in.known.upsert_pod("g-w" + std::to_string(at), "g", in_role(worker, works)));
    CHECK(in.next() == answer::never);
    CHECK(in.proof->vertices.size() >= 1);
    in.add_host("d", 1);
    CHECK(in.next() == answer::admitted);
}

TEST_CASE("nodes where those stand who are avoided, or who avoid, are out, and that is proven") {
    for (const bool both_avoided : {false, true})
        for (const bool goes : {false, true}) {
            scene in({9, 9});
            ok(in.known.upsert_gang("g", gang_of(1)));
            auto other = asking(1);
            other.labels = {{"app", "db"}};
            in.run("r", other, "a");
            in.run("s", both_avoided ? other : apart("x", "web"), "b");
            ok(in.known.upsert_pod("g-0", "g", apart("web", "db")));
            CHECK(in.next() == answer::waiting);
            CHECK(in.names(rule::kept_off));
            if (goes)
                ok(in.known.remove_pod("s"));
            else
                in.run("s", asking(1), "b");
            CHECK(in.next() == answer::admitted);
        }
}

TEST_CASE("a full node keeps a spread from growing elsewhere, and that is proven") {
    scene in({1, 9, 9});
    in.run("other", asking(1), "a");
    ok(in.known.upsert_gang("g", gang_of(5)));
    add_members(in.known, "g", 5, spread(2));
    CHECK(in.next() == answer::waiting);
    REQUIRE(in.names(rule::spread));
    CHECK(in.proof->caps.front().fewest == 0);
    SUBCASE("until it has room") {
        ok(in.known.remove_pod("other"));
        CHECK(in.next() == answer::admitted);
    }
    SUBCASE("until one of its like stands there") {
        auto like = asking(0);
        like.labels = {{"app", "web"}};
        in.run("like", like, "a");
        CHECK(in.next() == answer::admitted);
    }
}

TEST_CASE("a spread over too few domains never grows beyond its skew, and that is proven") {
    scene in({9, 9});
    ok(in.known.upsert_gang("g", gang_of(5)));
    add_members(in.known, "g", 5, spread(2, 3));
    CHECK(in.next() == answer::never);
    CHECK(in.names(rule::spread));
    in.add_host("c", 9);
    CHECK(in.next() == answer::admitted);
}

TEST_CASE("an uneven spread that others could even out is not refused for good") {
    scene in({1, 9});
    in.run("other", asking(1), "a");
    ok(in.known.upsert_gang("g", gang_of(4)));
    add_members(in.known, "g", 4, spread(1));
    CHECK(in.next() == answer::waiting);
    CHECK(in.proof->scope == certificate_scope::free_now);
}

TEST_CASE("caps that say too much are no proof") {
    using testing::proof_check;
    SUBCASE("of a spread") {
        scene in({9, 9, 9});
        for (const char* node : {"a", "b"})
            in.run(node, asking(9), node);
        ok(in.known.upsert_gang("g", gang_of(2)));
        add_members(in.known, "g", 2, spread(1));
        const cluster before = in.known;
        REQUIRE(in.next() == answer::waiting);
        for (certificate::cap& one : in.proof->caps)
            --one.fewest;
        CHECK(in.check(before) == proof_check::invalid);
    }
    SUBCASE("of who keeps apart") {
        scene in({9, 9});
        ok(in.known.upsert_gang("g", gang_of(3)));
        add_members(in.known, "g", 3, apart("web", "db"));
        const gang_index which = gang_at(in.known, "g");
        certificate::vertex leaf;
        leaf.weights = {1};
        for (const certificate_scope scope :
             {certificate_scope::free_now, certificate_scope::empty_cluster})
            for (const rule by : {rule::apart, rule::spread})
                for (std::size_t other = 0; other < 2; ++other)
                    for (std::size_t term = 0; term < 2; ++term)
                        CHECK(testing::verify(in.known, which,
                                              {scope, {{by, 0, other, term, 0}}, {leaf}}) ==
                              proof_check::invalid);
        CHECK(testing::verify(
                  in.known, which,
                  {certificate_scope::free_now, {{rule::kept_off, 1, 0, 0, 0}}, {leaf}}) ==
              proof_check::invalid);
    }
}

TEST_CASE("where terms leave only the counts to be found, as many as there are are placed") {
    // More members than are placed by going back, and the order of turns takes the nodes that the
    // workers need.
    scene in({});
    for (int at = 0; at < 80; ++at)
        in.add_host("n" + std::to_string(100 + at), at < 40 ? 3 : 4);
    gang_tree tree;
    const auto server = tree.add(vertex_index{0}, 40);
    const auto worker = tree.add(vertex_index{0}, 40);
    ok(in.known.upsert_gang("g", gang_of(tree)));
    for (int at = 0; at < 40; ++at) {
        ok(in.known.upsert_pod("g-s" + std::to_string(at), "g",
                               in_role(server, apart("s", "s", 3))));
        ok(in.known.upsert_pod("g-w" + std::to_string(at), "g",
                               in_role(worker, apart("w", "s", at % 2 == 0 ? 4 : 3))));
    }
    CHECK(in.next() == answer::admitted);
}

} // namespace exact_term_caps_test
