// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <type_traits>

#include <muster/base/id.hpp>

namespace base_id_test {

namespace {

using namespace muster;

// In the room of an index, and nothing but an index or nothing.
static_assert(sizeof(optional_index<node_tag>) == sizeof(node_index));
static_assert(!std::is_constructible_v<optional_index<pod_tag>, node_index>);
static_assert(!std::is_constructible_v<optional_index<pod_tag>, std::optional<node_index>>);

// A node is never taken for a pod, nor a number for either.
static_assert(!std::is_convertible_v<node_index, pod_index>);
static_assert(!std::is_constructible_v<pod_index, node_index>);
static_assert(!std::is_convertible_v<std::size_t, node_index>);
static_assert(!std::is_convertible_v<node_index, std::size_t>);

TEST_CASE("an index is the number it was made from, ordered as numbers are") {
    CHECK(node_index{}.value() == 0);
    CHECK(node_index{7}.value() == 7);
    CHECK(node_index{2} < node_index{10});
    CHECK(node_index{3} == node_index{3});
    CHECK(node_index{3} != node_index{4});
}

TEST_CASE("handles of one place and two generations differ") {
    const handle<struct pod_tag> before{pod_index{4}, 0};
    const handle<struct pod_tag> after{pod_index{4}, 1};
    CHECK(before != after);
    CHECK(before == handle<struct pod_tag>{pod_index{4}, 0});
    CHECK(before != handle<struct pod_tag>{pod_index{5}, 0});
}

TEST_CASE("an optional index holds what a std::optional of an index holds") {
    using optional = optional_index<node_tag>;
    CHECK(!optional{}.has_value());
    CHECK(!optional(std::optional<node_index>{}));
    CHECK(std::optional<node_index>(optional{}) == std::nullopt);
    optional some = node_index{0};
    CHECK(some.has_value());
    CHECK(some->value() == 0);
    CHECK(some == node_index{0});
    CHECK(some != node_index{1});
    CHECK(some != optional{});
    CHECK(std::optional<node_index>(some) == node_index{0});
    CHECK(optional(std::optional(node_index{3})) == optional(node_index{3}));
    some.reset();
    CHECK(some == optional{});
}

} // namespace

} // namespace base_id_test
