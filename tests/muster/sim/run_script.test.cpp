// SPDX-License-Identifier: Apache-2.0
#include <muster/sim/run_script.hpp>

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <muster/input/read_documents.hpp>

namespace sim_run_script_test {

using namespace muster;
using namespace muster::sim;

std::vector<script_event> read(const std::string& text, codec::diagnostics& out) {
    const auto documents = codec::read_documents("events.yaml", text, out);
    return read_script(documents, "home", out);
}

TEST_CASE("a list of attempts is numbers within bounds with commas between") {
    using list = std::vector<std::int64_t>;
    CHECK(parse_attempts("30", 1, 100) == list{30});
    CHECK(parse_attempts("30, 60,100", 1, 100) == list{30, 60, 100});
    for (const char* wrong : {"", ",", "30,", "x", "3 0", "-1", "0", "101", "1.5", "[1]"}) {
        CAPTURE(wrong);
        CHECK_FALSE(parse_attempts(wrong, 1, 100));
    }
}

TEST_CASE("events come in the order of times, then as written") {
    codec::diagnostics out;
    const auto events = read("events:\n"
                             "- {at: 1m, pause: a}\n"
                             "- {at: 5, end: lab/b-worker-0, exitCode: 3}\n"
                             "- {at: 60, resume: a}\n"
                             "- {at: 1, loseNode: node-a}\n",
                             out);
    for (const codec::diagnostic& each : out.findings())
        FAIL(to_text(each));
    REQUIRE(events.size() == 4);
    CHECK(events[0].what == script_action::lose_node);
    CHECK(events[0].whom == codec::object_key{"", "node-a"});
    CHECK(events[1].whom == codec::object_key{"lab", "b-worker-0"});
    CHECK(events[1].value == 3);
    CHECK(events[2].what == script_action::pause);
    CHECK(events[2].whom == codec::object_key{"home", "a"});
    CHECK(events[2].at == 60'000'000'000);
    CHECK(events[3].what == script_action::resume);
}

TEST_CASE("an image is for all cliques of a set, or for one") {
    codec::diagnostics out;
    const auto events = read("events:\n- {at: 1, setImage: s, image: i}\n"
                             "- {at: 2, setImage: s, clique: c, image: j}\n",
                             out);
    REQUIRE(out.ok());
    REQUIRE(events.size() == 2);
    CHECK(events[0].text == "i");
    CHECK(events[0].part.empty());
    CHECK(events[1].text == "j");
    CHECK(events[1].part == "c");
}

TEST_CASE("an event says one thing, when, and all that it needs") {
    for (const char* wrong : {"{at: 1}", "{pause: a}", "{at: 1, pause: a, resume: a}",
                              "{at: 1, scale: a}", "{at: -1, pause: a}", "{at: 1, setImage: s}",
                              "{at: soon, pause: a}", "{at: 1, end: p, exitCode: 256}", "7"}) {
        CAPTURE(wrong);
        codec::diagnostics out;
        static_cast<void>(read(std::string("events: [") + wrong + "]", out));
        CHECK_FALSE(out.ok());
    }
}

} // namespace sim_run_script_test
