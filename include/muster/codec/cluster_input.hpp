// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include <muster/codec/diagnostic.hpp>
#include <muster/codec/document.hpp>
#include <muster/codec/each_object.hpp>
#include <muster/codec/gang_book.hpp>
#include <muster/codec/gang_reader.hpp>
#include <muster/codec/manifests.hpp>
#include <muster/codec/membership.hpp>
#include <muster/codec/objects.hpp>
#include <muster/codec/read_documents.hpp>
#include <muster/translate/gang_object.hpp>
#include <muster/translate/pod_marks.hpp>
#include <muster/translate/to_t9k.hpp>
#include <muster/translate/write_with.hpp>

namespace muster::inline v0_1 {
namespace codec {
namespace detail {

/// Whether an input speaks of gangs that read_manifests() does not read.
[[nodiscard]] inline bool speaks_of_other_gangs(const manifests& objects) {
    for (const auto& [name, count] : objects.skipped) {
        const std::size_t space = name.find(' ');
        const std::string_view version = std::string_view(name).substr(0, space);
        if (gang_input_reader::is_of_gangs(version, std::string_view(name).substr(space + 1)))
            return true;
    }
    return std::ranges::any_of(objects.pods, [](const pod_object& pod) {
        return !pod.gang_marks.empty() ||
               pod.metadata.labels.find(std::string(translate::keys::grove_gang));
    });
}

/// Takes standing gangs into the objects of their cluster.
class gang_settler {
public:
    gang_settler(manifests& objects, const gang_options& options, diagnostics& out)
        : objects_(&objects), options_(&options), out_(&out) {
        for (const pod_object& pod : objects.pods)
            pods_.insert(pod.metadata.key);
        for (const pod_group_object& group : objects.pod_groups)
            groups_.insert(group.metadata.key);
    }

    void settle(standing_gangs found) {
        for (const auto& [name, count] : found.understood)
            if (const auto at = objects_->skipped.find(name); at != objects_->skipped.end())
                if (at->second -= std::min(at->second, count); at->second == 0)
                    objects_->skipped.erase(at);
        make_pods(found.gangs);
        if (!out_->ok())
            return;
        for (std::size_t at = 0; at < objects_->pods.size(); ++at)
            at_.emplace(objects_->pods[at].metadata.key, at);
        const object_lookup lookup(*objects_);
        std::vector<declared_gang> declared;
        std::map<group_key, std::size_t> of_one_name;
        for (const booked_gang& each : found.gangs) {
            if (is_read_elsewhere(each))
                continue;
            declared.push_back(declare(each, lookup));
            ++of_one_name[codec::key_of(declared.back())];
        }
        std::map<group_key, declared_gang> gangs;
        for (declared_gang& each : declared) {
            // Jobs of one name are told apart by their kinds.
            if (of_one_name.at(codec::key_of(each)) > 1)
                each.metadata.key.name += " (" + each.kind + ")";
            const group_key key = codec::key_of(each);
            if (gangs.contains(key))
                report(*out_, severity::error, each.metadata.where, {"metadata", "name"},
                       "the gang " + in_quotes(key.name) +
                           " is there twice (expected every gang once)");
            gangs.emplace(key, std::move(each));
        }
        for (const stray_pod& each : found.strays)
            add_stray(each, gangs);
        for (auto& [key, gang] : gangs) {
            for (const auto& [pod, leaf] : gang.members)
                forget_marks(pod);
            objects_->gangs.push_back(std::move(gang));
        }
    }

private:
    /// Pods by themselves, and T9k's groups.
    static bool is_read_elsewhere(const booked_gang& gang) {
        return gang.made.gang.kind == "Pod" || is_t9k_job(gang);
    }
    static bool is_t9k_job(const booked_gang& gang) {
        return gang.api == translate::gang_api::none && gang.made.gang.kind != "Pod" &&
               gang.made.gang.origin == translate::target::t9k;
    }

    [[nodiscard]] object_key key_of_pod(const boost::json::object& pod,
                                        const translate::gang_object& of) const {
        object_key key{std::string(translate::metadata_namespace(pod)),
                       std::string(translate::metadata_name(pod))};
        if (key.name_space.empty())
            key.name_space = of.name_space.empty() ? options_->default_namespace : of.name_space;
        return key;
    }

    /// Reads what jobs make: their pods, and the groups of T9k's.
    void make_pods(const std::vector<booked_gang>& gangs) {
        auto documents = std::make_shared<std::vector<document>>();
        for (const booked_gang& each : gangs) {
            const translate::gang_object& gang = each.made.gang;
            boost::json::array items;
            if (is_t9k_job(each)) {
                translate::written made =
                    translate::write_with(translate::t9k_writer{}, each.made, {});
                for (const translate::violation& one : made.violations)
                    out_->error({one.object, 0, 0}, one.field + ": " + one.message);
                for (boost::json::object& one : made.objects)
                    if (is_new(one, gang))
                        items.emplace_back(std::move(one));
            } else {
                // In a gang a pod's marks have done their work, the gates that hold it back until
                // its gang is there among them.
                for (const translate::gang_pod& pod : each.made.pods)
                    if (is_new(pod.document, gang))
                        items.emplace_back(gang.kind == "Pod" ? translate::with_marks(pod)
                                                              : pod.document);
            }
            if (items.empty())
                continue;
            const boost::json::object list{
                {"apiVersion", "v1"}, {"kind", "List"}, {"items", std::move(items)}};
            std::ranges::move(read_documents(gang.kind + " " + gang.name,
                                             boost::json::serialize(list), *out_,
                                             input_format::json),
                              std::back_inserter(*documents));
        }
        if (documents->empty())
            return;
        diagnostics found;
        manifest_options how;
        how.default_namespace = options_->default_namespace;
        manifests made = read_manifests(*documents, how, found);
        tell(found);
        std::ranges::move(made.pods, std::back_inserter(objects_->pods));
        std::ranges::move(made.pod_groups, std::back_inserter(objects_->pod_groups));
        objects_->made = std::move(documents);
    }

    /// Not in the cluster yet, and not made by another job either.
    bool is_new(const boost::json::object& manifest, const translate::gang_object& of) {
        const bool pod = translate::string_at(manifest, "kind") == "Pod";
        return (pod ? pods_ : groups_).insert(key_of_pod(manifest, of)).second;
    }

    /// What is said of a job's pods, once for all that are alike.
    void tell(const diagnostics& found) {
        std::set<std::pair<std::string, std::string>> told;
        for (const diagnostic& each : found.findings()) {
            const std::size_t item = each.path.find("].");
            if (told.emplace(each.where.file +
                                 each.path.substr(item == std::string::npos ? 0 : item),
                             each.message)
                    .second)
                out_->add(each);
        }
    }

    static group_origin origin_of(const booked_gang& gang) {
        switch (gang.api) {
        case translate::gang_api::coscheduling:
            return group_origin::coscheduling;
        case translate::gang_api::volcano:
            return group_origin::volcano;
        case translate::gang_api::kai:
            return group_origin::kai;
        case translate::gang_api::workload:
            return group_origin::workload;
        case translate::gang_api::grove:
            return group_origin::grove;
        case translate::gang_api::none:
        case translate::gang_api::t9k:
            break;
        }
        return group_origin::job;
    }

    [[nodiscard]] declared_gang declare(const booked_gang& of, const object_lookup& lookup) {
        const translate::gang_object& gang = of.made.gang;
        declared_gang made;
        made.metadata.key = {gang.name_space, gang.name};
        made.metadata.uid = gang.uid;
        made.metadata.where = of.where;
        made.metadata.created = creation_of(of.where);
        made.origin = origin_of(of);
        made.kind = gang.kind;
        made.tree = gang.tree;
        made.topology = gang.topology_name;
        made.preemptible = gang.preemptible.value_or(true);
        for (const translate::gang_pod& pod : of.made.pods)
            made.members.emplace(key_of_pod(pod.document, gang), pod.leaf);
        made.priority = priority_of(gang, made, lookup);
        // What Volcano's admission puts in.
        made.queue = gang.queue.value_or(made.origin == group_origin::volcano ? "default" : "");
        const auto local = translate::find_text(&gang.labels, kueue_queue_label);
        if (made.queue.empty() && objects_->kueue && local)
            made.queue = queue_behind(*objects_, {gang.name_space, std::string(*local)});
        if (made.queue.empty() && !made.members.empty())
            made.queue = queue_of(*objects_, pod_at(made.members.begin()->first));
        for (const translate::own_word& word : gang.own_words) {
            if (word.what == translate::loss_kind::topology_required ||
                word.field == "resourceClaims")
                made.unsupported = word.field + " of its " + gang.kind;
            if (word.field == "preemptionPolicy" && word.value == "Never")
                made.may_preempt = false;
        }
        if (made.origin != group_origin::grove && !gang.topology_name.empty() &&
            asks_topology(made) &&
            std::ranges::none_of(objects_->topologies, [&](const topology_object& each) {
                return each.metadata.key.name == gang.topology_name;
            }))
            made.unsupported = "Topology " + gang.topology_name + ", which the input does not hold";
        if (!of.fault.empty()) {
            made.fault = gang_fault::malformed;
            made.fault_detail = of.fault;
        }
        return made;
    }

    static bool asks_topology(const declared_gang& gang) {
        for (std::size_t at = 0; at < gang.tree.size(); ++at)
            if (gang.tree[at].together)
                return true;
        return false;
    }

    /// Of the object, or of the job; what pods alone define is as old as they are.
    static std::optional<timestamp> creation_of(const object_place& where) {
        std::optional<timestamp> created;
        if (!where.source)
            return created;
        diagnostics aside; // who read it first told of its faults
        object_at(where, aside, [&](object_reader& object) {
            const field metadata_at = object.optional("metadata");
            object_reader metadata = metadata_at.as_object();
            if (object.optional("kind").as_string() != "Pod")
                created = metadata.optional("creationTimestamp").as_timestamp();
            metadata.ignore_rest();
            object.ignore_rest();
        });
        return created;
    }

    /// The gang's own, else that of its pods, of which the first by name speaks for all.
    [[nodiscard]] std::int64_t priority_of(const translate::gang_object& gang,
                                           const declared_gang& made, const object_lookup& lookup) {
        if (gang.priority.number)
            return *gang.priority.number;
        if (const auto workload = translate::find_text(&gang.labels, kueue_priority_label))
            if (const auto known = lookup.workload_class_value(*workload))
                return *known;
        const std::string& name = gang.priority.class_name;
        if (const auto known = lookup.class_value(name))
            return *known;
        if (!name.empty())
            report(*out_, severity::warning, made.metadata.where, {"metadata"},
                   "there is no PriorityClass " + in_quotes(name) +
                       ", its priority counts as 0 (expected a PriorityClass of the input)");
        if (!name.empty() || made.members.empty())
            return 0;
        return lookup.priority(pod_at(made.members.begin()->first)).value_or(0);
    }

    [[nodiscard]] pod_object& pod_at(const object_key& key) { return objects_->pods[at_.at(key)]; }

    /// Those who name one group that is not there wait for it together; wrong marks are a pod's own
    /// fault.
    void add_stray(const stray_pod& stray, std::map<group_key, declared_gang>& to) {
        booked_gang like;
        like.api = stray.api;
        declared_gang made;
        const bool missing = !stray.group.empty();
        made.metadata.key = {stray.pod.name_space, missing ? stray.group : stray.pod.name};
        made.origin = missing ? origin_of(like) : group_origin::single_pod;
        made.kind = missing ? "PodGroup" : "Pod";
        made.tree = gang_tree(1);
        made.fault = missing ? gang_fault::missing : gang_fault::malformed;
        made.fault_detail = stray.fault;
        const auto at = to.try_emplace(codec::key_of(made), std::move(made)).first;
        at->second.members.emplace(stray.pod, vertex_index{0});
    }

    /// The pod is in its gang: the marks that say so are no constraint any more.
    void forget_marks(const object_key& key) {
        pod_object& pod = pod_at(key);
        std::erase_if(pod.unsupported, [&](const std::string& each) {
            return std::ranges::find(pod.gang_marks, each) != pod.gang_marks.end();
        });
    }

    manifests* objects_;
    const gang_options* options_;
    diagnostics* out_;
    std::set<object_key> pods_;
    std::set<object_key> groups_;
    std::map<object_key, std::size_t> at_;
};

} // namespace detail

/// Reads an input as a cluster: what read_manifests() reads, and beside T9k's and ACK's gangs those
/// of every API that read_gangs() knows, with jobs that have no pods yet as the pods that they
/// would make. An input without such objects costs no more than read_manifests(). The objects are
/// to be used only when there is no error, and while the documents live.
[[nodiscard]] inline manifests read_cluster(const std::vector<document>& documents,
                                            const gang_options& options, diagnostics& out) {
    manifest_options how;
    how.default_namespace = options.default_namespace;
    manifests objects = read_manifests(documents, how, out);
    if (!out.ok() || !detail::speaks_of_other_gangs(objects))
        return objects;
    gang_options beside = options;
    beside.cluster = &objects;
    standing_gangs found = read_standing_gangs(documents, beside, out);
    if (out.ok())
        detail::gang_settler(objects, options, out).settle(std::move(found));
    return objects;
}

} // namespace codec
} // namespace muster::inline v0_1
