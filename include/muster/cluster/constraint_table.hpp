// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

#include <muster/base/id.hpp>
#include <muster/base/sequence.hpp>
#include <muster/vocabulary/constraints.hpp>

namespace muster {
inline namespace v0_1 {

/// Interned constraints with what each means on every node: constraints are evaluated once per
/// node and distinct set, never per pod. Sets are counted by reference and freed with their last
/// user.
class constraint_table {
public:
    struct row {
        constraints value;
        std::size_t users = 0;
        /// Differs for every set that ever stood in this place.
        std::uint64_t stamp = 0;
        /// Per node: the failed filters (a set of `node_filter`).
        detail::sequence<std::uint8_t> failed_filters;
        /// Per node: see `preference`.
        detail::sequence<std::int32_t> preference;
    };

    /// One more user of equal constraints. `node_at(i)` gives the i-th of `nodes` nodes.
    /// O(log sets), and O(nodes) for a new set.
    template<class NodeAt>
    constraint_index acquire(const constraints& value, std::size_t nodes, const NodeAt& node_at) {
        // Pods come in rows of equal ones.
        if (last_ < rows_.size() && rows_[last_].users > 0 && rows_[last_].value == value) {
            ++rows_[last_].users;
            return constraint_index{last_};
        }
        const auto found = index_.find(value);
        if (found != index_.end()) {
            last_ = found->second.value();
            ++rows_[last_].users;
            return found->second;
        }
        std::size_t slot = rows_.size();
        if (unused_.empty()) {
            rows_.emplace_back();
        } else {
            slot = unused_.back();
            unused_.pop_back();
        }
        row& fresh = rows_[slot];
        fresh.value = value;
        fresh.users = 1;
        fresh.stamp = ++stamps_;
        fresh.failed_filters.assign(nodes, node_filter_none);
        fresh.preference.assign(nodes, 0);
        for (std::size_t at = 0; at < nodes; ++at)
            evaluate(fresh, at, node_at(at));
        index_.emplace(value, constraint_index{slot});
        return constraint_index{slot};
    }

    /// One more user of constraints that have one.
    void acquire_again(constraint_index index) noexcept { ++rows_[index.value()].users; }

    void release(constraint_index index);

    /// A node is new or changed. O(sets).
    template<class Node>
    void node_changed(std::size_t at, const Node& target) {
        for (row& each : rows_) {
            if (each.users == 0)
                continue;
            if (each.failed_filters.size() <= at) {
                each.failed_filters.resize(at + 1, node_filter_none);
                each.preference.resize(at + 1, 0);
            }
            evaluate(each, at, target);
        }
    }

    [[nodiscard]] const row& operator[](constraint_index index) const noexcept {
        return rows_[index.value()];
    }

private:
    template<class Target>
    static void evaluate(row& of, std::size_t at, const Target& target) {
        of.failed_filters[at] = target.present ? failed_filters(of.value, target.spec)
                                               : std::uint8_t{node_filter_absent_node};
        of.preference[at] = target.present ? preference(of.value, target.spec) : 0;
    }

    std::map<constraints, constraint_index> index_;
    detail::sequence<row> rows_;
    /// The set asked for last that was known.
    std::size_t last_ = 0;
    detail::sequence<std::size_t> unused_;
    std::uint64_t stamps_ = 0;
};

} // namespace v0_1
} // namespace muster

#ifndef MUSTER_SEPARATE_COMPILATION
#include <muster/cluster/tables_inl.hpp>
#endif
