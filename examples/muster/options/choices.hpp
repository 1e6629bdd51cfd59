// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include <muster/document/nearest.hpp>

#include "../plan/policy_options.hpp"

namespace cli {

/// Returns a check that accepts the names in `all`, a list of strings or a map by name. The message
/// about another word lists the names and suggests the nearest one.
template<class Names>
[[nodiscard]] CLI::Validator one_of(const Names& all) {
    std::vector<std::string> names;
    for (const auto& name : all)
        if constexpr (requires { name.first; })
            names.push_back(name.first);
        else
            names.push_back(name);
    CLI::Validator accept = CLI::IsMember(names);
    std::string list;
    for (const std::string& name : names)
        list += (list.empty() ? "" : ", ") + name;
    return accept.operation([names, list, accept](std::string& word) {
        return accept(word).empty() ? std::string()
                                    : muster::codec::in_quotes(word) + " is none of " + list +
                                          muster::codec::suggestion(word, names);
    });
}

/// Adds an option whose values are the names in `all`. Its value goes to `target`, a `Kind` or an
/// optional one. `all` must outlive the command.
template<class Target, class Kind>
void add_choice(CLI::App& to, const char* name, Target& target,
                const std::map<std::string, Kind>& all, const char* help) {
    to.add_option_function<std::string>(
          name, [&target, &all](const std::string& text) { target = all.at(text); }, help)
        ->check(one_of(all));
}

/// Adds an option whose values are the names of the policies in a table.
template<const auto& Table>
void add_choice(CLI::App& to, const char* name, choice<Table>& target, const char* help) {
    std::map<std::string, int> all;
    for (std::string& policy : choice<Table>::names())
        all.emplace(std::move(policy), 0);
    to.add_option_function<std::string>(
          name, [&target](const std::string& text) { target.choose(text); }, help)
        ->check(one_of(all));
}

} // namespace cli
