// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <iterator>
#include <new>
#include <type_traits>
#include <utility>

namespace muster {
inline namespace v0_1 {
namespace detail {

/// Copies `used` bytes to a new block of `capacity` bytes, frees the old block and returns the new
/// one.
// Not inlined: g++ 12 -O3 moves a subtraction of addresses behind the deletion, and then warns of a
// use after free.
[[nodiscard, gnu::noinline]] inline void* moved_to(std::size_t capacity, void* from,
                                                   std::size_t used) {
    void* to = ::operator new(capacity);
    if (used > 0)
        std::memcpy(to, from, used);
    ::operator delete(from);
    return to;
}

/// A vector that instantiates a tenth of the code of `std::vector`: its iterators are pointers, it
/// has no allocator, and one function reallocates all trivially copyable types. The core has about
/// a hundred types of lists, so lists are a third of what a program that includes it compiles.
/// Public functions accept and return `std::vector`.
///
/// Complexity, invalidation and aliasing are as for `std::vector`. Precondition: `T` moves without
/// throwing.
template<class T>
class sequence {
public:
    using value_type = T;
    using iterator = T*;
    using const_iterator = const T*;

    sequence() noexcept = default;
    explicit sequence(std::size_t count) : sequence() { resize(count); }
    sequence(std::size_t count, const T& value) : sequence() { resize(count, value); }
    sequence(std::initializer_list<T> values) : sequence() { append(values.begin(), values.end()); }
    template<std::input_iterator Iterator>
    sequence(Iterator from, Iterator to) : sequence() {
        append(from, to);
    }
    sequence(const sequence& other) : sequence() { append(other.first_, other.last_); }
    sequence(sequence&& other) noexcept
        : first_(std::exchange(other.first_, nullptr)),
          last_(std::exchange(other.last_, nullptr)),
          end_(std::exchange(other.end_, nullptr)) {}
    sequence& operator=(const sequence& other) {
        if (this != &other)
            assign(other.first_, other.last_);
        return *this;
    }
    sequence& operator=(sequence&& other) noexcept {
        sequence(static_cast<sequence&&>(other)).swap(*this);
        return *this;
    }
    ~sequence() {
        clear();
        give_back(first_);
    }

    [[nodiscard]] T* begin() noexcept { return first_; }
    [[nodiscard]] T* end() noexcept { return last_; }
    [[nodiscard]] const T* begin() const noexcept { return first_; }
    [[nodiscard]] const T* end() const noexcept { return last_; }
    [[nodiscard]] T* data() noexcept { return first_; }
    [[nodiscard]] const T* data() const noexcept { return first_; }
    [[nodiscard]] std::size_t size() const noexcept {
        return static_cast<std::size_t>(last_ - first_);
    }
    [[nodiscard]] std::size_t capacity() const noexcept {
        return static_cast<std::size_t>(end_ - first_);
    }
    [[nodiscard]] bool empty() const noexcept { return first_ == last_; }
    [[nodiscard]] T& operator[](std::size_t at) noexcept { return first_[at]; }
    [[nodiscard]] const T& operator[](std::size_t at) const noexcept { return first_[at]; }
    [[nodiscard]] T& front() noexcept { return *first_; }
    [[nodiscard]] const T& front() const noexcept { return *first_; }
    [[nodiscard]] T& back() noexcept { return last_[-1]; }
    [[nodiscard]] const T& back() const noexcept { return last_[-1]; }

    void reserve(std::size_t count) {
        if (count > capacity())
            grow(count);
    }
    /// Keeps the capacity.
    void clear() noexcept { cut(first_); }
    template<class... Arguments>
    T& emplace_back(Arguments&&... arguments) {
        if (last_ == end_)
            return grown_with(T(static_cast<Arguments&&>(arguments)...));
        ::new (static_cast<void*>(last_)) T(static_cast<Arguments&&>(arguments)...);
        return *last_++;
    }
    void push_back(const T& value) { emplace_back(value); }
    void push_back(T&& value) { emplace_back(static_cast<T&&>(value)); }
    void pop_back() noexcept { cut(last_ - 1); }
    void resize(std::size_t count) {
        if (count < size())
            return cut(first_ + count);
        make_room(count);
        fill_to(first_ + count);
    }
    void resize(std::size_t count, const T& value) {
        if (count <= size())
            return cut(first_ + count);
        // `value` may be an element, which making room moves.
        const T kept(value); // NOLINT(performance-unnecessary-copy-initialization)
        make_room(count);
        fill_to(first_ + count, kept);
    }
    void assign(std::size_t count, const T& value) {
        // `value` may be an element.
        const T kept(value); // NOLINT(performance-unnecessary-copy-initialization)
        clear();
        resize(count, kept);
    }
    /// Precondition: the range is not part of this sequence.
    template<std::input_iterator Iterator>
    void assign(Iterator from, Iterator to) {
        clear();
        append(from, to);
    }
    T* insert(const T* before, T value) {
        const std::ptrdiff_t at = before - first_;
        emplace_back(static_cast<T&&>(value));
        std::rotate(first_ + at, last_ - 1, last_);
        return first_ + at;
    }
    /// Precondition: the range is not part of this sequence.
    template<std::input_iterator Iterator>
    T* insert(const T* before, Iterator from, Iterator to) {
        const std::ptrdiff_t at = before - first_;
        const std::ptrdiff_t old = last_ - first_;
        append(from, to);
        if (at != old)
            std::rotate(first_ + at, first_ + old, last_);
        return first_ + at;
    }
    T* erase(const T* from, const T* to) {
        T* const hole = first_ + (from - first_);
        if (from != to)
            cut(std::move(first_ + (to - first_), last_, hole));
        return hole;
    }
    T* erase(const T* at) { return erase(at, at + 1); }

    void swap(sequence& other) noexcept {
        std::swap(first_, other.first_);
        std::swap(last_, other.last_);
        std::swap(end_, other.end_);
    }

    friend bool operator==(const sequence& left, const sequence& right) {
        return std::equal(left.first_, left.last_, right.first_, right.last_);
    }

    /// Returns the number of elements erased.
    template<class Predicate>
    friend std::size_t erase_if(sequence& from, Predicate which) {
        T* const kept = std::remove_if(from.first_, from.last_, which);
        const auto count = static_cast<std::size_t>(from.last_ - kept);
        from.cut(kept);
        return count;
    }

private:
    static constexpr bool is_bytes =
        std::is_trivially_copyable_v<T> && alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__;

    template<std::input_iterator Iterator>
    void append(Iterator from, Iterator to) {
        if constexpr (std::forward_iterator<Iterator>)
            make_room(size() + static_cast<std::size_t>(std::distance(from, to)));
        for (; from != to; ++from)
            emplace_back(*from);
    }
    void make_room(std::size_t count) {
        if (count > capacity())
            grow(std::max(count, 2 * capacity()));
    }
    /// Constructs elements from these values up to `end`. Bytes cannot throw, so the end is stored
    /// once.
    template<class... Values>
    void fill_to(T* const end, const Values&... values) {
        if constexpr (is_bytes) {
            T* at = last_;
            for (; at != end; ++at)
                ::new (static_cast<void*>(at)) T(values...);
            last_ = at;
        } else {
            while (last_ != end)
                ::new (static_cast<void*>(last_++)) T(values...);
        }
    }
    // Not inlined: rarely called, and every call of `emplace_back` would contain it.
    [[gnu::noinline]] T& grown_with(T value) {
        make_room(size() + 1);
        ::new (static_cast<void*>(last_)) T(static_cast<T&&>(value));
        return *last_++;
    }
    void grow(std::size_t count) {
        static_assert(std::is_nothrow_move_constructible_v<T>);
        const std::size_t used = size();
        T* to = nullptr;
        if constexpr (is_bytes) {
            to = static_cast<T*>(moved_to(count * sizeof(T), first_, used * sizeof(T)));
        } else {
            to = taken(count);
            for (std::size_t at = 0; at < used; ++at) {
                ::new (static_cast<void*>(to + at)) T(static_cast<T&&>(first_[at]));
                first_[at].~T();
            }
            give_back(first_);
        }
        first_ = to;
        last_ = to + used;
        end_ = to + count;
    }
    static T* taken(std::size_t count) {
        if constexpr (alignof(T) > __STDCPP_DEFAULT_NEW_ALIGNMENT__)
            return static_cast<T*>(
                ::operator new (count * sizeof(T), std::align_val_t{alignof(T)}));
        else
            return static_cast<T*>(::operator new(count * sizeof(T)));
    }
    static void give_back(T* room) noexcept {
        if constexpr (alignof(T) > __STDCPP_DEFAULT_NEW_ALIGNMENT__)
            ::operator delete (room, std::align_val_t{alignof(T)});
        else
            ::operator delete(room);
    }
    void cut(T* to) noexcept {
        if constexpr (!std::is_trivially_destructible_v<T>)
            while (last_ != to)
                (--last_)->~T();
        last_ = to;
    }

    T* first_ = nullptr;
    T* last_ = nullptr;
    T* end_ = nullptr;
};

} // namespace detail
} // namespace v0_1
} // namespace muster
