// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <muster/adapter/cluster_view.hpp>
#include <muster/apis/core/claims/device_taint_rule_reader.hpp>
#include <muster/apis/core/claims/group_claim_reader.hpp>
#include <muster/apis/core/disruption_budget_reader.hpp>
#include <muster/apis/gang_facts.hpp>
#include <muster/input/cluster.hpp>
#include <muster/input/gang_links.hpp>
#include <muster/input/manifests.hpp>
#include <muster/input/membership.hpp>
#include <muster/kube/arrived.hpp>
#include <muster/kube/dialect.hpp>
#include <muster/kube/group_document.hpp>
#include <muster/kube/live_budgets.hpp>
#include <muster/kube/live_gangs.hpp>
#include <muster/kube/live_scope.hpp>
#include <muster/kube/live_storage.hpp>
#include <muster/kube/reservation_requests.hpp>
#include <muster/kube/unread_pods.hpp>
#include <muster/resource/kind_table.hpp>

namespace muster {
inline namespace v0_1 {
namespace kube {

struct live_options {
    /// Whose groups and queues are read.
    std::vector<dialect> dialects{dialect::t9k};
    /// The pods of these schedulers are this one's to place.
    std::vector<std::string> scheduler_names{std::string(translate::schedulers::t9k)};
    std::string queue_namespace = "t9k-system";
    /// The gate that is this scheduler's own to take off.
    std::string own_gate = std::string(translate::keys::grove_gate);
    /// Levels of node labels, coarse to fine, for groups that name no topology of their own.
    topology levels;
    codec::reading_rules rules;
    /// Reservation pods for fractions of KAI; absent = pods with fractions wait.
    std::optional<reservation_options> reservations;
};

/// The objects of a live cluster as codec reads them, and the changes since the last publication to
/// a view. A reflector feeds each collection.
///
/// An object that cannot be read in full is broken, and the unread part is never ignored. A broken
/// pod waits; on its node it counts with the requests that could be read, and if its requests could
/// not be read at all, the node takes no new pods. A broken node takes no new pods, a broken group
/// is malformed, a broken queue is closed, and a broken budget allows no disruption. `broken()`
/// says why.
template<std::size_t Width>
class live_objects {
public:
    using traits = codec::kubernetes_traits<Width>;
    using view_type = adapter::cluster_view<traits>;
    using object_key = codec::object_key;
    using group_key = codec::group_key;

    explicit live_objects(live_options how)
        : how_(std::move(how)),
          collections_(collections_of(how_.dialects, !how_.rules.default_spread.empty())),
          default_queues_(default_queues_of(how_.dialects)),
          pods_kind_(*kinds_.intern("pods")),
          scope_(how_.rules) {
        if (how_.reservations)
            storage_.serve_fractions(how_.reservations->name_space, how_.reservations->scheduler);
    }
    live_objects(const live_objects&) = delete;
    live_objects& operator=(const live_objects&) = delete;

    /// What it is to be fed with, in that order.
    [[nodiscard]] const std::vector<collection>& collections() const noexcept {
        return collections_;
    }

    // ---- what reflectors feed ------------------------------------------------------------------

    /// An object of a collection is new or changed.
    void take(std::size_t from, const arrived& object) {
        const collection& of = collections_[from];
        switch (of.holds) {
        case content::node:
            return take_node(of, object);
        case content::name_space:
            return scope_.take(read(of, object, &codec::detail::read_namespace).made);
        case content::priority_class:
            return scope_.take(read(of, object, &codec::detail::read_priority_class).made);
        case content::budget:
            return take_budget(of, object);
        case content::storage:
        case content::shared_gpus:
            return take_storage(of, object);
        case content::spread_owner:
            return scope_.spread.put(read(of, object, detail::spread_owner_reader(of.kind)).made);
        case content::topology:
            return take_topology(of, object);
        case content::queue:
            return take_queue(from, object);
        case content::group:
            return take_group(from, object);
        case content::pod:
            return take_pod(of, object);
        }
    }

    /// An object of a collection is no more.
    void lose(std::size_t from, const listed_object& who) {
        const collection& of = collections_[from];
        const std::string& name = who.key.name;
        mend(of, who.key);
        switch (of.holds) {
        case content::node:
            nodes_.erase(name);
            dirty_nodes_.insert(name);
            return storage_.note_nodes();
        case content::name_space:
            return scope_.lose_namespace(name);
        case content::priority_class:
            return scope_.lose_class(name);
        case content::budget:
            return budgets_.lose(who.key);
        case content::storage:
        case content::shared_gpus:
            if (of.kind == "DeviceTaintRule")
                return storage_.lose_taint_rule(who.key, of.version);
            return storage_.lose(of.kind, who.key);
        case content::spread_owner:
            return scope_.spread.lose(of.kind, who.key);
        case content::topology:
            return scope_.lose_topology(name);
        case content::queue:
            return lose_queue(from, who.key);
        case content::group:
            if (of.of == dialect::workload && of.kind == "PodGroup")
                storage_.lose_group(who.key);
            return gangs_.lose(live_object{from, who.key});
        case content::pod:
            budgets_.note_pods();
            storage_.lose_pod(who.key);
            dirty_nodes_.merge(unread_pods_.put(who.key, {}));
            return gangs_.lose(who.key);
        }
    }

    // ---- publication to a view -----------------------------------------------------------------

    /// Kinds whose objects are all published again, between begin_listing and end_listing.
    struct whole {
        bool nodes = false;
        bool queues = false;
        bool gangs = false;
        bool pods = false;
    };

    /// Tells the view what changed. True when that was anything.
    bool tell(view_type& view, whole all) {
        if (scope_.renew())
            gangs_.touch_all();
        scope_.spread.renew(nodes_, !dirty_nodes_.empty(), gangs_);
        renew_volumes();
        note_kinds_of_nodes();
        const auto& judge = storage_.plan().judge;
        if (const device_rule rule = judge ? device_rule::of(*judge) : device_rule{};
            !(view.known().accounts().rule() == rule))
            view.known().set_device_rule(rule);
        told_judge_ = judge;
        bool told = tell_nodes(view, all.nodes);
        told |= tell_queues(view, all.queues);
        told |= gangs_.tell(view, scope_, how_.levels, kinds_, pods_kind_, storage_.plan(),
                            all.gangs, all.pods);
        told |= budgets_.tell(view, gangs_.pods());
        return told;
    }

    // ---- what is known -------------------------------------------------------------------------

    [[nodiscard]] const kind_table& kinds() const noexcept { return kinds_; }
    [[nodiscard]] kind_id pods_kind() const noexcept { return pods_kind_; }
    [[nodiscard]] const live_options& options() const noexcept { return how_; }
    /// Kinds for which there was no room; pods that ask for them wait.
    [[nodiscard]] const std::set<std::string>& lost_kinds() const noexcept { return lost_kinds_; }
    /// True if a new table would have room for them, because other kinds are no longer requested.
    [[nodiscard]] bool has_stale_kinds() const {
        if (lost_kinds_.empty())
            return false;
        std::set<std::string_view> asked{"pods"};
        for (const auto& [key, pod] : gangs_.pods())
            for (const auto& each : pod.object.requests)
                asked.insert(each.first);
        for (const auto& each : storage_.plan().kinds)
            asked.insert(each.first);
        for (const auto& [name, several] : queues_)
            for (const auto& [from, queue] : several)
                for (const auto* const amounts : {&queue.quota, &queue.non_preemptible_quota,
                                                  &queue.deserved, &queue.guarantee})
                    for (const auto& each : *amounts)
                        asked.insert(each.first);
        return asked.size() <= Width;
    }
    /// What is wrong with objects, or why they are ignored, by "Kind namespace/name".
    [[nodiscard]] const std::map<std::string, std::vector<std::string>>& broken() const noexcept {
        return broken_;
    }
    [[nodiscard]] const live_gangs<Width>& gangs() const noexcept { return gangs_; }
    /// Returns nullptr if there is no such node.
    [[nodiscard]] const codec::node_object* find_node(const std::string& name) const {
        const auto at = nodes_.find(name);
        return at == nodes_.end() ? nullptr : &at->second;
    }
    [[nodiscard]] const live_storage& storage() const noexcept { return storage_; }
    [[nodiscard]] std::size_t pods() const noexcept { return gangs_.pods().size(); }

    /// Returns copies of all objects, as files of the cluster would hold them, to be planned with
    /// changes. Pods whose ResourceClaims cannot be used are marked as unsupported, with the
    /// reason. The next tell() publishes all gangs again. O(objects).
    [[nodiscard]] codec::manifests copies() {
        codec::manifests made;
        for (const auto& [name, node] : nodes_) {
            made.nodes.push_back(node);
            if (unread_pods_.stand_on(name))
                codec::close_unread(made.nodes.back());
        }
        for (const auto& [name, several] : queues_)
            made.queues.push_back(several.begin()->second);
        made.namespaces = scope_.lent.namespaces;
        made.priority_classes = scope_.lent.priority_classes;
        made.topologies = scope_.lent.topologies;
        budgets_.append_copies(made.budgets);
        storage_.append_copies(made.storage, made.devices);
        for (const auto& [key, each] : storage_.devices().topologies())
            made.node_topologies.push_back(each);
        gangs_.append_copies(made, scope_);
        for (codec::pod_object& pod : made.pods)
            if (const auto at = storage_.device_effects().find(pod.metadata.key);
                at != storage_.device_effects().end() && at->second.unusable)
                pod.unsupported.push_back(at->second.waits.front());
        return made;
    }

private:
    template<class Made>
    struct reading {
        Made made;
        bool is_broken = false;
    };

    void take_topology(const collection& of, const arrived& object) {
        auto [made, is_broken] = read(of, object, &codec::read_topology);
        if (is_broken)
            return scope_.lose_topology(object.who().key.name);
        scope_.take(std::move(made));
    }

    void take_node(const collection& of, const arrived& object) {
        auto [made, is_broken] = read(of, object, &codec::read_node);
        if (is_broken)
            codec::close_unread(made);
        const std::string& name = object.who().key.name;
        for (const auto& [kind, amount] : made.allocatable)
            nodes_have_others_ |= !kinds_.find(kind);
        const auto known = nodes_.find(name);
        if (known == nodes_.end() || known->second.metadata.labels != made.metadata.labels ||
            known->second.taints != made.taints || known->second.allocatable != made.allocatable ||
            known->second.agent_amounts != made.agent_amounts ||
            !codec::same_registers(known->second.metadata, made.metadata))
            storage_.note_nodes();
        nodes_.insert_or_assign(name, std::move(made));
        dirty_nodes_.insert(name);
    }

    void take_budget(const collection& of, const arrived& object) {
        auto [made, is_broken] = read(of, object, &codec::read_disruption_budget);
        budgets_.put(object.who().key, std::move(made), is_broken);
    }

    /// A pod that needs such an object waits.
    [[nodiscard]] static bool keeps_broken(std::string_view kind) {
        return kind == "PersistentVolumeClaim" || kind == "PersistentVolume" ||
               kind == "NodeResourceTopology";
    }

    /// Stores a storage or device object. A broken object counts as absent, but broken claims and
    /// volumes say so, a broken NodeResourceTopology closes its node to pods that must be aligned,
    /// and a broken CSINode, CSIDriver or VolumeAttachment keeps the values that were read before.
    void take_storage(const collection& of, const arrived& object) {
        if (of.kind == "DeviceTaintRule")
            return take_taint_rule(of, object);
        const auto take = [&](const auto& how) {
            auto [made, is_broken] = read(of, object, how);
            const auto& key = object.who().key;
            if (!is_broken ||
                (keeps_broken(of.kind) &&
                 codec::detail::restrict_broken(made, broken_.at(name_of(of, key)).front())))
                storage_.put(std::move(made), object.who().version);
            else if (of.kind != "CSINode" && of.kind != "CSIDriver" &&
                     of.kind != "VolumeAttachment")
                storage_.lose(of.kind, object.who().key);
        };
        with_storage_reader(of.kind, take);
    }

    /// A broken rule keeps off the devices that it may match, and what is not modelled is reported.
    void take_taint_rule(const collection& of, const arrived& object) {
        auto [made, is_broken] = read(of, object, &codec::read_device_taint_rule);
        made.is_unread |= is_broken;
        if (!is_broken)
            note_broken(of, object.who().key, std::move(made.unmodelled));
        storage_.put(std::move(made), of.version);
    }

    void take_queue(std::size_t from, const arrived& object) {
        const collection& of = collections_[from];
        const object_key& key = object.who().key;
        if (of.of == dialect::t9k && key.name_space != how_.queue_namespace)
            return note_broken(of, key,
                               {"is ignored (expected namespace " + how_.queue_namespace + ")"});
        auto [made, is_broken] = read(of, object,
                                      of.of == dialect::kai       ? &codec::read_kai_queue
                                      : of.of == dialect::volcano ? &codec::read_volcano_queue
                                                                  : &codec::read_queue);
        made.closed |= is_broken;
        for (const auto* const amounts :
             {&made.quota, &made.non_preemptible_quota, &made.deserved, &made.guarantee})
            for (const auto& [kind, amount] : *amounts)
                note_kind(kind);
        queues_[key.name].insert_or_assign(from, std::move(made));
        queue_changed(key.name);
    }
    void lose_queue(std::size_t from, const object_key& key) {
        const auto at = queues_.find(key.name);
        if (at == queues_.end() ||
            (collections_[from].of == dialect::t9k && key.name_space != how_.queue_namespace))
            return;
        at->second.erase(from);
        if (at->second.empty())
            queues_.erase(at);
        queue_changed(key.name);
    }
    /// Of several queues of one name, which are several dialects', the first counts.
    void queue_changed(const std::string& name) {
        dirty_queues_.insert(name);
        const auto at = queues_.find(name);
        scope_.set_age(name, at == queues_.end() ? std::nullopt
                                                 : at->second.begin()->second.max_duration);
        const std::string what = "Queue " + name;
        if (at != queues_.end() && at->second.size() > 1)
            broken_[what] = {"there are several of that name (expected one of each name)"};
        else
            broken_.erase(what);
    }

    void take_group(std::size_t from, const arrived& object) {
        const collection& of = collections_[from];
        const boost::json::object& top = object.value().get_object();
        group_record made;
        made.of = of;
        made.who = object.who();
        if (const boost::json::value* const status = top.if_contains("status"))
            made.status = boost::json::value(*status, boost::json::storage_ptr());
        if (const boost::json::object* const metadata = detail::object_in(top, "metadata"))
            made.generation = detail::number_in(*metadata, "generation");
        if (of.of == dialect::t9k) {
            auto [group, is_broken] = read(of, object, &codec::read_pod_group);
            made.object = std::move(group);
            made.is_broken = is_broken;
        } else {
            take_group_claims(of, object);
            std::vector<std::string> wrong = object.faults();
            made.document = detail::group_document(of, top, wrong);
            made.is_broken = !wrong.empty();
            note_broken(of, object.who().key, std::move(wrong));
        }
        gangs_.put(live_object{from, object.who().key}, std::move(made),
                   codec::links_of_group(of.version, of.kind, top));
    }

    /// Errors in the claims are reported with the group.
    void take_group_claims(const collection& of, const arrived& object) {
        if (of.of != dialect::workload || of.kind != "PodGroup")
            return;
        std::vector<std::string> wrong;
        codec::reading_context context;
        if (codec::has_group_claims(object.value(), of.version, of.kind))
            storage_.put(object.read(
                [&](codec::object_reader& reader) {
                    return codec::read_group_claims(reader, context);
                },
                wrong));
        else
            storage_.lose_group(object.who().key);
    }

    void take_pod(const collection& of, const arrived& object) {
        const object_key& key = object.who().key;
        auto [read_pod, is_broken] = read(of, object, &codec::read_pod_with_controller);
        pod_record made;
        made.object = std::move(read_pod);
        std::string hidden_on; // the pod's node, if the pod's requests could not be read
        if (hide_requests(object.faults()) && made.object.phase != pod_phase::succeeded &&
            made.object.phase != pod_phase::failed)
            hidden_on = made.object.node;
        if (is_broken) {
            std::string& why = broken_.at(name_of(of, key)).front();
            if (!hidden_on.empty())
                why += ", so its node " + hidden_on + " takes no new pods";
            made.object.unsupported.push_back(why);
        }
        dirty_nodes_.merge(unread_pods_.put(key, hidden_on));
        made.ours = std::ranges::find(how_.scheduler_names, made.object.scheduler_name) !=
                    how_.scheduler_names.end();
        made.own_gate = has_only_gate(object.value().get_object(), how_.own_gate);
        if (made.own_gate && made.object.phase == pod_phase::gated)
            made.object.phase = pod_phase::pending;
        for (const auto& [kind, amount] : made.object.requests)
            note_kind(kind);
        const boost::json::object& top = object.value().get_object();
        made.version = object.who().version;
        made.is_ended_by_owner = detail::ends_by_owner(top);
        if (made.waits())
            made.says = waiting_of(top);
        live_links::links links{{translate::gang_api::none, key.name_space, key.name}};
        if (made.ours) {
            links = codec::links_of_pod(top);
            if (std::ranges::any_of(links, [](const codec::gang_link& each) {
                    return each.api != translate::gang_api::none &&
                           each.api != translate::gang_api::t9k;
                })) {
                made.marks.emplace("Pod", codec::marks_of_pod(top));
            }
        }
        budgets_.note_pods();
        storage_.note_pod(made.object);
        gangs_.put(key, std::move(made), std::move(links));
    }

    template<class Read>
    auto read(const collection& of, const arrived& object, Read* how) {
        std::vector<std::string> wrong;
        codec::reading_context context;
        context.rules = how_.rules;
        auto made =
            object.read([&](codec::object_reader& reader) { return how(reader, context); }, wrong);
        const bool is_broken = !wrong.empty();
        note_broken(of, object.who().key, std::move(wrong));
        return reading<decltype(made)>{std::move(made), is_broken};
    }
    static std::string name_of(const collection& of, const object_key& key) {
        return std::string(of.kind) + " " + key.name_space + "/" + key.name;
    }
    void note_broken(const collection& of, const object_key& key, std::vector<std::string> wrong) {
        if (wrong.empty())
            broken_.erase(name_of(of, key));
        else
            broken_.insert_or_assign(name_of(of, key), std::move(wrong));
    }
    void mend(const collection& of, const object_key& key) { broken_.erase(name_of(of, key)); }

    void renew_volumes() {
        const live_storage::changes found = storage_.renew(nodes_, gangs_);
        for (const object_key& key : found.pods)
            gangs_.touch(key);
        dirty_nodes_.insert(found.nodes.begin(), found.nodes.end());
        for (const auto& each : storage_.plan().kinds)
            note_kind(each.first);
    }

    /// Amounts of kinds that no pod requests affect which node is the best fit, so they count, as
    /// in files. If there is no room for all of these kinds, none counts.
    void note_kinds_of_nodes() {
        if (!nodes_have_others_ || dirty_nodes_.empty())
            return;
        std::set<std::string> others;
        for (const auto& [name, node] : nodes_)
            for (const auto& [kind, amount] : node.allocatable)
                if (!kinds_.find(kind))
                    others.insert(kind);
        nodes_have_others_ = kinds_.size() + others.size() > Width;
        if (!nodes_have_others_)
            for (const std::string& each : others)
                note_kind(each);
    }

    /// Adds a column for a kind that is requested.
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

    bool tell_nodes(view_type& view, bool all) {
        const std::set<std::string> dirty = std::exchange(dirty_nodes_, {});
        if (all) {
            view.begin_listing(adapter::object_kind::node);
            for (const auto& [name, node] : nodes_)
                view.node(name, core_node(name, node));
            view.end_listing(adapter::object_kind::node);
            return true;
        }
        for (const std::string& name : dirty) {
            if (const auto at = nodes_.find(name); at != nodes_.end())
                view.node(name, core_node(name, at->second));
            else
                view.node_gone(name);
        }
        return !dirty.empty();
    }

    [[nodiscard]] node<Width> core_node(const std::string& name,
                                        const codec::node_object& object) const {
        node<Width> made = codec::core_node<Width>(object, kinds_, storage_.plan());
        if (unread_pods_.stand_on(name))
            codec::close_unread(made);
        return made;
    }

    bool tell_queues(view_type& view, bool all) {
        std::set<std::string> dirty = std::exchange(dirty_queues_, {});
        if (!all && dirty.empty())
            return false;
        // Whether Volcano's root is an object decides what stands above all others.
        const bool every = all || dirty.contains(std::string(codec::volcano_root));
        if (all)
            view.begin_listing(adapter::object_kind::queue);
        for (const auto& [name, each] : queues_)
            if (every || dirty.contains(name))
                view.queue(name, codec::core_queue<Width>(each.begin()->second, kinds_),
                           parent_of(each.begin()->second));
        for (const std::string& name : default_queues_)
            if (!queues_.contains(name) && (all || dirty.contains(name)))
                view.queue(name, queue<Width>{});
        if (all)
            view.end_listing(adapter::object_kind::queue);
        for (const std::string& name : dirty)
            if (!all && !queues_.contains(name) && !default_queues_.contains(name))
                view.queue_gone(name);
        return true;
    }
    [[nodiscard]] std::optional<std::string> parent_of(const codec::queue_object& of) const {
        if (of.parent.empty() || (of.parent == codec::volcano_root && !queues_.contains(of.parent)))
            return std::nullopt;
        return of.parent;
    }

    live_options how_;
    std::vector<collection> collections_;
    std::set<std::string> default_queues_;
    kind_table kinds_;
    kind_id pods_kind_;
    std::map<std::string, codec::node_object> nodes_;
    /// By name, and then by whose it is.
    std::map<std::string, std::map<std::size_t, codec::queue_object>> queues_;
    live_budgets budgets_;
    live_storage storage_;
    /// The judge that published views refer to. It is kept so that no other judge gets its address
    /// before the views refer to the next one.
    std::shared_ptr<const codec::device_judge> told_judge_;
    live_gangs<Width> gangs_;
    unread_pods unread_pods_;
    std::set<std::string> dirty_nodes_;
    std::set<std::string> dirty_queues_;
    live_scope scope_;
    /// Some of a kind that has no column.
    bool nodes_have_others_ = false;
    std::set<std::string> lost_kinds_;
    std::map<std::string, std::vector<std::string>> broken_;
};

} // namespace kube
} // namespace v0_1
} // namespace muster
