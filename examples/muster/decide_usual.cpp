// SPDX-License-Identifier: Apache-2.0
#include "deciding.hpp"

template void muster::cycle(cli::state_of_width<muster::codec::usual_kinds>&, std::int64_t,
                            const cli::chosen_policy&, muster::budget, muster::cycle_options,
                            muster::cycle_result&);
