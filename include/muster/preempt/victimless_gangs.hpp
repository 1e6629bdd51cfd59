// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include <muster/base/id.hpp>
#include <muster/base/sequence.hpp>
#include <muster/policy/victim_rule_concept.hpp>
#include <muster/preempt/candidates.hpp>

namespace muster {
inline namespace v0_1 {
namespace detail {

/// Remembers for which waiting gangs a rule admits no candidate. As long as the lowest priority in
/// a queue does not fall, the rule admits none of that queue either (see `victim_rule`), so only
/// the other queues are checked again.
class victimless_gangs {
public:
    /// Starts a phase with one rule. Forgets all gangs unless the rule and all queues are those of
    /// the last phase. Precondition: the rule ignores time.
    void begin(bool has_same_rule, std::uint64_t queue_epoch) {
        if (has_same_rule && queue_epoch == queue_epoch_)
            return;
        queue_epoch_ = queue_epoch;
        gangs_.clear();
    }

    /// Returns true if the phase's rule is known to admit no candidate for the gang, for which
    /// `among.begin_for` was called. O(groups), and one call of the rule for each group that
    /// appeared or whose lowest priority fell since the gang was last looked up or added.
    template<class Traits, victim_rule Rule>
    [[nodiscard]] bool contains(gang_index which, const eviction_candidates<Traits>& among,
                                const Rule& rule, std::int64_t now) {
        if (which.value() >= gangs_.size())
            return false;
        entry& known = gangs_[which.value()];
        if (known.reading == 0 || !known.is_of(among.by()))
            return false;
        if (known.reading != among.readings()) {
            if (among.any_admitted_after(known.reading, rule, now)) {
                known.reading = 0;
                return false;
            }
            known.reading = among.readings();
        }
        return true;
    }
    /// Adds the gang, for which `among.any_admitted` returned false with the phase's rule.
    template<class Traits>
    void add(gang_index which, const eviction_candidates<Traits>& among) {
        if (which.value() >= gangs_.size())
            gangs_.resize(which.value() + 1);
        const gang_view& starting = among.by();
        gangs_[which.value()] = {among.readings(), starting.queue, starting.preemptible,
                                 starting.priority, starting.created};
    }

private:
    /// What a rule sees of a waiting gang, except for what its queue sets.
    struct entry {
        /// The last reading of the candidates with none that the rule admits; 0 if it is unknown.
        std::uint64_t reading = 0;
        std::optional<queue_index> queue;
        bool preemptible = false;
        std::int64_t priority = 0;
        std::int64_t created = 0;

        [[nodiscard]] bool is_of(const gang_view& side) const noexcept {
            return queue == side.queue && preemptible == side.preemptible &&
                   priority == side.priority && created == side.created;
        }
    };

    std::uint64_t queue_epoch_ = 0;
    sequence<entry> gangs_;
};

} // namespace detail
} // namespace v0_1
} // namespace muster
