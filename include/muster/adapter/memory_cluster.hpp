// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <muster/adapter/virtual_time.hpp>
#include <muster/base/assert.hpp>
#include <muster/cluster/state.hpp>
#include <muster/cycle/cycle.hpp>
#include <muster/vocabulary/budget.hpp>

namespace muster {
inline namespace v0_1 {
namespace adapter {

/// A cluster in memory whose time is what its caller says. It carries out what cycles decide: pods
/// that are placed are bound and run at once, and their time is up when they were declared to run
/// for as long. What becomes of them then is for the caller to say, as are evictions, which are not
/// carried out here.
template<class Traits>
class memory_cluster {
public:
    using state_type = state<Traits>;
    using pod_key = typename Traits::pod_key;
    using gang_key = typename Traits::gang_key;
    using node_key = typename Traits::node_key;
    using pod_type = pod<Traits::width>;

    /// The state outlives it, and is changed through it only.
    explicit memory_cluster(state_type& known) : known_(&known) {}

    [[nodiscard]] const state_type& known() const noexcept { return *known_; }
    [[nodiscard]] state_type& known() noexcept { return *known_; }

    /// A new pod. `runs`: for how long once it has started; absent = until it is told to end.
    event_result create(const pod_key& key, const gang_key& gang, pod_type spec,
                        std::optional<std::int64_t> runs) {
        const event_result taken = known_->upsert_pod(key, gang, spec);
        if (taken == event_result::applied)
            pods_.insert_or_assign(key, entry{gang, std::move(spec), {}, runs, {}, ++created_});
        return taken;
    }

    /// A pod that the state has already, perhaps on a node.
    void adopt(const pod_key& key, const gang_key& gang, pod_type spec, std::optional<node_key> on,
               std::optional<std::int64_t> runs, std::int64_t now) {
        const bool stands = on.has_value();
        entry& made =
            pods_
                .insert_or_assign(key,
                                  entry{gang, std::move(spec), std::move(on), runs, {}, ++created_})
                .first->second;
        const bool goes_on =
            made.spec.phase == pod_phase::running || made.spec.phase == pod_phase::bound;
        if (stands && goes_on)
            run(key, made, made.spec.started.value_or(now), now);
    }

    /// The pod is gone; nothing when there was none.
    void remove(const pod_key& key) {
        if (pods_.erase(key) > 0)
            report(known_->remove_pod(key));
    }

    /// The pod is in another phase. False when there is none, or when it holds no node and would
    /// need one.
    bool set_phase(const pod_key& key, pod_phase phase) {
        const auto at = pods_.find(key);
        if (at == pods_.end() || !at->second.node)
            return false;
        at->second.spec.phase = phase;
        observe(key, at->second);
        return true;
    }

    [[nodiscard]] std::optional<pod_phase> phase(const pod_key& key) const {
        const auto at = pods_.find(key);
        return at == pods_.end() ? std::nullopt : std::optional(at->second.spec.phase);
    }

    /// The node takes nothing new, and what runs there is out of sight. Gives those pods, in the
    /// order of keys; nothing when there is no such node.
    std::optional<std::vector<pod_key>> lose_node(const node_key& key) {
        return turn_node(key, true, pod_phase::running, pod_phase::unknown);
    }
    /// The node is back; what ran there runs on.
    std::optional<std::vector<pod_key>> return_node(const node_key& key, std::int64_t now) {
        auto back = turn_node(key, false, pod_phase::unknown, pod_phase::running);
        for (const pod_key& pod : back.value_or(std::vector<pod_key>{}))
            if (entry& each = pods_.at(pod); each.ends)
                ends_.plan(std::max(now, *each.ends), {pod, each.number});
        return back;
    }

    /// When the next pod's time is up.
    [[nodiscard]] std::optional<std::int64_t> next_end() const { return ends_.next(); }

    /// The next running pod whose time is up.
    [[nodiscard]] std::optional<pod_key> take_ended(std::int64_t now) {
        while (auto due = ends_.take(now)) {
            const auto at = pods_.find(due->pod);
            if (at != pods_.end() && at->second.number == due->number &&
                at->second.spec.phase == pod_phase::running)
                return due->pod;
        }
        return std::nullopt;
    }

    /// One cycle; what it places for now runs from now on.
    template<cycle_policy<Traits> Policy>
    void schedule(std::int64_t now, const Policy& how, budget limit, cycle_result& result) {
        muster::cycle(*known_, now, how, limit, {}, result);
        for (const decision& each : result.decisions) {
            if (each.nominated)
                continue;
            for (const placement& one : each.placements) {
                const pod_key key = known_->key(one.pod);
                entry& of = pods_.at(key);
                of.node = known_->key(one.node);
                of.spec.phase = pod_phase::running;
                of.spec.started = now;
                report(known_->confirm_bound(key));
                observe(key, of);
                run(key, of, now, now);
            }
        }
    }

private:
    struct entry {
        gang_key gang;
        pod_type spec;
        std::optional<node_key> node;
        std::optional<std::int64_t> runs;
        std::optional<std::int64_t> ends;
        /// Tells it from others of its name, before and after.
        std::uint64_t number = 0;
    };
    struct end_of_run {
        pod_key pod;
        std::uint64_t number = 0;
    };

    static void report(event_result taken) {
        MUSTER_ASSERT(taken == event_result::applied, "what the state knows can be changed");
        static_cast<void>(taken);
    }

    void observe(const pod_key& key, const entry& of) {
        report(known_->upsert_pod(key, of.gang, of.spec, of.node));
    }

    void run(const pod_key& key, entry& of, std::int64_t started, std::int64_t now) {
        if (!of.runs || *of.runs > std::numeric_limits<std::int64_t>::max() - started)
            return;
        of.ends = started + *of.runs;
        ends_.plan(std::max(now, *of.ends), {key, of.number});
    }

    std::optional<std::vector<pod_key>> turn_node(const node_key& key, bool lost, pod_phase from,
                                                  pod_phase to) {
        const auto found = known_->find_node(key);
        if (!found)
            return std::nullopt;
        auto spec = (*known_)[found->index].spec;
        spec.unschedulable = lost;
        report(known_->upsert_node(key, std::move(spec)));
        std::vector<pod_key> turned;
        for (auto& [pod, of] : pods_)
            if (of.node == key && of.spec.phase == from) {
                of.spec.phase = to;
                observe(pod, of);
                turned.push_back(pod);
            }
        return turned;
    }

    state_type* known_;
    std::map<pod_key, entry> pods_;
    virtual_time<end_of_run> ends_;
    std::uint64_t created_ = 0;
};

} // namespace adapter
} // namespace v0_1
} // namespace muster
