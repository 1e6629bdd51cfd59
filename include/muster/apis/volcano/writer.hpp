// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <muster/apis/gang_facts.hpp>
#include <muster/gangs/check_manifest.hpp>
#include <muster/gangs/expressiveness.hpp>
#include <muster/gangs/gang_claims.hpp>
#include <muster/gangs/writing.hpp>

namespace muster {
inline namespace v0_1 {
namespace translate {

/// Volcano's PodGroups: minima of tasks, which count where minMember is no less than their sum, and
/// since v1.14 k of n equal subgroups.
struct volcano_writer {
    [[nodiscard]] static constexpr expressiveness can() {
        return {.api = gang_api::volcano,
                .queue = true,
                .priority = priority_word::class_name,
                .preemptibility = true,
                .min_resources = true};
    }

    static void write(writing& out) {
        const gang_object& gang = out.gang();
        const gang_minima& minima = out.minima();
        const std::string name = out.name(gang.name, dns_subdomain, "the PodGroup");
        boost::json::object group =
            out.manifest(volcano_group_version, "PodGroup", name, !out.from_grove());
        boost::json::object& spec = child_at(group, "spec");
        spec["minMember"] = minima.total;
        if (out.from_grove())
            write_podgroups(spec, out);
        else
            write_tasks(spec, out);
        if (const std::string queue = queue_of(out); !queue.empty())
            spec["queue"] = queue;
        if (!gang.priority.class_name.empty())
            spec["priorityClassName"] = gang.priority.class_name;
        if (gang.min_resources)
            spec["minResources"] = *gang.min_resources;
        if (gang.preemptible)
            set_annotation(group, preemptable, *gang.preemptible ? "true" : "false");
        out.give_back(group);
        out.add(std::move(group));

        for (gang_pod& pod : out.pods(schedulers::volcano)) {
            set_annotation(pod.document, keys::volcano_group, name);
            set_annotation(pod.document, keys::volcano_own_group, name);
            if (gang.preemptible)
                set_annotation(pod.document, preemptable, *gang.preemptible ? "true" : "false");
            const gang_role& role = out.role_of(pod.leaf);
            if (out.from_grove() && !role.name.empty()) {
                set_label(pod.document, keys::grove_clique, role.name);
            } else if (!role.name.empty() || role.leaf > 0) {
                const std::string task = task_name(role.leaf, out);
                set_annotation(pod.document, keys::volcano_task, task);
                set_label(pod.document, keys::volcano_task, task);
            }
            out.add(std::move(pod.document));
        }
    }

    static void check(manifest_check& manifest) {
        if (!manifest.is(volcano_group_version, "PodGroup"))
            return;
        manifest.expect_int32("spec.minMember", manifest.at({"spec", "minMember"}), 0);
        if (const auto* queue = manifest.at({"spec", "queue"}))
            manifest.expect_name("spec.queue", queue->as_string(), dns_subdomain);
        const auto* policies = manifest.at({"spec", "subGroupPolicy"});
        manifest.expect_names("spec.subGroupPolicy", policies, dns_subdomain);
        manifest.each(
            "spec.subGroupPolicy", policies, [&](const std::string& at, const auto& each) {
                manifest.expect_int32(at + ".subGroupSize", each.if_contains("subGroupSize"), 1);
                manifest.expect_int32(at + ".minSubGroups", each.if_contains("minSubGroups"), 0);
            });
        if (const auto* tasks = manifest.at({"spec", "minTaskMember"})) {
            std::int64_t sum = 0;
            for (const auto& [task, minimum] : tasks->as_object()) {
                manifest.expect_name("spec.minTaskMember", task, label_value);
                sum += minimum.to_number<std::int64_t>();
            }
            if (manifest.at({"spec", "minMember"})->to_number<std::int64_t>() < sum)
                manifest.refuse("spec.minMember",
                                "less than the sum of minTaskMember, " + std::to_string(sum) +
                                    " (expected at least that, or Volcano ignores minTaskMember)");
        }
    }

private:
    static constexpr std::string_view preemptable = keys::volcano_preemptible;

    [[nodiscard]] static std::string task_name(std::size_t leaf, writing& out) {
        return out.name(out.vertex_path(leaf), label_value, "the task");
    }

    [[nodiscard]] static std::string queue_of(const writing& out) {
        const gang_object& gang = out.gang();
        if (!out.from_grove())
            return gang.queue.value_or("");
        if (const auto* queue = gang.annotations.if_contains(keys::grove_volcano_queue);
            queue && queue->is_string())
            return std::string(queue->get_string());
        return gang.queue.value_or("default");
    }

    // As Grove's backend does it.
    static void write_podgroups(boost::json::object& spec, writing& out) {
        const gang_tree& tree = out.gang().tree;
        for (std::size_t at = 0; at < tree.size(); ++at)
            if (tree[at].together)
                out.refuse("PodGang", "spec.topologyConstraint",
                           "of " + out.vertex_text(at) +
                               " (expected none: Grove's backend for Volcano has no topology)");
        boost::json::array policies;
        for (const gang_role& role : out.minima().roles) {
            if (role.name.empty())
                continue;
            if (tree[role.leaf].min_member < 1)
                out.lose(loss_kind::role_minima,
                         "'" + role.name + "' needs none: Volcano's subgroups have at least 1");
            policies.push_back(boost::json::object{
                {"name", role.name},
                {"labelSelector",
                 {{"matchLabels",
                   {{boost::json::string_view(keys::grove_clique.data(), keys::grove_clique.size()),
                     role.name}}}}},
                {"matchLabelKeys", boost::json::array{keys::grove_clique}},
                {"subGroupSize", std::max<std::int64_t>(1, tree[role.leaf].min_member)},
                {"minSubGroups", 1}});
        }
        if (!policies.empty())
            spec["subGroupPolicy"] = std::move(policies);
    }

    static void write_tasks(boost::json::object& spec, writing& out) {
        const gang_tree& tree = out.gang().tree;
        const gang_minima& minima = out.minima();
        boost::json::object tasks;
        for (const gang_role& role : minima.roles)
            if (role.leaf > 0 && role.minimum > 0)
                tasks[task_name(role.leaf, out)] = role.minimum;
        if (!tasks.empty())
            spec["minTaskMember"] = std::move(tasks);
        boost::json::array policies;
        const std::vector<bool> always = detail::minima_by_vertex(tree).always;
        for (std::size_t at = 0; at < tree.size(); ++at)
            if (detail::is_optional(tree[at])) {
                if (always[at] && children_are_alike(tree, at))
                    policies.push_back(some_of(at, out));
                else
                    out.lose(loss_kind::subgroup_minima,
                             std::to_string(*tree[at].min_subgroups) + " of the " +
                                 std::to_string(tree[at].children) + " subgroups of " +
                                 out.vertex_text(at) + ": Volcano counts equal ones only");
            }
        if (!policies.empty())
            spec["subGroupPolicy"] = std::move(policies);
        if (minima.some_optional && tree[0].min_member > minima.below_root)
            out.lose(loss_kind::total_minimum,
                     std::to_string(tree[0].min_member) +
                         " members of subgroups that reach their minima: Volcano counts all");
        if (minima.inner_total)
            out.lose(loss_kind::total_minimum, "subgroups have no minimum of members of their own");
        if (minima.nested)
            out.lose(loss_kind::nesting, "subgroups become tasks of one PodGroup");
    }

    [[nodiscard]] static bool children_are_alike(const gang_tree& tree, std::size_t of) {
        std::optional<std::int64_t> size;
        for (std::size_t at = 1; at < tree.size(); ++at) {
            if (tree[at].parent != of)
                continue;
            if (!tree.is_leaf(at) || tree[at].min_member < 1 ||
                size.value_or(tree[at].min_member) != tree[at].min_member)
                return false;
            size = tree[at].min_member;
        }
        return size.has_value();
    }

    // One policy for all of them: pods of one task are one subgroup.
    [[nodiscard]] static boost::json::object some_of(std::size_t of, writing& out) {
        const gang_tree& tree = out.gang().tree;
        boost::json::array tasks;
        std::int64_t size = 1;
        for (std::size_t at = of + 1; at < tree.size(); ++at)
            if (tree[at].parent == of) {
                tasks.push_back(boost::json::string(task_name(at, out)));
                size = tree[at].min_member;
            }
        const std::string wanted = tree[of].name.empty() ? out.gang().name : tree[of].name;
        return {{"name", out.name(wanted, dns_label, "the subgroup policy")},
                {"labelSelector",
                 {{"matchExpressions",
                   boost::json::array{boost::json::object{{"key", keys::volcano_task},
                                                          {"operator", "In"},
                                                          {"values", std::move(tasks)}}}}}},
                {"matchLabelKeys", boost::json::array{keys::volcano_task}},
                {"subGroupSize", size},
                {"minSubGroups", *tree[of].min_subgroups}};
    }
};

} // namespace translate
} // namespace v0_1
} // namespace muster
