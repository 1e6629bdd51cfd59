// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include <muster/base/id.hpp>
#include <muster/base/ranges.hpp>
#include <muster/base/sequence.hpp>
#include <muster/cluster/cluster_state.hpp>
#include <muster/cycle/queue_turns.hpp>
#include <muster/policy/any_order.hpp>
#include <muster/policy/gang_order_concept.hpp>
#include <muster/policy/queue_order_concept.hpp>
#include <muster/wait/wait_condition.hpp>

namespace muster {
inline namespace v0_1 {

/// A gang in the backlog of its queue.
struct pending_gang {
    gang_index gang;
    /// Determines its position in the order of gangs.
    gang_rank rank;
    /// The condition under which its last answer holds.
    wait_condition until{};
    /// True if its last answer is that room on nodes is missing (`gate::space`).
    bool wants_room = false;
    /// Number of the cycle since which budgets have ended before this gang had its full budget; 0 =
    /// it had its full budget.
    std::uint64_t unreached_since = 0;
    /// True if the gang is admitted and no member waits.
    bool done = false;
    /// Number of gangs that had started in this cycle before its visit.
    std::int64_t started_before = 0;
    /// Number of its visit in this cycle, from 0.
    std::uint32_t visit = 0;
};

/// The gangs of one queue that may need a decision, in the order of gangs, then of keys.
struct queue_backlog {
    std::optional<queue_index> queue;
    detail::sequence<pending_gang> entries;
    /// Number of entries visited or skipped in this cycle.
    std::size_t given = 0;
    /// Indices of the entries that get another turn in this cycle, for their surplus, in the order
    /// of gangs.
    detail::sequence<std::uint32_t> again;
    /// Index of the entry that has the turn; `for_surplus`: the turn is for its surplus.
    std::size_t at = 0;
    bool for_surplus = false;
    /// True if some entry is done.
    bool any_done = false;
    /// The queue has strict order; `held_up`: a gang waits, so the gangs behind it wait, too.
    bool strict = false;
    bool held_up = false;
    /// Use epoch of the queue at the last quota phase.
    std::uint64_t use_epoch = 0;

    /// True if the entry that has the turn gets another turn, for its surplus.
    [[nodiscard]] bool comes_again() const {
        return detail::find(again, static_cast<std::uint32_t>(at)) != again.end();
    }
};

/// True if no member of the admitted gang waits and at least one holds room. False for a gang
/// without such members, because strict order may still keep it waiting.
template<class Traits>
[[nodiscard]] bool has_all_it_wants(const cluster_state<Traits>& cluster, gang_index which) {
    const auto& record = cluster[which];
    return record.placeable == 0 && detail::any_of(record.members, [&](pod_index member) {
               return cluster[member].holding();
           });
}

/// All gangs that may need a decision. Within a queue they are in the order of gangs, then of keys;
/// `queue_turns` decides between queues. The backlog is kept with the state and updated from the
/// state's list of changed gangs. It does not contain gangs that have all they want.
template<class Traits>
class backlog {
public:
    using line = queue_backlog;
    using entry = pending_gang;

    /// Rebuilds the backlog with all gangs of the state (`everybody`) or with those that may need a
    /// decision. O(gangs · log gangs).
    void rebuild(cluster_state<Traits>& cluster, std::int64_t now, const any_gang_order& gangs,
                 bool everybody) {
        lines_.clear();
        turns_.clear();
        line_of_queue_.clear();
        slots_.clear();
        cluster.take_changed_gangs([](gang_index) {});
        placeable_changed_ = true;
        arrivals_.clear();
        for (const gang_index which : cluster.gang_order())
            if (everybody || wants_something(cluster, which))
                arrivals_.push_back(which);
        admit_arrivals(cluster, now, gangs);
    }

    /// Applies the changes of gangs since the last call. O(changes · log gangs) for a few, and
    /// O(gangs + changes · log changes) for many.
    void update(cluster_state<Traits>& cluster, std::int64_t now, const any_gang_order& gangs) {
        arrivals_.clear();
        removed_.clear();
        cluster.take_changed_gangs([&](gang_index which) {
            const auto& record = cluster[which];
            placeable_changed_ |= record.placeable != record.members.size();
            const bool wanted = is_live(record) && wants_something(cluster, which);
            const slot at = slot_of(which);
            if (at.line != none && wanted && at.generation == record.generation &&
                lines_[at.line].queue == record.queue && at.rank == rank_of(cluster, which) &&
                reopen(at, which, now, gangs))
                return;
            if (at.line != none)
                removed_.push_back(which);
            if (wanted)
                arrivals_.push_back(which);
        });
        if (removed_.empty() && arrivals_.empty())
            return;
        for (const gang_index which : removed_)
            slots_[which.value()].leaves = true;
        for (line& waiting_line : lines_)
            if (waiting_line.any_done || !removed_.empty())
                compact(waiting_line);
        admit_arrivals(cluster, now, gangs);
    }

    /// Sorts all gangs again, for orders that depend on time. O(gangs · log gangs).
    void sort_again(const cluster_state<Traits>& cluster, std::int64_t now,
                    const any_gang_order& gangs) {
        for (line& waiting_line : lines_)
            sort(cluster, now, gangs, waiting_line.entries.begin(), waiting_line.entries.end());
    }

    /// Starts a cycle, in which every gang has a turn. O(queues × width), and O(queues · log
    /// queues) if queues changed.
    void begin(const cluster_state<Traits>& cluster, const any_queue_order& queues) {
        current_.reset();
        given_.reset();
        for (line& waiting_line : lines_) {
            if (waiting_line.any_done)
                compact(waiting_line);
            waiting_line.given = 0;
            waiting_line.again.clear();
            waiting_line.strict =
                waiting_line.queue && cluster[*waiting_line.queue].spec.strict_order;
            waiting_line.held_up = false;
        }
        turns_.arrange(cluster, lines_.size(), [&](std::size_t at) { return lines_[at].queue; });
        if (queues.counts_next_gang())
            for (std::size_t at = 0; at < lines_.size(); ++at)
                turns_.set_next(at, next_of(cluster, lines_[at]));
        const fair_shares<Traits>* due = nullptr;
        if (queues.by_fair_share()) {
            due_.compute(cluster);
            due = &due_;
        }
        turns_.begin(
            cluster, queues, [&](std::size_t at) { return !done(lines_[at]); }, due);
    }

    /// Returns the queue's backlog whose entry `at` is the next gang; null if all gangs had their
    /// turns. Skips entries for which `needless(entry)` is true, except in a queue with strict
    /// order or with turns for surplus to come.
    template<class Needless>
    [[nodiscard]] line* next(std::int64_t now, const any_gang_order& gangs,
                             const Needless& needless) {
        for (;;) {
            if (!current_)
                current_ = turns_.first();
            if (!current_)
                return nullptr;
            if (line& from = lines_[*current_]; !from.strict && from.again.empty())
                while (from.given < from.entries.size() && needless(from.entries[from.given]))
                    ++from.given;
            if (!done(lines_[*current_]))
                break;
            turns_.finish_first();
            current_.reset();
        }
        given_ = current_;
        line& from = lines_[*current_];
        from.for_surplus =
            !from.again.empty() && (from.given == from.entries.size() ||
                                    gangs(surplus_rank(from.entries[from.again.front()]),
                                          from.entries[from.given].rank, now));
        if (from.for_surplus) {
            from.at = from.again.front();
            from.again.erase(from.again.begin());
        } else {
            from.at = from.given++;
        }
        return &from;
    }

    [[nodiscard]] line* next(std::int64_t now, const any_gang_order& gangs) {
        return next(now, gangs, [](const entry&) { return false; });
    }

    /// Ends the turn of the last gang. If the order of queues depends on their next gangs, compares
    /// its queue and those above again with their siblings.
    void passed(const cluster_state<Traits>& cluster, const any_queue_order& queues) {
        if (!given_ || !queues.counts_next_gang())
            return;
        const std::uint32_t at = *given_;
        turns_.set_next(at, next_of(cluster, lines_[at]));
        shares_moved(cluster, lines_[at].queue, queues);
    }

    /// Gives the entry that had the turn another turn, for its surplus. O(entries with such a turn
    /// to come).
    void once_more(const cluster_state<Traits>& cluster, std::int64_t now,
                   const any_gang_order& gangs, line& in) {
        const auto less = [&](std::uint32_t lhs, std::uint32_t rhs) {
            const entry& left = in.entries[lhs];
            const entry& right = in.entries[rhs];
            if (gangs(surplus_rank(left), surplus_rank(right), now))
                return true;
            return !gangs(surplus_rank(right), surplus_rank(left), now) &&
                   cluster.gang_order().before(left.gang, right.gang);
        };
        const auto fresh = static_cast<std::uint32_t>(in.at);
        in.again.insert(detail::lower_bound(in.again, fresh, less), fresh);
    }

    /// Handles a change in the use of the queue: compares it and those above again with their
    /// siblings. O(depth × (width + log siblings)).
    void shares_moved(const cluster_state<Traits>& cluster, std::optional<queue_index> queue,
                      const any_queue_order& queues) {
        if (queue)
            turns_.moved(cluster, *queue, queues);
        current_.reset();
    }

    /// Returns whether an event changed a gang that has running members, since the last call.
    [[nodiscard]] bool take_placeable_changed() noexcept {
        return std::exchange(placeable_changed_, false);
    }

    /// Returns the backlogs of all queues, in no particular order.
    [[nodiscard]] std::vector<line>& lines() noexcept { return lines_; }

private:
    static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
    /// Position of a gang in the backlog, by gang index.
    struct slot {
        std::uint32_t line = none;
        bool leaves = false;
        /// Generation of the gang's record, because another gang may reuse its index.
        std::uint32_t generation = 0;
        gang_rank rank;
    };

    [[nodiscard]] static bool is_live(const gang_record& record) noexcept {
        return record.present || !record.members.empty();
    }
    /// Returns the gang's input to the order of gangs. O(1), or O(members) for a gang that declares
    /// a duration and has a member that does not wait.
    [[nodiscard]] static gang_rank rank_of(const cluster_state<Traits>& cluster,
                                           gang_index which) noexcept {
        const gang_record& record = cluster[which];
        gang_rank made{record.spec.priority, record.spec.created,
                       record.spec.start_by.value_or(gang_rank::none),
                       record.spec.duration.value_or(gang_rank::none)};
        if (made.duration == gang_rank::none || record.placeable == record.members.size())
            return made;
        for (const pod_index member : record.members)
            if (const auto& pod = cluster[member]; pod.charged() && pod.alive() && pod.started())
                made.since = std::min(made.since, *pod.started());
        return made;
    }
    [[nodiscard]] static bool wants_something(const cluster_state<Traits>& cluster,
                                              gang_index which) {
        const gang_record& record = cluster[which];
        return record.dirty || !record.last.is_known || record.last.kind != answer::admitted ||
               !has_all_it_wants(cluster, which);
    }
    [[nodiscard]] static bool done(const line& waiting_line) noexcept {
        return waiting_line.given == waiting_line.entries.size() && waiting_line.again.empty();
    }
    /// Returns the next gang of the queue and its request: the members that it lacks for its minima
    /// or, if it meets them, one more member. Empty if there is none. O(members).
    [[nodiscard]] static next_gang<Traits::width> next_of(const cluster_state<Traits>& cluster,
                                                          const line& waiting_line) {
        next_gang<Traits::width> next;
        if (done(waiting_line))
            return next;
        const std::size_t at = waiting_line.given < waiting_line.entries.size()
                                   ? waiting_line.given
                                   : waiting_line.again.front();
        const auto& group = cluster[waiting_line.entries[at].gang];
        next.priority = group.spec.priority;
        next.created = group.spec.created;
        const gang_tree& tree = group.spec.tree;
        detail::sequence<std::int64_t> missing(tree.size(), 0);
        for (std::size_t vertex = 0; vertex < tree.size(); ++vertex)
            missing[vertex] = tree[vertex].min_member;
        const auto count = [&](pod_index member) {
            const std::size_t role = cluster[member].role.value();
            if (role >= missing.size())
                return;
            --missing[0];
            if (role != 0)
                --missing[role];
        };
        for (const pod_index member : group.members)
            if (cluster[member].holding())
                count(member);
        const bool more = detail::all_of(missing, [](std::int64_t left) { return left <= 0; });
        if (more)
            missing[0] = 1;
        for (const bool roles : {true, false})
            for (const pod_index member : group.members) {
                const auto& record = cluster[member];
                const std::size_t role = record.role.value();
                if (!record.placeable() || role >= missing.size() ||
                    (roles ? role == 0 || missing[role] <= 0
                           : missing[0] <= 0 || (role != 0 && tree[role].min_member > 0 && !more)))
                    continue;
                count(member);
                next.amount = saturating_add(next.amount, cluster.request(member));
            }
        return next;
    }
    [[nodiscard]] static gang_rank surplus_rank(const entry& pending) noexcept {
        gang_rank rank = pending.rank;
        rank.surplus = true;
        return rank;
    }

    [[nodiscard]] slot slot_of(gang_index which) const noexcept {
        return which.value() < slots_.size() ? slots_[which.value()] : slot{};
    }

    /// Resets the gang's entry at its recorded position. Returns false if the gang is not there.
    bool reopen(const slot& at, gang_index which, std::int64_t now, const any_gang_order& gangs) {
        detail::sequence<entry>& in = lines_[at.line].entries;
        const auto first = detail::lower_bound(
            in, at.rank, [&](gang_rank lhs, gang_rank rhs) { return gangs(lhs, rhs, now); },
            &entry::rank);
        for (auto candidate = first; candidate != in.end() && !gangs(at.rank, candidate->rank, now);
             ++candidate) {
            if (candidate->gang != which)
                continue;
            *candidate = {which, at.rank};
            return true;
        }
        return false;
    }

    void compact(line& waiting_line) {
        erase_if(waiting_line.entries, [&](const entry& pending) {
            slot& at = slots_[pending.gang.value()];
            if (!pending.done && !at.leaves)
                return false;
            at = {};
            return true;
        });
        waiting_line.any_done = false;
    }

    void admit_arrivals(const cluster_state<Traits>& cluster, std::int64_t now,
                        const any_gang_order& gangs) {
        sizes_.clear();
        for (const line& waiting_line : lines_)
            sizes_.push_back(waiting_line.entries.size());
        for (const gang_index which : arrivals_) {
            const auto& record = cluster[which];
            const std::uint32_t to = line_for(record.queue);
            const gang_rank rank = rank_of(cluster, which);
            lines_[to].entries.push_back({which, rank});
            if (slots_.size() <= which.value())
                slots_.resize(which.value() + 1);
            slots_[which.value()] = {to, false, record.generation, rank};
        }
        for (std::size_t at = 0; at < lines_.size(); ++at) {
            detail::sequence<entry>& in = lines_[at].entries;
            const auto middle = in.begin() + static_cast<std::ptrdiff_t>(sizes_[at]);
            if (middle == in.end())
                continue;
            sort(cluster, now, gangs, middle, in.end());
            std::inplace_merge(in.begin(), middle, in.end(), before(cluster, now, gangs));
        }
    }

    [[nodiscard]] static auto before(const cluster_state<Traits>& cluster, std::int64_t now,
                                     const any_gang_order& gangs) {
        return [&cluster, now, &gangs](const entry& lhs, const entry& rhs) {
            if (gangs(lhs.rank, rhs.rank, now))
                return true;
            return !gangs(rhs.rank, lhs.rank, now) &&
                   cluster.gang_order().before(lhs.gang, rhs.gang);
        };
    }

    template<class Iterator>
    static void sort(const cluster_state<Traits>& cluster, std::int64_t now,
                     const any_gang_order& gangs, Iterator first, Iterator last) {
        if (last - first > 1)
            std::sort(first, last, before(cluster, now, gangs));
    }

    std::uint32_t line_for(std::optional<queue_index> queue) {
        const std::size_t at = queue ? queue->value() + 1 : 0;
        if (line_of_queue_.size() <= at)
            line_of_queue_.resize(at + 1, none);
        if (line_of_queue_[at] != none)
            return line_of_queue_[at];
        const auto fresh = static_cast<std::uint32_t>(lines_.size());
        line_of_queue_[at] = fresh;
        lines_.push_back({});
        lines_.back().queue = queue;
        sizes_.push_back(0);
        return fresh;
    }

    std::vector<line> lines_;
    queue_turns<Traits> turns_;
    fair_shares<Traits> due_;
    detail::sequence<std::uint32_t> line_of_queue_;
    detail::sequence<slot> slots_;
    std::optional<std::uint32_t> current_;
    /// Index of the queue's backlog that `next` returned last.
    std::optional<std::uint32_t> given_;
    std::vector<gang_index> arrivals_;
    std::vector<gang_index> removed_;
    detail::sequence<std::size_t> sizes_;
    bool placeable_changed_ = true;
};

} // namespace v0_1
} // namespace muster
