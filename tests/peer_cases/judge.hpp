// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "peer_case.hpp"

namespace peer_cases {

/// What Muster made of a case: by gang and pod. `before` is what the case began with.
struct outcome {
    std::map<std::string, std::map<std::string, pod_result>> before;
    std::map<std::string, std::map<std::string, pod_result>> after;
    /// What went wrong on the way (an eviction that undid another, rounds that did not settle).
    std::vector<std::string> faults;
};

struct judgement {
    bool agrees = true;
    /// Every place that the peer names is the same, too.
    bool agrees_on_nodes = true;
    /// What differs, one line each.
    std::vector<std::string> differences;
};

namespace detail {

[[nodiscard]] inline const char* word(pod_state of) {
    switch (of) {
    case pod_state::pending:
    case pod_state::gated:
        return "pending";
    case pod_state::bound:
        return "bound";
    case pod_state::nominated:
        return "nominated";
    case pod_state::leaving:
        return "evicted";
    case pod_state::stuck:
        return "stuck";
    case pod_state::succeeded:
        return "succeeded";
    case pod_state::failed:
        return "failed";
    }
    return "?";
}

[[nodiscard]] inline bool stands(pod_state of) {
    return of == pod_state::bound || of == pod_state::leaving || of == pod_state::stuck;
}

[[nodiscard]] inline pod_result
result_in(const std::map<std::string, std::map<std::string, pod_result>>& all,
          const std::string& gang, const std::string& pod) {
    const auto of_gang = all.find(gang);
    if (of_gang == all.end())
        return {};
    const auto found = of_gang->second.find(pod);
    return found == of_gang->second.end() ? pod_result{} : found->second;
}

[[nodiscard]] inline pod_state
state_in(const std::map<std::string, std::map<std::string, pod_result>>& all,
         const std::string& gang, const std::string& pod) {
    return result_in(all, gang, pod).state;
}

class comparison {
public:
    comparison(const expectation& expected, const outcome& got) : expected_(expected), got_(got) {}

    [[nodiscard]] judgement run() {
        for (const auto& [gang, wanted] : expected_.gangs)
            compare_gang(gang, wanted);
        compare_newcomers();
        compare_evictions();
        if (expected_.nominated)
            compare_nominations(*expected_.nominated);
        for (const std::string& pod : expected_.must_bind)
            if (!newly(pod, pod_state::bound))
                differ(pod + ": bound there, not here");
        for (const std::string& pod : expected_.must_wait)
            if (newly(pod, pod_state::bound))
                differ(pod + ": waits there, bound here");
        for (const std::string& fault : got_.faults)
            differ(fault);
        made_.agrees = made_.differences.empty();
        made_.agrees_on_nodes = made_.agrees && nodes_agree_;
        return std::move(made_);
    }

private:
    void differ(std::string what) { made_.differences.push_back(std::move(what)); }

    void compare_gang(const std::string& gang, const expected_gang& wanted) {
        const auto mine = got_.after.find(gang);
        for (const auto& [pod, result] : wanted.pods) {
            pod_result here;
            if (mine != got_.after.end())
                if (const auto found = mine->second.find(pod); found != mine->second.end())
                    here = found->second;
            if (here.state != result.state)
                differ(gang + "/" + pod + ": " + word(result.state) + " there, " +
                       word(here.state) + " here");
            else if (!result.node.empty() && here.node != result.node &&
                     result.state != pod_state::pending)
                nodes_agree_ = false;
        }
        compare_count(gang, pod_state::bound, wanted.bound);
        compare_count(gang, pod_state::pending, wanted.pending);
        compare_count(gang, pod_state::nominated, wanted.nominated);
        compare_count(gang, pod_state::leaving, wanted.leaving);
    }

    void compare_count(const std::string& gang, pod_state what,
                       const std::optional<std::int64_t>& wanted) {
        if (!wanted)
            return;
        std::int64_t here = 0;
        if (const auto mine = got_.after.find(gang); mine != got_.after.end())
            here = std::ranges::count_if(mine->second,
                                         [&](const auto& pod) { return pod.second.state == what; });
        if (here != *wanted)
            differ(gang + ": " + std::to_string(*wanted) + " " + word(what) + " there, " +
                   std::to_string(here) + " here");
    }

    /// Calls `use(gang, pod, result)` for every pod that came to `state` in this run.
    template<class Use>
    void each_new(pod_state state, const Use& use) const {
        for (const auto& [gang, pods] : got_.after)
            for (const auto& [pod, result] : pods)
                if (result.state == state && state_in(got_.before, gang, pod) != state)
                    use(gang, pod, result);
    }

    [[nodiscard]] bool newly(const std::string& wanted, pod_state state) const {
        bool found = false;
        each_new(state, [&](const std::string&, const std::string& pod, const pod_result&) {
            found = found || pod == wanted;
        });
        return found;
    }

    void compare_newcomers() {
        std::int64_t count = 0;
        std::map<std::string, std::string> here;
        each_new(pod_state::bound,
                 [&](const std::string&, const std::string& pod, const pod_result& result) {
                     ++count;
                     here[pod] = result.node;
                 });
        if (expected_.bind_map) {
            for (const auto& [pod, node] : *expected_.bind_map) {
                const auto found = here.find(pod);
                if (found == here.end())
                    differ(pod + ": bound there, pending here");
                else if (found->second != node)
                    nodes_agree_ = false;
            }
            for (const auto& [pod, node] : here)
                if (!expected_.bind_map->contains(pod))
                    differ(pod + ": pending there, bound here");
        } else if (expected_.bindings && *expected_.bindings != count) {
            differ(std::to_string(*expected_.bindings) + " pods bound there, " +
                   std::to_string(count) + " here");
        }
    }

    void compare_evictions() {
        std::int64_t count = 0;
        std::vector<std::string> here;
        each_new(pod_state::leaving,
                 [&](const std::string&, const std::string& pod, const pod_result&) {
                     ++count;
                     here.push_back(pod);
                 });
        if (expected_.evicted) {
            for (const std::string& pod : *expected_.evicted)
                if (std::ranges::find(here, pod) == here.end())
                    differ(pod + ": evicted there, stays here");
            for (const std::string& pod : here)
                if (std::ranges::find(*expected_.evicted, pod) == expected_.evicted->end())
                    differ(pod + ": stays there, evicted here");
        } else if (expected_.evictions && *expected_.evictions != count) {
            differ(std::to_string(*expected_.evictions) + " pods evicted there, " +
                   std::to_string(count) + " here");
        }
    }

    void compare_nominations(const std::map<std::string, std::vector<std::string>>& wanted) {
        std::map<std::string, std::vector<std::string>> here;
        each_new(pod_state::nominated,
                 [&](const std::string& gang, const std::string&, const pod_result& result) {
                     here[gang].push_back(result.node);
                 });
        for (const auto& [gang, nodes] : wanted) {
            const auto mine = here.find(gang);
            const std::size_t count = mine == here.end() ? 0 : mine->second.size();
            if (count != nodes.size())
                differ(gang + ": " + std::to_string(nodes.size()) + " nominated there, " +
                       std::to_string(count) + " here");
            else if (!std::ranges::is_permutation(mine->second, nodes))
                nodes_agree_ = false;
        }
        for (const auto& [gang, nodes] : here)
            if (!wanted.contains(gang))
                differ(gang + ": nobody nominated there, " + std::to_string(nodes.size()) +
                       " here");
    }

    const expectation& expected_;
    const outcome& got_;
    judgement made_;
    bool nodes_agree_ = true;
};

/// Members of `role` (of all roles when empty) that stand and are not on their way out, and those
/// that did their work.
[[nodiscard]] inline std::int64_t holding(const peer_case& of, const gang_case& gang,
                                          const std::map<std::string, pod_result>& pods,
                                          const std::string& role) {
    std::int64_t count = 0;
    for (const task& one : gang.tasks) {
        if (!role.empty() && one.role != role)
            continue;
        const auto found = pods.find(one.name);
        if (found == pods.end())
            continue;
        const pod_state now = found->second.state;
        count += now == pod_state::bound || now == pod_state::nominated ? 1 : 0;
        count += now == pod_state::succeeded && of.from != peer::coscheduling ? 1 : 0;
    }
    return count;
}

/// The subgroup's minima hold; without own minima it is met.
[[nodiscard]] inline bool subgroup_met(const peer_case& of, const gang_case& gang,
                                       const std::map<std::string, pod_result>& pods,
                                       const subgroup& part) {
    if (part.children.empty())
        return holding(of, gang, pods, part.name) >= part.min_member;
    const auto met = std::ranges::count_if(
        part.children, [&](const subgroup& child) { return subgroup_met(of, gang, pods, child); });
    return met >= part.min_subgroups.value_or(static_cast<std::int64_t>(part.children.size()));
}

[[nodiscard]] inline bool minima_met(const peer_case& of, const gang_case& gang,
                                     const std::map<std::string, pod_result>& pods) {
    if (gang.tree && !gang.tree->children.empty())
        return subgroup_met(of, gang, pods, *gang.tree);
    if (holding(of, gang, pods, {}) < gang.min_member)
        return false;
    std::int64_t sum = 0;
    for (const auto& [role, least] : gang.role_minima)
        sum += least;
    // Volcano does not look at roles whose minima add up to more than the gang's own.
    if (of.from == peer::volcano && gang.min_member < sum)
        return true;
    return std::ranges::all_of(gang.role_minima, [&](const auto& role) {
        return holding(of, gang, pods, role.first) >= role.second;
    });
}

[[nodiscard]] inline bool anybody_holds(const std::map<std::string, pod_result>& pods) {
    return std::ranges::any_of(pods, [](const auto& pod) {
        return pod.second.state == pod_state::bound || pod.second.state == pod_state::nominated;
    });
}

} // namespace detail

/// Holds what Muster did against what the peer's test asserts: the same pods bound, nominated and
/// evicted. What the test does not assert is open.
[[nodiscard]] inline judgement judge(const peer_case& of, const outcome& got) {
    return detail::comparison(of.expected, got).run();
}

/// Gangs of which some members hold and which are below their minima.
[[nodiscard]] inline std::vector<std::string>
partial_gangs(const peer_case& of,
              const std::map<std::string, std::map<std::string, pod_result>>& pods) {
    std::vector<std::string> found;
    for (const gang_case& gang : of.gangs) {
        const auto mine = pods.find(gang.name);
        if (mine != pods.end() && detail::anybody_holds(mine->second) &&
            !detail::minima_met(of, gang, mine->second))
            found.push_back(gang.name);
    }
    return found;
}

/// A node, and a kind of which more is used there than it has.
using excess = std::pair<std::string, std::string>;

/// Where more stands on nodes than they have; or, `later`, will stand once those who leave are gone
/// and the nominated have come. Pods of no known node count for nothing.
[[nodiscard]] inline std::vector<excess>
over_committed(const peer_case& of,
               const std::map<std::string, std::map<std::string, pod_result>>& pods, bool later) {
    std::map<std::string, amounts> load;
    for (const gang_case& gang : of.gangs)
        for (const task& one : gang.tasks) {
            const pod_result now = detail::result_in(pods, gang.name, one.name);
            if (now.state != pod_state::bound && now.state != pod_state::stuck &&
                now.state != (later ? pod_state::nominated : pod_state::leaving))
                continue;
            amounts& here = load[now.node];
            for (const auto& [kind, amount] : one.request)
                here[kind] += amount;
            if (!one.request.contains("pods"))
                here["pods"] += 1000;
        }
    std::vector<excess> found;
    for (const node_case& node : of.nodes)
        for (const auto& [kind, used] : load[node.name]) {
            const auto has = node.allocatable.find(kind);
            if (has == node.allocatable.end() ? used > 0 && kind != "pods" : used > has->second)
                found.emplace_back(node.name, kind);
        }
    return found;
}

/// Where Muster puts more on a node than it has: now, or later. What the case itself begins with
/// is none of its doing, as long as nobody comes who asks for that kind.
[[nodiscard]] inline std::vector<std::string> over_committed(const peer_case& of,
                                                             const outcome& got) {
    const auto somebody_asks = [&](const excess& what, bool later) {
        for (const gang_case& gang : of.gangs)
            for (const task& one : gang.tasks) {
                const pod_result now = detail::result_in(got.after, gang.name, one.name);
                const bool comes = now.node == what.first &&
                                   (now.state == pod_state::bound ||
                                    (later && now.state == pod_state::nominated)) &&
                                   !(detail::result_in(got.before, gang.name, one.name) == now);
                const auto asked = one.request.find(what.second);
                if (comes &&
                    (what.second == "pods" || (asked != one.request.end() && asked->second > 0)))
                    return true;
            }
        return false;
    };
    std::vector<std::string> found;
    for (const bool later : {false, true}) {
        const std::vector<excess> before = over_committed(of, got.before, later);
        for (const excess& each : over_committed(of, got.after, later)) {
            const bool is_old = std::ranges::find(before, each) != before.end();
            if ((!is_old || somebody_asks(each, later)) &&
                std::ranges::find(found, each.first) == found.end())
                found.push_back(each.first);
        }
    }
    return found;
}

} // namespace peer_cases
