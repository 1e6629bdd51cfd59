// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include <muster/base/checked.hpp>
#include <muster/devices/share_order.hpp>
#include <muster/devices/share_places.hpp>
#include <muster/devices/share_request.hpp>
#include <muster/devices/share_rules.hpp>
#include <muster/devices/shared_device.hpp>

namespace muster {
inline namespace v0_1 {
namespace detail {

/// Adds a share of the request to the use of a device.
inline void add_share(const shared_device& device, share_amounts& used,
                      const share_request& request) noexcept {
    used.slots = saturating_add(used.slots, 1);
    used.memory = saturating_add(used.memory, units_of(request.memory, device.memory));
    used.cores = saturating_add(used.cores, request.cores);
}

/// Depth-first search for the devices of all requests, one request after the other.
class share_search {
public:
    /// `first_only`: the search ends at the first request that finds no devices.
    share_search(std::span<const shared_device> devices, std::span<const share_request> requests,
                 const share_rules& rules, std::int64_t max_steps, bool first_only)
        : devices_(devices),
          requests_(requests),
          rules_(rules),
          first_only_(first_only),
          steps_left_(std::max<std::int64_t>(max_steps, 0)),
          max_steps_(steps_left_),
          chosen_(requests.size()) {
        for (const share_request& request : requests)
            keeps_apart_ = keeps_apart_ || request.apart_from_group;
        for (const shared_device& device : devices)
            uses_.push_back(
                {device.used, keeps_apart_ ? device.sharers : std::vector<device_sharer>{}});
        for (const share_request& request : requests) {
            accepted_.emplace_back();
            for (std::size_t index = 0; index < devices.size(); ++index)
                if (lasting_refusal(devices[index], request) == share_refusal::none)
                    accepted_.back().push_back(index);
        }
        // Without a second choice, no devices or states are compared.
        if (!first_only)
            find_kinds();
        sum_needs();
    }

    [[nodiscard]] bool run() { return serve(0); }
    [[nodiscard]] bool has_ended() const noexcept { return has_ended_; }
    [[nodiscard]] std::size_t furthest() const noexcept { return furthest_; }
    [[nodiscard]] std::int64_t steps() const noexcept { return max_steps_ - steps_left_; }
    [[nodiscard]] std::vector<std::vector<std::size_t>> chosen() && { return std::move(chosen_); }

private:
    /// Lower bounds on the amounts that the requests from a position on need.
    struct needs {
        int128 memory = 0;
        int128 cores = 0;
    };

    /// Groups the devices by kind. For these requests, devices of one kind differ only in their
    /// use. O(devices² × requests).
    void find_kinds() {
        bool by_place = false;
        for (const share_request& request : requests_)
            by_place = by_place || request.within != share_nearness::anywhere;
        std::vector<std::vector<bool>> accepting(devices_.size(),
                                                 std::vector<bool>(requests_.size()));
        for (std::size_t at = 0; at < requests_.size(); ++at)
            for (const std::size_t index : accepted_[at])
                accepting[index][at] = true;
        for (std::size_t index = 0; index < devices_.size(); ++index) {
            const shared_device& device = devices_[index];
            std::size_t like = 0;
            for (; like < index; ++like) {
                const shared_device& other = devices_[like];
                if (device.memory == other.memory && device.cores == other.cores &&
                    device.slots == other.slots && accepting[index] == accepting[like] &&
                    (!by_place || at_same_place(device, other, share_nearness::same_pcie)))
                    break;
            }
            kinds_.push_back(like);
        }
    }

    void sum_needs() {
        needs_.resize(requests_.size() + 1);
        // A request for more devices than the node has fails anyway.
        const auto most = static_cast<std::int64_t>(devices_.size()) + 1;
        counts_cores_ =
            std::all_of(devices_.begin(), devices_.end(),
                        [](const shared_device& each) { return each.cores.has_value(); });
        for (std::size_t at = requests_.size(); at-- > 0;) {
            const share_request& request = requests_[at];
            std::optional<std::int64_t> least;
            for (const std::size_t index : accepted_[at]) {
                const std::int64_t units = units_of(request.memory, devices_[index].memory);
                least = std::min(least.value_or(units), units);
            }
            needs_[at] = needs_[at + 1];
            if (!least)
                continue;
            const auto count = std::min(request.count, most);
            needs_[at].memory += static_cast<int128>(*least) * count;
            needs_[at].cores += static_cast<int128>(request.cores) * count;
        }
    }

    /// Returns whether less is free than the requests from `at` on need.
    [[nodiscard]] bool is_hopeless(std::size_t at) const {
        needs free;
        for (std::size_t index = 0; index < devices_.size(); ++index) {
            const share_amounts& used = uses_[index].amounts;
            free.memory += std::max<int128>(0, int128{devices_[index].memory} - used.memory);
            free.cores +=
                std::max<int128>(0, int128{devices_[index].cores.value_or(0)} - used.cores);
        }
        return free.memory < needs_[at].memory || (counts_cores_ && free.cores < needs_[at].cores);
    }

    [[nodiscard]] bool take_step() {
        if (steps_left_ == 0)
            has_ended_ = true;
        else
            --steps_left_;
        return !has_ended_;
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
        if (is_hopeless(at) || (!lost_.empty() && lost_.count(state(at)) != 0))
            return false;
        const share_request& request = requests_[at];
        if (request.count < 0)
            return false;
        if (request.count == 0)
            return serve(at + 1);
        std::vector<std::size_t> candidates;
        for (const std::size_t index : accepted_[at])
            if (takes(index, request))
                candidates.push_back(index);
        const auto count = static_cast<std::size_t>(request.count);
        for (const share_place& place :
             share_places(std::move(candidates), devices_, uses_, request)) {
            if (place.size() >= count && choose(at, place, 0, count))
                return true;
            if (has_ended_)
                return false;
        }
        if (!first_only_ && lost_.size() < most_lost)
            lost_.insert(state(at));
        return false;
    }

    /// Chooses `count` more devices of a place, from position `from` on.
    bool choose(std::size_t at, const share_place& place, std::size_t from, std::size_t count) {
        if (count == 0)
            return serve(at + 1);
        for (std::size_t next = from; next + count <= place.size(); ++next) {
            const std::size_t index = place[next];
            if (has_like(place, from, next))
                continue;
            if (!take_step())
                return false;
            const share_use before = uses_[index];
            add_share(devices_[index], uses_[index].amounts, requests_[at]);
            if (keeps_apart_ && !requests_[at].group.empty())
                uses_[index].sharers.push_back({requests_[at].pod, requests_[at].group});
            chosen_[at].push_back(index);
            if (choose(at, place, next + 1, count - 1))
                return true;
            chosen_[at].pop_back();
            uses_[index] = before;
            if (has_ended_)
                return false;
        }
        return false;
    }

    [[nodiscard]] bool takes(std::size_t index, const share_request& request) const {
        return refusal_by_use(devices_[index], uses_[index].amounts, uses_[index].sharers, request,
                              rules_) == share_refusal::none;
    }

    /// Returns whether a device of the same kind and use as the one at position `next` was tried,
    /// from position `from` on.
    [[nodiscard]] bool has_like(const share_place& place, std::size_t from,
                                std::size_t next) const {
        for (std::size_t tried = from; tried < next; ++tried)
            if (kinds_[place[tried]] == kinds_[place[next]] &&
                uses_[place[tried]].amounts == uses_[place[next]].amounts &&
                uses_[place[tried]].sharers == uses_[place[next]].sharers)
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
            std::vector<std::int64_t> sharers;
            for (const device_sharer& each : use.sharers)
                sharers.push_back(number_of(each));
            std::sort(sharers.begin(), sharers.end());
            parts.back().insert(parts.back().end(), sharers.begin(), sharers.end());
            parts.back().push_back(-1);
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
    bool first_only_;
    std::int64_t steps_left_;
    std::int64_t max_steps_;
    std::vector<std::vector<std::size_t>> chosen_;
    std::vector<share_use> uses_;
    /// By request, the devices without a lasting refusal.
    std::vector<std::vector<std::size_t>> accepted_;
    /// By device, the first device of its kind.
    std::vector<std::size_t> kinds_;
    std::vector<needs> needs_;
    bool counts_cores_ = true;
    /// Some request depends on the groups of the sharers.
    bool keeps_apart_ = false;
    std::set<std::vector<std::int64_t>> lost_;
    std::vector<device_sharer> sharers_;
    std::size_t furthest_ = 0;
    bool has_ended_ = false;
};

} // namespace detail
} // namespace v0_1
} // namespace muster
