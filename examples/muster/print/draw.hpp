// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "../plan/report.hpp"

namespace cli {

/// Queues as SVG: a bar for every kind of each, with what is used, deserved and guaranteed of the
/// quota.
[[nodiscard]] std::string draw_queues(const report& made);

/// Draws the cluster after the plan as SVG: a row per node and resource, with cells for devices and
/// a segment for every pod in the colour of its group; then the waiting groups, each with its first
/// reason.
[[nodiscard]] std::string draw_nodes(const report& made);

} // namespace cli
