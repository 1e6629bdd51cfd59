// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <muster/base/id.hpp>
#include <muster/base/sequence.hpp>
#include <muster/resource/resources.hpp>

namespace muster {
inline namespace v0_1 {
namespace detail {

/// The nodes that may have given something back since the last read, and what was free on each.
template<std::size_t Width>
class touched_nodes {
public:
    struct before {
        node_index node;
        /// False for a node that was not what it is.
        bool is_known = true;
        resources<Width> free;
    };

    /// Other amounts are free on one of so many nodes; what was free first is kept.
    void amounts_changed(node_index node, const resources<Width>& was, std::size_t nodes) {
        if (rounds_.size() <= node.value())
            rounds_.resize(nodes, 0);
        if (rounds_[node.value()] == round_)
            return;
        rounds_[node.value()] = round_;
        nodes_.push_back({node, true, was});
    }
    void renewed(node_index node) { nodes_.push_back({node, false, {}}); }

    [[nodiscard]] const sequence<before>& all() const noexcept { return nodes_; }
    void clear() noexcept {
        nodes_.clear();
        ++round_;
    }

private:
    sequence<before> nodes_;
    /// Per node: the round in which it was listed.
    detail::sequence<std::uint64_t> rounds_;
    std::uint64_t round_ = 1;
};

/// The nodes whose properties or size changed since the last read.
template<std::size_t Width>
class renewed_nodes {
public:
    /// A node with other properties, or, when `size_known`, the same ones and another size.
    struct renewed {
        node_index node;
        bool size_known = false;
        resources<Width> size;
    };

    void properties_changed(node_index node, const resources<Width>& size) {
        nodes_.push_back({node, false, {}});
        remember(node, size);
    }
    void size_changed(node_index node, const resources<Width>& size) {
        nodes_.push_back({node, true, sizes_[node.value()]});
        remember(node, size);
    }
    /// What the node has, for the next time.
    void remember(node_index node, const resources<Width>& size) {
        if (sizes_.size() <= node.value())
            sizes_.resize(node.value() + 1);
        sizes_[node.value()] = size;
    }

    [[nodiscard]] const sequence<renewed>& all() const noexcept { return nodes_; }
    void clear() noexcept { nodes_.clear(); }

private:
    sequence<renewed> nodes_;
    /// Per node: what it had the last time.
    sequence<resources<Width>> sizes_;
};

} // namespace detail
} // namespace v0_1
} // namespace muster
