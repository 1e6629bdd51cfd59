// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <muster/cycle/cycle.hpp>
#include <muster/policy/queue_order.hpp>

#include "../builders.hpp"

namespace policy_peer_queues_test {

// How the queues of other schedulers are written, as the table in policy/README.md says, and what
// is then admitted.

namespace {

using namespace builders;
using namespace muster;

using names = std::vector<std::string>;

struct peer_cluster {
    cluster known;

    explicit peer_cluster(std::int64_t cpus) { ok(known.upsert_node("n", machine(cpus))); }

    void queue(const std::string& key, const cluster::queue_type& spec,
               const std::optional<std::string>& parent = std::nullopt) {
        ok(known.upsert_queue(key, spec, parent));
    }
    /// What of it starts now, gangs of one that ask for so much.
    [[nodiscard]] bool starts(const std::string& queue, std::int64_t cpus) {
        const std::string name = queue + "-" + std::to_string(++made_);
        add_gang(known, name, 1, cpus, queue);
        static_cast<void>(cycle(known, 0));
        return is(answered(known, name), answer::admitted);
    }
    /// The largest request that would start, whatever is free.
    [[nodiscard]] std::optional<std::int64_t> may_take(const std::string& queue) const {
        return known.accounts().headroom(queue_charge(known.find_queue(queue)->index))[cpu];
    }

private:
    int made_ = 0;
};

// ---- T9k: flat, quota --------------------------------------------------------------------------

TEST_CASE("T9k: a flat queue's quota is a ceiling, kinds that it does not name are unlimited") {
    peer_cluster in(100);
    in.queue("a", quota_of(6));
    in.queue("b", {});
    CHECK(in.starts("a", 5));
    CHECK_FALSE(in.starts("a", 2));
    CHECK(in.starts("a", 1));
    CHECK(in.starts("b", 90));
}

// ---- KAI: quota, limit, overQuotaWeight; -1 is unlimited ---------------------------------------

cluster::queue_type kai_queue(std::int64_t quota, std::int64_t limit, std::int64_t weight) {
    cluster::queue_type made;
    if (quota >= 0)
        made.deserved.set(cpu, quota);
    if (limit >= 0)
        made.quota.set(cpu, limit);
    made.weight = weight;
    return made;
}

TEST_CASE("KAI: a queue goes over its quota up to its limit, and to its department's") {
    peer_cluster in(100);
    in.queue("department", kai_queue(20, 30, 1));
    in.queue("a", kai_queue(10, 15, 1), "department");
    in.queue("b", kai_queue(10, -1, 1), "department");
    CHECK(in.starts("a", 10));
    CHECK(in.starts("a", 5));
    CHECK_FALSE(in.starts("a", 1));
    CHECK(in.starts("b", 15));
    CHECK_FALSE(in.starts("b", 1));
}

TEST_CASE("KAI: -1 is unlimited, of the quota too: nothing of it can be reclaimed") {
    peer_cluster in(100);
    in.queue("a", kai_queue(-1, -1, 1));
    CHECK_FALSE(in.may_take("a").has_value());
    CHECK(in.starts("a", 100));
    const auto rank = rank_of(in.known, in.known.find_queue("a")->index);
    CHECK_FALSE(rank.borrowing);
}

TEST_CASE("KAI: who is within its quota goes before who is over it, beyond by use for the weight") {
    peer_cluster in(24);
    in.queue("over", kai_queue(2, -1, 1));
    in.queue("within", kai_queue(9, -1, 1));
    add_running(in.known, "r", 4, "n", "over");
    add_running(in.known, "s", 8, "n", "within");
    const auto first = [&](auto order) {
        cluster copy = in.known;
        add_gang(copy, "of-over", 1, 10, "over");
        add_gang(copy, "of-within", 1, 10, "within");
        policy<best_fit, priority_then_age, decltype(order)> how;
        how.queues = order;
        return started(copy, cycle(copy, 0, how));
    };
    CHECK(first(deserved_first{}) == names{"of-within"});
    CHECK(first(weighted_share{}) == names{"of-over"});
    in.queue("within", kai_queue(9, -1, 3));
    CHECK(first(weighted_share{}) == names{"of-within"});
}

// ---- Volcano: deserved, capability, guarantee, weight ------------------------------------------

cluster::queue_type volcano_queue(std::int64_t deserved, std::int64_t capability,
                                  std::int64_t guarantee, std::int64_t weight = 1) {
    cluster::queue_type made = quota_of(capability);
    made.deserved.set(cpu, deserved);
    made.guarantee = units(guarantee);
    made.weight = weight;
    return made;
}

TEST_CASE("Volcano: a guarantee is kept while unused, so that the others may take only the rest") {
    peer_cluster in(20);
    // What the cluster has is the root queue's capability.
    in.queue("root", volcano_queue(20, 20, 0));
    in.queue("a", volcano_queue(10, 20, 8), "root");
    in.queue("b", volcano_queue(10, 20, 0), "root");
    CHECK_FALSE(in.starts("b", 13));
    CHECK(in.starts("b", 12));
    CHECK_FALSE(in.starts("b", 1));
    CHECK(in.starts("a", 8));
}

TEST_CASE("Volcano: capability bounds a queue whatever is free, and the root's all of them") {
    peer_cluster in(100);
    in.queue("root", volcano_queue(20, 20, 0));
    in.queue("a", volcano_queue(10, 12, 0), "root");
    in.queue("b", volcano_queue(10, 12, 0), "root");
    CHECK_FALSE(in.starts("a", 13));
    CHECK(in.starts("a", 12));
    CHECK_FALSE(in.starts("b", 9));
    CHECK(in.starts("b", 8));
}

TEST_CASE("Volcano: the queue with the smaller share of what it deserves goes first") {
    peer_cluster in(10);
    in.queue("a", volcano_queue(8, 10, 0));
    in.queue("b", volcano_queue(4, 10, 0));
    add_running(in.known, "r", 3, "n", "a");
    add_running(in.known, "s", 2, "n", "b");
    add_gang(in.known, "of-a", 1, 5, "a");
    add_gang(in.known, "of-b", 1, 5, "b");
    policy<best_fit, priority_then_age, deserved_first> how;
    CHECK(started(in.known, cycle(in.known, 0, how)) == names{"of-a"});
}

using leaves_policy = policy<best_fit, priority_then_age, priority_then_share, no_reservations,
                             surplus_at_once, most_packed, volcano_reclaim>;

/// Whether a gang of "mine", which deserves nothing itself, may have what "theirs" uses.
bool reclaims(std::int64_t levels, std::int64_t above_mine, std::int64_t above_theirs,
              bool together = false) {
    peer_cluster in(4);
    in.queue("root", volcano_queue(4, 8, 0));
    in.queue("above-mine", volcano_queue(above_mine, 8, 0), "root");
    in.queue("above-theirs", volcano_queue(above_theirs, 8, 0), "root");
    in.queue("mine", volcano_queue(0, 8, 0), "above-mine");
    in.queue("theirs", volcano_queue(0, 8, 0), together ? "above-mine" : "above-theirs");
    add_running(in.known, "r", 4, "n", "theirs");
    add_gang(in.known, "wants", 1, 2, "mine");
    leaves_policy how;
    how.victims.ancestor_levels = levels;
    return cycle(in.known, 0, how).counters.pods_evicted > 0;
}

TEST_CASE("Volcano: with ancestorReclaimLevel the queues above count, too") {
    CHECK_FALSE(reclaims(0, 2, 2));
    CHECK(reclaims(1, 2, 2));
    // Theirs above use no more than they deserve, or mine would use more.
    CHECK_FALSE(reclaims(1, 2, 4));
    CHECK_FALSE(reclaims(1, 1, 2));
    // Between children of one queue that deserve nothing nothing is taken.
    CHECK_FALSE(reclaims(1, 8, 2, true));
}

// ---- Kueue: nominalQuota, borrowingLimit, lendingLimit -----------------------------------------

/// `nominal` quota, of which it lends at most `lends` and to which it borrows at most `borrows`.
cluster::queue_type cluster_queue(std::int64_t nominal, std::optional<std::int64_t> borrows,
                                  std::optional<std::int64_t> lends) {
    cluster::queue_type made;
    if (borrows)
        made.quota.set(cpu, nominal + *borrows);
    made.deserved.set(cpu, nominal);
    made.guarantee = units(nominal - lends.value_or(nominal));
    return made;
}
/// A cohort has what those below it lend and what is its own.
cluster::queue_type cohort(std::int64_t nominals_below, std::int64_t own) {
    return quota_of(nominals_below + own);
}

TEST_CASE(
    "Kueue: a queue borrows what others of its cohort do not use, up to its borrowing limit") {
    peer_cluster in(100);
    in.queue("cohort", cohort(10 + 6, 0));
    in.queue("a", cluster_queue(10, 3, std::nullopt), "cohort");
    in.queue("b", cluster_queue(6, std::nullopt, std::nullopt), "cohort");
    CHECK(in.starts("a", 13));
    CHECK_FALSE(in.starts("a", 1));
    CHECK(in.starts("b", 3));
    // What was borrowed is missing until it is given back.
    CHECK_FALSE(in.starts("b", 1));
}

TEST_CASE("Kueue: a queue lends no more than its lending limit") {
    peer_cluster in(100);
    in.queue("cohort", cohort(10 + 6, 0));
    in.queue("a", cluster_queue(10, std::nullopt, 4), "cohort");
    in.queue("b", cluster_queue(6, std::nullopt, std::nullopt), "cohort");
    CHECK_FALSE(in.starts("b", 11));
    CHECK(in.starts("b", 10));
    CHECK_FALSE(in.starts("a", 7));
    CHECK(in.starts("a", 6));
}

TEST_CASE("Kueue: a borrowing limit of 0 keeps a queue to its nominal quota") {
    peer_cluster in(100);
    in.queue("cohort", cohort(10 + 6, 0));
    in.queue("a", cluster_queue(10, 0, std::nullopt), "cohort");
    in.queue("b", cluster_queue(6, std::nullopt, 0), "cohort");
    CHECK_FALSE(in.starts("a", 11));
    CHECK(in.starts("a", 10));
    CHECK(in.starts("b", 6));
}

TEST_CASE("Kueue: cohorts stand in cohorts, with quota of their own") {
    peer_cluster in(100);
    in.queue("top", cohort(10 + 6 + 5, 0));
    // The inner cohort has 5 of its own and lends 8 of its 15 upwards.
    cluster::queue_type inner;
    inner.guarantee = units(7);
    in.queue("inner", inner, "top");
    in.queue("a", cluster_queue(10, std::nullopt, std::nullopt), "inner");
    in.queue("b", cluster_queue(6, std::nullopt, std::nullopt), "top");
    CHECK_FALSE(in.starts("b", 15));
    CHECK(in.starts("b", 14));
    CHECK_FALSE(in.starts("a", 8));
    CHECK(in.starts("a", 7));
}

/// Rank in Kueue's order: whether it would borrow, and its next gang.
queue_rank next_of(bool borrows, std::int64_t priority, std::int64_t created) {
    queue_rank made;
    made.borrowing = borrows;
    made.next_priority = priority;
    made.next_created = created;
    return made;
}

TEST_CASE("Kueue: who need not borrow goes first, then the next gang's priority, then its age") {
    const borrowing_last before;
    CHECK(before(next_of(false, 0, 9), next_of(true, 5, 0)));
    CHECK(before(next_of(true, 5, 9), next_of(true, 4, 0)));
    CHECK(before(next_of(false, 5, 1), next_of(false, 5, 2)));
    CHECK_FALSE(before(next_of(false, 5, 1), next_of(false, 5, 1)));
}

TEST_CASE("Kueue: of two queues the one whose next gang stays within its quota starts it") {
    const policy<best_fit, priority_then_age, borrowing_last> how;
    for (const bool first_borrows : {false, true}) {
        CAPTURE(first_borrows);
        peer_cluster in(10);
        in.queue("cohort", cohort(6 + 4, 0));
        in.queue("a", cluster_queue(6, std::nullopt, std::nullopt), "cohort");
        in.queue("b", cluster_queue(4, std::nullopt, std::nullopt), "cohort");
        add_running(in.known, "r", 3, "n", "a");
        // Of the 7 that are left each takes 4, so that one of them starts.
        add_gang(in.known, "of-a", 1, first_borrows ? 4 : 3, "a");
        add_gang(in.known, "of-b", 1, first_borrows ? 4 : 5, "b");
        CHECK(started(in.known, cycle(in.known, 0, how)) == names{first_borrows ? "of-b" : "of-a"});
    }
}

using whole_policy = policy<best_fit, priority_then_age, borrowing_last, no_reservations,
                            surplus_at_once, most_packed, kueue_preemption>;

/// Who is evicted for a gang of one that asks for 2 in queue `mine`, which deserves 6 of 10 and
/// uses 2 ("own"), while its sibling deserves 4 and uses 8 ("other" and "more").
names taken(preemption_scope within_queue, preemption_scope within_cohort, std::int64_t priority,
            std::int64_t created, std::optional<std::string> cohort_of_mine = "cohort") {
    peer_cluster in(10);
    cluster::queue_type top;
    in.queue("cohort", top);
    cluster::queue_type spec = cluster_queue(6, std::nullopt, std::nullopt);
    spec.within_queue = within_queue;
    spec.within_cohort = within_cohort;
    in.queue("mine", spec, cohort_of_mine);
    in.queue("others", cluster_queue(4, std::nullopt, std::nullopt), "cohort");
    const auto stands = [&](const char* name, std::int64_t cpus, const char* queue) {
        auto group = gang_of(1, queue);
        group.priority = 5;
        group.created = 50;
        ok(in.known.upsert_gang(name, group));
        ok(in.known.upsert_pod(std::string(name) + "-0", name,
                               in_phase(pod_phase::running, asking(cpus)), "n"));
    };
    stands("own", 2, "mine");
    stands("other", 4, "others");
    stands("more", 4, "others");
    auto group = gang_of(1, "mine");
    group.priority = priority;
    group.created = created;
    ok(in.known.upsert_gang("wants", group));
    ok(in.known.upsert_pod("wants-0", "wants", asking(2)));
    names gone;
    for (const decision& made : cycle(in.known, 60, whole_policy{}).decisions)
        for (const pod_index pod : made.evictions)
            gone.push_back(in.known.key(pod));
    return gone;
}

TEST_CASE("Kueue: by default nobody is evicted") {
    CHECK(taken(preemption_scope::never, preemption_scope::never, 9, 0).empty());
}

TEST_CASE(
    "Kueue: withinClusterQueue takes lower priority, and newer of the same where it says so") {
    CHECK(taken(preemption_scope::lower_priority, preemption_scope::never, 6, 0) == names{"own-0"});
    CHECK(taken(preemption_scope::lower_priority, preemption_scope::never, 5, 0).empty());
    CHECK(taken(preemption_scope::lower_or_newer_equal, preemption_scope::never, 5, 49) ==
          names{"own-0"});
    CHECK(taken(preemption_scope::lower_or_newer_equal, preemption_scope::never, 5, 50).empty());
    CHECK(taken(preemption_scope::lower_or_newer_equal, preemption_scope::never, 4, 0).empty());
}

TEST_CASE("Kueue: reclaimWithinCohort takes what others borrow, by priority where it says so") {
    CHECK(taken(preemption_scope::never, preemption_scope::any, 0, 99).size() == 1);
    CHECK(taken(preemption_scope::never, preemption_scope::lower_priority, 5, 99).empty());
    CHECK(taken(preemption_scope::never, preemption_scope::lower_priority, 6, 99).size() == 1);
}

/// Who is evicted where "mine" deserves 1 of 10 and uses 2, so that it would borrow.
names taken_to_borrow(std::optional<std::int64_t> most, std::int64_t priority,
                      std::int64_t borrowed = 2) {
    peer_cluster in(10);
    in.queue("cohort", cluster::queue_type{});
    cluster::queue_type spec = cluster_queue(1, std::nullopt, std::nullopt);
    spec.within_cohort = preemption_scope::any;
    spec.borrow_within_cohort = most;
    in.queue("mine", spec, "cohort");
    in.queue("others", cluster_queue(3, std::nullopt, std::nullopt), "cohort");
    in.queue("poor", cluster_queue(4, std::nullopt, std::nullopt), "cohort");
    const auto stands = [&](const char* name, std::int64_t cpus, const char* queue) {
        auto group = gang_of(1, queue);
        group.priority = 5;
        ok(in.known.upsert_gang(name, group));
        ok(in.known.upsert_pod(name, name, in_phase(pod_phase::running, asking(cpus)), "n"));
    };
    stands("own", 2, "mine");
    stands("borrows", borrowed, "others");
    stands("rest", 5 - borrowed, "others");
    stands("within", 3, "poor");
    auto group = gang_of(1, "mine");
    group.priority = priority;
    ok(in.known.upsert_gang("wants", group));
    ok(in.known.upsert_pod("wants", "wants", asking(2)));
    names gone;
    for (const decision& made : cycle(in.known, 60, whole_policy{}).decisions)
        for (const pod_index pod : made.evictions)
            gone.push_back(in.known.key(pod));
    return gone;
}

TEST_CASE("Kueue: borrowWithinCohort takes lower priority that borrows for who borrows, too") {
    CHECK(taken_to_borrow(std::nullopt, 9).empty());
    CHECK(taken_to_borrow(5, 9) == names{"borrows"});
    CHECK(taken_to_borrow(4, 9).empty());
    CHECK(taken_to_borrow(5, 5).empty());
    // Of 5 two are borrowed, and whoever has one of these has too few.
    CHECK(taken_to_borrow(5, 9, 4).empty());
}

TEST_CASE("Kueue: who borrows is taken before who is of the own queue") {
    CHECK(taken(preemption_scope::lower_priority, preemption_scope::any, 9, 0) != names{"own-0"});
}

TEST_CASE("Kueue: who borrows one kind is taken from, though it deserves more of another") {
    // The cohort is full, as it is whenever somebody borrows of another that wants its own back.
    cluster known;
    ok(known.upsert_node("n", machine(64, 4)));
    const auto share_of_both = [](std::int64_t cpus, std::int64_t gpus, bool ceiling) {
        cluster::queue_type made;
        made.deserved.set(cpu, cpus);
        made.deserved.set(gpu, gpus);
        if (ceiling) {
            made.quota.set(cpu, cpus);
            made.quota.set(gpu, gpus);
        }
        made.within_cohort = preemption_scope::any;
        return made;
    };
    ok(known.upsert_queue("cohort", share_of_both(16, 4, true)));
    for (const char* each : {"left", "right"})
        ok(known.upsert_queue(each, share_of_both(8, 2, false), "cohort"));
    for (const char* name : {"old", "new"}) {
        auto group = gang_of(1, "left");
        group.created = name[0] == 'n' ? 2 : 1;
        ok(known.upsert_gang(name, group));
        ok(known.upsert_pod(name, name, in_phase(pod_phase::running, asking(1, 2)), "n"));
    }
    ok(known.upsert_gang("wants", gang_of(2, "right")));
    add_members(known, "wants", 2, asking(1, 1));
    const whole_policy how;
    // Whoever goes comes back at once and waits: it gets nothing of what it borrowed.
    names gone;
    for (std::int64_t now = 3; now < 12; ++now) {
        const cycle_result made = cycle(known, now, how);
        names victims;
        for (const decision& each : made.decisions) {
            for (const pod_index pod : each.evictions)
                victims.push_back(known.key(pod));
            for (const auto& [pod, node] : each.placements)
                if (!each.nominated)
                    ok(known.confirm_bound(known.key(pod)));
        }
        for (const std::string& each : victims) {
            gone.push_back(each);
            ok(known.remove_pod(each));
            ok(known.upsert_pod(each, each, asking(1, 2)));
        }
    }
    CHECK(gone == names{"new"});
    CHECK(node_of(known, "wants-0") == "n");
    CHECK(node_of(known, "wants-1") == "n");
    CHECK(node_of(known, "new").empty());
}

TEST_CASE("Kueue: nothing is taken from outside the cohort") {
    CHECK(taken(preemption_scope::never, preemption_scope::any, 9, 0, std::nullopt).empty());
}

} // namespace

} // namespace policy_peer_queues_test
