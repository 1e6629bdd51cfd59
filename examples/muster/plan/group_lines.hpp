// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>

#include <muster/base/id.hpp>
#include <muster/cluster/state.hpp>
#include <muster/cycle/decision.hpp>
#include <muster/resource/kind_table.hpp>
#include <muster/words/reason_name.hpp>
#include <muster/words/told_reason.hpp>

#include "fewest_members.hpp"
#include "report.hpp"

namespace cli {

using muster::words::role_name;

/// Returns NAMESPACE/NAME of a gang or pod.
template<class Key>
[[nodiscard]] std::string full_name(const Key& key) {
    return key.name_space + "/" + key.name;
}

/// Names the objects of a state with the keys of Kubernetes: NAMESPACE/NAME of gangs and pods.
template<class Traits>
class full_names {
public:
    explicit full_names(const muster::state<Traits>& known) : known_(&known) {}

    [[nodiscard]] const std::string& operator()(muster::node_index node) const {
        return known_->key(node);
    }
    [[nodiscard]] std::string operator()(muster::pod_index pod) const {
        return full_name(known_->key(pod));
    }
    [[nodiscard]] std::string operator()(muster::gang_index gang) const {
        return full_name(known_->key(gang));
    }
    [[nodiscard]] const std::string& operator()(muster::queue_index queue) const {
        return known_->key(queue);
    }

private:
    const muster::state<Traits>* known_;
};

/// Returns the name of the queue, or an empty text if there is none.
template<class Traits>
[[nodiscard]] std::string queue_name(const muster::state<Traits>& known,
                                     std::optional<muster::queue_index> queue) {
    return queue ? known.key(*queue) : std::string();
}

/// Adds the placements of a decision, now or later, and the pods that must leave first.
template<class Traits>
void add_placements(const muster::state<Traits>& known, const muster::decision& decision,
                    group_line& to) {
    const muster::gang_tree& tree = known[decision.gang].spec.tree;
    for (const muster::placement& one : decision.placements)
        to.placements.push_back({known.key(one.pod).name, role_name(tree, known[one.pod].role),
                                 known.key(one.node), decision.nominated});
    for (const muster::pod_index victim : decision.evictions)
        to.evictions.push_back(full_name(known.key(victim)));
    for (const auto& [pod, node] : decision.moves)
        to.moves.push_back({full_name(known.key(pod)), known.key(node)});
}

/// Returns what the state and the decision say of a gang. Its members are left to the caller.
template<class Traits>
[[nodiscard]] group_line line_of(const muster::state<Traits>& known,
                                 const muster::decision& decision) {
    const auto& gang = known[decision.gang];
    group_line line;
    line.name_space = known.key(decision.gang).name_space;
    line.name = known.key(decision.gang).name;
    if (gang.queue)
        line.queue = known.key(*gang.queue);
    line.priority = gang.spec.priority;
    line.minimum = fewest_members(gang.spec.tree);
    line.answer = muster::words::answer_name(decision.outcome.kind);
    if (decision.outcome.at != muster::gate::none)
        line.gate = name_of(decision.outcome.at);
    line.could_start = decision.outcome.could_start;
    add_placements(known, decision, line);
    if (decision.nominated)
        line.answer = "nominated";
    return line;
}

[[nodiscard]] inline bool is_waiting(const muster::decision& decision) noexcept {
    return !decision.nominated && (decision.outcome.kind == muster::answer::waiting ||
                                   decision.outcome.kind == muster::answer::undecided);
}

/// True if members hold nodes and no member waits for a node: no pod of the group is left to place,
/// even if the group is faulty. In a live cluster, each pod that another scheduler placed is such a
/// group, without an object. O(members).
template<class Traits>
[[nodiscard]] bool only_holds(const muster::state<Traits>& known, muster::gang_index group) {
    bool holds = false;
    for (const muster::pod_index member : known[group].members) {
        const auto& pod = known[member];
        if (!pod.node && !pod.terminal() && !pod.terminating)
            return false;
        holds = holds || pod.charged();
    }
    return holds;
}

/// True if the group has a position among the waiting groups. A faulty group of which no member
/// waits for a node has none.
template<class Traits>
[[nodiscard]] bool has_position(const muster::state<Traits>& known,
                                const muster::decision& decision) {
    return is_waiting(decision) &&
           !(decision.outcome.at == muster::gate::group && only_holds(known, decision.gang));
}

/// Numbers the groups that wait, in the order in which they were decided.
class waiting_positions {
public:
    [[nodiscard]] queue_position next(std::optional<muster::queue_index> queue) {
        return {++in_queue_[queue], ++all_};
    }

private:
    std::map<std::optional<muster::queue_index>, std::size_t> in_queue_;
    std::size_t all_ = 0;
};

/// Returns the room that is reserved for the gang, if any.
template<class Traits>
[[nodiscard]] std::optional<kept_line> kept_for(const muster::state<Traits>& known,
                                                const muster::kind_table& kinds,
                                                muster::gang_index owner) {
    const auto amounts_of = [&](const muster::resources<Traits::width>& all) {
        amounts_by_kind found;
        for (std::size_t column = 0; column < kinds.size(); ++column)
            if (all[column] > 0)
                found.emplace(kinds.name(muster::kind_id{column}), all[column]);
        return found;
    };
    for (const auto& each : known.reservations()) {
        if (each.owner.index != owner)
            continue;
        kept_line line;
        line.start = each.start;
        for (const auto& part : each.parts)
            line.nodes.emplace(known.key(part.node), amounts_of(part.amount));
        line.quota = amounts_of(each.quota);
        return line;
    }
    return std::nullopt;
}

/// Returns what all evictions together would leave the gang of the decision short of, if known.
[[nodiscard]] inline std::optional<shortage_line> shortage_of(const muster::decision& decision,
                                                              const muster::kind_table& kinds) {
    const auto& lacks = decision.short_after_evictions;
    if (!lacks)
        return std::nullopt;
    return shortage_line{lacks->kind ? kinds.name(*lacks->kind) : "", lacks->needed, lacks->there};
}

} // namespace cli
