// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <muster/lifecycle/job_status.hpp>

namespace muster {
inline namespace v0_1 {
namespace lifecycle {

/// As the API server has it.
enum class observed_phase : std::uint8_t { pending, running, succeeded, failed, unknown };

/// A pod that the job owns.
struct observed_pod {
    std::string name;
    std::string uid; ///< never empty
    observed_phase phase = observed_phase::pending;
    /// Told to go: what it does from now on counts for nothing.
    bool terminating = false;
    /// It failed because it was taken down from outside (preempted, its node lost), as the
    /// condition DisruptionTarget says.
    bool disrupted = false;
    std::vector<ended_container> containers; ///< those that have ended
};

/// What the job owns at a time. The order of the lists means nothing; names are unique.
struct observation {
    bool group = false;      ///< its PodGroup exists
    bool config_map = false; ///< its ConfigMap exists
    std::vector<observed_pod> pods;
    std::vector<std::string> services; ///< by name
};

} // namespace lifecycle
} // namespace v0_1
} // namespace muster
