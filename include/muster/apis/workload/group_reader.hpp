// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/apis/core/reading_context.hpp>
#include <muster/apis/gang_definition.hpp>
#include <muster/apis/gang_facts.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// Kubernetes' Workload API: Workload of 1.35, Workload and PodGroup of 1.36 and 1.37, and 1.37's
/// CompositePodGroup. Groups may stand before the objects that they belong to, so they are brought
/// together when all are read.
class workload_groups {
public:
    /// Which release serves a version of the group scheduling.k8s.io; nothing for another version.
    [[nodiscard]] static std::optional<translate::target> release(std::string_view version) {
        using translate::target;
        if (version == translate::workload_version_1_35)
            return target::workload_1_35;
        if (version == translate::workload_version_1_36)
            return target::workload_1_36;
        if (version == translate::workload_version_1_37_alpha ||
            version == translate::workload_version_1_37)
            return target::workload_1_37;
        return std::nullopt;
    }

    [[nodiscard]] static bool understands(std::string_view version, std::string_view kind) {
        const auto of = release(version);
        if (!of)
            return false;
        return kind == "Workload" ||
               (kind == "PodGroup" && *of != translate::target::workload_1_35) ||
               (kind == "CompositePodGroup" && *of == translate::target::workload_1_37);
    }

    void read(object_reader& object, std::string_view version, std::string_view kind,
              reading_context& context, object_place where, std::size_t order) {
        const translate::target origin = *release(version);
        gang_definition made =
            start_definition(object, kind, origin, {}, context, std::move(where));
        const field spec_at = object.required("spec");
        object_reader spec = spec_at.as_object();
        if (kind != "Workload")
            read_group(spec, kind == "CompositePodGroup", std::move(made), order);
        else
            read_workload(spec, origin, std::move(made), order);
        object.finish();
    }

    /// Hands all gangs over, to a gang_book.
    template<class Book>
    void finish(Book& to, diagnostics& out) {
        std::set<object_key> used;
        for (const group& each : groups_)
            if (!each.workload.empty())
                used.insert({each.made.gang.name_space, each.workload + '/' + each.template_name});
        for (group& each : groups_)
            know_workload(each);
        for (group& each : templates_) {
            const object_key key{each.made.gang.name_space,
                                 each.workload + '/' + each.template_name};
            if (used.contains(key))
                continue;
            // Jobs that leave their groups to be made of a template know the template, and who
            // controls its Workload.
            const std::string home = each.made.gang.name_space;
            const std::string controller = each.controller + '/' + each.template_name;
            const bool controlled = !each.controller.empty() && controller != key.name;
            const std::size_t made = to.define(translate::gang_api::workload, std::move(each.made),
                                               each.order, key.name);
            if (controlled && !to.knows(translate::gang_api::workload, home, controller))
                to.anchor(translate::gang_api::workload, home, controller, made, vertex_index{0});
        }
        std::map<object_key, std::size_t> composites;
        for (std::size_t at = 0; at < groups_.size(); ++at)
            if (groups_[at].composite)
                composites.emplace(key_of(groups_[at]), at);
        for (std::size_t at = 0; at < groups_.size(); ++at) {
            const std::string& parent = groups_[at].parent;
            if (parent.empty())
                continue;
            const auto above = composites.find({groups_[at].made.gang.name_space, parent});
            if (above == composites.end())
                report(out, severity::error, groups_[at].made.where,
                       {"spec", "parentCompositePodGroupName"},
                       in_quotes(parent) + " is not in the input (expected a CompositePodGroup)");
            else
                groups_[above->second].children.push_back(at);
        }
        for (std::size_t at = 0; at < groups_.size(); ++at)
            if (groups_[at].parent.empty())
                hand_over(at, to, out);
        for (const group& each : groups_)
            if (!each.done && composites.contains({each.made.gang.name_space, each.parent}))
                report(out, severity::error, each.made.where,
                       {"spec", "parentCompositePodGroupName"},
                       "the group is below itself (expected a tree)");
    }

private:
    static constexpr std::int64_t most_ = std::numeric_limits<std::int32_t>::max();

    struct group {
        gang_definition made;
        bool composite = false;
        std::int64_t least = 1; ///< members, or groups of a composite
        std::string parent;
        std::string workload;
        std::string controller; ///< of the Workload
        std::string template_name;
        std::vector<std::size_t> children;
        std::size_t order = 0;
        bool done = false;
    };

    static object_key key_of(const group& of) {
        return {of.made.gang.name_space, of.made.gang.name};
    }

    /// `basic: {}` (one is enough) or `gang: {minCount}`.
    static std::int64_t read_policy(const field& at, std::string_view count,
                                    bool* is_basic = nullptr) {
        object_reader policy = at.as_object();
        const field basic_at = policy.optional("basic");
        const field gang_at = policy.optional("gang");
        if (at.is_present() && basic_at.is_present() == gang_at.is_present())
            policy.error("found " + std::string(gang_at.is_present() ? "both" : "none") +
                         " of basic and gang (expected exactly one)");
        if (is_basic)
            *is_basic = basic_at.is_present();
        object_reader gang = gang_at.as_object();
        const std::int64_t least = gang.required(count).as_integer(1, most_).value_or(1);
        gang.finish();
        policy.finish();
        return least;
    }

    /// Reads the fields that groups and templates have in common, except the policy. A
    /// CompositePodGroup has no claims.
    static void read_common(object_reader& spec, gang_definition& to, bool composite = false) {
        const field limits_at = spec.optional("schedulingConstraints");
        object_reader limits = limits_at.as_object();
        const field topology_at = limits.optional("topology");
        const array_reader topology = topology_at.as_array();
        if (topology.size() > 1)
            topology.error("there are several (expected at most one)");
        topology.for_each_object([&](object_reader& each) {
            placement_wish asked{vertex_index{0}, {}, {}, {}};
            asked.required = each.required("key").as_string().value_or("");
            each.finish();
            if (to.wishes.empty())
                wish(to, std::move(asked));
        });
        limits.finish();
        if (const auto name = spec.optional("priorityClassName").as_string())
            to.gang.priority.class_name = *name;
        to.gang.priority.number = spec.optional("priority").as_integer(-most_ - 1, most_);
        const field disruption = spec.optional("disruptionMode");
        const auto* mode = disruption.value();
        const bool usual = mode && ((mode->is_string() && mode->get_string() == "Pod") ||
                                    (mode->is_object() && mode->get_object().contains("single")));
        if (!usual)
            keep_word(to, disruption, translate::gang_api::workload, "disruptionMode",
                      translate::loss_kind::lifecycle);
        keep_word(to, spec.optional("preemptionPolicy"), translate::gang_api::workload,
                  "preemptionPolicy", translate::loss_kind::preemptibility);
        const field claims = spec.optional("resourceClaims");
        if (!composite)
            keep_word(to, claims, translate::gang_api::workload, "resourceClaims",
                      translate::loss_kind::lifecycle);
        else if (claims.is_present())
            to.fault = claims.path() + " of a CompositePodGroup, which the API does not have "
                                       "(expected resourceClaims of its PodGroups)";
    }

    void read_group(object_reader& spec, bool composite, gang_definition made, std::size_t order) {
        group one;
        one.order = order;
        one.composite = composite;
        bool basic = false;
        one.least = read_policy(spec.required("schedulingPolicy"),
                                composite ? "minGroupCount" : "minCount", &basic);
        read_common(spec, made, composite);
        one.parent = spec.optional("parentCompositePodGroupName").as_string().value_or("");
        const field old_at = spec.optional("podGroupTemplateRef");
        object_reader old = old_at.as_object();
        const field inner_at = old.optional("workload");
        object_reader inner = inner_at.as_object();
        const field new_at = spec.optional("workloadRef");
        object_reader reference = new_at.as_object();
        if (old.is_present()) {
            one.workload = inner.required("workloadName").as_string().value_or("");
            one.template_name = inner.required("podGroupTemplateName").as_string().value_or("");
        } else if (reference.is_present()) {
            one.workload = reference.required("workloadName").as_string().value_or("");
            one.template_name = reference.required("templateName").as_string().value_or("");
        }
        inner.finish();
        old.finish();
        reference.finish();
        spec.finish();
        made.gang.follows = {one.workload, one.template_name, 0, {}, basic, false, {}, {}};
        one.made = std::move(made);
        groups_.push_back(std::move(one));
    }

    void read_workload(object_reader& spec, translate::target origin, gang_definition made,
                       std::size_t order) {
        const field controller_at = spec.optional("controllerRef");
        object_reader controller = controller_at.as_object();
        if (controller.is_present() && made.gang.owners.empty())
            made.gang.owners.push_back(
                {std::string(controller.optional("apiGroup").as_string().value_or("")),
                 std::string(controller.required("kind").as_string().value_or("")),
                 std::string(controller.required("name").as_string().value_or("")),
                 {},
                 true});
        const std::string controls(controller.optional("name").as_string().value_or(""));
        keep_word(made, controller_at, translate::gang_api::workload, "controllerRef",
                  translate::loss_kind::lifecycle);
        controller.ignore_rest();
        const bool old = origin == translate::target::workload_1_35;
        const field list_at = spec.optional(old ? "podGroups" : "podGroupTemplates");
        const array_reader list = list_at.as_array();
        const field trees_at = spec.optional("compositePodGroupTemplates");
        const array_reader trees = trees_at.as_array();
        if ((list.size() == 0) == (trees.size() == 0))
            spec.error(list.size() == 0 ? "there are no groups (expected 1 to 8)"
                                        : "there are groups of two forms (expected one)");
        const auto check_size = [](const array_reader& of) {
            if (of.size() > 8)
                of.error("there are " + std::to_string(of.size()) + " (expected at most 8)");
        };
        check_size(list);
        check_size(trees);
        std::set<std::string, std::less<>> names;
        const auto add = [&](object_reader& each, bool composite) {
            group one;
            one.order = order;
            const field name_at = each.required("name");
            one.template_name = name_at.as_string().value_or("");
            if (!names.insert(one.template_name).second)
                name_at.error(in_quotes(one.template_name) +
                              " is there twice (expected every group once)");
            one.workload = made.gang.name;
            one.controller = controls;
            one.made = made;
            one.made.where = made.where;
            if (list.size() + trees.size() > 1)
                one.made.gang.name += '-' + one.template_name;
            translate::group_template& follows = one.made.gang.follows.emplace();
            follows = {one.workload, one.template_name, names.size() - 1,     {}, false,
                       !old,         made.gang.labels,  made.gang.annotations};
            if (composite)
                read_composite_template(each, vertex_index{0}, 1, one.made);
            else
                one.made.gang.tree =
                    gang_tree(read_policy(each.required(old ? "policy" : "schedulingPolicy"),
                                          "minCount", &follows.basic));
            if (!composite) {
                read_common(each, one.made);
                each.finish();
            }
            templates_.push_back(std::move(one));
        };
        list.for_each_object([&](object_reader& each) { add(each, false); });
        trees.for_each_object([&](object_reader& each) { add(each, true); });
        spec.finish();
    }

    /// A template of groups of groups, as a tree.
    static void read_composite_template(object_reader& object, vertex_index at, int depth,
                                        gang_definition& to) {
        const std::int64_t least =
            read_policy(object.required("schedulingPolicy"), "minGroupCount");
        gang_definition common;
        read_common(object, common, true);
        take_common(std::move(common), at, to);
        object.ignore({"name"});
        if (depth > 4)
            return object.error("groups are nested too deep (expected at most 4 levels)");
        const field leaves_at = object.optional("podGroupTemplates");
        const array_reader leaves = leaves_at.as_array();
        const field trees_at = object.optional("compositePodGroupTemplates");
        const array_reader trees = trees_at.as_array();
        leaves.for_each_object([&](object_reader& each) {
            const auto name = each.required("name").as_string().value_or("");
            const vertex_index leaf = to.gang.tree.add(
                at, read_policy(each.required("schedulingPolicy"), "minCount"), std::string(name));
            gang_definition own;
            read_common(each, own);
            take_common(std::move(own), leaf, to);
            each.finish();
        });
        trees.for_each_object([&](object_reader& each) {
            const auto name = each.required("name").as_string().value_or("");
            read_composite_template(each, to.gang.tree.add(at, 0, std::string(name)), depth + 1,
                                    to);
        });
        require(to.gang.tree, at, least, leaves.size() + trees.size());
        if (depth == 1)
            total_from_leaves(to.gang.tree);
        object.finish();
    }

    /// A part's wishes and words become those of the whole, at the part's vertex.
    static void take_common(gang_definition from, vertex_index at, gang_definition& to) {
        for (placement_wish& each : from.wishes) {
            each.of = at;
            to.wishes.push_back(std::move(each));
        }
        for (translate::own_word& each : from.gang.own_words)
            if (std::ranges::find(to.gang.own_words, each) == to.gang.own_words.end())
                to.gang.own_words.push_back(std::move(each));
        if (to.gang.priority == translate::gang_priority{})
            to.gang.priority = std::move(from.gang.priority);
        if (to.fault.empty())
            to.fault = std::move(from.fault);
    }

    static void require(gang_tree& tree, vertex_index at, std::int64_t least,
                        std::size_t children) {
        if (static_cast<std::size_t>(least) != children)
            tree.require_subgroups(at, least);
    }

    /// Tells a group what its Workload says, if the input has that.
    void know_workload(group& of) const {
        for (const group& each : templates_)
            if (each.workload == of.workload && each.template_name == of.template_name &&
                each.made.gang.name_space == of.made.gang.name_space) {
                of.made.gang.follows->at = each.made.gang.follows->at;
                of.made.gang.follows->labels = each.made.gang.follows->labels;
                of.made.gang.follows->annotations = each.made.gang.follows->annotations;
                for (const translate::own_word& word : each.made.gang.own_words)
                    if (word.field == "controllerRef")
                        of.made.gang.own_words.push_back(word);
            }
    }

    template<class Book>
    void hand_over(std::size_t at, Book& to, diagnostics& out) {
        group& top = groups_[at];
        top.done = true;
        if (!top.composite) {
            top.made.gang.tree = gang_tree(top.least);
            to.define(translate::gang_api::workload, std::move(top.made), top.order);
            return;
        }
        std::vector<std::pair<std::size_t, vertex_index>> leaves;
        gang_definition whole = top.made;
        whole.gang.tree = gang_tree(0);
        std::map<std::string, int> roles;
        std::vector<std::pair<std::size_t, int>> open{{at, 1}};
        for (std::size_t next = 0; next < open.size(); ++next)
            for (const std::size_t child : groups_[open[next].first].children) {
                groups_[child].done = true;
                ++roles[groups_[child].template_name];
                open.emplace_back(child, open[next].second + 1);
            }
        if (open.back().second > 5)
            return report(out, severity::error, whole.where, {"spec"},
                          "groups are nested too deep (expected at most 4 levels of groups)");
        // Depth first, so that parts stand in the order of their parents.
        place(at, vertex_index{0}, roles, whole, leaves);
        total_from_leaves(whole.gang.tree);
        const std::string home = whole.gang.name_space;
        const std::string name = whole.gang.name;
        for (const auto& [leaf, vertex] : leaves) {
            translate::leaf_size size{vertex, 0};
            size.object = groups_[leaf].made.gang.name;
            whole.gang.sizes.push_back(std::move(size));
        }
        // Pods name the groups below it, of which one may be called as it is.
        const std::size_t made = to.define(translate::gang_api::workload, std::move(whole),
                                           top.order, "CompositePodGroup/" + name);
        for (const auto& [leaf, vertex] : leaves)
            to.anchor(translate::gang_api::workload, home, groups_[leaf].made.gang.name, made,
                      vertex);
    }

    static vertex_index add_part(gang_definition& whole, vertex_index above, const group& part,
                                 const std::string& name) {
        const vertex_index made = whole.gang.tree.add(above, part.composite ? 0 : part.least, name);
        whole.gang.objects.push_back({made, part.made.gang.name, part.template_name});
        return made;
    }

    void place(std::size_t at, vertex_index vertex, const std::map<std::string, int>& roles,
               gang_definition& whole, std::vector<std::pair<std::size_t, vertex_index>>& leaves) {
        const group& one = groups_[at];
        if (vertex.value() != 0)
            take_common(one.made, vertex, whole);
        if (!one.composite) {
            leaves.emplace_back(at, vertex);
            return;
        }
        for (const std::size_t child : one.children) {
            const group& part = groups_[child];
            const auto known = roles.find(part.template_name);
            const bool by_template =
                !part.template_name.empty() && known != roles.end() && known->second == 1;
            place(child,
                  add_part(whole, vertex, part,
                           by_template ? part.template_name : part.made.gang.name),
                  roles, whole, leaves);
        }
        require(whole.gang.tree, vertex, one.least, one.children.size());
    }

    std::vector<group> groups_;
    std::vector<group> templates_;
};

} // namespace codec
} // namespace v0_1
} // namespace muster
