// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <muster/apis/core/reading_context.hpp>
#include <muster/apis/job_reader.hpp>
#include <muster/document/field_reader.hpp>
#include <muster/gangs/gang_leaves.hpp>
#include <muster/gangs/gang_marks.hpp>
#include <muster/gangs/job_object.hpp>
#include <muster/gangs/pod_draft.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {
namespace slurm {
namespace detail {

inline constexpr std::string_view job_label = "slurm.muster.dev/job";
inline constexpr std::string_view role_label = "slurm.muster.dev/component";
inline constexpr std::string_view array_gate = "slurm.muster.dev/array";
inline constexpr std::string_view host_domain = "kubernetes.io/hostname";

/// A component of the job.
struct script_role {
    std::string name;
    std::int64_t minimum = 0;
    bool own_nodes = false; ///< no two of its pods stand on one node
    bool exclusive = false; ///< no pod of another job stands on a node of its pods
    std::vector<translate::pod_series> pods;
};

struct batch_script {
    translate::job_object object;
    std::string_view queue; ///< empty: none
    std::optional<std::int64_t> priority;
    std::string_view switches;
    std::vector<script_role> roles;
    /// Of a job array; empty: one job.
    std::vector<std::int64_t> indices;
    std::int64_t at_once = most_pods_of_a_job; ///< how many jobs of the array may run at a time
};

inline script_role read_role(object_reader& object, const reading_context& context,
                             std::size_t part) {
    script_role read;
    read.name = text_of(object.optional("name"));
    read.minimum = count_of(object.required("minimum")).value_or(0);
    read.own_nodes = object.optional("ownNodes").as_boolean().value_or(false);
    read.exclusive = object.optional("exclusive").as_boolean().value_or(false);
    const field pods_at = object.required("pods");
    const array_reader pods = pods_at.as_array();
    std::int64_t first = 0;
    pods.for_each_object([&](object_reader& each) {
        translate::pod_series series;
        series.role = read.name;
        series.first = first;
        series.count = count_of(each.required("count")).value_or(0);
        series.pod_template = read_pod_template(each.required("template"), context);
        series.part = static_cast<std::int64_t>(part);
        first += series.count;
        each.finish();
        read.pods.push_back(std::move(series));
    });
    object.finish();
    return read;
}

inline void read_spec(const field& at, const reading_context& context, batch_script& script) {
    object_reader spec = at.as_object();
    script.queue = text_of(spec.optional("queue"));
    script.priority = spec.optional("priority").as_integer(-most_replicas, most_replicas);
    script.switches = text_of(spec.optional("switches"));
    const field roles_at = spec.required("roles");
    const array_reader roles = roles_at.as_array();
    roles.for_each_object([&](object_reader& each) {
        script.roles.push_back(read_role(each, context, script.roles.size()));
    });
    if (roles.is_present() && roles.size() == 0)
        roles.error("no role is there (expected at least one)");
    const field indices_at = spec.optional("indices");
    const array_reader indices = indices_at.as_array();
    indices.for_each([&](const field& each) {
        if (const auto index = count_of(each))
            script.indices.push_back(*index);
    });
    if (const auto at_once = count_of(spec.optional("atOnce"), 1))
        script.at_once = *at_once;
    spec.finish();
}

/// Components start all or nothing: each is a leaf with its own minimum, and the root wants all of
/// them. A job of one component is a root alone.
[[nodiscard]] inline translate::planned_gang plan_gang(const batch_script& script,
                                                       std::string name) {
    translate::planned_gang planned;
    translate::gang_object& gang = planned.gang;
    gang = translate::gang_of(script.object, std::move(name), {});
    const vertex_index root{0};
    std::int64_t sum = 0;
    for (const script_role& role : script.roles)
        sum += role.minimum;
    gang.tree.require_members(root, sum);
    for (const script_role& role : script.roles) {
        const vertex_index leaf =
            script.roles.size() == 1 ? root : gang.tree.add(root, role.minimum, role.name);
        for (translate::pod_series series : role.pods) {
            series.leaf = leaf;
            planned.series.push_back(std::move(series));
        }
    }
    translate::settle_leaves(planned);
    if (!script.queue.empty())
        gang.queue = std::string(script.queue);
    gang.priority.number = script.priority;
    return planned;
}

/// Returns true if all containers have an image.
[[nodiscard]] inline bool has_images(const batch_script& script) {
    for (const script_role& role : script.roles)
        for (const translate::pod_series& each : role.pods) {
            const auto* const list = translate::find_array(
                translate::find_object(each.pod_template, "spec"), "containers");
            for (std::size_t at = 0; list && at < list->size(); ++at)
                if (!translate::find((*list)[at].if_object(), "image"))
                    return false;
        }
    return true;
}

[[nodiscard]] inline translate::job_plan plan_script(const batch_script& script) {
    translate::job_plan plan;
    if (script.indices.empty())
        plan.gangs.push_back(plan_gang(script, std::string(script.object.name)));
    for (const std::int64_t index : script.indices)
        plan.gangs.push_back(
            plan_gang(script, std::string(script.object.name) + '-' + std::to_string(index)));
    translate::lose(plan, translate::loss_kind::pod_contents, script.object,
                    has_images(script)
                        ? "the commands of the script: its containers have none"
                        : "the commands of the script, and an image for them: its containers have "
                          "none, and the API server refuses them without an image");
    if (!script.switches.empty())
        translate::lose(plan, translate::loss_kind::topology_preferred, script.object,
                        "at most " + std::string(script.switches) + " switches");
    return plan;
}

/// Adds a required anti-affinity on nodes.
inline void avoid(translate::pod_draft& pod, boost::json::object selector,
                  boost::json::object namespaces) {
    boost::json::object term{{"labelSelector", std::move(selector)}, {"topologyKey", host_domain}};
    if (!namespaces.empty())
        term["namespaceSelector"] = std::move(namespaces);
    boost::json::value& list =
        translate::child_at(translate::child_at(pod.spec(), "affinity"),
                            "podAntiAffinity")["requiredDuringSchedulingIgnoredDuringExecution"];
    if (!list.is_array())
        list = boost::json::array{};
    list.get_array().emplace_back(std::move(term));
}

[[nodiscard]] inline boost::json::object not_in(std::string_view key, boost::json::array values) {
    return {{"matchExpressions",
             boost::json::array{boost::json::object{
                 {"key", key}, {"operator", "NotIn"}, {"values", std::move(values)}}}}};
}

/// Gives a pod what depends on the name of its gang.
inline void dress(translate::pod_draft& pod, std::string_view name_space, std::string_view gang,
                  const script_role& role) {
    pod.label(job_label, gang);
    if (!role.name.empty())
        pod.label(role_label, role.name);
    if (role.own_nodes) {
        boost::json::object own{{job_label, gang}};
        if (!role.name.empty())
            own[role_label] = role.name;
        avoid(pod, {{"matchLabels", std::move(own)}}, {});
    }
    if (!role.exclusive)
        return;
    avoid(pod, not_in(job_label, {gang}), {});
    // To Slurm each component is a job of its own.
    if (!role.name.empty())
        avoid(pod, not_in(role_label, {role.name}), {});
    // Pods of kube-system serve the node; they are no jobs.
    avoid(pod, {}, not_in("kubernetes.io/metadata.name", {name_space, "kube-system"}));
}

inline void add_array_gate(translate::pod_draft& pod) {
    boost::json::value& gates = pod.spec()["schedulingGates"];
    if (!gates.is_array())
        gates = boost::json::array{};
    gates.get_array().emplace_back(boost::json::object{{"name", array_gate}});
}

} // namespace detail

/// The object that stands for a batch script (`script_api`): one gang, or one for each job of a job
/// array, `<name>-<index>`. Pods are named `<gang>-<index>`, with `<gang>-<component>-<index>`
/// where there are several components.
[[nodiscard]] inline translate::job_gangs read_batch_script(object_reader& object,
                                                            reading_context& context,
                                                            const translate::job_options& options) {
    detail::batch_script script;
    script.object = read_job_object(object, context);
    detail::read_spec(object.required("spec"), context, script);
    object.finish();
    const auto jobs = static_cast<std::int64_t>(script.indices.empty() ? 1 : script.indices.size());
    std::int64_t pods = 0;
    for (const detail::script_role& role : script.roles)
        for (const translate::pod_series& each : role.pods)
            pods += each.count;
    if (pods > most_pods_of_a_job / jobs) {
        report_too_many_pods(object);
        return {};
    }
    translate::job_plan plan = detail::plan_script(script);
    const translate::planned_gang* const first = plan.gangs.data();
    return translate::make_pods(
        script.object, std::move(plan), options,
        [&](const translate::planned_gang& planned, const translate::pod_series& series,
            std::int64_t index) {
            return planned.gang.name + '-' + (series.role.empty() ? "" : series.role + '-') +
                   std::to_string(index);
        },
        [&](translate::pod_draft& pod, const translate::planned_gang& planned,
            const translate::pod_series& series, std::int64_t) {
            detail::dress(pod, script.object.name_space, planned.gang.name,
                          script.roles[static_cast<std::size_t>(series.part)]);
            if (&planned - first >= script.at_once)
                detail::add_array_gate(pod);
        });
}

} // namespace slurm
} // namespace codec
} // namespace v0_1
} // namespace muster
