// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
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
#include <muster/apis/kai/fractions/config_maps.hpp>
#include <muster/document/object_metadata.hpp>
#include <muster/kube/claim_binder.hpp>
#include <muster/kube/live_reservations.hpp>
#include <muster/kube/reservation_requests.hpp>

namespace muster {
inline namespace v0_1 {
namespace kube {

struct reservation_times {
    /// Time limit until the GPUs of a pod are reserved, in nanoseconds. It includes the time to
    /// pull the image of the reservation pods.
    std::int64_t patience = 120 * adapter::second;
    /// Delay before a failed write is retried, in nanoseconds.
    std::int64_t again_after = 1 * adapter::second;
    /// Delay before a deletion that the server refused is tried again, in nanoseconds.
    std::int64_t refused_after = 60 * adapter::second;
    /// How long a reservation that never had sharers is kept for the next attempt to start them, in
    /// nanoseconds.
    std::int64_t release_after = 10 * adapter::second;
};

/// The groups that were chosen for a pod with a fraction of KAI.
struct chosen_fraction {
    /// One group for each GPU of the pod.
    std::vector<std::string> groups;
    /// The part of each GPU, as written into the ConfigMaps, e.g. "0.50".
    std::string portion;
};

/// Reserves the GPU groups of KAI for pods before the pods are bound. A state machine without
/// I/O: `next` returns the next write, `done` receives its result, and `settle` returns the pods
/// whose GPUs are reserved or cannot be.
///
/// For each group without a reservation pod on the node, one is created. When the GPUs of all
/// groups of a pod are known, the ConfigMaps of the pod are written; the Binding then adds the
/// labels. A reservation pod has an annotation with the name of its scheduler, so a new binder
/// finds the pods of an earlier process: `review` finds those without sharers, and they are
/// deleted.
class reservation_binder {
public:
    using object_key = codec::object_key;
    using write = claim_binder::write;
    struct result {
        adapter::ticket of = 0;
        object_key pod;
        adapter::outcome what = adapter::outcome::applied;
        std::string message;
        /// If applied: the GPUs in the pod's ConfigMaps; see live_reservations::gpus_of().
        std::string gpus{};
    };

    explicit reservation_binder(reservation_options how = {}, reservation_times times = {})
        : how_(std::move(how)), times_(times) {}

    /// Adds the order to reserve the chosen groups for the pod. `uid`, `node`: of the pod. An
    /// earlier order of the ticket is replaced, and earlier orders of the pod are cancelled.
    /// `now`: steady clock, ns.
    void want(adapter::ticket of, object_key pod, std::string uid, std::string node,
              chosen_fraction chosen, std::int64_t now) {
        cancel(pod);
        for (const std::string& group : chosen.groups)
            writes_.erase(creation_of(group, node));
        wanted_.insert_or_assign(of, pending{of, std::move(pod), std::move(uid), std::move(node),
                                             std::move(chosen), now, false});
    }
    /// Cancels the orders of the pod. O(wanted pods).
    void cancel(const object_key& pod) {
        for (auto& [of, each] : wanted_)
            each.cancelled = each.cancelled || each.pod == pod;
    }
    /// Call when leadership was lost or gained. Deletions under way may still be carried out.
    void clear() {
        wanted_.clear();
        writes_.clear();
        for (auto& [key, each] : deletions_) {
            each.may_be_done = each.may_be_done || each.under_way;
            each.under_way = false;
        }
        idle_.clear();
        had_sharers_.clear();
        failed_.clear();
    }

    /// Finds wanted pods that are no longer about to start, and reservations to delete.
    /// `is_starting(pod)`: the pod has a node in the scheduler's view. `chosen`: the groups of pods
    /// that are about to start. O(groups + wanted pods).
    template<class IsStarting>
    void review(const live_reservations& known, const std::set<std::string>& chosen,
                const IsStarting& is_starting, std::int64_t now) {
        now_ = now;
        for (auto& [of, each] : wanted_)
            each.cancelled = each.cancelled || !is_starting(each.pod);
        std::map<object_key, idle_reservation> found;
        std::set<std::string> had_sharers;
        std::set<std::string> failed;
        for (const auto& [name, group] : known.groups()) {
            if (!group.sharers.empty() || had_sharers_.contains(name))
                had_sharers.insert(name);
            if (failed_.contains(name))
                failed.insert(name);
            if (!group.sharers.empty() || chosen.contains(name))
                continue;
            for (const auto& [key, each] : group.reservations) {
                if (each.made_by != how_.scheduler)
                    continue;
                const auto before = idle_.find(key);
                const bool at_once =
                    each.is_ending || had_sharers_.contains(name) || failed_.contains(name);
                const std::int64_t due = at_once                 ? now
                                         : before != idle_.end() ? before->second.due
                                                                 : now + times_.release_after;
                found.emplace(key, idle_reservation{each.uid, name, due});
            }
        }
        idle_ = std::move(found);
        had_sharers_ = std::move(had_sharers);
        failed_ = std::move(failed);
        forget_writes();
        // A deletion that may be carried out late hits the pod for as long as the pod is there.
        std::erase_if(deletions_, [&](const auto& each) {
            const auto& [key, of] = each;
            return !of.under_way &&
                   (!is_observed(known, key, of) || (!of.may_be_done && !idle_.contains(key)));
        });
    }
    /// Returns the groups whose reservation is being deleted, or may be.
    [[nodiscard]] std::set<std::string> leaving() const {
        std::set<std::string> groups;
        for (const auto& [key, each] : deletions_)
            if (each.under_way || each.may_be_done)
                groups.insert(each.group);
        return groups;
    }

    /// Returns the time of the next call of `settle` and `next` if no event arrives before (steady
    /// clock, ns).
    [[nodiscard]] std::int64_t wakes() const {
        std::int64_t first = adapter::never_comes;
        const auto consider = [&](std::int64_t time) {
            if (time > now_)
                first = std::min(first, time);
        };
        for (const auto& [of, each] : wanted_) {
            const std::int64_t ends = each.since + times_.patience;
            // settle() was called before this time, and next() after it.
            consider(settled_at_ < ends && ends <= now_ ? now_ + times_.again_after : ends);
        }
        for (const auto& [about, each] : writes_)
            if (!each.under_way)
                consider(each.again_at);
        for (const auto& [key, each] : deletions_)
            if (!each.under_way)
                consider(each.again_at);
        for (const auto& [key, each] : idle_)
            consider(each.due);
        return first;
    }

    /// Returns the orders that have ended, and forgets them. An order whose GPUs are reserved ends
    /// together with those of its gang, so that its reservations are watched until then. `pods`:
    /// the pods of the cluster, by key.
    template<class Pods>
    [[nodiscard]] std::vector<result> settle(const live_reservations& known, const Pods& pods,
                                             std::int64_t now) {
        settled_at_ = now;
        std::map<adapter::ticket, ending> endings;
        std::set<codec::group_key> waiting;
        for (const auto& [of, each] : wanted_)
            if (auto ended = judge(each, known, pods, now))
                endings.emplace(of, std::move(*ended));
            else
                waiting.insert(pods.find(each.pod)->second.told_in);
        std::vector<result> found;
        for (auto& [ticket, ended] : endings) {
            const auto at = wanted_.find(ticket);
            pending& of = at->second;
            std::string gpus;
            if (ended.what == adapter::outcome::applied) {
                if (waiting.contains(pods.find(of.pod)->second.told_in))
                    continue;
                gpus = known.gpus_of(of.chosen.groups, of.node);
            }
            if (ended.what == adapter::outcome::refused)
                failed_.insert(of.chosen.groups.begin(), of.chosen.groups.end());
            found.push_back(
                {ticket, std::move(of.pod), ended.what, std::move(ended.message), std::move(gpus)});
            wanted_.erase(at);
        }
        return found;
    }

    /// Returns the next write, if any. `pods`: as settle() has them.
    template<class Pods>
    [[nodiscard]] std::optional<write> next(const live_reservations& known, const Pods& pods,
                                            std::int64_t now) {
        now_ = now;
        for (const auto& [of, each] : wanted_) {
            const auto pod = pods.find(each.pod);
            if (each.cancelled || pod == pods.end() ||
                pod->second.object.metadata.uid != each.uid || !pod->second.object.node.empty())
                continue;
            for (const std::string& group : each.chosen.groups)
                if (object_key what = creation_of(group, each.node);
                    !known.find(group, each.node) && !known.has_sharers(group) && begin(what, now))
                    return write{std::move(what),
                                 create_reservation_request(how_, each.node, group)};
            if (auto made = next_config_map(each, pod->second.object, known, now))
                return made;
        }
        for (const auto& [key, each] : idle_)
            if (each.due <= now && begin_deletion(key, each, now))
                return write{deletion_of(key), delete_reservation_request(key, each.uid)};
        return std::nullopt;
    }

    /// Number of creations and ConfigMaps whose results are kept.
    [[nodiscard]] std::size_t kept_writes() const noexcept { return writes_.size(); }

    /// Returns false if the write is not one of this binder.
    bool done(const object_key& about, adapter::outcome what, std::string message,
              std::int64_t now) {
        using adapter::outcome;
        if (is_deletion(about))
            return deletion_done(about, what, now);
        const auto at = writes_.find(about);
        if (at == writes_.end())
            return false;
        written& of = at->second;
        of.under_way = false;
        of.again_at = now + times_.again_after;
        // No other pod has the name of a reservation pod: in a conflict it was created before.
        of.is_done = what == outcome::applied || (what == outcome::conflict && is_creation(about));
        // `gone`: there is no such namespace.
        if (what == outcome::refused || what == outcome::gone)
            of.refused = std::move(message);
        return true;
    }

private:
    struct pending {
        adapter::ticket ticket = 0;
        object_key pod;
        std::string uid;
        std::string node;
        chosen_fraction chosen;
        std::int64_t since = 0;
        bool cancelled = false;
    };
    struct written {
        bool under_way = true;
        bool is_done = false;
        std::int64_t again_at = 0;
        std::string refused{};
        /// Of a ConfigMap: its order, and the GPUs that it names.
        adapter::ticket order = 0;
        std::string gpus{};
    };
    struct deletion {
        std::string uid;
        std::string group;
        bool under_way = true;
        /// The server deleted the pod, or may still do so.
        bool may_be_done = false;
        std::int64_t again_at = 0;
    };
    struct idle_reservation {
        std::string uid;
        std::string group;
        /// When the reservation pod is deleted (steady clock, ns).
        std::int64_t due = 0;
    };
    struct ending {
        adapter::outcome what;
        std::string message;
    };

    static constexpr std::string_view creation_name = "creation of the reservation pod ";
    static constexpr std::string_view deletion_name = "deletion of the reservation pod ";

    [[nodiscard]] object_key creation_of(const std::string& group, const std::string& node) const {
        return {how_.name_space, std::string(creation_name) + reservation_name(node, group)};
    }
    [[nodiscard]] static object_key deletion_of(const object_key& pod) {
        return {pod.name_space, std::string(deletion_name) + pod.name};
    }
    /// Each order writes its ConfigMaps anew: its groups may have other GPUs.
    [[nodiscard]] static object_key config_map_of(const pending& of, const std::string& name) {
        return {of.pod.name_space, "ConfigMap " + name + " of pod " + of.pod.name + " for order " +
                                       std::to_string(of.ticket)};
    }
    [[nodiscard]] static bool is_creation(const object_key& about) {
        return about.name.starts_with(creation_name);
    }
    [[nodiscard]] static bool is_deletion(const object_key& about) {
        return about.name.starts_with(deletion_name);
    }
    [[nodiscard]] static bool is_observed(const live_reservations& known, const object_key& pod,
                                          const deletion& of) {
        const auto group = known.groups().find(of.group);
        if (group == known.groups().end())
            return false;
        const auto found = group->second.reservations.find(pod);
        return found != group->second.reservations.end() && found->second.uid == of.uid;
    }
    /// Forgets the writes that no wanted pod needs.
    void forget_writes() {
        std::set<object_key> creations;
        for (const auto& [of, each] : wanted_)
            for (const std::string& group : each.chosen.groups)
                creations.insert(creation_of(group, each.node));
        std::erase_if(writes_, [&](const auto& each) {
            const auto& [about, of] = each;
            return !of.under_way &&
                   (is_creation(about) ? !creations.contains(about) : !wanted_.contains(of.order));
        });
    }

    /// Notes the write and returns true if it may be made now. `order`, `gpus`: of a ConfigMap.
    [[nodiscard]] bool begin(const object_key& about, std::int64_t now, adapter::ticket order = 0,
                             const std::string& gpus = {}) {
        const auto [at, is_new] = writes_.try_emplace(about);
        if (!is_new &&
            (at->second.under_way || !at->second.refused.empty() || at->second.again_at > now))
            return false;
        at->second = written{};
        at->second.order = order;
        at->second.gpus = gpus;
        return true;
    }
    [[nodiscard]] bool begin_deletion(const object_key& pod, const idle_reservation& of,
                                      std::int64_t now) {
        const auto [at, is_new] = deletions_.try_emplace(pod, deletion{of.uid, of.group});
        if (is_new)
            return true;
        deletion& last = at->second;
        const bool is_same = last.uid == of.uid;
        if (last.under_way || (is_same && last.again_at > now))
            return false;
        last = deletion{of.uid, of.group, true, is_same && last.may_be_done};
        return true;
    }
    bool deletion_done(const object_key& about, adapter::outcome what, std::int64_t now) {
        using adapter::outcome;
        const auto at =
            deletions_.find({about.name_space, about.name.substr(deletion_name.size())});
        if (at == deletions_.end())
            return false;
        deletion& of = at->second;
        of.under_way = false;
        const bool is_done = what == outcome::applied || what == outcome::gone;
        const bool is_refused = what == outcome::refused;
        of.may_be_done = is_done || what == outcome::unknown || (of.may_be_done && !is_refused);
        // A pod that is there after its deletion has a finalizer: asking again does not help.
        of.again_at = now + (is_done || is_refused ? times_.refused_after : times_.again_after);
        return true;
    }

    /// True if the ConfigMap names these GPUs.
    [[nodiscard]] bool is_written(const object_key& about, const std::string& gpus) const {
        const auto last = writes_.find(about);
        return last != writes_.end() && last->second.is_done && last->second.gpus == gpus;
    }
    [[nodiscard]] std::optional<write> next_config_map(const pending& of,
                                                       const codec::pod_object& pod,
                                                       const live_reservations& known,
                                                       std::int64_t now) {
        const std::string gpus = known.gpus_of(of.chosen.groups, of.node);
        if (gpus.empty())
            return std::nullopt;
        const codec::kai_config_maps maps =
            codec::kai_config_maps_of(pod.metadata, pod.share_containers);
        if (!maps.missing.empty())
            return std::nullopt;
        for (const std::string* const name : {&maps.by_key, &maps.imported}) {
            object_key what = config_map_of(of, *name);
            if (!is_written(what, gpus) && begin(what, now, of.ticket, gpus))
                return write{std::move(what),
                             gpu_config_map_request(pod.metadata, *name, gpus,
                                                    name == &maps.by_key ? of.chosen.portion : "")};
        }
        return std::nullopt;
    }

    /// Returns why the group is not reserved: an ending of the order, or a reason to wait; nullopt
    /// if it is reserved.
    [[nodiscard]] std::optional<ending> fault_of(const pending& of, const std::string& group,
                                                 const live_reservations& known) const {
        using adapter::outcome;
        const std::string name =
            "reservation pod " + how_.name_space + "/" + reservation_name(of.node, group);
        const auto* const found = known.find(group, of.node);
        // Another reservation pod might get another GPU than the one that the sharers use.
        if (!found && known.has_sharers(group))
            return ending{outcome::refused, name + " is gone, and pods use its GPU"};
        if (!found) {
            const auto last = writes_.find(creation_of(group, of.node));
            if (last != writes_.end() && !last->second.refused.empty())
                return ending{outcome::refused,
                              name + " cannot be created: " + last->second.refused};
            return ending{outcome::unknown, name + " is not created yet"};
        }
        if (found->is_ending)
            return ending{outcome::refused, name + " has ended (does the kubelet of node " +
                                                of.node + " have a free GPU?)"};
        if (found->gpu.empty())
            return ending{outcome::unknown, name + " does not name its GPU yet"};
        if (const std::string fault = known.gpu_fault(group, *found); !fault.empty())
            return ending{outcome::refused, name + " " + fault};
        return std::nullopt;
    }

    template<class Pods>
    [[nodiscard]] std::optional<ending> judge(const pending& of, const live_reservations& known,
                                              const Pods& pods, std::int64_t now) const {
        using adapter::outcome;
        const auto pod = pods.find(of.pod);
        if (pod == pods.end())
            return ending{outcome::gone, {}};
        if (pod->second.object.metadata.uid != of.uid)
            return ending{outcome::replaced, {}};
        // With a node: another scheduler bound the pod.
        if (of.cancelled || !pod->second.object.node.empty())
            return ending{outcome::not_started, {}};
        std::string waits;
        for (const std::string& group : of.chosen.groups)
            if (auto fault = fault_of(of, group, known)) {
                if (fault->what == outcome::refused)
                    return fault;
                waits = std::move(fault->message);
            }
        const codec::kai_config_maps maps = codec::kai_config_maps_of(
            pod->second.object.metadata, pod->second.object.share_containers);
        if (!maps.missing.empty())
            return ending{outcome::refused, maps.missing};
        const std::string gpus = known.gpus_of(of.chosen.groups, of.node);
        for (const std::string* const name : {&maps.by_key, &maps.imported}) {
            const object_key about = config_map_of(of, *name);
            const auto last = writes_.find(about);
            if (last != writes_.end() && !last->second.refused.empty())
                return ending{outcome::refused, "ConfigMap " + of.pod.name_space + "/" + *name +
                                                    " cannot be written: " + last->second.refused};
            if (waits.empty() && !is_written(about, gpus))
                waits = "ConfigMap " + *name + " is not written yet";
        }
        if (waits.empty())
            return ending{outcome::applied, {}};
        if (now - of.since < times_.patience)
            return std::nullopt;
        return ending{outcome::refused, waits + " (waited " +
                                            std::to_string(times_.patience / adapter::second) +
                                            " s)"};
    }

    reservation_options how_;
    reservation_times times_;
    std::map<adapter::ticket, pending> wanted_;
    /// Creations of reservation pods, and ConfigMaps.
    std::map<object_key, written> writes_;
    /// By reservation pod.
    std::map<object_key, deletion> deletions_;
    /// Reservations of this scheduler without sharers.
    std::map<object_key, idle_reservation> idle_;
    /// Groups that had sharers, or whose reservation failed. Without sharers their reservation pods
    /// are deleted at once.
    std::set<std::string> had_sharers_;
    std::set<std::string> failed_;
    /// The time of the last call of review() or next().
    std::int64_t now_ = 0;
    /// The time of the last call of settle().
    std::int64_t settled_at_ = 0;
};

} // namespace kube
} // namespace v0_1
} // namespace muster
