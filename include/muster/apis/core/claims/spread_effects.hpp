// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <muster/apis/core/claims/claim_options.hpp>
#include <muster/apis/core/objects.hpp>
#include <muster/apis/core/volumes/volume_plan.hpp>
#include <muster/vocabulary/node.hpp>
#include <muster/vocabulary/pod_terms.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// A claim that several waiting pods share, and the sets of nodes that all reach devices for it.
struct spread_claim {
    std::string name;
    const device_claim* asks = nullptr;
    std::vector<const pod_object*> pods;
    const claim_options::selection* selected = nullptr;
    /// An option without nodes is lost; the positions of others stay.
    std::vector<claim_option> options;
    /// Why the pods wait, if there are no options.
    std::string lack;
};
/// Two claims that cannot have these options together, by position.
struct spread_conflict {
    std::size_t first = 0;
    std::size_t second = 0;
    std::set<std::pair<std::size_t, std::size_t>> options;
};

namespace detail {

[[nodiscard]] inline std::string mark_of(const spread_claim& of) {
    return std::string(shared_claim_mark) + of.name;
}

} // namespace detail

/// Adds the terms and labels by which the pods of the claim stand on the nodes of one option.
inline void restrict_to_options(const spread_claim& of, std::span<const node<1>> nodes,
                                volume_plan& into) {
    if (!of.lack.empty())
        return;
    const std::string mark = detail::mark_of(of);
    for (std::size_t at = 0; at < of.options.size(); ++at)
        for (const std::size_t node : of.options[at].nodes)
            into.node_labels[nodes[node].name].set(mark, std::to_string(at));
    affinity_term near;
    near.pods.labels.requirements.push_back({mark, label_operator::exists, {}});
    near.topology = mark;
    near.of_volume = true;
    near.domains_may_change = true;
    node_term reached;
    reached.labels.requirements.push_back({mark, label_operator::exists, {}});
    for (const pod_object* const pod : of.pods) {
        volume_effects& to = into.pods[pod->metadata.key];
        if (to.labels.find(mark))
            continue;
        to.labels.set(mark, "shared");
        to.near.push_back(near);
        to.reach.push_back({{reached}, false, true});
        to.reach_of.push_back("resource claim " + of.name.substr(of.name.find('/') + 1));
        to.verbs[to.reach.size() - 1] = "can only be allocated";
    }
}

/// Nodes of options that two claims cannot have together get one value of a label.
inline void keep_apart(const spread_claim& first, const spread_claim& second,
                       const spread_conflict& of, std::span<const node<1>> nodes,
                       volume_plan& into) {
    std::map<std::size_t, std::size_t> value;
    for (const auto& [one, other] : of.options) {
        node_set joined = first.options[one].nodes;
        const node_set& more = second.options[other].nodes;
        joined.insert(joined.end(), more.begin(), more.end());
        if (first.options[one].nodes.empty() || more.empty())
            continue;
        // Nodes that have a value already join all their nodes to these.
        std::size_t least = joined.front();
        for (const std::size_t node : joined)
            if (const auto known = value.find(node); known != value.end())
                least = std::min(least, known->second);
        for (const std::size_t node : joined) {
            const auto [known, is_new] = value.try_emplace(node, least);
            if (const std::size_t before = known->second; before != least)
                for (auto& [each, its] : value)
                    its = its == before ? least : its;
        }
    }
    const std::string label = "apart:" + first.name + " " + second.name;
    for (const auto& [node, its] : value)
        into.node_labels[nodes[node].name].set(label, std::to_string(its));
    const auto part = [&](const spread_claim& from, const spread_claim& to) {
        affinity_term term;
        term.pods.labels.requirements.push_back({detail::mark_of(to), label_operator::exists, {}});
        term.topology = label;
        term.of_volume = true;
        for (const pod_object* const pod : from.pods)
            into.pods[pod->metadata.key].apart.push_back(term);
    };
    part(first, second);
    part(second, first);
}

} // namespace codec
} // namespace v0_1
} // namespace muster
