// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <muster/base/assert.hpp>
#include <muster/base/sequence.hpp>

namespace muster {
inline namespace v0_1 {
namespace detail {

/// Blocks, found by number. A block never moves: the pool grows by chunks of a few blocks, so
/// growth copies no block and allocates little memory ahead of need.
template<class Block>
class block_pool {
public:
    [[nodiscard]] Block& operator[](std::uint32_t block) noexcept {
        return chunks_[block / chunk][block % chunk];
    }
    [[nodiscard]] const Block& operator[](std::uint32_t block) const noexcept {
        return chunks_[block / chunk][block % chunk];
    }
    /// All block numbers are below this.
    [[nodiscard]] std::size_t size() const noexcept { return chunks_.size() * chunk; }

    /// Returns the number of a free block. A block that was given back has the content that it was
    /// given back with.
    [[nodiscard]] std::uint32_t take() {
        if (spare_.empty()) {
            const std::size_t first = size();
            chunks_.emplace_back(chunk);
            for (std::size_t left = chunk; left > 0; --left)
                spare_.push_back(static_cast<std::uint32_t>(first + left - 1));
        }
        const std::uint32_t taken = spare_.back();
        spare_.pop_back();
        return taken;
    }
    void give(std::uint32_t block) {
        MUSTER_ASSERT(block < size(), "a block of another pool");
        spare_.push_back(block);
    }
    void clear() noexcept {
        chunks_.clear();
        spare_.clear();
    }
    [[nodiscard]] std::size_t memory_bytes() const noexcept {
        return size() * sizeof(Block) + chunks_.capacity() * sizeof(chunks_[0]) +
               spare_.capacity() * sizeof(spare_[0]);
    }

private:
    static constexpr std::size_t chunk = 8;

    sequence<sequence<Block>> chunks_;
    detail::sequence<std::uint32_t> spare_;
};

} // namespace detail
} // namespace v0_1
} // namespace muster
