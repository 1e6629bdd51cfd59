// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <string>

#include <muster/resource/kind_table.hpp>

namespace resource_kind_table_test {

namespace {

using namespace muster;

TEST_CASE("a kind keeps its column, whatever is interned after it") {
    kind_table kinds;
    const auto cpu = kinds.intern("cpu");
    const auto memory = kinds.intern("memory");
    CHECK(cpu.has_value());
    CHECK(memory.has_value());
    if (!cpu || !memory)
        return;
    CHECK(*cpu != *memory);
    CHECK(kinds.intern("cpu") == cpu);
    CHECK(kinds.find("memory") == memory);
    CHECK(kinds.size() == 2);
    CHECK(kinds.name(*cpu) == "cpu");
    CHECK(kinds.name(*memory) == "memory");
}

TEST_CASE("names are told apart exactly, and a name that was never interned has no column") {
    kind_table kinds;
    CHECK(kinds.intern("nvidia.com/gpu").has_value());
    CHECK_FALSE(kinds.find("nvidia.com/GPU").has_value());
    CHECK_FALSE(kinds.find("nvidia.com/gp").has_value());
    CHECK(kinds.size() == 1);
}

TEST_CASE("a full table refuses a new name and still knows the old ones") {
    kind_table kinds;
    for (std::size_t at = 0; at < max_kinds; ++at)
        CHECK(kinds.intern("kind-" + std::to_string(at)).has_value());
    CHECK_FALSE(kinds.intern("one-more").has_value());
    CHECK(kinds.size() == max_kinds);
    CHECK(kinds.intern("kind-31") == kind_id{31});
}

TEST_CASE("two tables know nothing of each other") {
    kind_table one;
    kind_table other;
    CHECK(one.intern("cpu") == kind_id{0});
    CHECK(other.intern("memory") == kind_id{0});
    CHECK_FALSE(other.find("cpu").has_value());
}

} // namespace

} // namespace resource_kind_table_test
