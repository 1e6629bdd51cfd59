// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <muster/resource/quantity.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// Gives claims a storage pool each, the one with most left, so that no pool gives more than it
/// has. Like volume_assignment, but claims do not move: claims may be refused that some other
/// choice would serve.
class pool_assignment {
public:
    /// Per claim the pools that suit it, and its size; per pool what it has.
    pool_assignment(std::vector<std::vector<std::size_t>> candidates,
                    std::vector<std::int64_t> sizes, std::vector<int128> left)
        : candidates_(std::move(candidates)),
          sizes_(std::move(sizes)),
          left_(std::move(left)),
          given_(candidates_.size()) {}

    [[nodiscard]] bool assign(std::size_t claim) {
        std::optional<std::size_t> best;
        for (const std::size_t pool : candidates_[claim])
            if (left_[pool] >= sizes_[claim] && (!best || left_[pool] > left_[*best]))
                best = pool;
        if (!best)
            return false;
        left_[*best] -= sizes_[claim];
        given_[claim] = best;
        return true;
    }
    void release(std::size_t claim) {
        if (given_[claim])
            left_[*given_[claim]] += sizes_[claim];
        given_[claim].reset();
    }
    void set_candidates(std::size_t claim, std::vector<std::size_t> candidates) {
        candidates_[claim] = std::move(candidates);
    }
    [[nodiscard]] std::optional<std::size_t> given_to(std::size_t claim) const {
        return given_[claim];
    }
    /// The pool has room for the claim.
    [[nodiscard]] bool is_free(std::size_t pool, std::size_t claim) const {
        return left_[pool] >= sizes_[claim];
    }

private:
    std::vector<std::vector<std::size_t>> candidates_;
    std::vector<std::int64_t> sizes_;
    std::vector<int128> left_;
    std::vector<std::optional<std::size_t>> given_;
};

} // namespace codec
} // namespace v0_1
} // namespace muster
