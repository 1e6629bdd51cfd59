// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include <muster/cluster/cluster_state.hpp>
#include <muster/cycle/agenda.hpp>
#include <muster/cycle/decision.hpp>
#include <muster/cycle/decision_notes.hpp>
#include <muster/cycle/engine.hpp>
#include <muster/exact/search.hpp>
#include <muster/vocabulary/budget.hpp>
#include <muster/vocabulary/certificate.hpp>
#include <muster/wait/wait_condition.hpp>

namespace muster {
inline namespace v0_1 {
namespace detail {

/// At a cycle's end: gangs that did not fit may meanwhile be kept out by their quota alone, used up
/// by those that started after they were asked. Then they stand at that gate.
///
/// O(1) for each gang that waits in a queue whose use has grown, when what it takes at least is
/// known. Others take a search without nodes, within what the cycle's searches have left: a gang
/// that this does not reach is asked anew in the next cycle, in its turn among the gangs not
/// reached.
template<class Traits>
class quota_pass {
public:
    quota_pass(cluster_state<Traits>& known, const budget& limit, cycle_result& result,
               engine<Traits>& kept)
        : known_(&known),
          limit_(limit),
          result_(&result),
          kept_(&kept),
          asked_(result.decisions.size()) {}

    /// False if some gang was not reached. O(gangs that wait in such queues).
    bool run() {
        for (agenda_line& line : kept_->asking.lines()) {
            const std::uint64_t used = line.queue ? known_->use_epoch(*line.queue) : 0;
            if (std::exchange(line.use_epoch, used) == used)
                continue;
            // A gang that lost a member to an eviction in this cycle is asked in the next one
            // anyway.
            for (agenda_entry& entry : line.entries)
                if (const auto& group = (*known_)[entry.gang];
                    entry.wants_room && group.nominated == 0 && !group.dirty)
                    look_at(entry);
        }
        if (result_->decisions.size() > asked_)
            order_by_visits(*result_, kept_->made);
        return all_reached_;
    }

private:
    void look_at(agenda_entry& entry) {
        const std::int64_t given = std::clamp<std::int64_t>(
            limit_.per_cycle - result_->counters.search_steps, 0, limit_.per_gang);
        std::int64_t left = given;
        std::optional<certificate> proof;
        fit_outcome outcome = kept_->fits_quotas(*known_, entry.gang, left);
        if (outcome == fit_outcome::impossible &&
            (*known_)[entry.gang].last.kind == answer::undecided) {
            // It is undecided no more when the quota proves it out.
            proof = kept_->deciding.quota_proof(*known_, entry.gang, left);
            if (!proof)
                outcome = left > 0 ? fit_outcome::fits : fit_outcome::undecided;
        }
        result_->counters.search_steps += given - left;
        if (outcome == fit_outcome::impossible)
            close(entry, std::move(proof));
        else if (outcome == fit_outcome::undecided && !kept_->searching.whole(given))
            put_off(entry);
    }

    void put_off(agenda_entry& entry) {
        standing last = (*known_)[entry.gang].last;
        if (last.unreached_since == 0)
            last.unreached_since = known_->cycles();
        known_->answered(entry.gang, last);
        entry.until.replace_proof(wait_condition::asked_again());
        entry.unreached_since = last.unreached_since;
        kept_->any_unreached = true;
        all_reached_ = false;
    }

    void close(agenda_entry& entry, std::optional<certificate> proof) {
        standing last = (*known_)[entry.gang].last;
        const standing before = last;
        entry.wants_room = false;
        // With the quota used up it no longer waits for room alone.
        entry.until.drop_proof();
        last.kind = answer::waiting;
        last.at = gate::quota;
        known_->answered(entry.gang, last);
        if (decision* made = decision_of(*result_, kept_->made, asked_, entry.visit)) {
            made->outcome.kind = answer::waiting;
            made->outcome.at = gate::quota;
            if (proof)
                made->outcome.proof = std::move(proof);
        } else {
            result_->add(entry.gang, {last.kind, last.at, last.could_start, std::move(proof), 0},
                         {});
            kept_->made.push_back({entry.visit, before});
        }
    }

    cluster_state<Traits>* known_;
    budget limit_;
    cycle_result* result_;
    engine<Traits>* kept_;
    /// Decisions before this pass.
    std::size_t asked_;
    bool all_reached_ = true;
};

} // namespace detail
} // namespace v0_1
} // namespace muster
