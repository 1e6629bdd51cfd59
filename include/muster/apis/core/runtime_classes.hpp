// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <muster/apis/core/objects.hpp>
#include <muster/apis/core/pod_field_types.hpp>
#include <muster/apis/core/pod_reader.hpp>
#include <muster/apis/core/reading_context.hpp>
#include <muster/apis/core/request_reader.hpp>
#include <muster/document/diagnostic.hpp>
#include <muster/document/field_reader.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {
namespace detail {

inline constexpr std::array runtime_overhead{
    pod_field{"podFixed", field_type::object, field_support::honoured},
};
inline constexpr std::array runtime_scheduling{
    pod_field{"nodeSelector", field_type::object, field_support::honoured},
    pod_field{"tolerations", field_type::list, field_support::honoured},
};

} // namespace detail

/// Reads a node.k8s.io/v1 RuntimeClass.
[[nodiscard]] inline runtime_class_object read_runtime_class(object_reader& object,
                                                             reading_context& context) {
    runtime_class_object read;
    read.metadata = read_metadata(object, false, context);
    const field overhead_at = object.optional("overhead");
    object_reader overhead = overhead_at.as_object();
    read.overhead = read_amounts(overhead.optional("podFixed"));
    // Every pod takes one of `pods`, whatever the class says.
    read.overhead.erase("pods");
    detail::finish(overhead, detail::runtime_overhead, read.unsupported);
    const field scheduling_at = object.optional("scheduling");
    object_reader scheduling = scheduling_at.as_object();
    read.selector = require_equal(read_labels(scheduling.optional("nodeSelector")));
    detail::read_tolerations(scheduling.optional("tolerations"), read.tolerations,
                             read.unsupported);
    detail::finish(scheduling, detail::runtime_scheduling, read.unsupported);
    static_cast<void>(object.required("handler").as_string());
    object.ignore({"apiVersion", "kind"});
    object.finish();
    return read;
}

/// Adds what the API server would add from a pod's RuntimeClass when it creates the pod: the node
/// selector, the tolerations and, if the pod has none, the overhead. As there, a pod whose node
/// selector contradicts that of the class can run nowhere.
inline void apply_runtime_class(const runtime_class_object& from, pod_object& pod) {
    if (!pod.has_overhead)
        add(pod.requests, from.overhead);
    std::vector<label_requirement>& required = pod.where.selector.requirements;
    for (const label_requirement& each : from.selector)
        if (std::ranges::find(required, each) == required.end())
            required.push_back(each);
    std::ranges::copy(from.tolerations, std::back_inserter(pod.where.tolerations));
    for (const std::string& each : from.unsupported)
        pod.unsupported.push_back("RuntimeClass " + from.metadata.key.name + ": " + each);
}

/// Applies RuntimeClasses to pods that the API server has not created yet (without a uid). A class
/// that is missing is one warning, unless its pods have an overhead, which the API server wrote.
/// O(pods · log classes).
inline void apply_runtime_classes(std::span<const runtime_class_object> classes,
                                  std::span<pod_object> pods, diagnostics& out) {
    std::map<std::string_view, const runtime_class_object*> by_name;
    for (const runtime_class_object& each : classes)
        by_name.emplace(each.metadata.key.name, &each);
    std::set<std::string_view> missing;
    for (pod_object& pod : pods) {
        if (pod.runtime_class.empty() || !pod.metadata.uid.empty())
            continue;
        if (const auto found = by_name.find(pod.runtime_class); found != by_name.end())
            apply_runtime_class(*found->second, pod);
        else if (!pod.has_overhead && missing.insert(pod.runtime_class).second)
            report(out, severity::warning, pod.metadata.where, {"spec", "runtimeClassName"},
                   "there is no RuntimeClass " + in_quotes(pod.runtime_class) +
                       ", so pods count without its overhead, node selector and tolerations "
                       "(expected a RuntimeClass of the input)");
    }
}

} // namespace codec
} // namespace v0_1
} // namespace muster
