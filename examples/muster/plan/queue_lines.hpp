// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <muster/input/cluster.hpp>
#include <muster/problem/members.hpp>

#include "report.hpp"

namespace cli {

/// The dominant share of what is used, with the kind that makes it so.
template<std::size_t Width>
[[nodiscard]] share_line share_of(const muster::resources<Width>& used,
                                  const muster::limits<Width>& quota,
                                  const muster::kind_table& kinds) {
    share_line line;
    muster::share dominant;
    for (std::size_t column = 0; column < kinds.size(); ++column) {
        const muster::kind_id kind{column};
        if (!quota.limited(kind))
            continue;
        const muster::share mine{used[kind], *quota[kind]};
        if (line.kind.empty() || mine > dominant) {
            dominant = mine;
            line = {kinds.name(kind), used[kind], *quota[kind]};
        }
    }
    return line;
}

/// Queues as they stand, before anything is planned: parents before their children, in the order of
/// names, then what has no queue.
template<std::size_t Width>
class queue_lister {
    using traits = muster::codec::kubernetes_traits<Width>;

public:
    explicit queue_lister(const muster::codec::cluster<Width>& known) : known_(&known) {}

    [[nodiscard]] std::vector<queue_line> list() {
        const auto& state = known_->state;
        std::vector<queue_line> lines;
        for (const auto& [key, queue] : state.queue_keys())
            if (!state[queue].parent)
                add(queue, 0, lines);
        queue_line without;
        for (const auto& [key, gang] : state.gang_keys())
            if (!state[gang].queue)
                count(gang, without);
        if (without.running_groups + without.waiting_groups > 0)
            lines.push_back(std::move(without));
        return lines;
    }

private:
    void add(muster::queue_index queue, std::size_t depth, std::vector<queue_line>& to) {
        const auto& state = known_->state;
        const auto& record = state[queue];
        queue_line line;
        line.name = state.key(queue);
        line.depth = depth;
        if (record.parent)
            line.parent = state.key(*record.parent);
        line.state = !record.present ? "unknown" : record.spec.closed ? "closed" : "open";
        line.priority = record.spec.priority;
        line.weight = record.spec.weight;
        const auto& used = state.accounts().used(queue);
        line.share = share_of(used, record.spec.quota, known_->kinds);
        for (std::size_t column = 0; column < known_->kinds.size(); ++column) {
            const muster::kind_id kind{column};
            const queue_resource one{used[kind], record.spec.quota[kind],
                                     record.spec.deserved[kind], record.spec.guarantee[kind]};
            if (one.used > 0 || one.quota || one.deserved || one.guarantee > 0)
                line.resources.emplace(known_->kinds.name(kind), one);
        }
        for (const auto& [key, gang] : state.gang_keys())
            if (state[gang].queue == queue)
                count(gang, line);
        to.push_back(std::move(line));
        for (const auto& [key, child] : state.queue_keys())
            if (state[child].parent == queue)
                add(child, depth + 1, to);
    }

    void count(muster::gang_index gang, queue_line& line) const {
        const auto& state = known_->state;
        const auto& group = state[gang];
        const auto members = muster::members_of(state, gang);
        std::size_t standing = 0;
        for (const muster::pod_index pod : group.members)
            standing += state[pod].charged() ? 1U : 0U;
        line.running_pods += standing;
        line.waiting_pods += group.placeable;
        const bool runs = muster::reaches_minima(*members.tree, members.holding);
        line.running_groups += runs && standing > 0 ? 1U : 0U;
        if (group.placeable == 0 || runs)
            return;
        ++line.waiting_groups;
        if (group.spec.created != std::numeric_limits<std::int64_t>::max())
            line.oldest = std::min(line.oldest.value_or(group.spec.created), group.spec.created);
    }

    const muster::codec::cluster<Width>* known_;
};

} // namespace cli
