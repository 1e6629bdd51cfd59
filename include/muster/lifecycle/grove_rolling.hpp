// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <muster/apis/grove/set.hpp>
#include <muster/lifecycle/grove_replica.hpp>
#include <muster/lifecycle/grove_step.hpp>

namespace muster {
inline namespace v0_1 {
namespace lifecycle {
namespace detail {

[[nodiscard]] inline std::string_view created_of(const grove_pod_seen& pod) {
    return text_at(*pod.document, "metadata", "creationTimestamp");
}

/// In which order pods go when there are too many: those without a node, those that do not run yet,
/// those that are not ready, those of an old template, and the newest first.
[[nodiscard]] inline std::vector<const grove_pod_seen*> victims_of(const member_state& member) {
    std::vector<const grove_pod_seen*> made;
    for (const grove_pod_seen& pod : member.pods)
        made.push_back(&pod);
    const auto running = [](const grove_pod_seen& pod) {
        const std::string_view phase = text_at(*pod.document, "status", "phase");
        return phase == "Running" ? 2 : phase == "Unknown" ? 1 : 0;
    };
    std::ranges::sort(made, [&](const grove_pod_seen* a, const grove_pod_seen* b) {
        const auto rank = [&](const grove_pod_seen* pod) {
            return std::tuple(pod->scheduled, running(*pod), pod->ready, pod->updated);
        };
        return std::tuple(rank(a), created_of(*b), b->index, b->name) <
               std::tuple(rank(b), created_of(*a), a->index, a->name);
    });
    return made;
}

/// Brings pods to the set's present template: one replica of the set at a time, in it one ready pod
/// of each PodClique, and one ready replica of each scaling group, at a time. What is not ready is
/// not waited for.
class rolling_update {
public:
    rolling_update(const translate::grove_set& set, std::vector<replica_state>& replicas)
        : set_(set), replicas_(replicas) {
        if (set.update == translate::grove_update::on_delete)
            return;
        current_ = stored();
        if (current_ && !under_way(replicas_[*current_]))
            current_.reset();
        if (!current_)
            current_ = next();
    }

    /// The replica that is being updated.
    [[nodiscard]] std::optional<std::size_t> current() const noexcept { return current_; }

    /// Pods to be deleted now; PodCliques in scaling groups are doomed instead.
    [[nodiscard]] std::vector<const grove_pod_seen*> run() {
        std::vector<const grove_pod_seen*> gone;
        if (!current_)
            return gone;
        replica_state& replica = replicas_[*current_];
        replica.for_each([&](member_state& member) {
            if (!member.clique->group)
                update(member, gone);
        });
        for (std::size_t group = 0; group < set_.groups.size(); ++group)
            update_group(replica, group);
        return gone;
    }

    [[nodiscard]] static bool is_outdated(const member_state& member) {
        return member.updated < static_cast<std::int64_t>(member.pods.size());
    }
    [[nodiscard]] static bool is_outdated(const replica_state& replica) {
        return !replica.every([](const member_state& each) { return !is_outdated(each); });
    }

private:
    /// Pods of an old template are left, or what replaced them is not ready.
    [[nodiscard]] static bool under_way(const replica_state& replica) {
        return is_outdated(replica) ||
               !replica.every([](const member_state& each) { return each.is_ready(); });
    }

    [[nodiscard]] std::optional<std::size_t> stored() const {
        const auto* list =
            set_.status ? list_at(*set_.status, "updateProgress", "currentlyUpdating") : nullptr;
        if (!list || list->empty() || !list->front().is_object())
            return std::nullopt;
        const auto index = number_at(list->front().get_object(), "replicaIndex");
        if (!index || *index < 0 || *index >= static_cast<std::int64_t>(replicas_.size()))
            return std::nullopt;
        return static_cast<std::size_t>(*index);
    }

    /// First replicas of which no pod is scheduled, then those that lack a minimum.
    [[nodiscard]] std::optional<std::size_t> next() const {
        std::optional<std::pair<int, std::size_t>> best;
        for (std::size_t at = 0; at < replicas_.size(); ++at) {
            if (!is_outdated(replicas_[at]))
                continue;
            const bool idle =
                replicas_[at].every([](const member_state& each) { return each.scheduled == 0; });
            const bool whole = replicas_[at].every([](const member_state& each) {
                return each.hopeful >= each.clique->min_available;
            });
            const std::pair candidate(idle ? 0 : whole ? 2 : 1, at);
            best = best ? std::min(*best, candidate) : candidate;
        }
        return best ? std::optional(best->second) : std::nullopt;
    }

    static void update(const member_state& member, std::vector<const grove_pod_seen*>& gone) {
        const grove_pod_seen* oldest = nullptr;
        bool any = false;
        for (const grove_pod_seen& pod : member.pods) {
            if (pod.updated)
                continue;
            if (!pod.ready) {
                gone.push_back(&pod);
                any = true;
            } else if (!oldest || std::tuple(created_of(pod), pod.index) <
                                      std::tuple(created_of(*oldest), oldest->index)) {
                oldest = &pod;
            }
        }
        if (!any && oldest && member.is_whole())
            gone.push_back(oldest);
    }

    void update_group(replica_state& replica, std::size_t group) const {
        std::optional<std::int64_t> ready;
        bool waits = false;
        for (std::int64_t each = 0; each < replica.group_replicas[group]; ++each) {
            bool outdated = false;
            bool is_ready = true;
            bool whole = true;
            replica.for_each_of(group, each, [&](const member_state& of) {
                outdated |= is_outdated(of);
                is_ready &= of.is_ready();
                whole &= of.is_whole();
            });
            waits |= !whole;
            if (outdated && is_ready)
                ready = ready.value_or(each);
            else if (outdated)
                doom(replica, group, each);
        }
        if (ready && !waits)
            doom(replica, group, *ready);
    }

    static void doom(replica_state& replica, std::size_t group, std::int64_t each) {
        replica.for_each_of(group, each, [](member_state& of) { of.doomed |= !of.uid.empty(); });
    }

    const translate::grove_set& set_;
    std::vector<replica_state>& replicas_;
    std::optional<std::size_t> current_;
};

} // namespace detail
} // namespace lifecycle
} // namespace v0_1
} // namespace muster
