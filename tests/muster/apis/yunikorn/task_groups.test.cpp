// SPDX-License-Identifier: Apache-2.0
#include <muster/apis/yunikorn/task_groups.hpp>

#include <string>

#include <doctest/doctest.h>

namespace codec_yunikorn_task_groups_test {
namespace {

using namespace muster::codec;

/// The groups as `name:minimum`, a star behind those that say more, or what is wrong.
std::string read(std::string_view text) {
    const yunikorn_task_groups made = read_yunikorn_task_groups(text);
    std::string line = made.wrong;
    if (line.empty())
        for (const yunikorn_task_group& each : made.groups)
            line += (line.empty() ? "" : " ") + each.name + ":" + std::to_string(each.least) +
                    (each.constrains ? "*" : "");
    return line;
}

} // namespace

TEST_CASE("a task group has a name and a minimum, and may constrain the pods that hold its place") {
    CHECK(read(R"([{"name": "a", "minMember": 2, "minResource": {"cpu": "1"}}])") == "a:2");
    CHECK(read(R"([{"name": "a", "minMember": 2, "minResource": {"cpu": 1}, "nodeSelector": {}},
                   {"name": "b", "minMember": 3, "minResource": {},
                    "nodeSelector": {"zone": "x"}}])") == "a:2 b:3*");
}

TEST_CASE("what YuniKorn refuses in task groups is refused, and the text says what was expected") {
    const std::string key = "yunikorn.apache.org/task-groups";
    CHECK(read("{") == key + " is no list in JSON (expected a list of task groups)");
    CHECK(read("{}") == key + " is no list in JSON (expected a list of task groups)");
    CHECK(read("[]") == key + " lists no group (expected at least one)");
    CHECK(read("[3]") == key + ": the group at 0 has no name (expected one)");
    CHECK(read(R"([{"minMember": 2, "minResource": {}}])") ==
          key + ": the group at 0 has no name (expected one)");
    const std::string number = " has no minMember (expected a whole number from 1 to 2147483647)";
    CHECK(read(R"([{"name": "a", "minResource": {}}])") == key + ": the group \"a\"" + number);
    CHECK(read(R"([{"name": "a", "minMember": 0, "minResource": {}}])") ==
          key + ": the group \"a\"" + number);
    CHECK(read(R"([{"name": "a", "minMember": -1, "minResource": {}}])") ==
          key + ": the group \"a\"" + number);
    CHECK(read(R"([{"name": "a", "minMember": 2147483648, "minResource": {}}])") ==
          key + ": the group \"a\"" + number);
    CHECK(read(R"([{"name": "a", "minMember": 1}])") ==
          key +
              ": the group \"a\" has no minResource (expected amounts by the names of resources)");
    CHECK(read(R"([{"name": "a", "minMember": 1, "minResource": {"cpu": "-1"}}])") ==
          key + ": the group \"a\" has the minResource cpu = \"-1\" (expected a quantity of at "
                "least 0)");
    CHECK(
        read(R"([{"name": "a", "minMember": 1, "minResource": {"cpu": {}}}])") ==
        key +
            ": the group \"a\" has the minResource cpu = \"\" (expected a quantity of at least 0)");
    CHECK(read(R"([{"name": "a", "minMember": 1, "minResource": {}},
                   {"name": "a", "minMember": 1, "minResource": {}}])") ==
          key + ": the group \"a\" is there twice (expected every group once)");
    CHECK(read(std::string(100, '[') + std::string(100, ']')) ==
          key + " is no list in JSON (expected a list of task groups)");
}

TEST_CASE("parameters are pairs with spaces between them") {
    const std::string_view both = "placeholderTimeoutInSeconds=30 gangSchedulingStyle=Hard";
    CHECK(yunikorn_parameter(both, "placeholderTimeoutInSeconds") == "30");
    CHECK(yunikorn_parameter(both, "gangSchedulingStyle") == "Hard");
    CHECK(yunikorn_parameter(both, "gangScheduling") == "");
    CHECK(yunikorn_parameter("  a  b= =c ", "b") == "");
    CHECK(yunikorn_parameter("", "b") == "");
}

} // namespace codec_yunikorn_task_groups_test
