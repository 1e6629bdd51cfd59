// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "../options/look.hpp"
#include "../print/output.hpp"
#include "../print/plan_diff.hpp"

namespace cli {

/// Returns the differences of two plans in the format asked for. `changes` are the edits that lead
/// from one to the other, as options.
[[nodiscard]] inline std::string diff_text(const char* kind,
                                           const std::vector<std::string>& changes,
                                           const plan_digest& before, const plan_digest& after,
                                           const look& how) {
    if (how.format == "json")
        return json_text(diff_object(kind, changes, before, after));
    if (how.format == "yaml")
        return yaml_text(diff_object(kind, changes, before, after));
    return diff_table(before, after, how.format == "wide", !how.no_headers);
}

} // namespace cli
