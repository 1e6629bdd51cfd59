// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <boost/json/object.hpp>

#include <muster/apis/core/each_object.hpp>
#include <muster/apis/core/objects.hpp>
#include <muster/document/diagnostic.hpp>
#include <muster/gangs/gang_object.hpp>
#include <muster/gangs/pod_marks.hpp>
#include <muster/input/gang_book.hpp>
#include <muster/input/membership.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// How the groups of an API are declared; jobs' where it is none's.
[[nodiscard]] inline group_origin origin_of(translate::gang_api api) noexcept {
    return api == translate::gang_api::none || api == translate::gang_api::t9k
               ? group_origin::job
               : group_origin::declared(api);
}

namespace detail {

/// Gangs of T9k's jobs, whose groups are read by themselves.
[[nodiscard]] inline bool is_t9k_job(const booked_gang& gang) {
    return gang.api == translate::gang_api::none && gang.made.gang.kind != "Pod" &&
           gang.made.gang.origin == translate::target::t9k;
}

/// When the object, or the job, that defines a gang was made; nothing where pods alone do, whose
/// gang is as old as they are.
[[nodiscard]] inline std::optional<timestamp> creation_of(const object_place& where) {
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

/// How many pods of a Job Kueue may start it with, where that need not be all.
[[nodiscard]] inline std::optional<std::int64_t> least_parallelism_of(const object_place& where,
                                                                      diagnostics& out) {
    constexpr std::string_view annotation = "kueue.x-k8s.io/job-min-parallelism";
    std::optional<std::int64_t> least;
    if (!where.source)
        return least;
    diagnostics aside;
    object_at(where, aside, [&](object_reader& object) {
        const field metadata_at = object.optional("metadata");
        object_reader metadata = metadata_at.as_object();
        const field annotations_at = metadata.optional("annotations");
        object_reader annotations = annotations_at.as_object();
        if (const auto text = annotations.optional(annotation).as_string()) {
            std::int32_t value = 0;
            const char* const end = text->data() + text->size();
            const auto [stop, error] = std::from_chars(text->data(), end, value);
            if (error == std::errc{} && stop == end && value >= 1)
                least = value;
            else
                report(out, severity::warning, where, {"metadata", "annotations", annotation},
                       in_quotes(*text) + " is no number of pods, and counts as absent (expected a "
                                          "whole number of at least 1)");
        }
        annotations.ignore_rest();
        metadata.ignore_rest();
        object.ignore_rest();
    });
    return least;
}

/// A pod's name, in the namespace of its gang where it names none itself.
[[nodiscard]] inline object_key key_of_pod(const boost::json::object& pod,
                                           const translate::gang_object& of,
                                           const std::string& default_namespace) {
    object_key key{std::string(translate::metadata_namespace(pod)),
                   std::string(translate::metadata_name(pod))};
    if (key.name_space.empty())
        key.name_space = of.name_space.empty() ? default_namespace : of.name_space;
    return key;
}

} // namespace detail

/// Declares the gangs of a book beside the objects of their cluster, which hold their pods.
class gang_declarer {
public:
    gang_declarer(manifests& objects, std::string default_namespace, diagnostics& out)
        : objects_(&objects), default_namespace_(std::move(default_namespace)), out_(&out) {}

    /// Adds them to the objects, with pods that found no gang in gangs that say why.
    void declare(const std::vector<booked_gang>& booked, const std::vector<stray_pod>& strays) {
        for (std::size_t at = 0; at < objects_->pods.size(); ++at)
            at_.emplace(objects_->pods[at].metadata.key, at);
        const object_lookup lookup(*objects_);
        std::vector<declared_gang> declared;
        std::map<group_key, std::size_t> of_one_name;
        for (const booked_gang& each : booked) {
            if (is_read_elsewhere(each))
                continue;
            declared.push_back(declared_of(each, lookup));
            ++of_one_name[codec::key_of(declared.back())];
        }
        std::map<group_key, declared_gang> gangs;
        for (declared_gang& each : declared) {
            // The kind distinguishes jobs of the same name.
            if (of_one_name.at(codec::key_of(each)) > 1)
                each.metadata.key.name += " (" + each.kind + ")";
            const group_key key = codec::key_of(each);
            if (gangs.contains(key))
                report(*out_, severity::error, each.metadata.where, {"metadata", "name"},
                       "the gang " + in_quotes(key.name) +
                           " is there twice (expected every gang once)");
            gangs.emplace(key, std::move(each));
        }
        for (const stray_pod& each : strays)
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
        return gang.made.gang.kind == "Pod" || detail::is_t9k_job(gang);
    }

    [[nodiscard]] declared_gang declared_of(const booked_gang& of, const object_lookup& lookup) {
        const translate::gang_object& gang = of.made.gang;
        declared_gang made;
        made.metadata.key = {gang.name_space, gang.name};
        made.metadata.uid = gang.uid;
        made.metadata.where = of.where;
        made.metadata.created = detail::creation_of(of.where);
        for (const auto& label : gang.labels)
            if (label.value().is_string())
                made.metadata.labels.set(std::string(label.key()),
                                         std::string(label.value().get_string()));
        made.origin = origin_of(of.api);
        if (made.origin.api == translate::gang_api::coscheduling) {
            for (const translate::leaf_size& each : gang.sizes)
                if (!each.object.empty())
                    made.parts.push_back(
                        {each.name_space.empty() ? gang.name_space : each.name_space, each.object});
            if (made.parts.empty())
                made.parts.push_back(made.metadata.key);
        }
        made.kind = gang.kind;
        made.tree = gang.tree;
        made.topology = gang.topology_name;
        made.preemptible = gang.preemptible.value_or(true);
        for (const translate::gang_pod& pod : of.made.pods)
            made.members.emplace(detail::key_of_pod(pod.document, gang, default_namespace_),
                                 pod.leaf);
        made.priority = priority_of(gang, made, lookup);
        // What Volcano's admission puts in.
        made.queue =
            gang.queue.value_or(made.origin.api == translate::gang_api::volcano ? "default" : "");
        const auto local = translate::find_text(&gang.labels, kueue_queue_label);
        if (made.queue.empty() && objects_->kueue && local)
            wait_for_kueue(of, *local, made);
        if (made.queue.empty() && !made.members.empty())
            made.queue = detail::queue_of(*objects_, pod_at(made.members.begin()->first));
        for (const translate::own_word& word : gang.own_words) {
            if (word.what == translate::loss_kind::topology_required ||
                (word.field == "resourceClaims" && gang.kind != "PodGroup" &&
                 gang.kind != "CompositePodGroup"))
                made.unsupported = word.field + " of its " + gang.kind;
            if (word.field == "preemptionPolicy" && word.value == "Never")
                made.may_preempt = false;
        }
        if (made.origin.api != translate::gang_api::grove && !gang.topology_name.empty() &&
            asks_topology(made) &&
            std::ranges::none_of(objects_->topologies, [&](const topology_object& each) {
                return each.metadata.key.name == gang.topology_name;
            }))
            made.unsupported = "Topology " + gang.topology_name + ", which the input does not hold";
        const std::string fault = of.fault.empty() ? disagreement_of(made) : of.fault;
        if (!fault.empty()) {
            made.fault = gang_fault::malformed;
            made.fault_detail = fault;
        }
        return made;
    }

    /// Returns why Kueue does not admit the members of a plain pod group as they are: their queues
    /// differ. Pods that have failed do not count.
    [[nodiscard]] std::string disagreement_of(const declared_gang& gang) {
        if (gang.origin.api != translate::gang_api::kueue)
            return {};
        const pod_object* first = nullptr;
        for (const auto& [key, leaf] : gang.members) {
            const pod_object& pod = pod_at(key);
            if (pod.phase == pod_phase::failed)
                continue;
            if (!first)
                first = &pod;
            if (detail::queue_of(*objects_, pod) == detail::queue_of(*objects_, *first))
                continue;
            const std::string text = "pods " + first->metadata.key.name + " and " + key.name +
                                     " disagree on queue (expected one queue)";
            report(*out_, severity::warning, gang.metadata.where, {"metadata", "labels"}, text);
            return text;
        }
        return {};
    }

    /// Kueue lets a Job start when there is quota for all of its pods at a time.
    void wait_for_kueue(const booked_gang& of, std::string_view local, declared_gang& made) {
        const translate::gang_object& gang = of.made.gang;
        made.queue = queue_behind(*objects_, {gang.name_space, std::string(local)});
        constexpr muster::vertex_index root{0};
        if (gang.kind != "Job" || made.tree[root].min_member > 1)
            return;
        const auto all = static_cast<std::int64_t>(made.members.size());
        made.tree.require_members(
            root,
            std::max(made.tree[root].min_member,
                     std::min(all, detail::least_parallelism_of(of.where, *out_).value_or(all))));
    }

    static bool asks_topology(const declared_gang& gang) {
        for (std::size_t at = 0; at < gang.tree.size(); ++at)
            if (gang.tree[at].together)
                return true;
        return false;
    }

    /// The gang's own, else that of its pods, of which the first by name speaks for all.
    [[nodiscard]] std::int64_t priority_of(const translate::gang_object& gang,
                                           const declared_gang& made, const object_lookup& lookup) {
        if (gang.priority.number)
            return *gang.priority.number;
        if (const auto workload = translate::find_text(&gang.labels, kueue_priority_label))
            if (const auto known = lookup.workload_class_value(*workload))
                return *known;
        if (made.origin.api == translate::gang_api::kueue && !made.members.empty())
            if (const auto* const workload =
                    label(pod_at(made.members.begin()->first), kueue_priority_label))
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

    /// Pods that name the same missing group wait for it together. Wrong marks affect only their
    /// own pod.
    void add_stray(const stray_pod& stray, std::map<group_key, declared_gang>& to) {
        declared_gang made;
        const bool missing = !stray.group.empty();
        made.metadata.key = {stray.pod.name_space, missing ? stray.group : stray.pod.name};
        made.origin = missing ? origin_of(stray.api) : group_origin::single_pod;
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
    std::string default_namespace_;
    diagnostics* out_;
    std::map<object_key, std::size_t> at_;
};

} // namespace codec
} // namespace v0_1
} // namespace muster
