// SPDX-License-Identifier: Apache-2.0
#include "near_capacity.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

#include <muster/testing/check_placements.hpp>
#include <muster/testing/verifier.hpp>

#include "cluster.hpp"
#include "muster_engine.hpp"
#include "random.hpp"
#include "stopwatch.hpp"

namespace bench {

namespace near_capacity_runs {
namespace {

constexpr std::size_t width = 4;
using traits = engine_traits<width>;
using requests = muster::resources<width>;

void must(muster::event_result what) {
    if (what != muster::event_result::applied)
        fail("an event near capacity does not apply");
}

/// Nodes in use, on which every role competes with the others, and a gang whose size can be chosen.
class contest {
public:
    contest(std::size_t nodes, std::size_t roles, std::uint64_t seed)
        : draw_(seed), known_(muster::kind_id{pods}), asks_(roles), shares_(roles) {
        // Opposite shapes; a third role stands between them.
        static constexpr std::int64_t cores[][2] = {{12, 40}, {2, 8}, {4, 24}};
        static constexpr std::int64_t sizes[][2] = {{4, 16}, {32, 128}, {12, 72}};
        for (std::size_t role = 0; role < roles; ++role) {
            asks_[role][cpu] = 250 * draw_.between(cores[role][0], cores[role][1]);
            asks_[role][memory] = 256 * draw_.between(sizes[role][0], sizes[role][1]);
            asks_[role][gpu] = draw_.between(1, 10);
            asks_[role][pods] = 1;
            shares_[role] = draw_.between(4, 16);
        }
        for (std::uint32_t made = 0; made < nodes;)
            made += add_node(made) ? 1U : 0U;
    }

    /// No gang of more members than this fits.
    [[nodiscard]] std::int64_t beyond() const { return room_ + 1; }

    struct answer {
        bool started = false;
        bool decided = false;
        double ns = 0.0;
    };
    /// A gang of that size waits, and a cycle comes.
    [[nodiscard]] answer ask(std::int64_t size) {
        const auto handle = submit(size);
        muster::catch_up(known_, how_);
        const muster::state<traits> before = known_;
        answer given;
        given.ns = stopwatch::time([&] { muster::cycle(known_, 0, how_, {}, {}, result_); });
        const auto made =
            std::ranges::find(result_.decisions, handle.index, &muster::decision::gang);
        if (made == result_.decisions.end())
            fail("a gang near capacity gets no answer");
        given.started = made->outcome.kind == muster::answer::admitted;
        given.decided = made->outcome.kind != muster::answer::undecided;
        if (given.started) {
            const std::string fault = muster::testing::fault_of(before, *made);
            if (!fault.empty() || made->placements.empty())
                fail("near capacity: " + fault);
            must(known_.finish_gang(handle));
        } else if (given.decided &&
                   (!made->outcome.proof ||
                    muster::testing::verify(known_, handle.index, *made->outcome.proof) !=
                        muster::testing::proof_check::valid)) {
            fail("a gang near capacity is refused without a proof that holds");
        }
        forget();
        return given;
    }

private:
    /// Whether one more node came: one on which the roles are in each other's way.
    [[nodiscard]] bool add_node(std::uint32_t number) {
        static constexpr std::int64_t cores[] = {16, 32, 48, 64, 96};
        static constexpr std::int64_t per_core[] = {2048, 4096, 8192};
        muster::node<width> node;
        const std::int64_t cpus = cores[draw_.between(0, 4)];
        node.allocatable[cpu] = 1000 * cpus;
        node.allocatable[memory] = cpus * per_core[draw_.between(0, 2)];
        node.allocatable[gpu] = 50 * draw_.between(4, 20);
        node.allocatable[pods] = 110;
        muster::pod<width> filler;
        filler.phase = muster::pod_phase::running;
        filler.request[cpu] = node.allocatable[cpu] * draw_.between(0, 80) / 100;
        filler.request[memory] = node.allocatable[memory] * draw_.between(0, 80) / 100;
        filler.request[gpu] = node.allocatable[gpu] * draw_.between(0, 60) / 100;
        filler.request[pods] = draw_.between(1, 41);
        requests free;
        for (std::size_t kind = 0; kind < width; ++kind)
            free[kind] = node.allocatable[kind] - filler.request[kind];
        requests wanted;
        std::int64_t room = 0;
        for (const requests& asks : asks_) {
            const std::int64_t most = fit_count(asks, free, 1000);
            room += most;
            for (std::size_t kind = 0; kind < width; ++kind)
                wanted[kind] += asks[kind] * most;
        }
        if (fits(wanted, free))
            return false;
        room_ += room;
        must(known_.upsert_node(number, node));
        must(known_.upsert_gang(number, {}));
        must(known_.upsert_pod(number, number, filler, number));
        next_ = number + 1;
        return true;
    }

    [[nodiscard]] muster::handle<muster::gang_tag> submit(std::int64_t size) {
        std::int64_t all = 0;
        for (const std::int64_t share : shares_)
            all += share;
        muster::gang<std::uint32_t> group;
        std::vector<std::int64_t> members;
        std::int64_t parts = 0;
        std::int64_t given = 0;
        for (const std::int64_t share : shares_) {
            parts += share;
            members.push_back(size * parts / all - given);
            given += members.back();
            group.tree.add(muster::vertex_index{0}, members.back());
        }
        gang_ = first_ = next_;
        must(known_.upsert_gang(gang_, group));
        for (std::size_t role = 0; role < members.size(); ++role) {
            muster::pod<width> member;
            member.role = muster::vertex_index{role + 1};
            member.request = asks_[role];
            for (std::int64_t left = members[role]; left > 0; --left)
                must(known_.upsert_pod(next_++, gang_, member));
        }
        return *known_.find_gang(gang_);
    }
    void forget() {
        while (next_ > first_)
            if (known_.find_pod(--next_))
                must(known_.remove_pod(next_));
        must(known_.remove_gang(gang_));
    }

    random_numbers draw_;
    muster::state<traits> known_;
    std::vector<requests> asks_;
    std::vector<std::int64_t> shares_;
    std::int64_t room_ = 0;
    std::uint32_t next_ = 0;
    std::uint32_t first_ = 0;
    std::uint32_t gang_ = 0;
    muster::any_policy<muster::core_of<traits>> how_;
    muster::cycle_result result_;
};

/// The largest gang that starts, and the next one.
near_capacity_report run(std::size_t nodes, std::size_t roles, std::size_t clusters) {
    near_capacity_report report;
    report.roles = roles;
    report.nodes = nodes;
    std::vector<double> times;
    std::int64_t members = 0;
    double ns = 0.0;
    for (std::size_t number = 0; number < clusters; ++number) {
        contest on(nodes, roles, 7 + number);
        std::int64_t starting = 0;
        std::int64_t refused = on.beyond();
        while (starting + 1 < refused) {
            const std::int64_t middle = starting + (refused - starting) / 2;
            (on.ask(middle).started ? starting : refused) = middle;
        }
        report.members += static_cast<std::size_t>(starting);
        for (const std::int64_t size : {starting, starting + 1}) {
            const auto given = on.ask(size);
            ++report.asked;
            report.decided += given.decided ? 1U : 0U;
            report.decided_in_a_millisecond += given.decided && given.ns <= 1e6 ? 1U : 0U;
            times.push_back(given.ns);
            members += size;
            ns += given.ns;
        }
    }
    std::ranges::sort(times);
    report.members /= clusters;
    report.p50_ns = times[(times.size() - 1) / 2];
    report.p99_ns = times[(times.size() - 1) * 99 / 100];
    report.per_member_ns = ns / static_cast<double>(members);
    return report;
}

} // namespace
} // namespace near_capacity_runs

std::vector<near_capacity_report> measure_near_capacity(bool quick) {
    std::vector<near_capacity_report> reports;
    for (const std::size_t roles : {2U, 3U})
        for (const std::size_t nodes : {16U, 64U, 256U})
            reports.push_back(near_capacity_runs::run(nodes, roles, quick ? 5 : 50));
    return reports;
}

} // namespace bench
