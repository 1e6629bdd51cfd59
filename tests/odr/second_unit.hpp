// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <muster/muster.hpp>

namespace odr {

const muster::version* version_seen_by_second_unit();

} // namespace odr
