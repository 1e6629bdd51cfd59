// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/adapter/virtual_time.hpp>
#include <muster/apis/t9k/jobs/gang.hpp>
#include <muster/input/cluster.hpp>
#include <muster/sim/grove_play.hpp>
#include <muster/sim/input_pods.hpp>
#include <muster/sim/job_controller.hpp>
#include <muster/sim/pod_owners.hpp>
#include <muster/sim/run_options.hpp>
#include <muster/sim/run_record.hpp>
#include <muster/sim/run_script.hpp>
#include <muster/sim/run_stage.hpp>
#include <muster/sim/run_words.hpp>

namespace muster {
inline namespace v0_1 {
namespace sim {
namespace detail {

/// Runs jobs in a cluster in memory: every controller looks at its job whenever something happened
/// to it, a cycle is made when they are all quiet, and time passes when the cycle has no more to
/// place.
template<std::size_t Width>
class job_run {
    using object_key = codec::object_key;
    using timestamp = codec::timestamp;

public:
    template<class Policy>
    job_run(codec::cluster<Width>& known, std::deque<job_controller>& jobs, grove_play& sets,
            const std::vector<script_event>& script, const Policy& how, const run_options& options,
            codec::diagnostics& out)
        : stage_(known, out),
          jobs_(&jobs),
          owners_(jobs),
          sets_(&sets),
          script_(&script),
          how_(how),
          options_(options),
          out_(&out) {}

    run_record run() {
        adopt_pods();
        for (std::size_t job = 0; job < jobs_->size(); ++job)
            plan((*jobs_)[job].arrival(stage_.now), {happening::arrival, job, {}});
        sets_->begin(stage_.now);
        for (std::size_t line = 0; line < script_->size(); ++line)
            plan(stage_.record.start + (*script_)[line].at, {happening::script, line, {}});
        const timestamp last = options_.until > std::numeric_limits<timestamp>::max() - stage_.now
                                   ? std::numeric_limits<timestamp>::max()
                                   : stage_.now + options_.until;
        happen();
        settle();
        for (auto next = next_time(); next && !stage_.record.cut_short; next = next_time()) {
            if (*next > last) {
                stage_.record.cut_short = true;
                break;
            }
            stage_.now = *next;
            happen();
            settle();
        }
        finish();
        return std::move(stage_.record);
    }

private:
    struct happening {
        enum kind : std::uint8_t { arrival, look, script, eviction, age };
        kind what = look;
        std::size_t which = 0; ///< a job, or a line of the script
        std::string node;
    };

    void plan(timestamp when, happening what) { planned_.plan(when, std::move(what)); }

    [[nodiscard]] std::optional<timestamp> next_time() const {
        std::optional<timestamp> first;
        for (const auto each : {planned_.next(), stage_.cluster.next_end(), sets_->next()})
            if (each && (!first || *each < *first))
                first = each;
        return first;
    }

    void tell(std::string_view kind, const object_key& whom, std::string_view what,
              std::string details = {}) {
        stage_.tell(kind, whom, what, std::move(details));
    }

    /// Tells what happened to sets, and carries out what they ask for.
    void follow_sets() {
        for (run_line& each : std::exchange(sets_->lines, {}))
            stage_.record.lines.push_back(std::move(each));
        for (grove_order& each : std::exchange(sets_->orders, {}))
            plan_age(stage_.carry_out(each));
    }

    void plan_age(std::optional<timestamp> end) {
        if (end)
            plan(*end, {happening::age, 0, {}});
    }

    /// Pods of the input go on: those of jobs as their jobs declare, others as they do themselves.
    void adopt_pods() {
        for (std::size_t job = 0; job < jobs_->size(); ++job)
            if ((*jobs_)[job].group)
                groups_[(*jobs_)[job].group_key()] = job;
        for (const codec::pod_object& pod : stage_.objects().pods) {
            const object_key& key = pod.metadata.key;
            if (const auto* const of = owners_.find(key)) {
                const job_controller& job = (*jobs_)[of->job];
                stage_.adopt(
                    pod, job.declared(of->replica.task).run_time(job.pods.at(key.name).attempt));
            } else {
                stage_.adopt(pod, pod.run_time);
                if (const auto code = exit_code_of(pod, *out_))
                    owners_.declare(key, *code);
            }
            // Nobody could do without these.
            if (!is_owned_by(pod.metadata.where, "DaemonSet"))
                plan_age(stage_.limit_age(key, pod.metadata.created.value_or(stage_.now), pod));
        }
    }

    // ---- what happens ---------------------------------------------------------------------------

    void happen() {
        while (const auto key = stage_.cluster.take_ended(stage_.now))
            end_pod(*key, owners_.exit_code(*key));
        while (auto due = planned_.take(stage_.now))
            switch (due->what) {
            case happening::arrival:
                (*jobs_)[due->which].arrived = true;
                tell(kind_of(due->which), (*jobs_)[due->which].key(),
                     (*jobs_)[due->which].known_before ? "Found" : "Created");
                dirty_.insert(due->which);
                break;
            case happening::look:
                dirty_.insert(due->which);
                break;
            case happening::script:
                act((*script_)[due->which]);
                break;
            case happening::eviction:
                evict_lost(due->node);
                break;
            case happening::age:
                retire_pods();
                break;
            }
        sets_->happen(stage_.now);
        follow_sets();
    }

    [[nodiscard]] std::string_view kind_of(std::size_t job) const {
        return to_text((*jobs_)[job].job.kind);
    }

    void touched(const object_key& pod) {
        if (const auto* const of = owners_.find(pod))
            dirty_.insert(of->job);
    }

    void end_pod(const object_key& key, std::int64_t code) {
        if (sets_->owns(key)) {
            sets_->end(key, code, stage_.now);
            return follow_sets();
        }
        const bool well = code == 0;
        if (!stage_.cluster.set_phase(key, well ? pod_phase::succeeded : pod_phase::failed))
            return;
        if (auto* pod = owners_.pod(key)) {
            pod->phase =
                well ? lifecycle::observed_phase::succeeded : lifecycle::observed_phase::failed;
            pod->exit_code = code;
        }
        tell("Pod", key, well ? "Succeeded" : "Failed",
             well ? "" : "exit code " + std::to_string(code));
        touched(key);
    }

    void remove_pod(const object_key& key, std::string_view what, std::string details = {}) {
        if (sets_->owns(key)) {
            sets_->remove(key, what, std::move(details), stage_.now);
            return follow_sets();
        }
        stage_.remove(key);
        touched(key);
        owners_.forget(key);
        tell("Pod", key, what, std::move(details));
    }

    void evict_lost(const std::string& node) {
        const auto since = lost_.find(node);
        if (since == lost_.end() || stage_.now - since->second.first < eviction_delay)
            return;
        for (const object_key& key : since->second.second)
            if (stage_.cluster.phase(key) == pod_phase::unknown)
                remove_pod(key, "Deleted", "its node " + node + " was lost");
    }

    void act(const script_event& event) {
        switch (event.what) {
        case script_action::end: {
            const auto phase = stage_.cluster.phase(event.whom);
            if (phase == pod_phase::running &&
                (!sets_->owns(event.whom) || sets_->runs(event.whom)))
                return end_pod(event.whom, event.value);
            return tell("Pod", event.whom, "Ignored",
                        phase || sets_->owns(event.whom) ? "it does not run"
                                                         : "there is no such pod");
        }
        case script_action::delete_pod:
            if (stage_.cluster.phase(event.whom) || sets_->owns(event.whom))
                return remove_pod(event.whom, "Deleted");
            return tell("Pod", event.whom, "Ignored", "there is no such pod");
        case script_action::lose_node: {
            const auto pods = stage_.cluster.lose_node(event.whom.name);
            MUSTER_ASSERT(pods.has_value(), "the nodes of a script exist");
            tell("Node", event.whom, "Lost");
            for (const object_key& key : *pods)
                see(key, lifecycle::observed_phase::unknown, "Unknown");
            lost_[event.whom.name] = {stage_.now, *pods};
            return plan(stage_.now + eviction_delay, {happening::eviction, 0, event.whom.name});
        }
        case script_action::return_node:
            tell("Node", event.whom, "Returned");
            lost_.erase(event.whom.name);
            if (const auto back = stage_.cluster.return_node(event.whom.name, stage_.now))
                for (const object_key& key : *back)
                    see(key, lifecycle::observed_phase::running, "Running");
            return;
        case script_action::pause:
        case script_action::resume:
        case script_action::scale:
        case script_action::delete_job:
        case script_action::set_image:
            break;
        }
        if (sets_->act(event, stage_.now))
            follow_sets();
        for (std::size_t job = 0; job < jobs_->size(); ++job)
            if ((*jobs_)[job].key() == event.whom)
                edit(job, event);
    }

    void see(const object_key& key, lifecycle::observed_phase phase, std::string_view what) {
        if (sets_->owns(key)) {
            sets_->see(key, phase == lifecycle::observed_phase::unknown, stage_.now);
            return follow_sets();
        }
        if (auto* pod = owners_.pod(key))
            pod->phase = phase;
        tell("Pod", key, what);
        touched(key);
    }

    void edit(std::size_t which, const script_event& event) {
        job_controller& job = (*jobs_)[which];
        if (job.deleted)
            return tell(kind_of(which), job.key(), "Ignored", "it is deleted");
        if (event.what == script_action::delete_job)
            return remove_job(which);
        auto [what, details] = job.edit(event.what, event.value);
        tell(kind_of(which), job.key(), what, std::move(details));
        dirty_.insert(which);
    }

    /// Whoever owns a pod that is too old is paused where that is possible.
    void retire_pods() {
        constexpr const char* why = "MaxDurationExceeded: its queue lets no pod get older";
        for (const object_key& key : stage_.lifetimes().take_due(stage_.now)) {
            const auto phase = stage_.cluster.phase(key);
            if (!phase || phase == pod_phase::succeeded || phase == pod_phase::failed)
                continue;
            const auto* const of = owners_.find(key);
            if (of == nullptr || (*jobs_)[of->job].job.kind == translate::t9k_kind::beam) {
                remove_pod(key, "Evicted", why);
            } else if (job_controller& job = (*jobs_)[of->job]; !job.job.run_mode.pause) {
                const std::size_t which = of->job;
                tell(kind_of(which), job.key(), job.edit(script_action::pause, 0).first, why);
                dirty_.insert(which);
            }
        }
    }

    /// Its owner gone, everything goes.
    void remove_job(std::size_t which) {
        job_controller& job = (*jobs_)[which];
        tell(kind_of(which), job.key(), "Deleted");
        while (!job.pods.empty())
            remove_pod({job.key().name_space, job.pods.begin()->first}, "Deleted");
        if (job.group)
            static_cast<void>(stage_.known().remove_gang(job.group_key()));
        job.services.clear();
        job.group = job.config_map = false;
        job.arrived = false;
        job.deleted = true;
        dirty_.erase(which);
    }

    // ---- what follows from it -------------------------------------------------------------------

    void settle() {
        constexpr std::size_t most_rounds = 100'000;
        for (std::size_t round = 0; round < most_rounds; ++round) {
            if (!dirty_.empty()) {
                const std::size_t job = *dirty_.begin();
                dirty_.erase(dirty_.begin());
                if ((*jobs_)[job].arrived)
                    look(job);
            } else if (sets_->look()) {
                follow_sets();
            } else if (!schedule()) {
                return;
            }
        }
        stage_.record.cut_short = true;
    }

    void look(std::size_t which) {
        job_controller& job = (*jobs_)[which];
        const lifecycle::job_step step = job.look(stage_.now);
        if (step.status != job.status) {
            const bool ran = job.status.phase == lifecycle::job_phase::running;
            job.status = step.status;
            if (!job.began && !ran && job.status.phase == lifecycle::job_phase::running)
                job.began = stage_.now;
            if (!job.ended && lifecycle::has_ended(job.status))
                job.ended = stage_.now;
            tell(kind_of(which), job.key(), "Status");
            stage_.record.lines.back().status = job.status;
            dirty_.insert(which);
        }
        for (const lifecycle::pod_deletion& each : step.deletions)
            remove_pod({job.key().name_space, each.name}, "Deleted");
        if (step.create_group)
            create_group(which);
        job.config_map = job.config_map || step.create_config_map;
        for (const lifecycle::replica_id id : step.create_services) {
            job.services.insert(job.pod_name(id));
            tell("Service", {job.key().name_space, job.pod_name(id)}, "Created");
        }
        for (const lifecycle::replica_id id : step.create_pods)
            create_pod(which, id, step.resumed);
        if (!step.is_quiet())
            dirty_.insert(which);
        if (step.wake && *step.wake > stage_.now)
            plan(*step.wake, {happening::look, which, {}});
    }

    void create_group(std::size_t which) {
        job_controller& job = (*jobs_)[which];
        gang<std::string> spec = job.gang_spec();
        spec.created = stage_.now;
        spec.tenant = stage_.lookup.namespace_labels(job.key().name_space);
        if (const auto age = stage_.lifetimes().longest(spec.queue.value_or(std::string{})))
            spec.duration = std::min(spec.duration.value_or(*age), *age);
        const event_result taken = stage_.known().upsert_gang(job.group_key(), std::move(spec));
        MUSTER_ASSERT(taken == event_result::applied, "a group comes before its pods");
        static_cast<void>(taken);
        job.group = true;
        groups_[job.group_key()] = which;
        tell("PodGroup", {job.key().name_space, translate::group_name(job.job)}, "Created");
    }

    void create_pod(std::size_t which, lifecycle::replica_id id, bool resumed) {
        job_controller& job = (*jobs_)[which];
        const object_key key{job.key().name_space, job.pod_name(id)};
        const codec::pod_object* const made = job.pod_of(id, resumed, *out_);
        MUSTER_ASSERT(made != nullptr && !stage_.known().pod_keys().contains(key),
                      "pods and their names were looked at before");
        auto spec = stage_.spec_of(*made, job.job.scheduler ? translate::leaf_of(job.job, id.task)
                                                            : vertex_index{0});
        spec.created = stage_.now;
        codec::group_key group{key.name_space, key.name, codec::group_origin::single_pod};
        if (job.job.scheduler) {
            group = job.group_key();
        } else {
            static_cast<void>(stage_.known().upsert_gang(
                group, lone_gang(stage_.now, stage_.lookup.priority(*made).value_or(0),
                                 stage_.lookup.namespace_labels(key.name_space))));
        }
        auto [pod, runs] = job.next_attempt(id);
        const event_result taken = stage_.cluster.create(key, group, std::move(spec), runs);
        MUSTER_ASSERT(taken == event_result::applied, "sums of requests were looked at before");
        static_cast<void>(taken);
        job.pods[key.name] = std::move(pod);
        owners_.add(key, which, id);
        tell("Pod", key, "Created");
        plan_age(stage_.limit_age(key, stage_.now, *made));
    }

    /// Returns which volumes the decision waits for, or else the words.
    std::string details_of(const decision& made, std::string& words) {
        std::string text;
        if (made.outcome.kind != answer::admitted && made.outcome.at == gate::volumes)
            text = stage_.unready_volumes_text(made.gang);
        return text.empty() ? std::move(words) : text;
    }

    /// One cycle; whether it changed anything.
    bool schedule() {
        stage_.cluster.schedule(stage_.now, how_, options_.limit, result_);
        bool changed = false;
        const auto& state = stage_.known();
        std::vector<object_key> evicted;
        for (const decision& each : result_.decisions) {
            const codec::group_key group = state.key(each.gang);
            const bool pod = group.origin == codec::group_origin::single_pod;
            if (each.outcome.kind != answer::admitted && each.outcome.at == gate::members &&
                (group.origin.api == translate::gang_api::grove || rests(group)))
                continue;
            if (auto words = words_of(each, pod); !words.first.empty())
                tell(pod                                              ? "Pod"
                     : group.origin.api == translate::gang_api::grove ? "PodGang"
                                                                      : "PodGroup",
                     {group.name_space, group.name}, words.first, details_of(each, words.second));
            for (const pod_index victim : each.evictions)
                evicted.push_back(state.key(victim));
            if (each.nominated)
                continue;
            for (const placement& one : each.placements) {
                changed = true;
                const object_key key = state.key(one.pod);
                if (sets_->owns(key)) {
                    sets_->place(key, state.key(one.node), stage_.now);
                    follow_sets();
                    continue;
                }
                if (auto* owned_by = owners_.pod(key))
                    owned_by->phase = lifecycle::observed_phase::running;
                tell("Pod", key, "Running", "on " + state.key(one.node));
                touched(key);
            }
        }
        for (const object_key& key : evicted) {
            changed = true;
            remove_pod(key, "Evicted");
        }
        return changed || !dirty_.empty();
    }

    /// Its job asks for no pods: that it has too few is no news. (PodGangs say it themselves.)
    [[nodiscard]] bool rests(const codec::group_key& group) const {
        const auto at = groups_.find(group);
        if (at == groups_.end())
            return false;
        const job_controller& job = (*jobs_)[at->second];
        return job.plan().paused || lifecycle::has_ended(job.status);
    }

    void finish() {
        stage_.record.end =
            stage_.record.lines.empty() ? stage_.now : stage_.record.lines.back().at;
        for (const auto& [key, pod] : stage_.known().pod_keys())
            stage_.record.pods_pending += stage_.known()[pod].placeable() ? 1U : 0U;
        stage_.record.pods_pending += sets_->gated();
        stage_.record.sets = sets_->finish();
        for (const job_controller& job : *jobs_)
            stage_.record.jobs.push_back({job.job.kind, job.key(), job.status, job.deleted,
                                          job.created, job.began, job.ended});
    }

    static constexpr std::int64_t eviction_delay = std::int64_t{300} * 1'000'000'000;

    run_stage<Width> stage_;
    std::deque<job_controller>* jobs_;
    pod_owners owners_;
    grove_play* sets_;
    const std::vector<script_event>* script_;
    any_policy<core_traits<Width>> how_;
    run_options options_;
    codec::diagnostics* out_;
    adapter::virtual_time<happening> planned_;
    std::set<std::size_t> dirty_;
    std::map<codec::group_key, std::size_t> groups_;
    /// When nodes were lost, and what ran there.
    std::map<std::string, std::pair<timestamp, std::vector<object_key>>> lost_;
    cycle_result result_;
};

} // namespace detail
} // namespace sim
} // namespace v0_1
} // namespace muster
