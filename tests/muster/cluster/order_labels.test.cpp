// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include <muster/cluster/order_labels.hpp>
#include <muster/testing/random.hpp>

namespace cluster_order_labels_test {

namespace {

using namespace muster;

/// Nodes by key, as the state keeps them, with their labels.
struct labelled {
    std::map<std::int64_t, node_index> index;
    order_labels<node_tag> labels;
    std::size_t broken = 0;
    std::size_t silent = 0;

    /// Counts what is not as it should be: an order that is lost, and labels that changed though
    /// the epoch stayed.
    void insert(std::int64_t key) {
        const auto place = index.emplace(key, node_index{index.size()}).first;
        labels.insert(place->second, place == index.begin()
                                         ? std::nullopt
                                         : std::optional(std::prev(place)->second));
        const std::uint64_t mine = labels[place->second];
        if (place != index.begin() && labels[std::prev(place)->second] >= mine)
            ++broken;
        if (std::next(place) != index.end() && labels[std::next(place)->second] <= mine)
            ++broken;
    }
    /// The same, and looks at all labels.
    void insert_slowly(std::int64_t key) {
        std::vector<std::uint64_t> before;
        for (std::size_t at = 0; at < index.size(); ++at)
            before.push_back(labels[node_index{at}]);
        const std::uint64_t epoch = labels.epoch();
        insert(key);
        bool moved = false;
        for (std::size_t at = 0; at < before.size(); ++at)
            moved = moved || before[at] != labels[node_index{at}];
        if (moved && labels.epoch() == epoch)
            ++silent;
        broken += in_order() ? 0U : 1U;
    }
    [[nodiscard]] bool in_order() const {
        auto listed = labels.begin();
        for (const auto& entry : index)
            if (listed == labels.end() || *listed++ != entry.second)
                return false;
        if (listed != labels.end() || labels.size() != index.size())
            return false;
        bool first = true;
        std::uint64_t last = 0;
        for (const auto& [key, node] : index) {
            if (!first && labels[node] <= last)
                return false;
            first = false;
            last = labels[node];
        }
        return true;
    }
};

constexpr std::int64_t many = 20'000;

TEST_CASE("labels follow the order of keys that come in order, and none that was given changes") {
    labelled nodes;
    for (std::int64_t key = 0; key < many; ++key)
        nodes.insert(key);
    CHECK(nodes.broken == 0);
    CHECK(nodes.in_order());
    CHECK(nodes.labels.epoch() == 0);
}

TEST_CASE("labels follow the order of keys that come backwards, and are seldom given anew") {
    labelled nodes;
    for (std::int64_t key = many; key > 0; --key)
        nodes.insert(key);
    CHECK(nodes.broken == 0);
    CHECK(nodes.in_order());
    CHECK(nodes.labels.epoch() < many / 4);
}

TEST_CASE("labels follow the order of keys that all come in between, and are seldom given anew") {
    labelled nodes;
    // 0, 2·many, then from both sides to the middle.
    for (std::int64_t at = 0; at < many; ++at)
        nodes.insert(at % 2 == 0 ? at : 2 * many - at);
    CHECK(nodes.broken == 0);
    CHECK(nodes.in_order());
    CHECK(nodes.labels.epoch() < many / 4);
}

TEST_CASE("labels follow the order of keys that come at random, and are hardly ever given anew") {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        testing::random chance(seed);
        labelled nodes;
        for (std::int64_t at = 0; at < many; ++at)
            nodes.insert(chance.between(0, std::int64_t{1} << 60));
        CHECK(nodes.broken == 0);
        CHECK(nodes.in_order());
        CHECK(nodes.labels.epoch() < 100);
    }
}

TEST_CASE("the epoch moves whenever a label that was given changes") {
    labelled backwards;
    labelled between;
    labelled mixed;
    testing::random chance(7);
    for (std::int64_t at = 0; at < 600; ++at) {
        backwards.insert_slowly(-at);
        between.insert_slowly(at % 2 == 0 ? at : 2 * many - at);
        // Bursts at one place.
        mixed.insert_slowly(chance.percent(50) ? 1000 * at : 500'000 - at);
    }
    for (const labelled* each : {&backwards, &between, &mixed}) {
        CHECK(each->broken == 0);
        CHECK(each->silent == 0);
    }
    CHECK(backwards.labels.epoch() > 0);
    CHECK(between.labels.epoch() > 0);
}

TEST_CASE("a node that is taken back leaves the labels of the others") {
    labelled nodes;
    for (std::int64_t key = 0; key < 100; ++key)
        nodes.insert(key * 2);
    std::vector<std::uint64_t> before;
    for (std::size_t at = 0; at < 100; ++at)
        before.push_back(nodes.labels[node_index{at}]);
    const std::uint64_t epoch = nodes.labels.epoch();
    nodes.insert(51);
    nodes.labels.erase(nodes.index.at(51));
    nodes.index.erase(51);
    CHECK(nodes.labels.epoch() == epoch);
    bool same = true;
    for (std::size_t at = 0; at < 100; ++at)
        same = same && before[at] == nodes.labels[node_index{at}];
    CHECK(same);
    nodes.insert(51);
    CHECK(nodes.broken == 0);
    CHECK(nodes.in_order());
}

TEST_CASE("records that go and come again at the same index stand where their new keys say") {
    testing::random chance(11);
    std::map<std::int64_t, pod_index> index;
    order_labels<pod_tag> labels;
    std::vector<pod_index> unused;
    for (std::size_t at = 0; at < 50; ++at)
        unused.push_back(pod_index{at});
    std::size_t broken = 0;
    for (int step = 0; step < 4'000; ++step) {
        const std::int64_t key = chance.between(0, 1'000);
        if (const auto known = index.find(key); known != index.end() || unused.empty()) {
            const auto gone = known != index.end() ? known : index.begin();
            labels.erase(gone->second);
            unused.push_back(gone->second);
            index.erase(gone);
        } else {
            const auto place = index.emplace(key, unused.back()).first;
            unused.pop_back();
            labels.insert(place->second, place == index.begin()
                                             ? std::nullopt
                                             : std::optional(std::prev(place)->second));
        }
        auto listed = labels.begin();
        std::optional<pod_index> before;
        for (const auto& entry : index) {
            broken += listed != labels.end() && *listed == entry.second ? 0U : 1U;
            broken += before && !labels.before(*before, entry.second) ? 1U : 0U;
            broken += labels.previous(entry.second) == before ? 0U : 1U;
            before = entry.second;
            ++listed;
        }
        broken += listed == labels.end() && labels.last() == before ? 0U : 1U;
    }
    CHECK(broken == 0);
}

} // namespace

} // namespace cluster_order_labels_test
