// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <iterator>
#include <string_view>

#include <muster/vocabulary/answer.hpp>
#include <muster/vocabulary/pod_terms.hpp>
#include <muster/vocabulary/reason.hpp>

namespace muster {
inline namespace v0_1 {
namespace words {

/// True if the reason is about a pod term that keeps apart pods with volumes. Such terms stand for
/// volumes that only one pod may use, or that were assigned twice.
[[nodiscard]] inline bool keeps_volumes_apart(const reason& what) noexcept {
    return !what.shares_volume &&
           (what.topology == volume_cluster_label || what.topology == volume_supply_label ||
            what.topology == volume_node_label);
}

/// The name of reasons for which `keeps_volumes_apart` holds.
inline constexpr std::string_view volume_in_use = "VolumeInUse";

/// Returns the stable name of a reason, for programs: the name of its code, except that a pod term
/// that stands for a volume has the name of a reason about volumes.
[[nodiscard]] inline std::string_view reason_name(const reason& what) noexcept {
    return keeps_volumes_apart(what) ? volume_in_use
           : what.shares_volume      ? name_of(reason_code::volume_out_of_reach)
                                     : name_of(what.code);
}

/// Returns all names that `reason_name` returns, e.g. for a schema.
[[nodiscard]] constexpr auto all_reason_names() noexcept {
    std::array<std::string_view, std::size(reason_names) + 1> all{};
    for (std::size_t at = 0; at < std::size(reason_names); ++at)
        all[at] = reason_names[at];
    all.back() = volume_in_use;
    return all;
}

/// Stable names, for programs.
[[nodiscard]] constexpr std::string_view reason_kind_name(reason_kind kind) noexcept {
    return kind == reason_kind::blocking            ? "blocking"
           : kind == reason_kind::blocking_together ? "blockingTogether"
                                                    : "contributing";
}

[[nodiscard]] constexpr std::string_view answer_name(answer kind) noexcept {
    return kind == answer::admitted  ? "admitted"
           : kind == answer::waiting ? "waiting"
           : kind == answer::never   ? "never"
                                     : "undecided";
}

} // namespace words
} // namespace v0_1
} // namespace muster
