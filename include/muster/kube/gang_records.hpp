// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <muster/apis/core/objects.hpp>
#include <muster/base/id.hpp>
#include <muster/document/document.hpp>
#include <muster/input/membership.hpp>
#include <muster/kube/arrived.hpp>
#include <muster/kube/dialect.hpp>
#include <muster/kube/pod_waiting.hpp>

namespace muster {
inline namespace v0_1 {
namespace kube {

/// An object that is a gang, or a part of one.
struct group_record {
    collection of{};
    listed_object who;
    codec::pod_group_object object;          ///< T9k's
    std::optional<codec::document> document; ///< of all others
    boost::json::value status;               ///< as it was written
    std::int64_t generation = 0;
    /// The mark (`mark_of`) of the version that was published last.
    std::string told;
    bool is_broken = false;
};

namespace detail {

/// Returns true if the pod's owner enforces `maxDuration` itself (a T9k job pauses), or if the
/// limit does not apply (DaemonSet).
[[nodiscard]] inline bool ends_by_owner(const boost::json::object& pod) {
    const boost::json::object* const metadata = object_in(pod, "metadata");
    const boost::json::value* const owners =
        metadata ? metadata->if_contains("ownerReferences") : nullptr;
    if (!owners || !owners->is_array())
        return false;
    return std::ranges::any_of(owners->get_array(), [](const boost::json::value& each) {
        const boost::json::object* const owner = each.if_object();
        if (!owner)
            return false;
        const std::string kind = string_in(*owner, "kind");
        return kind == "DaemonSet" ||
               (kind != "BeamJob" &&
                string_in(*owner, "apiVersion").starts_with("batch.tensorstack.dev/"));
    });
}

} // namespace detail

/// A pod of a live cluster.
struct pod_record {
    codec::pod_object object;
    /// Its marks, where they are those of other APIs than T9k's.
    std::optional<codec::document> marks;
    /// `object.unsupported` as read: finding the gang removes entries from it.
    std::vector<std::string> unsupported;
    codec::group_key told_in;
    vertex_index told_role{0};
    bool ours = false;
    bool own_gate = false;
    /// The scheduler must not enforce the queue's maxDuration; see `ends_by_owner`.
    bool is_ended_by_owner = false;
    std::string version;
    /// If the pod waits: the content of its condition.
    pod_waiting says;

    /// Returns true if the pod waits for this scheduler: pending, not gated, without a node.
    [[nodiscard]] bool waits() const noexcept {
        return ours && !own_gate && object.phase == pod_phase::pending && object.node.empty() &&
               !object.metadata.terminating;
    }
};

} // namespace kube
} // namespace v0_1
} // namespace muster
