// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/lifecycle/advance.hpp>

#include "random_jobs.hpp"
#include "random_kinds.hpp"
#include "slow_model.hpp"

namespace lifecycle_test {

inline std::string name_of(const slow::job& job, const slow::replica& of) {
    return job.types[of.first].names[static_cast<std::size_t>(of.second)];
}

inline observation as_observation(const slow::job& job, const slow::look& from) {
    observation seen;
    seen.group = from.group;
    seen.config_map = from.config;
    for (const slow::replica& each : from.services)
        seen.services.push_back(name_of(job, each));
    for (const slow::pod& each : from.pods) {
        observed_pod pod;
        pod.name = name_of(job, each.of);
        pod.uid = std::to_string(each.uid);
        const std::string_view letters = "PRSFU";
        pod.phase = static_cast<observed_phase>(letters.find(each.phase));
        pod.terminating = each.leaving;
        pod.disrupted = each.disrupted;
        if (each.phase == 'S' || each.phase == 'F')
            pod.containers = {{"main", each.code}};
        seen.pods.push_back(std::move(pod));
    }
    return seen;
}

/// What the machine answered, in the model's words.
inline slow::answer as_answer(const job_step& step) {
    slow::answer made;
    made.phase = to_text(*step.status.phase);
    for (std::size_t type = 0; type < step.status.tasks.size(); ++type)
        for (std::size_t rank = 0; rank < step.status.tasks[type].replicas.size(); ++rank) {
            const replica_status& replica = step.status.tasks[type].replicas[rank];
            const slow::replica of{type, static_cast<int>(rank)};
            made.replicas[of] = to_text(replica.phase).front();
            made.restarts[of] = static_cast<int>(replica.restarts);
        }
    for (const job_condition& each : step.status.conditions)
        made.conditions[std::string(to_text(each.type))] = {
            each.is_true, each.reason, each.message, static_cast<int>(each.changed / second)};
    for (const pod_deletion& each : step.deletions)
        made.deletions.insert(std::atoi(each.uid.c_str()));
    for (const replica_id& each : step.create_pods)
        made.pods.insert({each.task, static_cast<int>(each.rank)});
    for (const replica_id& each : step.create_services)
        made.services.insert({each.task, static_cast<int>(each.rank)});
    made.group = step.create_group;
    made.config = step.create_config_map;
    made.resumed = step.resumed;
    return made;
}

inline std::string text(const slow::answer& of) {
    std::string out = of.phase + " replicas";
    for (const auto& [who, phase] : of.replicas)
        out += std::string(" ") + phase + std::to_string(of.restarts.at(who));
    for (const auto& [type, is] : of.conditions)
        out += "\n  " + type + (is.is_true ? " True " : " False ") + is.reason + " " + is.message +
               " @" + std::to_string(is.changed);
    out += "\n  delete";
    for (const int uid : of.deletions)
        out += " " + std::to_string(uid);
    out += " create";
    for (const auto& [type, rank] : of.pods)
        out += " " + std::to_string(type) + "/" + std::to_string(rank);
    return out + " services " + std::to_string(of.services.size()) + (of.group ? " group" : "") +
           (of.config ? " config" : "") + (of.resumed ? " resumed" : "");
}

enum event {
    create,
    start,
    succeed,
    fail,
    restart,
    remove,
    vanish,
    lose_node,
    node_back,
    pause,
    resume,
    scale,
    delete_job,
    event_count
};
inline constexpr std::array<const char*, event_count> event_names{
    "create",    "start",     "succeed", "fail",   "restart", "delete-pod", "gone",
    "node-lost", "node-back", "pause",   "resume", "scale",   "delete-job"};
inline constexpr std::array<const char*, 8> phase_names{
    "(new)", "Pending", "Running", "Resuming", "Unknown", "Paused", "Succeeded", "Failed"};

/// What may happen to jobs of a kind beside what happens to pods.
struct events_of_kind {
    bool pauses = true;
    bool scales = false;
};

/// Whether an event can happen in a phase: nothing starts again in a pause or at the end, and only
/// a paused job can be resumed, though the switch may be moved at the end too. Pods have a life of
/// their own in every phase: those asked for just before a pause come in it.
inline bool is_legal(std::size_t phase, event what, const events_of_kind& kind) {
    const std::string_view in = phase_names[phase];
    if (in == "(new)" || what == create)
        return in == "(new)" && what == create;
    const bool over = in == "Succeeded" || in == "Failed";
    if (!kind.pauses && (in == "Paused" || in == "Resuming" || what == pause || what == resume))
        return false;
    if (what == scale)
        return kind.scales && !over;
    if (what == restart)
        return in != "Paused" && !over;
    if (what == pause)
        return in != "Paused";
    if (what == resume)
        return in == "Paused" || over;
    return true;
}

using coverage = std::array<std::array<std::size_t, event_count>, phase_names.size()>;

/// A cluster in which anything happens to the pods of one job.
class random_world {
public:
    /// Of a GenericJob.
    random_world(std::uint64_t seed, coverage& seen)
        : dice_(seed), job_(random_job(dice_)), plan_(as_plan(job_)), model_(job_), seen_(&seen) {}

    /// Of one of the other kinds.
    random_world(muster::translate::t9k_kind kind, std::uint64_t seed, coverage& seen)
        : dice_(seed),
          kind_(std::in_place, kind, dice_),
          job_(kind_->model),
          plan_(kind_->plan()),
          model_(job_),
          seen_(&seen),
          pauses_(kind != muster::translate::t9k_kind::beam) {}

    /// The first disagreement, or nothing.
    std::string run() {
        note(create);
        plan_.paused = pauses_ && dice_.percent(10);
        const auto steps = dice_.between(6, 28);
        for (std::int64_t i = 0; i < steps; ++i) {
            if (i > 0)
                something_happens();
            if (auto fault = look(); !fault.empty())
                return fault;
        }
        if (!dice_.percent(50))
            return {};
        note(delete_job);
        plan_.terminating = true;
        const job_status before = status_;
        const job_step step = advance(plan_, status_, {}, now_);
        return step.is_quiet() && step.status == before ? "" : "a deleted job is worked on";
    }

private:
    struct world_pod {
        slow::pod pod;
        bool visible = true;
    };

    void note(event what) {
        std::size_t row = 0;
        for (std::size_t i = 1; status_.phase && i < phase_names.size(); ++i)
            if (to_text(*status_.phase) == phase_names[i])
                row = i;
        ++(*seen_)[row][what];
    }

    world_pod* pick() { return pods_.empty() ? nullptr : &pods_[dice_.below(pods_.size())]; }

    void something_happens() {
        // Those who leave do so sooner or later, and those who came are seen sooner or later.
        for (std::size_t at = 0; at < pods_.size();) {
            world_pod& each = pods_[at];
            each.visible = each.visible || dice_.percent(60);
            if (each.pod.leaving && each.pod.phase == 'R' && dice_.percent(30))
                end(each.pod, dice_.percent(50));
            else if (each.pod.leaving && dice_.percent(50)) {
                note(vanish);
                pods_.erase(pods_.begin() + static_cast<std::ptrdiff_t>(at));
                continue;
            }
            ++at;
        }
        if (kind_ && kind_->can_scale() && !has_ended(status_) && dice_.percent(15)) {
            note(scale);
            kind_->scale_somehow();
            const bool paused = plan_.paused;
            plan_ = kind_->plan();
            plan_.paused = paused;
        }
        if (pauses_ && (dice_.percent(12) || (plan_.paused && dice_.percent(30)))) {
            note(plan_.paused ? resume : pause);
            plan_.paused = !plan_.paused;
            return;
        }
        for (auto count = dice_.between(0, 4); count > 0; --count)
            if (world_pod* of = pick())
                happens_to(*of);
        if (dice_.percent(3))
            group_ = false;
        if (dice_.percent(3) && !services_.empty())
            services_.erase(services_.begin());
    }

    void end(slow::pod& pod, bool well) {
        note(well ? succeed : fail);
        pod.phase = well ? 'S' : 'F';
        pod.code = well ? 0 : dice_.percent(30) ? 137 : static_cast<int>(dice_.between(1, 3));
    }

    void happens_to(world_pod& which) {
        slow::pod& pod = which.pod;
        if (pod.leaving || !which.visible)
            return;
        const auto roll = dice_.between(0, 99);
        if (pod.phase == 'P' && roll < 80) {
            note(start);
            pod.phase = 'R';
        } else if (pod.phase == 'R' && roll < 35) {
            end(pod, dice_.percent(50));
        } else if (pod.phase == 'R' && roll < 50) {
            note(lose_node);
            pod.phase = 'U';
        } else if (pod.phase == 'U' && roll < 40) {
            note(node_back);
            pod.phase = 'R';
        } else if (pod.phase == 'U' && roll < 60) {
            pod.phase = 'F';
            pod.disrupted = true;
            pod.code = 137;
        } else if (roll >= 90) {
            note(remove);
            pod.leaving = true;
        } else if (roll >= 85) {
            note(vanish);
            pods_.erase(pods_.begin() + (&which - pods_.data()));
        }
    }

    std::string look() {
        slow::look seen;
        seen.paused = plan_.paused;
        seen.group = group_;
        seen.config = config_;
        for (const task_plan& task : plan_.tasks)
            seen.sizes.push_back(static_cast<int>(task.pods.size()));
        seen.services = services_;
        for (const world_pod& each : pods_)
            if (each.visible)
                seen.pods.push_back(each.pod);
        dice_.shuffle(seen.pods);
        const observation observed = as_observation(job_, seen);
        const job_step step = advance(plan_, status_, observed, now_);
        const job_step again = advance(plan_, step.status, observed, now_);
        if (again.status != step.status || again.deletions != step.deletions ||
            again.create_pods != step.create_pods || again.create_group != step.create_group ||
            again.create_services != step.create_services ||
            again.create_config_map != step.create_config_map)
            return "a second look changes something";
        const std::string expected = text(model_.look_again(seen));
        const std::string actual = text(as_answer(step));
        if (expected != actual)
            return "in look " + std::to_string(now_ / second) + " expected\n" + expected +
                   "\nand found\n" + actual;
        if (step.status.restarts > status_.restarts)
            note(restart);
        status_ = step.status;
        carry_out(step);
        now_ += second;
        return {};
    }

    void carry_out(const job_step& step) {
        for (const pod_deletion& each : step.deletions)
            for (world_pod& pod : pods_)
                if (std::to_string(pod.pod.uid) == each.uid)
                    pod.pod.leaving = true;
        group_ = group_ || step.create_group;
        config_ = config_ || step.create_config_map;
        for (const replica_id& each : step.create_services)
            services_.insert({each.task, static_cast<int>(each.rank)});
        for (const replica_id& each : step.create_pods) {
            const slow::replica of{each.task, static_cast<int>(each.rank)};
            const bool exists =
                std::ranges::any_of(pods_, [&](const world_pod& pod) { return pod.pod.of == of; });
            if (exists)
                continue;
            world_pod made;
            made.pod.of = of;
            made.pod.uid = ++last_uid_;
            made.visible = dice_.percent(65);
            pods_.push_back(made);
        }
    }

    dice_cup dice_;
    std::optional<random_kind> kind_;
    slow::job job_;
    job_plan plan_;
    slow::model model_;
    coverage* seen_;
    job_status status_;
    std::vector<world_pod> pods_;
    std::set<slow::replica> services_;
    bool pauses_ = true;
    bool group_ = false;
    bool config_ = false;
    int last_uid_ = 0;
    timestamp now_ = 0;
};

} // namespace lifecycle_test
