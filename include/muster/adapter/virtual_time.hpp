// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>

namespace muster {
inline namespace v0_1 {
namespace adapter {

/// What is to happen, by its time; what is due at one time happens in the order in which it was
/// planned. Costs O(log planned) each.
template<class Event>
class virtual_time {
public:
    void plan(std::int64_t when, Event what) {
        events_.emplace(std::pair(when, planned_++), std::move(what));
    }

    /// When something is to happen next.
    [[nodiscard]] std::optional<std::int64_t> next() const {
        return events_.empty() ? std::nullopt : std::optional(events_.begin()->first.first);
    }

    /// The next event that is due, and no longer planned.
    [[nodiscard]] std::optional<Event> take(std::int64_t now) {
        if (events_.empty() || events_.begin()->first.first > now)
            return std::nullopt;
        std::optional<Event> due(std::move(events_.begin()->second));
        events_.erase(events_.begin());
        return due;
    }

private:
    std::map<std::pair<std::int64_t, std::uint64_t>, Event> events_;
    std::uint64_t planned_ = 0;
};

} // namespace adapter
} // namespace v0_1
} // namespace muster
