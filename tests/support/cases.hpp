// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <support/generator.hpp>
#include <support/settings.hpp>
#include <support/world.hpp>

namespace muster {
inline namespace v0_1 {
namespace testing {

/// Says what is wrong with a world, as "kind of fault: details", or nothing.
using world_check = std::function<std::string(const world&)>;
using world_maker = std::function<world(std::uint64_t seed)>;

[[nodiscard]] inline std::string kind_of_fault(const std::string& fault) {
    return fault.substr(0, fault.find(':'));
}

/// The same world with as much left out as leaves the kind of fault. Ends, as every step makes the
/// world smaller. What is left out one at a time: a pod, a gang, a queue, a node, or one of their
/// features.
[[nodiscard]] inline world shrink(world from, const world_check& check) {
    const std::string kind = kind_of_fault(check(from));
    bool smaller = true;
    const auto offer = [&](const std::function<void(world&)>& leave_out) {
        world candidate = from;
        leave_out(candidate);
        if (text(candidate) == text(from) || kind_of_fault(check(candidate)) != kind)
            return false;
        from = std::move(candidate);
        return smaller = true;
    };
    const auto erase_each = [&](auto items) {
        for (std::size_t at = 0; at < (from.*items).size();)
            if (!offer([&](world& in) {
                    (in.*items).erase((in.*items).begin() + static_cast<std::ptrdiff_t>(at));
                }))
                ++at;
    };
    const auto reset = [&](auto items, const auto& feature) {
        for (std::size_t at = 0; at < (from.*items).size(); ++at)
            offer([&](world& in) {
                auto& value = feature((in.*items)[at].spec);
                value = std::remove_reference_t<decltype(value)>{};
            });
    };
    while (smaller) {
        smaller = false;
        erase_each(&world::pods);
        erase_each(&world::gangs);
        erase_each(&world::queues);
        erase_each(&world::nodes);
        erase_each(&world::budgets);
        reset(
            &world::nodes, [](auto& of) -> auto& { return of.taints; });
        reset(
            &world::nodes, [](auto& of) -> auto& { return of.labels; });
        reset(
            &world::nodes, [](auto& of) -> auto& { return of.unschedulable; });
        reset(
            &world::queues, [](auto& of) -> auto& { return of.quota; });
        reset(
            &world::queues, [](auto& of) -> auto& { return of.non_preemptible_quota; });
        reset(
            &world::queues, [](auto& of) -> auto& { return of.guarantee; });
        reset(
            &world::queues, [](auto& of) -> auto& { return of.strict_order; });
        reset(
            &world::queues, [](auto& of) -> auto& { return of.nodes.requirements; });
        for (std::size_t at = 0; at < from.queues.size(); ++at)
            offer([&](world& in) { in.queues[at].parent.reset(); });
        reset(
            &world::gangs, [](auto& of) -> auto& { return of.queue; });
        reset(
            &world::pods, [](auto& of) -> auto& { return of.where; });
        reset(
            &world::pods, [](auto& of) -> auto& { return of.where.preferred; });
        reset(
            &world::pods, [](auto& of) -> auto& { return of.where.tolerations; });
        reset(
            &world::pods, [](auto& of) -> auto& { return of.where.claims.ports; });
        reset(
            &world::pods, [](auto& of) -> auto& { return of.where.claims.devices; });
        reset(
            &world::pods, [](auto& of) -> auto& { return of.where.affinity; });
        reset(
            &world::pods, [](auto& of) -> auto& { return of.where.pods; });
        for (std::size_t at = 0; at < from.pods.size(); ++at)
            if (from.pods[at].spec.where.pods) {
                const auto terms = [&](world& in) -> pod_terms& {
                    return *in.pods[at].spec.where.pods;
                };
                offer([&](world& in) { terms(in).affinity.clear(); });
                offer([&](world& in) { terms(in).anti_affinity.clear(); });
                offer([&](world& in) { terms(in).preferred.clear(); });
                offer([&](world& in) { terms(in).spread.clear(); });
            }
        reset(
            &world::pods, [](auto& of) -> auto& { return of.where.selector.requirements; });
        for (std::size_t column = 0; column < world_width; ++column)
            reset(
                &world::pods, [column](auto& of) -> auto& { return of.request[column]; });
    }
    return from;
}

/// Checks case_count(usually) worlds, made from MUSTER_SEED on, which is printed. Gives the number
/// of worlds with a fault, after printing the first of each kind with its seed and as small as it
/// gets.
[[nodiscard]] inline std::size_t count_faults(const char* what, std::size_t usually,
                                              const world_maker& make, const world_check& check) {
    const std::uint64_t seed = random_seed();
    const auto cases = static_cast<std::size_t>(case_count(usually));
    std::size_t faults = 0;
    std::vector<std::string> seen;
    for (std::size_t number = 0; number < cases; ++number) {
        const world made = make(case_seed(seed, number));
        const std::string fault = check(made);
        if (fault.empty())
            continue;
        ++faults;
        bool known = false;
        for (const std::string& one : seen)
            known = known || one == kind_of_fault(fault);
        if (known || seen.size() == 12)
            continue;
        seen.push_back(kind_of_fault(fault));
        const world small = shrink(made, check);
        std::printf("%s: %s\n(case seed %llu) shrunk: %s\n%s\n", what, fault.c_str(),
                    static_cast<unsigned long long>(made.seed), check(small).c_str(),
                    text(small).c_str());
    }
    std::printf("%s: %zu worlds from MUSTER_SEED=%llu, %zu with a fault\n", what, cases,
                static_cast<unsigned long long>(seed), faults);
    return faults;
}

} // namespace testing
} // namespace v0_1
} // namespace muster
