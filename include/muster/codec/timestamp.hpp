// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <muster/base/timestamp.hpp>

namespace muster::inline v0_1 {
namespace codec {

using muster::parse_timestamp;

} // namespace codec
} // namespace muster::inline v0_1
