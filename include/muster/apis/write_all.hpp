// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <muster/apis/write.hpp>
#include <muster/gangs/pod_marks.hpp>

namespace muster {
inline namespace v0_1 {
namespace translate {

namespace detail {

/// What several gangs write of one Workload becomes one object: each template once, in the order
/// that `place` gives their names. False where they disagree.
template<class Place>
[[nodiscard]] bool merge_workload(boost::json::object& into, const boost::json::object& more,
                                  const Place& place) {
    boost::json::object& spec = child_at(into, "spec");
    for (const auto& [key, value] : *find_object(&more, "spec")) {
        boost::json::value& known = spec[key];
        if (!value.is_array() || !known.is_array()) {
            if (!known.is_null() && known != value)
                return false;
            known = value;
            continue;
        }
        boost::json::array& list = known.get_array();
        for (const boost::json::value& each : value.get_array()) {
            const std::string_view name = string_at(each.as_object(), "name");
            const auto same = std::ranges::find_if(list, [&](const boost::json::value& other) {
                return string_at(other.as_object(), "name") == name;
            });
            if (same == list.end())
                list.push_back(each);
            else if (*same != each)
                return false;
        }
        std::ranges::stable_sort(list, {}, [&](const boost::json::value& each) {
            return place(string_at(each.as_object(), "name"));
        });
    }
    return true;
}

} // namespace detail

/// Writes gangs of one input, in their order, as write() does each of them. Those that follow
/// templates of one Workload share it; two objects of one kind and name are a violation.
[[nodiscard]] inline written write_all(target to, const std::vector<gang_bundle>& gangs,
                                       const write_options& options = {}) {
    written made;
    std::map<std::string, std::size_t> known;
    std::map<std::string, std::size_t> places; ///< of templates, by Workload and name
    for (const gang_bundle& gang : gangs)
        if (const auto& follows = gang.gang.follows)
            places[gang.gang.name_space + "/" + follows->workload + "/" + follows->name] =
                follows->at;
    for (const gang_bundle& gang : gangs) {
        written one = write(to, gang, options);
        std::ranges::move(one.losses, std::back_inserter(made.losses));
        std::ranges::move(one.violations, std::back_inserter(made.violations));
        for (boost::json::object& object : one.objects) {
            const std::string_view kind = string_at(object, "kind");
            const std::string title =
                object_text(kind, metadata_namespace(object), metadata_name(object));
            const auto [at, fresh] = known.try_emplace(
                std::string(string_at(object, "apiVersion")) + " " + title, made.objects.size());
            if (fresh || metadata_name(object).empty())
                made.objects.push_back(std::move(object));
            else if (kind != "Workload" ||
                     !detail::merge_workload(
                         made.objects[at->second], object, [&](std::string_view name) {
                             return places[std::string(metadata_namespace(object)) + "/" +
                                           std::string(metadata_name(object)) + "/" +
                                           std::string(name)];
                         }))
                made.violations.push_back(
                    {title, "metadata.name",
                     "two gangs become objects of this name (expected every name once)"});
        }
    }
    return made;
}

} // namespace translate
} // namespace v0_1
} // namespace muster
