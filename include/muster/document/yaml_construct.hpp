// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <muster/document/field_path.hpp>
#include <muster/document/source_text.hpp>
#include <muster/document/unread_parts.hpp>
#include <muster/document/yaml_index.hpp>
#include <muster/document/yaml_scalar.hpp>
#include <muster/document/yaml_tree.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {
namespace detail {

/// Makes the JSON value of a tree: scalars resolved, aliases expanded up to a budget, merge keys
/// merged (a key that is written wins over one that is merged, an earlier source over a later one).
class yaml_constructor {
public:
    /// Calls `report(offset, path, message)` for each error, and `warn` with the same arguments for
    /// each duplicate key. Adds each unread node to `unread`.
    template<class Report, class Warn>
    static boost::json::value run(const yaml_tree& tree, Report&& report, Warn&& warn,
                                  part_faults& unread) {
        yaml_constructor constructor(tree);
        boost::json::value root;
        try {
            root = constructor.make(0, path_frame{});
        } catch (const yaml_fault& fault) {
            constructor.fail(fault.offset, path_frame{}, fault.message);
        }
        for (const error& one : constructor.errors_)
            report(one.offset, one.path, one.message);
        for (const error& one : constructor.warnings_)
            warn(one.offset, one.path, one.message);
        unread = std::move(constructor.unread_);
        return root;
    }

private:
    struct error {
        std::size_t offset;
        std::string path;
        std::string message;
    };

    explicit yaml_constructor(const yaml_tree& tree) : tree_(tree) {}

    void fail(std::size_t offset, const path_frame& frame, std::string message) {
        if (errors_.size() < most_faults)
            errors_.push_back({offset, to_text(frame), std::move(message)});
    }

    boost::json::value make(std::uint32_t node, const path_frame& frame) {
        const yaml_node& from = tree_[node];
        if (from.kind == yaml_node::shape::alias) {
            ++aliases_open_;
            boost::json::value value = make(from.target, frame);
            --aliases_open_;
            return value;
        }
        if (aliases_open_ > 0) {
            // A long text weighs as much as many small nodes, or a few of them would fill the
            // memory.
            constexpr std::size_t bytes_per_node = 64;
            expanded_ += 1 + from.text.size() / bytes_per_node;
            if (expanded_ > limits::alias_nodes)
                throw yaml_fault{from.offset,
                                 "the aliases of the document expand to too much (expected at most "
                                 "100000 nodes)"};
        }
        switch (from.kind) {
        case yaml_node::shape::sequence: {
            boost::json::array list;
            for (std::uint32_t child = node + 1; child < from.next; child = tree_[child].next)
                list.push_back(make(child, path_frame{&frame, list.size()}));
            return list;
        }
        case yaml_node::shape::mapping:
            return make_object(node, frame);
        default:
            return make_scalar(from, frame);
        }
    }

    boost::json::value make_scalar(const yaml_node& from, const path_frame& frame) {
        if (from.is_unread) {
            unread_.add(from.offset, 0, frame, too_deep_message);
            return nullptr;
        }
        const auto resolved = resolve_scalar(from.text, from.tag);
        if (!resolved) {
            fail(from.offset, frame, resolved.error());
            return nullptr;
        }
        return std::visit(
            [](const auto& value) -> boost::json::value {
                if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::string_view>)
                    return boost::json::string(boost::json::string_view(value));
                else
                    return value;
            },
            *resolved);
    }

    boost::json::value make_object(std::uint32_t node, const path_frame& frame) {
        boost::json::object object;
        bool has_merge = false;
        std::uint32_t merge_key = 0;
        for (std::uint32_t key = node + 1; key < tree_[node].next;) {
            const std::uint32_t value = tree_[key].next;
            const yaml_node& written = tree_[followed(tree_, key)];
            if (is_merge(tree_[key])) {
                if (has_merge)
                    fail(tree_[key].offset, path_frame{&frame, "<<"},
                         "duplicate key (expected one << with a list of mappings)");
                has_merge = true;
                merge_key = key;
            } else if (written.kind != yaml_node::shape::scalar) {
                fail(tree_[key].offset, frame,
                     "a list or mapping cannot be a key (expected a "
                     "string)");
            } else if (const auto name = key_text(written.text, written.tag); !name) {
                fail(tree_[key].offset, frame, name.error());
            } else {
                add_member(object, key, value, *name, frame);
            }
            key = tree_[value].next;
        }
        if (has_merge)
            merge(object, tree_[merge_key].next, frame);
        return object;
    }

    void add_member(boost::json::object& object, std::uint32_t key, std::uint32_t value,
                    const std::string& name, const path_frame& frame) {
        const path_frame member{&frame, std::string_view(name)};
        boost::json::value made = make(value, member);
        if (object.contains(name) && aliases_open_ == 0 && warnings_.size() < most_faults)
            warnings_.push_back(
                {tree_[key].offset, to_text(member),
                 "duplicate key, and the last one counts (expected each key once)"});
        object.insert_or_assign(name, std::move(made));
    }

    void merge(boost::json::object& object, std::uint32_t source, const path_frame& frame) {
        const std::uint32_t target = followed(tree_, source);
        if (tree_[target].kind == yaml_node::shape::mapping) {
            merge_one(object, source, frame);
        } else if (tree_[target].kind == yaml_node::shape::sequence) {
            for (std::uint32_t child = target + 1; child < tree_[target].next;
                 child = tree_[child].next)
                merge_one(object, child, frame);
        } else {
            fail(tree_[source].offset, frame, "<< merges a mapping or a list of mappings");
        }
    }

    void merge_one(boost::json::object& object, std::uint32_t source, const path_frame& frame) {
        boost::json::value merged = make(source, frame);
        if (!merged.is_object()) {
            fail(tree_[source].offset, frame, "<< merges a mapping or a list of mappings");
            return;
        }
        for (auto& member : merged.get_object()) {
            if (!object.contains(member.key()))
                object.emplace(member.key(), std::move(member.value()));
        }
    }

    const yaml_tree& tree_;
    static constexpr std::size_t most_faults = 1000;
    std::vector<error> errors_;
    std::vector<error> warnings_;
    part_faults unread_;
    std::size_t aliases_open_ = 0;
    std::size_t expanded_ = 0;
};

} // namespace detail
} // namespace codec
} // namespace v0_1
} // namespace muster
