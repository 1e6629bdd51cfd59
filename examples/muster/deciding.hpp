// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <muster/codec/cluster.hpp>
#include <muster/cycle/cycle.hpp>

#include "chosen_policy.hpp"

namespace cli {

template<std::size_t Width>
using state_of_width = muster::cluster_state<muster::core_traits<Width>>;

} // namespace cli

// A cycle takes a compiler longer than all that asks for one: decide_*.cpp have one each.
extern template void muster::cycle(cli::state_of_width<muster::codec::usual_kinds>&, std::int64_t,
                                   const cli::chosen_policy&, muster::budget, muster::cycle_options,
                                   muster::cycle_result&);
extern template void muster::cycle(cli::state_of_width<muster::most_kinds>&, std::int64_t,
                                   const cli::chosen_policy&, muster::budget, muster::cycle_options,
                                   muster::cycle_result&);
