// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "exit_codes.hpp"
#include "terminal.hpp"

namespace cli {

/// Runs a command on a live cluster. The program may be built without such commands.
template<class Request, int (*Run)(const Request&)>
[[nodiscard]] int run_live([[maybe_unused]] const Request& asked) {
#ifdef MUSTER_HAS_LIVE
    return Run(asked);
#else
    complain("muster was built without libcurl (expected 7.87 or newer)");
    return usage;
#endif
}

} // namespace cli
