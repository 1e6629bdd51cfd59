// SPDX-License-Identifier: Apache-2.0
#include <muster/muster.hpp>

bool decides();

/// Links only if the core was compiled for states of four kinds.
bool decides() {
    muster::state<muster::string_traits<4>> known;
    return muster::cycle(known, 0).decisions.empty();
}
