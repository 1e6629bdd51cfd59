// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <muster/adapter/cluster_view.hpp>
#include <muster/cluster/state.hpp>
#include <muster/cycle/any_policy.hpp>
#include <muster/cycle/decision.hpp>
#include <muster/kube/cluster.hpp>
#include <muster/kube/group_status.hpp>

#include "live.hpp"

namespace cli {

/// Kinds come and go while it runs, so there is room for the most; pods that ask for more wait.
inline constexpr std::size_t live_width = muster::max_kinds;

using live_cluster =
    muster::kube::cluster<live_width, muster::kube::transport, muster::kube::group_status>;
using live_state = muster::state<live_cluster::traits>;
/// The type of policy that cycles are compiled for.
using live_policy = muster::any_policy<muster::core_of<live_cluster::traits>>;
/// The policy of the next cycle, for the kinds that the cluster has by then.
struct live_policy_source {
    const live_cluster* cluster;
    const live_state* known;
    policy_options* how;

    [[nodiscard]] live_policy operator()() const {
        how->see_kinds(cluster->objects().kinds());
        how->see_pods(*known, cluster->objects().storage().plan());
        return *how;
    }
};
using live_view = muster::adapter::cluster_view<live_cluster::traits>;

[[nodiscard]] inline muster::kube::cluster_options options_of(const live_request& asked) {
    muster::kube::cluster_options how;
    how.live.dialects = asked.dialects;
    how.live.scheduler_names = asked.scheduler_names.empty()
                                   ? muster::kube::scheduler_names_of(asked.dialects)
                                   : asked.scheduler_names;
    how.live.queue_namespace = asked.queue_namespace;
    how.live.levels.levels = asked.topology;
    how.live.rules = asked.rules;
    if (!asked.reservations.image.empty() && !how.live.scheduler_names.empty()) {
        how.live.reservations = asked.reservations;
        how.live.reservations->scheduler = how.live.scheduler_names.front();
    }
    how.events.controller = "muster.dev/scheduler";
    how.watches.seed = static_cast<std::uint64_t>(getpid());
    return how;
}

/// One cycle, which commits what it starts. (Compiled once, in schedule.cpp.)
[[nodiscard]] muster::cycle_result decide(live_state& known, std::int64_t wall,
                                          const live_policy& how);

/// Why a pod that asks for it waits.
[[nodiscard]] inline std::string too_many_kinds(const std::string& kind) {
    return kind + " (there are more than " + std::to_string(live_width) + " kinds of resources)";
}

/// What goes wrong with the cluster at the moment, a line each.
[[nodiscard]] std::vector<std::string> troubles_of(const live_cluster& of);

/// Waits until all is listed; false, with the reasons on stderr, when it took too long.
[[nodiscard]] bool sync(live_cluster& cluster, live_view& view, std::int64_t seconds);

} // namespace cli
