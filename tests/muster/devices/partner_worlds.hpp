// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <muster/devices/share_allocator.hpp>
#include <muster/testing/random.hpp>

/// Random small nodes with devices of two types, virtual functions and partitions, and an oracle
/// that tries every assignment.
namespace partner_worlds {

struct partner_world {
    std::vector<muster::shared_device> devices;
    std::vector<muster::share_request> requests;
    muster::partition_table table;
};

/// A device that a request gets, and the position of its virtual function.
struct gift {
    std::size_t device = 0;
    std::optional<std::size_t> function;
};
using gifts = std::vector<gift>;

/// Implements the rules independently of the allocator.
class oracle {
public:
    explicit oracle(const partner_world& world) : world_(world), devices_(world.devices) {}

    [[nodiscard]] bool exists() { return serve(0); }

    /// Returns whether the answer satisfies all rules.
    [[nodiscard]] bool allows(const muster::share_allocation& answer) {
        for (std::size_t at = 0; at < world_.requests.size(); ++at) {
            const auto& request = world_.requests[at];
            std::set<std::size_t> own;
            std::set<std::size_t> partner;
            gifts all;
            for (std::size_t number = 0; number < answer.devices[at].size(); ++number) {
                const std::size_t index = answer.devices[at][number];
                const bool is_partner =
                    !request.partners.empty() &&
                    devices_[index].type == request.partners.front().filter.type;
                if (!(is_partner ? partner : own).insert(index).second)
                    return false;
                gift one{index, std::nullopt};
                if (answer.functions[at][number] != muster::no_function)
                    one.function = answer.functions[at][number];
                all.push_back(one);
            }
            if (!is_own_set(request, own) || !is_partner_set(request, own, partner))
                return false;
            for (const gift& each : all) {
                const auto& part = part_of(request, each.device);
                if (each.function.has_value() != part.function.has_value() ||
                    (each.function && !gives(each.device, *each.function, part)))
                    return false;
                give(each, part);
            }
        }
        return true;
    }

private:
    using indices = std::set<std::size_t>;

    [[nodiscard]] const muster::share_request& part_of(const muster::share_request& request,
                                                       std::size_t device) const {
        return devices_[device].type == request.filter.type ? request : request.partners.front();
    }
    static std::int64_t units(const muster::share_request& part) {
        return std::get<muster::memory_amount>(part.memory).units;
    }
    [[nodiscard]] bool gives(std::size_t device, std::size_t function,
                             const muster::share_request& part) const {
        const auto& of = devices_[device].functions[function];
        return !of.in_use && (part.function->empty() || of.labels.count("kind") != 0);
    }
    [[nodiscard]] bool has_kind(std::size_t device, const muster::share_request& part) const {
        const auto& of = devices_[device];
        return of.type == part.filter.type && (part.filter.labels.empty() || of.labels.count("x"));
    }
    [[nodiscard]] bool serves(std::size_t device, const muster::share_request& part) const {
        const auto& of = devices_[device];
        bool has_function = !part.function;
        for (std::size_t function = 0; function < of.functions.size(); ++function)
            has_function = has_function || gives(device, function, part);
        return has_kind(device, part) && of.healthy && has_function &&
               of.used.memory + units(part) <= of.memory;
    }
    [[nodiscard]] indices roots(const indices& set) const {
        indices names;
        for (const std::size_t each : set)
            if (!devices_[each].pcie.empty())
                names.insert(static_cast<std::size_t>(devices_[each].pcie[0]));
        return names;
    }
    [[nodiscard]] bool is_near(const muster::share_request& request, const indices& set) const {
        for (const std::size_t each : set) {
            const auto& first = devices_[*set.begin()];
            const auto& of = devices_[each];
            if (request.within != muster::share_nearness::anywhere && !of.numa)
                return false;
            if (request.within == muster::share_nearness::same_numa && of.numa != first.numa)
                return false;
            if (request.within == muster::share_nearness::same_pcie &&
                (of.pcie.empty() || of.pcie != first.pcie || of.numa != first.numa))
                return false;
        }
        return true;
    }
    [[nodiscard]] bool is_partition(const muster::partition_wish& wish, const indices& set) const {
        std::int64_t least = 100;
        for (const auto& each : world_.table.partitions)
            if (each.devices.size() == set.size())
                least = std::min(least, each.score);
        for (const auto& each : world_.table.partitions) {
            bool suits = indices(each.devices.begin(), each.devices.end()) == set &&
                         (!wish.least_score_only || each.score == least) &&
                         (!wish.bandwidth_milli ||
                          (each.bandwidth_milli && *each.bandwidth_milli >= *wish.bandwidth_milli));
            for (const std::size_t device : set)
                suits = suits && devices_[device].used == muster::share_amounts{};
            if (suits)
                return true;
        }
        return false;
    }
    [[nodiscard]] bool is_own_set(const muster::share_request& request, const indices& set) const {
        std::size_t count = static_cast<std::size_t>(request.count);
        if (request.takes_all) {
            count = 0;
            for (std::size_t device = 0; device < devices_.size(); ++device)
                count += has_kind(device, request) ? 1U : 0U;
            if (count == 0)
                return false;
        }
        if (set.size() != count)
            return false;
        for (const std::size_t each : set)
            if (!serves(each, request))
                return false;
        if (!request.partition)
            return is_near(request, set);
        return is_partition(*request.partition, set) ||
               (!request.partition->is_required && !world_.table.is_required &&
                is_near(request, set));
    }
    [[nodiscard]] bool is_partner_set(const muster::share_request& request, const indices& own,
                                      const indices& set) const {
        if (request.partners.empty())
            return set.empty();
        const auto& partner = request.partners.front();
        for (const std::size_t each : set)
            if (!serves(each, partner))
                return false;
        const auto asked = static_cast<std::size_t>(partner.count);
        const std::size_t most = std::max(asked, roots(own).size());
        if (request.partners_at_same_roots)
            return set.size() == most && roots(set) == roots(own);
        return set.size() >= asked && set.size() <= most;
    }

    void give(const gift& to, const muster::share_request& part) {
        auto& of = devices_[to.device];
        of.used.slots += 1;
        of.used.memory += units(part);
        if (to.function)
            of.functions[*to.function].in_use = true;
    }

    [[nodiscard]] indices subset(std::uint32_t bits) const {
        indices set;
        for (std::size_t index = 0; index < devices_.size(); ++index)
            if ((bits >> index & 1U) != 0)
                set.insert(index);
        return set;
    }

    bool serve(std::size_t at) {
        if (at == world_.requests.size())
            return true;
        const auto& request = world_.requests[at];
        const std::uint32_t end = 1U << devices_.size();
        for (std::uint32_t bits = 0; bits < end; ++bits) {
            const indices own = subset(bits);
            if (!is_own_set(request, own))
                continue;
            for (std::uint32_t others = 0; others < end; ++others) {
                const indices partner = subset(others);
                if (!is_partner_set(request, own, partner))
                    continue;
                std::vector<std::size_t> all(own.begin(), own.end());
                all.insert(all.end(), partner.begin(), partner.end());
                if (give_all(at, all, 0))
                    return true;
            }
        }
        return false;
    }
    bool give_all(std::size_t at, const std::vector<std::size_t>& all, std::size_t next) {
        if (next == all.size())
            return serve(at + 1);
        const auto& part = part_of(world_.requests[at], all[next]);
        const auto before = devices_;
        if (!part.function) {
            give({all[next], std::nullopt}, part);
            if (give_all(at, all, next + 1))
                return true;
            devices_ = before;
            return false;
        }
        for (std::size_t function = 0; function < before[all[next]].functions.size(); ++function) {
            if (!gives(all[next], function, part))
                continue;
            give({all[next], function}, part);
            if (give_all(at, all, next + 1))
                return true;
            devices_ = before;
        }
        return false;
    }

    const partner_world& world_;
    std::vector<muster::shared_device> devices_;
};

class maker {
public:
    explicit maker(std::uint64_t seed) : chance_(seed) {}

    [[nodiscard]] partner_world make() {
        gpus_ = static_cast<std::size_t>(chance_.between(1, 4));
        const auto all = gpus_ + static_cast<std::size_t>(chance_.between(0, 3));
        for (std::size_t index = 0; index < std::min<std::size_t>(all, 6); ++index)
            add_device(index);
        if (chance_.percent(50))
            add_partitions();
        for (auto pods = chance_.between(1, 3); pods > 0; --pods)
            add_request();
        return std::move(world_);
    }

private:
    void add_device(std::size_t index) {
        auto& device = world_.devices.emplace_back();
        const bool is_gpu = index < gpus_;
        device.id = std::to_string(index);
        device.type = is_gpu ? "" : "rdma";
        device.memory = 4;
        device.cores = 0;
        device.healthy = !chance_.percent(8);
        if (!chance_.percent(10)) {
            device.numa = chance_.between(0, 1);
            device.pcie = chance_.percent(50) ? "a" : "b";
        }
        if (chance_.percent(60))
            device.labels["x"] = "1";
        if (chance_.percent(25))
            device.used = {1, chance_.between(1, 4), 0};
        for (auto more = is_gpu ? 0 : chance_.between(0, 3); more > 0; --more) {
            auto& function = device.functions.emplace_back();
            function.bus_id = std::to_string(more);
            function.in_use = chance_.percent(20);
            if (chance_.percent(50))
                function.labels["kind"] = "v";
        }
    }
    void add_partitions() {
        world_.table.is_required = chance_.percent(30);
        for (auto more = chance_.between(1, 6); more > 0; --more) {
            auto& each = world_.table.partitions.emplace_back();
            for (std::size_t index = 0; index < gpus_; ++index)
                if (chance_.percent(50))
                    each.devices.push_back(index);
            each.score = chance_.between(1, 2);
            if (chance_.percent(60))
                each.bandwidth_milli = chance_.between(1, 3);
        }
    }
    muster::share_request plain(bool is_gpu) {
        muster::share_request made;
        made.filter.type = is_gpu ? "" : "rdma";
        made.memory = muster::memory_amount{chance_.between(1, 4)};
        made.count = chance_.percent(60) ? 1 : 2;
        if (chance_.percent(25))
            made.filter.labels = {{"x", muster::device_label_operator::exists, {}}};
        if (!is_gpu && chance_.percent(50)) {
            made.function.emplace();
            if (chance_.percent(50))
                made.function->push_back({"kind", muster::device_label_operator::in, {"v", "w"}});
        }
        made.order[0] = static_cast<muster::device_key>(chance_.between(0, 13));
        return made;
    }
    void add_request() {
        const bool is_gpu = chance_.percent(70);
        auto request = plain(is_gpu);
        request.pod = world_.requests.size();
        request.prefers_near = is_gpu && chance_.percent(50);
        if (is_gpu && chance_.percent(30))
            request.within = static_cast<muster::share_nearness>(chance_.between(0, 3));
        if (is_gpu && chance_.percent(50)) {
            request.partition.emplace();
            request.partition->is_required = chance_.percent(40);
            request.partition->least_score_only = chance_.percent(40);
            if (chance_.percent(30))
                request.partition->bandwidth_milli = 2;
        }
        if (is_gpu && chance_.percent(60)) {
            request.partners.push_back(plain(false));
            request.partners_at_same_roots = chance_.percent(60);
        } else if (chance_.percent(20)) {
            request.takes_all = true;
        }
        world_.requests.push_back(std::move(request));
    }

    muster::testing::random chance_;
    partner_world world_;
    std::size_t gpus_ = 0;
};

} // namespace partner_worlds
