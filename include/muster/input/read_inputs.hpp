// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <muster/document/document.hpp>
#include <muster/document/unread_parts.hpp>
#include <muster/input/read_documents.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {
namespace detail {

/// The rest of a stream, or nothing and a finding. Stops at the limit, so that an endless file
/// ends.
[[nodiscard]] inline std::optional<std::string> read_all(std::FILE* stream, const std::string& name,
                                                         diagnostics& out) {
    constexpr std::size_t least = 64U << 10U;
    std::string text;
    std::size_t size = 0;
    for (;;) {
        text.resize(std::max(least, 2 * size));
        const std::size_t got = std::fread(text.data() + size, 1, text.size() - size, stream);
        size += got;
        if (size > limits::text_bytes) {
            out.error({name, 0, 0}, "the file is too large (expected at most 2 GiB)");
            return std::nullopt;
        }
        if (size < text.size())
            break;
    }
    if (std::ferror(stream) != 0) {
        out.error({name, 0, 0}, std::string("cannot be read: ") + std::strerror(errno));
        return std::nullopt;
    }
    text.resize(size);
    return text;
}

[[nodiscard]] inline std::optional<std::string> read_file(const std::string& name,
                                                          diagnostics& out) {
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(
        std::fopen(name.c_str(), "rb"), [](std::FILE* f) { return std::fclose(f); });
    if (file == nullptr) {
        out.error({name, 0, 0}, std::string("cannot be read: ") + std::strerror(errno));
        return std::nullopt;
    }
    return read_all(file.get(), name, out);
}

[[nodiscard]] inline bool is_json_name(const std::filesystem::path& name) {
    return name.extension() == ".json" || name.extension() == ".ndjson";
}

[[nodiscard]] inline bool is_manifest_name(const std::filesystem::path& name) {
    return is_json_name(name) || name.extension() == ".yaml" || name.extension() == ".yml";
}

/// The manifests below a directory, sorted by path. Links to files are followed, links to
/// directories are not, so there are no cycles.
[[nodiscard]] inline std::vector<std::string> manifests_below(const std::string& directory,
                                                              diagnostics& out) {
    namespace fs = std::filesystem;
    std::vector<std::string> names;
    std::error_code error;
    fs::recursive_directory_iterator entry(directory, error);
    while (!error && entry != fs::recursive_directory_iterator{}) {
        std::error_code unknown; // what cannot be looked at is no regular file
        if (is_manifest_name(entry->path()) && entry->is_regular_file(unknown))
            names.push_back(entry->path().string());
        entry.increment(error);
    }
    if (error)
        out.error({directory, 0, 0}, "the directory cannot be read: " + error.message());
    else if (names.empty())
        out.error({directory, 0, 0},
                  "the directory has no manifest (expected *.yaml, *.yml, *.json or *.ndjson)");
    std::sort(names.begin(), names.end());
    return names;
}

inline void append(std::vector<document>& to, std::vector<document> from) {
    to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

inline void read_named(const std::string& name, std::vector<document>& documents, diagnostics& out,
                       on_unread unread) {
    auto text = read_file(name, out);
    if (!text)
        return;
    // A .yaml file may hold JSON, which is YAML too; then the fast reader takes it.
    const input_format format = is_json_name(name) ? input_format::json : input_format::automatic;
    append(documents, read_documents(name, std::move(*text), out, format, unread));
}

} // namespace detail

/// Reads what the arguments of a command name, in their order: files, directories (all *.yaml,
/// *.yml,
/// *.json and *.ndjson below them, sorted by path) and `-` for `standard_input`. Files ending in
/// .json or .ndjson are JSON, all others are looked at. What cannot be read is an error in `out`,
/// and the rest is still read.
[[nodiscard]] inline std::vector<document> read_inputs(std::span<const std::string> arguments,
                                                       diagnostics& out,
                                                       std::FILE* standard_input = stdin,
                                                       on_unread unread = on_unread::error) {
    std::vector<document> documents;
    bool input_taken = false;
    for (const std::string& argument : arguments) {
        std::error_code unknown; // opening the file will say why
        if (argument == "-") {
            if (std::exchange(input_taken, true)) {
                out.error({"<stdin>", 0, 0}, "named twice (expected - at most once)");
                continue;
            }
            if (auto text = detail::read_all(standard_input, "<stdin>", out))
                detail::append(documents, read_documents("<stdin>", std::move(*text), out,
                                                         input_format::automatic, unread));
        } else if (std::filesystem::is_directory(argument, unknown)) {
            for (const std::string& name : detail::manifests_below(argument, out))
                detail::read_named(name, documents, out, unread);
        } else {
            detail::read_named(argument, documents, out, unread);
        }
    }
    return documents;
}

} // namespace codec
} // namespace v0_1
} // namespace muster
