// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <muster/muster.hpp>

namespace bench {

/// The default policy with that rule of victims.
template<class Rule>
[[nodiscard]] auto preempting(Rule rule) {
    return muster::policy{muster::best_fit{},
                          muster::priority_then_age{},
                          muster::priority_then_share{},
                          muster::no_reservations{},
                          muster::surplus_at_once{},
                          muster::most_packed{},
                          rule};
}

} // namespace bench
