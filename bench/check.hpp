// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace bench {

/// 10,000 nodes under churn for so many gangs of each regime of requests: two indexes and a scan
/// place every gang alike; fails the program at the first difference.
void check_churn(std::uint64_t seed, std::size_t gangs);

} // namespace bench
