// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <muster/devices/share_allocator.hpp>
#include <muster/testing/random.hpp>

/// Random small nodes with partitioned devices, and an oracle that tries every instance.
namespace instance_worlds {

struct world {
    std::vector<muster::shared_device> devices;
    std::vector<muster::share_request> requests;
    muster::share_rules rules;
};

/// Serves the requests in their order with every list of devices and instances. Implements the
/// rules without the functions of the library.
class oracle {
public:
    explicit oracle(const world& of) : world_(of), devices_(of.devices) {}

    [[nodiscard]] bool exists() { return serve(0); }

    /// Returns whether the allocation satisfies all rules, share by share.
    [[nodiscard]] bool allows(const muster::share_allocation& answer) {
        if (answer.devices.size() != world_.requests.size())
            return false;
        for (std::size_t at = 0; at < answer.devices.size(); ++at) {
            if (static_cast<std::int64_t>(answer.devices[at].size()) != world_.requests[at].count)
                return false;
            const auto before = devices_;
            std::vector<std::size_t> had;
            for (std::size_t share = 0; share < answer.devices[at].size(); ++share) {
                const std::size_t index = answer.devices[at][share];
                const std::size_t instance = answer.instance_of(at, share);
                if (!may_start(before[index], at) || !may_add(had, index) ||
                    !may_use(index, instance, at))
                    return false;
                use(index, instance, at);
                had.push_back(index);
            }
        }
        return true;
    }

private:
    static std::int64_t memory_of(const muster::share_request& request,
                                  const muster::shared_device& device) {
        const auto* const units = std::get_if<muster::memory_amount>(&request.memory);
        return units ? units->units : device.memory;
    }

    /// The rules that look at the device as it was before the request.
    [[nodiscard]] bool may_start(const muster::shared_device& device, std::size_t at) const {
        const auto& request = world_.requests[at];
        if (!device.healthy || !request.filter.accepts(device))
            return false;
        if (device.slots && device.used.slots >= *device.slots)
            return false;
        if (device.used.memory + memory_of(request, device) > device.memory ||
            device.used.cores + request.cores > *device.cores)
            return false;
        if (request.needs_idle && device.used.slots > 0)
            return false;
        if (world_.rules.full_cores_need_idle && request.cores == 100 && device.used.slots > 0)
            return false;
        return !world_.rules.full_cores_refuse_zero || request.cores != 0 ||
               device.used.cores != *device.cores;
    }
    [[nodiscard]] bool may_add(const std::vector<std::size_t>& had, std::size_t index) const {
        if (world_.rules.repeats_instances && devices_[index].is_partitioned)
            return true;
        for (const std::size_t each : had)
            if (each == index)
                return false;
        return true;
    }
    [[nodiscard]] bool may_use(std::size_t index, std::size_t instance, std::size_t at) const {
        const auto& device = devices_[index];
        if (!device.is_partitioned)
            return instance >= device.instances.size();
        if (instance >= device.instances.size())
            return false;
        const auto& of = device.instances[instance];
        if (of.memory < memory_of(world_.requests[at], device))
            return false;
        bool is_idle = true;
        bool has_neighbour = of.beside == 0;
        for (unsigned slice = 0; slice < 64; ++slice) {
            const bool is_used = (device.used.slices >> slice & 1U) != 0;
            const auto in = [&](std::uint64_t set) { return (set >> slice & 1U) != 0; };
            if (is_used && (in(of.slices) || in(of.apart_from)))
                return false;
            is_idle = is_idle && !is_used;
            has_neighbour = has_neighbour || (is_used && in(of.beside));
        }
        return is_idle || has_neighbour;
    }
    void use(std::size_t index, std::size_t instance, std::size_t at) {
        auto& device = devices_[index];
        const auto& request = world_.requests[at];
        device.used.slots += 1;
        if (!device.is_partitioned) {
            device.used.memory += memory_of(request, device);
            device.used.cores += request.cores;
            return;
        }
        const auto& of = device.instances[instance];
        device.used.memory += of.memory;
        device.used.cores += of.cores ? *of.cores : request.cores;
        device.used.slices += of.slices;
    }

    bool serve(std::size_t at) {
        if (at == world_.requests.size())
            return true;
        const auto before = devices_;
        return add(at, before, {}, world_.requests[at].count);
    }
    bool add(std::size_t at, const std::vector<muster::shared_device>& before,
             std::vector<std::size_t> had, std::int64_t count) {
        if (count == 0)
            return serve(at + 1);
        for (std::size_t index = 0; index < devices_.size(); ++index) {
            if (!may_start(before[index], at) || !may_add(had, index))
                continue;
            const std::size_t end =
                devices_[index].is_partitioned ? devices_[index].instances.size() : 1;
            for (std::size_t instance = 0; instance < end; ++instance) {
                if (!may_use(index, devices_[index].is_partitioned ? instance : 100, at))
                    continue;
                const auto now = devices_;
                use(index, instance, at);
                had.push_back(index);
                if (add(at, before, had, count - 1))
                    return true;
                had.pop_back();
                devices_ = now;
            }
        }
        return false;
    }

    const world& world_;
    std::vector<muster::shared_device> devices_;
};

class maker {
public:
    explicit maker(std::uint64_t seed) : chance_(seed) {}

    [[nodiscard]] world make() {
        made_.rules = {chance_.percent(60), chance_.percent(60), chance_.percent(50)};
        const bool in_groups = !made_.rules.repeats_instances;
        for (auto count = chance_.between(1, 3); count > 0; --count)
            add_device(in_groups);
        for (auto count = chance_.between(1, 4); count > 0; --count)
            add_request();
        return std::move(made_);
    }

private:
    /// Instances of a few sizes at all places, as of HAMi.
    void add_places(muster::shared_device& to) {
        for (const std::int64_t size : {1, 2, 4})
            for (std::int64_t start = 0; start + size <= 4; start += size)
                if (chance_.percent(70))
                    to.instances.push_back({"p",
                                            size * 10 + chance_.between(0, 1),
                                            size * 30,
                                            muster::slices_at(start, size),
                                            {},
                                            {}});
    }
    /// Groups of instances of which one is used at a time, as of Volcano.
    void add_groups(muster::shared_device& to) {
        std::int64_t next = 0;
        std::vector<std::uint64_t> groups;
        for (auto group = chance_.between(1, 2); group > 0; --group) {
            const std::int64_t first = next;
            for (auto kind = chance_.between(1, 2); kind > 0; --kind) {
                const auto count = chance_.between(1, 2);
                const auto memory = 10 * chance_.between(1, 3);
                for (std::int64_t each = 0; each < count; ++each)
                    to.instances.push_back({"t",
                                            memory,
                                            {},
                                            muster::slices_at(next + each, 1),
                                            {},
                                            muster::slices_at(next, count)});
                next += count;
            }
            groups.push_back(muster::slices_at(first, next - first));
        }
        const std::uint64_t all = muster::slices_at(0, next);
        for (auto& each : to.instances)
            for (const std::uint64_t group : groups)
                if ((each.slices & group) != 0)
                    each.apart_from = all & ~group;
    }
    void add_device(bool in_groups) {
        auto& device = made_.devices.emplace_back();
        device.id = "gpu-" + std::to_string(made_.devices.size());
        device.memory = 40 + chance_.between(0, 2);
        device.cores = 100;
        if (chance_.percent(80))
            device.slots = chance_.between(1, 4);
        device.is_partitioned = !chance_.percent(20);
        device.mode = device.is_partitioned ? "mig" : "hami-core";
        device.healthy = !chance_.percent(5);
        if (device.is_partitioned && in_groups)
            add_groups(device);
        else if (device.is_partitioned)
            add_places(device);
        if (device.instances.empty() || chance_.percent(60))
            return;
        const auto& held = device.instances[static_cast<std::size_t>(
            chance_.between(0, static_cast<std::int64_t>(device.instances.size()) - 1))];
        device.used = {1, held.memory, held.cores.value_or(20), held.slices};
    }
    void add_request() {
        auto& request = made_.requests.emplace_back();
        request.count = chance_.percent(50) ? 1 : chance_.between(0, 3);
        if (!chance_.percent(10))
            request.memory = muster::memory_amount{chance_.between(1, 25)};
        request.cores = chance_.percent(60) ? 0 : 25 * chance_.between(1, 4);
        request.needs_idle = chance_.percent(5);
        if (chance_.percent(10))
            request.filter.modes = {chance_.percent(50) ? "mig" : "hami-core"};
        for (auto& key : request.order)
            key = static_cast<muster::device_key>(chance_.between(0, 13));
    }

    muster::testing::random chance_;
    world made_;
};

} // namespace instance_worlds
