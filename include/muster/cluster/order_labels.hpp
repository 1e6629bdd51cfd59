// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>

#include <muster/base/assert.hpp>
#include <muster/base/id.hpp>
#include <muster/base/sequence.hpp>

namespace muster {
inline namespace v0_1 {

/// The order of the keys of all records of one kind, without the keys: a list of the records, and
/// a 64-bit label for each that grows along the list. Ties are decided by comparing two labels. A
/// new record gets a label between its neighbours'; where none is left, the labels around are
/// spread out again. Only the order of labels means anything.
template<class Tag>
class order_labels {
public:
    using index = index_of<Tag>;

    [[nodiscard]] std::uint64_t operator[](index at) const noexcept {
        return entries_[at.value()].label;
    }
    [[nodiscard]] bool before(index lhs, index rhs) const noexcept {
        return (*this)[lhs] < (*this)[rhs];
    }
    /// Moves when labels that were given changed, their order never does.
    [[nodiscard]] std::uint64_t epoch() const noexcept { return epoch_; }
    /// How many records are in the list.
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] bool empty() const noexcept { return size_ == 0; }

    /// Walks the list in the order of keys.
    class iterator {
    public:
        using iterator_category = std::forward_iterator_tag;
        using value_type = index;
        using difference_type = std::ptrdiff_t;
        using pointer = const index*;
        using reference = index;

        iterator() = default;
        [[nodiscard]] index operator*() const noexcept { return index{at_}; }
        iterator& operator++() noexcept {
            at_ = list_->entries_[at_].next;
            return *this;
        }
        iterator operator++(int) noexcept {
            iterator before = *this;
            ++*this;
            return before;
        }
        [[nodiscard]] friend bool operator==(iterator lhs, iterator rhs) noexcept {
            return lhs.at_ == rhs.at_;
        }

    private:
        friend class order_labels;
        iterator(const order_labels& list, std::uint32_t at) noexcept : list_(&list), at_(at) {}
        const order_labels* list_ = nullptr;
        std::uint32_t at_ = none;
    };
    [[nodiscard]] iterator begin() const noexcept { return {*this, first_}; }
    [[nodiscard]] iterator end() const noexcept { return {*this, none}; }

    /// The record right before that one in the list; nothing for the first. O(1).
    [[nodiscard]] std::optional<index> previous(index at) const noexcept {
        const std::uint32_t before = entries_[at.value()].previous;
        return before == none ? std::nullopt : std::optional(index{before});
    }
    /// The last record of the list.
    [[nodiscard]] std::optional<index> last() const noexcept {
        return last_ == none ? std::nullopt : std::optional(index{last_});
    }

    /// Puts a record that is not in the list right behind that one, or first. Amortised
    /// O(log records).
    void insert(index fresh, std::optional<index> behind) {
        const std::uint32_t at = slot(fresh);
        const std::uint32_t before = behind ? slot(*behind) : none;
        if (entries_.size() <= at)
            entries_.resize(at + std::size_t{1});
        link(at, before, before == none ? first_ : entries_[before].next);
        ++size_;
        const std::uint32_t next = entries_[at].next;
        const std::uint64_t low = before == none ? 0 : entries_[before].label;
        // Listings mostly come in order: leave room behind the last rather than halve it.
        if (next == none && low < last_label - step) {
            entries_[at].label = low + step;
            return;
        }
        const std::uint64_t high = next == none ? last_label : entries_[next].label;
        if (high - low < 2) {
            entries_[at].label = low;
            spread(at);
            return;
        }
        entries_[at].label = low + (high - low) / 2;
    }

    /// Takes a record out of the list. O(1).
    void erase(index gone) noexcept {
        const entry& at = entries_[gone.value()];
        (at.previous == none ? first_ : entries_[at.previous].next) = at.next;
        (at.next == none ? last_ : entries_[at.next].previous) = at.previous;
        --size_;
    }

private:
    static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
    static constexpr std::uint64_t last_label = ~std::uint64_t{0} >> 1;
    static constexpr std::uint64_t step = std::uint64_t{1} << 36;

    struct entry {
        std::uint64_t label = 0;
        std::uint32_t previous = none;
        std::uint32_t next = none;
    };

    [[nodiscard]] static std::uint32_t slot(index at) noexcept {
        return static_cast<std::uint32_t>(at.value());
    }

    void link(std::uint32_t at, std::uint32_t before, std::uint32_t next) noexcept {
        entries_[at].previous = before;
        entries_[at].next = next;
        (before == none ? first_ : entries_[before].next) = at;
        (next == none ? last_ : entries_[next].previous) = at;
    }

    /// Spreads the labels in the smallest aligned range around that record that is sparse enough:
    /// the wider the range, the sparser it has to be (Bender et al., Two simplified algorithms for
    /// maintaining order in a list, 2002).
    void spread(std::uint32_t around) noexcept {
        ++epoch_;
        const std::uint64_t label = entries_[around].label;
        std::uint32_t first = around;
        std::uint32_t end = entries_[around].next;
        std::uint64_t count = 1;
        // How many records the range may hold, in 1024ths.
        std::uint64_t most = 1024;
        for (unsigned bits = 1; bits < 63; ++bits) {
            most = most * 10 / 7;
            const std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
            const std::uint64_t low = label & ~mask;
            const std::uint64_t high = label | mask;
            while (entries_[first].previous != none &&
                   entries_[entries_[first].previous].label >= low) {
                first = entries_[first].previous;
                ++count;
            }
            while (end != none && entries_[end].label <= high) {
                end = entries_[end].next;
                ++count;
            }
            if (count * 1024 > most || mask / (count + 1) < 2)
                continue;
            set(first, end, low, mask / (count + 1));
            return;
        }
        set(first_, none, 0, last_label / (size_ + 1));
    }

    void set(std::uint32_t first, std::uint32_t end, std::uint64_t low,
             std::uint64_t gap) noexcept {
        for (; first != end; first = entries_[first].next) {
            low += gap;
            entries_[first].label = low;
        }
    }

    detail::sequence<entry> entries_;
    std::uint32_t first_ = none;
    std::uint32_t last_ = none;
    std::size_t size_ = 0;
    std::uint64_t epoch_ = 0;
};

} // namespace v0_1
} // namespace muster
