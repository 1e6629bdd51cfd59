// SPDX-License-Identifier: Apache-2.0
#include "completion_script.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace cli {
namespace {

std::string joined(const std::vector<std::string>& words, std::string_view between = " ") {
    std::string out;
    for (const std::string& word : words)
        out += (out.empty() ? "" : std::string(between)) + word;
    return out;
}

/// Its first line, up to the first stop.
std::string brief(const std::string& help) {
    return help.substr(0, std::min(help.find_first_of(".;:\n"), help.find(" (default")));
}

/// In single quotes, where a quote itself is `'\''`; what is in `special` behind a backslash.
std::string in_single_quotes(std::string_view text, std::string_view special = "") {
    std::string out = "'";
    for (const char c : text) {
        if (special.find(c) != special.npos)
            out += '\\';
        out += c == '\'' ? "'\\''" : std::string(1, c);
    }
    return out + "'";
}

std::string bash_reply(const std::string& how) {
    return "COMPREPLY=($(compgen " + how + " -- \"$word\"))";
}

std::string for_bash(const std::vector<known_command>& known) {
    std::string names;
    std::string values;
    std::string options;
    for (const known_command& command : known) {
        names += (names.empty() ? "" : " ") + command.name;
        std::string all;
        for (const known_option& option : command.options) {
            all += (all.empty() ? "" : " ") + joined(option.names);
            if (!option.takes_value)
                continue;
            std::string when;
            for (const std::string& name : option.names)
                when += (when.empty() ? "\"" : " | \"") + command.name + " " + name + "\"";
            values += "    " + when + ") ";
            values += option.is_file          ? bash_reply("-f")
                      : option.values.empty() ? ":"
                                              : bash_reply("-W \"" + joined(option.values) + "\"");
            values += "; return ;;\n";
        }
        options += "    " + command.name + ")\n        if [[ $word == -* ]]; then\n            " +
                   bash_reply("-W \"" + all + "\"") + "\n        else\n            " +
                   (command.words.empty() ? bash_reply("-f")
                                          : bash_reply("-W \"" + joined(command.words) + "\"")) +
                   "\n        fi\n        ;;\n";
    }
    return "# source <(muster completion bash)\n_muster() {\n"
           "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
           "    COMPREPLY=()\n    if ((COMP_CWORD == 1)); then\n        " +
           bash_reply("-W \"" + names + "\"") +
           "\n        return\n    fi\n    case \"${COMP_WORDS[1]} $before\" in\n" + values +
           "    esac\n    case \"${COMP_WORDS[1]}\" in\n" + options +
           "    esac\n}\ncomplete -o filenames -F _muster muster\n";
}

std::string for_zsh(const std::vector<known_command>& known) {
    std::string names;
    std::string options;
    for (const known_command& command : known) {
        names += "        " + in_single_quotes(command.name + ":" + brief(command.help)) + "\n";
        options += "    " + command.name + ")\n        _arguments";
        for (const known_option& option : command.options) {
            std::string takes = "[";
            for (const char c : brief(option.help))
                takes += (c == '[' || c == ']' ? "\\" : "") + std::string(1, c);
            takes += "]";
            if (option.takes_value)
                takes += option.is_file          ? ":file:_files"
                         : option.values.empty() ? ":value: "
                                                 : ":value:(" + joined(option.values) + ")";
            for (const std::string& name : option.names)
                options += " \\\n            " + in_single_quotes("*" + name + takes);
        }
        options +=
            " \\\n            " +
            in_single_quotes(command.words.empty() ? "*:file:_files"
                                                   : "*:value:(" + joined(command.words) + ")") +
            "\n        ;;\n";
    }
    return "#compdef muster\n# source <(muster completion zsh)\n_muster() {\n"
           "    local -a commands\n    commands=(\n" +
           names +
           "    )\n    if ((CURRENT == 2)); then\n        _describe command commands\n"
           "        return\n    fi\n    shift words\n    ((CURRENT -= 1))\n    case $words[1] "
           "in\n" +
           options + "    esac\n}\ncompdef _muster muster\n";
}

std::string for_fish(const std::vector<known_command>& known) {
    std::string out = "# muster completion fish | source\n";
    for (const known_command& command : known) {
        out += "complete -c muster -n __fish_use_subcommand -f -a " + command.name + " -d " +
               in_single_quotes(brief(command.help), "\\") + "\n";
        const std::string here =
            "complete -c muster -n '__fish_seen_subcommand_from " + command.name + "'";
        if (!command.words.empty())
            out += here + " -f -a " + in_single_quotes(joined(command.words)) + "\n";
        for (const known_option& option : command.options) {
            out += here;
            for (const std::string& name : option.names)
                out += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
            if (option.takes_value)
                out += option.is_file ? " -r"
                       : option.values.empty()
                           ? " -x"
                           : " -x -a " + in_single_quotes(joined(option.values));
            out += " -d " + in_single_quotes(brief(option.help), "\\") + "\n";
        }
    }
    return out;
}

} // namespace

std::string completion_script(shell which, const std::vector<known_command>& known) {
    switch (which) {
    case shell::zsh:
        return for_zsh(known);
    case shell::fish:
        return for_fish(known);
    case shell::bash:
        break;
    }
    return for_bash(known);
}

} // namespace cli
