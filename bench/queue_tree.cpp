// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <muster/muster.hpp>

#include "cluster.hpp"
#include "figures.hpp"
#include "muster_engine.hpp"
#include "random.hpp"
#include "statistics.hpp"
#include "stopwatch.hpp"

namespace bench {

namespace queue_tree_runs {
namespace {

/// Gangs that wait in the leaves of a tree of queues, three levels deep.
struct queue_tree_options {
    std::size_t nodes = 10000;
    std::size_t pending = 10000;
    /// Children of each queue, on each level: the leaves are the cube of it.
    std::size_t fan_out = 10;
    /// Cycles measured of each kind.
    std::size_t rounds = 31;
};

struct queue_tree_report {
    std::string order;
    std::size_t leaves = 0;
    std::size_t pods = 0;
    /// All that wait start in one cycle: in the tree, and with all of them in one queue.
    double all_start_ns = 0.0;
    double all_start_one_queue_ns = 0.0;
    /// As many wait that fit nowhere: the middle cycle after one more came, and after a gang left.
    double arrival_cycle_ns = 0.0;
    double released_cycle_ns = 0.0;
    /// The same with all of them in one queue.
    double arrival_cycle_one_queue_ns = 0.0;
    double released_cycle_one_queue_ns = 0.0;
};

constexpr std::size_t width = 4;
using known_cluster = muster::state<engine_traits<width>>;

constexpr muster::kind_id cores{cpu};
constexpr muster::kind_id devices{gpu};
constexpr muster::kind_id places{pods};

void check(muster::event_result what) {
    if (what != muster::event_result::applied)
        fail("an event of the queue tree is refused");
}

muster::pod<width> asking(std::int64_t gpus) {
    muster::pod<width> made;
    made.request[cores] = 8000 * gpus;
    made.request[devices] = gpus;
    made.request[places] = 1;
    return made;
}

/// Nodes of 8 devices each, and queues; the number of a leaf is its key.
class cluster_with_queues {
public:
    cluster_with_queues(const queue_tree_options& options, bool tree)
        : options_(options), tree_(tree), known_(places), draw_(11) {
        muster::node<width> machine;
        machine.allocatable[cores] = 64000;
        machine.allocatable[devices] = 8;
        machine.allocatable[places] = 110;
        for (std::size_t at = 0; at < options.nodes; ++at)
            check(known_.upsert_node(static_cast<std::uint32_t>(at), machine));
        const auto fan = static_cast<std::uint32_t>(options.fan_out);
        leaves_ = fan * fan * fan;
        if (!tree) {
            check(known_.upsert_queue(0, queue(8)));
            return;
        }
        for (std::uint32_t leaf = 0; leaf < leaves_; ++leaf)
            check(known_.upsert_queue(leaf, queue(1), leaves_ + leaf / fan));
        for (std::uint32_t team = 0; team < fan * fan; ++team)
            check(known_.upsert_queue(leaves_ + team, queue(2), 2 * leaves_ + team / fan));
        for (std::uint32_t department = 0; department < fan; ++department)
            check(known_.upsert_queue(2 * leaves_ + department, queue(4)));
    }

    /// Small gangs, spread over the leaves, that all fit.
    void submit_small() {
        for (std::size_t at = 0; at < options_.pending; ++at) {
            const auto count = static_cast<std::size_t>(draw_.between(1, 8));
            pods_ += count;
            submit(asking(1), count);
        }
    }
    /// A gang that finds no room in the cluster once `fill` has been called.
    void submit_hopeless() { submit(asking(draw_.between(4, 8)), 64); }

    void fill() {
        muster::pod<width> all = asking(8);
        all.phase = muster::pod_phase::running;
        muster::gang<std::uint32_t> group;
        group.queue = 0;
        group.tree = muster::single_role(1);
        for (std::size_t at = 0; at < options_.nodes; ++at) {
            const auto number = static_cast<std::uint32_t>(at);
            fillers_.push_back(next_gang_);
            check(known_.upsert_gang(next_gang_, group));
            check(known_.upsert_pod(next_pod_++, next_gang_++, all, number));
        }
    }
    void release_one() {
        check(known_.finish_gang(fillers_.back()));
        fillers_.pop_back();
    }

    template<class QueueOrder>
    [[nodiscard]] double cycle(const QueueOrder& order) {
        muster::policy<muster::best_fit, muster::priority_then_age, QueueOrder> how;
        how.queues = order;
        return stopwatch::time(
            [&] { muster::cycle(known_, 0, how, muster::budget{}, {}, result_); });
    }
    [[nodiscard]] std::size_t placed() const noexcept { return result_.counters.pods_placed; }
    [[nodiscard]] std::size_t pods_waiting() const noexcept { return pods_; }
    [[nodiscard]] std::size_t leaves() const noexcept { return leaves_; }

private:
    [[nodiscard]] muster::queue<width> queue(std::int64_t part) {
        muster::queue<width> made;
        made.quota.set(devices, part * 1'000'000);
        made.quota.set(cores, part * 8'000'000'000);
        made.deserved.set(devices, part * draw_.between(5, 50));
        made.weight = draw_.between(1, 9);
        return made;
    }

    void submit(const muster::pod<width>& member, std::size_t count) {
        muster::gang<std::uint32_t> group;
        group.tree = muster::single_role(static_cast<std::int64_t>(count));
        group.created = next_gang_;
        const auto leaf =
            static_cast<std::uint32_t>(draw_.between(0, static_cast<std::int64_t>(leaves_) - 1));
        group.queue = tree_ ? leaf : 0;
        check(known_.upsert_gang(next_gang_, group));
        for (std::size_t at = 0; at < count; ++at)
            check(known_.upsert_pod(next_pod_++, next_gang_, member));
        ++next_gang_;
    }

    queue_tree_options options_;
    bool tree_;
    known_cluster known_;
    random_numbers draw_;
    muster::cycle_result result_;
    std::uint32_t leaves_ = 0;
    std::uint32_t next_gang_ = 0;
    std::uint32_t next_pod_ = 0;
    std::size_t pods_ = 0;
    std::vector<std::uint32_t> fillers_;
};

template<class QueueOrder>
double all_start(const queue_tree_options& options, bool tree, const QueueOrder& order,
                 queue_tree_report& report) {
    double least = 0.0;
    for (int run = 0; run < 3; ++run) {
        cluster_with_queues on(options, tree);
        on.submit_small();
        const double took = on.cycle(order);
        if (on.placed() != on.pods_waiting())
            fail("a gang of the queue tree does not start");
        least = run == 0 ? took : std::min(least, took);
        report.pods = on.placed();
        report.leaves = on.leaves();
    }
    return least;
}

template<class QueueOrder>
std::pair<double, double> with_backlog(const queue_tree_options& options, bool tree,
                                       const QueueOrder& order) {
    cluster_with_queues on(options, tree);
    on.fill();
    for (std::size_t at = 0; at < options.pending; ++at)
        on.submit_hopeless();
    static_cast<void>(on.cycle(order));
    std::vector<double> arrival, released;
    for (std::size_t round = 0; round < options.rounds; ++round) {
        on.submit_hopeless();
        arrival.push_back(on.cycle(order));
        on.release_one();
        released.push_back(on.cycle(order));
        if (on.placed() > 0)
            fail("a gang that fits nowhere starts");
    }
    return {median(arrival), median(released)};
}

template<class QueueOrder>
queue_tree_report run(const queue_tree_options& options, std::string name,
                      const QueueOrder& order) {
    queue_tree_report report;
    report.order = std::move(name);
    report.all_start_one_queue_ns = all_start(options, false, order, report);
    report.all_start_ns = all_start(options, true, order, report);
    std::tie(report.arrival_cycle_one_queue_ns, report.released_cycle_one_queue_ns) =
        with_backlog(options, false, order);
    std::tie(report.arrival_cycle_ns, report.released_cycle_ns) =
        with_backlog(options, true, order);
    return report;
}

std::vector<queue_tree_report> run_all(const queue_tree_options& options) {
    return {run(options, "priority_then_share", muster::priority_then_share{}),
            run(options, "weighted_share", muster::weighted_share{}),
            run(options, "deserved_first", muster::deserved_first{})};
}

} // namespace
} // namespace queue_tree_runs

void add_queue_tree(report& to, bool quick) {
    using namespace queue_tree_runs;
    queue_tree_options options;
    options.rounds = quick ? 11 : 31;
    for (const queue_tree_report& run : run_all(options)) {
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

} // namespace bench
