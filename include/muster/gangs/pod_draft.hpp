// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <muster/document/json_text.hpp>
#include <muster/gangs/gang_marks.hpp>
#include <muster/gangs/job_object.hpp>

namespace muster {
inline namespace v0_1 {
namespace translate {

/// An ownerReference, of the controller if it is one. A uid that nobody knows yet is left out.
[[nodiscard]] inline boost::json::object owner_document(const object_reference& owner) {
    boost::json::object made;
    made["apiVersion"] = owner.api_version;
    made["kind"] = owner.kind;
    made["name"] = owner.name;
    if (!owner.uid.empty())
        made["uid"] = owner.uid;
    if (owner.controller) {
        made["controller"] = true;
        made["blockOwnerDeletion"] = true;
    }
    return made;
}

/// A pod that is being made from a PodTemplateSpec as its controller would: it has a name, a
/// namespace and an owner, and the template's labels, annotations and spec.
class pod_draft {
public:
    pod_draft(const job_object& job, const boost::json::object* pod_template, std::string_view name)
        : pod_draft(job.name_space, reference_to(job), pod_template, name) {}

    pod_draft(std::string_view name_space, const object_reference& owner,
              const boost::json::object* pod_template, std::string_view name) {
        const boost::json::object* const from = find_object(pod_template, "metadata");
        boost::json::object metadata;
        metadata.reserve(5);
        metadata["name"] = name;
        metadata["namespace"] = name_space;
        metadata["labels"] = copy_of(find_object(from, "labels"));
        if (const auto* annotations = find_object(from, "annotations"))
            metadata["annotations"] = *annotations;
        metadata["ownerReferences"] = boost::json::array{owner_document(owner)};
        document_.reserve(4);
        document_["apiVersion"] = "v1";
        document_["kind"] = "Pod";
        document_["metadata"] = std::move(metadata);
        document_["spec"] = copy_of(find_object(pod_template, "spec"));
    }

    /// Another owner than the job.
    void own(const object_reference& owner) {
        metadata()["ownerReferences"] = boost::json::array{owner_document(owner)};
    }

    [[nodiscard]] boost::json::object& metadata() { return document_["metadata"].get_object(); }
    [[nodiscard]] boost::json::object& spec() { return document_["spec"].get_object(); }

    void label(std::string_view key, std::string_view value) {
        metadata()["labels"].get_object()[key] = value;
    }
    void annotate(std::string_view key, std::string_view value) { annotations()[key] = value; }

    /// `spec.<key>`, where the template leaves it open.
    void set_default(std::string_view key, std::string_view value) {
        boost::json::value& now = spec()[key];
        if (now.is_null() || (now.is_string() && now.get_string().empty()))
            now = value;
    }

    /// An environment variable of every container (or of the first one only) that does not set it.
    void env(std::string_view name, std::string_view value) {
        for_each_container([&](boost::json::object& each) { add_env(each, name, value); });
    }
    /// One that takes the value of a field of the pod, such as status.podIP.
    void env_from_field(std::string_view name, std::string_view field) {
        const boost::json::object source{{"name", name},
                                         {"valueFrom", {{"fieldRef", {{"fieldPath", field}}}}}};
        for_each_container([&](boost::json::object& each) { add_env(each, source); });
    }
    void env_of_init_containers(std::string_view name, std::string_view value) {
        for_each("initContainers", [&](boost::json::object& each) { add_env(each, name, value); });
    }
    /// Calls `visit(boost::json::object& container)`.
    template<class Visit>
    void for_each_container(Visit&& visit) {
        for_each("containers", visit);
    }
    template<class Visit>
    void for_each_init_container(Visit&& visit) {
        for_each("initContainers", visit);
    }
    /// The container of that name, else the first; nullptr when there is none.
    [[nodiscard]] boost::json::object* container(std::string_view name) {
        boost::json::object* found = nullptr;
        for_each("containers", [&](boost::json::object& each) {
            if (!found || (translate::find_text(&each, "name") == name && !name.empty() &&
                           translate::find_text(found, "name") != name))
                found = &each;
        });
        return found;
    }

    /// Adds a variable to a container unless it sets one of that name itself.
    static void add_env(boost::json::object& container, std::string_view name,
                        std::string_view value) {
        add_env(container, boost::json::object{{"name", name}, {"value", value}});
    }
    static void add_env(boost::json::object& container, boost::json::object variable) {
        boost::json::value& list = container["env"];
        if (!list.is_array())
            list = boost::json::array{};
        for (const boost::json::value& each : list.get_array())
            if (translate::find_text(each.if_object(), "name") ==
                translate::find_text(&variable, "name"))
                return;
        list.get_array().emplace_back(std::move(variable));
    }

    /// Adds a required anti-affinity with the topology key `domain` to pods that have the label
    /// `label` with a value other than `own`: in the pod's namespace or, if `all_namespaces`, in
    /// all.
    void exclude_others(std::string_view domain, std::string_view label, std::string_view own,
                        bool all_namespaces) {
        add_term("podAntiAffinity", domain,
                 {boost::json::object{{"key", label}, {"operator", "Exists"}},
                  boost::json::object{{"key", label},
                                      {"operator", "NotIn"},
                                      {"values", boost::json::array{boost::json::value(own)}}}},
                 all_namespaces);
    }
    /// Adds a required affinity with the topology key `domain` to pods that have the label `label`
    /// with the value `own`, among the same pods.
    void join_own(std::string_view domain, std::string_view label, std::string_view own,
                  bool all_namespaces) {
        add_term("podAffinity", domain,
                 {boost::json::object{{"key", label},
                                      {"operator", "In"},
                                      {"values", boost::json::array{boost::json::value(own)}}}},
                 all_namespaces);
    }

    /// Takes away what ties the pod to a gang or became a field of it, and who is to schedule it: a
    /// writer sets that anew. Returns the patch that puts it back.
    [[nodiscard]] boost::json::object strip_marks() {
        boost::json::object labels;
        boost::json::object& own = metadata()["labels"].get_object();
        for (const api_facts& api : gang_facts)
            for (const gang_mark& each : api.marks)
                if (each.at == mark_place::label && each.use == mark_use::membership)
                    move_to(labels, own, each.key);
        for (const std::string_view key : {owner_mark::queue, owner_mark::preemptibility})
            move_to(labels, own, key);
        boost::json::object texts;
        if (boost::json::value* const at = metadata().if_contains("annotations");
            at && at->is_object()) {
            for (const api_facts& api : gang_facts)
                for (const gang_mark& each : api.marks)
                    if (each.at == mark_place::annotation && each.use == mark_use::membership)
                        move_to(texts, at->get_object(), each.key);
            for (const std::string_view key :
                 {owner_mark::topology_name, owner_mark::topology_required,
                  owner_mark::topology_preferred, owner_mark::volcano_queue})
                move_to(texts, at->get_object(), key);
            if (at->get_object().empty())
                metadata().erase("annotations");
        }
        boost::json::object patch;
        boost::json::object fields;
        move_to(fields, spec(), "schedulerName");
        if (!labels.empty())
            patch["metadata"].emplace_object()["labels"] = std::move(labels);
        if (!texts.empty()) {
            boost::json::value& into = patch["metadata"];
            (into.is_object() ? into.get_object() : into.emplace_object())["annotations"] =
                std::move(texts);
        }
        if (!fields.empty())
            patch["spec"] = std::move(fields);
        return patch;
    }

    [[nodiscard]] boost::json::object take() && {
        if (metadata()["labels"].get_object().empty())
            metadata().erase("labels");
        return std::move(document_);
    }

private:
    void add_term(std::string_view kind, std::string_view domain, boost::json::array expressions,
                  bool all_namespaces) {
        boost::json::object term{{"labelSelector", {{"matchExpressions", std::move(expressions)}}},
                                 {"topologyKey", domain}};
        if (all_namespaces)
            term["namespaceSelector"] = boost::json::object{};
        boost::json::value& list = child_at(child_at(spec(), "affinity"),
                                            kind)["requiredDuringSchedulingIgnoredDuringExecution"];
        if (!list.is_array())
            list = boost::json::array{};
        list.get_array().emplace_back(std::move(term));
    }

    static void move_to(boost::json::object& to, boost::json::object& from, std::string_view key) {
        if (const auto at = from.find(key); at != from.end()) {
            to.emplace(key, std::move(at->value()));
            from.erase(key);
        }
    }

    [[nodiscard]] static boost::json::object copy_of(const boost::json::object* from) {
        return from ? *from : boost::json::object{};
    }

    boost::json::object& annotations() {
        boost::json::value& at = metadata()["annotations"];
        if (!at.is_object())
            at = boost::json::object{};
        return at.get_object();
    }

    template<class Visit>
    void for_each(std::string_view list, Visit&& visit) {
        if (boost::json::value* const at = spec().if_contains(list); at && at->is_array())
            for (boost::json::value& each : at->get_array())
                if (boost::json::object* const one = each.if_object())
                    visit(*one);
    }

    boost::json::object document_;
};

/// Adds a volume of that claim for what the containers mount by the volume's name. A volume of the
/// template that is called so makes way.
inline void mount_claim(pod_draft& pod, std::string_view volume, std::string_view claim) {
    boost::json::value& volumes = pod.spec()["volumes"];
    if (!volumes.is_array())
        volumes = boost::json::array{};
    boost::json::object made{{"name", volume}, {"persistentVolumeClaim", {{"claimName", claim}}}};
    for (boost::json::value& each : volumes.get_array())
        if (translate::find_text(each.if_object(), "name") == volume) {
            each = std::move(made);
            return;
        }
    volumes.get_array().emplace_back(std::move(made));
}

/// A claim for a volume, as a template for it says.
[[nodiscard]] inline boost::json::object claim_document(std::string_view name_space,
                                                        std::string_view name,
                                                        const boost::json::object& from) {
    boost::json::object metadata{{"name", name}, {"namespace", name_space}};
    for (const char* const key : {"labels", "annotations"})
        if (const auto* const said = find_object(find_object(&from, "metadata"), key))
            metadata[key] = *said;
    boost::json::object made{
        {"apiVersion", "v1"}, {"kind", "PersistentVolumeClaim"}, {"metadata", std::move(metadata)}};
    if (const auto* const spec = find_object(&from, "spec"))
        made["spec"] = *spec;
    return made;
}

/// Volumes for a list of claim templates of which every pod has claims of its own, `<claim>-<pod>`,
/// which `made` gets. They outlive who asked for them, and so have no owner.
inline void mount_own_claims(pod_draft& pod, const boost::json::array* claims,
                             std::string_view name_space, std::string_view pod_name,
                             std::vector<boost::json::object>& made) {
    if (!claims)
        return;
    for (const boost::json::value& each : *claims)
        if (const auto claim =
                translate::find_text(find_object(each.if_object(), "metadata"), "name")) {
            const std::string name = std::string(*claim) + '-' + std::string(pod_name);
            mount_claim(pod, *claim, name);
            made.push_back(claim_document(name_space, name, each.get_object()));
        }
}

/// Makes the pods of a plan. `name(const planned_gang&, const pod_series&, std::int64_t index)`
/// names a pod; `dress(pod_draft&, const planned_gang&, const pod_series&, std::int64_t index)`
/// gives it what its controller would. O(pods · template).
template<class Name, class Dress>
[[nodiscard]] job_gangs make_pods(const job_object& job, job_plan plan, const job_options& options,
                                  Name&& name, Dress&& dress) {
    job_gangs made;
    made.losses = std::move(plan.losses);
    for (planned_gang& planned : plan.gangs) {
        gang_bundle bundle;
        bool members = planned.series.empty();
        for (const pod_series& series : planned.series) {
            members = members || !series.loose;
            if (!options.pods && !series.loose)
                continue;
            for (std::int64_t i = series.first; i < series.first + series.count; ++i) {
                pod_draft draft(job, series.pod_template, name(planned, series, i));
                dress(draft, planned, series, i);
                if (series.loose) {
                    made.loose_pods.push_back(std::move(draft).take());
                    continue;
                }
                boost::json::object marks = draft.strip_marks();
                bundle.pods.push_back({series.leaf, std::move(draft).take(), std::move(marks)});
            }
        }
        if (!members)
            continue;
        bundle.gang = std::move(planned.gang);
        made.gangs.push_back(std::move(bundle));
    }
    return made;
}

} // namespace translate
} // namespace v0_1
} // namespace muster
