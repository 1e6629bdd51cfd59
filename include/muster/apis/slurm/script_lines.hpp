// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace muster {
inline namespace v0_1 {
namespace codec {
/// Batch scripts of Slurm, as `sbatch` reads them (Slurm 26.11, sbatch(1)).
namespace slurm {

inline constexpr std::string_view directive_word = "#SBATCH";
/// What sbatch takes for white space inside of a line.
inline constexpr std::string_view white_space = " \t\v\f\r";

/// What follows `#SBATCH` on one line, without the line end.
struct directive_line {
    std::size_t offset = 0; ///< in the text
    std::string_view text;
};

/// The lines of a script that sbatch reads, up to the first command.
struct script_lines {
    std::vector<directive_line> directives;
    /// Lines that begin with `#SBATCH` behind the first command, which sbatch ignores, and the
    /// offset of the first one.
    std::size_t late = 0;
    std::size_t first_late = 0;
    /// Offset of the first line that begins with `#PBS` or `#BSUB`, which sbatch translates; npos:
    /// none.
    std::size_t first_foreign = std::string_view::npos;
};

namespace detail {

/// Calls `visit(std::size_t offset, std::string_view line) -> bool` for each line from `start` on,
/// without its line feed, until it returns false. Returns the offset of the line at which it
/// stopped, or the end.
template<class Visit>
std::size_t each_line(std::string_view text, std::size_t start, Visit&& visit) {
    while (start < text.size()) {
        const std::size_t end = text.find('\n', start);
        const std::string_view line =
            text.substr(start, end == std::string_view::npos ? end : end - start);
        if (!visit(start, line))
            return start;
        if (end == std::string_view::npos)
            break;
        start = end + 1;
    }
    return text.size();
}

[[nodiscard]] inline bool is_command(std::string_view line) {
    const std::size_t first = line.find_first_not_of(white_space);
    return first != std::string_view::npos && line[first] != '#';
}

/// The offset of the next line from `start` on that begins with `#SBATCH`, or npos.
[[nodiscard]] inline std::size_t next_directive(std::string_view text, std::size_t start) {
    while (start < text.size()) {
        const std::size_t found = text.find(directive_word, start);
        if (found == std::string_view::npos || found == 0 || text[found - 1] == '\n')
            return found;
        start = found + directive_word.size();
    }
    return std::string_view::npos;
}

} // namespace detail

/// Returns true for a text that is meant as a batch script: a line begins with `#SBATCH`, and the
/// text begins with `#!` or the line stands before the first command. `start` is 3 behind a byte
/// order mark. O(text).
[[nodiscard]] inline bool is_batch_script(std::string_view text, std::size_t start = 0) {
    if (text.substr(start).starts_with("#!"))
        return detail::next_directive(text, start) != std::string_view::npos;
    bool found = false;
    detail::each_line(text, start, [&](std::size_t, std::string_view line) {
        found = line.starts_with(directive_word);
        return !found && !detail::is_command(line);
    });
    return found;
}

/// Returns the lines that sbatch reads. A line is one of them only if it begins with `#SBATCH`:
/// `##SBATCH` and ` #SBATCH` are comments. O(text).
[[nodiscard]] inline script_lines find_directives(std::string_view text, std::size_t start = 0) {
    script_lines found;
    const std::size_t command =
        detail::each_line(text, start, [&](std::size_t offset, std::string_view line) {
            if (line.starts_with(directive_word))
                found.directives.push_back(
                    {offset + directive_word.size(), line.substr(directive_word.size())});
            else if ((line.starts_with("#PBS") || line.starts_with("#BSUB")) &&
                     found.first_foreign == std::string_view::npos)
                found.first_foreign = offset;
            return !detail::is_command(line);
        });
    for (std::size_t at = detail::next_directive(text, command); at != std::string_view::npos;
         at = detail::next_directive(text, at + directive_word.size()))
        if (found.late++ == 0)
            found.first_late = at;
    return found;
}

} // namespace slurm
} // namespace codec
} // namespace v0_1
} // namespace muster
