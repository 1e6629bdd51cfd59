// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <exception>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include "commands/commands.hpp"
#include "commands/exit_codes.hpp"
#include "commands/terminal.hpp"
#include "commands/unknown_words.hpp"

namespace {

/// Turns `help` and `help COMMAND` into `--help`.
std::vector<std::string> words_of(int argc, char** argv) {
    std::vector<std::string> words(argv + 1, argv + argc);
    if (!words.empty() && words[0] == "help") {
        words.erase(words.begin());
        words.insert(words.begin() + std::min<std::ptrdiff_t>(1, std::ssize(words)), "--help");
    }
    return words;
}

int fail_with(const CLI::App& program, const CLI::ParseError& error) {
    return program.exit(error) == 0 ? cli::fine : cli::usage;
}

int run(int argc, char** argv) {
    CLI::App program("Decides which gangs of pods start now and where, and why others wait.",
                     "muster");
    program.require_subcommand(1);
    program.set_version_flag("--version", "muster " + cli::version_text());
    std::vector<cli::runner> runners;
    for (const cli::command& known : cli::commands)
        runners.push_back(known.declare(*program.add_subcommand(known.name, known.summary)));
    cli::end_help(program, {.notes = "muster COMMAND --help shows the options of a command.",
                            .codes = {cli::invalid_input, cli::pending, cli::broken}});

    std::vector<std::string> words = words_of(argc, argv);
    if (!words.empty() && !words[0].starts_with('-') && cli::complain_of_command(program, words[0]))
        return cli::usage;
    std::ranges::reverse(words);
    try {
        program.parse(std::move(words));
    } catch (const CLI::ExtrasError& error) {
        return cli::complain_of_options(program) ? int{cli::usage} : fail_with(program, error);
    } catch (const CLI::ParseError& error) {
        // A required option may be missing because it is mistyped.
        if (error.get_exit_code() != 0)
            cli::complain_of_options(program);
        return fail_with(program, error);
    }
    const std::string chosen = program.get_subcommands().front()->get_name();
    const auto* const found =
        std::ranges::find(cli::commands, std::string_view(chosen),
                          [](const cli::command& known) { return std::string_view(known.name); });
    return runners[static_cast<std::size_t>(found - cli::commands)]();
}

} // namespace

int main(int argc, char** argv) {
    try {
        return run(argc, argv);
    } catch (const std::exception& error) {
        cli::complain(std::string("muster: ") + error.what());
        return cli::usage;
    }
}
