// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace muster {
inline namespace v0_1 {
namespace detail {

// Algorithms that are called like those of std::ranges, with projections, but without concepts:
// std::ranges instantiates about forty class templates for each call. A program that includes the
// whole core compiles a sixth faster with these algorithms. Ranges are lvalues; a projection is a
// pointer to a member or a callable.

struct identity {
    template<class T>
    constexpr T&& operator()(T&& value) const noexcept {
        return static_cast<T&&>(value);
    }
};

struct less {
    template<class Left, class Right>
    constexpr bool operator()(const Left& left, const Right& right) const {
        return left < right;
    }
};

template<class Projection, class T>
[[nodiscard, gnu::always_inline]] constexpr decltype(auto) project(const Projection& by,
                                                                   T&& value) {
    if constexpr (std::is_member_object_pointer_v<Projection>)
        return (static_cast<T&&>(value).*by);
    else if constexpr (std::is_member_function_pointer_v<Projection>)
        return (static_cast<T&&>(value).*by)();
    else
        return by(static_cast<T&&>(value));
}

template<class Range, class Predicate, class Projection = identity>
[[nodiscard]] constexpr bool any_of(Range&& range, const Predicate& holds,
                                    const Projection& by = {}) {
    for (auto&& each : range)
        if (project(holds, project(by, each)))
            return true;
    return false;
}

template<class Range, class Predicate, class Projection = identity>
[[nodiscard]] constexpr bool all_of(Range&& range, const Predicate& holds,
                                    const Projection& by = {}) {
    for (auto&& each : range)
        if (!project(holds, project(by, each)))
            return false;
    return true;
}

template<class Range, class Predicate, class Projection = identity>
[[nodiscard]] constexpr bool none_of(Range&& range, const Predicate& holds,
                                     const Projection& by = {}) {
    return !any_of(range, holds, by);
}

template<class Range, class Predicate, class Projection = identity>
[[nodiscard]] constexpr std::ptrdiff_t count_if(Range&& range, const Predicate& holds,
                                                const Projection& by = {}) {
    std::ptrdiff_t found = 0;
    for (auto&& each : range)
        found += project(holds, project(by, each)) ? 1 : 0;
    return found;
}

template<class Range, class Value, class Projection = identity>
[[nodiscard]] constexpr std::ptrdiff_t count(Range&& range, const Value& value,
                                             const Projection& by = {}) {
    std::ptrdiff_t found = 0;
    for (auto&& each : range)
        found += project(by, each) == value ? 1 : 0;
    return found;
}

template<class Range, class Predicate, class Projection = identity>
[[nodiscard]] constexpr auto find_if(Range&& range, const Predicate& holds,
                                     const Projection& by = {}) {
    auto at = range.begin();
    const auto end = range.end();
    while (at != end && !project(holds, project(by, *at)))
        ++at;
    return at;
}

template<class Range, class Value, class Projection = identity>
[[nodiscard]] constexpr auto find(Range&& range, const Value& value, const Projection& by = {}) {
    auto at = range.begin();
    const auto end = range.end();
    while (at != end && !(project(by, *at) == value))
        ++at;
    return at;
}

template<class Range, class Value, class Less = less, class Projection = identity>
[[nodiscard]] constexpr auto lower_bound(Range&& range, const Value& value, const Less& before = {},
                                         const Projection& by = {}) {
    auto first = range.begin();
    for (auto count = range.end() - first; count > 0;) {
        const auto half = count / 2;
        const auto middle = first + half;
        if (before(project(by, *middle), value)) {
            first = middle + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    return first;
}

/// Returns a predicate that compares the projections of two values. It refers to its arguments.
template<class Less, class Projection>
[[nodiscard]] constexpr auto projected(const Less& before, const Projection& by) {
    return [&before, &by](const auto& left, const auto& right) {
        return before(project(by, left), project(by, right));
    };
}

template<class Range, class Less = less>
constexpr void sort(Range&& range, const Less& before = {}) {
    std::sort(range.begin(), range.end(), before);
}

template<class Range, class Less = less, class Projection>
constexpr void sort(Range&& range, const Less& before, const Projection& by) {
    std::sort(range.begin(), range.end(), projected(before, by));
}

/// Sorts a list that is short as a rule, in place: of `sort` a compiler has twenty times as many
/// functions to make. Not stable. Shell's algorithm with Ciura's gaps: O(n²) for up to ten
/// elements, as fast as `sort` for some hundred.
template<class Range, class Less = less>
constexpr void sort_short(Range&& range, const Less& before = {}) {
    const auto first = range.begin();
    const std::ptrdiff_t size = range.end() - first;
    for (const std::ptrdiff_t gap : {701, 301, 132, 57, 23, 10, 4, 1})
        for (std::ptrdiff_t at = gap; at < size; ++at) {
            auto value = std::move(first[at]);
            std::ptrdiff_t hole = at;
            for (; hole >= gap && before(value, first[hole - gap]); hole -= gap)
                first[hole] = std::move(first[hole - gap]);
            first[hole] = std::move(value);
        }
}

template<class Range, class Less = less, class Projection>
constexpr void sort_short(Range&& range, const Less& before, const Projection& by) {
    sort_short(range, projected(before, by));
}

template<class Range, class Less = less>
void stable_sort(Range&& range, const Less& before = {}) {
    std::stable_sort(range.begin(), range.end(), before);
}

template<class Range, class Less = less, class Projection>
void stable_sort(Range&& range, const Less& before, const Projection& by) {
    std::stable_sort(range.begin(), range.end(), projected(before, by));
}

} // namespace detail
} // namespace v0_1
} // namespace muster
