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
#include <muster/codec/device_claims.hpp>
#include <muster/codec/device_objects.hpp>
#include <muster/codec/objects.hpp>
#include <muster/codec/storage_catalog.hpp>
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
};

/// Binds the volumes of pods for the pods' nodes, and reserves the pods' device claims. A state
/// machine without I/O: `next` returns the
/// next write, `done` receives its result, and `settle` returns the pods whose volumes are all
/// bound or cannot be bound.
///
/// A claim gets a free volume that its node can use, if there is one; otherwise a volume is
/// provisioned for it. Free volumes are assigned to all wanted claims together. Progress is read
/// from the observed objects only, so a new binder continues where an earlier process stopped.
class volume_binder {
public:
    using object_key = codec::object_key;

    struct write {
        /// Key of the claim, or of the volume (without a namespace); for a ResourceClaim its
        /// namespace and a text.
        object_key about;
        http_request request;
    };
    struct result {
        adapter::ticket of = 0;
        adapter::outcome what = adapter::outcome::applied;
        std::string message;
    };

    explicit volume_binder(volume_binder_options how = {}) : how_(how) {}

    void want(adapter::ticket of, object_key pod, std::string uid, std::string node,
              std::int64_t now) {
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
    }

    /// Returns the time of the next call of `settle` and `next` if no event arrives before (steady
    /// clock, ns).
    [[nodiscard]] std::int64_t wakes() const {
        std::int64_t first = adapter::never_comes;
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
            found.push_back({at->first, ended->what, ended->message});
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
                                            const NodeOf& node_of, std::int64_t now) {
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
            for (const codec::pod_claim& claim : pod->second.object.claims)
                if (auto made = reserve(pod->second.object, claim, storage, now))
                    return made;
        }
        return std::nullopt;
    }

    void done(const object_key& about, adapter::outcome what, std::string message,
              std::int64_t now) {
        const auto at = writes_.find(about);
        if (at == writes_.end())
            return;
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
        if (const auto* const plan = storage.plan().find(of.pod); plan && !plan->waits.empty())
            return ending{outcome::refused, plan->waits.front()};
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
        bool all_reserved = true;
        for (const codec::pod_claim& each : pod->second.object.claims) {
            if (!open_claim(pod->second.object, each, storage))
                continue;
            all_reserved = false;
            if (const auto at = writes_.find(reservation_of(pod->second.object, each.claim));
                at != writes_.end() && !at->second.refused.empty())
                return ending{outcome::refused, "resource claim " + each.claim +
                                                    " cannot be reserved: " + at->second.refused};
        }
        const std::string open = unbound_claims(pod->second.object, storage);
        if (open.empty() && all_reserved)
            return ending{outcome::applied, {}};
        if (now - of.since < how_.patience)
            return std::nullopt;
        const std::string limit =
            " within " + std::to_string(how_.patience / adapter::second) + " s";
        return ending{outcome::refused, open.empty()
                                            ? "resource claims were not reserved" + limit
                                            : "claims " + open + " were not bound" + limit};
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

    /// Returns the ResourceClaim of a pod's entry if it is still to be reserved, else nullptr.
    [[nodiscard]] static const codec::resource_claim_object*
    open_claim(const codec::pod_object& pod, const codec::pod_claim& entry,
               const live_storage& storage) {
        if (entry.needs_none || entry.claim.empty())
            return nullptr;
        const auto* const claim =
            storage.resource_claim({pod.metadata.key.name_space, entry.claim});
        return claim && claim->allocation && !codec::is_reserved_for(*claim, pod) ? claim : nullptr;
    }
    [[nodiscard]] static object_key reservation_of(const codec::pod_object& pod,
                                                   const std::string& claim) {
        return {pod.metadata.key.name_space,
                "resource claim " + claim + " for pod " + pod.metadata.key.name};
    }
    [[nodiscard]] std::optional<write> reserve(const codec::pod_object& pod,
                                               const codec::pod_claim& entry,
                                               const live_storage& storage, std::int64_t now) {
        const codec::resource_claim_object* const claim = open_claim(pod, entry, storage);
        if (!claim)
            return std::nullopt;
        object_key about = reservation_of(pod, entry.claim);
        if (!may_write(about, {}, now))
            return std::nullopt;
        return write{std::move(about), reserve_claim_request(*claim, pod)};
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
