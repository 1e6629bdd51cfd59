// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <muster/base/checked.hpp>
#include <muster/base/sequence.hpp>
#include <muster/devices/claim_table.hpp>
#include <muster/devices/device_constraints.hpp>
#include <muster/devices/device_table.hpp>
#include <muster/devices/device_taint.hpp>

namespace muster {
inline namespace v0_1 {
namespace detail {

inline void append_amount(int128 amount, std::string& key) {
    const auto bits = static_cast<uint128>(amount);
    key += std::to_string(static_cast<std::uint64_t>(bits >> 64)) + ':' +
           std::to_string(static_cast<std::uint64_t>(bits)) + ',';
}

/// Which devices of a node are alike for the claims to allocate.
///
/// A block is a device that consumes no counters, or all devices that consume from one counter set
/// (from several, if devices consume from several). Two blocks are alike if their devices are, one
/// by one in order of allocation, and so are their counters: then swapping the blocks maps
/// allocations to allocations. So does swapping two devices of a block that are alike.
class device_symmetry {
public:
    device_symmetry(const device_table& devices, claim_table& claims,
                    device_constraints& constraints, const device_features& features)
        : devices_(devices), claims_(claims), constraints_(constraints), features_(features) {
        find_blocks();
        name_devices();
        name_blocks();
    }

    /// The devices that can be swapped with a device now have its key. Valid for devices that no
    /// claim of this allocation holds. Two devices with one key are alike.
    [[nodiscard]] std::pair<std::size_t, std::size_t> key_of(std::size_t device) const {
        const auto block = block_of_[device];
        const bool is_fresh = holders_[block] == 0;
        return {2 * (is_fresh ? kind_of_[block] : block) + (is_fresh ? 0 : 1), form_of_[device]};
    }

    void hold(std::size_t device) { ++holders_[block_of_[device]]; }
    void release(std::size_t device) { --holders_[block_of_[device]]; }

    /// Appends what the claims of this allocation hold. `held` lists their devices.
    void append_state(sequence<std::size_t> held, std::size_t claim, std::string& key) const {
        std::sort(held.begin(), held.end());
        held.erase(std::unique(held.begin(), held.end()), held.end());
        std::map<std::size_t, std::vector<std::string>> blocks;
        for (const auto device : held)
            blocks[block_of_[device]].push_back(device_state(device, claim));
        std::vector<std::string> states;
        for (auto& [block, devices] : blocks) {
            std::sort(devices.begin(), devices.end());
            std::string state = '|' + std::to_string(kind_of_[block]);
            for (const std::string& device : devices)
                state += device;
            states.push_back(std::move(state));
        }
        std::sort(states.begin(), states.end());
        for (const std::string& state : states)
            key += state;
    }

private:
    using numbers = std::map<std::string, std::size_t>;

    static std::size_t number_of(std::string key, numbers& known) {
        return known.emplace(std::move(key), known.size()).first->second;
    }

    std::string device_state(std::size_t device, std::size_t claim) const {
        const device_row& row = devices_.devices[device];
        std::string state =
            '/' + std::to_string(form_of_[device]) + '.' + std::to_string(row.held.claims.size()) +
            (row.is_held_by(claim) ? '!' : '.') + std::to_string(row.held.shares) + '.';
        for (const auto amount : row.held.consumed)
            append_amount(amount, state);
        return state;
    }

    /// Joins devices that consume from one counter set, by union-find over devices.
    void find_blocks() {
        const auto count = devices_.devices.size();
        block_of_.resize(count, 0);
        std::iota(block_of_.begin(), block_of_.end(), std::size_t{0});
        sequence<std::size_t> first_user(devices_.counters.size(), count);
        sequence<std::size_t> first_member(devices_.groups.size(), count);
        for (std::size_t device = 0; device < count; ++device) {
            for (const counter_use& use : devices_.devices[device].counters)
                join(first_user[use.counter], device);
            for (const group_use& use : devices_.devices[device].groups)
                join(first_member[use.counter_set], device);
        }
        for (std::size_t device = 0; device < count; ++device)
            block_of_[device] = root_of(device);
        holders_.resize(count, 0);
        kind_of_.resize(count, 0);
    }

    void join(std::size_t& first, std::size_t device) {
        if (first == block_of_.size()) {
            first = device;
            return;
        }
        const auto lhs = root_of(first);
        const auto rhs = root_of(device);
        // The root is the first device of a block.
        block_of_[std::max(lhs, rhs)] = std::min(lhs, rhs);
    }

    std::size_t root_of(std::size_t device) const {
        while (block_of_[device] != device)
            device = block_of_[device];
        return device;
    }

    /// The counters and counter sets of a block, numbered by their first use.
    struct local_numbers {
        std::map<std::size_t, std::size_t> counters;
        std::map<std::size_t, std::size_t> sets;
        /// What there is of them.
        std::string amounts;
    };

    void name_devices() {
        std::map<std::size_t, local_numbers> locals;
        numbers forms;
        for (std::size_t device = 0; device < devices_.devices.size(); ++device) {
            std::string form = static_form(device);
            append_counters(devices_.devices[device], locals[block_of_[device]], form);
            form_of_.push_back(number_of(std::move(form), forms));
        }
        for (auto& [block, local] : locals)
            amounts_.emplace(block, std::move(local.amounts));
    }

    void append_counters(const device_row& row, local_numbers& local, std::string& form) const {
        for (const counter_use& use : row.counters) {
            const auto [found, is_new] = local.counters.emplace(use.counter, local.counters.size());
            if (is_new)
                append_amount(devices_.counters[use.counter].available, local.amounts);
            form += 'c' + std::to_string(found->second) + '=';
            append_amount(use.amount, form);
        }
        for (const group_use& use : row.groups) {
            const auto [found, is_new] = local.sets.emplace(use.counter_set, local.sets.size());
            if (is_new)
                append_groups(devices_.groups_in_use[use.counter_set], local.amounts);
            form += 'g' + std::to_string(found->second) + '=';
            for (const auto group : use.groups)
                form += std::to_string(group) + ',';
        }
    }

    static void append_groups(const group_state& groups, std::string& key) {
        key += groups.is_held ? (groups.without_groups ? 'e' : 'h') : 'f';
        for (const auto group : groups.groups)
            key += std::to_string(group) + ',';
        key += ';';
    }

    /// What decides about a device, but for counters.
    std::string static_form(std::size_t device) {
        const device_row& row = devices_.devices[device];
        std::string form;
        for (const bool flag : {row.is_allocatable, row.allows_multiple, row.is_in_use,
                                row.is_shared, row.is_overdrawn})
            form += flag ? '1' : '0';
        for (alternative_row& alternative : claims_.alternatives) {
            const auto verdict = claims_.matches(alternative, device);
            form += std::to_string(static_cast<int>(verdict));
            if (verdict != match_verdict::matches)
                continue;
            form += features_.taints && taints_prevent_allocation(row.source->taints,
                                                                  alternative.source->tolerations)
                        ? 't'
                        : '.';
            if (features_.consumable_capacity)
                append_share(claims_.share(alternative, device), form);
        }
        for (std::size_t index = 0; index < row.capacities.size(); ++index) {
            append_amount(row.capacities[index], form);
            append_amount(row.consumed[index], form);
        }
        constraints_.append_values(device, form);
        return form;
    }

    static void append_share(const share_row& share, std::string& form) {
        form += std::to_string(static_cast<int>(share.verdict));
        if (share.verdict == match_verdict::matches)
            for (const auto amount : share.amounts)
                append_amount(amount, form);
    }

    void name_blocks() {
        std::map<std::size_t, std::string> forms;
        for (std::size_t device = 0; device < form_of_.size(); ++device)
            forms[block_of_[device]] += std::to_string(form_of_[device]) + ',';
        numbers kinds;
        for (auto& [block, form] : forms)
            kind_of_[block] = number_of(form + amounts_[block], kinds);
    }

    const device_table& devices_;
    claim_table& claims_;
    device_constraints& constraints_;
    const device_features& features_;
    /// By device: the first device of its block.
    sequence<std::size_t> block_of_;
    /// By device: equal for devices that are alike in everything but which counters they consume.
    sequence<std::size_t> form_of_;
    /// By block: how many devices this allocation holds; equal for blocks that are alike.
    sequence<std::size_t> holders_;
    sequence<std::size_t> kind_of_;
    std::map<std::size_t, std::string> amounts_;
};

} // namespace detail
} // namespace v0_1
} // namespace muster
