// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <muster/index/flat_finder.hpp>
#include <muster/index/placement_order.hpp>

namespace muster::inline v0_1 {

/// How nodes are found for a score.
template<class Traits, class Score>
using finder_for = flat_finder<Traits::width, Score>;

} // namespace muster::inline v0_1
