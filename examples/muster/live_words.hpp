// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <muster/base/id.hpp>

#include "chosen_policy.hpp"
#include "live_cluster.hpp"
#include "report.hpp"

namespace cli {

/// Why a gang of a live cluster waits, in one line: that with which `muster explain` begins.
struct live_words {
    const live_cluster* cluster = nullptr;
    chosen_score score{};

    [[nodiscard]] std::string operator()(const live_state& known, muster::gang_index which) const;

    /// Returns the text of `muster explain` for the gang, from the last cycle: the headline, the
    /// gang's line and its reasons. Does not search for changes that would start the gang.
    [[nodiscard]] std::string explain(const live_state& known, muster::gang_index which) const;

private:
    [[nodiscard]] std::vector<reason_line> reasons(const live_state& known,
                                                   muster::gang_index which) const;
};

} // namespace cli
