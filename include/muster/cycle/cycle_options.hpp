// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace muster::inline v0_1 {

struct cycle_options {
    /// Return every gang's answer, changed or not; those that needed no asking carry no proof.
    bool list_all = false;
};

} // namespace muster::inline v0_1
