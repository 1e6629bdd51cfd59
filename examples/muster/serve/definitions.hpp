// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <muster/serve/json_values.hpp>
#include <muster/serve/kinds.hpp>

namespace muster {
inline namespace v0_1 {
namespace testing {
namespace api_server {

namespace detail {

[[nodiscard]] inline std::vector<std::string> texts_of(const json::array* from) {
    std::vector<std::string> made;
    if (from)
        for (const json::value& each : *from)
            if (each.is_string())
                made.emplace_back(view(each.get_string()));
    return made;
}

} // namespace detail

/// The kinds that a CustomResourceDefinition asks for, one per served version.
[[nodiscard]] inline std::vector<kind_info> defined_kinds(const json::object& definition) {
    std::vector<kind_info> made;
    const json::array* const versions = array_at(definition, {"spec", "versions"});
    if (!versions)
        return made;
    for (const json::value& each : *versions) {
        if (!each.is_object() || !true_at(each.get_object(), {"served"}))
            continue;
        const json::object& version = each.get_object();
        kind_info one;
        one.custom = true;
        one.counts_generations = true;
        one.group = text_at(definition, {"spec", "group"});
        one.version = text_at(version, {"name"});
        one.plural = text_at(definition, {"spec", "names", "plural"});
        one.kind = text_at(definition, {"spec", "names", "kind"});
        one.singular = text_at(definition, {"spec", "names", "singular"});
        one.short_names = detail::texts_of(array_at(definition, {"spec", "names", "shortNames"}));
        one.categories = detail::texts_of(array_at(definition, {"spec", "names", "categories"}));
        one.namespaced = text_at(definition, {"spec", "scope"}) == "Namespaced";
        one.has_status = object_at(version, {"subresources", "status"}) != nullptr;
        if (const json::object* const schema = object_at(version, {"schema", "openAPIV3Schema"}))
            one.schema = *schema;
        if (const json::array* const columns = array_at(version, {"additionalPrinterColumns"}))
            for (const json::value& column : *columns)
                if (const json::object* const found = column.if_object())
                    one.columns.push_back({std::string(text_at(*found, {"name"})),
                                           std::string(text_at(*found, {"type"})),
                                           std::string(text_at(*found, {"jsonPath"})),
                                           integer_at(*found, {"priority"}).value_or(0)});
        made.push_back(std::move(one));
    }
    return made;
}

/// Fills in what a CustomResourceDefinition leaves open, and says that it is established.
inline void establish(json::object& definition, std::string_view when) {
    json::object& names = make_object(make_object(definition, "spec"), "names");
    const std::string kind(text_at(names, {"kind"}));
    std::string lower;
    for (const char c : kind)
        lower += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    if (!names.contains("singular"))
        names["singular"] = lower;
    if (!names.contains("listKind"))
        names["listKind"] = kind + "List";
    json::array conditions;
    for (const auto& [type, reason, message] :
         {std::tuple{"NamesAccepted", "NoConflicts", "no conflicts found"},
          std::tuple{"Established", "InitialNamesAccepted",
                     "the initial names have been accepted"}})
        conditions.push_back(json::object{{"type", type},
                                          {"status", "True"},
                                          {"lastTransitionTime", when},
                                          {"reason", reason},
                                          {"message", message}});
    json::object status{{"conditions", std::move(conditions)}, {"acceptedNames", names}};
    json::array stored;
    if (const json::array* const versions = array_at(definition, {"spec", "versions"}))
        for (const json::value& each : *versions)
            if (each.is_object() && true_at(each.get_object(), {"storage"}))
                stored.push_back(json::value(text_at(each.get_object(), {"name"})));
    status["storedVersions"] = std::move(stored);
    definition["status"] = std::move(status);
}

} // namespace api_server
} // namespace testing
} // namespace v0_1
} // namespace muster
