// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/base/checked.hpp>
#include <muster/base/sequence.hpp>
#include <muster/devices/device_features.hpp>
#include <muster/devices/device_pools.hpp>
#include <muster/devices/device_usage.hpp>

namespace muster {
inline namespace v0_1 {
namespace detail {

/// The sum, clamped to int128.
[[nodiscard]] constexpr int128 clamped_sum(int128 lhs, int128 rhs) noexcept {
    int128 sum = 0;
    if (!__builtin_add_overflow(lhs, rhs, &sum))
        return sum;
    constexpr int128 top = static_cast<int128>(~uint128{0} >> 1);
    return lhs > 0 ? top : -top;
}

/// What the devices that hold a counter set say about further ones.
struct group_state {
    bool is_held = false;
    /// None of the holders has a group.
    bool without_groups = false;
    /// The groups that all holders have; ascending.
    sequence<std::uint32_t> groups;

    [[nodiscard]] bool admits(const sequence<std::uint32_t>& others) const noexcept {
        if (!is_held)
            return true;
        if (without_groups || others.empty())
            return without_groups && others.empty();
        for (const auto group : others)
            if (std::binary_search(groups.begin(), groups.end(), group))
                return true;
        return false;
    }

    void add(const sequence<std::uint32_t>& others) {
        if (!is_held) {
            is_held = true;
            without_groups = others.empty();
            groups = others;
            return;
        }
        // Only devices in use can contradict one another here.
        if (without_groups || others.empty())
            return;
        sequence<std::uint32_t> common;
        for (const auto group : groups)
            if (std::binary_search(others.begin(), others.end(), group))
                common.push_back(group);
        groups = std::move(common);
    }
};

struct counter_row {
    /// In billionths. Negative if devices in use consume more than there is.
    int128 available = 0;
    int128 in_flight = 0;
};

struct counter_use {
    std::size_t counter = 0;
    int128 amount = 0;
};

struct group_use {
    std::size_t counter_set = 0;
    sequence<std::uint32_t> groups;
};

/// What claims of this allocation hold of a device.
struct device_holding {
    /// One per allocated device: index of the claim. Shares are not listed.
    sequence<std::size_t> claims;
    std::size_t shares = 0;
    /// By capacity, in billionths: what the shares consume.
    sequence<int128> consumed;
};

/// A device that the node reaches.
struct device_row {
    const device* source = nullptr;
    const device_pool* pool = nullptr;
    bool is_allocatable = true;
    bool allows_multiple = false;
    /// One claim holds it.
    bool is_in_use = false;
    /// Claims share it.
    bool is_shared = false;
    /// A counter of its pool is overdrawn.
    bool is_overdrawn = false;
    /// By capacity, in billionths: what there is, and what shares consume.
    sequence<int128> capacities;
    sequence<int128> consumed;
    sequence<counter_use> counters;
    sequence<group_use> groups;
    device_holding held;

    [[nodiscard]] bool is_held() const noexcept { return !held.claims.empty() || held.shares > 0; }
    [[nodiscard]] bool is_held_by(std::size_t claim) const noexcept {
        return std::find(held.claims.begin(), held.claims.end(), claim) != held.claims.end();
    }
    [[nodiscard]] device_id id() const { return {pool->driver, pool->name, source->name}; }
};

/// The devices of a node in order of allocation, and their counters.
class device_table {
public:
    device_table(const std::vector<device_pool>& pools, const device_usage& usage,
                 const device_features& features)
        : usage_(usage), features_(features) {
        for (const device_pool& pool : pools)
            add(pool);
        groups_in_use = groups;
    }

    sequence<device_row> devices;
    sequence<counter_row> counters;
    /// By counter set: what devices in use and those of this allocation say.
    sequence<group_state> groups;
    /// The same without those of this allocation.
    sequence<group_state> groups_in_use;

private:
    struct counter_set_rows {
        std::size_t index = 0;
        std::map<std::string_view, std::size_t> counters;
    };
    using pool_counters = std::map<std::string_view, counter_set_rows>;

    void add(const device_pool& pool) {
        pool_counters sets;
        const auto first_counter = counters.size();
        for (const counter_set* set : pool.counter_sets) {
            auto& rows = sets[set->name];
            rows.index = groups.size();
            groups.emplace_back();
            for (const auto& [name, amount] : set->counters) {
                rows.counters[name] = counters.size();
                counters.push_back({amount.billionths(), 0});
            }
        }
        const auto first_device = devices.size();
        for (const slice_view* view : pool.on_node)
            for (std::size_t index = 0; index < view->slice->devices.size(); ++index)
                add(pool, *view, index, sets);
        for (const slice_view* view : pool.elsewhere)
            for (const device& source : view->slice->devices)
                if (usage_.holds({pool.driver, pool.name, source.name}))
                    charge(row_of(source, sets));
        for (std::size_t counter = first_counter; counter < counters.size(); ++counter)
            if (counters[counter].available < 0)
                for (auto device = first_device; device < devices.size(); ++device)
                    devices[device].is_overdrawn = true;
    }

    void add(const device_pool& pool, const slice_view& view, std::size_t index,
             const pool_counters& sets) {
        const device& source = view.slice->devices[index];
        device_row row = row_of(source, sets);
        row.pool = &pool;
        row.is_allocatable =
            view.allocatable && (features_.partitionable_devices || source.consumes.empty());
        row.allows_multiple =
            features_.consumable_capacity && source.attributes.allows_multiple_allocations;
        const device_id id = row.id();
        row.is_in_use = usage_.whole.contains(id);
        const auto shares = usage_.shared.find(id);
        row.is_shared = shares != usage_.shared.end();
        for (const device_capacity& capacity : source.capacities) {
            row.capacities.push_back(capacity.value.billionths());
            int128 consumed = 0;
            if (row.is_shared)
                if (const auto found = shares->second.find(capacity.name);
                    found != shares->second.end())
                    consumed = found->second.billionths();
            row.consumed.push_back(consumed);
        }
        row.held.consumed.resize(row.capacities.size(), 0);
        if (row.is_in_use || row.is_shared)
            charge(row);
        if (view.reaches(index))
            devices.push_back(std::move(row));
    }

    device_row row_of(const device& source, const pool_counters& sets) {
        device_row row;
        row.source = &source;
        for (const counter_consumption& consumption : source.consumes) {
            const auto set = sets.find(consumption.counter_set);
            if (set == sets.end())
                continue;
            for (const auto& [name, amount] : consumption.counters)
                if (const auto found = set->second.counters.find(name);
                    found != set->second.counters.end())
                    row.counters.push_back({found->second, amount.billionths()});
            if (features_.compatibility_groups)
                row.groups.push_back({set->second.index, ids(consumption.compatibility_groups)});
        }
        return row;
    }

    sequence<std::uint32_t> ids(const std::vector<std::string>& names) {
        sequence<std::uint32_t> found;
        for (const std::string& name : names)
            found.push_back(group_ids_.emplace(name, static_cast<std::uint32_t>(group_ids_.size()))
                                .first->second);
        std::sort(found.begin(), found.end());
        return found;
    }

    /// Consumes the counters of a device that is in use.
    void charge(const device_row& row) {
        for (const counter_use& use : row.counters)
            counters[use.counter].available =
                clamped_sum(counters[use.counter].available, -use.amount);
        for (const group_use& use : row.groups)
            groups[use.counter_set].add(use.groups);
    }

    const device_usage& usage_;
    const device_features& features_;
    std::map<std::string_view, std::uint32_t> group_ids_;
};

} // namespace detail
} // namespace v0_1
} // namespace muster
