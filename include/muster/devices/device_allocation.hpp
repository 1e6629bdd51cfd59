// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <muster/devices/device_slice.hpp>
#include <muster/resource/quantity.hpp>

namespace muster {
inline namespace v0_1 {

/// A device that a claim gets.
struct allocated_device {
    /// `request`, or `request/alternative`.
    std::string request;
    device_id id;
    bool admin_access = false;
    /// The device allows multiple allocations; the written allocation needs a share id.
    bool is_share = false;
    /// What the share consumes, by the published name of the capacity.
    std::map<std::string, quantity> consumed;
};

/// The allocation of one claim.
struct claim_allocation {
    std::vector<allocated_device> devices;
    /// By request: index of the alternative that was chosen.
    std::vector<std::size_t> chosen;
};

enum class device_outcome : std::uint8_t {
    /// Every claim has its devices.
    allocated,
    /// There is no allocation of all claims.
    none,
    /// The step budget ended first.
    undecided,
    /// The input prevents a decision; see device_errc.
    failed
};

enum class device_errc : std::uint8_t {
    no_error,
    /// A request uses a feature that is not enabled.
    feature_disabled,
    /// A request names no class, or one that does not exist.
    unknown_class,
    /// A request has a count mode, a selector or a constraint of an unknown kind.
    unknown_kind,
    /// The requests of a claim need more than max_devices_per_claim devices.
    too_many_devices,
    /// A request for all devices, and a pool that is incomplete or invalid.
    unusable_pool,
    /// A selector failed on a device, as CEL defines it.
    selector_failed,
    /// A selector uses what this version does not evaluate.
    selector_not_supported,
    /// See capacity_errc.
    bad_capacity,
    /// A constraint excludes a device that a request for all devices needs.
    constraint_excludes_device
};

[[nodiscard]] constexpr std::string_view message(device_errc code) noexcept {
    switch (code) {
    case device_errc::no_error:
        return "no error";
    case device_errc::feature_disabled:
        return "the request uses a feature that is not enabled";
    case device_errc::unknown_class:
        return "the device class does not exist";
    case device_errc::unknown_kind:
        return "the claim has a field of an unknown kind";
    case device_errc::too_many_devices:
        return "the claim needs more than 32 devices";
    case device_errc::unusable_pool:
        return "the request needs all devices, and a pool is being updated or invalid";
    case device_errc::selector_failed:
        return "a selector failed";
    case device_errc::selector_not_supported:
        return "a selector is not supported";
    case device_errc::bad_capacity:
        return "a requested capacity is out of range";
    case device_errc::constraint_excludes_device:
        return "a constraint excludes a device that the request needs";
    }
    return "not an error";
}

/// What allocate_devices() decides.
struct device_allocation {
    device_outcome outcome = device_outcome::none;
    device_errc error = device_errc::no_error;
    /// If failed: the name of what failed (class, pool, device) and why.
    std::string text;
    /// If failed: where. If none: the first claim and request that could not be satisfied together
    /// with those before.
    std::size_t claim = 0;
    std::size_t request = 0;
    /// If none: a pool of the node is invalid, and might have had the devices.
    bool has_invalid_pool = false;
    /// By claim, if allocated.
    std::vector<claim_allocation> claims;
    /// Devices that were tried.
    std::int64_t steps = 0;
};

} // namespace v0_1
} // namespace muster
