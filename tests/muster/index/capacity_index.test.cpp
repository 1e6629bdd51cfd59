// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include <muster/index/capacity_index.hpp>

namespace index_capacity_index_test {

namespace {

using namespace muster;

constexpr std::size_t width = 3;

resources<width> amounts(std::int64_t first, std::int64_t second = 0, std::int64_t third = 0) {
    resources<width> made;
    made[0] = first;
    made[1] = second;
    made[2] = third;
    return made;
}

/// Numbers that are the same everywhere.
class dice {
public:
    explicit dice(std::uint64_t seed) : state_(seed) {}
    std::uint64_t below(std::uint64_t end) {
        state_ += 0x9e3779b97f4a7c15U;
        std::uint64_t mixed = (state_ ^ (state_ >> 30)) * 0xbf58476d1ce4e5b9U;
        mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebU;
        return (mixed ^ (mixed >> 31)) % end;
    }
    std::int64_t from(std::int64_t low, std::int64_t high) {
        return low + static_cast<std::int64_t>(below(static_cast<std::uint64_t>(high - low + 1)));
    }

private:
    std::uint64_t state_;
};

struct seen {
    std::size_t node;
    resources<width> free;
    std::int64_t rank;
    friend bool operator==(const seen&, const seen&) = default;
};

/// An index beside plain rows that are looked at one by one.
template<std::size_t Fanout, std::size_t Thresholds>
struct compared {
    using index_type = capacity_index<width, Fanout, Thresholds>;
    struct plain_row {
        std::int64_t rank;
        std::uint64_t label;
        resources<width> free;
        std::set<std::size_t> columns;
    };

    index_type index;
    std::map<std::size_t, plain_row> rows;
    detail::sequence<std::size_t> columns;
    std::vector<typename index_type::query> queries;
    dice random;
    /// Nothing is ever short, and ranks rise with the amounts, so that queries may tell the lowest
    /// rank that is worth looking at.
    bool orderly = false;

    explicit compared(std::uint64_t seed) : random(seed), orderly(seed % 2 == 0) {}

    resources<width> some_amounts(std::int64_t low) {
        low = orderly ? 0 : low;
        return amounts(random.from(low, 12), random.from(low, 12), random.from(low, 3));
    }
    static std::uint64_t label_of(std::size_t node) { return (node * 7919) % 10007; }
    std::int64_t some_rank(const resources<width>& free) {
        // Often equal, and now and then at the very ends.
        const auto kind = orderly ? 2 : random.below(40);
        if (kind == 0)
            return INT64_MAX;
        return kind == 1 ? INT64_MIN : free[0] + free[1] / 4;
    }
    std::optional<std::size_t> some_node() {
        if (rows.empty())
            return std::nullopt;
        const auto found = rows.lower_bound(random.below(400));
        return found == rows.end() ? rows.begin()->first : found->first;
    }

    void insert(std::size_t node) {
        const auto free = some_amounts(-2);
        const auto rank = some_rank(free);
        index.insert(node_index{node}, rank, label_of(node), free);
        rows[node] = {rank, label_of(node), free, {}};
    }
    void erase(std::size_t node) {
        index.erase(node_index{node});
        rows.erase(node);
    }
    void update(std::size_t node) {
        auto& row = rows[node];
        row.free = random.below(4) == 0
                       ? amounts(row.free[0], row.free[1], random.from(orderly ? 0 : -1, 3))
                       : some_amounts(-2);
        row.rank = some_rank(row.free);
        index.update(node_index{node}, row.rank, row.free);
    }
    void add_column() {
        const auto one_in = 1 + random.below(9);
        std::set<std::size_t> holding;
        for (const auto& [node, row] : rows)
            if (random.below(one_in) == 0)
                holding.insert(node);
        const std::size_t column =
            index.add_column([&](node_index node) { return holding.contains(node.value()); });
        REQUIRE(std::ranges::find(columns, column) == columns.end());
        columns.push_back(column);
        for (const std::size_t node : holding)
            rows[node].columns.insert(column);
    }
    void remove_column() {
        const std::size_t at = random.below(columns.size());
        index.remove_column(columns[at]);
        for (auto& [node, row] : rows)
            row.columns.erase(columns[at]);
        columns.erase(columns.begin() + static_cast<std::ptrdiff_t>(at));
    }
    void set_column(std::size_t node) {
        const std::size_t column = columns[random.below(columns.size())];
        const bool holds = random.below(2) == 0;
        index.set(column, node_index{node}, holds);
        if (holds)
            rows[node].columns.insert(column);
        else
            rows[node].columns.erase(column);
        CHECK(index.test(column, node_index{node}) == holds);
    }
    void learn() {
        std::vector<resources<width>> requests;
        for (auto left = random.below(2 * Thresholds); left > 0; --left)
            requests.push_back(random.below(8) == 0 ? resources<width>{} : some_amounts(-1));
        if (requests.size() > 1)
            requests.push_back(requests.front());
        index.learn(requests);
    }
    void build() {
        std::vector<typename index_type::row> loaded;
        std::map<std::size_t, plain_row> after;
        for (std::size_t node = 0; node < 400; ++node) {
            const bool there = rows.contains(node);
            if (random.below(8) == 0 ? there : !there)
                continue;
            const auto free = some_amounts(-2);
            const auto rank = some_rank(free);
            loaded.push_back({node_index{node}, rank, label_of(node), free});
            after[node] = {rank, label_of(node), free, {}};
            if (there)
                after[node].columns = rows[node].columns;
        }
        index.build(loaded);
        rows = after;
    }

    std::vector<seen> expected(const resources<width>& request, std::size_t column) const {
        std::map<std::pair<std::int64_t, std::uint64_t>, seen> found;
        for (const auto& [node, row] : rows)
            if (fits(request, row.free) &&
                (column == index_type::no_column || row.columns.contains(column)))
                found[{row.rank, row.label}] = {node, row.free, row.rank};
        std::vector<seen> in_order;
        for (const auto& [key, each] : found)
            in_order.push_back(each);
        return in_order;
    }
    void ask(typename index_type::query& query) {
        const std::size_t column = columns.empty() || random.below(2) == 0
                                       ? index_type::no_column
                                       : columns[random.below(columns.size())];
        auto wanted = expected(query.request, column);
        const auto most = random.below(3) == 0 ? 1 + random.below(5) : 100'000;
        std::vector<seen> found;
        const bool finished = index.for_each_fitting(
            query, column, [&](node_index node, const resources<width>& free, std::int64_t rank) {
                found.push_back({node.value(), free, rank});
                return found.size() < most;
            });
        CHECK(finished == (wanted.size() < most));
        if (wanted.size() > most)
            wanted.resize(most);
        REQUIRE(found == wanted);
    }
    typename index_type::query some_query() {
        const auto request = some_amounts(-1);
        return orderly ? index.prepare(request, some_rank(request)) : index.prepare(request);
    }
    void ask() {
        if (queries.size() < 40)
            queries.push_back(some_query());
        else if (random.below(4) == 0)
            queries[random.below(40)] = some_query();
        ask(queries[random.below(queries.size())]);
    }
    void check() {
        REQUIRE(index.consistent());
        REQUIRE(index.size() == rows.size());
        for (std::size_t node = 0; node < 410; ++node)
            REQUIRE(index.contains(node_index{node}) == rows.contains(node));
        for (const auto& [node, row] : rows) {
            REQUIRE(index.free(node_index{node}) == row.free);
            REQUIRE(index.rank(node_index{node}) == row.rank);
        }
    }

    void step(std::size_t busy) {
        const auto what = random.below(1000);
        if (what < 300) {
            ask();
        } else if (what < 650) {
            const std::size_t node = random.below(busy);
            if (!rows.contains(node))
                insert(node);
            else if (random.below(3) == 0)
                erase(node);
            else
                update(node);
        } else if (what < 960) {
            if (const auto node = some_node())
                update(*node);
        } else if (what < 990) {
            if (const auto node = some_node(); node && !columns.empty())
                set_column(*node);
        } else if (what < 993) {
            learn();
        } else if (what < 997) {
            if (columns.size() < 20)
                add_column();
        } else if (what < 999) {
            if (!columns.empty())
                remove_column();
        } else {
            build();
        }
    }
    void run(std::size_t steps) {
        for (std::size_t round = 0; round < 4; ++round) {
            for (std::size_t each = 0; each < steps; ++each) {
                step(round == 1 ? 30 : 400);
                if (each % 64 == 0)
                    check();
            }
            // Emptied and filled again, in order.
            if (round % 2 == 0) {
                while (!rows.empty())
                    erase(round == 0 ? rows.begin()->first : *some_node());
                check();
                for (std::size_t node = 0; node < 300; ++node)
                    insert(node);
            } else {
                index.clear();
                rows.clear();
            }
            check();
        }
    }
};

using sizes_2_2 = compared<2, 2>;
using sizes_4_2 = compared<4, 2>;
using sizes_4_4 = compared<4, 4>;
using sizes_5_3 = compared<5, 3>;
using sizes_8_64 = compared<8, 64>;
using sizes_64_64 = compared<64, 64>;

TEST_CASE_TEMPLATE("whatever is done, the rows that fit are visited in order", Sizes, sizes_2_2,
                   sizes_4_2, sizes_4_4, sizes_5_3, sizes_8_64, sizes_64_64) {
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
        Sizes both(seed);
        both.run(1500);
    }
}

TEST_CASE_TEMPLATE("a tree grows as high as need be, and falls again", Sizes, sizes_2_2, sizes_4_4,
                   sizes_64_64) {
    Sizes both(5);
    for (std::size_t node = 0; node < 5000; ++node)
        both.insert(node);
    for (std::size_t each = 0; each < 6; ++each)
        both.add_column();
    CHECK(both.index.consistent());
    for (std::size_t each = 0; each < 300; ++each)
        both.ask();
    for (std::size_t node = 0; node < 5000; ++node)
        if (node % 100 != 0)
            both.erase(node);
    CHECK(both.index.consistent());
    for (std::size_t each = 0; each < 300; ++each)
        both.ask();
}

TEST_CASE("what is not asked for is never short, not even where less than nothing is free") {
    capacity_index<width> index;
    index.insert(node_index{3}, 1, 30, amounts(2, -5));
    index.insert(node_index{4}, 0, 40, amounts(-1, 7));
    for (const bool learned : {false, true}) {
        const std::vector<resources<width>> requests = {amounts(2), amounts(0, 7)};
        if (learned)
            index.learn(requests);
        detail::sequence<std::size_t> found;
        const auto note = [&](node_index node, const resources<width>&, std::int64_t) {
            found.push_back(node.value());
            return true;
        };
        for (const auto& request : {amounts(2), amounts(0, 7), amounts(0), amounts(2, 7)}) {
            auto query = index.prepare(request);
            CHECK(index.for_each_fitting(query, index.no_column, note));
        }
        CHECK(found == detail::sequence<std::size_t>{3, 4, 4, 3});
    }
}

TEST_CASE("rows below the lowest rank of a query are left out, unless any row is short") {
    capacity_index<width> index;
    for (std::size_t node = 0; node < 300; ++node) {
        const auto much = static_cast<std::int64_t>(node);
        index.insert(node_index{node}, much, node, amounts(much, much));
    }
    auto query = index.prepare(amounts(0, 299), 299);
    const auto first = [&] {
        std::optional<std::size_t> found;
        index.for_each_fitting(query, index.no_column,
                               [&](node_index node, const resources<width>&, std::int64_t) {
                                   found = node.value();
                                   return false;
                               });
        return found;
    };
    CHECK(first() == 299);
    CHECK(index.effort().leaves == 1);
    index.update(node_index{7}, 7, amounts(-300, 300));
    CHECK(first() == 7);
    index.update(node_index{7}, 7, amounts(7, 7));
    CHECK(first() == 299);
}

TEST_CASE("a node that comes back has no columns") {
    capacity_index<width> index;
    index.insert(node_index{0}, 0, 0, amounts(1));
    const std::size_t column = index.add_column([](node_index) { return true; });
    CHECK(index.test(column, node_index{0}));
    index.erase(node_index{0});
    index.insert(node_index{0}, 0, 0, amounts(1));
    CHECK_FALSE(index.test(column, node_index{0}));
}

TEST_CASE("a query outlives the thresholds that it was made under") {
    capacity_index<width> index;
    for (std::size_t node = 0; node < 10; ++node)
        index.insert(node_index{node}, 0, node, amounts(static_cast<std::int64_t>(node)));
    auto query = index.prepare(amounts(7));
    CHECK_FALSE(query.exact);
    index.learn(std::vector{amounts(3), amounts(7)});
    std::size_t found = 0;
    index.for_each_fitting(query, index.no_column,
                           [&](node_index, const resources<width>&, std::int64_t) {
                               ++found;
                               return true;
                           });
    CHECK(found == 3);
    CHECK(query.exact);
    CHECK(index.threshold_count() == 2);
}

/// Nodes of which none has much of both kinds, so that bounds alone refuse nothing.
template<class Index>
void fill_unevenly(Index& index) {
    dice random(9);
    for (std::size_t node = 0; node < 2000; ++node) {
        const std::int64_t much = random.from(20, 40);
        index.insert(node_index{node}, random.from(0, 50), node,
                     node % 2 == 0 ? amounts(much, 1) : amounts(1, much));
    }
}

template<class Index>
std::uint64_t leaves_for(Index& index, const resources<width>& request) {
    auto query = index.prepare(request);
    const std::uint64_t before = index.effort().leaves;
    index.for_each_fitting(query, index.no_column,
                           [](node_index, const resources<width>&, std::int64_t) { return false; });
    return index.effort().leaves - before;
}

TEST_CASE("requests that cost much in vain are learned, and cost nothing then") {
    capacity_index<width> index;
    fill_unevenly(index);
    CHECK(leaves_for(index, amounts(10, 10)) > 20);
    for (std::size_t each = 0; each < 200 && index.learned() == 0; ++each)
        leaves_for(index, amounts(10 + static_cast<std::int64_t>(each % 5), 10));
    CHECK(index.learned() == 1);
    CHECK(index.threshold_count() == 5);
    CHECK(leaves_for(index, amounts(10, 10)) == 0);
    CHECK(index.consistent());
}

TEST_CASE("nothing is learned when that is not wanted, or while rows are visited") {
    capacity_index<width> index;
    fill_unevenly(index);
    index.set_learning(false);
    for (std::size_t each = 0; each < 200; ++each)
        leaves_for(index, amounts(10, 10));
    CHECK(index.learned() == 0);
    CHECK(index.learning_due());
    index.set_learning(true);
    auto query = index.prepare(amounts(20));
    index.for_each_fitting(query, index.no_column,
                           [&](node_index, const resources<width>&, std::int64_t) {
                               leaves_for(index, amounts(10, 10));
                               CHECK(index.learned() == 0);
                               return false;
                           });
    CHECK(index.learned() == 1);
}

TEST_CASE("of more requests than there are thresholds a spread is learned") {
    capacity_index<width> index;
    fill_unevenly(index);
    dice random(4);
    std::uint64_t before = 0;
    for (std::size_t each = 0; each < 100; ++each)
        before += leaves_for(index, amounts(random.from(10, 19), random.from(10, 19)));
    for (std::size_t each = 0; each < 20'000; ++each)
        leaves_for(index, amounts(random.from(10, 19), random.from(10, 19)));
    std::uint64_t after = 0;
    for (std::size_t each = 0; each < 100; ++each)
        after += leaves_for(index, amounts(random.from(10, 19), random.from(10, 19)));
    CHECK(index.learned() >= 1);
    CHECK(after * 10 <= before);
}

} // namespace

} // namespace index_capacity_index_test
