// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <muster/admission/search.hpp>

#include "near_capacity_report.hpp"

/// Gangs at the edge of what fits: two or three roles that compete for every node, of the largest
/// size that still fits and of the next one.
namespace bench {

/// splitmix64: the same numbers everywhere.
class mixer {
public:
    explicit mixer(std::uint64_t seed) : state_(seed) {}

    [[nodiscard]] std::uint64_t next() noexcept {
        state_ += 0x9e3779b97f4a7c15U;
        std::uint64_t z = state_;
        z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
        z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
        return z ^ (z >> 31U);
    }
    /// Between both, included.
    [[nodiscard]] std::int64_t between(std::int64_t low, std::int64_t high) noexcept {
        return low + static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(high - low + 1));
    }

private:
    std::uint64_t state_;
};

/// One cluster and one gang whose size can be chosen. Kinds: cpu (thousandths), memory (MiB),
/// pods, disk (GiB).
class near_capacity {
public:
    using problem_type = muster::fit_problem<4>;
    using amounts = muster::resources<4>;

    near_capacity(std::size_t nodes, std::size_t roles, std::uint64_t seed) : chance_(seed) {
        problem_.members.resize(roles);
        problem_.apart.assign(roles * roles, 0);
        problem_.holding.assign(roles + 1, 0);
        for (std::size_t role = 0; role < roles; ++role)
            make_role(role);
        while (problem_.rows.size() < nodes)
            add_node();
    }

    near_capacity(const near_capacity&) = delete;
    near_capacity& operator=(const near_capacity&) = delete;

    /// The problem of a gang with this many members, in the gang's own proportions.
    [[nodiscard]] const problem_type& of_size(std::int64_t members) {
        tree_ = muster::gang_tree();
        std::int64_t parts = 0;
        std::int64_t given = 0;
        for (std::size_t role = 0; role < problem_.members.size(); ++role) {
            parts += shares_[role];
            const std::int64_t upto = members * parts / all_shares();
            problem_.members[role].waiting = upto - given;
            static_cast<void>(tree_.add(muster::vertex_index{0}, upto - given));
            given = upto;
        }
        problem_.tree = &tree_;
        problem_.most.clear();
        for (const auto& row : problem_.rows)
            for (const auto& member : problem_.members)
                problem_.most.push_back(fit_count(member.request, row.free, member.waiting));
        return problem_;
    }

    /// No gang of more members than this fits.
    [[nodiscard]] std::int64_t beyond() const {
        std::int64_t sum = 1;
        for (const auto& row : problem_.rows)
            for (const auto& member : problem_.members)
                sum += fit_count(member.request, row.free, 1000);
        return sum;
    }

private:
    void make_role(std::size_t role) {
        auto& member = problem_.members[role];
        member.role = role + 1;
        amounts& asks = member.request;
        // Opposite shapes; a third role stands between them.
        asks[0] = 250 * (role == 0   ? chance_.between(12, 40)
                         : role == 1 ? chance_.between(2, 8)
                                     : chance_.between(4, 24));
        asks[1] = 256 * (role == 0   ? chance_.between(4, 16)
                         : role == 1 ? chance_.between(32, 128)
                                     : chance_.between(12, 72));
        asks[2] = 1;
        asks[3] = chance_.between(1, 10);
        member.charge = asks;
        shares_[role] = chance_.between(4, 16);
    }

    void add_node() {
        static constexpr std::int64_t cores[] = {16, 32, 48, 64, 96};
        static constexpr std::int64_t per_core[] = {2048, 4096, 8192};
        const std::int64_t cpus = cores[chance_.between(0, 4)];
        amounts free;
        free[0] = 1000 * cpus;
        free[1] = cpus * per_core[chance_.between(0, 2)];
        free[2] = 110;
        free[3] = 50 * chance_.between(4, 20);
        // What already stands there.
        for (std::size_t kind = 0; kind < 2; ++kind)
            free[kind] -= free[kind] * chance_.between(0, 80) / 100;
        free[2] -= chance_.between(0, 40);
        free[3] -= free[3] * chance_.between(0, 60) / 100;
        bool contended = false;
        amounts wanted;
        for (const auto& member : problem_.members) {
            const std::int64_t most = fit_count(member.request, free, 1000);
            for (std::size_t kind = 0; kind < 4; ++kind)
                wanted[kind] += member.request[kind] * most;
        }
        for (std::size_t kind = 0; kind < 4; ++kind)
            contended = contended || wanted[kind] > free[kind];
        if (contended)
            problem_.rows.push_back({muster::node_index{problem_.rows.size()}, free});
    }

    [[nodiscard]] std::int64_t all_shares() const { return shares_[0] + shares_[1] + shares_[2]; }

    mixer chance_;
    muster::gang_tree tree_;
    problem_type problem_;
    std::array<std::int64_t, 3> shares_{};
};

// ---- checks that share nothing with the search
// ---------------------------------------------------

/// Every node takes what stands there, and every role gets what it needs.
[[nodiscard]] inline bool is_placement(const near_capacity::problem_type& problem,
                                       const std::vector<std::int64_t>& counts) {
    const std::size_t classes = problem.members.size();
    if (counts.size() != problem.rows.size() * classes)
        return false;
    std::vector<std::int64_t> sums(classes, 0);
    for (std::size_t row = 0; row < problem.rows.size(); ++row) {
        auto free = problem.rows[row].free;
        for (std::size_t at = 0; at < classes; ++at) {
            const std::int64_t count = counts[row * classes + at];
            if (count < 0)
                return false;
            sums[at] += count;
            for (std::size_t kind = 0; kind < 4; ++kind)
                free[kind] -= count * problem.members[at].request[kind];
        }
        for (std::size_t kind = 0; kind < 4; ++kind)
            if (free[kind] < 0)
                return false;
    }
    for (std::size_t at = 0; at < classes; ++at)
        if (sums[at] < (*problem.tree)[at + 1].min_member || sums[at] > problem.members[at].waiting)
            return false;
    return true;
}

/// The certificate's definition for these gangs, of which all members must start. By listing what
/// every node can take.
class proof_checker {
public:
    using problem_type = near_capacity::problem_type;

    [[nodiscard]] bool check(const problem_type& problem,
                             const std::vector<muster::certificate::vertex>& proof) {
        problem_ = &problem;
        proof_ = &proof;
        next_ = 0;
        const std::size_t cells = problem.rows.size() * problem.members.size();
        low_.assign(cells, 0);
        high_.resize(cells);
        for (std::size_t cell = 0; cell < cells; ++cell)
            high_[cell] = problem.members[cell % problem.members.size()].waiting;
        return subtree() && next_ == proof.size();
    }

private:
    [[nodiscard]] std::size_t classes() const { return problem_->members.size(); }

    [[nodiscard]] bool subtree() {
        if (next_ >= proof_->size())
            return false;
        const muster::certificate::vertex& vertex = (*proof_)[next_++];
        if (vertex.leaf)
            return leaf(vertex);
        const std::size_t cell = vertex.node.value() * classes() + vertex.member_class;
        const std::int64_t low = low_[cell];
        const std::int64_t high = high_[cell];
        high_[cell] = std::min(high, vertex.at_most);
        bool holds = subtree();
        high_[cell] = high;
        low_[cell] = std::max(low, vertex.at_most + 1);
        holds = holds && subtree();
        low_[cell] = low;
        return holds;
    }

    [[nodiscard]] bool leaf(const muster::certificate::vertex& by) {
        if (by.weights.size() != classes() || !by.prices.empty())
            return false;
        muster::int128 bound = 0;
        std::array<std::int64_t, 3> least{};
        std::array<std::int64_t, 3> most{};
        for (std::size_t row = 0; row < problem_->rows.size(); ++row) {
            best_ = -1;
            list(by.weights, row, 0, problem_->rows[row].free, 0);
            if (best_ < 0)
                return true;
            bound += best_;
            for (std::size_t at = 0; at < classes(); ++at) {
                least[at] += low_[row * classes() + at];
                most[at] += fit_count(problem_->members[at].request, problem_->rows[row].free,
                                      high_[row * classes() + at]);
            }
        }
        muster::int128 cost = 0;
        for (std::size_t at = 0; at < classes(); ++at) {
            const std::int64_t needed = problem_->members[at].waiting;
            if (by.weights[at] < 0)
                return false;
            if (least[at] > needed || most[at] < needed)
                return true;
            cost += static_cast<muster::int128>(by.weights[at]) * needed;
        }
        return cost > bound;
    }

    void list(const std::vector<std::int64_t>& weights, std::size_t row, std::size_t at,
              const near_capacity::amounts& free, muster::int128 weight) {
        if (at == classes()) {
            best_ = std::max(best_, weight);
            return;
        }
        auto rest = free;
        const std::size_t cell = row * classes() + at;
        for (std::int64_t count = 0; count <= high_[cell]; ++count) {
            if (count >= low_[cell])
                list(weights, row, at + 1, rest,
                     weight + static_cast<muster::int128>(weights[at]) * count);
            for (std::size_t kind = 0; kind < 4; ++kind) {
                rest[kind] -= problem_->members[at].request[kind];
                if (rest[kind] < 0)
                    return;
            }
        }
    }

    const problem_type* problem_ = nullptr;
    const std::vector<muster::certificate::vertex>* proof_ = nullptr;
    std::size_t next_ = 0;
    std::vector<std::int64_t> low_;
    std::vector<std::int64_t> high_;
    muster::int128 best_ = -1;
};

/// Best fit, role by role, each member onto the node with the least room.
[[nodiscard]] inline bool best_fit_places(const near_capacity::problem_type& problem) {
    auto rows = problem.rows;
    std::array<unsigned, 4> shift{};
    for (std::size_t kind = 0; kind < 4; ++kind) {
        std::int64_t most = 1;
        for (const auto& row : rows)
            most = std::max(most, row.free[kind]);
        shift[kind] = 57U - static_cast<unsigned>(std::bit_width(static_cast<std::uint64_t>(most)));
    }
    for (const auto& member : problem.members) {
        for (std::int64_t left = member.waiting; left > 0; --left) {
            std::optional<std::size_t> best;
            std::int64_t least = 0;
            for (std::size_t row = 0; row < rows.size(); ++row) {
                if (!fits(member.request, rows[row].free))
                    continue;
                std::int64_t room = 0;
                for (const std::size_t kind : {0U, 1U, 3U})
                    room += rows[row].free[kind] << shift[kind];
                if (!best || room < least) {
                    best = row;
                    least = room;
                }
            }
            if (!best)
                return false;
            for (std::size_t kind = 0; kind < 4; ++kind)
                rows[*best].free[kind] -= member.request[kind];
        }
    }
    return true;
}

// ---- the run
// -------------------------------------------------------------------------------------

struct near_capacity_result {
    std::size_t asked = 0;
    std::size_t fit = 0;
    std::size_t impossible = 0;
    std::size_t undecided = 0;
    /// Answers that the checks refuse: there must be none.
    std::size_t wrong = 0;
    /// Decided rightly within the time given as `soon`.
    std::size_t decided_soon = 0;
    /// Gangs that best fit refuses although they fit.
    std::size_t greedy_refuses = 0;
    /// Of one question, in ns.
    std::int64_t p50 = 0;
    std::int64_t p90 = 0;
    std::int64_t p99 = 0;
    std::int64_t longest = 0;
    /// In all, for ns per step.
    std::int64_t steps = 0;
    std::int64_t ns = 0;
    /// Members of the largest gang that fits, on average.
    std::int64_t members = 0;
};

/// Asks for `cases` clusters of `nodes` contended nodes: does the largest gang that fits fit, and
/// does the next one?
[[nodiscard]] inline near_capacity_result
run_near_capacity(std::size_t nodes, std::size_t roles, std::size_t cases, std::uint64_t seed,
                  std::int64_t steps = std::int64_t{1} << 21, std::int64_t soon = 1'000'000) {
    near_capacity_result result;
    std::vector<std::int64_t> times;
    muster::fit_search<4> search;
    proof_checker checker;
    const auto ask = [&](near_capacity& cluster, std::int64_t size) {
        const auto& problem = cluster.of_size(size);
        const auto start = std::chrono::steady_clock::now();
        const muster::fit_outcome outcome = search.run(problem, steps);
        const auto end = std::chrono::steady_clock::now();
        times.push_back(std::chrono::duration_cast<std::chrono::nanoseconds>(end - start).count());
        result.ns += times.back();
        result.steps += steps - search.steps_left();
        ++result.asked;
        if (outcome == muster::fit_outcome::undecided) {
            ++result.undecided;
            return;
        }
        const bool fits = outcome == muster::fit_outcome::fits;
        ++(fits ? result.fit : result.impossible);
        if (!(fits ? is_placement(problem, search.counts())
                   : checker.check(problem, search.proof()))) {
            ++result.wrong;
            return;
        }
        result.decided_soon += times.back() <= soon ? 1U : 0U;
        result.greedy_refuses += fits && !best_fit_places(problem) ? 1U : 0U;
    };
    for (std::size_t number = 0; number < cases; ++number) {
        near_capacity cluster(nodes, roles, mixer(seed + number).next());
        std::int64_t fitting = 0;
        std::int64_t not_found = cluster.beyond();
        while (fitting + 1 < not_found) {
            const std::int64_t middle = fitting + (not_found - fitting) / 2;
            const bool found =
                search.run(cluster.of_size(middle), steps) == muster::fit_outcome::fits;
            (found ? fitting : not_found) = middle;
        }
        ask(cluster, fitting);
        ask(cluster, fitting + 1);
        result.members += fitting;
    }
    std::ranges::sort(times);
    const auto at = [&](std::size_t percent) {
        return times.empty() ? 0 : times[(times.size() - 1) * percent / 100];
    };
    result.p50 = at(50);
    result.p90 = at(90);
    result.p99 = at(99);
    result.longest = at(100);
    result.members /= static_cast<std::int64_t>(std::max<std::size_t>(1, cases));
    return result;
}

/// The table's rows. `decided` counts only what the checks accept.
[[nodiscard]] inline std::vector<near_capacity_report> measure_near_capacity(bool quick) {
    static constexpr std::size_t sizes[] = {16, 64, 256};
    std::vector<near_capacity_report> reports;
    for (std::size_t roles = 2; roles <= 3; ++roles) {
        for (const std::size_t nodes : sizes) {
            const near_capacity_result run = run_near_capacity(nodes, roles, quick ? 5 : 100, 7);
            near_capacity_report report;
            report.roles = roles;
            report.nodes = nodes;
            report.asked = run.asked;
            report.decided = run.fit + run.impossible - run.wrong;
            report.decided_in_a_millisecond = run.decided_soon;
            report.p50_ns = static_cast<double>(run.p50);
            report.p99_ns = static_cast<double>(run.p99);
            reports.push_back(report);
        }
    }
    return reports;
}

} // namespace bench
