// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <muster/base/checked.hpp>
#include <support/observed_gang.hpp>

namespace muster {
inline namespace v0_1 {
namespace testing {

/// Answers by trying everything: is there a choice of waiting members that, with those holding,
/// meets all minima, and has a placement? Exact and exponential: for gangs of half a dozen waiting
/// members on a handful of nodes.
template<class Traits>
class brute_force {
    static constexpr std::size_t width = Traits::width;
    using rule = rules<width>;

public:
    brute_force(const state<Traits>& known, gang_index which,
                certificate_scope scope = certificate_scope::free_now)
        : view_(view_of(known, which, scope)), kinds_(kinds_of(view_)) {
        std::vector<std::int64_t> counts(kinds_.size(), 0);
        list_choices(counts, 0);
    }

    [[nodiscard]] const observed_gang<Traits>& view() const noexcept { return view_; }

    /// Some choice of the members that exist meets the minima, wherever they would stand.
    [[nodiscard]] bool enough_members() const { return starts_with(*view_.tree, view_.alive); }
    /// The same without the members that carry unsupported constraints.
    [[nodiscard]] bool enough_supported() const { return !choices_.empty(); }

    /// Some choice of them stays within the quota, wherever they would stand.
    [[nodiscard]] bool within_quota() const {
        return std::any_of(choices_.begin(), choices_.end(),
                           [&](const auto& counts) { return within_quota(counts, rule::all); });
    }

    /// The gang fits when only `force` counts.
    [[nodiscard]] bool fits(rule_set force = rule::all) {
        for (std::size_t vertex = 0; vertex < most_vertices; ++vertex)
            if (vertex >= view_.tree->size() || !required(vertex))
                force &= ~rule::topology(vertex);
        const auto known = memo_.find(force);
        if (known != memo_.end())
            return known->second;
        bool found = false;
        for (std::size_t at = 0; at < choices_.size() && !found; ++at)
            found = within_quota(choices_[at], force) && packs(choices_[at], force);
        memo_.emplace(force, found);
        return found;
    }

    /// Members that the role still needs and, when nobody else asks, the room there is for it:
    /// node by node the most that fit, in all no more than wait or than each quota admits; in the
    /// domains in which most do, where it is to stand in one.
    [[nodiscard]] std::int64_t room_alone(std::size_t role, rule_set force) const {
        std::int64_t room = room_from(role, force, 0, view_.nodes);
        std::int64_t waiting = 0;
        for (const member_kind<width>& kind : kinds_)
            waiting += kind.role == role ? kind.waiting : 0;
        room = std::min(room, waiting);
        for (std::size_t column = 0; column < width; ++column) {
            if (!(force & rule::quota(column)) || !view_.quota_left[column])
                continue;
            std::vector<std::int64_t> asks;
            for (const auto& one : view_.waiting)
                if (one.role == role)
                    asks.push_back(one.spec->request[column]);
            std::sort(asks.begin(), asks.end());
            std::int64_t left = *view_.quota_left[column];
            std::int64_t admitted = 0;
            for (const std::int64_t ask : asks)
                if (ask == 0 || ask <= left) {
                    left -= ask;
                    ++admitted;
                }
            room = std::min(room, admitted);
        }
        return room;
    }

private:
    static constexpr std::size_t most_vertices = 8;

    [[nodiscard]] bool required(std::size_t vertex) const {
        return (*view_.tree)[vertex].together && (*view_.tree)[vertex].together->required;
    }
    [[nodiscard]] bool binds(std::size_t vertex, std::size_t role, rule_set force) const {
        return required(vertex) && (force & rule::topology(vertex)) &&
               lies_below(*view_.tree, role, vertex);
    }

    using targets = std::vector<typename observed_gang<Traits>::target>;
    /// The most that fit on these nodes when the vertices from `vertex` on choose a domain each.
    [[nodiscard]] std::int64_t room_from(std::size_t role, rule_set force, std::size_t vertex,
                                         const targets& nodes) const {
        while (vertex < view_.tree->size() && !binds(vertex, role, force))
            ++vertex;
        std::int64_t room = 0;
        if (vertex == view_.tree->size()) {
            for (const auto& node : nodes)
                room += most_on(node, node.free, role, force, 0, {});
            return room;
        }
        const topology_constraint& how = *(*view_.tree)[vertex].together;
        for (const standpoint& where : view_.standpoints(vertex, how.within, *how.required)) {
            targets there;
            for (const auto& node : nodes)
                if (stands(*node.spec, how.within, *how.required) == where)
                    there.push_back(node);
            room = std::max(room, room_from(role, force, vertex + 1, there));
        }
        return room;
    }

    /// Choices from which nobody can be spared: what fits with more fits with them.
    void list_choices(std::vector<std::int64_t>& counts, std::size_t from) {
        if (from < kinds_.size()) {
            for (counts[from] = 0; counts[from] <= kinds_[from].waiting; ++counts[from])
                list_choices(counts, from + 1);
            counts[from] = 0;
            return;
        }
        if (!starts(counts))
            return;
        for (std::size_t at = 0; at < counts.size(); ++at) {
            std::vector<std::int64_t> fewer = counts;
            if (--fewer[at] >= 0 && starts(fewer))
                return;
        }
        choices_.push_back(counts);
    }

    [[nodiscard]] bool starts(const std::vector<std::int64_t>& counts) const {
        std::vector<std::int64_t> per_leaf = view_.holding;
        for (std::size_t at = 0; at < counts.size(); ++at)
            per_leaf[kinds_[at].role] += counts[at];
        return starts_with(*view_.tree, per_leaf);
    }

    [[nodiscard]] bool within_quota(const std::vector<std::int64_t>& counts, rule_set force) const {
        for (std::size_t column = 0; column < width; ++column) {
            int128 sum = 0;
            for (std::size_t at = 0; at < counts.size(); ++at)
                sum += static_cast<int128>(counts[at]) * kinds_[at].spec->request[column];
            if ((force & rule::quota(column)) && sum > 0 && view_.quota_left[column] &&
                sum > *view_.quota_left[column])
                return false;
        }
        return true;
    }

    using occupants = std::vector<const muster::pod<width>*>;

    [[nodiscard]] bool may_join(const muster::pod<width>& pod,
                                const typename observed_gang<Traits>::target& node,
                                const occupants& others, rule_set force) const {
        if (!view_.welcome(pod.where, *node.spec, force))
            return false;
        if ((force & rule::devices) && view_.scope == certificate_scope::free_now) {
            std::vector<device_demand> held = node.devices;
            for (const auto* other : others)
                if (other->where.claims.devices != device_demand::none)
                    held.push_back(other->where.claims.devices);
            if (!serve(view_.devices, node.spec->devices, std::move(held), pod.where.claims))
                return false;
        }
        if (!(force & rule::ports))
            return true;
        if (clash(pod.where.claims.ports, node.ports))
            return false;
        return std::none_of(others.begin(), others.end(), [&](const auto* other) {
            return clash(pod.where.claims.ports, other->where.claims.ports);
        });
    }

    struct chosen_pod {
        const muster::pod<width>* spec = nullptr;
        std::size_t role = 0;
        [[nodiscard]] bool operator==(const chosen_pod&) const = default;
    };
    /// Per vertex: where those stand that must stand together.
    using whereabouts = std::vector<standpoint>;

    /// The pod may stand on the node beside those placed; if so it is among them.
    [[nodiscard]] bool stay_together(const chosen_pod& pod, const muster::node<width>& on,
                                     whereabouts& where, rule_set force) const {
        for (std::size_t vertex = 0; vertex < where.size(); ++vertex) {
            if (!binds(vertex, pod.role, force))
                continue;
            const topology_constraint& how = *(*view_.tree)[vertex].together;
            const standpoint here = stands(on, how.within, *how.required);
            const auto allowed = view_.standpoints(vertex, how.within, *how.required);
            if (!here || (where[vertex] && where[vertex] != here) ||
                std::find(allowed.begin(), allowed.end(), here) == allowed.end())
                return false;
            where[vertex] = here;
        }
        return true;
    }

    [[nodiscard]] bool packs(const std::vector<std::int64_t>& counts, rule_set force) const {
        std::vector<chosen_pod> pods;
        for (std::size_t at = 0; at < counts.size(); ++at)
            pods.insert(pods.end(), static_cast<std::size_t>(counts[at]),
                        {kinds_[at].spec, kinds_[at].role});
        std::vector<resources<width>> free;
        for (const auto& node : view_.nodes)
            free.push_back(node.free);
        std::vector<occupants> on(free.size());
        return pack(pods, 0, 0, free, on, whereabouts(view_.tree->size()), force);
    }

    /// Places pods[at...]; equal pods go to nodes in ascending order, as their swaps say nothing.
    [[nodiscard]] bool pack(const std::vector<chosen_pod>& pods, std::size_t at, std::size_t first,
                            std::vector<resources<width>>& free, std::vector<occupants>& on,
                            const whereabouts& before, rule_set force) const {
        if (at == pods.size())
            return true;
        const muster::pod<width>& pod = *pods[at].spec;
        for (std::size_t node = first; node < free.size(); ++node) {
            resources<width> rest = free[node];
            whereabouts where = before;
            if (!draw(pod.request, rest, force) ||
                !may_join(pod, view_.nodes[node], on[node], force) ||
                !stay_together(pods[at], *view_.nodes[node].spec, where, force))
                continue;
            std::swap(free[node], rest);
            on[node].push_back(&pod);
            const bool same = at + 1 < pods.size() && pods[at + 1] == pods[at];
            const bool done = pack(pods, at + 1, same ? node : 0, free, on, where, force);
            on[node].pop_back();
            std::swap(free[node], rest);
            if (done)
                return true;
        }
        return false;
    }

    [[nodiscard]] std::int64_t most_on(const typename observed_gang<Traits>::target& node,
                                       const resources<width>& free, std::size_t role,
                                       rule_set force, std::size_t from,
                                       const occupants& on) const {
        std::int64_t most = 0;
        for (std::size_t at = from; at < kinds_.size(); ++at) {
            resources<width> rest = free;
            const auto& pod = *kinds_[at].spec;
            const auto there = std::count(on.begin(), on.end(), &pod);
            if (kinds_[at].role != role || there == kinds_[at].waiting ||
                !draw(pod.request, rest, force) || !may_join(pod, node, on, force))
                continue;
            occupants more = on;
            more.push_back(&pod);
            most = std::max(most, 1 + most_on(node, rest, role, force, at, more));
        }
        return most;
    }

    observed_gang<Traits> view_;
    std::vector<member_kind<width>> kinds_;
    std::vector<std::vector<std::int64_t>> choices_;
    std::map<rule_set, bool> memo_;
};

} // namespace testing
} // namespace v0_1
} // namespace muster
