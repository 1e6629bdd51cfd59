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

#include <muster/adapter/memory_cluster.hpp>
#include <muster/adapter/virtual_time.hpp>
#include <muster/codec/cluster.hpp>
#include <muster/sim/job_controller.hpp>
#include <muster/sim/pod_lifetimes.hpp>
#include <muster/sim/run_options.hpp>
#include <muster/sim/run_record.hpp>
#include <muster/sim/run_script.hpp>
#include <muster/sim/run_words.hpp>
#include <muster/translate/t9k_gang.hpp>

namespace muster::inline v0_1 {
namespace sim {
namespace detail {

/// Runs jobs in a cluster in memory: every controller looks at its job whenever something happened
/// to it, a cycle is made when they are all quiet, and time passes when the cycle has no more to
/// place.
template<std::size_t Width, class Policy>
class job_run {
    using traits = codec::kubernetes_traits<Width>;
    using object_key = codec::object_key;
    using timestamp = codec::timestamp;

public:
    job_run(codec::cluster<Width>& known, std::deque<job_controller>& jobs,
            const std::vector<script_event>& script, const Policy& how, const run_options& options,
            codec::diagnostics& out)
        : known_(&known),
          jobs_(&jobs),
          script_(&script),
          how_(&how),
          options_(options),
          out_(&out),
          lookup_(*known.objects),
          pods_kind_(*known.kinds.find("pods")),
          cluster_(known.state) {
        record_.start = now_ = known.now;
    }

    run_record run() {
        adopt_pods();
        for (std::size_t job = 0; job < jobs_->size(); ++job)
            plan((*jobs_)[job].arrival(now_), {happening::arrival, job, {}});
        for (std::size_t line = 0; line < script_->size(); ++line)
            plan(record_.start + (*script_)[line].at, {happening::script, line, {}});
        const timestamp last = options_.until > std::numeric_limits<timestamp>::max() - now_
                                   ? std::numeric_limits<timestamp>::max()
                                   : now_ + options_.until;
        happen();
        settle();
        for (auto next = next_time(); next && !record_.cut_short; next = next_time()) {
            if (*next > last) {
                record_.cut_short = true;
                break;
            }
            now_ = *next;
            happen();
            settle();
        }
        finish();
        return std::move(record_);
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
        const auto mine = planned_.next();
        const auto ends = cluster_.next_end();
        return !mine ? ends : !ends ? mine : std::min(mine, ends);
    }

    void tell(std::string_view kind, const object_key& whom, std::string_view what,
              std::string details = {}) {
        record_.lines.push_back(
            {now_, std::string(kind), whom, std::string(what), std::move(details), std::nullopt});
    }

    /// Pods of the input that no job of the run owns.
    void adopt_pods() {
        for (const codec::pod_object& pod : known_->objects->pods) {
            const object_key& key = pod.metadata.key;
            const auto index = known_->state.pod_keys().at(key);
            const auto& record = known_->state[index];
            std::optional<std::string> on;
            if (!pod.node.empty())
                on = pod.node;
            cluster_.adopt(key, known_->state[record.gang].key,
                           codec::core_pod<Width>(pod, record.role, known_->kinds, pods_kind_), on,
                           pod.run_time, now_);
            if (const auto code = exit_code_of(pod, *out_))
                codes_[key] = *code;
            limit_age(key, pod.metadata.created.value_or(now_), lookup_.priority(pod).value_or(0));
        }
    }

    // ---- what happens ---------------------------------------------------------------------------

    void happen() {
        while (const auto key = cluster_.take_ended(now_))
            end_pod(*key, declared_code(*key));
        while (auto due = planned_.take(now_))
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
    }

    [[nodiscard]] std::string_view kind_of(std::size_t job) const {
        return to_text((*jobs_)[job].job.kind);
    }

    [[nodiscard]] job_controller::owned_pod* owned(const object_key& pod) {
        const auto at = owner_.find(pod);
        return at == owner_.end() ? nullptr : &(*jobs_)[at->second].pods.at(pod.name);
    }

    void touched(const object_key& pod) {
        if (const auto at = owner_.find(pod); at != owner_.end())
            dirty_.insert(at->second);
    }

    [[nodiscard]] std::int64_t declared_code(const object_key& pod) const {
        const auto job = owner_.find(pod);
        if (job == owner_.end()) {
            const auto code = codes_.find(pod);
            return code == codes_.end() ? 0 : code->second;
        }
        const job_controller& of = (*jobs_)[job->second];
        const auto replica = replica_.at(pod);
        return declared_attempts::of(of.declared(replica.task).exit_codes,
                                     of.pods.at(pod.name).attempt)
            .value_or(0);
    }

    void end_pod(const object_key& key, std::int64_t code) {
        const bool well = code == 0;
        if (!cluster_.set_phase(key, well ? pod_phase::succeeded : pod_phase::failed))
            return;
        if (auto* pod = owned(key)) {
            pod->phase =
                well ? lifecycle::observed_phase::succeeded : lifecycle::observed_phase::failed;
            pod->exit_code = code;
        }
        tell("Pod", key, well ? "Succeeded" : "Failed",
             well ? "" : "exit code " + std::to_string(code));
        touched(key);
    }

    void remove_pod(const object_key& key, std::string_view what, std::string details = {}) {
        const auto& state = known_->state;
        const codec::group_key group = state[state[state.pod_keys().at(key)].gang].key;
        cluster_.remove(key);
        lifetimes_.forget(key);
        if (group.origin == codec::group_origin::single_pod)
            static_cast<void>(known_->state.remove_gang(group));
        touched(key);
        if (const auto at = owner_.find(key); at != owner_.end()) {
            (*jobs_)[at->second].pods.erase(key.name);
            owner_.erase(at);
            replica_.erase(key);
        }
        tell("Pod", key, what, std::move(details));
    }

    void evict_lost(const std::string& node) {
        const auto since = lost_.find(node);
        if (since == lost_.end() || now_ - since->second.first < eviction_delay)
            return;
        for (const object_key& key : since->second.second)
            if (cluster_.phase(key) == pod_phase::unknown)
                remove_pod(key, "Deleted", "its node " + node + " was lost");
    }

    void act(const script_event& event) {
        switch (event.what) {
        case script_action::end: {
            const auto phase = cluster_.phase(event.whom);
            if (phase == pod_phase::running)
                return end_pod(event.whom, event.value);
            return tell("Pod", event.whom, "Ignored",
                        phase ? "it does not run" : "there is no such pod");
        }
        case script_action::delete_pod:
            if (cluster_.phase(event.whom))
                return remove_pod(event.whom, "Deleted");
            return tell("Pod", event.whom, "Ignored", "there is no such pod");
        case script_action::lose_node: {
            const auto pods = cluster_.lose_node(event.whom.name);
            MUSTER_ASSERT(pods.has_value(), "the nodes of a script exist");
            tell("Node", event.whom, "Lost");
            for (const object_key& key : *pods)
                see(key, lifecycle::observed_phase::unknown, "Unknown");
            lost_[event.whom.name] = {now_, *pods};
            return plan(now_ + eviction_delay, {happening::eviction, 0, event.whom.name});
        }
        case script_action::return_node:
            tell("Node", event.whom, "Returned");
            lost_.erase(event.whom.name);
            if (const auto back = cluster_.return_node(event.whom.name, now_))
                for (const object_key& key : *back)
                    see(key, lifecycle::observed_phase::running, "Running");
            return;
        case script_action::pause:
        case script_action::resume:
        case script_action::scale:
        case script_action::delete_job:
            break;
        }
        for (std::size_t job = 0; job < jobs_->size(); ++job)
            if ((*jobs_)[job].key() == event.whom)
                edit(job, event);
    }

    void see(const object_key& key, lifecycle::observed_phase phase, std::string_view what) {
        if (auto* pod = owned(key))
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

    /// Pods of a queue get only so old.
    void limit_age(const object_key& key, timestamp created, std::int64_t priority) {
        const auto& state = known_->state;
        const auto& queue = state[state[state.pod_keys().at(key)].gang].queue;
        if (!queue)
            return;
        if (const auto end = lifetimes_.limit(key, state[*queue].key, created, priority))
            plan(std::max(now_, *end), {happening::age, 0, {}});
    }

    /// Whoever owns a pod that is too old is paused where that is possible.
    void retire_pods() {
        constexpr const char* why = "MaxDurationExceeded: its queue lets no pod get older";
        for (const object_key& key : lifetimes_.take_due(now_)) {
            const auto phase = cluster_.phase(key);
            if (!phase || phase == pod_phase::succeeded || phase == pod_phase::failed)
                continue;
            const auto owner = owner_.find(key);
            if (owner == owner_.end() ||
                (*jobs_)[owner->second].job.kind == translate::t9k_kind::beam) {
                remove_pod(key, "Evicted", why);
            } else if (job_controller& job = (*jobs_)[owner->second]; !job.job.run_mode.pause) {
                tell(kind_of(owner->second), job.key(), job.edit(script_action::pause, 0).first,
                     why);
                dirty_.insert(owner->second);
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
            static_cast<void>(known_->state.remove_gang(job.group_key()));
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
            } else if (!schedule()) {
                return;
            }
        }
        record_.cut_short = true;
    }

    void look(std::size_t which) {
        job_controller& job = (*jobs_)[which];
        const lifecycle::job_step step = job.look(now_);
        if (step.status != job.status) {
            const bool ran = job.status.phase == lifecycle::job_phase::running;
            job.status = step.status;
            if (!job.began && !ran && job.status.phase == lifecycle::job_phase::running)
                job.began = now_;
            if (!job.ended && lifecycle::has_ended(job.status))
                job.ended = now_;
            tell(kind_of(which), job.key(), "Status");
            record_.lines.back().status = job.status;
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
        if (step.wake && *step.wake > now_)
            plan(*step.wake, {happening::look, which, {}});
    }

    void create_group(std::size_t which) {
        job_controller& job = (*jobs_)[which];
        const translate::gang_object made = translate::gangs_of(job.job).front();
        gang<std::string> spec;
        spec.queue = made.queue;
        spec.priority = made.priority.number.value_or(0);
        spec.created = now_;
        spec.tree = made.tree;
        spec.tenant = lookup_.namespace_labels(job.key().name_space);
        spec.duration = job.longest_run();
        if (const auto age = lifetimes_.longest(made.queue.value_or(std::string{})))
            spec.duration = std::min(spec.duration.value_or(*age), *age);
        const event_result taken = known_->state.upsert_gang(job.group_key(), std::move(spec));
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
        MUSTER_ASSERT(made != nullptr && !known_->state.pod_keys().contains(key),
                      "pods and their names were looked at before");
        auto spec = codec::core_pod<Width>(
            *made, job.job.scheduler ? translate::leaf_of(job.job, id.task) : vertex_index{0},
            known_->kinds, pods_kind_);
        spec.created = now_;
        codec::group_key group{key.name_space, key.name, codec::group_origin::single_pod};
        if (job.job.scheduler) {
            group = job.group_key();
        } else {
            static_cast<void>(known_->state.upsert_gang(
                group, lone_gang(now_, lookup_.priority(*made).value_or(0),
                                 lookup_.namespace_labels(key.name_space))));
        }
        auto [pod, runs] = job.next_attempt(id);
        const event_result taken = cluster_.create(key, group, std::move(spec), runs);
        MUSTER_ASSERT(taken == event_result::applied, "sums of requests were looked at before");
        static_cast<void>(taken);
        job.pods[key.name] = std::move(pod);
        owner_[key] = which;
        replica_[key] = id;
        tell("Pod", key, "Created");
        limit_age(key, now_, lookup_.priority(*made).value_or(0));
    }

    /// One cycle; whether it changed anything.
    bool schedule() {
        cluster_.schedule(now_, *how_, options_.limit, result_);
        bool changed = false;
        const auto& state = known_->state;
        std::vector<object_key> evicted;
        for (const decision& each : result_.decisions) {
            const codec::group_key group = state[each.gang].key;
            const bool pod = group.origin == codec::group_origin::single_pod;
            if (each.outcome.kind != answer::admitted && each.outcome.at == gate::members &&
                rests(group))
                continue;
            if (auto [what, details] = words_of(each, pod); !what.empty())
                tell(pod ? "Pod" : "PodGroup", {group.name_space, group.name}, what,
                     std::move(details));
            for (const pod_index victim : each.evictions)
                evicted.push_back(state[victim].key);
            if (each.nominated)
                continue;
            for (const placement& one : each.placements) {
                changed = true;
                const object_key key = state[one.pod].key;
                if (auto* owned_by = owned(key))
                    owned_by->phase = lifecycle::observed_phase::running;
                tell("Pod", key, "Running", "on " + state[one.node].key);
                touched(key);
            }
        }
        for (const object_key& key : evicted) {
            changed = true;
            remove_pod(key, "Evicted");
        }
        return changed || !dirty_.empty();
    }

    /// Its job asks for no pods: that it has too few is no news.
    [[nodiscard]] bool rests(const codec::group_key& group) const {
        const auto at = groups_.find(group);
        if (at == groups_.end())
            return false;
        const job_controller& job = (*jobs_)[at->second];
        return job.plan().paused || lifecycle::has_ended(job.status);
    }

    void finish() {
        record_.end = record_.lines.empty() ? now_ : record_.lines.back().at;
        for (const auto& [key, pod] : known_->state.pod_keys())
            record_.pods_pending += known_->state[pod].placeable() ? 1U : 0U;
        for (const job_controller& job : *jobs_)
            record_.jobs.push_back({job.job.kind, job.key(), job.status, job.deleted, job.created,
                                    job.began, job.ended});
    }

    static constexpr std::int64_t eviction_delay = std::int64_t{300} * 1'000'000'000;

    codec::cluster<Width>* known_;
    std::deque<job_controller>* jobs_;
    const std::vector<script_event>* script_;
    const Policy* how_;
    run_options options_;
    codec::diagnostics* out_;
    codec::object_lookup lookup_;
    kind_id pods_kind_;
    adapter::memory_cluster<traits> cluster_;
    adapter::virtual_time<happening> planned_;
    std::set<std::size_t> dirty_;
    std::map<object_key, std::size_t> owner_;
    std::map<object_key, lifecycle::replica_id> replica_;
    pod_lifetimes lifetimes_{*known_->objects};
    std::map<object_key, std::int64_t> codes_; ///< declared by pods that nobody owns
    std::map<codec::group_key, std::size_t> groups_;
    /// When nodes were lost, and what ran there.
    std::map<std::string, std::pair<timestamp, std::vector<object_key>>> lost_;
    cycle_result result_;
    run_record record_;
    timestamp now_ = 0;
};

} // namespace detail
} // namespace sim
} // namespace muster::inline v0_1
