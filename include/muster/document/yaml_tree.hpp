// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <muster/document/diagnostic.hpp>
#include <muster/document/field_path.hpp>
#include <muster/document/source_text.hpp>
#include <muster/document/unread_parts.hpp>
#include <muster/document/yaml_scalar.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {
namespace detail {

struct yaml_fault {
    std::size_t offset; ///< in bytes
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

/// The position of a node, and its anchor and tag as written; empty = none.
struct yaml_start {
    std::size_t offset = 0; ///< in bytes
    std::string_view anchor = {};
    std::string_view tag = {};
};

/// Builds the tree of one document from the events of a parser, without expanding aliases. After a
/// fault it must get no further events.
class yaml_tree_builder {
public:
    /// With `isolate`, what is nested too deeply becomes an unread node, not a fault.
    yaml_tree_builder(yaml_tree& tree, on_unread unread) : tree_(tree), unread_(unread) {}

    /// The fault of the first event that is not accepted.
    [[nodiscard]] const std::optional<yaml_fault>& fault() const noexcept { return fault_; }

    /// Returns how many containers are open, those of unread values too.
    [[nodiscard]] std::size_t depth() const noexcept { return open_.size() + skipped_levels_; }

    void alias(const yaml_start& start) {
        if (skipped_levels_ > 0)
            return;
        const auto found = anchors_.find(std::string(start.anchor));
        if (found == anchors_.end())
            return fail(start.offset, "the anchor " + in_quotes(start.anchor) +
                                          " is not known (expected &" + std::string(start.anchor) +
                                          " before it in the document)");
        const std::uint32_t target = found->second;
        if (tree_[target].next == 0)
            return fail(start.offset, "the anchor contains itself (expected an alias to a value "
                                      "that ends before it)");
        const std::uint8_t height = tree_[target].height;
        if (open_.size() + height > max_depth())
            return leave_out(start);
        const std::uint32_t node = add(yaml_node::shape::alias, {start.offset}, yaml_tag::none);
        tree_[node].target = target;
        tree_[node].height = height;
        close(node);
    }

    /// `is_plain`: the scalar has neither quotes nor a tag, so its text decides its type.
    void scalar(const yaml_start& start, std::string_view text, bool is_plain) {
        if (skips(start.anchor))
            return;
        if (text.size() > limits::scalar_bytes)
            return fail(start.offset, "the scalar is too long (expected at most 4 MiB)");
        const yaml_tag tag =
            is_plain ? (text.empty() ? yaml_tag::null : yaml_tag::none) : scalar_tag(start.tag);
        if (tag == yaml_tag::binary)
            return fail(start.offset, "the tag !!binary is not read here (expected text)");
        const std::uint32_t node = add(yaml_node::shape::scalar, start, tag);
        tree_[node].text = text;
        close(node);
    }

    /// Tags of sequences and mappings are ignored, as by kubectl.
    void start_sequence(const yaml_start& start) { open(yaml_node::shape::sequence, start); }
    void start_mapping(const yaml_start& start) { open(yaml_node::shape::mapping, start); }

    /// The end of a sequence or mapping.
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

    /// Returns the field whose value is being read. O(nodes read); for messages.
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

    /// Returns the fault of the value that is being skipped, if any: an error in it leaves its end
    /// unknown.
    [[nodiscard]] std::optional<yaml_fault> unread_fault() {
        if (skipped_levels_ == 0)
            return std::nullopt;
        const std::uint32_t offset = tree_.back().offset;
        tree_.pop_back();
        return yaml_fault{offset, std::string(too_deep_message), path()};
    }

private:
    void fail(std::size_t offset, std::string message) {
        fault_ = yaml_fault{offset, std::move(message), path()};
    }

    /// A scalar with a tag that is not known is a text, as for kubectl.
    static yaml_tag scalar_tag(std::string_view tag) {
        constexpr std::string_view standard = "tag:yaml.org,2002:";
        constexpr std::pair<std::string_view, yaml_tag> known[] = {
            {"int", yaml_tag::integer},    {"float", yaml_tag::real},
            {"bool", yaml_tag::boolean},   {"null", yaml_tag::null},
            {"timestamp", yaml_tag::time}, {"merge", yaml_tag::merge},
            {"binary", yaml_tag::binary},
        };
        if (!tag.starts_with(standard))
            return yaml_tag::text;
        tag.remove_prefix(standard.size());
        for (const auto& [name, meaning] : known) {
            if (tag == name)
                return meaning;
        }
        return yaml_tag::text;
    }

    std::uint32_t add(yaml_node::shape kind, const yaml_start& start, yaml_tag tag) {
        const auto node = static_cast<std::uint32_t>(tree_.size());
        tree_.emplace_back();
        tree_.back().kind = kind;
        tree_.back().tag = tag;
        tree_.back().offset = static_cast<std::uint32_t>(start.offset);
        set_anchor(start.anchor, node);
        return node;
    }

    /// If several nodes have the same anchor, aliases refer to the last one.
    void set_anchor(std::string_view anchor, std::uint32_t node) {
        if (!anchor.empty())
            anchors_.insert_or_assign(std::string(anchor), node);
    }

    void open(yaml_node::shape kind, const yaml_start& start) {
        if (skipped_levels_ > 0 || open_.size() >= max_depth()) {
            if (!skips(start.anchor))
                leave_out(start);
            ++skipped_levels_;
            return;
        }
        if (open_.size() == 1)
            is_in_items_ = unread_ == on_unread::isolate && tree_.back().text == "items";
        open_.push_back(add(kind, start, yaml_tag::none));
    }

    void close(std::uint32_t node) {
        tree_[node].next = static_cast<std::uint32_t>(tree_.size());
        if (!open_.empty()) {
            std::uint8_t& above = tree_[open_.back()].height;
            above = std::max(above, tree_[node].height);
        }
    }

    /// Each item of a list may nest as deeply as an object of its own.
    [[nodiscard]] std::size_t max_depth() const {
        return limits::nesting + (is_in_items_ && open_.size() > 1 ? 2U : 0U);
    }

    /// Adds an unread node.
    void leave_out(const yaml_start& start) {
        if (unread_ == on_unread::error)
            return fail(start.offset, std::string(too_deep_message));
        const std::uint32_t node = add(yaml_node::shape::scalar, start, yaml_tag::null);
        tree_[node].is_unread = true;
        close(node);
    }

    /// Returns whether the node is inside a value that is nested too deeply. Aliases to anchors in
    /// such a value are unread too.
    bool skips(std::string_view anchor) {
        if (skipped_levels_ > 0)
            set_anchor(anchor, static_cast<std::uint32_t>(tree_.size() - 1));
        return skipped_levels_ > 0;
    }

    yaml_tree& tree_;
    on_unread unread_;
    std::optional<yaml_fault> fault_;
    std::size_t skipped_levels_ = 0; ///< open containers of an unread node
    bool is_in_items_ = false;       ///< in the member `items` of the document
    std::vector<std::uint32_t> open_;
    std::unordered_map<std::string, std::uint32_t> anchors_;
};

} // namespace detail
} // namespace codec
} // namespace v0_1
} // namespace muster
