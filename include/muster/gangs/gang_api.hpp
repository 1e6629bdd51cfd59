// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <string_view>

namespace muster {
inline namespace v0_1 {
namespace translate {

/// A family of gang APIs that share marks on pods, by its name. The name of an API of one's own is
/// another such value; it must outlive all uses.
struct gang_api {
    std::string_view name{};

    static const gang_api none;
    static const gang_api t9k;
    /// ACK's labels, scheduler-plugins (old and new) and Koordinator.
    static const gang_api coscheduling;
    static const gang_api volcano;
    static const gang_api kai;
    /// Kubernetes' Workload and PodGroup.
    static const gang_api workload;
    static const gang_api grove;
    /// The marks of Kueue's plain pod groups.
    static const gang_api kueue;

    [[nodiscard]] friend constexpr bool operator==(gang_api, gang_api) = default;
    [[nodiscard]] friend constexpr auto operator<=>(gang_api, gang_api) = default;
};

inline constexpr gang_api gang_api::none{};
inline constexpr gang_api gang_api::t9k{"t9k"};
inline constexpr gang_api gang_api::coscheduling{"coscheduling"};
inline constexpr gang_api gang_api::volcano{"volcano"};
inline constexpr gang_api gang_api::kai{"kai"};
inline constexpr gang_api gang_api::workload{"workload"};
inline constexpr gang_api gang_api::grove{"grove"};
inline constexpr gang_api gang_api::kueue{"kueue"};

} // namespace translate
} // namespace v0_1
} // namespace muster
