// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/value.hpp>

#include <muster/document/document.hpp>
#include <muster/document/field_path.hpp>
#include <muster/document/unread_parts.hpp>
#include <muster/document/yaml_construct.hpp>
#include <muster/document/yaml_index.hpp>
#include <muster/document/yaml_parser.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {
namespace detail {

/// Whether a line is `mark` and nothing else, or `mark`, a blank and anything.
[[nodiscard]] inline bool is_marker(std::string_view line, std::string_view mark) {
    return line.substr(0, mark.size()) == mark &&
           (line.size() == mark.size() || line[mark.size()] == ' ' || line[mark.size()] == '\t' ||
            line[mark.size()] == '\r');
}

/// The documents of a YAML stream as [begin, end) of the text. Between documents stand `---`, `...`
/// or a line `--`, at the beginning of a line, where YAML lets nothing else begin so.
[[nodiscard]] inline std::vector<std::pair<std::size_t, std::size_t>>
split_yaml(std::string_view text, std::size_t start) {
    std::vector<std::pair<std::size_t, std::size_t>> parts;
    std::size_t begin = start;
    bool only_prologue = true; // directives belong to the document behind the --- that follows
    bool has_directive = false;
    const auto cut = [&](std::size_t end, std::size_t next) {
        parts.emplace_back(begin, end);
        begin = next;
        only_prologue = true;
        has_directive = false;
    };
    for (std::size_t line_start = start; line_start < text.size();) {
        const std::size_t next = std::min(text.find('\n', line_start), text.size() - 1) + 1;
        std::string_view line = text.substr(line_start, next - line_start);
        if (!line.empty() && line.back() == '\n')
            line.remove_suffix(1);
        const bool bare =
            line.size() < 2 || line.find_first_not_of(" \t\r", 2) == std::string_view::npos;
        if (is_marker(line, "---")) {
            if (!(only_prologue && has_directive))
                cut(line_start, line_start);
            only_prologue = false;
        } else if (is_marker(line, "...") || (is_marker(line, "--") && bare)) {
            cut(line_start, next);
        } else if (only_prologue && !line.empty() && line[0] == '%') {
            has_directive = true;
        } else if (line.find_first_not_of(" \t\r") != std::string_view::npos && line[0] != '#') {
            only_prologue = false;
        }
        line_start = next;
    }
    parts.emplace_back(begin, text.size());
    return parts;
}

/// Whether a part of a stream holds more than blanks, comments, directives and markers.
[[nodiscard]] inline bool holds_yaml(std::string_view part) {
    for (std::size_t at = 0; at < part.size();) {
        const std::size_t end = std::min(part.find('\n', at), part.size());
        const std::string_view line = part.substr(at, end - at);
        const std::size_t first = line.find_first_not_of(" \t\r-.");
        if (first != std::string_view::npos && line[first] != '#' && line[0] != '%')
            return true;
        at = end + 1;
    }
    return false;
}

} // namespace detail

/// Reads the documents of a YAML stream as kubectl would (YAML 1.1 in go-yaml's dialect, aliases
/// and merge keys expanded). A duplicate key is a warning, and its last value counts. A line that
/// is only `--` separates documents too. Empty documents are skipped, and a document with an error
/// is left out; the others are still read. With `on_unread::isolate`, too deep a value breaks only
/// the object that holds it. About 7 MB/s. Throws nothing but std::bad_alloc.
[[nodiscard]] inline std::vector<document> read_yaml(std::shared_ptr<const source_text> source,
                                                     diagnostics& out,
                                                     on_unread unread = on_unread::error) {
    std::vector<document> documents;
    const std::string_view text = source->text();
    const auto stream = detail::split_yaml(text, source->start());
    const auto holds_text = [&](const auto& part) {
        return detail::holds_yaml(text.substr(part.first, part.second - part.first));
    };
    for (const auto& [begin, end] : stream) {
        const std::string_view part = text.substr(begin, end - begin);
        bool sound = true;
        const auto report = [&, first = begin](std::size_t offset, const std::string& path,
                                               const std::string& message) {
            sound = false;
            out.error(source->at(first + offset), message, path);
        };
        if (const std::size_t bad = detail::find_unprintable(part); bad != part.npos) {
            report(bad, {}, "not printable text (expected UTF-8 without control characters)");
            continue;
        }
        if (part.size() > limits::yaml_document_bytes) {
            report(0, {},
                   "the YAML document is too large (expected at most 64 MiB; JSON may be "
                   "larger)");
            continue;
        }
        const auto tree = detail::read_yaml_tree(part, unread);
        if (!tree) {
            report(tree.error().offset, tree.error().path, tree.error().message);
            continue;
        }
        if (tree->empty())
            continue;
        const auto warn = [&, first = begin](std::size_t offset, const std::string& path,
                                             const std::string& message) {
            out.add({severity::warning, source->at(first + offset), path, message});
        };
        detail::part_faults faults;
        boost::json::value root = detail::yaml_constructor::run(*tree, report, warn, faults);
        if (!sound || (root.is_null() && !tree->front().is_unread))
            continue;
        std::optional<detail::isolated_parts> isolated;
        if (!faults.all().empty())
            isolated = detail::part_remover::run(root, faults.all());
        if (!faults.all().empty() &&
            (!isolated || (isolated->is_whole && std::ranges::count_if(stream, holds_text) < 2))) {
            for (const detail::part_fault& each : faults.all()) {
                if (each.path.empty())
                    continue;
                const std::vector<path_step> steps(each.path.begin(), each.path.end());
                report(each.offset, to_text(path_view(steps)), std::string(each.message));
            }
            continue;
        }
        documents.emplace_back(source, begin, end, std::move(root), &detail::yaml_index::make);
        if (isolated) {
            documents.back().set_unread(std::move(isolated->unread));
            for (const detail::part_finding& each : isolated->findings)
                warn(each.offset, each.path, each.message);
        }
    }
    return documents;
}

} // namespace codec
} // namespace v0_1
} // namespace muster
