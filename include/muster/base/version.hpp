// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The only definition of the version; CMake reads these lines.
#define MUSTER_VERSION_MAJOR 0
#define MUSTER_VERSION_MINOR 1
#define MUSTER_VERSION_PATCH 0

namespace muster {
inline namespace v0_1 {

struct version {
    int major, minor, patch;
};

/// The version of these headers. The inline namespace v0_1 puts it into every symbol, so two
/// versions in one program do not mix.
inline constexpr version library_version{MUSTER_VERSION_MAJOR, MUSTER_VERSION_MINOR,
                                         MUSTER_VERSION_PATCH};

} // namespace v0_1
} // namespace muster
