// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>

#include <muster/document/diagnostic.hpp>
#include <muster/document/field_path.hpp>
#include <muster/document/json_parts.hpp>
#include <muster/document/source_text.hpp>
#include <muster/document/unread_parts.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {
namespace detail {

/// A value's places in JSON text; entries are in the order of the text, a value before its
/// elements.
struct json_entry {
    std::uint32_t key;   ///< offset of the key, or of the value where there is none
    std::uint32_t value; ///< offset of the value
    std::uint32_t next;  ///< the entry behind this value and its elements
};

struct json_fault {
    std::size_t offset;
    std::string path;
    std::string message;
};

/// The text of a JSON string token with its quotes, escapes resolved.
[[nodiscard]] inline std::string json_unescaped(std::string_view token) {
    if (token.find('\\') == std::string_view::npos)
        return std::string(token.substr(1, token.size() - 2));
    boost::json::error_code error;
    const boost::json::value value = boost::json::parse(token, error);
    if (error || !value.is_string())
        return std::string(token);
    const auto& text = value.get_string();
    return std::string(text.data(), text.size());
}

/// Goes over one JSON value by its structure alone, without making it: the slow companion of the
/// real parser, run only to say where something is or what exactly is wrong. Whatever the text, it
/// ends after O(text) steps (O(n log n) with faults) and descends at most limits::nesting levels,
/// in the items of a list limits::nesting levels more than the list.
class json_skimmer {
public:
    /// With `entries`, notes the places of all values; with `faults`, the first syntax error and
    /// the duplicate keys (at most 1000 faults). Without `faults`, skips what is nested too deeply.
    json_skimmer(std::string_view text, std::vector<json_entry>* entries,
                 std::vector<json_fault>* faults)
        : text_(text), entries_(entries), faults_(faults) {}
    /// Notes the values that are nested too deeply, and duplicate keys.
    json_skimmer(std::string_view text, part_faults& parts) : text_(text), parts_(&parts) {}

    /// False when the value is not well-formed.
    bool run() { return value(path_frame{}, npos, 0); }
    /// The offset after the value; to be called after run().
    [[nodiscard]] std::size_t end() const noexcept { return at_; }

private:
    static constexpr std::size_t npos = std::string_view::npos;

    [[nodiscard]] char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

    void skip_blanks() {
        while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' ||
                                      text_[at_] == '\t' || text_[at_] == '\r'))
            ++at_;
    }

    bool fail(const path_frame& frame, std::size_t offset, std::string message) {
        constexpr std::size_t most = 1000;
        if (faults_ != nullptr && faults_->size() < most)
            faults_->push_back({offset, to_text(frame), std::move(message)});
        return false;
    }

    bool unexpected(const path_frame& frame, std::string_view expected) {
        std::string found = "the text ends";
        if (at_ < text_.size()) {
            const std::size_t length = utf8_length(text_.substr(at_));
            found = length == 0 ? std::string("a byte that is not UTF-8")
                                : in_quotes(text_.substr(at_, length));
        }
        return fail(frame, at_, found + ", expected " + std::string(expected));
    }

    bool string_token(const path_frame& frame) {
        const std::size_t begin = at_++;
        for (; at_ < text_.size(); ++at_) {
            if (text_[at_] == '"') {
                ++at_;
                return true;
            }
            if (text_[at_] == '\\')
                ++at_;
            else if (static_cast<unsigned char>(text_[at_]) < 0x20)
                return unexpected(frame, "the string to end (control characters are escaped)");
        }
        return fail(frame, begin, "the string has no end, expected a closing \"");
    }

    bool value(const path_frame& frame, std::size_t key_offset, std::size_t depth) {
        skip_blanks();
        const std::size_t entry = entries_ != nullptr ? entries_->size() : 0;
        if (entries_ != nullptr) {
            const auto offset = static_cast<std::uint32_t>(at_);
            const auto key = key_offset == npos ? offset : static_cast<std::uint32_t>(key_offset);
            entries_->push_back({key, offset, 0});
        }
        if (!any(frame, depth))
            return false;
        if (entries_ != nullptr)
            (*entries_)[entry].next = static_cast<std::uint32_t>(entries_->size());
        return true;
    }

    bool any(const path_frame& frame, std::size_t depth) {
        const char c = peek();
        if (c == '"')
            return string_token(frame);
        if (c == '{' || c == '[') {
            if (depth >= max_depth_)
                return too_deep(frame);
            return c == '{' ? object(frame, depth + 1) : array(frame, depth + 1);
        }
        for (const std::string_view word : {"true", "false", "null"}) {
            if (text_.substr(at_, word.size()) == word) {
                at_ += word.size();
                return true;
            }
        }
        if (c != '-' && (c < '0' || c > '9'))
            return unexpected(frame, "a value");
        at_ = std::min(text_.find_first_not_of("+-.0123456789eE", at_), text_.size());
        return true;
    }

    bool too_deep(const path_frame& frame) {
        if (faults_ != nullptr)
            return fail(frame, at_, std::string(too_deep_message));
        const std::size_t end = end_of_json_value(text_, at_);
        if (end == npos)
            return false;
        if (parts_ != nullptr)
            parts_->add(at_, end, frame, too_deep_message);
        at_ = end;
        return true;
    }

    bool array(const path_frame& frame, std::size_t depth) {
        ++at_;
        skip_blanks();
        if (peek() == ']') {
            ++at_;
            return true;
        }
        for (std::size_t index = 0;; ++index) {
            const path_frame element{&frame, index};
            if (!value(element, npos, depth))
                return false;
            skip_blanks();
            const char c = peek();
            if (c != ',' && c != ']')
                return unexpected(frame, "',' or ']'");
            ++at_;
            if (c == ']')
                return true;
        }
    }

    bool object(const path_frame& frame, std::size_t depth) {
        std::set<std::string> keys;
        ++at_;
        skip_blanks();
        if (peek() == '}') {
            ++at_;
            return true;
        }
        for (;;) {
            skip_blanks();
            if (peek() != '"')
                return unexpected(frame, "a key in double quotes");
            const std::size_t key_offset = at_;
            if (!string_token(frame))
                return false;
            path_frame member{&frame, std::string_view{}};
            const std::string_view token = text_.substr(key_offset, at_ - key_offset);
            if (faults_ != nullptr || parts_ != nullptr) {
                const auto [key, fresh] = keys.insert(json_unescaped(token));
                member.step = std::string_view(*key);
                if (!fresh)
                    duplicate(member, key_offset);
            }
            if (depth == 1 && faults_ == nullptr)
                max_depth_ = limits::nesting + (token == "\"items\"" ? 2U : 0U);
            skip_blanks();
            if (peek() != ':')
                return unexpected(member, "':'");
            ++at_;
            if (!value(member, key_offset, depth))
                return false;
            skip_blanks();
            const char c = peek();
            if (c != ',' && c != '}')
                return unexpected(member, "',' or '}'");
            ++at_;
            if (c == '}')
                return true;
        }
    }

    void duplicate(const path_frame& member, std::size_t offset) {
        if (faults_ != nullptr)
            fail(member, offset, std::string(duplicate_key_message));
        else
            parts_->add(offset, 0, member, duplicate_key_message);
    }

    std::string_view text_;
    std::size_t at_ = 0;
    std::size_t max_depth_ = limits::nesting;
    std::vector<json_entry>* entries_ = nullptr;
    std::vector<json_fault>* faults_ = nullptr;
    part_faults* parts_ = nullptr;
};

} // namespace detail
} // namespace codec
} // namespace v0_1
} // namespace muster
