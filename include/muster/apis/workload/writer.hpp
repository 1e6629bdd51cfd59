// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <muster/apis/gang_facts.hpp>
#include <muster/apis/workload/tree.hpp>
#include <muster/apis/workload/words.hpp>
#include <muster/gangs/check_manifest.hpp>
#include <muster/gangs/expressiveness.hpp>
#include <muster/gangs/writing.hpp>

namespace muster {
inline namespace v0_1 {
namespace translate {

/// Kubernetes' Workloads. PodGroups of one Workload are gangs that start without each other: a gang
/// whose total says all becomes one of them, else every role does; since 1.37 these stand below
/// CompositePodGroups, which start whole or not at all.
struct workload_writer {
    workload_version version = workload_version::v1_37;

    [[nodiscard]] constexpr expressiveness can() const {
        return {.api = gang_api::workload,
                .priority = version == workload_version::v1_37 ? priority_word::class_name
                                                               : priority_word::pods,
                .topology_required = version != workload_version::v1_35};
    }

    void write(writing& out) const {
        refuse_what_grove_does(out);
        if (version == workload_version::v1_37 && out.options().composite_pod_groups &&
            !out.options().one_pod_group && workload_tree::suits(out)) {
            workload_tree(out).write();
            return;
        }
        const std::vector<part> parts = parts_of(out);
        const auto& follows = out.gang().follows;
        const bool since_groups = version != workload_version::v1_35;
        const bool alone =
            since_groups && follows && follows->workload.empty() && parts.size() == 1;
        const bool unused = since_groups && follows && follows->unused && out.bundle().pods.empty();
        const std::string name =
            alone ? std::string()
                  : out.name(detail::workload_name(out), dns_subdomain, "the Workload");
        boost::json::object workload = detail::start_workload(api(), name, out);
        boost::json::array templates;
        for (const part& each : parts) {
            boost::json::object made{{"name", each.name}};
            made[version == workload_version::v1_35 ? "policy" : "schedulingPolicy"] =
                detail::workload_policy("minCount", each.minimum);
            detail::add_workload_words(made, version, each.level, out);
            templates.push_back(std::move(made));
        }
        child_at(workload, "spec")[templates_key()] = std::move(templates);
        if (!alone)
            out.add(std::move(workload));
        if (since_groups && !unused)
            for (const part& each : parts)
                add_group(name, each, out);
        std::vector<const part*> by_leaf(out.gang().tree.size(), &parts.front());
        for (const part& each : parts)
            by_leaf[each.leaf] = &each;
        for (gang_pod& pod : out.pods({})) {
            const part* own = by_leaf[pod.leaf.value()];
            boost::json::object& spec = child_at(pod.document, "spec");
            if (version == workload_version::v1_35)
                spec["workloadRef"] = reference_of(name, *own, out);
            else
                spec["schedulingGroup"] = boost::json::object{{"podGroupName", own->group}};
            out.add(std::move(pod.document));
        }
    }

    void check(manifest_check& manifest) const {
        if (manifest.is(api(), "Workload")) {
            const std::string field = std::string("spec.") + templates_key();
            const auto* templates = manifest.at({"spec", templates_key()});
            manifest.expect_names(field, templates, dns_label, 8);
            manifest.each(field, templates, [&](const std::string& at, const auto& each) {
                const auto* policy = each.if_contains(
                    version == workload_version::v1_35 ? "policy" : "schedulingPolicy");
                expect_policy(at, policy, manifest);
            });
        }
        if (version == workload_version::v1_37)
            workload_tree::check(manifest);
        if (manifest.is(api(), "PodGroup"))
            expect_policy("spec", manifest.at({"spec", "schedulingPolicy"}), manifest);
    }

private:
    /// A PodGroup to be.
    struct part {
        std::string name;  ///< in the Workload
        std::string group; ///< its PodGroup's
        std::int64_t minimum = 0;
        std::size_t leaf = 0; ///< whose members it has; as the only part, those of all leaves
        std::string level;    ///< a label whose value its members share
    };

    [[nodiscard]] std::string_view api() const {
        switch (version) {
        case workload_version::v1_35:
            return workload_version_1_35;
        case workload_version::v1_36:
            return workload_version_1_36;
        case workload_version::v1_37:
            break;
        }
        return workload_version_1_37;
    }
    [[nodiscard]] const char* templates_key() const {
        return version == workload_version::v1_35 ? "podGroups" : "podGroupTemplates";
    }

    static void expect_policy(const std::string& at, const boost::json::value* policy,
                              manifest_check& manifest) {
        const auto* gang = policy ? policy->as_object().if_contains("gang") : nullptr;
        if (gang)
            manifest.expect_int32(at + ".gang.minCount", gang->as_object().if_contains("minCount"),
                                  1);
    }

    void add_group(const std::string& workload, const part& each, writing& out) const {
        boost::json::object group = out.manifest(api(), "PodGroup", each.group);
        boost::json::object& spec = child_at(group, "spec");
        if (workload.empty()) {
            // It follows none.
        } else if (version == workload_version::v1_36)
            spec["podGroupTemplateRef"] = boost::json::object{
                {"workload", boost::json::object{{"workloadName", workload},
                                                 {"podGroupTemplateName", each.name}}}};
        else
            spec["workloadRef"] =
                boost::json::object{{"workloadName", workload}, {"templateName", each.name}};
        spec["schedulingPolicy"] = detail::workload_policy("minCount", each.minimum);
        detail::add_workload_words(spec, version, each.level, out);
        out.add(std::move(group));
    }

    [[nodiscard]] static boost::json::object reference_of(const std::string& workload,
                                                          const part& of, const writing& out) {
        boost::json::object made{{"name", workload}, {"podGroup", of.name}};
        if (const auto& follows = out.gang().follows; follows && !follows->copy.empty())
            made["podGroupReplicaKey"] = follows->copy;
        return made;
    }

    void refuse_what_grove_does(writing& out) const {
        if (!out.from_grove() || version != workload_version::v1_36)
            return;
        for (std::size_t at = 0; at < out.gang().tree.size(); ++at)
            if (out.gang().tree[at].together)
                out.refuse("PodGang", "spec.topologyConstraint",
                           "of " + out.vertex_text(at) +
                               " (expected none: Grove's backend for Kubernetes 1.36 has no "
                               "topology)");
    }

    [[nodiscard]] std::vector<part> parts_of(writing& out) const {
        const gang_minima& minima = out.minima();
        const gang_tree& tree = out.gang().tree;
        const bool by_roles = !out.options().one_pod_group && !minima.some_optional &&
                              (out.from_grove() || !minima.roles_follow);
        if (!by_roles) {
            out.lose_all_but_total();
            part all;
            all.name =
                out.name(detail::template_name(out, tree[0].name.empty() ? "gang" : tree[0].name),
                         dns_label, "the pod group");
            const gang_role* only = minima.roles.size() == 1 ? &minima.roles.front() : nullptr;
            all.group = out.name(only && !only->object.empty() ? only->object : out.gang().name,
                                 dns_subdomain, "the PodGroup");
            const auto& follows = out.gang().follows;
            all.minimum = follows && follows->basic && minima.total == 1 ? 0 : minima.total;
            if (version != workload_version::v1_35)
                all.level = required_level(tree[0]);
            return {std::move(all)};
        }
        out.lose_all_above_roles();
        if (minima.roles.size() > 1)
            out.lose(loss_kind::all_or_nothing,
                     "its " + std::to_string(minima.roles.size()) +
                         " roles become PodGroups that start without each other");
        std::vector<part> parts;
        for (const gang_role& role : minima.roles) {
            part each;
            each.name = out.name(out.vertex_path(role.leaf), dns_label, "the pod group");
            each.group =
                out.name(role.object.empty() ? out.gang().name + "-" + each.name : role.object,
                         dns_subdomain, "the PodGroup");
            each.minimum = role.needed;
            each.leaf = role.leaf;
            if (version != workload_version::v1_35)
                each.level = level_of(role.leaf, out);
            parts.push_back(std::move(each));
        }
        return parts;
    }

    /// The level that a role asks for, or the closest part of the gang that it belongs to. Each
    /// PodGroup keeps to one domain then, not all to the same.
    [[nodiscard]] static std::string level_of(std::size_t leaf, writing& out) {
        const gang_tree& tree = out.gang().tree;
        std::string found = required_level(tree[leaf]);
        for (std::size_t at = leaf; at != 0;) {
            at = tree[at].parent;
            if (required_level(tree[at]).empty())
                continue;
            if (found.empty())
                found = required_level(tree[at]);
            if (tree[at].children > 1 || found != required_level(tree[at]))
                out.lose_levels_of(at);
        }
        return found;
    }
};

} // namespace translate
} // namespace v0_1
} // namespace muster
