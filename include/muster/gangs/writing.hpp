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

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <muster/apis/gang_facts.hpp>
#include <muster/base/assert.hpp>
#include <muster/document/json_text.hpp>
#include <muster/gangs/expressiveness.hpp>
#include <muster/gangs/gang_minima.hpp>
#include <muster/gangs/gang_object.hpp>
#include <muster/gangs/names.hpp>
#include <muster/gangs/target.hpp>
#include <muster/gangs/write_options.hpp>
#include <muster/vocabulary/gang.hpp>

namespace muster {
inline namespace v0_1 {
namespace translate {

/// `kind namespace/name`, as losses and violations name an object.
[[nodiscard]] inline std::string object_text(std::string_view kind, std::string_view name_space,
                                             std::string_view name) {
    std::string text(kind.empty() ? std::string_view("gang") : kind);
    text += ' ';
    if (!name_space.empty())
        text.append(name_space).append("/");
    return text.append(name);
}

/// The label keys that a constraint names; empty where it does not.
[[nodiscard]] inline std::string required_level(const gang_tree::vertex& vertex) {
    if (!vertex.together || !vertex.together->required)
        return {};
    return vertex.together->within.levels[*vertex.together->required];
}
[[nodiscard]] inline std::string preferred_level(const gang_tree::vertex& vertex) {
    if (!vertex.together || !vertex.together->preferred)
        return {};
    return vertex.together->within.levels[*vertex.together->preferred];
}

/// Takes those owners off that have no uid yet: the API server would refuse the object, and whoever
/// makes the owner adopts it.
inline void leave_out_owners_to_be(boost::json::object& document) {
    auto* const metadata = document.if_contains("metadata");
    auto* const found = metadata && metadata->is_object()
                            ? metadata->get_object().if_contains("ownerReferences")
                            : nullptr;
    if (!found || !found->is_array())
        return;
    boost::json::array kept;
    for (boost::json::value& owner : found->get_array()) {
        const auto* uid = owner.is_object() ? owner.get_object().if_contains("uid") : nullptr;
        if (uid && uid->is_string() && !uid->get_string().empty())
            kept.push_back(std::move(owner));
    }
    if (kept.empty())
        metadata->get_object().erase("ownerReferences");
    else
        *found = std::move(kept);
}

/// What one writer gives for one gang, in the making.
class writing {
public:
    writing(const gang_bundle& bundle, const expressiveness& can, const write_options& options)
        : bundle_(&bundle), options_(&options), can_(can), minima_(minima_of(bundle)) {
        find_roles();
        find_paths();
    }

    [[nodiscard]] const gang_bundle& bundle() const { return *bundle_; }
    [[nodiscard]] const gang_object& gang() const { return bundle_->gang; }
    [[nodiscard]] const gang_minima& minima() const { return minima_; }
    [[nodiscard]] const write_options& options() const { return *options_; }
    [[nodiscard]] bool from_grove() const { return gang().origin == target::grove; }

    [[nodiscard]] bool spans_namespaces() const {
        return std::ranges::any_of(minima_.roles, [&](const gang_role& role) {
            return role.name_space != minima_.roles.front().name_space;
        });
    }

    void lose(loss_kind what, std::string detail) {
        loss found{what, object_text(gang().kind, gang().name_space, gang().name),
                   std::move(detail)};
        if (std::ranges::find(made_.losses, found) == made_.losses.end())
            made_.losses.push_back(std::move(found));
    }
    /// The target would refuse `field` of the object of `kind` that stands for the gang.
    void refuse(std::string_view kind, std::string field, std::string message) {
        made_.violations.push_back({object_text(kind, gang().name_space, gang().name),
                                    std::move(field), std::move(message)});
    }
    void add(boost::json::object manifest) { made_.objects.push_back(std::move(manifest)); }

    /// `wanted` as far as the syntax allows; a change is a loss, `what` says of which name.
    [[nodiscard]] std::string name(const std::string& wanted, const name_syntax& syntax,
                                   std::string_view what) {
        std::string made = fitted(wanted, syntax);
        if (made != wanted)
            lose(loss_kind::name, std::string(what) + " '" + wanted + "' is called '" + made +
                                      "' (must be " + std::string(syntax.called) + " of at most " +
                                      std::to_string(syntax.most) + " characters)");
        return made;
    }

    /// The beginning of a manifest, with the gang's labels and annotations.
    [[nodiscard]] boost::json::object manifest(std::string_view api_version, std::string_view kind,
                                               const std::string& name,
                                               bool with_annotations = true) const {
        boost::json::object made;
        made["apiVersion"] = api_version;
        made["kind"] = kind;
        boost::json::object& metadata = child_at(made, "metadata");
        metadata["name"] = name;
        if (!gang().name_space.empty())
            metadata["namespace"] = gang().name_space;
        if (!gang().labels.empty())
            metadata["labels"] = gang().labels;
        if (with_annotations && !gang().annotations.empty())
            metadata["annotations"] = gang().annotations;
        own(metadata);
        return made;
    }

    /// The pods, without marks; the writer puts its own on them. `scheduler` empty: the cluster's
    /// default one.
    [[nodiscard]] std::vector<gang_pod> pods(std::string_view scheduler) {
        std::vector<gang_pod> made = bundle_->pods;
        for (gang_pod& pod : made) {
            leave_out_owners_to_be(pod.document);
            boost::json::object& spec = child_at(pod.document, "spec");
            if (can_.priority == priority_word::pods && !gang().priority.class_name.empty())
                rank(spec);
            const std::string_view asked = asked_scheduler(pod);
            const std::string_view name = options_->scheduler_name
                                              ? std::string_view(*options_->scheduler_name)
                                          : keeps(asked, scheduler) ? asked
                                                                    : scheduler;
            if (name.empty())
                spec.erase("schedulerName");
            else
                spec["schedulerName"] = name;
        }
        return made;
    }

    /// The role that stands for a leaf; there is one for each leaf that has pods.
    [[nodiscard]] const gang_role& role_of(vertex_index leaf) const {
        const std::size_t at = role_at_[leaf.value()];
        MUSTER_ASSERT(at < minima_.roles.size(), "pods stand at leaves");
        return minima_.roles[at];
    }

    /// A name for a vertex that no other vertex of the tree has: its own, with that of its parent
    /// before it where others share it.
    [[nodiscard]] const std::string& vertex_path(std::size_t at) const { return paths_[at]; }
    /// How losses call a vertex.
    [[nodiscard]] std::string vertex_text(std::size_t at) const {
        return at == 0 ? "the gang" : "'" + vertex_path(at) + "'";
    }

    /// Whether a word that only its API has is one of this target, and of its version.
    [[nodiscard]] bool knows(const own_word& word) const { return word.api == can_.api; }

    /// Puts back what only this API has words for: annotations, and fields of `spec` that are not
    /// there yet. `takes(word)` says which of them this target knows.
    template<class Takes>
    void give_back(boost::json::object& manifest, const Takes& takes) {
        give_back(manifest, gang().own_words, takes);
    }
    template<class Takes>
    void give_back(boost::json::object& manifest, const std::vector<own_word>& words,
                   const Takes& takes) {
        for (const own_word& word : words) {
            if (!knows(word))
                continue;
            if (!takes(word))
                lose(word.what, word.field);
            else if (word.field.find('/') == std::string::npos)
                child_at(manifest, "spec").emplace(word.field, word.value);
            else
                child_at(child_at(manifest, "metadata"), "annotations")
                    .emplace(word.field, word.value);
        }
    }
    void give_back(boost::json::object& manifest) {
        give_back(manifest, [](const own_word&) { return true; });
    }

    /// For targets whose gangs are one number: loses all but the total.
    void lose_all_but_total() {
        const std::string rest = "; a total of " + std::to_string(minima_.total) + " remains";
        if (minima_.some_optional)
            lose(loss_kind::subgroup_minima, "some subgroups of many" + rest);
        if (!minima_.roles_follow) {
            std::string roles;
            for (const gang_role& role : minima_.roles)
                roles += (roles.empty() ? "" : ", ") + std::to_string(role.minimum) + " of " +
                         vertex_path(role.leaf);
            lose(loss_kind::role_minima, roles + rest);
        }
        if (minima_.inner_total)
            lose(loss_kind::total_minimum, "minima of subgroups with roles" + rest);
        if (minima_.nested)
            lose(loss_kind::nesting, "subgroups of roles" + rest);
        const gang_tree& tree = gang().tree;
        for (std::size_t at = 1; at < tree.size(); ++at)
            lose_levels_of(at);
    }
    /// For targets whose roles are gangs side by side: loses what is above roles. One of several
    /// gangs that start together keeps all-or-nothing.
    void lose_all_above_roles() {
        if (minima_.total_beyond_roles)
            lose(loss_kind::total_minimum,
                 std::to_string(minima_.total) + " members in all: only roles have minima");
        if (minima_.inner_total)
            lose(loss_kind::total_minimum, "minima of subgroups with roles");
        if (minima_.nested)
            lose(loss_kind::nesting, "subgroups of roles");
    }
    /// Loses what a vertex asks of topology, if the target could say it elsewhere.
    void lose_levels_of(std::size_t at) {
        if (const std::string level = required_level(gang().tree[at]);
            !level.empty() && can_.topology_required)
            lose(loss_kind::topology_required, vertex_text(at) + " within one " + level);
        if (const std::string level = preferred_level(gang().tree[at]);
            !level.empty() && can_.topology_preferred)
            lose(loss_kind::topology_preferred, vertex_text(at) + " rather within one " + level);
    }

    /// Says whose the object is. An owner without a uid is not there yet, and would be refused.
    static void own(boost::json::object& metadata, const std::vector<object_reference>& owners) {
        metadata.erase("ownerReferences");
        boost::json::array made;
        for (const object_reference& owner : owners) {
            if (owner.uid.empty())
                continue;
            boost::json::object each{{"apiVersion", owner.api_version},
                                     {"kind", owner.kind},
                                     {"name", owner.name},
                                     {"uid", owner.uid}};
            if (owner.controller)
                each["controller"] = true;
            made.push_back(std::move(each));
        }
        if (!made.empty())
            metadata["ownerReferences"] = std::move(made);
    }

    /// Labels and annotations that there is no object for; `of` says whose they are.
    void lose_metadata(const boost::json::object& labels, const boost::json::object& annotations,
                       const std::string& of) {
        std::string names;
        for (const auto& [what, entries] :
             {std::pair<std::string_view, const boost::json::object*>{"label ", &labels},
              {"annotation ", &annotations}})
            for (const auto& each : *entries)
                if (!from_grove() || !is_mark_of_grove(each.key()))
                    names.append(names.empty() ? "" : ", ").append(what).append(each.key());
        if (!names.empty())
            lose(loss_kind::metadata, names + " of " + of);
    }

    [[nodiscard]] written done() && { return std::move(made_); }

private:
    // Who was to schedule a pod, as it says or its own API's marks do.
    [[nodiscard]] static std::string_view asked_scheduler(const gang_pod& pod) {
        for (const boost::json::object* const from : {&pod.marks, &pod.document})
            if (const auto said = find_text(find_object(from, "spec"), "schedulerName");
                said && !said->empty())
                return *said;
        return {};
    }
    // A scheduler of somebody's own serves the API that the pod came with, and also those that no
    // scheduler is named for.
    [[nodiscard]] bool keeps(std::string_view asked, std::string_view usual) const {
        return !asked.empty() && !is_usual_scheduler(asked) &&
               (usual.empty() || (gang().origin && usual_scheduler(*gang().origin) == usual));
    }

    // What Grove's controller puts on every PodGang, and what became fields of the gang.
    [[nodiscard]] static bool is_mark_of_grove(std::string_view key) {
        return key.starts_with("grove.io/") || key == "app.kubernetes.io/managed-by" ||
               key == "app.kubernetes.io/part-of" || key == "app.kubernetes.io/component" ||
               key == keys::kai_queue || key == keys::kai_topology ||
               key == keys::grove_volcano_queue;
    }

    void own(boost::json::object& metadata) const {
        if (!from_grove())
            return own(metadata, gang().owners);
        own(metadata, {{std::string(grove_gang_version), "PodGang", gang().name, gang().uid,
                        options_->dialect == grove_dialect::upstream}});
    }

    void find_roles() {
        role_at_.assign(gang().tree.size(), minima_.roles.size());
        for (std::size_t at = 0; at < minima_.roles.size(); ++at)
            role_at_[minima_.roles[at].leaf] = at;
    }
    void find_paths() {
        const gang_tree& tree = gang().tree;
        std::map<std::string_view, std::size_t> so_called;
        for (std::size_t at = 0; at < tree.size(); ++at) {
            paths_.push_back(tree[at].name.empty() ? "part-" + std::to_string(at) : tree[at].name);
            ++so_called[tree[at].name];
        }
        for (std::size_t at = 1; at < tree.size(); ++at)
            if (tree[at].parent > 0 && !tree[at].name.empty() && so_called[tree[at].name] > 1)
                paths_[at] = paths_[tree[at].parent] + "-" + paths_[at];
    }

    void rank(boost::json::object& spec) {
        const auto [at, added] = spec.emplace("priorityClassName", gang().priority.class_name);
        if (!added && at->value() != boost::json::string(gang().priority.class_name))
            lose(loss_kind::priority, "class '" + gang().priority.class_name +
                                          "': its pods have classes of their own, which stay");
    }

    const gang_bundle* bundle_;
    const write_options* options_;
    expressiveness can_;
    gang_minima minima_;
    std::vector<std::size_t> role_at_; ///< by vertex
    std::vector<std::string> paths_;
    written made_;
};

} // namespace translate
} // namespace v0_1
} // namespace muster
