// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <boost/json/object.hpp>

#include <muster/kube/grove_controller.hpp>
#include <muster/kube/object_cache.hpp>
#include <muster/kube/t9k_controller.hpp>
#include <muster/lifecycle/object_step.hpp>

namespace muster {
inline namespace v0_1 {
namespace kube {

/// Everybody's jobs, for one `controllers`: what several of them follow is followed once.
struct job_controllers {
    t9k_controller t9k;
    grove_controller grove;

    [[nodiscard]] std::vector<followed_kind> kinds() const {
        std::vector<followed_kind> made = t9k.kinds();
        for (followed_kind& each : grove.kinds())
            if (std::ranges::none_of(made, [&](const followed_kind& known) {
                    return known.api_version == each.api_version && known.kind == each.kind;
                }))
                made.push_back(std::move(each));
        return made;
    }

    [[nodiscard]] lifecycle::object_step look(const followed_kind& kind,
                                              const boost::json::object& owner,
                                              std::span<const boost::json::object* const> seen,
                                              std::int64_t wall) const {
        return grove_controller::is_set(kind) ? grove.look(kind, owner, seen, wall)
                                              : t9k.look(kind, owner, seen, wall);
    }
};

} // namespace kube
} // namespace v0_1
} // namespace muster
