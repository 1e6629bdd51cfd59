// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <muster/apis/slurm/script_document.hpp>
#include <muster/document/document.hpp>
#include <muster/document/json_reader.hpp>
#include <muster/document/unread_parts.hpp>
#include <muster/document/yaml_reader.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// How to take a text. `automatic` looks at it: a script with `#SBATCH` lines is a batch job of
/// Slurm; what starts with `{` or `[` is JSON, or YAML in flow style if it is not well-formed JSON;
/// all else is YAML.
enum class input_format : std::uint8_t { automatic, json, yaml };

namespace detail {

/// JSON first, then YAML; when it is neither, it was most likely meant as JSON.
[[nodiscard]] inline std::vector<document>
read_json_or_yaml(const std::shared_ptr<const source_text>& source, diagnostics& out,
                  on_unread unread) {
    // Reading a large text again at the speed of YAML would only delay the error.
    constexpr std::size_t worth_a_second_try = 4U << 20U;
    diagnostics json_findings;
    std::vector<document> documents = read_json(source, json_findings, unread);
    if (!json_findings.ok() && source->text().size() <= worth_a_second_try) {
        diagnostics yaml_findings;
        std::vector<document> as_yaml = read_yaml(source, yaml_findings, unread);
        if (yaml_findings.findings().empty())
            return as_yaml;
    }
    for (const diagnostic& finding : json_findings.findings())
        out.add(finding);
    return documents;
}

} // namespace detail

/// Reads all documents of a text. What is wrong goes to `out` with its place; a document with an
/// error is left out; see on_unread for errors that `isolate` confines to one object. A byte order
/// mark is skipped. Bad input never throws.
[[nodiscard]] inline std::vector<document>
read_documents(std::string file_name, std::string text, diagnostics& out,
               input_format format = input_format::automatic, on_unread unread = on_unread::error) {
    if (text.size() > limits::text_bytes) {
        out.error({std::move(file_name), 0, 0}, "the text is too large (expected at most 2 GiB)");
        return {};
    }
    const auto source = std::make_shared<const source_text>(std::move(file_name), std::move(text));
    if (format == input_format::json)
        return read_json(source, out, unread);
    if (format == input_format::yaml)
        return read_yaml(source, out, unread);
    if (slurm::is_batch_script(source->text(), source->start()))
        return slurm::read_script(source, out);
    const std::size_t first = source->text().find_first_not_of(" \t\r\n", source->start());
    const bool looks_like_json = first != std::string_view::npos &&
                                 (source->text()[first] == '{' || source->text()[first] == '[');
    return looks_like_json ? detail::read_json_or_yaml(source, out, unread)
                           : read_yaml(source, out, unread);
}

} // namespace codec
} // namespace v0_1
} // namespace muster
