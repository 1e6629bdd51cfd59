// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include <muster/cluster/queue_accounts.hpp>
#include <muster/cluster/queue_books.hpp>
#include <muster/testing/random.hpp>

namespace cluster_queue_accounts_test {

namespace {

using namespace muster;
using accounts = queue_accounts<2>;

constexpr kind_id cpu{0};
constexpr kind_id gpu{1};
constexpr auto top = std::numeric_limits<std::int64_t>::max();

resources<2> units(std::int64_t cpus, std::int64_t gpus = 0) {
    resources<2> made;
    made[cpu] = cpus;
    made[gpu] = gpus;
    return made;
}

limits<2> at_most(std::int64_t cpus) {
    limits<2> made;
    made.set(cpu, cpus);
    return made;
}

/// Two queues below a root.
struct family {
    accounts of;
    queue_charge root{queue_index{0}};
    queue_charge left{queue_index{1}};
    queue_charge right{queue_index{2}};

    explicit family(std::int64_t guarantee_of_left = 0) {
        for (int at = 0; at < 3; ++at)
            of.add();
        CHECK(of.settle(left, root, units(guarantee_of_left)));
        CHECK(of.settle(right, root, {}));
    }
};

TEST_CASE("a queue's use counts at every queue above it") {
    family in;
    in.of.set_quota(in.root, at_most(10));
    CHECK(in.of.take(in.left, units(3)));
    CHECK(in.of.take(in.right, units(4)));
    CHECK(in.of.used(in.left) == units(3));
    CHECK(in.of.used(in.root) == units(7));
    CHECK(in.of.headroom(in.left)[cpu] == 3);
    CHECK(in.of.admits(in.left, units(3)));
    CHECK_FALSE(in.of.admits(in.left, units(4)));
}

TEST_CASE("the lowest ceiling on the way up is the headroom, and is named") {
    family in;
    in.of.set_quota(in.root, at_most(10));
    in.of.set_quota(in.left, at_most(6));
    CHECK(in.of.headroom(in.left)[cpu] == 6);
    CHECK(in.of.tightest_ceiling(in.left, cpu)->at == in.left);
    CHECK(in.of.take(in.right, units(7)));
    CHECK(in.of.headroom(in.left)[cpu] == 3);
    CHECK(in.of.tightest_ceiling(in.left, cpu)->at == in.root);
    CHECK_FALSE(in.of.tightest_ceiling(in.left, gpu).has_value());
    CHECK_FALSE(in.of.headroom(in.left).limited(gpu));
}

TEST_CASE("a kind of which nothing is asked is not checked, over the ceiling too") {
    family in;
    CHECK(in.of.take(in.right, units(7)));
    in.of.set_quota(in.root, at_most(5));
    CHECK(in.of.admits(in.left, units(0, 9)));
    CHECK_FALSE(in.of.admits(in.left, units(1)));
    CHECK(in.of.headroom(in.left)[cpu] == 0);
}

TEST_CASE("a guarantee is room that siblings cannot take even while unused") {
    family in(4);
    in.of.set_quota(in.root, at_most(10));
    CHECK(in.of.headroom(in.right)[cpu] == 6);
    CHECK(in.of.headroom(in.left)[cpu] == 10);
    CHECK(in.of.used(in.root) == units(0));
    CHECK(in.of.claimed(in.root) == units(4));

    CHECK(in.of.take(in.left, units(3)));
    CHECK(in.of.claimed(in.root) == units(4));
    CHECK(in.of.headroom(in.right)[cpu] == 6);
    CHECK(in.of.take(in.left, units(3)));
    CHECK(in.of.claimed(in.root) == units(6));
    CHECK(in.of.headroom(in.right)[cpu] == 4);
}

TEST_CASE("within its guarantee a queue takes whatever stands above, over the ceiling too") {
    family in(4);
    CHECK(in.of.take(in.right, units(9)));
    in.of.set_quota(in.root, at_most(10));
    CHECK(in.of.headroom(in.left)[cpu] == 4);
    CHECK(in.of.admits(in.left, units(4)));
    CHECK_FALSE(in.of.admits(in.left, units(5)));
    CHECK(in.of.headroom(in.right)[cpu] == 0);
}

TEST_CASE("a guarantee above the queue's own ceiling does not raise it") {
    family in(8);
    in.of.set_quota(in.left, at_most(5));
    CHECK(in.of.headroom(in.left)[cpu] == 5);
}

TEST_CASE("a queue that moves takes its use and its guarantee along") {
    family in(4);
    in.of.add();
    const queue_charge other{queue_index{3}};
    CHECK(in.of.take(in.left, units(6)));
    CHECK(in.of.settle(in.left, other, units(7)));
    CHECK(in.of.used(in.root) == units(0));
    CHECK(in.of.claimed(in.root) == units(0));
    CHECK(in.of.used(other) == units(6));
    CHECK(in.of.claimed(other) == units(7));
    CHECK(in.of.settle(in.left, std::nullopt, {}));
    CHECK(in.of.claimed(other) == units(0));
}

TEST_CASE("sums that leave int64 are refused and change nothing") {
    family in(4);
    CHECK(in.of.take(in.right, units(top - 4)));
    const accounts before = in.of;
    CHECK_FALSE(in.of.take(in.right, units(1)));
    CHECK(in.of == before);
    CHECK_FALSE(in.of.settle(in.left, in.root, units(5)));
    CHECK(in.of == before);
    CHECK(in.of.take(in.left, units(4)));
    CHECK_FALSE(in.of.take(in.left, units(1)));
    CHECK(in.of.headroom(in.left, occupancy::empty_cluster) == limits<2>{});
    in.of.set_quota(in.left, at_most(top));
    CHECK(in.of.headroom(in.left, occupancy::empty_cluster)[cpu] == top);
}

TEST_CASE("emptied, guarantees still keep their room") {
    family in(4);
    in.of.set_quota(in.root, at_most(10));
    CHECK(in.of.take(in.left, units(5)));
    CHECK(in.of.take(in.right, units(5)));
    CHECK(in.of.headroom(in.right)[cpu] == 0);
    CHECK(in.of.headroom(in.right, occupancy::empty_cluster)[cpu] == 6);
    CHECK(in.of.headroom(in.left, occupancy::empty_cluster)[cpu] == 10);
    in.of.empty();
    CHECK(in.of.headroom(in.right)[cpu] == 6);
    family fresh(4);
    fresh.of.set_quota(fresh.root, at_most(10));
    CHECK(in.of == fresh.of);
}

// ---- against the definition --------------------------------------------------------------------

/// The tree as it is meant, added up anew whenever something is asked.
struct definition {
    struct one {
        limits<2> quota;
        resources<2> guarantee;
        resources<2> own;
        std::optional<std::size_t> parent;
    };
    std::vector<one> queues;

    [[nodiscard]] std::int64_t claimed(std::size_t at, kind_id kind, bool emptied) const {
        std::int64_t sum = emptied ? 0 : queues[at].own[kind];
        for (std::size_t child = 0; child < queues.size(); ++child)
            if (queues[child].parent == at)
                sum += std::max(claimed(child, kind, emptied), queues[child].guarantee[kind]);
        return sum;
    }
    [[nodiscard]] std::int64_t used(std::size_t at, kind_id kind) const {
        std::int64_t sum = queues[at].own[kind];
        for (std::size_t child = 0; child < queues.size(); ++child)
            if (queues[child].parent == at)
                sum += used(child, kind);
        return sum;
    }
    /// Tries it and looks whether a ceiling is broken that was not touched before.
    [[nodiscard]] bool admits(std::size_t queue, kind_id kind, std::int64_t more, bool emptied) {
        std::vector<std::int64_t> before;
        for (std::size_t at = 0; at < queues.size(); ++at)
            before.push_back(claimed(at, kind, emptied));
        definition after = *this;
        if (emptied)
            for (one& each : after.queues)
                each.own = {};
        after.queues[queue].own[kind] += more;
        for (std::size_t at = 0; at < queues.size(); ++at)
            if (const auto ceiling = queues[at].quota[kind])
                if (const auto now = after.claimed(at, kind, false);
                    now > before[at] && now > *ceiling)
                    return false;
        return true;
    }
};

TEST_CASE("random trees count, bound and give back as their definition says") {
    testing::random chance(20'261'121);
    for (int world = 0; world < 400; ++world) {
        definition meant;
        accounts kept;
        const std::size_t queues = 2 + chance.below(5);
        for (std::size_t at = 0; at < queues; ++at) {
            meant.queues.push_back({});
            kept.add();
        }
        std::vector<std::pair<std::size_t, resources<2>>> taken;
        for (int step = 0; step < 25; ++step) {
            const std::size_t at = chance.below(queues);
            auto& one = meant.queues[at];
            const std::int64_t what = chance.between(0, 5);
            if (what == 0) {
                one.quota = {};
                if (chance.percent(80))
                    one.quota.set(kind_id{chance.below(2)}, chance.between(0, 20));
                kept.set_quota(queue_index{at}, one.quota);
            } else if (what == 1) {
                // Parents have smaller numbers.
                one.parent =
                    at > 0 && chance.percent(80) ? std::optional(chance.below(at)) : std::nullopt;
                one.guarantee = units(chance.between(0, 6), chance.between(0, 6));
                CHECK(
                    kept.settle(queue_index{at},
                                one.parent ? std::optional(queue_index{*one.parent}) : std::nullopt,
                                one.guarantee));
            } else if (what == 2 && !taken.empty()) {
                const auto [from, amount] = taken.back();
                taken.pop_back();
                kept.give(queue_charge(queue_index{from}), amount);
                for (std::size_t kind = 0; kind < 2; ++kind)
                    meant.queues[from].own[kind] -= amount[kind];
            } else {
                const auto amount = units(chance.between(0, 4), chance.between(0, 4));
                taken.emplace_back(at, amount);
                CHECK(kept.take(queue_charge(queue_index{at}), amount));
                for (std::size_t kind = 0; kind < 2; ++kind)
                    one.own[kind] += amount[kind];
            }
        }
        for (std::size_t at = 0; at < queues; ++at)
            for (const kind_id kind : {cpu, gpu}) {
                const queue_charge queue{queue_index{at}};
                CHECK(kept.used(queue)[kind] == meant.used(at, kind));
                CHECK(kept.claimed(queue)[kind] == meant.claimed(at, kind, false));
                for (std::int64_t more = 1; more < 30; ++more) {
                    resources<2> amount;
                    amount[kind] = more;
                    CHECK(kept.admits(queue, amount) == meant.admits(at, kind, more, false));
                    for (const bool emptied : {false, true}) {
                        const auto left = kept.headroom(queue, emptied ? occupancy::empty_cluster
                                                                       : occupancy::current)[kind];
                        CHECK((!left || more <= *left) == meant.admits(at, kind, more, emptied));
                    }
                }
            }
    }
}

TEST_CASE("firm pods have ceilings of their own at every level, which bind nobody else") {
    family in;
    in.of.set_quota(in.root, at_most(10), at_most(4));
    in.of.set_quota(in.left, {}, at_most(3));
    const queue_charge firm_left(in.left, true);
    const queue_charge firm_right(in.right, true);
    CHECK(in.of.headroom(in.left)[cpu] == 10);
    CHECK(in.of.headroom(firm_left)[cpu] == 3);
    CHECK(in.of.headroom(firm_right)[cpu] == 4);
    CHECK(in.of.take(in.left, units(5)));
    CHECK(in.of.headroom(firm_left)[cpu] == 3);
    CHECK(in.of.take(firm_left, units(2)));
    CHECK(in.of.non_preemptible(in.root) == units(2));
    CHECK(in.of.used(in.root) == units(7));
    CHECK(in.of.headroom(firm_left)[cpu] == 1);
    CHECK(in.of.admits(firm_right, units(2)));
    CHECK_FALSE(in.of.admits(firm_right, units(3)));
    CHECK(in.of.admits(in.right, units(3)));
    CHECK_FALSE(in.of.admits(in.right, units(4)));
    const auto least = in.of.tightest_ceiling(firm_right, cpu);
    REQUIRE(least);
    CHECK(least->at == in.root);
    CHECK(least->non_preemptible);
    in.of.give(firm_left, units(2));
    CHECK(in.of.non_preemptible(in.root) == units(0));
    CHECK(in.of.headroom(firm_right, occupancy::empty_cluster)[cpu] == 4);
}

TEST_CASE("a queue that moves takes its firm pods along") {
    family in;
    CHECK(in.of.take(queue_charge(in.left, true), units(2)));
    CHECK(in.of.settle(in.left, std::nullopt, {}));
    CHECK(in.of.non_preemptible(in.root) == units(0));
    CHECK(in.of.non_preemptible(in.left) == units(2));
    CHECK(in.of.settle(in.left, in.right, {}));
    CHECK(in.of.non_preemptible(in.root) == units(2));
}

TEST_CASE("the headroom of a kind is what its tightest ceiling leaves, now and later") {
    testing::random draw(5);
    const auto some = [&] { return units(draw.between(0, 4), draw.between(0, 4)); };
    const auto some_limits = [&] {
        limits<2> made;
        for (const kind_id kind : {cpu, gpu})
            if (draw.percent(50))
                made.set(kind, draw.between(0, 20));
        return made;
    };
    std::size_t limited = 0;
    for (int round = 0; round < 300; ++round) {
        queue_books<2> books;
        const auto some_queue = [&] { return queue_index{draw.below(books.size())}; };
        while (books.size() < 6) {
            const auto parent = books.size() > 0 ? std::optional(some_queue()) : std::nullopt;
            const queue_index fresh{books.size()};
            books.add();
            books.set_quota(fresh, some_limits(), draw.percent(30) ? some_limits() : limits<2>{});
            CHECK(books.settle(fresh, parent, draw.percent(40) ? some() : units(0)));
        }
        const allocation any_time[] = {allocation::allocated, allocation::releasing,
                                       allocation::pipelined};
        const std::size_t times = draw.percent(50) ? 1 : 3;
        for (int pod = 0; pod < 6; ++pod)
            CHECK(books.take(queue_charge(some_queue(), draw.percent(30)), some(),
                             any_time[draw.below(times)]));
        books.assume_released(draw.percent(50));
        for (std::size_t at = 0; at < books.size(); ++at)
            for (const bool firm : {false, true})
                for (const auto counted : {occupancy::current, occupancy::empty_cluster}) {
                    const queue_charge charge(queue_index{at}, firm);
                    const auto left = books.headroom(charge, counted);
                    for (const kind_id kind : {cpu, gpu}) {
                        const auto tightest = books.tightest_ceiling(charge, kind, counted);
                        CHECK(left[kind] ==
                              (tightest ? std::optional(tightest->left) : std::nullopt));
                        limited += tightest ? 1U : 0U;
                    }
                }
    }
    CHECK(limited > 5000);
}

} // namespace

} // namespace cluster_queue_accounts_test
