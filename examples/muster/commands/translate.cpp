// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <memory>
#include <string>

#include <muster/apis/shares/share_notation.hpp>
#include <muster/document/diagnostic.hpp>
#include <muster/gangs/target.hpp>

#include "../options/choices.hpp"
#include "../options/reading.hpp"
#include "../plan/translate_command.hpp"
#include "command.hpp"
#include "commands.hpp"
#include "terminal.hpp"

namespace cli {
namespace {

void add_translation(CLI::App& to, translate_request& asked) {
    using namespace muster::translate;
    using muster::codec::share_system;
    static const std::map<std::string, target> names = [] {
        std::map<std::string, target> all;
        for (const auto& [which, name] : targets)
            all.emplace(name, which);
        return all;
    }();
    static const std::map<std::string, kai_naming> namings{{"backend", kai_naming::backend},
                                                           {"podgrouper", kai_naming::podgrouper}};
    static const std::map<std::string, bool> formats{{"yaml", false}, {"json", true}};
    add_files(to, asked.files);
    static const std::map<std::string, share_system> systems{
        {"hami", share_system::hami},
        {"kai", share_system::kai},
        {"koordinator", share_system::koordinator},
        {"openb", share_system::openb},
        {"volcano", share_system::volcano}};
    add_choice(to, "--to", asked.to, names,
               "API of the objects to write (default with --shares: objects keep their "
               "API)");
    add_choice(to, "--shares", asked.shares, systems,
               "System in whose notation pods request shares of GPUs (default: the notation "
               "is kept)");
    to.parse_complete_callback([&asked] {
        if (!asked.to && !asked.shares)
            throw CLI::RequiredError("--to or --shares");
    });
    add_grove_dialect(to, asked.how.dialect);
    add_choice(to, "-o,--output", asked.json, formats, "Output format (default: yaml)");
    to.add_flag("--strict", asked.strict, "Treat losses and all warnings as errors");
    to.add_option("-n,--namespace", asked.default_namespace, "Namespace of objects without one")
        ->capture_default_str();
    to.add_option_function<std::string>(
          "--kai-naming", [&](const std::string& text) { asked.how.naming = namings.at(text); },
          "Names of KAI's PodGroups: those of their gangs (backend), or those that KAI's "
          "podgrouper would choose (default: as the dialect of a PodGang does, else backend)")
        ->check(one_of(namings));
    to.add_option("--kai-topology", asked.how.kai_topology,
                  "Topology of gangs that require levels and name no Topology (default: none)")
        ->type_name("NAME");
}

int run_translate(const translate_request& asked) {
    muster::codec::diagnostics found;
    const translation made = translate(asked, found);
    complain(found, asked.strict);
    if (!found.ok())
        return code_of_failure(found);
    for (const std::string& remark : made.remarks)
        complain(remark);
    if (made.refused || (asked.strict && (made.lost || found.warnings() > 0)))
        return invalid_input;
    return finish(write(made.manifests), false);
}

} // namespace

runner declare_translate(CLI::App& to) {
    const auto asked = std::make_shared<translate_request>();
    add_translation(to, *asked);
    end_help(to, {.notes = "Losses and warnings go to stderr. An object that the target would "
                           "refuse, and\nwith --strict a loss, count as invalid input. With "
                           "--shares alone, only shares of\nGPUs are translated.",
                  .examples = {"muster translate -f job.yaml --to volcano",
                               "muster translate -f fractions.yaml --shares hami"},
                  .codes = {invalid_input}});
    return [asked] { return run_translate(*asked); };
}

} // namespace cli
