// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace bench {

// What all schedulers here are given: amounts, nodes and gangs, with nothing of Muster's in them.

/// Columns of an amount. The first four are always there.
enum kind : std::size_t { cpu, memory, gpu, pods, storage, hugepages, rdma, nics };

template<std::size_t Width>
using amounts = std::array<std::int64_t, Width>;

/// A gang or node that selects no pool.
inline constexpr std::int32_t no_pool = -1;

template<std::size_t Width>
struct node_spec {
    amounts<Width> allocatable{};
    std::int32_t pool = no_pool;
};

template<std::size_t Width>
struct role_spec {
    amounts<Width> request{};
    std::int64_t minimum = 0;
    std::int64_t desired = 0;
};

template<std::size_t Width>
struct gang_spec {
    std::vector<role_spec<Width>> roles;
    std::int32_t pool = no_pool;

    [[nodiscard]] std::int64_t members() const noexcept {
        std::int64_t sum = 0;
        for (const role_spec<Width>& role : roles)
            sum += role.desired;
        return sum;
    }
};

/// One member's place. Members of a role are alike, so which of them stands there is not told.
struct placed {
    std::uint32_t role = 0;
    std::uint32_t node = 0;

    [[nodiscard]] friend constexpr auto operator<=>(placed, placed) = default;
};

/// How the best of the feasible nodes is chosen; ties go to the first node.
enum class placement_rule : std::uint8_t { best_fit, worst_fit, first_fit };

[[nodiscard]] constexpr const char* name_of(placement_rule rule) noexcept {
    return rule == placement_rule::best_fit    ? "best-fit"
           : rule == placement_rule::worst_fit ? "worst-fit"
                                               : "first-fit";
}

/// Weight 2^s per kind, s = 57 - ceil(log2(largest allocatable)); pods weigh nothing. Written
/// apart from Muster's own, so that agreement says something.
template<std::size_t Width>
[[nodiscard]] amounts<Width> weights_of(const std::vector<node_spec<Width>>& nodes) {
    amounts<Width> weights{};
    for (std::size_t column = 0; column < Width; ++column) {
        std::int64_t largest = 0;
        for (const node_spec<Width>& node : nodes)
            largest = node.allocatable[column] > largest ? node.allocatable[column] : largest;
        if (column == pods || largest == 0)
            continue;
        const auto log = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(largest - 1)));
        weights[column] = std::int64_t{1} << (57 - log);
    }
    return weights;
}

/// Something that must not happen did: no figure is worth printing.
[[noreturn]] inline void fail(const std::string& why) {
    std::fprintf(stderr, "bench: %s\n", why.c_str());
    std::exit(EXIT_FAILURE);
}

} // namespace bench
