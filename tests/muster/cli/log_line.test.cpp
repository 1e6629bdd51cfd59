// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstdint>

#include "../../../examples/muster/live/log_line.hpp"

namespace cli_log_line_test {

using namespace cli;

constexpr std::int64_t wall = 1'702'821'696'000'001'000;

TEST_CASE("a text line is time, level, message and fields") {
    CHECK(log_line(log_format::text, wall, log_level::info, "2 pods bound", {{"pods", "2"}}) ==
          "2023-12-17T14:01:36.000001Z info 2 pods bound pods=2");
    CHECK(log_line(log_format::text, wall, log_level::error, "no", {}) ==
          "2023-12-17T14:01:36.000001Z error no");
}

TEST_CASE("an ambiguous value in a text line is quoted") {
    CHECK(log_line(log_format::text, wall, log_level::warning, "m",
                   {{"a", "b c"}, {"d", ""}, {"e", "f=\"g\""}, {"h", "\n"}}) ==
          R"(2023-12-17T14:01:36.000001Z warning m a="b c" d="" e="f=\"g\"" h="\n")");
}

TEST_CASE("a message with line ends stays one line") {
    CHECK(log_line(log_format::text, wall, log_level::info, "a\nb\r\x1b", {}) ==
          "2023-12-17T14:01:36.000001Z info a\\nb  ");
}

TEST_CASE("a JSON line has the same keys in the same order") {
    CHECK(log_line(log_format::json, wall, log_level::warning, "a \"b\"\n",
                   {{"pods", "2"}, {"command", "schedule"}}) ==
          R"({"time":"2023-12-17T14:01:36.000001Z","level":"warning","message":"a \"b\"\n",)"
          R"("pods":"2","command":"schedule"})");
}

} // namespace cli_log_line_test
