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
#include <muster/codec/objects.hpp>
#include <muster/codec/storage_catalog.hpp>
#include <muster/codec/volume_demand.hpp>
#include <muster/kube/http.hpp>
#include <muster/kube/live_storage.hpp>
#include <muster/kube/volume_requests.hpp>
#include <muster/model/node.hpp>

namespace muster::inline v0_1 {
namespace kube {

struct volume_binder_options {
    /// How long the volumes of a pod may take to be bound, in nanoseconds.
    std::int64_t patience = 600 * adapter::second;
    /// Before a write that did not go through is made again.
    std::int64_t again_after = 1 * adapter::second;
};

/// Has the volumes of pods bound for their nodes. A state machine without I/O: `next` says what is
/// to be written, `done` takes what became of it, and `settle` finds which pods have all their
/// volumes, or will not get them.
///
/// A claim gets a free volume that its node reaches when there is one, the smallest first, and is
/// provisioned otherwise. What was written is known from what is seen: a binder that begins anew
/// goes on where another stopped.
class volume_binder {
public:
    using object_key = codec::object_key;

    struct write {
        /// Of a claim, or of a volume (without a namespace).
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
    }
    [[nodiscard]] bool empty() const noexcept { return wanted_.empty(); }
    /// Leadership was lost, or gained anew.
    void clear() {
        wanted_.clear();
        writes_.clear();
        keeps_.clear();
    }

    /// When something is to be looked at again though nothing arrived. Steady.
    [[nodiscard]] std::int64_t wakes() const {
        std::int64_t first = adapter::never_comes;
        for (const auto& [of, each] : wanted_)
            first = std::min(first, each.since + how_.patience);
        for (const auto& [key, each] : writes_)
            if (!each.under_way && !wanted_.empty())
                first = std::min(first, each.again_at);
        return first;
    }

    /// Orders that have come to an end. `pods` are those of a live cluster, by key.
    template<class Pods>
    [[nodiscard]] std::vector<result> settle(const live_storage& storage, const Pods& pods,
                                             std::int64_t now) {
        std::vector<result> found;
        for (auto at = wanted_.begin(); at != wanted_.end();) {
            const auto ended = judge(at->second, storage, pods, now);
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

    /// The next thing to write, or nothing. `node_of(name)` is a node as codec has it, or null.
    template<class Pods, class NodeOf>
    [[nodiscard]] std::optional<write> next(const live_storage& storage, const Pods& pods,
                                            const NodeOf& node_of, std::int64_t now) {
        for (auto& [of, each] : wanted_) {
            const auto pod = pods.find(each.pod);
            if (pod == pods.end() || pod->second.object.metadata.uid != each.uid)
                continue;
            for (const codec::pod_volume& volume : pod->second.object.volumes)
                if (auto made = bind(each, volume, storage, node_of, now))
                    return made;
        }
        return std::nullopt;
    }

    void done(const object_key& about, adapter::outcome what, std::string message,
              std::int64_t now) {
        const auto at = writes_.find(about);
        if (at == writes_.end())
            return;
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
        /// Claims that were seen to be provisioned for the node.
        std::set<object_key> selected;
    };
    struct written {
        /// The version that it was made from.
        std::string version;
        bool under_way = true;
        std::int64_t again_at = 0;
        std::string refused;
    };
    struct ending {
        adapter::outcome what;
        std::string message;
    };

    template<class Pods>
    [[nodiscard]] std::optional<ending> judge(pending& of, const live_storage& storage,
                                              const Pods& pods, std::int64_t now) {
        using adapter::outcome;
        const auto pod = pods.find(of.pod);
        if (pod == pods.end())
            return ending{outcome::gone, {}};
        if (pod->second.object.metadata.uid != of.uid)
            return ending{outcome::replaced, {}};
        if (const auto* const plan = storage.plan().find(of.pod); plan && !plan->waits.empty())
            return ending{outcome::refused, plan->waits.front()};
        std::string open;
        for (const codec::pod_volume& each : pod->second.object.volumes) {
            if (each.claim.empty())
                continue;
            const object_key key{of.pod.name_space, each.claim};
            const auto* const claim = storage.claim(key);
            if (!claim)
                return ending{outcome::refused, "claim " + key.name + " is not there"};
            if (claim->object.bound)
                continue;
            if (auto failed = failure_of(of, key, claim->object))
                return failed;
            open += (open.empty() ? "" : ", ") + key.name;
        }
        if (open.empty())
            return ending{outcome::applied, {}};
        if (now - of.since < how_.patience)
            return std::nullopt;
        return ending{outcome::refused, "claims " + open + " were not bound within " +
                                            std::to_string(how_.patience / adapter::second) + " s"};
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

    template<class NodeOf>
    [[nodiscard]] std::optional<write> bind(const pending& of, const codec::pod_volume& volume,
                                            const live_storage& storage, const NodeOf& node_of,
                                            std::int64_t now) {
        if (volume.claim.empty())
            return std::nullopt;
        const object_key key{of.pod.name_space, volume.claim};
        const auto* const claim = storage.claim(key);
        if (!claim || claim->object.bound || !claim->object.selected_node.empty())
            return std::nullopt;
        const codec::storage_catalog& catalog = storage.catalog();
        const std::string storage_class(catalog.class_of(claim->object.asks));
        const codec::node_object* const node = node_of(of.node);
        const auto* const kept =
            node ? choose(storage, key, claim->object, storage_class, *node) : nullptr;
        if (kept) {
            // Kept already: the controller of volumes has its turn.
            if (kept->claim)
                return std::nullopt;
            const auto* const free = storage.volume(kept->metadata.key.name);
            if (!free || !may_write({{}, kept->metadata.key.name}, free->version, now))
                return std::nullopt;
            keeps_[kept->metadata.key.name] = key;
            return write{{{}, kept->metadata.key.name},
                         keep_volume_request(free->object, free->version, claim->object)};
        }
        const auto* const known =
            codec::storage_catalog::find(catalog.classes, std::string_view(storage_class));
        if (!known || !known->provisions() || !may_write(key, claim->version, now))
            return std::nullopt;
        return write{key, select_node_request(claim->object, claim->version, of.node)};
    }

    /// The volume that is kept for the claim, or else the first free one that the node reaches and
    /// that no other claim is to get.
    [[nodiscard]] const codec::volume_object*
    choose(const live_storage& storage, const object_key& key, const codec::claim_object& claim,
           const std::string& storage_class, const codec::node_object& node) {
        codec::volume_demand demand;
        demand.key = key;
        demand.asks = &claim.asks;
        demand.uid = claim.metadata.uid;
        std::vector<const codec::volume_object*> of_class;
        for (const auto& [name, each] : storage.catalog().volumes)
            if (each->storage_class == storage_class)
                of_class.push_back(each);
        muster::node<1> at;
        at.name = node.metadata.key.name;
        at.labels = node.metadata.labels;
        for (const auto* const each : codec::candidates_for(demand, of_class, storage_class)) {
            const auto keep = keeps_.find(each->metadata.key.name);
            if (!each->claim && keep != keeps_.end() && !(keep->second == key))
                continue;
            if (!each->nodes || std::ranges::any_of(*each->nodes, [&](const node_term& term) {
                    return term.matches(at);
                }))
                return each;
        }
        return nullptr;
    }

    /// A write that was made of this version is not made again unless it did not go through.
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
    /// Volumes that were given to claims, by name.
    std::map<std::string, object_key> keeps_;
};

} // namespace kube
} // namespace muster::inline v0_1
