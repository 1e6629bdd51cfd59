// SPDX-License-Identifier: Apache-2.0
#include "greedy_gap.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "books.hpp"
#include "muster_engine.hpp"
#include "naive.hpp"
#include "pod_by_pod.hpp"
#include "random.hpp"
#include "statistics.hpp"
#include "stopwatch.hpp"
#include "workload.hpp"

namespace bench {

namespace greedy_gap_runs {
namespace {

constexpr std::size_t width = 4;

/// One cluster with some room left on every node, and what fits it.
class contest {
public:
    contest(std::size_t count, random_numbers& draw) : nodes_(count) {
        for (node_spec<width>& node : nodes_) {
            node.allocatable[cpu] = draw.between(6000, 32000);
            node.allocatable[memory] = draw.between(6, 32) * 4 * gibibyte;
            node.allocatable[pods] = 110;
            free_.push_back(node.allocatable);
        }
        hungry_[0] = {draw.between(2000, 6000), draw.between(2, 6) * gibibyte, 0, 1};
        hungry_[1] = {draw.between(500, 1500), draw.between(8, 24) * gibibyte, 0, 1};
        share_ = draw.between(30, 70);
    }

    [[nodiscard]] gang_spec<width> gang(std::int64_t size, bool other_order = false) const {
        const std::int64_t first = std::max<std::int64_t>(1, size * share_ / 100);
        const std::int64_t second = std::max<std::int64_t>(1, size - first);
        gang_spec<width> made{{{hungry_[0], first, first}, {hungry_[1], second, second}}, no_pool};
        if (other_order)
            std::swap(made.roles[0], made.roles[1]);
        return made;
    }

    [[nodiscard]] bool muster_starts(std::int64_t size, std::size_t& undecided) const {
        muster_engine<width> engine(nodes_);
        const std::uint32_t number = engine.submit(gang(size));
        const bool started = engine.start(number);
        undecided += engine.undecided() ? 1U : 0U;
        if (started)
            books<width>(nodes_).start(gang(size), engine.placements());
        return started;
    }

    /// The least of three.
    [[nodiscard]] double start_ns(std::int64_t size, bool other_order) const {
        std::vector<double> took;
        muster_engine<width> engine(nodes_);
        for (int round = 0; round < 3; ++round) {
            const std::uint32_t number = engine.submit(gang(size, other_order));
            took.push_back(stopwatch::time([&] { static_cast<void>(engine.start(number)); }));
            engine.release(number);
            engine.forget(number);
        }
        return percentile(took, 0.0);
    }

    [[nodiscard]] bool naive_starts(std::int64_t size, bool other_order = false) const {
        naive_nodes<width> nodes(nodes_, free_, placement_rule::best_fit);
        std::vector<placed> members;
        return start_pod_by_pod(nodes, gang(size, other_order), members);
    }

private:
    std::vector<node_spec<width>> nodes_;
    std::vector<amounts<width>> free_;
    amounts<width> hungry_[2]{};
    std::int64_t share_ = 50;
};

/// The largest size that `starts`, which all smaller ones then do.
template<class Starts>
std::int64_t largest(std::int64_t most, const Starts& starts) {
    std::int64_t low = 1;
    while (low < most) {
        const std::int64_t middle = (low + most + 1) / 2;
        if (starts(middle))
            low = middle;
        else
            most = middle - 1;
    }
    return low;
}

} // namespace
} // namespace greedy_gap_runs

greedy_gap_report measure_greedy_gap(std::size_t nodes, std::size_t clusters) {
    using namespace greedy_gap_runs;
    greedy_gap_report report;
    report.nodes = nodes;
    report.clusters = clusters;
    random_numbers draw(nodes);
    std::vector<double> searched;
    std::vector<double> by_other_order;
    for (std::size_t round = 0; round < clusters; ++round) {
        const contest on(nodes, draw);
        const auto most = static_cast<std::int64_t>(nodes) * 40;
        const std::int64_t exact = largest(
            most, [&](std::int64_t size) { return on.muster_starts(size, report.undecided); });
        const std::int64_t greedy =
            largest(most, [&](std::int64_t size) { return on.naive_starts(size); });
        const auto look = [&](std::int64_t size, std::size_t& refused, std::size_t& other_order) {
            if (on.naive_starts(size))
                return;
            ++refused;
            if (!on.naive_starts(size, true))
                return;
            ++other_order;
            searched.push_back(on.start_ns(size, false));
            by_other_order.push_back(on.start_ns(size, true));
        };
        ++report.at_the_limit;
        look(exact, report.refused_at_the_limit, report.other_order_at_the_limit);
        const std::int64_t smaller = exact * 9 / 10;
        if (smaller > 1) {
            ++report.at_nine_tenths;
            look(smaller, report.refused_at_nine_tenths, report.other_order_at_nine_tenths);
        }
        report.mean_loss += (1.0 - static_cast<double>(greedy) / static_cast<double>(exact)) /
                            static_cast<double>(clusters);
    }
    report.searched_p50_ns = percentile(searched, 0.5);
    report.other_order_p50_ns = percentile(by_other_order, 0.5);
    return report;
}

} // namespace bench
