// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <string>
#include <vector>

#include "backlog.hpp"
#include "figures.hpp"
#include "greedy_gap.hpp"
#include "near_capacity.hpp"
#include "topology.hpp"

namespace bench {

namespace {

double percent(std::size_t part, std::size_t whole) {
    return whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

void add_figures(report& to, const backlog_report& run) {
    const std::size_t nodes = run.asked.work.nodes;
    const bool few = run.asked.work.requests == request_regime::catalogue;
    const std::string of =
        (few ? "64 shapes, " : std::to_string(run.pending / 1000) + "k shapes, ") +
        size_text(nodes) + " nodes";
    to.at_most("cycle, nothing happened, " + of, "us", run.resting_cycle_ns / 1e3, 50.0);
    to.at_most("cycle, a gang came, nothing freed, " + of, "us", run.arrival_cycle_ns / 1e3, 50.0);
    to.at_most("cycle, a gang left <= 10 nodes, " + of, "us", run.released_cycle_ns / 1e3,
               few ? 300.0 : 2000.0);
    to.at_most("cycle, 10 nodes changed, " + of, "us", run.changed_cycle_ns / 1e3,
               few ? 300.0 : 2000.0);
    // Of few shapes few gangs are asked, and what the cycles differ by is more.
    if (!few)
        to.at_most("a gang of one role that may fit after a gang left, each, " + of, "us",
                   run.candidate_ns / 1e3, 1.0);
    const std::string asked = case_text(run.asked.work.requests, nodes);
    if (nodes == 1000)
        to.orientation("refusing a gang of one role without memo, " + asked, "ns",
                       run.refuse_one_role_ns);
    else
        to.at_most("refusing a gang of one role without memo, " + asked, "ns",
                   run.refuse_one_role_ns, nodes == 10000 ? 700.0 : 2000.0);
    to.orientation("refusing a gang of several roles without memo, " + asked, "ns",
                   run.refuse_several_roles_ns);
    to.detail("10,000 gangs that cannot start",
              {{"nodes", size_text(nodes)},
               {"shapes", few ? "64" : "all distinct"},
               {"in use", text(run.utilisation)},
               {"pending", std::to_string(run.pending)},
               {"first cycle us", text(run.first_cycle_ns / 1e3)},
               {"at rest us", text(run.resting_cycle_ns / 1e3)},
               {"one came us", text(run.arrival_cycle_ns / 1e3)},
               {"one left us", text(run.released_cycle_ns / 1e3)},
               {"from nodes", text(run.released_nodes)},
               {"10 nodes changed us", text(run.changed_cycle_ns / 1e3)},
               {"may fit then", text(run.candidates)},
               {"each us", text(run.candidate_ns / 1e3)},
               {"ordinary backlog, one left us", text(run.refilled_cycle_ns / 1e3)},
               {"gangs asked then", text(run.refilled_asked)},
               {"start then", text(run.refilled_started)},
               {"refused of one role", std::to_string(run.refused_one_role)},
               {"of several", std::to_string(run.refused_several_roles)}});
}

void add_contended(report& to, const backlog_report& run) {
    const bool few = run.asked.work.requests == request_regime::catalogue;
    const std::string of = std::to_string(run.pending) +
                           " gangs of two roles that each find room, " + (few ? "64" : "10k") +
                           " pairs of shapes, " + size_text(run.asked.work.nodes) + " nodes";
    to.at_most("cycle, nothing happened, " + of, "us", run.resting_cycle_ns / 1e3, 50.0);
    to.orientation("cycle, such a gang came, nothing freed, " + of, "us",
                   run.arrival_cycle_ns / 1e3);
    to.at_most("cycle, a gang left <= 10 nodes, " + of, "us", run.released_cycle_ns / 1e3,
               few ? 300.0 : 2000.0);
    to.at_most("cycle, 10 nodes changed, " + of, "us", run.changed_cycle_ns / 1e3,
               few ? 300.0 : 2000.0);
    to.orientation("the first cycle, " + of, "us/gang",
                   run.first_cycle_ns / 1e3 / static_cast<double>(run.pending));
}

std::optional<double> found_in(const measurements& printed, const std::string& name) {
    const auto found = printed.find(name);
    return found == printed.end() ? std::nullopt : std::optional(found->second);
}

} // namespace

void add_backlogs(report& to, bool quick) {
    for (const request_regime requests : {request_regime::catalogue, request_regime::random}) {
        for (const std::size_t nodes :
             {std::size_t{1000}, std::size_t{10000}, std::size_t{100000}}) {
            backlog_options options;
            options.work.requests = requests;
            options.work.nodes = nodes;
            options.rounds = quick ? 11 : 31;
            add_figures(to, run_backlog(options));
        }
        backlog_options options;
        options.work.requests = requests;
        options.work.nodes = 10000;
        options.rounds = quick ? 11 : 31;
        add_contended(to, run_contended_backlog(options));
    }
}

void add_footprint(report& to, const measurements& printed) {
    for (const std::size_t kinds : {std::size_t{4}, std::size_t{8}}) {
        const std::string width = "-" + std::to_string(kinds);
        const double nodes = found_in(printed, "nodes").value_or(0.0);
        const std::string of = std::to_string(kinds) + " kinds, " +
                               size_text(static_cast<std::size_t>(nodes)) + " nodes";
        to.at_most("index and id map, " + of, "bytes/node", found_in(printed, "index" + width),
                   kinds == 4 ? 160.0 : 260.0);
        to.orientation("model per node, " + of, "bytes", found_in(printed, "node" + width));
        to.orientation("model per waiting pod, " + of, "bytes", found_in(printed, "pod" + width));
        to.orientation("model per gang without its pods, " + of, "bytes",
                       found_in(printed, "gang" + width));
    }
}

void add_greedy_gap(report& to, bool quick) {
    for (const std::size_t nodes : {std::size_t{8}, std::size_t{32}}) {
        const greedy_gap_report found = measure_greedy_gap(nodes, quick ? 60 : 300);
        const std::string of = "two roles, " + std::to_string(found.nodes) + " nodes, " +
                               std::to_string(found.clusters) + " clusters";
        to.orientation("gangs A refuses although they fit, the largest that do, " + of, "%",
                       percent(found.refused_at_the_limit, found.at_the_limit));
        to.orientation("gangs A refuses although they fit, 9/10 of these, " + of, "%",
                       percent(found.refused_at_nine_tenths, found.at_nine_tenths));
        to.orientation("of the first, those it starts with the roles the other way round, " + of,
                       "%", percent(found.other_order_at_the_limit, found.refused_at_the_limit));
        to.orientation("of the second, " + of, "%",
                       percent(found.other_order_at_nine_tenths, found.refused_at_nine_tenths));
        to.orientation("starting such a gang by the search, p50, " + of, "us",
                       found.searched_p50_ns / 1e3);
        to.orientation("the same with the roles the other way round, p50, " + of, "us",
                       found.other_order_p50_ns / 1e3);
        to.orientation("size that A loses at the limit, mean, " + of, "%", 100.0 * found.mean_loss);
        to.orientation("sizes that Muster left undecided, " + of, "gangs",
                       static_cast<double>(found.undecided));
    }
}

void add_near_capacity(report& to, bool quick) {
    for (const near_capacity_report& run : measure_near_capacity(quick)) {
        const std::string of = std::to_string(run.roles) + " roles near capacity, " +
                               std::to_string(run.nodes) + " nodes";
        const double decided = percent(run.decided, run.asked);
        const double soon = percent(run.decided_in_a_millisecond, run.asked);
        if (run.roles == 2 && run.nodes == 256) {
            to.at_least("decided, " + of, "%", decided, 100.0);
            to.at_most("p50, " + of, "us", run.p50_ns / 1e3, 100.0);
        } else if (run.roles == 3 && (run.nodes == 64 || run.nodes == 256)) {
            to.at_least("decided in 1 ms, " + of, "%", soon, run.nodes == 64 ? 90.0 : 80.0);
        }
        to.detail("Gangs near capacity", {{"roles", std::to_string(run.roles)},
                                          {"nodes", std::to_string(run.nodes)},
                                          {"members", std::to_string(run.members)},
                                          {"asked", std::to_string(run.asked)},
                                          {"decided %", text(decided)},
                                          {"in 1 ms %", text(soon)},
                                          {"ns per member", text(run.per_member_ns)},
                                          {"p50 us", text(run.p50_ns / 1e3)},
                                          {"p99 us", text(run.p99_ns / 1e3)}});
    }
}

void add_topology(report& to, bool quick) {
    const std::size_t gangs = quick ? 4000 : 8000;
    const std::size_t runs = quick ? 3 : 5;
    for (const double in_use : {0.7, 0.97}) {
        const std::string of = text(100.0 * in_use) + "% in use";
        const auto measure = [&](const char* name, togetherness how) {
            const topology_report found = measure_topology(how, in_use, gangs, runs);
            to.detail("Gangs on 5,000 nodes in 50 racks of 5 blocks",
                      {{"stand", name},
                       {"in use", text(in_use)},
                       {"asked", std::to_string(found.asked)},
                       {"refused", std::to_string(found.refused)},
                       {"us per start", text(found.per_start_ns / 1e3)},
                       {"ns per pod", text(found.per_pod_ns)},
                       {"us per refusal", text(found.per_refusal_ns / 1e3)}});
            return found;
        };
        const topology_report anywhere = measure("anywhere", togetherness::anywhere);
        const topology_report rack = measure("in one rack", togetherness::rack);
        const topology_report block =
            measure("in one block, a rack if possible", togetherness::block_or_rack);
        to.at_most("starting in one rack, by starting anywhere, " + of, "x",
                   rack.per_start_ns / anywhere.per_start_ns, 2.0);
        to.at_most("starting in one block, a rack if possible, by anywhere, " + of, "x",
                   block.per_start_ns / anywhere.per_start_ns, 2.0);
        if (rack.refused > 0)
            to.orientation("refusing what fits no rack, " + of, "us", rack.per_refusal_ns / 1e3);
    }
}

} // namespace bench
