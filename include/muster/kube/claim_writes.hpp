// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include <muster/adapter/instant.hpp>
#include <muster/adapter/writes.hpp>
#include <muster/apis/core/objects.hpp>
#include <muster/document/object_metadata.hpp>
#include <muster/kube/live_devices.hpp>

namespace muster {
inline namespace v0_1 {
namespace kube {

namespace detail {

/// What a write of a claim for the pod is about.
[[nodiscard]] inline codec::object_key about_claim(const codec::pod_object& pod, const char* what,
                                                   const std::string& claim) {
    return {pod.metadata.key.name_space, std::string(what) + " of resource claim " + claim +
                                             " for pod " + pod.metadata.key.name};
}
/// The same of a release. It has no pod: a release by any pod that shares the claim is for all of
/// them.
[[nodiscard]] inline codec::object_key about_release(const codec::object_key& claim) {
    return {claim.name_space, "release of resource claim " + claim.name};
}

} // namespace detail

/// The writes of claims that were made, by what each one is about: which are on their way, which
/// may be made again, and what the server said.
class claim_writes {
public:
    using object_key = codec::object_key;

    struct write {
        object_key pod;
        object_key claim;
        /// The resourceVersion that the write was based on; empty = any.
        std::string version;
        /// The write allocates devices.
        bool allocates = false;
        bool under_way = true;
        /// The server carried the write out, or its result is unknown.
        bool may_be_done = false;
        /// The result of the write is unknown.
        bool is_unknown = false;
        std::int64_t again_at = 0;
        /// What the server said if it refused the write.
        std::string refused = {};
        /// The same write was sent before, and may have been carried out then.
        bool is_repeated = false;
    };

    /// Delay before a write that the server refused is tried again, in nanoseconds.
    static constexpr std::int64_t refused_after = 60 * adapter::second;

    /// `again_after`: delay before another failed write is tried again, in nanoseconds.
    explicit claim_writes(std::int64_t again_after) : again_after_(again_after) {}

    void clear() { all_.clear(); }

    /// Notes the write and returns true, if it may be made now. A write based on the same version
    /// is only repeated after the delay.
    [[nodiscard]] bool begin(const object_key& about, write made, std::int64_t now) {
        const auto [at, fresh] = all_.try_emplace(about);
        const write& last = at->second;
        if (!fresh && (last.under_way || ((last.version == made.version || !last.refused.empty()) &&
                                          last.again_at > now)))
            return false;
        made.is_repeated =
            last.may_be_done && !made.version.empty() && last.version == made.version;
        at->second = std::move(made);
        return true;
    }
    /// Notes the result. Returns nullptr if there is no such write.
    const write* end(const object_key& about, adapter::outcome what, std::string message,
                     std::int64_t now) {
        const auto at = all_.find(about);
        if (at == all_.end())
            return nullptr;
        write& of = at->second;
        of.under_way = false;
        // A repeated write has a conflict if the first one was carried out. If it is refused, the
        // first one may still arrive.
        of.may_be_done = what == adapter::outcome::applied || what == adapter::outcome::unknown ||
                         of.is_repeated;
        of.is_unknown = of.may_be_done && what != adapter::outcome::applied &&
                        what != adapter::outcome::conflict;
        of.again_at = now + again_after_;
        if (what == adapter::outcome::refused) {
            of.refused = std::move(message);
            of.again_at = now + refused_after;
        }
        return &of;
    }

    /// Returns nullptr if there was no such write.
    [[nodiscard]] const write* find(const object_key& about) const {
        const auto at = all_.find(about);
        return at == all_.end() ? nullptr : &at->second;
    }
    /// True if the write is on its way, or was perhaps carried out and this is not observed yet.
    [[nodiscard]] bool is_pending(const object_key& about, const live_devices& devices) const {
        const write* const of = find(about);
        return of && is_pending(*of, devices);
    }
    /// True if a release of the claim is pending.
    [[nodiscard]] bool is_leaving(const object_key& claim, const live_devices& devices) const {
        return is_pending(detail::about_release(claim), devices);
    }
    /// Returns the claims of which an allocation is pending. O(writes).
    [[nodiscard]] std::set<object_key> allocating(const live_devices& devices) const {
        std::set<object_key> claims;
        for (const auto& [about, each] : all_)
            if (each.allocates && is_pending(each, devices))
                claims.insert(each.claim);
        return claims;
    }
    /// Returns the claims of which it is unknown whether an allocation was carried out, if the time
    /// for another write has come. O(writes).
    [[nodiscard]] std::set<object_key> unresolved(const live_devices& devices,
                                                  std::int64_t now) const {
        std::set<object_key> claims;
        for (const auto& [about, each] : all_)
            if (each.allocates && each.is_unknown && !each.under_way && is_pending(each, devices) &&
                each.again_at <= now)
                claims.insert(each.claim);
        return claims;
    }
    /// Returns when the next write may be made again, after `now`.
    [[nodiscard]] std::int64_t next_after(std::int64_t now) const {
        std::int64_t first = adapter::never_comes;
        for (const auto& [about, each] : all_)
            if (!each.under_way && each.again_at > now)
                first = std::min(first, each.again_at);
        return first;
    }

    /// Forgets the failed writes for a pod: they may be made again at once.
    void forget_failed(const object_key& pod) {
        std::erase_if(all_, [&](const auto& each) {
            return each.second.pod == pod && !each.second.under_way && !each.second.may_be_done;
        });
    }
    /// Forgets writes that nothing waits for. An allocation that may have been carried out is kept
    /// until the claim is observed as it is then: its devices may be in use.
    void forget_settled(const live_devices& devices, std::int64_t now) {
        std::erase_if(all_, [&](const auto& each) {
            const write& of = each.second;
            const bool is_seen = !of.version.empty() && of.version != devices.version_of(of.claim);
            return !of.under_way && now >= of.again_at &&
                   (is_seen || !of.may_be_done ||
                    (!of.allocates && now >= of.again_at + refused_after));
        });
    }
    [[nodiscard]] bool has_any_of(const object_key& claim) const {
        return std::ranges::any_of(all_,
                                   [&](const auto& each) { return each.second.claim == claim; });
    }

private:
    [[nodiscard]] static bool is_pending(const write& of, const live_devices& devices) {
        return of.under_way || (of.may_be_done && of.version == devices.version_of(of.claim));
    }

    std::int64_t again_after_;
    std::map<object_key, write> all_;
};

} // namespace kube
} // namespace v0_1
} // namespace muster
