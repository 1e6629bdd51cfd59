// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <muster/adapter/instant.hpp>
#include <muster/adapter/writes.hpp>
#include <muster/apis/core/objects.hpp>
#include <muster/apis/core/volumes/storage_catalog.hpp>
#include <muster/input/membership.hpp>
#include <muster/kube/claim_binder.hpp>
#include <muster/kube/http.hpp>
#include <muster/kube/live_storage.hpp>
#include <muster/kube/volume_choices.hpp>
#include <muster/kube/volume_requests.hpp>

namespace muster {
inline namespace v0_1 {
namespace kube {

struct volume_binder_options {
    /// Time limit for binding the volumes of a pod, in nanoseconds.
    std::int64_t patience = 600 * adapter::second;
    /// Delay before a failed write is retried, in nanoseconds.
    std::int64_t again_after = 1 * adapter::second;
    claim_binder_options devices;
};

/// Binds the volumes of pods for the pods' nodes, and gets the pods' device claims allocated (see
/// claim_binder). A state machine without I/O: `next` returns the next write, `done` receives its
/// result, and `settle` returns the pods whose volumes are all bound or cannot be bound.
///
/// A claim gets a free volume that its node can use, if there is one; otherwise a volume is
/// provisioned for it. Free volumes are assigned to all wanted claims together. Progress is read
/// from the observed objects only, so a new binder continues where an earlier process stopped.
class volume_binder {
public:
    using object_key = codec::object_key;

    /// `about`: the key of the claim, or of the volume (without a namespace).
    using write = claim_binder::write;
    struct result {
        adapter::ticket of = 0;
        object_key pod;
        adapter::outcome what = adapter::outcome::applied;
        std::string message;
    };

    explicit volume_binder(volume_binder_options how = {}) : how_(how), claims_(how.devices) {}

    /// `gang`: the pod's gang. If one of its pods fails, all of their claims are released.
    void want(adapter::ticket of, object_key pod, std::string uid, std::string node,
              std::int64_t now, codec::group_key gang = {}) {
        claims_.want(pod, uid, node, std::move(gang), now);
        wanted_.emplace(of, pending{std::move(pod), std::move(uid), std::move(node), now, {}});
        chosen_.reset();
    }
    [[nodiscard]] bool empty() const noexcept { return wanted_.empty(); }
    /// Returns the names of a pod's claims that are not bound; empty if all are.
    [[nodiscard]] static std::string unbound_claims(const codec::pod_object& pod,
                                                    const live_storage& storage) {
        std::string names;
        for (const codec::pod_volume& each : pod.volumes) {
            const auto* const claim =
                each.claim.empty() ? nullptr
                                   : storage.claim({pod.metadata.key.name_space, each.claim});
            if (claim && !claim->object.bound)
                names += (names.empty() ? "" : ", ") + each.claim;
        }
        return names;
    }
    /// Call when leadership was lost or gained.
    void clear() {
        wanted_.clear();
        writes_.clear();
        keeps_.clear();
        chosen_.reset();
        claims_.clear();
    }
    /// See claim_binder::review().
    template<class Pods, class IsStarting>
    void review(const live_devices& devices, const Pods& pods, const IsStarting& is_starting,
                std::int64_t now) {
        claims_.review(devices, pods, is_starting, now);
    }

    /// Returns the time of the next call of `settle` and `next` if no event arrives before (steady
    /// clock, ns).
    [[nodiscard]] std::int64_t wakes() const {
        std::int64_t first = claims_.wakes();
        for (const auto& [of, each] : wanted_)
            first = std::min(first, each.since + how_.patience);
        for (const auto& [key, each] : writes_)
            if (!each.under_way && !wanted_.empty())
                first = std::min(first, each.again_at);
        return first;
    }

    /// Returns the orders that have ended, and forgets them. `pods`: the pods of the cluster, by
    /// key. `node_of(name)` returns a `const codec::node_object*`, null if there is no such node.
    template<class Pods, class NodeOf>
    [[nodiscard]] std::vector<result> settle(const live_storage& storage, const Pods& pods,
                                             const NodeOf& node_of, std::int64_t now) {
        std::vector<result> found;
        chosen_.reset();
        for (auto at = wanted_.begin(); at != wanted_.end();) {
            const auto ended = judge(at->second, storage, pods, node_of, now);
            if (!ended) {
                ++at;
                continue;
            }
            found.push_back({at->first, at->second.pod, ended->what, ended->message});
            claims_.end(at->second.pod, ended->what == adapter::outcome::refused);
            at = wanted_.erase(at);
        }
        if (wanted_.empty()) {
            std::erase_if(writes_, [](const auto& each) { return !each.second.under_way; });
            keeps_.clear();
        }
        return found;
    }

    /// Returns the next write, if any. `pods` and `node_of`: as settle() has them.
    template<class Pods, class NodeOf>
    [[nodiscard]] std::optional<write> next(const live_storage& storage, const Pods& pods,
                                            const NodeOf& node_of, const adapter::instant& at) {
        const std::int64_t now = at.steady;
        if (!chosen_ && !wanted_.empty())
            choose(storage, pods, node_of);
        for (auto& [of, each] : wanted_) {
            const auto pod = pods.find(each.pod);
            if (pod == pods.end() || pod->second.object.metadata.uid != each.uid ||
                !node_of(each.node))
                continue;
            for (const codec::pod_volume& volume : pod->second.object.volumes)
                if (auto made = bind(each, volume, storage, now))
                    return made;
        }
        return claims_.next(storage.devices(), pods, node_of, at);
    }

    void done(const object_key& about, adapter::outcome what, std::string message,
              std::int64_t now) {
        const auto at = writes_.find(about);
        if (at == writes_.end())
            return static_cast<void>(claims_.done(about, what, std::move(message), now));
        chosen_.reset();
        at->second.under_way = false;
        at->second.again_at = now + how_.again_after;
        if (what == adapter::outcome::refused)
            at->second.refused = std::move(message);
        if (what != adapter::outcome::applied && about.name_space.empty())
            keeps_.erase(about.name);
    }

private:
    struct pending {
        object_key pod;
        std::string uid;
        std::string node;
        std::int64_t since = 0;
        /// Claims that were observed with the node as their `selected-node`.
        std::set<object_key> selected;
    };
    struct written {
        /// The resourceVersion that the write was based on.
        std::string version;
        bool under_way = true;
        std::int64_t again_at = 0;
        std::string refused;
    };
    struct ending {
        adapter::outcome what;
        std::string message;
    };

    template<class Pods, class NodeOf>
    [[nodiscard]] std::optional<ending> judge(pending& of, const live_storage& storage,
                                              const Pods& pods, const NodeOf& node_of,
                                              std::int64_t now) {
        using adapter::outcome;
        const auto pod = pods.find(of.pod);
        if (pod == pods.end())
            return ending{outcome::gone, {}};
        if (pod->second.object.metadata.uid != of.uid)
            return ending{outcome::replaced, {}};
        if (!node_of(of.node))
            return ending{outcome::refused, "node " + of.node + " does not exist any longer"};
        const auto* const plan = storage.plan().find(of.pod);
        if (plan && !plan->waits.empty())
            return ending{outcome::refused, plan->waits.front()};
        if (plan && !plan->unmodelled.empty())
            return ending{outcome::refused, plan->unmodelled.front()};
        for (const codec::pod_volume& each : pod->second.object.volumes) {
            if (each.claim.empty())
                continue;
            const object_key key{of.pod.name_space, each.claim};
            const auto* const claim = storage.claim(key);
            if (!claim)
                return ending{outcome::refused, "claim " + key.name + " does not exist"};
            if (claim->object.bound)
                continue;
            if (auto failed = failure_of(of, key, claim->object))
                return failed;
        }
        const claim_binder::verdict devices =
            claims_.judge(pod->second.object, storage.devices(), node_of, now);
        if (devices.what == claim_binder::progress::failed)
            return ending{outcome::refused, devices.why};
        if (devices.what == claim_binder::progress::cancelled)
            return ending{outcome::not_started, {}};
        const std::string open = unbound_claims(pod->second.object, storage);
        if (!open.empty() && now - of.since >= how_.patience)
            return ending{outcome::refused, "claims " + open + " were not bound within " +
                                                std::to_string(how_.patience / adapter::second) +
                                                " s"};
        return open.empty() && devices.what == claim_binder::progress::ready
                   ? std::optional(ending{outcome::applied, {}})
                   : std::nullopt;
    }

    [[nodiscard]] std::optional<ending> failure_of(pending& of, const object_key& key,
                                                   const codec::claim_object& claim) {
        using adapter::outcome;
        if (const auto at = writes_.find(key); at != writes_.end() && !at->second.refused.empty())
            return ending{outcome::refused,
                          "claim " + key.name + " cannot be written: " + at->second.refused};
        if (claim.selected_node == of.node) {
            of.selected.insert(key);
            return std::nullopt;
        }
        if (!claim.selected_node.empty())
            return ending{outcome::refused,
                          "claim " + key.name + " is provisioned for node " + claim.selected_node};
        if (of.selected.contains(key))
            return ending{outcome::refused, "no volume could be provisioned for claim " + key.name};
        return std::nullopt;
    }

    /// Returns the claim of a pod's volume if it still needs a write, else nullptr.
    [[nodiscard]] static const live_storage::versioned<codec::claim_object>*
    open_claim(const pending& of, const codec::pod_volume& volume, const live_storage& storage) {
        if (volume.claim.empty())
            return nullptr;
        const auto* const claim = storage.claim({of.pod.name_space, volume.claim});
        return claim && !claim->object.bound && claim->object.selected_node.empty() ? claim
                                                                                    : nullptr;
    }

    /// Chooses free volumes for all wanted claims together, so that as many claims as possible get
    /// one.
    template<class Pods, class NodeOf>
    void choose(const live_storage& storage, const Pods& pods, const NodeOf& node_of) {
        std::vector<placed_claim> claims;
        std::set<object_key> seen;
        for (const auto& [of, each] : wanted_) {
            const auto pod = pods.find(each.pod);
            const codec::node_object* const node = node_of(each.node);
            if (!node || pod == pods.end() || pod->second.object.metadata.uid != each.uid)
                continue;
            for (const codec::pod_volume& volume : pod->second.object.volumes)
                if (const auto* const claim = open_claim(each, volume, storage);
                    claim && seen.insert(claim->object.metadata.key).second)
                    claims.push_back({&claim->object, node});
        }
        chosen_ = choose_volumes(storage.catalog(), claims, keeps_);
    }

    [[nodiscard]] std::optional<write> bind(const pending& of, const codec::pod_volume& volume,
                                            const live_storage& storage, std::int64_t now) {
        const auto* const claim = open_claim(of, volume, storage);
        if (!claim)
            return std::nullopt;
        const object_key& key = claim->object.metadata.key;
        // Its provisioner gave up: settle() ends the order.
        if (of.selected.contains(key))
            return std::nullopt;
        if (const auto found = chosen_->find(key); found != chosen_->end()) {
            const object_key about{{}, found->second};
            const auto* const free = storage.volume(found->second);
            // The volume is already reserved: the PersistentVolume controller completes the bind.
            if (!free || free->object.claim || !may_write(about, free->version, now))
                return std::nullopt;
            keeps_[found->second] = key;
            return write{about, keep_volume_request(free->object, free->version, claim->object)};
        }
        const codec::storage_catalog& catalog = storage.catalog();
        const auto* const known =
            codec::storage_catalog::find(catalog.classes, catalog.class_of(claim->object.asks));
        if (!known || !known->provisions() || !may_write(key, claim->version, now))
            return std::nullopt;
        return write{key, select_node_request(claim->object, claim->version, of.node)};
    }

    /// True if the object may be written now. A write based on the same version is only repeated
    /// after `again_after`.
    [[nodiscard]] bool may_write(const object_key& about, const std::string& version,
                                 std::int64_t now) {
        const auto [at, fresh] = writes_.try_emplace(about, written{version, true, 0, {}});
        if (fresh)
            return true;
        if (at->second.under_way || (at->second.version == version && at->second.again_at > now))
            return false;
        at->second = written{version, true, 0, {}};
        return true;
    }

    volume_binder_options how_;
    claim_binder claims_;
    std::map<adapter::ticket, pending> wanted_;
    std::map<object_key, written> writes_;
    /// The claims that volumes were reserved for, by volume name.
    std::map<std::string, object_key> keeps_;
    /// The chosen volumes, by claim; absent = to be computed again.
    std::optional<std::map<object_key, std::string>> chosen_;
};

} // namespace kube
} // namespace v0_1
} // namespace muster
