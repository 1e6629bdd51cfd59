// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <string_view>
#include <vector>

#include <boost/json/object.hpp>

#include <muster/gangs/loss.hpp>

namespace muster {
inline namespace v0_1 {
namespace translate {

/// A gang API that can be written, with the version whose words it takes, by the name that users
/// type. A target of one's own is another such value.
struct target {
    std::string_view name{};

    static const target t9k;
    static const target ack_1_30;
    static const target ack_1_31;
    static const target scheduler_plugins;
    static const target volcano;
    static const target koordinator;
    static const target kai_0_14;
    static const target kai_0_15;
    static const target workload_1_35;
    static const target workload_1_36;
    static const target workload_1_37;
    static const target grove;
    /// Plain pods with the marks that their own API gave them.
    static const target pods;

    [[nodiscard]] friend constexpr bool operator==(target, target) = default;
    [[nodiscard]] friend constexpr auto operator<=>(target, target) = default;
};

inline constexpr target target::t9k{"t9k"};
inline constexpr target target::ack_1_30{"ack-1.30"};
inline constexpr target target::ack_1_31{"ack-1.31"};
inline constexpr target target::scheduler_plugins{"scheduler-plugins"};
inline constexpr target target::volcano{"volcano"};
inline constexpr target target::koordinator{"koordinator"};
inline constexpr target target::kai_0_14{"kai-0.14"};
inline constexpr target target::kai_0_15{"kai-0.15"};
inline constexpr target target::workload_1_35{"workload-1.35"};
inline constexpr target target::workload_1_36{"workload-1.36"};
inline constexpr target target::workload_1_37{"workload-1.37"};
inline constexpr target target::grove{"grove"};
inline constexpr target target::pods{"pods"};

/// Whose reading of Grove is meant where the two differ; never guessed from an input.
enum class grove_dialect : std::uint8_t {
    /// As the walk-through that stands in Muster's tests prints it.
    seed,
    /// As Grove merged it.
    upstream,
};

/// Why an object would be refused by its target.
struct violation {
    std::string object; ///< kind namespace/name of what would have been written
    std::string field;
    std::string message; ///< what is wrong and what the target expects
};

/// What a translation gives: complete manifests in the order in which they are to be created. With
/// a violation the objects are not to be used.
struct written {
    std::vector<boost::json::object> objects;
    std::vector<loss> losses;
    std::vector<violation> violations;
};

} // namespace translate
} // namespace v0_1
} // namespace muster
