// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

namespace muster {
inline namespace v0_1 {
namespace detail {

/// A list that does not destroy its elements when it shrinks, so that their memory is reused. An
/// added element has the value that the last element at its place had.
template<class T>
class reused_list {
public:
    void clear() noexcept { used_ = 0; }
    [[nodiscard]] std::size_t size() const noexcept { return used_; }
    [[nodiscard]] bool empty() const noexcept { return used_ == 0; }

    /// Adds an element with an old value, which the caller must overwrite.
    [[nodiscard]] T& add() {
        if (used_ == all_.size())
            all_.emplace_back();
        return all_[used_++];
    }
    void pop_back() noexcept { --used_; }
    /// Shortens the list to its first `count` elements.
    void keep(std::size_t count) noexcept { used_ = count; }

    [[nodiscard]] T& operator[](std::size_t at) noexcept { return all_[at]; }
    [[nodiscard]] const T& operator[](std::size_t at) const noexcept { return all_[at]; }
    [[nodiscard]] T& back() noexcept { return all_[used_ - 1]; }
    [[nodiscard]] T* begin() noexcept { return all_.data(); }
    [[nodiscard]] T* end() noexcept { return all_.data() + used_; }
    [[nodiscard]] const T* begin() const noexcept { return all_.data(); }
    [[nodiscard]] const T* end() const noexcept { return all_.data() + used_; }

private:
    std::vector<T> all_;
    std::size_t used_ = 0;
};

} // namespace detail
} // namespace v0_1
} // namespace muster
