// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include <muster/base/id.hpp>

namespace muster::inline v0_1 {

/// Why no eviction helps: with all gone that may be taken, too little is free.
struct eviction_shortage {
    /// Of that kind, in all; absent = room for pods of the only class that is needed.
    std::optional<kind_id> kind;
    std::int64_t needed = 0;
    std::int64_t there = 0;

    [[nodiscard]] friend bool operator==(const eviction_shortage&,
                                         const eviction_shortage&) = default;
};

} // namespace muster::inline v0_1
