// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/apis/core/claims/device_judge.hpp>
#include <muster/apis/core/objects.hpp>
#include <muster/apis/core/volumes/volume_plan.hpp>
#include <muster/apis/hami/node_register.hpp>
#include <muster/apis/kai/fractions/config_maps.hpp>
#include <muster/apis/kai/fractions/node_devices.hpp>
#include <muster/apis/kai/fractions/pod_shares.hpp>
#include <muster/apis/koordinator/devices/names.hpp>
#include <muster/apis/koordinator/devices/partition_reader.hpp>
#include <muster/apis/openb/node_devices.hpp>
#include <muster/apis/shares/device_shares.hpp>
#include <muster/apis/shares/listed_devices.hpp>
#include <muster/apis/shares/share_demand.hpp>
#include <muster/apis/shares/share_notation.hpp>
#include <muster/apis/shares/share_objects.hpp>
#include <muster/apis/shares/share_systems.hpp>
#include <muster/apis/shares/share_text.hpp>
#include <muster/apis/shares/shared_gpu_view.hpp>
#include <muster/apis/shares/unknown_devices.hpp>
#include <muster/apis/volcano/vgpu/node_register.hpp>
#include <muster/devices/gpu_instance.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

namespace detail {

/// Returns the type of the devices that a resource counts; empty = GPUs.
[[nodiscard]] constexpr std::string_view type_counted_by(std::string_view resource) noexcept {
    for (const koordinator_devices::plain_type& each : koordinator_devices::plain_types)
        if (each.resource == resource)
            return each.name;
    return {};
}

} // namespace detail

/// Adds to a volume_plan the pods' demands for shared GPUs and the shared GPUs of the nodes, in the
/// notations of HAMi, Volcano, Koordinator, KAI and openb. If a system of the cluster can
/// serve all requests of a pod, the pod no longer waits for them (`volume_effects::has_shares`).
/// Warns of registers and annotations that cannot be read.
///
/// KAI and openb share plain GPUs, so nodes have devices of KAI only if some pod requests or holds
/// a fraction, and devices of openb only if some pod requests thousandths.
class share_planner {
public:
    struct options {
        /// Only these systems are planned.
        std::set<share_system> served = all_share_systems();
        /// Namespace of KAI's reservation pods.
        std::string reservations{kai_fractions::reservation_namespace};
        /// Only reservation pods of this scheduler await sharers; empty = of any.
        std::string scheduler{};
        /// Pods are planned to be bound. NPUs of Koordinator get no pods, and pods that request
        /// NPUs wait, because the annotations of their device plugin are not written. A pod with a
        /// fraction of KAI waits if it does not name its ConfigMaps or names its groups already.
        bool binds_pods = false;
    };

    /// The references must outlive the planner.
    share_planner(std::span<const node_object* const> nodes,
                  std::span<const pod_object* const> pods,
                  std::span<const koordinator_device_object> devices, diagnostics& out, options how)
        : nodes_(nodes), pods_(pods), out_(&out), how_(std::move(how)) {
        for (const koordinator_device_object& each : devices)
            koordinator_.emplace(each.metadata.key.name, &each);
    }

    /// O(pods + nodes × devices).
    void plan(volume_plan& into) && {
        const auto some_pod = [&](share_system system, bool (*shares)(const object_metadata&)) {
            return how_.served.contains(system) &&
                   std::ranges::any_of(
                       pods_, [&](const pod_object* each) { return shares(each->metadata); });
        };
        has_fractions_ = some_pod(share_system::kai, shares_by_kai);
        has_thousandths_ = some_pod(share_system::openb, shares_by_openb);
        for (const pod_object* const pod : pods_) {
            if (pod->node.empty())
                continue;
            if (is_there(*pod))
                on_node_[pod->node].push_back(pod);
            else if (pod->metadata.key.name_space == how_.reservations)
                ended_reservations_[pod->node].push_back(pod);
        }
        for (const node_object* const node : nodes_)
            if (std::optional<node_devices> found = devices_of(*node);
                found && how_.served.contains(*found->stock.system)) {
                systems_.insert(*found->stock.system);
                known_.emplace(node->metadata.key.name, std::move(*found));
            }
        if (systems_.empty())
            return;
        into.shares_gpus = true;
        for (const auto& [name, unread] : unread_)
            if (how_.served.contains(unread.first))
                into.unread_registers.emplace(name, unread.second);
        if (!into.judge)
            into.judge = std::make_shared<device_judge>(device_classes{});
        for (const pod_object* const pod : pods_)
            if (pod->node.empty() && is_there(*pod))
                plan_waiting(*pod, into);
        // Standing pods come first, as one with unknown devices closes the devices of its node.
        for (auto& [name, of] : known_)
            for (const pod_object* const pod : on_node_[name])
                plan_standing(*pod, of, into);
        for (const node_object* const node : nodes_) {
            const std::string& name = node->metadata.key.name;
            const auto found = known_.find(name);
            share_stock stock =
                found == known_.end() ? share_stock{} : std::move(found->second.stock);
            std::vector<std::string>& ids = into.gpu_ids[name];
            bool has_functions = false;
            for (const shared_device& each : stock.devices) {
                ids.push_back(each.id);
                has_functions = has_functions || !each.functions.empty();
            }
            if (has_functions)
                into.function_ids[name] = function_ids_of(stock);
            const std::string text = share_text(stock, names_ids_);
            device_stock& number = into.stocks[name];
            number = into.judge->with_shares(number, text, std::move(stock));
        }
    }

private:
    struct node_devices {
        share_stock stock;
        /// For nodes of KAI: what each standing pod holds.
        std::map<const pod_object*, std::vector<held_device_share>> held;
        /// By partitioned device: the slices that standing pods hold, as far as they are read.
        std::map<std::size_t, std::uint64_t> slices{};
        /// See unused_devices().
        node_shares of_one_pod{};
    };

    static bool is_there(const pod_object& pod) {
        return pod.phase != pod_phase::succeeded && pod.phase != pod_phase::failed;
    }

    // ---- nodes ---------------------------------------------------------------------------------

    [[nodiscard]] std::optional<node_devices> devices_of(const node_object& node) {
        const auto made = [&](share_system system, node_shares&& shares) {
            if (!shares.unread.empty())
                unread_.emplace(node.metadata.key.name, std::pair(system, shares.unread));
            if (!shares.blocked.empty())
                for (shared_device& each : shares.devices)
                    each.healthy = false;
            return node_devices{{system, std::move(shares.devices), {}}, {}};
        };
        if (auto hami = read_hami_node(node.metadata, *out_))
            return made(share_system::hami, std::move(*hami));
        if (auto volcano = read_volcano_vgpu_node(node.metadata, node.allocatable, *out_))
            return made(share_system::volcano, std::move(*volcano));
        if (const auto found = koordinator_.find(node.metadata.key.name);
            found != koordinator_.end()) {
            node_shares shares = found->second->shares;
            if (!shares.blocked.empty())
                shares.unread = "Device " + shares.node + ": " + shares.blocked;
            node_devices of = made(share_system::koordinator, std::move(shares));
            if (how_.binds_pods)
                for (shared_device& each : of.stock.devices)
                    each.healthy = each.healthy && each.model != koordinator_devices::npu_model;
            of.stock.partitions = koordinator_partitions(*found->second, node.metadata);
            return of;
        }
        if (has_thousandths_)
            if (auto openb = read_openb_node(node.metadata, node.allocatable))
                return made(share_system::openb, std::move(*openb));
        const auto whole = node.allocatable.find(std::string(kai_fractions::gpu_resource));
        if (has_fractions_ && whole != node.allocatable.end() && whole->second > 0)
            return kai_node(node, whole->second);
        return std::nullopt;
    }

    /// Reads a node of KAI. Its devices depend on the pods there: each group of sharers is a
    /// device.
    [[nodiscard]] node_devices kai_node(const node_object& node, std::int64_t gpus) {
        std::vector<kai_pod> standing;
        const auto& pods = on_node_[node.metadata.key.name];
        const auto read = [&](const pod_object& pod) {
            standing.push_back(read_kai_pod(pod.metadata, pod.share_containers, *out_,
                                            how_.reservations, how_.scheduler));
        };
        for (const pod_object* const pod : pods)
            read(*pod);
        for (const pod_object* const pod : ended_reservations_[node.metadata.key.name]) {
            read(*pod);
            standing.back().is_ending = standing.back().has_ended = true;
        }
        node_shares made = kai_devices(node.metadata, gpus, standing, *out_);
        node_devices of;
        std::size_t next_whole = 0;
        for (std::size_t at = 0; at < pods.size(); ++at) {
            const kai_pod& pod = standing[at];
            std::vector<held_device_share>& held = of.held[pods[at]];
            for (std::size_t device = 0; device < made.devices.size() && pod.share; ++device)
                if (std::ranges::find(pod.groups, made.devices[device].id) != pod.groups.end())
                    held.push_back(
                        {device, {1, units_of(*pod.share, made.devices[device].memory), 0}, {}});
            for (std::int64_t each = 0; each < pod.whole; ++each) {
                const std::size_t device = whole_device(made, next_whole++);
                if (device < made.devices.size())
                    held.push_back({device, {1, made.devices[device].memory, 0}, {}});
            }
        }
        // The shares of a standing pod are its demand, so they are free again without the pod. A
        // GPU that awaits sharers stays in use, because its reservation pod holds it.
        for (shared_device& each : made.devices) {
            const bool awaits_sharers = each.healthy && each.used.slots == 0 &&
                                        !each.id.starts_with(kai_fractions::idle_prefix);
            each.healthy = made.blocked.empty() && (each.healthy || each.id.starts_with(whole_id));
            each.used = {awaits_sharers ? 1 : 0, 0, 0};
        }
        of.stock = {share_system::kai, std::move(made.devices), {}};
        return of;
    }
    static std::size_t whole_device(const node_shares& of, std::size_t number) {
        std::size_t at = 0;
        while (at < of.devices.size() && (!of.devices[at].id.starts_with(whole_id) || number-- > 0))
            ++at;
        return at;
    }

    // ---- pods ----------------------------------------------------------------------------------

    void plan_standing(const pod_object& pod, node_devices& of, volume_plan& into) {
        share_demand demand;
        const share_system system = *of.stock.system;
        const auto shares =
            system == share_system::kai ? std::nullopt : read_held_shares(system, pod, *out_);
        if (system == share_system::kai) {
            demand.held = of.held[&pod];
        } else {
            close_unknown_devices(system, pod, shares, of.stock.devices, unread_.contains(pod.node),
                                  *out_);
            if (shares)
                demand.held = held_of(of, pod, *shares);
        }
        demand.held_gpus = held_gpu_part(of.stock, demand.held);
        if (!demand.held.empty())
            add_demand(pod, std::move(demand), into);
    }
    /// Returns the devices of the node without any use. One copy of a node's devices serves all its
    /// pods, as the labels of virtual functions make copies expensive.
    [[nodiscard]] static node_shares& unused_devices(node_devices& of) {
        node_shares& made = of.of_one_pod;
        if (made.devices.empty())
            made.devices = of.stock.devices;
        made.blocked.clear();
        for (std::size_t at = 0; at < made.devices.size(); ++at) {
            shared_device& each = made.devices[at];
            each.healthy = of.stock.devices[at].healthy;
            each.used = {};
            each.sharers.clear();
            for (virtual_function& function : each.functions)
                function.in_use = false;
        }
        return made;
    }

    /// Returns what the pod holds. If the pod's instance of a device is unknown, the device becomes
    /// unhealthy, with a warning. Instances that overlap those of another pod cause a warning, too.
    [[nodiscard]] std::vector<held_device_share> held_of(node_devices& there, const pod_object& of,
                                                         const pod_shares& pod) const {
        share_stock& on = there.stock;
        const auto warn = [&](const std::string& what, const shared_device& device,
                              const char* then) {
            report(*out_, severity::warning, of.metadata.where, {"metadata", "annotations"},
                   "pod " + pod.pod + " holds " + what + " of device " + in_quotes(device.id) +
                       then);
        };
        node_shares& alone = unused_devices(there);
        static_cast<void>(add_pod_shares(alone, pod, listed_init_containers(*on.system, of)));
        std::vector<held_device_share> held;
        for (std::size_t at = 0; at < alone.devices.size(); ++at) {
            if (on.devices[at].healthy && !alone.devices[at].healthy) {
                on.devices[at].healthy = false;
                warn("an unknown instance (MIG)", alone.devices[at], ", which gets no pods");
            }
            const share_amounts& used = alone.devices[at].used;
            if (used != share_amounts{})
                held.push_back({at, used, pod.group, functions_in_use(alone.devices[at])});
            if (used.slices == 0)
                continue;
            std::uint64_t& others = there.slices[at];
            if ((others & used.slices) != 0)
                warn("an instance (MIG)", alone.devices[at], " that overlaps one of another pod");
            others |= used.slices;
        }
        return held;
    }

    [[nodiscard]] static std::vector<std::vector<std::string>>
    function_ids_of(const share_stock& of) {
        std::vector<std::vector<std::string>> made;
        for (const shared_device& device : of.devices) {
            made.emplace_back();
            for (const virtual_function& each : device.functions)
                made.back().push_back(each.bus_id);
        }
        return made;
    }

    [[nodiscard]] static std::vector<std::size_t> functions_in_use(const shared_device& of) {
        std::vector<std::size_t> positions;
        for (std::size_t at = 0; at < of.functions.size(); ++at)
            if (of.functions[at].in_use)
                positions.push_back(at);
        return positions;
    }

    /// Returns the system of the notation that the pod uses, apart from plain GPUs; nullopt if it
    /// uses none or several.
    [[nodiscard]] static std::optional<share_system> notation_of(const pod_object& pod) {
        const std::set<share_system> used = notations_of(pod.metadata, pod.share_containers);
        return used.size() == 1 ? std::optional(*used.begin()) : std::nullopt;
    }

    /// The pod waits: its notation is served, but not what it requests in it.
    static void refuse(const pod_object& pod, const pod_share_requests& asked, volume_plan& into) {
        volume_effects& to = into.pods[pod.metadata.key];
        for (const std::string& each : asked.unsupported)
            to.unmodelled.push_back("share of a GPU: " + each);
        to.has_shares = true;
    }

    /// Adds why a waiting pod with a fraction of KAI cannot be bound. Returns false if it can.
    [[nodiscard]] static bool is_unready_fraction(const pod_object& pod, volume_effects& to) {
        if (!kai_groups(pod.metadata).empty()) {
            to.unmodelled.push_back(
                "label " + std::string(kai_fractions::group_label) +
                " names a group before the pod has a node (expected none: the Binding adds it)");
            return true;
        }
        std::string missing = kai_config_maps_of(pod.metadata, pod.share_containers).missing;
        if (missing.empty())
            return false;
        to.waits.push_back(std::move(missing));
        return true;
    }

    [[nodiscard]] static bool requests_npus(const share_demand& of) {
        const auto asked = of.asks.find(share_system::koordinator);
        return asked != of.asks.end() &&
               std::ranges::any_of(asked->second, [](const share_request& each) {
                   return each.filter.model_names.has_value();
               });
    }

    void plan_waiting(const pod_object& pod, volume_plan& into) {
        if (pod.share_containers.empty() && pod.share_marks.empty())
            return;
        share_demand demand;
        demand.only = notation_of(pod);
        // No node serves the notation, or it is not modelled: the pod waits.
        if (!pod.share_marks.empty() && (!demand.only || !systems_.contains(*demand.only)))
            return;
        for (const share_system system : systems_) {
            if (demand.only && demand.only != system)
                continue;
            const pod_share_requests asked = read_share_requests(system, pod, *out_);
            if (!asked.unsupported.empty()) {
                if (demand.only)
                    return refuse(pod, asked, into);
                demand.refused.insert(system);
                continue;
            }
            for (const container_share& each : asked.requests) {
                names_ids_ =
                    names_ids_ || each.request.filter.ids || !each.request.filter.ids_not.empty();
                demand.asks[system].push_back(each.request);
            }
        }
        if (demand.empty())
            return;
        // 0 thousandths request nothing, so any node will do.
        if (demand.only == share_system::openb && demand.asks.empty()) {
            into.pods[pod.metadata.key].has_shares = true;
            return;
        }
        volume_effects& to = into.pods[pod.metadata.key];
        to.has_shares = true;
        if (demand.only == share_system::kai && how_.binds_pods && is_unready_fraction(pod, to))
            return;
        if (how_.binds_pods && requests_npus(demand))
            return to.unmodelled.push_back(
                std::string(koordinator_devices::npu_core_resource) +
                ": the annotations of its device plugin are not written");
        for (const auto& each : pod.requests)
            if (detail::is_share_resource(each.first) && supply(each.first, into))
                to.growing.insert(each.first);
        add_demand(pod, std::move(demand), into);
    }

    /// Adds a resource that no node lists, with the sum over the devices of each node, or more: the
    /// judge decides what fits. Returns true if some node may come to have more than that: its
    /// register cannot be read.
    [[nodiscard]] bool supply(const std::string& resource, volume_plan& into) const {
        const auto lists = [&](const node_object* each) {
            return each->allocatable.contains(resource);
        };
        if (std::ranges::any_of(nodes_, lists))
            return false;
        const auto system = share_system_named(detail::find_share_resource(resource)->scheduler);
        std::string lack;
        for (const auto& [name, unread] : unread_)
            if (unread.first == system && lack.empty())
                lack = unread.second;
        if (into.kinds.contains(resource))
            return !lack.empty();
        volume_supply made;
        made.lack = lack;
        for (const auto& [name, of] : known_) {
            if (of.stock.system != system)
                continue;
            std::int64_t& sum = made.on[name];
            for (const shared_device& each : of.stock.devices)
                sum = saturating_add(sum, amount_of(resource, each));
        }
        into.kinds.emplace(resource, std::move(made));
        return !lack.empty();
    }
    [[nodiscard]] static std::int64_t amount_of(std::string_view resource,
                                                const shared_device& of) noexcept {
        if (detail::type_counted_by(resource) != of.type || of.slots == 0)
            return 0;
        if (!of.type.empty() || resource == hami::memory_resource ||
            resource == volcano_vgpu::memory_resource ||
            resource == koordinator_devices::memory_resource)
            return of.memory;
        constexpr std::int64_t most_sharers = 1000;
        if (resource == koordinator_devices::shared_resource)
            return most_sharers;
        // Of a partitioned device, an instance can use fewer cores than its share requests. The
        // judge compares them.
        const std::size_t shares =
            of.is_partitioned ? most_instances(of.instances, 0, 0) : std::size_t{1};
        return 100 * static_cast<std::int64_t>(std::max<std::size_t>(shares, 1));
    }

    static void add_demand(const pod_object& pod, share_demand demand, volume_plan& into) {
        volume_effects& to = into.pods[pod.metadata.key];
        const std::string text = share_text(demand);
        to.devices = into.judge->with_shares(to.devices, text, std::move(demand));
    }

    static constexpr std::string_view whole_id = "whole/";

    std::span<const node_object* const> nodes_;
    std::span<const pod_object* const> pods_;
    diagnostics* out_;
    options how_;
    std::map<std::string_view, const koordinator_device_object*> koordinator_;
    std::map<std::string, std::vector<const pod_object*>> on_node_;
    /// KAI's reservation pods that have ended, by node.
    std::map<std::string, std::vector<const pod_object*>> ended_reservations_;
    std::map<std::string, node_devices> known_;
    std::set<share_system> systems_;
    /// Nodes with registers that cannot be read, with their system and why.
    std::map<std::string, std::pair<share_system, std::string>> unread_;
    bool has_fractions_ = false;
    bool has_thousandths_ = false;
    /// Some pod selects devices by id.
    bool names_ids_ = false;
};

} // namespace codec
} // namespace v0_1
} // namespace muster
