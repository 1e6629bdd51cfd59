// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <muster/base/ranges.hpp>
#include <muster/base/short_text.hpp>
#include <muster/vocabulary/constraints.hpp>
#include <muster/vocabulary/labels.hpp>
#include <muster/vocabulary/node_claims.hpp>
#include <muster/vocabulary/taints.hpp>

namespace muster {
inline namespace v0_1 {
namespace words {

/// Returns "KEY=VALUE:EFFECT", as `kubectl taint` spells it.
[[nodiscard]] inline std::string taint_text(const taint& what) {
    return what.key + (what.value.empty() ? "" : "=" + what.value) + ":" +
           (what.effect == taint_effect::no_execute ? "NoExecute" : "NoSchedule");
}

/// Returns "8080/TCP", or "127.0.0.1:8080/TCP".
[[nodiscard]] inline std::string port_text(const host_port& port) {
    return (port.address.empty() ? "" : port.address + ":") + std::to_string(port.port) + "/" +
           port.protocol;
}

namespace detail {

/// Returns the key or value of a label. In quotes if Kubernetes would not accept it.
[[nodiscard]] inline std::string label_text(const std::string& text) {
    const auto is_foreign = [](char each) {
        return !((each >= 'a' && each <= 'z') || (each >= 'A' && each <= 'Z') ||
                 (each >= '0' && each <= '9') || each == '.' || each == '-' || each == '_' ||
                 each == '/');
    };
    return muster::detail::any_of(text, is_foreign) ? in_quotes(text) : text;
}

} // namespace detail

/// Returns the requirement as `kubectl -l` spells it: "disk=ssd", "zone in (a, b)", "!gpu". Lists
/// at most three values, and the number of further ones.
[[nodiscard]] inline std::string requirement_text(const label_requirement& what) {
    const std::string key = detail::label_text(what.key);
    std::vector<std::string> values;
    for (const std::string& each : what.values)
        values.push_back(detail::label_text(each));
    switch (what.op) {
    case label_operator::exists:
        return key;
    case label_operator::does_not_exist:
        return "!" + key;
    case label_operator::greater:
    case label_operator::less:
        return key + (what.op == label_operator::greater ? ">" : "<") +
               (values.empty() ? "" : values.front());
    case label_operator::in:
    case label_operator::not_in:
        break;
    }
    const bool in = what.op == label_operator::in;
    if (values.size() == 1)
        return key + (in ? "=" : "!=") + values.front();
    return key + (in ? " in (" : " notin (") + list_text(values, "value") + ")";
}

/// Returns the requirements of a term of a node affinity: "disk=ssd, metadata.name=n1".
[[nodiscard]] inline std::string requirements_text(const node_term& term) {
    std::string text;
    for (const auto* const all : {&term.labels.requirements, &term.name})
        for (const label_requirement& each : *all)
            text += (text.empty() ? "" : ", ") + requirement_text(each);
    return text.empty() ? "a term without requirements" : text;
}

} // namespace words
} // namespace v0_1
} // namespace muster
