// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/gangs/names.hpp>
#include <muster/serve/json_values.hpp>
#include <muster/serve/schema.hpp>

namespace muster {
inline namespace v0_1 {
namespace testing {
namespace api_server {

/// Returns the cause for a value that Kubernetes does not accept in a field.
[[nodiscard]] inline field_cause invalid_value(std::string path, const json::value& found,
                                               const std::string& message) {
    return {"FieldValueInvalid", "Invalid value: " + json::serialize(found) + ": " + message,
            std::move(path)};
}

/// Returns the cause for a field that is missing or empty.
[[nodiscard]] inline field_cause required_value(std::string path, std::string_view message = {}) {
    return {"FieldValueRequired",
            "Required value" + (message.empty() ? std::string() : ": " + std::string(message)),
            std::move(path)};
}

/// Returns the cause for a text that is not in a closed list. `supported` is the list as Kubernetes
/// writes it: `"a", "b"`.
[[nodiscard]] inline field_cause unsupported_value(std::string path, std::string_view found,
                                                   std::string_view supported) {
    return {"FieldValueNotSupported",
            "Unsupported value: " + json::serialize(json::value(found)) +
                ": supported values: " + std::string(supported),
            std::move(path)};
}

/// What is wrong with a text, in the words of Kubernetes; empty if nothing is.
using text_faults = std::vector<std::string>;

namespace detail {

[[nodiscard]] inline std::string too_long_text(std::size_t most) {
    return "must be no more than " + std::to_string(most) + " bytes";
}

/// True if the text follows the syntax, however long it is.
[[nodiscard]] inline bool has_syntax(std::string_view text, translate::name_syntax syntax) {
    syntax.most = std::numeric_limits<std::size_t>::max();
    return translate::is_legal(text, syntax);
}

inline constexpr std::string_view label_syntax_text =
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
    "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
    "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

} // namespace detail

/// Checks the name of most objects.
[[nodiscard]] inline text_faults subdomain_faults(std::string_view text) {
    text_faults found;
    if (text.size() > translate::dns_subdomain.most)
        found.push_back(detail::too_long_text(translate::dns_subdomain.most));
    if (!detail::has_syntax(text, translate::dns_subdomain))
        found.emplace_back(
            "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, "
            "'-' or '.', and must start and end with an alphanumeric character (e.g. "
            "'example.com', regex used for validation is "
            "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')");
    return found;
}

/// Checks the name of a namespace or a container.
[[nodiscard]] inline text_faults dns_label_faults(std::string_view text) {
    text_faults found;
    if (text.size() > translate::dns_label.most)
        found.push_back(detail::too_long_text(translate::dns_label.most));
    if (detail::has_syntax(text, translate::dns_label))
        return found;
    if (detail::has_syntax(text, translate::dns_subdomain))
        found.emplace_back("must not contain dots");
    else
        found.emplace_back("a lowercase RFC 1123 label must consist of lower case alphanumeric "
                           "characters or '-', and must start and end with an alphanumeric "
                           "character (e.g. 'my-name',  or '123-abc', regex used for validation "
                           "is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')");
    return found;
}

/// Checks the name of a role or of a binding of roles, which is a segment of a path.
[[nodiscard]] inline text_faults path_segment_faults(std::string_view text) {
    text_faults found;
    if (text == "." || text == "..")
        found.push_back("may not be '" + std::string(text) + "'");
    for (const char each : {'/', '%'})
        if (text.find(each) != std::string_view::npos)
            found.push_back(std::string("may not contain '") + each + "'");
    return found;
}

/// Checks the key of a label, of an annotation or of a resource.
[[nodiscard]] inline text_faults qualified_name_faults(std::string_view text) {
    text_faults found;
    const auto slash = text.find('/');
    if (slash != std::string_view::npos && text.find('/', slash + 1) != std::string_view::npos)
        return {"a valid label key " + std::string(detail::label_syntax_text) +
                " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"};
    const std::string_view prefix = text.substr(0, slash);
    const std::string_view name = slash == std::string_view::npos ? text : text.substr(slash + 1);
    if (slash == 0)
        found.emplace_back("prefix part must be non-empty");
    else if (slash != std::string_view::npos)
        for (const std::string& each : subdomain_faults(prefix))
            found.push_back("prefix part " + each);
    if (name.empty())
        found.emplace_back("name part must be non-empty");
    else if (name.size() > translate::label_value.most)
        found.push_back("name part " + detail::too_long_text(translate::label_value.most));
    if (!detail::has_syntax(name, translate::label_value))
        found.push_back("name part " + std::string(detail::label_syntax_text));
    return found;
}

/// Checks the value of a label.
[[nodiscard]] inline text_faults label_value_faults(std::string_view text) {
    text_faults found;
    if (text.size() > translate::label_value.most)
        found.push_back(detail::too_long_text(translate::label_value.most));
    if (!text.empty() && !detail::has_syntax(text, translate::label_value))
        found.emplace_back("a valid label must be an empty string or consist of alphanumeric "
                           "characters, '-', '_' or '.', and must start and end with an "
                           "alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', "
                           "regex used for validation is "
                           "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')");
    return found;
}

/// Adds a cause for each fault of the text in a field.
inline void add_faults(const std::string& path, std::string_view text, const text_faults& faults,
                       std::vector<field_cause>& wrong) {
    for (const std::string& each : faults)
        wrong.push_back(invalid_value(path, json::value(text), each));
}

} // namespace api_server
} // namespace testing
} // namespace v0_1
} // namespace muster
