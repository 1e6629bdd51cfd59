// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <yaml.h>

#include <muster/base/result.hpp>
#include <muster/document/unread_parts.hpp>
#include <muster/document/yaml_tree.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {
namespace detail {

/// Converts libyaml's positions, which count characters, to bytes. O(1) per byte while positions
/// grow.
class byte_offsets {
public:
    explicit byte_offsets(std::string_view text) : text_(text) {}

    std::size_t operator()(const yaml_mark_t& mark) {
        if (mark.index < characters_)
            bytes_ = characters_ = 0;
        const auto continues = [&](std::size_t byte) {
            return byte < text_.size() &&
                   (static_cast<unsigned char>(text_[byte]) & 0xC0U) == 0x80U;
        };
        for (; characters_ < mark.index && bytes_ < text_.size(); ++characters_) {
            ++bytes_;
            while (continues(bytes_))
                ++bytes_;
        }
        return bytes_;
    }

private:
    std::string_view text_;
    std::size_t bytes_ = 0;
    std::size_t characters_ = 0;
};

/// libyaml's parser of one text, which must outlive it.
class yaml_event_source {
public:
    explicit yaml_event_source(std::string_view text) {
        ready_ = yaml_parser_initialize(&parser_) != 0;
        if (!ready_)
            return;
        yaml_parser_set_encoding(&parser_, YAML_UTF8_ENCODING);
        yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()),
                                     text.size());
    }
    yaml_event_source(const yaml_event_source&) = delete;
    yaml_event_source& operator=(const yaml_event_source&) = delete;
    ~yaml_event_source() {
        clear();
        if (ready_)
            yaml_parser_delete(&parser_);
    }

    /// Returns the next event, or nullptr after an error. It is valid until the next call.
    const yaml_event_t* next() {
        clear();
        has_event_ = ready_ && yaml_parser_parse(&parser_, &event_) != 0;
        return has_event_ ? &event_ : nullptr;
    }

    /// Returns the position of the error; of a value without an end, the position of its start.
    [[nodiscard]] const yaml_mark_t& error_mark() const noexcept {
        return parser_.problem != nullptr && parser_.context != nullptr &&
                       std::string_view(parser_.problem) == "found unexpected end of stream"
                   ? parser_.context_mark
                   : parser_.problem_mark;
    }

    /// Returns libyaml's words, which are those of kubectl, e.g. "did not find expected key".
    [[nodiscard]] std::string error_text() const {
        std::string text = "not YAML: ";
        text += ready_ && parser_.problem != nullptr ? parser_.problem : "out of memory";
        if (ready_ && parser_.problem != nullptr && parser_.context != nullptr)
            text += std::string(" ") + parser_.context;
        return text;
    }

private:
    void clear() {
        if (has_event_)
            yaml_event_delete(&event_);
        has_event_ = false;
    }

    yaml_parser_t parser_{};
    yaml_event_t event_{};
    bool ready_ = false;
    bool has_event_ = false;
};

[[nodiscard]] inline std::string_view yaml_text_of(const yaml_char_t* text) {
    return text == nullptr ? std::string_view{} : reinterpret_cast<const char*>(text);
}

/// Maximum number of open containers: libyaml's time for a token grows with this number.
inline constexpr std::size_t yaml_skipped_depth = 512;

/// Passes an event on. Returns false at the end of the text.
inline bool pass_on(const yaml_event_t& event, std::size_t offset, yaml_tree_builder& builder) {
    const auto start = [&](const auto& node) {
        return yaml_start{offset, yaml_text_of(node.anchor), yaml_text_of(node.tag)};
    };
    switch (event.type) {
    case YAML_ALIAS_EVENT:
        builder.alias({offset, yaml_text_of(event.data.alias.anchor)});
        break;
    case YAML_SCALAR_EVENT: {
        const auto& scalar = event.data.scalar;
        builder.scalar(start(scalar), {reinterpret_cast<const char*>(scalar.value), scalar.length},
                       scalar.tag == nullptr && scalar.plain_implicit != 0);
        break;
    }
    case YAML_SEQUENCE_START_EVENT:
        builder.start_sequence(start(event.data.sequence_start));
        break;
    case YAML_MAPPING_START_EVENT:
        builder.start_mapping(start(event.data.mapping_start));
        break;
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        builder.end();
        break;
    default:
        break;
    }
    return event.type != YAML_STREAM_END_EVENT;
}

/// Returns the tree of the one document in `text` (printable UTF-8); an empty tree if there is
/// none. O(text × open containers).
[[nodiscard]] inline result<yaml_tree, yaml_fault> read_yaml_tree(std::string_view text,
                                                                  on_unread unread) {
    using answer = result<yaml_tree, yaml_fault>;
    yaml_tree tree;
    yaml_tree_builder builder(tree, unread);
    yaml_event_source events(text);
    byte_offsets offset_of(text);
    const yaml_event_t* event = events.next();
    for (; event != nullptr; event = events.next()) {
        const std::size_t offset = offset_of(event->start_mark);
        if (event->type == YAML_DOCUMENT_START_EVENT && !tree.empty())
            return answer(
                failure<yaml_fault>{{offset, "expected the end of the document or a line ---"}});
        if (!pass_on(*event, offset, builder))
            return answer(std::move(tree));
        if (builder.fault())
            return answer(failure<yaml_fault>{*builder.fault()});
        if (builder.depth() > yaml_skipped_depth)
            break;
    }
    if (auto fault = builder.unread_fault())
        return answer(failure<yaml_fault>{std::move(*fault)});
    return answer(failure<yaml_fault>{
        {std::min(offset_of(events.error_mark()), text.size()), events.error_text()}});
}

} // namespace detail
} // namespace codec
} // namespace v0_1
} // namespace muster
