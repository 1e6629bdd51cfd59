// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <muster/apis/core/claims/device_catalog.hpp>
#include <muster/apis/core/claims/device_homes.hpp>
#include <muster/apis/core/claims/device_judge.hpp>
#include <muster/apis/core/claims/device_sets.hpp>
#include <muster/apis/core/volumes/volume_plan.hpp>
#include <muster/devices/device_allocator.hpp>
#include <muster/document/diagnostic.hpp>
#include <muster/vocabulary/node.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// The devices that each node can use, and how many equal pods they satisfy at once.
class node_devices {
public:
    /// Steps of one allocation. A search that takes more counts as one without a result, so a node
    /// may count for too few pods.
    static constexpr std::int64_t max_steps = 100'000;

    /// The arguments must outlive this. O(slices · log slices).
    node_devices(const device_catalog& catalog, const std::vector<pooled_device>& devices,
                 std::span<const node<1>> nodes)
        : devices_(&devices), nodes_(nodes) {
        for (const auto& [name, each] : catalog.classes)
            classes_.emplace(std::string(name), each->selectors);
        for (const resource_slice_object* const each : catalog.slices)
            pools_[{each->slice.driver, each->slice.pool}].push_back(each);
        for (const auto& [key, slices] : pools_)
            for (const resource_slice_object* const each : slices) {
                add_pool(each->nodes, key);
                for (const device_nodes& of_device : each->nodes_of)
                    add_pool(of_device, key);
            }
        for (std::size_t at = 0; at < devices.size(); ++at)
            devices_of_pool_[{devices[at].id.driver, devices[at].id.pool}].push_back(at);
        for (const auto& [key, claim] : catalog.claims)
            if (claim->allocation)
                for (const allocated_device& each : claim->allocation->devices)
                    add_use(each);
    }

    /// True if each of the devices is of a slice of one node.
    [[nodiscard]] bool are_local(const device_set& devices) const {
        return std::ranges::all_of(devices, [&](std::size_t at) {
            const device_nodes& nodes = *(*devices_)[at].nodes;
            return !nodes.name.empty() && !nodes.selector && !nodes.all;
        });
    }

    /// Returns the devices and, if one of them consumes counters, all devices of its pool that do.
    [[nodiscard]] device_set with_counters_of(device_set devices) const {
        std::set<std::pair<std::string_view, std::string_view>> pools;
        for (const std::size_t at : devices)
            if (const pooled_device& each = (*devices_)[at]; !each.of->consumes.empty())
                pools.emplace(each.id.driver, each.id.pool);
        if (pools.empty())
            return devices;
        for (std::size_t at = 0; at < devices_->size(); ++at) {
            const pooled_device& each = (*devices_)[at];
            if (!each.of->consumes.empty() && pools.contains({each.id.driver, each.id.pool}))
                devices.push_back(at);
        }
        sort_devices(devices);
        return devices;
    }

    /// Returns for how many pods with these claims each node has devices, at most `most`.
    /// `selected` has the devices that each alternative of the claims selects. Nodes whose devices
    /// are alike for the claims have one answer. O(devices), and for each kind of nodes
    /// O(log most) allocations.
    [[nodiscard]] volume_supply room_for(const std::vector<device_claim>& claims,
                                         const std::vector<const device_set*>& selected,
                                         std::int64_t most) const {
        volume_supply supply;
        std::map<std::string, std::int64_t> of_kind;
        for (const node<1>& each : nodes_) {
            const auto known = pools_of_.find(each.name);
            if (known == pools_of_.end())
                continue;
            std::string kind;
            if (!append_kind(each, known->second, claims, selected, &usage_, kind)) {
                supply.on.emplace(each.name, room_on(each, known->second, claims, most));
                continue;
            }
            const auto [at, is_new] = of_kind.try_emplace(std::move(kind));
            if (is_new)
                at->second = room_on(each, known->second, claims, most);
            supply.on.emplace(each.name, at->second);
        }
        return supply;
    }

    /// The devices of a claim are in use from now on. O(devices).
    void take(const claim_allocation& claim) {
        for (const allocated_device& each : claim.devices)
            add_use(each);
    }

    /// Allocates devices that one node can use to all claims, beside those in use. O(slices of the
    /// node's pools) and an allocation.
    [[nodiscard]] device_allocation allocate(const node<1>& on,
                                             const std::vector<device_claim>& claims) const {
        std::set<pool_key> pools = shared_pools_;
        if (const auto known = pools_of_.find(on.name); known != pools_of_.end())
            pools.insert(known->second.begin(), known->second.end());
        const std::vector<slice_view> views = views_of(on, pools);
        return allocate_devices(gather_pools(views, {}), usage_, classes_, claims, {}, max_steps);
    }

    /// True if a pool that the node reaches is being updated or invalid, so that it is not known
    /// which devices are all of the node's. O(slices of the node's pools).
    [[nodiscard]] bool has_unusable_pool(const node<1>& on) const {
        std::set<pool_key> pools = shared_pools_;
        if (const auto known = pools_of_.find(on.name); known != pools_of_.end())
            pools.insert(known->second.begin(), known->second.end());
        const std::vector<slice_view> views = views_of(on, pools);
        return std::ranges::any_of(gather_pools(views, {}), [](const device_pool& each) {
            return each.state != pool_state::complete;
        });
    }

    /// Returns the counters of which the devices in use leave nothing. Only pools count in which
    /// some of `devices` consume counters. Names the first counter and counts the others: "the
    /// devices in use consume 8 of 8 of counter memory (set c, pool p) (+1 counter)". Empty if
    /// there is none. O(slices and devices of these pools).
    [[nodiscard]] std::string spent_counters_text(const device_set& devices) const {
        std::set<pool_key> pools;
        for (const std::size_t at : devices)
            if (const pooled_device& each = (*devices_)[at]; !each.of->consumes.empty())
                pools.emplace(each.id.driver, each.id.pool);
        std::string first;
        std::size_t count = 0;
        for (const pool_key& key : pools) {
            std::map<std::pair<std::string_view, std::string_view>, quantity> consumed;
            for (const std::size_t at : devices_of_pool_.at(key))
                if (const pooled_device& each = (*devices_)[at]; usage_.holds(each.id))
                    for (const counter_consumption& one : each.of->consumes)
                        for (const auto& [name, amount] : one.counters)
                            add_amount(consumed[{one.counter_set, name}], amount);
            for (const resource_slice_object* const slice : newest_of(key))
                for (const counter_set& set : slice->slice.counter_sets)
                    for (const auto& [name, amount] : set.counters) {
                        const auto used = consumed.find({set.name, name});
                        if (used == consumed.end() || used->second < amount)
                            continue;
                        if (count++ == 0)
                            first = "the devices in use consume " + used->second.to_text() +
                                    " of " + amount.to_text() + " of counter " + name + " (set " +
                                    set.name + ", pool " + key.second + ")";
                    }
        }
        return first + more_text(count - (count > 0 ? 1 : 0), "counter");
    }

    /// No claim gets the device from now on.
    void bar(const device_id& device) { usage_.whole.insert(device); }
    /// True if some claim holds the device, or a share of it.
    [[nodiscard]] bool holds(const device_id& device) const { return usage_.holds(device); }

    /// Allocates devices to all claims, in addition to those in use. Each claim gets devices of its
    /// own list (`device_claim::among`), on any nodes. Precondition: every claim has a list.
    /// O(slices of these devices' pools) and an allocation.
    [[nodiscard]] device_allocation allocate(const std::vector<device_claim>& claims) const {
        std::set<pool_key> pools;
        for (const device_claim& claim : claims)
            for (const device_id& each : *claim.among)
                pools.emplace(each.driver, each.pool);
        std::vector<slice_view> views;
        for (const pool_key& key : pools)
            for (const resource_slice_object* const each : pools_.find(key)->second) {
                slice_view& view = views.emplace_back();
                view.slice = &each->slice;
                view.reaches_node = true;
                view.reached.assign(each->nodes_of.size(), true);
            }
        return allocate_devices(gather_pools(views, {}), usage_, classes_, claims, {}, max_steps);
    }

    /// Adds the devices of all nodes to `stocks`. See stock_of(); `texts` is equal for equal
    /// claims. O(devices).
    void add_stocks(const std::string& texts, const std::vector<device_claim>& claims,
                    const std::vector<const device_set*>& selected,
                    const std::set<device_id>& standing, device_judge& judge,
                    std::map<std::string, device_stock>& stocks) const {
        for (const node<1>& each : nodes_)
            if (const device_stock made = stock_of(each, texts, claims, selected, standing, judge);
                made != device_stock::none)
                stocks.insert_or_assign(each.name, made);
    }
    /// Returns the number of the node's devices. The claims and what their alternatives select are
    /// those of all pods with demands; `standing` are the devices that pods with demands hold.
    /// O(slices and devices of the node's pools).
    [[nodiscard]] device_stock stock_of(const node<1>& on, const std::string& texts,
                                        const std::vector<device_claim>& claims,
                                        const std::vector<const device_set*>& selected,
                                        const std::set<device_id>& standing,
                                        device_judge& judge) const {
        const auto known = pools_of_.find(on.name);
        if (known == pools_of_.end())
            return device_stock::none;
        device_judge::node_view made;
        std::string kind = texts;
        static_cast<void>(append_kind(on, known->second, claims, selected, nullptr, kind));
        for_each_device(known->second, [&](const pooled_device& each) {
            const std::size_t at = made.devices.size();
            made.devices.push_back(each.id);
            if (usage_.whole.contains(each.id) && !standing.contains(each.id)) {
                made.used.push_back(at);
                kind += " used " + std::to_string(at);
            }
            if (const auto shared = usage_.shared.find(each.id); shared != usage_.shared.end()) {
                made.consumed.emplace(at, shared->second);
                append_amounts("consumed " + std::to_string(at), shared->second, kind);
            }
        });
        return judge.stock(kind, [&] {
            made.views = views_of(on, known->second);
            for (const slice_view& each : made.views)
                made.slices.push_back(*each.slice);
            return std::move(made);
        });
    }
    /// Calls `use(device)` for the devices of the node's pools, in the order of stock_of().
    template<class Use>
    void for_each_device(std::string_view node, const Use& use) const {
        if (const auto known = pools_of_.find(std::string(node)); known != pools_of_.end())
            for_each_device(known->second, use);
    }
    [[nodiscard]] const device_classes& classes() const noexcept { return classes_; }

private:
    using pool_key = std::pair<std::string, std::string>;

    void add_pool(const device_nodes& nodes, const pool_key& key) {
        if (!nodes.name.empty())
            pools_of_[nodes.name].insert(key);
        if (nodes.selector || nodes.all)
            shared_pools_.insert(key);
    }

    void add_use(const allocated_device& each) {
        if (each.admin_access)
            return;
        if (!each.is_share) {
            usage_.whole.insert(each.id);
            return;
        }
        auto& consumed = usage_.shared[each.id];
        for (const auto& [name, amount] : each.consumed)
            add_amount(consumed[name], amount);
    }

    static void add_amount(quantity& sum, const quantity& amount) {
        sum = muster::detail::quantity_of_billionths(
            muster::detail::clamped_sum(sum.billionths(), amount.billionths()), amount.format());
    }

    /// Returns the slices of the pool's newest generation.
    [[nodiscard]] std::vector<const resource_slice_object*> newest_of(const pool_key& key) const {
        std::vector<const resource_slice_object*> newest = pools_.find(key)->second;
        std::int64_t generation = newest.front()->slice.generation;
        for (const resource_slice_object* const each : newest)
            generation = std::max(generation, each->slice.generation);
        std::erase_if(newest,
                      [&](const auto* each) { return each->slice.generation != generation; });
        return newest;
    }

    [[nodiscard]] std::vector<slice_view> views_of(const node<1>& on,
                                                   const std::set<pool_key>& pools) const {
        std::vector<slice_view> views;
        for (const pool_key& key : pools)
            for (const resource_slice_object* const each : pools_.find(key)->second) {
                slice_view view;
                view.slice = &each->slice;
                view.allocatable = can_skip(on, each->nodes);
                view.reaches_node = each->nodes_of.empty() && is_published_for(on, each->nodes);
                for (const device_nodes& nodes : each->nodes_of) {
                    view.reached.push_back(is_published_for(on, nodes));
                    view.reaches_node = view.reaches_node || view.reached.back();
                }
                views.push_back(std::move(view));
            }
        return views;
    }

    template<class Use>
    void for_each_device(const std::set<pool_key>& pools, const Use& use) const {
        for (const pool_key& key : pools)
            if (const auto devices = devices_of_pool_.find(key); devices != devices_of_pool_.end())
                for (const std::size_t at : devices->second)
                    use((*devices_)[at]);
    }

    /// Appends all of the node's devices that an allocation for these claims depends on, and which
    /// are in use unless `usage` is null. Returns false if that is not known: what others use of
    /// shared devices.
    [[nodiscard]] bool append_kind(const node<1>& on, const std::set<pool_key>& pools,
                                   const std::vector<device_claim>& claims,
                                   const std::vector<const device_set*>& selected,
                                   const device_usage* usage, std::string& kind) const {
        const bool with_capacities = asks_capacity(claims);
        for (const pool_key& key : pools) {
            kind += key.first + "\n";
            for (const resource_slice_object* const slice : pools_.find(key)->second) {
                kind += "slice of " + std::to_string(slice->slice.slice_count) + " at " +
                        std::to_string(slice->slice.generation) + "\n";
                for (const counter_set& each : slice->slice.counter_sets)
                    append_amounts(each.name, each.counters, kind);
            }
            const auto devices = devices_of_pool_.find(key);
            if (devices == devices_of_pool_.end())
                continue;
            for (const std::size_t at : devices->second) {
                const pooled_device& each = (*devices_)[at];
                const bool is_shared = each.of->attributes.allows_multiple_allocations;
                if (usage && is_shared)
                    return false;
                append_constrained(*each.of, claims, kind);
                if (is_shared || with_capacities)
                    append_capacities(*each.of, kind);
                kind += is_published_for(on, *each.nodes) ? "here" : "elsewhere";
                kind += can_skip(on, *each.nodes) ? "" : " barred";
                if (usage)
                    kind += usage->holds(each.id) ? " in use" : " free";
                for (const device_set* const one : selected)
                    kind += std::ranges::binary_search(*one, at) ? " 1" : " 0";
                for (const counter_consumption& one : each.of->consumes) {
                    append_amounts(one.counter_set, one.counters, kind);
                    for (const std::string& group : one.compatibility_groups)
                        kind += " group " + group;
                }
                kind += "\n";
            }
        }
        return true;
    }

    static void append_capacities(const device& of, std::string& to) {
        to += " shared";
        for (const device_capacity& each : of.capacities) {
            to += " " + each.name + "=" + each.value.to_text();
            if (!each.policy)
                continue;
            const auto append = [&](const char* name, const std::optional<quantity>& amount) {
                to += amount ? name + amount->to_text() : std::string();
            };
            append(" default ", each.policy->default_request);
            if (const auto& range = each.policy->range) {
                append(" from ", range->min);
                append(" to ", range->max);
                append(" by ", range->step);
            }
            for (const quantity& value : each.policy->values)
                append(" or ", value);
        }
    }

    static void append_amounts(const std::string& name,
                               const std::map<std::string, quantity>& amounts, std::string& to) {
        to += " " + name + ":";
        for (const auto& [key, amount] : amounts)
            to += " " + key + "=" + amount.to_text();
    }

    static void append_value(bool value, std::string& to) { to += value ? " true" : " false"; }
    static void append_value(std::int64_t value, std::string& to) {
        to += " " + std::to_string(value);
    }
    static void append_value(const std::string& value, std::string& to) {
        to += " text " + std::to_string(value.size()) + ":" + value;
    }
    static void append_value(const semantic_version& value, std::string& to) {
        to += " version " + std::to_string(value.major) + "." + std::to_string(value.minor) + "." +
              std::to_string(value.patch);
        for (const std::string& each : value.prerelease)
            append_value(each, to);
        to += "+" + value.build;
    }
    template<class Value>
    static void append_value(const std::vector<Value>& values, std::string& to) {
        to += " list " + std::to_string(values.size());
        for (const Value& each : values)
            append_value(each, to);
    }

    /// Appends the attributes that constraints name, and what requests derive.
    static void append_constrained(const device& of, const std::vector<device_claim>& claims,
                                   std::string& to) {
        for (const device_claim& claim : claims) {
            for (const device_request& request : claim.requests)
                for (const device_alternative& alternative : request.alternatives)
                    for (const derived_attribute& each : alternative.derived) {
                        const derived_value made = each.of(of.attributes);
                        to += " derived";
                        if (made.value)
                            std::visit([&](const auto& value) { append_value(value, to); },
                                       *made.value);
                    }
            for (const device_constraint& each : claim.constraints) {
                const auto found = of.attributes.attributes.find(each.attribute);
                if (found == of.attributes.attributes.end())
                    to += " none";
                else
                    std::visit([&](const auto& value) { append_value(value, to); }, found->second);
            }
        }
    }
    /// True if some request names capacities: they bear on devices that are not shared, too.
    [[nodiscard]] static bool asks_capacity(const std::vector<device_claim>& claims) {
        for (const device_claim& claim : claims)
            for (const device_request& request : claim.requests)
                for (const device_alternative& each : request.alternatives)
                    if (!each.capacities.empty())
                        return true;
        return false;
    }

    [[nodiscard]] std::int64_t room_on(const node<1>& on, const std::set<pool_key>& pools,
                                       const std::vector<device_claim>& claims,
                                       std::int64_t most) const {
        const std::vector<slice_view> views = views_of(on, pools);
        const std::vector<device_pool> gathered = gather_pools(views, {});
        const auto fits = [&](std::int64_t count) {
            // Equal claims side by side are not searched in every order.
            std::vector<device_claim> all;
            for (const device_claim& each : claims)
                all.insert(all.end(), static_cast<std::size_t>(count), each);
            return allocate_devices(gathered, usage_, classes_, all, {}, max_steps).outcome ==
                   device_outcome::allocated;
        };
        // As many pods as fit are at most doubled, then the number is halved to.
        std::int64_t fitting = 0;
        std::int64_t too_many = 1;
        while (too_many <= most && fits(too_many)) {
            fitting = too_many;
            too_many *= 2;
        }
        too_many = std::min(too_many, most + 1);
        while (too_many - fitting > 1) {
            const std::int64_t middle = fitting + (too_many - fitting) / 2;
            (fits(middle) ? fitting : too_many) = middle;
        }
        return fitting;
    }

    const std::vector<pooled_device>* devices_;
    std::span<const node<1>> nodes_;
    device_classes classes_;
    std::map<pool_key, std::vector<const resource_slice_object*>> pools_;
    std::map<std::string, std::set<pool_key>> pools_of_;
    /// Pools of which several nodes may use a device.
    std::set<pool_key> shared_pools_;
    std::map<pool_key, device_set> devices_of_pool_;
    device_usage usage_;
};

} // namespace codec
} // namespace v0_1
} // namespace muster
