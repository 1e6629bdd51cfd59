// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include <muster/apis/core/objects.hpp>
#include <muster/apis/gang_definition.hpp>
#include <muster/document/diagnostic.hpp>
#include <muster/gangs/gang_object.hpp>
#include <muster/input/gang_finish.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// A gang and its place in the order of the input.
struct finished_gang {
    std::size_t order = 0;
    joined_gang bundle;
};

/// Merges the gangs of each gang group into one gang with a leaf per original gang. If a gang's
/// list names a gang that does not exist or that lists other gangs, the gang with that list is at
/// fault, and the gang that it names is not. The fault is an error; for an existing cluster
/// (`stands`) it is a warning.
inline void merge_gang_groups(std::vector<finished_gang>& gangs, diagnostics& out, bool stands) {
    const auto complain = [&](joined_gang& of, const std::string& what) {
        report(out, stands ? severity::warning : severity::error, of.where, {"metadata"}, what);
        if (stands && of.fault.empty())
            of.fault = what;
    };
    std::map<object_key, std::size_t> by_name;
    for (std::size_t at = 0; at < gangs.size(); ++at)
        if (const auto& gang = gangs[at].bundle.made.gang;
            gangs[at].bundle.api == translate::gang_api::coscheduling)
            by_name.try_emplace({gang.name_space, gang.name}, at);
    std::vector<bool> merged(gangs.size());
    std::vector<finished_gang> kept;
    for (std::size_t at = 0; at < gangs.size(); ++at) {
        if (merged[at])
            continue;
        const std::vector<object_key> group = gangs[at].bundle.together;
        if (group.size() < 2) {
            kept.push_back(std::move(gangs[at]));
            continue;
        }
        std::vector<std::size_t> parts;
        for (const object_key& key : group) {
            const auto known = by_name.find(key);
            const bool agrees =
                known != by_name.end() && !merged[known->second] &&
                std::ranges::is_permutation(gangs[known->second].bundle.together, group);
            if (agrees)
                parts.push_back(known->second);
            else
                complain(gangs[at].bundle,
                         "its gang group names " + in_quotes(key.name_space + "/" + key.name) +
                             (stands                   ? ", which is not there or lists other gangs"
                              : known == by_name.end() ? ", which the input does not hold"
                                                       : ", which lists other gangs") +
                             " (expected all gangs of a group, with the same list)");
        }
        if (parts.empty()) {
            if (stands)
                kept.push_back(std::move(gangs[at]));
            continue;
        }
        finished_gang made{gangs[at].order, {}};
        std::vector<translate::part_words> said;
        translate::gang_bundle& whole = made.bundle.made;
        for (const std::size_t part : parts) {
            merged[part] = true;
            translate::gang_bundle& one = gangs[part].bundle.made;
            const bool first = whole.gang.kind.empty();
            if (first) {
                whole.gang = one.gang;
                whole.gang.tree = gang_tree(0);
                whole.gang.sizes.clear();
                made.bundle.where = gangs[part].bundle.where;
                made.bundle.api = gangs[part].bundle.api;
            }
            made.order = std::min(made.order, gangs[part].order);
            if (made.bundle.fault.empty())
                made.bundle.fault = std::move(gangs[part].bundle.fault);
            const bool ambiguous = std::ranges::any_of(group, [&](const object_key& other) {
                return other.name == one.gang.name && other.name_space != one.gang.name_space;
            });
            const vertex_index leaf = whole.gang.tree.add(
                vertex_index{0}, one.gang.tree[0].min_member,
                ambiguous ? one.gang.name_space + "-" + one.gang.name : one.gang.name);
            translate::leaf_size size{leaf, static_cast<std::int64_t>(one.pods.size())};
            size.only_seen = true;
            for (const translate::leaf_size& own : one.gang.sizes) {
                size.replicas = std::max(size.replicas, own.replicas);
                size.only_seen = size.only_seen && own.only_seen;
            }
            if (one.gang.name_space != whole.gang.name_space)
                size.name_space = one.gang.name_space;
            size.object = one.gang.name;
            whole.gang.sizes.push_back(std::move(size));
            said.push_back({one.gang.labels, one.gang.annotations, one.gang.own_words,
                            one.gang.min_resources, one.gang.wait_seconds, one.gang.owners});
            if (!first && one.gang.own_words != whole.gang.own_words)
                report(
                    out, severity::warning, gangs[part].bundle.where, {"metadata"},
                    "the gangs of its group differ in mode, match-policy or topology; those of " +
                        in_quotes(whole.gang.name) + " count");
            whole.gang.min_resources.reset();
            if (whole.gang.queue != one.gang.queue)
                complain(stands ? made.bundle : gangs[part].bundle,
                         "the gangs of its group are of different queues (expected one)");
            if (whole.gang.priority != one.gang.priority)
                whole.gang.priority = {};
            if (whole.gang.wait_seconds != one.gang.wait_seconds)
                whole.gang.wait_seconds = std::max(whole.gang.wait_seconds, one.gang.wait_seconds);
            for (translate::gang_pod& pod : one.pods) {
                pod.leaf = leaf;
                whole.pods.push_back(std::move(pod));
            }
        }
        total_from_leaves(whole.gang.tree);
        const translate::part_words common{whole.gang.labels,       whole.gang.annotations,
                                           whole.gang.own_words,    std::nullopt,
                                           whole.gang.wait_seconds, whole.gang.owners};
        for (std::size_t leaf = 0; leaf < said.size(); ++leaf)
            if (said[leaf] != common)
                whole.gang.sizes[leaf].own = std::move(said[leaf]);
        kept.push_back(std::move(made));
    }
    gangs = std::move(kept);
}

} // namespace codec
} // namespace v0_1
} // namespace muster
