// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <muster/base/assert.hpp>
#include <muster/base/id.hpp>
#include <muster/base/sequence.hpp>
#include <muster/vocabulary/labels.hpp>

namespace muster {
inline namespace v0_1 {

/// An interned set of labels; 0 is the empty one.
using label_set_index = index_of<struct label_set_tag>;

/// Interned sets of labels, counted by reference: a million pods with the same labels hold them
/// once, and those without labels nothing. Numbers follow the order of arrival and decide nothing.
class label_table {
public:
    label_table() : rows_(1) {}

    /// One more user of equal labels. Expected O(size of the set).
    label_set_index acquire(const label_set& value) {
        if (value.empty())
            return {};
        const std::uint64_t hash = hash_of(value);
        if (2 * used_ >= buckets_.size())
            grow();
        std::size_t at = place_of(hash);
        for (; buckets_[at] != 0; at = next(at))
            if (row& found = rows_[buckets_[at]]; found.hash == hash && found.value == value) {
                ++found.users;
                return label_set_index{buckets_[at]};
            }
        std::size_t slot = rows_.size();
        if (unused_.empty()) {
            rows_.emplace_back();
        } else {
            slot = unused_.back();
            unused_.pop_back();
        }
        rows_[slot] = {value, hash, 1};
        buckets_[at] = static_cast<std::uint32_t>(slot);
        ++used_;
        return label_set_index{slot};
    }

    /// One more user of a set that has one.
    void acquire_again(label_set_index index) noexcept { ++rows_[index.value()].users; }

    void release(label_set_index index) {
        if (index == label_set_index{})
            return;
        row& at = rows_[index.value()];
        MUSTER_ASSERT(at.users > 0, "released once per acquire");
        if (--at.users > 0)
            return;
        std::size_t hole = place_of(at.hash);
        while (buckets_[hole] != index.value())
            hole = next(hole);
        at = {};
        unused_.push_back(index.value());
        close(hole);
        --used_;
    }

    [[nodiscard]] const label_set& operator[](label_set_index index) const noexcept {
        return rows_[index.value()].value;
    }

private:
    struct row {
        label_set value;
        std::uint64_t hash = 0;
        std::size_t users = 0;
    };

    [[nodiscard]] static std::uint64_t hash_of(const label_set& value) noexcept {
        std::uint64_t hash = 0xcbf29ce484222325U;
        const auto mix = [&](std::string_view text) {
            for (const char each : text)
                hash = (hash ^ static_cast<unsigned char>(each)) * 0x100000001b3U;
            hash = (hash ^ 0xffU) * 0x100000001b3U;
        };
        for (const auto& [key, text] : value) {
            mix(key);
            mix(text);
        }
        return hash ^ (hash >> 29U);
    }

    [[nodiscard]] std::size_t place_of(std::uint64_t hash) const noexcept {
        return static_cast<std::size_t>(hash) & (buckets_.size() - 1);
    }
    [[nodiscard]] std::size_t next(std::size_t at) const noexcept {
        return (at + 1) & (buckets_.size() - 1);
    }

    void grow() {
        buckets_.assign(buckets_.empty() ? 16 : 2 * buckets_.size(), 0);
        for (std::size_t slot = 1; slot < rows_.size(); ++slot) {
            if (rows_[slot].users == 0)
                continue;
            std::size_t at = place_of(rows_[slot].hash);
            while (buckets_[at] != 0)
                at = next(at);
            buckets_[at] = static_cast<std::uint32_t>(slot);
        }
    }

    /// Moves those behind a freed place up, so that every set is found from its own place on.
    void close(std::size_t hole) noexcept {
        const std::size_t mask = buckets_.size() - 1;
        for (std::size_t at = next(hole); buckets_[at] != 0; at = next(at)) {
            const std::size_t home = place_of(rows_[buckets_[at]].hash);
            if (((at - home) & mask) < ((at - hole) & mask))
                continue;
            buckets_[hole] = buckets_[at];
            hole = at;
        }
        buckets_[hole] = 0;
    }

    detail::sequence<row> rows_;
    /// Open addressing, a power of two; 0 = empty.
    detail::sequence<std::uint32_t> buckets_;
    std::size_t used_ = 0;
    detail::sequence<std::size_t> unused_;
};

} // namespace v0_1
} // namespace muster
