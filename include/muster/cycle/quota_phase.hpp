// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include <muster/cluster/cluster_state.hpp>
#include <muster/cycle/backlog.hpp>
#include <muster/cycle/cycle_context.hpp>
#include <muster/cycle/decision.hpp>
#include <muster/cycle/decision_notes.hpp>
#include <muster/exact/search.hpp>
#include <muster/vocabulary/budget.hpp>
#include <muster/vocabulary/certificate.hpp>
#include <muster/wait/wait_condition.hpp>

namespace muster {
inline namespace v0_1 {
namespace detail {

/// Runs at the end of a cycle. A gang that did not fit the nodes may by now exceed its quota,
/// because gangs that started later have used it up. The gate of such a gang becomes `gate::quota`.
///
/// O(depth × width) for each waiting gang in a queue whose use has grown, if its least use is
/// known. Other gangs need a search without nodes, within the steps that are left in the cycle's
/// budget. A gang that these do not reach is asked again in the next cycle, like other gangs that
/// the budget did not reach.
template<class Traits>
class quota_phase {
public:
    quota_phase(cluster_state<Traits>& cluster, const budget& limit, cycle_result& result,
                cycle_context<Traits>& context)
        : cluster_(&cluster),
          limit_(limit),
          result_(&result),
          context_(&context),
          asked_(result.decisions.size()) {}

    /// Returns false if the budget did not reach some gang. O(gangs that wait in such queues).
    bool run() {
        for (queue_backlog& line : context_->pending.lines()) {
            const std::uint64_t used = line.queue ? cluster_->use_epoch(*line.queue) : 0;
            if (std::exchange(line.use_epoch, used) == used)
                continue;
            // A gang that lost a member to an eviction in this cycle is asked in the next one
            // anyway.
            for (pending_gang& entry : line.entries)
                if (const auto& group = (*cluster_)[entry.gang];
                    entry.wants_room && group.nominated == 0 && !group.dirty)
                    look_at(entry);
        }
        if (result_->decisions.size() > asked_)
            order_by_visits(*result_, context_->made);
        return all_reached_;
    }

private:
    void look_at(pending_gang& entry) {
        const std::int64_t given = std::clamp<std::int64_t>(
            limit_.per_cycle - result_->counters.search_steps, 0, limit_.per_gang);
        std::int64_t left = given;
        std::optional<certificate> proof;
        fit_outcome outcome = context_->fits_quotas(*cluster_, entry.gang, left);
        if (outcome == fit_outcome::impossible &&
            (*cluster_)[entry.gang].last.kind == answer::undecided) {
            // An undecided gang becomes waiting only if there is a proof that it exceeds the quota.
            proof = context_->deciding.quota_proof(*cluster_, entry.gang, left);
            if (!proof)
                outcome = left > 0 ? fit_outcome::fits : fit_outcome::undecided;
        }
        result_->counters.search_steps += given - left;
        if (outcome == fit_outcome::impossible)
            close(entry, std::move(proof));
        else if (outcome == fit_outcome::undecided && !context_->searching.whole(given))
            put_off(entry);
    }

    void put_off(pending_gang& entry) {
        last_verdict last = (*cluster_)[entry.gang].last;
        if (last.unreached_since == 0)
            last.unreached_since = cluster_->cycles();
        cluster_->answered(entry.gang, last);
        entry.until.replace_proof(wait_condition::asked_again());
        entry.unreached_since = last.unreached_since;
        context_->any_unreached = true;
        all_reached_ = false;
    }

    void close(pending_gang& entry, std::optional<certificate> proof) {
        last_verdict last = (*cluster_)[entry.gang].last;
        const last_verdict before = last;
        entry.wants_room = false;
        // The gang no longer waits for room alone, because its quota is used up.
        entry.until.drop_proof();
        last.kind = answer::waiting;
        last.at = gate::quota;
        cluster_->answered(entry.gang, last);
        if (decision* made = decision_of(*result_, context_->made, asked_, entry.visit)) {
            made->outcome.kind = answer::waiting;
            made->outcome.at = gate::quota;
            if (proof)
                made->outcome.proof = std::move(proof);
        } else {
            result_->add(entry.gang, {last.kind, last.at, last.could_start, std::move(proof), 0},
                         {});
            context_->made.push_back({entry.visit, before});
        }
    }

    cluster_state<Traits>* cluster_;
    budget limit_;
    cycle_result* result_;
    cycle_context<Traits>* context_;
    /// Number of decisions before this phase.
    std::size_t asked_;
    bool all_reached_ = true;
};

} // namespace detail
} // namespace v0_1
} // namespace muster
