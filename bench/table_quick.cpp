// SPDX-License-Identifier: Apache-2.0
// The engine's figures alone: half of what the whole table compiles.
#include "table.hpp"

int main(int count, char** values) {
    return bench::run_table(count, values, [](bench::report& to, bool) {
        to.fact("left out",
                "trees of queues, evictions, consolidation, jobs, equal gangs, 8 kinds, "
                "utilisation 0.5 and the highest");
    });
}
