// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <muster/apis/gang_apis.hpp>
#include <muster/apis/gang_claims.hpp>
#include <muster/apis/gang_facts.hpp>
#include <muster/apis/koordinator/gang_group_list.hpp>
#include <muster/gangs/pod_marks.hpp>
#include <muster/input/group_objects.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// A name by which objects of gangs find each other. Objects that share none, neither directly nor
/// through others, have nothing to do with one another: they may be read apart.
struct gang_link {
    translate::gang_api api = translate::gang_api::none;
    std::string name_space; ///< empty = `name` is a list of gangs that start together
    /// Of Kubernetes' API with the kind in front: `Workload/train`.
    std::string name;

    /// True if the link names one gang, false if it is a list of gangs.
    [[nodiscard]] bool is_gang() const noexcept {
        return api != translate::gang_api::none && !name_space.empty();
    }
    [[nodiscard]] friend auto operator<=>(const gang_link&, const gang_link&) = default;
};

namespace detail {

inline void add_link(std::vector<gang_link>& to, gang_link link) {
    if (std::ranges::find(to, link) == to.end())
        to.push_back(std::move(link));
}

/// Links a gang to the gangs that it starts together with. The link is the sorted list itself, so
/// only gangs with the same list share it: a gang cannot link another one whose list differs. A
/// list that is invalid or lacks the gang itself makes no link.
inline void add_gang_group(const boost::json::object& manifest, const object_key& own,
                           std::vector<gang_link>& to) {
    gang_group_list list = gang_group_of(manifest);
    if (list.gangs.size() < 2 || !list.wrong.empty() || !list.holds(own))
        return;
    std::ranges::sort(list.gangs);
    std::string name;
    for (const object_key& each : list.gangs)
        name.append(each.name_space).append("/").append(each.name).append(" ");
    add_link(to, {translate::gang_api::coscheduling, {}, std::move(name)});
}

} // namespace detail

/// The links of an object that is a gang; none where such objects are no gangs.
[[nodiscard]] inline std::vector<gang_link> links_of_group(std::string_view version,
                                                           std::string_view kind,
                                                           const boost::json::object& manifest) {
    std::vector<gang_link> made;
    const translate::gang_api api = group_api(version, kind);
    if (api == translate::gang_api::none)
        return made;
    const std::string home(translate::metadata_namespace(manifest));
    const std::string name(translate::metadata_name(manifest));
    const auto add = [&](std::string called) {
        detail::add_link(made, {api, home, std::move(called)});
    };
    const bool own_way = apis::find_api([&]<class Api>() {
        if constexpr (requires { Api::link_group(kind, manifest, name, add); }) {
            if (Api::facts.api != api)
                return false;
            Api::link_group(kind, manifest, name, add);
            return true;
        }
        return false;
    });
    if (!own_way)
        add(name);
    if (api == translate::gang_api::coscheduling)
        detail::add_gang_group(manifest, {home, name}, made);
    return made;
}

/// Returns the links of a pod by its marks. A pod without marks has a link of its own.
[[nodiscard]] inline std::vector<gang_link> links_of_pod(const boost::json::object& manifest) {
    using translate::gang_api;
    std::vector<gang_link> made;
    std::vector<object_key> groups;
    const std::string home(translate::metadata_namespace(manifest));
    for (const translate::gang_claim& claim : translate::claims_of(manifest)) {
        if (claim.group.empty())
            continue;
        std::string name = claim.group;
        apis::find_api([&]<class Api>() {
            if constexpr (requires { Api::link_of_pod(claim); })
                if (Api::facts.api == claim.api)
                    name = Api::link_of_pod(claim);
            return false;
        });
        if (claim.api == gang_api::coscheduling)
            groups.push_back({home, name});
        detail::add_link(made, {claim.api, home, std::move(name)});
    }
    for (const object_key& each : groups)
        detail::add_gang_group(manifest, each, made);
    if (made.empty())
        detail::add_link(made,
                         {gang_api::none, home, std::string(translate::metadata_name(manifest))});
    return made;
}

/// What of a pod says to which gang it belongs, and nothing else.
[[nodiscard]] inline boost::json::object marks_of_pod(const boost::json::object& manifest) {
    boost::json::object made{{"apiVersion", "v1"}, {"kind", "Pod"}};
    const auto keep = [&](const char* part, std::initializer_list<const char*> fields) {
        const auto* const from = translate::find_object(&manifest, part);
        boost::json::object kept;
        for (const char* const field : fields)
            if (const auto* const value = from ? from->if_contains(field) : nullptr)
                kept[field] = *value;
        made[part] = std::move(kept);
    };
    keep("metadata", {"name", "namespace", "labels", "annotations", "ownerReferences"});
    keep("spec", {"priorityClassName", "schedulerName", "schedulingGates", "workloadRef",
                  "schedulingGroup"});
    return made;
}

} // namespace codec
} // namespace v0_1
} // namespace muster
