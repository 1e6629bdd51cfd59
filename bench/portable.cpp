// SPDX-License-Identifier: Apache-2.0
// The headline runs of Muster alone, for the build that any package would be: a line for each,
// which bench_table reads.
#include <cstdio>
#include <string_view>

#include "speeds.hpp"

int main(int count, char** values) {
    const bool quick = count == 2 && std::string_view(values[1]) == "--quick";
    if (count > 1 && !quick) {
        std::fputs("bench_table_portable [--quick]\n", stderr);
        return 2;
    }
    for (const bench::request_regime requests : bench::headline_requests)
        for (const std::size_t nodes : bench::headline_sizes)
            std::printf(
                "%s %.1f\n", bench::speed_key(requests, nodes).c_str(),
                bench::run_churn<4>(bench::beside_headline(requests, nodes, quick)).ns_per_pod);
}
