// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <boost/json/object.hpp>

#include <muster/apis/gang_facts.hpp>
#include <muster/apis/grove/backends.hpp>
#include <muster/apis/grove/set_reader.hpp>
#include <muster/apis/grove/topology_check.hpp>
#include <muster/apis/grove/topology_reader.hpp>
#include <muster/gangs/target.hpp>
#include <muster/kube/object_cache.hpp>
#include <muster/kube/read_and_look.hpp>
#include <muster/lifecycle/document_fields.hpp>
#include <muster/lifecycle/grove_controller.hpp>
#include <muster/lifecycle/object_step.hpp>

namespace muster {
inline namespace v0_1 {
namespace kube {

/// Grove's PodCliqueSets, for `controllers`. Where they may not be read, nothing is done for them,
/// and nothing else of Grove's is asked for.
struct grove_controller {
    translate::grove_options options;
    /// Which version of their APIs the backends write.
    translate::kai_version kai = translate::kai_version::v0_15;
    translate::workload_version workloads = translate::workload_version::v1_35;
    /// For sets that ask for no scheduler; empty: Kubernetes' own.
    std::string scheduler;

    [[nodiscard]] std::vector<followed_kind> kinds() const {
        using enum followed_kind::role;
        const std::string own(translate::grove::api_version);
        const std::string gangs(translate::grove::scheduler_api_version);
        std::vector<followed_kind> made{
            {own, "PodCliqueSet", "podcliquesets", owner},
            {own, "ClusterTopologyBinding", "clustertopologybindings", shared},
            {own, "ClusterTopology", "clustertopologies", shared},
            {own, "PodCliqueScalingGroup", "podcliquescalinggroups"},
            {own, "PodClique", "podcliques"},
            {gangs, "PodGang", "podgangs"},
            {std::string(translate::kai_group_version), "PodGroup", "podgroups"},
            {std::string(translate::sigs_group_version), "PodGroup", "podgroups"},
            {std::string(translate::volcano_group_version), "PodGroup", "podgroups"},
            {"v1", "Service", "services", owned, {}, true},
            {"v1", "Pod", "pods", owned, {}, true}};
        using version = translate::workload_version;
        const std::string native(workloads == version::v1_35   ? translate::workload_version_1_35
                                 : workloads == version::v1_36 ? translate::workload_version_1_36
                                                               : translate::workload_version_1_37);
        made.push_back({native, "Workload", "workloads"});
        if (workloads != version::v1_35)
            made.push_back({native, "PodGroup", "podgroups"});
        if (workloads == version::v1_37)
            made.push_back({native, "CompositePodGroup", "compositepodgroups"});
        for (followed_kind& each : made) {
            each.may_be_denied = is_set(each);
            if (!each.built_in && !is_set(each))
                each.needed_by = "PodCliqueSet";
        }
        return made;
    }

    [[nodiscard]] static bool is_set(const followed_kind& kind) {
        return kind.kind == "PodCliqueSet";
    }

    [[nodiscard]] lifecycle::object_step look(const followed_kind&,
                                              const boost::json::object& owner,
                                              std::span<const boost::json::object* const> seen,
                                              std::int64_t wall) const {
        codec::reading_context context;
        return detail::look_with(
            owner, "InvalidSet",
            [&](codec::object_reader& root) {
                return codec::read_pod_clique_set(root, options.dialect, context);
            },
            [&](translate::grove_set set) {
                if (set.scheduler.empty())
                    set.scheduler = scheduler;
                return with_topology(set, seen, [&](const translate::grove_topology* within) {
                    return reconcile(set, seen, wall, within);
                });
            });
    }

private:
    template<class Use>
    [[nodiscard]] static lifecycle::object_step
    with_topology(const translate::grove_set& set, std::span<const boost::json::object* const> seen,
                  const Use& use) {
        const std::string_view wanted = translate::grove_topology_name(set);
        const auto at = std::ranges::find_if(seen, [&](const boost::json::object* each) {
            return lifecycle::detail::text_at(*each, "kind").starts_with("ClusterTopology") &&
                   lifecycle::detail::text_at(*each, "metadata", "name") == wanted;
        });
        if (wanted.empty() || at == seen.end())
            return use(nullptr);
        codec::reading_context context;
        return detail::look_with(
            **at, "InvalidTopology",
            [&](codec::object_reader& root) { return codec::read_grove_topology(root, context); },
            [&](const translate::grove_topology& within) {
                const auto faults = translate::grove_topology_faults(set, within);
                lifecycle::object_step made;
                for (const translate::grove_topology_fault& fault : faults)
                    made.notes.push_back({true, "InvalidSet", fault.field + ": " + fault.message});
                return faults.empty() ? use(&within) : made;
            });
    }

    [[nodiscard]] lifecycle::object_step reconcile(const translate::grove_set& set,
                                                   std::span<const boost::json::object* const> seen,
                                                   std::int64_t wall,
                                                   const translate::grove_topology* within) const {
        lifecycle::object_step made;
        const std::tuple backends(translate::kai_backend{kai},
                                  translate::default_backend{workloads},
                                  translate::koordinator_backend{}, translate::volcano_backend{});
        const bool known =
            translate::with_backend(backends, set.scheduler, [&](const auto& backend) {
                made = lifecycle::reconcile(set, seen, wall, backend, options, within);
            });
        if (!known)
            made.notes.push_back({true, "UnknownScheduler",
                                  std::string(set.scheduler) +
                                      " is no backend's scheduler (expected kai-scheduler, "
                                      "default-scheduler, koord-scheduler or volcano)"});
        return made;
    }
};

} // namespace kube
} // namespace v0_1
} // namespace muster
