// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <muster/apis/gang_facts.hpp>
#include <muster/apis/workload/words.hpp>
#include <muster/gangs/check_manifest.hpp>
#include <muster/gangs/writing.hpp>

namespace muster {
inline namespace v0_1 {
namespace translate {

/// A gang as Kubernetes 1.37 has it with CompositePodGroups (v1alpha3): a tree whose leaves are
/// PodGroups, and whose inner groups need so many of the groups below them.
class workload_tree {
public:
    /// Whether there is anything to a gang that one PodGroup cannot say, and a tree can.
    [[nodiscard]] static bool suits(const writing& out) {
        const gang_minima& minima = out.minima();
        const gang_tree& tree = out.gang().tree;
        bool levels_below = false;
        for (std::size_t at = 1; at < tree.size(); ++at)
            levels_below |= !required_level(tree[at]).empty();
        const bool any_needed = std::ranges::any_of(
            minima.roles, [](const gang_role& role) { return role.needed > 0; });
        if (out.gang().origin == target::workload_1_37 && tree.size() > 1 && any_needed)
            return true;
        return minima.roles.size() > 1 && any_needed &&
               (!minima.roles_follow || minima.some_optional || minima.nested || levels_below ||
                out.from_grove());
    }

    explicit workload_tree(writing& out) : out_(&out), groups_(out.gang().tree.size()) {
        const gang_tree& tree = out.gang().tree;
        for (const gang_role& role : out.minima().roles) {
            groups_[role.leaf].role = &role;
            groups_[role.leaf].kept = role.needed > 0;
            if (role.needed == 0)
                out.lose(loss_kind::all_or_nothing, "members of " + out.vertex_text(role.leaf) +
                                                        " are in no group and do not wait for "
                                                        "other pods: a group needs at least one");
        }
        for (std::size_t at = tree.size(); --at > 0;)
            if (groups_[at].kept) {
                groups_[tree[at].parent].kept = true;
                groups_[tree[at].parent].depth =
                    std::max(groups_[tree[at].parent].depth, groups_[at].depth + 1);
            }
        flat_ = groups_[0].depth > most_composites;
        name();
    }

    void write() {
        const gang_tree& tree = out_->gang().tree;
        lose_rest();
        workload_ = out_->name(detail::workload_name(*out_), dns_subdomain, "the Workload");
        boost::json::object workload =
            detail::start_workload(workload_version_1_37, workload_, *out_);
        child_at(workload, "spec")["compositePodGroupTemplates"] = boost::json::array{form(0)};
        out_->add(std::move(workload));
        const auto& follows = out_->gang().follows;
        const bool unused = follows && follows->unused && out_->bundle().pods.empty();
        for (std::size_t at = 0; at < tree.size(); ++at)
            if (stands(at) && !unused)
                out_->add(group_at(at));
        for (gang_pod& pod : out_->pods({})) {
            const group& own = groups_[pod.leaf.value()];
            if (own.kept)
                child_at(pod.document, "spec")["schedulingGroup"] =
                    boost::json::object{{"podGroupName", own.object}};
            out_->add(std::move(pod.document));
        }
    }

    static void check(manifest_check& manifest) {
        if (manifest.is(workload_version_1_37_alpha, "CompositePodGroup"))
            if (const auto* gang = manifest.at({"spec", "schedulingPolicy", "gang"}))
                manifest.expect_int32("spec.schedulingPolicy.gang.minGroupCount",
                                      gang->as_object().if_contains("minGroupCount"), 1);
        if (manifest.is(workload_version_1_37, "Workload"))
            check_forms("spec", manifest.at({"spec"})->as_object(), manifest, 1);
    }

private:
    static constexpr std::size_t most_composites = 4;
    static constexpr std::size_t most_siblings = 8;

    struct group {
        const gang_role* role = nullptr;
        bool kept = false;
        std::size_t depth = 0; ///< of inner groups above leaves
        std::string name;      ///< in the Workload
        std::string object;
    };

    [[nodiscard]] bool stands(std::size_t at) const {
        return groups_[at].kept && (at == 0 || groups_[at].role || !flat_);
    }
    [[nodiscard]] std::size_t parent_of(std::size_t at) const {
        return flat_ ? 0 : out_->gang().tree[at].parent;
    }

    void name() {
        const gang_tree& tree = out_->gang().tree;
        std::string root =
            detail::template_name(*out_, tree[0].name.empty() ? "gang" : tree[0].name);
        for (std::size_t at = 1; at < tree.size(); ++at)
            while (tree[at].name == root)
                root += "-0";
        groups_[0].name = out_->name(root, dns_label, "the group");
        groups_[0].object = out_->name(out_->gang().name, dns_subdomain, "the CompositePodGroup");
        for (std::size_t at = 1; at < tree.size(); ++at) {
            if (!stands(at))
                continue;
            groups_[at].name = out_->name(out_->vertex_path(at), dns_label, "the group");
            std::string own = groups_[at].role ? groups_[at].role->object : std::string();
            for (const vertex_object& known : out_->gang().objects)
                if (known.of.value() == at) {
                    own = known.name;
                    lose_template(groups_[at].name, known);
                }
            groups_[at].object =
                out_->name(own.empty() ? out_->gang().name + "-" + groups_[at].name : own,
                           dns_subdomain, "the group");
        }
    }

    /// Several groups may follow one template; written, each has one of its own.
    void lose_template(const std::string& made, const vertex_object& known) {
        if (!known.follows.empty() && known.follows != made)
            out_->lose(loss_kind::name, "the template '" + known.follows + "' that '" + known.name +
                                            "' follows is called '" + made + "'");
    }

    void lose_rest() {
        const gang_minima& minima = out_->minima();
        const gang_tree& tree = out_->gang().tree;
        if (minima.total_beyond_roles ||
            (minima.some_optional && tree[0].min_member > minima.below_root))
            out_->lose(loss_kind::total_minimum, std::to_string(tree[0].min_member) +
                                                     " members in all: only roles have minima");
        if (minima.inner_total)
            out_->lose(loss_kind::total_minimum, "minima of subgroups with roles");
        if (!flat_)
            return;
        out_->lose(loss_kind::nesting,
                   "subgroups of more than " + std::to_string(most_composites) + " levels");
        if (minima.some_optional)
            out_->lose(loss_kind::subgroup_minima, "some subgroups of many, in too many levels");
        for (std::size_t at = 1; at < tree.size(); ++at)
            if (!groups_[at].role)
                out_->lose_levels_of(at);
    }

    [[nodiscard]] boost::json::object policy(std::size_t at) const {
        if (groups_[at].role)
            return detail::workload_policy("minCount", groups_[at].role->needed);
        const gang_tree& tree = out_->gang().tree;
        std::int64_t children = 0;
        std::int64_t left_out = 0; // these reach their minima without anybody
        for (std::size_t below = at + 1; below < tree.size(); ++below) {
            children += stands(below) && parent_of(below) == at ? 1 : 0;
            left_out += !groups_[below].kept && tree[below].parent == at ? 1 : 0;
        }
        if (flat_ && out_->minima().some_optional)
            children = std::min<std::int64_t>(children, 1);
        else if (!flat_ && detail::is_optional(tree[at]))
            children = std::clamp<std::int64_t>(*tree[at].min_subgroups - left_out, 0, children);
        return detail::workload_policy("minGroupCount", children);
    }

    [[nodiscard]] boost::json::object form(std::size_t at) const {
        boost::json::object made{{"name", groups_[at].name}, {"schedulingPolicy", policy(at)}};
        detail::add_workload_words(made, workload_version::v1_37,
                                   required_level(out_->gang().tree[at]), *out_,
                                   groups_[at].role != nullptr);
        for (std::size_t below = at + 1; below < groups_.size(); ++below) {
            if (!stands(below) || parent_of(below) != at)
                continue;
            boost::json::value& list =
                made[groups_[below].role ? "podGroupTemplates" : "compositePodGroupTemplates"];
            (list.is_array() ? list.get_array() : list.emplace_array()).push_back(form(below));
        }
        return made;
    }

    [[nodiscard]] boost::json::object group_at(std::size_t at) const {
        const bool leaf = groups_[at].role != nullptr;
        boost::json::object made =
            out_->manifest(leaf ? workload_version_1_37 : workload_version_1_37_alpha,
                           leaf ? "PodGroup" : "CompositePodGroup", groups_[at].object);
        boost::json::object& spec = child_at(made, "spec");
        if (at > 0)
            spec["parentCompositePodGroupName"] = groups_[parent_of(at)].object;
        spec["workloadRef"] =
            boost::json::object{{"workloadName", workload_}, {"templateName", groups_[at].name}};
        spec["schedulingPolicy"] = policy(at);
        detail::add_workload_words(spec, workload_version::v1_37,
                                   required_level(out_->gang().tree[at]), *out_,
                                   groups_[at].role != nullptr);
        return made;
    }

    static void check_forms(const std::string& at, const boost::json::object& in,
                            manifest_check& manifest, std::size_t depth) {
        const auto* composites = in.if_contains("compositePodGroupTemplates");
        if (!composites)
            return;
        const std::string field = at + ".compositePodGroupTemplates";
        if (depth > most_composites)
            manifest.refuse(field, "a level too deep (expected at most " +
                                       std::to_string(most_composites) + " levels)");
        manifest.expect_names(field, composites, dns_label, most_siblings);
        manifest.each(field, composites, [&](const std::string& where, const auto& each) {
            manifest.expect_names(where + ".podGroupTemplates",
                                  each.if_contains("podGroupTemplates"), dns_label, most_siblings);
            check_forms(where, each, manifest, depth + 1);
        });
    }

    writing* out_;
    std::vector<group> groups_;
    std::string workload_;
    bool flat_ = false; ///< too deep: leaves below the root
};

} // namespace translate
} // namespace v0_1
} // namespace muster
