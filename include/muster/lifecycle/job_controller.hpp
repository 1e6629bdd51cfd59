// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <muster/apis/t9k/jobs/job.hpp>
#include <muster/apis/t9k/jobs/names.hpp>
#include <muster/apis/t9k/jobs/objects.hpp>
#include <muster/apis/t9k/jobs/pods.hpp>
#include <muster/lifecycle/advance.hpp>
#include <muster/lifecycle/document_fields.hpp>
#include <muster/lifecycle/object_step.hpp>
#include <muster/lifecycle/status_document.hpp>
#include <muster/lifecycle/t9k_plan.hpp>

namespace muster {
inline namespace v0_1 {
namespace lifecycle {

/// Label that T9k puts on the ConfigMap of a job.
inline constexpr std::string_view job_component_label = "tensorstack.dev/component";

/// A pod as the API server has it.
[[nodiscard]] inline observed_pod observe_pod(const boost::json::object& pod) {
    using namespace detail;
    observed_pod made;
    made.name = text_at(pod, "metadata", "name");
    made.uid = text_at(pod, "metadata", "uid");
    made.terminating = is_terminating(pod);
    made.disrupted = is_true(pod, "DisruptionTarget");
    const std::string_view phase = text_at(pod, "status", "phase");
    made.phase = phase == "Running"                  ? observed_phase::running
                 : phase == "Succeeded"              ? observed_phase::succeeded
                 : phase == "Failed"                 ? observed_phase::failed
                 : phase == "Pending" || phase == "" ? observed_phase::pending
                                                     : observed_phase::unknown;
    if (const auto* all = list_at(pod, "status", "containerStatuses"))
        for (const boost::json::value& each : *all)
            if (const auto* one = each.if_object())
                if (const auto code = number_at(*one, "state", "terminated", "exitCode"))
                    made.containers.push_back({std::string(text_at(*one, "name")), *code});
    return made;
}

namespace detail {

/// One look at one T9k job.
class job_look {
public:
    job_look(const translate::t9k_job& job, std::span<const boost::json::object* const> seen)
        : job_(job), plan_(plan_of(job)) {
        plan_.terminating = job.document != nullptr && is_terminating(*job.document);
        for (const boost::json::object* each : seen)
            take(*each);
    }

    [[nodiscard]] object_step run(const job_status& stored, timestamp now) && {
        if (plan_.terminating)
            return {};
        const job_step step = advance(plan_, stored, seen_, now);
        write_status(stored, step.status);
        for (const pod_deletion& each : step.deletions)
            made_.writes.push_back(
                {object_write::verb::remove,
                 {{"apiVersion", "v1"},
                  {"kind", "Pod"},
                  {"metadata",
                   {{"name", each.name}, {"namespace", job_.name_space}, {"uid", each.uid}}}}});
        create(step);
        made_.wake = step.wake;
        return std::move(made_);
    }

private:
    void take(const boost::json::object& object) {
        if (text_at(object, "metadata", "namespace") != job_.name_space)
            return;
        const std::string_view kind = text_at(object, "kind");
        const std::string_view name = text_at(object, "metadata", "name");
        const bool owned = is_owned(object);
        if (!owned && (kind != "PodGroup" || is_t9k_group(object)))
            foreign_.emplace(std::string(kind), std::string(name), is_leaving(object));
        if (!owned)
            return;
        if (kind == "Pod")
            seen_.pods.push_back(observe_pod(object));
        else if (kind == "Service")
            seen_.services.emplace_back(name);
        else if (kind == "ConfigMap")
            seen_.config_map |= name == translate::group_name(job_) + "-hosts";
        else if (kind == "PodGroup" && is_t9k_group(object))
            seen_.group |= name == translate::group_name(job_);
    }

    [[nodiscard]] bool is_owned(const boost::json::object& object) const {
        const auto* owners = list_at(object, "metadata", "ownerReferences");
        return owners && std::ranges::any_of(*owners, [&](const boost::json::value& each) {
                   return each.is_object() && text_at(each.get_object(), "uid") == job_.uid;
               });
    }
    /// On its way out, or of a job of this name that was before: that is collected soon.
    [[nodiscard]] bool is_leaving(const boost::json::object& object) const {
        const auto* owners = list_at(object, "metadata", "ownerReferences");
        return is_terminating(object) ||
               (owners && std::ranges::any_of(*owners, [&](const boost::json::value& each) {
                    return each.is_object() &&
                           text_at(each.get_object(), "kind") == translate::to_text(job_.kind) &&
                           text_at(each.get_object(), "name") == job_.name;
                }));
    }
    [[nodiscard]] static bool is_t9k_group(const boost::json::object& object) {
        return text_at(object, "apiVersion").starts_with("scheduler.tensorstack.dev/");
    }

    /// Fields of the status that are not the lifecycle's stay.
    void write_status(const job_status& stored, const job_status& next) {
        boost::json::object status;
        if (job_.status)
            status = *job_.status;
        for (auto& each : status_document(next, status_form_of(job_.kind)))
            status.insert_or_assign(each.key(), std::move(each.value()));
        if (job_.status && *job_.status == status)
            return;
        if (next.phase == job_phase::failed && stored.phase != job_phase::failed) {
            const job_condition* const why = find_condition(next, condition_type::failed);
            made_.notes.push_back({true, "JobFailed", why ? why->message : "The job is failed."});
        }
        made_.writes.push_back(
            {object_write::verb::status,
             {{"apiVersion", translate::t9k_job_api},
              {"kind", translate::to_text(job_.kind)},
              {"metadata",
               {{"name", job_.name}, {"namespace", job_.name_space}, {"uid", job_.uid}}},
              {"status", std::move(status)}}});
    }

    void create(const job_step& step) {
        if (step.create_group)
            if (auto group = translate::pod_group_of(job_))
                add(std::move(*group));
        if (step.create_config_map)
            if (auto map = translate::config_map_of(job_)) {
                (*map)["metadata"].get_object()["labels"] =
                    boost::json::object{{job_component_label, translate::component_of(job_.kind)}};
                add(std::move(*map));
            }
        if (!step.create_services.empty()) {
            std::set<std::string_view> wanted;
            for (const replica_id each : step.create_services)
                wanted.insert(name_of(each));
            for (boost::json::object& service : translate::services_of(job_))
                if (wanted.contains(text_at(service, "metadata", "name")))
                    add(std::move(service));
        }
        if (step.create_pods.empty())
            return;
        const translate::t9k_pod_maker maker(job_);
        const auto start =
            step.resumed ? translate::t9k_start::resumed : translate::t9k_start::first;
        for (const replica_id each : step.create_pods)
            add(maker.make_marked({each.task, each.rank}, start));
    }

    [[nodiscard]] const std::string& name_of(replica_id of) const {
        return plan_.tasks[of.task].pods[static_cast<std::size_t>(of.rank)];
    }

    /// Adds the creation of an object. If an object of another owner has its name, creates nothing
    /// and reports that, unless that object is being deleted, like those of an earlier job of the
    /// same name.
    void add(boost::json::object object) {
        const std::string kind(text_at(object, "kind"));
        const std::string name(text_at(object, "metadata", "name"));
        if (foreign_.contains({kind, name, true}))
            return;
        if (foreign_.contains({kind, name, false}))
            made_.notes.push_back(
                {true, "NotOwned",
                 kind + " " + name + " belongs to another owner (expected the name to be free)"});
        else
            made_.writes.push_back({object_write::verb::create, std::move(object)});
    }

    const translate::t9k_job& job_;
    job_plan plan_;
    observation seen_;
    std::set<std::tuple<std::string, std::string, bool>> foreign_; ///< kind, name, on its way out
    object_step made_;
};

} // namespace detail

/// Reconciles a T9k job: returns the writes that bring its PodGroup, ConfigMap, Services and pods
/// in line with its spec, and its status in line with the observed objects. `stored` is the parsed
/// status of the job. `seen` must hold at least the objects that it owns and the objects with the
/// names that it wants; `now` is in nanoseconds since 1970. A job that is being deleted is left to
/// the garbage collector. O((replicas + seen) · log).
[[nodiscard]] inline object_step reconcile(const translate::t9k_job& job, const job_status& stored,
                                           std::span<const boost::json::object* const> seen,
                                           timestamp now) {
    return detail::job_look(job, seen).run(stored, now);
}

} // namespace lifecycle
} // namespace v0_1
} // namespace muster
