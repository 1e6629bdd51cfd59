// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include <muster/base/id.hpp>

namespace muster {
inline namespace v0_1 {

/// Why no eviction helps: with all permitted victims evicted, too little is free.
struct eviction_shortage {
    /// The kind of the amounts, which are sums over all nodes. If absent, the amounts are numbers
    /// of pods of the only class that is needed.
    std::optional<kind_id> kind;
    std::int64_t needed = 0;
    std::int64_t there = 0;

    [[nodiscard]] friend bool operator==(const eviction_shortage&,
                                         const eviction_shortage&) = default;
};

} // namespace v0_1
} // namespace muster
