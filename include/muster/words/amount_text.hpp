// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <muster/resource/quantity.hpp>

namespace muster {
inline namespace v0_1 {
namespace words {

/// Returns an amount as a canonical quantity of Kubernetes: "2500m", "8Gi", "3". `amount` is in the
/// unit of the core: thousandths of cpu, else units. Kinds that count bytes are written by powers
/// of two, others by powers of ten.
[[nodiscard]] inline std::string amount_text(std::string_view kind, std::int64_t amount) {
    const bool bytes = kind == "memory" || kind == "ephemeral-storage" ||
                       kind.starts_with("hugepages-") || kind.ends_with("/requests.storage");
    return quantity_text(amount, kind == "cpu" ? quantity_scale::milli : quantity_scale::units,
                         bytes ? quantity_format::binary_si : quantity_format::decimal_si);
}

} // namespace words
} // namespace v0_1
} // namespace muster
