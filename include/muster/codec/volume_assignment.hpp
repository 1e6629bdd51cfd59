// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// Assigns a different volume to each claim (bipartite matching by augmenting paths): earlier
/// claims move to another candidate if that lets a later claim have a volume, up to `longest_chain`
/// moves per claim. O(claims × candidates) for each claim.
class volume_assignment {
public:
    /// Bounds the recursion depth.
    static constexpr std::size_t longest_chain = 1000;

    /// `candidates`: per claim the suitable volumes, preferred first, as positions below `volumes`.
    volume_assignment(std::vector<std::vector<std::size_t>> candidates, std::size_t volumes)
        : candidates_(std::move(candidates)), volume_of_(candidates_.size()), claim_of_(volumes) {}

    /// Returns true if the claim got a volume. Claims that had a volume still have one, perhaps
    /// another one.
    bool assign(std::size_t claim) {
        seen_.assign(claim_of_.size(), false);
        return find(claim, 0);
    }
    void release(std::size_t claim) {
        if (volume_of_[claim])
            claim_of_[*volume_of_[claim]].reset();
        volume_of_[claim].reset();
    }
    void set_candidates(std::size_t claim, std::vector<std::size_t> candidates) {
        candidates_[claim] = std::move(candidates);
    }
    /// No claim has the volume.
    [[nodiscard]] bool is_free(std::size_t volume, std::size_t) const { return !claim_of_[volume]; }
    [[nodiscard]] std::optional<std::size_t> given_to(std::size_t claim) const {
        return volume_of_[claim];
    }

private:
    bool find(std::size_t claim, std::size_t depth) {
        if (depth > longest_chain)
            return false;
        for (const std::size_t volume : candidates_[claim]) {
            if (seen_[volume])
                continue;
            seen_[volume] = true;
            if (claim_of_[volume] && !find(*claim_of_[volume], depth + 1))
                continue;
            claim_of_[volume] = claim;
            volume_of_[claim] = volume;
            return true;
        }
        return false;
    }

    std::vector<std::vector<std::size_t>> candidates_;
    std::vector<std::optional<std::size_t>> volume_of_;
    std::vector<std::optional<std::size_t>> claim_of_;
    std::vector<bool> seen_;
};

} // namespace codec
} // namespace v0_1
} // namespace muster
