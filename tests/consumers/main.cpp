// SPDX-License-Identifier: Apache-2.0
#include <muster/muster.hpp>

#include <cstdio>

// From the other unit, which includes the umbrella as well.
const muster::version* version_seen_elsewhere();

int main() {
    const auto& [major, minor, patch] = muster::library_version;
    std::printf("muster %d.%d.%d\n", major, minor, patch);
    return version_seen_elsewhere() == &muster::library_version ? 0 : 1;
}
