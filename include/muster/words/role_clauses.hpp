// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <muster/base/ranges.hpp>
#include <muster/base/short_text.hpp>
#include <muster/vocabulary/reason.hpp>
#include <muster/words/reason_context.hpp>

namespace muster {
inline namespace v0_1 {
namespace words {
namespace detail {

/// The subject of a reason.
[[nodiscard]] inline std::string subject(const reason_context& context) {
    return context.single_pod ? "the pod" : "the gang";
}

/// Returns "ROLE: ", or nothing for the gang as a whole.
[[nodiscard]] inline std::string role_prefix(const reason_context& context, vertex_index role) {
    return role.value() == 0 ? "" : (*context.tree)[role].name + ": ";
}

/// Says how many members are needed, in addition to those that hold.
[[nodiscard]] inline std::string needed_members(const role_shortage& one, bool with_noun) {
    return std::to_string(one.needed) + (one.held > 0 ? " more" : "") +
           (!with_noun        ? ""
            : one.needed == 1 ? " member"
                              : " members");
}

[[nodiscard]] inline bool each_role_has_room(const reason& what) noexcept {
    return muster::detail::none_of(
        what.roles, [](const role_shortage& one) { return one.possible < one.needed; });
}

/// Returns "; needed together: 2 members, a: 1, b: 1 (each alone has room)".
[[nodiscard]] inline std::string roles_together(const reason& what, const reason_context& context) {
    if (what.roles.size() == 1)
        return "";
    std::string out;
    for (const role_shortage& one : what.roles)
        out += (out.empty() ? "; needed together: " : ", ") + role_prefix(context, one.role) +
               needed_members(one, one.role.value() == 0);
    return out + " (each alone has room)";
}

/// Says which roles are short, and by how much. The room for a role counts as if no other member
/// used it: if no role is short, says that they do not fit together.
[[nodiscard]] inline std::string role_shortages(const reason& what, const reason_context& context) {
    if (context.single_pod || what.roles.empty())
        return "";
    if (each_role_has_room(what))
        return roles_together(what, context);
    std::string out;
    for (const role_shortage& one : what.roles)
        if (one.possible < one.needed)
            out += "; " + role_prefix(context, one.role) +
                   needed_members(one, one.role.value() == 0) + " needed, room for " +
                   std::to_string(one.possible);
    return out;
}

[[nodiscard]] inline std::string gates_listed(const reason_context& context) {
    std::string names;
    for (const std::string& each : context.gates)
        names += (names.empty() ? " " : ", ") + each;
    return (context.gates.size() == 1 ? "scheduling gate" : "scheduling gates") + names;
}

/// Returns "the nomination to node n1 by another scheduler". Names at most three nodes.
[[nodiscard]] inline std::string nomination(const reason_context& context) {
    return std::string("the nomination to ") +
           (context.nominated_to.size() == 1 ? "node " : "nodes ") +
           list_text({context.nominated_to.begin(), context.nominated_to.end()}, "node") +
           " by another scheduler";
}

[[nodiscard]] inline std::string gates_text(const reason_context& context) {
    if (context.nominated_to.empty())
        return gates_listed(context);
    return nomination(context) + (context.gates.empty() ? "" : " or " + gates_listed(context));
}

/// Says how many members exist of which role.
[[nodiscard]] inline std::string member_counts(const reason& what, const reason_context& context) {
    std::string out;
    for (const role_shortage& one : what.roles) {
        const std::int64_t gated =
            one.role.value() < context.gated.size() ? context.gated[one.role.value()] : 0;
        if (gated > 0 && context.single_pod)
            return subject(context) + " is held by " + gates_text(context);
        out += out.empty() ? "" : "; ";
        out += role_prefix(context, one.role) + std::to_string(one.possible + gated) + " of " +
               std::to_string(one.needed) + (one.needed == 1 ? " member exists" : " members exist");
        if (gated > 0)
            out += ", " + std::to_string(gated) + " held by " + gates_text(context);
    }
    return out;
}

} // namespace detail
} // namespace words
} // namespace v0_1
} // namespace muster
