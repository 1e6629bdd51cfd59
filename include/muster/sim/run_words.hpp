// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include <muster/cycle/decision.hpp>
#include <muster/vocabulary/answer.hpp>

namespace muster {
inline namespace v0_1 {
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
    case gate::volumes:
        return "a volume or claim of a member is not ready";
    }
    return "";
}

/// What a run tells of a decision, and its details; nothing of a pod by itself that is placed,
/// which its own line tells.
[[nodiscard]] inline std::pair<std::string_view, std::string> words_of(const decision& made,
                                                                       bool single_pod) {
    if (made.outcome.kind != answer::admitted)
        return {made.outcome.kind == answer::never       ? "Never"
                : made.outcome.kind == answer::undecided ? "Undecided"
                                                         : "Waits",
                std::string(gate_text(made.outcome.at))};
    if (!made.nominated && (single_pod || made.placements.empty()))
        return {};
    return {made.nominated ? "Nominated" : "Admitted",
            std::to_string(made.placements.size()) +
                (made.placements.size() == 1 ? " pod" : " pods")};
}

} // namespace sim
} // namespace v0_1
} // namespace muster
