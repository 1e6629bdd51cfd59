// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <muster/apis/t9k/jobs/job.hpp>

namespace muster {
inline namespace v0_1 {
namespace translate {

/// What the documents of T9k leave open.
struct t9k_options {
    /// Five hexadecimal digits that products put behind the job's name; empty: none.
    std::string_view suffix;
    /// The launchers of MPIJob and ColossalAIJob are members of the gang's minimum.
    bool count_launcher = true;
    /// So is BeamJob's submitter, though it starts only when the others run.
    bool count_submitter = false;
    /// The group gets a role, with its minimum, per type of replicas.
    bool fill_roles = false;
    /// MASTER_PORT, and the port of the hosts in TF_CONFIG.
    std::int64_t port = 2222;
};

/// The PodGroup of a job: named as the job.
[[nodiscard]] inline std::string group_name(const t9k_job& job, const t9k_options& options = {}) {
    std::string name(job.name);
    if (!options.suffix.empty())
        name.append("-").append(options.suffix);
    return name;
}

namespace detail {

/// Five characters as Kubernetes generates them, from the job and the attempt (FNV-1a).
inline std::string submitter_letters(const t9k_job& job, std::int64_t rank) {
    std::uint64_t hash = 14695981039346656037U;
    const auto mix = [&](std::string_view text) {
        for (const char c : text)
            hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
        hash *= 1099511628211U;
    };
    mix(job.name_space);
    mix(job.name);
    mix(job.uid);
    mix(std::to_string(rank));
    constexpr std::string_view letters = "bcdfghjklmnpqrstvwxz2456789";
    std::string out;
    for (int i = 0; i < 5; ++i) {
        out += letters[static_cast<std::size_t>((hash >> 32) % letters.size())];
        hash = (hash ^ (hash >> 29)) * 1099511628211U;
    }
    return out;
}

} // namespace detail

/// The name of a replica's pod, which is also its host name and its Service's name:
/// `<job>-<type>-<rank>`, of launchers `<job>-launcher`, of a BeamJob's cluster
/// `<job>-flinkcluster-<type>-<rank>`; its submitter's ends in five letters derived from the job
/// and the rank. Nobody takes such a name apart again: pods say by labels whose replica they are.
[[nodiscard]] inline std::string pod_name(const t9k_job& job, t9k_replica of,
                                          const t9k_options& options = {}) {
    const t9k_replica_spec& spec = job.replica_specs[of.spec];
    std::string name = group_name(job, options);
    if (job.kind == t9k_kind::beam && spec.part != replica_part::submitter)
        name += "-flinkcluster";
    name.append("-").append(spec.type);
    if (spec.part == replica_part::launcher)
        return name;
    name += '-';
    if (spec.part == replica_part::submitter)
        name += detail::submitter_letters(job, of.rank);
    else
        name += std::to_string(of.rank);
    return name;
}

} // namespace translate
} // namespace v0_1
} // namespace muster
