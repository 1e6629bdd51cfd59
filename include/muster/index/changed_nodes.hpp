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

/// The nodes whose free amounts may have grown since the last read, with the free amounts before.
template<std::size_t Width>
class touched_nodes {
public:
    struct before {
        node_index node;
        /// False if the node is new or has other properties than before; `free` is then empty.
        bool is_known = true;
        resources<Width> free;
    };

    /// Records that the free amounts of a node, one of `nodes`, changed from `was`. Only the first
    /// amounts since the last read are kept.
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
    /// Per node: the last round in which it was listed. A round lasts from one `clear` to the next.
    detail::sequence<std::uint64_t> rounds_;
    std::uint64_t round_ = 1;
};

/// The nodes whose properties or size changed since the last read.
template<std::size_t Width>
class renewed_nodes {
public:
    /// A node that changed. If `size_known`, its properties are the same and `size` is its
    /// allocatable before; otherwise its properties changed.
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
    /// Stores the allocatable of the node, to be reported as `size` at its next change.
    void remember(node_index node, const resources<Width>& size) {
        if (sizes_.size() <= node.value())
            sizes_.resize(node.value() + 1);
        sizes_[node.value()] = size;
    }

    [[nodiscard]] const sequence<renewed>& all() const noexcept { return nodes_; }
    void clear() noexcept { nodes_.clear(); }

private:
    sequence<renewed> nodes_;
    /// Per node: its allocatable at the last change.
    sequence<resources<Width>> sizes_;
};

} // namespace detail
} // namespace v0_1
} // namespace muster
