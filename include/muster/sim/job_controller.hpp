// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/object.hpp>

#include <muster/apis/core/objects.hpp>
#include <muster/apis/core/pod_reader.hpp>
#include <muster/apis/t9k/jobs/gang.hpp>
#include <muster/apis/t9k/jobs/pods.hpp>
#include <muster/document/document.hpp>
#include <muster/document/json_text.hpp>
#include <muster/input/membership.hpp>
#include <muster/lifecycle/advance.hpp>
#include <muster/lifecycle/t9k_plan.hpp>
#include <muster/sim/declared_attempts.hpp>
#include <muster/sim/run_script.hpp>

namespace muster {
inline namespace v0_1 {
namespace sim {

/// A T9k job of an input.
struct job_input {
    translate::t9k_job job;
    codec::object_place where;
    /// When it was created, or is to be.
    std::optional<codec::timestamp> created;
    /// What is stored with it; absent: it is new.
    std::optional<lifecycle::job_status> status{};
};

/// The gang of a pod that is in no group.
[[nodiscard]] inline gang<std::string> lone_gang(codec::timestamp created, std::int64_t priority,
                                                 label_set tenant) {
    gang<std::string> alone;
    alone.tree = gang_tree(1);
    alone.created = created;
    alone.priority = priority;
    alone.tenant = std::move(tenant);
    return alone;
}

/// One T9k job of a run: what is stored with it and what it owns.
class job_controller {
public:
    struct owned_pod {
        std::string uid;
        lifecycle::observed_phase phase = lifecycle::observed_phase::pending;
        std::int64_t exit_code = 0;
        std::int64_t attempt = 0;
    };

    /// `sample`: conditions are kept at the end as in T9k's own sample of a status.
    job_controller(const job_input& input, bool sample, codec::diagnostics& out)
        : job(input.job), created(input.created), known_before(input.status), sample_(sample) {
        key_ = {std::string(job.name_space), std::string(job.name)};
        uid_ = job.uid.empty() ? lifecycle::transition_id(key_.name_space,
                                                          std::string(to_text(job.kind)), key_.name)
                               : std::string(job.uid);
        job.uid = uid_;
        job.name_space = key_.name_space;
        job.name = key_.name;
        for (std::size_t spec = 0; spec < job.replica_specs.size(); ++spec)
            declared_.push_back(read_declared(input, spec, out));
        edited();
        if (input.status)
            take_up(*input.status);
    }
    job_controller(const job_controller&) = delete;
    job_controller& operator=(const job_controller&) = delete;

    [[nodiscard]] const codec::object_key& key() const noexcept { return key_; }
    [[nodiscard]] codec::group_key group_key() const {
        return {key_.name_space, translate::group_name(job), codec::group_origin::pod_group};
    }
    [[nodiscard]] const lifecycle::job_plan& plan() const noexcept { return plan_; }
    [[nodiscard]] const declared_attempts& declared(std::size_t spec) const {
        return declared_[spec];
    }
    [[nodiscard]] const std::string& pod_name(lifecycle::replica_id of) const {
        return plan_.tasks[of.task].pods[static_cast<std::size_t>(of.rank)];
    }

    /// When it comes into a run that starts then. What has a status was created before that.
    [[nodiscard]] codec::timestamp arrival(codec::timestamp start) {
        const codec::timestamp comes = std::max(start, created.value_or(start));
        if (!known_before || !created)
            created = comes;
        return comes;
    }

    /// How long the first attempts run at most, in nanoseconds, when all of them say so.
    [[nodiscard]] std::optional<std::int64_t> longest_run() const {
        std::int64_t longest = 0;
        for (const declared_attempts& each : declared_) {
            const auto seconds = declared_attempts::of(each.seconds, 0);
            if (!seconds)
                return std::nullopt;
            longest = std::max(longest, *seconds);
        }
        return longest * 1'000'000'000;
    }

    /// Its group as a gang, but for what others have to say of it.
    [[nodiscard]] gang<std::string> gang_spec() const {
        const translate::gang_object made = translate::gangs_of(job).front();
        gang<std::string> spec;
        spec.queue = made.queue;
        spec.priority = made.priority.number.value_or(0);
        spec.tree = made.tree;
        spec.duration = longest_run();
        return spec;
    }

    /// The next pod of a replica, and how long it runs, in nanoseconds, if that is declared.
    [[nodiscard]] std::pair<owned_pod, std::optional<std::int64_t>>
    next_attempt(lifecycle::replica_id of) {
        owned_pod pod;
        pod.attempt = attempts[pod_name(of)]++;
        pod.uid = lifecycle::transition_id(plan_.uid, pod_name(of), std::to_string(pod.attempt));
        const auto runs = declared(of.task).run_time(pod.attempt);
        return {std::move(pod), runs};
    }

    /// After a change of `job`.
    void edited() {
        plan_ = lifecycle::plan_of(job);
        plan_.keeps_conditions_at_end = sample_;
        made_.clear();
    }

    /// Pauses or resumes the job, or scales it to `value`; what is to be told of it.
    std::pair<std::string_view, std::string> edit(script_action what, std::int64_t value) {
        const bool scales = what == script_action::scale;
        if (scales)
            job.elastic->expected = value;
        else
            job.run_mode.pause = what == script_action::pause;
        edited();
        if (scales)
            return {"Scale", "to " + std::to_string(value) + " replicas"};
        return {job.run_mode.pause ? "Pause" : "Resume", {}};
    }

    /// A pod of the input is a replica's.
    void adopt(lifecycle::replica_id of, const std::string& name, owned_pod pod) {
        pod.attempt = attempts[name]++;
        pods[name] = std::move(pod);
        adopted_[name] = of;
    }
    [[nodiscard]] const std::map<std::string, lifecycle::replica_id>& adopted() const noexcept {
        return adopted_;
    }

    [[nodiscard]] lifecycle::job_step look(codec::timestamp now) const {
        lifecycle::observation seen;
        seen.group = group;
        seen.config_map = config_map;
        seen.services.assign(services.begin(), services.end());
        for (const auto& [name, pod] : pods) {
            lifecycle::observed_pod one;
            one.name = name;
            one.uid = pod.uid;
            one.phase = pod.phase;
            if (pod.phase == lifecycle::observed_phase::succeeded ||
                pod.phase == lifecycle::observed_phase::failed)
                one.containers.push_back({"main", pod.exit_code});
            seen.pods.push_back(std::move(one));
        }
        return lifecycle::advance(plan_, status, seen, now);
    }

    /// The pod of a replica as the codec reads it; nothing when it cannot be read, which is
    /// reported. The same from the second time on.
    [[nodiscard]] const codec::pod_object* pod_of(lifecycle::replica_id of, bool resumed,
                                                  codec::diagnostics& out) {
        const auto at = made_.find({of, resumed});
        if (at != made_.end())
            return &at->second;
        boost::json::object made = translate::make_pod(job, {of.task, of.rank}, {},
                                                       resumed ? translate::t9k_start::resumed
                                                               : translate::t9k_start::first);
        // They speak of all attempts, and are read already.
        if (boost::json::value* const notes =
                made["metadata"].as_object().if_contains("annotations");
            notes != nullptr && notes->is_object())
            for (const std::string_view key : {run_seconds_key, exit_code_key})
                notes->get_object().erase(key);
        const codec::document source("pod " + pod_name(of), std::move(made));
        codec::object_reader root(source, out);
        codec::reading_context context;
        codec::pod_object read = codec::read_pod(root, context);
        read.metadata.where = {};
        return &made_.emplace(std::pair(of, resumed), std::move(read)).first->second;
    }

    translate::t9k_job job;
    lifecycle::job_status status;
    std::optional<codec::timestamp> created;
    bool known_before = false; ///< it came with a status
    bool arrived = false;
    bool deleted = false;
    std::optional<codec::timestamp> began;
    std::optional<codec::timestamp> ended;
    // What it owns, by name.
    std::map<std::string, owned_pod> pods;
    std::set<std::string> services;
    bool group = false;
    bool config_map = false;
    /// How many pods a name has had.
    std::map<std::string, std::int64_t> attempts;

private:
    /// Goes on from what is stored: pods that are not there any more are asked for again, and the
    /// next attempts are those after the restarts.
    void take_up(const lifecycle::job_status& stored) {
        status = stored;
        for (const lifecycle::task_status& task : status.tasks)
            for (const lifecycle::replica_status& replica : task.replicas)
                attempts[replica.name] = replica.restarts;
        if (lifecycle::has_ended(status))
            for (const lifecycle::job_condition& each : status.conditions)
                if (each.is_true && (each.type == lifecycle::condition_type::completed ||
                                     each.type == lifecycle::condition_type::failed))
                    ended = each.changed;
    }

    static declared_attempts read_declared(const job_input& input, std::size_t spec,
                                           codec::diagnostics& out) {
        const boost::json::object* const metadata =
            translate::find_object(input.job.replica_specs[spec].pod_template, "metadata");
        return read_attempts(
            translate::find_object(metadata, "annotations"),
            [&](std::string_view key, const std::string& message) {
                report(out, codec::severity::error, input.where,
                       {"spec", "replicaSpecs", spec, "template", "metadata", "annotations", key},
                       message);
            });
    }

    codec::object_key key_;
    std::string uid_;
    bool sample_;
    lifecycle::job_plan plan_;
    std::vector<declared_attempts> declared_;
    std::map<std::string, lifecycle::replica_id> adopted_;
    std::map<std::pair<lifecycle::replica_id, bool>, codec::pod_object> made_;
};

} // namespace sim
} // namespace v0_1
} // namespace muster
