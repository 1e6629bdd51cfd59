// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/cluster/constraint_table.hpp>
#include <muster/cluster/state.hpp>
#include <muster/document/diagnostic.hpp>
#include <muster/input/broken_objects.hpp>
#include <muster/vocabulary/certificate.hpp>
#include <muster/vocabulary/constraints.hpp>
#include <muster/vocabulary/labels.hpp>
#include <muster/vocabulary/node_claims.hpp>
#include <muster/vocabulary/reason.hpp>
#include <muster/vocabulary/taints.hpp>

namespace cli {

/// Returns "KEY=VALUE:EFFECT", as `kubectl taint` spells it.
[[nodiscard]] inline std::string taint_text(const muster::taint& what) {
    return what.key + (what.value.empty() ? "" : "=" + what.value) + ":" +
           (what.effect == muster::taint_effect::no_execute ? "NoExecute" : "NoSchedule");
}

/// Returns "8080/TCP", or "127.0.0.1:8080/TCP".
[[nodiscard]] inline std::string port_text(const muster::host_port& port) {
    return (port.address.empty() ? "" : port.address + ":") + std::to_string(port.port) + "/" +
           port.protocol;
}

/// Joins the texts by commas: at most three, and the number of further ones.
[[nodiscard]] inline std::string list_text(const std::vector<std::string>& all,
                                           std::string_view noun) {
    constexpr std::size_t max_listed = 3;
    std::string text;
    for (std::size_t at = 0; at < std::min(max_listed, all.size()); ++at)
        text += (at > 0 ? ", " : "") + all[at];
    return text + muster::codec::more_text(all.size() - std::min(max_listed, all.size()), noun);
}

namespace detail {

/// Returns the key or value of a label. Puts it in quotes if it is none that Kubernetes accepts.
[[nodiscard]] inline std::string label_text(const std::string& text) {
    const bool plain = std::ranges::all_of(text, [](char each) {
        return (each >= 'a' && each <= 'z') || (each >= 'A' && each <= 'Z') ||
               (each >= '0' && each <= '9') || each == '.' || each == '-' || each == '_' ||
               each == '/';
    });
    return plain ? text : muster::codec::in_quotes(text);
}

/// True if the requirement of a pod's node selector is the one that `spec.os` stands for. Those of
/// `spec.nodeSelector` require values.
[[nodiscard]] inline bool is_of_system(const muster::label_requirement& of) {
    return of.key == "kubernetes.io/os" && of.op == muster::label_operator::not_in &&
           of.values.size() == 1;
}

} // namespace detail

/// Returns the requirement as `kubectl -l` spells it: "disk=ssd", "zone in (a, b)", "!gpu". Lists
/// at most three values, and the number of further ones.
[[nodiscard]] inline std::string requirement_text(const muster::label_requirement& of) {
    using muster::label_operator;
    const std::string key = detail::label_text(of.key);
    std::vector<std::string> values;
    for (const std::string& each : of.values)
        values.push_back(detail::label_text(each));
    switch (of.op) {
    case label_operator::exists:
        return key;
    case label_operator::does_not_exist:
        return "!" + key;
    case label_operator::greater:
    case label_operator::less:
        return key + (of.op == label_operator::greater ? ">" : "<") +
               (values.empty() ? "" : values.front());
    case label_operator::in:
    case label_operator::not_in:
        break;
    }
    const bool in = of.op == label_operator::in;
    if (values.size() == 1)
        return key + (in ? "=" : "!=") + values.front();
    return key + (in ? " in (" : " notin (") + list_text(values, "value") + ")";
}

/// Returns the requirements of a term of a node affinity: "disk=ssd, metadata.name=n1".
[[nodiscard]] inline std::string requirements_text(const muster::node_term& term) {
    std::string text;
    for (const auto* const all : {&term.labels.requirements, &term.name})
        for (const muster::label_requirement& each : *all)
            text += (text.empty() ? "" : ", ") + requirement_text(each);
    return text.empty() ? "a term without requirements" : text;
}

/// The constraint sets of waiting pods of one gang, each once, in the order of the pods, and the
/// gang's queue.
struct filtered_pods {
    std::vector<muster::constraint_index> sets;
    std::optional<muster::queue_index> queue;

    [[nodiscard]] friend auto operator<=>(const filtered_pods&, const filtered_pods&) = default;
};

/// Returns those of all waiting members of the gang that some node could take, or of `only` one of
/// them. `with_unready` includes members whose volumes are not ready. O(members · log members).
template<class Traits>
[[nodiscard]] filtered_pods
filtered_pods_of(const muster::state<Traits>& known, muster::gang_index which,
                 std::optional<muster::pod_index> only, bool with_unready) {
    filtered_pods found;
    std::set<muster::constraint_index> seen;
    const auto add = [&](muster::pod_index member) {
        const muster::constraints& where = known.where(member).value;
        const muster::constraint_index set = known.shapes()[known[member].shape].where;
        if (known[member].placeable() && !where.unsupported &&
            (with_unready || !where.volume_not_ready) && seen.insert(set).second)
            found.sets.push_back(set);
    };
    if (only)
        add(*only);
    else
        std::ranges::for_each(known[which].members, add);
    if (const auto queue = known[which].queue; queue && known[*queue].present)
        found.queue = queue;
    return found;
}

/// Says which of the node filters keep some of the pods off which nodes.
template<class Traits>
class node_filter_writer {
    using node_type = muster::node<Traits::width>;

public:
    /// O(nodes).
    node_filter_writer(const muster::state<Traits>& known, const filtered_pods& pods,
                       muster::certificate_scope scope)
        : known_(&known), now_(scope == muster::certificate_scope::free_now), sets_(pods.sets) {
        if (pods.queue) {
            queue_ = known.key(*pods.queue);
            queue_nodes_ = &known.constraint_sets()[known[*pods.queue].nodes];
        }
        for (const muster::node_index node : known.node_order())
            if (known[node].present)
                nodes_.push_back(node);
    }

    /// Returns the labels that no node or too few nodes have: "no node matches node selector
    /// disk=ssd", or "too few nodes match node selector disk=ssd: 1 of 6 nodes".
    /// O(constraint sets × requirements × nodes).
    [[nodiscard]] std::string selector() const {
        std::vector<std::string> unmatched;
        std::vector<std::string> few;
        for (const muster::constraint_index set : sets_) {
            std::vector<requirement> all;
            add_requirements({}, known_->constraint_sets()[set].value, all);
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
        for (const muster::node_index node :
             nodes_with([&](const auto&of, const node_type&spec, unsigned) {
                 return std::ranges::any_of(spec.taints,
                                            [&](const auto& each) { return keeps_off(of, each); });
             }))
            for (const muster::taint& each : (*known_)[node].spec.taints)
                if (std::ranges::any_of(sets_, [&](muster::constraint_index set) {
                        return keeps_off(known_->constraint_sets()[set].value, each);
                    }))
                    ++counts[taint_text(each)];
        std::vector<std::string> texts;
        for (const auto& [text, count] : counts)
            texts.push_back(text + " (" + std::to_string(count) +
                            (count == 1 ? " node)" : " nodes)"));
        std::vector<std::string> unread;
        for (const muster::node_index node : nodes_)
            if (muster::codec::is_closed_unread((*known_)[node].spec))
                unread.push_back(known_->key(node));
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
        for (const muster::node_index node :
             nodes_with([](const auto&, const node_type&, unsigned found) {
                 return (found & muster::node_filter_cordon) != 0;
             }))
            names.push_back(known_->key(node));
        return names.empty()       ? "nodes are cordoned"
               : names.size() == 1 ? "node " + names.front() + " is cordoned"
                                   : "nodes " + list_text(names, "node") + " are cordoned";
    }

    /// Returns the host ports of which too few nodes have all free: "too few nodes have host port
    /// 8080/TCP free: 5 of 6 nodes".
    [[nodiscard]] std::string ports() const {
        std::vector<std::string> texts;
        for (const muster::constraint_index set : sets_) {
            const muster::node_claims& claims = known_->constraint_sets()[set].value.claims;
            if (claims.ports.empty())
                continue;
            std::vector<std::string> names;
            for (const muster::host_port& each : claims.ports)
                names.push_back(port_text(each));
            const std::string ports =
                (names.size() == 1 ? "host port " : "host ports ") + list_text(names, "port");
            const auto free = std::ranges::count_if(nodes_, [&](muster::node_index node) {
                return muster::compatible(claims.ports, known_->accounts().claims(node).ports());
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
        for (const muster::node_index node : nodes_)
            made.met.push_back(met((*known_)[node].spec) ? 1 : 0);
    }

    /// Adds each label of the node selector, and each requirement of the node affinity or, if the
    /// affinity has several terms, the affinity as a whole.
    void add_requirements(const std::string& queue, const muster::constraints& of,
                          std::vector<requirement>& to) const {
        const auto add_label = [&](const char* field, const muster::label_requirement& one) {
            add_requirement(
                field, queue, requirement_text(one),
                [&](const node_type& node) { return one.matches(node.labels.find(one.key)); }, to);
        };
        for (const muster::label_requirement& each : of.selector.requirements)
            if (detail::is_of_system(each))
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
            const muster::node_term& term = of.affinity->front();
            for (const muster::label_requirement& each : term.labels.requirements)
                add_label(affinity, each);
            for (const muster::label_requirement& each : term.name)
                add_requirement(
                    affinity, queue, requirement_text(each),
                    [&](const node_type& node) { return each.matches(&node.name); }, to);
            if (!term.labels.requirements.empty() || !term.name.empty())
                return;
        }
        std::string text;
        for (const muster::node_term& term : *of.affinity)
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
    [[nodiscard]] bool keeps_off(const muster::constraints& of, const muster::taint& what) const {
        return what.effect != muster::taint_effect::prefer_no_schedule &&
               what.key != muster::unschedulable_taint_key &&
               what.key != muster::codec::unread_taint_key && (now_ || !what.is_condition()) &&
               !muster::tolerated(what, of.tolerations);
    }

    /// Returns the nodes for which `is_stopped(constraints, node, failed_filters)` is true of some
    /// constraint set. If some of these nodes match the node selectors of the set and of the
    /// queue, returns only those.
    template<class Stopped>
    [[nodiscard]] std::vector<muster::node_index> nodes_with(const Stopped& is_stopped) const {
        std::vector<muster::node_index> all;
        std::vector<muster::node_index> selected;
        for (const muster::node_index node : nodes_) {
            bool stopped = false;
            bool matches = false;
            for (const muster::constraint_index set : sets_) {
                const auto& row = known_->constraint_sets()[set];
                const unsigned found = row.failed_filters[node.value()];
                if (!is_stopped(row.value, (*known_)[node].spec, found))
                    continue;
                stopped = true;
                const unsigned of_queue =
                    queue_nodes_ ? queue_nodes_->failed_filters[node.value()] : 0U;
                matches = matches || ((found | of_queue) & muster::node_filter_selector) == 0;
            }
            if (stopped)
                all.push_back(node);
            if (matches)
                selected.push_back(node);
        }
        return selected.empty() ? all : selected;
    }

    const muster::state<Traits>* known_;
    /// Only what is free now counts, with the conditions of nodes.
    bool now_;
    std::vector<muster::constraint_index> sets_;
    std::string queue_;
    const muster::constraint_table::row* queue_nodes_ = nullptr;
    std::vector<muster::node_index> nodes_;
};

/// True if the reason is about labels, taints, cordons or host ports.
[[nodiscard]] constexpr bool speaks_of_node_filter(muster::reason_code code) noexcept {
    return code == muster::reason_code::node_selector_mismatch ||
           code == muster::reason_code::untolerated_taint ||
           code == muster::reason_code::node_unschedulable ||
           code == muster::reason_code::host_port_taken;
}

/// What the text of a reason about a node filter depends on, beside the nodes.
struct node_filter_key {
    filtered_pods pods;
    muster::certificate_scope scope = muster::certificate_scope::free_now;
    muster::reason_code code = muster::reason_code::node_selector_mismatch;

    [[nodiscard]] friend auto operator<=>(const node_filter_key&, const node_filter_key&) = default;
};

/// Returns which nodes the filter keeps the pods off. Precondition: `speaks_of_node_filter(code)`.
template<class Traits>
[[nodiscard]] std::string node_filter_text(const muster::state<Traits>& known,
                                           const node_filter_key& of) {
    const node_filter_writer<Traits> writer(known, of.pods, of.scope);
    return of.code == muster::reason_code::node_selector_mismatch ? writer.selector()
           : of.code == muster::reason_code::untolerated_taint    ? writer.taints()
           : of.code == muster::reason_code::node_unschedulable   ? writer.cordon()
                                                                  : writer.ports();
}

} // namespace cli
