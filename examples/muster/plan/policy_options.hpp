// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <muster/apis/core/volumes/volume_plan.hpp>
#include <muster/cycle/any_policy.hpp>
#include <muster/policy/fgd.hpp>
#include <muster/policy/power.hpp>
#include <muster/policy/typical_tasks.hpp>
#include <muster/resource/kind_table.hpp>

#include "policy_names.hpp"

namespace cli {

/// When members beyond the minima of a gang are placed.
enum class surplus_kind : std::uint8_t { at_once, in_turn, level };
enum class preemption_kind : std::uint8_t {
    none,
    queues,
    own_queue,
    both,
    reclaim_fair_share,
    reclaim_deserved,
    kueue_preemption
};
enum class backfill_kind : std::uint8_t { none, easy, conservative };

/// A resource that a device plugin or a DeviceClass serves, such as nvidia.com/gpu. The kinds that
/// Muster counts for volumes are none.
[[nodiscard]] inline bool is_extended_resource(std::string_view kind) {
    return kind.find('/') != kind.npos && kind.find("storageclass.storage.k8s.io/") == kind.npos &&
           kind.find("kubernetes.io/") == kind.npos;
}

/// A resource that counts whole GPUs, such as nvidia.com/gpu. Koordinator's counts parts.
[[nodiscard]] inline bool is_whole_gpu(std::string_view kind) {
    return kind.ends_with("/gpu") && kind != "koordinator.sh/gpu";
}

/// The most frequent kinds of task count as typical until they are this percentage of the pods.
inline constexpr std::int64_t typical_percent = 95;

/// Returns a reader of the GPUs that the pods of the plan share. The plan must outlive it.
[[nodiscard]] inline muster::gpu_reader gpus_of(const muster::codec::volume_plan& plan) {
    return plan.judge ? muster::gpu_reader::of(std::as_const(*plan.judge)) : muster::gpu_reader{};
}

/// Puts gangs below their minima before the surplus of all other gangs. `Then` orders ties.
template<muster::gang_order Then>
struct surplus_last {
    static constexpr bool timeless = muster::timeless_order<Then>;
    Then then{};

    [[nodiscard]] bool operator()(const muster::gang_rank& lhs, const muster::gang_rank& rhs,
                                  std::int64_t now) const noexcept {
        return lhs.surplus != rhs.surplus ? rhs.surplus : then(lhs, rhs, now);
    }
    [[nodiscard]] friend bool operator==(const surplus_last&, const surplus_last&) = default;
};

/// Evicts by priority in the gang's own queue, and by `Reclaim` in other queues.
template<muster::victim_rule Reclaim>
struct preempt_or_reclaim {
    static constexpr bool none = false;
    static constexpr bool timeless = true;

    [[nodiscard]] std::optional<muster::victim_terms> operator()(const muster::gang_view& by,
                                                                 const muster::gang_view& of,
                                                                 std::int64_t now) const noexcept {
        return of.queue == by.queue ? muster::priority_preemption{}(by, of, now)
                                    : Reclaim{}(by, of, now);
    }
    [[nodiscard]] friend bool operator==(const preempt_or_reclaim&,
                                         const preempt_or_reclaim&) = default;
};

/// KAI's rule: evicts strictly in the order of victims, also for surplus.
struct kai_victims : muster::after_min_runtime<preempt_or_reclaim<muster::kai_reclaim<true>>> {
    static constexpr bool by_fair_share = true;
    static constexpr bool in_order = true;
    static constexpr bool surplus_too = true;

    [[nodiscard]] friend bool operator==(const kai_victims&, const kai_victims&) = default;
};

/// KAI's rule: moves pods only for preemptible gangs, also for the surplus of such gangs.
struct kai_consolidation : muster::move_preemptible {
    static constexpr bool timeless = true;
    static constexpr bool surplus_too = true;

    [[nodiscard]] std::optional<muster::victim_terms> operator()(const muster::gang_view& by,
                                                                 const muster::gang_view& of,
                                                                 std::int64_t now) const noexcept {
        return by.preemptible ? muster::move_preemptible::operator()(by, of, now) : std::nullopt;
    }
    [[nodiscard]] friend bool operator==(const kai_consolidation&,
                                         const kai_consolidation&) = default;
};

/// The default options of a scheduler.
struct profile {
    std::string_view queues;
    preemption_kind victims = preemption_kind::none;
    bool consolidates = false;
    surplus_kind surplus = surplus_kind::at_once;
};

/// The options from which a policy is made.
struct policy_options {
    choice<scores> score;
    /// Weights of resource kinds, for the scores that weigh them.
    std::map<std::string, std::uint8_t> score_weights{{"cpu", 1}, {"memory", 1}};
    /// By column, as of `see_kinds`: the weight of each kind, and whether it is scarce.
    std::array<std::uint8_t, muster::max_kinds> weight_of{};
    std::array<bool, muster::max_kinds> scarce{};
    /// The GPUs of nodes and pods for scores, and the typical kinds of task (null if no score needs
    /// them).
    muster::gpu_view gpus{};
    std::shared_ptr<const muster::task_mix> typical{};
    /// Kept for `gpus`, which refers to it.
    std::shared_ptr<const muster::codec::device_judge> judge{};
    choice<gang_orders> order;
    choice<queue_orders> queue_order;
    surplus_kind surplus = surplus_kind::at_once;
    backfill_kind backfill = backfill_kind::none;
    /// The number of gangs that may start ahead of a waiting gang; empty = no limit.
    std::optional<std::int64_t> bypasses;
    preemption_kind preempt = preemption_kind::none;
    bool consolidate = false;
    /// Pods are moved only for preemptible gangs, also for the surplus of such gangs.
    bool consolidate_as_kai = false;

    /// Sets what scores need to know of the kinds of a cluster.
    void see_kinds(const muster::kind_table& kinds) {
        for (std::size_t column = 0; column < kinds.size(); ++column) {
            const std::string& name = kinds.name(muster::kind_id{column});
            const auto weight = score_weights.find(name);
            weight_of[column] = weight == score_weights.end() ? std::uint8_t{0} : weight->second;
            scarce[column] = is_extended_resource(name);
            gpus.whole[column] = is_whole_gpu(name);
            if (name == "cpu")
                gpus.cpu = column;
        }
    }
    /// Sets what scores need to know of the pods and of shared GPUs, for a cluster with this volume
    /// plan. The policy keeps the judge of the plan. Call after see_kinds, and again for another
    /// plan.
    template<class Traits>
    void see_pods(const muster::cluster_state<Traits>& known,
                  const muster::codec::volume_plan& plan) {
        judge = plan.judge;
        gpus.shared = gpus_of(plan);
        if (score.is("fgd"))
            typical = std::make_shared<muster::task_mix>(
                muster::typical_tasks(known, gpus, typical_percent));
    }

    /// Pods may be evicted.
    [[nodiscard]] bool evicts() const noexcept { return preempt != preemption_kind::none; }

    template<class Traits>
    [[nodiscard]] operator muster::any_policy<Traits>() const {
        muster::any_policy<Traits> made;
        made.score = score_of<Traits::width>();
        made.gangs = gang_order();
        made.queues = queues();
        made.reservations = reservations();
        if (surplus != surplus_kind::at_once)
            made.surplus = muster::surplus_in_turn{1, surplus == surplus_kind::level};
        set_victims(made.victims);
        if (consolidate && consolidate_as_kai)
            made.consolidation = kai_consolidation{};
        else if (consolidate)
            made.consolidation = muster::move_preemptible{};
        return made;
    }

    template<std::size_t Width>
    [[nodiscard]] muster::any_score<Width> score_of() const {
        return score.with<muster::any_score<Width>>([&](auto made) {
            if constexpr (std::same_as<decltype(made), least_fragmented>)
                return muster::any_score<Width>(muster::fgd{gpus, typical});
            else {
                if constexpr (requires { made.view; })
                    made.view = gpus;
                if constexpr (requires { made.weight_of; })
                    made.weight_of = weight_of;
                if constexpr (requires { made.scarce; })
                    made.scarce = scarce;
                return muster::any_score<Width>(made);
            }
        });
    }

private:
    [[nodiscard]] muster::any_gang_order gang_order() const {
        return order.with<muster::any_gang_order>([&](const auto& made) {
            using order_type = std::remove_cvref_t<decltype(made)>;
            if (surplus == surplus_kind::at_once)
                return muster::any_gang_order(made);
            // By priority, the minima of gangs of one priority go first.
            if constexpr (std::same_as<order_type, muster::priority_then_age>)
                return muster::any_gang_order(muster::minima_first<>{});
            else
                return muster::any_gang_order(surplus_last<order_type>{made});
        });
    }
    [[nodiscard]] muster::any_queue_order queues() const {
        return queue_order.with<muster::any_queue_order>(
            [](const auto& made) { return muster::any_queue_order(made); });
    }
    [[nodiscard]] muster::any_reservation_rule reservations() const {
        switch (backfill) {
        case backfill_kind::easy:
            return muster::easy_backfill{bypasses};
        case backfill_kind::conservative: {
            muster::conservative_backfill rule;
            rule.bypasses = bypasses;
            return rule;
        }
        case backfill_kind::none:
            break;
        }
        if (bypasses)
            return muster::bounded_bypass{*bypasses};
        return muster::no_reservations{};
    }
    template<class Slot>
    void set_victims(Slot& victims) const {
        using namespace muster;
        switch (preempt) {
        case preemption_kind::queues:
            victims = after_min_runtime<t9k_preemption>{};
            break;
        case preemption_kind::own_queue:
            victims = after_min_runtime<priority_preemption>{};
            break;
        case preemption_kind::both:
            victims = after_min_runtime<t9k_preemption>{{true}};
            break;
        case preemption_kind::reclaim_fair_share:
            victims = kai_victims{};
            break;
        case preemption_kind::reclaim_deserved:
            victims = after_min_runtime<preempt_or_reclaim<volcano_reclaim>>{};
            break;
        case preemption_kind::kueue_preemption:
            victims = muster::kueue_preemption{};
            break;
        case preemption_kind::none:
            victims = retry_affinity{};
            break;
        }
    }
};

} // namespace cli
