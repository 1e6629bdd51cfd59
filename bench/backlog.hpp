// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "workload.hpp"

namespace bench {

/// A full cluster with a backlog of gangs that cannot start.
struct backlog_options {
    workload_options work;
    std::size_t pending = 10000;
    /// Cycles measured of each kind.
    std::size_t rounds = 30;
    /// Gangs refused one by one, none of them asked before.
    std::size_t refusals = 1000;
};

struct backlog_report {
    backlog_options asked;
    double utilisation = 0.0;
    std::size_t pending = 0;
    /// Refusals, the mean: gangs of one role, and of several.
    double refuse_one_role_ns = 0.0;
    double refuse_several_roles_ns = 0.0;
    std::size_t refused_one_role = 0;
    std::size_t refused_several_roles = 0;
    /// The first cycle over the whole backlog, every gang asked for the first time.
    double first_cycle_ns = 0.0;
    /// Nothing happened at all; and one gang that does not fit came, so nothing was freed.
    double resting_cycle_ns = 0.0;
    double arrival_cycle_ns = 0.0;
    /// A gang on 5 to 10 nodes left, and nothing that waits fits there; the middle cycle, and the
    /// nodes it had.
    double released_cycle_ns = 0.0;
    double released_nodes = 0.0;
    /// Ten nodes were announced with a little more than before.
    double changed_cycle_ns = 0.0;
    /// After a release with gangs of one role among them that may fit: what each that is asked
    /// adds, and how many are.
    double candidate_ns = 0.0;
    double candidates = 0.0;
    /// The same as after a release, with ordinary gangs waiting: per cycle the gangs asked anew and
    /// those that start.
    double refilled_cycle_ns = 0.0;
    double refilled_asked = 0.0;
    double refilled_started = 0.0;
};

[[nodiscard]] backlog_report run_backlog(const backlog_options& options);

/// The same with gangs of two roles, of which each alone finds room.
[[nodiscard]] backlog_report run_contended_backlog(const backlog_options& options);

} // namespace bench
