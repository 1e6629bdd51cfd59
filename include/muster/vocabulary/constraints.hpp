// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <muster/base/ranges.hpp>
#include <muster/vocabulary/labels.hpp>
#include <muster/vocabulary/node.hpp>
#include <muster/vocabulary/node_claims.hpp>
#include <muster/vocabulary/pod_terms.hpp>
#include <muster/vocabulary/taints.hpp>

namespace muster {
inline namespace v0_1 {

/// A term of a node affinity: all requirements on labels and on the node's name must hold. A term
/// without requirements matches no node (Kubernetes NodeSelectorTerm).
struct node_term {
    label_selector labels;
    std::vector<label_requirement> name;

    template<std::size_t Width>
    [[nodiscard]] bool matches(const node<Width>& target) const noexcept {
        if (labels.requirements.empty() && name.empty())
            return false;
        for (const label_requirement& requirement : name)
            if (!requirement.matches(&target.name))
                return false;
        return labels.matches(target.labels);
    }

    [[nodiscard]] friend auto operator<=>(const node_term&, const node_term&) = default;
};

struct preferred_node_term {
    std::int32_t weight = 1;
    node_term term;

    [[nodiscard]] friend auto operator<=>(const preferred_node_term&,
                                          const preferred_node_term&) = default;
};

/// The nodes that can use one volume of a pod.
struct volume_reach {
    /// A node qualifies if at least one of the terms matches it.
    std::vector<node_term> any_of;
    /// The volume exists. If false, the volume is still to be chosen or provisioned, and more nodes
    /// may qualify later.
    bool bound = true;
    /// The nodes are those of allocated devices (a ResourceClaim), not of a volume.
    bool of_devices = false;

    [[nodiscard]] friend auto operator<=>(const volume_reach&, const volume_reach&) = default;
};

/// Which nodes a pod may use. Equal constraints are interned once per state.
struct constraints {
    /// Labels that the node must carry (Kubernetes nodeSelector, and the queue's node selector).
    label_selector selector;
    /// Required node affinity: at least one of the terms matches. Absent = no requirement.
    std::optional<std::vector<node_term>> affinity;
    std::vector<preferred_node_term> preferred;
    std::vector<toleration> tolerations;
    /// Claims on the node besides amounts, such as host ports.
    node_claims claims;
    /// Required: the node can use every volume.
    std::vector<volume_reach> volumes;
    /// Affinity, anti-affinity and spread relative to other pods; absent = none.
    std::optional<pod_terms> pods;
    /// The pod has a constraint that is not modelled. It waits, and is never placed as if the
    /// constraint did not exist.
    bool unsupported = false;
    /// A volume of the pod cannot be used on any node yet, so the pod waits.
    bool volume_not_ready = false;
    /// With `volume_not_ready`: no binding of the pod's claims makes all of its volumes usable. A
    /// claim must be replaced first, e.g. one that is being deleted.
    bool volume_unusable = false;
    /// Consolidation does not move the pod: its volumes or devices may tie it to its node, or the
    /// kubelets of other nodes may be unable to align it to NUMA zones.
    bool tied_to_node = false;
    /// Kinds of the request (bit = column) of which a node may come to have more while it stays as
    /// it is, such as free volumes. Too little of them never proves that the pod cannot ever start.
    std::uint64_t growing_kinds = 0;
    /// The terms in `pods` may change while the pod stays as it is, such as those about volumes
    /// that were assigned to other gangs. They never prove that the pod cannot ever start.
    bool terms_may_change = false;

    /// No node can take the pod.
    [[nodiscard]] bool held() const noexcept { return unsupported || volume_not_ready; }

    [[nodiscard]] friend auto operator<=>(const constraints&, const constraints&) = default;
};

/// Filters that reject a node for a pod, as a bit set.
enum node_filter : std::uint8_t {
    node_filter_none = 0,
    node_filter_selector = 1,
    node_filter_taint = 2,
    node_filter_condition_taint = 4,
    node_filter_cordon = 8,
    node_filter_absent_node = 16,
    /// The node cannot use a volume that exists.
    node_filter_volume = 32,
    /// No volume can be chosen or provisioned for a claim on this node at present.
    node_filter_unbound_volume = 64,
};

/// Returns all filters (`node_filter`) that reject the node for pods with these constraints. Taints
/// with effect PreferNoSchedule do not count. O(requirements + volumes × terms
/// + taints × tolerations).
template<std::size_t Width>
[[nodiscard]] std::uint8_t failed_filters(const constraints& of,
                                          const node<Width>& target) noexcept {
    std::uint8_t found = node_filter_none;
    bool selected = of.selector.matches(target.labels);
    if (selected && of.affinity) {
        selected = false;
        for (const node_term& term : *of.affinity)
            selected = selected || term.matches(target);
    }
    if (!selected)
        found |= node_filter_selector;
    for (const volume_reach& one : of.volumes)
        if (detail::none_of(one.any_of,
                            [&](const node_term& term) { return term.matches(target); }))
            found |= one.bound ? node_filter_volume : node_filter_unbound_volume;
    for (const taint& one : target.taints) {
        if (one.effect == taint_effect::prefer_no_schedule || tolerated(one, of.tolerations))
            continue;
        found |= one.key == unschedulable_taint_key ? node_filter_cordon
                 : one.is_condition()               ? node_filter_condition_taint
                                                    : node_filter_taint;
    }
    const taint cordon{std::string(unschedulable_taint_key), {}, taint_effect::no_schedule};
    if (target.unschedulable && !tolerated(cordon, of.tolerations))
        found |= node_filter_cordon;
    return found;
}

/// Returns the preference of the pod for the node: the sum of the weights of the preferred terms
/// that match, less 100 for each untolerated PreferNoSchedule taint. It takes precedence over the
/// placement score, and never decides whether a gang fits.
template<std::size_t Width>
[[nodiscard]] std::int32_t preference(const constraints& of, const node<Width>& target) noexcept {
    std::int32_t sum = 0;
    for (const preferred_node_term& one : of.preferred)
        if (one.term.matches(target))
            sum += one.weight;
    for (const taint& one : target.taints)
        if (one.effect == taint_effect::prefer_no_schedule && !tolerated(one, of.tolerations))
            sum -= 100;
    return sum;
}

} // namespace v0_1
} // namespace muster
