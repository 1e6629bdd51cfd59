// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <boost/json/object.hpp>

#include <muster/apis/claim_text.hpp>
#include <muster/apis/gang_definition.hpp>
#include <muster/apis/group_conditions.hpp>
#include <muster/apis/group_report.hpp>
#include <muster/apis/workload/facts.hpp>
#include <muster/apis/workload/group_reader.hpp>
#include <muster/apis/workload/status.hpp>
#include <muster/apis/workload/writer.hpp>
#include <muster/gangs/gang_claims.hpp>
#include <muster/gangs/gang_object.hpp>
#include <muster/gangs/pod_marks.hpp>
#include <muster/gangs/write_options.hpp>
#include <muster/gangs/write_with.hpp>

namespace muster {
inline namespace v0_1 {
namespace apis {

/// Kubernetes' Workloads and PodGroups.
struct workload_api {
    static constexpr const translate::api_facts& facts = translate::workload_facts;
    /// Groups may stand before the objects that they belong to.
    using group_reader = codec::workload_groups;

    [[nodiscard]] static translate::gang_claim claim(const boost::json::object& pod) {
        using namespace translate;
        gang_claim made{.api = gang_api::workload};
        const auto* spec = find_object(&pod, "spec");
        if (const auto* reference = find_object(spec, "workloadRef")) {
            made.key = "spec.workloadRef";
            made.group = std::string(string_at(*reference, "name")) + '/' +
                         std::string(string_at(*reference, "podGroup"));
            made.copy = string_at(*reference, "podGroupReplicaKey");
            if (string_at(*reference, "name").empty() || string_at(*reference, "podGroup").empty())
                made.error = "spec.workloadRef names no pod group (expected name and podGroup)";
        }
        if (const auto* reference = find_object(spec, "schedulingGroup")) {
            if (!made.key.empty())
                made.error =
                    "spec.workloadRef and spec.schedulingGroup are both there (expected one)";
            made.key = "spec.schedulingGroup";
            made.group = string_at(*reference, "podGroupName");
            if (made.group.empty())
                made.error = "spec.schedulingGroup names no group (expected podGroupName)";
        }
        return made;
    }
    [[nodiscard]] static bool is_group(std::string_view version, std::string_view kind) {
        return codec::workload_groups::understands(version, kind);
    }

    [[nodiscard]] static std::string missing(const translate::gang_claim& claim,
                                             const std::string& name_space) {
        const std::size_t slash = claim.group.find('/');
        const std::string key(claim.key);
        if (slash == std::string::npos)
            return missing_text("PodGroup", {name_space, claim.group},
                                std::string(translate::workload_version_1_36) + " or later", key);
        return missing_text("pod group " + claim.group.substr(slash + 1) + " in Workload",
                            {name_space, claim.group.substr(0, slash)},
                            translate::workload_version_1_35, key);
    }
    static void describe(const translate::gang_claim& claim, codec::gang_definition& made) {
        // In Kubernetes 1.35 the Workload is named, and a part of it.
        made.gang.origin = claim.key == "spec.workloadRef" ? translate::target::workload_1_35
                                                           : translate::target::workload_1_37;
        std::ranges::replace(made.gang.name, '/', '-');
    }

    /// Calls `add(name)` for all names by which an object and the objects that belong to it find
    /// each other, with the kind in front: `Workload/train`.
    template<class Add>
    static void link_group(std::string_view kind, const boost::json::object& manifest,
                           std::string_view name, const Add& add_name) {
        const auto add = [&](std::string_view of, std::string_view named) {
            if (!named.empty())
                add_name(std::string(of) + '/' + std::string(named));
        };
        // Gangs go by their names, of whatever kind they are.
        add("name", name);
        add(kind, name);
        const auto* const spec = translate::find_object(&manifest, "spec");
        const auto text = [&](const boost::json::object* in, std::string_view key) {
            return in ? translate::string_at(*in, key) : std::string_view{};
        };
        if (kind == "Workload")
            add("Workload", text(translate::find_object(spec, "controllerRef"), "name"));
        add("CompositePodGroup", text(spec, "parentCompositePodGroupName"));
        add("Workload", text(translate::find_object(spec, "workloadRef"), "workloadName"));
        add("Workload", text(translate::find_object(
                                 translate::find_object(spec, "podGroupTemplateRef"), "workload"),
                             "workloadName"));
    }
    /// The name in a link that a pod's claim makes.
    [[nodiscard]] static std::string link_of_pod(const translate::gang_claim& claim) {
        // In Kubernetes 1.35 a pod names a Workload and a group of it.
        const std::size_t slash = claim.group.find('/');
        return slash == std::string::npos ? "PodGroup/" + claim.group
                                          : "Workload/" + claim.group.substr(0, slash);
    }

    [[nodiscard]] static std::optional<translate::written>
    write(translate::target to, const translate::gang_bundle& bundle,
          const translate::write_options& options) {
        using translate::target;
        if (to == target::workload_1_35)
            return translate::write_with(
                translate::workload_writer{translate::workload_version::v1_35}, bundle, options);
        if (to == target::workload_1_36)
            return translate::write_with(
                translate::workload_writer{translate::workload_version::v1_36}, bundle, options);
        if (to == target::workload_1_37)
            return translate::write_with(
                translate::workload_writer{translate::workload_version::v1_37}, bundle, options);
        return std::nullopt;
    }
    [[nodiscard]] static boost::json::object status(const group_report& of, std::int64_t wall) {
        return workload_group_status(of, wall);
    }

    /// Whether the object keeps that the minima of its gang were reached once.
    [[nodiscard]] static std::optional<bool> reached(std::string_view, std::string_view kind,
                                                     const boost::json::object* status) {
        if (kind != "PodGroup")
            return std::nullopt;
        return has_condition(status, "conditions", "PodGroupScheduled");
    }
};

} // namespace apis
} // namespace v0_1
} // namespace muster
