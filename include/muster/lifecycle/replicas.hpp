// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/lifecycle/job_plan.hpp>
#include <muster/lifecycle/job_status.hpp>
#include <muster/lifecycle/observation.hpp>

namespace muster {
inline namespace v0_1 {
namespace lifecycle {

/// The exit code that tells why a pod failed: the first that is not zero.
[[nodiscard]] inline std::optional<std::int64_t>
failing_code(const std::vector<ended_container>& containers) {
    for (const ended_container& each : containers)
        if (each.exit_code != 0)
            return each.exit_code;
    return std::nullopt;
}

namespace detail {

/// Codes of processes that were killed, not wrong: SIGINT, SIGKILL, SIGUSR1, SIGTERM.
[[nodiscard]] inline bool says_killed(std::optional<std::int64_t> code) {
    constexpr std::array<std::int64_t, 4> killed{130, 137, 138, 143};
    return code && std::ranges::find(killed, *code) != killed.end();
}

[[nodiscard]] constexpr replica_phase phase_of(observed_phase phase) {
    switch (phase) {
    case observed_phase::pending:
        return replica_phase::pending;
    case observed_phase::running:
        return replica_phase::running;
    case observed_phase::succeeded:
        return replica_phase::succeeded;
    case observed_phase::failed:
        return replica_phase::failed;
    case observed_phase::unknown:
        return replica_phase::unknown;
    }
    MUSTER_ASSERT(false, "all phases are above");
    return replica_phase::unknown;
}

[[nodiscard]] constexpr bool is_final(replica_phase phase) noexcept {
    return phase == replica_phase::succeeded || phase == replica_phase::failed;
}

/// What is stored of all replicas with what is seen of them, as one pass works on it. Whatever a
/// pass decides about a pod is in the phases: a pod goes when its replica is `deleted` and has its
/// uid, and is asked for when its replica is `creating`. So a pass that was cut short after its
/// status was written is taken up by the next one.
class replica_table {
public:
    replica_table(const job_plan& plan, const job_status& stored, const observation& seen)
        : restarts(stored.restarts), plan_(&plan) {
        std::map<std::string_view, const observed_pod*, std::less<>> by_name;
        for (const observed_pod& pod : seen.pods)
            by_name.emplace(pod.name, &pod);
        for (std::size_t t = 0; t < plan.tasks.size(); ++t) {
            const task_plan& task = plan.tasks[t];
            const task_status* known = nullptr;
            for (const task_status& each : stored.tasks)
                if (each.type == task.type)
                    known = &each;
            task_status made;
            made.type = task.type;
            std::vector<const observed_pod*> pods;
            for (std::size_t rank = 0; rank < task.pods.size(); ++rank) {
                replica_status replica;
                if (known != nullptr && rank < known->replicas.size())
                    replica = known->replicas[rank];
                replica.name = task.pods[rank];
                made.replicas.push_back(std::move(replica));
                const auto found = by_name.find(task.pods[rank]);
                pods.push_back(found == by_name.end() ? nullptr : found->second);
                if (found != by_name.end())
                    by_name.erase(found);
            }
            tasks.push_back(std::move(made));
            seen_.push_back(std::move(pods));
        }
        for (const auto& [name, pod] : by_name)
            surplus.push_back(pod);
    }

    /// Calls `use(id, replica, pod)` for every replica by type and rank; the pod may be nullptr.
    template<class Use>
    void for_each(const Use& use) {
        for (std::size_t t = 0; t < tasks.size(); ++t)
            for (std::size_t rank = 0; rank < tasks[t].replicas.size(); ++rank)
                use(replica_id{t, static_cast<std::int64_t>(rank)}, tasks[t].replicas[rank],
                    seen_[t][rank]);
    }

    [[nodiscard]] const replica_status& at(replica_id of) const {
        return tasks[of.task].replicas[static_cast<std::size_t>(of.rank)];
    }

    /// A job that is neither paused nor over: replicas follow their pods, and start again as their
    /// policy has it.
    void follow() {
        for_each([&](replica_id id, replica_status& replica, const observed_pod* pod) {
            follow(plan_->tasks[id.task], id, replica, pod);
        });
    }

    /// Every pod goes, and what it did counts no more.
    void pause() {
        for_each([&](replica_id, replica_status& replica, const observed_pod* pod) {
            replica.phase = replica_phase::deleted;
            if (pod != nullptr)
                replica.uid = pod->uid;
        });
    }

    /// Nothing starts any more; the policy says who goes.
    void wind_up() {
        for_each([&](replica_id id, replica_status& replica, const observed_pod* pod) {
            wind_up(plan_->tasks[id.task].at_end, replica, pod);
        });
    }

    std::vector<task_status> tasks;
    std::int64_t restarts = 0;
    /// Pods that no replica owns any more, by name.
    std::vector<const observed_pod*> surplus;
    /// Those that were seen to fail in this pass.
    std::vector<replica_id> fresh_failures;

private:
    /// The uid is that of a pod about which all is decided.
    [[nodiscard]] static bool is_settled(const replica_status& replica, const observed_pod& pod) {
        return replica.uid == pod.uid &&
               (is_final(replica.phase) || replica.phase == replica_phase::deleted);
    }

    void follow(const task_plan& task, replica_id id, replica_status& replica,
                const observed_pod* pod) {
        if (pod == nullptr) {
            if (is_final(replica.phase))
                return;
            replica.phase = replica_phase::creating;
            replica.uid.clear();
            replica.containers.clear();
            return;
        }
        if (is_settled(replica, *pod))
            return;
        replica.uid = pod->uid;
        replica.containers = pod->containers;
        const bool failed = pod->phase == observed_phase::failed;
        if (pod->terminating || (failed && pod->disrupted)) {
            replica.phase = replica_phase::deleted;
            return;
        }
        replica.phase = phase_of(pod->phase);
        if (failed)
            fresh_failures.push_back(id);
        if (is_final(replica.phase) && starts_again(task.restart, replica)) {
            ++replica.restarts;
            ++restarts;
            replica.phase = replica_phase::deleted;
        }
    }

    [[nodiscard]] bool starts_again(const translate::t9k_restart& how,
                                    const replica_status& replica) const {
        if (how.limit && replica.restarts >= *how.limit)
            return false;
        if (plan_->restarts && restarts >= *plan_->restarts)
            return false;
        switch (how.policy) {
        case translate::restart_policy::never:
            return false;
        case translate::restart_policy::on_failure:
            return replica.phase == replica_phase::failed;
        case translate::restart_policy::always:
            return true;
        case translate::restart_policy::exit_code:
            return replica.phase == replica_phase::failed &&
                   says_killed(failing_code(replica.containers));
        }
        MUSTER_ASSERT(false, "all policies are above");
        return false;
    }

    static void wind_up(translate::clean_up_policy how, replica_status& replica,
                        const observed_pod* pod) {
        if (pod == nullptr) {
            replica.phase = replica_phase::deleted;
            return;
        }
        if (!is_settled(replica, *pod)) {
            replica.uid = pod->uid;
            replica.containers = pod->containers;
            replica.phase = pod->terminating ? replica_phase::deleted : phase_of(pod->phase);
        }
        if (how == translate::clean_up_policy::all ||
            (how == translate::clean_up_policy::unfinished && !is_final(replica.phase)))
            replica.phase = replica_phase::deleted;
    }

    const job_plan* plan_;
    /// By task and rank.
    std::vector<std::vector<const observed_pod*>> seen_;
};

} // namespace detail
} // namespace lifecycle
} // namespace v0_1
} // namespace muster
