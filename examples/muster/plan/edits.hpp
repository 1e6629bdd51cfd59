// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <muster/apis/core/objects.hpp>

#include "report.hpp"

namespace cli {

/// A change to the cluster, as the command line spells it.
struct edit {
    enum class kind : std::uint8_t {
        add_nodes,
        cordon,
        uncordon,
        drain,
        remove_gang,
        remove_pod,
        bind_claim,
        set
    };
    kind what = kind::set;
    /// What stands behind the option.
    std::string value;
};

/// `--add-nodes 4xnode-a`: what the user writes to get the change.
[[nodiscard]] std::string option_text(const edit& change);

/// Reads what option_text() returns.
[[nodiscard]] std::optional<edit> edit_of(const std::string& option);

/// Changes the objects, one edit after the other. Answers with what is wrong with the first edit
/// that cannot be applied, or with nothing; what may not be meant goes to `remarks`.
[[nodiscard]] std::string apply_edits(const std::vector<edit>& edits, const request& asked,
                                      muster::codec::manifests& objects,
                                      std::vector<std::string>& remarks);

} // namespace cli
