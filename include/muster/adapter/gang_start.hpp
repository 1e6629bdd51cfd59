// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <muster/adapter/backoff.hpp>
#include <muster/adapter/cluster_view.hpp>
#include <muster/adapter/instant.hpp>
#include <muster/adapter/writes.hpp>
#include <muster/base/id.hpp>
#include <muster/problem/members.hpp>
#include <muster/vocabulary/constraints.hpp>
#include <muster/vocabulary/subtree_status.hpp>

namespace muster {
inline namespace v0_1 {
namespace adapter {

/// How far the bind of one member has come.
enum class bind_stage : std::uint8_t {
    /// The member's volumes have still to be bound (then: are being bound).
    to_prepare,
    preparing,
    to_ungate,
    ungating,
    to_bind,
    binding,
    /// Whether and where it was bound is to be asked.
    to_ask,
    asking,
    /// The server said that it is assigned; that is still to be seen.
    assigned,
    done,
};

template<class Traits>
struct bind_of_member {
    typename Traits::pod_key pod{};
    object_uid uid;
    typename Traits::node_key node{};
    bind_stage stage = bind_stage::to_bind;
    /// Its last bind failed for good: it goes before all others.
    bool suspect = false;
    /// A bind was sent, so it may be bound.
    bool sent = false;
    std::int64_t next = 0;
    std::int64_t deadline = never_comes;
    backoff tries{};

    [[nodiscard]] bool under_way() const noexcept {
        return stage == bind_stage::ungating || stage == bind_stage::binding ||
               stage == bind_stage::asking;
    }
};

/// Why the bind of a gang's member came to nothing for good.
struct bind_failure {
    outcome what = outcome::refused;
    std::string message;
};

/// A gang of which members were placed and are now being bound.
template<class Traits>
struct gang_start {
    typename Traits::gang_key gang{};
    object_uid uid;
    /// Appended to, never erased from, while it lasts.
    std::vector<bind_of_member<Traits>> members;
    /// The server was asked whether the gang is as it was seen.
    bool checked = false;
    bool checking = false;
    std::int64_t check_at = 0;
    backoff check_tries{};
    /// A bind was sent: from now on it is brought to an end, one way or the other.
    bool begun = false;
    std::int64_t bound = 0;
    std::optional<bind_failure> failed;
    /// When there is something to do for it.
    std::int64_t due = 0;

    [[nodiscard]] bool over() const noexcept {
        return std::ranges::all_of(members,
                                   [](const auto& each) { return each.stage == bind_stage::done; });
    }
    /// Number of members whose orders are pending or under way. Members that wait for volumes do
    /// not count.
    [[nodiscard]] std::size_t open() const noexcept {
        return static_cast<std::size_t>(std::ranges::count_if(members, [](const auto& each) {
            return each.stage != bind_stage::done && each.stage != bind_stage::assigned &&
                   each.stage != bind_stage::preparing;
        }));
    }
    [[nodiscard]] bool any(bind_stage stage) const noexcept {
        return std::ranges::any_of(members,
                                   [stage](const auto& each) { return each.stage == stage; });
    }
};

/// All ceilings above the gang's queue hold what is charged to them, of the kinds that are asked
/// for: one may have been lowered since something was assumed. O(depth × width).
template<class Traits>
[[nodiscard]] bool within_quota(const state<Traits>& known, gang_index gang,
                                const resources<Traits::width>& request) {
    for (auto queue = known[gang].queue; queue; queue = known[*queue].parent)
        for (std::size_t column = 0; column < Traits::width; ++column)
            if (const auto top = known.accounts().quota(*queue)[kind_id{column}];
                top && request[kind_id{column}] > 0 &&
                known.accounts().used(*queue)[kind_id{column}] > *top)
                return false;
    return true;
}

/// A member may still go where it was to go: it is assumed there, the node takes it, and neither
/// the node's room nor the queue's quota has gone to others meanwhile. O(log + depth × width).
template<class Traits>
[[nodiscard]] bool still_stands(const cluster_view<Traits>& view,
                                const bind_of_member<Traits>& member) {
    const auto& known = view.known();
    const auto* const facts = view.find_pod(member.pod, member.uid);
    const auto at = known.find_pod(member.pod);
    if (facts == nullptr || facts->on || !at)
        return false;
    const auto& record = known[at->index];
    const bool assumed = (record.assumed || facts->carried) && record.node && record.alive();
    if (!assumed || known.key(*record.node) != member.node ||
        known.where(at->index).failed_filters[record.node->value()] != node_filter_none)
        return false;
    const resources<Traits::width> left = known.accounts().present(*record.node);
    const auto& request = known.request(at->index);
    for (std::size_t column = 0; column < Traits::width; ++column)
        if (request[kind_id{column}] > 0 && left[kind_id{column}] < 0)
            return false;
    return within_quota(known, record.gang, request);
}

/// The gang may start as it was decided, by all that was seen since: it is the one it was, its
/// minima are met with those that are to be bound, and each of them still stands. O(members · log).
template<class Traits>
[[nodiscard]] bool still_stands(const cluster_view<Traits>& view, const gang_start<Traits>& start) {
    const auto& known = view.known();
    const auto at = known.find_gang(start.gang);
    const auto* const facts = view.find_gang(start.gang);
    if (!at || facts == nullptr || facts->uid != start.uid)
        return false;
    const auto& group = known[at->index];
    if (!group.present || group.spec.fault != gang_fault::none ||
        hold_level_of(known, at->index) != hold_level::minima)
        return false;
    return std::ranges::all_of(start.members, [&](const auto& member) {
        return member.stage == bind_stage::done || still_stands(view, member);
    });
}

} // namespace adapter
} // namespace v0_1
} // namespace muster
