// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include <muster/devices/numa_zones.hpp>

namespace numa_kubelet {

/// The kubelet's admission, written after its structure: every provider gives hints, the hints are
/// merged in all combinations, and the best merged hint is admitted if it is preferred.
class kubelet {
public:
    explicit kubelet(const muster::numa_zones& node) : node_(node) {
        for (const auto& zone : node.zones)
            for (const auto& [name, supply] : zone.supplies) {
                auto& row = table_[name];
                row.resize(node.zones.size());
                row[static_cast<std::size_t>(&zone - node.zones.data())] = supply;
            }
    }

    /// Admits and allocates, or returns false.
    bool admit(const muster::numa_demand& pod) {
        if (node_.scope == muster::numa_scope::pod)
            return admit(pod.together);
        return std::all_of(pod.containers.begin(), pod.containers.end(),
                           [&](const auto& each) { return admit(each); });
    }

private:
    struct hint {
        std::uint64_t mask = 0;
        bool preferred = false;
    };
    using hints = std::vector<hint>;

    static int size(std::uint64_t mask) { return __builtin_popcountll(mask); }

    template<class Amount>
    std::int64_t sum(const std::string& name, std::uint64_t mask, const Amount& amount) const {
        std::int64_t all = 0;
        for (std::size_t zone = 0; zone < node_.zones.size(); ++zone)
            if ((mask >> zone & 1U) != 0)
                all += amount(table_.at(name)[zone]);
        return all;
    }
    std::int64_t available(const std::string& name, std::uint64_t mask) const {
        return sum(name, mask, [](const auto& supply) { return supply.available; });
    }
    std::uint64_t masks() const { return std::uint64_t{1} << node_.zones.size(); }

    static void prefer(hints& of, int fewest) {
        for (hint& each : of)
            each.preferred = size(each.mask) == fewest;
    }

    hints hints_of(const std::string& name, std::int64_t asked) const {
        hints made;
        int fewest = static_cast<int>(node_.zones.size());
        for (std::uint64_t mask = 1; mask < masks(); ++mask) {
            if (sum(name, mask, [](const auto& supply) { return supply.capacity; }) >= asked)
                fewest = std::min(fewest, size(mask));
            if (available(name, mask) >= asked)
                made.push_back({mask, false});
        }
        prefer(made, fewest);
        return made;
    }
    hints hints_of_memory(const muster::numa_amounts& asked) const {
        hints made;
        int fewest = static_cast<int>(node_.zones.size());
        for (std::uint64_t mask = 1; mask < masks(); ++mask) {
            const auto all = [&](const auto& amount) {
                return std::all_of(asked.begin(), asked.end(), [&](const auto& each) {
                    return sum(each.first, mask, amount) >= each.second;
                });
            };
            if (!all([](const auto& supply) { return supply.allocatable; }))
                continue;
            fewest = std::min(fewest, size(mask));
            if ((size(mask) == 1 || !is_memory_used(mask)) &&
                all([](const auto& supply) { return supply.available; }))
                made.push_back({mask, false});
        }
        prefer(made, fewest);
        return made;
    }
    bool is_memory_used(std::uint64_t mask) const {
        for (const auto& [name, row] : table_)
            for (std::size_t zone = 0; zone < row.size(); ++zone)
                if (muster::is_numa_memory(name) && (mask >> zone & 1U) != 0 &&
                    row[zone].available < row[zone].allocatable)
                    return true;
        return false;
    }

    bool admit(const muster::numa_amounts& amounts) {
        std::vector<hints> lists;
        muster::numa_amounts memory;
        muster::numa_amounts aligned;
        for (const auto& [name, asked] : amounts)
            if (table_.contains(name)) {
                aligned.emplace(name, asked);
                if (muster::is_numa_memory(name))
                    memory.emplace(name, asked);
                else
                    lists.push_back(hints_of(name, asked));
            }
        for (std::size_t each = 0; each < memory.size(); ++each)
            lists.push_back(hints_of_memory(memory));
        if (lists.empty())
            return true;
        if (node_.policy == muster::numa_policy::single_numa_node)
            for (hints& list : lists)
                std::erase_if(
                    list, [](const hint& each) { return size(each.mask) != 1 || !each.preferred; });
        std::optional<hint> best;
        merge(lists, 0, {masks() - 1, true}, 0, best);
        if (!best || !best->preferred)
            return false;
        allocate(aligned, best->mask, !memory.empty());
        return true;
    }

    void merge(const std::vector<hints>& lists, std::size_t at, hint merged, std::uint64_t first,
               std::optional<hint>& best) const {
        if (at == lists.size()) {
            const auto is_better = [&] {
                if (!best || merged.preferred != best->preferred)
                    return !best || merged.preferred;
                return size(merged.mask) != size(best->mask) ? size(merged.mask) < size(best->mask)
                                                             : merged.mask < best->mask;
            };
            if (merged.mask != 0 && is_better())
                best = merged;
            return;
        }
        for (const hint& each : lists[at])
            merge(lists, at + 1,
                  {merged.mask & each.mask,
                   merged.preferred && each.preferred && (at == 0 || each.mask == first)},
                  at == 0 ? each.mask : first, best);
    }

    /// As admit_to_zones() promises: several zones count as giving all of it each.
    void allocate(const muster::numa_amounts& amounts, std::uint64_t mask, bool with_memory) {
        for (auto& [name, row] : table_)
            for (std::size_t zone = 0; zone < row.size(); ++zone) {
                std::int64_t& left = row[zone].available;
                if ((mask >> zone & 1U) == 0)
                    continue;
                if (const auto asked = amounts.find(name); asked != amounts.end())
                    left = std::max<std::int64_t>(0, left - asked->second);
                if (with_memory && size(mask) > 1 && muster::is_numa_memory(name))
                    left = 0;
            }
    }

    muster::numa_zones node_;
    std::map<std::string, std::vector<muster::numa_supply>> table_;
};

/// True if the kubelet admits the pods in every order.
inline bool admits_in_every_order(const muster::numa_zones& node,
                                  const std::vector<muster::numa_demand>& pods) {
    std::vector<std::size_t> order(pods.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    do {
        kubelet on(node);
        for (const std::size_t at : order)
            if (!on.admit(pods[at]))
                return false;
    } while (std::next_permutation(order.begin(), order.end()));
    return true;
}

} // namespace numa_kubelet
