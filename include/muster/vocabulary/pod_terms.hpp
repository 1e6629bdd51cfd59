// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <muster/base/ranges.hpp>
#include <muster/vocabulary/labels.hpp>

namespace muster {
inline namespace v0_1 {

/// The pods that a term selects: those whose own labels match, of a tenant (a namespace) whose
/// labels match one of `tenants`.
struct pod_selector {
    label_selector labels;
    /// Absent = all tenants; empty = no pods.
    std::optional<std::vector<label_selector>> tenants;

    [[nodiscard]] bool matches(const label_set& pod, const label_set& tenant) const noexcept {
        return (!tenants ||
                detail::any_of(*tenants, [&](const auto& one) { return one.matches(tenant); })) &&
               labels.matches(pod);
    }

    [[nodiscard]] friend auto operator<=>(const pod_selector&, const pod_selector&) = default;
};

/// Labels that a reader of volumes adds to its view of the nodes. Pod terms that use them stand for
/// volumes and ResourceClaims, not for pod affinity of the pods. The value of `volume_node_label`
/// is the node's name; that of `volume_cluster_label` is the same on all nodes.
inline constexpr std::string_view volume_node_label = "muster.dev/volume-node";
inline constexpr std::string_view volume_cluster_label = "muster.dev/volume-cluster";
/// The same value on all nodes. Terms that use it keep gangs apart that were assigned the same free
/// volume, or more of a storage pool than it has.
inline constexpr std::string_view volume_supply_label = "muster.dev/volume-supply";

/// Pods, and a label key of nodes. Nodes with the same value of the label form a domain (Kubernetes
/// PodAffinityTerm).
struct affinity_term {
    pod_selector pods;
    std::string topology;
    /// The term represents a volume or a ResourceClaim that pods share. Such a term cannot be
    /// dropped, and required affinity is evaluated for it alone, beside all other terms.
    bool of_volume = false;
    /// With `of_volume`: nodes may join the domains while they stay as they are, since the domains
    /// depend on which devices are free. The term never proves that a pod cannot ever start.
    bool domains_may_change = false;

    [[nodiscard]] friend auto operator<=>(const affinity_term&, const affinity_term&) = default;
};

/// A preference to share a domain with each of those pods or, with a weight below zero, not to.
struct preferred_affinity_term {
    std::int32_t weight = 1;
    affinity_term term;

    [[nodiscard]] friend auto operator<=>(const preferred_affinity_term&,
                                          const preferred_affinity_term&) = default;
};

/// How evenly those pods are spread over domains (Kubernetes TopologySpreadConstraint).
struct spread_term {
    pod_selector pods;
    std::string topology;
    /// By how many a domain may be ahead of the one that has fewest.
    std::int32_t max_skew = 1;
    /// Of fewer domains than that, the fewest counts as 0.
    std::int32_t min_domains = 1;
    /// DoNotSchedule; else ScheduleAnyway, which only weighs nodes.
    bool required = true;
    /// Nodes that the pod's node selector and affinity exclude do not count.
    bool honor_affinity = true;
    /// Nor do nodes with taints that it does not tolerate.
    bool honor_taints = false;

    [[nodiscard]] friend auto operator<=>(const spread_term&, const spread_term&) = default;
};

/// Which nodes a pod may use with regard to other pods.
struct pod_terms {
    /// Required: every term has a pod that matches all of them in the node's domain. The first of a
    /// series that matches its own terms needs none, if no such pod is on a node. A term of a
    /// volume counts by itself, not among "all of them".
    std::vector<affinity_term> affinity;
    /// Required: no pod that matches a term is in the node's domain, and none whose own such term
    /// matches the newcomer.
    std::vector<affinity_term> anti_affinity;
    std::vector<preferred_affinity_term> preferred;
    std::vector<spread_term> spread;

    [[nodiscard]] bool any() const noexcept {
        return !affinity.empty() || !anti_affinity.empty() || !preferred.empty() || !spread.empty();
    }
    /// True if some term is required.
    [[nodiscard]] bool requires_something() const noexcept {
        return !affinity.empty() || !anti_affinity.empty() ||
               detail::any_of(spread, [](const spread_term& one) { return one.required; });
    }

    [[nodiscard]] friend auto operator<=>(const pod_terms&, const pod_terms&) = default;
};

} // namespace v0_1
} // namespace muster
