// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <muster/apis/gang_facts.hpp>
#include <muster/gangs/target.hpp>

namespace muster {
inline namespace v0_1 {
namespace translate {

/// In which order a set's cliques start, enforced by an init container that waits for Ready pods.
enum class grove_startup : std::uint8_t {
    any_order,
    /// Each after the one before it in the list.
    in_order,
    /// Each after those that its startsAfter names.
    explicit_order,
};

enum class grove_update : std::uint8_t {
    rolling_recreate,
    /// Pods stay as they are until somebody else deletes them.
    on_delete,
};

/// A topologyConstraint: words of domains such as rack, which a ClusterTopologyBinding turns into
/// keys of node labels.
struct grove_packing {
    std::string_view topology;
    std::string_view required;
    std::string_view preferred;

    [[nodiscard]] bool asks() const noexcept { return !required.empty() || !preferred.empty(); }
};

/// autoScalingConfig or scaleConfig.
struct grove_scale {
    std::int64_t least = 1;
    std::int64_t most = 1;
    const boost::json::array* metrics = nullptr;
};

/// One of template.cliques.
struct grove_clique {
    std::string_view name;
    std::string_view role;
    std::int64_t replicas = 1;
    std::int64_t min_available = 1;
    std::vector<std::size_t> starts_after; ///< positions in the set's cliques
    /// The scaling group that it belongs to; none: it stands alone.
    std::optional<std::size_t> group;
    std::optional<grove_scale> scale;
    grove_packing packing;
    const boost::json::object* labels = nullptr;
    const boost::json::object* annotations = nullptr;
    const boost::json::object* pod_spec = nullptr;
    /// As it was written: what is not named above goes on to the PodClique unchanged.
    const boost::json::object* spec = nullptr;
    /// resourceSharing as it was written, null where there is none.
    const boost::json::array* sharing = nullptr;
};

/// One of template.podCliqueScalingGroups: cliques that are replicated together.
struct grove_scaling_group {
    std::string_view name;
    std::vector<std::size_t> cliques; ///< positions in the set's cliques
    std::int64_t replicas = 1;
    /// So many replicas belong to the base gang; every further one is a gang of its own.
    std::int64_t min_available = 1;
    std::optional<grove_scale> scale;
    grove_packing packing;
    const boost::json::object* annotations = nullptr;
    const boost::json::array* sharing = nullptr; ///< as of a clique
};

/// A grove.io/v1alpha1 PodCliqueSet with its defaults filled in. It refers to the document that it
/// was read from.
struct grove_set {
    std::string name_space;
    std::string_view name;
    std::string_view uid;
    std::int64_t generation = 0;
    /// It is being deleted: whoever collects what it owns does the rest.
    bool terminating = false;
    const boost::json::object* labels = nullptr;
    const boost::json::object* annotations = nullptr;
    std::int64_t replicas = 0;
    grove_update update = grove_update::rolling_recreate;
    grove_startup startup = grove_startup::any_order;
    std::string_view priority_class;
    /// The queue that its labels or annotations name, or those of its cliques; may be empty.
    std::string_view queue;
    /// What all pods ask for; empty where they say nothing.
    std::string_view scheduler;
    bool publish_not_ready = true;
    /// How long a gang that lost its minimum may stay that way, in nanoseconds.
    std::int64_t termination_delay = 4LL * 3600 * 1'000'000'000;
    grove_packing packing;
    const boost::json::array* claim_templates = nullptr; ///< as written, null where there are none
    const boost::json::array* sharing = nullptr;         ///< as of a clique
    std::vector<grove_clique> cliques;
    std::vector<grove_scaling_group> groups;
    /// The set's status as it was observed, or null.
    const boost::json::object* status = nullptr;
};

inline constexpr std::array<std::string_view, 5> grove_scheduler_names{
    schedulers::kai, schedulers::koordinator, "volcano", "lpx-scheduler", "kueue"};

/// The schedulers that a set's pods may ask for, beside the cluster's own. The walk-through of the
/// dialect `seed` knows the first two.
[[nodiscard]] constexpr std::span<const std::string_view> grove_schedulers(grove_dialect dialect) {
    return std::span(grove_scheduler_names)
        .first(dialect == grove_dialect::seed ? 2 : grove_scheduler_names.size());
}

/// A grove.io/v1alpha1 ClusterTopologyBinding, or ClusterTopology as it was called before: domains
/// from broad to narrow with the keys of the node labels that tell them apart.
struct grove_topology {
    struct level {
        std::string domain;
        std::string label;
    };
    std::string name;
    std::vector<level> levels;
};

} // namespace translate
} // namespace v0_1
} // namespace muster
