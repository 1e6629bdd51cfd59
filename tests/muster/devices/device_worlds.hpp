// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <muster/devices/device_claim.hpp>
#include <muster/devices/device_features.hpp>
#include <muster/devices/device_pools.hpp>
#include <muster/devices/device_usage.hpp>
#include <muster/devices/request_selector.hpp>
#include <muster/testing/random.hpp>

/// Random small nodes with devices, and claims that just fit or just do not.
namespace device_worlds {

/// Attributes that requests derive: of GPUs 0, of other devices 1.
inline constexpr const char* numa_by_kind = "device.attributes['d'].kind == 'gpu' ? 0 : 1";
/// The NUMA node, or a list.
inline constexpr const char* link_by_numa =
    "'numa' in device.attributes['d'] ? [device.attributes['d'].numa] : [1, 2]";

[[nodiscard]] inline muster::quantity units(std::int64_t amount) {
    return {amount, muster::quantity_scale::units, muster::quantity_format::decimal_si};
}

struct device_world {
    std::vector<muster::device_slice> slices;
    muster::device_usage usage;
    muster::device_classes classes;
    std::vector<muster::device_claim> claims;

    [[nodiscard]] std::vector<muster::slice_view> views() const {
        std::vector<muster::slice_view> all;
        for (const muster::device_slice& slice : slices)
            all.push_back({&slice, true, {}, true});
        return all;
    }
};

class maker {
public:
    explicit maker(std::uint64_t seed) : chance_(seed) {}

    [[nodiscard]] device_world make() {
        with_counters_ = chance_.percent(40);
        with_shares_ = chance_.percent(40);
        with_groups_ = with_counters_ && chance_.percent(30);
        made_.classes["any"] = {};
        made_.classes["gpu"].selectors = {
            muster::read_request_selector("device.attributes['d'].kind == 'gpu'")};
        const auto pools = chance_.between(1, 2);
        for (std::int64_t pool = 0; pool < pools; ++pool)
            add_pool("p" + std::to_string(pool), chance_.between(1, 6 / pools));
        for (std::int64_t claim = chance_.percent(15) ? 3 : chance_.between(1, 2); claim > 0;
             --claim)
            add_claim();
        return std::move(made_);
    }

private:
    void add_pool(const std::string& name, std::int64_t devices) {
        muster::device_slice slice{name + "-devices", "d", name, 1, with_counters_ ? 2 : 1, {}, {}};
        for (std::int64_t index = 0; index < devices; ++index) {
            slice.devices.push_back(device(std::to_string(index)));
            const muster::device& added = slice.devices.back();
            const muster::device_id id{"d", name, added.name};
            if (!chance_.percent(10))
                continue;
            if (added.attributes.allows_multiple_allocations) {
                auto& consumed = made_.usage.shared[id];
                for (const muster::device_capacity& capacity : added.capacities)
                    consumed.emplace(capacity.name, units(chance_.between(1, 3)));
            } else {
                made_.usage.whole.insert(id);
            }
        }
        made_.slices.push_back(std::move(slice));
        if (!with_counters_)
            return;
        muster::device_slice counters{name + "-counters", "d", name, 1, 2, {}, {}};
        for (const auto* set : {"s0", "s1"})
            counters.counter_sets.push_back({set,
                                             {{"memory", units(chance_.between(2, 6))},
                                              {"engines", units(chance_.between(1, 4))}}});
        made_.slices.push_back(std::move(counters));
    }

    muster::device device(const std::string& name) {
        muster::device made;
        made.name = name;
        made.attributes.driver = "d";
        auto& attributes = made.attributes.attributes;
        attributes["d/kind"] = std::string(chance_.percent(70) ? "gpu" : "nic");
        if (chance_.percent(85))
            attributes["d/numa"] = chance_.between(0, 1);
        if (chance_.percent(80)) {
            if (chance_.percent(20))
                attributes["d/link"] = std::vector<std::int64_t>{chance_.between(0, 2), 1};
            else
                attributes["d/link"] = chance_.between(0, 2);
        }
        if (with_shares_ && chance_.percent(70)) {
            made.attributes.allows_multiple_allocations = chance_.percent(70);
            muster::device_capacity capacity{"memory", units(chance_.between(2, 8)), {}};
            if (chance_.percent(50)) {
                capacity.policy.emplace();
                if (chance_.percent(50))
                    capacity.policy->default_request = units(2);
                if (chance_.percent(50)) {
                    capacity.policy->range = {units(2), {}, {}};
                    if (chance_.percent(50))
                        capacity.policy->range->max = units(4);
                    if (chance_.percent(50))
                        capacity.policy->range->step = units(2);
                } else {
                    capacity.policy->values = {units(2), units(3)};
                }
            }
            made.capacities.push_back(std::move(capacity));
        }
        if (with_counters_ && chance_.percent(80))
            consume(made);
        if (chance_.percent(10))
            made.taints.push_back({"broken", "", muster::device_taint_effect::no_schedule});
        return made;
    }

    void consume(muster::device& by) {
        const auto sets = chance_.percent(15) ? 2 : 1;
        for (int index = 0; index < sets; ++index) {
            muster::counter_consumption consumption;
            consumption.counter_set =
                sets == 2 ? (index == 0 ? "s0" : "s1") : (chance_.percent(50) ? "s0" : "s1");
            consumption.counters["memory"] = units(chance_.between(1, 3));
            if (chance_.percent(40))
                consumption.counters["engines"] = units(1);
            if (with_groups_ && chance_.percent(70))
                consumption.compatibility_groups = {chance_.percent(50) ? "mig" : "vgpu"};
            if (with_groups_ && chance_.percent(20))
                consumption.compatibility_groups = {"mig", "vgpu"};
            by.consumes.push_back(std::move(consumption));
        }
    }

    void add_claim() {
        if (!made_.claims.empty() && chance_.percent(30)) {
            made_.claims.push_back(made_.claims.back());
            return;
        }
        muster::device_claim claim;
        claim.name = "c" + std::to_string(made_.claims.size());
        // A constraint that excludes a device of a request for all of them is an error.
        const bool with_constraints = chance_.percent(40);
        const auto requests = chance_.between(1, made_.claims.empty() ? 3 : 2);
        for (std::int64_t index = 0; index < requests; ++index) {
            muster::device_request request{"r" + std::to_string(index), {}, chance_.percent(30)};
            const auto alternatives = request.is_prioritized ? chance_.between(1, 3) : 1;
            for (std::int64_t each = 0; each < alternatives; ++each)
                request.alternatives.push_back(
                    alternative("a" + std::to_string(each), with_constraints));
            claim.requests.push_back(std::move(request));
        }
        for (auto count = with_constraints ? chance_.between(1, 2) : 0; count > 0; --count) {
            muster::device_constraint constraint;
            constraint.kind = chance_.percent(60) ? muster::device_constraint_kind::match
                                                  : muster::device_constraint_kind::distinct;
            constraint.attribute = chance_.percent(50) ? "d/numa" : "d/link";
            if (chance_.percent(30))
                constraint.requests = {"r0"};
            else if (chance_.percent(20))
                constraint.requests = {"r0/a0", "r1"};
            claim.constraints.push_back(std::move(constraint));
        }
        made_.claims.push_back(std::move(claim));
    }

    muster::device_alternative alternative(const std::string& name, bool with_constraints) {
        muster::device_alternative made;
        made.name = name;
        made.class_name = chance_.percent(60) ? "gpu" : "any";
        if (!with_constraints && chance_.percent(12))
            made.mode = muster::device_count_mode::all;
        made.count = chance_.percent(60) ? 1 : chance_.between(1, 3);
        if (chance_.percent(30))
            made.selectors.push_back(muster::read_request_selector(
                chance_.percent(50) ? "device.attributes['d'].?numa.orValue(0) == 0"
                                    : "device.attributes['d'].kind != 'nic'"));
        made.admin_access = chance_.percent(10);
        if (chance_.percent(30))
            made.tolerations.push_back({"broken", "", true, {}});
        if (with_shares_ && chance_.percent(40))
            made.capacities["memory"] = units(chance_.between(1, 4));
        if (with_constraints && chance_.percent(25))
            made.derived.push_back(muster::read_derived_attribute("d/numa", numa_by_kind));
        if (with_constraints && chance_.percent(25))
            made.derived.push_back(muster::read_derived_attribute("d/link", link_by_numa));
        return made;
    }

    muster::testing::random chance_;
    device_world made_;
    bool with_counters_ = false;
    bool with_shares_ = false;
    bool with_groups_ = false;
};

} // namespace device_worlds
