// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <muster/devices/derived_attribute.hpp>
#include <muster/devices/device_slice.hpp>
#include <muster/devices/device_taint.hpp>
#include <muster/devices/request_selector.hpp>
#include <muster/resource/quantity.hpp>

namespace muster {
inline namespace v0_1 {

/// A DeviceClass: selectors that a request shares with others.
struct device_class {
    std::vector<request_selector> selectors;
};

/// By name.
using device_classes = std::map<std::string, device_class>;

enum class device_count_mode : std::uint8_t {
    /// As many devices as `count`.
    exact,
    /// Every device that matches, and at least one.
    all,
    /// A mode that this version does not know. Allocation fails.
    unknown
};

/// One way to satisfy a request. Every selector of the class and of the alternative must match.
struct device_alternative {
    /// Empty for a request without alternatives.
    std::string name;
    std::string class_name;
    device_count_mode mode = device_count_mode::exact;
    std::int64_t count = 1;
    /// The request may have devices that are in use, and leaves them to others.
    bool admin_access = false;
    std::vector<request_selector> selectors;
    std::vector<device_toleration> tolerations;
    /// Attributes of the devices of this alternative, for constraints. Each name once.
    std::vector<derived_attribute> derived;
    /// Consumed amounts, by the name under which the device publishes the capacity.
    std::map<std::string, quantity> capacities;
};

struct device_request {
    std::string name;
    /// One, with an empty name, for `exactly`; several, in order of preference, for
    /// `firstAvailable`.
    std::vector<device_alternative> alternatives;
    /// The alternatives stand for `firstAvailable`, even if there is only one.
    bool is_prioritized = false;
};

enum class device_constraint_kind : std::uint8_t {
    /// All devices have a value in common.
    match,
    /// No two devices have a value in common.
    distinct,
    /// A constraint that this version does not know. Allocation fails.
    unknown
};

/// Relates the devices of several requests of a claim. A device that lacks the attribute violates
/// the constraint.
struct device_constraint {
    device_constraint_kind kind = device_constraint_kind::match;
    /// Qualified.
    std::string attribute;
    /// Names of requests, or `request/alternative`. Empty = all requests.
    std::vector<std::string> requests;
};

/// The devices that a ResourceClaim asks for.
struct device_claim {
    std::string name;
    std::vector<device_request> requests;
    std::vector<device_constraint> constraints;
    /// If present, other devices match no request of the claim. For claims whose devices several
    /// nodes must reach.
    std::optional<std::set<device_id>> among{};
};

/// A claim has no more devices than this.
inline constexpr std::int64_t max_devices_per_claim = 32;

} // namespace v0_1
} // namespace muster
