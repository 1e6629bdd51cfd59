// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <support/environment.hpp>

namespace muster {
inline namespace v0_1 {
namespace testing {

/// What random cases are made from: MUSTER_SEED, which a test prints.
[[nodiscard]] inline std::uint64_t random_seed() {
    return from_environment("MUSTER_SEED", 1);
}

/// How many random cases a test makes: MUSTER_CASES, or else what it usually makes, of which
/// MUSTER_PART says only one in so many (for builds in which every case is slow).
[[nodiscard]] inline std::uint64_t case_count(std::uint64_t usually) {
    return from_environment("MUSTER_CASES", part_of(usually));
}

/// Whether at least the usual number of cases is made, so that what they cover can be judged.
[[nodiscard]] inline bool all_cases(std::uint64_t usually) {
    return case_count(usually) >= usually;
}

} // namespace testing
} // namespace v0_1
} // namespace muster
