// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <muster/resource/quantity.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// A free volume, or a storage pool.
struct storage_supply {
    /// Bytes that the pool has left; absent = a free volume, which one claim gets.
    std::optional<int128> left;
};

/// Assigns supplies to claims: a different free volume to each (bipartite matching by augmenting
/// paths), or else the storage pool with most left, so that no pool gives more than it has. Earlier
/// claims move to another supply if that lets a later claim have their volume, up to
/// `longest_chain` moves per claim. Claims do not leave a pool: a claim may be refused that another
/// choice of pools would serve. O(claims × candidates) for each claim.
class supply_assignment {
public:
    /// Bounds the recursion depth.
    static constexpr std::size_t longest_chain = 1000;

    /// `candidates`: per claim the suitable supplies, as positions in `supplies`, preferred volumes
    /// first. `sizes`: bytes per claim; unused without pools.
    supply_assignment(std::vector<std::vector<std::size_t>> candidates,
                      std::vector<std::int64_t> sizes, std::vector<storage_supply> supplies)
        : sizes_(std::move(sizes)),
          supplies_(std::move(supplies)),
          given_(candidates.size()),
          claim_of_(supplies_.size()) {
        sizes_.resize(candidates.size());
        candidates_.resize(candidates.size());
        for (std::size_t claim = 0; claim < candidates.size(); ++claim)
            set_candidates(claim, std::move(candidates[claim]));
    }

    /// Returns true if the claim got a supply. Claims that had one still have one, perhaps another
    /// one.
    bool assign(std::size_t claim) {
        seen_.assign(supplies_.size(), false);
        return find(claim, 0);
    }
    void release(std::size_t claim) {
        if (const auto from = given_[claim]) {
            if (supplies_[*from].left)
                *supplies_[*from].left += sizes_[claim];
            else
                claim_of_[*from].reset();
        }
        given_[claim].reset();
    }
    void set_candidates(std::size_t claim, std::vector<std::size_t> candidates) {
        candidates_[claim] =
            std::make_shared<const std::vector<std::size_t>>(std::move(candidates));
    }
    [[nodiscard]] const std::vector<std::size_t>& candidates(std::size_t claim) const {
        return *candidates_[claim];
    }
    /// No claim has the volume, or the pool has room for the claim.
    [[nodiscard]] bool is_free(std::size_t supply, std::size_t claim) const {
        const auto& left = supplies_[supply].left;
        return left ? *left >= sizes_[claim] : !claim_of_[supply];
    }
    [[nodiscard]] std::optional<std::size_t> given_to(std::size_t claim) const {
        return given_[claim];
    }

private:
    bool find(std::size_t claim, std::size_t depth) {
        if (depth > longest_chain)
            return false;
        std::optional<std::size_t> pool;
        for (const std::size_t supply : *candidates_[claim]) {
            if (const auto& left = supplies_[supply].left) {
                if (*left >= sizes_[claim] && (!pool || *left > *supplies_[*pool].left))
                    pool = supply;
                continue;
            }
            if (seen_[supply])
                continue;
            seen_[supply] = true;
            if (claim_of_[supply] && !find(*claim_of_[supply], depth + 1))
                continue;
            claim_of_[supply] = claim;
            given_[claim] = supply;
            return true;
        }
        if (!pool)
            return false;
        *supplies_[*pool].left -= sizes_[claim];
        given_[claim] = pool;
        return true;
    }

    /// Shared, so that a copy costs O(claims + supplies).
    std::vector<std::shared_ptr<const std::vector<std::size_t>>> candidates_;
    std::vector<std::int64_t> sizes_;
    std::vector<storage_supply> supplies_;
    std::vector<std::optional<std::size_t>> given_;
    std::vector<std::optional<std::size_t>> claim_of_;
    std::vector<bool> seen_;
};

} // namespace codec
} // namespace v0_1
} // namespace muster
