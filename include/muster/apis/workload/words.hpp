// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <muster/gangs/writing.hpp>

namespace muster {
inline namespace v0_1 {
namespace translate {

enum class workload_version : std::uint8_t {
    v1_35, ///< v1alpha1: pods name a Workload and one of its podGroups
    v1_36, ///< v1alpha2: pods name a PodGroup, which names a Workload's template
    v1_37, ///< v1beta1: the same in other words, with priority classes
};

namespace detail {

/// What must start together: so many of what `count` counts. What needs nobody is scheduled one by
/// one.
[[nodiscard]] inline boost::json::object workload_policy(std::string_view count,
                                                         std::int64_t minimum) {
    if (minimum == 0)
        return {{"basic", boost::json::object()}};
    return {{"gang", boost::json::object{{count, minimum}}}};
}

// 1.36 has an enumeration where 1.37 has a union, and 1.35 has nothing.
inline void give_back_workload_word(const own_word& word, boost::json::object& to,
                                    workload_version version, writing& out) {
    const boost::json::object* choice = word.value.if_object();
    const bool whole =
        word.value == boost::json::value("PodGroup") || (choice && choice->contains("all"));
    if (version == workload_version::v1_35 ||
        (version == workload_version::v1_36 && word.field == "preemptionPolicy"))
        out.lose(word.what, word.field);
    else if (word.field != "disruptionMode")
        to.emplace(word.field, word.value);
    else if (version == workload_version::v1_36)
        to.emplace(word.field, whole ? "PodGroup" : "Pod");
    else
        to.emplace(word.field,
                   boost::json::object{{whole ? "all" : "single", boost::json::object()}});
}

/// What a group and its template have beside the policy. Groups of groups have no pods, so no
/// claims to share.
inline void add_workload_words(boost::json::object& to, workload_version version,
                               const std::string& level, writing& out, bool of_pods = true) {
    if (!level.empty())
        to["schedulingConstraints"] = boost::json::object{
            {"topology", boost::json::array{boost::json::object{{"key", level}}}}};
    if (version == workload_version::v1_37 && !out.gang().priority.class_name.empty())
        to["priorityClassName"] = out.gang().priority.class_name;
    for (const own_word& word : out.gang().own_words)
        if (out.knows(word) && word.field != "controllerRef" &&
            (of_pods || word.field != "resourceClaims"))
            give_back_workload_word(word, to, version, out);
}

/// The beginning of the gang's Workload: of the one that it follows, where it follows one.
[[nodiscard]] inline boost::json::object start_workload(std::string_view api,
                                                        const std::string& name, writing& out) {
    boost::json::object made = out.manifest(api, "Workload", name);
    if (const auto& follows = out.gang().follows; follows && !follows->workload.empty()) {
        boost::json::object& metadata = child_at(made, "metadata");
        metadata.erase("labels");
        metadata.erase("annotations");
        if (!follows->labels.empty())
            metadata["labels"] = follows->labels;
        if (!follows->annotations.empty())
            metadata["annotations"] = follows->annotations;
        if (!follows->unused)
            metadata.erase("ownerReferences");
    }
    for (const own_word& word : out.gang().own_words)
        if (out.knows(word) && word.field == "controllerRef")
            child_at(made, "spec")[word.field] = word.value;
    return made;
}

/// What the gang's Workload is called, and what the gang is called in it; `otherwise` where it
/// follows no template.
[[nodiscard]] inline std::string workload_name(const writing& out) {
    const auto& follows = out.gang().follows;
    return follows && !follows->workload.empty() ? follows->workload : out.gang().name;
}
[[nodiscard]] inline std::string template_name(const writing& out, std::string otherwise) {
    const auto& follows = out.gang().follows;
    return follows && !follows->name.empty() ? follows->name : otherwise;
}

} // namespace detail

} // namespace translate
} // namespace v0_1
} // namespace muster
