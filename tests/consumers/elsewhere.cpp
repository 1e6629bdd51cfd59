// SPDX-License-Identifier: Apache-2.0
#include <muster/muster.hpp>

const muster::version* version_seen_elsewhere();

const muster::version* version_seen_elsewhere() {
    return &muster::library_version;
}
