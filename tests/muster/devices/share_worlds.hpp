// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <muster/devices/share_allocator.hpp>
#include <muster/testing/random.hpp>

/// Random small nodes with shared devices, and an oracle that tries every assignment.
namespace share_worlds {

struct share_world {
    std::vector<muster::shared_device> devices;
    std::vector<muster::share_request> requests;
    muster::share_rules rules;
};

using assignment = std::vector<std::vector<std::size_t>>;

/// Serves the requests in order with every subset of devices. Implements the rules of the systems
/// independently of the allocator.
class oracle {
public:
    explicit oracle(const share_world& world) : world_(world), devices_(world.devices) {}

    [[nodiscard]] bool exists() { return serve(0); }

    /// Returns whether an assignment satisfies all rules, share by share.
    [[nodiscard]] bool allows(const assignment& answer) {
        if (answer.size() != world_.requests.size())
            return false;
        for (std::size_t at = 0; at < answer.size(); ++at) {
            std::uint32_t set = 0;
            for (const std::size_t index : answer[at])
                set |= 1U << index;
            if (static_cast<std::int64_t>(answer[at].size()) != world_.requests[at].count ||
                !fits(at, set))
                return false;
            apply(at, set);
        }
        return true;
    }

private:
    static std::int64_t memory_of(const muster::share_request& request,
                                  const muster::shared_device& device) {
        if (const auto* units = std::get_if<muster::memory_amount>(&request.memory))
            return units->units;
        if (const auto* part = std::get_if<muster::memory_part>(&request.memory))
            return device.memory * part->parts / part->of;
        return device.memory;
    }

    bool fits(std::size_t at, std::uint32_t set) const {
        const auto& request = world_.requests[at];
        std::int64_t count = 0;
        const muster::shared_device* first = nullptr;
        for (std::size_t index = 0; index < devices_.size(); ++index) {
            if ((set >> index & 1U) == 0)
                continue;
            ++count;
            const auto& device = devices_[index];
            if (!device.healthy || !request.filter.accepts(device))
                return false;
            if (device.slots && device.used.slots + 1 > *device.slots)
                return false;
            if (device.used.memory + memory_of(request, device) > device.memory)
                return false;
            if (device.cores && device.used.cores + request.cores > *device.cores)
                return false;
            if (request.needs_idle && device.used.slots != 0)
                return false;
            if (world_.rules.full_cores_need_idle && device.cores == 100 && request.cores == 100 &&
                device.used.slots != 0)
                return false;
            if (world_.rules.full_cores_refuse_zero && request.cores == 0 && device.cores &&
                *device.cores != 0 && device.used.cores == *device.cores)
                return false;
            if (request.apart_from_group && !request.group.empty())
                for (const auto& sharer : device.sharers)
                    if (sharer.group == request.group && sharer.pod != request.pod)
                        return false;
            if (request.within != muster::share_nearness::anywhere) {
                if (!device.numa)
                    return false;
                if (first && first->numa != device.numa &&
                    request.within != muster::share_nearness::same_node)
                    return false;
            }
            if (request.within == muster::share_nearness::same_pcie &&
                (device.pcie.empty() || (first && first->pcie != device.pcie)))
                return false;
            first = &device;
        }
        return count == request.count;
    }

    void apply(std::size_t at, std::uint32_t set) {
        const auto& request = world_.requests[at];
        for (std::size_t index = 0; index < devices_.size(); ++index)
            if ((set >> index & 1U) != 0) {
                auto& device = devices_[index];
                device.used.slots += 1;
                device.used.memory += memory_of(request, device);
                device.used.cores += request.cores;
                if (!request.group.empty())
                    device.sharers.push_back({request.pod, request.group});
            }
    }

    bool serve(std::size_t at) {
        if (at == world_.requests.size())
            return true;
        for (std::uint32_t set = 0; set < 1U << devices_.size(); ++set) {
            if (!fits(at, set))
                continue;
            const auto before = devices_;
            apply(at, set);
            if (serve(at + 1))
                return true;
            devices_ = before;
        }
        return false;
    }

    const share_world& world_;
    std::vector<muster::shared_device> devices_;
};

class maker {
public:
    explicit maker(std::uint64_t seed) : chance_(seed) {}

    [[nodiscard]] share_world make() {
        world_.rules = {chance_.percent(60), chance_.percent(60)};
        with_places_ = chance_.percent(40);
        with_groups_ = chance_.percent(25);
        counts_cores_ = !chance_.percent(20);
        const auto devices = chance_.between(1, 5);
        for (std::int64_t index = 0; index < devices; ++index)
            add_device(index);
        for (auto pods = chance_.between(1, 4); pods > 0; --pods)
            add_pod();
        return std::move(world_);
    }

private:
    void add_device(std::int64_t index) {
        auto& device = world_.devices.emplace_back();
        device.id = "gpu-" + std::to_string(index);
        device.model = chance_.percent(70) ? "NVIDIA-A100" : "NVIDIA-T4";
        device.memory = chance_.percent(80) ? 10 : chance_.between(0, 12);
        if (counts_cores_)
            device.cores = chance_.percent(85) ? 100 : chance_.between(0, 2) * 100;
        if (!chance_.percent(20))
            device.slots = chance_.between(1, 4);
        device.healthy = !chance_.percent(8);
        if (with_places_) {
            if (!chance_.percent(10))
                device.numa = chance_.between(0, 1);
            if (!chance_.percent(10))
                device.pcie = chance_.percent(50) ? "a" : "b";
        }
        if (chance_.percent(35)) {
            device.used = {chance_.between(1, 2), chance_.between(0, 11),
                           25 * chance_.between(0, 4)};
            if (with_groups_ && chance_.percent(50))
                device.sharers.push_back({std::nullopt, "g"});
        }
    }

    void add_pod() {
        for (auto containers = chance_.percent(80) ? 1 : 2; containers > 0; --containers) {
            auto& request = world_.requests.emplace_back();
            request.pod = pods_;
            request.count = chance_.percent(60) ? 1 : chance_.between(0, 3);
            if (chance_.percent(70))
                request.memory = muster::memory_amount{chance_.between(0, 7)};
            else if (chance_.percent(60))
                request.memory = muster::memory_part{chance_.between(1, 100), 100};
            request.cores = chance_.percent(40) ? 0 : 25 * chance_.between(1, 4);
            if (chance_.percent(15))
                request.filter.models = {"a100"};
            if (chance_.percent(10))
                request.filter.ids_not = {"gpu-0"};
            if (with_places_ && chance_.percent(50))
                request.within = static_cast<muster::share_nearness>(chance_.between(0, 3));
            request.prefers_near = with_places_ && chance_.percent(30);
            request.needs_idle = chance_.percent(10);
            if (with_groups_) {
                request.group = chance_.percent(70) ? "g" : "h";
                request.apart_from_group = chance_.percent(60);
            }
            for (auto& key : request.order)
                key = static_cast<muster::device_key>(chance_.between(0, 13));
            request.near_order[0] = request.order[1];
        }
        ++pods_;
    }

    muster::testing::random chance_;
    share_world world_;
    bool with_places_ = false;
    bool with_groups_ = false;
    bool counts_cores_ = true;
    std::size_t pods_ = 0;
};

} // namespace share_worlds
