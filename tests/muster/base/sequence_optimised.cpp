// SPDX-License-Identifier: Apache-2.0
#include <muster/base/sequence.hpp>

#include <algorithm>

namespace muster_test {

/// Compiles without warnings when it is optimised as far as users optimise.
void insert_in_order(muster::detail::sequence<int>& into, int value);
void insert_in_order(muster::detail::sequence<int>& into, int value) {
    const int* const at = std::lower_bound(into.begin(), into.end(), value);
    if (at == into.end() || *at != value)
        into.insert(at, value);
}

} // namespace muster_test
