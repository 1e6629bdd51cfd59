// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/value.hpp>

#include <muster/adapter/cluster_view.hpp>
#include <muster/adapter/sightings.hpp>
#include <muster/codec/ack_labels.hpp>
#include <muster/codec/cluster.hpp>
#include <muster/codec/manifests.hpp>
#include <muster/codec/membership.hpp>
#include <muster/kube/arrived.hpp>
#include <muster/kube/live_scope.hpp>
#include <muster/resource/kind_table.hpp>

namespace muster::inline v0_1 {
namespace kube {

struct live_options {
    /// The pods of these schedulers are this one's to place.
    std::vector<std::string> scheduler_names{"t9k-scheduler"};
    std::string queue_namespace = "t9k-system";
    /// The gate that is this scheduler's own to take off.
    std::string own_gate = "grove.io/podgang";
    /// Levels of node labels, coarse to fine, for groups that name no topology of their own.
    topology levels;
};

/// The objects of a live cluster as codec reads them, and what changed among them since a view was
/// told. Each kind is fed by a reflector through a sink. Groups are found by codec's rules, bucket
/// by bucket: the pods that name one group, with its object; only buckets that changed are looked
/// at again.
///
/// An object that cannot be read in full is never taken for one without what it says: such a pod
/// waits (and counts where it stands with what could be read), such a node takes nothing new, such
/// a group is malformed, such a queue closed. `broken()` says why.
template<std::size_t Width>
class live_objects {
public:
    using traits = codec::kubernetes_traits<Width>;
    using view_type = adapter::cluster_view<traits>;
    using object_key = codec::object_key;
    using group_key = codec::group_key;

    struct group_record {
        codec::pod_group_object object;
        boost::json::value status; ///< as it was written
        std::int64_t generation = 0;
        std::string version;
        /// What the view was told last has this mark (`mark_of`).
        std::string told;
        bool is_broken = false;
    };

    explicit live_objects(live_options how)
        : how_(std::move(how)), pods_kind_(*kinds_.intern("pods")) {}
    live_objects(const live_objects&) = delete;
    live_objects& operator=(const live_objects&) = delete;

    // ---- what reflectors feed
    // --------------------------------------------------------------------

    void take_node(const arrived& object) {
        bool is_broken = false;
        codec::node_object made = read(object, "Node", is_broken, &codec::read_node);
        made.unschedulable |= is_broken;
        const std::string& name = object.who().key.name;
        nodes_.insert_or_assign(name, std::move(made));
        dirty_nodes_.insert(name);
    }
    void lose_node(const listed_object& who) {
        mend("Node", who.key);
        nodes_.erase(who.key.name);
        dirty_nodes_.insert(who.key.name);
    }

    void take_queue(const arrived& object) {
        const object_key& key = object.who().key;
        if (key.name_space != how_.queue_namespace)
            return;
        bool is_broken = false;
        codec::queue_object made = read(object, "Queue", is_broken, &codec::read_queue);
        made.closed |= is_broken;
        for (const auto& [kind, amount] : made.quota)
            note_kind(kind);
        scope_.set_age(key.name, made.max_duration);
        queues_.insert_or_assign(key.name, std::move(made));
        dirty_queues_.insert(key.name);
    }
    void lose_queue(const listed_object& who) {
        mend("Queue", who.key);
        if (who.key.name_space != how_.queue_namespace)
            return;
        queues_.erase(who.key.name);
        dirty_queues_.insert(who.key.name);
        scope_.set_age(who.key.name, std::nullopt);
    }

    void take_namespace(const arrived& object) {
        bool is_broken = false;
        scope_.take(read(object, "Namespace", is_broken, &codec::detail::read_namespace));
    }
    void lose_namespace(const listed_object& who) {
        mend("Namespace", who.key);
        scope_.lose_namespace(who.key.name);
    }

    void take_class(const arrived& object) {
        bool is_broken = false;
        scope_.take(read(object, "PriorityClass", is_broken, &codec::detail::read_priority_class));
    }
    void lose_class(const listed_object& who) {
        mend("PriorityClass", who.key);
        scope_.lose_class(who.key.name);
    }

    void take_group(const arrived& object) {
        const object_key& key = object.who().key;
        group_record made;
        made.object = read(object, "PodGroup", made.is_broken, &codec::read_pod_group);
        const boost::json::object& top = object.value().get_object();
        if (const boost::json::value* const status = top.if_contains("status"))
            made.status = boost::json::value(*status, boost::json::storage_ptr());
        if (const boost::json::object* const metadata = detail::object_in(top, "metadata"))
            made.generation = detail::number_in(*metadata, "generation");
        made.version = object.who().version;
        if (const auto old = groups_.find(key); old != groups_.end())
            made.told = std::move(old->second.told);
        groups_.insert_or_assign(key, std::move(made));
        bucket_of(group_bucket(key)).is_dirty = true;
    }
    void lose_group(const listed_object& who) {
        mend("PodGroup", who.key);
        groups_.erase(who.key);
        bucket_of(group_bucket(who.key)).is_dirty = true;
    }

    void take_pod(const arrived& object) {
        const object_key& key = object.who().key;
        pod_record made;
        made.object = read(object, "Pod", made.is_broken, &codec::read_pod);
        if (made.is_broken)
            made.object.unsupported.emplace_back("(unreadable)");
        made.ours = std::ranges::find(how_.scheduler_names, made.object.scheduler_name) !=
                    how_.scheduler_names.end();
        made.own_gate = has_only_own_gate(object.value());
        if (made.own_gate && made.object.phase == pod_phase::gated)
            made.object.phase = pod_phase::pending;
        for (const auto& [kind, amount] : made.object.requests)
            note_kind(kind);
        made.bucket = made.ours
                          ? bucket_for(made.object)
                          : group_key{key.name_space, key.name, codec::group_origin::single_pod};
        if (const auto old = pods_.find(key);
            old != pods_.end() && old->second.bucket != made.bucket)
            leave_bucket(key, old->second.bucket);
        bucket& home = bucket_of(made.bucket);
        home.pods.insert(key);
        home.dirty_pods.insert(key);
        pods_.insert_or_assign(key, std::move(made));
    }
    void lose_pod(const listed_object& who) {
        mend("Pod", who.key);
        const auto at = pods_.find(who.key);
        if (at == pods_.end())
            return;
        leave_bucket(who.key, at->second.bucket);
        pods_.erase(at);
        gone_pods_.insert(who.key);
    }

    // ---- what a view is told -------------------------------------------------------------------

    /// Kinds of which everything is told anew, between begin_listing and end_listing.
    struct whole {
        bool nodes = false;
        bool queues = false;
        bool gangs = false;
        bool pods = false;
    };

    /// Tells the view what changed. True when that was anything.
    bool tell(view_type& view, whole all) {
        if (scope_.renew())
            for (auto& [key, each] : buckets_) {
                each.is_dirty = true;
                dirty_buckets_.insert(key);
            }
        bool told = tell_nodes(view, all.nodes);
        told |= tell_queues(view, all.queues);
        told |= tell_groups(view, all.gangs, all.pods);
        return told;
    }

    // ---- what is known -------------------------------------------------------------------------

    [[nodiscard]] const kind_table& kinds() const noexcept { return kinds_; }
    [[nodiscard]] kind_id pods_kind() const noexcept { return pods_kind_; }
    [[nodiscard]] const live_options& options() const noexcept { return how_; }
    /// Kinds for which there was no room; pods that ask for them wait.
    [[nodiscard]] const std::set<std::string>& lost_kinds() const noexcept { return lost_kinds_; }
    /// What is wrong with objects, by "Kind namespace/name".
    [[nodiscard]] const std::map<std::string, std::vector<std::string>>& broken() const noexcept {
        return broken_;
    }

    /// The object of a group, if it has one.
    [[nodiscard]] const group_record* find_group(const group_key& key) const {
        if (key.origin != codec::group_origin::pod_group)
            return nullptr;
        const auto at = groups_.find({key.name_space, key.name});
        return at == groups_.end() ? nullptr : &at->second;
    }
    /// The pods that were last told as members of a group, in the order of keys.
    [[nodiscard]] std::vector<const codec::pod_object*> members(const group_key& key) const {
        std::vector<const codec::pod_object*> found;
        const auto visit = [&](const group_key& home) {
            if (const auto at = buckets_.find(home); at != buckets_.end())
                for (const object_key& pod : at->second.pods)
                    if (const pod_record& record = pods_.at(pod); record.told_in == key)
                        found.push_back(&record.object);
        };
        visit(key);
        return found;
    }
    [[nodiscard]] std::size_t pods() const noexcept { return pods_.size(); }

private:
    struct pod_record {
        codec::pod_object object;
        group_key bucket;
        group_key told_in;
        bool ours = false;
        bool own_gate = false;
        bool is_broken = false;
    };
    struct bucket {
        std::set<object_key> pods;
        std::set<object_key> dirty_pods;
        std::set<group_key> told;
        bool is_dirty = false; ///< all of its pods are to be told
    };

    template<class Read>
    auto read(const arrived& object, const char* kind, bool& is_broken, Read* how) {
        std::vector<std::string> wrong;
        codec::reading_context context;
        auto made =
            object.read([&](codec::object_reader& reader) { return how(reader, context); }, wrong);
        is_broken = !wrong.empty();
        const std::string name = name_of(kind, object.who().key);
        if (is_broken)
            broken_.insert_or_assign(name, std::move(wrong));
        else
            broken_.erase(name);
        return made;
    }
    static std::string name_of(const char* kind, const object_key& key) {
        return std::string(kind) + " " + key.name_space + "/" + key.name;
    }
    void mend(const char* kind, const object_key& key) { broken_.erase(name_of(kind, key)); }

    /// A kind gets its column when somebody asks for it; what nodes have of others is no matter.
    void note_kind(const std::string& kind) {
        if (kinds_.find(kind))
            return;
        if (kinds_.size() >= Width || !kinds_.intern(kind)) {
            lost_kinds_.insert(kind);
            return;
        }
        for (const auto& [name, node] : nodes_)
            if (node.allocatable.contains(kind))
                dirty_nodes_.insert(name);
        for (const auto& [name, queue] : queues_)
            dirty_queues_.insert(name);
    }

    static group_key group_bucket(const object_key& key) {
        return {key.name_space, key.name, codec::group_origin::pod_group};
    }
    /// Pods of one group are always in one bucket.
    static group_key bucket_for(const codec::pod_object& pod) {
        const object_key& own = pod.metadata.key;
        if (const std::string* const named = codec::label(pod, codec::t9k_group_label))
            return group_bucket({own.name_space, *named});
        if (const auto ack = codec::read_ack_labels(pod); ack && ack->error.empty())
            return {own.name_space, ack->name, codec::group_origin::labels};
        return {own.name_space, own.name, codec::group_origin::single_pod};
    }
    bucket& bucket_of(const group_key& key) {
        dirty_buckets_.insert(key);
        return buckets_[key];
    }
    void leave_bucket(const object_key& pod, const group_key& from) {
        bucket& of = bucket_of(from);
        of.pods.erase(pod);
        of.dirty_pods.erase(pod);
    }

    [[nodiscard]] bool has_only_own_gate(const boost::json::value& pod) const {
        const boost::json::object* const spec = detail::object_in(pod.get_object(), "spec");
        const boost::json::value* const gates =
            spec ? spec->if_contains("schedulingGates") : nullptr;
        if (!gates || !gates->is_array() || gates->get_array().size() != 1)
            return false;
        const boost::json::object* const gate = gates->get_array()[0].if_object();
        return gate && detail::string_in(*gate, "name") == how_.own_gate;
    }

    bool tell_nodes(view_type& view, bool all) {
        const std::set<std::string> dirty = std::exchange(dirty_nodes_, {});
        if (all) {
            view.begin_listing(adapter::object_kind::node);
            for (const auto& [name, node] : nodes_)
                view.node(name, codec::core_node<Width>(node, kinds_));
            view.end_listing(adapter::object_kind::node);
            return true;
        }
        for (const std::string& name : dirty) {
            if (const auto at = nodes_.find(name); at != nodes_.end())
                view.node(name, codec::core_node<Width>(at->second, kinds_));
            else
                view.node_gone(name);
        }
        return !dirty.empty();
    }

    bool tell_queues(view_type& view, bool all) {
        const std::set<std::string> dirty = std::exchange(dirty_queues_, {});
        if (!all && dirty.empty())
            return false;
        if (all)
            view.begin_listing(adapter::object_kind::queue);
        for (const auto& [name, queue] : queues_)
            if (all || dirty.contains(name))
                view.queue(name, codec::core_queue<Width>(queue, kinds_));
        // Where nobody made it, the default queue admits everybody.
        if (!queues_.contains("default") && (all || dirty.contains("default")))
            view.queue("default", queue<Width>{});
        if (all)
            view.end_listing(adapter::object_kind::queue);
        for (const std::string& name : dirty)
            if (!all && !queues_.contains(name) && name != "default")
                view.queue_gone(name);
        return true;
    }

    bool tell_groups(view_type& view, bool all_gangs, bool all_pods) {
        std::set<group_key> dirty = std::exchange(dirty_buckets_, {});
        const std::set<object_key> gone = std::exchange(gone_pods_, {});
        const bool all = all_gangs || all_pods;
        if (!all && dirty.empty() && gone.empty())
            return false;
        if (all)
            for (const auto& [key, each] : buckets_)
                dirty.insert(key);
        if (all_gangs)
            view.begin_listing(adapter::object_kind::gang);
        if (all_pods)
            view.begin_listing(adapter::object_kind::pod);
        std::vector<group_key> lost;
        for (const group_key& key : dirty) {
            bucket& of = buckets_.at(key);
            tell_bucket(view, key, of, all, lost);
            if (of.pods.empty() && of.told.empty())
                buckets_.erase(key);
        }
        for (const object_key& key : gone)
            if (!all_pods && !pods_.contains(key))
                view.pod_gone(key);
        if (all_pods)
            view.end_listing(adapter::object_kind::pod);
        if (all_gangs)
            view.end_listing(adapter::object_kind::gang);
        else
            for (const group_key& key : lost)
                view.gang_gone(key);
        return true;
    }

    void tell_bucket(view_type& view, const group_key& key, bucket& of, bool all,
                     std::vector<group_key>& lost) {
        // The objects are lent to codec's finder of groups, and come back at the end.
        std::vector<pod_record*> lent;
        scope_.lent.pods.clear();
        scope_.lent.pod_groups.clear();
        for (const object_key& name : of.pods) {
            pod_record& record = pods_.at(name);
            if (!record.ours)
                continue;
            scope_.lent.pods.push_back(std::move(record.object));
            lent.push_back(&record);
        }
        group_record* const group = key.origin == codec::group_origin::pod_group
                                        ? find_record({key.name_space, key.name})
                                        : nullptr;
        if (group)
            scope_.lent.pod_groups.push_back(std::move(group->object));
        codec::diagnostics ignored(0);
        std::vector<const codec::group_map::value_type*> group_of;
        codec::group_map groups =
            codec::find_groups(scope_.lent, scope_.lookup(), group_of, ignored);
        codec::keep_groups_together(scope_.lent, how_.levels, groups, ignored);
        std::set<group_key> told;
        for (auto& [name, facts] : groups) {
            if (facts.object && group->is_broken)
                facts.fault = gang_fault::malformed;
            adapter::seen_gang<traits> seen;
            if (facts.object) {
                seen.uid = facts.object->metadata.uid;
                seen.reached =
                    std::ranges::any_of(facts.object->conditions, [](const codec::condition& each) {
                        return each.type == "GroupScheduled" && each.is_true;
                    });
            }
            seen.spec = codec::core_gang(scope_.lent, scope_.lookup(), name, facts, scope_.ages());
            view.gang(name, std::move(seen));
            told.insert(name);
        }
        for (const group_key& name : of.told)
            if (!told.contains(name))
                lost.push_back(name);
        const bool every = all || of.is_dirty;
        for (std::size_t at = 0; at < lent.size(); ++at) {
            pod_record& record = *lent[at];
            record.object = std::move(scope_.lent.pods[at]);
            const auto& [name, facts] = *group_of[at];
            if (!every && record.told_in == name &&
                !of.dirty_pods.contains(record.object.metadata.key))
                continue;
            record.told_in = name;
            tell_pod(view, record, facts.role_of(record.object), !facts.unsupported.empty());
        }
        for (const object_key& name : of.pods) {
            pod_record& record = pods_.at(name);
            if (record.ours)
                continue;
            record.told_in = key;
            tell_pod(view, record, vertex_index{0}, false);
        }
        if (group) {
            group->object = std::move(scope_.lent.pod_groups.front());
            group->told = mark_of(group->generation, group->version);
        }
        of.told = std::move(told);
        of.dirty_pods.clear();
        of.is_dirty = false;
    }

    group_record* find_record(const object_key& key) {
        const auto at = groups_.find(key);
        return at == groups_.end() ? nullptr : &at->second;
    }

    void tell_pod(view_type& view, const pod_record& record, vertex_index role, bool unsupported) {
        const codec::pod_object& object = record.object;
        adapter::seen_pod<traits> seen;
        seen.uid = object.metadata.uid;
        seen.gang = record.told_in;
        seen.spec = codec::core_pod<Width>(object, role, kinds_, pods_kind_);
        seen.spec.where.unsupported |= unsupported;
        if (!object.node.empty())
            seen.on = object.node;
        seen.ours = record.ours;
        seen.own_gate = record.own_gate;
        view.pod(object.metadata.key, seen);
    }

    live_options how_;
    kind_table kinds_;
    kind_id pods_kind_;
    std::map<std::string, codec::node_object> nodes_;
    std::map<std::string, codec::queue_object> queues_;
    std::map<object_key, group_record> groups_;
    std::map<object_key, pod_record> pods_;
    std::map<group_key, bucket> buckets_;
    std::set<std::string> dirty_nodes_;
    std::set<std::string> dirty_queues_;
    std::set<group_key> dirty_buckets_;
    std::set<object_key> gone_pods_;
    live_scope scope_;
    std::set<std::string> lost_kinds_;
    std::map<std::string, std::vector<std::string>> broken_;
};

} // namespace kube
} // namespace muster::inline v0_1
