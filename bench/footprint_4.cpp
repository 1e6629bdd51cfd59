// SPDX-License-Identifier: Apache-2.0
#include "footprint_run.hpp"

namespace bench {

template footprint_report measure_footprint<4>(std::size_t nodes);

} // namespace bench
