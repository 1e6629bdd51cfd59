// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <muster/advice/change.hpp>
#include <muster/cluster/cluster_state.hpp>
#include <muster/resource/kind_table.hpp>
#include <muster/words/amount_text.hpp>
#include <muster/words/label_text.hpp>
#include <muster/words/object_names.hpp>

namespace muster {
inline namespace v0_1 {
namespace words {

/// The names of the claims that must be ready before a gang starts. Only the reader of the objects
/// knows them.
struct unready_claims {
    /// PersistentVolumeClaims that do not exist.
    std::set<std::string> to_create;
    /// PersistentVolumeClaims that are not bound.
    std::set<std::string> to_bind;
    /// ResourceClaims that are not allocated.
    std::set<std::string> to_allocate;
    /// Entries of pods whose ResourceClaims do not exist yet.
    std::set<std::string> to_make;

    [[nodiscard]] bool empty() const noexcept {
        return to_create.empty() && to_bind.empty() && to_allocate.empty() && to_make.empty();
    }
};

// Each text is a condition: "the gang starts if ...".

namespace detail {

[[nodiscard]] inline std::string joined(const auto& names) {
    std::string text;
    for (const std::string& name : names)
        text += (text.empty() ? "" : ", ") + name;
    return text;
}

/// Appends "this claim is bound: a" or "these 2 claims are bound: a, b", if there are any.
inline void add_claims(std::string& to, const std::set<std::string>& names, const char* noun,
                       const char* state) {
    if (names.empty())
        return;
    to += to.empty() ? "" : ", and ";
    to += names.size() == 1
              ? "this " + std::string(noun) + " is " + state + ": "
              : "these " + std::to_string(names.size()) + " " + noun + "s are " + state + ": ";
    to += joined(names);
}

} // namespace detail

/// Returns "this claim is bound: a, and this resource claim is allocated and usable by its pods:
/// b".
[[nodiscard]] inline std::string ready_claims_text(const unready_claims& claims) {
    std::string text;
    detail::add_claims(text, claims.to_create, "claim", "created and bound");
    detail::add_claims(text, claims.to_bind, "claim", "bound");
    detail::add_claims(text, claims.to_allocate, "resource claim",
                       "allocated and usable by its pods");
    detail::add_claims(text, claims.to_make, "resource claim", "made for each pod and allocated");
    return text.empty() ? "the volumes of its pods are ready" : text;
}

/// Returns "2 nodes more like a with zone=z are there". `labels`: pairs of key and value.
[[nodiscard]] inline std::string added_nodes_text(const std::string& like, std::int64_t count,
                                                  const auto& labels) {
    std::string text =
        std::to_string(count) + (count == 1 ? " node more like " : " nodes more like ") + like;
    const char* separator = " with ";
    for (const auto& [key, value] : labels) {
        text.append(separator).append(key).append("=").append(value);
        separator = ", ";
    }
    return text + (count == 1 ? " is there" : " are there");
}

/// Returns "its minimum is 2 instead of 4", or of that role.
[[nodiscard]] inline std::string lowered_minimum_text(std::string_view role, std::int64_t from,
                                                      std::int64_t to) {
    return (role.empty() ? "its minimum is "
                         : "the minimum of role " + std::string(role) + " is ") +
           std::to_string(to) + " instead of " + std::to_string(from);
}

/// Writes changes of a gang that `what_helps` suggests.
template<class Traits, object_names Names>
class change_writer {
public:
    /// The state for which the changes were found, and the other arguments, must outlive the
    /// writer.
    change_writer(const cluster_state<Traits>& cluster, const kind_table& kinds, gang_index which,
                  const Names& names)
        : cluster_(&cluster), kinds_(&kinds), which_(which), names_(&names) {}

    /// Returns the condition under which the gang starts: "this pod is gone: a". `claims` are those
    /// of a change `ready_volumes`. O(objects that change).
    [[nodiscard]] std::string operator()(const change& what,
                                         const unready_claims& claims = {}) const {
        if (std::holds_alternative<ready_volumes>(what))
            return ready_claims_text(claims);
        return std::visit([&](const auto& each) { return text(each); }, what);
    }

private:
    [[nodiscard]] std::string text(const free_pods& what) const {
        return (what.pods.size() == 1
                    ? "this pod is gone: "
                    : "these " + std::to_string(what.pods.size()) + " pods are gone: ") +
               listed(what.pods);
    }
    [[nodiscard]] std::string text(const add_nodes& what) const {
        return added_nodes_text((*names_)(what.like), what.count, what.labels);
    }
    [[nodiscard]] std::string text(const uncordon_nodes& what) const {
        const bool one = what.nodes.size() == 1;
        return (one ? "node " : "nodes ") + listed(what.nodes) +
               (one ? " takes pods again" : " take pods again");
    }
    [[nodiscard]] std::string text(const raise_quota& what) const {
        const std::string& kind = kinds_->name(what.kind);
        const auto& spec = (*cluster_)[what.queue].spec;
        const auto& ceilings = what.non_preemptible ? spec.non_preemptible_quota : spec.quota;
        return (what.non_preemptible ? "what is deserved by queue " : "the quota of queue ") +
               std::string((*names_)(what.queue)) + " for " + kind + " is " +
               amount_text(kind, what.to) + " instead of " +
               amount_text(kind, ceilings[what.kind].value_or(0));
    }
    [[nodiscard]] std::string text(const open_queue& what) const {
        return "queue " + std::string((*names_)(what.queue)) + " is open";
    }
    [[nodiscard]] std::string text(const tolerate_taint& what) const {
        return "its pods tolerate the taint " + taint_text(what.what);
    }
    [[nodiscard]] std::string text(const drop_label& what) const {
        return "its pods do not ask for the node label " + what.key +
               (what.key == "kubernetes.io/os" ? " (by nodeSelector or spec.os)" : "");
    }
    [[nodiscard]] std::string text(const drop_affinity&) const {
        return "its pods have no required node affinity";
    }
    [[nodiscard]] std::string text(const drop_pod_terms& what) const {
        return std::string("its pods have no required ") +
               (what.which == pod_term_kind::affinity        ? "pod affinity"
                : what.which == pod_term_kind::anti_affinity ? "pod anti-affinity"
                                                             : "topology spread");
    }
    [[nodiscard]] std::string text(const drop_domain& what) const {
        const auto& vertex = (*cluster_)[which_].spec.tree[what.at];
        return (what.at.value() == 0 ? "its pods" : "the pods of role " + vertex.name) +
               " need not stand in one domain of " +
               vertex.together->within.levels[*vertex.together->required];
    }
    [[nodiscard]] std::string text(const ready_volumes&) const { return ready_claims_text({}); }
    [[nodiscard]] std::string text(const lower_minimum& what) const {
        const auto& vertex = (*cluster_)[which_].spec.tree[what.at];
        return lowered_minimum_text(what.at.value() == 0 ? std::string_view{}
                                                         : std::string_view(vertex.name),
                                    vertex.min_member, what.to);
    }

    template<class Index>
    [[nodiscard]] std::string listed(const std::vector<Index>& all) const {
        std::vector<std::string> texts;
        for (const Index each : all)
            texts.push_back((*names_)(each));
        return detail::joined(texts);
    }

    const cluster_state<Traits>* cluster_;
    const kind_table* kinds_;
    gang_index which_;
    const Names* names_;
};

} // namespace words
} // namespace v0_1
} // namespace muster
