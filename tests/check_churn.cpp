// SPDX-License-Identifier: Apache-2.0
// On 10,000 nodes under churn, 100,000 gangs of each regime stand where a scan of all nodes puts
// them, at the index's usual fan-out and at 4. MUSTER_SEED replays.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>

#include "../bench/check.hpp"

int main() {
    const char* given = std::getenv("MUSTER_SEED");
    const std::uint64_t seed = given ? std::strtoull(given, nullptr, 10) : std::random_device()();
    std::printf("MUSTER_SEED=%llu\n", static_cast<unsigned long long>(seed));
    std::fflush(stdout);
    bench::check_churn(seed, 100'000);
    return EXIT_SUCCESS;
}
