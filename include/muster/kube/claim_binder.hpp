// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <muster/adapter/instant.hpp>
#include <muster/adapter/writes.hpp>
#include <muster/codec/device_claims.hpp>
#include <muster/codec/device_objects.hpp>
#include <muster/codec/membership.hpp>
#include <muster/codec/objects.hpp>
#include <muster/kube/claim_allocation_json.hpp>
#include <muster/kube/claim_requests.hpp>
#include <muster/kube/device_choices.hpp>
#include <muster/kube/http.hpp>
#include <muster/kube/live_devices.hpp>
#include <muster/vocabulary/node.hpp>

namespace muster {
inline namespace v0_1 {
namespace kube {

struct claim_binder_options {
    /// Time limit for allocating the claims of a pod, until their devices are ready, in
    /// nanoseconds.
    std::int64_t patience = 120 * adapter::second;
    /// Delay before a failed write is retried, in nanoseconds.
    std::int64_t again_after = 1 * adapter::second;
    /// How long a pod that is not about to start keeps the devices that were allocated for it, in
    /// nanoseconds.
    std::int64_t release_after = 10 * adapter::second;
};

/// Gets the ResourceClaims of pods allocated on the pods' nodes, and reserved for the pods. A state
/// machine without I/O: `next` returns the next write, `done` receives its result, and `judge` says
/// how far the claims of a pod are.
///
/// Devices are chosen for all wanted claims of a node together, and stay chosen until the
/// allocation is observed. A claim that Muster allocates bears an annotation, so a new binder finds
/// the claims that an earlier process allocated for pods that did not start. `review` finds pods
/// that are not about to start, and their claims are released.
class claim_binder {
public:
    using object_key = codec::object_key;

    struct write {
        /// The namespace of the claim, and a text.
        object_key about;
        http_request request;
    };
    enum class progress : std::uint8_t { ready, waiting, failed, cancelled };
    struct verdict {
        progress what = progress::ready;
        std::string why;
    };

    explicit claim_binder(claim_binder_options how = {}) : how_(how) {}

    void want(const object_key& pod, std::string uid, std::string node, codec::group_key gang,
              std::int64_t now) {
        // The last attempt may have been refused.
        std::erase_if(writes_, [&](const auto& each) {
            return each.second.pod == pod && !each.second.under_way && !each.second.may_be_done;
        });
        failed_.erase(gang);
        wanted_.insert_or_assign(
            pod, pending{std::move(uid), std::move(node), std::move(gang), now, false});
        idle_.erase(pod);
        choices_are_old_ = is_due_ = true;
    }
    /// The order of the pod has ended. If it failed, the claims of its gang's pods that are not
    /// about to start are released at once.
    void end(const object_key& pod, bool has_failed) {
        const auto at = wanted_.find(pod);
        if (at == wanted_.end())
            return;
        if (has_failed)
            failed_.insert(at->second.gang);
        wanted_.erase(at);
        choices_are_old_ = is_due_ = true;
    }
    /// Call when leadership was lost or gained.
    void clear() {
        wanted_.clear();
        choices_.clear();
        lacking_.clear();
        writes_.clear();
        idle_.clear();
        failed_.clear();
        made_.clear();
    }

    /// Returns the time of the next call of `review` and `next` if no event arrives before (steady
    /// clock, ns).
    [[nodiscard]] std::int64_t wakes() const {
        std::int64_t first = due_at_;
        for (const auto& [pod, each] : wanted_)
            first = std::min(first, each.since + how_.patience);
        return first;
    }

    /// Finds pods whose claims are to be released, and wanted pods that are no longer about to
    /// start. `is_starting(pod)`: the pod has a node in the scheduler's view.
    template<class Pods, class IsStarting>
    void review(const live_devices& devices, const Pods& pods, const IsStarting& is_starting,
                std::int64_t now) {
        for (auto& [key, each] : wanted_)
            each.cancelled = each.cancelled || !is_starting(key);
        std::set<codec::group_key> moving;
        for (const auto& [key, each] : wanted_)
            moving.insert(each.gang);
        std::map<object_key, std::int64_t> found;
        std::set<codec::group_key> held;
        for (const object_key& key : devices.unready()) {
            const auto pod = pods.find(key);
            if (pod == pods.end() || !pod->second.object.node.empty() ||
                !holds_any(pod->second.object, devices))
                continue;
            const codec::group_key gang = gang_of(pod->second);
            held.insert(gang);
            if (is_starting(key) || wanted_.contains(key))
                continue;
            const bool at_once =
                failed_.contains(gang) || has_failed_device(pod->second.object, devices);
            if (moving.contains(gang) && !at_once)
                continue;
            const auto known = idle_.find(key);
            const std::int64_t release_at =
                known != idle_.end() ? known->second : now + how_.release_after;
            found.emplace(key, at_once ? std::min(release_at, now) : release_at);
        }
        is_due_ = is_due_ || idle_ != found;
        idle_ = std::move(found);
        std::erase_if(failed_, [&](const codec::group_key& gang) { return !held.contains(gang); });
        forget_settled(devices, now);
    }

    /// Says how far the claims of a wanted pod are, and why if they wait or failed.
    [[nodiscard]] verdict judge(const codec::pod_object& pod, const live_devices& devices,
                                std::int64_t now) const {
        const auto at = wanted_.find(pod.metadata.key);
        if (at == wanted_.end())
            return {};
        const pending& of = at->second;
        std::string open;
        for (const codec::pod_claim& entry : pod.claims) {
            if (entry.needs_none || entry.claim.empty())
                continue;
            const object_key key{pod.metadata.key.name_space, entry.claim};
            const auto* const claim = devices.claim(key);
            if (!claim)
                return {progress::failed, "resource claim " + key.name + " does not exist"};
            verdict found = judge(pod, of, *claim, devices);
            if (found.what == progress::failed)
                return found;
            if (found.what == progress::waiting)
                open += (open.empty() ? "" : ", ") + found.why;
        }
        if (of.cancelled)
            return {progress::cancelled, {}};
        if (open.empty())
            return {};
        if (now - of.since < how_.patience)
            return {progress::waiting, open};
        return {progress::failed,
                open + " (waited " + std::to_string(how_.patience / adapter::second) + " s)"};
    }

    /// Returns the next write, if any. `pods` and `node_of`: as volume_binder::settle() has them.
    template<class Pods, class NodeOf>
    [[nodiscard]] std::optional<write> next(const live_devices& devices, const Pods& pods,
                                            const NodeOf& node_of, const adapter::instant& now) {
        // The first round may find that devices must be chosen again.
        for (int turn = 0; turn < 2 && made_.empty(); ++turn)
            if (is_due_ || due_at_ <= now.steady || seen_changes_ != devices.changes())
                make_writes(devices, pods, node_of, now);
        if (made_.empty())
            return std::nullopt;
        write first = std::move(made_.front());
        made_.pop_front();
        return first;
    }

    /// Returns false if the write is not one of this binder.
    bool done(const object_key& about, adapter::outcome what, std::string message,
              std::int64_t now) {
        const auto at = writes_.find(about);
        if (at == writes_.end())
            return false;
        written& of = at->second;
        of.under_way = false;
        of.again_at = now + how_.again_after;
        const bool may_be_done =
            what == adapter::outcome::applied || what == adapter::outcome::unknown;
        of.may_be_done = may_be_done;
        if (what == adapter::outcome::refused) {
            of.refused = std::move(message);
            of.again_at = now + refused_after;
        }
        if (const auto choice = choices_.find(of.claim); choice != choices_.end() && !may_be_done)
            choice->second.is_sent = false;
        choices_are_old_ = choices_are_old_ || !may_be_done;
        is_due_ = true;
        return true;
    }

private:
    /// Delay before a write that the server refused is tried again.
    static constexpr std::int64_t refused_after = 60 * adapter::second;

    struct pending {
        std::string uid;
        std::string node;
        codec::group_key gang;
        std::int64_t since = 0;
        /// The scheduler no longer starts the pod.
        bool cancelled = false;
    };
    struct written {
        object_key pod;
        object_key claim;
        /// The resourceVersion that the write was based on.
        std::string version;
        bool under_way = true;
        /// The server carried it out, or this is not known.
        bool may_be_done = false;
        std::int64_t again_at = 0;
        std::string refused;
    };
    struct kept_choice {
        device_choice choice;
        /// A write of it may have been carried out, so it is not changed.
        bool is_sent = false;
    };

    template<class Pod>
    [[nodiscard]] static codec::group_key gang_of(const Pod& pod) {
        if constexpr (requires { pod.told_in; })
            return pod.told_in;
        else
            return {};
    }
    [[nodiscard]] static object_key about(const codec::pod_object& pod, const char* what,
                                          const std::string& claim) {
        return {pod.metadata.key.name_space, std::string(what) + " of resource claim " + claim +
                                                 " for pod " + pod.metadata.key.name};
    }

    /// What the writes of one round need of the device objects.
    struct round {
        const live_devices* devices;
        codec::device_catalog catalog;
        std::vector<codec::pooled_device> pooled;
        /// Devices that one claim holds.
        std::set<device_id> taken;
        adapter::instant now;
    };

    template<class Pods, class NodeOf>
    void make_writes(const live_devices& devices, const Pods& pods, const NodeOf& node_of,
                     const adapter::instant& now) {
        is_due_ = false;
        seen_changes_ = devices.changes();
        if (!wanted_.empty()) {
            choose(devices, pods, node_of);
            round with{&devices, devices.make_catalog(), {}, {}, now};
            with.pooled = codec::devices_of(with.catalog.slices);
            for (const auto& [key, claim] : devices.claims())
                if (claim.allocation)
                    for (const allocated_device& each : claim.allocation->devices)
                        if (!each.admin_access)
                            with.taken.insert(each.id);
            for (const auto& [key, each] : wanted_) {
                const auto pod = pods.find(key);
                if (each.cancelled || pod == pods.end() ||
                    pod->second.object.metadata.uid != each.uid || !node_of(each.node))
                    continue;
                for (const codec::pod_claim& entry : pod->second.object.claims)
                    advance(pod->second.object, each, entry, with);
            }
        }
        for (const auto& [key, release_at] : idle_)
            if (const auto pod = pods.find(key); pod != pods.end() && release_at <= now.steady)
                for (const codec::pod_claim& entry : pod->second.object.claims)
                    release(pod->second.object, entry, devices, now.steady);
        due_at_ = adapter::never_comes;
        for (const auto& [key, release_at] : idle_)
            if (release_at > now.steady)
                due_at_ = std::min(due_at_, release_at);
        for (const auto& [key, each] : writes_)
            if (!each.under_way && each.again_at > now.steady)
                due_at_ = std::min(due_at_, each.again_at);
    }

    // ---- releases ------------------------------------------------------------------------------

    /// Muster allocated the claim for the pod, or is about to, and the pod alone uses it.
    [[nodiscard]] static bool is_held(const codec::pod_object& pod,
                                      const codec::resource_claim_object& claim) {
        return !claim.muster_pod.empty() && claim.muster_pod == pod.metadata.uid &&
               !claim.metadata.terminating &&
               std::ranges::all_of(claim.reserved_for, [&](const codec::claim_consumer& each) {
                   return each.resource == "pods" && each.uid == pod.metadata.uid;
               });
    }
    [[nodiscard]] static const codec::resource_claim_object*
    find(const codec::pod_object& pod, const codec::pod_claim& entry, const live_devices& devices) {
        return entry.needs_none || entry.claim.empty()
                   ? nullptr
                   : devices.claim({pod.metadata.key.name_space, entry.claim});
    }
    [[nodiscard]] static bool holds_any(const codec::pod_object& pod, const live_devices& devices) {
        return std::ranges::any_of(pod.claims, [&](const codec::pod_claim& each) {
            const auto* const claim = find(pod, each, devices);
            return claim && is_held(pod, *claim);
        });
    }
    [[nodiscard]] static bool has_failed_device(const codec::pod_object& pod,
                                                const live_devices& devices) {
        return std::ranges::any_of(pod.claims, [&](const codec::pod_claim& each) {
            const auto* const claim = find(pod, each, devices);
            return claim && is_held(pod, *claim) && claim->allocation &&
                   !claim->allocation->failed.empty();
        });
    }

    void release(const codec::pod_object& pod, const codec::pod_claim& entry,
                 const live_devices& devices, std::int64_t now) {
        const auto* const claim = find(pod, entry, devices);
        if (!claim || !is_held(pod, *claim))
            return;
        const std::string version = devices.version_of(claim->metadata.key);
        if (object_key key = about(pod, "release", entry.claim);
            may_write(key, pod, *claim, version, now))
            made_.push_back({std::move(key), claim->allocation
                                                 ? release_claim_request(*claim, version)
                                                 : unprotect_claim_request(*claim, version)});
    }

    /// A release of the claim is on its way or was carried out, and this is not observed yet.
    [[nodiscard]] bool is_leaving(const codec::pod_object& pod, const std::string& claim,
                                  const live_devices& devices) const {
        const auto at = writes_.find(about(pod, "release", claim));
        return at != writes_.end() &&
               (at->second.under_way ||
                (at->second.may_be_done &&
                 at->second.version == devices.version_of(at->second.claim)));
    }

    // ---- allocations ---------------------------------------------------------------------------

    [[nodiscard]] verdict judge(const codec::pod_object& pod, const pending& of,
                                const codec::resource_claim_object& claim,
                                const live_devices& devices) const {
        const std::string name = "resource claim " + claim.metadata.key.name;
        if (is_leaving(pod, claim.metadata.key.name, devices))
            return {progress::waiting, name + " is being released"};
        for (const char* const what : {"protection", "allocation", "reservation"})
            if (const auto at = writes_.find(about(pod, what, claim.metadata.key.name));
                at != writes_.end() && !at->second.refused.empty() &&
                (!claim.allocation || !codec::is_reserved_for(claim, pod)))
                return {progress::failed, name + " cannot be " +
                                              (claim.allocation ? "reserved: " : "allocated: ") +
                                              at->second.refused};
        if (!claim.allocation) {
            if (const auto at = lacking_.find(of.gang); at != lacking_.end())
                return {progress::failed, name + " cannot be allocated: " + at->second};
            return {progress::waiting, name + " is not allocated yet"};
        }
        if (!claim.allocation->failed.empty())
            return {progress::failed,
                    name + " has a device that cannot be used: " + claim.allocation->failed};
        if (!codec::is_reserved_for(claim, pod))
            return {progress::waiting, name + " is not reserved yet"};
        if (!claim.allocation->pending.empty())
            return {progress::waiting, name + " waits for " + claim.allocation->pending.front()};
        return {};
    }

    /// Returns the claims of wanted pods for which devices must be chosen, by gang.
    template<class Pods, class NodeOf>
    [[nodiscard]] std::map<codec::group_key, std::vector<unallocated_on>>
    find_open(const live_devices& devices, const Pods& pods, const NodeOf& node_of) const {
        std::map<codec::group_key, std::vector<unallocated_on>> open;
        for (const auto& [key, each] : wanted_) {
            const auto pod = pods.find(key);
            const codec::node_object* const node = node_of(each.node);
            if (!node || each.cancelled || pod == pods.end() ||
                pod->second.object.metadata.uid != each.uid)
                continue;
            for (const codec::pod_claim& entry : pod->second.object.claims)
                if (const auto* const claim = find(pod->second.object, entry, devices);
                    claim && !claim->allocation && !choices_.contains(claim->metadata.key))
                    open[each.gang].push_back({claim, node});
        }
        return open;
    }

    /// Chooses devices for all claims for which no allocation was sent, if a choice is missing or
    /// might be another one now. If there are not enough for all gangs, the first ones get theirs.
    template<class Pods, class NodeOf>
    void choose(const live_devices& devices, const Pods& pods, const NodeOf& node_of) {
        std::erase_if(choices_, [&](const auto& each) {
            const auto* const claim = devices.claim(each.first);
            choices_are_old_ = choices_are_old_ || !claim;
            return !claim || claim->allocation;
        });
        if (std::exchange(seen_supply_, devices.supply_changes()) != devices.supply_changes())
            choices_are_old_ = true;
        if (!std::exchange(choices_are_old_, false))
            return;
        lacking_.clear();
        std::erase_if(choices_, [](const auto& each) { return !each.second.is_sent; });
        const auto open = find_open(devices, pods, node_of);
        if (open.empty())
            return;
        const codec::device_catalog catalog = devices.make_catalog();
        std::map<object_key, device_choice> kept;
        for (const auto& [key, each] : choices_)
            kept.emplace(key, each.choice);
        const auto keep = [&](device_choices made) {
            for (auto& [key, each] : made.of) {
                kept.emplace(key, each);
                choices_.emplace(key, kept_choice{std::move(each), false});
            }
        };
        std::vector<unallocated_on> all;
        for (const auto& [gang, claims] : open)
            all.insert(all.end(), claims.begin(), claims.end());
        device_choices together = choose_devices(catalog, kept, all);
        if (together.lacking.empty())
            return keep(std::move(together));
        for (const auto& [gang, claims] : open) {
            device_choices made = choose_devices(catalog, kept, claims);
            if (made.lacking.empty()) {
                keep(std::move(made));
            } else {
                const auto& [node, why] = *made.lacking.begin();
                lacking_.emplace(gang, "on node " + node + " " + why);
            }
        }
    }

    /// True if another claim holds one of the devices by now.
    [[nodiscard]] static bool is_taken(const device_choice& choice,
                                       const std::set<device_id>& taken) {
        return std::ranges::any_of(choice.devices.devices, [&](const allocated_device& each) {
            return !each.is_share && !each.admin_access && taken.contains(each.id);
        });
    }

    /// Makes the next write for a claim of a wanted pod, if there is one.
    void advance(const codec::pod_object& pod, const pending& of, const codec::pod_claim& entry,
                 const round& with) {
        const live_devices& devices = *with.devices;
        const auto* const claim = find(pod, entry, devices);
        if (!claim || claim->metadata.terminating || is_leaving(pod, entry.claim, devices))
            return;
        const std::string version = devices.version_of(claim->metadata.key);
        const auto may = [&](const object_key& what, const std::string& based_on) {
            return may_write(what, pod, *claim, based_on, with.now.steady);
        };
        if (claim->allocation) {
            if (object_key what = about(pod, "reservation", entry.claim);
                !codec::is_reserved_for(*claim, pod) && may(what, {}))
                made_.push_back({std::move(what), reserve_claim_request(*claim, pod)});
            return;
        }
        const auto choice = choices_.find(claim->metadata.key);
        if (choice == choices_.end() || choice->second.choice.node != of.node ||
            lacking_.contains(of.gang))
            return;
        if (!claim->is_protected || claim->muster_pod != pod.metadata.uid) {
            if (object_key what = about(pod, "protection", entry.claim); may(what, version))
                made_.push_back({std::move(what), protect_claim_request(*claim, version, pod)});
            return;
        }
        if (!choice->second.is_sent && is_taken(choice->second.choice, with.taken)) {
            choices_are_old_ = is_due_ = true;
            return;
        }
        object_key what = about(pod, "allocation", entry.claim);
        if (!may(what, version))
            return;
        choice->second.is_sent = true;
        made_.push_back(
            {std::move(what),
             allocate_claim_request(*claim, version, pod,
                                    allocation_json(with.catalog, with.pooled, *claim,
                                                    choice->second.choice, with.now.wall))});
    }

    // ---- writes --------------------------------------------------------------------------------

    /// True if the claim may be written now. A write based on the same version is only repeated
    /// after `again_after`.
    [[nodiscard]] bool may_write(const object_key& about, const codec::pod_object& pod,
                                 const codec::resource_claim_object& claim,
                                 const std::string& version, std::int64_t now) {
        const auto [at, fresh] = writes_.try_emplace(about);
        const written& last = at->second;
        if (!fresh && (last.under_way ||
                       ((last.version == version || !last.refused.empty()) && last.again_at > now)))
            return false;
        at->second = written{pod.metadata.key, claim.metadata.key, version, true, false, 0, {}};
        return true;
    }

    /// Forgets writes that nothing waits for.
    void forget_settled(const live_devices& devices, std::int64_t now) {
        std::erase_if(writes_, [&](const auto& each) {
            const written& of = each.second;
            const bool is_seen = !of.version.empty() && of.version != devices.version_of(of.claim);
            return !of.under_way && now >= of.again_at &&
                   (is_seen || !of.may_be_done || now >= of.again_at + refused_after);
        });
        if (wanted_.empty())
            std::erase_if(choices_, [&](const auto& each) {
                return std::ranges::none_of(
                    writes_, [&](const auto& one) { return one.second.claim == each.first; });
            });
    }

    claim_binder_options how_;
    std::map<object_key, pending> wanted_;
    std::map<object_key, kept_choice> choices_;
    /// Gangs for which no devices were found, and why.
    std::map<codec::group_key, std::string> lacking_;
    std::map<object_key, written> writes_;
    /// Writes to be sent.
    std::deque<write> made_;
    /// Pods that hold claims and are not about to start, and when these are released.
    std::map<object_key, std::int64_t> idle_;
    /// Gangs of which a pod failed to start.
    std::set<codec::group_key> failed_;
    std::uint64_t seen_changes_ = 0;
    std::uint64_t seen_supply_ = 0;
    /// When there are writes to make, besides on changes.
    std::int64_t due_at_ = adapter::never_comes;
    bool is_due_ = false;
    bool choices_are_old_ = true;
};

} // namespace kube
} // namespace v0_1
} // namespace muster
