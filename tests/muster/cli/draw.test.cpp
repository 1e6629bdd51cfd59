// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstddef>
#include <string>

#include "../../../examples/muster/draw.hpp"
#include "../../../examples/muster/svg.hpp"

namespace cli_draw_test {

namespace {

std::size_t count(const std::string& text, const std::string& what) {
    std::size_t found = 0;
    for (std::size_t at = text.find(what); at != text.npos; at = text.find(what, at + 1))
        ++found;
    return found;
}

bool holds(const std::string& text, const std::string& what) {
    return text.find(what) != text.npos;
}

cli::report cluster(std::size_t nodes) {
    cli::report made;
    for (std::size_t at = 0; at < nodes; ++at) {
        cli::node_line node;
        node.name = "node-" + std::to_string(at);
        node.kind = "cpu";
        node.allocatable = 4000;
        node.requested = 3000;
        node.pods.push_back({"home", "old", "first", 1000, false});
        node.pods.push_back({"home", "new", "second", 2000, true});
        made.node_lines.push_back(node);
    }
    return made;
}

} // namespace

TEST_CASE("what XML would take for markup is escaped, and what it cannot carry replaced") {
    CHECK(cli::xml_text("a<b>&\"c\"") == "a&lt;b&gt;&amp;&quot;c&quot;");
    CHECK(cli::xml_text("tab\tnew\nline") == "tab\tnew\nline");
    CHECK(cli::xml_text(std::string("\0\x1f", 2)) == "\xEF\xBF\xBD\xEF\xBF\xBD");
    cli::report made = cluster(1);
    made.node_lines.front().name = "<script>";
    made.node_lines.front().pods.front().group = "a&b";
    cli::queue_line queue;
    queue.name = "\"<q>";
    made.queues.push_back(queue);
    for (const std::string& drawn : {cli::draw_nodes(made), cli::draw_queues(made)}) {
        CHECK_FALSE(holds(drawn, "<script"));
        CHECK_FALSE(holds(drawn, "a&b"));
        CHECK_FALSE(holds(drawn, "<q>"));
        CHECK(count(drawn, "<title>") == count(drawn, "</title>"));
        CHECK(count(drawn, "<text ") == count(drawn, "</text>"));
    }
}

TEST_CASE("pods are as long as their part of the node, and those that start now outlined") {
    const std::string drawn = cli::draw_nodes(cluster(1));
    // Of 680 pixels the one takes a quarter, the other half.
    CHECK(holds(drawn, "x=\"190\" y=\"48\" width=\"170\""));
    CHECK(holds(drawn, "x=\"360\" y=\"48\" width=\"340\""));
    CHECK(count(drawn, "stroke=\"#212121\"") == 1);
    CHECK(holds(drawn, "home/new of second: 2 cpu, starts now"));
}

TEST_CASE("a thousand nodes stand in eight columns, one row each") {
    const std::string drawn = cli::draw_nodes(cluster(1000));
    CHECK(holds(drawn, "width=\"2560\""));
    CHECK(count(drawn, ": 3 of 4 cpu</title></rect>") == 1000);
    CHECK(holds(drawn, ">node-999</text>"));
    CHECK(cli::draw_nodes(cluster(0)).ends_with("</svg>\n"));
}

TEST_CASE("a queue shows what it uses, deserves and is guaranteed of its quota") {
    cli::report made;
    cli::queue_line queue;
    queue.name = "q";
    queue.state = "open";
    queue.resources["nvidia.com/gpu"] = {6, 8, 4, 2};
    made.queues.push_back(queue);
    const std::string drawn = cli::draw_queues(made);
    CHECK(holds(drawn, "q, nvidia.com/gpu: 6 used, quota 8, deserved 4, guaranteed 2"));
    CHECK(holds(drawn, "x=\"330\" y=\"74\" width=\"300\"")); // used: 6 of 8 of 400
    CHECK(holds(drawn, "x=\"529\" y=\"70\" width=\"3\""));   // deserved, at 330 + 200
    CHECK(holds(drawn, "x=\"429\" y=\"70\" width=\"3\""));   // guaranteed
    CHECK_FALSE(holds(drawn, "fill=\"#d62728\"><title>q"));
    made.queues.front().resources["nvidia.com/gpu"].used = 9;
    CHECK(holds(cli::draw_queues(made), "fill=\"#d62728\"><title>q"));
}

} // namespace cli_draw_test
