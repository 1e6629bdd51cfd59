// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include <muster/base/sequence.hpp>

namespace muster {
inline namespace v0_1 {
namespace detail {

/// A hash set of lists of numbers. All lists are in one array, whose memory is reused.
class seen_lists {
public:
    void clear() noexcept {
        numbers_.clear();
        ends_.clear();
        slots_.assign(slots_.size(), 0);
    }
    [[nodiscard]] std::size_t size() const noexcept { return ends_.size(); }

    [[nodiscard]] bool contains(std::span<const std::uint64_t> list) const noexcept {
        return !slots_.empty() && slots_[slot_of(list)] != 0;
    }
    /// Returns false if the list is in the set already.
    [[nodiscard]] bool insert(std::span<const std::uint64_t> list) {
        if (2 * (ends_.size() + 1) > slots_.size())
            grow();
        std::size_t& slot = slots_[slot_of(list)];
        if (slot != 0)
            return false;
        numbers_.insert(numbers_.end(), list.begin(), list.end());
        ends_.push_back(numbers_.size());
        slot = ends_.size();
        return true;
    }

private:
    [[nodiscard]] std::span<const std::uint64_t> list_at(std::size_t at) const noexcept {
        const std::size_t begin = at == 0 ? 0 : ends_[at - 1];
        return {numbers_.data() + begin, ends_[at] - begin};
    }

    /// Returns the slot of the list, or an empty slot for it.
    [[nodiscard]] std::size_t slot_of(std::span<const std::uint64_t> list) const noexcept {
        std::uint64_t mixed = list.size();
        for (const std::uint64_t number : list) {
            mixed = (mixed ^ number) * 0x9e3779b97f4a7c15U;
            mixed ^= mixed >> 29U;
        }
        std::size_t slot = mixed & (slots_.size() - 1);
        const auto holds_other = [&](std::size_t number) {
            const std::span<const std::uint64_t> there = list_at(number - 1);
            return !std::equal(there.begin(), there.end(), list.begin(), list.end());
        };
        while (slots_[slot] != 0 && holds_other(slots_[slot]))
            slot = (slot + 1) & (slots_.size() - 1);
        return slot;
    }

    void grow() {
        slots_.assign(std::max<std::size_t>(64, 2 * slots_.size()), 0);
        for (std::size_t at = 0; at < ends_.size(); ++at)
            slots_[slot_of(list_at(at))] = at + 1;
    }

    detail::sequence<std::uint64_t> numbers_;
    /// Per list: where it ends in `numbers_`.
    detail::sequence<std::size_t> ends_;
    /// Hash slots: 0 if empty, otherwise one more than the number of a list. The size is a power of
    /// two.
    detail::sequence<std::size_t> slots_;
};

} // namespace detail
} // namespace v0_1
} // namespace muster
