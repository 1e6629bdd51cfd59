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

    /// What `muster explain` prints of the gang, as far as the last cycle knows: the headline, the
    /// gang's line and its reasons. Changes that would start it are not sought.
    [[nodiscard]] std::string explain(const live_state& known, muster::gang_index which) const;

private:
    [[nodiscard]] std::vector<reason_line> reasons(const live_state& known,
                                                   muster::gang_index which) const;
};

} // namespace cli
