// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <muster/codec/object_metadata.hpp>
#include <muster/model/constraints.hpp>
#include <muster/model/labels.hpp>
#include <muster/model/pod_terms.hpp>

namespace muster::inline v0_1 {
namespace codec {

/// Node labels that Muster adds to its own view where volumes ask for them: the node's name, and a
/// value that all nodes share.
inline constexpr std::string_view node_mark = "muster.dev/volume-node";
inline constexpr std::string_view cluster_mark = "muster.dev/volume-cluster";

/// The value of the label that marks the users of a ReadWriteOncePod claim.
inline constexpr std::string_view lone_claim = "alone";

/// What the volumes of a pod ask of the core.
struct volume_effects {
    /// Why the pod cannot be placed at all, one entry for each volume that is not ready.
    std::vector<std::string> waits;
    /// Claims that `waits` is about.
    std::vector<std::string> missing;
    /// Nodes that reach its volumes, and what each entry is about: "claim data (volume pv-1)".
    std::vector<volume_reach> reach;
    std::vector<std::string> reach_of;
    /// What it takes of a node, by the kinds of `volume_plan::kinds`.
    std::map<std::string, std::int64_t> amounts;
    /// Pods that share a volume: in one domain, and never together.
    std::vector<affinity_term> near;
    std::vector<affinity_term> apart;
    /// By which the terms of other pods find it.
    label_set labels;
    /// Claims that are bound when the pod gets its node.
    std::vector<std::string> unbound;

    void wait(const std::string& claim, const std::string& why) {
        waits.push_back("claim " + claim + " " + why);
        missing.push_back(claim);
    }
    /// Adds why the pod cannot be placed, and which nodes it needs, by its devices.
    void add_devices(const volume_effects& more) {
        waits.insert(waits.end(), more.waits.begin(), more.waits.end());
        reach.insert(reach.end(), more.reach.begin(), more.reach.end());
        reach_of.insert(reach_of.end(), more.reach_of.begin(), more.reach_of.end());
    }
    [[nodiscard]] friend bool operator==(const volume_effects&, const volume_effects&) = default;
};

/// What nodes have of a kind that is counted for the sake of volumes.
struct volume_supply {
    std::map<std::string, std::int64_t> on;
    std::int64_t elsewhere = 0;

    [[nodiscard]] std::int64_t at(const std::string& node) const {
        const auto known = on.find(node);
        return known == on.end() ? elsewhere : known->second;
    }
    [[nodiscard]] friend bool operator==(const volume_supply&, const volume_supply&) = default;
};

/// What the volumes of a cluster's pods ask of the core.
struct volume_plan {
    /// Pods whose volumes ask for something.
    std::map<object_key, volume_effects> pods;
    std::map<std::string, volume_supply> kinds;
    /// Labels that some nodes carry in Muster's view, by the node's name.
    std::map<std::string, std::vector<std::string>> node_labels;
    /// Some term goes by `node_mark` or `cluster_mark`.
    bool marks_nodes = false;
    /// Volumes that count as usable everywhere since the input says nothing of claims, of volumes,
    /// or of classes.
    std::size_t assumed_claims = 0;
    std::size_t assumed_volumes = 0;
    std::size_t assumed_classes = 0;

    [[nodiscard]] const volume_effects* find(const object_key& pod) const {
        const auto known = pods.find(pod);
        return known == pods.end() ? nullptr : &known->second;
    }
};

} // namespace codec
} // namespace muster::inline v0_1
