// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <muster/base/checked.hpp>
#include <muster/lifecycle/conditions.hpp>
#include <muster/lifecycle/job_plan.hpp>
#include <muster/lifecycle/job_status.hpp>
#include <muster/lifecycle/observation.hpp>
#include <muster/lifecycle/replicas.hpp>
#include <muster/lifecycle/rules.hpp>

namespace muster {
inline namespace v0_1 {
namespace lifecycle {

/// A pod to delete; only the one with this uid is meant.
struct pod_deletion {
    std::string name;
    std::string uid;

    [[nodiscard]] friend bool operator==(const pod_deletion&, const pod_deletion&) = default;
};

/// What is to be written, in this order: the status, the deletions, the creations (the group, the
/// ConfigMap, services, pods). Whatever of it is not carried out, the next pass asks for again;
/// what is there already when it is asked for is fine.
struct job_step {
    job_status status;
    std::vector<pod_deletion> deletions;
    bool create_group = false;
    bool create_config_map = false;
    std::vector<replica_id> create_services; ///< named as the replicas' pods
    std::vector<replica_id> create_pods;
    /// The pods are made after a pause: with the resume specs.
    bool resumed = false;
    /// When to look again though nothing is observed to happen (a deadline).
    std::optional<timestamp> wake;

    /// Nothing is to be done but to write the status.
    [[nodiscard]] bool is_quiet() const noexcept {
        return deletions.empty() && !create_group && !create_config_map &&
               create_services.empty() && create_pods.empty();
    }
};

namespace detail {

/// One pass over one job.
class job_pass {
public:
    job_pass(const job_plan& plan, const job_status& stored, const observation& seen, timestamp now)
        : plan_(plan), stored_(stored), seen_(seen), now_(now), replicas_(plan, stored, seen) {
        step_.status = stored;
    }

    [[nodiscard]] job_step run() && {
        if (plan_.terminating)
            return std::move(step_);
        if (has_ended(stored_))
            replicas_.wind_up();
        else if (plan_.paused)
            pause();
        else
            be_active();
        ask_for_deletions();
        if (!has_ended(step_.status))
            ask_for_creations();
        step_.status.tasks = std::move(replicas_.tasks);
        step_.status.restarts = replicas_.restarts;
        return std::move(step_);
    }

private:
    void pause() {
        replicas_.pause();
        step_.status.phase = job_phase::paused;
        step_.status.started.reset();
        conditions_.paused();
    }

    void be_active() {
        replicas_.follow();
        start_the_clock();
        std::optional<job_end> end = judge(plan_, replicas_);
        if (!end && deadline() && now_ >= *deadline())
            end = job_end{false, "The job is failed because it was active for longer than " +
                                     std::to_string(*plan_.deadline_seconds) + " seconds."};
        if (end) {
            finish(*end);
            return;
        }
        step_.wake = deadline();
        const bool all_run = enough_run();
        note_failures(all_run);
        if (plan_.conditions == condition_set::cluster)
            conditions_.cluster(others_run(), after_others_run());
        else if (is_initialized())
            conditions_.initialized();
        if (all_run && plan_.conditions == condition_set::training)
            conditions_.running();
        step_.status.phase = phase(all_run);
    }

    void finish(const job_end& end) {
        // Nothing starts again in the pass that ends the job: restarts do not count.
        if (!plan_.keeps_conditions_at_end && !end.succeeded)
            note_failures(false, true);
        const bool lasting = std::ranges::any_of(replicas_.tasks, [](const task_status& task) {
            return std::ranges::any_of(task.replicas, [](const replica_status& replica) {
                return replica.phase == replica_phase::failed;
            });
        });
        step_.status.phase = end.succeeded ? job_phase::succeeded : job_phase::failed;
        if (plan_.conditions == condition_set::cluster)
            conditions_.cluster(others_run(), false);
        else
            conditions_.ended(end, lasting);
        replicas_ = replica_table(plan_, stored_, seen_);
        replicas_.wind_up();
    }

    void start_the_clock() {
        if (plan_.deadline_seconds && !step_.status.started)
            step_.status.started = now_;
    }

    [[nodiscard]] std::optional<timestamp> deadline() const {
        if (!plan_.deadline_seconds || !step_.status.started)
            return std::nullopt;
        const int128 at =
            int128{*step_.status.started} + int128{*plan_.deadline_seconds} * 1'000'000'000;
        constexpr timestamp never = std::numeric_limits<timestamp>::max();
        return at > never ? never : static_cast<timestamp>(at);
    }

    /// The first failure of this pass is told of; later than others, it is the news.
    void note_failures(bool all_run, bool lasting_only = false) {
        if (plan_.conditions == condition_set::cluster)
            return;
        for (const replica_id id : replicas_.fresh_failures)
            if (!lasting_only || replicas_.at(id).phase == replica_phase::failed) {
                conditions_.failure_of(replicas_.at(id));
                return;
            }
        // Of an elastic job enough may run while another starts again.
        if (all_run && none_is(replica_phase::failed) && none_is(replica_phase::deleted) &&
            none_is(replica_phase::creating))
            conditions_.no_failure();
    }

    [[nodiscard]] bool none_is(replica_phase phase) const {
        return !holds(replicas_, phase, false);
    }

    /// Every replica has been seen, and what it needs.
    [[nodiscard]] bool is_initialized() const {
        return (!plan_.grouped || seen_.group) && (!plan_.configured || seen_.config_map) &&
               missing_services().empty() && none_is(replica_phase::creating);
    }

    [[nodiscard]] static bool runs(const replica_status& replica) noexcept {
        return replica.phase == replica_phase::running;
    }

    [[nodiscard]] static bool is_up(const replica_status& replica) noexcept {
        return runs(replica) || is_final(replica.phase);
    }

    [[nodiscard]] bool enough_run() const {
        std::int64_t up = 0;
        std::int64_t all = 0;
        for (const task_status& task : replicas_.tasks) {
            all += std::ssize(task.replicas);
            up += std::ranges::count_if(task.replicas, is_up);
        }
        return up >= plan_.running_from.value_or(all);
    }

    /// Whether all replicas run that nobody need wait for.
    [[nodiscard]] bool others_run() const {
        for (std::size_t t = 0; t < plan_.tasks.size(); ++t)
            if (!plan_.tasks[t].after_others &&
                !std::ranges::all_of(replicas_.tasks[t].replicas, runs))
                return false;
        return true;
    }

    [[nodiscard]] bool after_others_run() const {
        for (std::size_t t = 0; t < plan_.tasks.size(); ++t)
            if (plan_.tasks[t].after_others &&
                std::ranges::any_of(replicas_.tasks[t].replicas, runs))
                return true;
        return false;
    }

    [[nodiscard]] job_phase phase(bool all_run) const {
        if (!none_is(replica_phase::unknown))
            return job_phase::unknown;
        const bool ran = plan_.conditions == condition_set::cluster
                             ? find_condition(step_.status, condition_type::job_running) != nullptr
                             : is_true(step_.status, condition_type::running);
        if (all_run || ran)
            return job_phase::running;
        return is_true(step_.status, condition_type::paused) ? job_phase::resuming
                                                             : job_phase::pending;
    }

    [[nodiscard]] std::vector<replica_id> missing_services() const {
        std::vector<replica_id> missing;
        std::vector<std::string> there = seen_.services;
        std::ranges::sort(there);
        for (std::size_t t = 0; t < plan_.tasks.size(); ++t)
            for (std::int64_t rank = 0; rank < plan_.tasks[t].services; ++rank)
                if (!std::ranges::binary_search(
                        there, plan_.tasks[t].pods[static_cast<std::size_t>(rank)]))
                    missing.push_back({t, rank});
        return missing;
    }

    void ask_for_deletions() {
        replicas_.for_each([&](replica_id, const replica_status& replica, const observed_pod* pod) {
            if (pod != nullptr && !pod->terminating && replica.phase == replica_phase::deleted &&
                replica.uid == pod->uid)
                step_.deletions.push_back({pod->name, pod->uid});
        });
        for (const observed_pod* pod : replicas_.surplus)
            if (!pod->terminating)
                step_.deletions.push_back({pod->name, pod->uid});
    }

    void ask_for_creations() {
        step_.create_group = plan_.grouped && !seen_.group;
        step_.create_config_map = plan_.configured && !seen_.config_map;
        step_.create_services = missing_services();
        step_.resumed = find_condition(step_.status, condition_type::paused) != nullptr;
        const bool cluster_runs = others_run();
        replicas_.for_each(
            [&](replica_id id, const replica_status& replica, const observed_pod* pod) {
                if (pod == nullptr && replica.phase == replica_phase::creating &&
                    (cluster_runs || !plan_.tasks[id.task].after_others))
                    step_.create_pods.push_back(id);
            });
    }

    const job_plan& plan_;
    const job_status& stored_;
    const observation& seen_;
    timestamp now_;
    replica_table replicas_;
    job_step step_;
    condition_writer conditions_{plan_, step_.status, now_};
};

} // namespace detail

/// One look at a job: what its status is to be and what must go and come for it, from its plan, the
/// status stored last and what is seen of it now. The same arguments give the same step. Looking
/// twice without a change changes nothing; a step that is carried out in part, in its order, and
/// never finished leads to the same end. O((replicas + pods) · log).
[[nodiscard]] inline job_step advance(const job_plan& plan, const job_status& stored,
                                      const observation& seen, timestamp now) {
    return detail::job_pass(plan, stored, seen, now).run();
}

} // namespace lifecycle
} // namespace v0_1
} // namespace muster
