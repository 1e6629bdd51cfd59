// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <string>
#include <type_traits>

namespace muster {
inline namespace v0_1 {

namespace detail {

template<class Traits, class Key>
concept projected_key = requires(const Key& key) {
    { Traits::order(key) } -> std::totally_ordered;
};

/// A key with an order that does not change between runs. A raw pointer has none: the traits must
/// project it.
template<class Traits, class Key>
concept stable_key = std::copyable<Key> &&
    (projected_key<Traits, Key> || (std::totally_ordered<Key> && !std::is_pointer_v<Key>));

} // namespace detail

/// What a scheduler tells Muster about itself: the types of its keys, and how many resource kinds
/// its amounts have. Keys are any ordered values; a pointer (or a type without an order) is a key
/// when `Traits::order(key)` gives an ordered value in its place. All ties end in that order.
template<class Traits>
concept state_traits = requires {
    typename Traits::node_key;
    typename Traits::pod_key;
    typename Traits::gang_key;
    typename Traits::queue_key;
    { Traits::width } -> std::convertible_to<std::size_t>;
}
&&detail::stable_key<Traits, typename Traits::node_key>&& detail::stable_key<
    Traits, typename Traits::pod_key>&& detail::stable_key<Traits, typename Traits::gang_key>&&
    detail::stable_key<Traits, typename Traits::queue_key>;

/// The order of keys.
template<class Traits>
struct key_less {
    template<class Key>
    [[nodiscard]] bool operator()(const Key& lhs, const Key& rhs) const {
        if constexpr (detail::projected_key<Traits, Key>)
            return Traits::order(lhs) < Traits::order(rhs);
        else
            return lhs < rhs;
    }
};

/// What is left of traits where no record has a key: all that the core is a template over, so that
/// schedulers with keys of different types share it. `Fanout` and `Thresholds` shape the index of
/// nodes; they affect speed and memory only.
template<std::size_t Width, std::size_t Fanout = 64, std::size_t Thresholds = 64>
struct core_traits {
    static constexpr std::size_t width = Width;
    static constexpr std::size_t index_fanout = Fanout;
    static constexpr std::size_t index_thresholds = Thresholds;
};

namespace detail {

template<class Traits>
[[nodiscard]] constexpr std::size_t index_fanout() noexcept {
    if constexpr (requires { Traits::index_fanout; })
        return Traits::index_fanout;
    else
        return 64;
}
template<class Traits>
[[nodiscard]] constexpr std::size_t index_thresholds() noexcept {
    if constexpr (requires { Traits::index_thresholds; })
        return Traits::index_thresholds;
    else
        return 64;
}

} // namespace detail

/// The traits of the core for a state with these traits.
template<class Traits>
using core_of =
    core_traits<Traits::width, detail::index_fanout<Traits>(), detail::index_thresholds<Traits>()>;

/// Traits with strings as keys.
template<std::size_t Width>
struct string_traits {
    using node_key = std::string;
    using pod_key = std::string;
    using gang_key = std::string;
    using queue_key = std::string;
    static constexpr std::size_t width = Width;
};

} // namespace v0_1
} // namespace muster
