// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "report.hpp"

namespace cli {

/// Queues as SVG: a bar for every kind of each, with what is used, deserved and guaranteed of the
/// quota.
[[nodiscard]] std::string draw_queues(const report& made);

/// What stands where once the plan is carried out, as SVG: a bar for every node, as long as what it
/// has of the kind that is used most there, with a piece for every pod in the colour of its group.
[[nodiscard]] std::string draw_nodes(const report& made);

} // namespace cli
