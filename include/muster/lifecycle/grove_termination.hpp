// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/object.hpp>

#include <muster/apis/grove/set.hpp>
#include <muster/base/checked.hpp>
#include <muster/lifecycle/grove_replica.hpp>
#include <muster/lifecycle/grove_step.hpp>

namespace muster {
inline namespace v0_1 {
namespace lifecycle {
namespace detail {

inline constexpr std::string_view breached_condition = "MinAvailableBreached";
inline constexpr std::string_view scheduled_condition = "PodCliqueScheduled";
inline constexpr std::string_view termination_condition = "GangTerminationInProgress";
inline constexpr std::string_view never_scheduled = "NeverScheduled";

/// Writes a PodClique's status, and finds out whether it lost its minimum. While its replica is
/// being updated nobody can tell.
inline void judge_member(member_state& member, std::string_view hash, bool updating,
                         std::int64_t now) {
    conditions known(member.uid.empty() ? nullptr : member.document, now);
    const bool before = known.status(scheduled_condition) == "True" ||
                        (known.status(scheduled_condition) == "False" &&
                         known.reason(scheduled_condition) != never_scheduled);
    member.was_scheduled = before || member.is_scheduled();
    known.set(scheduled_condition, member.is_scheduled(),
              member.is_scheduled()  ? "SufficientScheduledPods"
              : member.was_scheduled ? "InsufficientScheduledPods"
                                     : never_scheduled);
    const bool too_few = !member.is_scheduled() || member.hopeful < member.clique->min_available;
    if (updating)
        known.set(breached_condition, std::string_view("Unknown"), "UpdateInProgress");
    else
        known.set(breached_condition, too_few,
                  !member.is_scheduled() ? "InsufficientScheduledPods"
                  : too_few              ? "InsufficientAvailablePods"
                                         : "SufficientAvailablePods");
    member.breached = too_few && !updating && member.was_scheduled;
    if (member.breached)
        member.breached_since = known.since(breached_condition);
    member.doomed = known.status(termination_condition) == "True";
    member.status = {{"replicas", member.pods.size()},
                     {"readyReplicas", member.ready},
                     {"scheduledReplicas", member.scheduled},
                     {"scheduleGatedReplicas", member.gated},
                     {"updatedReplicas", member.updated},
                     {"currentPodTemplateHash", hash},
                     {"conditions", known.list()}};
}

/// Gang termination: what lost its minimum, and does not get it back within the set's delay, is
/// deleted as a whole and made anew. A scaling group that has enough replicas beside those that
/// lost theirs loses only these; otherwise the set's whole replica goes. The mark stands in the
/// status of each PodClique before the first of them is deleted, so that a pass cut short is taken
/// up again.
class gang_termination {
public:
    gang_termination(const translate::grove_set& set, replica_state& replica, std::int64_t now,
                     std::optional<std::int64_t>& wake)
        : set_(set), replica_(replica), now_(now), wake_(wake) {}

    /// `group_since(group)` says since when a scaling group has too few replicas, if it has.
    template<class GroupSince>
    void run(const GroupSince& group_since) {
        bool all = false;
        replica_.for_each([&](const member_state& member) {
            all |= !member.clique->group && expired(member.breached_since);
        });
        for (std::size_t group = 0; group < set_.groups.size(); ++group) {
            const std::vector<std::int64_t> lost = breached_replicas(group);
            if (too_few(group, lost))
                all |= expired(group_since(group));
            else
                for (const std::int64_t each : lost)
                    if (expired_since(group, each))
                        replica_.for_each_of(group, each, doom);
        }
        if (all)
            replica_.for_each(doom);
    }

    /// The mark of a PodClique that goes.
    static void mark(member_state& member, std::int64_t now) {
        const boost::json::object holder{{"status", member.status}};
        conditions marked(&holder, now);
        marked.set(termination_condition, true, "MinAvailableBreached");
        member.status["conditions"] = marked.list();
    }

    /// Replicas of a scaling group that lost the minimum of some clique.
    [[nodiscard]] std::vector<std::int64_t> breached_replicas(std::size_t group) const {
        std::vector<std::int64_t> made;
        for (std::int64_t each = 0; each < replica_.group_replicas[group]; ++each) {
            bool breached = false;
            replica_.for_each_of(group, each,
                                 [&](const member_state& of) { breached |= of.breached; });
            if (breached)
                made.push_back(each);
        }
        return made;
    }
    [[nodiscard]] bool too_few(std::size_t group, const std::vector<std::int64_t>& lost) const {
        return replica_.group_replicas[group] - static_cast<std::int64_t>(lost.size()) <
               set_.groups[group].min_available;
    }

private:
    static void doom(member_state& member) { member.doomed = !member.uid.empty(); }

    [[nodiscard]] bool expired_since(std::size_t group, std::int64_t each) {
        bool found = false;
        replica_.for_each_of(group, each,
                             [&](const member_state& of) { found |= expired(of.breached_since); });
        return found;
    }

    [[nodiscard]] bool expired(std::optional<std::int64_t> since) {
        if (!since)
            return false;
        const std::int64_t due = saturate(static_cast<int128>(*since) + set_.termination_delay);
        if (due <= now_)
            return true;
        wake_ = std::min(wake_.value_or(due), due);
        return false;
    }

    const translate::grove_set& set_;
    replica_state& replica_;
    std::int64_t now_;
    std::optional<std::int64_t>& wake_;
};

} // namespace detail
} // namespace lifecycle
} // namespace v0_1
} // namespace muster
