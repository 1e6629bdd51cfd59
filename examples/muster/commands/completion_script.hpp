// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace cli {

/// An option as shells complete it.
struct known_option {
    /// With their dashes.
    std::vector<std::string> names;
    std::string help;
    bool takes_value = false;
    bool is_file = false;
    /// The only values that it takes; empty: any.
    std::vector<std::string> values;
};

struct known_command {
    std::string name;
    std::string help;
    std::vector<known_option> options;
    /// The words that may follow it without an option; empty: files.
    std::vector<std::string> words;
};

enum class shell : std::uint8_t { bash, zsh, fish };

/// A script that makes a shell complete the program's commands, their options and what these take.
[[nodiscard]] std::string completion_script(shell which, const std::vector<known_command>& known);

} // namespace cli
