// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include <muster/vocabulary/constraints.hpp>
#include <muster/vocabulary/labels.hpp>
#include <muster/vocabulary/node.hpp>
#include <muster/vocabulary/taints.hpp>

namespace muster {
inline namespace v0_1 {
namespace testing {

/// Kubernetes' rules on labels, taints and ports, for the verifier alone.
struct node_rules {
    [[nodiscard]] static const std::string* label(const label_set& of, const std::string& key) {
        for (const auto& [name, value] : of)
            if (name == key)
                return &value;
        return nullptr;
    }
    [[nodiscard]] static bool holds(const label_requirement& one, const std::string* value) {
        const auto number = [](const std::string& text) -> std::optional<std::int64_t> {
            const std::size_t sign = text.rfind("+", 0) == 0 && text.rfind("+-", 0) != 0 ? 1 : 0;
            const char* const end = text.data() + text.size();
            std::int64_t found = 0;
            const auto [at, error] = std::from_chars(text.data() + sign, end, found);
            return error == std::errc{} && at == end ? std::optional(found) : std::nullopt;
        };
        const bool in = value && std::count(one.values.begin(), one.values.end(), *value) > 0;
        switch (one.op) {
        case label_operator::in:
            return in;
        case label_operator::not_in:
            return !in;
        case label_operator::exists:
            return value != nullptr;
        case label_operator::does_not_exist:
            return value == nullptr;
        case label_operator::greater:
        case label_operator::less:
            break;
        }
        const auto have = value ? number(*value) : std::nullopt;
        const auto bound = one.values.empty() ? std::nullopt : number(one.values.front());
        return have && bound && (one.op == label_operator::less ? *have < *bound : *have > *bound);
    }
    [[nodiscard]] static bool match(const label_selector& all, const label_set& labels) {
        return std::all_of(
            all.requirements.begin(), all.requirements.end(),
            [&](const label_requirement& one) { return holds(one, label(labels, one.key)); });
    }
    [[nodiscard]] static bool clash(const std::vector<host_port>& lhs,
                                    const std::vector<host_port>& rhs) {
        for (const host_port& one : lhs)
            for (const host_port& two : rhs)
                if (one.port == two.port && one.protocol == two.protocol &&
                    (one.address.empty() || two.address.empty() || one.address == two.address))
                    return true;
        return false;
    }
    /// The node's name and labels are among those that the pod asks for.
    template<std::size_t Width>
    [[nodiscard]] static bool chosen(const constraints& who, const node<Width>& on) {
        const auto chooses = [&](const node_term& term) {
            return !(term.name.empty() && term.labels.requirements.empty()) &&
                   match(term.labels, on.labels) &&
                   std::all_of(term.name.begin(), term.name.end(),
                               [&](const auto& one) { return holds(one, &on.name); });
        };
        return match(who.selector, on.labels) &&
               (!who.affinity || std::any_of(who.affinity->begin(), who.affinity->end(), chooses));
    }
    /// True if the node can use every volume; with `emptied`, every volume that exists.
    template<std::size_t Width>
    [[nodiscard]] static bool reaches(const constraints& who, const node<Width>& on, bool emptied) {
        return std::all_of(who.volumes.begin(), who.volumes.end(), [&](const volume_reach& volume) {
            constraints alone;
            alone.affinity = volume.any_of;
            return (emptied && !volume.bound) || chosen(alone, on);
        });
    }
    [[nodiscard]] static bool endured(const constraints& who, const taint& what) {
        return what.effect == taint_effect::prefer_no_schedule ||
               std::any_of(who.tolerations.begin(), who.tolerations.end(), [&](const auto& by) {
                   return by.key.value_or(what.key) == what.key &&
                          by.value.value_or(what.value) == what.value &&
                          by.effect.value_or(what.effect) == what.effect;
               });
    }
    /// The node's name, labels and taints let the pod in; in an emptied cluster conditions and
    /// cordons have passed.
    template<std::size_t Width>
    [[nodiscard]] static bool welcome(const constraints& who, const node<Width>& on, bool emptied) {
        const auto passes = [&](const taint& what) {
            return (emptied && what.key.rfind("node.kubernetes.io/", 0) == 0) || endured(who, what);
        };
        return chosen(who, on) && reaches(who, on, emptied) &&
               std::all_of(on.taints.begin(), on.taints.end(), passes) &&
               (!on.unschedulable ||
                passes({"node.kubernetes.io/unschedulable", "", taint_effect::no_schedule}));
    }
};

} // namespace testing
} // namespace v0_1
} // namespace muster
