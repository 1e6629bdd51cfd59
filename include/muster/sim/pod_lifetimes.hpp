// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <muster/apis/core/objects.hpp>
#include <muster/apis/core/pod_age.hpp>

namespace muster {
inline namespace v0_1 {
namespace sim {

/// The pods of queues whose pods may get only so old: T9k's maxDuration. Pods as important as the
/// system's own may get any age.
class pod_lifetimes {
public:
    explicit pod_lifetimes(const codec::manifests& objects) {
        for (const codec::queue_object& queue : objects.queues)
            if (queue.max_duration)
                longest_.emplace(queue.metadata.key.name, *queue.max_duration);
    }

    /// In nanoseconds; nothing: any age.
    [[nodiscard]] std::optional<std::int64_t> longest(std::string_view queue) const {
        const auto at = longest_.find(queue);
        return at == longest_.end() ? std::nullopt : std::optional(at->second);
    }

    /// Notes when a pod that was created then has to go, and says it.
    std::optional<codec::timestamp> limit(const codec::object_key& pod, std::string_view queue,
                                          codec::timestamp created, std::int64_t priority) {
        const auto age = longest(queue);
        const auto end = age ? codec::end_of_pod(created, *age, priority) : std::nullopt;
        if (end)
            ends_[pod] = *end;
        return end;
    }

    void forget(const codec::object_key& pod) { ends_.erase(pod); }

    /// The pods that have to go by now, each once, by name. O(pods).
    [[nodiscard]] std::vector<codec::object_key> take_due(codec::timestamp now) {
        std::vector<codec::object_key> due;
        for (auto at = ends_.begin(); at != ends_.end();) {
            if (at->second > now) {
                ++at;
                continue;
            }
            due.push_back(at->first);
            at = ends_.erase(at);
        }
        return due;
    }

private:
    std::map<std::string, std::int64_t, std::less<>> longest_;
    std::map<codec::object_key, codec::timestamp> ends_;
};

} // namespace sim
} // namespace v0_1
} // namespace muster
