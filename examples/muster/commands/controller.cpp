// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <muster/gangs/target.hpp>

#include "../live/live.hpp"
#include "../options/choices.hpp"
#include "../options/live.hpp"
#include "../options/reading.hpp"
#include "command.hpp"
#include "commands.hpp"
#include "live_only.hpp"

namespace cli {
namespace {

void add_controlling(CLI::App& to, controller_request& asked) {
    using muster::translate::target;
    static const std::map<std::string, target> backends = [] {
        std::map<std::string, target> all;
        for (const auto& [which, name] : muster::translate::targets)
            if (name.starts_with("kai") || name.starts_with("workload") || name == "koordinator" ||
                name == "volcano")
                all.emplace(name, which);
        return all;
    }();
    add_live(to, asked);
    add_queue_namespace(to, asked);
    to.add_option("-n,--namespace", asked.name_space,
                  "Run only the jobs of this namespace (default: all)")
        ->type_name("NAMESPACE");
    to.add_option_function<std::vector<std::string>>(
          "--backend",
          [&](const std::vector<std::string>& names) {
              for (const std::string& each : names)
                  asked.backends.push_back(backends.at(each));
          },
          "API of the gangs written for Grove's sets; may be repeated. The first one is used for "
          "sets that name no scheduler (default: Kubernetes' own, and the newest of the others)")
        ->check(one_of(backends))
        ->allow_extra_args(false)
        ->type_name("BACKEND");
    add_grove_dialect(to, asked.dialect);
    add_leading(to, asked);
}

} // namespace

runner declare_controller(CLI::App& to) {
    const auto asked = std::make_shared<controller_request>();
    add_controlling(to, *asked);
    end_help(to, {.notes = "With --dry-run, objects that would be written count as pending groups.",
                  .examples = {"muster controller --dry-run"},
                  .codes = {pending}});
    return [asked] { return run_live<controller_request, control>(*asked); };
}

} // namespace cli
