// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include <muster/base/sequence.hpp>
#include <muster/devices/claim_table.hpp>
#include <muster/devices/device_allocation.hpp>
#include <muster/devices/device_constraints.hpp>
#include <muster/devices/device_features.hpp>
#include <muster/devices/device_table.hpp>
#include <muster/devices/device_taint.hpp>

namespace muster {
inline namespace v0_1 {
namespace detail {

/// A device that a claim has so far.
struct device_placement {
    std::size_t alternative = 0;
    std::size_t device = 0;
    bool has_counters = false;
    /// What the device's counter sets had before.
    sequence<group_state> groups;
};

/// The devices that the claims have so far, and all that follows from them: what is left of
/// capacities and counters, and what constraints and compatibility groups still admit.
class device_placements {
public:
    device_placements(device_table& devices, claim_table& claims, const device_features& features)
        : constraints(claims, devices, features),
          devices_(devices),
          claims_(claims),
          features_(features) {
        in_claim.resize(claims.claims.size(), 0);
    }

    device_constraints constraints;
    sequence<device_placement> all;
    /// By claim: how many devices it has.
    sequence<std::int64_t> in_claim;

    /// Returns true if no claim that matters to the alternative holds the device.
    [[nodiscard]] bool is_free(const alternative_row& row, std::size_t device) const noexcept {
        const device_row& target = devices_.devices[device];
        if (row.source->admin_access)
            return !target.is_held_by(row.claim);
        return !target.is_in_use && target.held.claims.empty();
    }

    /// Returns true if what is left of the device's capacities holds a share.
    [[nodiscard]] bool has_capacity(const share_row& share, std::size_t device) const noexcept {
        const device_row& row = devices_.devices[device];
        for (std::size_t index = 0; index < share.amounts.size(); ++index)
            if (clamped_sum(clamped_sum(row.consumed[index], row.held.consumed[index]),
                            share.amounts[index]) > row.capacities[index])
                return false;
        return true;
    }

    /// Returns false, and changes nothing, if the alternative cannot have the device, or if it
    /// needs all devices and cannot have this one for a reason that fails the allocation.
    [[nodiscard]] bool place(std::size_t alternative, std::size_t device) {
        alternative_row& row = claims_.alternatives[alternative];
        device_row& target = devices_.devices[device];
        if (!row.source->admin_access && !is_free(row, device))
            return false;
        if (row.source->admin_access && !target.allows_multiple && target.is_held_by(row.claim))
            return false;
        if (!row.is_all && !check_capacity(row, device))
            return false;
        if (!target.is_allocatable)
            return false;
        device_placement placed{alternative, device, false, {}};
        const bool has_share = target.is_shared || target.held.shares > 0;
        if (!(target.allows_multiple && has_share)) {
            if (!hold_groups(target, placed))
                return false;
            if (!hold_counters(target, placed)) {
                restore_groups(target, placed);
                return false;
            }
        }
        if (!accept(row, device, placed)) {
            release_counters(target, placed);
            restore_groups(target, placed);
            return false;
        }
        if (target.allows_multiple) {
            ++target.held.shares;
            const share_row& share = claims_.share(row, device);
            for (std::size_t index = 0; index < share.amounts.size(); ++index)
                target.held.consumed[index] =
                    clamped_sum(target.held.consumed[index], share.amounts[index]);
        } else {
            target.held.claims.push_back(row.claim);
        }
        ++in_claim[row.claim];
        all.push_back(std::move(placed));
        return true;
    }

    /// Undoes the last place().
    void release() {
        const device_placement placed = std::move(all.back());
        all.pop_back();
        alternative_row& row = claims_.alternatives[placed.alternative];
        device_row& target = devices_.devices[placed.device];
        --in_claim[row.claim];
        if (target.allows_multiple) {
            --target.held.shares;
            const share_row& share = claims_.share(row, placed.device);
            for (std::size_t index = 0; index < share.amounts.size(); ++index)
                target.held.consumed[index] -= share.amounts[index];
        } else {
            target.held.claims.pop_back();
        }
        constraints.remove(row.claim, placed.alternative);
        release_counters(target, placed);
        restore_groups(target, placed);
    }

private:
    /// Returns true if the capacities of the device suffice. Sets the claims' error if they cannot
    /// be compared.
    [[nodiscard]] bool check_capacity(alternative_row& row, std::size_t device) {
        if (!features_.consumable_capacity)
            return true;
        const share_row& share = claims_.share(row, device);
        if (share.verdict == match_verdict::failed) {
            claims_.explain_share(row, device);
            return false;
        }
        return share.verdict == match_verdict::matches && has_capacity(share, device);
    }

    /// Checks taints, constraints and, for a request for all devices, capacities.
    [[nodiscard]] bool accept(alternative_row& row, std::size_t device,
                              const device_placement& placed) {
        const device_row& target = devices_.devices[device];
        if (features_.taints &&
            taints_prevent_allocation(target.source->taints, row.source->tolerations))
            return false;
        if (!constraints.add(row.claim, placed.alternative, device)) {
            if (row.is_all)
                claims_.fail(
                    device_errc::constraint_excludes_device,
                    target.id().driver + '/' + target.id().pool + '/' + target.source->name, row);
            return false;
        }
        if (row.is_all && !check_capacity(row, device)) {
            constraints.remove(row.claim, placed.alternative);
            return false;
        }
        return true;
    }

    [[nodiscard]] bool hold_groups(const device_row& target, device_placement& placed) {
        for (const group_use& use : target.groups) {
            group_state& state = devices_.groups[use.counter_set];
            if (!state.admits(use.groups)) {
                restore_groups(target, placed);
                return false;
            }
            placed.groups.push_back(state);
            state.add(use.groups);
        }
        return true;
    }

    void restore_groups(const device_row& target, const device_placement& placed) {
        for (auto index = placed.groups.size(); index-- > 0;)
            devices_.groups[target.groups[index].counter_set] = placed.groups[index];
    }

    [[nodiscard]] bool hold_counters(const device_row& target, device_placement& placed) {
        if (target.source->consumes.empty())
            return true;
        if (target.is_overdrawn)
            return false;
        for (const counter_use& use : target.counters) {
            counter_row& counter = devices_.counters[use.counter];
            counter.in_flight = clamped_sum(counter.in_flight, use.amount);
        }
        placed.has_counters = true;
        for (const counter_use& use : target.counters) {
            const counter_row& counter = devices_.counters[use.counter];
            if (counter.in_flight > counter.available) {
                release_counters(target, placed);
                placed.has_counters = false;
                return false;
            }
        }
        return true;
    }

    void release_counters(const device_row& target, const device_placement& placed) {
        if (placed.has_counters)
            for (const counter_use& use : target.counters)
                devices_.counters[use.counter].in_flight -= use.amount;
    }

    device_table& devices_;
    claim_table& claims_;
    const device_features& features_;
};

} // namespace detail
} // namespace v0_1
} // namespace muster
