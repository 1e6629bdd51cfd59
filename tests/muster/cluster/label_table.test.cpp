// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include <muster/cluster/label_table.hpp>
#include <muster/testing/random.hpp>

namespace cluster_label_table_test {

using namespace muster;

TEST_CASE("equal sets of labels are one set, and the empty one is 0") {
    label_table table;
    CHECK(table.acquire({}) == label_set_index{});
    const label_set_index one = table.acquire({{"app", "web"}, {"tier", "a"}});
    CHECK(table.acquire({{"tier", "a"}, {"app", "web"}}) == one);
    CHECK(table.acquire({{"app", "web"}}) != one);
    CHECK(table[one].find("tier") != nullptr);
    CHECK(table[label_set_index{}].empty());
}

TEST_CASE("a set stays until its last user is gone") {
    label_table table;
    const label_set_index one = table.acquire({{"app", "web"}});
    table.acquire_again(one);
    table.release(one);
    CHECK(*table[one].find("app") == "web");
    table.release(one);
    CHECK(table[one].empty());
    table.release(label_set_index{});
    CHECK(table.acquire({{"app", "db"}}) == one);
}

TEST_CASE("sets are found whatever came and went before") {
    testing::random chance(11);
    label_table table;
    std::map<std::string, std::vector<label_set_index>> users;
    for (int step = 0; step < 20'000; ++step) {
        const std::string name = std::to_string(chance.below(300));
        auto& mine = users[name];
        if (!mine.empty() && chance.percent(50)) {
            table.release(mine.back());
            mine.pop_back();
            continue;
        }
        const label_set_index found = table.acquire({{"name", name}});
        if (!mine.empty())
            REQUIRE(found == mine.front());
        REQUIRE(*table[found].find("name") == name);
        mine.push_back(found);
    }
}

} // namespace cluster_label_table_test
