// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include <muster/base/checked.hpp>
#include <muster/policy/victim_rule_concept.hpp>
#include <muster/preempt/preemptor.hpp>
#include <muster/testing/meeting_costs.hpp>
#include <muster/testing/rebuilt_problem.hpp>

namespace muster {
inline namespace v0_1 {
namespace testing {

/// Checks what is said of evictions that do not help: the gang needs at least `needed`, and with
/// everybody gone who leaves or whom the rule gives away, no more than `there` would be there. What
/// queues keep of what they deserve counts by kind. Written from the records, with nothing of what
/// searches victims; for rules that look neither at time nor at fair shares.
template<class Traits, victim_rule Rule>
class shortage_verifier {
    static_assert(Rule::timeless && !reclaims_by_fair_share<Rule>);
    static constexpr std::size_t width = Traits::width;
    using problem = rebuilt_problem<Traits>;

public:
    shortage_verifier(const state<Traits>& known, gang_index by, const Rule& rule)
        : known_(&known), by_(by), rule_(&rule) {
        for (const auto& [key, pod] : known.pod_keys()) {
            const auto& record = known[pod];
            if (!record.node || record.phase == pod_phase::succeeded ||
                record.phase == pod_phase::failed || record.terminating || record.evicted)
                continue;
            stay_.push_back(pod);
            if (may_go(pod))
                gone_.push_back(pod);
        }
    }

    [[nodiscard]] bool check(const eviction_shortage& claim) const {
        if (claim.there >= claim.needed)
            return false;
        const problem before(*known_, by_, moment::later, {{}, {}, {}, true});
        const problem after(*known_, by_, moment::later, {gone_, {}, {}, true});
        if (claim.kind) {
            const std::size_t kind = claim.kind->value();
            int128 there = sum(after, kind);
            if (borrows_) {
                std::vector<int128> needs;
                for (std::size_t each = 0; each < width; ++each)
                    needs.push_back(least(after, requests(after, each)));
                there = std::min(there, sum(before, kind) + reclaimable(kind, needs));
            }
            return least(after, requests(after, kind)) >= claim.needed && there <= claim.there;
        }
        for (std::size_t at = 0; at < after.classes.size(); ++at) {
            std::vector<int128> cost(after.classes.size(), 0);
            cost[at] = 1;
            if (least(after, cost) >= claim.needed && room(after, after.classes[at]) <= claim.there)
                return true;
        }
        return false;
    }

private:
    [[nodiscard]] gang_view side(gang_index of) const {
        const auto& group = (*known_)[of];
        gang_view made;
        made.queue = group.queue;
        made.queue_priority = group.queue ? (*known_)[*group.queue].spec.priority : 0;
        made.queue_preemptible = !group.queue || ((*known_)[*group.queue].present &&
                                                  (*known_)[*group.queue].spec.preemptible);
        made.preemptible = group.spec.preemptible;
        made.priority = group.spec.priority;
        made.created = group.spec.created;
        return made;
    }

    /// The rule gives its gang away, and the gang may go as a whole or stands without it alone.
    [[nodiscard]] bool may_go(pod_index pod) {
        const auto& record = (*known_)[pod];
        if (record.gang == by_ || record.nominated)
            return false;
        const auto terms = (*rule_)(side(by_), side(record.gang), 0);
        if (!terms)
            return false;
        borrows_ = borrows_ || terms->reclaim == reclaim_rule::above_deserved;
        const auto& group = (*known_)[record.gang];
        std::vector<std::int64_t> stay(group.spec.tree.size(), 0);
        std::int64_t stands = 0;
        std::int64_t leaving = 0;
        for (const pod_index member : group.members) {
            const auto& other = (*known_)[member];
            const bool holds = other.node && !other.terminating && !other.evicted;
            leaving += other.node && !holds ? 1 : 0;
            stands += holds && other.phase != pod_phase::succeeded ? 1 : 0;
            if (holds && member != pod)
                ++stay[other.role.value()];
        }
        const std::int64_t most =
            group.spec.max_disrupted.value_or(std::numeric_limits<std::int32_t>::max()) - leaving;
        return most > 0 &&
               (most >= stands || !costs_of_meeting(group.spec.tree, 0, stay, {}).empty());
    }

    [[nodiscard]] static int128 sum(const problem& of, std::size_t kind) {
        int128 all = 0;
        for (const auto& place : of.places)
            all += std::max<std::int64_t>(0, place.free[kind]);
        return all;
    }
    /// Of members of that class alone, whatever ports they claim.
    [[nodiscard]] static std::int64_t room(const problem& of,
                                           const typename problem::alike& members) {
        std::int64_t count = 0;
        for (const auto& place : of.places) {
            std::int64_t here = of.welcome(members.spec.where, *place.spec) ? members.waiting : 0;
            for (std::size_t kind = 0; kind < width; ++kind)
                if (const std::int64_t asks = members.spec.request[kind]; asks > 0)
                    here = std::min(here, std::max<std::int64_t>(0, place.free[kind]) / asks);
            count += here;
        }
        return count;
    }
    /// That the gang's minima cost at least.
    [[nodiscard]] int128 least(const problem& of, const std::vector<int128>& cost) const {
        std::vector<priced_class> priced;
        for (std::size_t at = 0; at < of.classes.size(); ++at)
            priced.push_back(
                {of.classes[at].spec.role.value(), 0, of.classes[at].waiting, cost[at]});
        int128 found = int128{1} << 126U;
        for (const auto& [members, sum] :
             costs_of_meeting((*known_)[by_].spec.tree, 0, of.holding, priced))
            found = std::min(found, sum);
        return found;
    }
    [[nodiscard]] static std::vector<int128> requests(const problem& of, std::size_t kind) {
        std::vector<int128> cost;
        for (const auto& each : of.classes)
            cost.push_back(each.spec.request[kind]);
        return cost;
    }

    /// Of that kind: no queue gives more than it uses beyond what it deserves, nor do those below
    /// it together, and none gives anything when the gang takes its own queue beyond.
    [[nodiscard]] int128 reclaimable(std::size_t kind, const std::vector<int128>& needs) const {
        int128 all = 0;
        for (const auto& [key, queue] : known_->queue_keys())
            if (!(*known_)[queue].parent)
                all += reclaimable(queue, kind, needs);
        return all;
    }
    [[nodiscard]] int128 reclaimable(queue_index queue, std::size_t kind,
                                     const std::vector<int128>& needs) const {
        int128 below = 0;
        // What stands in a queue above the gang's own is of its own.
        for (const pod_index pod : gone_)
            if (!is_above_gang(queue) && (*known_)[(*known_)[pod].gang].queue == queue)
                below += known_->request(pod)[kind];
        for (const auto& [key, child] : known_->queue_keys())
            if ((*known_)[child].parent == queue)
                below += reclaimable(child, kind, needs);
        if (is_above_gang(queue))
            return below;
        if (!stays_within(queue, needs))
            return 0;
        const auto deserved = (*known_)[queue].spec.deserved[kind_id{kind}];
        return deserved ? std::min<int128>(below, std::max<int128>(0, use(queue, kind) - *deserved))
                        : below;
    }
    [[nodiscard]] bool is_above_gang(queue_index queue) const {
        for (auto at = (*known_)[by_].queue; at; at = (*known_)[*at].parent)
            if (*at == queue)
                return true;
        return false;
    }
    /// The gang's queues that do not stand above the other one, with what the gang needs.
    [[nodiscard]] bool stays_within(queue_index other, const std::vector<int128>& needs) const {
        for (auto at = (*known_)[by_].queue; at; at = (*known_)[*at].parent) {
            for (std::optional<queue_index> above = other; above; above = (*known_)[*above].parent)
                if (above == at)
                    return true;
            for (std::size_t kind = 0; kind < width; ++kind)
                if (const auto deserved = (*known_)[*at].spec.deserved[kind_id{kind}];
                    deserved && needs[kind] > 0 && use(*at, kind) + needs[kind] > *deserved)
                    return false;
        }
        return true;
    }
    /// By pods that stay or may be evicted.
    [[nodiscard]] int128 use(queue_index queue, std::size_t kind) const {
        int128 used = 0;
        for (const pod_index pod : stay_)
            for (auto at = (*known_)[(*known_)[pod].gang].queue; at; at = (*known_)[*at].parent)
                used += at == queue ? known_->request(pod)[kind] : 0;
        return used;
    }

    const state<Traits>* known_;
    gang_index by_;
    const Rule* rule_;
    /// Those who do not leave, and of them those who may be evicted.
    std::vector<pod_index> stay_;
    std::vector<pod_index> gone_;
    bool borrows_ = false;
};

/// Whether evictions leave the gang short as is claimed.
template<class Traits, victim_rule Rule>
[[nodiscard]] bool verify(const state<Traits>& known, gang_index by, const Rule& rule,
                          const eviction_shortage& claim) {
    return shortage_verifier<Traits, Rule>(known, by, rule).check(claim);
}

} // namespace testing
} // namespace v0_1
} // namespace muster
