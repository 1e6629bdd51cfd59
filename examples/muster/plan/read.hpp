// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <muster/apis/core/objects.hpp>
#include <muster/document/diagnostic.hpp>
#include <muster/document/document.hpp>
#include <muster/document/unread_parts.hpp>
#include <muster/gangs/loss.hpp>
#include <muster/gangs/target.hpp>
#include <muster/input/gang_reader.hpp>
#include <muster/sim/job_controller.hpp>
#include <muster/sim/read_sets.hpp>
#include <muster/sim/run_script.hpp>

namespace cli {

// The readers of all kinds of objects, compiled once.

/// Like codec::read_inputs(), but input without any object is an error: if the first command of a
/// pipe fails, its empty output must not look like an empty cluster. Only a command that uses
/// read_cluster() may isolate unread parts.
[[nodiscard]] std::vector<muster::codec::document>
read_objects(const std::vector<std::string>& files, muster::codec::diagnostics& found,
             muster::codec::on_unread unread = muster::codec::on_unread::error);

/// As codec::read_cluster_isolated().
[[nodiscard]] muster::codec::manifests read_cluster(std::vector<muster::codec::document>& documents,
                                                    const muster::codec::gang_options& options,
                                                    muster::codec::diagnostics& found);

/// What read_cluster() left out without a finding, in one line per reason. Objects that describe no
/// pods are not mentioned.
[[nodiscard]] std::vector<std::string> skipped_lines(const muster::codec::manifests& objects);

/// As codec::read_gangs().
[[nodiscard]] muster::codec::gangs read_gangs(const std::vector<muster::codec::document>& documents,
                                              const muster::codec::gang_options& options,
                                              muster::codec::diagnostics& found);

/// What a run in virtual time begins with.
struct run_input {
    /// What the rest refers to.
    std::vector<muster::codec::document> documents;
    muster::codec::manifests objects;
    std::vector<muster::sim::job_input> jobs;
    std::vector<muster::sim::set_input> sets;
    std::vector<muster::sim::script_event> script;
    /// Features of foreign jobs that a run does not support.
    std::vector<muster::translate::loss> losses;
};

/// Takes jobs, sets and the cluster from the documents, and the script from `events`. To be used
/// only when nothing that is found is an error.
[[nodiscard]] run_input read_run(std::vector<muster::codec::document> documents,
                                 const std::vector<muster::codec::document>& events,
                                 const std::string& default_namespace,
                                 muster::translate::grove_dialect dialect,
                                 muster::codec::diagnostics& found);

} // namespace cli
