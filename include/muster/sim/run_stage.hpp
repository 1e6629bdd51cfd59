// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <muster/adapter/memory_cluster.hpp>
#include <muster/apis/core/objects.hpp>
#include <muster/apis/core/volumes/volume_plan.hpp>
#include <muster/apis/core/volumes/volume_words.hpp>
#include <muster/base/assert.hpp>
#include <muster/input/cluster.hpp>
#include <muster/input/membership.hpp>
#include <muster/sim/grove_order.hpp>
#include <muster/sim/pod_lifetimes.hpp>
#include <muster/sim/run_record.hpp>
#include <muster/sim/run_script.hpp>
#include <muster/vocabulary/gang.hpp>

namespace muster {
inline namespace v0_1 {
namespace sim {

/// The cluster of a run: its gangs and pods in memory, what time it is, how old pods may get, and
/// the record of what happens.
template<std::size_t Width>
class run_stage {
public:
    using object_key = codec::object_key;
    using timestamp = codec::timestamp;
    using state_type = state<codec::kubernetes_traits<Width>>;

    /// The cluster outlives it.
    run_stage(codec::cluster<Width>& known, codec::diagnostics& out)
        : lookup(*known.objects),
          cluster(known.state),
          now(known.now),
          known_(&known),
          out_(&out),
          pods_kind_(*known.kinds.find("pods")) {
        record.start = now;
    }
    run_stage(const run_stage&) = delete;
    run_stage& operator=(const run_stage&) = delete;

    codec::object_lookup lookup;
    adapter::memory_cluster<codec::kubernetes_traits<Width>> cluster;
    run_record record;
    timestamp now;

    [[nodiscard]] const codec::manifests& objects() const noexcept { return *known_->objects; }
    [[nodiscard]] state_type& known() noexcept { return known_->state; }

    void tell(std::string_view kind, const object_key& whom, std::string_view what,
              std::string details = {}) {
        record.lines.push_back(
            {now, std::string(kind), whom, std::string(what), std::move(details)});
    }

    [[nodiscard]] pod<Width> spec_of(const codec::pod_object& of, vertex_index role) {
        const codec::volume_effects* const planned = known_->volumes.find(of.metadata.key);
        if (planned || !codec::bears_on_plan(*known_->objects, of))
            return codec::core_pod<Width>(of, role, known_->kinds, pods_kind_, planned);
        // The pod is not part of the input: it was created during the run.
        codec::volume_effects own = codec::plan_volumes_of(*known_->objects, of);
        auto spec = codec::core_pod<Width>(of, role, known_->kinds, pods_kind_, &own);
        if (!own.waits.empty())
            unready_volumes_.insert_or_assign(of.metadata.key, std::move(own));
        return spec;
    }
    /// Returns which volumes of the gang's waiting members are not ready, and why; empty if none.
    [[nodiscard]] std::string unready_volumes_text(gang_index of) {
        codec::volumes_of_pods found;
        for (const pod_index member : known()[of].members) {
            const object_key& key = known().key(member);
            if (!known()[member].placeable())
                continue;
            if (const auto own = unready_volumes_.find(key); own != unready_volumes_.end())
                found.emplace_back(key.name, &own->second);
            else if (const codec::volume_effects* const planned = known_->volumes.find(key))
                found.emplace_back(key.name, planned);
        }
        return codec::waiting_volumes_text(found);
    }
    /// The group that a pod is in.
    [[nodiscard]] const codec::group_key& group_of(const object_key& pod) {
        return known().key(known()[known().pod_keys().at(pod)].gang);
    }

    /// A pod of the input goes on, for `runs` in all once it has started.
    void adopt(const codec::pod_object& pod, std::optional<std::int64_t> runs) {
        const object_key& key = pod.metadata.key;
        std::optional<std::string> on;
        if (!pod.node.empty())
            on = pod.node;
        cluster.adopt(key, group_of(key), spec_of(pod, known()[known().pod_keys().at(key)].role),
                      on, runs, now);
    }
    /// The pod is gone, and its gang when it was one by itself.
    void remove(const object_key& key) {
        if (!known().pod_keys().contains(key))
            return;
        const codec::group_key group = group_of(key);
        cluster.remove(key);
        lifetimes_.forget(key);
        unready_volumes_.erase(key);
        if (group.origin == codec::group_origin::single_pod)
            static_cast<void>(known().remove_gang(group));
    }

    /// Pods of a queue get only so old: when this one has to go.
    [[nodiscard]] std::optional<timestamp> limit_age(const object_key& key, timestamp created,
                                                     const codec::pod_object& pod) {
        const auto& queue = known()[known()[known().pod_keys().at(key)].gang].queue;
        if (!queue)
            return std::nullopt;
        const auto end =
            lifetimes_.limit(key, known().key(*queue), created, lookup.priority(pod).value_or(0));
        return end ? std::optional(std::max(now, *end)) : std::nullopt;
    }
    [[nodiscard]] pod_lifetimes& lifetimes() noexcept { return lifetimes_; }

    /// Does what a set asks for; PodGangs are gangs. Says when a new pod has to go.
    std::optional<timestamp> carry_out(grove_order& order) {
        switch (order.what) {
        case grove_order::verb::add_gang:
            add_gang(order);
            break;
        case grove_order::verb::add_pod:
            return add_pod(order);
        case grove_order::verb::end_pod:
            static_cast<void>(cluster.set_phase(order.whom, order.phase));
            break;
        case grove_order::verb::remove_pod:
            remove(order.whom);
            break;
        case grove_order::verb::remove_gang:
            static_cast<void>(known().remove_gang(gang_of(order.whom)));
            break;
        }
        return std::nullopt;
    }

private:
    static codec::group_key gang_of(const object_key& of) {
        return {of.name_space, of.name, codec::group_origin::declared(translate::gang_api::grove)};
    }

    void add_gang(grove_order& order) {
        gang<std::string> spec;
        if (!order.queue.empty())
            spec.queue = order.queue;
        spec.priority = lookup.class_value(order.priority_class).value_or(0);
        spec.created = now;
        spec.tree = std::move(order.tree);
        spec.tenant = lookup.namespace_labels(order.whom.name_space);
        const auto taken = known().upsert_gang(gang_of(order.whom), std::move(spec));
        MUSTER_ASSERT(taken == event_result::applied, "a gang comes before its pods");
        static_cast<void>(taken);
    }
    std::optional<timestamp> add_pod(const grove_order& order) {
        auto spec = spec_of(order.pod, order.leaf);
        spec.created = now;
        const auto taken = cluster.create(order.whom, gang_of({order.whom.name_space, order.gang}),
                                          std::move(spec), {});
        if (taken == event_result::applied)
            return limit_age(order.whom, now, order.pod);
        out_->error({order.whom.name, 0, 0},
                    "the pod asks for too much (expected sums of requests below 2^63)");
        return std::nullopt;
    }

    codec::cluster<Width>* known_;
    codec::diagnostics* out_;
    kind_id pods_kind_;
    /// Of pods that were created during the run.
    std::map<object_key, codec::volume_effects> unready_volumes_;
    pod_lifetimes lifetimes_{objects()};
};

} // namespace sim
} // namespace v0_1
} // namespace muster
