// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <muster/apis/core/claims/device_catalog.hpp>
#include <muster/apis/core/objects.hpp>
#include <muster/devices/device_allocation.hpp>
#include <muster/input/membership.hpp>
#include <muster/kube/device_choices.hpp>
#include <muster/kube/live_devices.hpp>

namespace muster {
inline namespace v0_1 {
namespace kube {

/// The devices that were chosen for claims, until their allocation is observed.
class claim_choices {
public:
    using object_key = codec::object_key;
    /// Claims for which devices must be chosen, by gang.
    using open_claims = std::map<codec::group_key, std::vector<unallocated_on>>;

    struct kept_choice {
        device_choice choice;
        /// A write of the choice may have reached the server, so the choice is not changed.
        bool is_sent = false;
    };

    void clear() {
        choices_.clear();
        lacking_.clear();
    }
    /// Call when another choice may be possible.
    void renew() { are_old_ = true; }

    /// Returns nullptr if no devices were chosen for the claim.
    [[nodiscard]] kept_choice* find(const object_key& claim) {
        const auto at = choices_.find(claim);
        return at == choices_.end() ? nullptr : &at->second;
    }
    [[nodiscard]] const kept_choice* find(const object_key& claim) const {
        const auto at = choices_.find(claim);
        return at == choices_.end() ? nullptr : &at->second;
    }
    /// Returns why no devices were found for the gang; nullptr if there are some.
    [[nodiscard]] const std::string* lack_of(const codec::group_key& gang) const {
        const auto at = lacking_.find(gang);
        return at == lacking_.end() ? nullptr : &at->second;
    }
    /// Call before choose(). `allocating`: the claims of which an allocation is sent and may have
    /// reached the server. The choices of other claims may be different now.
    void note_sent(const std::set<object_key>& allocating) {
        for (auto& [claim, each] : choices_) {
            const bool was_sent = std::exchange(each.is_sent, allocating.contains(claim));
            are_old_ = are_old_ || (was_sent && !each.is_sent);
        }
    }
    /// Forgets the choices of claims without writes.
    template<class HasWrites>
    void forget(const HasWrites& has_writes) {
        std::erase_if(choices_, [&](const auto& each) { return !has_writes(each.first); });
    }

    /// Chooses devices for all claims for which no allocation was sent, if a choice is missing or
    /// may be different now. If there are not enough devices for all gangs on all of their nodes,
    /// each gang in turn gets devices for all of its claims or for none, if need be without the
    /// nodes of other gangs. `is_planned(claim)`: the claim is still to be made. `find_open()`
    /// returns the open_claims without a choice.
    template<class IsPlanned, class FindOpen>
    void choose(const live_devices& devices, const IsPlanned& is_planned,
                const FindOpen& find_open) {
        std::erase_if(choices_, [&](const auto& each) {
            const auto* const claim = devices.claim(each.first);
            const bool is_gone = !claim && !is_planned(each.first);
            are_old_ = are_old_ || is_gone;
            return is_gone || (claim && claim->allocation);
        });
        if (std::exchange(seen_supply_, devices.supply_changes()) != devices.supply_changes())
            are_old_ = true;
        if (!std::exchange(are_old_, false))
            return;
        lacking_.clear();
        std::erase_if(choices_, [](const auto& each) { return !each.second.is_sent; });
        const open_claims open = find_open();
        // Several gangs can share a claim.
        const auto without_choice = [&](const auto& lists) {
            std::vector<unallocated_on> found;
            std::set<object_key> seen;
            for (const std::vector<unallocated_on>* const claims : lists)
                for (const unallocated_on& each : *claims)
                    if (!choices_.contains(each.claim->metadata.key) &&
                        seen.insert(each.claim->metadata.key).second)
                        found.push_back(each);
            return found;
        };
        std::vector<const std::vector<unallocated_on>*> lists;
        for (const auto& each : open)
            lists.push_back(&each.second);
        const std::vector<unallocated_on> all = without_choice(lists);
        if (all.empty())
            return;
        const codec::device_catalog catalog = devices.make_catalog();
        std::map<object_key, device_choice> kept;
        for (const auto& [key, each] : choices_)
            kept.emplace(key, each.choice);
        const auto keep = [&](device_choices made) {
            for (auto& [key, each] : made.of) {
                kept.emplace(key, each);
                choices_.emplace(key, kept_choice{std::move(each), false});
            }
        };
        device_choices together = choose_devices(catalog, kept, all, false);
        if (together.lacking.empty())
            return keep(std::move(together));
        for (const auto& [gang, claims] : open) {
            device_choices made =
                choose_devices(catalog, kept, without_choice(std::vector{&claims}));
            if (made.lacking.empty()) {
                keep(std::move(made));
            } else {
                const auto& [node, why] = *made.lacking.begin();
                lacking_.emplace(gang, "on node " + node + " " + why);
            }
        }
    }

    /// True if another claim holds one of the devices by now.
    [[nodiscard]] static bool is_taken(const device_choice& choice,
                                       const std::set<device_id>& taken) {
        return std::ranges::any_of(choice.devices.devices, [&](const allocated_device& each) {
            return !each.is_share && !each.admin_access && taken.contains(each.id);
        });
    }

private:
    std::map<object_key, kept_choice> choices_;
    /// Gangs for which no devices were found, and why.
    std::map<codec::group_key, std::string> lacking_;
    std::uint64_t seen_supply_ = 0;
    bool are_old_ = true;
};

} // namespace kube
} // namespace v0_1
} // namespace muster
