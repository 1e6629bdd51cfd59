// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/adapter/cluster_view.hpp>
#include <muster/adapter/sightings.hpp>
#include <muster/apis/core/pod_age.hpp>
#include <muster/input/cluster.hpp>
#include <muster/input/membership.hpp>
#include <muster/kube/component_batch.hpp>
#include <muster/kube/dialect.hpp>
#include <muster/kube/gang_records.hpp>
#include <muster/kube/group_latch.hpp>
#include <muster/kube/live_links.hpp>
#include <muster/kube/live_scope.hpp>
#include <muster/resource/kind_table.hpp>

namespace muster {
inline namespace v0_1 {
namespace kube {

/// Groups and pods of a live cluster, and the gangs that they make. Which they are codec's readers
/// say, component by component: pods and groups with all that refers to them, and only where
/// something changed.
template<std::size_t Width>
class live_gangs {
public:
    using traits = codec::kubernetes_traits<Width>;
    using view_type = adapter::cluster_view<traits>;
    using object_key = codec::object_key;
    using group_key = codec::group_key;

    void put(const live_object& who, group_record made, live_links::links links) {
        if (const auto old = groups_.find(who); old != groups_.end())
            made.told = std::move(old->second.told);
        groups_.insert_or_assign(who, std::move(made));
        links_.put(who, std::move(links));
    }
    void lose(const live_object& who) {
        groups_.erase(who);
        links_.drop(who);
    }

    void put(const object_key& key, pod_record made, live_links::links links) {
        made.unsupported = made.object.unsupported;
        if (const auto old = pods_.find(key); old != pods_.end()) {
            made.told_in = std::move(old->second.told_in);
            made.told_role = old->second.told_role;
        }
        pods_.insert_or_assign(key, std::move(made));
        dirty_pods_.insert(key);
        links_.put({live_object::of_pods, key}, std::move(links));
    }
    void lose(const object_key& key) {
        const auto at = pods_.find(key);
        if (at == pods_.end())
            return;
        leave(key, at->second.told_in);
        pods_.erase(at);
        dirty_pods_.erase(key);
        gone_pods_.insert(key);
        links_.drop({live_object::of_pods, key});
    }

    /// Call when the effects of the pod's volumes changed.
    void touch(const object_key& key) {
        if (!pods_.contains(key))
            return;
        dirty_pods_.insert(key);
        links_.touch({live_object::of_pods, key});
    }

    /// What bears on every group has changed.
    void touch_all() { links_.touch_all(); }

    /// Tells the view of what changed, or of everything. True when that was anything.
    bool tell(view_type& view, live_scope& scope, const topology& levels, const kind_table& kinds,
              kind_id pods_kind, const codec::volume_plan& volumes, bool all_gangs, bool all_pods) {
        const bool all = all_gangs || all_pods;
        if (!all && !links_.changed() && gone_pods_.empty())
            return false;
        if (all)
            links_.touch_all();
        if (all_gangs)
            view.begin_listing(adapter::object_kind::gang);
        if (all_pods)
            view.begin_listing(adapter::object_kind::pod);
        const telling how{&view, &scope, &levels, &kinds, pods_kind, &volumes};
        std::set<group_key> lost;
        const std::vector<live_links::component> changed = links_.take();
        for (const live_links::component& each : changed)
            for (const codec::gang_link& name : each.names)
                if (const auto at = told_at_.find(name); at != told_at_.end()) {
                    lost.merge(at->second);
                    told_at_.erase(at);
                }
        for (const live_links::component& each : changed)
            tell_component(how, each, lost);
        for (const object_key& key : std::exchange(gone_pods_, {}))
            if (!all_pods && !pods_.contains(key))
                view.pod_gone(key);
        dirty_pods_.clear();
        if (all_pods)
            view.end_listing(adapter::object_kind::pod);
        if (all_gangs)
            view.end_listing(adapter::object_kind::gang);
        for (const group_key& key : lost) {
            told_.erase(key);
            if (!all_gangs)
                view.gang_gone(key);
        }
        return true;
    }

    /// Appends copies of all pods, groups and gangs, as files of the cluster would hold them. Pods
    /// that wait for another scheduler are left out. The next tell() publishes all gangs again.
    /// O(pods + groups).
    void append_copies(codec::manifests& to, live_scope& scope) {
        links_.touch_all();
        for (const live_links::component& each : links_.take()) {
            const component_batch batch(each, groups_, pods_, scope.lent);
            for (codec::pod_object pod : scope.lent.pods) {
                if (pod.node.empty())
                    scope.spread.add_to(pod.where, pod);
                to.pods.push_back(std::move(pod));
            }
            for (const pod_record* const other : batch.others())
                if (!other->object.node.empty() || !other->object.nominated_node.empty())
                    to.pods.push_back(other->object);
            std::set<object_key> broken;
            for (const auto& [object, record] : batch.groups())
                if (record->is_broken)
                    broken.insert(record->who.key);
            for (codec::pod_group_object group : scope.lent.pod_groups) {
                if (broken.contains(group.metadata.key))
                    group.unread = "it cannot be read";
                to.pod_groups.push_back(std::move(group));
            }
            for (codec::declared_gang gang : scope.lent.gangs) {
                // The document is not copied.
                gang.metadata.where = {};
                to.gangs.push_back(std::move(gang));
            }
        }
        links_.touch_all();
    }

    /// The objects that define a gang, its parts in the order of their names.
    [[nodiscard]] std::vector<const group_record*> objects_of(const group_key& key) const {
        std::vector<const group_record*> found;
        if (const auto at = told_.find(key); at != told_.end())
            for (const live_object& each : at->second.objects)
                if (const auto known = groups_.find(each); known != groups_.end())
                    found.push_back(&known->second);
        return found;
    }
    /// What is wrong with it or not modelled of it, in words; empty when that is nothing, or its
    /// members' or its object's affair.
    [[nodiscard]] std::string wrong_with(const group_key& key) const {
        const auto at = told_.find(key);
        return at == told_.end() ? std::string{} : at->second.wrong;
    }
    /// The pods that were last told as members of a gang, in the order of keys.
    [[nodiscard]] std::vector<const codec::pod_object*> members(const group_key& key) const {
        std::vector<const codec::pod_object*> found;
        if (const auto at = members_.find(key); at != members_.end())
            for (const object_key& each : at->second)
                found.push_back(&pods_.at(each).object);
        return found;
    }
    /// Those of them that name this object of it.
    [[nodiscard]] std::vector<const codec::pod_object*> members(const group_key& key,
                                                                const group_record& object) const {
        const auto told = told_.find(key);
        if (told == told_.end() || told->second.objects.size() < 2)
            return members(key);
        std::vector<const codec::pod_object*> found;
        for (const live_object& each : told->second.objects)
            if (const auto at = groups_.find(each); at != groups_.end() && &at->second == &object)
                for (const codec::pod_object* const pod : members(key))
                    if (links_.shares_link(each, {live_object::of_pods, pod->metadata.key}))
                        found.push_back(pod);
        return found;
    }
    /// The gangs that objects define, each with the first of them.
    template<class Visit>
    void each_gang(const Visit& visit) const {
        for (const auto& [key, told] : told_)
            if (!told.objects.empty())
                visit(key, told.objects);
    }
    [[nodiscard]] const group_record* find(const live_object& who) const {
        const auto at = groups_.find(who);
        return at == groups_.end() ? nullptr : &at->second;
    }
    [[nodiscard]] const std::map<object_key, pod_record>& pods() const noexcept { return pods_; }

    /// The tree and the priority of a gang that was published, and its pods; a tree of one pod with
    /// priority 0 for others.
    struct gang_minima {
        gang_tree tree{1};
        std::int64_t priority = 0;
        const std::set<object_key>* pods = nullptr;
    };
    [[nodiscard]] gang_minima minima_of(const group_key& key) const {
        gang_minima found;
        if (const auto at = told_.find(key); at != told_.end()) {
            found.tree = at->second.tree;
            found.priority = at->second.priority;
        }
        if (const auto at = members_.find(key); at != members_.end())
            found.pods = &at->second;
        return found;
    }
    /// Grows whenever a minimum or the priority of a gang changes, or a gang comes.
    [[nodiscard]] std::uint64_t minima_changes() const noexcept { return minima_changes_; }

private:
    struct telling {
        view_type* view;
        live_scope* scope;
        const topology* levels;
        const kind_table* kinds;
        kind_id pods_kind;
        const codec::volume_plan* volumes;
    };
    struct told_gang {
        /// If the parent of a vertex changes, all members are published again.
        gang_tree tree;
        std::int64_t priority = 0;
        std::vector<live_object> objects;
        std::string wrong;
    };

    void leave(const object_key& pod, const group_key& from) {
        if (const auto at = members_.find(from); at != members_.end()) {
            at->second.erase(pod);
            if (at->second.empty())
                members_.erase(at);
        }
    }

    void tell_component(const telling& how, const live_links::component& of,
                        std::set<group_key>& lost) {
        codec::manifests& lent = how.scope->lent;
        component_batch batch(of, groups_, pods_, lent);
        const component_batch::group_list& groups = batch.groups();
        codec::diagnostics ignored(0);
        std::vector<const codec::group_map::value_type*> group_of;
        codec::group_map found = codec::find_groups(lent, how.scope->lookup(), group_of, ignored);
        codec::keep_groups_together(lent, *how.levels, found, ignored);
        std::set<group_key> reshaped;
        for (auto& [name, facts] : found) {
            codec::check_lone_claims(lent, *how.volumes, facts);
            tell_gang(how, name, facts, groups, reshaped);
            lost.erase(name);
            told_at_[*of.names.begin()].insert(name);
        }
        for (std::size_t at = 0; at < batch.pods().size(); ++at) {
            pod_record& record = batch.return_next();
            const auto& [name, facts] = *group_of[at];
            const vertex_index role = facts.role_of(record.object);
            if (!of.whole && record.told_in == name && record.told_role == role &&
                !reshaped.contains(name) && !dirty_pods_.contains(record.object.metadata.key))
                continue;
            tell_pod(how, record, name, role, !facts.unsupported.empty(),
                     end_of(record, how.scope->ages(), facts.queue));
        }
        for (auto& [who, record] : groups)
            record->told = mark_of(record->generation, record->who.version);
        for (pod_record* const each : batch.others()) {
            const object_key& key = each->object.metadata.key;
            if (of.whole || dirty_pods_.contains(key))
                tell_pod(how, *each, {key.name_space, key.name, codec::group_origin::single_pod},
                         vertex_index{0}, false);
        }
    }

    void tell_gang(const telling& how, const group_key& name, codec::group_facts& facts,
                   const component_batch::group_list& groups, std::set<group_key>& reshaped) {
        adapter::seen_gang<traits> seen;
        std::vector<live_object> objects;
        for (const auto& [who, record] : groups) {
            const bool is_its_own = facts.object     ? record->who.uid == facts.object->metadata.uid
                                    : facts.declared ? belongs(*record, *facts.declared)
                                                     : false;
            if (!is_its_own)
                continue;
            if (facts.object && record->is_broken)
                facts.fault = gang_fault::malformed;
            const std::optional<bool> reached = latch_of(record->of, record->status);
            seen.reached = objects.empty()           ? reached
                           : seen.reached && reached ? std::optional(*seen.reached && *reached)
                                                     : std::nullopt;
            if (objects.empty())
                seen.uid = record->who.uid;
            objects.push_back(who);
        }
        seen.spec =
            codec::core_gang(how.scope->lent, how.scope->lookup(), name, facts, how.scope->ages());
        const auto [at, fresh] = told_.try_emplace(name);
        told_gang& told = at->second;
        if (fresh || !are_equal(told.tree, facts.tree, &gang_tree::vertex::parent))
            reshaped.insert(name);
        if (reshaped.contains(name) || told.priority != facts.priority ||
            !are_equal(told.tree, facts.tree, &gang_tree::vertex::min_member) ||
            !are_equal(told.tree, facts.tree, &gang_tree::vertex::min_subgroups))
            ++minima_changes_;
        told = {facts.tree, facts.priority, std::move(objects),
                facts.fault_detail.empty() ? facts.unsupported : facts.fault_detail};
        how.view->gang(name, std::move(seen));
    }

    template<class Field>
    static bool are_equal(const gang_tree& lhs, const gang_tree& rhs, Field field) {
        bool equal = lhs.size() == rhs.size();
        for (std::size_t at = 0; at < lhs.size() && equal; ++at)
            equal = lhs[at].*field == rhs[at].*field;
        return equal;
    }

    /// Of gangs that start together there is one, which several objects define.
    static bool belongs(const group_record& object, const codec::declared_gang& to) {
        if (!object.document || object.is_broken || to.metadata.uid.empty())
            return false;
        return to.origin.api == translate::gang_api::coscheduling
                   ? codec::group_api(object.of.version, object.of.kind) ==
                             translate::gang_api::coscheduling &&
                         std::ranges::find(to.parts, object.who.key) != to.parts.end()
                   : object.who.uid == to.metadata.uid;
    }

    /// When a pod is as old as its queue lets pods get.
    static std::optional<std::int64_t> end_of(const pod_record& pod,
                                              const std::map<std::string_view, std::int64_t>& ages,
                                              std::string_view queue) {
        const auto age = ages.find(queue);
        const auto& created = pod.object.metadata.created;
        if (age == ages.end() || !created || pod.is_ended_by_owner)
            return std::nullopt;
        return codec::end_of_pod(*created, age->second, pod.object.priority.value_or(0));
    }

    void tell_pod(const telling& how, pod_record& record, const group_key& in, vertex_index role,
                  bool unsupported, std::optional<std::int64_t> ends = std::nullopt) {
        const codec::pod_object& object = record.object;
        const object_key& key = object.metadata.key;
        if (!(record.told_in == in))
            leave(key, record.told_in);
        members_[in].insert(key);
        record.told_in = in;
        record.told_role = role;
        const codec::volume_effects* const volumes = how.volumes->find(key);
        adapter::seen_pod<traits> seen;
        seen.uid = object.metadata.uid;
        seen.gang = in;
        seen.spec = codec::core_pod<Width>(object, role, *how.kinds, how.pods_kind, volumes);
        seen.unbound_volumes =
            volumes && (!volumes->unbound.empty() || !volumes->unreserved.empty() ||
                        !volumes->served.empty() || (volumes->has_shares && object.node.empty()));
        seen.spec.where.unsupported |= unsupported;
        if (record.ours)
            how.scope->spread.add_to(seen.spec.where, object);
        if (!object.node.empty())
            seen.on = object.node;
        if (!object.nominated_node.empty())
            seen.nominated = object.nominated_node;
        seen.ours = record.ours;
        seen.own_gate = record.own_gate;
        seen.ends = ends;
        how.view->pod(key, seen);
    }

    std::map<live_object, group_record> groups_;
    std::map<object_key, pod_record> pods_;
    live_links links_;
    std::map<group_key, told_gang> told_;
    std::uint64_t minima_changes_ = 0;
    /// Gangs by a link of the component that they were found in.
    std::map<codec::gang_link, std::set<group_key>> told_at_;
    std::map<group_key, std::set<object_key>> members_;
    std::set<object_key> dirty_pods_;
    std::set<object_key> gone_pods_;
};

} // namespace kube
} // namespace v0_1
} // namespace muster
