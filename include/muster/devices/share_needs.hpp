// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include <muster/base/checked.hpp>
#include <muster/devices/instance_bound.hpp>
#include <muster/devices/share_acceptance.hpp>
#include <muster/devices/share_order.hpp>
#include <muster/devices/share_request.hpp>
#include <muster/devices/shared_device.hpp>

namespace muster {
inline namespace v0_1 {
namespace detail {

/// Lower bounds on what the requests from a position on need of all devices together, and of the
/// instances of partitioned devices. If less is free, no choice serves them.
class share_needs {
public:
    /// `accepted`: what each request accepts; `counts`: its number of devices without those of
    /// partners. `devices` must outlive the object. O(requests × devices).
    share_needs(std::span<const shared_device> devices, std::span<const share_request> requests,
                const std::vector<const share_acceptance*>& accepted,
                const std::vector<std::int64_t>& counts)
        : devices_(devices), from_(requests.size() + 1) {
        counts_cores_ = std::all_of(devices.begin(), devices.end(), [](const shared_device& each) {
            return each.cores.has_value();
        });
        for (std::size_t at = requests.size(); at-- > 0;) {
            from_[at] = from_[at + 1];
            add(requests[at], *accepted[at], counts[at], from_[at]);
        }
        if (std::any_of(devices.begin(), devices.end(),
                        [](const shared_device& each) { return each.is_partitioned; }))
            for (std::size_t at = 0; at < requests.size(); ++at)
                instances_.push_back(need_of(requests[at], *accepted[at], counts[at]));
    }

    /// Returns whether less is free than the requests from `at` on need. `function_kinds`: see
    /// function_kinds(). O(devices + virtual functions); with partitioned devices as
    /// may_fit_instances().
    [[nodiscard]] bool exceed(std::size_t at, const std::vector<share_use>& uses,
                              const std::vector<std::vector<std::size_t>>& function_kinds) const {
        amounts free;
        for (std::size_t index = 0; index < devices_.size(); ++index) {
            const share_amounts& used = uses[index].amounts;
            free.memory += std::max<int128>(0, int128{devices_[index].memory} - used.memory);
            free.cores +=
                std::max<int128>(0, int128{devices_[index].cores.value_or(0)} - used.cores);
            for (std::size_t each = 0; each < uses[index].functions.size(); ++each)
                free.functions +=
                    !uses[index].functions[each] && function_kinds[index][each] != 0 ? 1 : 0;
        }
        return free.memory < from_[at].memory || free.functions < from_[at].functions ||
               (counts_cores_ && free.cores < from_[at].cores) || exceed_instances(at, uses);
    }

private:
    struct amounts {
        int128 memory = 0;
        int128 cores = 0;
        /// Virtual functions that some request accepts.
        int128 functions = 0;
    };

    [[nodiscard]] bool exceed_instances(std::size_t at, const std::vector<share_use>& uses) const {
        if (instances_.empty())
            return false;
        std::vector<instance_supply> free;
        for (std::size_t index = 0; index < devices_.size(); ++index)
            if (devices_[index].is_partitioned)
                free.push_back({devices_[index].instances, uses[index].amounts.slices});
        return !may_fit_instances(free, std::span(instances_).subspan(at));
    }

    [[nodiscard]] instance_need need_of(const share_request& request,
                                        const share_acceptance& accepted,
                                        std::int64_t count) const {
        instance_need need{std::numeric_limits<std::int64_t>::max(), count,
                           !accepted.candidates.empty()};
        for (const std::size_t index : accepted.candidates) {
            need.memory = std::min(need.memory, units_of(request.memory, devices_[index].memory));
            need.only_partitioned = need.only_partitioned && devices_[index].is_partitioned;
        }
        return need;
    }

    void add(const share_request& request, const share_acceptance& accepted, std::int64_t asked,
             amounts& to) const {
        // A request for more devices than the node has fails anyway.
        const auto most = static_cast<std::int64_t>(devices_.size()) + 1;
        const auto count = std::min(asked, most);
        if (request.function)
            to.functions += count;
        for (const share_request& partner : request.partners)
            if (partner.function && count > 0)
                to.functions += std::clamp<std::int64_t>(partner.count, 1, most);
        std::optional<std::int64_t> least;
        for (const std::size_t index : accepted.candidates) {
            // Instances can have more than their device in sum, because they are rounded.
            if (devices_[index].is_partitioned)
                return;
            const std::int64_t units = units_of(request.memory, devices_[index].memory);
            least = std::min(least.value_or(units), units);
        }
        if (!least)
            return;
        to.memory += static_cast<int128>(*least) * count;
        to.cores += static_cast<int128>(request.cores) * count;
    }

    std::span<const shared_device> devices_;
    /// By position of the first request.
    std::vector<amounts> from_;
    /// By position of the request; empty if no device is partitioned.
    std::vector<instance_need> instances_;
    bool counts_cores_ = true;
};

} // namespace detail
} // namespace v0_1
} // namespace muster
