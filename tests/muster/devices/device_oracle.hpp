// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <muster/devices/device_allocation.hpp>

#include "muster/devices/device_worlds.hpp"

/// Allocates by trying everything. It shares no code with the allocator: amounts are whole units,
/// and all rules are checked anew for every choice, whenever a request has its devices. (No rule
/// becomes satisfied by further devices.)
namespace device_oracle {

using device_worlds::device_world;

struct choice {
    std::size_t claim = 0;
    std::size_t request = 0;
    std::size_t alternative = 0;
    std::size_t device = 0;
};

/// A device of the world, where it stands in order of allocation.
struct listed_device {
    muster::device_id id;
    const muster::device* source = nullptr;
};

class oracle {
public:
    explicit oracle(const device_world& world) : world_(world) {
        // Slices are made in order of pools and names.
        for (const muster::device_slice& slice : world.slices)
            for (const muster::device& device : slice.devices)
                devices_.push_back({{slice.driver, slice.pool, device.name}, &device});
    }

    /// Returns the first legal choice in Kubernetes' order; absent if there is none.
    [[nodiscard]] std::optional<std::vector<choice>> search() {
        choices_.clear();
        return from_request(0, 0) ? std::optional(choices_) : std::nullopt;
    }

    /// Returns what is wrong with an allocation; empty if it is legal.
    [[nodiscard]] std::string fault(const muster::device_allocation& allocation) {
        choices_.clear();
        for (std::size_t claim = 0; claim < allocation.claims.size(); ++claim) {
            const auto& chosen = allocation.claims[claim].chosen;
            std::size_t next = 0;
            const auto& devices = allocation.claims[claim].devices;
            if (chosen.size() != world_.claims[claim].requests.size())
                return "a request has no alternative";
            for (std::size_t request = 0; request < chosen.size(); ++request) {
                const auto count = count_of({claim, request, chosen[request], 0});
                for (std::size_t each = 0; each < count; ++each, ++next) {
                    if (next == devices.size())
                        return "a claim has too few devices";
                    const auto found = std::find_if(
                        devices_.begin(), devices_.end(),
                        [&](const listed_device& one) { return one.id == devices[next].id; });
                    if (found == devices_.end())
                        return "a device does not exist";
                    choices_.push_back({claim, request, chosen[request],
                                        static_cast<std::size_t>(found - devices_.begin())});
                }
            }
            if (next != devices.size())
                return "a claim has too many devices";
        }
        return fault();
    }

    [[nodiscard]] std::vector<std::vector<muster::device_id>>
    devices_of(const std::vector<choice>& choices) const {
        std::vector<std::vector<muster::device_id>> all(world_.claims.size());
        for (const choice& one : choices)
            all[one.claim].push_back(devices_[one.device].id);
        return all;
    }

private:
    [[nodiscard]] const muster::device_alternative& alternative(const choice& of) const {
        return world_.claims[of.claim].requests[of.request].alternatives[of.alternative];
    }

    [[nodiscard]] bool matches(const muster::device_alternative& wish, std::size_t device) const {
        for (const auto* selectors :
             {&world_.classes.at(wish.class_name).selectors, &wish.selectors})
            for (const muster::request_selector& selector : *selectors)
                if (selector.matches(devices_[device].source->attributes).outcome !=
                    muster::selector_outcome::matches)
                    return false;
        return true;
    }

    /// Absent if the device admits no such amount.
    static std::optional<std::int64_t> share(const muster::device_capacity& of,
                                             const muster::device_alternative& wish) {
        const auto wished = wish.capacities.find(of.name);
        if (!of.policy)
            return wished == wish.capacities.end() ? of.value.units_up()
                                                   : wished->second.units_up();
        const muster::capacity_policy& policy = *of.policy;
        const auto fallback = policy.default_request ? policy.default_request->units_up() : -1;
        auto amount = wished != wish.capacities.end() ? wished->second.units_up()
                      : fallback >= 0                 ? fallback
                                                      : of.value.units_up();
        const bool is_wished = wished != wish.capacities.end();
        if (policy.range) {
            const auto min = policy.range->min.units_up();
            const auto step = policy.range->step ? policy.range->step->units_up() : 1;
            while (is_wished && (amount < min || (amount - min) % step != 0))
                ++amount;
            if (amount == fallback)
                return amount;
            if ((policy.range->max && amount > policy.range->max->units_up()) ||
                (amount - min) % step != 0)
                return std::nullopt;
            return amount;
        }
        for (const muster::quantity& value : policy.values)
            if (is_wished && value.units_up() >= amount) {
                amount = value.units_up();
                break;
            }
        for (const muster::quantity& value : policy.values)
            if (value.units_up() == amount)
                return amount;
        if (amount == fallback || policy.values.empty())
            return amount;
        return std::nullopt;
    }

    /// Absent if the device cannot serve the wish even alone.
    [[nodiscard]] static std::optional<std::map<std::string, std::int64_t>>
    shares(const muster::device& of, const muster::device_alternative& wish) {
        std::map<std::string, std::int64_t> all;
        for (const muster::device_capacity& capacity : of.capacities) {
            const auto amount = share(capacity, wish);
            if (!amount || *amount > capacity.value.units_up())
                return std::nullopt;
            all[capacity.name] = *amount;
        }
        for (const auto& [name, amount] : wish.capacities)
            if (all.count(name) == 0)
                return std::nullopt;
        return all;
    }

    [[nodiscard]] std::vector<std::size_t> all_for(const muster::device_alternative& wish) const {
        std::vector<std::size_t> all;
        for (std::size_t device = 0; device < devices_.size(); ++device)
            if (matches(wish, device) && shares(*devices_[device].source, wish))
                all.push_back(device);
        return all;
    }

    [[nodiscard]] std::size_t count_of(const choice& of) const {
        const auto& wish = alternative(of);
        return wish.mode == muster::device_count_mode::all ? all_for(wish).size()
                                                           : static_cast<std::size_t>(wish.count);
    }

    bool from_request(std::size_t claim, std::size_t request) {
        if (!fault().empty())
            return false;
        if (claim == world_.claims.size())
            return true;
        const auto& requests = world_.claims[claim].requests;
        if (request == requests.size())
            return from_request(claim + 1, 0);
        for (std::size_t each = 0; each < requests[request].alternatives.size(); ++each) {
            const choice next{claim, request, each, 0};
            const auto& wish = alternative(next);
            const auto kept = choices_.size();
            if (wish.mode == muster::device_count_mode::all) {
                const auto all = all_for(wish);
                for (const auto device : all)
                    choices_.push_back({claim, request, each, device});
                if (!all.empty() && from_request(claim, request + 1))
                    return true;
            } else if (from_device(next, count_of(next))) {
                return true;
            }
            choices_.resize(kept);
        }
        return false;
    }

    bool from_device(choice next, std::size_t count) {
        if (count == 0)
            return from_request(next.claim, next.request + 1);
        for (; next.device + count <= devices_.size(); ++next.device) {
            choices_.push_back(next);
            auto further = next;
            ++further.device;
            const auto kept = choices_.size();
            if (from_device(further, count - 1))
                return true;
            choices_.resize(kept - 1);
        }
        return false;
    }

    [[nodiscard]] std::string fault() const {
        for (const auto check :
             {&oracle::fault_of_devices, &oracle::fault_of_shares, &oracle::fault_of_counters,
              &oracle::fault_of_groups, &oracle::fault_of_constraints})
            if (auto found = (this->*check)(); !found.empty())
                return found;
        return {};
    }

    [[nodiscard]] bool is_multiple(std::size_t device) const {
        return devices_[device].source->attributes.allows_multiple_allocations;
    }

    [[nodiscard]] std::string fault_of_devices() const {
        for (std::size_t index = 0; index < choices_.size(); ++index) {
            const choice& one = choices_[index];
            const auto& wish = alternative(one);
            const auto& device = devices_[one.device];
            if (!matches(wish, one.device))
                return "a selector does not match";
            for (const muster::device_taint& taint : device.source->taints)
                if (taint.key == "broken" && wish.tolerations.empty())
                    return "a taint is not tolerated";
            if (!wish.admin_access && world_.usage.whole.count(device.id) != 0)
                return "a device is in use";
            for (std::size_t before = 0; before < index; ++before) {
                const choice& other = choices_[before];
                if (other.device != one.device)
                    continue;
                if (other.claim == one.claim && other.request == one.request)
                    return "a request has a device twice";
                if (is_multiple(one.device))
                    continue;
                // Admin access does not keep a device from others, unless they come later.
                if (!wish.admin_access || other.claim == one.claim)
                    return "a device is allocated twice";
            }
        }
        return {};
    }

    [[nodiscard]] std::string fault_of_shares() const {
        std::map<std::pair<std::size_t, std::string>, std::int64_t> consumed;
        for (const choice& one : choices_) {
            const auto& device = devices_[one.device];
            const auto all = shares(*device.source, alternative(one));
            if (!all)
                return "a capacity is not admitted";
            for (const muster::device_capacity& capacity : device.source->capacities) {
                auto& sum = consumed[{one.device, capacity.name}];
                const auto amount = sum + all->at(capacity.name);
                std::int64_t before = 0;
                if (const auto used = world_.usage.shared.find(device.id);
                    used != world_.usage.shared.end() && used->second.count(capacity.name) != 0)
                    before = used->second.at(capacity.name).units_up();
                if (before + amount > capacity.value.units_up())
                    return "a capacity is overcommitted";
                if (is_multiple(one.device))
                    sum = amount;
            }
        }
        return {};
    }

    /// The devices that consume counters, once for each consumption, by pool and counter set. The
    /// second: the device is in use before.
    using users = std::map<std::pair<std::string, std::string>,
                           std::vector<std::pair<const muster::counter_consumption*, bool>>>;

    [[nodiscard]] users users_of_counters() const {
        users all;
        const auto add = [&](std::size_t device, bool before) {
            for (const auto& consumption : devices_[device].source->consumes)
                all[{devices_[device].id.pool, consumption.counter_set}].push_back(
                    {&consumption, before});
        };
        std::set<std::size_t> shared;
        for (std::size_t device = 0; device < devices_.size(); ++device)
            if (world_.usage.holds(devices_[device].id)) {
                add(device, true);
                if (is_multiple(device))
                    shared.insert(device);
            }
        for (const choice& one : choices_)
            if (!is_multiple(one.device) || shared.insert(one.device).second)
                add(one.device, false);
        return all;
    }

    [[nodiscard]] std::string fault_of_counters() const {
        const auto all = users_of_counters();
        for (const muster::device_slice& slice : world_.slices)
            for (const muster::counter_set& set : slice.counter_sets) {
                const auto found = all.find({slice.pool, set.name});
                if (found == all.end())
                    continue;
                for (const auto& [name, available] : set.counters) {
                    std::int64_t sum = 0;
                    for (const auto& [consumption, before] : found->second)
                        if (const auto amount = consumption->counters.find(name);
                            amount != consumption->counters.end())
                            sum += amount->second.units_up();
                    // One overdrawn counter bars all devices of the pool that consume any.
                    if (sum > available.units_up() && chooses_counters_of(slice.pool))
                        return "a counter is overdrawn";
                }
            }
        return {};
    }

    [[nodiscard]] bool chooses_counters_of(const std::string& pool) const {
        std::set<std::size_t> charged;
        for (const choice& one : choices_) {
            const auto& device = devices_[one.device];
            const bool is_further_share =
                is_multiple(one.device) && world_.usage.shared.count(device.id) != 0;
            if (device.id.pool == pool && !device.source->consumes.empty() && !is_further_share)
                return true;
        }
        return false;
    }

    [[nodiscard]] std::string fault_of_groups() const {
        for (const auto& [set, consumptions] : users_of_counters()) {
            bool chosen = false;
            std::map<std::string, std::size_t> members;
            std::size_t without = 0;
            for (const auto& [consumption, before] : consumptions) {
                chosen = chosen || !before;
                without += consumption->compatibility_groups.empty() ? 1U : 0U;
                for (const std::string& group : consumption->compatibility_groups)
                    ++members[group];
            }
            bool agree = without == consumptions.size();
            for (const auto& [group, count] : members)
                agree = agree || count == consumptions.size();
            if (chosen && !agree)
                return "compatibility groups differ";
        }
        return {};
    }

    [[nodiscard]] static std::set<std::int64_t> values(const muster::device_attribute& from) {
        if (const auto* list = std::get_if<std::vector<std::int64_t>>(&from))
            return {list->begin(), list->end()};
        return {std::get<std::int64_t>(from)};
    }

    [[nodiscard]] std::string fault_of_constraints() const {
        for (std::size_t claim = 0; claim < world_.claims.size(); ++claim)
            for (const muster::device_constraint& constraint : world_.claims[claim].constraints) {
                std::vector<std::set<std::int64_t>> all;
                for (const choice& one : choices_) {
                    if (one.claim != claim || !applies(constraint, one))
                        continue;
                    const auto& attributes = devices_[one.device].source->attributes.attributes;
                    if (const auto derived = derived_values(constraint, one)) {
                        all.push_back(*derived);
                        continue;
                    }
                    const auto found = attributes.find(constraint.attribute);
                    if (found == attributes.end())
                        return "an attribute is absent";
                    all.push_back(values(found->second));
                }
                std::map<std::int64_t, std::size_t> count;
                for (const auto& set : all)
                    for (const auto value : set)
                        ++count[value];
                bool common = all.empty();
                bool distinct = true;
                for (const auto& [value, devices] : count) {
                    common = common || devices == all.size();
                    distinct = distinct && devices == 1;
                }
                if (constraint.kind == muster::device_constraint_kind::match ? !common : !distinct)
                    return "a constraint is violated";
            }
        return {};
    }

    /// Returns what the alternative of the choice derives for the constraint; see device_worlds.
    [[nodiscard]] std::optional<std::set<std::int64_t>>
    derived_values(const muster::device_constraint& constraint, const choice& one) const {
        const auto& attributes = devices_[one.device].source->attributes.attributes;
        for (const muster::derived_attribute& each : alternative(one).derived) {
            if (each.name != constraint.attribute)
                continue;
            if (each.text == device_worlds::numa_by_kind)
                return std::set<std::int64_t>{
                    std::get<std::string>(attributes.at("d/kind")) == "gpu" ? 0 : 1};
            const auto numa = attributes.find("d/numa");
            return numa == attributes.end() ? std::set<std::int64_t>{1, 2} : values(numa->second);
        }
        return std::nullopt;
    }

    [[nodiscard]] bool applies(const muster::device_constraint& constraint,
                               const choice& one) const {
        const auto& request = world_.claims[one.claim].requests[one.request];
        for (const std::string& name : constraint.requests)
            if (name == request.name ||
                (request.is_prioritized && name == request.name + '/' + alternative(one).name))
                return true;
        return constraint.requests.empty();
    }

    const device_world& world_;
    std::vector<listed_device> devices_;
    std::vector<choice> choices_;
};

} // namespace device_oracle
