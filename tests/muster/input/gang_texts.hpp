// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <muster/input/gang_reader.hpp>
#include <muster/input/read_documents.hpp>

namespace codec_tests {

/// A vertex and all below it: `name:minimum`, `{k of n}` where not all children are needed, and in
/// parentheses what is below. `@label` and `~label` say where it must, and should, stay together.
inline std::string tree_text(const muster::gang_tree& tree, std::size_t at = 0) {
    std::string text = tree[at].name + ":" + std::to_string(tree[at].min_member);
    if (tree[at].min_subgroups)
        text += "{" + std::to_string(*tree[at].min_subgroups) + " of " +
                std::to_string(tree[at].children) + "}";
    if (const auto& how = tree[at].together) {
        if (how->required)
            text += "@" + how->within.levels[*how->required];
        if (how->preferred)
            text += "~" + how->within.levels[*how->preferred];
    }
    std::string below;
    for (std::size_t child = at + 1; child < tree.size(); ++child)
        if (tree[child].parent == at)
            below += (below.empty() ? "" : " ") + tree_text(tree, child);
    return below.empty() ? text : text + "(" + below + ")";
}

/// A gang in a line: `Kind namespace/name tree`, then what it says beside, then its pods by leaf.
inline std::string text_of(const muster::translate::gang_bundle& bundle) {
    const auto& gang = bundle.gang;
    std::string text =
        gang.kind + " " + gang.name_space + "/" + gang.name + " " + tree_text(gang.tree);
    if (gang.queue)
        text += " queue=" + *gang.queue;
    if (gang.priority.number)
        text += " priority=" + std::to_string(*gang.priority.number);
    if (!gang.priority.class_name.empty())
        text += " class=" + gang.priority.class_name;
    if (gang.preemptible)
        text += *gang.preemptible ? " preemptible" : " firm";
    if (gang.wait_seconds)
        text += " wait=" + std::to_string(*gang.wait_seconds);
    if (gang.min_resources)
        text += " resources";
    if (!gang.topology_name.empty())
        text += " topology=" + gang.topology_name;
    for (const auto& word : gang.own_words)
        text += " " + word.field;
    for (const auto& size : gang.sizes) {
        text += " " + gang.tree[size.leaf].name + "x" + std::to_string(size.replicas);
        if (!size.name_space.empty() || !size.object.empty())
            text += "<" + size.name_space + "/" + size.object + ">";
    }
    std::string pods;
    for (const auto& pod : bundle.pods)
        pods += (pods.empty() ? " |" : "") + (" " + gang.tree[pod.leaf].name) + "/" +
                std::string(muster::translate::metadata_name(pod.document));
    return text + pods;
}

/// All gangs of an input, a line each, and the findings after them.
inline std::string gangs_of(std::string text, const muster::codec::gang_options& options = {}) {
    muster::codec::diagnostics found;
    const auto documents = muster::codec::read_documents("in", std::move(text), found);
    const auto read = muster::codec::read_gangs(documents, options, found);
    std::string lines;
    for (const auto& bundle : read.bundles)
        lines += text_of(bundle) + "\n";
    for (const auto& lost : read.losses)
        lines += "loss " + std::string(to_text(lost.what)) + ": " + lost.object + "\n";
    for (const auto& finding : found.findings())
        lines += to_text(finding) + "\n";
    return lines;
}

} // namespace codec_tests
