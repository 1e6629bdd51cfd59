// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <boost/json/object.hpp>

#include <muster/apis/core/objects.hpp>
#include <muster/apis/t9k/jobs/job.hpp>
#include <muster/lifecycle/job_status.hpp>

namespace muster {
inline namespace v0_1 {
namespace sim {

/// Something that happened.
struct run_line {
    codec::timestamp at = 0;
    std::string kind; ///< of the object
    codec::object_key whom;
    std::string what;    ///< a word that programs may compare, such as `Created`
    std::string details; ///< for people
    /// Of a job: its status from then on.
    std::optional<lifecycle::job_status> status{};
    /// Of one of Grove's objects: its status from then on.
    std::optional<boost::json::object> document{};
};

/// How a job of a run ended, or where it stands.
struct run_job {
    translate::t9k_kind kind = translate::t9k_kind::generic;
    codec::object_key key;
    lifecycle::job_status status;
    bool deleted = false;
    std::optional<codec::timestamp> created;
    /// When it ran first.
    std::optional<codec::timestamp> began;
    std::optional<codec::timestamp> ended;
};

/// Where a PodCliqueSet of a run stands in the end.
struct run_set {
    codec::object_key key;
    bool deleted = false;
    boost::json::object status;
    std::optional<codec::timestamp> created;
    /// When a replica of it was available first.
    std::optional<codec::timestamp> began;
};

/// A whole run, in the order in which things happened.
struct run_record {
    codec::timestamp start = 0;
    codec::timestamp end = 0;
    std::vector<run_line> lines;
    std::vector<run_job> jobs; ///< by namespace, name and kind
    std::vector<run_set> sets; ///< by namespace and name
    std::size_t pods_pending = 0;
    /// Things would have gone on: the time was over, or they never came to rest at one time.
    bool cut_short = false;
};

} // namespace sim
} // namespace v0_1
} // namespace muster
