// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <muster/lifecycle/job_plan.hpp>
#include <muster/testing/random.hpp>
#include <support/settings.hpp>

#include "job_bench.hpp"
#include "slow_model.hpp"

namespace lifecycle_test {

using dice_cup = muster::testing::random;
namespace slow = slow_model;

inline slow::rule random_rule(dice_cup& dice, const slow::job& job) {
    slow::rule made;
    while (made.empty())
        for (std::size_t type = 0; type < job.types.size(); ++type) {
            std::vector<int> ranks;
            for (int rank = 0; rank < job.types[type].size; ++rank)
                if (dice.percent(50))
                    ranks.push_back(rank);
            if (!ranks.empty())
                made.emplace_back(type, ranks);
        }
    return made;
}

inline slow::job random_job(dice_cup& dice) {
    slow::job made;
    const std::array<const char*, 3> names{"worker", "ps", "chief"};
    const auto types = dice.between(1, 2);
    for (std::int64_t i = 0; i < types; ++i) {
        slow::replica_type type;
        type.name = names[static_cast<std::size_t>(i)];
        type.size = static_cast<int>(dice.between(1, 3));
        type.policy = "NFFA"[dice.below(4)];
        type.limit = static_cast<int>(dice.between(-1, 2));
        for (int rank = 0; rank < type.size; ++rank)
            type.names.push_back("j-" + type.name + "-" + std::to_string(rank));
        made.types.push_back(type);
    }
    for (auto* rules : {&made.success, &made.failure})
        for (auto count = dice.between(0, 2); count > 0; --count)
            rules->push_back(random_rule(dice, made));
    const char clean_up = "NAU"[dice.below(3)];
    made.grouped = dice.percent(50);
    const bool exposed = dice.percent(30);
    for (slow::replica_type& type : made.types) {
        type.clean_up = clean_up;
        type.services = exposed ? type.size : 0;
    }
    return made;
}

inline t9k_rule as_rule(const slow::rule& from) {
    t9k_rule made;
    for (const auto& [type, ranks] : from)
        made.push_back({type, {ranks.begin(), ranks.end()}});
    return made;
}

inline job_plan as_plan(const slow::job& from) {
    job_plan plan = plan_with({});
    for (const slow::replica_type& type : from.types) {
        task_plan made = task(type.name, type.size);
        made.restart.policy = type.policy == 'N'   ? restart_policy::never
                              : type.policy == 'F' ? restart_policy::on_failure
                                                   : restart_policy::always;
        made.restart.limit = type.limit < 0 ? unlimited : std::optional<std::int64_t>{type.limit};
        made.at_end = type.clean_up == 'N'   ? clean_up_policy::none
                      : type.clean_up == 'A' ? clean_up_policy::all
                                             : clean_up_policy::unfinished;
        made.services = type.services;
        plan.tasks.push_back(std::move(made));
    }
    for (const slow::rule& each : from.success)
        plan.success.push_back(as_rule(each));
    for (const slow::rule& each : from.failure)
        plan.failure.push_back(as_rule(each));
    plan.grouped = from.grouped;
    return plan;
}

} // namespace lifecycle_test
