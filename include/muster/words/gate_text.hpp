// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include <muster/vocabulary/answer.hpp>

namespace muster {
inline namespace v0_1 {
namespace words {

/// Returns, as a clause, why a gang that this gate stopped waits. For reports that have no time for
/// `explain`; `name_of` is for programs.
[[nodiscard]] constexpr std::string_view gate_text(gate at) noexcept {
    switch (at) {
    case gate::none:
        break;
    case gate::group:
        return "its group is missing or malformed, or its members disagree about it";
    case gate::members:
        return "it has too few members yet";
    case gate::queue:
        return "its queue is unknown, closed, or not for its namespace";
    case gate::unsupported:
        return "members carry constraints that are not supported";
    case gate::quota:
        return "its queue's quota stops it";
    case gate::space:
        return "it does not fit the nodes that are free";
    case gate::order:
        return "a gang ahead of it waits, in a queue that keeps strict order";
    case gate::volumes:
        return "volumes or claims of members are not ready";
    }
    return "it was not decided yet";
}

/// Why members wait beyond the minimum of a gang that has it.
inline constexpr std::string_view surplus_waits_text =
    "its gang has its minimum, and no node has room for more members";

} // namespace words
} // namespace v0_1
} // namespace muster
