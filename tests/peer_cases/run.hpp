// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <muster/cycle/cycle.hpp>

#include "build.hpp"
#include "judge.hpp"
#include "peer_case.hpp"
#include "profiles.hpp"

namespace peer_cases {

namespace detail {

/// A pod that asks for nothing at all is Volcano's "best effort": the action backfill places it.
[[nodiscard]] inline bool asks_for_nothing(const task& one) {
    for (const auto& [kind, amount] : one.request)
        if (amount > 0 && kind != "pods")
            return false;
    return true;
}

/// The action at hand does not place this pod.
[[nodiscard]] inline bool not_its_turn(const peer_case& of, const task& one) {
    if (of.from != peer::volcano || one.state != pod_state::pending)
        return false;
    return asks_for_nothing(one) ? !of.acts("backfill")
                                 : of.actions == std::vector<std::string>{"backfill"};
}

/// Volcano's setting `ancestorReclaimLevel`, which cases say nowhere but in their names.
[[nodiscard]] inline std::int64_t reclaim_levels(const peer_case& of) {
    for (const std::string_view word : {"ancestorReclaimLevel is ", "level "})
        if (const auto at = of.name.find(word); at != std::string::npos)
            if (const char digit = of.name[at + word.size()]; digit >= '0' && digit <= '9')
                return digit - '0';
    return 0;
}

/// Some queue says what it deserves.
[[nodiscard]] inline bool somebody_deserves(const peer_case& of) {
    return std::ranges::any_of(of.queues,
                               [](const queue_case& each) { return !each.deserved.named.empty(); });
}
/// The case is one of a plugin of Volcano's by itself.
[[nodiscard]] inline bool is_of_plugin(const peer_case& of, std::string_view name) {
    return of.source.find("/plugins/" + std::string(name)) != std::string::npos;
}
/// What Volcano's queues deserve comes of their weights (its plugin `proportion`).
[[nodiscard]] inline bool divides_by_weight(const peer_case& of) {
    return !somebody_deserves(of) && !is_of_plugin(of, "capacity");
}

inline void add_queues(const peer_case& of, columns& kinds, cluster& to) {
    for (const queue_case& queue : of.queues) {
        cluster::queue_type spec;
        spec.quota = kinds.limits(queue.limit);
        // KAI's and Volcano's limit of 0 means none.
        for (const auto& [kind, amount] : queue.limit.named)
            if (amount == 0)
                spec.quota.clear(kinds.of(kind));
        spec.deserved = kinds.limits(queue.deserved);
        spec.weight = queue.weight.value_or(of.from == peer::kai ? 0 : 1);
        spec.priority = queue.priority.value_or(of.from == peer::kai ? 100 : 0);
        spec.closed = queue.closed;
        spec.preemptible = queue.reclaimable;
        spec.guarantee = kinds.vector(queue.guarantee.named);
        // Volcano's queues deserve nothing of what they do not name; where none names anything,
        // each has its part by weight.
        if (of.from == peer::volcano && (somebody_deserves(of) || divides_by_weight(of)))
            for (std::size_t kind = 0; kind < kinds.table().size(); ++kind)
                if (kinds.table().name(muster::kind_id{kind}) != "pods" &&
                    !spec.deserved.limited(muster::kind_id{kind}))
                    spec.deserved.set(muster::kind_id{kind}, 0);
        if (of.from == peer::kai) {
            if (!queue.deserved.named.contains("gpu") &&
                std::ranges::find(queue.deserved.unlimited, "gpu") ==
                    queue.deserved.unlimited.end())
                spec.deserved.set(kinds.of("gpu"), 0);
            spec.non_preemptible_quota = spec.deserved;
        }
        ok(to.upsert_queue(queue_key(of, queue.name), std::move(spec),
                           queue.parent.empty() ? std::nullopt
                                                : std::optional(queue_key(of, queue.parent))),
           queue.name);
    }
}

/// Volcano's pods say for themselves whether they may be evicted. Where some may not, so may as
/// many others of their gang as it takes to keep its minimum: it cannot go as a whole.
[[nodiscard]] inline std::vector<bool> who_stands_firm(const peer_case& of, const gang_case& gang) {
    std::vector<bool> non_preemptible(gang.tasks.size(), false);
    if (of.from != peer::volcano)
        return non_preemptible;
    std::int64_t count = 0;
    for (std::size_t at = 0; at < non_preemptible.size(); ++at) {
        const task& one = gang.tasks[at];
        const auto says = one.labels.find("volcano.sh/preemptable");
        non_preemptible[at] =
            one.state == pod_state::bound && says != one.labels.end() && says->second == "false";
        count += non_preemptible[at] ? 1 : 0;
    }
    for (std::size_t at = 0; count > 0 && count < gang.min_member && at < non_preemptible.size();
         ++at)
        if (!non_preemptible[at] && gang.tasks[at].state == pod_state::bound) {
            non_preemptible[at] = true;
            ++count;
        }
    return non_preemptible;
}

/// The key of a pod that stands for itself, and of its gang.
[[nodiscard]] inline std::string alone(const std::string& key) {
    return key + separator + "alone";
}

/// A pod that never goes stands for itself, so that nobody counts it or counts on its room.
inline void add_stuck(const peer_case& of, const gang_case& gang, const task& one,
                      cluster::pod_type pod, cluster& to) {
    const std::string key = alone(pod_key(gang.name, one.name));
    cluster::gang_type spec;
    spec.tree = muster::gang_tree(0);
    spec.queue = queue_key(of, gang.queue);
    spec.preemptible = false;
    pod.terminating = false;
    pod.role = muster::vertex_index{0};
    ok(to.upsert_gang(key, std::move(spec)), key);
    ok(to.upsert_pod(key, key, std::move(pod), one.node), key);
}

inline void add_gangs(const peer_case& of, columns& kinds, cluster& to) {
    const std::vector<std::int64_t> created = creation_times(of);
    for (std::size_t at = 0; at < of.gangs.size(); ++at) {
        const gang_case& gang = of.gangs[at];
        tree_and_roles shape = tree_of(of, gang);
        std::vector<bool> non_preemptible = who_stands_firm(of, gang);
        const auto count = std::ranges::count(non_preemptible, true);
        // Where roles have minima of their own nobody goes.
        const bool divided = count > 0 && shape.tree.size() > 1;
        if (divided)
            non_preemptible.assign(non_preemptible.size(), false);
        else if (count > 0)
            shape.tree = muster::gang_tree(std::max<std::int64_t>(0, gang.min_member - count));
        cluster::gang_type spec;
        if (of.from != peer::coscheduling)
            spec.queue = queue_key(of, gang.queue);
        spec.priority = gang.priority;
        spec.created = created[at];
        spec.preemptible = (of.from != peer::kai || gang.preemptible) && !divided;
        spec.tree = std::move(shape.tree);
        ok(to.upsert_gang(gang.name, std::move(spec)), gang.name);
        const std::vector<std::int64_t> order = order_of_members(of, gang);
        for (std::size_t member = 0; member < gang.tasks.size(); ++member) {
            const task& one = gang.tasks[member];
            cluster::pod_type pod = pod_of(of, one, kinds);
            pod.role = shape.roles[member];
            pod.created = order[member];
            const bool stray = shape.strays.contains(member);
            if (not_its_turn(of, one) || (stray && pod.phase == muster::pod_phase::pending))
                pod.phase = muster::pod_phase::gated;
            const bool there = pod.phase == muster::pod_phase::running;
            if (one.state == pod_state::stuck || non_preemptible[member] || (stray && there)) {
                add_stuck(of, gang, one, std::move(pod), to);
                continue;
            }
            ok(to.upsert_pod(pod_key(gang.name, one.name), gang.name, std::move(pod),
                             there ? std::optional(one.node) : std::nullopt),
               one.name);
        }
    }
}

[[nodiscard]] inline std::map<std::string, std::map<std::string, pod_result>>
as_given(const peer_case& of) {
    std::map<std::string, std::map<std::string, pod_result>> found;
    for (const gang_case& gang : of.gangs)
        for (const task& one : gang.tasks) {
            const bool waits = one.state == pod_state::pending || one.state == pod_state::gated;
            found[gang.name][one.name] = {one.state, waits ? std::string() : one.node};
        }
    return found;
}

/// A pod that comes in the place of one that was told to go.
[[nodiscard]] inline std::string again(const std::string& key) {
    return key + separator + "again";
}

/// The cluster as one case's actions change it.
class runner {
public:
    explicit runner(const peer_case& of) : of_(&of), kinds_(of), known_(kinds_.of("pods")) {
        add_nodes(of, kinds_, known_);
        add_queues(of, kinds_, known_);
        add_gangs(of, kinds_, known_);
    }

    void act() {
        for (const std::string& action : of_->actions)
            act(action);
    }

    /// What has become of everybody.
    [[nodiscard]] std::map<std::string, std::map<std::string, pod_result>> standing() const {
        auto found = as_given(*of_);
        each_task([&](const gang_case& gang, const task& one) {
            const std::string key = pod_key(gang.name, one.name);
            pod_result& mine = found[gang.name][one.name];
            const auto pod = known_.find_pod(key);
            if (!pod) {
                // Those who stand for themselves stay.
                if (!ended(one.state) && !known_.find_pod(alone(key)))
                    mine = {pod_state::pending, {}};
                return;
            }
            const auto& record = known_[pod->index];
            if (ended(one.state) || (one.state == pod_state::leaving && !came_back_.contains(key)))
                return;
            mine = {pod_state::pending, {}};
            if (!record.node)
                return;
            const std::string& node = known_.key(*record.node);
            mine = {record.evicted     ? pod_state::leaving
                    : record.nominated ? pod_state::nominated
                                       : pod_state::bound,
                    node};
            const auto moved = known_.find_pod(again(key));
            if (record.evicted && moved && known_[moved->index].node)
                mine = {pod_state::nominated, known_.key(*known_[moved->index].node)};
        });
        return found;
    }

    /// Between two rounds: who was told to go is pending anew, who was nominated, too; who was
    /// bound runs.
    void next_round() {
        each_task([&](const gang_case& gang, const task& one) {
            const std::string key = pod_key(gang.name, one.name);
            if (known_.find_pod(again(key)))
                ok(known_.remove_pod(again(key)), key);
            const auto pod = known_.find_pod(key);
            if (!pod || ended(one.state) || one.state == pod_state::stuck)
                return;
            const auto& record = known_[pod->index];
            if (record.evicted || record.terminating) {
                ok(known_.remove_pod(key), key);
                if (gang.deleted_during_test)
                    return;
                cluster::pod_type fresh = specs_of(gang, one);
                ok(known_.upsert_pod(key, gang.name, std::move(fresh)), key);
                came_back_.insert(key);
            } else if (record.nominated) {
                ok(known_.forget(key), key);
            } else if (record.assumed) {
                ok(known_.confirm_bound(key), key);
            }
        });
    }

private:
    [[nodiscard]] static bool ended(pod_state of) {
        return of == pod_state::succeeded || of == pod_state::failed;
    }
    template<class Use>
    void each_task(const Use& use) const {
        for (const gang_case& gang : of_->gangs)
            for (const task& one : gang.tasks)
                use(gang, one);
    }
    /// The pod as it was made, before it stood anywhere.
    [[nodiscard]] cluster::pod_type specs_of(const gang_case& gang, const task& one) {
        task pending = one;
        pending.state = pod_state::pending;
        cluster::pod_type made = pod_of(*of_, pending, kinds_);
        const tree_and_roles shape = tree_of(*of_, gang);
        const auto at = static_cast<std::size_t>(&one - gang.tasks.data());
        made.role = shape.roles[at];
        if (shape.strays.contains(at))
            made.phase = muster::pod_phase::gated;
        made.created = order_of_members(*of_, gang)[at];
        return made;
    }

    template<class Policy>
    void cycle(const Policy& how) {
        muster::cycle_options all;
        all.list_all = true;
        static_cast<void>(muster::cycle(known_, ++now_, how, {}, all));
    }

    void act(const std::string& action) {
        switch (of_->from) {
        case peer::coscheduling:
            return cycle(coscheduling_profile{});
        case peer::volcano:
            if (action == "allocate" || action == "backfill")
                cycle(volcano_allocate{});
            else if (action == "preempt" || action == "reclaim") {
                let_wait(true);
                action == "preempt" ? preempt() : reclaim();
                let_wait(false);
            }
            return;
        case peer::kai:
            break;
        }
        if (action == "allocate")
            allocate();
        else if (action == "consolidation")
            // Gangs that wait start where others move, who all get another place.
            evict([&] { cycle(kai_consolidate{}); });
        else if (action == "reclaim")
            evict([&] {
                let_go_of_nominated();
                cycle(kai_reclaim{});
            });
        else if (action == "preempt")
            evict([&] {
                let_go_of_nominated();
                cycle(kai_preempt{});
            });
        else if (action == "stalegangeviction")
            evict_stale_gangs();
    }

    /// Tests of one plugin run without the one that guards gangs.
    [[nodiscard]] bool guards_gangs() const { return !is_of_plugin(*of_, {}); }
    void preempt() {
        volcano_preempt how;
        how.victims.guarded = guards_gangs();
        cycle(how);
    }
    void reclaim() {
        if (divides_by_weight(*of_)) {
            volcano_reclaim_by_weight how;
            how.victims.guarded = guards_gangs();
            return cycle(how);
        }
        volcano_reclaim how;
        how.victims.guarded = guards_gangs();
        how.victims.ancestor_levels = reclaim_levels(*of_);
        cycle(how);
    }

    /// Pods are bound at once, so that later actions see them settled.
    void allocate() {
        cycle(kai_allocate{});
        each_task([&](const gang_case& gang, const task& one) {
            const auto pod = known_.find_pod(pod_key(gang.name, one.name));
            if (pod && known_[pod->index].assumed)
                ok(known_.confirm_bound(pod_key(gang.name, one.name)), one.name);
        });
    }

    /// Pods that never preempt are not there while others do.
    void let_wait(bool on) {
        each_task([&](const gang_case& gang, const task& one) {
            const std::string key = pod_key(gang.name, one.name);
            const auto pod = known_.find_pod(key);
            if (!one.never_preempts || !pod || known_[pod->index].node)
                return;
            cluster::pod_type made = specs_of(gang, one);
            made.phase = on ? muster::pod_phase::gated : muster::pod_phase::pending;
            ok(known_.upsert_pod(key, gang.name, std::move(made)), key);
        });
    }

    /// Those who were nominated by an action before keep no room by it: for KAI they are gangs that
    /// hold something and may be evicted, and who comes first has it.
    void let_go_of_nominated() {
        each_task([&](const gang_case& gang, const task& one) {
            const std::string key = pod_key(gang.name, one.name);
            const auto pod = known_.find_pod(key);
            if (gang.preemptible && pod && known_[pod->index].nominated)
                ok(known_.forget(key), key);
        });
    }

    /// Gangs that have not waited long enough have nobody moved or evicted for them.
    void hold_back(bool on) {
        const std::vector<std::int64_t> created = creation_times(*of_);
        for (std::size_t at = 0; at < of_->gangs.size(); ++at) {
            constexpr std::int64_t minute = 60'000'000'000;
            const gang_case& gang = of_->gangs[at];
            if (gang.preemption_delay <= -created[at] * minute)
                continue;
            cluster::gang_type spec = known_.spec_of(known_.find_gang(gang.name)->index);
            spec.may_preempt = !on;
            ok(known_.upsert_gang(gang.name, std::move(spec)), gang.name);
        }
    }

    /// KAI gives who was evicted another place at once, where there is one.
    template<class Action>
    void evict(const Action& action) {
        std::set<std::string> before;
        each_evicted(
            [&](const gang_case&, const task&, const std::string& key) { before.insert(key); });
        hold_back(true);
        action();
        hold_back(false);
        std::vector<std::string> waiting;
        each_evicted([&](const gang_case& gang, const task& one, const std::string& key) {
            if (before.contains(key))
                return;
            cluster::pod_type fresh = specs_of(gang, one);
            fresh.created += 1'000'000;
            ok(known_.upsert_pod(again(key), gang.name, std::move(fresh)), key);
            waiting.push_back(again(key));
        });
        if (waiting.empty())
            return;
        cycle(kai_allocate{});
        for (const std::string& key : waiting)
            if (!known_[known_.find_pod(key)->index].node)
                ok(known_.remove_pod(key), key);
    }
    template<class Use>
    void each_evicted(const Use& use) const {
        each_task([&](const gang_case& gang, const task& one) {
            const std::string key = pod_key(gang.name, one.name);
            const auto pod = known_.find_pod(key);
            if (pod && known_[pod->index].evicted)
                use(gang, one, key);
        });
    }

    /// Those that have been below their minima for longer than they may.
    void evict_stale_gangs() {
        constexpr std::int64_t usually = 60'000'000'000;
        const auto now = standing();
        for (const gang_case& gang : of_->gangs) {
            const auto& pods = now.at(gang.name);
            if (gang.stale_for.value_or(usually) < gang.grace.value_or(usually) ||
                !anybody_holds(pods) || minima_met(*of_, gang, pods))
                continue;
            for (const task& one : gang.tasks)
                if (pods.at(one.name).state == pod_state::bound)
                    ok(known_.evict(pod_key(gang.name, one.name)), one.name);
        }
    }

    const peer_case* of_;
    columns kinds_;
    cluster known_;
    std::int64_t now_ = 0;
    /// Pods that began on their way out and are pending anew.
    std::set<std::string> came_back_;
};

} // namespace detail

/// Runs one case through Muster, with the profile of its peer.
[[nodiscard]] inline outcome run(const peer_case& of) {
    detail::runner running(of);
    outcome made;
    made.before = detail::as_given(of);
    if (of.rounds_until_match == 0) {
        running.act();
        made.after = running.standing();
        return made;
    }
    for (std::int64_t round = 0; round < of.rounds_until_match; ++round) {
        if (round > 0)
            running.next_round();
        running.act();
    }
    made.after = running.standing();
    for (std::int64_t round = 0; round < of.rounds_after_match; ++round) {
        running.next_round();
        running.act();
        if (running.standing() != made.after && made.faults.empty())
            made.faults.push_back("round " + std::to_string(round + 1) +
                                  " after the match changes something");
    }
    return made;
}

/// Why the case cannot be run at all; empty when it can.
[[nodiscard]] inline std::string cannot_run(const peer_case& of) {
    if (!of.unsupported.empty() || !of.unreadable.empty())
        return of.unsupported;
    if (of.from == peer::coscheduling && !of.acts("end-to-end"))
        return "a step of the peer's pod by pod pipeline: " + of.actions.front();
    return {};
}

} // namespace peer_cases
