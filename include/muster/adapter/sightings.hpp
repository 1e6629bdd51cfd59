// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <muster/vocabulary/gang.hpp>
#include <muster/vocabulary/pod.hpp>
#include <muster/vocabulary/traits.hpp>

namespace muster {
inline namespace v0_1 {
namespace adapter {

/// Tells an object from those of its name before and after it. Opaque.
using object_uid = std::string;

/// What a cluster has four streams of.
enum class object_kind : std::uint8_t { node, queue, gang, pod };
inline constexpr std::size_t object_kinds = 4;

/// A pod as it was seen.
template<class Traits>
struct seen_pod {
    object_uid uid;
    /// The gang that the pod counts with. A pod that must count with none, because it belongs to
    /// another scheduler or ran before its group was created, has a gang of its own.
    typename Traits::gang_key gang{};
    /// `phase` is gated for pods with gates of other programs, and pending for pods with only this
    /// scheduler's own gate.
    pod<Traits::width> spec{};
    /// The node that it is assigned to.
    std::optional<typename Traits::node_key> on{};
    /// True if this scheduler binds the pod. Pods of other schedulers count once they have a node
    /// or are nominated to one, and are never written.
    bool ours = true;
    /// The node to which another scheduler nominated the pod. Not used for pods of this scheduler.
    std::optional<typename Traits::node_key> nominated{};
    /// The scheduler's own gate is on it, and no other: it is to be taken off before the bind.
    bool own_gate = false;
    /// Before the pod is bound, volumes must be bound for its node, or device claims be allocated,
    /// be reserved for it or be looked at again.
    bool unbound_volumes = false;
    /// When it is as old as pods of its queue may get, by the wall clock: then it is evicted where
    /// it stands. Absent: any age, or its owner sees to it.
    std::optional<std::int64_t> ends{};
};

/// A gang as it was seen.
template<class Traits>
struct seen_gang {
    /// Of the object that defines it; empty where there is none but its pods.
    object_uid uid;
    gang<typename Traits::queue_key> spec{};
    /// Whether the gang's object says that its minima were ever reached. Absent = not stored, as
    /// with gangs defined by labels of their pods.
    std::optional<bool> reached{};
};

/// What a fresh listing says is there, for a comparison. In any order.
template<class Traits>
struct listing {
    struct listed_pod {
        typename Traits::pod_key key{};
        object_uid uid;
        std::optional<typename Traits::node_key> on{};
        /// It has succeeded or failed.
        bool ended = false;
        bool ours = true;
    };

    std::vector<typename Traits::node_key> nodes;
    std::vector<listed_pod> pods;
    /// Those with an object.
    std::vector<std::pair<typename Traits::gang_key, object_uid>> gangs;
};

} // namespace adapter
} // namespace v0_1
} // namespace muster
