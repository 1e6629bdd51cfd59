// SPDX-License-Identifier: Apache-2.0
#include <muster/apis/core/claims/pooled_devices.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace codec_pooled_devices_test {

using namespace muster;
using namespace muster::codec;

namespace {

resource_slice_object slice(const std::string& pool, std::int64_t count,
                            const std::vector<std::string>& devices, std::int64_t generation = 1) {
    resource_slice_object made;
    made.slice.driver = "x.com";
    made.slice.pool = pool;
    made.slice.slice_count = count;
    made.slice.generation = generation;
    for (const std::string& name : devices)
        made.slice.devices.emplace_back().name = name;
    return made;
}

/// "pool/device ..." of the usable devices, then "pool: why (devices)" of each other pool.
std::string found(const std::vector<resource_slice_object>& slices) {
    std::vector<const resource_slice_object*> all;
    for (const resource_slice_object& each : slices)
        all.push_back(&each);
    const pooled_devices made = find_pooled_devices(all);
    std::string text;
    for (const pooled_device& each : made.usable)
        text += each.id.pool + "/" + each.id.device + " ";
    for (const unusable_pool& each : made.unusable)
        text += each.driver + " " + each.name + ": " + each.why + " (" +
                std::to_string(each.devices.size()) + ")";
    CHECK(devices_of(all).size() == made.usable.size());
    return text;
}

} // namespace

TEST_CASE("the devices of complete pools are usable, in the order of their ids") {
    CHECK(found({slice("q", 1, {"a"}), slice("p", 2, {"b"}), slice("p", 2, {"a"})}) ==
          "p/a p/b q/a ");
    CHECK(found({}).empty());
}

TEST_CASE("only the slices of the newest generation of a pool count") {
    CHECK(found({slice("p", 1, {"a"}, 1), slice("p", 1, {"b"}, 2)}) == "p/b ");
    CHECK(found({slice("p", 2, {"b"}, 2), slice("p", 1, {"a"}, 1)}) ==
          "x.com p: 1 of 2 slices (1)");
}

TEST_CASE("a pool gives no devices if slices are missing or contradict one another") {
    CHECK(found({slice("p", 2, {"a"}), slice("q", 1, {"a"})}) == "q/a x.com p: 1 of 2 slices (1)");
    CHECK(found({slice("p", 2, {"a"}), slice("p", 1, {"b"})}) == "x.com p: 2 of 1 slices (2)");
    CHECK(found({slice("p", 2, {"a"}), slice("p", 2, {"a"})}) ==
          "x.com p: duplicate device name a (2)");
    // Slices with counters have no devices; if one has some, they are not counted twice.
    resource_slice_object counters = slice("p", 1, {"a", "a"});
    counters.slice.counter_sets.push_back({"c", {}});
    CHECK(found({counters}) == "x.com p: duplicate device name a (2)");
}

TEST_CASE("a pool gives no devices if a counter set that one consumes is missing or twice there") {
    resource_slice_object devices = slice("p", 2, {"a", "b"});
    devices.slice.devices.front().consumes.push_back({"c", {{"m", quantity{}}}, {}});
    resource_slice_object counters = slice("p", 2, {});
    counters.slice.counter_sets.push_back({"c", {{"m", quantity{}}}});
    CHECK(found({devices, counters}) == "p/a p/b ");
    counters.slice.counter_sets.push_back({"c", {{"m", quantity{}}}});
    CHECK(found({devices, counters}) == "x.com p: duplicate counter set c (2)");
    counters.slice.counter_sets.clear();
    CHECK(found({devices, counters}) == "x.com p: device a consumes the unknown counter set c (2)");
    counters.slice.counter_sets.push_back({"c", {}});
    CHECK(found({devices, counters}) ==
          "x.com p: device a consumes the unknown counter m of counter set c (2)");
}

} // namespace codec_pooled_devices_test
