// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <map>
#include <utility>
#include <vector>

#include "figures.hpp"
#include "label_classes.hpp"
#include "statistics.hpp"

namespace bench {

namespace {

struct targets {
    double naive_ratio, flat_ratio, ns_per_pod, usual_gang_ns;
};
targets targets_of(request_regime requests, std::size_t nodes) {
    const bool catalogue = requests == request_regime::catalogue;
    switch (nodes) {
    case 1000:
        return catalogue ? targets{15, 2.5, 100, 1000} : targets{12, 2, 150, 1000};
    case 10000:
        return catalogue ? targets{250, 15, 120, 1000} : targets{150, 10, 180, 1000};
    default:
        return catalogue ? targets{2500, 100, 150, 2000} : targets{1000, 50, 340, 2000};
    }
}

std::string fixed(double value) {
    char buffer[32];
    std::snprintf(buffer, sizeof buffer, "%.3f", value);
    return buffer;
}

std::string ratio_text(const replay_report& of) {
    return of.gangs == 0 ? "-" : text(of.ratio());
}

void add_growth(report& to, const std::string& what, const std::map<std::size_t, double>& costs,
                double target) {
    std::vector<std::pair<double, double>> points;
    for (const auto& [nodes, cost] : costs)
        points.emplace_back(static_cast<double>(nodes), cost);
    to.at_most("growth of ns/pod in nodes, " + what, "exponent", growth_exponent(points), target);
}

} // namespace

void add_churn_detail(report& to, const churn_report& run, std::size_t kinds) {
    const workload_options& work = run.asked.work;
    to.detail("Admission under churn",
              {{"nodes", size_text(work.nodes)},
               {"requests", name_of(work.requests)},
               {"kinds", std::to_string(kinds)},
               {"policy", name_of(run.rule)},
               {"jitter", std::to_string(work.memory_jitter_percent) + "%"},
               {"pools", work.without_selectors ? "off" : std::to_string(work.pools)},
               {"in use", fixed(run.utilisation)},
               {"gangs", std::to_string(run.gangs)},
               {"refused", std::to_string(run.refused)},
               {"undecided", std::to_string(run.undecided)},
               {"pods", std::to_string(run.pods)},
               {"total ms", text(run.total_ns / 1e6)},
               {"ns/pod", text(run.ns_per_pod)},
               {"gang p50 ns", text(run.gang_p50_ns)},
               {"p99 ns", text(run.gang_p99_ns)},
               {"longest us", text(run.gang_longest_ns / 1e3)},
               {"submit ns/pod", text(run.submit_ns_per_pod)},
               {"release ns/pod", text(run.release_ns_per_pod)},
               {"x A", ratio_text(run.naive)},
               {"A gangs", std::to_string(run.naive.gangs)},
               {"x A2", ratio_text(run.flat)},
               {"A2 gangs", std::to_string(run.flat.gangs)},
               {"A refuses wrongly", std::to_string(run.flat.false_rejections)}});
}

void add_admission(report& to, bool quick, const measurements& portable) {
    std::vector<churn_report> runs;
    std::size_t asked = 0;
    std::size_t refused_wrongly = 0;
    for (const request_regime requests : headline_requests) {
        for (const std::size_t nodes : headline_sizes) {
            churn_options options = headline(requests, nodes, quick);
            const std::size_t scale = nodes / 1000;
            options.naive_gangs = (quick ? 15000 : 40000) / (scale + 3);
            options.flat_gangs = (quick ? 40000 : 100000) / (scale + 10);
            options.inlined_gangs = nodes == 10000 ? 200 : 0;
            runs.push_back(run_churn<4>(options));
            add_churn_detail(to, runs.back(), 4);
            asked += runs.back().flat.gangs;
            refused_wrongly += runs.back().flat.false_rejections;
        }
    }
    const auto each = [&](auto&& add) {
        for (const churn_report& run : runs)
            add(run, case_text(run.asked.work.requests, run.asked.work.nodes),
                targets_of(run.asked.work.requests, run.asked.work.nodes));
    };
    each([&](const churn_report& run, const std::string& of, const targets& target) {
        to.at_least("total time, ratio to A, " + of, "x", run.naive.ratio(), target.naive_ratio);
    });
    each([&](const churn_report& run, const std::string& of, const targets& target) {
        to.at_least("total time, ratio to A2, " + of, "x", run.flat.ratio(), target.flat_ratio);
    });
    each([&](const churn_report& run, const std::string& of, const targets&) {
        to.at_most("A, " + of, "ns/node/pod", run.naive.per_node_and_pod, 8.0);
        if (run.asked.inlined_gangs > 0)
            to.orientation("A with inlined plugins, " + of, "ns/node/pod",
                           run.inlined.per_node_and_pod);
        to.at_most("A2, " + of, "ns/node/pod", run.flat.per_node_and_pod, 1.2);
    });
    each([&](const churn_report& run, const std::string& of, const targets& target) {
        to.at_most("admission, " + of, "ns/pod", run.ns_per_pod, target.ns_per_pod);
    });
    each([&](const churn_report& run, const std::string& of, const targets& target) {
        const auto found = portable.find(speed_key(run.asked.work.requests, run.asked.work.nodes));
        to.at_most("the same, portable -O2, " + of, "ns/pod",
                   found == portable.end() ? std::nullopt : std::optional(found->second),
                   2 * target.ns_per_pod);
    });
    each([&](const churn_report& run, const std::string& of, const targets& target) {
        to.at_most("gang of 7 to 10 pods, p50, " + of, "ns", run.usual_gang_p50_ns,
                   target.usual_gang_ns);
    });
    each([&](const churn_report& run, const std::string& of, const targets& target) {
        to.at_most("gang of any size, 7 to 10 pods in the mean, p50, " + of, "ns", run.gang_p50_ns,
                   target.usual_gang_ns);
    });
    std::map<request_regime, std::map<std::size_t, double>> costs;
    for (const churn_report& run : runs)
        costs[run.asked.work.requests][run.asked.work.nodes] = run.ns_per_pod;
    add_growth(to, "best-fit, catalogue", costs[request_regime::catalogue], 0.12);
    add_growth(to, "best-fit, random", costs[request_regime::random], 0.2);
    each([&](const churn_report& run, const std::string& of, const targets&) {
        if (run.asked.work.nodes == 1000)
            to.orientation("release, " + of, "ns/pod", run.release_ns_per_pod);
        else
            to.at_most("release, " + of, "ns/pod", run.release_ns_per_pod,
                       run.asked.work.nodes == 10000 ? 60.0 : 200.0);
    });
    to.orientation(
        "gangs A refuses although they fit, ordinary mix of " + std::to_string(asked), "%",
        asked == 0 ? 0.0
                   : 100.0 * static_cast<double>(refused_wrongly) / static_cast<double>(asked));
    for (const request_regime requests : headline_requests) {
        std::map<std::size_t, double> first_fit;
        for (const std::size_t nodes : headline_sizes) {
            const churn_report run =
                run_churn<4, placement_rule::first_fit>(beside_headline(requests, nodes, quick));
            add_churn_detail(to, run, 4);
            first_fit[nodes] = run.ns_per_pod;
        }
        add_growth(to, std::string("first-fit, ") + name_of(requests), first_fit, 0.05);
    }
}

void add_variants(report& to, bool quick) {
    for (const request_regime requests : headline_requests) {
        for (const std::size_t nodes : {std::size_t{10000}, std::size_t{100000}}) {
            if (quick && (requests != request_regime::catalogue || nodes != 10000))
                continue;
            const auto run = [&](std::int64_t jitter, std::int32_t pools, bool clean) {
                churn_options options = headline(requests, nodes, quick);
                options.work.memory_jitter_percent = jitter;
                options.work.pools = pools;
                options.work.without_selectors = clean;
                const churn_report made = run_churn<4>(options);
                add_churn_detail(to, made, 4);
                return made.ns_per_pod;
            };
            const std::string of = case_text(requests, nodes);
            if (requests == request_regime::catalogue)
                to.at_most("2% memory jitter, cost to the clean case, " + of, "x",
                           run(2, 1, false) / run(0, 1, false), 3.0);
            for (const std::int32_t pools : {10, 200})
                to.at_most(std::to_string(pools) + " label classes, cost to the clean case, " + of,
                           "x", run(0, pools, false) / run(0, pools, true), 3.0);
            to.at_most("2% memory jitter and 200 label classes, cost to the clean case, " + of, "x",
                       run(2, 200, false) / run(0, 200, true), 3.0);
        }
    }
    for (const request_regime requests : headline_requests) {
        for (const std::int32_t pools : {10, 200}) {
            label_class_options options;
            options.work.nodes = 10000;
            options.work.requests = requests;
            options.work.pools = pools;
            if (quick)
                options.repeats = 1;
            const label_class_report found = measure_label_classes(options);
            const std::string of =
                "1 of " + std::to_string(pools) + " label classes, " + case_text(requests, 10000);
            to.orientation("gangs of " + of + ", by a tree of that class alone", "x",
                           found.one_tree.ns_per_pod / found.own_tree.ns_per_pod);
            const auto add = [&](const char* tree, const label_class_cost& cost) {
                to.detail("Gangs that select one label class",
                          {{"requests", name_of(requests)},
                           {"classes", std::to_string(pools)},
                           {"tree", tree},
                           {"pods", std::to_string(cost.pods)},
                           {"gang p50 ns", text(cost.gang_p50_ns)},
                           {"ns/pod", text(cost.ns_per_pod)},
                           {"release ns/pod", text(cost.release_ns_per_pod)}});
            };
            add("of all nodes", found.one_tree);
            add("of the class", found.own_tree);
        }
    }
}

void add_uniform_shapes(report& to) {
    for (const uniform_shape& shape : uniform_shapes) {
        const churn_report run = run_uniform(shape, 3);
        to.detail("Equal gangs onto an empty cluster",
                  {{"shape", shape.name},
                   {"nodes", size_text(shape.nodes)},
                   {"in use", fixed(run.utilisation)},
                   {"refused", std::to_string(run.refused)},
                   {"total ms", text(run.total_ns / 1e6)},
                   {"ns/pod", text(run.ns_per_pod)},
                   {"gang p50 us", text(run.gang_p50_ns / 1e3)},
                   {"release ns/pod", text(run.release_ns_per_pod)},
                   {"x A", ratio_text(run.naive)},
                   {"x A2", ratio_text(run.flat)}});
    }
}

} // namespace bench
