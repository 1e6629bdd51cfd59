// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "../live/live.hpp"
#include "../options/live.hpp"
#include "command.hpp"
#include "commands.hpp"
#include "live_only.hpp"

namespace cli {

runner declare_shadow(CLI::App& to) {
    const auto asked = std::make_shared<shadow_request>();
    asked->scheduler_names = {"default-scheduler"};
    add_scheduling(to, *asked);
    to.add_option("--for", asked->seconds, "Time to run, in seconds; 0 = until a signal stops it")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str()
        ->type_name("SECONDS");
    end_help(to, {.examples = {"muster shadow --for 5"}});
    return [asked] { return run_live<shadow_request, shadow>(*asked); };
}

} // namespace cli
