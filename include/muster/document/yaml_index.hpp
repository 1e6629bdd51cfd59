// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <muster/document/document.hpp>
#include <muster/document/unread_parts.hpp>
#include <muster/document/yaml_parser.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {
namespace detail {

/// The node that an alias stands for, or the node itself.
[[nodiscard]] inline std::uint32_t followed(const yaml_tree& tree, std::uint32_t node) {
    return tree[node].kind == yaml_node::shape::alias ? tree[node].target : node;
}

/// A key `<<` that was written plain, or tagged as a merge.
[[nodiscard]] inline bool is_merge(const yaml_node& key) {
    return key.kind == yaml_node::shape::scalar && key.text == "<<" &&
           (key.tag == yaml_tag::none || key.tag == yaml_tag::merge);
}

/// Finds values in the tree of a document that was read without an error.
class yaml_index final : public document_index {
public:
    explicit yaml_index(std::string_view text) {
        if (auto tree = read_yaml_tree(text, on_unread::isolate))
            tree_ = std::move(tree).value();
        if (tree_.empty())
            tree_.emplace_back();
    }

    static std::unique_ptr<document_index> make(std::string_view text) {
        return std::make_unique<yaml_index>(text);
    }

    spot find(const boost::json::value&, path_view path) const override {
        spot at = spot_of(0, 0, true);
        for (const path_step& step : path) {
            const std::uint32_t node = followed(tree_, at.entry);
            const auto [key, value] =
                step.is_index ? element(node, step.index) : member(node, step.key);
            if (value == none)
                return spot_of(at.entry, at.entry, false);
            at = spot_of(key, value, true);
        }
        return at;
    }

    std::string scalar(spot at) const override { return tree_[followed(tree_, at.entry)].text; }

private:
    static constexpr std::uint32_t none = 0xFFFF'FFFF;
    using key_and_value = std::pair<std::uint32_t, std::uint32_t>;

    spot spot_of(std::uint32_t key, std::uint32_t value, bool found) const {
        // An empty value has no position of its own: the position of its key is used.
        const bool empty = tree_[value].tag == yaml_tag::null && tree_[value].text.empty();
        return {value, tree_[key].offset, tree_[empty ? key : value].offset, found};
    }

    key_and_value element(std::uint32_t list, std::size_t index) const {
        if (tree_[list].kind != yaml_node::shape::sequence)
            return {none, none};
        std::uint32_t node = list + 1;
        for (; node < tree_[list].next; node = tree_[node].next) {
            if (index-- == 0)
                return {node, node};
        }
        return {none, none};
    }

    key_and_value member(std::uint32_t map, std::string_view name) const {
        if (tree_[map].kind != yaml_node::shape::mapping)
            return {none, none};
        std::uint32_t merged = none;
        for (std::uint32_t key = map + 1; key < tree_[map].next;) {
            const std::uint32_t value = tree_[key].next;
            const yaml_node& written = tree_[followed(tree_, key)];
            if (is_merge(tree_[key])) {
                merged = followed(tree_, value);
            } else if (const auto text = key_text(written.text, written.tag);
                       text && *text == name) {
                return {key, value};
            }
            key = tree_[value].next;
        }
        if (merged == none || tree_[merged].kind == yaml_node::shape::mapping)
            return merged == none ? key_and_value{none, none} : member(merged, name);
        for (std::uint32_t node = merged + 1; node < tree_[merged].next; node = tree_[node].next) {
            const key_and_value found = member(followed(tree_, node), name);
            if (found.second != none)
                return found;
        }
        return {none, none};
    }

    yaml_tree tree_;
};

} // namespace detail
} // namespace codec
} // namespace v0_1
} // namespace muster
