// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <muster/apis/t9k/jobs/job.hpp>
#include <muster/base/timestamp.hpp>
#include <muster/lifecycle/job_status.hpp>

namespace muster {
inline namespace v0_1 {
namespace lifecycle {

/// How a status is written.
struct status_form {
    /// The list of replicas in `tasks`.
    std::string_view replicas = "status";
    std::string_view pending = "Pending"; ///< the phase of a job that does not run yet
    bool backoff_count = false;
    /// As in T9k's own sample: the first condition is called Initializing, and none has an id.
    bool sample = false;
};

/// GenericJob, MPIJob, ColossalAIJob and DeepSpeedJob list their replicas as `status`, the others
/// as `replicas`.
[[nodiscard]] inline status_form status_form_of(translate::t9k_kind kind) {
    using translate::t9k_kind;
    status_form form;
    if (kind == t9k_kind::tensorflow || kind == t9k_kind::pytorch || kind == t9k_kind::xgboost ||
        kind == t9k_kind::beam)
        form.replicas = "replicas";
    form.backoff_count = kind == t9k_kind::tensorflow || kind == t9k_kind::pytorch ||
                         kind == t9k_kind::xgboost || kind == t9k_kind::deepspeed;
    if (kind == t9k_kind::beam)
        form.pending = "Initializing";
    return form;
}

namespace detail {

[[nodiscard]] inline boost::json::object condition_document(const job_condition& from,
                                                            const status_form& form) {
    boost::json::object made;
    made["lastTransitionTime"] = time_text(from.changed);
    if (!from.message.empty())
        made["message"] = from.message;
    if (!from.reason.empty())
        made["reason"] = from.reason;
    made["status"] = from.is_true ? "True" : "False";
    if (!form.sample)
        made["transitionID"] = from.transition_id;
    made["type"] = form.sample && from.type == condition_type::initialized
                       ? std::string_view("Initializing")
                       : to_text(from.type);
    return made;
}

[[nodiscard]] inline boost::json::object replica_document(const replica_status& from) {
    boost::json::object made;
    boost::json::array containers;
    for (const ended_container& each : from.containers)
        containers.push_back(boost::json::object{
            {"name", each.name}, {"state", "Terminated"}, {"exitCode", each.exit_code}});
    made["containers"] = std::move(containers);
    made["name"] = from.name;
    made["phase"] = to_text(from.phase);
    if (from.restarts > 0)
        made["restartCount"] = from.restarts;
    if (!from.uid.empty())
        made["uid"] = from.uid;
    return made;
}

} // namespace detail

/// `status.tasks`.
[[nodiscard]] inline boost::json::array tasks_document(const job_status& status,
                                                       const status_form& form = {}) {
    boost::json::array made;
    for (const task_status& task : status.tasks) {
        boost::json::array replicas;
        for (const replica_status& each : task.replicas)
            replicas.push_back(detail::replica_document(each));
        boost::json::object one;
        one["restartCount"] = restarts(task);
        one[form.replicas] = std::move(replicas);
        one["type"] = task.type;
        made.push_back(std::move(one));
    }
    return made;
}

/// `status.aggregate`: every phase, those of nobody too.
[[nodiscard]] inline boost::json::object aggregate_document(const job_status& status) {
    boost::json::object made;
    const auto counts = aggregate(status);
    for (std::size_t i = 0; i < counts.size(); ++i) {
        std::string name(replica_phases[i].second);
        name.front() = static_cast<char>(name.front() - 'A' + 'a');
        made[name] = counts[i];
    }
    return made;
}

/// The whole status as the API has it.
[[nodiscard]] inline boost::json::object status_document(const job_status& status,
                                                         const status_form& form = {}) {
    boost::json::object made;
    made["aggregate"] = aggregate_document(status);
    if (form.backoff_count)
        made["backoffCount"] = status.restarts;
    boost::json::array conditions;
    for (const job_condition& each : status.conditions)
        conditions.push_back(detail::condition_document(each, form));
    made["conditions"] = std::move(conditions);
    if (status.phase)
        made["phase"] = status.phase == job_phase::pending ? form.pending : to_text(*status.phase);
    if (status.started)
        made["startTime"] = time_text(*status.started);
    made["tasks"] = tasks_document(status, form);
    return made;
}

} // namespace lifecycle
} // namespace v0_1
} // namespace muster
