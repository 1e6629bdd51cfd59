// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <string>
#include <vector>

#include "backlog.hpp"
#include "figures.hpp"
#include "footprint.hpp"
#include "greedy_gap.hpp"
#include "near_capacity.hpp"
#include "queue_tree.hpp"
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

template<std::size_t Width>
void add_footprint_of(report& to, std::size_t nodes, double target) {
    const footprint_report found = measure_footprint<Width>(nodes);
    const std::string of = std::to_string(Width) + " kinds, " + size_text(nodes) + " nodes";
    to.at_most("index and id map" +
                   std::string(found.index_per_node ? "" : " (what the first decision allocates)") +
                   ", " + of,
               "bytes/node",
               found.index_per_node ? found.index_per_node : found.first_decision_per_node, target);
    to.orientation("model per node, " + of, "bytes", found.model_per_node);
    to.orientation("model per waiting pod, " + of, "bytes", found.model_per_pod);
    to.orientation("model per gang without its pods, " + of, "bytes", found.model_per_gang);
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

void add_queue_tree(report& to, bool quick) {
    queue_tree_options options;
    options.rounds = quick ? 11 : 31;
    for (const queue_tree_report& run : run_queue_tree(options)) {
        const auto pending = static_cast<double>(options.pending);
        const std::string of = std::to_string(options.pending) + " gangs, " +
                               std::to_string(run.leaves) + " queues, 3 levels, " +
                               size_text(options.nodes) + " nodes, " + run.order;
        to.at_most("cycle in which all start, " + of, "us/gang", run.all_start_ns / 1e3 / pending,
                   10.0);
        to.at_most("cycle, a gang came, nothing freed, " + of, "us", run.arrival_cycle_ns / 1e3,
                   250.0);
        to.at_most("cycle, a gang left 1 node, " + of, "us", run.released_cycle_ns / 1e3, 300.0);
        to.detail("A tree of queues",
                  {{"order", run.order},
                   {"leaves", std::to_string(run.leaves)},
                   {"pods started", std::to_string(run.pods)},
                   {"all start us", text(run.all_start_ns / 1e3)},
                   {"in one queue", text(run.all_start_one_queue_ns / 1e3)},
                   {"one came us", text(run.arrival_cycle_ns / 1e3)},
                   {"in one queue ", text(run.arrival_cycle_one_queue_ns / 1e3)},
                   {"one left us", text(run.released_cycle_ns / 1e3)},
                   {"in one queue  ", text(run.released_cycle_one_queue_ns / 1e3)}});
    }
}

void add_footprint(report& to, bool quick) {
    const std::size_t nodes = quick ? 20000 : 100000;
    add_footprint_of<4>(to, nodes, 160.0);
    add_footprint_of<8>(to, nodes, 260.0);
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
