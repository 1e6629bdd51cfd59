// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace muster {
inline namespace v0_1 {

struct cycle_options {
    /// Return the answer of every gang (default: only answers that changed or that place or evict
    /// pods). Answers that were not computed again carry no proof.
    bool list_all = false;
};

} // namespace v0_1
} // namespace muster
