// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "peer_case.hpp"

/// Variants of cases: what is asserted of them is nothing of the peers', but what holds whatever
/// the input is, and that what must not matter does not.
namespace peer_cases {

namespace detail {

inline void multiply(amounts& all, std::int64_t by) {
    for (auto& each : all)
        if (each.first != "pods")
            each.second *= by;
}

/// The number that is drawn, 0 to `below` - 1.
[[nodiscard]] inline std::size_t draw(std::mt19937_64& random, std::size_t below) {
    return static_cast<std::size_t>(random() % below);
}

/// One change of a case that leaves it well formed.
inline void change(peer_case& of, std::mt19937_64& random) {
    const auto any = [&](auto& all) -> auto& {
        return all[draw(random, all.size())];
    };
    switch (draw(random, 14)) {
    case 0:
        std::ranges::shuffle(of.gangs, random);
        return;
    case 1:
        std::ranges::shuffle(of.queues, random);
        return;
    case 2:
        if (!of.nodes.empty())
            multiply(any(of.nodes).allocatable, 2);
        return;
    case 3:
        if (!of.nodes.empty())
            for (auto& each : any(of.nodes).allocatable)
                each.second /= 2;
        return;
    case 4:
        if (!of.nodes.empty()) {
            node_case more = any(of.nodes);
            more.name += "-more";
            of.nodes.push_back(std::move(more));
        }
        return;
    case 5:
        if (of.nodes.size() > 1)
            of.nodes.erase(of.nodes.begin() +
                           static_cast<std::ptrdiff_t>(draw(random, of.nodes.size())));
        return;
    case 6:
        if (!of.gangs.empty())
            for (task& each : any(of.gangs).tasks)
                multiply(each.request, 2);
        return;
    case 7:
        if (!of.gangs.empty())
            any(of.gangs).priority = static_cast<std::int64_t>(draw(random, 4)) * 50;
        return;
    case 8:
        if (!of.gangs.empty()) {
            gang_case& one = any(of.gangs);
            one.preemptible = !one.preemptible;
        }
        return;
    case 9:
        if (!of.gangs.empty()) {
            gang_case& one = any(of.gangs);
            one.min_member = static_cast<std::int64_t>(draw(random, one.tasks.size() + 2));
        }
        return;
    case 10:
        if (!of.gangs.empty() && !of.queues.empty())
            any(of.gangs).queue = any(of.queues).name;
        return;
    case 11:
        if (!of.queues.empty())
            for (ceilings* each : {&any(of.queues).deserved, &any(of.queues).limit})
                for (auto& [kind, amount] : each->named)
                    amount = amount / 2 * static_cast<std::int64_t>(draw(random, 4));
        return;
    case 12:
        if (!of.gangs.empty() && !any(of.gangs).tasks.empty()) {
            gang_case& one = any(of.gangs);
            for (task& each : one.tasks)
                if (each.state == pod_state::bound && draw(random, 2) == 0)
                    each.state = draw(random, 2) == 0 ? pod_state::leaving : pod_state::succeeded;
        }
        return;
    default:
        std::ranges::shuffle(of.actions, random);
    }
}

} // namespace detail

/// The case with some changes; the same ones for the same number.
[[nodiscard]] inline peer_case varied(peer_case of, std::uint64_t number) {
    std::mt19937_64 random(number);
    for (std::size_t left = 1 + detail::draw(random, 4); left > 0; --left)
        detail::change(of, random);
    of.expected = {};
    return of;
}

/// What must not matter: the order in which nodes are listed, in what unit amounts are counted, and
/// a node on which nothing has room.
[[nodiscard]] inline std::vector<std::pair<std::string, peer_case>> equals_of(const peer_case& of) {
    std::vector<std::pair<std::string, peer_case>> made;
    std::ranges::reverse(made.emplace_back("nodes listed the other way round", of).second.nodes);
    peer_case& scaled = made.emplace_back("all amounts three times as large", of).second;
    const auto scale = [&](amounts& all) {
        for (auto& [kind, amount] : all)
            // KAI divides devices in whole ones: more of them divide otherwise.
            if (kind != "pods" && (of.from != peer::kai || kind != "gpu"))
                amount *= 3;
    };
    for (node_case& node : scaled.nodes)
        scale(node.allocatable);
    for (queue_case& queue : scaled.queues)
        for (ceilings* each : {&queue.deserved, &queue.limit, &queue.guarantee})
            scale(each->named);
    for (gang_case& gang : scaled.gangs)
        for (task& one : gang.tasks)
            scale(one.request);
    node_case full;
    full.name = "zz-full";
    full.allocatable = {{"cpu", 0}, {"memory", 0}, {"pods", 0}};
    made.emplace_back("and a node without room", of).second.nodes.push_back(std::move(full));
    return made;
}

} // namespace peer_cases
