// SPDX-License-Identifier: Apache-2.0
#include <muster/testing/cluster_conformance.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <support/memory_world.hpp>

namespace testing_cluster_conformance_test {

namespace {

using namespace muster;
using namespace muster::adapter;

enum class lie : std::uint8_t {
    none,
    synced_at_once,
    loses_node,
    as_of_future,
    time_goes_back,
    reports_no_changes,
    keeps_uid,
    takes_foreign_pods,
    binds_elsewhere,
    drops_binds,
    answers_twice,
    answers_unasked,
    hides_conflicts,
    ignores_uid_of_bind,
    hides_gone,
    hides_lost_answers,
    ignores_uid_of_eviction,
    always_changes,
    loses_reached,
    always_current,
    listing_lacks_pod,
    unsynced_after_relist,
    relist_loses_pod,
};

/// A correct cluster but for one lie.
struct liar : memory_client<4> {
    using base = memory_client<4>;
    static inline lie told = lie::none;

    liar(memory_api<4>& to, std::string name, std::string identity, election_options elections)
        : base(to, std::move(name), std::move(identity), elections), api(&to) {}

    [[nodiscard]] instant now() const {
        instant time = base::now();
        if (told == lie::time_goes_back)
            time.steady = -time.steady;
        return time;
    }
    view_status observe(cluster_view<traits>& view) {
        if (told == lie::reports_no_changes && status.synced)
            return status;
        status = base::observe(view);
        if (told == lie::synced_at_once)
            status.synced = true;
        if (told == lie::loses_node)
            view.node_gone("node-b");
        if (told == lie::as_of_future)
            status.as_of += second;
        if (told == lie::unsynced_after_relist && relisted)
            status.synced = false;
        if (told == lie::relist_loses_pod && relisted)
            view.pod_gone("pod-a");
        if (told == lie::keeps_uid && view.find_pod("pod-a") != nullptr)
            report(view, "pod-a", first_uid.emplace(first_uid.value_or(uid_of("pod-a"))));
        if (told == lie::takes_foreign_pods && view.find_pod("pod-x") != nullptr)
            report(view, "pod-x", uid_of("pod-x"));
        return status;
    }
    void relist() {
        relisted = true;
        base::relist();
    }
    void bind(std::span<const bind_order<traits>> all) {
        for (bind_order<traits> order : all) {
            if (told == lie::binds_elsewhere)
                order.node = "node-a";
            if (told == lie::ignores_uid_of_bind)
                order.uid = uid_of(order.pod);
            if (told != lie::drops_binds)
                base::bind({&order, 1});
            if (told == lie::answers_twice)
                base::bind({&order, 1});
        }
    }
    void evict(std::span<const evict_order<traits>> all) {
        for (evict_order<traits> order : all) {
            if (told == lie::ignores_uid_of_eviction)
                order.uid = uid_of(order.pod);
            base::evict({&order, 1});
        }
    }
    void patch_status(std::span<const status_order<traits>> all) {
        for (status_order<traits> order : all) {
            if (told == lie::loses_reached)
                order.status.reached = false;
            base::patch_status({&order, 1});
        }
    }
    void is_current(std::span<const is_current_order<traits>> all) {
        base::is_current(all);
        if (told == lie::always_current)
            for (const auto& order : all)
                about_gangs.push_back(order.of);
    }
    [[nodiscard]] bool would_change(const std::string& gang, const gang_status& to) const {
        return told == lie::always_changes || base::would_change(gang, to);
    }
    void take_results(std::vector<order_result<traits>>& into) {
        base::take_results(into);
        if (told == lie::answers_unasked)
            into.push_back({1'000'000, outcome::applied});
        for (order_result<traits>& each : into)
            if ((told == lie::hides_conflicts && each.what == outcome::conflict) ||
                (told == lie::hides_gone && each.what == outcome::gone) ||
                (told == lie::hides_lost_answers && each.what == outcome::unknown) ||
                std::ranges::find(about_gangs, each.of) != about_gangs.end())
                each.what = outcome::applied;
    }
    bool take_listing(listing<traits>& into) {
        const bool taken = base::take_listing(into);
        if (told == lie::listing_lacks_pod && taken)
            into.pods.pop_back();
        return taken;
    }

    /// The uid of the pod of that name as it is now; empty = there is none.
    [[nodiscard]] std::string uid_of(const std::string& pod) const {
        const auto at = api->pods().objects.find(pod);
        return at == api->pods().objects.end() ? "" : at->second.uid;
    }
    /// Reports the pod as a member of gang-a that this scheduler binds.
    static void report(cluster_view<traits>& view, const std::string& pod, const std::string& uid) {
        seen_pod<traits> seen;
        seen.uid = uid;
        seen.gang = "gang-a";
        seen.on = view.find_pod(pod)->on;
        view.pod(pod, seen);
    }

    memory_api<4>* api;
    view_status status;
    bool relisted = false;
    std::optional<std::string> first_uid;
    std::vector<ticket> about_gangs;
};

using suite = testing::cluster_conformance<memory_world<liar>>;

std::vector<std::string> faults_of(const suite::rule& rule) {
    memory_world<liar> fresh;
    return suite::check(rule, fresh);
}

struct broken_promise {
    lie what;
    std::string_view rule;
    std::string_view fault;
};

constexpr broken_promise promises[] = {
    {lie::synced_at_once, "what is there is told before the view is synced", "a node is missing"},
    {lie::loses_node, "what is there is told before the view is synced", "a node is missing"},
    {lie::as_of_future, "what is there is told before the view is synced",
     "the view is from the future"},
    {lie::time_goes_back, "what is there is told before the view is synced",
     "steady time went back"},
    {lie::reports_no_changes, "what changes is told", "what is new is not told"},
    {lie::keeps_uid, "a pod of the same name and another uid is another pod",
     "the new pod is not told"},
    {lie::takes_foreign_pods, "other schedulers' pods count once they have a node",
     "a pod of others is ours"},
    {lie::takes_foreign_pods, "other schedulers' pods count once they have a node",
     "a pod of others is a member of our gang"},
    {lie::binds_elsewhere, "a bind is carried out, answered once, and seen",
     "a bind was not carried out"},
    {lie::drops_binds, "a bind is carried out, answered once, and seen",
     "an order is never answered"},
    {lie::answers_twice, "a bind is carried out, answered once, and seen",
     "two answers to one order"},
    {lie::answers_unasked, "a bind is carried out, answered once, and seen",
     "an answer to an unknown order"},
    {lie::hides_conflicts, "a pod that is bound already is a conflict",
     "a second bind is no conflict"},
    {lie::ignores_uid_of_bind, "an order for another uid does nothing",
     "another pod of that name was bound"},
    {lie::hides_gone, "a pod that is gone is gone",
     "a bind of a pod that is gone is not answered so"},
    {lie::hides_lost_answers, "an answer that is lost is unknown, and the question answers it",
     "a lost answer is not unknown"},
    {lie::ignores_uid_of_eviction, "an eviction is carried out for that pod alone",
     "an eviction for another uid is not answered so"},
    {lie::always_changes, "a status is written where it changes something, and read again",
     "what was written is still a change"},
    {lie::loses_reached, "a status is written where it changes something, and read again",
     "that the minima were reached is not read again"},
    {lie::always_current, "a gang that is newer than the view is not current",
     "a gang that has changed since it was seen is current"},
    {lie::listing_lacks_pod, "a fresh listing has what is there", "view and listing differ"},
    {lie::unsynced_after_relist, "a relist tells what is there, and forgets the rest",
     "a relist takes the view's word back"},
    {lie::relist_loses_pod, "a relist tells what is there, and forgets the rest",
     "a relist loses something"},
};

} // namespace

TEST_CASE("a cluster that keeps every promise breaks no rule") {
    liar::told = lie::none;
    for (const auto& rule : suite::rules()) {
        CAPTURE(rule.name);
        CHECK(faults_of(rule).empty());
    }
}

TEST_CASE("the rule about a promise names the fault of a cluster that breaks it") {
    for (const broken_promise& promise : promises) {
        liar::told = promise.what;
        CAPTURE(promise.rule);
        CAPTURE(promise.fault);
        const auto rules = suite::rules();
        const auto rule = std::ranges::find_if(
            rules, [&](const auto& each) { return each.name == promise.rule; });
        REQUIRE(rule != rules.end());
        const std::vector<std::string> faults = faults_of(*rule);
        CHECK(std::ranges::find(faults, promise.fault) != faults.end());
    }
    liar::told = lie::none;
}

TEST_CASE("every rule is broken by some wrong cluster of these tests") {
    for (const auto& rule : suite::rules()) {
        CAPTURE(rule.name);
        CHECK(std::ranges::any_of(promises,
                                  [&](const auto& each) { return each.rule == rule.name; }));
    }
}

} // namespace testing_cluster_conformance_test
