// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <muster/apis/shares/share_demand.hpp>
#include <muster/document/diagnostic.hpp>
#include <muster/gangs/target.hpp>
#include <muster/gangs/write_options.hpp>

namespace cli {

/// What `muster translate` is asked for.
struct translate_request {
    std::vector<std::string> files;
    std::string default_namespace = "default";
    /// Absent: objects stay as they are, apart from `shares`.
    std::optional<muster::translate::target> to;
    /// The notation for shares of GPUs. Absent: pods keep their requests.
    std::optional<muster::codec::share_system> shares;
    muster::translate::write_options how;
    bool strict = false;
    bool json = false;
};

/// What it answers. `manifests` is empty unless they may be used.
struct translation {
    std::string manifests; ///< YAML documents, or one JSON list
    /// Lines for people: losses, what the target would refuse, what was left out.
    std::vector<std::string> remarks;
    bool lost = false;    ///< something that the input says is not in the manifests
    bool refused = false; ///< the target would refuse an object, or there is nothing to write
};

/// Reads the files and writes every gang in them for the target, or every object if there is no
/// target. Errors in the input go to `found`; then there is no translation.
[[nodiscard]] translation translate(const translate_request& asked,
                                    muster::codec::diagnostics& found);

} // namespace cli
