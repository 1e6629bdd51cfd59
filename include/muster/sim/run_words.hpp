// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include <muster/model/answer.hpp>

namespace muster::inline v0_1 {
namespace sim {

/// What stops a gang, in the fewest words.
[[nodiscard]] constexpr std::string_view gate_text(gate at) {
    switch (at) {
    case gate::none:
        return "";
    case gate::group:
        return "its group is missing or malformed";
    case gate::members:
        return "too few members exist";
    case gate::queue:
        return "its queue does not take it";
    case gate::unsupported:
        return "a member has a constraint that is not modelled";
    case gate::quota:
        return "the quota of its queue is used up";
    case gate::space:
        return "it does not fit the nodes";
    case gate::order:
        return "others go before it";
    }
    return "";
}

} // namespace sim
} // namespace muster::inline v0_1
