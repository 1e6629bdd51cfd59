// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <muster/base/assert.hpp>
#include <muster/base/id.hpp>
#include <muster/base/ranges.hpp>
#include <muster/base/sequence.hpp>
#include <muster/cluster/order_labels.hpp>
#include <muster/vocabulary/labels.hpp>
#include <muster/vocabulary/topology.hpp>

namespace muster {
inline namespace v0_1 {

/// The domains of one topology: which nodes share a domain on which level. Numbers of domains
/// follow the order of arrival and decide nothing; their order is that of their labels' values.
class topology_domains {
public:
    /// The values of the labels from the coarsest level to its own.
    using path = std::vector<std::string>;

    struct domain {
        std::size_t level = 0;
        /// Present nodes in the order of their keys.
        std::vector<node_index> nodes;
    };

    [[nodiscard]] const topology& value() const noexcept { return value_; }
    [[nodiscard]] std::size_t levels() const noexcept { return value_.levels.size(); }
    /// Domains of a level in the order of their labels' values; none is empty.
    [[nodiscard]] const std::map<path, domain_index>& of_level(std::size_t level) const noexcept {
        return by_path_[level];
    }
    [[nodiscard]] const domain& operator[](domain_index at) const noexcept {
        return domains_[at.value()];
    }
    /// One more than the largest number that a domain has.
    [[nodiscard]] std::size_t size() const noexcept { return domains_.size(); }
    /// The domain of the node on the level, if any.
    [[nodiscard]] std::optional<domain_index> find(node_index node,
                                                   std::size_t level) const noexcept {
        const std::uint32_t at = domain_of_[node.value() * levels() + level];
        return at == nowhere ? std::nullopt : std::optional(domain_index{at});
    }
    [[nodiscard]] bool contains(domain_index where, node_index node) const noexcept {
        return domain_of_[node.value() * levels() + domains_[where.value()].level] == where.value();
    }
    /// On how many levels, from the coarsest on, the two nodes share a domain.
    [[nodiscard]] std::size_t shared_levels(node_index lhs, node_index rhs) const noexcept {
        std::size_t level = 0;
        while (level < levels() && find(lhs, level) && find(lhs, level) == find(rhs, level))
            ++level;
        return level;
    }

private:
    friend class topology_table;
    static constexpr std::uint32_t nowhere = std::numeric_limits<std::uint32_t>::max();

    /// `labels` of a node that is there, or null. O(levels · log domains), and 4 bytes moved for
    /// each node behind it in its domains.
    void settle(node_index node, const label_set* labels, const order_labels<node_tag>& order);

    [[nodiscard]] std::uint32_t join(node_index node, std::size_t level, const path& values,
                                     const order_labels<node_tag>& order);

    void leave(node_index node, std::size_t level, std::uint32_t at);

    [[nodiscard]] domain_index take_slot(std::size_t level);

    topology value_;
    std::size_t users_ = 0;
    detail::sequence<std::map<path, domain_index>> by_path_;
    detail::sequence<domain> domains_;
    detail::sequence<domain_index> unused_;
    /// Nodes × levels.
    detail::sequence<std::uint32_t> domain_of_;
};

/// Interned topologies with their domains, updated as nodes are added, changed and removed. An
/// unused topology is kept until its slot is needed.
class topology_table {
public:
    /// One more user of an equal topology. `node_at(i)` gives the record of node i; `order` is that
    /// of all nodes. O(topologies), and O(nodes · log domains) for a new one.
    template<class NodeAt>
    topology_index acquire(const topology& value, std::size_t nodes,
                           const order_labels<node_tag>& order, const NodeAt& node_at) {
        const auto same = detail::find(rows_, value, &topology_domains::value_);
        if (same != rows_.end()) {
            ++same->users_;
            return topology_index{static_cast<std::size_t>(same - rows_.begin())};
        }
        auto slot = detail::find(rows_, std::size_t{0}, &topology_domains::users_);
        if (slot == rows_.end())
            slot = rows_.insert(rows_.end(), topology_domains{});
        *slot = topology_domains{};
        slot->value_ = value;
        slot->users_ = 1;
        slot->by_path_.resize(value.levels.size());
        slot->domain_of_.assign(nodes * value.levels.size(), topology_domains::nowhere);
        for (const node_index node : order)
            if (const auto& record = node_at(node); record.present)
                slot->settle(node, &record.spec.labels, order);
        ++changes_;
        return topology_index{static_cast<std::size_t>(slot - rows_.begin())};
    }

    void release(topology_index index) noexcept {
        topology_domains& row = rows_[index.value()];
        MUSTER_ASSERT(row.users_ > 0, "released once per acquire");
        --row.users_;
    }

    /// A node is new, changed or gone. O(topologies · levels · log domains).
    template<class Record>
    void node_changed(node_index node, const Record& record, const order_labels<node_tag>& order) {
        for (topology_domains& row : rows_) {
            if (row.domain_of_.size() < (node.value() + 1) * row.levels())
                row.domain_of_.resize((node.value() + 1) * row.levels(), topology_domains::nowhere);
            row.settle(node, record.present ? &record.spec.labels : nullptr, order);
        }
    }

    [[nodiscard]] const topology_domains& operator[](topology_index at) const noexcept {
        return rows_[at.value()];
    }
    [[nodiscard]] std::size_t size() const noexcept { return rows_.size(); }
    /// Moves when a topology came that was not known.
    [[nodiscard]] std::uint64_t changes() const noexcept { return changes_; }

private:
    detail::sequence<topology_domains> rows_;
    std::uint64_t changes_ = 0;
};

} // namespace v0_1
} // namespace muster

#ifndef MUSTER_SEPARATE_COMPILATION
#include <muster/cluster/tables_inl.hpp>
#endif
