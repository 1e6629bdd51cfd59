// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace bench {

/// 10,000 nodes under churn: two indexes and a scan place every gang alike; fails the program at
/// the first difference.
void check_churn(bool quick);

} // namespace bench
