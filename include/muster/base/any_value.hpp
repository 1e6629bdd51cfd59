// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

namespace muster {
inline namespace v0_1 {
namespace detail {

/// A copy of a value of any type. A policy chosen at run time stores its rules as such values.
/// Values of up to `room` bytes are stored in place, larger values are allocated. Needs no RTTI.
class any_value {
public:
    static constexpr std::size_t room = 48;

    template<class T>
        requires(!std::same_as<T, any_value>)
    explicit any_value(const T& value) : functions_(&functions_of<T>) {
        static_assert(std::is_nothrow_destructible_v<T>);
        if constexpr (in_place<T>)
            ::new (static_cast<void*>(bytes_)) T(value);
        else
            ::new (static_cast<void*>(bytes_)) T*(new T(value));
    }
    any_value(const any_value& other) : functions_(other.functions_) {
        functions_->copy(bytes_, other.bytes_);
    }
    any_value& operator=(const any_value& other) {
        if (this != &other) {
            any_value copy(other);
            functions_->destroy(bytes_);
            functions_ = copy.functions_;
            functions_->relocate(bytes_, copy.bytes_);
            copy.functions_ = &functions_of<nothing>;
        }
        return *this;
    }
    ~any_value() { functions_->destroy(bytes_); }

    /// Returns the value. Precondition: the value is a T.
    template<class T>
    [[nodiscard]] const T& as() const noexcept {
        if constexpr (in_place<T>)
            return *std::launder(reinterpret_cast<const T*>(bytes_));
        else
            return **std::launder(reinterpret_cast<T* const*>(bytes_));
    }
    /// True if the types are the same and the values are equal. Values of an empty type are equal;
    /// values of other types without `==` never are.
    [[nodiscard]] friend bool operator==(const any_value& lhs, const any_value& rhs) {
        return lhs.functions_ == rhs.functions_ &&
               (!lhs.functions_->equal || lhs.functions_->equal(lhs, rhs));
    }

private:
    struct nothing {};
    struct functions {
        void (*copy)(std::byte* to, const std::byte* from);
        /// Destroys the source.
        void (*relocate)(std::byte* to, std::byte* from) noexcept;
        void (*destroy)(std::byte* at) noexcept;
        /// Null if all values of the type are equal.
        bool (*equal)(const any_value& lhs, const any_value& rhs);
    };

    template<class T>
    static constexpr bool in_place =
        sizeof(T) <= room &&
        alignof(T) <= alignof(std::max_align_t) && std::is_nothrow_move_constructible_v<T>;

    template<class T>
    [[nodiscard]] static T& at(std::byte* bytes) noexcept {
        return *std::launder(reinterpret_cast<T*>(bytes));
    }
    template<class T>
    [[nodiscard]] static const T& at(const std::byte* bytes) noexcept {
        return *std::launder(reinterpret_cast<const T*>(bytes));
    }

    template<class T>
    static void copy(std::byte* to, const std::byte* from) {
        if constexpr (in_place<T>)
            ::new (static_cast<void*>(to)) T(at<T>(from));
        else
            ::new (static_cast<void*>(to)) T*(new T(*at<T*>(from)));
    }
    template<class T>
    static void relocate(std::byte* to, std::byte* from) noexcept {
        if constexpr (in_place<T>) {
            ::new (static_cast<void*>(to)) T(std::move(at<T>(from)));
            at<T>(from).~T();
        } else {
            ::new (static_cast<void*>(to)) T*(at<T*>(from));
        }
    }
    template<class T>
    static void destroy(std::byte* bytes) noexcept {
        if constexpr (in_place<T>)
            at<T>(bytes).~T();
        else
            delete at<T*>(bytes);
    }

    template<class T>
    static bool same(const any_value& lhs, const any_value& rhs) {
        if constexpr (std::equality_comparable<T>)
            return lhs.as<T>() == rhs.as<T>();
        else
            return false;
    }

    /// The address of the functions identifies the type.
    template<class T>
    static constexpr functions functions_of{&copy<T>, &relocate<T>, &destroy<T>,
                                            std::is_empty_v<T> ? nullptr : &same<T>};

    const functions* functions_;
    alignas(std::max_align_t) std::byte bytes_[room];
};

} // namespace detail
} // namespace v0_1
} // namespace muster
