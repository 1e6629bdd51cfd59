// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include <muster/problem/class_devices.hpp>
#include <support/card_rule.hpp>

#include "../builders.hpp"

namespace problem_class_devices_test {

namespace {

using namespace builders;
using namespace muster;
using testing::card_rule;

using counts = std::array<std::int64_t, 3>;

cluster::node_type with_cards(std::uint32_t cards) {
    cluster::node_type made = machine(8);
    made.devices = card_rule::stock(cards);
    return made;
}

/// Classes that demand three quarters of a card, a quarter, and nothing.
muster::detail::class_devices<cluster::width> three_classes(const cluster& known) {
    muster::detail::class_devices<cluster::width> made;
    made.look_at(known.accounts());
    made.add(card_rule::demand(1, 3));
    made.add(card_rule::demand(1, 1));
    made.add(device_demand::none);
    made.settle();
    return made;
}

node_index at(const cluster& known, const char* key) {
    return known.find_node(key)->index;
}

void stand(cluster& known, const char* key, const char* node, device_demand demand) {
    cluster::pod_type pod = in_phase(pod_phase::running, asking(1));
    pod.where.claims.devices = demand;
    ok(known.upsert_pod(key, "g", pod, node));
}

} // namespace

TEST_CASE("counts suffice only if the devices of the node can serve them together") {
    cluster known;
    known.set_device_rule(device_rule::of(testing::cards));
    ok(known.upsert_node("n", with_cards(2)));
    const auto devices = three_classes(known);
    CHECK(devices.any());
    const node_index node = at(known, "n");
    CHECK(devices.suffice(node, counts{2, 2, 9}.data()));
    CHECK_FALSE(devices.suffice(node, counts{2, 3, 0}.data()));
    CHECK_FALSE(devices.suffice(node, counts{3, 0, 0}.data()));
    CHECK(devices.suffice(node, counts{0, 0, 9}.data()));
    CHECK(devices.room(node, counts{0, 0, 0}.data(), 0, 9) == 2);
    CHECK(devices.room(node, counts{0, 2, 0}.data(), 0, 9) == 2);
    CHECK(devices.room(node, counts{0, 3, 0}.data(), 0, 9) == 1);
    CHECK(devices.room(node, counts{1, 7, 0}.data(), 2, 9) == 9);
}

namespace {

/// Serves one pod with demand 1, and any number of pods with other demands beside whatever stands.
struct half_rule {
    [[nodiscard]] std::int64_t room(device_stock, std::span<const device_demand> held,
                                    device_demand more, std::int64_t most) const {
        if (more != device_demand{1})
            return most;
        return std::find(held.begin(), held.end(), more) == held.end() ? 1 : 0;
    }
};
constexpr half_rule halves{};

} // namespace

TEST_CASE("counts do not suffice if any class lacks devices, whichever class comes last") {
    cluster known;
    known.set_device_rule(device_rule::of(halves));
    ok(known.upsert_node("n", with_cards(2)));
    muster::detail::class_devices<cluster::width> devices;
    devices.look_at(known.accounts());
    devices.add(device_demand{1});
    devices.add(device_demand{2});
    devices.add(device_demand::none);
    devices.settle();
    const node_index node = at(known, "n");
    CHECK(devices.suffice(node, counts{1, 5, 0}.data()));
    CHECK_FALSE(devices.suffice(node, counts{2, 5, 0}.data()));
    stand(known, "p", "n", device_demand{1});
    CHECK(devices.suffice(node, counts{0, 5, 0}.data()));
    CHECK_FALSE(devices.suffice(node, counts{1, 5, 0}.data()));
}

TEST_CASE("demands that are held on a node count") {
    cluster known;
    known.set_device_rule(device_rule::of(testing::cards));
    ok(known.upsert_node("n", with_cards(2)));
    stand(known, "p", "n", card_rule::demand(1, 2));
    const auto devices = three_classes(known);
    CHECK(devices.room(at(known, "n"), counts{}.data(), 0, 9) == 1);
    CHECK(devices.room(at(known, "n"), counts{}.data(), 1, 9) == 6);
}

TEST_CASE("nodes are alike if they have the same devices with the same demands on them") {
    cluster known;
    known.set_device_rule(device_rule::of(testing::cards));
    for (const char* key : {"a", "b", "c", "d"})
        ok(known.upsert_node(key, with_cards(key[0] == 'd' ? 3 : 2)));
    stand(known, "p", "a", card_rule::demand(1, 2));
    stand(known, "q", "b", card_rule::demand(1, 2));
    const auto devices = three_classes(known);
    CHECK(devices.alike(at(known, "a"), at(known, "b")));
    CHECK_FALSE(devices.alike(at(known, "a"), at(known, "c")));
    CHECK_FALSE(devices.alike(at(known, "c"), at(known, "d")));
}

TEST_CASE("if no class demands devices, any counts suffice") {
    cluster known;
    ok(known.upsert_node("n", with_cards(2)));
    muster::detail::class_devices<cluster::width> devices;
    devices.look_at(known.accounts());
    devices.add(device_demand::none);
    devices.settle();
    CHECK_FALSE(devices.any());
    CHECK(devices.suffice(at(known, "n"), counts{5, 0, 0}.data()));
    CHECK(devices.room(at(known, "n"), counts{}.data(), 0, 5) == 5);
}

} // namespace problem_class_devices_test
