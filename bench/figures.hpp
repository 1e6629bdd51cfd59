// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "report.hpp"
#include "speeds.hpp"

namespace bench {

[[nodiscard]] inline std::string size_text(std::size_t nodes) {
    return nodes % 1000 == 0 ? std::to_string(nodes / 1000) + "k" : std::to_string(nodes);
}
[[nodiscard]] inline std::string case_text(request_regime requests, std::size_t nodes) {
    return std::string(name_of(requests)) + ", " + size_text(nodes) + " nodes";
}
// Each measures a part of the table and adds its figures and details.

/// One run among those of admission.
void add_churn_detail(report& to, const churn_report& run, std::size_t kinds);
/// `portable` holds what the portable build measured, if it did.
void add_admission(report& to, bool quick, const measurements& portable);
void add_variants(report& to, bool quick);
void add_more_admission(report& to);
void add_uniform_shapes(report& to);
void add_backlogs(report& to, bool quick);
void add_queue_tree(report& to, bool quick);
/// Of what bench_footprint printed; nothing where it did not run.
void add_footprint(report& to, const measurements& printed);
void add_greedy_gap(report& to, bool quick);
void add_affinity(report& to, bool quick);
void add_near_capacity(report& to, bool quick);
void add_topology(report& to, bool quick);
void add_evictions(report& to, bool quick);
void add_consolidation(report& to, bool quick);
void add_embedding(report& to, bool quick);
/// How many steps each policy takes, beside the figures that show it.
void add_complexities(report& to);
/// These two only where muster::translate is built.
void add_jobs(report& to, bool quick);
void add_device_shares(report& to, bool quick);

} // namespace bench
