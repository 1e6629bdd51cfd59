// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/apis/t9k/jobs/job.hpp>
#include <muster/lifecycle/t9k_plan.hpp>

#include "random_jobs.hpp"

namespace lifecycle_test {

/// A random job of one of the seven kinds beside GenericJob: as the API says it, and as the slow
/// model has it, which is made of T9k's pages and not of the plan.
class random_kind {
public:
    random_kind(muster::translate::t9k_kind kind, dice_cup& dice) : dice_(&dice) {
        job.kind = kind;
        job.name = "j";
        job.uid = "11111111-2222-3333-4444-555555555555";
        using enum muster::translate::t9k_kind;
        switch (kind) {
        case generic:
            break;
        case tensorflow:
            if (dice.percent(50))
                add("chief", 1);
            if (dice.percent(40))
                add("evaluator", 1);
            add("worker", size());
            judge_by(find("chief") ? "chief" : "worker");
            break;
        case pytorch:
            add(dice.percent(50) ? "master" : "worker", size());
            if (!maybe_elastic())
                add("other", size());
            judge_by(model.types.front().name);
            break;
        case xgboost:
            add("master", 1);
            add("worker", size());
            judge_by("master");
            break;
        case mpi:
            job.config = muster::translate::mpi_config{};
            add("worker", size());
            add("launcher", 1);
            judge_by("launcher");
            model.any_fails = true;
            break;
        case colossal_ai:
            job.config = muster::translate::colossal_config{};
            add("worker", size());
            add("launcher", 1);
            judge_by("launcher");
            break;
        case deepspeed:
            job.config = muster::translate::deepspeed_config{};
            add("worker", size());
            maybe_elastic();
            judge_by("worker");
            break;
        case beam:
            job.config = muster::translate::flink_config{};
            add("jobmanager", 1);
            add("taskmanager", size());
            add("batchjob", 1);
            judge_by("batchjob");
            break;
        }
        bound();
        clean_up();
        expose();
        if (dice.percent(60))
            job.scheduler.emplace();
        model.grouped = job.scheduler.has_value();
        scale(sizes_now());
        name_pods();
    }

    /// How many replicas there are of all types now.
    [[nodiscard]] std::vector<int> sizes() const { return sizes_; }
    [[nodiscard]] job_plan plan() const { return plan_of(job); }
    [[nodiscard]] bool can_scale() const { return model.least >= 0; }

    /// Another number of replicas of an elastic job.
    void scale_somehow() {
        job.elastic->expected = dice_->between(job.elastic->least, job.elastic->most);
        scale({static_cast<int>(job.elastic->expected)});
    }

    muster::translate::t9k_job job;
    slow::job model;

private:
    int size() { return static_cast<int>(dice_->between(1, 3)); }

    [[nodiscard]] bool find(std::string_view type) const {
        return std::ranges::find(model.types, type, &slow::replica_type::name) != model.types.end();
    }

    void add(std::string_view type, int count) {
        using muster::translate::t9k_kind;
        slow::replica_type made;
        made.name = type;
        made.size = count;
        made.policy = "NFFAE"[dice_->below(5)];
        made.limit = static_cast<int>(dice_->between(-1, 2));
        muster::translate::t9k_replica_spec spec;
        if (type == "launcher")
            spec.part = muster::translate::replica_part::launcher;
        if (type == "batchjob") {
            spec.part = muster::translate::replica_part::submitter;
            made.late = true;
        }
        spec.replicas = count;
        spec.restart.policy = made.policy == 'N'   ? restart_policy::never
                              : made.policy == 'F' ? restart_policy::on_failure
                              : made.policy == 'A' ? restart_policy::always
                                                   : restart_policy::exit_code;
        spec.restart.limit = made.limit < 0 ? unlimited : std::optional<std::int64_t>{made.limit};
        if (shares_budget())
            made.limit = -1;
        job.replica_specs.push_back(spec);
        // Views of names: they outlive the job.
        constexpr std::array<std::string_view, 9> known{"chief",      "evaluator",   "worker",
                                                        "master",     "other",       "launcher",
                                                        "jobmanager", "taskmanager", "batchjob"};
        job.replica_specs.back().type = *std::ranges::find(known, type);
        model.types.push_back(std::move(made));
    }

    /// Kinds whose restarts are bounded for all replicas together.
    [[nodiscard]] bool shares_budget() const {
        using enum muster::translate::t9k_kind;
        return job.kind == tensorflow || job.kind == pytorch || job.kind == xgboost ||
               job.kind == deepspeed;
    }

    void judge_by(std::string_view type) {
        for (std::size_t i = 0; i < model.types.size(); ++i)
            if (model.types[i].name == type)
                model.master = slow::replica{i, 0};
    }

    bool maybe_elastic() {
        if (!dice_->percent(50))
            return false;
        auto& elastic = job.elastic.emplace();
        elastic.enabled = true;
        elastic.least = dice_->between(1, 2);
        elastic.most = elastic.least + dice_->between(0, 2);
        elastic.expected = dice_->between(elastic.least, elastic.most);
        model.least = static_cast<int>(elastic.least);
        return true;
    }

    void bound() {
        if (shares_budget()) {
            if (dice_->percent(70)) {
                model.budget = static_cast<int>(dice_->between(0, 3));
                job.run_policy.backoff_limit = model.budget;
            } else if (job.kind == muster::translate::t9k_kind::pytorch) {
                model.budget = 3;
            }
        }
        if (dice_->percent(25)) {
            model.deadline = static_cast<int>(dice_->between(3, 20));
            job.run_policy.active_deadline_seconds = model.deadline;
        }
    }

    void clean_up() {
        using enum muster::translate::t9k_kind;
        const char all = "NAU"[dice_->below(3)];
        job.run_policy.clean_up = all == 'N'   ? clean_up_policy::none
                                  : all == 'A' ? clean_up_policy::all
                                               : clean_up_policy::unfinished;
        const bool parts = dice_->percent(30);
        if (job.kind == mpi || job.kind == colossal_ai)
            job.run_policy.clean_up_workers = parts;
        if (job.kind == beam)
            job.run_policy.clean_up_cluster = parts;
        for (slow::replica_type& type : model.types) {
            const bool part = type.name != "launcher" && type.name != "batchjob";
            type.clean_up =
                part && (job.run_policy.clean_up_workers || job.run_policy.clean_up_cluster) ? 'A'
                                                                                             : all;
        }
    }

    /// Those whose names others look up have a Service each.
    void expose() {
        using enum muster::translate::t9k_kind;
        model.cluster = job.kind == beam;
        model.configured = job.kind == mpi || job.kind == colossal_ai || job.kind == deepspeed;
        constexpr int everybody = 100;
        for (std::size_t i = 0; i < model.types.size(); ++i) {
            slow::replica_type& type = model.types[i];
            if (job.kind == tensorflow)
                type.services = type.name == "evaluator" ? 0 : everybody;
            else if (job.kind == pytorch || job.kind == xgboost)
                type.services = i == model.master->first ? 1 : 0;
            else if (job.kind == beam)
                type.services = i == 0 ? 1 : 0;
            else
                type.services = type.name == "worker" ? everybody : 0;
        }
    }

    [[nodiscard]] std::vector<int> sizes_now() const {
        std::vector<int> out;
        for (const slow::replica_type& type : model.types)
            out.push_back(model.least >= 0 ? static_cast<int>(job.elastic->expected) : type.size);
        return out;
    }
    void scale(std::vector<int> to) { sizes_ = std::move(to); }

    /// Names are not what is judged: they are taken from the plan of the largest job.
    void name_pods() {
        muster::translate::t9k_job largest = job;
        if (largest.elastic)
            largest.elastic->expected = largest.elastic->most;
        const job_plan plan = plan_of(largest);
        for (std::size_t i = 0; i < model.types.size(); ++i)
            model.types[i].names = plan.tasks[i].pods;
    }

    dice_cup* dice_;
    std::vector<int> sizes_;
};

} // namespace lifecycle_test
