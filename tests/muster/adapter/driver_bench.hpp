// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <muster/adapter/driver.hpp>
#include <support/journal_checker.hpp>
#include <support/memory_client.hpp>

namespace driver_bench {

using namespace muster;
using namespace muster::adapter;

using api_type = memory_api<4>;
using client_type = memory_client<4>;
/// Of gangs that are told no priority nobody is evicted.
using policy_type = policy<best_fit, priority_then_age, priority_then_share, no_reservations,
                           surplus_at_once, most_packed, priority_preemption>;
using driver_type = adapter::driver<client_type, policy_type>;
using known_type = state<client_type::traits>;

inline constexpr kind_id cpu{0};

/// A scheduler: what is lost when its process dies.
struct scheduler {
    scheduler(api_type& api, const std::string& who, int number, election_options elections,
              const driver_options& options)
        : identity(who),
          client(api, who + "#" + std::to_string(number), who, elections),
          runs(client, known, {}, options) {}
    std::string identity;
    client_type client;
    known_type known;
    driver_type runs;
    std::int64_t next = 0;
    /// It does nothing, as if its process was stopped.
    bool frozen = false;
};

/// A small world: a server in memory, schedulers, and time.
struct bench {
    explicit bench(std::uint64_t seed = 1) : api(seed) { options.seed = seed; }

    // ---- the world -----------------------------------------------------------------------------

    void node(const std::string& key, std::int64_t size, bool cordoned = false) {
        muster::node<4> spec;
        spec.allocatable[cpu] = size;
        spec.unschedulable = cordoned;
        api.put_node(key, spec);
    }
    void nodes(int count, std::int64_t size) {
        for (int at = 1; at <= count; ++at)
            node("n" + std::to_string(at), size);
    }
    void queue(const std::string& key, std::int64_t quota) {
        muster::queue<4> spec;
        spec.quota.set(cpu, quota);
        api.put_queue(key, spec);
    }
    void group(const std::string& key, std::int64_t minimum, const std::string& in = "",
               bool labels_only = false) {
        muster::gang<std::string> spec;
        spec.tree = single_role(minimum);
        spec.priority = priority;
        if (!in.empty())
            spec.queue = in;
        api.put_gang(key, spec, labels_only);
    }
    void pod(const std::string& key, const std::string& gang, std::int64_t size = 1) {
        api_type::pod_object made;
        made.gang = gang;
        made.spec.request[cpu] = size;
        made.ours = ours;
        made.own_gate = own_gate;
        made.unbound_volumes = unbound_volumes;
        made.respawns = respawns;
        api.create_pod(key, made);
    }
    void pods(const std::string& gang, int count, std::int64_t size = 1) {
        for (int at = 0; at < count; ++at)
            pod(gang + "-" + std::to_string(at), gang, size);
    }
    void gang(const std::string& key, int count, std::int64_t size = 1) {
        group(key, count);
        pods(key, count, size);
    }
    void wrong(order_kind of, fault_kind what, std::int64_t first = 1, std::int64_t times = 1,
               const std::string& key = "", std::int64_t retry_after = 0) {
        api.faults.push_back({of, key, first, times, {what, retry_after}, 0});
    }

    // ---- schedulers ----------------------------------------------------------------------------

    scheduler& start(const std::string& identity = "a") {
        all.push_back(std::make_unique<scheduler>(api, identity, ++started, elections, options));
        all.back()->next = api.now();
        return *all.back();
    }
    void kill(const scheduler& which) {
        api.disconnect(name_of(which));
        std::erase_if(all, [&](const auto& each) { return each.get() == &which; });
    }

    // ---- time ----------------------------------------------------------------------------------

    /// Everything happens that happens in that time; stops early when somebody crashed.
    void run(std::int64_t span) { run_until(api.now() + span); }
    void run_until(std::int64_t end) {
        int idle_steps = 0;
        while (!crashed()) {
            std::int64_t next = end;
            if (const auto when = api.next())
                next = std::min(next, *when);
            for (const auto& each : all)
                if (!each->frozen)
                    next = std::min(next, std::min(each->next, each->client.next()));
            next = std::max(next, api.now());
            idle_steps = next == api.now() ? idle_steps + 1 : 0;
            REQUIRE_MESSAGE(idle_steps < 1000, "time stands still at ", api.now());
            const bool over = next >= end;
            api.run_until(next);
            for (const auto& each : all)
                if (!each->frozen && !crashed())
                    step(*each);
            if (over && api.now() >= end)
                return;
        }
    }
    template<class Until>
    bool run_to(const Until& until, std::int64_t most) {
        const std::int64_t end = api.now() + most;
        while (!until() && api.now() < end)
            run(std::min(10 * millisecond, end - api.now()));
        return until();
    }
    void step(scheduler& which) {
        const step_report made = which.runs.step();
        which.next = made.next;
        if (made.view.synced && synced_at < 0)
            synced_at = api.now();
        check_assumed(which);
    }
    [[nodiscard]] bool crashed() const {
        return std::ranges::any_of(
            all, [&](const auto& each) { return api.has_crashed(name_of(*each)); });
    }
    [[nodiscard]] static std::string name_of(const scheduler& which) { return which.client.name(); }

    // ---- what there is -------------------------------------------------------------------------

    [[nodiscard]] int bound(const std::string& gang) const {
        int count = 0;
        for (const auto& [key, pod] : api.pods().objects)
            count += pod.gang == gang && pod.on && !pod.spec.terminating &&
                             pod.spec.phase != pod_phase::failed
                         ? 1
                         : 0;
        return count;
    }
    [[nodiscard]] int done(api_action what, const std::string& key = "") const {
        return static_cast<int>(std::ranges::count_if(api.journal(), [&](const api_entry& each) {
            return each.what == what && !each.by.empty() && (key.empty() || each.key == key);
        }));
    }
    [[nodiscard]] int told(event_reason what) const {
        return static_cast<int>(std::ranges::count_if(api.journal(), [&](const api_entry& each) {
            return each.what == api_action::event && each.reason == what;
        }));
    }
    [[nodiscard]] const gang_status& status(const std::string& gang) const {
        static const gang_status none;
        const auto& of = api.gangs().objects.at(gang).status;
        return of ? *of : none;
    }

    /// The journal, for people.
    void print() const {
        static const char* const words[] = {
            "created", "prepared", "ungated",   "bound",  "evicted",         "terminating",
            "removed", "running",  "succeeded", "failed", "refused by node", "status",
            "event",   "gang",     "gang gone", "node",   "node gone",       "queue",
            "renewed"};
        for (const api_entry& each : api.journal())
            if (each.what != api_action::renewed)
                std::printf("%lld %s %s %s %s %s sent %lld [%lld]\n",
                            static_cast<long long>(each.time / millisecond), each.by.c_str(),
                            words[static_cast<int>(each.what)], each.key.c_str(), each.uid.c_str(),
                            each.node.c_str(), static_cast<long long>(each.sent / millisecond),
                            static_cast<long long>(each.amounts.empty() ? 0 : each.amounts[0]));
    }

    // ---- invariants ----------------------------------------------------------------------------

    /// Nobody keeps room without an order on its way, or soon to be.
    static void check_assumed(const scheduler& which) {
        const auto& known = which.known;
        for (const auto& each : known.pod_keys()) {
            const auto& record = known[each.second];
            if (!record.assumed)
                continue;
            const bool moves = which.runs.starts().is_binding(known.key(record.gang), each.first);
            REQUIRE_MESSAGE(moves, each.first, " is assumed for nothing");
        }
    }

    /// All that must hold once things have come to rest.
    void judge(std::int64_t rest = 20 * second) {
        run(rest);
        const std::int64_t before = api.writes_sent();
        for (int cycle = 0; cycle < 10; ++cycle) {
            run(1 * second);
            for (const auto& each : all)
                if (!each->frozen)
                    step(*each);
        }
        CHECK_MESSAGE(api.writes_sent() == before, "at rest something was written");
        judge_journal();
        for (const auto& each : all)
            if (!each->frozen)
                judge_state(*each);
    }
    void judge_journal() {
        checker.read(api.journal());
        for (const std::string& each : checker.mistakes())
            FAIL_CHECK(each);
        if (!kubelets_may_refuse)
            CHECK(checker.refused_by_nodes() == 0);
    }
    void judge_state(scheduler& which) {
        listing<client_type::traits> fresh;
        client_type judge(api, "judge");
        judge.ask_listing();
        run(200 * millisecond);
        REQUIRE(judge.take_listing(fresh));
        if (which.client.may_write())
            CHECK(compare(which.runs.view(), fresh).empty());
        const auto& known = which.known;
        // What is free and what is used is all there is.
        std::map<std::size_t, std::int64_t> used;
        for (const auto& [key, at] : known.pod_keys()) {
            CHECK_FALSE(known[at].assumed);
            if (known[at].charged())
                used[known[at].node->value()] += known.request(at)[cpu];
        }
        for (const node_index at : known.node_order())
            CHECK(known.accounts().present(at)[cpu] + used[at.value()] ==
                  known.accounts().allocatable(at)[cpu]);
        if (!which.client.may_write())
            return;
        // Nobody is lost: who waits has an answer, or is held back until some time.
        for (const auto& [key, at] : known.gang_keys()) {
            const auto* const held = which.runs.held().find(key);
            if (held != nullptr && held->held)
                CHECK(held->until < never_comes);
            else if (known[at].placeable > 0)
                CHECK(known[at].last.is_known);
        }
    }

    api_type api;
    std::vector<std::unique_ptr<scheduler>> all;
    driver_options options;
    election_options elections;
    testing::journal_checker checker{{200 * millisecond, 10 * second}};
    std::int64_t synced_at = -1;
    int started = 0;
    // Of pods to come.
    bool ours = true;
    bool own_gate = false;
    bool unbound_volumes = false;
    bool respawns = false;
    // Of gangs to come.
    std::int64_t priority = 0;
    bool kubelets_may_refuse = false;
};

} // namespace driver_bench
