// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <muster/adapter/cluster_concept.hpp>
#include <muster/adapter/comparer.hpp>
#include <muster/cluster/state.hpp>

namespace muster {
inline namespace v0_1 {
namespace testing {

/// What the suite needs of a world with a cluster in it, beside the cluster. Everything but
/// `cluster` and the keys is done to the server by somebody else than the cluster under test. Names
/// are plain, such as `pod-a`. A world is fresh: empty, and its cluster has not been asked
/// anything.
template<class World>
concept conformance_world = adapter::cluster<typename World::cluster_type> &&
    requires(World& of, const std::string& name, std::int64_t number, bool flag) {
    typename World::traits;
    { of.cluster() } -> std::same_as<typename World::cluster_type&>;
    /// An empty state with its columns.
    { of.make_state() } -> std::same_as<state<typename World::traits>>;
    { of.pod(name) } -> std::same_as<typename World::traits::pod_key>;
    { of.node(name) } -> std::same_as<typename World::traits::node_key>;
    { of.gang(name) } -> std::same_as<typename World::traits::gang_key>;
    of.put_node(name, number);
    /// A gang with an object and that minimum; put again, it has another.
    of.put_gang(name, number);
    /// A pod of a gang, asking for 1; `ours`: it names this scheduler.
    of.create_pod(name, name, flag);
    of.delete_pod(name);
    { of.uid_of(name) } -> std::same_as<std::string>;
    /// The node that the server has for the pod; empty = no node, or no such pod.
    { of.node_of(name) } -> std::same_as<std::string>;
    /// Another scheduler binds the pod.
    of.bind_elsewhere(name, name);
    /// Makes the server carry out the next bind and lose its answer. Returns false if that cannot
    /// be provoked.
    { of.lose_next_answer() } -> std::same_as<bool>;
    /// Lets a little time pass, in which what was sent may arrive.
    of.wait();
};

/// Checks that a cluster does what `adapter::cluster` requires, one rule at a time, each in a fresh
/// world. Needs no test framework: faults are texts.
///
///     for (const auto& rule : cluster_conformance<World>::rules()) {
///         World world;
///         for (const std::string& fault : cluster_conformance<World>::check(rule, world))
///             report(rule.name, fault);
///     }
template<conformance_world World>
class cluster_conformance {
    using traits = typename World::traits;
    using order_result = adapter::order_result<traits>;

public:
    struct rule {
        const char* name;
        void (*check)(cluster_conformance&);
    };

    /// All rules, in the order in which they build on each other.
    [[nodiscard]] static std::vector<rule> rules() {
        using self = cluster_conformance;
        return {
            {"what is there is told before the view is synced",
             [](self& on) { on.first_listing(); }},
            {"what changes is told", [](self& on) { on.changes(); }},
            {"a pod of the same name and another uid is another pod",
             [](self& on) { on.created_anew(); }},
            {"other schedulers' pods count once they have a node", [](self& on) { on.foreign(); }},
            {"a bind is carried out, answered once, and seen", [](self& on) { on.bind(); }},
            {"a pod that is bound already is a conflict", [](self& on) { on.bind_twice(); }},
            {"an order for another uid does nothing", [](self& on) { on.other_uid(); }},
            {"a pod that is gone is gone", [](self& on) { on.gone(); }},
            {"an answer that is lost is unknown, and the question answers it",
             [](self& on) { on.lost_answer(); }},
            {"an eviction is carried out for that pod alone", [](self& on) { on.evict(); }},
            {"a status is written where it changes something, and read again",
             [](self& on) { on.status(); }},
            {"a gang that is newer than the view is not current", [](self& on) { on.current(); }},
            {"a fresh listing has what is there", [](self& on) { on.listing(); }},
            {"a relist tells what is there, and forgets the rest", [](self& on) { on.relist(); }},
        };
    }

    /// Returns how the cluster of this fresh world breaks the rule; empty if it does not.
    [[nodiscard]] static std::vector<std::string> check(const rule& which, World& world) {
        cluster_conformance on(world);
        which.check(on);
        return std::move(on.wrong_);
    }

private:
    static constexpr int patience = 200;

    explicit cluster_conformance(World& world)
        : world_(&world), known_(world.make_state()), view_(known_) {}

    bool require(bool holds, const char* what) {
        if (!holds)
            wrong_.emplace_back(what);
        return holds;
    }

    void observe() {
        const auto& cluster = world_->cluster();
        const std::int64_t now = cluster.now().steady;
        require(now >= last_now_, "steady time went back");
        last_now_ = now;
        status_ = world_->cluster().observe(view_);
        require(status_.as_of <= world_->cluster().now().steady, "the view is from the future");
        if (status_.synced) {
            require(status_.term > 0, "synced without a term");
            was_synced_ = true;
        }
        results_.clear();
        world_->cluster().take_results(results_);
        for (const order_result& each : results_) {
            require(asked_.contains(each.of), "an answer to an unknown order");
            require(answers_.emplace(each.of, each).second, "two answers to one order");
        }
    }
    template<class Until>
    bool until(const Until& holds, const char* what) {
        for (int turn = 0; turn < patience; ++turn) {
            observe();
            if (holds())
                return true;
            world_->wait();
        }
        return require(false, what);
    }
    bool sync() {
        return until([&] { return status_.synced; }, "the view is never synced");
    }
    [[nodiscard]] adapter::ticket ask() {
        asked_[++tickets_] = true;
        return tickets_;
    }
    /// The answer to the order, or nothing in a long time.
    [[nodiscard]] std::optional<order_result> answer(adapter::ticket of) {
        until([&] { return answers_.contains(of); }, "an order is never answered");
        const auto at = answers_.find(of);
        return at == answers_.end() ? std::nullopt : std::optional(at->second);
    }
    void expect(adapter::ticket of, adapter::outcome what, const char* otherwise) {
        const auto given = answer(of);
        require(given && given->what == what, otherwise);
    }
    template<class Order, class Give>
    [[nodiscard]] adapter::ticket give(Order order, const Give& to) {
        order.of = ask();
        to(std::span<const Order>(&order, 1));
        return order.of;
    }
    [[nodiscard]] adapter::ticket order_bind(const std::string& pod, const std::string& uid,
                                             const std::string& node) {
        return give(adapter::bind_order<traits>{0, world_->pod(pod), uid, world_->node(node)},
                    [&](auto all) { world_->cluster().bind(all); });
    }
    [[nodiscard]] adapter::ticket ask_where(const std::string& pod, const std::string& uid) {
        return give(adapter::where_is_order<traits>{0, world_->pod(pod), uid},
                    [&](auto all) { world_->cluster().where_is(all); });
    }
    [[nodiscard]] const auto* seen(const std::string& pod) const {
        return view_.find_pod(world_->pod(pod));
    }
    [[nodiscard]] bool seen_on(const std::string& pod, const std::string& node) const {
        const auto* const facts = seen(pod);
        return facts != nullptr && facts->on == world_->node(node);
    }
    [[nodiscard]] bool node_is_there(const std::string& name) const {
        const auto at = known_.find_node(world_->node(name));
        return at && known_[at->index].present;
    }
    void put_world() {
        world_->put_node("node-a", 4);
        world_->put_node("node-b", 4);
        world_->put_gang("gang-a", 2);
        world_->create_pod("pod-a", "gang-a", true);
        world_->create_pod("pod-b", "gang-a", true);
    }

    // ---- rules ---------------------------------------------------------------------------------

    void first_listing() {
        put_world();
        require(!was_synced_, "synced before anything was observed");
        if (!sync())
            return;
        require(node_is_there("node-a") && node_is_there("node-b"), "a node is missing");
        require(seen("pod-a") != nullptr && seen("pod-b") != nullptr, "a pod is missing");
        const auto* const gang = view_.find_gang(world_->gang("gang-a"));
        require(gang != nullptr && !gang->uid.empty(), "the gang is missing, or its uid");
        require(gang != nullptr && gang->kept && !gang->reached,
                "the cluster does not store whether the gang reached its minima");
        require(seen("pod-a") != nullptr && seen("pod-a")->uid == world_->uid_of("pod-a"),
                "a pod has another uid");
        observe();
        require(status_.synced, "the view does not stay synced");
    }

    void changes() {
        put_world();
        if (!sync())
            return;
        world_->put_node("node-c", 4);
        world_->create_pod("pod-c", "gang-a", true);
        until([&] { return node_is_there("node-c") && seen("pod-c") != nullptr; },
              "what is new is not told");
        world_->delete_pod("pod-c");
        until([&] { return seen("pod-c") == nullptr; }, "what is gone is not told");
        world_->put_gang("gang-a", 3);
        until(
            [&] {
                const auto at = known_.find_gang(world_->gang("gang-a"));
                return at && known_[at->index].spec.tree[0].min_member == 3;
            },
            "a minimum that changed is not told");
    }

    void created_anew() {
        put_world();
        if (!sync())
            return;
        const std::string before = world_->uid_of("pod-a");
        world_->delete_pod("pod-a");
        world_->create_pod("pod-a", "gang-a", true);
        const std::string after = world_->uid_of("pod-a");
        require(before != after, "the server gives uids twice");
        until([&] { return view_.find_pod(world_->pod("pod-a"), after) != nullptr; },
              "the new pod is not told");
    }

    void foreign() {
        put_world();
        world_->create_pod("pod-x", "gang-a", false);
        if (!sync())
            return;
        require(seen("pod-x") == nullptr, "a pod of others counts before it has a node");
        world_->bind_elsewhere("pod-x", "node-a");
        until([&] { return seen_on("pod-x", "node-a"); }, "a pod of others does not count");
        require(seen("pod-x") == nullptr || !seen("pod-x")->ours, "a pod of others is ours");
        require(seen("pod-x") == nullptr || seen("pod-x")->gang != world_->gang("gang-a"),
                "a pod of others is a member of our gang");
    }

    void bind() {
        put_world();
        if (!sync())
            return;
        const auto order = order_bind("pod-a", world_->uid_of("pod-a"), "node-b");
        expect(order, adapter::outcome::applied, "a bind is not applied");
        require(world_->node_of("pod-a") == "node-b", "a bind was not carried out");
        until([&] { return seen_on("pod-a", "node-b"); }, "a bind is not seen");
    }

    void bind_twice() {
        put_world();
        if (!sync())
            return;
        world_->bind_elsewhere("pod-a", "node-a");
        const std::string uid = world_->uid_of("pod-a");
        expect(order_bind("pod-a", uid, "node-b"), adapter::outcome::conflict,
               "a second bind is no conflict");
        require(world_->node_of("pod-a") == "node-a", "a pod was moved");
        const auto where = answer(ask_where("pod-a", uid));
        require(where && where->what == adapter::outcome::applied &&
                    where->on == world_->node("node-a"),
                "the question where a bound pod is has another answer");
        const auto nowhere = answer(ask_where("pod-b", world_->uid_of("pod-b")));
        require(nowhere && nowhere->what == adapter::outcome::applied && !nowhere->on,
                "the question where an unbound pod is has another answer");
    }

    void other_uid() {
        put_world();
        if (!sync())
            return;
        const std::string wrong = world_->uid_of("pod-b");
        expect(order_bind("pod-a", wrong, "node-a"), adapter::outcome::replaced,
               "a bind for another uid is not answered so");
        require(world_->node_of("pod-a").empty(), "another pod of that name was bound");
        expect(ask_where("pod-a", wrong), adapter::outcome::replaced,
               "a question about another uid is not answered so");
    }

    void gone() {
        put_world();
        if (!sync())
            return;
        const std::string uid = world_->uid_of("pod-a");
        world_->delete_pod("pod-a");
        expect(order_bind("pod-a", uid, "node-a"), adapter::outcome::gone,
               "a bind of a pod that is gone is not answered so");
        expect(ask_where("pod-a", uid), adapter::outcome::gone,
               "a question about a pod that is gone is not answered so");
    }

    void lost_answer() {
        put_world();
        if (!sync() || !world_->lose_next_answer())
            return;
        const std::string uid = world_->uid_of("pod-a");
        expect(order_bind("pod-a", uid, "node-a"), adapter::outcome::unknown,
               "a lost answer is not unknown");
        const auto where = answer(ask_where("pod-a", uid));
        require(where && where->on == world_->node("node-a"), "the question does not say it");
    }

    void evict() {
        put_world();
        if (!sync())
            return;
        world_->bind_elsewhere("pod-a", "node-a");
        const auto order = [&](const std::string& uid) {
            return give(adapter::evict_order<traits>{0, world_->pod("pod-a"), uid,
                                                     adapter::eviction_cause::preempted},
                        [&](auto all) { world_->cluster().evict(all); });
        };
        expect(order(world_->uid_of("pod-b")), adapter::outcome::replaced,
               "an eviction for another uid is not answered so");
        require(world_->node_of("pod-a") == "node-a", "another pod was evicted");
        expect(order(world_->uid_of("pod-a")), adapter::outcome::applied,
               "an eviction is not applied");
        until(
            [&] {
                const auto at = known_.find_pod(world_->pod("pod-a"));
                return !at || known_[at->index].terminating;
            },
            "an eviction is not seen");
    }

    void status() {
        put_world();
        if (!sync())
            return;
        const auto gang = world_->gang("gang-a");
        const auto* const facts = view_.find_gang(gang);
        adapter::gang_status status;
        status.reached = status.holds_minima = true;
        status.alive = status.holding = status.running = 2;
        if (!require(world_->cluster().would_change(gang, status), "a status changes nothing") ||
            facts == nullptr)
            return;
        const auto order = give(adapter::status_order<traits>{0, gang, facts->uid, status},
                                [&](auto all) { world_->cluster().patch_status(all); });
        expect(order, adapter::outcome::applied, "a status is not written");
        until(
            [&] {
                const auto* const now = view_.find_gang(gang);
                return now != nullptr && now->reached;
            },
            "that the minima were reached is not read again");
        until([&] { return !world_->cluster().would_change(gang, status); },
              "what was written is still a change");
    }

    void current() {
        put_world();
        if (!sync())
            return;
        const auto gang = world_->gang("gang-a");
        const auto* const facts = view_.find_gang(gang);
        if (facts == nullptr)
            return;
        const std::string uid = facts->uid;
        const auto order = [&] {
            return give(adapter::is_current_order<traits>{0, gang, uid},
                        [&](auto all) { world_->cluster().is_current(all); });
        };
        expect(order(), adapter::outcome::applied, "a gang that is as it was seen is not current");
        world_->put_gang("gang-a", 3);
        expect(order(), adapter::outcome::conflict,
               "a gang that has changed since it was seen is current");
    }

    void listing() {
        put_world();
        world_->create_pod("pod-x", "gang-a", false);
        world_->bind_elsewhere("pod-x", "node-a");
        if (!sync())
            return;
        world_->cluster().ask_listing();
        adapter::listing<traits> all;
        if (until([&] { return world_->cluster().take_listing(all); }, "no listing ever comes"))
            require(adapter::compare(view_, all).empty(), "view and listing differ");
    }

    void relist() {
        put_world();
        if (!sync())
            return;
        world_->cluster().relist();
        world_->delete_pod("pod-b");
        until([&] { return seen("pod-b") == nullptr; }, "what is gone outlives a relist");
        require(seen("pod-a") != nullptr && node_is_there("node-a"), "a relist loses something");
        require(status_.synced, "a relist takes the view's word back");
    }

    World* world_;
    state<traits> known_;
    adapter::cluster_view<traits> view_;
    adapter::view_status status_;
    std::vector<order_result> results_;
    std::map<adapter::ticket, bool> asked_;
    std::map<adapter::ticket, order_result> answers_;
    std::vector<std::string> wrong_;
    adapter::ticket tickets_ = 0;
    std::int64_t last_now_ = 0;
    bool was_synced_ = false;
};

} // namespace testing
} // namespace v0_1
} // namespace muster
