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
#include <muster/apis/core/claims/device_claims.hpp>
#include <muster/apis/core/claims/device_objects.hpp>
#include <muster/apis/core/claims/extended_requests.hpp>
#include <muster/apis/core/objects.hpp>
#include <muster/input/membership.hpp>
#include <muster/kube/claim_allocation_json.hpp>
#include <muster/kube/claim_choices.hpp>
#include <muster/kube/claim_progress.hpp>
#include <muster/kube/claim_requests.hpp>
#include <muster/kube/claim_sharers.hpp>
#include <muster/kube/claim_writes.hpp>
#include <muster/kube/extended_claims.hpp>
#include <muster/kube/held_claims.hpp>
#include <muster/kube/http.hpp>
#include <muster/kube/live_devices.hpp>
#include <muster/kube/open_claims.hpp>
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
/// allocation is observed. A claim that several pods share is allocated once, for all of them that
/// are about to start. A claim that Muster allocates bears an annotation, so a new binder finds the
/// claims that an earlier process allocated for pods that did not start. `review` finds pods that
/// are not about to start, and claims that no other pods use are released.
///
/// If the result of an allocation is unknown, the same write is repeated as long as a pod is to
/// start with it on the same node. Otherwise the finalizer of the claim is removed, with the same
/// resourceVersion as precondition: the server carries out at most one of the two writes, however
/// late the allocation arrives. Reading the claim would not exclude a late allocation.
class claim_binder {
public:
    using object_key = codec::object_key;

    struct write {
        /// The namespace of the claim, and a text.
        object_key about;
        http_request request;
    };
    using progress = claim_progress;
    using verdict = claim_verdict;

    explicit claim_binder(claim_binder_options how = {}) : how_(how), writes_(how.again_after) {}

    void want(const object_key& pod, std::string uid, std::string node, codec::group_key gang,
              std::int64_t now) {
        // The last attempt may have been refused.
        writes_.forget_failed(pod);
        failed_.erase(gang);
        wanted_.insert_or_assign(
            pod, pending{std::move(uid), std::move(node), std::move(gang), now, false});
        idle_.erase(pod);
        choices_.renew();
        is_due_ = true;
        is_reviewed_ = false;
        is_new_ = true;
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
        choices_.renew();
        is_due_ = true;
    }
    /// Call when leadership was lost or gained.
    void clear() {
        wanted_.clear();
        choices_.clear();
        sharers_.clear();
        writes_.clear();
        idle_.clear();
        failed_.clear();
        made_.clear();
        is_new_ = false;
        extended_.clear();
    }

    /// Returns the time of the next call of `review` and `next` if no event arrives before (steady
    /// clock, ns).
    [[nodiscard]] std::int64_t wakes() const {
        if (is_new_)
            return 0;
        std::int64_t first = due_at_;
        // After its time a pod that waits for volumes alone goes on waiting.
        for (const auto& [pod, each] : wanted_)
            if (const std::int64_t ends = each.since + how_.patience; ends > reviewed_at_)
                first = std::min(first, ends);
        return first;
    }

    /// Finds pods whose claims are to be released, and wanted pods that are no longer about to
    /// start. `is_starting(pod)`: the pod has a node in the scheduler's view.
    template<class Pods, class IsStarting>
    void review(const live_devices& devices, const Pods& pods, const IsStarting& is_starting,
                std::int64_t now) {
        is_new_ = false;
        reviewed_at_ = now;
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
        writes_.forget_settled(devices, now);
        if (wanted_.empty())
            choices_.forget([&](const object_key& claim) { return writes_.has_any_of(claim); });
    }

    /// Says how far the claims of a wanted pod are, and why if they wait or failed. `node_of`: see
    /// next().
    template<class NodeOf>
    [[nodiscard]] verdict judge(const codec::pod_object& pod, const live_devices& devices,
                                const NodeOf& node_of, std::int64_t now) const {
        const auto at = wanted_.find(pod.metadata.key);
        if (at == wanted_.end())
            return {};
        const pending& of = at->second;
        std::string open;
        for (const std::string& name : extended_.claims_of(pod, devices)) {
            verdict found = judge_claim(pod, of.node, name, choices_.lack_of(of.gang), extended_,
                                        writes_, devices, node_of(of.node));
            if (found.what == progress::failed)
                return found;
            if (found.what == progress::waiting)
                open += (open.empty() ? "" : ", ") + found.why;
        }
        if (of.cancelled)
            return {progress::cancelled, {}};
        if (open.empty() && extended_.name_to_tell(pod, devices))
            open = "the pod's status does not name the claim for its extended resources yet";
        if (open.empty() && !is_reviewed_ && extended_claims::is_served(pod.metadata.key, devices))
            open = "the claim for extended resources is not made yet";
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
        for (int tries = 0; tries < 2 && made_.empty(); ++tries)
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
        const claim_writes::write* const of = writes_.end(about, what, std::move(message), now);
        if (!of)
            return false;
        if (!of->may_be_done)
            choices_.renew();
        is_due_ = true;
        return true;
    }

private:
    struct pending {
        std::string uid;
        std::string node;
        codec::group_key gang;
        std::int64_t since = 0;
        /// The scheduler no longer starts the pod.
        bool cancelled = false;
    };

    template<class Pod>
    [[nodiscard]] static codec::group_key gang_of(const Pod& pod) {
        if constexpr (requires { pod.told_in; })
            return pod.told_in;
        else
            return {};
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
            extended_.plan(devices, wanted_, pods, node_of);
            is_reviewed_ = true;
            sharers_.clear();
            for_each_wanted(
                pods, node_of,
                [&](const codec::pod_object& pod, const pending& each, const codec::node_object&) {
                    sharers_.add(pod, each.node, devices, each.gang);
                });
            const auto each_wanted = [&](const auto& use) {
                for_each_wanted(pods, node_of,
                                [&](const codec::pod_object& pod, const pending& each,
                                    const codec::node_object& node) { use(pod, each.gang, node); });
            };
            choices_.note_sent(writes_.allocating(devices));
            choices_.choose(
                devices, [&](const object_key& claim) { return extended_.plans(claim); },
                [&] { return open_claims_of(devices, extended_, sharers_, node_of, each_wanted); });
            stranded_ = stranded_gangs(devices, extended_, choices_, each_wanted);
            round with{&devices, devices.make_catalog(), {}, {}, now};
            with.pooled = codec::devices_of(with.catalog.slices);
            for (const auto& [key, claim] : devices.claims())
                if (claim.allocation)
                    for (const allocated_device& each : claim.allocation->devices)
                        if (!each.admin_access)
                            with.taken.insert(each.id);
            for_each_wanted(pods, node_of,
                            [&](const codec::pod_object& pod, const pending& each,
                                const codec::node_object& node) {
                                for (const std::string& name : extended_.claims_of(pod, devices))
                                    advance(pod, each, node, name, with);
                                tell_pod(pod, devices, now.steady);
                            });
        }
        resolve(devices, now.steady);
        release_idle(devices, pods, now.steady);
        sharers_.clear();
        stranded_.clear();
        due_at_ = writes_.next_after(now.steady);
        for (const auto& [key, release_at] : idle_)
            if (release_at > now.steady)
                due_at_ = std::min(due_at_, release_at);
    }

    /// Calls `use(pod, pending, node)` for the wanted pods that are still to be started.
    template<class Pods, class NodeOf, class Use>
    void for_each_wanted(const Pods& pods, const NodeOf& node_of, const Use& use) const {
        for (const auto& [key, each] : wanted_)
            if (const auto pod = pods.find(key);
                !each.cancelled && pod != pods.end() && pod->second.object.metadata.uid == each.uid)
                if (const codec::node_object* const node = node_of(each.node))
                    use(pod->second.object, each, *node);
    }

    // ---- releases ------------------------------------------------------------------------------

    /// Removes the finalizer of claims whose allocation has an unknown result and is not repeated.
    /// Once that is observed, the allocation can no longer be carried out.
    void resolve(const live_devices& devices, std::int64_t now) {
        for (const object_key& key : writes_.unresolved(devices, now)) {
            const auto* const claim = devices.claim(key);
            const auto* const choice = choices_.find(key);
            if (!claim || claim->allocation || !claim->is_protected ||
                (choice && is_repeated(*claim, choice->choice)))
                continue;
            const std::string version = devices.version_of(key);
            if (object_key what = detail::about_release(key);
                writes_.begin(what, {{}, key, version}, now))
                made_.push_back({std::move(what), unprotect_claim_request(*claim, version)});
        }
    }

    /// True if the pod that leads the claim repeats its allocation.
    [[nodiscard]] bool is_repeated(const codec::resource_claim_object& claim,
                                   const device_choice& choice) const {
        const auto leader = sharers_.place_of_leader(claim);
        return leader && choice.is_for(leader->node) && !is_held_back(leader->gang);
    }
    /// Nothing is written for a gang of which a pod cannot get its devices.
    [[nodiscard]] bool is_held_back(const codec::group_key& gang) const {
        return choices_.lack_of(gang) || stranded_.contains(gang);
    }

    /// Releases the claims of pods in `idle_` whose time has come, unless other pods use the
    /// claims.
    template<class Pods>
    void release_idle(const live_devices& devices, const Pods& pods, std::int64_t now) {
        const auto is_idle = [&](const object_key& pod) {
            const auto at = idle_.find(pod);
            return at != idle_.end() && at->second <= now;
        };
        std::set<object_key> released;
        for (const auto& [key, release_at] : idle_) {
            const auto pod = pods.find(key);
            if (pod == pods.end() || release_at > now)
                continue;
            for (const std::string& name : extended_.claims_of(pod->second.object, devices)) {
                const auto* const claim = devices.claim({key.name_space, name});
                if (claim && is_held(pod->second.object, *claim, devices) &&
                    !sharers_.uses(claim->metadata.key) && are_users_idle(*claim, pods, is_idle) &&
                    released.insert(claim->metadata.key).second)
                    release(pod->second.object, name, devices, now);
            }
        }
    }

    void release(const codec::pod_object& pod, const std::string& name, const live_devices& devices,
                 std::int64_t now) {
        const auto* const claim = devices.claim({pod.metadata.key.name_space, name});
        if (!claim || !is_held(pod, *claim, devices))
            return;
        const std::string version = devices.version_of(claim->metadata.key);
        object_key key = detail::about_release(claim->metadata.key);
        if (!writes_.begin(key, {pod.metadata.key, claim->metadata.key, version}, now))
            return;
        made_.push_back({std::move(key), claim->allocation ? release_claim_request(*claim, version)
                                         : claim->is_extended && !claim->is_protected
                                             ? delete_claim_request(*claim, version)
                                             : unprotect_claim_request(*claim, version)});
    }

    /// Makes the write of the pod's status, once its claim is allocated.
    void tell_pod(const codec::pod_object& pod, const live_devices& devices, std::int64_t now) {
        const std::optional<std::string> name = extended_.name_to_tell(pod, devices);
        if (!name)
            return;
        const object_key key{pod.metadata.key.name_space, *name};
        const auto* const claim = devices.claim(key);
        if (!name->empty() && (!claim || !claim->allocation))
            return;
        const extended_claims::draft* const needed = extended_.find(pod);
        if (object_key what = detail::about_claim(pod, "name", *name);
            writes_.begin(what, {pod.metadata.key, key, {}}, now))
            made_.push_back(
                {std::move(what),
                 extended_status_request(pod, *name,
                                         needed ? needed->mappings
                                                : std::vector<codec::extended_mapping>{})});
    }

    // ---- allocations ---------------------------------------------------------------------------

    /// Makes the next write for a claim of a wanted pod, if there is one.
    void advance(const codec::pod_object& pod, const pending& of, const codec::node_object& node,
                 const std::string& name, const round& with) {
        const live_devices& devices = *with.devices;
        const auto* const claim = extended_.claim(pod, name, devices);
        if (!claim || claim->metadata.terminating ||
            writes_.is_leaving(claim->metadata.key, devices))
            return;
        if (extended_.is_of_no_use(pod, *claim, devices))
            return release(pod, name, devices, with.now.steady);
        if (is_held_back(of.gang))
            return;
        const std::string version = devices.version_of(claim->metadata.key);
        const auto may = [&](const object_key& what, const std::string& based_on,
                             bool allocates = false) {
            return writes_.begin(what, {pod.metadata.key, claim->metadata.key, based_on, allocates},
                                 with.now.steady);
        };
        if (claim->allocation) {
            if (object_key what = detail::about_claim(pod, "reservation", name);
                !devices.is_reserved_for(*claim, pod) && codec::reaches(*claim->allocation, node) &&
                may(what, {}))
                made_.push_back({std::move(what),
                                 reserve_claim_request(*claim, sharers_.consumer(pod, *claim))});
            return;
        }
        auto* const choice = choices_.find(claim->metadata.key);
        if (!sharers_.leads(pod, *claim))
            return;
        if (!choice) {
            // The claim was allocated when devices were last chosen.
            choices_.renew();
            is_due_ = true;
            return;
        }
        if (!choice->choice.is_for(of.node))
            return;
        if (!devices.claim(claim->metadata.key)) {
            if (object_key what = detail::about_claim(pod, "creation", name); may(what, {}))
                made_.push_back({std::move(what), create_claim_request(*claim, pod)});
            return;
        }
        if (!claim->is_protected || claim->muster_pod != pod.metadata.uid) {
            if (object_key what = detail::about_claim(pod, "protection", name); may(what, version))
                made_.push_back({std::move(what), protect_claim_request(*claim, version, pod)});
            return;
        }
        if (!choice->is_sent && claim_choices::is_taken(choice->choice, with.taken)) {
            choices_.renew();
            is_due_ = true;
            return;
        }
        object_key what = detail::about_claim(pod, "allocation", name);
        if (!may(what, version, true))
            return;
        choice->is_sent = true;
        made_.push_back({std::move(what),
                         allocate_claim_request(*claim, version,
                                                sharers_.consumers(pod, *claim,
                                                                   [&](const std::string& each) {
                                                                       return choice->choice.is_for(
                                                                           each);
                                                                   }),
                                                allocation_json(with.catalog, with.pooled, *claim,
                                                                choice->choice, with.now.wall))});
    }

    claim_binder_options how_;
    std::map<object_key, pending> wanted_;
    claim_choices choices_;
    claim_sharers sharers_;
    /// In a round: gangs with a pod on a node that does not reach the devices of one of its claims.
    std::set<codec::group_key> stranded_;
    extended_claims extended_;
    claim_writes writes_;
    /// Writes to be sent.
    std::deque<write> made_;
    /// Pods that hold claims and are not about to start, and when these are released.
    std::map<object_key, std::int64_t> idle_;
    /// Gangs of which a pod failed to start.
    std::set<codec::group_key> failed_;
    std::uint64_t seen_changes_ = 0;
    /// When there are writes to make, besides on changes.
    std::int64_t due_at_ = adapter::never_comes;
    bool is_due_ = false;
    /// A pod was wanted since the last review.
    bool is_new_ = false;
    std::int64_t reviewed_at_ = -1;
    /// `extended_` has the claims of all wanted pods.
    bool is_reviewed_ = false;
};

} // namespace kube
} // namespace v0_1
} // namespace muster
