// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <muster/apis/core/claims/device_judge.hpp>
#include <muster/apis/core/objects.hpp>
#include <muster/apis/core/volumes/volume_plan.hpp>
#include <muster/apis/shares/share_demand.hpp>
#include <muster/apis/shares/share_systems.hpp>
#include <muster/document/diagnostic.hpp>
#include <muster/document/object_metadata.hpp>
#include <muster/kube/gpu_groups.hpp>
#include <muster/kube/reservation_binder.hpp>

namespace muster {
inline namespace v0_1 {
namespace kube {

/// Chooses shares of GPUs for pods that are about to be bound, on each node for all of them
/// together. Shares that standing pods hold, and earlier choices that are not observed yet, count
/// as used. A state machine without I/O. The Binding itself writes the choice, so nothing must be
/// undone if a pod is not started: its choice is dropped. Only groups of KAI must be reserved
/// before the bind; see reservation_binder.
class share_binder {
public:
    using object_key = codec::object_key;

    /// Adds a pod that needs a choice of its shares on the node. A no-op for a pod that requests
    /// none. An earlier choice of the pod is dropped. `attempt`: a text that no other attempt to
    /// start the pod has, for the names of new groups of KAI.
    void want(const object_key& pod, const std::string& uid, const std::string& node,
              const codec::volume_plan& plan, const std::string& attempt = {}) {
        if (const auto* const effects = plan.find(pod); effects && effects->has_shares)
            choices_.insert_or_assign(pod, choice{uid, node, attempt});
    }

    /// Chooses shares for all added pods that have neither a choice nor a failure. `pods`: the pods
    /// of the cluster by key. `leaving`: groups of KAI that get no pods. O(pods of the plan × log
    /// pods) plus one allocate_shares() for each node.
    template<class Pods>
    void choose(const codec::volume_plan& plan, const Pods& pods,
                const std::set<std::string>& leaving = {}) {
        std::map<std::string, std::vector<choice*>> wanted;
        for (auto& [key, each] : choices_)
            if (!each.is_decided && each.lacks.empty()) {
                each.pod = &key;
                wanted[each.node].push_back(&each);
            }
        if (wanted.empty())
            return;
        std::map<std::string, std::vector<const codec::share_demand*>> held;
        for (const auto& [key, effects] : plan.pods)
            if (const auto pod = pods.find(key); pod != pods.end() &&
                                                 effects.devices != device_demand::none &&
                                                 wanted.contains(pod->second.object.node))
                held[pod->second.object.node].push_back(&plan.judge->shares_of(effects.devices));
        std::map<std::string, std::vector<const chosen_gpus*>> earlier;
        std::deque<codec::share_demand> chosen_before;
        for (const auto& [key, each] : choices_)
            if (each.system == codec::share_system::kai)
                earlier[each.node].push_back(&each.gpus);
            else if (each.system && wanted.contains(each.node))
                held[each.node].push_back(&chosen_before.emplace_back(present_demand(each, plan)));
        // Chosen before any pod shared the GPUs of the node.
        std::map<std::string, std::vector<const codec::share_demand*>> plain;
        for (const auto& [key, each] : choices_)
            if (const auto* const effects = plan.find(key); each.is_decided && !each.system &&
                                                            wanted.contains(each.node) && effects &&
                                                            effects->devices != device_demand::none)
                plain[each.node].push_back(&plan.judge->shares_of(effects->devices));
        for (auto& [node, some] : wanted)
            choose_on(plan, {node, leaving, earlier[node], plain[node]}, held[node], some, pods);
    }
    /// True if the pod was added and not dropped since.
    [[nodiscard]] bool knows(const object_key& pod) const { return choices_.contains(pod); }
    /// True if choose() chose shares for the pod, or found that its node shares no GPUs.
    [[nodiscard]] bool is_decided(const object_key& pod) const {
        const auto known = choices_.find(pod);
        return known != choices_.end() && known->second.is_decided;
    }
    /// Notes that these GPUs are reserved for the pod's groups of KAI, and in its ConfigMaps.
    void reserved(const object_key& pod, std::string gpus) {
        if (const auto known = choices_.find(pod); known != choices_.end())
            known->second.gpus_text = std::move(gpus);
    }
    /// The groups of KAI that were chosen for a pod.
    struct fraction {
        const std::string* uid;
        const std::string* node;
        const chosen_fraction* chosen;
        /// See reserved(); empty = not reserved yet.
        const std::string* gpus;
    };
    /// Returns nullopt if no groups were chosen for the pod.
    [[nodiscard]] std::optional<fraction> fraction_of(const object_key& pod) const {
        const auto known = choices_.find(pod);
        if (known == choices_.end() || known->second.gpus.fraction.groups.empty())
            return std::nullopt;
        const choice& of = known->second;
        return fraction{&of.uid, &of.node, &of.gpus.fraction, &of.gpus_text};
    }
    /// Returns all groups of KAI that are chosen. O(choices).
    [[nodiscard]] std::set<std::string> groups() const {
        std::set<std::string> all;
        for (const auto& [key, each] : choices_)
            all.insert(each.gpus.fraction.groups.begin(), each.gpus.fraction.groups.end());
        return all;
    }

    /// Returns why the pod does not get its shares; empty if it gets them, requests none, or is not
    /// decided yet.
    [[nodiscard]] std::string lacking(const object_key& pod) const {
        const auto known = choices_.find(pod);
        return known == choices_.end() ? std::string() : known->second.lacks;
    }
    /// The same for the Binding, which is to have these annotations.
    [[nodiscard]] std::string lacking(const object_key& pod,
                                      const codec::share_marks& marks) const {
        const auto known = choices_.find(pod);
        if (known == choices_.end() || known->second.chosen.empty() || !marks.annotations.empty())
            return lacking(pod);
        return "the GPUs of node " + known->second.node + " changed";
    }
    /// Returns the annotations and labels for the Binding of the pod; empty if there is no choice
    /// for it. `seconds`: Unix time. `gpus_of(node)` returns a `const
    /// codec::koordinator_device_object*`.
    template<class GpusOf>
    [[nodiscard]] codec::share_marks marks(const object_key& pod, std::int64_t seconds,
                                           const GpusOf& gpus_of) const {
        const auto known = choices_.find(pod);
        if (known == choices_.end() || !known->second.system || known->second.chosen.empty())
            return {};
        const choice& of = known->second;
        if (of.system == codec::share_system::kai)
            return codec::kai_marks(of.gpus.fraction.groups);
        return codec::handover_marks(*of.system, of.asked, of.node, of.devices, of.chosen, seconds,
                                     gpus_of(of.node), of.instances, of.functions);
    }

    /// Drops the choices of pods that have a node, are gone, have another uid, or are not being
    /// started. O(choices × log pods).
    template<class Pods, class IsStarting>
    void review(const Pods& pods, const IsStarting& is_starting) {
        std::erase_if(choices_, [&](const auto& each) {
            const auto pod = pods.find(each.first);
            return pod == pods.end() || pod->second.object.metadata.uid != each.second.uid ||
                   !pod->second.object.node.empty() || !is_starting(each.first);
        });
    }

private:
    struct choice {
        std::string uid;
        std::string node;
        std::string attempt;
        /// Set by choose(). Decided without a system: no GPU of the node was shared.
        bool is_decided = false;
        std::optional<codec::share_system> system{};
        codec::pod_share_requests asked{};
        /// The devices of the node by then, with their ids and bus ids.
        std::vector<shared_device> devices{};
        /// For each request of the pod, the indices of its devices.
        std::vector<std::vector<std::size_t>> chosen{};
        /// The positions of the instances on these devices; empty if none is partitioned.
        std::vector<std::vector<std::size_t>> instances{};
        /// Those of the virtual functions.
        std::vector<std::vector<std::size_t>> functions{};
        /// The shares that the pod holds by the choice, as positions in `devices`. Not used for
        /// KAI, whose devices change their positions with the pods of the node: see `gpus`.
        codec::share_demand demand{};
        chosen_gpus gpus{};
        std::string gpus_text{};
        std::string lacks{};
        const object_key* pod = nullptr;
    };

    /// Returns what an earlier choice holds, by positions in the present devices of its node.
    /// Devices and virtual functions that left the node are not held. O(held × devices).
    [[nodiscard]] static codec::share_demand present_demand(const choice& of,
                                                            const codec::volume_plan& plan) {
        codec::share_demand present;
        const auto ids = plan.gpu_ids.find(of.node);
        if (ids == plan.gpu_ids.end())
            return present;
        const auto functions = plan.function_ids.find(of.node);
        for (const codec::held_device_share& each : of.demand.held) {
            const shared_device& device = of.devices[each.at];
            const auto found = std::ranges::find(ids->second, device.id);
            if (found == ids->second.end())
                continue;
            codec::held_device_share& held = present.held.emplace_back(each);
            held.at = static_cast<std::size_t>(found - ids->second.begin());
            held.functions.clear();
            if (functions == plan.function_ids.end())
                continue;
            const std::vector<std::string>& buses = functions->second[held.at];
            for (const std::size_t function : each.functions)
                if (const auto bus = std::ranges::find(buses, device.functions[function].bus_id);
                    bus != buses.end())
                    held.functions.push_back(static_cast<std::size_t>(bus - buses.begin()));
        }
        return present;
    }

    /// A node on which shares are chosen.
    struct place {
        const std::string& node;
        const std::set<std::string>& leaving;
        /// Earlier choices there, if the node is one of KAI.
        std::vector<const chosen_gpus*> earlier;
        /// Pods that are about to start there, whose devices are not chosen.
        std::vector<const codec::share_demand*> plain;
    };

    template<class Pods>
    static void choose_on(const codec::volume_plan& plan, const place& at,
                          std::vector<const codec::share_demand*> demands,
                          const std::vector<choice*>& some, const Pods& pods) {
        const std::string& node = at.node;
        const auto fail = [&](const char* why) {
            for (choice* const each : some)
                each->lacks = "node " + node + " can no longer serve the shares of GPUs: " + why;
        };
        const device_stock has = plan.stock_of(node);
        if (has == device_stock::none || !plan.judge)
            return fail("its GPUs are unknown");
        static const std::vector<std::string> none;
        const auto listed = plan.gpu_ids.find(node);
        const std::vector<std::string>& ids = listed == plan.gpu_ids.end() ? none : listed->second;
        gpu_groups groups(plan.judge->shares_of(has), ids, at.leaving);
        const codec::share_stock& on = groups.stock();
        if (on.system == codec::share_system::kai)
            for (const chosen_gpus* const each : at.earlier)
                demands.push_back(&groups.hold(*each));
        const std::size_t first = demands.size();
        for (const choice* const each : some) {
            const auto* const effects = plan.find(*each->pod);
            if (!effects || effects->devices == device_demand::none)
                return fail("the request of a pod changed");
            demands.push_back(&plan.judge->shares_of(effects->devices));
            if (!codec::suits(on, *demands.back()))
                return fail("another system shares its GPUs");
        }
        // A node without shared GPUs serves pods that request plain GPUs.
        const auto decided = [&] {
            for (choice* const each : some)
                each->is_decided = true;
        };
        if (!on.system)
            return decided();
        for (const codec::share_demand* const each : at.plain)
            if (codec::suits(on, *each))
                demands.push_back(each);
        const share_allocation made =
            codec::allocate_on(on, demands, codec::device_judge::max_steps);
        if (made.outcome != share_outcome::allocated)
            return fail("its free GPUs do not suffice for all pods");
        decided();
        std::vector<shared_device> devices = on.devices;
        const auto functions = plan.function_ids.find(node);
        for (std::size_t index = 0; index < devices.size(); ++index) {
            devices[index].id = ids[index];
            for (std::size_t position = 0; position < devices[index].functions.size(); ++position)
                devices[index].functions[position].bus_id = functions->second[index][position];
        }
        std::size_t next = 0;
        for (std::size_t number = 0; number < some.size(); ++number) {
            choice& to = *some[number];
            codec::diagnostics told_before(0);
            to.system = on.system;
            to.devices = devices;
            to.asked = codec::read_share_requests(*on.system, pods.find(*to.pod)->second.object,
                                                  told_before);
            for (const share_request& each :
                 codec::requests_on(on, *demands[first + number], number)) {
                to.chosen.push_back(made.devices[next]);
                to.functions.push_back(made.functions[next]);
                if (!made.instances.empty())
                    to.instances.push_back(made.instances[next]);
                if (on.system == codec::share_system::kai)
                    to.gpus = groups.name(each, made.devices[next], to.uid, node, to.attempt);
                codec::hold(to.demand, on, each, made, next);
                ++next;
            }
        }
    }
    std::map<object_key, choice> choices_;
};

} // namespace kube
} // namespace v0_1
} // namespace muster
