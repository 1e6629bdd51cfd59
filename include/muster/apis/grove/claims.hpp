// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <muster/apis/grove/gangs.hpp>
#include <muster/apis/grove/names.hpp>
#include <muster/apis/grove/set.hpp>
#include <muster/document/json_text.hpp>

namespace muster {
inline namespace v0_1 {
namespace translate {

/// The resource claims of a PodCliqueSet: resourceSharing of the set, of a scaling group and of a
/// clique has one claim for all replicas there (`<owner>-all-<name>`) or one for each
/// (`<owner>-<replica>-<name>`), and every container of the pods below uses it.
class grove_claims {
public:
    explicit grove_claims(const grove_set& set) : set_(&set) {}

    /// Gives a pod what it shares with others.
    void share(const grove_gang& gang, const grove_member& member, std::int64_t index,
               boost::json::object& pod) {
        const grove_clique& clique = set_->cliques[member.clique];
        const grove_scaling_group* const group =
            clique.group ? &set_->groups[*clique.group] : nullptr;
        const std::string_view group_name = group ? group->name : std::string_view{};
        share(set_->sharing, set_->name, gang.replica, {clique.name, group_name}, pod);
        if (group)
            share(group->sharing, grove::part_name(set_->name, gang.replica, group->name),
                  member.group_replica, {clique.name, {}}, pod);
        share(clique.sharing, member.name, index, {}, pod);
    }

    /// The claims of the templates that the set holds itself.
    [[nodiscard]] const std::vector<boost::json::object>& made() const noexcept { return made_; }
    /// The templates that are objects of their own.
    [[nodiscard]] const std::set<std::string>& elsewhere() const noexcept { return elsewhere_; }

private:
    using names = std::pair<std::string_view, std::string_view>;

    static bool names_one(const boost::json::object& filter, std::string_view list,
                          std::string_view name) {
        const boost::json::array* const all = find_array(&filter, list);
        if (!all || name.empty())
            return false;
        for (const boost::json::value& each : *all)
            if (const auto* const text = each.if_string();
                text && std::string_view(text->data(), text->size()) == name)
                return true;
        return false;
    }

    /// A filter lets only those in that it names, by their clique or their scaling group.
    static bool is_for(const boost::json::object& entry, const names& who) {
        const boost::json::object* const filter = find_object(&entry, "filter");
        return !filter || who.first.empty() || names_one(*filter, "childCliqueNames", who.first) ||
               names_one(*filter, "childScalingGroupNames", who.second);
    }

    void share(const boost::json::array* sharing, std::string_view owner, std::int64_t replica,
               const names& who, boost::json::object& pod) {
        if (!sharing)
            return;
        for (const boost::json::value& each : *sharing) {
            const boost::json::object* const entry = each.if_object();
            const auto from = find_text(entry, "name");
            if (!from || !is_for(*entry, who))
                continue;
            const bool all = find_text(entry, "scope") == "AllReplicas";
            std::string name(owner);
            name.append("-")
                .append(all ? "all" : std::to_string(replica))
                .append("-")
                .append(*from);
            make(name, *from);
            use(name, pod);
        }
    }

    void make(const std::string& name, std::string_view from) {
        if (!known_.insert(name).second)
            return;
        if (set_->claim_templates)
            for (const boost::json::value& each : *set_->claim_templates) {
                const boost::json::object* const own = each.if_object();
                const boost::json::object* const spec = find_object(own, "templateSpec");
                if (find_text(own, "name") != from || !spec)
                    continue;
                boost::json::object claim{{"apiVersion", "resource.k8s.io/v1"},
                                          {"kind", "ResourceClaim"},
                                          {"metadata",
                                           {{"name", name},
                                            {"namespace", set_->name_space},
                                            {"labels",
                                             {{grove::managed_by_label, grove::operator_name},
                                              {grove::part_of_label, set_->name}}}}}};
                if (const boost::json::value* const what = find(spec, "spec"))
                    claim["spec"] = *what;
                made_.push_back(std::move(claim));
                return;
            }
        elsewhere_.insert(std::string(from));
    }

    static void use(const std::string& name, boost::json::object& pod) {
        const auto add = [](boost::json::object& to, std::string_view key,
                            boost::json::object what) {
            boost::json::value& list = to[key];
            if (!list.is_array())
                list = boost::json::array{};
            list.get_array().emplace_back(std::move(what));
        };
        boost::json::object& spec = child_at(pod, "spec");
        add(spec, "resourceClaims", {{"name", name}, {"resourceClaimName", name}});
        for (const char* const list : {"containers", "initContainers"})
            if (boost::json::value* const at = spec.if_contains(list); at && at->is_array())
                for (boost::json::value& each : at->get_array())
                    if (boost::json::object* const container = each.if_object())
                        add(child_at(*container, "resources"), "claims", {{"name", name}});
    }

    const grove_set* set_;
    std::vector<boost::json::object> made_;
    std::set<std::string> known_;
    std::set<std::string> elsewhere_;
};

} // namespace translate
} // namespace v0_1
} // namespace muster
