// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/serve/json_values.hpp>
#include <muster/serve/metadata_checks.hpp>
#include <muster/serve/name_checks.hpp>
#include <muster/serve/schema.hpp>

namespace muster {
inline namespace v0_1 {
namespace testing {
namespace api_server {

namespace detail {

/// Calls `visit` with each object of a list and the path of the object. Null is an empty object, as
/// in Go.
template<class Visit>
void for_each_object(const json::array* list, const std::string& path, Visit visit) {
    static const json::object empty;
    for (std::size_t at = 0; list && at < list->size(); ++at) {
        const json::object* const one = (*list)[at].if_object();
        visit(one ? *one : empty, path + "[" + std::to_string(at) + "]");
    }
}

/// Adds what is wrong with a requirement of a selector. `compares`: the selector has the operators
/// Gt and Lt.
inline void check_requirement(const json::object& requirement, const std::string& path,
                              bool compares, bool checks_values, std::vector<field_cause>& wrong) {
    const std::string_view key = text_at(requirement, {"key"});
    const std::string_view how = text_at(requirement, {"operator"});
    const json::array* const values = array_at(requirement, {"values"});
    const std::size_t count = values ? values->size() : 0;
    const std::string at = path + ".values";
    if (how == "In" || how == "NotIn") {
        if (count == 0)
            wrong.push_back(
                required_value(at, "must be specified when `operator` is 'In' or 'NotIn'"));
    } else if (how == "Exists" || how == "DoesNotExist") {
        if (count > 0)
            wrong.push_back({"FieldValueForbidden",
                             "Forbidden: may not be specified when `operator` is 'Exists' or "
                             "'DoesNotExist'",
                             at});
    } else if (compares && (how == "Gt" || how == "Lt")) {
        if (count != 1)
            wrong.push_back(required_value(
                at, "must be specified single value when `operator` is 'Lt' or 'Gt'"));
    } else {
        wrong.push_back(
            invalid_value(path + ".operator", json::value(how), "not a valid selector operator"));
    }
    add_faults(path + ".key", key, qualified_name_faults(key), wrong);
    for (std::size_t index = 0; checks_values && index < count; ++index)
        add_faults(at + "[" + std::to_string(index) + "]", map_text((*values)[index]),
                   label_value_faults(map_text((*values)[index])), wrong);
}

inline void check_node_term(const json::object& term, const std::string& path, bool checks_values,
                            std::vector<field_cause>& wrong) {
    for_each_object(array_at(term, {"matchExpressions"}), path + ".matchExpressions",
                    [&](const json::object& each, const std::string& at) {
                        check_requirement(each, at, true, checks_values, wrong);
                    });
}

inline void check_label_selector(const json::object* selector, const std::string& path,
                                 std::vector<field_cause>& wrong) {
    if (!selector)
        return;
    check_labels(object_at(*selector, {"matchLabels"}), path + ".matchLabels", wrong);
    for_each_object(array_at(*selector, {"matchExpressions"}), path + ".matchExpressions",
                    [&](const json::object& each, const std::string& at) {
                        check_requirement(each, at, false, true, wrong);
                    });
}

inline void check_weight(const json::object& term, const std::string& path,
                         std::vector<field_cause>& wrong) {
    const std::int64_t weight = integer_at(term, {"weight"}).value_or(0);
    if (weight < 1 || weight > 100)
        wrong.push_back(invalid_value(path + ".weight", weight, "must be in the range 1-100"));
}

inline void check_node_affinity(const json::object& affinity, const std::string& path,
                                std::vector<field_cause>& wrong) {
    if (const json::object* const required =
            object_at(affinity, {"requiredDuringSchedulingIgnoredDuringExecution"})) {
        const std::string at =
            path + ".requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms";
        const json::array* const terms = array_at(*required, {"nodeSelectorTerms"});
        if (!terms || terms->empty())
            wrong.push_back(required_value(at, "must have at least one node selector term"));
        for_each_object(terms, at, [&](const json::object& each, const std::string& term) {
            check_node_term(each, term, true, wrong);
        });
    }
    constexpr std::string_view preferred = "preferredDuringSchedulingIgnoredDuringExecution";
    for_each_object(array_at(affinity, {preferred}), joined(path, preferred),
                    [&](const json::object& each, const std::string& at) {
                        check_weight(each, at, wrong);
                        if (const json::object* const term = object_at(each, {"preference"}))
                            check_node_term(*term, at + ".preference", false, wrong);
                    });
}

inline void check_affinity_term(const json::object& term, const std::string& path,
                                std::vector<field_cause>& wrong) {
    for (const std::string_view field : {"labelSelector", "namespaceSelector"})
        check_label_selector(object_at(term, {field}), joined(path, field), wrong);
    const std::string_view key = text_at(term, {"topologyKey"});
    if (key.empty())
        wrong.push_back(required_value(path + ".topologyKey", "can not be empty"));
    add_faults(path + ".topologyKey", key, qualified_name_faults(key), wrong);
}

inline void check_pod_affinity(const json::object& affinity, const std::string& path,
                               std::vector<field_cause>& wrong) {
    constexpr std::string_view required = "requiredDuringSchedulingIgnoredDuringExecution";
    constexpr std::string_view preferred = "preferredDuringSchedulingIgnoredDuringExecution";
    for_each_object(array_at(affinity, {required}), joined(path, required),
                    [&](const json::object& each, const std::string& at) {
                        check_affinity_term(each, at, wrong);
                    });
    for_each_object(array_at(affinity, {preferred}), joined(path, preferred),
                    [&](const json::object& each, const std::string& at) {
                        check_weight(each, at, wrong);
                        const json::object* const term = object_at(each, {"podAffinityTerm"});
                        check_affinity_term(term ? *term : json::object{}, at + ".podAffinityTerm",
                                            wrong);
                    });
}

/// Adds a cause unless this is an effect of taints.
inline void check_effect(std::string_view effect, const std::string& path,
                         std::vector<field_cause>& wrong) {
    if (effect != "NoSchedule" && effect != "PreferNoSchedule" && effect != "NoExecute")
        wrong.push_back(
            unsupported_value(path, effect, R"("NoSchedule", "PreferNoSchedule", "NoExecute")"));
}

inline void check_toleration(const json::object& toleration, const std::string& path,
                             std::vector<field_cause>& wrong) {
    const std::string_view key = text_at(toleration, {"key"});
    const std::string_view how = text_at(toleration, {"operator"});
    const std::string_view value = text_at(toleration, {"value"});
    const std::string_view effect = text_at(toleration, {"effect"});
    const std::string at = path + ".operator";
    if (!key.empty())
        add_faults(path + ".key", key, qualified_name_faults(key), wrong);
    if (key.empty() && how != "Exists")
        wrong.push_back(invalid_value(at, json::value(how),
                                      "operator must be Exists when `key` is empty, which means "
                                      "\"match all values and all keys\""));
    if (value_at(toleration, {"tolerationSeconds"}) && effect != "NoExecute")
        wrong.push_back(
            invalid_value(path + ".effect", json::value(effect),
                          "effect must be 'NoExecute' when `tolerationSeconds` is set"));
    if (how.empty() || how == "Equal") {
        add_faults(at, value, label_value_faults(value), wrong);
    } else if (how == "Exists") {
        if (!value.empty())
            wrong.push_back(invalid_value(at, json::value(value),
                                          "value must be empty when `operator` is 'Exists'"));
    } else if (how != "Lt" && how != "Gt") {
        wrong.push_back(unsupported_value(at, how, R"("Equal", "Exists")"));
    }
    if (!effect.empty())
        check_effect(effect, path + ".effect", wrong);
}

inline void check_spread(const json::object& constraint, const std::string& path,
                         std::vector<field_cause>& wrong) {
    for (const std::string_view field : {"maxSkew", "minDomains"}) {
        const auto number = integer_at(constraint, {field});
        if (number.value_or(field == "maxSkew" ? 0 : 1) < 1)
            wrong.push_back(invalid_value(joined(path, field), number.value_or(0),
                                          "must be greater than zero"));
    }
    if (text_at(constraint, {"topologyKey"}).empty())
        wrong.push_back(required_value(path + ".topologyKey", "can not be empty"));
    const std::string_view action = text_at(constraint, {"whenUnsatisfiable"});
    if (action != "DoNotSchedule" && action != "ScheduleAnyway")
        wrong.push_back(unsupported_value(path + ".whenUnsatisfiable", action,
                                          R"("DoNotSchedule", "ScheduleAnyway")"));
    check_label_selector(object_at(constraint, {"labelSelector"}), path + ".labelSelector", wrong);
}

} // namespace detail

/// Adds what is wrong with the fields of a pod's spec that say where the pod may run.
inline void check_placement(const json::object& spec, std::vector<field_cause>& wrong) {
    detail::check_labels(object_at(spec, {"nodeSelector"}), "spec.nodeSelector", wrong);
    if (const std::string_view node = text_at(spec, {"nodeName"}); !node.empty())
        add_faults("spec.nodeName", node, subdomain_faults(node), wrong);
    if (const json::object* const affinity = object_at(spec, {"affinity"})) {
        if (const json::object* const found = object_at(*affinity, {"nodeAffinity"}))
            detail::check_node_affinity(*found, "spec.affinity.nodeAffinity", wrong);
        for (const std::string_view field : {"podAffinity", "podAntiAffinity"})
            if (const json::object* const found = object_at(*affinity, {field}))
                detail::check_pod_affinity(*found, detail::joined("spec.affinity", field), wrong);
    }
    detail::for_each_object(array_at(spec, {"tolerations"}), "spec.tolerations",
                            [&](const json::object& each, const std::string& at) {
                                detail::check_toleration(each, at, wrong);
                            });
    detail::for_each_object(array_at(spec, {"topologySpreadConstraints"}),
                            "spec.topologySpreadConstraints",
                            [&](const json::object& each, const std::string& at) {
                                detail::check_spread(each, at, wrong);
                            });
}

} // namespace api_server
} // namespace testing
} // namespace v0_1
} // namespace muster
