// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <muster/base/result.hpp>
#include <muster/codec/diagnostic.hpp>
#include <muster/codec/field_path.hpp>
#include <muster/codec/source_text.hpp>
#include <muster/codec/unread_parts.hpp>
#include <muster/codec/yaml_scalar.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {
namespace detail {

struct yaml_fault {
    std::size_t offset;
    std::string message;
    std::string path = {}; ///< the field, where it is known
};

/// One node of a YAML document. Nodes lie in the order of the text; a node's children follow it (a
/// mapping's as key, value, key, value), and `next` is the node behind the last of them.
struct yaml_node {
    enum class shape : std::uint8_t { scalar, sequence, mapping, alias };

    shape kind = shape::scalar;
    yaml_tag tag = yaml_tag::none;
    bool is_unread = false;  ///< stands for a value that is nested too deeply
    std::uint8_t height = 0; ///< levels of containers in it, aliases followed
    std::uint32_t offset = 0;
    std::uint32_t next = 0;   ///< 0 while the node is open
    std::uint32_t target = 0; ///< of an alias: the node that it stands for, never an alias
    std::string text;         ///< of a scalar
};

using yaml_tree = std::vector<yaml_node>;

/// Turns yaml-cpp's events into a tree without expanding aliases. Throws yaml_fault through the
/// parser on what we do not accept; read_yaml_tree() catches it.
class yaml_tree_builder final : public YAML::EventHandler {
public:
    /// With `isolate`, what is nested too deeply becomes an unread node, not a fault.
    yaml_tree_builder(yaml_tree& tree, on_unread unread) : tree_(tree), unread_(unread) {}

    void OnDocumentStart(const YAML::Mark& mark) override {
        if (!tree_.empty())
            throw yaml_fault{offset_of(mark), "expected the end of the document or a line ---"};
    }
    void OnDocumentEnd() override {}

    void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
        if (skips(anchor))
            return;
        close(add(yaml_node::shape::scalar, mark, yaml_tag::null, anchor));
    }
    void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
        if (skips(0))
            return;
        const std::uint32_t target = anchor < anchors_.size() ? anchors_[anchor] : 0;
        if (anchor >= anchors_.size() || tree_[target].next == 0)
            throw yaml_fault{offset_of(mark), "the anchor contains itself (expected an alias to a "
                                              "value that ends before it)"};
        const std::uint8_t height = tree_[target].height;
        if (open_.size() + height > max_depth())
            return leave_out(mark, 0);
        const std::uint32_t node = add(yaml_node::shape::alias, mark, yaml_tag::none, 0);
        tree_[node].target = target;
        tree_[node].height = height;
        close(node);
    }
    void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  const std::string& text) override {
        if (skips(anchor))
            return;
        if (text.size() > limits::scalar_bytes)
            throw yaml_fault{offset_of(mark), "the scalar is too long (expected at most 4 MiB)"};
        const std::uint32_t node =
            add(yaml_node::shape::scalar, mark, scalar_tag(mark, tag), anchor);
        tree_[node].text = text;
        close(node);
    }
    void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                         YAML::EmitterStyle::value) override {
        start(yaml_node::shape::sequence, mark, tag, "tag:yaml.org,2002:seq", anchor);
    }
    void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                    YAML::EmitterStyle::value) override {
        start(yaml_node::shape::mapping, mark, tag, "tag:yaml.org,2002:map", anchor);
    }
    void OnSequenceEnd() override { end(); }
    void OnMapEnd() override { end(); }

    /// The field whose value is being read. O(nodes read); for messages.
    [[nodiscard]] std::string path() const {
        std::vector<path_step> steps;
        for (std::size_t level = 0; level < open_.size(); ++level) {
            const yaml_node& parent = tree_[open_[level]];
            const std::size_t inner = level + 1 < open_.size() ? open_[level + 1] : tree_.size();
            std::size_t before = 0; // of the parent's children
            std::uint32_t last = 0;
            for (std::uint32_t child = open_[level] + 1; child < inner;
                 child = tree_[child].next, ++before)
                last = child;
            if (parent.kind == yaml_node::shape::sequence)
                steps.emplace_back(before);
            else if (before % 2 == 1)
                steps.emplace_back(std::string_view(tree_[last].text));
            else
                break; // inside a key
        }
        return to_text(path_view(steps));
    }

    /// The fault of the value that is being skipped, if any: an error in it leaves its end unknown.
    [[nodiscard]] std::optional<yaml_fault> unread_fault() {
        if (skipped_levels_ == 0)
            return std::nullopt;
        const std::uint32_t offset = tree_.back().offset;
        tree_.pop_back();
        return yaml_fault{offset, std::string(too_deep_message), path()};
    }

    [[nodiscard]] static std::size_t offset_of(const YAML::Mark& mark) {
        return mark.pos < 0 ? 0 : static_cast<std::size_t>(mark.pos);
    }

private:
    static yaml_fault too_deep(const YAML::Mark& mark) {
        return {offset_of(mark), std::string(too_deep_message)};
    }

    static yaml_tag scalar_tag(const YAML::Mark& mark, std::string_view tag) {
        constexpr std::string_view standard = "tag:yaml.org,2002:";
        const std::string written(tag);
        if (tag == "?" || tag.empty())
            return yaml_tag::none;
        if (tag == "!")
            return yaml_tag::text;
        if (tag.substr(0, standard.size()) == standard) {
            tag.remove_prefix(standard.size());
            constexpr std::pair<std::string_view, yaml_tag> known[] = {
                {"str", yaml_tag::text},    {"int", yaml_tag::integer},
                {"float", yaml_tag::real},  {"bool", yaml_tag::boolean},
                {"null", yaml_tag::null},   {"timestamp", yaml_tag::time},
                {"merge", yaml_tag::merge},
            };
            for (const auto& [name, meaning] : known) {
                if (tag == name)
                    return meaning;
            }
        }
        throw unknown_tag(mark, written);
    }

    static yaml_fault unknown_tag(const YAML::Mark& mark, const std::string& tag) {
        return {offset_of(mark), "the tag " + in_quotes(tag) +
                                     " is not known here (expected none, or one of !!str !!int "
                                     "!!float !!bool !!null !!timestamp !!seq !!map)"};
    }

    std::uint32_t add(yaml_node::shape kind, const YAML::Mark& mark, yaml_tag tag,
                      YAML::anchor_t anchor) {
        const auto node = static_cast<std::uint32_t>(tree_.size());
        tree_.emplace_back();
        tree_.back().kind = kind;
        tree_.back().tag = tag;
        tree_.back().offset = static_cast<std::uint32_t>(offset_of(mark));
        if (anchor != 0) {
            anchors_.resize(std::max<std::size_t>(anchors_.size(), anchor + 1));
            anchors_[anchor] = node;
        }
        return node;
    }

    void start(yaml_node::shape kind, const YAML::Mark& mark, const std::string& tag,
               std::string_view expected_tag, YAML::anchor_t anchor) {
        if (skipped_levels_ > 0 || open_.size() >= max_depth()) {
            if (!skips(anchor))
                leave_out(mark, anchor);
            ++skipped_levels_;
            return;
        }
        if (tag != "?" && !tag.empty() && tag != "!" && tag != expected_tag)
            throw unknown_tag(mark, tag);
        if (open_.size() == 1)
            is_in_items_ = unread_ == on_unread::isolate && tree_.back().text == "items";
        open_.push_back(add(kind, mark, yaml_tag::none, anchor));
    }

    void end() {
        if (skipped_levels_ > 0) {
            --skipped_levels_;
            return;
        }
        const std::uint32_t node = open_.back();
        open_.pop_back();
        ++tree_[node].height;
        close(node);
    }

    void close(std::uint32_t node) {
        tree_[node].next = static_cast<std::uint32_t>(tree_.size());
        if (!open_.empty()) {
            std::uint8_t& above = tree_[open_.back()].height;
            above = std::max(above, tree_[node].height);
        }
    }

    /// Of the items of a list each may nest as deeply as an object of its own.
    [[nodiscard]] std::size_t max_depth() const {
        return limits::nesting + (is_in_items_ && open_.size() > 1 ? 2U : 0U);
    }

    /// Adds an unread node.
    void leave_out(const YAML::Mark& mark, YAML::anchor_t anchor) {
        if (unread_ == on_unread::error)
            throw too_deep(mark);
        const std::uint32_t node = add(yaml_node::shape::scalar, mark, yaml_tag::null, anchor);
        tree_[node].is_unread = true;
        close(node);
    }

    /// True inside a value that is nested too deeply. An alias to an anchor in it is as unread.
    bool skips(YAML::anchor_t anchor) {
        if (skipped_levels_ > 0 && anchor != 0) {
            anchors_.resize(std::max<std::size_t>(anchors_.size(), anchor + 1));
            anchors_[anchor] = static_cast<std::uint32_t>(tree_.size() - 1);
        }
        return skipped_levels_ > 0;
    }

    yaml_tree& tree_;
    on_unread unread_;
    std::size_t skipped_levels_ = 0; ///< open containers of an unread node
    bool is_in_items_ = false;       ///< in the member `items` of the document
    std::vector<std::uint32_t> open_;
    std::vector<std::uint32_t> anchors_; ///< by yaml-cpp's number of the anchor
};

/// yaml-cpp's words, made into what was expected where they do not say it.
[[nodiscard]] inline std::string yaml_error_text(std::string_view message) {
    constexpr std::pair<std::string_view, std::string_view> texts[] = {
        {"end of map not found", "expected another key at the same indentation, or the end of the "
                                 "mapping"},
        {"end of sequence not found",
         "expected another '- ' at the same indentation, or the end of the list"},
        {"end of map flow not found", "expected ',' or '}'"},
        {"end of sequence flow not found", "expected ',' or ']'"},
        {"illegal map value",
         "a mapping cannot start here (expected one 'key: value' a line; quote "
         "a text that contains ': ')"},
        {"illegal map key", "a mapping key cannot start here"},
        {"illegal block entry", "a list item '- ' cannot start here"},
        {"illegal flow end", "'}' or ']' without its beginning"},
        {"illegal tab when looking for indentation", "a tab in the indentation (expected blanks)"},
        {"illegal EOF in scalar", "the text ends inside a quoted string (expected its end)"},
        {"unknown token", "this character cannot start a value (quote the text)"},
    };
    for (const auto& [theirs, ours] : texts) {
        if (message == theirs)
            return std::string(ours);
    }
    return "not YAML: " + std::string(message);
}

/// Whether the quoted scalar whose properties or quote stand at `offset` has no closing quote.
/// yaml-cpp takes the end of the text for one.
[[nodiscard]] inline bool is_unterminated(std::string_view text, std::size_t offset) {
    while (offset < text.size() && (text[offset] == '!' || text[offset] == '&')) {
        offset = std::min(text.find_first_of(" \t\r\n", offset), text.size());
        offset = std::min(text.find_first_not_of(" \t\r\n", offset), text.size());
    }
    const char quote = offset < text.size() ? text[offset] : '\0';
    if (quote != '"' && quote != '\'')
        return false;
    for (std::size_t i = offset + 1; i < text.size(); ++i) {
        if (quote == '"' && text[i] == '\\')
            ++i;
        else if (text[i] == quote && quote == '\'' && text.substr(i + 1, 1) == "'")
            ++i;
        else if (text[i] == quote)
            return false;
    }
    return true;
}

/// Whether the line at `offset` begins with a tab, or with blanks and a tab.
[[nodiscard]] inline bool is_indented_by_tab(std::string_view text, std::size_t offset) {
    const std::size_t before = text.substr(0, offset).rfind('\n');
    const std::size_t first = before == std::string_view::npos ? 0 : before + 1;
    const std::size_t blanks = text.find_first_not_of(' ', first);
    return blanks != std::string_view::npos && text[blanks] == '\t';
}

/// The tree of the one document in `text` (printable UTF-8); an empty tree when there is none.
[[nodiscard]] inline result<yaml_tree, yaml_fault> read_yaml_tree(std::string_view text,
                                                                  on_unread unread) {
    using answer = result<yaml_tree, yaml_fault>;
    yaml_tree tree;
    yaml_tree_builder builder(tree, unread);
    try {
        std::istringstream stream{std::string(text)};
        YAML::Parser parser(stream);
        while (parser.HandleNextDocument(builder)) {
        }
    } catch (const yaml_fault& fault) {
        return answer(failure<yaml_fault>{{fault.offset, fault.message, builder.path()}});
    } catch (const YAML::Exception& error) {
        // yaml-cpp gives up at some 500 levels.
        if (auto fault = builder.unread_fault())
            return answer(failure<yaml_fault>{std::move(*fault)});
        const std::size_t at = yaml_tree_builder::offset_of(error.mark);
        // yaml-cpp takes such a line for a part of the one before it, and falls over what follows.
        return answer(failure<yaml_fault>{
            {at, yaml_error_text(is_indented_by_tab(text, at)
                                     ? std::string_view("illegal tab when looking for indentation")
                                     : std::string_view(error.msg))}});
    }
    // Only the last scalar can lack its end: it would have swallowed all others.
    const auto last = std::find_if(tree.rbegin(), tree.rend(), [](const yaml_node& node) {
        return node.kind == yaml_node::shape::scalar;
    });
    if (last != tree.rend() && is_unterminated(text, last->offset))
        return answer(failure<yaml_fault>{{last->offset, "the quoted string has no end"}});
    return answer(std::move(tree));
}

} // namespace detail
} // namespace codec
} // namespace v0_1
} // namespace muster
