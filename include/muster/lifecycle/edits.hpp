// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <muster/apis/gang_facts.hpp>
#include <muster/apis/t9k/jobs/job.hpp>

namespace muster {
inline namespace v0_1 {
namespace lifecycle {

/// Why an edit is refused.
struct edit_fault {
    std::string field;
    std::string message; ///< what is wrong, and what is expected

    [[nodiscard]] friend bool operator==(const edit_fault&, const edit_fault&) = default;
};

namespace detail {

[[nodiscard]] inline bool same(const boost::json::array* lhs, const boost::json::array* rhs) {
    return lhs == rhs || (lhs != nullptr && rhs != nullptr && *lhs == *rhs);
}

/// By the names of the types: a type may stand elsewhere after an edit.
[[nodiscard]] inline bool same(const translate::t9k_job& before,
                               const std::vector<translate::t9k_override>& lhs,
                               const translate::t9k_job& after,
                               const std::vector<translate::t9k_override>& rhs) {
    return std::ranges::equal(lhs, rhs, [&](const auto& left, const auto& right) {
        return before.replica_specs[left.spec].type == after.replica_specs[right.spec].type &&
               left.skip_init_containers == right.skip_init_containers &&
               same(left.command, right.command) && same(left.arguments, right.arguments);
    });
}

} // namespace detail

/// What is wrong with editing a job; nothing when it is allowed. Immutable are `resumeSpecs` and
/// whether and between which bounds a job is elastic; debug mode is settled while the job has pods.
/// Everything else may change, `expectedReplicas` and `pause.enabled` at any time.
[[nodiscard]] inline std::vector<edit_fault>
check_edit(const translate::t9k_job& before, const translate::t9k_job& after, bool has_pods) {
    std::vector<edit_fault> faults;
    const auto immutable = [&](std::string field) {
        faults.push_back({std::move(field), "is immutable (expected it as it was)"});
    };
    if (before.kind != after.kind || before.name_space != after.name_space ||
        before.name != after.name)
        faults.push_back({"metadata.name", "is another job's (expected an edit of the same job)"});
    const translate::t9k_run_mode& was = before.run_mode;
    const translate::t9k_run_mode& is = after.run_mode;
    if (!detail::same(before, was.resume_specs, after, is.resume_specs))
        immutable("spec.runMode.pause.resumeSpecs");
    if (before.elastic.has_value() != after.elastic.has_value()) {
        immutable("spec.elastic");
    } else if (before.elastic) {
        if (before.elastic->enabled != after.elastic->enabled)
            immutable("spec.elastic.enabled");
        if (before.elastic->least != after.elastic->least)
            immutable("spec.elastic.minReplicas");
        if (before.elastic->most != after.elastic->most)
            immutable("spec.elastic.maxReplicas");
    }
    if (has_pods &&
        (was.debug != is.debug || !detail::same(before, was.debug_specs, after, is.debug_specs)))
        faults.push_back({"spec.runMode.debug", "changes while the job has pods (expected the job "
                                                "to be paused first, or no change)"});
    return faults;
}

/// The same for a pod's labels: its group, its role in it and its queue never change.
[[nodiscard]] inline std::vector<edit_fault> check_pod_edit(const boost::json::object& before,
                                                            const boost::json::object& after) {
    constexpr std::array<std::string_view, 3> fixed{
        translate::keys::t9k_group, translate::keys::t9k_queue, translate::keys::t9k_role};
    std::vector<edit_fault> faults;
    for (const std::string_view key : fixed) {
        const boost::json::value* const was = before.if_contains(key);
        const boost::json::value* const is = after.if_contains(key);
        if (was == is || (was != nullptr && is != nullptr && *was == *is))
            continue;
        faults.push_back({"metadata.labels[" + std::string(key) + "]",
                          "of a pod never changes (expected a new pod)"});
    }
    return faults;
}

} // namespace lifecycle
} // namespace v0_1
} // namespace muster
