// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/apis/core/objects.hpp>
#include <muster/apis/core/pod_field_types.hpp>
#include <muster/apis/core/reading_context.hpp>
#include <muster/document/field_reader.hpp>
#include <muster/vocabulary/pod_terms.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {
namespace detail {

/// The label by which every namespace carries its own name.
inline constexpr std::string_view namespace_name_label = "kubernetes.io/metadata.name";

[[nodiscard]] inline label_selector namespaces_named(std::vector<std::string> names) {
    label_requirement one;
    one.key = namespace_name_label;
    one.op = label_operator::in;
    one.values = std::move(names);
    return {{std::move(one)}};
}

/// A label key that forms domains.
[[nodiscard]] inline std::string read_topology_key(object_reader& object) {
    const field at = object.required("topologyKey");
    const auto key = at.as_string();
    if (key && key->empty())
        at.error("is empty (expected a label key of nodes)");
    return std::string(key.value_or(""));
}

/// The labels that a term asks of pods: its label selector, with what the pod's own labels say for
/// the keys of `matchLabelKeys` and `mismatchLabelKeys`; keys that the pod lacks say nothing.
/// Without a label selector the term speaks of no pod (Kubernetes LabelSelector).
inline void read_pod_labels(object_reader& object, const label_set& own, bool mismatches,
                            pod_selector& into, std::vector<std::string>& unsupported) {
    auto selector = read_label_selector(object.optional("labelSelector"), &unsupported);
    const auto merge = [&](std::string_view name, label_operator op) {
        const field at = object.optional(name);
        for (const std::string& key : read_strings(at.as_array())) {
            if (!selector) {
                at.error("given without a label selector (expected labelSelector beside it)");
                return;
            }
            if (const std::string* value = own.find(key)) {
                label_requirement one;
                one.key = key;
                one.op = op;
                one.values = {*value};
                selector->requirements.push_back(std::move(one));
            }
        }
    };
    merge("matchLabelKeys", label_operator::in);
    if (mismatches)
        merge("mismatchLabelKeys", label_operator::not_in);
    if (selector)
        into.labels = std::move(*selector);
    else
        into.tenants.emplace();
}

/// A PodAffinityTerm of a pod with these labels in this namespace.
[[nodiscard]] inline affinity_term read_affinity_term(object_reader& object,
                                                      const object_metadata& pod,
                                                      std::vector<std::string>& unsupported) {
    affinity_term read;
    auto namespaces = read_strings(object.optional("namespaces").as_array());
    auto selected = read_label_selector(object.optional("namespaceSelector"), &unsupported);
    auto& tenants = read.pods.tenants.emplace();
    if (namespaces.empty() && !selected)
        namespaces.push_back(pod.key.name_space);
    if (!namespaces.empty())
        tenants.push_back(namespaces_named(std::move(namespaces)));
    if (selected)
        tenants.push_back(std::move(*selected));
    read_pod_labels(object, pod.labels, true, read.pods, unsupported);
    read.topology = read_topology_key(object);
    finish(object, pod_tables::affinity_term, unsupported);
    return read;
}

/// podAffinity (`sign` 1) or podAntiAffinity (-1).
inline void read_pod_affinity(const field& at, const object_metadata& pod, std::int32_t sign,
                              pod_terms& terms, std::vector<std::string>& unsupported) {
    object_reader object = at.as_object();
    const field required_at = object.optional("requiredDuringSchedulingIgnoredDuringExecution");
    const array_reader required = required_at.as_array();
    required.for_each_object([&](object_reader& each) {
        (sign > 0 ? terms.affinity : terms.anti_affinity)
            .push_back(read_affinity_term(each, pod, unsupported));
    });
    const field preferred_at = object.optional("preferredDuringSchedulingIgnoredDuringExecution");
    const array_reader preferred = preferred_at.as_array();
    preferred.for_each_object([&](object_reader& each) {
        preferred_affinity_term one;
        const auto weight = each.required("weight").as_integer(1, 100);
        one.weight = sign * static_cast<std::int32_t>(weight.value_or(1));
        const field term_at = each.required("podAffinityTerm");
        object_reader term = term_at.as_object();
        one.term = read_affinity_term(term, pod, unsupported);
        finish(each, pod_tables::preferred_affinity, unsupported);
        terms.preferred.push_back(std::move(one));
    });
    finish(object, pod_tables::affinity_kind, unsupported);
}

/// Honor or Ignore.
[[nodiscard]] inline bool read_honor(const field& at, bool otherwise) {
    const auto text = at.as_string();
    if (!text)
        return otherwise;
    if (*text != "Honor" && *text != "Ignore")
        at.error(in_quotes(*text) + " is not a policy (expected Honor or Ignore)");
    return *text == "Honor";
}

inline void read_spread(const field& at, const object_metadata& pod, const reading_rules& rules,
                        pod_terms& terms, std::vector<std::string>& unsupported) {
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    const array_reader list = at.as_array();
    list.for_each_object([&](object_reader& each) {
        spread_term one;
        one.max_skew =
            static_cast<std::int32_t>(each.required("maxSkew").as_integer(1, most).value_or(1));
        const field when_at = each.required("whenUnsatisfiable");
        const auto when = when_at.as_string();
        one.required = when != "ScheduleAnyway";
        if (when && one.required && *when != "DoNotSchedule")
            when_at.error(in_quotes(*when) +
                          " is not an action (expected DoNotSchedule or ScheduleAnyway)");
        const field domains_at = each.optional("minDomains");
        const auto domains = domains_at.as_integer(1, most);
        one.min_domains = static_cast<std::int32_t>(domains.value_or(1));
        if (domains && !one.required)
            domains_at.error("only counts for what is required (expected whenUnsatisfiable: "
                             "DoNotSchedule beside it)");
        one.honor_affinity = read_honor(each.optional("nodeAffinityPolicy"), true);
        one.honor_taints = read_honor(each.optional("nodeTaintsPolicy"), false);
        one.pods.tenants.emplace().push_back(namespaces_named({pod.key.name_space}));
        read_pod_labels(each, pod.labels, false, one.pods, unsupported);
        if (one.pods.labels.requirements.empty() && !rules.kubernetes.empty_spread_selects_all())
            one.pods.tenants.emplace();
        one.topology = read_topology_key(each);
        for (const spread_term& other : terms.spread)
            if (other.topology == one.topology && other.required == one.required)
                each.error("the same topologyKey and whenUnsatisfiable as another (expected each "
                           "pair once)");
        finish(each, pod_tables::spread, unsupported);
        terms.spread.push_back(std::move(one));
    });
}

} // namespace detail
} // namespace codec
} // namespace v0_1
} // namespace muster
