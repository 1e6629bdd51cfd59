// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace muster::inline v0_1 {
namespace codec {

/// Gives claims a volume each, so that no two have the same one: a claim may move to another of its
/// candidates to let a later one in (augmenting paths), and so may up to `longest_chain` others.
/// O(claims × candidates) for each claim.
class volume_assignment {
public:
    /// Bounds the stack.
    static constexpr std::size_t longest_chain = 1000;

    /// Per claim the volumes that suit it, the preferred ones first; `volumes` of them in all.
    volume_assignment(std::vector<std::vector<std::size_t>> candidates, std::size_t volumes)
        : candidates_(std::move(candidates)), volume_of_(candidates_.size()), claim_of_(volumes) {}

    /// True when the claim has a volume now. Claims that had one keep one.
    bool assign(std::size_t claim) {
        seen_.assign(claim_of_.size(), false);
        return find(claim, 0);
    }
    void release(std::size_t claim) {
        if (volume_of_[claim])
            claim_of_[*volume_of_[claim]].reset();
        volume_of_[claim].reset();
    }
    [[nodiscard]] std::optional<std::size_t> volume_of(std::size_t claim) const {
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
} // namespace muster::inline v0_1
