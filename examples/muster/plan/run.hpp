// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <boost/json/object.hpp>

#include <muster/apis/core/objects.hpp>
#include <muster/document/diagnostic.hpp>
#include <muster/gangs/target.hpp>
#include <muster/sim/job_controller.hpp>
#include <muster/sim/read_sets.hpp>
#include <muster/sim/run_record.hpp>
#include <muster/sim/run_script.hpp>

#include "../print/output.hpp"
#include "report.hpp"

namespace cli {

/// What `muster run` is asked beside what all commands are.
struct run_request {
    /// A file of events, or empty.
    std::string events;
    /// In seconds.
    std::int64_t until = 7 * 86'400;
    /// Of Grove's sets.
    muster::translate::grove_dialect dialect = muster::translate::grove_dialect::upstream;
    /// Conditions as in T9k's own sample of a status.
    bool sample_conditions = false;
};

/// Runs jobs and sets in virtual time; nothing when something is wrong with them, which goes to
/// `out`.
[[nodiscard]] std::optional<muster::sim::run_record>
make_run(const muster::codec::manifests& objects, std::vector<muster::sim::job_input> jobs,
         std::vector<muster::sim::set_input> sets,
         const std::vector<muster::sim::script_event>& script, const request& asked,
         const run_request& run, muster::codec::diagnostics& out);

/// What happened, a line each, and a line for each job.
[[nodiscard]] std::string run_table(const muster::sim::run_record& made, table_form form,
                                    bool sample);
/// The same as an object of muster.dev/v1alpha1, with every status that a job had.
[[nodiscard]] boost::json::object run_object(const muster::sim::run_record& made, bool sample);

} // namespace cli
