// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace muster::inline v0_1 {
namespace codec {

/// Claims of several shapes beside volumes of one node, where a volume suits some shapes and not
/// others. All of them get a volume of their own if and only if, for every set of shapes, no more
/// claims are of these shapes than volumes suit some of them (Hall's marriage theorem). Each set is
/// an amount that claims take and nodes have. Sets that follow from others are left out.
class volume_counts {
public:
    static constexpr std::size_t most_shapes = 6;
    static constexpr std::size_t most_sets = 8;
    using shape_set = std::uint32_t;

    /// `suits` are the sets of shapes that some volume suits; `shapes` ≤ most_shapes. Nothing when
    /// too many sets are left.
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
    /// The volumes that suit some shape of the set are those that suit some of a larger set; or the
    /// set is two sets with no volume in common.
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
            // Each part has volumes, so that neither follows from the whole in turn.
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
} // namespace muster::inline v0_1
