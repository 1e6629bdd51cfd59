// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <variant>

#include <muster/advice/change.hpp>

namespace muster {
inline namespace v0_1 {
namespace words {

/// Stable codes of changes that may let a gang start. Enumerators are only appended.
enum class change_code : std::uint8_t {
    free_pods,
    add_nodes,
    uncordon_nodes,
    raise_quota,
    /// `raise_quota` with `non_preemptible`.
    raise_deserved,
    open_queue,
    tolerate_taint,
    drop_node_selector,
    drop_node_affinity,
    // `drop_pod_terms`, by kind.
    drop_pod_affinity,
    drop_pod_anti_affinity,
    drop_topology_spread,
    drop_topology,
    /// `ready_volumes`: claims are bound, ResourceClaims allocated.
    bind_claims,
    lower_minimum,
};

/// The names of the codes for programs, in the order of the enumerators. Later versions keep
/// them.
inline constexpr std::string_view change_names[] = {
    "FreePods",         "AddNodes",        "UncordonNodes",       "RaiseQuota",
    "RaiseDeserved",    "OpenQueue",       "TolerateTaint",       "DropNodeSelector",
    "DropNodeAffinity", "DropPodAffinity", "DropPodAntiAffinity", "DropTopologySpread",
    "DropTopology",     "BindClaims",      "LowerMinimum"};

[[nodiscard]] constexpr std::string_view name_of(change_code code) noexcept {
    return change_names[static_cast<std::size_t>(code)];
}
static_assert(std::size(change_names) == static_cast<std::size_t>(change_code::lower_minimum) + 1);
static_assert(name_of(change_code::drop_topology_spread) == "DropTopologySpread");

namespace detail {

struct change_coder {
    constexpr change_code operator()(const free_pods&) const noexcept {
        return change_code::free_pods;
    }
    constexpr change_code operator()(const add_nodes&) const noexcept {
        return change_code::add_nodes;
    }
    constexpr change_code operator()(const uncordon_nodes&) const noexcept {
        return change_code::uncordon_nodes;
    }
    constexpr change_code operator()(const raise_quota& what) const noexcept {
        return what.non_preemptible ? change_code::raise_deserved : change_code::raise_quota;
    }
    constexpr change_code operator()(const open_queue&) const noexcept {
        return change_code::open_queue;
    }
    constexpr change_code operator()(const tolerate_taint&) const noexcept {
        return change_code::tolerate_taint;
    }
    constexpr change_code operator()(const drop_label&) const noexcept {
        return change_code::drop_node_selector;
    }
    constexpr change_code operator()(const drop_affinity&) const noexcept {
        return change_code::drop_node_affinity;
    }
    constexpr change_code operator()(const drop_pod_terms& what) const noexcept {
        return what.which == pod_term_kind::affinity        ? change_code::drop_pod_affinity
               : what.which == pod_term_kind::anti_affinity ? change_code::drop_pod_anti_affinity
                                                            : change_code::drop_topology_spread;
    }
    constexpr change_code operator()(const drop_domain&) const noexcept {
        return change_code::drop_topology;
    }
    constexpr change_code operator()(const ready_volumes&) const noexcept {
        return change_code::bind_claims;
    }
    constexpr change_code operator()(const lower_minimum&) const noexcept {
        return change_code::lower_minimum;
    }
};

} // namespace detail

/// Returns the code of a change that `what_helps` suggests.
[[nodiscard]] inline change_code code_of(const change& what) noexcept {
    return std::visit(detail::change_coder{}, what);
}

} // namespace words
} // namespace v0_1
} // namespace muster
