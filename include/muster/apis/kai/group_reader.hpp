// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/apis/core/reading_context.hpp>
#include <muster/apis/gang_definition.hpp>
#include <muster/gangs/gang_claims.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {
namespace detail {

/// `^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
[[nodiscard]] inline bool is_kai_subgroup(std::string_view name) noexcept {
    const auto plain = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
    return !name.empty() && plain(name.front()) && plain(name.back()) &&
           std::ranges::all_of(name, [&](char c) { return plain(c) || c == '-'; });
}

inline void read_kai_topology(const field& at, vertex_index of, gang_definition& to) {
    object_reader object = at.as_object();
    placement_wish asked{of, {}, {}, {}};
    const auto take = [&](std::string_view key, std::string& into) {
        if (const auto text = object.optional(key).as_string())
            into = *text;
    };
    take("topology", asked.topology);
    take("requiredTopologyLevel", asked.required);
    take("preferredTopologyLevel", asked.preferred);
    object.finish();
    wish(to, std::move(asked));
}

/// One of spec.subGroups, before its place in the tree is known.
struct kai_subgroup {
    std::string name;
    std::string parent;
    std::optional<std::int64_t> members;
    std::optional<std::int64_t> subgroups;
    std::int64_t children = 0;
    bool placed = false;
};

[[nodiscard]] inline std::vector<kai_subgroup> read_kai_subgroups(const array_reader& list) {
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    std::vector<kai_subgroup> read;
    std::map<std::string, std::size_t, std::less<>> by_name;
    list.for_each_object([&](object_reader& each) {
        kai_subgroup one;
        const field name_at = each.required("name");
        one.name = name_at.as_string().value_or("");
        if (name_at.is_present() && !is_kai_subgroup(one.name))
            name_at.error(in_quotes(one.name) + " is no name of a subgroup (expected lower-case " +
                          "letters, digits and dashes, no dots)");
        else if (!by_name.try_emplace(one.name, read.size()).second)
            name_at.error(in_quotes(one.name) + " is there twice (expected every subgroup once)");
        one.parent = each.optional("parent").as_string().value_or("");
        one.members = each.optional("minMember").as_integer(0, most);
        one.subgroups = each.optional("minSubGroup").as_integer(0, most);
        each.ignore({"topologyConstraint"});
        each.finish();
        read.push_back(std::move(one));
    });
    for (std::size_t at = 0; at < read.size(); ++at) {
        if (read[at].parent.empty())
            continue;
        if (const auto above = by_name.find(read[at].parent); above != by_name.end())
            ++read[above->second].children;
        else
            list[at].error("the parent " + in_quotes(read[at].parent) +
                           " is not listed (expected another subgroup)");
    }
    return read;
}

/// Adds subgroups to the tree in the order in which they are listed, but parents first.
inline void add_kai_subgroups(const array_reader& list, gang_definition& to) {
    std::vector<kai_subgroup> subgroups = read_kai_subgroups(list);
    gang_tree& tree = to.gang.tree;
    std::map<std::string, vertex_index, std::less<>> placed{{"", vertex_index{0}}};
    std::multimap<std::string, std::size_t, std::less<>> waiting;
    const auto add = [&](std::size_t at) {
        kai_subgroup& one = subgroups[at];
        one.placed = true;
        const vertex_index vertex = tree.add(
            placed.at(one.parent), one.children > 0 ? 0 : one.members.value_or(0), one.name);
        if (one.subgroups && *one.subgroups != one.children)
            tree.require_subgroups(vertex, *one.subgroups);
        placed.emplace(one.name, vertex);
        object_reader again = list[at].as_object();
        read_kai_topology(again.optional("topologyConstraint"), vertex, to);
        again.ignore_rest();
    };
    // And all that waited for it.
    const auto add_all = [&](std::size_t first) {
        std::vector<std::size_t> open{first};
        while (!open.empty()) {
            const std::size_t at = open.back();
            open.pop_back();
            add(at);
            const auto [begin, end] = waiting.equal_range(subgroups[at].name);
            const auto top = static_cast<std::ptrdiff_t>(open.size());
            for (auto each = begin; each != end; ++each)
                open.push_back(each->second);
            std::reverse(open.begin() + top, open.end());
            waiting.erase(begin, end);
        }
    };
    for (std::size_t at = 0; at < subgroups.size(); ++at) {
        const kai_subgroup& one = subgroups[at];
        if (one.children > 0 && one.members && *one.members > 0)
            list[at].error("minMember is there (expected none on a subgroup of subgroups)");
        if (one.children == 0 && one.subgroups)
            list[at].error("minSubGroup is there (expected none on a subgroup without any)");
        if (one.children == 0 && !one.members)
            list[at].error("minMember is missing (expected one on a subgroup of pods)");
        if (placed.contains(one.parent))
            add_all(at);
        else
            waiting.emplace(one.parent, at);
    }
    for (std::size_t at = 0; at < subgroups.size(); ++at)
        if (!subgroups[at].placed && waiting.contains(subgroups[at].parent)) {
            list[at].error("the subgroup " + in_quotes(subgroups[at].name) +
                           " is below itself or below none (expected a tree)");
            break;
        }
}

} // namespace detail

/// A scheduling.run.ai/v2alpha2 PodGroup of any version. As KAI does, it does not count the root's
/// minMember beside subGroups.
[[nodiscard]] inline gang_definition read_kai_group(object_reader& object, reading_context& context,
                                                    object_place where) {
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    gang_definition made = start_definition(
        object, "PodGroup", translate::target::kai_0_15,
        {translate::keys::kai_owner, translate::keys::kai_queue}, context, std::move(where));
    const field spec_at = object.required("spec");
    object_reader spec = spec_at.as_object();
    const field least_at = spec.optional("minMember");
    const auto least = least_at.as_integer(0, most);
    const field needed_at = spec.optional("minSubGroup");
    const auto needed = needed_at.as_integer(0, most);
    if (least && needed)
        needed_at.error("minMember and minSubGroup are both there (expected one)");
    const field subgroups_at = spec.optional("subGroups");
    const array_reader subgroups = subgroups_at.as_array();
    made.closed = subgroups.size() > 0;
    if (subgroups.size() == 0) {
        if (needed)
            needed_at.error("there are no subGroups (expected minMember)");
        made.gang.tree = gang_tree(std::max<std::int64_t>(1, least.value_or(1)));
    } else {
        detail::add_kai_subgroups(subgroups, made);
        if (needed && static_cast<std::uint64_t>(*needed) != made.gang.tree[0].children)
            made.gang.tree.require_subgroups(vertex_index{0}, *needed);
        total_from_leaves(made.gang.tree);
        if (least && *least != made.gang.tree[0].min_member)
            least_at.warning("KAI does not look at it beside subGroups");
    }
    if (const auto queue = spec.optional("queue").as_string(); queue && !queue->empty())
        made.gang.queue = *queue;
    if (const auto name = spec.optional("priorityClassName").as_string())
        made.gang.priority.class_name = *name;
    const field firmness_at = spec.optional("preemptibility");
    const auto firmness = firmness_at.as_string().value_or("");
    if (firmness == "preemptible" || firmness == "non-preemptible")
        made.gang.preemptible = firmness == "preemptible";
    else if (firmness == "semi-preemptible")
        keep_word(made, firmness_at, translate::gang_api::kai, "preemptibility",
                  translate::loss_kind::preemptibility);
    else if (!firmness.empty())
        firmness_at.error(in_quotes(firmness) +
                          " (expected preemptible, semi-preemptible or non-preemptible)");
    const field firm_at = spec.optional("minNonPreemptible");
    static_cast<void>(firm_at.as_integer(0, most));
    keep_word(made, firm_at, translate::gang_api::kai, "minNonPreemptible",
              translate::loss_kind::preemptibility);
    detail::read_kai_topology(spec.optional("topologyConstraint"), vertex_index{0}, made);
    for (const std::string_view key :
         {"markUnschedulable", "schedulingBackoff", "preemptionDelay", "stalenessGracePeriod",
          "backoffLimit", "completions", "parallelism"})
        keep_word(made, spec.optional(key), translate::gang_api::kai, key,
                  translate::loss_kind::lifecycle);
    spec.finish();
    object.finish();
    return made;
}

} // namespace codec
} // namespace v0_1
} // namespace muster
