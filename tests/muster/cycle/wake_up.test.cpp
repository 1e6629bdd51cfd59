// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <muster/cycle/cycle.hpp>
#include <support/world.hpp>

namespace cycle_wake_up_test {

namespace {

using namespace muster;

using names = std::vector<std::string>;
using usual = string_traits<3>;
/// With an index that splits and learns all the time.
using splitting = testing::world_traits;

/// A cluster whose crowd waits whatever the tests do: for room on 70 nodes that have 1 left, for
/// GPUs that nobody has, for members, for a queue. What the tests are about stands on
/// nodes of its own, and asks for more than 1.
template<class Traits>
struct backlog {
    using cluster = state<Traits>;
    using node_type = typename cluster::node_type;
    using pod_type = typename cluster::pod_type;
    using gang_type = typename cluster::gang_type;
    using queue_type = typename cluster::queue_type;

    cluster known;
    cycle_result result;

    backlog() {
        node_type crowded = machine(10);
        crowded.labels = {{"pool", "crowd"}};
        ok(known.upsert_gang("running", gang_of(1)));
        for (int at = 0; at < 70; ++at) {
            const std::string node = "crowd-" + std::to_string(at);
            ok(known.upsert_node(node, crowded));
            ok(known.upsert_pod("on-" + node, "running", in_phase(pod_phase::running, asking(9)),
                                node));
        }
        ok(known.upsert_node("tiny", machine(1)));
        add_running("tiny-one", 1, "tiny");

        pod_type crowd = asking(5);
        crowd.where.selector = label_is("pool", "crowd");
        ok(known.upsert_gang("w-room", gang_of(2)));
        add_members("w-room", 2, crowd);
        gang_type two = gang_of(0);
        const vertex_index first = two.tree.add({}, 1);
        const vertex_index second = two.tree.add({}, 2);
        ok(known.upsert_gang("w-two-roles", two));
        crowd.role = first;
        ok(known.upsert_pod("w-two-roles-first", "w-two-roles", crowd));
        crowd.role = second;
        add_members("w-two-roles", 2, crowd);
        crowd.role = {};
        crowd.request = asking(11).request;
        ok(known.upsert_gang("w-never", gang_of(1)));
        add_members("w-never", 1, crowd);
        ok(known.upsert_gang("w-gpu", gang_of(1)));
        add_members("w-gpu", 1, asking(1, 2));
        ok(known.upsert_gang("w-few", gang_of(2)));
        add_members("w-few", 1, asking(1));
        add_gang("w-no-queue", 1, 1, "nowhere");
    }

    static void ok(event_result what) { CHECK(what == event_result::applied); }
    static node_type machine(std::int64_t cpus, std::int64_t gpus = 0) {
        node_type made;
        made.allocatable[0] = cpus;
        made.allocatable[1] = gpus;
        return made;
    }
    static pod_type asking(std::int64_t cpus, std::int64_t gpus = 0) {
        pod_type made;
        made.request[0] = cpus;
        made.request[1] = gpus;
        return made;
    }
    static pod_type in_phase(pod_phase phase, pod_type spec) {
        spec.phase = phase;
        return spec;
    }
    static gang_type gang_of(std::int64_t min_member, std::optional<std::string> queue = {}) {
        gang_type made;
        made.tree = single_role(min_member);
        made.queue = std::move(queue);
        return made;
    }
    static queue_type quota_of(std::int64_t cpus) {
        queue_type made;
        made.quota.set(kind_id{0}, cpus);
        return made;
    }
    static label_selector label_is(std::string key, std::string value) {
        return {{{std::move(key), label_operator::in, {std::move(value)}}}};
    }
    void add_members(const std::string& gang, int count, const pod_type& spec) {
        for (int at = 0; at < count; ++at)
            ok(known.upsert_pod(gang + "-" + std::to_string(at), gang, spec));
    }
    void add_gang(const std::string& name, int count, std::int64_t cpus,
                  std::optional<std::string> queue = {}) {
        ok(known.upsert_gang(name, gang_of(count, std::move(queue))));
        add_members(name, count, asking(cpus));
    }
    void add_running(const std::string& name, std::int64_t cpus, const std::string& node,
                     std::optional<std::string> queue = {}) {
        ok(known.upsert_gang(name, gang_of(1, std::move(queue))));
        ok(known.upsert_pod(name + "-0", name, in_phase(pod_phase::running, asking(cpus)), node));
    }
    /// A gang of one that goes altogether, so that nobody but those who wait may be asked.
    void vanish(const std::string& name) {
        ok(known.remove_gang(name));
        ok(known.remove_pod(name + "-0"));
    }
    /// A node of 4, of which 3 are in use.
    void add_busy_node() {
        ok(known.upsert_node("n", machine(4)));
        add_running("r", 3, "n");
    }

    names run() {
        cycle(known, 0, policy<>{}, {}, {}, result);
        names started;
        for (const decision& made : result.decisions)
            if (!made.placements.empty())
                started.push_back(known.key(made.gang));
        return started;
    }
    [[nodiscard]] bool answered(const std::string& gang, answer kind, gate at) const {
        const auto found = known.find_gang(gang);
        return found && known[found->index].last.is_known &&
               known[found->index].last.kind == kind && known[found->index].last.at == at;
    }
    [[nodiscard]] const decision* told(const std::string& gang) const {
        for (const decision& made : result.decisions)
            if (known.key(made.gang) == gang)
                return &made;
        return nullptr;
    }

    /// The gang waits, and when something happens that cannot help it, it is not asked.
    void refuse(answer kind, gate at, bool claims_port = false) {
        CHECK(run() == names{});
        CHECK(answered("g", kind, at));
        vanish("tiny-one");
        CHECK(run() == names{});
        // Who waits for quota, or claims a port, is asked whatever was given back.
        CHECK(result.counters.asked <= (at == gate::quota || claims_port ? 1U : 0U));
        CHECK(answered("g", kind, at));
    }
    void start() {
        CHECK(run() == names{"g"});
        CHECK(answered("g", answer::admitted, gate::none));
        CHECK(run() == names{});
        CHECK(result.counters.asked == 0);
    }
};

// ---- room that is given back -------------------------------------------------------------------

TEST_CASE_TEMPLATE("a pod that is removed lets a gang start in its room", Traits, usual,
                   splitting) {
    backlog<Traits> in;
    in.add_busy_node();
    in.add_gang("g", 1, 2);
    in.refuse(answer::waiting, gate::space);
    in.ok(in.known.remove_pod("r-0"));
    in.start();
}

TEST_CASE_TEMPLATE("a pod that succeeded or failed lets a gang start in its room", Traits, usual,
                   splitting) {
    for (const pod_phase ended : {pod_phase::succeeded, pod_phase::failed}) {
        backlog<Traits> in;
        in.add_busy_node();
        in.add_gang("g", 1, 2);
        in.refuse(answer::waiting, gate::space);
        in.ok(in.known.upsert_pod("r-0", "r", in.in_phase(ended, in.asking(3)), "n"));
        in.start();
    }
}

TEST_CASE_TEMPLATE("a pod that asks for less lets a gang start beside it", Traits, usual,
                   splitting) {
    backlog<Traits> in;
    in.add_busy_node();
    in.add_gang("g", 1, 2);
    in.refuse(answer::waiting, gate::space);
    in.ok(in.known.upsert_pod("r-0", "r", in.in_phase(pod_phase::running, in.asking(2)), "n"));
    in.start();
}

TEST_CASE_TEMPLATE("a bind that failed lets another gang start in its room", Traits, usual,
                   splitting) {
    backlog<Traits> in;
    in.ok(in.known.upsert_node("n", in.machine(4)));
    in.add_gang("a", 1, 3);
    CHECK(in.run() == names{"a"});
    in.add_gang("g", 1, 2);
    in.refuse(answer::waiting, gate::space);
    in.ok(in.known.upsert_gang("a", in.gang_of(2)));
    in.ok(in.known.forget("a-0"));
    in.start();
}

TEST_CASE_TEMPLATE("a gang that finished lets another start in its room", Traits, usual,
                   splitting) {
    for (const bool by_handle : {false, true}) {
        backlog<Traits> in;
        in.ok(in.known.upsert_node("n", in.machine(4)));
        in.add_gang("a", 2, 2);
        CHECK(in.run() == names{"a"});
        in.add_gang("g", 2, 2);
        in.refuse(answer::waiting, gate::space);
        in.ok(by_handle ? in.known.finish_gang(*in.known.find_gang("a"))
                        : in.known.finish_gang("a"));
        in.start();
    }
}

TEST_CASE_TEMPLATE("room that comes back bit by bit starts a gang when it is enough, and asks it "
                   "not before",
                   Traits, usual, splitting) {
    backlog<Traits> in;
    for (int at = 0; at < 3; ++at) {
        const std::string node = "n" + std::to_string(at);
        in.ok(in.known.upsert_node(node, in.machine(4)));
        in.add_running("r" + std::to_string(at), 3, node);
    }
    in.add_gang("g", 3, 4);
    in.refuse(answer::waiting, gate::space);
    for (const char* gone : {"r0", "r1"}) {
        in.vanish(gone);
        CHECK(in.run() == names{});
        CHECK(in.result.counters.asked == 0);
    }
    in.ok(in.known.remove_pod("r2-0"));
    in.start();
}

TEST_CASE_TEMPLATE("room that comes back and is taken by another in the same cycle starts nobody "
                   "else, and the next room does",
                   Traits, usual, splitting) {
    backlog<Traits> in;
    in.add_busy_node();
    in.add_gang("g", 1, 3);
    in.refuse(answer::waiting, gate::space);
    auto first = in.gang_of(1);
    first.priority = 9;
    in.ok(in.known.upsert_gang("first", first));
    in.add_members("first", 1, in.asking(2));
    in.ok(in.known.remove_pod("r-0"));
    CHECK(in.run() == names{"first"});
    CHECK(in.answered("g", answer::waiting, gate::space));
    in.ok(in.known.remove_pod("first-0"));
    in.start();
}

/// A gang that claims a port which is taken on the only node that is large enough for it.
template<class Traits>
void add_port_waiter(backlog<Traits>& in, typename backlog<Traits>::pod_type holder) {
    auto web = in.asking(2);
    web.where.claims.ports.push_back({"TCP", "", 80});
    holder.phase = pod_phase::running;
    holder.where = web.where;
    in.ok(in.known.upsert_node("n", in.machine(8)));
    in.ok(in.known.upsert_gang("r", in.gang_of(1)));
    in.ok(in.known.upsert_pod("r-0", "r", holder, "n"));
    in.ok(in.known.upsert_gang("g", in.gang_of(1)));
    in.add_members("g", 1, web);
    in.refuse(answer::waiting, gate::space, true);
}

TEST_CASE_TEMPLATE("a port that is given back with its pod's room lets a gang start that claims it",
                   Traits, usual, splitting) {
    backlog<Traits> in;
    add_port_waiter(in, in.asking(2));
    in.ok(in.known.remove_pod("r-0"));
    in.start();
}

TEST_CASE_TEMPLATE("a port that is given back by a pod that asked for nothing else lets a gang "
                   "start that claims it",
                   Traits, usual, splitting) {
    backlog<Traits> in;
    add_port_waiter(in, in.asking(0));
    in.ok(in.known.remove_pod("r-0"));
    in.start();
}

TEST_CASE_TEMPLATE("a port that is given back by a pod that stays lets a gang start that claims it",
                   Traits, usual, splitting) {
    for (const std::int64_t now_asked : {2, 3}) {
        backlog<Traits> in;
        add_port_waiter(in, in.asking(2));
        in.ok(in.known.upsert_pod("r-0", "r", in.in_phase(pod_phase::running, in.asking(now_asked)),
                                  "n"));
        in.start();
    }
}

TEST_CASE_TEMPLATE("a port that is given back with room that is taken at once lets a gang start "
                   "that claims it",
                   Traits, usual, splitting) {
    backlog<Traits> in;
    add_port_waiter(in, in.asking(2));
    in.ok(in.known.remove_pod("r-0"));
    in.add_running("s", 2, "n");
    in.start();
}

// ---- nodes -------------------------------------------------------------------------------------

TEST_CASE_TEMPLATE("a node that comes lets a gang start there", Traits, usual, splitting) {
    // Of a size that is known, of a new one, and before all others in the order of keys.
    for (const auto& [node, cpus] : {std::pair("n", 2), std::pair("n", 1000), std::pair("a", 3)}) {
        backlog<Traits> in;
        in.add_gang("g", 1, 2);
        in.refuse(answer::waiting, gate::space);
        in.ok(in.known.upsert_node(node, in.machine(cpus)));
        in.start();
    }
}

TEST_CASE_TEMPLATE("a node that comes back lets a gang start there", Traits, usual, splitting) {
    backlog<Traits> in;
    auto pod = in.asking(2);
    pod.where.selector = in.label_is("pool", "mine");
    auto node = in.machine(4);
    node.labels = {{"pool", "mine"}};
    in.ok(in.known.upsert_node("n", node));
    in.ok(in.known.remove_node("n"));
    in.ok(in.known.upsert_gang("g", in.gang_of(1)));
    in.add_members("g", 1, pod);
    in.refuse(answer::never, gate::space);
    in.ok(in.known.upsert_node("n", node));
    in.start();
}

TEST_CASE_TEMPLATE("a node that grows lets a gang start there", Traits, usual, splitting) {
    for (const std::int64_t grown : {5, 1000}) {
        backlog<Traits> in;
        in.add_busy_node();
        in.add_gang("g", 1, 2);
        in.refuse(answer::waiting, gate::space);
        in.ok(in.known.upsert_node("n", in.machine(grown)));
        in.start();
    }
}

TEST_CASE_TEMPLATE("a node that grows lets a gang start that never could", Traits, usual,
                   splitting) {
    backlog<Traits> in;
    in.ok(in.known.upsert_node("n", in.machine(4)));
    in.add_gang("g", 1, 12);
    in.refuse(answer::never, gate::space);
    in.ok(in.known.upsert_node("n", in.machine(12)));
    in.start();
}

TEST_CASE_TEMPLATE("a node that is uncordoned lets a gang start there", Traits, usual, splitting) {
    backlog<Traits> in;
    auto node = in.machine(4);
    node.unschedulable = true;
    in.ok(in.known.upsert_node("n", node));
    in.add_gang("g", 1, 2);
    in.refuse(answer::waiting, gate::space);
    node.unschedulable = false;
    in.ok(in.known.upsert_node("n", node));
    in.start();
}

TEST_CASE_TEMPLATE("a node that gets the label that a gang asks for lets it start there", Traits,
                   usual, splitting) {
    backlog<Traits> in;
    in.ok(in.known.upsert_node("n", in.machine(4)));
    auto pod = in.asking(2);
    pod.where.selector = in.label_is("zone", "a");
    in.ok(in.known.upsert_gang("g", in.gang_of(1)));
    in.add_members("g", 1, pod);
    in.refuse(answer::never, gate::space);
    auto node = in.machine(4);
    node.labels = {{"zone", "a"}};
    in.ok(in.known.upsert_node("n", node));
    in.start();
}

TEST_CASE_TEMPLATE("a node that loses a taint lets a gang start there", Traits, usual, splitting) {
    for (const char* key : {"mine", "node.kubernetes.io/not-ready"}) {
        backlog<Traits> in;
        auto node = in.machine(4);
        node.taints.push_back({key, "", taint_effect::no_schedule});
        in.ok(in.known.upsert_node("n", node));
        in.add_gang("g", 1, 2);
        in.refuse(answer::waiting, gate::space);
        in.ok(in.known.upsert_node("n", in.machine(4)));
        in.start();
    }
}

// ---- queues ------------------------------------------------------------------------------------

TEST_CASE_TEMPLATE("a quota that is raised lets a gang start that never could", Traits, usual,
                   splitting) {
    backlog<Traits> in;
    in.ok(in.known.upsert_node("n", in.machine(9)));
    in.ok(in.known.upsert_queue("q", in.quota_of(1)));
    in.add_gang("g", 1, 2, "q");
    in.refuse(answer::never, gate::quota);
    in.ok(in.known.upsert_queue("q", in.quota_of(2)));
    in.start();
}

TEST_CASE_TEMPLATE("a quota that is raised over its use lets a gang start", Traits, usual,
                   splitting) {
    backlog<Traits> in;
    in.ok(in.known.upsert_node("n", in.machine(9)));
    in.ok(in.known.upsert_queue("q", in.quota_of(4)));
    in.add_running("r", 3, "n", "q");
    in.add_gang("g", 1, 2, "q");
    CHECK(in.run() == names{});
    CHECK(in.answered("g", answer::waiting, gate::quota));
    in.ok(in.known.upsert_queue("q", in.quota_of(5)));
    in.start();
}

TEST_CASE_TEMPLATE("quota that another gang of the queue gives back lets a gang start", Traits,
                   usual, splitting) {
    backlog<Traits> in;
    in.ok(in.known.upsert_node("n", in.machine(9)));
    in.ok(in.known.upsert_queue("q", in.quota_of(4)));
    in.add_running("r", 3, "n", "q");
    in.add_gang("g", 1, 2, "q");
    CHECK(in.run() == names{});
    CHECK(in.answered("g", answer::waiting, gate::quota));
    SUBCASE("whose pod is removed") {
        in.ok(in.known.remove_pod("r-0"));
    }
    SUBCASE("whose pod ended") {
        in.ok(
            in.known.upsert_pod("r-0", "r", in.in_phase(pod_phase::succeeded, in.asking(3)), "n"));
    }
    SUBCASE("that finished") {
        in.ok(in.known.finish_gang("r"));
    }
    SUBCASE("that moved to another queue") {
        in.ok(in.known.upsert_queue("other", {}));
        in.ok(in.known.upsert_gang("r", in.gang_of(1, "other")));
    }
    SUBCASE("that left all queues") {
        in.ok(in.known.upsert_gang("r", in.gang_of(1)));
    }
    SUBCASE("whose group is removed") {
        in.ok(in.known.remove_gang("r"));
    }
    in.start();
}

/// Queues "q" and "sibling" below "root", whose ceiling of 4 the sibling has used up to 3, and a
/// gang in "q" that asks for 2.
template<class Traits>
struct queue_family : backlog<Traits> {
    using in = backlog<Traits>;
    explicit queue_family(std::int64_t ceiling = 4) {
        in::ok(in::known.upsert_node("n", in::machine(9)));
        in::ok(in::known.upsert_queue("root", in::quota_of(ceiling)));
        in::ok(in::known.upsert_queue("middle", {}, "root"));
        in::ok(in::known.upsert_queue("q", {}, "middle"));
        in::ok(in::known.upsert_queue("sibling", {}, "root"));
        in::add_running("r", 3, "n", "sibling");
        in::add_gang("g", 1, 2, "q");
        CHECK(in::run() == names{});
        CHECK(in::answered("g", ceiling < 2 ? answer::never : answer::waiting, gate::quota));
    }
};

TEST_CASE_TEMPLATE("a ceiling anywhere above that gives way lets a gang start", Traits, usual,
                   splitting) {
    queue_family<Traits> in;
    SUBCASE("because it is raised") {
        in.ok(in.known.upsert_queue("root", in.quota_of(5)));
    }
    SUBCASE("because its queue goes") {
        in.ok(in.known.remove_queue("root"));
    }
    SUBCASE("because a queue below it leaves it") {
        in.ok(in.known.upsert_queue("middle", {}));
    }
    SUBCASE("because the gang's queue leaves it") {
        in.ok(in.known.upsert_queue("q", {}, "elsewhere"));
    }
    SUBCASE("because the gang leaves its queue") {
        in.ok(in.known.upsert_queue("other", {}));
        in.ok(in.known.upsert_gang("g", in.gang_of(1, "other")));
    }
    SUBCASE("because the gang's queue is guaranteed as much, which takes from nobody") {
        auto queue = in.quota_of(9);
        queue.guarantee[0] = 2;
        in.ok(in.known.upsert_queue("middle", queue, "root"));
    }
    in.start();
}

TEST_CASE_TEMPLATE("a ceiling above that was too low for a gang ever, raised, lets it start",
                   Traits, usual, splitting) {
    queue_family<Traits> in(1);
    in.ok(in.known.upsert_queue("root", in.quota_of(5)));
    in.start();
}

TEST_CASE_TEMPLATE("what another queue gives back under a common ceiling lets a gang start", Traits,
                   usual, splitting) {
    queue_family<Traits> in;
    SUBCASE("a pod is removed") {
        in.ok(in.known.remove_pod("r-0"));
    }
    SUBCASE("a pod ended") {
        in.ok(
            in.known.upsert_pod("r-0", "r", in.in_phase(pod_phase::succeeded, in.asking(3)), "n"));
    }
    SUBCASE("a gang finished") {
        in.ok(in.known.finish_gang("r"));
    }
    SUBCASE("a gang moved to a queue elsewhere") {
        in.ok(in.known.upsert_queue("other", {}));
        in.ok(in.known.upsert_gang("r", in.gang_of(1, "other")));
    }
    SUBCASE("the queue moved elsewhere") {
        in.ok(in.known.upsert_queue("sibling", {}, "elsewhere"));
    }
    SUBCASE("the queue is removed, and what it held is nobody's") {
        in.ok(in.known.remove_queue("sibling"));
    }
    in.start();
}

TEST_CASE_TEMPLATE("a guarantee given up by another queue lets a gang start", Traits, usual,
                   splitting) {
    backlog<Traits> in;
    in.ok(in.known.upsert_node("n", in.machine(9)));
    in.ok(in.known.upsert_queue("root", in.quota_of(4)));
    in.ok(in.known.upsert_queue("q", {}, "root"));
    auto kept = in.quota_of(9);
    kept.guarantee[0] = 3;
    in.ok(in.known.upsert_queue("sibling", kept, "root"));
    in.add_gang("g", 1, 2, "q");
    in.refuse(answer::never, gate::quota);
    SUBCASE("in part") {
        kept.guarantee[0] = 2;
        in.ok(in.known.upsert_queue("sibling", kept, "root"));
    }
    SUBCASE("by leaving") {
        in.ok(in.known.upsert_queue("sibling", kept));
    }
    SUBCASE("by going") {
        in.ok(in.known.remove_queue("sibling"));
    }
    in.start();
}

TEST_CASE_TEMPLATE("a queue above that opens lets a gang start", Traits, usual, splitting) {
    backlog<Traits> in;
    in.ok(in.known.upsert_node("n", in.machine(9)));
    auto above = in.quota_of(9);
    above.closed = true;
    in.ok(in.known.upsert_queue("root", above));
    in.ok(in.known.upsert_queue("q", {}, "root"));
    in.add_gang("g", 1, 2, "q");
    in.refuse(answer::waiting, gate::queue);
    SUBCASE("because it says so") {
        above.closed = false;
        in.ok(in.known.upsert_queue("root", above));
    }
    SUBCASE("because it goes") {
        in.ok(in.known.remove_queue("root"));
    }
    SUBCASE("because the gang's queue leaves it") {
        in.ok(in.known.upsert_queue("q", {}));
    }
    in.start();
}

TEST_CASE_TEMPLATE("a queue above that allows other nodes lets a gang start there", Traits, usual,
                   splitting) {
    backlog<Traits> in;
    auto node = in.machine(4);
    node.labels = {{"zone", "b"}};
    in.ok(in.known.upsert_node("n", node));
    auto above = in.quota_of(9);
    above.nodes = in.label_is("zone", "a");
    in.ok(in.known.upsert_queue("root", above));
    in.ok(in.known.upsert_queue("q", {}, "root"));
    in.add_gang("g", 1, 2, "q");
    in.refuse(answer::never, gate::space);
    SUBCASE("because it says so") {
        above.nodes = in.label_is("zone", "b");
        in.ok(in.known.upsert_queue("root", above));
    }
    SUBCASE("because it goes") {
        in.ok(in.known.remove_queue("root"));
    }
    SUBCASE("because the gang's queue leaves it") {
        in.ok(in.known.upsert_queue("q", {}));
    }
    in.start();
}

TEST_CASE_TEMPLATE("a gang that waits for room stands at the quota once another queue used up a "
                   "common ceiling, and starts when that is given back",
                   Traits, usual, splitting) {
    backlog<Traits> in;
    in.ok(in.known.upsert_node("n", in.machine(4)));
    in.ok(in.known.upsert_queue("root", in.quota_of(6)));
    in.ok(in.known.upsert_queue("a", {}, "root"));
    in.ok(in.known.upsert_queue("b", {}, "root"));
    in.add_running("r", 3, "n");
    in.add_gang("g", 1, 4, "a");
    CHECK(in.run() == names{});
    CHECK(in.answered("g", answer::waiting, gate::space));
    SUBCASE("by a gang that starts") {
        in.ok(in.known.upsert_node("m", in.machine(3)));
        in.add_gang("h", 1, 3, "b");
        CHECK(in.run() == names{"h"});
    }
    SUBCASE("by a pod that is seen") {
        in.add_running("h", 3, "unknown", "b");
        CHECK(in.run() == names{});
    }
    SUBCASE("by a gang that moves there") {
        in.add_running("h", 3, "unknown");
        CHECK(in.run() == names{});
        CHECK(in.answered("g", answer::waiting, gate::space));
        in.ok(in.known.upsert_gang("h", in.gang_of(1, "b")));
        CHECK(in.run() == names{});
    }
    CHECK(in.answered("g", answer::waiting, gate::quota));
    in.ok(in.known.remove_pod("r-0"));
    CHECK(in.run() == names{});
    CHECK(in.answered("g", answer::waiting, gate::quota));
    in.ok(in.known.remove_pod("h-0"));
    in.start();
}

TEST_CASE_TEMPLATE("a gang of two roles that a used up quota stopped while it found no room stands "
                   "at space again once the quota is given back",
                   Traits, usual, splitting) {
    backlog<Traits> in;
    in.ok(in.known.upsert_node("n", in.machine(6)));
    in.ok(in.known.upsert_queue("q", in.quota_of(8)));
    in.add_running("r", 3, "n");
    auto gang = in.gang_of(0, "q");
    const auto first = gang.tree.add(vertex_index{0}, 1);
    const auto second = gang.tree.add(vertex_index{0}, 1);
    in.ok(in.known.upsert_gang("g", gang));
    auto pod = in.asking(2);
    pod.role = first;
    in.ok(in.known.upsert_pod("g-0", "g", pod));
    pod = in.asking(3);
    pod.role = second;
    in.ok(in.known.upsert_pod("g-1", "g", pod));
    CHECK(in.run() == names{});
    CHECK(in.answered("g", answer::waiting, gate::space));
    in.add_running("h", 4, "unknown", "q");
    CHECK(in.run() == names{});
    CHECK(in.answered("g", answer::waiting, gate::quota));
    in.vanish("h");
    CHECK(in.run() == names{});
    CHECK(in.answered("g", answer::waiting, gate::space));
    in.ok(in.known.remove_pod("r-0"));
    in.start();
}

TEST_CASE_TEMPLATE("quota given back on a node that is not known lets a gang start", Traits, usual,
                   splitting) {
    backlog<Traits> in;
    in.ok(in.known.upsert_node("n", in.machine(9)));
    in.ok(in.known.upsert_queue("q", in.quota_of(4)));
    in.add_running("r", 3, "unknown", "q");
    in.add_gang("g", 1, 2, "q");
    CHECK(in.run() == names{});
    CHECK(in.answered("g", answer::waiting, gate::quota));
    in.ok(in.known.remove_pod("r-0"));
    in.start();
}

TEST_CASE_TEMPLATE("a queue that opens lets a gang start", Traits, usual, splitting) {
    backlog<Traits> in;
    in.ok(in.known.upsert_node("n", in.machine(9)));
    auto queue = in.quota_of(9);
    queue.closed = true;
    in.ok(in.known.upsert_queue("q", queue));
    in.add_gang("g", 1, 2, "q");
    in.refuse(answer::waiting, gate::queue);
    queue.closed = false;
    in.ok(in.known.upsert_queue("q", queue));
    in.start();
}

TEST_CASE_TEMPLATE("a queue that selects other nodes lets a gang start there", Traits, usual,
                   splitting) {
    backlog<Traits> in;
    auto node = in.machine(4);
    node.labels = {{"zone", "b"}};
    in.ok(in.known.upsert_node("n", node));
    auto queue = in.quota_of(9);
    queue.nodes = in.label_is("zone", "a");
    in.ok(in.known.upsert_queue("q", queue));
    in.add_gang("g", 1, 2, "q");
    in.refuse(answer::never, gate::space);
    SUBCASE("by another selector") {
        queue.nodes = in.label_is("zone", "b");
    }
    SUBCASE("by none") {
        queue.nodes = {};
    }
    in.ok(in.known.upsert_queue("q", queue));
    in.start();
}

TEST_CASE_TEMPLATE("a node that gets the label that a queue selects lets its gang start", Traits,
                   usual, splitting) {
    backlog<Traits> in;
    in.ok(in.known.upsert_node("n", in.machine(4)));
    auto queue = in.quota_of(9);
    queue.nodes = in.label_is("zone", "a");
    in.ok(in.known.upsert_queue("q", queue));
    in.add_gang("g", 1, 2, "q");
    in.refuse(answer::never, gate::space);
    auto node = in.machine(4);
    node.labels = {{"zone", "a"}};
    in.ok(in.known.upsert_node("n", node));
    in.start();
}

TEST_CASE_TEMPLATE("a queue that is made lets a gang start", Traits, usual, splitting) {
    backlog<Traits> in;
    in.ok(in.known.upsert_node("n", in.machine(9)));
    in.add_gang("g", 1, 2, "q");
    in.refuse(answer::waiting, gate::queue);
    in.ok(in.known.upsert_queue("q", {}));
    in.start();
}

TEST_CASE_TEMPLATE("a tenant that is admitted lets its gang start", Traits, usual, splitting) {
    backlog<Traits> in;
    in.ok(in.known.upsert_node("n", in.machine(9)));
    auto queue = in.quota_of(9);
    queue.tenants = in.label_is("team", "a");
    in.ok(in.known.upsert_queue("q", queue));
    auto group = in.gang_of(1, "q");
    group.tenant = {{"team", "b"}};
    in.ok(in.known.upsert_gang("g", group));
    in.add_members("g", 1, in.asking(2));
    in.refuse(answer::waiting, gate::queue);
    SUBCASE("by the queue") {
        queue.tenants = in.label_is("team", "b");
        in.ok(in.known.upsert_queue("q", queue));
    }
    SUBCASE("by its own labels") {
        group.tenant = {{"team", "a"}};
        in.ok(in.known.upsert_gang("g", group));
    }
    in.start();
}

TEST_CASE_TEMPLATE("a gang whose quota is freed but that finds no room stands at space, and that "
                   "is told",
                   Traits, usual, splitting) {
    backlog<Traits> in;
    in.add_busy_node();
    in.ok(in.known.upsert_queue("q", in.quota_of(4)));
    in.add_running("holder", 3, "unknown", "q");
    in.add_gang("g", 1, 2, "q");
    CHECK(in.run() == names{});
    CHECK(in.answered("g", answer::waiting, gate::quota));
    in.ok(in.known.remove_pod("holder-0"));
    CHECK(in.run() == names{});
    CHECK(in.answered("g", answer::waiting, gate::space));
    const decision* told = in.told("g");
    CHECK(told);
    if (told)
        CHECK(told->outcome.at == gate::space);
    in.ok(in.known.remove_pod("r-0"));
    in.start();
}

TEST_CASE_TEMPLATE("a gang whose quota was used up while it waited for room starts when both are "
                   "there",
                   Traits, usual, splitting) {
    backlog<Traits> in;
    in.add_busy_node();
    in.ok(in.known.upsert_queue("q", in.quota_of(4)));
    in.add_gang("g", 1, 2, "q");
    in.refuse(answer::waiting, gate::space);
    in.add_running("holder", 3, "unknown", "q");
    CHECK(in.run() == names{});
    CHECK(in.answered("g", answer::waiting, gate::quota));
    CHECK(in.told("g"));
    in.ok(in.known.remove_pod("r-0"));
    CHECK(in.run() == names{});
    CHECK(in.answered("g", answer::waiting, gate::quota));
    in.ok(in.known.remove_pod("holder-0"));
    in.start();
}

// ---- the gang itself ---------------------------------------------------------------------------

TEST_CASE_TEMPLATE("a minimum that is lowered lets a gang start", Traits, usual, splitting) {
    backlog<Traits> in;
    in.ok(in.known.upsert_node("n", in.machine(3)));
    in.ok(in.known.upsert_gang("g", in.gang_of(2)));
    auto pod = in.asking(2);
    pod.where.selector = in.label_is("pool", "mine");
    auto node = in.machine(3);
    node.labels = {{"pool", "mine"}};
    in.ok(in.known.upsert_node("n", node));
    in.ok(in.known.upsert_pod("g-0", "g", in.asking(2)));
    in.ok(in.known.upsert_pod("g-1", "g", pod));
    in.ok(in.known.upsert_pod("g-0", "g", pod));
    in.refuse(answer::never, gate::space);
    in.ok(in.known.upsert_gang("g", in.gang_of(1)));
    CHECK(in.run() == names{"g"});
    CHECK(in.result.counters.pods_placed == 1);
}

TEST_CASE_TEMPLATE("a gang that moves to another queue starts there", Traits, usual, splitting) {
    backlog<Traits> in;
    in.ok(in.known.upsert_node("n", in.machine(9)));
    in.ok(in.known.upsert_queue("q", in.quota_of(1)));
    in.ok(in.known.upsert_queue("wide", in.quota_of(9)));
    in.add_gang("g", 1, 2, "q");
    in.refuse(answer::never, gate::quota);
    SUBCASE("with more quota") {
        in.ok(in.known.upsert_gang("g", in.gang_of(1, "wide")));
    }
    SUBCASE("that is none") {
        in.ok(in.known.upsert_gang("g", in.gang_of(1)));
    }
    in.start();
}

TEST_CASE_TEMPLATE("the last member that arrives lets a gang start", Traits, usual, splitting) {
    backlog<Traits> in;
    in.ok(in.known.upsert_node("n", in.machine(9)));
    in.ok(in.known.upsert_gang("g", in.gang_of(2)));
    in.add_members("g", 1, in.asking(2));
    in.refuse(answer::waiting, gate::members);
    in.ok(in.known.upsert_pod("g-1", "g", in.asking(3)));
    in.start();
}

TEST_CASE_TEMPLATE("a smaller member that arrives lets a gang start", Traits, usual, splitting) {
    backlog<Traits> in;
    in.ok(in.known.upsert_node("n", in.machine(9)));
    in.ok(in.known.upsert_gang("g", in.gang_of(1)));
    in.add_members("g", 1, in.asking(12));
    in.refuse(answer::never, gate::space);
    in.ok(in.known.upsert_pod("g-1", "g", in.asking(2)));
    CHECK(in.run() == names{"g"});
    CHECK(in.result.counters.pods_placed == 1);
}

TEST_CASE_TEMPLATE("a member whose gates are lifted lets a gang start", Traits, usual, splitting) {
    backlog<Traits> in;
    in.ok(in.known.upsert_node("n", in.machine(9)));
    in.ok(in.known.upsert_gang("g", in.gang_of(2)));
    in.add_members("g", 1, in.asking(2));
    in.ok(in.known.upsert_pod("g-1", "g", in.in_phase(pod_phase::gated, in.asking(2))));
    in.refuse(answer::waiting, gate::members);
    in.ok(in.known.upsert_pod("g-1", "g", in.asking(2)));
    in.start();
}

TEST_CASE_TEMPLATE("a member that may stand elsewhere now lets a gang start", Traits, usual,
                   splitting) {
    backlog<Traits> in;
    in.ok(in.known.upsert_node("n", in.machine(9)));
    auto pod = in.asking(2);
    pod.where.selector = in.label_is("zone", "a");
    in.ok(in.known.upsert_gang("g", in.gang_of(1)));
    in.add_members("g", 1, pod);
    in.refuse(answer::never, gate::space);
    SUBCASE("because it selects no node") {
        in.ok(in.known.upsert_pod("g-0", "g", in.asking(2)));
    }
    SUBCASE("because it selects this one") {
        pod.where.selector = {{{"zone", label_operator::does_not_exist, {}},
                               {"pool", label_operator::does_not_exist, {}}}};
        in.ok(in.known.upsert_pod("g-0", "g", pod));
    }
    in.start();
}

TEST_CASE_TEMPLATE("a member that asks for less lets a gang start", Traits, usual, splitting) {
    backlog<Traits> in;
    in.add_busy_node();
    in.add_gang("g", 1, 4);
    in.refuse(answer::waiting, gate::space);
    in.ok(in.known.upsert_pod("g-0", "g", in.asking(1)));
    in.start();
}

TEST_CASE_TEMPLATE("a constraint that was not modelled and goes lets a gang start", Traits, usual,
                   splitting) {
    backlog<Traits> in;
    in.ok(in.known.upsert_node("n", in.machine(9)));
    auto pod = in.asking(2);
    pod.where.unsupported = true;
    in.ok(in.known.upsert_gang("g", in.gang_of(1)));
    in.add_members("g", 1, pod);
    in.refuse(answer::waiting, gate::unsupported);
    in.ok(in.known.upsert_pod("g-0", "g", in.asking(2)));
    in.start();
}

TEST_CASE_TEMPLATE("a group that is made after its members lets them start", Traits, usual,
                   splitting) {
    backlog<Traits> in;
    in.ok(in.known.upsert_node("n", in.machine(9)));
    in.add_members("g", 2, in.asking(2));
    in.refuse(answer::waiting, gate::group);
    in.ok(in.known.upsert_gang("g", in.gang_of(2)));
    in.start();
}

// ---- what cannot help --------------------------------------------------------------------------

TEST_CASE_TEMPLATE("room that is too small, or not for the gang, leaves it waiting and unasked",
                   Traits, usual, splitting) {
    backlog<Traits> in;
    in.add_busy_node();
    auto pod = in.asking(3);
    pod.where.selector = {{{"pool", label_operator::does_not_exist, {}}}};
    in.ok(in.known.upsert_gang("g", in.gang_of(1)));
    in.add_members("g", 1, pod);
    std::size_t others = 0;
    SUBCASE("too small") {
        others = 1;
        in.refuse(answer::waiting, gate::space);
        in.ok(in.known.upsert_pod("r-0", "r", in.in_phase(pod_phase::running, in.asking(2)), "n"));
    }
    SUBCASE("of another kind") {
        others = 1;
        in.ok(in.known.upsert_node("n", in.machine(4, 1)));
        in.ok(
            in.known.upsert_pod("r-0", "r", in.in_phase(pod_phase::running, in.asking(3, 1)), "n"));
        in.refuse(answer::waiting, gate::space);
        in.ok(in.known.upsert_pod("r-0", "r", in.in_phase(pod_phase::running, in.asking(3)), "n"));
    }
    SUBCASE("on a node that is cordoned") {
        auto node = in.machine(8);
        node.unschedulable = true;
        in.ok(in.known.upsert_node("m", node));
        in.add_running("s", 6, "m");
        in.refuse(answer::waiting, gate::space);
        in.vanish("s");
    }
    SUBCASE("on a node with a taint") {
        auto node = in.machine(8);
        node.taints.push_back({"others", "", taint_effect::no_schedule});
        in.ok(in.known.upsert_node("m", node));
        in.add_running("s", 6, "m");
        in.refuse(answer::waiting, gate::space);
        in.vanish("s");
    }
    SUBCASE("on a node that it does not select") {
        auto node = in.machine(8);
        node.labels = {{"pool", "theirs"}};
        in.ok(in.known.upsert_node("m", node));
        in.add_running("s", 6, "m");
        in.refuse(answer::waiting, gate::space);
        in.vanish("s");
    }
    SUBCASE("on a node that is not known") {
        in.add_running("s", 6, "unknown");
        in.refuse(answer::waiting, gate::space);
        in.vanish("s");
    }
    CHECK(in.run() == names{});
    // The one whose pod changed is asked.
    CHECK(in.result.counters.asked == others);
    CHECK(in.answered("g", answer::waiting, gate::space));
    CHECK_FALSE(in.told("g"));
    in.ok(in.known.remove_pod("r-0"));
    in.start();
}

TEST_CASE_TEMPLATE("a node that is new and of no use leaves a gang waiting and unasked", Traits,
                   usual, splitting) {
    backlog<Traits> in;
    in.add_busy_node();
    auto pod = in.asking(3);
    pod.where.selector = {{{"pool", label_operator::does_not_exist, {}}}};
    in.ok(in.known.upsert_gang("g", in.gang_of(1)));
    in.add_members("g", 1, pod);
    for (const char* more : {"n1", "n2", "n3"}) {
        in.ok(in.known.upsert_node(more, in.machine(4)));
        in.add_running(std::string("on-") + more, 3, more);
    }
    in.refuse(answer::waiting, gate::space);
    in.ok(in.known.upsert_node("m", in.machine(1)));
    CHECK(in.run() == names{});
    // Who has two roles is asked after nodes changed.
    CHECK(in.result.counters.asked <= 1);
    CHECK(in.answered("g", answer::waiting, gate::space));
    in.ok(in.known.remove_pod("r-0"));
    in.start();
}

// ---- strict order ------------------------------------------------------------------------------

TEST_CASE_TEMPLATE("in strict order the first of the line starts with the room that comes back, "
                   "and then the next",
                   Traits, usual, splitting) {
    backlog<Traits> in;
    in.ok(in.known.upsert_node("n", in.machine(9)));
    in.add_running("r", 7, "n");
    auto queue = in.quota_of(99);
    queue.strict_order = true;
    in.ok(in.known.upsert_queue("q", queue));
    in.add_gang("a", 2, 3, "q");
    in.add_gang("b", 1, 2, "q");
    CHECK(in.run() == names{});
    CHECK(in.answered("a", answer::waiting, gate::space));
    CHECK(in.answered("b", answer::waiting, gate::order));
    in.vanish("tiny-one");
    CHECK(in.run() == names{});
    CHECK(in.answered("b", answer::waiting, gate::order));
    SUBCASE("when it is enough for both") {
        in.ok(in.known.remove_pod("r-0"));
        CHECK(in.run() == names{"a", "b"});
    }
    SUBCASE("when it is enough for the first alone") {
        in.ok(in.known.upsert_pod("r-0", "r", in.in_phase(pod_phase::running, in.asking(3)), "n"));
        CHECK(in.run() == names{"a"});
        CHECK(in.answered("b", answer::waiting, gate::space));
        in.ok(in.known.remove_pod("r-0"));
        CHECK(in.run() == names{"b"});
    }
    SUBCASE("and the next when the first can never start") {
        in.ok(in.known.upsert_pod("a-0", "a", in.asking(40)));
        in.ok(in.known.upsert_pod("a-1", "a", in.asking(40)));
        CHECK(in.run() == names{"b"});
        CHECK(in.answered("a", answer::never, gate::space));
    }
    SUBCASE("and the next when the first left the queue") {
        in.ok(in.known.upsert_gang("a", in.gang_of(2)));
        CHECK(in.run() == names{"b"});
    }
    SUBCASE("in any order when order is strict no more") {
        queue.strict_order = false;
        in.ok(in.known.upsert_queue("q", queue));
        CHECK(in.run() == names{"b"});
        CHECK(in.answered("a", answer::waiting, gate::space));
    }
}

TEST_CASE_TEMPLATE("in strict order a gang that waits for quota lets the next start when both find "
                   "theirs",
                   Traits, usual, splitting) {
    backlog<Traits> in;
    in.ok(in.known.upsert_node("n", in.machine(9)));
    auto queue = in.quota_of(5);
    queue.strict_order = true;
    in.ok(in.known.upsert_queue("q", queue));
    in.add_running("holder", 4, "unknown", "q");
    in.add_gang("a", 1, 3, "q");
    in.add_gang("b", 1, 1, "q");
    CHECK(in.run() == names{});
    CHECK(in.answered("a", answer::waiting, gate::quota));
    CHECK(in.answered("b", answer::waiting, gate::order));
    in.ok(in.known.remove_pod("holder-0"));
    CHECK(in.run() == names{"a", "b"});
}

// ---- two roles ---------------------------------------------------------------------------------

template<class Traits>
void add_two_roles(backlog<Traits>& in, int workers) {
    auto group = in.gang_of(0);
    const vertex_index leader = group.tree.add({}, 1);
    const vertex_index worker = group.tree.add({}, workers);
    in.ok(in.known.upsert_gang("g", group));
    auto pod = in.asking(4);
    pod.role = leader;
    in.ok(in.known.upsert_pod("g-leader", "g", pod));
    pod = in.asking(2);
    pod.role = worker;
    in.add_members("g", workers, pod);
}

TEST_CASE_TEMPLATE("a gang of two roles starts when the role that was short finds room", Traits,
                   usual, splitting) {
    backlog<Traits> in;
    in.add_busy_node();
    in.ok(in.known.upsert_node("m", in.machine(4)));
    add_two_roles(in, 3);
    CHECK(in.run() == names{});
    CHECK(in.answered("g", answer::waiting, gate::space));
    in.ok(in.known.upsert_node("o", in.machine(6)));
    CHECK(in.run() == names{"g"});
}

TEST_CASE_TEMPLATE("a gang of two roles of which each finds room alone starts when both do", Traits,
                   usual, splitting) {
    backlog<Traits> in;
    in.add_busy_node();
    in.ok(in.known.upsert_node("m", in.machine(4)));
    in.ok(in.known.upsert_node("o", in.machine(1)));
    add_two_roles(in, 2);
    CHECK(in.run() == names{});
    CHECK(in.answered("g", answer::waiting, gate::space));
    SUBCASE("on a node that was full") {
        in.ok(in.known.remove_pod("r-0"));
    }
    SUBCASE("on a node that grew") {
        in.ok(in.known.upsert_node("o", in.machine(5)));
    }
    CHECK(in.run() == names{"g"});
}

TEST_CASE_TEMPLATE("a gang of two roles starts when the only one that was short asks for less",
                   Traits, usual, splitting) {
    backlog<Traits> in;
    in.add_busy_node();
    in.ok(in.known.upsert_node("m", in.machine(5)));
    add_two_roles(in, 2);
    CHECK(in.run() == names{});
    auto pod = in.asking(1);
    pod.role = vertex_index{2};
    in.add_members("g", 2, pod);
    CHECK(in.run() == names{"g"});
}

} // namespace

} // namespace cycle_wake_up_test
