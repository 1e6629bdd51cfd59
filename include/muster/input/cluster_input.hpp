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

#include <muster/apis/core/each_object.hpp>
#include <muster/apis/core/objects.hpp>
#include <muster/apis/t9k/writer.hpp>
#include <muster/document/diagnostic.hpp>
#include <muster/document/document.hpp>
#include <muster/document/template_fields.hpp>
#include <muster/gangs/gang_object.hpp>
#include <muster/gangs/pod_marks.hpp>
#include <muster/gangs/write_with.hpp>
#include <muster/input/gang_book.hpp>
#include <muster/input/gang_declarer.hpp>
#include <muster/input/gang_kinds.hpp>
#include <muster/input/gang_reader.hpp>
#include <muster/input/manifests.hpp>
#include <muster/input/membership.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {
namespace detail {

/// Whether an input speaks of gangs that read_manifests() does not read.
[[nodiscard]] inline bool speaks_of_other_gangs(const manifests& objects) {
    for (const auto& [name, count] : objects.skipped) {
        const std::size_t space = name.find(' ');
        const std::string_view version = std::string_view(name).substr(0, space);
        if (is_of_gangs(version, std::string_view(name).substr(space + 1)))
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
        if (found.newest)
            objects_->newest = std::max(objects_->newest.value_or(*found.newest), *found.newest);
        for (const auto& [name, count] : found.understood)
            if (const auto at = objects_->skipped.find(name); at != objects_->skipped.end())
                if (at->second -= std::min(at->second, count); at->second == 0)
                    objects_->skipped.erase(at);
        add_topologies(found.topologies);
        make_pods(found.gangs, found.companions);
        if (!out_->ok())
            return;
        gang_declarer(*objects_, options_->default_namespace, *out_)
            .declare(found.gangs, found.strays);
        // The object is there, but cannot be read.
        for (declared_gang& gang : objects_->gangs)
            if (const auto at = found.unread_groups.find(gang.metadata.key);
                at != found.unread_groups.end() && gang.fault == gang_fault::missing) {
                gang.fault = gang_fault::malformed;
                gang.fault_detail = at->second;
            }
    }

private:
    void add_topologies(const std::vector<translate::grove_topology>& made) {
        for (const translate::grove_topology& each : made) {
            if (std::ranges::any_of(objects_->topologies, [&](const topology_object& known) {
                    return known.metadata.key.name == each.name;
                }))
                continue;
            topology_object& added = objects_->topologies.emplace_back();
            added.metadata.key.name = each.name;
            for (const translate::grove_topology::level& level : each.levels)
                added.levels.levels.push_back(level.label);
        }
    }

    /// Adds the claims that jobs would create and that the input lacks. Adds none if the input may
    /// have left out all claims: then all claims count as usable everywhere.
    void make_claims(std::vector<boost::json::object>& companions,
                     std::vector<document>& documents) const {
        std::set<object_key> known;
        for (const claim_object& each : objects_->storage.claims)
            known.insert(each.metadata.key);
        for (boost::json::object& each : companions) {
            object_key key{std::string(translate::metadata_namespace(each)),
                           std::string(translate::metadata_name(each))};
            if (key.name_space.empty())
                key.name_space = options_->default_namespace;
            if (objects_->storage.knows_claims() &&
                translate::string_at(each, "kind") == "PersistentVolumeClaim" &&
                known.insert(std::move(key)).second)
                documents.emplace_back("claim", std::move(each));
        }
    }

    /// Reads the objects that jobs would create: pods, claims, and the PodGroups of T9k jobs.
    void make_pods(const std::vector<booked_gang>& gangs,
                   std::vector<boost::json::object>& companions) {
        auto documents = std::make_shared<std::vector<document>>();
        for (const booked_gang& each : gangs) {
            const translate::gang_object& gang = each.made.gang;
            boost::json::array items;
            if (is_t9k_job(each)) {
                translate::written made =
                    translate::write_with(translate::t9k_writer{}, each.made, {});
                for (const translate::violation& one : made.violations)
                    out_->error({one.object, 0, 0}, one.field + ": " + one.message);
                const auto created = creation_of(each.where);
                for (boost::json::object& one : made.objects) {
                    if (!is_new(one, gang))
                        continue;
                    // They are as old as their job.
                    if (created)
                        one["metadata"].as_object()["creationTimestamp"] = time_text(*created);
                    items.emplace_back(std::move(one));
                }
            } else {
                // In a gang a pod's marks have done their work, the gates that hold it back until
                // its gang is there among them.
                for (const translate::gang_pod& pod : each.made.pods) {
                    if (!is_new(pod.document, gang))
                        continue;
                    note_controller(pod.document, gang);
                    note_labels(pod, gang);
                    items.emplace_back(gang.kind == "Pod" ? translate::with_marks(pod)
                                                          : pod.document);
                }
            }
            if (items.empty())
                continue;
            boost::json::object list{{"apiVersion", "v1"}, {"kind", "List"}};
            list["items"] = std::move(items);
            std::string name = gang.kind + " " + gang.name;
            makers_[name].push_back(each.where);
            documents->emplace_back(std::move(name), std::move(list));
        }
        if (documents->empty())
            return;
        make_claims(companions, *documents);
        diagnostics found;
        manifest_options how;
        how.default_namespace = options_->default_namespace;
        how.rules = options_->rules;
        how.runtime_classes = objects_->runtime_classes;
        manifests made = read_manifests(*documents, how, found);
        tell(found);
        for (pod_object& pod : made.pods) {
            if (const auto at = controllers_.find(pod.metadata.key);
                at != controllers_.end() && !pod.controller)
                pod.controller = at->second;
            if (const auto at = labels_.find(pod.metadata.key); at != labels_.end())
                for (const auto& [key, value] : at->second)
                    pod.metadata.labels.set(key, value);
        }
        for (claim_object& claim : made.storage.claims)
            claim.is_draft = true;
        std::ranges::move(made.pods, std::back_inserter(objects_->pods));
        std::ranges::move(made.pod_groups, std::back_inserter(objects_->pod_groups));
        std::ranges::move(made.storage.claims, std::back_inserter(objects_->storage.claims));
        objects_->made = std::move(documents);
    }

    /// Records the controller of a pod. The pod cannot name it as its owner: a workload that was
    /// never created has no uid.
    void note_controller(const boost::json::object& pod, const translate::gang_object& of) {
        const std::string_view version = of.kind == "ReplicationController" ? "v1" : "apps/v1";
        if (!options_->rules.default_spread.empty() && of.kind != "Service" &&
            selects_for_spread(version, of.kind))
            controllers_.emplace(key_of_pod(pod, of, options_->default_namespace),
                                 controller_reference{std::string(version), of.kind, of.name});
    }

    /// Records the labels of a pod that name its gang. They are no longer in its document, but
    /// terms of pods may select by them.
    void note_labels(const translate::gang_pod& pod, const translate::gang_object& of) {
        const auto* const labels =
            translate::find_object(translate::find_object(&pod.marks, "metadata"), "labels");
        if (!labels)
            return;
        auto& to = labels_[key_of_pod(pod.document, of, options_->default_namespace)];
        for (const auto& label : *labels)
            if (label.value().is_string())
                to.emplace_back(label.key(), label.value().get_string());
    }

    /// Not in the cluster yet, and not made by another job either.
    bool is_new(const boost::json::object& manifest, const translate::gang_object& of) {
        const bool pod = translate::string_at(manifest, "kind") == "Pod";
        return (pod ? pods_ : groups_)
            .insert(key_of_pod(manifest, of, options_->default_namespace))
            .second;
    }

    /// Reports the findings about the pods of jobs, once for all pods that are alike. A finding is
    /// reported at the field of the job's template if the template has the field.
    void tell(const diagnostics& found) {
        std::set<std::pair<std::string, std::string>> told;
        for (const diagnostic& each : found.findings()) {
            const std::size_t item = each.path.find("].");
            const std::string field =
                item == std::string::npos ? each.path : each.path.substr(item + 2);
            if (told.emplace(each.where.file + " " + field, each.message).second &&
                !tell_at_template(each, field))
                out_->add(each);
        }
    }

    /// Reports the finding at the field of each template that has it. Returns false if none has.
    bool tell_at_template(const diagnostic& of, std::string_view field) {
        constexpr std::string_view spec = "spec.";
        const auto makers = makers_.find(of.where.file);
        if (makers == makers_.end() || !field.starts_with(spec))
            return false;
        bool found = false;
        for (const object_place& maker : makers->second)
            for_each_template_field(maker, field.substr(spec.size()), [&](path_view path) {
                found = true;
                diagnostic made{of.level, maker.source->locate(path, place::key), to_text(path),
                                of.message};
                // The check of the template may have reported the same finding.
                if (std::ranges::none_of(out_->findings(), [&](const diagnostic& other) {
                        return other.where == made.where && other.message == made.message;
                    }))
                    out_->add(std::move(made));
            });
        return found;
    }

    manifests* objects_;
    const gang_options* options_;
    diagnostics* out_;
    std::set<object_key> pods_;
    std::set<object_key> groups_;
    /// Controllers of the pods that workloads would create, by pod.
    std::map<object_key, controller_reference> controllers_;
    /// Labels of the pods that workloads would create, by pod; see `note_labels`.
    std::map<object_key, std::vector<std::pair<std::string, std::string>>> labels_;
    /// The objects that pods are made from, by the names of the pods' documents.
    std::map<std::string, std::vector<object_place>> makers_;
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
    how.rules = options.rules;
    manifests objects = read_manifests(documents, how, out);
    if (!out.ok() || !detail::speaks_of_other_gangs(objects))
        return objects;
    gang_options beside = options;
    beside.cluster = &objects;
    standing_gangs found = read_standing_gangs(documents, beside, out);
    if (out.ok())
        detail::gang_settler(objects, options, out).settle(std::move(found));
    // They are understood: their selectors were read.
    if (!options.rules.default_spread.empty())
        for (const auto& [version, kind] : detail::spread_kinds)
            objects.skipped.erase(std::string(version) + " " + std::string(kind));
    apply_default_spread(objects, options.rules);
    return objects;
}

} // namespace codec
} // namespace v0_1
} // namespace muster
