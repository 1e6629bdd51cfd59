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
    /// Gangs of which the profile's gate was asked, by whether it lets them in.
    std::map<std::string, bool> let_in;
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

[[nodiscard]] inline pod_state
state_in(const std::map<std::string, std::map<std::string, pod_result>>& all,
         const std::string& gang, const std::string& pod) {
    const auto of_gang = all.find(gang);
    if (of_gang == all.end())
        return pod_state::pending;
    const auto found = of_gang->second.find(pod);
    return found == of_gang->second.end() ? pod_state::pending : found->second.state;
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
        for (const auto& [gang, in] : expected_.let_in) {
            const auto mine = got_.let_in.find(gang);
            if (mine != got_.let_in.end() && mine->second != in)
                differ(gang + (in ? ": let in there, not here" : ": let in here, not there"));
        }
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

/// Nodes on which more stands than they have; or will stand, once those who leave are gone and the
/// nominated have come. Pods of no known node count for nothing.
[[nodiscard]] inline std::vector<std::string>
over_committed(const peer_case& of,
               const std::map<std::string, std::map<std::string, pod_result>>& pods) {
    std::map<std::string, amounts> now;
    std::map<std::string, amounts> later;
    for (const gang_case& gang : of.gangs) {
        const auto mine = pods.find(gang.name);
        if (mine == pods.end())
            continue;
        for (const task& one : gang.tasks) {
            const auto found = mine->second.find(one.name);
            if (found == mine->second.end())
                continue;
            const pod_state state = found->second.state;
            const std::string& node = found->second.node;
            const auto charge = [&](std::map<std::string, amounts>& to) {
                for (const auto& [kind, amount] : one.request)
                    to[node][kind] += amount;
                if (!one.request.contains("pods"))
                    to[node]["pods"] += 1000;
            };
            if (detail::stands(state))
                charge(now);
            if (state == pod_state::bound || state == pod_state::nominated ||
                state == pod_state::stuck)
                charge(later);
        }
    }
    std::vector<std::string> found;
    for (const node_case& node : of.nodes)
        for (const auto* load : {&now, &later}) {
            const auto here = load->find(node.name);
            if (here == load->end())
                continue;
            const bool over = std::ranges::any_of(here->second, [&](const auto& used) {
                const auto has = node.allocatable.find(used.first);
                if (has == node.allocatable.end())
                    return used.second > 0 && used.first != "pods";
                return used.second > has->second;
            });
            if (over && (found.empty() || found.back() != node.name))
                found.push_back(node.name);
        }
    return found;
}

} // namespace peer_cases
