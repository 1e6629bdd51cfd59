// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <muster/index/chosen_finder.hpp>
#include <muster/index/flat_finder.hpp>
#include <muster/index/indexed_finder.hpp>
#include <muster/index/placement_order.hpp>

namespace muster {
inline namespace v0_1 {

namespace detail {

template<class Traits, class Score>
struct finder_of {
    using type = flat_finder<Traits::width, Score>;
};
template<class Traits, ordered_score Score>
struct finder_of<Traits, Score> {
    using type = indexed_finder<Traits, Score, Traits::index_fanout, Traits::index_thresholds>;
};
template<class Traits, maybe_ordered_score Score>
struct finder_of<Traits, Score> {
    using type = chosen_finder<Traits, Score, Traits::index_fanout, Traits::index_thresholds>;
};

} // namespace detail

/// How nodes are found for a score: by the index when the score is an order that it can keep, and
/// by looking at all nodes otherwise.
template<class Traits, class Score>
using finder_for = typename detail::finder_of<Traits, Score>::type;

} // namespace v0_1
} // namespace muster
