// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <muster/base/checked.hpp>
#include <muster/base/sequence.hpp>
#include <muster/devices/claim_table.hpp>
#include <muster/devices/device_allocation.hpp>
#include <muster/devices/device_constraints.hpp>
#include <muster/devices/device_features.hpp>
#include <muster/devices/device_placements.hpp>
#include <muster/devices/device_symmetry.hpp>
#include <muster/devices/device_table.hpp>

namespace muster {
inline namespace v0_1 {
namespace detail {

/// Searches depth-first over claims, requests, alternatives and devices. The first descent
/// evaluates no more than it needs. From the first dead end on, the search leaves out devices that
/// are like one that failed, and states that are like one that failed.
class device_search {
public:
    device_search(device_table& devices, claim_table& claims, const device_features& features,
                  std::int64_t max_steps)
        : devices_(devices),
          claims_(claims),
          features_(features),
          max_steps_(max_steps),
          placements_(devices, claims, features) {
        chosen_.resize(claims.requests.size(), 0);
    }

    void run(device_allocation& answer) {
        const auto last = search();
        answer.steps = steps_;
        switch (last) {
        case progress::found:
            answer.outcome = device_outcome::allocated;
            write(answer);
            return;
        case progress::dead_end:
            answer.outcome = device_outcome::none;
            answer.claim = deepest_claim_;
            answer.request = deepest_request_;
            return;
        case progress::out_of_steps:
            answer.outcome = device_outcome::undecided;
            return;
        case progress::failed:
            answer.outcome = device_outcome::failed;
            answer.error = claims_.error.code;
            answer.text = claims_.error.text;
            answer.claim = claims_.error.claim;
            answer.request = claims_.error.request;
            return;
        }
    }

private:
    enum class progress : std::uint8_t { found, dead_end, out_of_steps, failed };

    /// Searches a while, then each claim alone, then to the end. A claim that cannot be satisfied
    /// alone cannot be satisfied with others, which the full search would learn once for every way
    /// to satisfy those.
    progress search() {
        constexpr std::int64_t first_steps = 1000;
        const auto last = search(0, claims_.claims.size(), first_steps);
        if (last != progress::out_of_steps || steps_ > max_steps_)
            return last;
        for (std::size_t claim = 0; claim < claims_.claims.size(); ++claim)
            if (search(claim, claim + 1, first_steps) == progress::dead_end) {
                deepest_claim_ = claim;
                deepest_request_ = 0;
                return progress::dead_end;
            }
        return search(0, claims_.claims.size(), max_steps_);
    }

    /// Searches from the beginning for the claims from `first` on before `end`.
    progress search(std::size_t first, std::size_t end, std::int64_t most_steps) {
        while (!placements_.all.empty())
            release();
        // Which states are dead ends depends on the claims behind.
        dead_ends_.clear();
        claims_.error = {};
        end_ = end;
        limit_ = most_steps < max_steps_ - steps_ ? steps_ + most_steps : max_steps_;
        return next_request(first, 0);
    }

    progress next_request(std::size_t claim, std::size_t request) {
        if (claim == end_)
            return progress::found;
        if (request == claims_.claims[claim].requests)
            return next_request(claim + 1, 0);
        note_depth(claim, request);
        std::string state;
        if (symmetry_) {
            if (is_hopeless(claim, request))
                return progress::dead_end;
            state = state_at(claim, request);
            if (dead_ends_.contains(state))
                return progress::dead_end;
        }
        const auto index = claims_.claims[claim].first_request + request;
        const request_row& row = claims_.requests[index];
        const auto from = request == 0 ? first_device_of(claim) : 0;
        for (std::size_t each = 0; each < row.alternatives; ++each) {
            const auto next = next_device(row.first_alternative + each, 0, from);
            if (next == progress::found)
                chosen_[index] = each;
            if (next != progress::dead_end)
                return next;
        }
        dead_ends_.insert(state.empty() ? state_at(claim, request) : std::move(state));
        return progress::dead_end;
    }

    /// Allocates the devices of an alternative but for the first `placed` ones, from the device
    /// `from` on, and all requests behind.
    progress next_device(std::size_t alternative, std::int64_t placed, std::size_t from) {
        alternative_row& row = claims_.alternatives[alternative];
        if (row.is_all && row.all.empty())
            return progress::dead_end;
        if (placed >= row.count)
            return next_request(row.claim, row.request + 1);
        if (row.count - placed > max_devices_per_claim - placements_.in_claim[row.claim])
            return progress::dead_end;
        if (row.is_all) {
            bool is_placed = false;
            return attempt(alternative, row.all[static_cast<std::size_t>(placed)], placed,
                           is_placed);
        }
        sequence<std::pair<std::size_t, std::size_t>> failed;
        for (auto device = from; device < devices_.devices.size(); ++device) {
            if (!placements_.is_free(row, device))
                continue;
            if (symmetry_ && usable_from(alternative, device) < row.count - placed)
                return progress::dead_end;
            if (symmetry_ && is_alike(device, failed))
                continue;
            const auto verdict = claims_.matches(row, device);
            if (verdict == match_verdict::differs)
                continue;
            if (verdict == match_verdict::failed) {
                claims_.explain_match(row, device);
                return progress::failed;
            }
            bool is_placed = false;
            const auto next = attempt(alternative, device, placed, is_placed);
            if (next != progress::dead_end)
                return next;
            if (is_placed) {
                require_symmetry();
                if (!devices_.devices[device].is_held())
                    failed.push_back(symmetry_->key_of(device));
            }
        }
        return progress::dead_end;
    }

    /// Places a device and searches on. On a dead end the device is released.
    progress attempt(std::size_t alternative, std::size_t device, std::int64_t placed,
                     bool& is_placed) {
        if (++steps_ > limit_)
            return progress::out_of_steps;
        is_placed = placements_.place(alternative, device);
        if (!is_placed)
            return claims_.error.code == device_errc::no_error ? progress::dead_end
                                                               : progress::failed;
        if (symmetry_)
            symmetry_->hold(device);
        const auto next = next_device(alternative, placed + 1, device + 1);
        if (next == progress::dead_end)
            release();
        return next;
    }

    void release() {
        if (symmetry_)
            symmetry_->release(placements_.all.back().device);
        placements_.release();
    }

    void require_symmetry() {
        if (symmetry_)
            return;
        symmetry_.emplace(devices_, claims_, placements_.constraints, features_);
        for (const device_placement& placed : placements_.all)
            symmetry_->hold(placed.device);
        repeats_.push_back(0);
        for (std::size_t claim = 1; claim < claims_.claims.size(); ++claim)
            repeats_.push_back(claims_.are_alike(claim - 1, claim) ? 1 : 0);
        // Verdicts that fail count when the search gets to them.
        claims_.error = {};
    }

    /// Returns where the search for the first request of a claim begins. If the claim before is
    /// alike, an allocation in which this claim has the earlier devices remains one with the two
    /// swapped, and the search would have found that first.
    [[nodiscard]] std::size_t first_device_of(std::size_t claim) const {
        if (!symmetry_ || repeats_[claim] == 0)
            return 0;
        const auto& before = placements_.all;
        for (auto index = before.size(); index-- > 0;)
            if (claims_.alternatives[before[index].alternative].claim != claim - 1)
                return index + 1 == before.size() ? 0 : before[index + 1].device;
        return before.empty() ? 0 : before[0].device;
    }

    [[nodiscard]] bool is_alike(std::size_t device,
                                const sequence<std::pair<std::size_t, std::size_t>>& failed) const {
        if (failed.empty() || devices_.devices[device].is_held())
            return false;
        return std::find(failed.begin(), failed.end(), symmetry_->key_of(device)) != failed.end();
    }

    /// Returns how many devices from `from` on the alternative could have now, each by itself, not
    /// counting counters. A device of which the selectors fail counts.
    [[nodiscard]] std::int64_t usable_from(std::size_t alternative, std::size_t from) {
        alternative_row& row = claims_.alternatives[alternative];
        std::int64_t usable = 0;
        for (auto device = from; device < devices_.devices.size(); ++device) {
            const auto verdict = row.verdicts[device];
            if (verdict == match_verdict::failed) {
                ++usable;
                continue;
            }
            if (verdict != match_verdict::matches || !placements_.is_free(row, device))
                continue;
            if (features_.consumable_capacity) {
                const share_row& share = claims_.share(row, device);
                if (share.verdict == match_verdict::differs ||
                    (share.verdict == match_verdict::matches &&
                     !placements_.has_capacity(share, device)))
                    continue;
            }
            // Constraints only become stricter.
            if (!placements_.constraints.add(row.claim, alternative, device))
                continue;
            placements_.constraints.remove(row.claim, alternative);
            ++usable;
        }
        return usable;
    }

    /// Returns false if a device of a request for all of them is not to be had now, or if all
    /// together consume more counters than there are.
    [[nodiscard]] bool can_have_all(std::size_t alternative) {
        alternative_row& row = claims_.alternatives[alternative];
        std::map<std::size_t, int128> consumed;
        for (const auto device : row.all) {
            const device_row& target = devices_.devices[device];
            if (!placements_.is_free(row, device) || !target.is_allocatable)
                return false;
            if (features_.consumable_capacity &&
                !placements_.has_capacity(claims_.share(row, device), device))
                return false;
            if (target.allows_multiple && (target.is_shared || target.held.shares > 0))
                continue;
            for (const counter_use& use : target.counters) {
                int128& sum = consumed[use.counter];
                sum = clamped_sum(sum, use.amount);
                const counter_row& counter = devices_.counters[use.counter];
                if (clamped_sum(counter.in_flight, sum) > counter.available)
                    return false;
            }
        }
        return !row.all.empty();
    }

    /// Returns true if a request from this one on has too few devices for every alternative.
    [[nodiscard]] bool is_hopeless(std::size_t claim, std::size_t request) {
        const auto first = claims_.claims[claim].first_request + request;
        const auto& last = claims_.claims[end_ - 1];
        for (auto index = first; index < last.first_request + last.requests; ++index) {
            const request_row& row = claims_.requests[index];
            bool is_possible = false;
            for (std::size_t each = 0; each < row.alternatives && !is_possible; ++each) {
                const auto alternative = row.first_alternative + each;
                // A constraint that excludes one of all devices fails the allocation.
                is_possible =
                    claims_.alternatives[alternative].is_all ||
                    usable_from(alternative, 0) >= claims_.alternatives[alternative].count;
            }
            if (!is_possible)
                return true;
        }
        return false;
    }

    /// Returns a text that is equal for states from which the same requests can be satisfied.
    [[nodiscard]] std::string state_at(std::size_t claim, std::size_t request) {
        require_symmetry();
        std::string key = std::to_string(claim) + '.' + std::to_string(request) + '.' +
                          std::to_string(placements_.in_claim[claim]) + ' ';
        placements_.constraints.append_state(claim, key);
        sequence<std::size_t> held;
        for (const device_placement& placed : placements_.all)
            held.push_back(placed.device);
        symmetry_->append_state(std::move(held), claim, key);
        return key;
    }

    void note_depth(std::size_t claim, std::size_t request) noexcept {
        if (claim < deepest_claim_ || (claim == deepest_claim_ && request < deepest_request_))
            return;
        deepest_claim_ = claim;
        deepest_request_ = request;
    }

    void write(device_allocation& answer) {
        answer.claims.resize(claims_.claims.size());
        for (std::size_t claim = 0; claim < claims_.claims.size(); ++claim)
            for (std::size_t request = 0; request < claims_.claims[claim].requests; ++request)
                answer.claims[claim].chosen.push_back(
                    chosen_[claims_.claims[claim].first_request + request]);
        for (const device_placement& placed : placements_.all) {
            const alternative_row& row = claims_.alternatives[placed.alternative];
            const device_row& target = devices_.devices[placed.device];
            allocated_device device;
            device.request = claims_.name_of(row);
            device.id = target.id();
            device.admin_access = row.source->admin_access;
            device.is_share = target.allows_multiple;
            if (target.allows_multiple)
                for (const device_capacity& capacity : target.source->capacities) {
                    const auto found = row.source->capacities.find(capacity.name);
                    const auto share = share_of(
                        capacity, found == row.source->capacities.end() ? nullptr : &found->second,
                        features_.fractional_capacity);
                    if (share)
                        device.consumed.emplace(capacity.name, share->amount);
                }
            answer.claims[row.claim].devices.push_back(std::move(device));
        }
    }

    device_table& devices_;
    claim_table& claims_;
    const device_features& features_;
    const std::int64_t max_steps_;
    std::int64_t steps_ = 0;
    /// Of this part of the search: where its steps and its claims end.
    std::int64_t limit_ = 0;
    std::size_t end_ = 0;
    device_placements placements_;
    /// Absent until the first dead end.
    std::optional<device_symmetry> symmetry_;
    /// By claim: it is like the one before.
    sequence<std::uint8_t> repeats_;
    /// States from which there is no allocation.
    std::set<std::string> dead_ends_;
    /// By request: the alternative that was chosen.
    sequence<std::size_t> chosen_;
    std::size_t deepest_claim_ = 0;
    std::size_t deepest_request_ = 0;
};

} // namespace detail
} // namespace v0_1
} // namespace muster
