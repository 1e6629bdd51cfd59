// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/object.hpp>

#include <muster/apis/core/objects.hpp>
#include <muster/apis/gang_definition.hpp>
#include <muster/apis/gang_member.hpp>
#include <muster/base/checked.hpp>
#include <muster/document/diagnostic.hpp>
#include <muster/gangs/gang_claims.hpp>
#include <muster/gangs/gang_object.hpp>
#include <muster/input/membership.hpp>
#include <muster/input/topology_reader.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// Brings what a gang's object says and what its pods say together.
class gang_facts {
public:
    gang_facts(const manifests& cluster, diagnostics& out)
        : cluster_(&cluster), classes_(cluster), out_(&out) {}

    [[nodiscard]] joined_gang finish(gang_definition of, std::vector<gang_member> members) const {
        // By itself a gang that asks for nobody is content with any one.
        if (of.gang.tree.size() == 1 && of.gang.tree[0].min_member == 0 && of.together.size() < 2)
            of.gang.tree.require_members(vertex_index{0}, 1);
        cut_into_subgroups(of, members);
        find_leaves(of, members);
        grant_wishes(of, members);
        find_priority(of, members);
        find_queue(of, members);
        count(of, members);
        joined_gang made{{std::move(of.gang), {}}, std::move(of.where), std::move(of.together)};
        made.fault = std::move(of.fault);
        made.made.pods.reserve(members.size());
        for (gang_member& each : members)
            made.made.pods.push_back(std::move(each.pod));
        return made;
    }

private:
    static label_set labels_of(const gang_member& member, std::string_view map) {
        label_set labels;
        for (const auto* from : {&member.pod.document, &member.pod.marks}) {
            const auto* metadata = translate::find_object(from, "metadata");
            const auto* entries = translate::find_object(metadata, map);
            for (std::size_t at = 0; entries && at < entries->size(); ++at)
                if (const auto& [key, value] = *(entries->begin() + at); value.is_string())
                    labels.set(std::string(key), std::string(value.get_string()));
        }
        return labels;
    }

    /// Volcano's policies: a leaf for each combination of values, below a vertex that says how many
    /// are needed when there are, or must be, several.
    static void cut_into_subgroups(gang_definition& of, std::vector<gang_member>& members) {
        for (const label_subgroups& policy : of.subgroups) {
            std::map<std::string, vertex_index> leaves;
            std::vector<std::pair<gang_member*, std::string>> taken;
            std::vector<std::string> order;
            for (gang_member& each : members) {
                const label_set labels = labels_of(each, "labels");
                if (each.anchor.value() != 0 || !policy.selector.matches(labels))
                    continue;
                std::string values;
                for (const std::string& key : policy.keys)
                    if (const std::string* value = labels.find(key))
                        values += '-' + *value;
                if (std::ranges::find(order, values) == order.end())
                    order.push_back(values);
                taken.emplace_back(&each, std::move(values));
            }
            const auto least = static_cast<std::size_t>(policy.least);
            gang_tree& tree = of.gang.tree;
            const bool single = order.size() <= 1 && policy.least == 1;
            const vertex_index above =
                single ? vertex_index{0} : tree.add(vertex_index{0}, 0, policy.name);
            for (std::size_t at = 0; at < std::max(order.size(), least); ++at)
                leaves.emplace(at < order.size() ? order[at] : std::string(at, '-') + "?",
                               tree.add(above, policy.size,
                                        single ? policy.name
                                        : at < order.size()
                                            ? policy.name + order[at]
                                            : policy.name + "-" + std::to_string(at)));
            if (!single && least < std::max(order.size(), least))
                tree.require_subgroups(above, policy.least);
            for (auto& [member, values] : taken)
                member->anchor = leaves.at(values);
        }
    }

    /// Roles that only the pods name become leaves without a minimum.
    void find_leaves(gang_definition& of, std::vector<gang_member>& members) const {
        gang_tree& tree = of.gang.tree;
        if (tree.size() == 1 && !members.empty() &&
            std::ranges::all_of(
                members, [&](const auto& each) { return each.role == members.front().role; })) {
            if (!members.front().role.empty())
                tree.rename(vertex_index{0}, members.front().role);
            return;
        }
        std::map<std::string, std::size_t, std::less<>> leaves;
        for (std::size_t at = 1; at < tree.size(); ++at)
            if (tree.is_leaf(at))
                leaves.try_emplace(tree[at].name, at);
        const bool roles = tree.size() > 1 || std::ranges::any_of(members, [](const auto& each) {
                               return !each.role.empty() && each.anchor.value() == 0;
                           });
        for (gang_member& each : members) {
            if (each.anchor.value() != 0 || !roles) {
                each.pod.leaf = each.anchor;
                continue;
            }
            const auto [leaf, fresh] = leaves.try_emplace(each.role, tree.size());
            if (fresh) {
                if (of.closed)
                    report(*out_, severity::warning, each.where, {"metadata", "labels"},
                           each.role.empty()
                               ? "the pod names no subgroup of " + in_quotes(of.gang.name)
                               : in_quotes(each.role) + " is no subgroup of " +
                                     in_quotes(of.gang.name) + " (expected one that it lists)");
                // It is met by nobody, so it must not stand for one that is needed.
                const auto needed = tree[0].min_subgroups;
                tree.add(vertex_index{0}, 0, each.role);
                if (needed)
                    tree.require_subgroups(vertex_index{0}, *needed + 1);
            }
            each.pod.leaf = vertex_index{leaf->second};
        }
    }

    void grant_wishes(gang_definition& of, const std::vector<gang_member>& members) const {
        if (of.wishes.empty())
            wish_by_annotation(of, members);
        for (const placement_wish& each : of.wishes) {
            topology_constraint how;
            const topology_object* named = nullptr;
            for (const topology_object& known : cluster_->topologies)
                if (known.metadata.key.name == each.topology)
                    named = &known;
            if (named)
                how.within = named->levels;
            else
                for (const std::string& label : {each.required, each.preferred})
                    if (!label.empty() && !detail::level_of(how.within, label))
                        how.within.levels.push_back(label);
            const auto level = [&](const std::string& label, std::optional<std::size_t>& into) {
                if (label.empty())
                    return;
                into = detail::level_of(how.within, named ? named->label_of(label) : label);
                if (!into)
                    report(*out_, severity::error, of.where, {"spec"},
                           in_quotes(label) + " is no level of the Topology " +
                               in_quotes(each.topology) + " (expected one that it lists)");
            };
            level(each.required, how.required);
            level(each.preferred, how.preferred);
            if (of.gang.topology_name.empty())
                of.gang.topology_name = each.topology;
            else if (!each.topology.empty() && each.topology != of.gang.topology_name)
                of.gang.other_topologies.push_back({each.of, each.topology});
            if (how.required || how.preferred)
                of.gang.tree.constrain_topology(each.of, std::move(how));
        }
    }

    /// KAI's annotations on any group, or on all of its pods.
    static void wish_by_annotation(gang_definition& of, const std::vector<gang_member>& members) {
        label_set own;
        for (const auto& [key, value] : of.gang.annotations)
            if (value.is_string())
                own.set(std::string(key), std::string(value.get_string()));
        detail::topology_wish asked(own);
        if (!asked.asks() && !members.empty()) {
            asked = detail::topology_wish(labels_of(members.front(), "annotations"));
            for (const gang_member& each : members)
                if (!(detail::topology_wish(labels_of(each, "annotations")) == asked))
                    return;
        }
        wish(of, {vertex_index{0}, asked.name, asked.required, asked.preferred});
    }

    static std::string_view spec_text(const gang_member& member, std::string_view key) {
        const auto* spec = translate::find_object(&member.pod.document, "spec");
        return spec ? translate::string_at(*spec, key) : std::string_view{};
    }

    /// Where a gang has no priority of its own that of its pods counts, if they agree.
    void find_priority(gang_definition& of, const std::vector<gang_member>& members) const {
        using translate::target;
        translate::gang_priority& own = of.gang.priority;
        const auto origin = of.gang.origin;
        const bool by_pods = !origin || translate::facts_of(*origin).priority_of_pods;
        if (by_pods && !own.number && own.class_name.empty() && !members.empty()) {
            const std::string_view first = spec_text(members.front(), "priorityClassName");
            const auto other = std::ranges::find_if(members, [&](const gang_member& each) {
                return spec_text(each, "priorityClassName") != first;
            });
            if (other == members.end())
                own.class_name = first;
            else if (origin == target::ack_1_31)
                report(*out_, severity::error, other->where, {"spec", "priorityClassName"},
                       "the pods of the group " + in_quotes(of.gang.name) + " disagree on it");
        }
        if (!own.number && !own.class_name.empty())
            own.number = classes_.class_value(own.class_name);
    }

    /// Pods may name a queue for a group that names none.
    void find_queue(gang_definition& of, const std::vector<gang_member>& members) const {
        if (of.gang.queue)
            return;
        for (const gang_member& each : members) {
            std::string named;
            for (const auto* from : {&each.pod.document, &each.pod.marks})
                if (const std::string_view text = translate::queue_mark(*from); !text.empty())
                    named = text;
            if (&each == &members.front() && !named.empty())
                of.gang.queue = named;
            else if (of.gang.queue.value_or("") != named)
                return report(*out_, severity::error, each.where, {"metadata"},
                              "the pods of the group " + in_quotes(of.gang.name) +
                                  " disagree on the queue");
        }
    }

    static void count(gang_definition& of, const std::vector<gang_member>& members) {
        gang_tree& tree = of.gang.tree;
        std::vector<translate::leaf_size> sizes;
        std::vector<std::int64_t> pods(tree.size());
        for (const gang_member& each : members)
            ++pods[each.pod.leaf.value()];
        for (std::size_t at = 0; at < tree.size(); ++at) {
            if (!tree.is_leaf(at))
                continue;
            translate::leaf_size size{vertex_index{at}, 0};
            for (const translate::leaf_size& known : of.gang.sizes)
                if (known.leaf.value() == at)
                    size = known;
            size.only_seen = size.only_seen || size.replicas == 0;
            size.replicas = std::max(size.replicas, pods[at]);
            if (size.replicas > 0 || !size.object.empty())
                sizes.push_back(std::move(size));
        }
        of.gang.sizes = std::move(sizes);
    }

    const manifests* cluster_;
    object_lookup classes_;
    diagnostics* out_;
};

} // namespace codec
} // namespace v0_1
} // namespace muster
