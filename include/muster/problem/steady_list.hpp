// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <deque>

namespace muster {
inline namespace v0_1 {
namespace detail {

/// A list whose elements keep their memory when they go, and their places when more come: others
/// may point to them.
template<class T>
class steady_list {
public:
    void clear() noexcept { used_ = 0; }
    [[nodiscard]] T& add() {
        if (used_ == all_.size())
            all_.emplace_back();
        return all_[used_++];
    }

private:
    std::deque<T> all_;
    std::size_t used_ = 0;
};

} // namespace detail
} // namespace v0_1
} // namespace muster
