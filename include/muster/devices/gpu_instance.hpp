// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace muster {
inline namespace v0_1 {

/// An instance into which a GPU can be divided (NVIDIA MIG), at one place of the GPU. One share
/// uses it. Preconditions: no amount is negative, and `slices` is not 0.
struct gpu_instance {
    /// The name in the device's system: the profile for HAMi, `group-position` for Volcano. It does
    /// not affect the choice.
    std::string name;
    /// In the device's unit.
    std::int64_t memory = 0;
    /// Percent of the device's compute that the share uses; absent = what the share requests.
    std::optional<std::int64_t> cores = {};
    /// The slices of the device that the instance uses, one per bit.
    std::uint64_t slices = 0;
    /// Further slices that must be unused.
    std::uint64_t apart_from = 0;
    /// If any slice of the device is in use, one of these must be; 0 = no such rule.
    std::uint64_t beside = 0;

    /// True if a device with these slices in use has the instance free. O(1).
    [[nodiscard]] constexpr bool is_free(std::uint64_t used) const noexcept {
        return slices != 0 && (used & (slices | apart_from)) == 0 &&
               (beside == 0 || used == 0 || (used & beside) != 0);
    }

    friend bool operator==(const gpu_instance&, const gpu_instance&) = default;
};

/// Returns the name of the instance at a position; if others have the same name, `name@start` with
/// the number of its first slice, as HAMi numbers placements. O(instances).
[[nodiscard]] inline std::string instance_id(std::span<const gpu_instance> among, std::size_t at) {
    const gpu_instance& of = among[at];
    for (std::size_t other = 0; other < among.size(); ++other)
        if (other != at && among[other].name == of.name)
            return of.name + "@" + std::to_string(std::countr_zero(of.slices));
    return of.name;
}

/// Maximum number of slices of a device.
inline constexpr std::int64_t most_slices = 64;

/// Returns `size` slices from `start` on; 0 if there are none, or if they are not within
/// `most_slices`. O(1).
[[nodiscard]] constexpr std::uint64_t slices_at(std::int64_t start, std::int64_t size) noexcept {
    if (start < 0 || start >= most_slices || size <= 0 || size > most_slices - start)
        return 0;
    return (~std::uint64_t{0} >> static_cast<unsigned>(most_slices - size))
           << static_cast<unsigned>(start);
}

/// Returns the position, at least `from`, of the first free instance with at least this memory;
/// nullopt if there is none. O(instances).
[[nodiscard]] inline std::optional<std::size_t> find_instance(std::span<const gpu_instance> among,
                                                              std::uint64_t used,
                                                              std::int64_t memory,
                                                              std::size_t from = 0) noexcept {
    for (std::size_t at = from; at < among.size(); ++at)
        if (among[at].memory >= memory && among[at].is_free(used))
            return at;
    return std::nullopt;
}

/// Returns how many of the free instances from position `from` on, with at least this memory, can
/// be used together, up to `most`: exactly if each is a run of slices without `apart_from` and
/// `beside`, else an upper bound. O(instances × result).
[[nodiscard]] inline std::size_t most_instances(std::span<const gpu_instance> among,
                                                std::uint64_t used, std::int64_t memory,
                                                std::size_t from, std::size_t most) noexcept {
    std::size_t free = 0;
    bool are_runs = true;
    for (auto at = find_instance(among, used, memory, from); at;
         at = find_instance(among, used, memory, *at + 1)) {
        const std::uint64_t run = among[*at].slices >> std::countr_zero(among[*at].slices);
        are_runs = are_runs && among[*at].apart_from == 0 && among[*at].beside == 0 &&
                   (run & (run + 1)) == 0;
        ++free;
    }
    // No two instances use the same slice.
    const std::size_t bound = std::min({free, most, static_cast<std::size_t>(most_slices)});
    if (!are_runs)
        return bound;
    // The run that ends first leaves the most room for the others.
    std::size_t count = 0;
    for (int end = 0; count < bound; ++count) {
        int next = static_cast<int>(most_slices) + 1;
        for (auto at = find_instance(among, used, memory, from); at;
             at = find_instance(among, used, memory, *at + 1))
            if (std::countr_zero(among[*at].slices) >= end)
                next = std::min(next, static_cast<int>(std::bit_width(among[*at].slices)));
        if (next > most_slices)
            break;
        end = next;
    }
    return count;
}

/// The same without a limit.
[[nodiscard]] inline std::size_t most_instances(std::span<const gpu_instance> among,
                                                std::uint64_t used, std::int64_t memory,
                                                std::size_t from = 0) noexcept {
    return most_instances(among, used, memory, from, static_cast<std::size_t>(most_slices));
}

} // namespace v0_1
} // namespace muster
