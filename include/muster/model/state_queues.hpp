// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include <muster/base/assert.hpp>
#include <muster/base/id.hpp>
#include <muster/model/event_result.hpp>
#include <muster/model/labels.hpp>
#include <muster/model/state_accounts.hpp>

namespace muster {
inline namespace v0_1 {

/// What can happen to the queues of a state. They may be told in any order.
template<std::size_t Width>
class state_queues : public state_accounts<Width> {
    using store = state_accounts<Width>;

public:
    using typename store::queue_record;
    using typename store::queue_type;

    /// A queue is new or changed, and stands below `parent`, or below none. A parent that is not
    /// known yet bounds nothing until it is. O(depth), and O(queues × depth) when what nodes those
    /// below it may use changes.
    event_result set_queue(queue_index index, queue_type spec, std::optional<queue_index> parent);

    /// What can be seen to be wrong with a queue by itself.
    [[nodiscard]] static event_result check(const queue_type& spec) noexcept;

    /// The queue is gone: its gangs wait, and those below it stand below a queue that is not known.
    event_result clear_queue(queue_index which);

protected:
    state_queues() = default;
    explicit state_queues(kind_id pods_kind) : store(pods_kind) {}

    using store::acquire;
    using store::constraints_;
    using store::ledger_;
    using store::moved;
    using store::queue_epoch_;
    using store::queues_;

private:
    /// The accounts have the queue below its parent already.
    void place_queue(queue_index index, std::optional<queue_index> above, queue_type spec,
                     bool present) {
        queue_record& record = queues_[index.value()];
        const label_selector before = nodes_allowed(index);
        const bool was_present = std::exchange(record.present, present);
        record.parent = above;
        ledger_.queues_.set_quota(index, spec.quota, spec.firm_quota);
        record.spec = std::move(spec);
        if (was_present && !present)
            constraints_.release(record.nodes);
        const bool same = before == nodes_allowed(index);
        for (std::size_t at = 0; at < queues_.size(); ++at) {
            const queue_index each{same ? index.value() : at};
            if (queues_[each.value()].present && ledger_.queues().within(each, index))
                allow_nodes(each, each != index || was_present);
            if (same)
                break;
        }
        moved(true);
        ++queue_epoch_;
    }

    /// What the queue and all above it ask of nodes.
    [[nodiscard]] label_selector nodes_allowed(queue_index queue) const {
        label_selector all;
        for (std::optional<queue_index> at = queue; at; at = queues_[at->value()].parent) {
            const auto& own = queues_[at->value()].spec.nodes.requirements;
            all.requirements.insert(all.requirements.end(), own.begin(), own.end());
        }
        return all;
    }

    void allow_nodes(queue_index queue, bool anew) {
        queue_record& record = queues_[queue.value()];
        constraints where;
        where.selector = nodes_allowed(queue);
        const constraint_index nodes = acquire(where);
        if (anew)
            constraints_.release(record.nodes);
        record.nodes = nodes;
    }
};

} // namespace v0_1
} // namespace muster
