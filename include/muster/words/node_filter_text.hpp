// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <muster/base/short_text.hpp>
#include <muster/cluster/cluster_state.hpp>
#include <muster/cluster/constraint_table.hpp>
#include <muster/vocabulary/certificate.hpp>
#include <muster/vocabulary/constraints.hpp>
#include <muster/vocabulary/labels.hpp>
#include <muster/vocabulary/node_claims.hpp>
#include <muster/vocabulary/reason.hpp>
#include <muster/vocabulary/taints.hpp>
#include <muster/words/label_text.hpp>
#include <muster/words/object_names.hpp>

namespace muster {
inline namespace v0_1 {
namespace words {

/// The constraint sets of waiting pods of one gang, each once, in the order of the pods, and the
/// gang's queue.
struct filtered_pods {
    std::vector<constraint_index> sets;
    std::optional<queue_index> queue;

    [[nodiscard]] friend auto operator<=>(const filtered_pods&, const filtered_pods&) = default;
};

/// Returns the constraint sets of the gang's members that wait for a node, or only that of the
/// member `only`. Leaves out members with constraints that are not modelled and, unless
/// `with_unready`, members whose volumes are not ready. O(members · log members).
template<class Traits>
[[nodiscard]] filtered_pods filtered_pods_of(const cluster_state<Traits>& cluster, gang_index which,
                                             std::optional<pod_index> only, bool with_unready) {
    filtered_pods found;
    std::set<constraint_index> seen;
    const auto add = [&](pod_index member) {
        const constraints& where = cluster.where(member).value;
        const constraint_index set = cluster.shapes()[cluster[member].shape].where;
        if (cluster[member].placeable() && !where.unsupported &&
            (with_unready || !where.volume_not_ready) && seen.insert(set).second)
            found.sets.push_back(set);
    };
    if (only)
        add(*only);
    else
        std::ranges::for_each(cluster[which].members, add);
    if (const auto queue = cluster[which].queue; queue && cluster[*queue].present)
        found.queue = queue;
    return found;
}

namespace detail {

/// True if the requirement of a pod's node selector is the one that `spec.os` stands for. Those of
/// `spec.nodeSelector` require values.
[[nodiscard]] inline bool is_of_system(const label_requirement& of) {
    return of.key == "kubernetes.io/os" && of.op == label_operator::not_in && of.values.size() == 1;
}

/// Says which of the node filters keep some of the pods off which nodes.
template<class Traits, object_names Names>
class node_filter_writer {
    using node_type = node<Traits::width>;

public:
    /// O(nodes).
    node_filter_writer(const cluster_state<Traits>& cluster, const filtered_pods& pods,
                       certificate_scope scope, const Names& names)
        : cluster_(&cluster),
          names_(&names),
          now_(scope == certificate_scope::free_now),
          sets_(pods.sets) {
        if (pods.queue) {
            queue_ = names(*pods.queue);
            queue_nodes_ = &cluster.constraint_sets()[cluster[*pods.queue].nodes];
        }
        for (const node_index node : cluster.node_order())
            if (cluster[node].present)
                nodes_.push_back(node);
    }

    /// Returns the labels that no node or too few nodes have: "no node matches node selector
    /// disk=ssd", or "too few nodes match node selector disk=ssd: 1 of 6 nodes".
    /// O(constraint sets × requirements × nodes).
    [[nodiscard]] std::string selector() const {
        std::vector<std::string> unmatched;
        std::vector<std::string> few;
        for (const constraint_index set : sets_) {
            std::vector<requirement> all;
            add_requirements({}, cluster_->constraint_sets()[set].value, all);
            if (queue_nodes_)
                add_requirements(queue_, queue_nodes_->value, all);
            const auto none = std::ranges::find_if(all, &requirement::is_met_nowhere);
            if (none != all.end()) {
                add(unmatched, join({*none}));
                continue;
            }
            std::erase_if(all, &requirement::is_met_everywhere);
            if (const std::size_t count = nodes_that_meet(all); count < nodes_.size())
                add(few, join(all) + ": " + std::to_string(count) + " of " +
                             std::to_string(nodes_.size()) + " nodes");
        }
        if (!unmatched.empty())
            return "no node matches " + list_text(unmatched, "other");
        return "too few nodes match " +
               (few.empty() ? "the node selector or affinity" : list_text(few, "other"));
    }

    /// Returns the taints that are not tolerated: "nodes have taints that are not tolerated:
    /// dedicated=storage:NoSchedule (1 node)". Counts only nodes that match the node selector, if
    /// there are any.
    [[nodiscard]] std::string taints() const {
        std::map<std::string, std::size_t> counts;
        for (const node_index node : nodes_with([&](const auto&of, const node_type&spec, unsigned) {
                 return std::ranges::any_of(spec.taints,
                                            [&](const auto& each) { return keeps_off(of, each); });
             }))
            for (const taint& each : (*cluster_)[node].spec.taints)
                if (std::ranges::any_of(sets_, [&](constraint_index set) {
                        return keeps_off(cluster_->constraint_sets()[set].value, each);
                    }))
                    ++counts[taint_text(each)];
        std::vector<std::string> texts;
        for (const auto& [text, count] : counts)
            texts.push_back(text + " (" + std::to_string(count) +
                            (count == 1 ? " node)" : " nodes)"));
        std::vector<std::string> unread;
        for (const node_index node : nodes_)
            if (has_taint((*cluster_)[node].spec.taints, unread_taint_key))
                unread.push_back((*names_)(node));
        const std::string of_taints =
            "have taints that are not tolerated" +
            (texts.empty() ? std::string() : ": " + list_text(texts, "taint"));
        if (unread.empty())
            return "nodes " + of_taints;
        return "nodes cannot be read (" + list_text(unread, "node") + ")" +
               (texts.empty() ? "" : " or " + of_taints);
    }

    /// Returns the nodes that are cordoned: "node a is cordoned". Lists only nodes that match the
    /// node selector, if there are any.
    [[nodiscard]] std::string cordon() const {
        std::vector<std::string> names;
        for (const node_index node : nodes_with([](const auto&, const node_type&, unsigned found) {
                 return (found & node_filter_cordon) != 0;
             }))
            names.push_back((*names_)(node));
        return names.empty()       ? "nodes are cordoned"
               : names.size() == 1 ? "node " + names.front() + " is cordoned"
                                   : "nodes " + list_text(names, "node") + " are cordoned";
    }

    /// Returns the host ports of which too few nodes have all free: "too few nodes have host port
    /// 8080/TCP free: 5 of 6 nodes".
    [[nodiscard]] std::string ports() const {
        std::vector<std::string> texts;
        for (const constraint_index set : sets_) {
            const node_claims& claims = cluster_->constraint_sets()[set].value.claims;
            if (claims.ports.empty())
                continue;
            std::vector<std::string> names;
            for (const host_port& each : claims.ports)
                names.push_back(port_text(each));
            const std::string ports =
                (names.size() == 1 ? "host port " : "host ports ") + list_text(names, "port");
            const auto free = std::ranges::count_if(nodes_, [&](node_index node) {
                return compatible(claims.ports, cluster_->accounts().claims(node).ports());
            });
            add(texts, now_ ? ports + " free: " + std::to_string(free) + " of " +
                                  std::to_string(nodes_.size()) + " nodes"
                            : ports);
        }
        if (texts.empty())
            return "too few nodes have the host ports free";
        return (now_ ? "too few nodes have " : "too few nodes for one pod each with ") +
               list_text(texts, "other");
    }

private:
    /// What a node must have, and for each of `nodes_` whether it does.
    struct requirement {
        std::string field; ///< "node selector" or "node affinity"
        std::string queue; ///< The queue of the field; empty = the field is the pod's.
        std::string text;
        std::vector<char> met;

        [[nodiscard]] bool is_met_nowhere() const { return std::ranges::find(met, 1) == met.end(); }
        [[nodiscard]] bool is_met_everywhere() const {
            return std::ranges::find(met, 0) == met.end();
        }
    };

    static void add(std::vector<std::string>& to, std::string text) {
        if (std::ranges::find(to, text) == to.end())
            to.push_back(std::move(text));
    }

    template<class Met>
    void add_requirement(const char* field, const std::string& queue, std::string text,
                         const Met& met, std::vector<requirement>& to) const {
        requirement& made = to.emplace_back(requirement{field, queue, std::move(text), {}});
        for (const node_index node : nodes_)
            made.met.push_back(met((*cluster_)[node].spec) ? 1 : 0);
    }

    /// Adds each label of the node selector, and each requirement of the node affinity or, if the
    /// affinity has several terms, the affinity as a whole.
    void add_requirements(const std::string& queue, const constraints& of,
                          std::vector<requirement>& to) const {
        const auto add_label = [&](const char* field, const label_requirement& one) {
            add_requirement(
                field, queue, requirement_text(one),
                [&](const node_type& node) { return one.matches(node.labels.find(one.key)); }, to);
        };
        for (const label_requirement& each : of.selector.requirements)
            if (is_of_system(each))
                add_requirement(
                    "spec.os", queue, each.values.front() == "linux" ? "windows" : "linux",
                    [&](const node_type& node) { return each.matches(node.labels.find(each.key)); },
                    to);
            else
                add_label("node selector", each);
        if (!of.affinity)
            return;
        constexpr const char* affinity = "node affinity";
        if (of.affinity->size() == 1) {
            const node_term& term = of.affinity->front();
            for (const label_requirement& each : term.labels.requirements)
                add_label(affinity, each);
            for (const label_requirement& each : term.name)
                add_requirement(
                    affinity, queue, requirement_text(each),
                    [&](const node_type& node) { return each.matches(&node.name); }, to);
            if (!term.labels.requirements.empty() || !term.name.empty())
                return;
        }
        std::string text;
        for (const node_term& term : *of.affinity)
            text += (text.empty() ? "" : " or ") + requirements_text(term);
        add_requirement(
            affinity, queue, text.empty() ? "without terms" : text,
            [&](const node_type& node) {
                return std::ranges::any_of(*of.affinity,
                                           [&](const auto& term) { return term.matches(node); });
            },
            to);
    }

    [[nodiscard]] std::size_t nodes_that_meet(const std::vector<requirement>& all) const {
        std::size_t count = 0;
        for (std::size_t at = 0; at < nodes_.size(); ++at)
            count +=
                std::ranges::all_of(all, [&](const requirement& each) { return each.met[at] != 0; })
                    ? 1U
                    : 0U;
        return count;
    }

    /// Returns "node selector a=b, c=d and node affinity e=f of queue q".
    [[nodiscard]] static std::string join(const std::vector<requirement>& all) {
        std::string text;
        for (std::size_t at = 0; at < all.size(); ++at) {
            const requirement& each = all[at];
            const auto same_field = [&](std::size_t other) {
                return all[other].field == each.field && all[other].queue == each.queue;
            };
            text +=
                at > 0 && same_field(at - 1) ? ", " : (at > 0 ? " and " : "") + each.field + " ";
            text += each.text;
            if (!each.queue.empty() && (at + 1 == all.size() || !same_field(at + 1)))
                text += " of queue " + each.queue;
        }
        return text;
    }

    /// True if the taint keeps off pods with these constraints. False for cordons and for nodes
    /// that cannot be read.
    [[nodiscard]] bool keeps_off(const constraints& of, const taint& what) const {
        return what.effect != taint_effect::prefer_no_schedule &&
               what.key != unschedulable_taint_key && what.key != unread_taint_key &&
               (now_ || !what.is_condition()) && !tolerated(what, of.tolerations);
    }

    /// Returns the nodes for which `is_stopped(constraints, node, failed_filters)` is true of some
    /// constraint set. If some of these nodes match the node selectors of the set and of the
    /// queue, returns only those.
    template<class Stopped>
    [[nodiscard]] std::vector<node_index> nodes_with(const Stopped& is_stopped) const {
        std::vector<node_index> all;
        std::vector<node_index> selected;
        for (const node_index node : nodes_) {
            bool stopped = false;
            bool matches = false;
            for (const constraint_index set : sets_) {
                const auto& row = cluster_->constraint_sets()[set];
                const unsigned found = row.failed_filters[node.value()];
                if (!is_stopped(row.value, (*cluster_)[node].spec, found))
                    continue;
                stopped = true;
                const unsigned of_queue =
                    queue_nodes_ ? queue_nodes_->failed_filters[node.value()] : 0U;
                matches = matches || ((found | of_queue) & node_filter_selector) == 0;
            }
            if (stopped)
                all.push_back(node);
            if (matches)
                selected.push_back(node);
        }
        return selected.empty() ? all : selected;
    }

    const cluster_state<Traits>* cluster_;
    const Names* names_;
    /// The scope is `free_now`: allocated host ports and the conditions of nodes count.
    bool now_;
    std::vector<constraint_index> sets_;
    std::string queue_;
    const constraint_table::row* queue_nodes_ = nullptr;
    std::vector<node_index> nodes_;
};

} // namespace detail

/// True if the reason is about labels, taints, cordons or host ports.
[[nodiscard]] constexpr bool is_about_node_filter(reason_code code) noexcept {
    return code == reason_code::node_selector_mismatch || code == reason_code::untolerated_taint ||
           code == reason_code::node_unschedulable || code == reason_code::host_port_taken;
}

/// What the text of a reason about a node filter depends on, beside the nodes.
struct node_filter_key {
    filtered_pods pods;
    certificate_scope scope = certificate_scope::free_now;
    reason_code code = reason_code::node_selector_mismatch;

    [[nodiscard]] friend auto operator<=>(const node_filter_key&, const node_filter_key&) = default;
};

/// Returns which nodes the filter keeps the pods off. Precondition: `is_about_node_filter(code)`.
template<class Traits, object_names Names>
[[nodiscard]] std::string node_filter_text(const cluster_state<Traits>& cluster,
                                           const node_filter_key& of, const Names& names) {
    const detail::node_filter_writer<Traits, Names> writer(cluster, of.pods, of.scope, names);
    return of.code == reason_code::node_selector_mismatch ? writer.selector()
           : of.code == reason_code::untolerated_taint    ? writer.taints()
           : of.code == reason_code::node_unschedulable   ? writer.cordon()
                                                          : writer.ports();
}

} // namespace words
} // namespace v0_1
} // namespace muster
