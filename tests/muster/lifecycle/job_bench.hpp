// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/lifecycle/advance.hpp>

namespace lifecycle_test {

using namespace muster::lifecycle;
using muster::translate::clean_up_policy;
using muster::translate::restart_policy;
using muster::translate::t9k_rule;

inline constexpr timestamp second = 1'000'000'000;

/// `size` replicas named j-TYPE-RANK.
inline task_plan task(const std::string& type, std::int64_t size,
                      muster::translate::t9k_restart restart = {}) {
    task_plan made;
    made.type = type;
    for (std::int64_t rank = 0; rank < size; ++rank)
        made.pods.push_back("j-" + type + "-" + std::to_string(rank));
    made.restart = restart;
    return made;
}

inline job_plan plan_with(std::vector<task_plan> tasks) {
    job_plan plan;
    plan.uid = "11111111-2222-3333-4444-555555555555";
    plan.tasks = std::move(tasks);
    return plan;
}

/// A job with the pods and services that it owns, in a cluster that does as it is told.
struct job_bench {
    explicit job_bench(job_plan made) : plan(std::move(made)) {}

    /// One pass: the controller looks, and all its writes are carried out.
    const job_step& pass() {
        step = advance(plan, status, seen, now);
        status = step.status;
        for (const pod_deletion& each : step.deletions)
            std::erase_if(seen.pods, [&](const observed_pod& pod) { return pod.uid == each.uid; });
        seen.group = seen.group || step.create_group;
        seen.config_map = seen.config_map || step.create_config_map;
        for (const replica_id id : step.create_services)
            seen.services.push_back(name(id));
        for (const replica_id id : step.create_pods) {
            observed_pod pod;
            pod.name = name(id);
            pod.uid = "uid-" + std::to_string(++pods_made);
            seen.pods.push_back(std::move(pod));
        }
        now += second;
        return step;
    }
    /// Until there is nothing more to do.
    void settle() {
        for (int i = 0; i < 20; ++i) {
            const job_status before = status;
            if (pass().is_quiet() && status == before)
                return;
        }
    }
    void run_all() {
        for (observed_pod& pod : seen.pods)
            if (pod.phase == observed_phase::pending)
                pod.phase = observed_phase::running;
    }
    /// Created, placed and running.
    void start() {
        settle();
        run_all();
        settle();
    }

    [[nodiscard]] std::string name(replica_id id) const {
        return plan.tasks[id.task].pods[static_cast<std::size_t>(id.rank)];
    }
    [[nodiscard]] bool has(std::string_view pod) const {
        return std::ranges::find(seen.pods, pod, &observed_pod::name) != seen.pods.end();
    }
    observed_pod& pod(std::string_view wanted) {
        return *std::ranges::find(seen.pods, wanted, &observed_pod::name);
    }
    void fail(std::string_view wanted, std::int64_t code = 1) {
        pod(wanted).phase = observed_phase::failed;
        pod(wanted).containers = {{"main", code}};
    }
    void succeed(std::string_view wanted) {
        pod(wanted).phase = observed_phase::succeeded;
        pod(wanted).containers = {{"main", 0}};
    }
    void lose(std::string_view wanted) {
        std::erase_if(seen.pods, [&](const observed_pod& each) { return each.name == wanted; });
    }
    [[nodiscard]] const replica_status& replica(std::string_view wanted) const {
        static const replica_status none;
        for (const task_status& each : status.tasks)
            for (const replica_status& found : each.replicas)
                if (found.name == wanted)
                    return found;
        return none;
    }
    /// `Type=True reason: message`, or nothing.
    [[nodiscard]] std::string condition(condition_type type) const {
        const job_condition* found = find_condition(status, type);
        if (found == nullptr)
            return {};
        return std::string(found->is_true ? "True " : "False ") + found->reason + ": " +
               found->message;
    }
    /// The conditions there are, `Type=True` in their order.
    [[nodiscard]] std::string conditions() const {
        std::string all;
        for (const job_condition& each : status.conditions)
            all += (all.empty() ? "" : " ") + std::string(to_text(each.type)) +
                   (each.is_true ? "=True" : "=False");
        return all;
    }

    job_plan plan;
    job_status status;
    observation seen;
    timestamp now = 0;
    int pods_made = 0;
    job_step step;
};

inline constexpr auto unlimited = std::optional<std::int64_t>{};

} // namespace lifecycle_test
