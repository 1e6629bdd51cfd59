// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <muster/adapter/instant.hpp>
#include <muster/adapter/writes.hpp>
#include <muster/apis/core/volumes/volume_plan.hpp>
#include <muster/apis/shares/share_objects.hpp>
#include <muster/document/object_metadata.hpp>
#include <muster/kube/live_devices.hpp>
#include <muster/kube/live_reservations.hpp>
#include <muster/kube/live_storage.hpp>
#include <muster/kube/reservation_binder.hpp>
#include <muster/kube/reservation_requests.hpp>
#include <muster/kube/share_binder.hpp>
#include <muster/kube/volume_binder.hpp>

namespace muster {
inline namespace v0_1 {
namespace kube {

/// Gives shares of GPUs to pods before these are bound: share_binder chooses them, and
/// reservation_binder reserves the groups of KAI.
class gpu_binder {
public:
    using object_key = codec::object_key;
    using write = reservation_binder::write;
    using result = volume_binder::result;

    explicit gpu_binder(const std::optional<reservation_options>& how = {})
        : reservations_(how.value_or(reservation_options{})) {}

    /// Adds a pod that is to be bound to the node.
    void want(const object_key& pod, const std::string& uid, const std::string& node,
              const codec::volume_plan& plan, const adapter::instant& now) {
        reservations_.cancel(pod);
        shares_.want(pod, uid, node, plan, std::to_string(now.wall));
    }
    /// Call when leadership was lost or gained. Choices stay: a Binding whose result is unknown is
    /// made again with them.
    void clear() { reservations_.clear(); }

    /// Chooses shares for the pods that were added, and finds reservations to delete. `pods`: the
    /// pods of the cluster by key. `node_of(pod)`: the name of the pod's node in the scheduler's
    /// view; nullptr = none.
    template<class Pods, class NodeOf>
    void choose(const live_storage& storage, const Pods& pods, const NodeOf& node_of,
                std::int64_t now) {
        const codec::volume_plan& plan = storage.plan();
        const live_devices& devices = storage.devices();
        const auto is_starting = [&](const object_key& pod) { return node_of(pod) != nullptr; };
        shares_.review(pods, is_starting);
        if (std::exchange(renewals_, devices.renewals()) != devices.renewals())
            want_late(plan, pods, node_of, now);
        shares_.choose(plan, pods, reservations_.leaving());
        reservations_.review(devices.reservations(), shares_.groups(), is_starting, now);
    }

    /// Returns the orders that have ended. `volumes`: those whose volumes and claims are ready or
    /// failed.
    template<class Pods>
    [[nodiscard]] std::vector<result> settle(std::vector<result> volumes,
                                             const live_devices& devices, const Pods& pods,
                                             std::int64_t now) {
        std::vector<result> ended;
        for (result& each : volumes) {
            if (each.what == adapter::outcome::applied) {
                if (std::string why = shares_.lacking(each.pod); !why.empty()) {
                    each.what = adapter::outcome::refused;
                    each.message = std::move(why);
                } else if (const auto of = shares_.fraction_of(each.pod)) {
                    reservations_.want(each.of, each.pod, *of->uid, *of->node, *of->chosen, now);
                    continue;
                }
            }
            ended.push_back(std::move(each));
        }
        for (auto& each : reservations_.settle(devices.reservations(), pods, now)) {
            if (each.what == adapter::outcome::applied)
                shares_.reserved(each.pod, std::move(each.gpus));
            ended.push_back({each.of, std::move(each.pod), each.what, std::move(each.message)});
        }
        return ended;
    }

    /// Returns the annotations and labels for the Binding of the pod, or why it cannot be bound.
    [[nodiscard]] std::pair<codec::share_marks, std::string>
    marks(const object_key& pod, std::int64_t seconds, const live_storage& storage) const {
        const live_devices& devices = storage.devices();
        codec::share_marks made = shares_.marks(
            pod, seconds, [&](const std::string& node) { return devices.gpus_of(node); });
        std::string why = shares_.lacking(pod, made);
        if (why.empty())
            why = unready(pod, storage.plan(), devices.reservations());
        return {std::move(made), std::move(why)};
    }

    // See reservation_binder.
    template<class Pods>
    [[nodiscard]] std::optional<write> next(const live_devices& devices, const Pods& pods,
                                            std::int64_t now) {
        return reservations_.next(devices.reservations(), pods, now);
    }
    bool done(const object_key& about, adapter::outcome what, const std::string& message,
              std::int64_t now) {
        return reservations_.done(about, what, message, now);
    }
    [[nodiscard]] std::int64_t wakes() const { return reservations_.wakes(); }

private:
    /// Adds pods that are about to start, and whose GPUs are shared only since then.
    template<class Pods, class NodeOf>
    void want_late(const codec::volume_plan& plan, const Pods& pods, const NodeOf& node_of,
                   std::int64_t now) {
        for (const auto& [key, effects] : plan.pods) {
            if (!effects.has_shares || shares_.knows(key))
                continue;
            const auto pod = pods.find(key);
            if (pod == pods.end() || !pod->second.object.node.empty())
                continue;
            if (const std::string* const node = node_of(key))
                shares_.want(key, pod->second.object.metadata.uid, *node, plan,
                             "late " + std::to_string(now));
        }
    }
    /// Returns why the Binding of the pod would leave its GPUs to chance; empty if it would not.
    [[nodiscard]] std::string unready(const object_key& pod, const codec::volume_plan& plan,
                                      const live_reservations& known) const {
        const auto* const effects = plan.find(pod);
        if (effects && effects->has_shares && !shares_.is_decided(pod))
            return "no shares of GPUs are chosen for the pod";
        const auto of = shares_.fraction_of(pod);
        if (!of)
            return {};
        if (of->gpus->empty())
            return "its GPUs on node " + *of->node + " are not reserved";
        return known.gpus_of(of->chosen->groups, *of->node) == *of->gpus
                   ? std::string()
                   : "the reservation of its GPUs on node " + *of->node +
                         " changed after its ConfigMaps were written";
    }

    share_binder shares_;
    reservation_binder reservations_;
    /// live_devices::renewals() of the last call of choose().
    std::uint64_t renewals_ = 0;
};

} // namespace kube
} // namespace v0_1
} // namespace muster
