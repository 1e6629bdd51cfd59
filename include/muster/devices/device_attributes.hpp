// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include <muster/resource/quantity.hpp>

namespace muster {
inline namespace v0_1 {

/// A version as semver.org 2.0.0 defines it. Build metadata is kept and never compared.
struct semantic_version {
    std::uint64_t major = 0;
    std::uint64_t minor = 0;
    std::uint64_t patch = 0;
    /// The identifiers after `-`, split at dots.
    std::vector<std::string> prerelease;
    std::string build;
};

/// The value of a device attribute.
using device_attribute = std::variant<bool, std::int64_t, std::string, semantic_version,
                                      std::vector<bool>, std::vector<std::int64_t>,
                                      std::vector<std::string>, std::vector<semantic_version>>;

/// What a selector can read of a device.
struct device_attributes {
    std::string driver;
    /// By qualified name, `domain/name`. A name without a domain has the driver's.
    std::map<std::string, device_attribute> attributes;
    /// By qualified name, as `attributes`.
    std::map<std::string, quantity> capacities;
    /// Several claims can use the device at a time.
    bool allows_multiple_allocations = false;
};

} // namespace v0_1
} // namespace muster
