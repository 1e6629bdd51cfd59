// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include <muster/cycle/cycle.hpp>
#include <muster/sim/run_jobs.hpp>

#include "planning.hpp"
#include "run.hpp"

namespace cli {

std::optional<muster::sim::run_record>
make_run(const muster::codec::manifests& objects, std::vector<muster::sim::job_input> jobs,
         std::vector<muster::sim::set_input> sets,
         const std::vector<muster::sim::script_event>& script, const request& asked,
         const run_request& run, muster::codec::diagnostics& out) {
    muster::codec::cluster_options where;
    where.queue_namespace = asked.queue_namespace;
    where.levels.levels = asked.topology;
    muster::sim::run_options options;
    options.now = asked.now;
    options.sample_conditions = run.sample_conditions;
    options.until = run.until * 1'000'000'000;
    options.limit = budget_of(asked);
    const auto how = [&](const auto& known) {
        policy_options made = asked.how;
        made.see_kinds(known.kinds);
        made.see_pods(known.state, known.volumes);
        return made;
    };
    return muster::sim::run_jobs(objects, std::move(jobs), std::move(sets), script, how, where,
                                 options, out);
}

} // namespace cli
