// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <muster/apis/grove/set.hpp>
#include <muster/apis/t9k/jobs/job.hpp>
#include <muster/document/json_text.hpp>

namespace muster {
inline namespace v0_1 {
namespace translate {

namespace detail {

[[nodiscard]] inline bool writes_restart_policy(const boost::json::object* spec) {
    const auto writes = [](const boost::json::object* replicas) {
        return find(replicas, "restartPolicy") != nullptr;
    };
    const boost::json::array* const all = find_array(spec, "replicaSpecs");
    return writes(find_object(spec, "worker")) || writes(find_object(spec, "launcher")) ||
           (all &&
            std::ranges::any_of(*all, [&](const auto& each) { return writes(each.if_object()); }));
}

} // namespace detail

/// The fields by which a T9k job says what happens after the start, for lose_lifecycle().
[[nodiscard]] inline std::vector<std::string_view> lifecycle_words(const t9k_job& job) {
    std::vector<std::string_view> said;
    const auto note = [&](bool is_said, std::string_view field) {
        if (is_said)
            said.push_back(field);
    };
    const boost::json::object* const spec = find_object(job.document, "spec");
    const t9k_run_policy& policy = job.run_policy;
    note(detail::writes_restart_policy(spec), "restartPolicy");
    note(!job.success_rules.empty(), "successRules");
    note(!job.failure_rules.empty(), "failureRules");
    note(policy.clean_up != clean_up_policy::none, "cleanUpPolicy");
    note(policy.clean_up_workers, "cleanUpWorkers");
    note(policy.clean_up_cluster, "cleanUpCluster");
    note(policy.active_deadline_seconds.has_value(), "activeDeadlineSeconds");
    // Some kinds have one that nobody wrote.
    note(find(find_object(spec, "runPolicy"), "backoffLimit") != nullptr, "backoffLimit");
    note(is_elastic(job), "elastic");
    note(job.run_mode.debug || job.run_mode.pause || !job.run_mode.debug_specs.empty() ||
             !job.run_mode.resume_specs.empty(),
         "runMode");
    return said;
}

/// The same of a PodCliqueSet.
[[nodiscard]] inline std::vector<std::string_view> lifecycle_words(const grove_set& set) {
    std::vector<std::string_view> said;
    if (set.update == grove_update::on_delete)
        said.push_back("updateStrategy");
    if (set.termination_delay != grove_set{}.termination_delay)
        said.push_back("terminationDelay");
    if (std::ranges::any_of(set.cliques, [](const auto& each) { return each.scale.has_value(); }))
        said.push_back("autoScalingConfig");
    if (std::ranges::any_of(set.groups, [](const auto& each) { return each.scale.has_value(); }))
        said.push_back("scaleConfig");
    return said;
}

/// Whether parts of the set wait for others to start: cliques for cliques, and gangs that a scaling
/// group has beyond its minimum for the base gang.
[[nodiscard]] inline bool starts_in_order(const grove_set& set) {
    const bool cliques = set.startup == grove_startup::in_order
                             ? set.cliques.size() > 1
                             : set.startup == grove_startup::explicit_order &&
                                   std::ranges::any_of(set.cliques, [](const grove_clique& each) {
                                       return !each.starts_after.empty();
                                   });
    return cliques || std::ranges::any_of(set.groups, [](const grove_scaling_group& each) {
               return each.replicas > each.min_available;
           });
}

} // namespace translate
} // namespace v0_1
} // namespace muster
