// SPDX-License-Identifier: Apache-2.0
// An executable of its own: it counts every allocation of its process.
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <string>
#include <vector>

#include <muster/cycle/cycle.hpp>
#include <support/world.hpp>

namespace {

std::size_t allocations = 0;

void* allocate(std::size_t size, std::size_t alignment) {
    ++allocations;
    const std::size_t whole = (size + alignment - 1) / alignment * alignment;
    void* made = std::aligned_alloc(alignment, whole > 0 ? whole : alignment);
    if (!made)
        std::abort();
    return made;
}

} // namespace

// Inlined, they make g++ see memory of `new` given to `free`.
[[gnu::noinline]] void* operator new(std::size_t size) {
    return allocate(size, alignof(std::max_align_t));
}
[[gnu::noinline]] void* operator new(std::size_t size, std::align_val_t alignment) {
    return allocate(size, static_cast<std::size_t>(alignment));
}
[[gnu::noinline]] void operator delete(void* what) noexcept {
    std::free(what);
}
[[gnu::noinline]] void operator delete(void* what, std::size_t) noexcept {
    std::free(what);
}
[[gnu::noinline]] void operator delete(void* what, std::align_val_t) noexcept {
    std::free(what);
}
[[gnu::noinline]] void operator delete(void* what, std::size_t, std::align_val_t) noexcept {
    std::free(what);
}

namespace {

using namespace muster;

using usual = string_traits<3>;
/// With an index that splits all the time. It has two thresholds and goes on to learn others where
/// more would serve, which allocates, so what starts is looked at with the usual index.
using splitting = testing::world_traits;

/// 200 nodes of 8 in three pools, a quarter of them half full, and gangs by name.
template<class Traits>
struct decided {
    using cluster = state<Traits>;

    cluster known;
    cycle_result result;
    std::vector<std::string> gangs;

    decided() {
        for (int at = 0; at < 200; ++at) {
            typename cluster::node_type node;
            node.allocatable[0] = 8 + at % 3;
            node.labels = {{"pool", std::to_string(at % 3)}};
            ok(known.upsert_node(name("n", at), node));
        }
        ok(known.upsert_gang("running", gang_of(1)));
        for (int at = 0; at < 200; at += 4)
            ok(known.upsert_pod(name("r", at), "running", running(4), name("n", at)));
        ok(known.upsert_queue("q", {}));
    }

    static void ok(event_result what) { CHECK(what == event_result::applied); }
    static std::string name(const char* of, int at) { return of + std::to_string(at); }
    static typename cluster::gang_type gang_of(std::int64_t min_member) {
        typename cluster::gang_type made;
        made.tree = single_role(min_member);
        made.queue = "q";
        return made;
    }
    static typename cluster::pod_type asking(std::int64_t cpus) {
        typename cluster::pod_type made;
        made.request[0] = cpus;
        return made;
    }
    static typename cluster::pod_type running(std::int64_t cpus) {
        typename cluster::pod_type made = asking(cpus);
        made.phase = pod_phase::running;
        return made;
    }
    void add_gang(const std::string& gang, int count, const typename cluster::pod_type& spec) {
        ok(known.upsert_gang(gang, gang_of(count)));
        for (int at = 0; at < count; ++at)
            ok(known.upsert_pod(gang + name("-", at), gang, spec));
        gangs.push_back(gang);
    }
    void forget_all() {
        for (const auto& [key, pod] : known.pod_keys())
            if (known[pod].assumed)
                ok(known.forget(key));
    }

    /// What `what` allocates, once it ran as often as it takes to have all its memory, and to have
    /// learned the thresholds of what is asked: learning allocates.
    template<class What, class Between>
    std::size_t in_steady_state(const What& what, const Between& between) {
        std::size_t sum = 0;
        for (int round = 0; round < 250; ++round) {
            const std::size_t before = allocations;
            what();
            if (round >= 200)
                sum += allocations - before;
            between();
        }
        return sum;
    }
    /// Starts all gangs, one by one.
    void start_all() {
        for (const std::string& gang : gangs)
            muster::start(known, known.find_gang(gang)->index, policy<>{}, {}, result);
    }
    [[nodiscard]] bool all_answered(answer kind, gate at) const {
        for (const std::string& gang : gangs) {
            const last_verdict& last = known[known.find_gang(gang)->index].last;
            if (!last.is_known || last.kind != kind || last.at != at)
                return false;
        }
        return true;
    }
};

TEST_CASE("an allocation is counted") {
    const std::size_t before = allocations;
    const std::vector<int> made(1000);
    CHECK(allocations > before);
}

TEST_CASE_TEMPLATE("a gang that starts costs no allocation", Traits, usual) {
    decided<Traits> in;
    SUBCASE("wherever there is room") {
        for (int at = 0; at < 30; ++at)
            in.add_gang(in.name("g", at), 1 + at % 7, in.asking(1 + at % 5));
    }
    SUBCASE("on selected nodes") {
        for (int at = 0; at < 30; ++at) {
            auto pod = in.asking(1 + at % 5);
            pod.where.selector = {{{"pool", label_operator::in, {std::to_string(at % 3)}}}};
            in.add_gang(in.name("g", at), 1 + at % 7, pod);
        }
    }
    SUBCASE("on preferred nodes") {
        for (int at = 0; at < 30; ++at) {
            auto pod = in.asking(1 + at % 5);
            pod.where.preferred.push_back(
                {5, {{{{"pool", label_operator::in, {std::to_string(at % 3)}}}}, {}}});
            in.add_gang(in.name("g", at), 1 + at % 7, pod);
        }
    }
    const std::size_t allocated =
        in.in_steady_state([&] { in.start_all(); },
                           [&] {
                               CHECK(in.all_answered(answer::admitted, gate::none));
                               in.forget_all();
                           });
    CHECK(allocated == 0);
}

TEST_CASE_TEMPLATE("a gang of two roles that starts costs no allocation", Traits, usual) {
    decided<Traits> in;
    for (int at = 0; at < 20; ++at) {
        const std::string gang = in.name("g", at);
        auto group = in.gang_of(0);
        const vertex_index leader = group.tree.add({}, 1);
        const vertex_index worker = group.tree.add({}, 3);
        in.ok(in.known.upsert_gang(gang, group));
        auto pod = in.asking(5);
        pod.role = leader;
        in.ok(in.known.upsert_pod(gang + "-leader", gang, pod));
        pod = in.asking(2);
        pod.role = worker;
        for (int number = 0; number < 3; ++number)
            in.ok(in.known.upsert_pod(gang + in.name("-", number), gang, pod));
        in.gangs.push_back(gang);
    }
    const std::size_t allocated =
        in.in_steady_state([&] { in.start_all(); },
                           [&] {
                               CHECK(in.all_answered(answer::admitted, gate::none));
                               in.forget_all();
                           });
    CHECK(allocated == 0);
}

TEST_CASE_TEMPLATE("a gang of one role that is refused costs no allocation, proof and all", Traits,
                   usual, splitting) {
    decided<Traits> in;
    answer kind = answer::waiting;
    gate at = gate::space;
    SUBCASE("because it waits for room") {
        for (int number = 0; number < 30; ++number)
            in.add_gang(in.name("g", number), 190, in.asking(7));
    }
    SUBCASE("because it can never start") {
        kind = answer::never;
        for (int number = 0; number < 30; ++number)
            in.add_gang(in.name("g", number), 201, in.asking(8));
    }
    SUBCASE("because it waits for quota") {
        at = gate::quota;
        typename decided<Traits>::cluster::queue_type queue;
        queue.quota.set(kind_id{0}, 210);
        in.ok(in.known.upsert_queue("q", queue));
        for (int number = 0; number < 30; ++number)
            in.add_gang(in.name("g", number), 10, in.asking(2));
    }
    SUBCASE("because it lacks members") {
        at = gate::members;
        for (int number = 0; number < 30; ++number) {
            in.add_gang(in.name("g", number), 2, in.asking(1));
            in.ok(in.known.remove_pod(in.name("g", number) + "-1"));
        }
    }
    const std::size_t allocated =
        in.in_steady_state([&] { in.start_all(); }, [&] { CHECK(in.all_answered(kind, at)); });
    CHECK(allocated == 0);
}

TEST_CASE_TEMPLATE("a cycle over a backlog that cannot start costs no allocation", Traits, usual,
                   splitting) {
    decided<Traits> in;
    for (int at = 0; at < 50; ++at)
        in.add_gang(in.name("g", at), 190, in.asking(7));
    const auto run = [&] { cycle(in.known, 0, policy<>{}, {}, {}, in.result); };
    int turn = 0;
    std::size_t allocated = 1;
    SUBCASE("when nothing happened") {
        allocated =
            in.in_steady_state(run, [&] { CHECK(in.result.decisions.empty() == (turn++ > 0)); });
    }
    SUBCASE("when room came back that is too small") {
        allocated = in.in_steady_state(run, [&] {
            ++turn;
            in.ok(in.known.upsert_pod("r8", "running", in.running(turn % 2 == 0 ? 4 : 3), "n8"));
        });
        CHECK(in.result.counters.asked <= 1);
    }
    SUBCASE("when everybody is asked again") {
        typename decided<Traits>::cluster::queue_type queue;
        allocated = in.in_steady_state(run, [&] {
            queue.priority = ++turn;
            in.ok(in.known.upsert_queue("q", queue));
        });
        CHECK(in.result.counters.asked >= 50);
    }
    SUBCASE("and gangs beside it start and are forgotten") {
        in.add_gang("small", 2, in.asking(2));
        allocated = in.in_steady_state(run, [&] {
            CHECK(in.result.counters.pods_placed == 2);
            in.forget_all();
        });
    }
    CHECK(allocated == 0);
    CHECK(in.known.last_answers().waiting >= 50);
}

/// Nodes of a pool of their own, and gangs of two roles that only they may hold.
template<class Traits>
struct contended : decided<Traits> {
    using cluster = typename decided<Traits>::cluster;

    void add_node(const std::string& key, std::int64_t cpus, std::int64_t gpus = 0,
                  const char* rack = "none") {
        typename cluster::node_type node;
        node.allocatable[0] = cpus;
        node.allocatable[1] = gpus;
        node.labels = {{"pool", "contended"}, {"rack", rack}};
        this->ok(this->known.upsert_node(key, node));
    }
    void add_role(const std::string& gang, vertex_index role, const std::string& name, int count,
                  std::int64_t cpus, std::int64_t gpus = 0) {
        auto pod = this->asking(cpus);
        pod.request[1] = gpus;
        pod.role = role;
        pod.where.selector = {{{"pool", label_operator::in, {"contended"}}}};
        for (int at = 0; at < count; ++at)
            this->ok(this->known.upsert_pod(gang + name + std::to_string(at), gang, pod));
    }
    /// Two servers of 3 and a worker of 5: one after the other they stand in each other's way.
    void add_servers_and_worker(const std::string& gang, bool together) {
        auto group = this->gang_of(0);
        const vertex_index server = group.tree.add({}, 2);
        const vertex_index worker = group.tree.add({}, 1);
        if (together)
            group.tree.constrain_topology(vertex_index{0}, {{{"rack"}}, 0, {}});
        this->ok(this->known.upsert_gang(gang, group));
        add_role(gang, server, "-server-", 2, 3);
        add_role(gang, worker, "-worker-", 1, 5);
        this->gangs.push_back(gang);
    }
    [[nodiscard]] std::size_t starts() {
        return this->in_steady_state([&] { this->start_all(); },
                                     [&] {
                                         CHECK(this->all_answered(answer::admitted, gate::none));
                                         this->forget_all();
                                     });
    }
};

TEST_CASE_TEMPLATE("a gang that the quota stops at a cycle's end costs no allocation", Traits,
                   usual) {
    contended<Traits> in;
    in.add_node("full", 6);
    in.ok(in.known.upsert_pod("stands", "running", in.running(6), "full"));
    typename decided<Traits>::cluster::queue_type queue;
    queue.quota.set(kind_id{0}, 50 * 4 + 6 + 10); // Ten more than runs already.
    in.ok(in.known.upsert_queue("q", queue));
    // Any two of the two kinds of members, which leaves a choice.
    in.ok(in.known.upsert_gang("chooses", in.gang_of(2)));
    in.add_role("chooses", vertex_index{0}, "-small-", 2, 3);
    in.add_role("chooses", vertex_index{0}, "-large-", 2, 5);
    in.add_gang("starts", 2, in.asking(3));
    const std::size_t allocated =
        in.in_steady_state([&] { cycle(in.known, 0, policy<>{}, {}, {}, in.result); },
                           [&] {
                               const last_verdict& last =
                                   in.known[in.known.find_gang("chooses")->index].last;
                               CHECK(last.at == gate::quota);
                               CHECK(in.result.counters.pods_placed == 2);
                               in.forget_all();
                           });
    CHECK(allocated == 0);
}

TEST_CASE_TEMPLATE("gangs held back by a strict order cost no allocation", Traits, usual) {
    decided<Traits> in;
    typename decided<Traits>::cluster::queue_type queue;
    queue.strict_order = true;
    in.ok(in.known.upsert_queue("q", queue));
    in.add_gang("first", 190, in.asking(7));
    for (int at = 0; at < 50; ++at)
        in.add_gang(in.name("g", at), 2, in.asking(1));
    int turn = 0;
    const std::size_t allocated =
        in.in_steady_state([&] { cycle(in.known, 0, policy<>{}, {}, {}, in.result); },
                           [&] {
                               CHECK(in.result.counters.asked == 1);
                               CHECK(in.result.counters.pods_placed == 0);
                               queue.priority = ++turn;
                               in.ok(in.known.upsert_queue("q", queue));
                           });
    CHECK(allocated == 0);
}

TEST_CASE_TEMPLATE("a gang whose place the search finds costs no allocation", Traits, usual) {
    contended<Traits> in;
    in.add_node("five", 5);
    in.add_node("six", 6);
    in.add_servers_and_worker("g", false);
    CHECK(in.starts() == 0);
    CHECK(in.result.counters.search_steps > 0);
}

TEST_CASE_TEMPLATE("a gang that stands together costs no allocation", Traits, usual) {
    contended<Traits> in;
    for (const char* rack : {"left", "middle", "right"})
        for (int at = 0; at < 20; ++at)
            in.add_node(rack + std::to_string(at), 5 + at % 2, 0, rack);
    SUBCASE("placed greedily") {
        for (int at = 0; at < 5; ++at) {
            const std::string gang = in.name("g", at);
            auto group = in.gang_of(4);
            group.tree.constrain_topology(vertex_index{0}, {{{"rack"}}, 0, {}});
            in.ok(in.known.upsert_gang(gang, group));
            in.add_role(gang, vertex_index{0}, "-", 4, 3);
            in.gangs.push_back(gang);
        }
    }
    SUBCASE("by preference") {
        auto group = in.gang_of(30);
        group.tree.constrain_topology(vertex_index{0}, {{{"pool", "rack"}}, 0, 1});
        in.ok(in.known.upsert_gang("g", group));
        in.add_role("g", vertex_index{0}, "-", 35, 3);
        in.gangs.push_back("g");
    }
    CHECK(in.starts() == 0);
}

TEST_CASE_TEMPLATE("a gang that stands together where the search says costs no allocation", Traits,
                   usual) {
    contended<Traits> in;
    in.add_node("l-five", 5, 0, "left");
    in.add_node("m-six", 6, 0, "middle");
    in.add_node("r-five", 5, 0, "right");
    in.add_node("r-six", 6, 0, "right");
    in.add_servers_and_worker("g", true);
    CHECK(in.starts() == 0);
    CHECK(in.result.counters.search_steps > 0);
}

TEST_CASE_TEMPLATE("a gang of two roles that the search refuses costs no allocation, proof and all",
                   Traits, usual) {
    contended<Traits> in;
    answer kind = answer::never;
    in.add_node("a", 8, 4);
    in.add_node("b", 8, 4);
    SUBCASE("because it can never start") {}
    SUBCASE("because it waits for room") {
        kind = answer::waiting;
        in.add_node("c", 8, 4);
        in.ok(in.known.upsert_pod("stands", "running", in.running(8), "c"));
    }
    auto group = in.gang_of(0);
    const vertex_index server = group.tree.add({}, 1);
    const vertex_index worker = group.tree.add({}, 2);
    in.ok(in.known.upsert_gang("g", group));
    in.add_role("g", server, "-server-", 1, 6);
    in.add_role("g", worker, "-worker-", 2, 4, 3);
    in.gangs.push_back("g");
    const std::size_t allocated = in.in_steady_state(
        [&] { in.start_all(); }, [&] { CHECK(in.all_answered(kind, gate::space)); });
    CHECK(allocated == 0);
    CHECK(in.result.decisions.front().outcome.proof.has_value());
}

TEST_CASE_TEMPLATE(
    "a gang refused domain by domain costs no allocation, for a proof of several vertices either",
    Traits, usual) {
    contended<Traits> in;
    answer kind = answer::never;
    for (const char* rack : {"left", "middle", "right"})
        for (int at = 0; at < 2; ++at)
            in.add_node(rack + std::to_string(at), 5, 0, rack);
    SUBCASE("because it can never start") {}
    SUBCASE("because it waits for room") {
        kind = answer::waiting;
        for (int at = 2; at < 4; ++at) {
            in.add_node("right" + std::to_string(at), 5, 0, "right");
            in.ok(in.known.upsert_pod(in.name("stands", at), "running", in.running(5),
                                      "right" + std::to_string(at)));
        }
    }
    // As many domains make a proof as large as that of another gang, or not.
    for (const std::int64_t level : {0, 1}) {
        const std::string gang = in.name("g", static_cast<int>(level));
        auto group = in.gang_of(4);
        group.tree.constrain_topology(vertex_index{0},
                                      {level == 0 ? topology{{"rack"}} : topology{{"pool", "rack"}},
                                       static_cast<std::size_t>(level),
                                       {}});
        in.ok(in.known.upsert_gang(gang, group));
        in.add_role(gang, vertex_index{0}, "-", 4, 3);
        in.gangs.push_back(gang);
    }
    const std::size_t allocated = in.in_steady_state(
        [&] { in.start_all(); }, [&] { CHECK(in.all_answered(kind, gate::space)); });
    CHECK(allocated == 0);
    CHECK(in.result.decisions.front().outcome.proof->vertices.size() > 1);
}

TEST_CASE_TEMPLATE("a gang that may choose among its subgroups costs no allocation", Traits,
                   usual) {
    contended<Traits> in;
    // One of two groups, of two servers of 3 and a worker of 5 each.
    auto group = in.gang_of(0);
    std::vector<vertex_index> groups;
    std::vector<vertex_index> servers;
    std::vector<vertex_index> workers;
    for (int at = 0; at < 2; ++at) {
        groups.push_back(group.tree.add({}, 0));
        servers.push_back(group.tree.add(groups.back(), 2));
        workers.push_back(group.tree.add(groups.back(), 1));
    }
    group.tree.require_subgroups({}, 1);
    int placed = 3;
    // The other group's members ask for gpus instead, so that the first leaves it its nodes.
    bool others = false;
    const auto add_fives_and_sixes = [&] {
        others = true;
        placed = 6;
        for (const std::int64_t cpus : {5, 6}) {
            in.add_node(in.name("cpus", static_cast<int>(cpus)), cpus, 0);
            in.add_node(in.name("gpus", static_cast<int>(cpus)), 0, cpus);
        }
    };
    SUBCASE("placed one by one") {
        for (int at = 0; at < 3; ++at)
            in.add_node(in.name("wide", at), 6);
    }
    SUBCASE("placed where the search says") {
        in.add_node("five", 5);
        in.add_node("six", 6);
    }
    SUBCASE("and the other is surplus that the search places") {
        add_fives_and_sixes();
    }
    SUBCASE("and the other is surplus that the search places in a domain") {
        group.tree.constrain_topology({}, {{{"rack"}}, 0, {}});
        add_fives_and_sixes();
    }
    SUBCASE("and finds room for neither") {
        placed = 0;
        in.add_node("a", 5);
        in.add_node("b", 5);
    }
    in.ok(in.known.upsert_gang("g", group));
    for (std::size_t at = 0; at < 2; ++at) {
        const bool gpus = others && at == 1;
        in.add_role("g", servers[at], in.name("-server-", static_cast<int>(at)), 2, gpus ? 0 : 3,
                    gpus ? 3 : 0);
        in.add_role("g", workers[at], in.name("-worker-", static_cast<int>(at)), 1, gpus ? 0 : 5,
                    gpus ? 5 : 0);
    }
    in.gangs.push_back("g");
    const std::size_t allocated =
        in.in_steady_state([&] { in.start_all(); },
                           [&] {
                               CHECK(in.all_answered(placed > 0 ? answer::admitted : answer::never,
                                                     placed > 0 ? gate::none : gate::space));
                               CHECK(in.known.last_answers().waiting == 0);
                               int standing = 0;
                               for (const auto& [key, pod] : in.known.pod_keys())
                                   standing += in.known[pod].assumed ? 1 : 0;
                               CHECK(standing == placed);
                               in.forget_all();
                           });
    CHECK(allocated == 0);
}

TEST_CASE_TEMPLATE("a gang among pods with terms costs no allocation", Traits, usual) {
    contended<Traits> in;
    const pod_selector web{{{{"app", label_operator::in, {"web"}}}}, {}};
    const pod_selector db{{{{"app", label_operator::in, {"db"}}}}, {}};
    for (int at = 0; at < 12; ++at)
        in.add_node(in.name("c", at), 8, 0, at % 2 == 0 ? "left" : "right");
    auto stands = in.running(1);
    stands.labels = {{"app", "db"}};
    in.ok(in.known.upsert_gang("stands", in.gang_of(1)));
    in.ok(in.known.upsert_pod("stands", "stands", stands, "c0"));
    auto pod = in.asking(1);
    pod.labels = {{"app", "web"}};
    pod.where.selector = {{{"pool", label_operator::in, {"contended"}}}};
    pod.where.pods.emplace();
    pod_terms& terms = *pod.where.pods;
    int members = 4;
    answer kind = answer::admitted;
    gate at = gate::none;
    SUBCASE("that keeps apart") {
        terms.anti_affinity = {{db, "rack"}};
    }
    SUBCASE("that seeks company") {
        terms.affinity = {{db, "rack"}};
    }
    SUBCASE("that spreads out") {
        terms.spread = {{web, "rack"}};
    }
    SUBCASE("that only wishes") {
        terms.preferred = {{7, {db, "rack"}}};
        terms.spread = {{web, "rack", 1, 1, false}};
    }
    SUBCASE("refused by what the terms come to on each node") {
        terms.anti_affinity = {{web, "none"}, {db, "pool"}};
        kind = answer::waiting;
    }
    SUBCASE("refused for good") {
        terms.anti_affinity = {{web, "rack"}};
        members = 13;
        kind = answer::never;
    }
    SUBCASE("undecided after all orders and going back") {
        terms.anti_affinity = {{web, "rack"}};
        terms.affinity = {{db, "pool"}};
        members = 3;
        kind = answer::undecided;
    }
    if (kind != answer::admitted)
        at = gate::space;
    in.add_gang("g", members, pod);
    const std::size_t allocated = in.in_steady_state([&] { in.start_all(); },
                                                     [&] {
                                                         CHECK(in.all_answered(kind, at));
                                                         in.forget_all();
                                                     });
    CHECK(allocated == 0);
}

TEST_CASE_TEMPLATE("a gang for which others are evicted costs no allocation", Traits, usual) {
    contended<Traits> in;
    for (int at = 0; at < 4; ++at) {
        const std::string key = in.name("c", at);
        in.add_node(key, 8);
        in.ok(in.known.upsert_gang(key, in.gang_of(1)));
        in.ok(in.known.upsert_pod(key, key, in.running(6), key));
    }
    auto group = in.gang_of(2);
    group.priority = 9;
    in.ok(in.known.upsert_gang("g", group));
    in.add_role("g", vertex_index{0}, "-", 2, 5);
    const policy how{
        best_fit{},        priority_then_age{}, priority_then_share{},    no_reservations{},
        surplus_at_once{}, most_packed{},       priority_preemption{true}};
    const std::size_t allocated =
        in.in_steady_state([&] { cycle(in.known, 0, how, {}, {}, in.result); },
                           [&] {
                               CHECK(in.result.counters.pods_evicted == 2);
                               for (int at = 0; at < 2; ++at)
                                   in.ok(in.known.forget(in.name("g-", at)));
                               for (int at = 0; at < 4; ++at)
                                   if (in.known[in.known.find_pod(in.name("c", at))->index].evicted)
                                       in.ok(in.known.keep(in.name("c", at)));
                           });
    CHECK(allocated == 0);
}

} // namespace
