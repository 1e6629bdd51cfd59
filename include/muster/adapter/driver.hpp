// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <muster/adapter/cluster_concept.hpp>
#include <muster/adapter/comparer.hpp>
#include <muster/adapter/driver_context.hpp>
#include <muster/adapter/driver_options.hpp>
#include <muster/adapter/evictions.hpp>
#include <muster/adapter/gang_standing.hpp>
#include <muster/adapter/gang_starts.hpp>
#include <muster/adapter/nominations.hpp>
#include <muster/adapter/reports.hpp>
#include <muster/adapter/span_histogram.hpp>
#include <muster/cycle/cycle.hpp>

namespace muster {
inline namespace v0_1 {
namespace adapter {

/// Says nothing of a gang.
struct no_words {
    template<class State>
    [[nodiscard]] std::string operator()(const State&, gang_index) const {
        return {};
    }
};

/// Numbers of the cycles' decisions by result. A skipped gang does not count.
struct attempt_counters {
    std::size_t scheduled = 0; ///< members were placed
    std::size_t nominated = 0; ///< members were placed on nodes that other pods must leave first
    std::size_t unschedulable = 0; ///< members wait, and may fit later
    std::size_t never = 0;         ///< proven impossible even in an empty cluster
    std::size_t undecided = 0;     ///< the search budget was used up
};

/// Time from the first observation of a gang with waiting members until its binds are done. Bounds
/// from 0.01 s to 3600 s.
using wait_histogram = span_histogram<14>;
[[nodiscard]] constexpr wait_histogram new_wait_histogram() {
    constexpr std::int64_t ms = millisecond;
    constexpr std::int64_t s = second;
    return wait_histogram({10 * ms, 50 * ms, 100 * ms, 250 * ms, 500 * ms, s, 2500 * ms, 5 * s,
                           10 * s, 30 * s, 60 * s, 300 * s, 900 * s, 3600 * s});
}

/// What a driver did since it was made.
struct driver_counters {
    std::size_t steps = 0;
    std::size_t cycles = 0;
    std::size_t decided = 0; ///< gangs of which members were placed
    std::size_t bound = 0;
    std::size_t failed = 0; ///< gangs of which a bind failed for good
    std::size_t healed = 0; ///< gangs evicted because they could not be completed
    std::size_t evicted = 0;
    /// What the cycles themselves took, by the cluster's own clock. Steady nanoseconds.
    std::int64_t deciding = 0;
    attempt_counters attempts;
};

/// What one step found.
struct step_report {
    view_status view;
    bool leads = false;
    /// A cycle was made.
    bool decided = false;
    /// When to step again if nothing arrives before; `never_comes` when there is nothing to wait
    /// for. Steady.
    std::int64_t next = never_comes;
};

/// Runs the core against a cluster. All of it happens in `step`, which never waits: it takes in
/// what was seen and answered, decides, and gives orders. To be called whenever something arrived
/// at the cluster, and at `step_report::next`; more often does no harm.
///
/// - Nothing is decided before the view is synced, on one that is older than `stale_after`, or
///   without leadership; no order for a write is given without it.
/// - What a cycle starts is assumed until it is seen. Binds whose answer is lost are asked for, and
///   keep their room until the answer is known.
/// - A gang that some of its binds left below its minima, and that never had reached them, is
///   completed by the next cycles; when no member of it comes to stand for `heal_after`, those that
///   stand are evicted. What was reached is known from what is seen and from what the gang's object
///   says; of gangs without an object that stood when the term began, it is taken for granted.
/// - A gang of which a bind fails for good is held back for a while, longer each time, so that the
///   next one has its turn. When it is let go, the members that failed go first, alone.
///
/// The same cluster, answers and seed give the same orders.
/// `Policy` is a policy, or a function that returns the policy for a cycle.
template<cluster Cluster, class Policy = policy<>, class Words = no_words>
    requires cycle_policy<Policy, typename Cluster::traits> || std::invocable<const Policy&>
class driver {
public:
    using traits = typename Cluster::traits;
    using gang_key = typename traits::gang_key;
    using pod_key = typename traits::pod_key;

    /// Preconditions: cluster and state outlive the driver, the state is empty except for its
    /// columns, and only the driver changes it.
    driver(Cluster& cluster, state<traits>& known, Policy how = {}, driver_options options = {},
           Words words = {})
        : cluster_(&cluster),
          at_(known, options),
          policy_(std::move(how)),
          words_(std::move(words)),
          starts_(at_),
          evictions_(at_),
          reports_(at_),
          nominations_(at_),
          pod_orders_(options.binds),
          report_orders_(options.reports) {}
    driver(const driver&) = delete;
    driver& operator=(const driver&) = delete;

    step_report step() {
        const instant now = cluster_->now();
        at_.now = now.steady;
        ++counters_.steps;
        step_report made;
        made.view = cluster_->observe(at_.view);
        made.leads = cluster_->may_write();
        begin_term(made.view);
        take_results();
        const bool good = made.view.synced && now.steady - made.view.as_of <= at_.how.stale_after;
        const bool fresh = good && made.leads;
        follow_touched();
        if (fresh) {
            if (!fresh_since_)
                fresh_since_ = now.steady;
            at_.held.let_go(at_.view, now.steady);
            flush();
            heal();
            retire(now.wall);
            decide(now.wall);
            made.decided = true;
        } else {
            fresh_since_.reset();
        }
        follow_touched();
        if (made.leads)
            give_orders(fresh);
        note_ended();
        compare_views(good);
        made.next = made.leads ? next(fresh) : never_comes;
        // Pods that were released just now may be placed again.
        if (fresh)
            made.next =
                std::min(made.next, now.steady + (at_.known().at_rest() ? at_.how.cycle_every
                                                                        : at_.how.cycle_again));
        return made;
    }

    [[nodiscard]] const cluster_view<traits>& view() const noexcept { return at_.view; }
    [[nodiscard]] const state<traits>& known() const noexcept { return at_.known(); }
    [[nodiscard]] const gang_starts<traits>& starts() const noexcept { return starts_; }
    [[nodiscard]] const held_gangs<traits>& held() const noexcept { return at_.held; }
    [[nodiscard]] const driver_counters& counters() const noexcept { return counters_; }
    [[nodiscard]] const comparer<traits>& comparisons() const noexcept { return comparer_; }
    /// Gangs that stand below minima that they never reached, and since when (steady).
    [[nodiscard]] const auto& partial() const noexcept { return partial_; }
    [[nodiscard]] const wait_histogram& waits() const noexcept { return waits_; }
    /// Orders without an answer.
    [[nodiscard]] std::size_t under_way() const noexcept {
        return starts_.under_way() + evictions_.size() + reports_.under_way();
    }

private:
    struct partial_gang {
        std::int64_t since = 0;
        std::size_t standing = 0;
    };

    void begin_term(const view_status& view) {
        if (view.term != term_) {
            term_ = view.term;
            starts_.new_term();
            evictions_.new_term();
            reports_.forget_all();
            nominations_.forget_all();
            partial_.clear();
            fresh_since_.reset();
        }
        if (!view.synced || synced_term_ == term_)
            return;
        synced_term_ = term_;
        next_flush_ = at_.now + at_.how.flush_every;
        next_compare_ = at_.now + at_.how.compare_every;
        for (const auto& [key, facts] : at_.view.gangs())
            if (!facts.kept && !facts.reached)
                if (const auto gang = at_.known().find_gang(key);
                    gang && !standing_of(at_.view, gang->index).standing.empty())
                    at_.view.mark_reached(key);
    }

    void take_results() {
        results_.clear();
        cluster_->take_results(results_);
        for (const order_result<traits>& each : results_)
            if (!starts_.take(each) && !evictions_.take(each) && !nominations_.take(each))
                static_cast<void>(reports_.take(each));
    }

    /// Draws the conclusions from what happened to gangs.
    void follow_touched() {
        std::vector<gang_key> settled;
        for (const gang_key& key : at_.view.take_touched()) {
            starts_.follow(key);
            const auto gang = at_.known().find_gang(key);
            if (!gang || (!at_.known()[gang->index].present && !at_.view.find_gang(key))) {
                partial_.erase(key);
                seen_waiting_.erase(key);
                reports_.forget(key);
                at_.held.forget(at_.view, key);
                continue;
            }
            reports_.note(key);
            const auto found = standing_of(at_.view, gang->index);
            if (found.status.waiting > 0)
                seen_waiting_.try_emplace(key, at_.now);
            else if (!starts_.busy(key))
                settled.push_back(key);
            if (found.status.holds_minima)
                at_.view.mark_reached(key);
            const bool complete = found.status.reached || found.standing.empty() || !found.judged;
            if (complete) {
                partial_.erase(key);
                continue;
            }
            const auto [at, fresh] = partial_.try_emplace(key, partial_gang{at_.now, 0});
            if (found.standing.size() > at->second.standing)
                at->second.since = at_.now;
            at->second.standing = found.standing.size();
        }
        note_ended();
        // note_ended() has recorded the wait of each settled gang, so it can be forgotten.
        for (const gang_key& key : settled)
            seen_waiting_.erase(key);
    }

    void note_ended() {
        for (auto& each : starts_.take_ended()) {
            counters_.bound += static_cast<std::size_t>(each.bound);
            if (each.bound > 0)
                observe_wait(each.gang);
            if (each.bound > 0)
                reports_.tell(
                    {0, each.gang, each.uid, event_reason::bound, each.bound, {}, {}, {}});
            if (each.failed) {
                ++counters_.failed;
                reports_.tell({0,
                               each.gang,
                               each.uid,
                               event_reason::bind_failed,
                               1,
                               {},
                               {},
                               std::move(each.failed->message)});
            } else if (each.bound > 0) {
                at_.held.forget(at_.view, each.gang);
            }
            reports_.note(each.gang);
            reports_.came_to_rest(each.gang);
        }
    }

    void observe_wait(const gang_key& gang) {
        const auto since = seen_waiting_.find(gang);
        if (since == seen_waiting_.end())
            return;
        waits_.observe(at_.now - since->second);
        // Members that still wait are surplus or arrived later, so their wait is measured from now.
        since->second = at_.now;
    }

    void count_attempt(const decision& made) {
        attempt_counters& count = counters_.attempts;
        if (!made.placements.empty())
            ++(made.nominated ? count.nominated : count.scheduled);
        else if (made.outcome.kind == answer::never)
            ++count.never;
        else if (made.outcome.kind == answer::undecided)
            ++count.undecided;
        else if (at_.known()[made.gang].placeable > 0)
            ++count.unschedulable;
    }

    /// Evaluates all waiting gangs again, in case an error has lost one, and because their reasons
    /// may have changed without an event of their own.
    void flush() {
        if (at_.now < next_flush_)
            return;
        next_flush_ = at_.now + at_.how.flush_every;
        for (const auto& [key, which] : at_.known().gang_keys())
            if (at_.known()[which].placeable > 0) {
                at_.view.known().recall(which);
                reports_.note(key);
            }
    }

    [[nodiscard]] std::int64_t heals_at(const partial_gang& of) const noexcept {
        return std::max(of.since, fresh_since_.value_or(at_.now)) + at_.how.heal_after;
    }

    void heal() {
        for (auto& [key, of] : partial_) {
            if (heals_at(of) > at_.now || starts_.busy(key))
                continue;
            const auto gang = at_.known().find_gang(key);
            if (!gang)
                continue;
            of.since = at_.now;
            ++counters_.healed;
            at_.hold_back(key, outcome::refused);
            std::vector<pod_key> going;
            for (const pod_index pod : standing_of(at_.view, gang->index).standing)
                going.push_back(at_.known().key(pod));
            for (const pod_key& pod : going)
                if (at_.view.known().evict(pod) == event_result::applied)
                    evictions_.add(pod, eviction_cause::never_completed);
            tell_evicted(key, going.size(), eviction_cause::never_completed);
        }
    }

    /// Pods do not get older than their queues let them.
    void retire(std::int64_t wall) {
        std::map<gang_key, std::size_t, key_less<traits>> victims;
        for (const pod_key& key : at_.view.take_ended(wall, wall + at_.how.flush_every)) {
            const auto* const facts = at_.view.find_pod(key);
            const bool runs = facts != nullptr && facts->phase != pod_phase::succeeded &&
                              facts->phase != pod_phase::failed;
            if (!runs || at_.view.known().evict(key) != event_result::applied)
                continue;
            evictions_.add(key, eviction_cause::too_old);
            ++victims[facts->gang];
        }
        for (const auto& [key, count] : victims)
            tell_evicted(key, count, eviction_cause::too_old);
    }

    void tell_evicted(const gang_key& key, std::size_t count, eviction_cause why) {
        counters_.evicted += count;
        const auto* const facts = at_.view.find_gang(key);
        if (facts != nullptr)
            reports_.tell({0,
                           key,
                           facts->uid,
                           event_reason::evicted,
                           static_cast<std::int64_t>(count),
                           {},
                           why,
                           {}});
    }

    void decide(std::int64_t wall) {
        ++counters_.cycles;
        const std::int64_t began = cluster_->now().steady;
        if constexpr (std::invocable<const Policy&>)
            muster::cycle(at_.view.known(), wall, policy_(), at_.how.limit, {}, decisions_);
        else
            muster::cycle(at_.view.known(), wall, policy_, at_.how.limit, {}, decisions_);
        counters_.deciding += cluster_->now().steady - began;
        const state<traits>& known = at_.known();
        for (const decision& made : decisions_.decisions) {
            const gang_key& key = known.key(made.gang);
            reports_.note(key);
            count_attempt(made);
            if (!made.placements.empty() && !made.nominated) {
                ++counters_.decided;
                starts_.add(key, made.placements);
            }
            evict(made);
        }
    }

    void evict(const decision& made) {
        const state<traits>& known = at_.known();
        std::map<gang_key, std::size_t, key_less<traits>> victims;
        const eviction_cause why = made.stale ? eviction_cause::stale : eviction_cause::preempted;
        for (const pod_index pod : made.evictions) {
            const bool moves = std::ranges::any_of(
                made.moves, [&](const placement& each) { return each.pod == pod; });
            evictions_.add(known.key(pod), moves ? eviction_cause::moved : why,
                           made.stale ? std::nullopt
                                      : std::optional(gang_key(known.key(made.gang))));
            ++victims[known.key(known[pod].gang)];
        }
        for (const auto& [key, count] : victims)
            tell_evicted(key, count, why);
    }

    void give_orders(bool fresh) {
        orders_.clear();
        evictions_.give(orders_, pod_orders_);
        constexpr bool nominates = requires(Cluster & of) {
            of.nominate(orders_.nominations);
        };
        if constexpr (nominates)
            nominations_.give(orders_.nominations);
        starts_.give(orders_, pod_orders_, fresh);
        note_ended();
        reports_.give(
            orders_, report_orders_, [this](const gang_key& key) { return starts_.busy(key); },
            [this](const gang_key& key, const gang_status& status) {
                return cluster_->would_change(key, status);
            },
            words_);
        const auto give = [](const auto& some, const auto& to) {
            if (!some.empty())
                to(some);
        };
        give(orders_.evictions, [this](const auto& some) { cluster_->evict(some); });
        if constexpr (nominates)
            give(orders_.nominations, [this](const auto& some) { cluster_->nominate(some); });
        give(orders_.gangs, [this](const auto& some) { cluster_->is_current(some); });
        give(orders_.pods, [this](const auto& some) { cluster_->where_is(some); });
        give(orders_.prepares, [this](const auto& some) { cluster_->prepare(some); });
        give(orders_.ungates, [this](const auto& some) { cluster_->ungate(some); });
        give(orders_.binds, [this](const auto& some) { cluster_->bind(some); });
        give(orders_.statuses, [this](const auto& some) { cluster_->patch_status(some); });
        give(orders_.events, [this](const auto& some) { cluster_->record_event(some); });
    }

    void compare_views(bool good) {
        if (cluster_->take_listing(listing_)) {
            asked_ = false;
            if (good && !comparer_.take(at_.view, listing_).empty())
                cluster_->relist();
            next_compare_ =
                at_.now + (comparer_.in_doubt() ? at_.how.compare_again : at_.how.compare_every);
        }
        if (good && !asked_ && at_.now >= next_compare_) {
            asked_ = true;
            cluster_->ask_listing();
        }
    }

    [[nodiscard]] std::int64_t next(bool fresh) const {
        std::int64_t when = std::min({starts_.next(), evictions_.next(), nominations_.next(),
                                      reports_.next(report_orders_)});
        if (!fresh)
            return when;
        when = std::min({when, at_.held.next(), next_flush_, asked_ ? never_comes : next_compare_});
        for (const auto& [key, of] : partial_)
            if (!starts_.busy(key))
                when = std::min(when, heals_at(of));
        return when;
    }

    Cluster* cluster_;
    driver_context<traits> at_;
    Policy policy_;
    Words words_;
    gang_starts<traits> starts_;
    evictions<traits> evictions_;
    reports<traits> reports_;
    nominations<traits> nominations_;
    comparer<traits> comparer_;
    token_bucket pod_orders_;
    token_bucket report_orders_;
    std::map<gang_key, partial_gang, key_less<traits>> partial_;
    std::vector<order_result<traits>> results_;
    orders<traits> orders_;
    cycle_result decisions_;
    listing<traits> listing_;
    driver_counters counters_;
    wait_histogram waits_ = new_wait_histogram();
    /// The times at which gangs with waiting members were first observed (steady clock, ns).
    std::map<gang_key, std::int64_t, key_less<traits>> seen_waiting_;
    std::uint64_t term_ = 0;
    std::uint64_t synced_term_ = 0;
    std::optional<std::int64_t> fresh_since_;
    std::int64_t next_flush_ = never_comes;
    std::int64_t next_compare_ = never_comes;
    bool asked_ = false;
};

} // namespace adapter
} // namespace v0_1
} // namespace muster
