// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstddef>
#include <string>

#include "../../../examples/muster/print/draw.hpp"
#include "../../../examples/muster/print/svg.hpp"

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
        cli::node_use cpus{"cpu", 4000, 3000, {}, 0};
        cpus.pods.push_back({"home", "old", "first", 1000, false});
        cpus.pods.push_back({"home", "new", "second", 2000, true});
        node.uses.push_back(cpus);
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
    made.node_lines.front().uses.front().pods.front().group = "a&b";
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
    // One pod takes a quarter of 480 pixels, the other half.
    CHECK(holds(drawn, "x=\"310\" y=\"74\" width=\"120\""));
    CHECK(holds(drawn, "x=\"430\" y=\"74\" width=\"240\""));
    CHECK(holds(drawn, "home/new of second: 2 cpu, starts now"));
    // The pod, and its sample in the legend.
    CHECK(count(drawn, "stroke=\"#212121\"") == 2);
    CHECK(holds(drawn, ">starts now</text>"));
    CHECK_FALSE(holds(drawn, ">starts once others have left</text>"));
}

TEST_CASE("the drawing has a title, a legend, and the resource of each row") {
    cli::report made = cluster(2);
    made.node_lines[0].uses.insert(made.node_lines[0].uses.begin(),
                                   {"nvidia.com/gpu", 8, 2, {{"home", "old", "first", 2}}, 1});
    made.node_lines[1].unschedulable = true;
    const std::string drawn = cli::draw_nodes(made);
    CHECK(count(drawn, "font-weight=\"bold\">Nodes once the plan of ") == 1);
    CHECK(count(drawn, ">nvidia.com/gpu</text>") == 1);
    CHECK(count(drawn, ">cpu</text>") == 2);
    CHECK(holds(drawn, ">2 of 8</text>"));
    CHECK(holds(drawn, ">3 of 4</text>"));
    CHECK(holds(drawn, ">free, but the node is cordoned</text>"));
    CHECK(holds(drawn, "node-0: 2 of 8 nvidia.com/gpu, and 1 pod that requests none of it"));
    // Seven lines separate eight devices; cpus have no lines.
    CHECK(count(drawn, "width=\"1\" height=\"13\" fill=\"#ffffff\"") == 7);
}

TEST_CASE("groups that wait are listed, each with its first reason") {
    cli::report made = cluster(1);
    CHECK(holds(cli::draw_nodes(made), ">No group waits.</text>"));
    const auto add = [&](const std::string& name, const std::string& answer) {
        cli::group_line group;
        group.name_space = "home";
        group.name = name;
        group.answer = answer;
        cli::reason_line reason;
        reason.code = "QuotaExceeded";
        reason.message = "cpu <short>";
        group.reasons = {reason, reason};
        made.groups.push_back(group);
    };
    add("starts", "admitted");
    add("waits", "waiting");
    const std::string drawn = cli::draw_nodes(made);
    CHECK(holds(drawn, ">1 group waits</text>"));
    CHECK(holds(drawn, "home/waits</text>"));
    CHECK(count(drawn, ">QuotaExceeded</text>") == 1);
    CHECK(holds(drawn, "cpu &lt;short&gt;</text>"));
    CHECK_FALSE(holds(drawn, "home/starts"));
    for (int at = 0; at < 50; ++at)
        add("more-" + std::to_string(at), "never");
    CHECK(count(cli::draw_nodes(made), ">Never</text>") == 39);
    CHECK(holds(cli::draw_nodes(made), ">and 11 more groups</text>"));
}

TEST_CASE("a thousand nodes stand in eight columns, one row each") {
    const std::string drawn = cli::draw_nodes(cluster(1000));
    CHECK(holds(drawn, "width=\"3840\""));
    CHECK(count(drawn, ": 3 of 4 cpu</title></rect>") == 1000);
    CHECK(holds(drawn, "node-999</text>"));
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
