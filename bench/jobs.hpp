// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace bench {

/// T9k jobs of two types and five pods each, with resources, variables, a Service per replica and a
/// volume in memory: 1.4 kB of YAML.
struct jobs_report {
    std::size_t jobs = 0;
    std::size_t pods_per_job = 0;
    std::size_t bytes_per_job = 0;
    double yaml_ns = 0.0;    ///< per job: from text to document
    double gang_ns = 0.0;    ///< from document to gang: all checks, names and minima
    double objects_ns = 0.0; ///< from document to PodGroup, Services and pods
};

/// The least times of `runs` runs; the text is read once.
[[nodiscard]] jobs_report measure_jobs(std::size_t jobs, std::size_t runs);

} // namespace bench
