// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include <muster/base/timestamp.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

using muster::parse_timestamp;

/// The text is a time of a year that int64 does not carry in nanoseconds.
[[nodiscard]] inline bool is_distant_time(std::string_view text) {
    return muster::detail::digits_at(text, 0, 4) && !parse_timestamp(text) &&
           parse_timestamp("2000" + std::string(text.substr(4))).has_value();
}

} // namespace codec
} // namespace v0_1
} // namespace muster
