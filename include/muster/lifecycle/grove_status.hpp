// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <muster/apis/grove/documents.hpp>
#include <muster/apis/grove/set.hpp>
#include <muster/base/timestamp.hpp>
#include <muster/document/document_hash.hpp>
#include <muster/gangs/target.hpp>
#include <muster/lifecycle/grove_replica.hpp>
#include <muster/lifecycle/grove_rolling.hpp>
#include <muster/lifecycle/grove_step.hpp>

namespace muster {
inline namespace v0_1 {
namespace lifecycle {
namespace detail {

/// Pending until every podgroup has its minimum scheduled, Starting until it has it ready, then
/// Running.
[[nodiscard]] inline std::string_view gang_phase(const gang_state& gang) {
    return gang.is_ready() ? "Running" : gang.is_scheduled() ? "Starting" : "Pending";
}

/// A PodGang's phase and conditions. `references` are those that stand in it.
[[nodiscard]] inline boost::json::object gang_status(const gang_state& gang,
                                                     const std::set<std::string_view>& references,
                                                     std::int64_t now) {
    conditions made(gang.document, now);
    const bool filled = gang.is_complete() && gang.every([&](const member_state& member) {
        return std::ranges::all_of(
            member.pods, [&](const grove_pod_seen& pod) { return references.contains(pod.name); });
    });
    const bool initialized = gang.initialized || filled;
    made.set("Initialized", initialized, initialized ? "Ready" : "PodsPending");
    made.set("Scheduled", gang.is_scheduled(),
             gang.is_scheduled() ? "MinReplicasScheduled" : "MinReplicasNotScheduled");
    made.set("Ready", gang.is_ready(),
             gang.is_ready() ? "MinReplicasReady" : "MinReplicasNotReady");
    const bool unhealthy = !gang.every([](const member_state& each) { return !each.breached; });
    made.set("Unhealthy", unhealthy, unhealthy ? "MinAvailableBreached" : "MinAvailableMet");
    const bool target = !gang.every([](const member_state& each) { return !each.doomed; });
    made.set("DisruptionTarget", target, target ? "GangTermination" : "None");
    return {{"phase", gang_phase(gang)}, {"conditions", made.list()}};
}

/// How far an update has come; nothing when there was none.
[[nodiscard]] inline std::optional<boost::json::object>
update_progress(const translate::grove_set& set, const std::vector<replica_state>& replicas,
                std::optional<std::size_t> current, std::int64_t now) {
    const auto* known = set.status ? object_at(*set.status, "updateProgress") : nullptr;
    if (!current && !known)
        return std::nullopt;
    boost::json::object made;
    const bool goes_on = known && !known->contains("updateEndedAt");
    if (goes_on || !current)
        made = *known;
    if (current) {
        if (!goes_on)
            made["updateStartedAt"] = time_text(now);
        made["currentlyUpdating"] =
            boost::json::array{boost::json::object{{"replicaIndex", *current}}};
    } else if (goes_on) {
        made["updateEndedAt"] = time_text(now);
        made.erase("currentlyUpdating");
    }
    std::int64_t total = 0;
    std::int64_t updated = 0;
    for (const replica_state& replica : replicas)
        for (const gang_state& gang : replica.gangs)
            for (const member_state& member : gang.members) {
                ++total;
                updated += !rolling_update::is_outdated(member);
            }
    made["totalPodCliquesCount"] = total;
    made["updatedPodCliquesCount"] = updated;
    return made;
}

/// A set's status. In the dialect `seed` it has what `kubectl get pcs` prints as READY: how many of
/// its replicas have the minimum of every podgroup ready.
[[nodiscard]] inline boost::json::object set_status(const translate::grove_set& set,
                                                    const std::vector<replica_state>& replicas,
                                                    std::optional<std::size_t> updating,
                                                    translate::grove_dialect dialect,
                                                    std::int64_t now) {
    std::int64_t available = 0;
    std::int64_t updated = 0;
    boost::json::array gangs;
    for (const replica_state& replica : replicas) {
        available += replica.gangs.front().is_ready();
        updated += !rolling_update::is_outdated(replica) && updating != replica.index;
        for (const gang_state& gang : replica.gangs)
            gangs.push_back(
                boost::json::object{{"name", gang.gang.name}, {"phase", gang_phase(gang)}});
    }
    translate::document_hash hash;
    for (const translate::grove_clique& clique : set.cliques)
        hash.add(translate::grove_template_hash(clique));
    boost::json::object made{
        {"observedGeneration", set.generation}, {"replicas", replicas.size()},
        {"updatedReplicas", updated},           {"availableReplicas", available},
        {"podGangStatuses", std::move(gangs)},  {"currentGenerationHash", hash.letters(8)}};
    if (auto progress = update_progress(set, replicas, updating, now))
        made["updateProgress"] = std::move(*progress);
    if (dialect == translate::grove_dialect::seed)
        made["ready"] = std::to_string(available) + '/' + std::to_string(replicas.size());
    return made;
}

} // namespace detail
} // namespace lifecycle
} // namespace v0_1
} // namespace muster
