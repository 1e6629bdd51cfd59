// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <vector>

#include <muster/document/nearest.hpp>

#include "terminal.hpp"
#include "unknown_words.hpp"

namespace cli {

using muster::codec::in_quotes;
using muster::codec::suggestion;

bool complain_of_command(const CLI::App& program, const std::string& word) {
    std::string list;
    std::vector<std::string> names;
    for (const CLI::App* known : program.get_subcommands(nullptr)) {
        list += (list.empty() ? "" : ", ") + known->get_name();
        names.push_back(known->get_name());
    }
    if (std::ranges::find(names, word) != names.end())
        return false;
    complain(in_quotes(word) + " is no command (expected one of " + list + ")" +
             suggestion(word, names));
    return true;
}

bool complain_of_options(const CLI::App& program) {
    bool any = false;
    for (const CLI::App* command : program.get_subcommands())
        for (const std::string& word : command->remaining()) {
            const std::string name = word.substr(0, word.find('='));
            if (!name.starts_with('-') || name == "-" || name == "--")
                continue;
            std::vector<std::string> known;
            for (const CLI::Option* option : command->get_options())
                for (const std::string& long_name : option->get_lnames())
                    known.push_back("--" + long_name);
            any = true;
            complain(in_quotes(name) + " is no option of muster " + command->get_name() +
                     suggestion(name, known));
        }
    return any;
}

} // namespace cli
