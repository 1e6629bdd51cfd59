// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <muster/adapter/instant.hpp>
#include <muster/adapter/sightings.hpp>
#include <muster/adapter/virtual_time.hpp>
#include <muster/adapter/writes.hpp>
#include <muster/vocabulary/gang.hpp>
#include <muster/vocabulary/node.hpp>
#include <muster/vocabulary/pod.hpp>
#include <muster/vocabulary/queue.hpp>
#include <support/api_journal.hpp>

namespace muster {
inline namespace v0_1 {
namespace adapter {

/// What an API server in memory stores, and what users, kubelets and garbage collectors do to it,
/// in virtual time: objects with uids, a log of changes for each kind, and a journal of everything
/// that happened. Keys are strings. Like a real API server, it accepts any binding: it checks
/// neither that the node exists nor that the pod fits. The kubelet of the node checks and rejects.
template<std::size_t Width>
class memory_store {
public:
    using traits = string_traits<Width>;

    struct pod_object {
        object_uid uid;
        std::string gang;
        pod<Width> spec;
        std::optional<std::string> on;
        bool ours = true;
        bool own_gate = false;
        /// The pod needs a prepare order before its bind; a bind without it fails.
        bool unbound_volumes = false;
        bool other_gate = false;
        /// Created again when it is gone or has failed.
        bool respawns = false;
        /// Its kubelet took it.
        bool admitted = false;
        std::int64_t created = 0;
        std::int64_t bound_at = 0;
    };
    struct gang_object {
        object_uid uid;
        muster::gang<std::string> spec;
        /// Defined only by the labels of its pods, so it has no status object.
        bool labels_only = false;
        bool reached = false;
        std::optional<gang_status> status;
        std::int64_t created = 0;
    };
    using node_object = muster::node<Width>;
    using queue_object = muster::queue<Width>;

    template<class Object>
    struct change {
        std::int64_t time = 0;
        std::string key;
        /// Absent: it is gone.
        std::optional<Object> now;
    };
    template<class Object>
    struct store {
        std::map<std::string, Object> objects;
        std::vector<change<Object>> log;
        /// Watches that start before this position get the error "too old".
        std::size_t oldest = 0;
    };

    /// How long things take.
    struct times {
        std::int64_t latency = 5 * millisecond;
        std::int64_t timeout = 2 * second;
        std::int64_t kubelet = 50 * millisecond;
        std::int64_t grace = 200 * millisecond;
        std::int64_t collector = 1 * second;
        std::int64_t respawn = 100 * millisecond;
    };

    times how_long;

    [[nodiscard]] std::int64_t now() const noexcept { return now_; }
    [[nodiscard]] std::int64_t wall() const noexcept { return now_ + wall_offset_; }
    void jump_wall(std::int64_t by) noexcept { wall_offset_ += by; }

    [[nodiscard]] const auto& pods() const noexcept { return pods_; }
    [[nodiscard]] const auto& gangs() const noexcept { return gangs_; }
    [[nodiscard]] const auto& nodes() const noexcept { return nodes_; }
    [[nodiscard]] const auto& queues() const noexcept { return queues_; }
    [[nodiscard]] const std::vector<api_entry>& journal() const noexcept { return journal_; }

    // ---- what users and machines do ------------------------------------------------------------

    void put_node(const std::string& key, node_object spec) {
        std::vector<std::int64_t> has = columns(spec.allocatable);
        put(nodes_, key, std::move(spec));
        note(api_action::node, key).amounts = std::move(has);
    }
    /// Its pods are collected after a while.
    void remove_node(const std::string& key) {
        take(nodes_, key);
        note(api_action::node_gone, key);
        for (const auto& [name, pod] : pods_.objects)
            if (pod.on == key)
                plan(how_long.collector, delete_if_lost{name, pod.uid});
    }
    void put_queue(const std::string& key, queue_object spec) {
        std::vector<std::int64_t> quota;
        for (std::size_t column = 0; column < Width; ++column)
            quota.push_back(spec.quota[kind_id{column}].value_or(-1));
        put(queues_, key, std::move(spec));
        note(api_action::queue, key).amounts = std::move(quota);
    }
    void put_gang(const std::string& key, muster::gang<std::string> spec,
                  bool labels_only = false) {
        gang_object made = gangs_.objects.contains(key) ? gangs_.objects.at(key) : gang_object{};
        if (made.uid.empty() && !labels_only)
            made.uid = fresh_uid();
        if (!gangs_.objects.contains(key)) {
            made.created = now_;
            spec.created = wall();
        } else {
            spec.created = made.spec.created;
        }
        made.spec = std::move(spec);
        made.labels_only = labels_only;
        put(gangs_, key, std::move(made));
        const gang_object& put_there = gangs_.objects.at(key);
        api_entry& noted = note(api_action::gang, key);
        noted.uid = put_there.uid;
        noted.tree = put_there.spec.tree;
        noted.queue = put_there.spec.queue.value_or("");
    }
    void remove_gang(const std::string& key) {
        take(gangs_, key);
        note(api_action::gang_gone, key);
    }
    void create_pod(const std::string& key, pod_object made) {
        if (pods_.objects.contains(key))
            return;
        made.uid = fresh_uid();
        made.created = now_;
        made.spec.created = wall();
        made.spec.phase = pod_phase::pending;
        made.spec.terminating = false;
        const std::string on = made.on.value_or("");
        put(pods_, key, std::move(made));
        const pod_object& stored = pods_.objects.at(key);
        api_entry& noted = note_pod(api_action::created, key);
        noted.amounts = columns(stored.spec.request);
        noted.role = stored.spec.role.value();
        noted.ours = stored.ours;
        if (!on.empty())
            stand(key, on, "", now_);
    }
    /// By a user or controller: at once when it has no node, else after its grace.
    void delete_pod(const std::string& key) { end_pod(key, api_action::terminating, "", now_); }
    /// It ends, or is out of sight.
    void set_phase(const std::string& key, pod_phase phase) {
        const auto at = pods_.objects.find(key);
        if (at == pods_.objects.end())
            return;
        pod_object changed = at->second;
        changed.spec.phase = phase;
        put(pods_, key, std::move(changed));
        if (phase == pod_phase::succeeded)
            note_pod(api_action::succeeded, key);
        if (phase == pod_phase::failed) {
            note_pod(api_action::failed, key);
            if (pods_.objects.at(key).respawns)
                plan(how_long.respawn, delete_it{key, pods_.objects.at(key).uid});
        }
    }
    /// Another scheduler binds.
    void bind_elsewhere(const std::string& key, const std::string& node) {
        if (pods_.objects.contains(key) && !pods_.objects.at(key).on)
            stand(key, node, "", now_);
    }
    /// All watches are too old from now on.
    void forget_history() {
        pods_.oldest = pods_.log.size();
        gangs_.oldest = gangs_.log.size();
        nodes_.oldest = nodes_.log.size();
        queues_.oldest = queues_.log.size();
    }

protected:
    memory_store() = default;

    [[nodiscard]] std::optional<std::int64_t> next_planned() const { return planned_.next(); }
    /// The next thing that is due happens.
    void happen_next() {
        now_ = std::max(now_, *planned_.next());
        auto what = planned_.take(now_);
        std::visit([this](auto& each) { this->happen(each); }, *what);
    }

    template<class What>
    void plan(std::int64_t in, What what) {
        planned_.plan(now_ + in, planned(std::move(what)));
    }
    [[nodiscard]] object_uid fresh_uid() { return "u" + std::to_string(++uids_); }

    template<class Object>
    void put(store<Object>& into, const std::string& key, Object object) {
        into.log.push_back({now_, key, object});
        into.objects.insert_or_assign(key, std::move(object));
    }
    template<class Object>
    void take(store<Object>& from, const std::string& key) {
        if (from.objects.erase(key) > 0)
            from.log.push_back({now_, key, std::nullopt});
    }

    api_entry& note(api_action what, const std::string& key, const std::string& by = "",
                    std::int64_t sent = 0) {
        api_entry made;
        made.time = now_;
        made.what = what;
        made.by = by;
        made.key = key;
        made.sent = sent;
        journal_.push_back(std::move(made));
        return journal_.back();
    }
    api_entry& note_pod(api_action what, const std::string& key, const std::string& by = "",
                        std::int64_t sent = 0) {
        const pod_object& pod = pods_.objects.at(key);
        api_entry& made = note(what, key, by, sent);
        made.uid = pod.uid;
        made.gang = pod.gang;
        made.node = pod.on.value_or("");
        return made;
    }
    [[nodiscard]] static std::vector<std::int64_t> columns(const resources<Width>& of) {
        std::vector<std::int64_t> all;
        for (std::size_t column = 0; column < Width; ++column)
            all.push_back(of[kind_id{column}]);
        return all;
    }

    void stand(const std::string& key, const std::string& node, const std::string& by,
               std::int64_t sent) {
        pod_object changed = pods_.objects.at(key);
        changed.on = node;
        changed.bound_at = now_;
        const object_uid uid = changed.uid;
        put(pods_, key, std::move(changed));
        note_pod(api_action::bound, key, by, sent);
        plan(how_long.kubelet, take_up{key, uid});
        if (!nodes_.objects.contains(node))
            plan(how_long.collector, delete_if_lost{key, uid});
    }

    void end_pod(const std::string& key, api_action how, const std::string& by, std::int64_t sent) {
        const auto at = pods_.objects.find(key);
        if (at == pods_.objects.end() || at->second.spec.terminating)
            return;
        pod_object changed = at->second;
        changed.spec.terminating = true;
        const object_uid uid = changed.uid;
        const bool bound = changed.on.has_value();
        put(pods_, key, std::move(changed));
        note_pod(how, key, by, sent);
        if (bound)
            plan(how_long.grace, remove_it{key, uid});
        else
            remove(key);
    }
    void remove(const std::string& key) {
        note_pod(api_action::removed, key);
        pod_object gone = pods_.objects.at(key);
        take(pods_, key);
        if (!gone.respawns)
            return;
        gone.on.reset();
        gone.admitted = false;
        plan(how_long.respawn, respawn{key, std::move(gone)});
    }

    [[nodiscard]] pod_object* find(const std::string& key, const object_uid& uid) {
        const auto at = pods_.objects.find(key);
        return at == pods_.objects.end() || at->second.uid != uid ? nullptr : &at->second;
    }

    store<pod_object> pods_;
    store<gang_object> gangs_;
    store<node_object> nodes_;
    store<queue_object> queues_;
    std::vector<api_entry> journal_;
    std::int64_t now_ = 0;

private:
    struct take_up {
        std::string pod;
        object_uid uid;
    };
    struct delete_it {
        std::string pod;
        object_uid uid;
    };
    struct delete_if_lost {
        std::string pod;
        object_uid uid;
    };
    struct remove_it {
        std::string pod;
        object_uid uid;
    };
    struct respawn {
        std::string pod;
        pod_object like;
    };
    using planned = std::variant<take_up, delete_it, delete_if_lost, remove_it, respawn>;

    void happen(take_up& what) {
        const pod_object* const pod = find(what.pod, what.uid);
        if (pod == nullptr || !pod->on || pod->spec.phase != pod_phase::pending ||
            pod->spec.terminating || !nodes_.objects.contains(*pod->on))
            return;
        resources<Width> used = pod->spec.request;
        for (const auto& [key, other] : pods_.objects)
            if (other.admitted && other.on == pod->on && other.spec.phase != pod_phase::succeeded &&
                other.spec.phase != pod_phase::failed)
                for (std::size_t column = 0; column < Width; ++column)
                    used[kind_id{column}] += other.spec.request[kind_id{column}];
        if (!fits(used, nodes_.objects.at(*pod->on).allocatable)) {
            note_pod(api_action::refused_by_node, what.pod);
            return set_phase(what.pod, pod_phase::failed);
        }
        pod_object changed = *pod;
        changed.admitted = true;
        changed.spec.phase = pod_phase::running;
        changed.spec.started = wall();
        put(pods_, what.pod, std::move(changed));
        note_pod(api_action::running, what.pod);
    }
    void happen(delete_it& what) {
        if (find(what.pod, what.uid) != nullptr)
            delete_pod(what.pod);
    }
    void happen(delete_if_lost& what) {
        const pod_object* const pod = find(what.pod, what.uid);
        if (pod != nullptr && pod->on && !nodes_.objects.contains(*pod->on))
            remove(what.pod);
    }
    void happen(remove_it& what) {
        if (find(what.pod, what.uid) != nullptr)
            remove(what.pod);
    }
    void happen(respawn& what) { create_pod(what.pod, std::move(what.like)); }

    virtual_time<planned> planned_;
    std::int64_t wall_offset_ = 0;
    std::uint64_t uids_ = 0;
};

} // namespace adapter
} // namespace v0_1
} // namespace muster
