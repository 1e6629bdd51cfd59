// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <boost/json/object.hpp>

#include "../plan/report.hpp"
#include "output.hpp"

namespace cli {

/// `muster queues`: what each may hold, holds, and keeps waiting.
[[nodiscard]] std::string queues_table(const report& made, bool wide, const table_form& form);
[[nodiscard]] boost::json::object queues_object(const report& made);

/// `muster prio`: the terms that decide in which order groups that want something are asked.
[[nodiscard]] std::string prio_table(const report& made, const table_form& form);
[[nodiscard]] boost::json::object prio_object(const report& made);

/// How long that is, as kubectl prints ages: 42s, 3m5s, 52m, 7h12m, 31h, 3d4h, 40d.
[[nodiscard]] std::string age_text(std::int64_t nanoseconds);

} // namespace cli
