// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <muster/document/diagnostic.hpp>
#include <muster/document/object_metadata.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {
namespace detail {

/// Returns the parts between separators; an empty text is one empty part. O(text).
[[nodiscard]] inline std::vector<std::string_view> split_text(std::string_view text,
                                                              char separator) {
    std::vector<std::string_view> parts;
    while (true) {
        const std::size_t end = text.find(separator);
        parts.push_back(text.substr(0, end));
        if (end == std::string_view::npos)
            return parts;
        text.remove_prefix(end + 1);
    }
}

[[nodiscard]] constexpr std::string_view without_blanks(std::string_view text) noexcept {
    constexpr std::string_view blanks = " \t\r\n\v\f";
    const std::size_t first = text.find_first_not_of(blanks);
    if (first == std::string_view::npos)
        return {};
    return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

/// Returns the parts between commas, without surrounding blanks and without empty parts. O(text).
[[nodiscard]] inline std::vector<std::string> listed_words(std::string_view text) {
    std::vector<std::string> words;
    for (const std::string_view part : split_text(text, ','))
        if (const std::string_view word = without_blanks(part); !word.empty())
            words.emplace_back(word);
    return words;
}

/// Returns the integer if the whole text is a decimal integer from `least` to `most`, else nullopt.
/// A leading `+` is not accepted.
[[nodiscard]] inline std::optional<std::int64_t>
whole_number(std::string_view text, std::int64_t least, std::int64_t most) noexcept {
    std::int64_t number = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
    if (parsed.ec != std::errc{} || parsed.ptr != text.data() + text.size() || number < least ||
        number > most)
        return std::nullopt;
    return number;
}

/// Returns the value that Go's strconv.ParseBool parses; nullopt if it would fail.
[[nodiscard]] inline std::optional<bool> go_boolean(std::string_view text) noexcept {
    for (const std::string_view word : {"1", "t", "T", "TRUE", "true", "True"})
        if (text == word)
            return true;
    for (const std::string_view word : {"0", "f", "F", "FALSE", "false", "False"})
        if (text == word)
            return false;
    return std::nullopt;
}

} // namespace detail

/// The text of an annotation or a label of a node or a pod, with the place for findings about it.
class metadata_text {
public:
    /// All arguments must outlive this object. `kind`: the word for the object in messages. `home`:
    /// `annotations` or `labels`.
    metadata_text(const object_metadata& of, std::string_view kind, std::string_view key,
                  diagnostics& out, std::string_view home = "annotations")
        : of_(&of),
          kind_(kind),
          key_(key),
          home_(home),
          text_((home == "labels" ? of.labels : of.annotations).find(key)),
          out_(&out) {}

    [[nodiscard]] bool is_present() const noexcept { return text_ != nullptr; }
    /// Empty if absent.
    [[nodiscard]] std::string_view text() const noexcept {
        return text_ ? std::string_view(*text_) : std::string_view{};
    }

    /// Reports a warning at the place of the text. The message names the object and the key.
    void warning(const std::string& message) const {
        report(*out_, severity::warning, of_->where, {"metadata", home_, key_}, text_of(message));
    }

    /// Returns the object, the key and a message: `node n1: hami.io/x: no device`.
    [[nodiscard]] std::string text_of(const std::string& message) const {
        std::string name = of_->key.name_space;
        name += name.empty() ? "" : "/";
        return std::string(kind_) + " " + name + of_->key.name + ": " + std::string(key_) + ": " +
               message;
    }

private:
    const object_metadata* of_;
    std::string_view kind_;
    std::string_view key_;
    std::string_view home_;
    const std::string* text_;
    diagnostics* out_;
};

} // namespace codec
} // namespace v0_1
} // namespace muster
