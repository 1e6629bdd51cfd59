// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include <boost/json/parse.hpp>

#include "../../../examples/muster/live/waits_for_others.hpp"

namespace cli_waits_for_others_test {

bool waits(const char* pod, const std::vector<std::string>& names = {"ours"}) {
    return cli::waits_for_others(boost::json::parse(pod).get_object(), names);
}

TEST_CASE("a waiting pod of another scheduler takes no room, unless a node keeps room for it") {
    CHECK(waits(R"({"spec": {"schedulerName": "theirs"}, "status": {"phase": "Pending"}})"));
    CHECK_FALSE(
        waits(R"({"spec": {"schedulerName": "theirs"}, "status": {"nominatedNodeName": "n"}})"));
    CHECK_FALSE(waits(R"({"spec": {"schedulerName": "theirs", "nodeName": "n"}})"));
}

TEST_CASE("a pod of a named scheduler is never one of others") {
    CHECK_FALSE(waits(R"({"spec": {"schedulerName": "ours"}})"));
    CHECK_FALSE(waits(R"({"spec": {"schedulerName": "theirs"}})", {}));
    CHECK_FALSE(waits(R"({"spec": {"schedulerName": "theirs"}})", {"ours", "theirs"}));
}

} // namespace cli_waits_for_others_test
