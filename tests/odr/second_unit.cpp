// SPDX-License-Identifier: Apache-2.0
#include "second_unit.hpp"

namespace odr {

const muster::version* version_seen_by_second_unit() {
    return &muster::library_version;
}

} // namespace odr
