// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

#include <muster/apis/ack/facts.hpp>
#include <muster/apis/grove/facts.hpp>
#include <muster/apis/kai/facts.hpp>
#include <muster/apis/koordinator/facts.hpp>
#include <muster/apis/kueue/facts.hpp>
#include <muster/apis/scheduler_plugins/facts.hpp>
#include <muster/apis/t9k/facts.hpp>
#include <muster/apis/volcano/facts.hpp>
#include <muster/apis/workload/facts.hpp>
#include <muster/apis/yunikorn/facts.hpp>
#include <muster/gangs/api_facts.hpp>

namespace muster {
inline namespace v0_1 {
namespace translate {

/// All gang APIs that Muster knows. What names them all, such as the options of the program, the
/// collections of a live cluster and the marks of pods, follows from this list.
inline constexpr std::array gang_facts{
    t9k_facts, ack_facts,      plugins_facts, volcano_facts, koordinator_facts,
    kai_facts, workload_facts, grove_facts,   kueue_facts,   yunikorn_facts};

namespace detail {

[[nodiscard]] constexpr std::size_t count_targets() {
    std::size_t sum = 1;
    for (const api_facts& each : gang_facts)
        sum += each.targets.size();
    return sum;
}

[[nodiscard]] constexpr auto list_targets() {
    std::array<std::pair<target, std::string_view>, count_targets()> made{};
    std::size_t at = 0;
    for (const api_facts& each : gang_facts)
        for (const target one : each.targets)
            made[at++] = {one, one.name};
    made[at] = {target::pods, target::pods.name};
    return made;
}

} // namespace detail

/// Every target with the name that users type; plain pods are the last.
inline constexpr auto targets = detail::list_targets();

/// The facts of a target's API; none for plain pods, and for a target of one's own.
[[nodiscard]] constexpr api_facts facts_of(target of) noexcept {
    for (const api_facts& each : gang_facts)
        if (std::ranges::find(each.targets, of) != each.targets.end())
            return each;
    return {};
}

/// The scheduler that a target's pods usually name; empty: none.
[[nodiscard]] constexpr std::string_view usual_scheduler(target of) noexcept {
    return facts_of(of).scheduler;
}

/// Whether pods ask for the scheduler of some gang API by this name.
[[nodiscard]] constexpr bool is_gang_scheduler(std::string_view name) noexcept {
    return !name.empty() &&
           std::ranges::find(gang_facts, name, &api_facts::scheduler) != gang_facts.end();
}

/// Like is_gang_scheduler(), or what came before them, or what is no scheduler of gangs.
[[nodiscard]] constexpr bool is_usual_scheduler(std::string_view name) noexcept {
    return is_gang_scheduler(name) || name == "kube-batch" || name == "default-scheduler" ||
           name == "kueue";
}

} // namespace translate
} // namespace v0_1
} // namespace muster
