// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <muster/base/assert.hpp>
#include <muster/base/compilation.hpp>
#include <muster/base/id.hpp>
#include <muster/base/ranges.hpp>
#include <muster/base/sequence.hpp>
#include <muster/cluster/constraint_table.hpp>
#include <muster/cluster/label_table.hpp>
#include <muster/cluster/pod_population.hpp>
#include <muster/cluster/topology_table.hpp>

// Definitions of the tables of a state that are not templates.

namespace muster {
inline namespace v0_1 {

MUSTER_DEFINED_ONCE void constraint_table::release(constraint_index index) {
    row& at = rows_[index.value()];
    MUSTER_ASSERT(at.users > 0, "released once per acquire");
    if (--at.users > 0)
        return;
    index_.erase(at.value);
    at = row{};
    unused_.push_back(index.value());
}

MUSTER_DEFINED_ONCE void topology_domains::settle(node_index node, const label_set* labels,
                                                  const order_labels<node_tag>& order) {
    path values;
    bool open = labels != nullptr;
    for (std::size_t level = 0; level < levels(); ++level) {
        const std::string* value = open ? labels->find(value_.levels[level]) : nullptr;
        open = value != nullptr;
        if (value)
            values.push_back(*value);
        std::uint32_t& at = domain_of_[node.value() * levels() + level];
        const auto found = open ? by_path_[level].find(values) : by_path_[level].end();
        if (found != by_path_[level].end() ? found->second.value() == at : !open && at == nowhere)
            continue;
        if (at != nowhere)
            leave(node, level, at);
        at = nowhere;
        if (open)
            at = join(node, level, values, order);
    }
}

MUSTER_DEFINED_ONCE std::uint32_t topology_domains::join(node_index node, std::size_t level,
                                                         const path& values,
                                                         const order_labels<node_tag>& order) {
    const auto [entry, fresh] = by_path_[level].try_emplace(values);
    if (fresh)
        entry->second = take_slot(level);
    std::vector<node_index>& nodes = domains_[entry->second.value()].nodes;
    const auto before = [&](node_index lhs, node_index rhs) { return order[lhs] < order[rhs]; };
    if (nodes.empty() || before(nodes.back(), node))
        nodes.push_back(node);
    else
        nodes.insert(detail::lower_bound(nodes, node, before), node);
    return static_cast<std::uint32_t>(entry->second.value());
}

MUSTER_DEFINED_ONCE void topology_domains::leave(node_index node, std::size_t level,
                                                 std::uint32_t at) {
    std::vector<node_index>& nodes = domains_[at].nodes;
    std::erase(nodes, node);
    if (!nodes.empty())
        return;
    std::erase_if(by_path_[level], [&](const auto& entry) { return entry.second.value() == at; });
    unused_.push_back(domain_index{at});
}

MUSTER_DEFINED_ONCE domain_index topology_domains::take_slot(std::size_t level) {
    domain_index at{domains_.size()};
    if (unused_.empty()) {
        domains_.emplace_back();
    } else {
        at = unused_.back();
        unused_.pop_back();
    }
    domains_[at.value()].level = level;
    return at;
}

MUSTER_DEFINED_ONCE const known_terms*
pod_population::terms(constraint_index where) const noexcept {
    const auto found = terms_.find(where);
    return found == terms_.end() ? nullptr : &found->second;
}

MUSTER_DEFINED_ONCE void pod_population::add_pod(label_set_index labels, label_set_index tenant,
                                                 const label_table& sets) {
    const auto [found, fresh] = identity_of_.try_emplace({labels, tenant});
    if (fresh) {
        std::size_t slot = identities_.size();
        if (unused_identities_.empty()) {
            identities_.emplace_back();
        } else {
            slot = unused_identities_.back();
            unused_identities_.pop_back();
        }
        identity& made = identities_[slot];
        made = {};
        made.labels = labels;
        made.tenant = tenant;
        found->second = identity_index{slot};
        for (std::size_t at = 0; at < selectors_.size(); ++at)
            if (selectors_[at].users > 0 &&
                selectors_[at].value.matches(sets[labels], sets[tenant]))
                join(identity_index{slot}, selector_index{at});
    }
    ++identities_[found->second.value()].pods;
}

MUSTER_DEFINED_ONCE void pod_population::remove_pod(label_set_index labels,
                                                    label_set_index tenant) {
    const auto found = identity_of_.find({labels, tenant});
    MUSTER_ASSERT(found != identity_of_.end(), "removed once per add");
    const identity_index which = found->second;
    identity& at = identities_[which.value()];
    if (--at.pods > 0)
        return;
    MUSTER_ASSERT(at.counts.empty(), "a pod is removed after it left its node");
    while (!at.matched.empty())
        part(which, at.matched.back().selector);
    at = {};
    identity_of_.erase(found);
    unused_identities_.push_back(which.value());
}

MUSTER_DEFINED_ONCE identity_index
pod_population::identity_of(label_set_index labels, label_set_index tenant) const noexcept {
    const auto found = identity_of_.find({labels, tenant});
    MUSTER_ASSERT(found != identity_of_.end(), "every pod of the state is known");
    return found->second;
}

MUSTER_DEFINED_ONCE void pod_population::count(identity_index who, const constraint_index* where,
                                               node_index node, std::int32_t by, presence how) {
    known_terms* carries = where ? &terms_.find(*where)->second : nullptr;
    const bool seeks = carries && !carries->affinity.empty();
    coming_ += how == presence::coming ? by : 0;
    count_in(identities_[who.value()].counts, node, by, how, seeks);
    if (!carries)
        return;
    known_terms& carried = *carries;
    count_in(carried.counts, node, by, how, seeks);
    for (const known_term& each : carried.anti_affinity)
        selectors_[each.pods.value()].repelling += by;
    repelling_ += carried.anti_affinity.empty() ? 0 : by;
}

MUSTER_DEFINED_ONCE bool pod_population::matches(selector_index which,
                                                 identity_index who) const noexcept {
    const auto& matched = identities_[who.value()].matched;
    const auto at = detail::lower_bound(matched, which, {}, &match::selector);
    return at != matched.end() && at->selector == which;
}

MUSTER_DEFINED_ONCE bool pod_population::alike(identity_index lhs,
                                               identity_index rhs) const noexcept {
    const auto& left = identities_[lhs.value()].matched;
    const auto& right = identities_[rhs.value()].matched;
    return std::equal(
        left.begin(), left.end(), right.begin(), right.end(),
        [](const match& one, const match& other) { return one.selector == other.selector; });
}

MUSTER_DEFINED_ONCE bool pod_population::repelled(identity_index who) const noexcept {
    return detail::any_of(identities_[who.value()].matched, [&](const match& each) {
        return selectors_[each.selector.value()].repelling > 0;
    });
}

MUSTER_DEFINED_ONCE void pod_population::count_in(detail::sequence<pod_counts>& counts,
                                                  node_index node, std::int32_t by, presence how,
                                                  bool seeks) {
    auto at = detail::lower_bound(counts, node, {}, &pod_counts::node);
    if (at == counts.end() || at->node != node)
        at = counts.insert(at, {node, 0, 0, 0, 0});
    at->of(how) += by;
    at->seeking += seeks && how == presence::coming ? by : 0;
    if (at->nobody())
        counts.erase(at);
}

MUSTER_DEFINED_ONCE void pod_population::join(identity_index who, selector_index which) {
    auto& list = selectors_[which.value()].matched;
    auto& matched = identities_[who.value()].matched;
    matched.insert(std::upper_bound(
                       matched.begin(), matched.end(), which,
                       [](selector_index one, const match& other) { return one < other.selector; }),
                   {which, static_cast<std::uint32_t>(list.size())});
    list.push_back(who);
}

MUSTER_DEFINED_ONCE void pod_population::part(identity_index who, selector_index which) {
    auto& list = selectors_[which.value()].matched;
    const auto mine = find_match(who, which);
    const identity_index last = list.back();
    list[mine->place] = last;
    find_match(last, which)->place = mine->place;
    list.pop_back();
    identities_[who.value()].matched.erase(mine);
}

MUSTER_DEFINED_ONCE auto pod_population::find_match(identity_index who,
                                                    selector_index which) noexcept
    -> detail::sequence<match>::iterator {
    return detail::lower_bound(identities_[who.value()].matched, which, {}, &match::selector);
}

MUSTER_DEFINED_ONCE selector_index pod_population::acquire(const pod_selector& value,
                                                           const label_table& sets) {
    const auto [found, fresh] = selector_of_.try_emplace(value);
    if (fresh) {
        std::size_t slot = selectors_.size();
        if (unused_selectors_.empty()) {
            selectors_.emplace_back();
        } else {
            slot = unused_selectors_.back();
            unused_selectors_.pop_back();
        }
        selectors_[slot].value = value;
        found->second = selector_index{slot};
        for (const auto& [key, who] : identity_of_)
            if (value.matches(sets[key.first], sets[key.second]))
                join(who, found->second);
    }
    ++selectors_[found->second.value()].users;
    return found->second;
}

MUSTER_DEFINED_ONCE void pod_population::release(selector_index which) {
    selector& at = selectors_[which.value()];
    if (--at.users > 0)
        return;
    while (!at.matched.empty())
        part(at.matched.back(), which);
    selector_of_.erase(at.value);
    at = {};
    unused_selectors_.push_back(which.value());
}

} // namespace v0_1
} // namespace muster
