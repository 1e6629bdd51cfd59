// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>
#include <variant>

#include <muster/base/assert.hpp>

namespace muster {
inline namespace v0_1 {

/// Wraps an error so that a result can be made from it unambiguously: `return failure{error};`.
template<class E>
struct failure {
    E error;
};

template<class E>
failure(E) -> failure<E>;

/// A value, or the error in its place. No exceptions; reading the wrong one is our own mistake and
/// asserts.
template<class T, class E>
class [[nodiscard]] result {
public:
    result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
    result(failure<E> wrapped) : state_(std::in_place_index<1>, std::move(wrapped.error)) {}

    [[nodiscard]] bool has_value() const noexcept { return state_.index() == 0; }
    [[nodiscard]] explicit operator bool() const noexcept { return has_value(); }

    [[nodiscard]] const T& value() const& {
        MUSTER_ASSERT(has_value(), "value() of a failed result");
        return *std::get_if<0>(&state_);
    }
    [[nodiscard]] T& value() & {
        MUSTER_ASSERT(has_value(), "value() of a failed result");
        return *std::get_if<0>(&state_);
    }
    [[nodiscard]] T&& value() && {
        MUSTER_ASSERT(has_value(), "value() of a failed result");
        return std::move(*std::get_if<0>(&state_));
    }
    [[nodiscard]] const T& operator*() const& { return value(); }
    [[nodiscard]] T& operator*() & { return value(); }
    [[nodiscard]] const T* operator->() const { return &value(); }
    [[nodiscard]] T* operator->() { return &value(); }

    [[nodiscard]] const E& error() const {
        MUSTER_ASSERT(!has_value(), "error() of a successful result");
        return *std::get_if<1>(&state_);
    }

private:
    std::variant<T, E> state_;
};

} // namespace v0_1
} // namespace muster
