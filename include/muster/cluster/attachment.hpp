// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

namespace muster {
inline namespace v0_1 {

/// A slot in which a floor above keeps data derived from the object that holds the slot: indexes,
/// memos, scratch. The data is no part of the object's value: a copy starts with an empty slot, and
/// a user that finds the slot empty, or filled by another user, builds the data again.
class attachment {
public:
    attachment() = default;
    attachment(const attachment&) noexcept {}
    attachment(attachment&& other) noexcept
        : held_(std::exchange(other.held_, nullptr)),
          discard_(other.discard_),
          kind_(std::exchange(other.kind_, nullptr)) {}
    attachment& operator=(attachment other) noexcept {
        std::swap(held_, other.held_);
        std::swap(discard_, other.discard_);
        std::swap(kind_, other.kind_);
        return *this;
    }
    ~attachment() {
        if (held_)
            discard_(held_);
    }

    /// What is attached, when it is a T.
    template<class T>
    [[nodiscard]] T* find() noexcept {
        return kind_ == &kind_of<T> ? static_cast<T*>(held_) : nullptr;
    }

    /// Attaches a new T in place of whatever is there.
    template<class T, class... Arguments>
    T& emplace(Arguments&&... arguments) {
        attachment fresh;
        T* made = new T(std::forward<Arguments>(arguments)...);
        fresh.held_ = made;
        fresh.discard_ = [](void* what) { delete static_cast<T*>(what); };
        fresh.kind_ = &kind_of<T>;
        *this = std::move(fresh);
        return *made;
    }

private:
    /// Its address identifies the type.
    template<class T>
    static constexpr char kind_of = 0;

    void* held_ = nullptr;
    void (*discard_)(void*) = nullptr;
    const char* kind_ = nullptr;
};

} // namespace v0_1
} // namespace muster
