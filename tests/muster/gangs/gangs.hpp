// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

#include <muster/gangs/gang_object.hpp>
#include <muster/gangs/target.hpp>
#include <muster/vocabulary/gang.hpp>

/// Gangs as tests write them down.
namespace translate_tests {

namespace mt = muster::translate;

/// JSON with single quotes.
inline boost::json::value json(std::string text) {
    for (char& c : text)
        if (c == '\'')
            c = '"';
    return boost::json::parse(text);
}

inline mt::gang_bundle gang(std::string name, std::int64_t min_member) {
    mt::gang_bundle made;
    made.gang.kind = "Gang";
    made.gang.name_space = "ns";
    made.gang.name = std::move(name);
    made.gang.tree = muster::gang_tree(min_member);
    return made;
}

/// Adds a role, or a subgroup, and `pods` pods of it, called `<gang>-<role>-<n>`.
inline muster::vertex_index add(mt::gang_bundle& to, std::string role, std::int64_t min_member,
                                std::size_t pods = 0,
                                muster::vertex_index parent = muster::vertex_index{0}) {
    const auto leaf = to.gang.tree.add(parent, min_member, role);
    if (pods > 0)
        to.gang.sizes.push_back({leaf, static_cast<std::int64_t>(pods)});
    for (std::size_t at = 0; at < pods; ++at) {
        boost::json::value pod = json("{'apiVersion': 'v1', 'kind': 'Pod', 'metadata': {}, 'spec': "
                                      "{'containers': [{'name': 'c'}]}}");
        pod.at("metadata").as_object()["name"] =
            to.gang.name + "-" + role + "-" + std::to_string(at);
        pod.at("metadata").as_object()["namespace"] = to.gang.name_space;
        to.pods.push_back({leaf, pod.as_object()});
    }
    return leaf;
}

/// A master and three of four workers.
inline mt::gang_bundle master_and_workers() {
    mt::gang_bundle made = gang("train", 0);
    add(made, "master", 1, 1);
    add(made, "worker", 3, 4);
    return made;
}

inline muster::topology_constraint levels(std::vector<std::string> of, int required,
                                          int preferred = -1) {
    muster::topology_constraint made;
    made.within.levels = std::move(of);
    if (required >= 0)
        made.required = static_cast<std::size_t>(required);
    if (preferred >= 0)
        made.preferred = static_cast<std::size_t>(preferred);
    return made;
}

inline const boost::json::object& object(const mt::written& made, std::string_view kind,
                                         std::size_t at = 0) {
    for (const boost::json::object& each : made.objects)
        if (each.at("kind").as_string() == kind && at-- == 0)
            return each;
    static const boost::json::object none;
    return none;
}
inline std::size_t count(const mt::written& made, std::string_view kind) {
    std::size_t found = 0;
    for (const boost::json::object& each : made.objects)
        found += each.at("kind").as_string() == kind ? 1U : 0U;
    return found;
}
inline boost::json::value spec(const mt::written& made, std::string_view kind, std::size_t at = 0) {
    const boost::json::object& found = object(made, kind, at);
    return found.contains("spec") ? found.at("spec") : boost::json::value();
}
inline boost::json::value metadata(const mt::written& made, std::string_view kind,
                                   std::size_t at = 0) {
    const boost::json::object& found = object(made, kind, at);
    return found.contains("metadata") ? found.at("metadata") : boost::json::value();
}

/// The kinds of losses in their order, each once: "queue role-minima".
inline std::string losses(const mt::written& made) {
    std::string text;
    for (const mt::loss& each : made.losses) {
        const std::string name(to_text(each.what));
        if ((" " + text + " ").find(" " + name + " ") == std::string::npos)
            text += (text.empty() ? "" : " ") + name;
    }
    return text;
}
/// Fields that would be refused.
inline std::string violations(const mt::written& made) {
    std::string text;
    for (const mt::violation& each : made.violations)
        text += (text.empty() ? "" : "; ") + each.field + ": " + each.message;
    return text;
}

} // namespace translate_tests
