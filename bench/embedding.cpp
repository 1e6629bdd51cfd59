// SPDX-License-Identifier: Apache-2.0
// A scheduler that embeds Muster, with preemption: a day of gangs that come, run, end, are
// cancelled, fail to bind, are evicted and drained; and single cycles behind a long line.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <muster/muster.hpp>

#include "figures.hpp"
#include "muster_engine.hpp"
#include "preempting.hpp"
#include "random.hpp"
#include "stopwatch.hpp"

namespace bench {

namespace embedding_runs {
namespace {

/// Kinds 0 to 3 are those of the other benchmarks.
constexpr std::size_t licence = 4;
constexpr std::size_t scratch = 5;
constexpr std::size_t width = 6;
using cluster = muster::state<engine_traits<width>>;

/// A rule of the embedding scheduler's own: from gangs whose priority is lower by a gap.
struct far_below {
    static constexpr bool none = false;
    static constexpr bool timeless = true;
    std::int64_t gap = 50;

    [[nodiscard]] std::optional<muster::victim_terms> operator()(const muster::gang_view& by,
                                                                 const muster::gang_view& of,
                                                                 std::int64_t) const noexcept {
        if (!of.preemptible || of.priority > by.priority - gap)
            return std::nullopt;
        return muster::victim_terms{0, of.priority};
    }
    [[nodiscard]] friend bool operator==(far_below, far_below) = default;
};

constexpr std::uint32_t queues = 55;
constexpr std::uint32_t first_leaf = 10;

/// One queue at the root, nine below it, five below each of these.
void add_queues(cluster& known, std::int64_t nodes) {
    for (std::uint32_t at = 0; at < queues; ++at) {
        muster::queue<width> spec;
        if (at == 0)
            spec.quota.set(muster::kind_id{licence}, nodes / 4);
        else if (at < first_leaf)
            spec.quota.set(muster::kind_id{gpu}, nodes * 8 / 6);
        else
            spec.quota.set(muster::kind_id{gpu}, nodes * 8 / 20);
        const auto parent = at == 0           ? std::nullopt
                            : at < first_leaf ? std::optional<std::uint32_t>(0)
                                              : std::optional<std::uint32_t>((at - 10) / 5 + 1);
        applied(known.upsert_queue(at, spec, parent));
    }
}

void add_node(cluster& known, std::uint32_t key, bool open) {
    muster::node<width> spec;
    spec.allocatable[cpu] = 64000;
    spec.allocatable[memory] = 512 * gibibyte;
    spec.allocatable[gpu] = 8;
    spec.allocatable[pods] = 110;
    spec.allocatable[licence] = 1000;
    spec.allocatable[scratch] = 2000 * gibibyte;
    spec.unschedulable = !open;
    applied(known.upsert_node(key, spec));
}

/// Plays the events of such a scheduler and times its cycles.
class day {
public:
    struct outcome {
        double total_ns = 0.0;
        double longest_ns = 0.0;
        std::size_t cycles = 0;
        std::size_t started = 0;
        std::size_t evicted = 0;
    };

    day(std::uint32_t nodes, std::size_t gangs) : nodes_(nodes), gangs_(gangs), draw_(11) {
        add_queues(known_, nodes);
        for (std::uint32_t at = 0; at < nodes; ++at)
            add_node(known_, at, true);
    }

    template<class Policy>
    outcome run(const Policy& how) {
        outcome made;
        muster::cycle_result result;
        for (now_ = 0; submitted_ < gangs_ || !running_.empty(); ++now_) {
            if (now_ > static_cast<std::int64_t>(gangs_))
                break;
            report_events();
            const double took =
                stopwatch::time([&] { muster::cycle(known_, now_, how, {}, {}, result); });
            made.total_ns += took;
            made.longest_ns = std::max(made.longest_ns, took);
            ++made.cycles;
            made.started += result.counters.pods_placed;
            made.evicted += result.counters.pods_evicted;
            take(result);
        }
        return made;
    }

private:
    struct job {
        std::uint32_t gang = 0;
        std::vector<std::uint32_t> pods;
        muster::pod<width> asks;
        std::int64_t lasts = 0;
        std::int64_t ends = 0;
    };

    void submit() {
        job made;
        made.gang = static_cast<std::uint32_t>(jobs_.size());
        const std::int64_t size = draw_.between(1, 12);
        muster::gang<std::uint32_t> spec;
        spec.queue =
            static_cast<std::uint32_t>(draw_.between(first_leaf, std::int64_t{queues} - 1));
        spec.created = static_cast<std::int64_t>(made.gang);
        spec.priority = draw_.between(0, 100);
        spec.preemptible = draw_.between(0, 9) > 0;
        spec.tree = muster::single_role(std::max<std::int64_t>(1, size - draw_.between(0, 2)));
        applied(known_.upsert_gang(made.gang, spec));
        const std::int64_t devices = std::int64_t{1} << draw_.between(0, 3);
        made.asks.request[cpu] = 4000 * devices;
        made.asks.request[memory] = 32 * gibibyte * devices;
        made.asks.request[gpu] = devices;
        made.asks.request[pods] = 1;
        made.asks.request[licence] = draw_.between(0, 4) == 0 ? 1 : 0;
        made.asks.request[scratch] = gibibyte * draw_.between(0, 100);
        made.lasts = draw_.between(5, 60);
        for (std::int64_t at = 0; at < size; ++at) {
            made.pods.push_back(next_pod_);
            applied(known_.upsert_pod(next_pod_++, made.gang, made.asks));
        }
        jobs_.push_back(std::move(made));
        ++submitted_;
    }
    void remove(std::uint32_t gang) {
        job& of = jobs_[gang];
        for (const std::uint32_t pod : of.pods)
            applied(known_.remove_pod(pod));
        of.pods.clear();
        applied(known_.remove_gang(gang));
    }
    /// The pods are gone, and others wait in their place.
    void start_again(const std::vector<std::uint32_t>& pods) {
        for (const std::uint32_t pod : pods) {
            if (!known_.find_pod(pod))
                continue;
            const std::uint32_t gang = gang_of(pod);
            job& of = jobs_[gang];
            applied(known_.remove_pod(pod));
            *std::ranges::find(of.pods, pod) = next_pod_;
            applied(known_.upsert_pod(next_pod_++, gang, of.asks));
        }
    }
    [[nodiscard]] std::uint32_t gang_of(std::uint32_t pod) const {
        return known_.key(known_[known_.find_pod(pod)->index].gang);
    }

    void report_events() {
        start_again(std::exchange(leaving_, {}));
        for (std::size_t at = 0; at < 12 && submitted_ < gangs_; ++at)
            submit();
        // One that waits or runs is cancelled.
        if (now_ % 5 == 0) {
            const auto any =
                static_cast<std::uint32_t>(draw_.between(0, std::int64_t{next_gang()} - 1));
            if (!jobs_[any].pods.empty()) {
                std::erase(running_, any);
                remove(any);
            }
        }
        std::erase_if(running_, [&](std::uint32_t gang) {
            const bool over = jobs_[gang].ends <= now_;
            if (over)
                remove(gang);
            return over;
        });
        // A node is drained, and comes back.
        if (now_ % 20 == 0) {
            if (drained_)
                add_node(known_, *drained_, true);
            drained_ = static_cast<std::uint32_t>(draw_.between(0, std::int64_t{nodes_} - 1));
            add_node(known_, *drained_, false);
            const auto on = known_.find_node(*drained_)->index;
            std::vector<std::uint32_t> there;
            for (const std::uint32_t gang : running_)
                for (const std::uint32_t pod : jobs_[gang].pods)
                    if (known_[known_.find_pod(pod)->index].node == on)
                        there.push_back(pod);
            start_again(there);
        }
    }
    [[nodiscard]] std::uint32_t next_gang() const {
        return static_cast<std::uint32_t>(jobs_.size());
    }

    /// Binds what the cycle started, except one pod in a hundred, and notes the evicted pods.
    void take(const muster::cycle_result& result) {
        for (const muster::decision& made : result.decisions) {
            for (const muster::pod_index pod : made.evictions)
                leaving_.push_back(known_.key(pod));
            if (made.nominated)
                continue;
            for (const auto& [pod, node] : made.placements) {
                const std::uint32_t key = known_.key(pod);
                if (draw_.between(0, 99) == 0) {
                    applied(known_.forget(key));
                    continue;
                }
                const std::uint32_t gang = gang_of(key);
                muster::pod<width> spec = jobs_[gang].asks;
                spec.phase = muster::pod_phase::running;
                applied(known_.upsert_pod(key, gang, spec, known_.key(node)));
            }
            if (made.placements.empty())
                continue;
            const std::uint32_t gang = known_.key(made.gang);
            jobs_[gang].ends = now_ + jobs_[gang].lasts;
            if (std::ranges::find(running_, gang) == running_.end())
                running_.push_back(gang);
        }
        for (const std::uint32_t pod : leaving_)
            std::erase(running_, gang_of(pod));
    }

    cluster known_{muster::kind_id{pods}};
    std::uint32_t nodes_;
    std::size_t gangs_;
    random_numbers draw_;
    std::int64_t now_ = 0;
    std::size_t submitted_ = 0;
    std::uint32_t next_pod_ = 0;
    std::vector<job> jobs_;
    std::vector<std::uint32_t> running_;
    std::vector<std::uint32_t> leaving_;
    std::optional<std::uint32_t> drained_;
};

/// A cluster that is full of gangs of the highest priority, and others that wait.
struct long_line {
    cluster known{muster::kind_id{pods}};
    std::uint32_t next = 0;

    void add(std::int64_t priority, std::int64_t devices, std::optional<std::uint32_t> on) {
        muster::gang<std::uint32_t> spec;
        spec.queue = 10 + next % 45;
        spec.created = next;
        spec.tree = muster::single_role(1);
        spec.priority = priority;
        applied(known.upsert_gang(next, spec));
        muster::pod<width> member;
        member.request[cpu] = 1000;
        member.request[gpu] = devices;
        member.request[pods] = 1;
        if (on) {
            member.phase = muster::pod_phase::running;
            applied(known.upsert_pod(next, next, member, *on));
        } else {
            applied(known.upsert_pod(next, next, member));
        }
        ++next;
    }
    long_line(std::uint32_t nodes, std::uint32_t waiting) {
        for (std::uint32_t at = 0; at < queues; ++at)
            applied(at == 0 ? known.upsert_queue(at, {}, std::nullopt)
                            : known.upsert_queue(at, {}, at < first_leaf ? 0U : (at - 10) / 5 + 1));
        for (std::uint32_t at = 0; at < nodes; ++at) {
            add_node(known, at, true);
            add(100, 8, at);
        }
        for (std::uint32_t at = 0; at < waiting; ++at)
            add(at % 100, 1 + at % 8, std::nullopt);
    }
};

/// The middle one of the cycles after a gang came, in microseconds; and of one at rest.
template<class Rule>
std::pair<double, double> one_came(Rule rule, std::uint32_t nodes, std::uint32_t waiting) {
    long_line line(nodes, waiting);
    const auto how = preempting(rule);
    muster::cycle_result result;
    muster::cycle(line.known, 0, how, {}, {}, result);
    std::vector<double> came;
    std::vector<double> rest;
    for (int round = 0; round < 15; ++round) {
        line.add(50, 1 + round % 8, std::nullopt);
        came.push_back(stopwatch::time([&] { muster::cycle(line.known, 0, how, {}, {}, result); }));
        if (result.counters.pods_evicted + result.counters.pods_placed > 0)
            fail("a gang of low priority starts");
        rest.push_back(stopwatch::time([&] { muster::cycle(line.known, 0, how, {}, {}, result); }));
    }
    std::ranges::sort(came);
    std::ranges::sort(rest);
    return {came[came.size() / 2] / 1e3, rest[rest.size() / 2] / 1e3};
}

} // namespace
} // namespace embedding_runs

void add_embedding(report& to, bool quick) {
    using namespace embedding_runs;
    const auto line = [&](const std::string& rule, auto value) {
        for (const auto& [nodes, waiting, most] :
             {std::tuple(2000U, 4000U, 500.0), std::tuple(10000U, 10000U, 2000.0)}) {
            if (quick && nodes > 2000)
                continue;
            const std::string of = ", " + rule + ", " + size_text(waiting) + " gangs wait, " +
                                   size_text(nodes) + " nodes";
            const auto [came, rest] = one_came(value, nodes, waiting);
            to.at_most("cycle, a gang came, no pod may be evicted" + of, "us", came, most);
            to.orientation("cycle, nothing happened" + of, "us", rest);
        }
    };
    line("no eviction", muster::no_eviction{});
    line("T9k's rule", muster::t9k_preemption{});
    line("by priority", muster::priority_preemption{true});
    line("a rule of the caller's", far_below{});

    const std::size_t gangs = quick ? 1500 : 5000;
    const auto without = day(1000, gangs).run(preempting(muster::no_eviction{}));
    const auto with = day(1000, gangs).run(preempting(far_below{}));
    const std::string of = ", " + size_text(gangs) + " gangs of 1 to 12 pods, 55 queues, 1k nodes";
    to.orientation("all cycles of a day without preemption" + of, "ms", without.total_ns / 1e6);
    to.orientation("the longest of them" + of, "ms", without.longest_ns / 1e6);
    to.at_most("all cycles of a day with preemption, by those without" + of, "x",
               with.total_ns / without.total_ns, 3.0);
    to.at_most("the longest cycle of a day with preemption" + of, "ms", with.longest_ns / 1e6, 5.0);
    to.orientation("pods started per second of cycles, with preemption" + of, "pods/s",
                   static_cast<double>(with.started) / with.total_ns * 1e9);
    to.orientation("pods evicted in a day" + of, "pods", static_cast<double>(with.evicted));
}

} // namespace bench
