// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace muster {
inline namespace v0_1 {

/// The kinds of answer to "does this gang start now?".
enum class answer : std::uint8_t {
    /// Starts: every minimum is met by what already holds resources and what is placed now.
    admitted,
    /// Proven not to fit what is free now, or something is missing.
    waiting,
    /// Proven impossible even in the empty cluster, or ill-formed.
    never,
    /// The search budget ended with neither a placement nor a proof.
    undecided,
};

/// How many gangs have each answer.
struct answer_counts {
    std::size_t admitted = 0;
    std::size_t waiting = 0;
    std::size_t never = 0;
    std::size_t undecided = 0;

    constexpr void add(answer kind) noexcept { ++of(kind); }
    constexpr void remove(answer kind) noexcept { --of(kind); }

private:
    constexpr std::size_t& of(answer kind) noexcept {
        switch (kind) {
        case answer::admitted:
            return admitted;
        case answer::waiting:
            return waiting;
        case answer::never:
            return never;
        case answer::undecided:
            break;
        }
        return undecided;
    }
};

/// The check that stopped a gang: the first that applies, in this order (`volumes` comes after
/// `unsupported`).
enum class gate : std::uint8_t {
    none,
    /// The group is missing, malformed, or its members disagree.
    group,
    /// Too few members exist.
    members,
    /// The queue is unknown, closed, or does not accept this tenant.
    queue,
    /// Members carry constraints that are not modelled.
    unsupported,
    /// The quota is exceeded, whatever is free on nodes.
    quota,
    /// The gang does not fit the nodes.
    space,
    /// A gang ahead of it waits, in a queue with strict order.
    order,
    /// Only volumes or claims that are not ready hold members back.
    volumes,
};

/// Stable, machine-readable names, in the order of the enumerators.
inline constexpr std::string_view gate_names[] = {
    "none", "group", "members", "queue", "unsupported", "quota", "space", "order", "volumes"};

[[nodiscard]] constexpr std::string_view name_of(gate at) noexcept {
    return gate_names[static_cast<std::size_t>(at)];
}
static_assert(name_of(gate::volumes) == "volumes");

} // namespace v0_1
} // namespace muster
