// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <muster/adapter/instant.hpp>
#include <muster/adapter/writes.hpp>
#include <muster/codec/object_metadata.hpp>
#include <muster/codec/share_objects.hpp>
#include <muster/codec/volume_plan.hpp>
#include <muster/kube/live_devices.hpp>
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
        shares_.want(pod, uid, node, plan, std::to_string(now.wall));
    }
    /// Call when leadership was lost or gained.
    void clear() {
        shares_.clear();
        reservations_.clear();
    }

    /// Chooses shares for the pods that were added, and finds reservations to delete. `pods`: the
    /// pods of the cluster by key. `is_starting(pod)`: the pod has a node in the scheduler's view.
    template<class Pods, class IsStarting>
    void choose(const codec::volume_plan& plan, const live_devices& devices, const Pods& pods,
                const IsStarting& is_starting, std::int64_t now) {
        shares_.review(pods, is_starting);
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
        for (auto& each : reservations_.settle(devices.reservations(), pods, now))
            ended.push_back({each.of, {}, each.what, std::move(each.message)});
        return ended;
    }

    /// Returns the annotations and labels for the Binding of the pod, or why it cannot be bound.
    [[nodiscard]] std::pair<codec::share_marks, std::string>
    marks(const object_key& pod, std::int64_t seconds, const live_devices& devices) const {
        codec::share_marks made = shares_.marks(
            pod, seconds, [&](const std::string& node) { return devices.gpus_of(node); });
        std::string why = shares_.lacking(pod, made);
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
    share_binder shares_;
    reservation_binder reservations_;
};

} // namespace kube
} // namespace v0_1
} // namespace muster
