// SPDX-License-Identifier: Apache-2.0
#include "backlog.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "books.hpp"
#include "muster_engine.hpp"
#include "random.hpp"
#include "statistics.hpp"
#include "stopwatch.hpp"

namespace bench {

namespace backlog_runs {
namespace {

constexpr std::size_t width = 4;

class full_cluster {
public:
    explicit full_cluster(const backlog_options& options)
        : arriving_(options.work),
          nodes_(make_nodes<width>(options.work)),
          engine_(nodes_),
          books_(nodes_) {
        fill();
    }

    [[nodiscard]] double utilisation() const noexcept { return books_.utilisation(); }
    [[nodiscard]] gang_stream<width>& arriving() noexcept { return arriving_; }
    [[nodiscard]] muster_engine<width>& engine() noexcept { return engine_; }

    /// Asks a gang on its own; the nanoseconds, or nothing when it starts.
    [[nodiscard]] std::optional<double> refuse(const gang_spec<width>& gang) {
        const std::uint32_t number = engine_.submit(gang);
        bool started = false;
        const double took = stopwatch::time([&] { started = engine_.start(number); });
        if (started)
            keep(number, gang);
        else
            engine_.forget(number);
        return started ? std::nullopt : std::optional(took);
    }

    [[nodiscard]] double cycle() {
        return stopwatch::time([&] { engine_.cycle(); });
    }

    /// A gang on few nodes leaves; on how many it stood, or 0 when there is none.
    [[nodiscard]] std::size_t release_a_small_one() {
        for (; next_ < running_.size(); ++next_) {
            const running& one = running_[next_];
            if (one.nodes < 5 || one.nodes > 10)
                continue;
            ++next_;
            engine_.release(one.number);
            engine_.forget(one.number);
            return one.nodes;
        }
        return 0;
    }

    /// Takes what is left for larger requests, until no node has 4 cores or a device to spare.
    void use_up() {
        for (const std::int64_t devices : {8, 4, 2, 1, 0}) {
            for (const std::int64_t cores : {64, 32, 16, 8, 4}) {
                role_spec<width> role{{cores * 1000, gibibyte, devices, 1}, 1, 1000};
                if (devices > 0)
                    role.request[cpu] = 10;
                while (!refuse({{role}, no_pool})) {
                }
            }
        }
    }

    /// Empty nodes with eight devices each.
    void add_nodes(std::size_t count) {
        for (std::size_t each = 0; each < count; ++each) {
            node_spec<width> fresh;
            fresh.allocatable = {96000, 1024 * gibibyte, 8, 110};
            engine_.change_node(static_cast<std::uint32_t>(nodes_.size()), fresh);
            nodes_.push_back(fresh);
        }
    }

    void announce_ten_nodes(random_numbers& draw) {
        for (int each = 0; each < 10; ++each) {
            const auto node = static_cast<std::size_t>(
                draw.between(0, static_cast<std::int64_t>(nodes_.size()) - 1));
            ++nodes_[node].allocatable[cpu];
            engine_.change_node(static_cast<std::uint32_t>(node), nodes_[node]);
        }
    }

private:
    struct running {
        std::uint32_t number;
        std::size_t nodes;
    };

    void keep(std::uint32_t number, const gang_spec<width>& gang) {
        const std::vector<placed> members = engine_.placements();
        books_.start(gang, members);
        engine_.withdraw_surplus(number);
        std::set<std::uint32_t> distinct;
        for (const placed& one : members)
            distinct.insert(one.node);
        running_.push_back({number, distinct.size()});
    }

    /// Until four of five gangs are refused.
    void fill() {
        constexpr std::size_t stretch = 500;
        for (std::size_t refused = 0; refused * 5 < stretch * 4;) {
            refused = 0;
            for (std::size_t asked = 0; asked < stretch; ++asked)
                refused += refuse(arriving_.next()) ? 1U : 0U;
        }
    }

    gang_stream<width> arriving_;
    std::vector<node_spec<width>> nodes_;
    muster_engine<width> engine_;
    books<width> books_;
    std::vector<running> running_;
    std::size_t next_ = 0;
};

/// A gang of one role that finds no room, and would not on ten empty nodes: large requests of 64
/// shapes, or each of its own.
gang_spec<width> hopeless(request_regime requests, random_numbers& draw) {
    const bool devices = draw.percent(50);
    role_spec<width> role;
    role.request[cpu] = (devices ? 1000 : 48000) + 1000 * draw.between(0, 31);
    role.request[memory] = 16 * gibibyte;
    role.request[gpu] = devices ? 8 : 0;
    role.request[pods] = 1;
    if (requests == request_regime::random) {
        role.request[cpu] += draw.between(0, 999);
        role.request[memory] += draw.between(0, gibibyte);
    }
    role.minimum = draw.between(24, 32);
    role.desired = role.minimum;
    return {{role}, no_pool};
}

void measure_refusals(full_cluster& on, const backlog_options& options, backlog_report& report) {
    std::vector<double> one_role;
    std::vector<double> several;
    for (std::size_t asked = 0; asked < options.refusals; ++asked) {
        const gang_spec<width> gang = on.arriving().next();
        if (const auto took = on.refuse(gang))
            (gang.roles.size() == 1 ? one_role : several).push_back(*took);
    }
    report.refuse_one_role_ns = mean(one_role);
    report.refuse_several_roles_ns = mean(several);
    report.refused_one_role = one_role.size();
    report.refused_several_roles = several.size();
}

template<class Gang>
void measure_cycles(full_cluster& on, const backlog_options& options, backlog_report& report,
                    const Gang& waits) {
    random_numbers draw(options.work.seed + 7);
    for (std::size_t waiting = 0; waiting < options.pending; ++waiting)
        static_cast<void>(on.engine().submit(waits(options.work.requests, draw)));
    report.first_cycle_ns = on.cycle();
    report.pending = options.pending;

    std::vector<double> resting, arrival, released, nodes, changed;
    for (std::size_t round = 0; round < options.rounds; ++round) {
        resting.push_back(on.cycle());
        static_cast<void>(on.engine().submit(waits(options.work.requests, draw)));
        arrival.push_back(on.cycle());
        if (const std::size_t freed = on.release_a_small_one()) {
            nodes.push_back(static_cast<double>(freed));
            released.push_back(on.cycle());
        }
        on.announce_ten_nodes(draw);
        changed.push_back(on.cycle());
        if (on.engine().last_started() > 0)
            fail("a gang of the backlog starts");
    }
    report.resting_cycle_ns = median(resting);
    report.arrival_cycle_ns = median(arrival);
    report.released_cycle_ns = median(released);
    report.released_nodes = median(nodes);
    report.changed_cycle_ns = median(changed);
}

/// Small gangs of one role wait beside them, so that what is freed may serve them.
void measure_candidates(full_cluster& on, const backlog_options& options, backlog_report& report) {
    random_numbers draw(options.work.seed + 9);
    for (int waiting = 0; waiting < 1000; ++waiting) {
        role_spec<width> role{{1000 * draw.between(4, 12), 4 * gibibyte, 0, 1}, 0, 0};
        if (options.work.requests == request_regime::random)
            role.request[cpu] += draw.between(0, 999);
        role.minimum = role.desired = draw.between(4, 8);
        static_cast<void>(on.engine().submit({{role}, no_pool}));
    }
    static_cast<void>(on.cycle());
    double took = 0.0;
    double asked = 0.0;
    std::size_t rounds = 0;
    for (; rounds < options.rounds && on.release_a_small_one() > 0; ++rounds) {
        took += on.cycle() - report.released_cycle_ns;
        asked += static_cast<double>(on.engine().last_asked());
    }
    report.candidates = rounds == 0 ? 0.0 : asked / static_cast<double>(rounds);
    report.candidate_ns = asked == 0.0 ? 0.0 : std::max(0.0, took) / asked;
}

/// Two roles, each with room for all its members on the nodes that are left, and not both.
gang_spec<width> contending(request_regime requests, random_numbers& draw) {
    gang_spec<width> made;
    for (const std::int64_t devices : {8, 0}) {
        role_spec<width> role{{1000 * (52 + draw.between(0, 7)), 16 * gibibyte, devices, 1}, 0, 0};
        if (requests == request_regime::random) {
            role.request[cpu] += draw.between(0, 999);
            role.request[memory] += draw.between(0, gibibyte);
        }
        role.minimum = role.desired = draw.between(12, 14);
        made.roles.push_back(role);
    }
    return made;
}

/// Ordinary gangs wait instead, so that what is freed is used.
void measure_refills(full_cluster& on, const backlog_options& options, backlog_report& report) {
    for (std::size_t waiting = 0; waiting < options.pending; ++waiting)
        static_cast<void>(on.engine().submit(on.arriving().next()));
    static_cast<void>(on.cycle());
    std::vector<double> took, asked, started;
    for (std::size_t round = 0; round < options.rounds && on.release_a_small_one() > 0; ++round) {
        took.push_back(on.cycle());
        asked.push_back(static_cast<double>(on.engine().last_asked()));
        started.push_back(static_cast<double>(on.engine().last_started()));
    }
    report.refilled_cycle_ns = median(took);
    report.refilled_asked = mean(asked);
    report.refilled_started = mean(started);
}

} // namespace
} // namespace backlog_runs

backlog_report run_backlog(const backlog_options& options) {
    using namespace backlog_runs;
    backlog_report report;
    report.asked = options;
    {
        full_cluster on(options);
        report.utilisation = on.utilisation();
        measure_refusals(on, options, report);
        on.use_up();
        measure_cycles(on, options, report, hopeless);
        measure_candidates(on, options, report);
    }
    full_cluster on(options);
    measure_refills(on, options, report);
    return report;
}

backlog_report run_contended_backlog(const backlog_options& options) {
    using namespace backlog_runs;
    backlog_report report;
    report.asked = options;
    full_cluster on(options);
    report.utilisation = on.utilisation();
    on.use_up();
    on.add_nodes(16);
    measure_cycles(on, options, report, contending);
    return report;
}

} // namespace bench
