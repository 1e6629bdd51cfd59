// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include <muster/apis/core/objects.hpp>

#include "../plan/report.hpp"

namespace cli {

/// Reads the objects of the files and calls `use`, which returns the exit code. Errors in the input
/// are printed instead.
[[nodiscard]] int
with_objects(const request& asked,
             const std::function<int(muster::codec::manifests&, muster::codec::diagnostics&)>& use);

/// Prints what was found in the objects. Returns true if the command must not go on.
[[nodiscard]] bool has_errors(const muster::codec::manifests& objects, const request& asked,
                              const muster::codec::diagnostics& found);

/// Returns `code`, or `broken` if the checker found violations in the plan, which are printed.
[[nodiscard]] int checked(const report& made, int code);

/// Reads the objects, plans, and calls `show`, which prints the report and returns the exit code.
[[nodiscard]] int with_report(const request& asked, const std::function<int(const report&)>& show);

} // namespace cli
