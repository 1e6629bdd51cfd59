// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <CLI/CLI.hpp>

#include "command.hpp"

namespace cli {

runner declare_plan(CLI::App& to);
runner declare_explain(CLI::App& to);
runner declare_whatif(CLI::App& to);
runner declare_diff(CLI::App& to);
runner declare_prio(CLI::App& to);
runner declare_queues(CLI::App& to);
runner declare_run(CLI::App& to);
runner declare_translate(CLI::App& to);
runner declare_up(CLI::App& to);
runner declare_snapshot(CLI::App& to);
runner declare_schedule(CLI::App& to);
runner declare_controller(CLI::App& to);
runner declare_shadow(CLI::App& to);
runner declare_schema(CLI::App& to);
runner declare_version(CLI::App& to);
runner declare_completion(CLI::App& to);

/// The commands in the order of the help text.
inline constexpr command commands[] = {
    {"plan", "Decides in one scheduling cycle which groups start now, and where", declare_plan},
    {"explain", "Lists the reasons why groups wait, and what would start them", declare_explain},
    {"whatif", "Compares the plans before and after changes to the cluster", declare_whatif},
    {"diff", "Compares two plans (-o json)", declare_diff},
    {"prio", "Lists groups in the order in which they are scheduled", declare_prio},
    {"queues", "Lists queues with their quota, use and waiting groups", declare_queues},
    {"run", "Runs jobs from creation to their end in virtual time, and prints the events",
     declare_run},
    {"translate", "Translates jobs and groups of any gang API to the objects of another",
     declare_translate},
    {"up", "Serves a cluster in memory, for kubectl: the API, kubelets, scheduler and controllers",
     declare_up},
    {"snapshot", "Writes a live cluster to a file that plan, explain and whatif read",
     declare_snapshot},
    {"schedule", "Schedules a live cluster", declare_schedule},
    {"controller",
     "Runs the jobs of a live cluster: creates their groups and pods, restarts failed ones, and "
     "writes their status",
     declare_controller},
    {"shadow", "Compares another scheduler's decisions with Muster's; writes nothing",
     declare_shadow},
    {"schema", "Prints the JSON Schema of an output", declare_schema},
    {"version", "Prints the version of muster", declare_version},
    {"completion", "Prints a completion script for a shell", declare_completion},
};

/// E.g. "0.1.0".
[[nodiscard]] std::string version_text();

} // namespace cli
