// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <muster/base/sequence.hpp>

namespace muster {
inline namespace v0_1 {
namespace detail {

/// A list that does not destroy its elements when it shrinks, so that their memory is reused.
/// Elements do not move when the list grows, so pointers to them stay valid.
template<class T>
class steady_list {
public:
    steady_list() noexcept = default;
    steady_list(const steady_list&) = delete;
    steady_list& operator=(const steady_list&) = delete;
    ~steady_list() {
        for (T* const element : all_)
            delete element;
    }

    void clear() noexcept { used_ = 0; }
    [[nodiscard]] std::size_t size() const noexcept { return used_; }
    [[nodiscard]] T& add() {
        if (used_ == all_.size()) {
            all_.push_back(nullptr);
            all_.back() = new T();
        }
        return *all_[used_++];
    }
    /// Removes the last element.
    void pop() noexcept { --used_; }

private:
    sequence<T*> all_;
    std::size_t used_ = 0;
};

} // namespace detail
} // namespace v0_1
} // namespace muster
