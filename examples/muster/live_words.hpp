// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <muster/base/id.hpp>

#include "chosen_policy.hpp"
#include "live_cluster.hpp"

namespace cli {

/// Why a gang of a live cluster waits, in one line: that with which `muster explain` begins.
struct live_words {
    const live_cluster* cluster = nullptr;
    chosen_score score{};

    [[nodiscard]] std::string operator()(const live_state& known, muster::gang_index which) const;
};

} // namespace cli
