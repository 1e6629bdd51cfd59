// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstdint>
#include <string>

#include "../../../examples/muster/print/queue_report.hpp"

namespace cli_queue_report_test {

TEST_CASE("ages print as kubectl prints them") {
    constexpr std::int64_t second = 1'000'000'000;
    const auto text = [](std::int64_t seconds) { return cli::age_text(seconds * second); };
    CHECK(text(0) == "0s");
    CHECK(text(119) == "119s");
    CHECK(text(120) == "2m");
    CHECK(text(599) == "9m59s");
    CHECK(text(600) == "10m");
    CHECK(text(3 * 3600 - 1) == "179m");
    CHECK(text(3 * 3600) == "3h");
    CHECK(text(7 * 3600 + 120) == "7h2m");
    CHECK(text(47 * 3600) == "47h");
    CHECK(text(49 * 3600) == "2d1h");
    CHECK(text(8 * 86400) == "8d");
}

TEST_CASE("queues stand indented below their parents") {
    cli::report made;
    cli::queue_line above;
    above.name = "all";
    above.state = "open";
    cli::queue_line below;
    below.name = "a";
    below.parent = "all";
    below.depth = 1;
    below.state = "closed";
    below.resources["cpu"] = {1500, 3000, 2000, 1000};
    below.share = {"cpu", 1500, 3000};
    made.queues = {above, below};
    CHECK(cli::queues_table(made, true, false) ==
          "all   Open     0   1   <none>   0 (0 pods)   0 (0 pods)   <none>   <none>\n"
          "  a   Closed   0   1   0.500    0 (0 pods)   0 (0 pods)   <none>   cpu 1500m/3\n"
          "\n"
          "a   cpu   1500m   3   2   1   <none>\n");
}

} // namespace cli_queue_report_test
