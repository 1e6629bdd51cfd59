// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// Turns the matching of claims with the free volumes of one node into amounts. Claims come in
/// shapes, and a volume suits some shapes. Every claim gets its own volume if and only if, for each
/// set of shapes, the claims of these shapes are no more than the volumes that suit at least one of
/// them (Hall's marriage theorem). Each set becomes an amount that claims use and nodes have. Sets
/// that are implied by other sets are left out.
class volume_counts {
public:
    static constexpr std::size_t most_shapes = 6;
    static constexpr std::size_t most_sets = 8;
    using shape_set = std::uint32_t;

    /// `suits`: for each volume, the set of shapes that it suits. Precondition: `shapes` ≤
    /// most_shapes. Returns nullopt if more than `most_sets` sets remain. O(3^shapes × suits).
    [[nodiscard]] static std::optional<volume_counts> make(std::size_t shapes,
                                                           const std::vector<shape_set>& suits) {
        volume_counts made;
        const shape_set all = (shape_set{1} << shapes) - 1;
        for (shape_set each = 1; each <= all; ++each)
            if (!follows(each, all, suits))
                made.sets_.push_back(each);
        if (made.sets_.size() > most_sets)
            return std::nullopt;
        return made;
    }

    [[nodiscard]] const std::vector<shape_set>& sets() const noexcept { return sets_; }

private:
    /// True if the condition of the set is implied: a larger set has the same volumes, or the set
    /// splits into two sets that share no volume.
    [[nodiscard]] static bool follows(shape_set which, shape_set all,
                                      const std::vector<shape_set>& suits) {
        const auto suits_more = [&](shape_set shape) {
            for (const shape_set each : suits)
                if ((each & shape) != 0 && (each & which) == 0)
                    return true;
            return false;
        };
        for (shape_set rest = all & ~which; rest != 0; rest &= rest - 1)
            if (!suits_more(rest & (~rest + 1)))
                return true;
        const shape_set first = which & (~which + 1);
        for (shape_set part = (which - 1) & which; part != 0; part = (part - 1) & which) {
            if ((part & first) == 0)
                continue;
            // Both parts must have volumes, or else a part could in turn be implied by the whole.
            bool apart = true;
            bool one = false;
            bool other = false;
            for (const shape_set each : suits) {
                const bool in_part = (each & part) != 0;
                const bool in_rest = (each & which & ~part) != 0;
                apart = apart && !(in_part && in_rest);
                one |= in_part;
                other |= in_rest;
            }
            if (apart && one && other)
                return true;
        }
        return false;
    }

    std::vector<shape_set> sets_;
};

} // namespace codec
} // namespace v0_1
} // namespace muster
