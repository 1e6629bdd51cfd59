// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "../live/live.hpp"
#include "../options/live.hpp"
#include "command.hpp"
#include "commands.hpp"
#include "live_only.hpp"

namespace cli {

runner declare_snapshot(CLI::App& to) {
    const auto asked = std::make_shared<snapshot_request>();
    add_live(to, *asked);
    to.add_option("--scheduler-name", asked->scheduler_names,
                  "Keep only the waiting pods with this scheduler name; may be repeated "
                  "(default: keep all)")
        ->allow_extra_args(false)
        ->type_name("NAME");
    to.add_option("-o,--output", asked->output, "Path of the output (default: stdout)")
        ->type_name("FILE");
    end_help(to, {.examples = {"muster snapshot -o cluster.yaml"}});
    return [asked] { return run_live<snapshot_request, snapshot>(*asked); };
}

} // namespace cli
