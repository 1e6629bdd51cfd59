// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <initializer_list>
#include <string>

#include <CLI/CLI.hpp>

#include "exit_codes.hpp"

namespace cli {

/// Runs a command whose options are parsed, and returns the exit code.
using runner = std::function<int()>;

/// A command of the program.
struct command {
    const char* name;
    /// What it does, in one sentence.
    const char* summary;
    /// Declares the options, and returns what runs the command. The options refer to values that
    /// the returned function owns.
    runner (*declare)(CLI::App& to);
};

/// The end of a command's help text.
struct help_end {
    /// What the options do not say.
    std::string notes = {};
    /// Command lines; the tests run each.
    std::initializer_list<const char*> examples = {};
    /// The exit codes beside `fine` and `usage`.
    std::initializer_list<exit_code> codes = {};
};

inline void end_help(CLI::App& to, const help_end& end) {
    std::string text = end.notes.empty() ? "" : end.notes + "\n\n";
    if (end.examples.size() > 0)
        text += end.examples.size() == 1 ? "Example:\n" : "Examples:\n";
    for (const char* example : end.examples)
        text += "  " + std::string(example) + "\n";
    to.footer(text + (end.examples.size() > 0 ? "\n" : "") + exit_codes_text(end.codes));
}

} // namespace cli
