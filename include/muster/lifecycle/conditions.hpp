// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <muster/document/transition_id.hpp>
#include <muster/lifecycle/job_plan.hpp>
#include <muster/lifecycle/job_status.hpp>
#include <muster/lifecycle/replicas.hpp>
#include <muster/lifecycle/rules.hpp>

namespace muster {
inline namespace v0_1 {
namespace lifecycle {
namespace detail {

inline constexpr std::string_view no_reason = "-";
inline constexpr std::string_view all_normal = "All pods are running normally.";

/// Writes the conditions of one job at one time.
class condition_writer {
public:
    condition_writer(const job_plan& plan, job_status& to, timestamp now)
        : plan_(&plan), to_(&to), now_(now) {}

    void set(condition_type type, bool is_true, std::string_view reason, std::string_view message) {
        auto at = std::ranges::lower_bound(to_->conditions, type, {}, &job_condition::type);
        const bool fresh = at == to_->conditions.end() || at->type != type;
        if (fresh) {
            at = to_->conditions.insert(at, job_condition{});
            at->type = type;
        }
        if (fresh || at->is_true != is_true) {
            at->transition_id =
                transition_id(plan_->uid, to_text(type), std::string_view(at->transition_id));
            at->changed = now_;
        }
        at->is_true = is_true;
        at->reason = reason;
        at->message = message;
    }

    /// Only when it is there already.
    void renew(condition_type type, bool is_true, std::string_view reason,
               std::string_view message) {
        if (find_condition(*to_, type) != nullptr)
            set(type, is_true, reason, message);
    }

    void initialized() {
        if (!is_true(*to_, condition_type::initialized))
            set(condition_type::initialized, true, no_reason,
                "The job has been initialized successfully.");
    }

    /// All that must run does.
    void running() {
        set(condition_type::running, true, no_reason, all_normal);
        renew(condition_type::paused, false, no_reason, "The job has been resumed.");
    }

    void no_failure() { set(condition_type::replica_failure, false, no_reason, all_normal); }

    void failure_of(const replica_status& replica) {
        const auto code = failing_code(replica.containers);
        set(condition_type::replica_failure, true, "ErrorInPod",
            "Pod[" + replica.name + "] " +
                (code ? "exited with error code " + std::to_string(*code) : "failed"));
    }

    void paused() {
        constexpr std::string_view message = "The job is paused.";
        renew(condition_type::running, false, "Paused", message);
        renew(condition_type::replica_failure, false, "Paused", message);
        set(condition_type::paused, true, "Paused", message);
    }

    /// `lasting`: a replica has failed for good.
    void ended(const job_end& how, bool lasting) {
        const std::string_view reason = how.succeeded ? "Succeeded" : "Failed";
        initialized();
        if (!plan_->keeps_conditions_at_end) {
            set(condition_type::running, false, reason, how.message);
            if (how.succeeded)
                set(condition_type::replica_failure, false, reason, how.message);
            else if (!lasting)
                no_failure();
        }
        set(condition_type::completed, how.succeeded, reason, how.message);
        set(condition_type::failed, !how.succeeded, reason, how.message);
        renew(condition_type::paused, false, reason, how.message);
    }

    void cluster(bool cluster_runs, bool job_runs) {
        observe(condition_type::cluster_running, cluster_runs);
        observe(condition_type::job_running, job_runs);
    }

private:
    /// Those of a BeamJob come without a reason or message, and are not there before they are true.
    void observe(condition_type type, bool is_true) {
        if (is_true)
            set(type, true, {}, {});
        else
            renew(type, false, {}, {});
    }

    const job_plan* plan_;
    job_status* to_;
    timestamp now_;
};

} // namespace detail
} // namespace lifecycle
} // namespace v0_1
} // namespace muster
