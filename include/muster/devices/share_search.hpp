// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/base/checked.hpp>
#include <muster/devices/device_partition.hpp>
#include <muster/devices/gpu_instance.hpp>
#include <muster/devices/share_acceptance.hpp>
#include <muster/devices/share_kinds.hpp>
#include <muster/devices/share_needs.hpp>
#include <muster/devices/share_order.hpp>
#include <muster/devices/share_partners.hpp>
#include <muster/devices/share_places.hpp>
#include <muster/devices/share_request.hpp>
#include <muster/devices/share_rules.hpp>
#include <muster/devices/shared_device.hpp>

namespace muster {
inline namespace v0_1 {

/// The position of the virtual function of a share that needs no function.
inline constexpr std::size_t no_function = std::numeric_limits<std::size_t>::max();

namespace detail {

/// Position of the instance of a share on a device that is not partitioned.
inline constexpr std::size_t no_instance = static_cast<std::size_t>(-1);

/// Adds a share of the request to the use of a device. `instance`: its position on the device.
inline void add_share(const shared_device& device, share_amounts& used,
                      const share_request& request, std::size_t instance) noexcept {
    const share_amounts share = amounts_of(device, request, instance);
    used.slots = saturating_add(used.slots, share.slots);
    used.memory = saturating_add(used.memory, share.memory);
    used.cores = saturating_add(used.cores, share.cores);
    used.slices |= share.slices;
}

/// Depth-first search for the devices of all requests, one request after the other.
class share_search {
public:
    /// `first_only`: the search ends at the first request that finds no devices.
    share_search(std::span<const shared_device> devices, std::span<const share_request> requests,
                 const share_rules& rules, const partition_table& partitions,
                 std::int64_t max_steps, bool first_only)
        : devices_(devices),
          requests_(requests),
          rules_(rules),
          partitions_(&partitions),
          first_only_(first_only),
          steps_left_(std::max<std::int64_t>(max_steps, 0)),
          max_steps_(steps_left_),
          chosen_(requests.size()),
          functions_(requests.size()) {
        for (const share_request& request : requests) {
            keeps_apart_ = keeps_apart_ || request.apart_from_group;
            needs_functions_ =
                needs_functions_ || request.function ||
                std::any_of(request.partners.begin(), request.partners.end(),
                            [](const share_request& each) { return each.function.has_value(); });
        }
        uses_.reserve(devices.size());
        for (const shared_device& device : devices) {
            uses_.push_back({device.used,
                             keeps_apart_ ? device.sharers : std::vector<device_sharer>{},
                             needs_functions_ ? functions_in_use(device) : std::vector<bool>{}});
            has_instances_ = has_instances_ || device.is_partitioned;
        }
        repeats_ = has_instances_ && rules.repeats_instances;
        if (has_instances_)
            instances_.resize(requests.size());
        std::vector<const share_acceptance*> of_requests;
        for (std::size_t at = 0; at < requests.size(); ++at) {
            if (at == 0 || !accept_the_same(requests[at - 1], requests[at]))
                accepted_.push_back(acceptance_of(requests[at], devices));
            accepted_at_.push_back(accepted_.size() - 1);
            counts_.push_back(count_of(at));
        }
        if (needs_functions_)
            function_kinds_ = function_kinds(accepted_, devices);
        // Without a second choice, no devices or states are compared.
        if (!first_only)
            kinds_ = device_kinds(devices, requests, partitions, accepted_, function_kinds_);
        for (const std::size_t at : accepted_at_)
            of_requests.push_back(&accepted_[at]);
        needs_.emplace(devices, requests, of_requests, counts_);
    }

    [[nodiscard]] bool run() { return serve(0); }
    [[nodiscard]] bool has_ended() const noexcept { return has_ended_; }
    [[nodiscard]] std::size_t furthest() const noexcept { return furthest_; }
    [[nodiscard]] std::int64_t steps() const noexcept { return max_steps_ - steps_left_; }
    [[nodiscard]] std::vector<std::vector<std::size_t>> chosen() && { return std::move(chosen_); }
    /// For each chosen device the position of its virtual function; `no_function` = none.
    [[nodiscard]] std::vector<std::vector<std::size_t>> functions() && {
        return std::move(functions_);
    }
    /// Empty if no device is partitioned.
    [[nodiscard]] std::vector<std::vector<std::size_t>> instances() && {
        return std::move(instances_);
    }

private:
    [[nodiscard]] static std::vector<bool> functions_in_use(const shared_device& device) {
        std::vector<bool> in_use;
        for (const virtual_function& each : device.functions)
            in_use.push_back(each.in_use);
        return in_use;
    }
    /// Returns what the request accepts.
    [[nodiscard]] const share_acceptance& accepted(std::size_t at) const {
        return accepted_[accepted_at_[at]];
    }
    /// Returns the number of devices that a request without partners needs.
    [[nodiscard]] std::int64_t count_of(std::size_t at) const {
        if (!requests_[at].takes_all)
            return requests_[at].count;
        const std::size_t all = accepted(at).filtered.size();
        // If the filter accepts no device, the count exceeds the node's devices: the request fails.
        return static_cast<std::int64_t>(all == 0 ? devices_.size() + 1 : all);
    }

    [[nodiscard]] bool take_steps(std::int64_t count) {
        has_ended_ = has_ended_ || steps_left_ < count;
        steps_left_ -= std::min(steps_left_, count);
        return !has_ended_;
    }
    [[nodiscard]] bool take_step() { return take_steps(1); }
    /// Returns the steps of one scan of the partitions, each of which is compared with all others.
    [[nodiscard]] std::int64_t partition_steps() const noexcept {
        const auto count = static_cast<std::int64_t>(partitions_->partitions.size());
        return saturating_multiply(count, count) / 1024;
    }

    /// Serves the requests from `at` on.
    bool serve(std::size_t at) {
        const bool found = try_to_serve(at);
        has_ended_ = has_ended_ || (first_only_ && !found);
        return found;
    }

    bool try_to_serve(std::size_t at) {
        furthest_ = std::max(furthest_, std::min(at, requests_.size() - 1));
        if (at == requests_.size())
            return true;
        if (!take_step())
            return false;
        if (needs_->exceed(at, uses_, function_kinds_) ||
            (!lost_.empty() && lost_.contains(state(at))))
            return false;
        const share_request& request = requests_[at];
        if (counts_[at] < 0)
            return false;
        if (counts_[at] == 0)
            return serve(at + 1);
        std::vector<std::size_t> candidates;
        candidates.reserve(accepted(at).candidates.size());
        for (const std::size_t index : accepted(at).candidates)
            if (takes(index, request, accepted(at)))
                candidates.push_back(index);
        if (request.partition && !take_steps(partition_steps()))
            return false;
        const auto count = static_cast<std::size_t>(counts_[at]);
        for (const share_place& place :
             share_places(std::move(candidates), count, devices_, uses_, request, *partitions_)) {
            if ((repeats_ || place.size() >= count) && choose(at, place, 0, count))
                return true;
            if (has_ended_)
                return false;
        }
        if (!first_only_ && lost_.size() < most_lost)
            lost_.insert(state(at));
        return false;
    }

    /// Chooses `count` more devices of a place, from position `from` on. `instance`: the first
    /// instance to try of the device there.
    bool choose(std::size_t at, const share_place& place, std::size_t from, std::size_t count,
                std::size_t instance = 0) {
        if (count == 0)
            return serve_partners(at, 0);
        const std::size_t end = repeats_ ? place.size() : place.size() - count + 1;
        for (std::size_t next = from; next < end; ++next) {
            if (repeats_ && !has_room(at, place, next, count, next == from ? instance : 0))
                return false;
            // If `instance` > 0, the device at `from` has only later instances left, so no other
            // device is like it.
            if (!first_only_ && has_like(place, instance > 0 ? from + 1 : from, next))
                continue;
            const bool found =
                devices_[place[next]].is_partitioned
                    ? choose_instance(at, place, next, count, next == from ? instance : 0)
                    : give(at, place, next, count, no_instance);
            if (found)
                return true;
            if (has_ended_)
                return false;
        }
        return false;
    }

    /// Returns whether the devices from position `next` on have `count` instances for the request,
    /// or can be chosen themselves. `from`: the first instance of the device there.
    [[nodiscard]] bool has_room(std::size_t at, const share_place& place, std::size_t next,
                                std::size_t count, std::size_t from) const {
        std::size_t room = 0;
        for (; next < place.size() && room < count; ++next, from = 0) {
            const shared_device& device = devices_[place[next]];
            room += !device.is_partitioned
                        ? 1
                        : most_instances(device.instances, uses_[place[next]].amounts.slices,
                                         units_of(requests_[at].memory, device.memory), from);
        }
        return room >= count;
    }

    /// Gives a share one of the free instances of the device at position `next`, the first of the
    /// order if `first_only_`.
    bool choose_instance(std::size_t at, const share_place& place, std::size_t next,
                         std::size_t count, std::size_t from) {
        const shared_device& device = devices_[place[next]];
        const std::int64_t memory = units_of(requests_[at].memory, device.memory);
        const std::uint64_t used = uses_[place[next]].amounts.slices;
        std::uint64_t tried = 0;
        for (auto each = find_instance(device.instances, used, memory, from); each;
             each = find_instance(device.instances, used, memory, *each + 1)) {
            // Instances with the same `beside` are of one kind: only the first is tried.
            const std::uint64_t beside = device.instances[*each].beside;
            if ((tried & beside) != 0)
                continue;
            tried |= beside;
            if (give(at, place, next, count, *each))
                return true;
            if (has_ended_)
                return false;
        }
        return false;
    }

    /// Gives a share the device at position `next`, and chooses the other devices of the request.
    bool give(std::size_t at, const share_place& place, std::size_t next, std::size_t count,
              std::size_t instance) {
        const bool again = repeats_ && instance != no_instance;
        return take(at, requests_[at], accepted(at), place[next], instance, [&] {
            return choose(at, place, again ? next : next + 1, count - 1, again ? instance + 1 : 0);
        });
    }

    /// Gives a device to a request or its partner, with each virtual function that differs from the
    /// others in turn, and continues with `rest`.
    template<class Rest>
    bool take(std::size_t at, const share_request& part, const share_acceptance& accepted,
              std::size_t index, std::size_t instance, const Rest& rest) {
        if (!take_step())
            return false;
        const shared_device& device = devices_[index];
        const share_use before = uses_[index];
        add_share(device, uses_[index].amounts, part, instance);
        if (keeps_apart_ && !part.group.empty())
            uses_[index].sharers.push_back({part.pod, part.group});
        chosen_[at].push_back(index);
        if (has_instances_)
            instances_[at].push_back(instance);
        bool found = false;
        if (!part.function) {
            functions_[at].push_back(no_function);
            found = rest();
            if (!found)
                functions_[at].pop_back();
        }
        std::vector<std::size_t> tried;
        const std::size_t end = part.function ? device.functions.size() : 0;
        for (std::size_t next = 0; next < end && !found && !has_ended_; ++next) {
            next = accepted.next_function(index, before.functions, next);
            if (next == end)
                break;
            const std::size_t kind = function_kinds_[index][next];
            if (std::find(tried.begin(), tried.end(), kind) != tried.end())
                continue;
            tried.push_back(kind);
            uses_[index].functions[next] = true;
            functions_[at].push_back(next);
            found = rest();
            if (!found) {
                functions_[at].pop_back();
                uses_[index].functions[next] = false;
            }
        }
        if (!found) {
            chosen_[at].pop_back();
            if (has_instances_)
                instances_[at].pop_back();
            uses_[index] = before;
        }
        return found;
    }

    /// Serves the partners of a request from position `number` on, then the next request.
    bool serve_partners(std::size_t at, std::size_t number) {
        const share_request& request = requests_[at];
        if (number == request.partners.size())
            return serve(at + 1);
        const share_request& partner = request.partners[number];
        const share_acceptance& accepts = accepted(at).partners[number];
        const std::span<const std::size_t> own =
            std::span(chosen_[at]).first(static_cast<std::size_t>(counts_[at]));
        const pcie_roots roots = roots_of(own, devices_);
        const bool is_bound = request.partners_at_same_roots;
        share_place place;
        for (const std::size_t index :
             partner_order(partner, accepts.filtered, roots, devices_, uses_))
            if (!devices_[index].is_partitioned && accepts.accepts(index) &&
                takes(index, partner, accepts) &&
                (!is_bound || devices_[index].pcie.empty() || roots.contains(devices_[index].pcie)))
                place.push_back(index);
        const auto asked = static_cast<std::size_t>(std::max<std::int64_t>(partner.count, 1));
        const std::size_t most = std::max(asked, roots.size());
        const std::size_t least = is_bound ? most : asked;
        bool found = false;
        for (std::size_t count = std::min(most, place.size());
             count >= least && !found && !has_ended_; --count)
            found = choose_partner(at, number, place, 0, count, is_bound ? roots : pcie_roots{});
        has_ended_ = has_ended_ || (first_only_ && !found);
        return found;
    }

    /// Chooses `count` more devices for a partner, from position `from` of its place on. `missing`:
    /// roots that still need one of the devices.
    bool choose_partner(std::size_t at, std::size_t number, const share_place& place,
                        std::size_t from, std::size_t count, const pcie_roots& missing) {
        if (missing.size() > count)
            return false;
        if (count == 0)
            return serve_partners(at, number + 1);
        const std::size_t end = std::min(end_of_choice(place, missing), place.size() - count + 1);
        const share_request& partner = requests_[at].partners[number];
        for (std::size_t next = from; next < end; ++next) {
            if (!first_only_ && has_like(place, from, next))
                continue;
            pcie_roots left = missing;
            left.erase(devices_[place[next]].pcie);
            if (take(at, partner, accepted(at).partners[number], place[next], no_instance,
                     [&] { return choose_partner(at, number, place, next + 1, count - 1, left); }))
                return true;
            if (has_ended_)
                return false;
        }
        return false;
    }

    /// Returns the position before which one of the devices must be chosen, as from there on some
    /// missing root has none. O(devices of the place × missing).
    [[nodiscard]] std::size_t end_of_choice(const share_place& place,
                                            const pcie_roots& missing) const {
        std::size_t end = place.size();
        for (const std::string_view root : missing) {
            std::size_t after = place.size();
            while (after > 0 && devices_[place[after - 1]].pcie != root)
                --after;
            end = std::min(end, after);
        }
        return end;
    }

    [[nodiscard]] bool takes(std::size_t index, const share_request& request,
                             const share_acceptance& accepted) const {
        return refusal_by_use(devices_[index], uses_[index].amounts, uses_[index].sharers, request,
                              rules_) == share_refusal::none &&
               (!request.function || accepted.next_function(index, uses_[index].functions, 0) <
                                         devices_[index].functions.size());
    }

    /// Returns whether a device of the same kind and use as the one at position `next` was tried,
    /// from position `from` on.
    [[nodiscard]] bool has_like(const share_place& place, std::size_t from,
                                std::size_t next) const {
        for (std::size_t tried = from; tried < next; ++tried)
            if (kinds_[place[tried]] == kinds_[place[next]] &&
                uses_[place[tried]].amounts == uses_[place[next]].amounts &&
                uses_[place[tried]].sharers == uses_[place[next]].sharers &&
                uses_[place[tried]].functions == uses_[place[next]].functions)
                return true;
        return false;
    }

    /// Returns a key of the state of the devices. With equal keys, the requests from `at` on have
    /// the same answer.
    [[nodiscard]] std::vector<std::int64_t> state(std::size_t at) {
        std::vector<std::vector<std::int64_t>> parts;
        for (std::size_t index = 0; index < devices_.size(); ++index) {
            const share_use& use = uses_[index];
            parts.push_back({static_cast<std::int64_t>(kinds_[index]), use.amounts.slots,
                             use.amounts.memory, use.amounts.cores});
            if (devices_[index].is_partitioned)
                parts.back().push_back(static_cast<std::int64_t>(use.amounts.slices));
            std::vector<std::int64_t> sharers;
            for (const device_sharer& each : use.sharers)
                sharers.push_back(number_of(each));
            std::sort(sharers.begin(), sharers.end());
            parts.back().insert(parts.back().end(), sharers.begin(), sharers.end());
            parts.back().push_back(-1);
            for (const bool each : use.functions)
                parts.back().push_back(each ? 1 : 0);
        }
        std::sort(parts.begin(), parts.end());
        std::vector<std::int64_t> all{static_cast<std::int64_t>(at)};
        for (const auto& part : parts)
            all.insert(all.end(), part.begin(), part.end());
        return all;
    }

    [[nodiscard]] std::int64_t number_of(const device_sharer& sharer) {
        const auto found = std::find(sharers_.begin(), sharers_.end(), sharer);
        if (found == sharers_.end())
            sharers_.push_back(sharer);
        return found == sharers_.end() ? static_cast<std::int64_t>(sharers_.size()) - 1
                                       : static_cast<std::int64_t>(found - sharers_.begin());
    }

    /// Maximum number of remembered states; bounds the memory.
    static constexpr std::size_t most_lost = 1U << 14U;

    std::span<const shared_device> devices_;
    std::span<const share_request> requests_;
    share_rules rules_;
    const partition_table* partitions_;
    bool first_only_;
    std::int64_t steps_left_;
    std::int64_t max_steps_;
    std::vector<std::vector<std::size_t>> chosen_;
    /// As `chosen_`: the positions of the virtual functions, and of the instances.
    std::vector<std::vector<std::size_t>> functions_;
    std::vector<std::vector<std::size_t>> instances_;
    std::vector<share_use> uses_;
    /// What the requests accept, once for adjacent requests that accept the same.
    std::vector<share_acceptance> accepted_;
    /// By request, the position in `accepted_`.
    std::vector<std::size_t> accepted_at_;
    /// By request, the number of devices without those of partners.
    std::vector<std::int64_t> counts_;
    /// Empty if no request needs virtual functions.
    std::vector<std::vector<std::size_t>> function_kinds_;
    /// By device, the first device of its kind.
    std::vector<std::size_t> kinds_;
    std::optional<share_needs> needs_;
    /// Some request depends on the groups of the sharers.
    bool keeps_apart_ = false;
    /// Some request needs virtual functions.
    bool needs_functions_ = false;
    /// Some device is partitioned.
    bool has_instances_ = false;
    /// A request can get several instances of one device.
    bool repeats_ = false;
    std::set<std::vector<std::int64_t>> lost_;
    std::vector<device_sharer> sharers_;
    std::size_t furthest_ = 0;
    bool has_ended_ = false;
};

} // namespace detail
} // namespace v0_1
} // namespace muster
