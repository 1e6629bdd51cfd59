// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <sstream>
#include <string>
#include <string_view>

#include <muster/document/diagnostic.hpp>

#include "../plan/report.hpp"

namespace cli {

/// Returns the meaning of an exit code, for help texts.
[[nodiscard]] constexpr std::string_view meaning_of(exit_code code) noexcept {
    switch (code) {
    case fine:
        return "success";
    case usage:
        return "wrong usage or input that cannot be read";
    case invalid_input:
        return "invalid input";
    case pending:
        return "some groups stay pending";
    case broken:
        break;
    }
    return "the plan is broken (a bug)";
}

/// Returns the exit code of input with errors: `usage` if a file cannot be read. Such an error has
/// no line.
[[nodiscard]] inline exit_code code_of_failure(const muster::codec::diagnostics& found) {
    return std::ranges::any_of(found.findings(),
                               [](const muster::codec::diagnostic& each) {
                                   return each.level == muster::codec::severity::error &&
                                          each.where.line == 0;
                               })
               ? usage
               : invalid_input;
}

/// Returns "Exit codes: 0 success, 1 ...", in lines of at most 78 columns. `fine` and `usage` come
/// first: every command has them.
[[nodiscard]] inline std::string exit_codes_text(std::initializer_list<exit_code> others) {
    std::string all = "Exit codes:";
    const auto add = [&](exit_code code) {
        all += (code == fine ? " " : ", ") + std::to_string(code) + " " +
               std::string(meaning_of(code));
    };
    add(fine);
    add(usage);
    for (const exit_code each : others)
        add(each);
    constexpr std::size_t columns = 78;
    std::istringstream words(all + ".");
    std::string text;
    std::size_t line = 0;
    for (std::string word; words >> word;) {
        const bool wraps = line > 0 && line + 1 + word.size() > columns;
        text += (wraps ? "\n" : line > 0 ? " " : "") + word;
        line = (wraps || line == 0 ? 0 : line + 1) + word.size();
    }
    return text;
}

} // namespace cli
