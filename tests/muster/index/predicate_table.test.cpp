// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include <muster/index/capacity_index.hpp>
#include <muster/index/predicate_table.hpp>

#include "../builders.hpp"

namespace index_predicate_table_test {

namespace {

using namespace builders;
using namespace muster;
using form = detail::node_predicate::form;

/// 300 nodes in an index; of the predicates one is kept as a table would be by a finder.
struct fixture {
    using index_type = capacity_index<traits::width, 4, 2>;

    cluster known;
    index_type index;
    detail::predicate_table<core_of<traits>, index_type> predicates;
    std::size_t hint = 0;

    fixture() {
        for (int at = 0; at < 300; ++at) {
            cluster::node_type node = machine(4);
            node.labels.set("even", at % 2 == 0 ? "yes" : "no");
            node.labels.set("ten", std::to_string(at % 10));
            if (at < 20)
                node.labels.set("few", "yes");
            add(name(at), node);
        }
    }
    static std::string name(int at) { return "n" + std::to_string(1000 + at); }
    void add(const std::string& key, const cluster::node_type& node) {
        ok(known.upsert_node(key, node));
        const node_index at = known.find_node(key)->index;
        index.insert(at, 0, known.node_labels()[at], node.allocatable);
    }
    constraint_index set(const std::string& pod, const constraints& where) {
        cluster::pod_type spec = asking(1);
        spec.where = where;
        ok(known.upsert_pod(pod, "g", spec));
        return known.shapes()[known[known.find_pod(pod)->index].shape].where;
    }
    const detail::node_predicate& find(constraint_index where) {
        hint = predicates.find(known, index, where, {}, hint);
        return predicates[hint];
    }
    /// What the node becomes, in the order in which a finder sees to it.
    void change(const std::string& key, const cluster::node_type& node) {
        ok(known.upsert_node(key, node));
        predicates.node_changed(known, index, known.find_node(key)->index, true);
    }
    /// The nodes that the predicate's levels name, each with how much it is liked, are those that
    /// the constraints admit.
    [[nodiscard]] bool tells(constraint_index where) {
        const detail::node_predicate& made = find(where);
        const detail::predicate_rows<traits::width> rows(known, made);
        if (made.shape == form::everywhere) {
            for (const node_index node : known.node_order())
                if (known[node].present &&
                    (!rows.admits(node) || rows.preference(node) != made.levels.front().preference))
                    return false;
            return true;
        }
        if (made.shape == form::list) {
            std::size_t admitted = 0;
            for (const node_index node : known.node_order())
                admitted += known[node].present && rows.admits(node) ? 1U : 0U;
            for (const auto& [node, preference, label] : made.nodes)
                if (!rows.admits(node) || preference != rows.preference(node) ||
                    label != known.node_labels()[node])
                    return false;
            return made.nodes.size() == admitted;
        }
        std::size_t named = 0;
        std::size_t admitted = 0;
        std::int64_t last = std::int64_t{1} << 40;
        for (const auto& level : made.levels) {
            if (level.preference >= last)
                return false;
            last = level.preference;
            bool right = true;
            auto query = index.prepare(units(0));
            if (made.shape == form::columns)
                index.for_each_fitting(query, level.column,
                                       [&](node_index node, const amounts&, std::int64_t) {
                                           ++named;
                                           right = right && rows.admits(node) &&
                                                   rows.preference(node) == level.preference;
                                           return true;
                                       });
            if (!right)
                return false;
        }
        for (const node_index node : known.node_order())
            if (known[node].present && rows.admits(node)) {
                ++admitted;
                if (std::ranges::none_of(made.levels, [&](const auto& level) {
                        return level.preference == rows.preference(node);
                    }))
                    return false;
            }
        return made.shape == form::filter || named == admitted;
    }
};

constraints selecting(const char* key, const char* value) {
    constraints where;
    where.selector = label_is(key, value);
    return where;
}

TEST_CASE_FIXTURE(fixture, "who may stand anywhere and likes all nodes alike needs no column") {
    const constraint_index where = set("p", {});
    CHECK(find(where).shape == form::everywhere);
    CHECK(tells(where));
}

TEST_CASE_FIXTURE(fixture, "a few nodes are written down") {
    const constraint_index where = set("p", selecting("few", "yes"));
    CHECK(find(where).shape == form::list);
    CHECK(find(where).nodes.size() == 20);
    CHECK(tells(where));
    const constraint_index nowhere = set("q", selecting("few", "no"));
    CHECK(find(nowhere).nodes.empty());
    CHECK(tells(nowhere));
}

TEST_CASE_FIXTURE(fixture, "many nodes get a column for every level at which they are liked") {
    constraints some = selecting("even", "yes");
    const constraint_index half = set("p", some);
    CHECK(find(half).shape == form::columns);
    CHECK(find(half).levels.size() == 1);
    CHECK(tells(half));
    some.preferred.push_back({5, {label_is("ten", "0"), {}}});
    some.preferred.push_back({-3, {label_is("ten", "2"), {}}});
    const constraint_index liked = set("q", some);
    CHECK(find(liked).shape == form::columns);
    CHECK(find(liked).levels.size() == 3);
    CHECK(find(liked).levels.front().preference == 5);
    CHECK(find(liked).levels.back().preference == -3);
    CHECK(tells(liked));
}

TEST_CASE_FIXTURE(fixture, "more levels than columns are worth are looked at one by one") {
    constraints many;
    for (int at = 0; at < 10; ++at)
        many.preferred.push_back({at + 1, {label_is("ten", std::to_string(at)), {}}});
    const constraint_index where = set("p", many);
    CHECK(find(where).shape == form::filter);
    CHECK(tells(where));
}

TEST_CASE_FIXTURE(fixture,
                  "a predicate follows nodes that change, and is made anew where it must") {
    constraints liking = selecting("even", "yes");
    liking.preferred.push_back({5, {label_is("ten", "0"), {}}});
    constraints few = selecting("few", "yes");
    few.preferred.push_back({5, {label_is("ten", "0"), {}}});
    const constraint_index sets[] = {set("p0", {}), set("p1", selecting("few", "yes")),
                                     set("p2", selecting("even", "yes")), set("p3", liking),
                                     set("p4", few)};
    for (const constraint_index where : sets)
        CHECK(tells(where));
    cluster::node_type node = machine(4);
    SUBCASE("a node that is admitted no more") {
        change(name(0), node);
    }
    SUBCASE("a node that is admitted now") {
        node.labels = {{"even", "yes"}, {"few", "yes"}};
        change(name(101), node);
    }
    SUBCASE("a node that is liked less") {
        node.labels = {{"even", "yes"}, {"ten", "2"}};
        change(name(100), node);
    }
    SUBCASE("a node of a few that is liked less") {
        node.labels = {{"even", "yes"}, {"few", "yes"}, {"ten", "2"}};
        change(name(10), node);
    }
    SUBCASE("a node that is liked as none was") {
        node.labels = {{"even", "yes"}};
        node.taints.push_back({"t", "", taint_effect::prefer_no_schedule});
        change(name(100), node);
    }
    SUBCASE("a node with a taint") {
        node.labels = {{"even", "yes"}, {"few", "yes"}};
        node.taints.push_back({"t", "", taint_effect::no_schedule});
        change(name(2), node);
    }
    SUBCASE("a node that goes") {
        const node_index gone = known.find_node(name(2))->index;
        ok(known.remove_node(name(2)));
        index.erase(gone);
        predicates.node_changed(known, index, gone, false);
    }
    SUBCASE("a node that comes") {
        node.labels = {{"even", "yes"}, {"few", "yes"}, {"ten", "0"}};
        add("n0", node);
        predicates.node_changed(known, index, known.find_node("n0")->index, true);
    }
    for (const constraint_index where : sets)
        CHECK(tells(where));
}

TEST_CASE_FIXTURE(fixture, "other constraints in the same place are noticed") {
    const constraint_index before = set("p", selecting("even", "yes"));
    CHECK(tells(before));
    // One goes, the other takes its place in the table.
    ok(known.remove_pod("p"));
    const constraint_index after = set("p", selecting("even", "no"));
    CHECK(after == before);
    CHECK(find(after).shape == form::columns);
    CHECK(tells(after));
    ok(known.remove_pod("p"));
    // A node changes while the predicate stands for constraints that are gone.
    change(name(1), machine(4));
    CHECK(set("p", selecting("even", "no")) == before);
    CHECK(tells(before));
}

TEST_CASE_FIXTURE(fixture, "a queue's selector makes another predicate of the same constraints") {
    const constraint_index where = set("p", selecting("even", "yes"));
    cluster::queue_type queue;
    queue.nodes = label_is("few", "yes");
    ok(known.upsert_queue("q", queue));
    const constraint_index nodes = known[known.find_queue("q")->index].nodes;
    const std::size_t plain = predicates.find(known, index, where, {}, 0);
    const std::size_t within = predicates.find(known, index, where, nodes, plain);
    CHECK(plain != within);
    CHECK(predicates[within].shape == form::list);
    CHECK(predicates[within].nodes.size() == 10);
    CHECK(predicates[plain].shape == form::columns);
    CHECK(predicates.find(known, index, where, {}, within) == plain);
}

TEST_CASE_FIXTURE(fixture, "when the columns are used up, predicates go without") {
    std::size_t columns = 0;
    std::size_t filters = 0;
    for (int at = 0; at < 300; ++at) {
        constraints where = selecting("even", at % 2 == 0 ? "yes" : "no");
        where.preferred.push_back({at + 1, {label_is("ten", std::to_string(at % 10)), {}}});
        where.preferred.push_back({at + 400, {label_is("few", "yes"), {}}});
        const constraint_index made = set("p" + std::to_string(at), where);
        columns += find(made).shape == form::columns ? find(made).levels.size() : 0U;
        filters += find(made).shape == form::filter ? 1U : 0U;
        if (at % 50 == 0 || at == 299)
            CHECK(tells(made));
    }
    CHECK(columns <= detail::predicate_table<core_of<traits>, index_type>::max_columns);
    CHECK(filters > 0);
    predicates.clear(index);
    CHECK(find(set("again", selecting("even", "yes"))).shape == form::columns);
}

} // namespace

} // namespace index_predicate_table_test
