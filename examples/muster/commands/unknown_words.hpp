// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <CLI/CLI.hpp>

namespace cli {

/// Complains if `word` is no command of the program, and suggests the nearest one. Returns false if
/// it is a command.
[[nodiscard]] bool complain_of_command(const CLI::App& program, const std::string& word);

/// Complains of each option that the given command does not have. Returns false if there is none.
bool complain_of_options(const CLI::App& program);

} // namespace cli
