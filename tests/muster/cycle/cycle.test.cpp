// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "../builders.hpp"

namespace cycle_cycle_test {

namespace {

using namespace builders;
using namespace muster;

cycle_result run(cluster& known, budget limit = {}, cycle_options options = {}) {
    return cycle(known, 0, policy<>{}, limit, options);
}

using names = std::vector<std::string>;

// ---- what a cycle does -------------------------------------------------------------------------

TEST_CASE("what starts is assumed where it was placed, and the rest leaves no trace") {
    cluster known;
    ok(known.upsert_node("n", machine(4)));
    add_gang(known, "fits", 2, 2);
    add_gang(known, "waits", 2, 3);
    const cycle_result result = run(known);
    CHECK(started(known, result) == names{"fits"});
    CHECK(node_of(known, "fits-0") == "n");
    CHECK(known[known.find_pod("fits-0")->index].assumed);
    CHECK(node_of(known, "waits-0").empty());
    CHECK(free_cpu(known, "n") == 0);
    CHECK(result.counters.pods_placed == 2);
    CHECK(result.counters.admitted == 1);
    CHECK(result.counters.asked == 2);
}

TEST_CASE("a gang that does not fit does not block those behind it") {
    cluster known;
    ok(known.upsert_node("n", machine(4)));
    add_running(known, "r", 2, "n");
    add_gang(known, "a-large", 1, 4);
    add_gang(known, "b-small", 1, 2);
    CHECK(started(known, run(known)) == names{"b-small"});
}

TEST_CASE("a pod that is a gang of its own starts like any other") {
    cluster known;
    ok(known.upsert_node("n", machine(4)));
    ok(known.upsert_queue("q", quota_of(4)));
    add_gang(known, "pod", 1, 3, "q");
    CHECK(started(known, run(known)) == names{"pod"});
    CHECK(used_cpu(known, "q") == 3);
}

TEST_CASE("the queues are compared anew after every gang that starts") {
    cluster known;
    ok(known.upsert_node("n", machine(99)));
    ok(known.upsert_queue("q", quota_of(10)));
    ok(known.upsert_queue("r", quota_of(10)));
    for (const char* gang : {"q1", "q2", "q3"})
        add_gang(known, gang, 1, 2, "q");
    for (const char* gang : {"r1", "r2"})
        add_gang(known, gang, 1, 3, "r");
    // 0/0 -> q1 2/0 -> r1 2/3 -> q2 4/3 -> r2 4/6 -> q3
    CHECK(started(known, run(known)) == names{"q1", "r1", "q2", "r2", "q3"});
}

// ---- strict order (ruling 13) ------------------------------------------------------------------

struct strict_queue {
    cluster known;

    strict_queue() {
        ok(known.upsert_node("n", machine(4)));
        add_running(known, "hog", 2, "n");
        cluster::queue_type strict;
        strict.strict_order = true;
        ok(known.upsert_queue("q", strict));
    }
};

TEST_CASE_FIXTURE(strict_queue,
                  "in strict order a gang that waits for room blocks those behind it") {
    add_gang(known, "a", 1, 4, "q");
    add_gang(known, "b", 1, 1, "q");
    add_gang(known, "elsewhere", 1, 1);
    CHECK(started(known, run(known)) == names{"elsewhere"});
    CHECK(is(answered(known, "a"), answer::waiting, gate::space));
    CHECK(is(answered(known, "b"), answer::waiting, gate::order));
    ok(known.remove_pod("hog-0"));
    ok(known.remove_pod("elsewhere-0"));
    CHECK(started(known, run(known)) == names{"a"});
    CHECK(is(answered(known, "b"), answer::waiting, gate::space));
}

TEST_CASE_FIXTURE(strict_queue, "whoever stood behind is asked when the one ahead is gone") {
    add_gang(known, "a", 1, 4, "q");
    add_gang(known, "b", 1, 1, "q");
    static_cast<void>(run(known));
    ok(known.remove_gang("a"));
    ok(known.remove_pod("a-0"));
    CHECK(started(known, run(known)) == names{"b"});
}

TEST_CASE_FIXTURE(strict_queue, "the block stands as long as nothing changes") {
    add_gang(known, "a", 1, 4, "q");
    add_gang(known, "b", 1, 1, "q");
    static_cast<void>(run(known));
    CHECK(run(known).decisions.empty());
    CHECK(is(answered(known, "b"), answer::waiting, gate::order));
}

TEST_CASE_FIXTURE(strict_queue, "who can never start, or lacks members, blocks nobody") {
    add_gang(known, "a-never", 1, 99, "q");
    ok(known.upsert_gang("b-few", gang_of(2, "q")));
    ok(known.upsert_pod("b-few-0", "b-few", asking(1)));
    add_gang(known, "c", 1, 1, "q");
    CHECK(started(known, run(known)) == names{"c"});
}

TEST_CASE_FIXTURE(strict_queue, "a gang that runs is admitted, though one ahead of it waits") {
    cluster::gang_type first = gang_of(1, "q");
    first.priority = 9;
    ok(known.upsert_gang("a", first));
    ok(known.upsert_pod("a-0", "a", asking(4)));
    add_running(known, "running", 1, "n", "q");
    static_cast<void>(run(known));
    CHECK(is(answered(known, "a"), answer::waiting, gate::space));
    CHECK(is(answered(known, "running"), answer::admitted));
}

TEST_CASE_FIXTURE(strict_queue, "a gang that neither holds nor wants anything keeps its turn") {
    ok(known.upsert_gang("idle", gang_of(0, "q")));
    ok(known.upsert_pod("idle-0", "idle", in_phase(pod_phase::failed, asking(1))));
    static_cast<void>(run(known));
    CHECK(is(answered(known, "idle"), answer::admitted));
    cluster::gang_type first = gang_of(1, "q");
    first.priority = 9;
    ok(known.upsert_gang("a", first));
    ok(known.upsert_pod("a-0", "a", asking(4)));
    static_cast<void>(run(known));
    CHECK(is(answered(known, "idle"), answer::waiting, gate::order));
    ok(known.remove_pod("a-0"));
    ok(known.remove_gang("a"));
    static_cast<void>(run(known));
    CHECK(is(answered(known, "idle"), answer::admitted));
}

TEST_CASE_FIXTURE(strict_queue, "time alone brings another to the head of a strict line") {
    add_gang(known, "a", 1, 4, "q");
    cluster::gang_type second = gang_of(1, "q");
    second.created = 1;
    second.start_by = 10;
    ok(known.upsert_gang("b", second));
    add_members(known, "b", 1, asking(1));
    const policy<best_fit, overdue_first<>> how;
    CHECK(started(known, cycle(known, 10, how)).empty());
    CHECK(is(answered(known, "b"), answer::waiting, gate::order));
    CHECK(started(known, cycle(known, 11, how)) == names{"b"});
}

// ---- what is returned --------------------------------------------------------------------------

TEST_CASE("only answers that changed are returned, unless all are asked for") {
    cluster known;
    ok(known.upsert_node("n", machine(4)));
    add_gang(known, "fits", 1, 2);
    add_gang(known, "never", 1, 9);
    CHECK(run(known).decisions.size() == 2);
    const cycle_result second = run(known);
    CHECK(second.decisions.empty());
    CHECK(second.counters.skipped == 2);
    CHECK(second.counters.asked == 0);
    CHECK(second.counters.never == 1);
    const cycle_result all = run(known, {}, {true});
    CHECK(all.decisions.size() == 2);
    for (const decision& made : all.decisions) {
        CHECK_FALSE(made.outcome.proof.has_value());
        CHECK(made.placements.empty());
    }
}

TEST_CASE("an answer that is asked for again and stays is not returned, another gate is") {
    cluster known;
    ok(known.upsert_node("n", machine(4)));
    ok(known.upsert_queue("q", quota_of(9)));
    add_running(known, "r", 3, "n", "q");
    add_gang(known, "g", 1, 2, "q");
    static_cast<void>(run(known));
    ok(known.upsert_queue("other", {}));
    const cycle_result same = run(known);
    CHECK(same.decisions.empty());
    CHECK(same.counters.asked > 0);
    ok(known.upsert_queue("q", quota_of(4)));
    const cycle_result other = run(known);
    const decision* changed = decision_for(known, other, "g");
    CHECK(changed);
    if (changed)
        CHECK(changed->outcome.at == gate::quota);
}

TEST_CASE("a refusal by the search carries its certificate, other answers carry none") {
    cluster known;
    ok(known.upsert_node("n", machine(4)));
    add_running(known, "r", 3, "n");
    add_gang(known, "waits", 1, 4);
    add_gang(known, "never", 1, 9);
    add_gang(known, "starts", 1, 1);
    add_gang(known, "no-queue", 1, 1, "q");
    const cycle_result result = run(known);
    CHECK(result.decisions.size() == 5);
    for (const decision& made : result.decisions) {
        const std::string& key = known.key(made.gang);
        CHECK(made.outcome.proof.has_value() == (key == "waits" || key == "never"));
    }
    CHECK(answered(known, "waits").could_start);
    CHECK_FALSE(answered(known, "never").could_start);
}

// ---- what makes a gang be asked again ----------------------------------------------------------

/// One gang of one that waits; after `event` it is asked again and starts.
struct waiting_gang {
    cluster known;

    void refuse(answer kind, gate at) {
        static_cast<void>(run(known));
        CHECK(is(answered(known, "g"), kind, at));
        const cycle_result again = run(known);
        CHECK(again.counters.asked == 0);
        CHECK(again.decisions.empty());
    }
    void start() { CHECK(started(known, run(known)) == names{"g"}); }
};

TEST_CASE_FIXTURE(waiting_gang, "a gang starts when a pod that stood in its way is gone") {
    ok(known.upsert_node("n", machine(4)));
    add_running(known, "r", 3, "n");
    add_gang(known, "g", 1, 2);
    refuse(answer::waiting, gate::space);
    ok(known.remove_pod("r-0"));
    start();
}

TEST_CASE_FIXTURE(waiting_gang, "a gang starts when a pod that stood in its way has ended") {
    ok(known.upsert_node("n", machine(4)));
    add_running(known, "r", 3, "n");
    add_gang(known, "g", 1, 2);
    refuse(answer::waiting, gate::space);
    ok(known.upsert_pod("r-0", "r", in_phase(pod_phase::succeeded, asking(3)), "n"));
    start();
}

TEST_CASE_FIXTURE(waiting_gang, "a gang starts when a running pod asks for less") {
    ok(known.upsert_node("n", machine(4)));
    add_running(known, "r", 3, "n");
    add_gang(known, "g", 1, 2);
    refuse(answer::waiting, gate::space);
    ok(known.upsert_pod("r-0", "r", in_phase(pod_phase::running, asking(2)), "n"));
    start();
}

TEST_CASE_FIXTURE(waiting_gang, "a gang starts when a bind is forgotten") {
    ok(known.upsert_node("n", machine(4)));
    add_gang(known, "a", 1, 3);
    static_cast<void>(run(known));
    add_gang(known, "g", 1, 2);
    refuse(answer::waiting, gate::space);
    ok(known.upsert_gang("a", gang_of(2)));
    ok(known.forget("a-0"));
    start();
}

TEST_CASE_FIXTURE(waiting_gang, "a gang starts when a node comes") {
    ok(known.upsert_node("n", machine(1)));
    add_gang(known, "g", 1, 2);
    refuse(answer::never, gate::space);
    ok(known.upsert_node("m", machine(2)));
    start();
}

TEST_CASE_FIXTURE(waiting_gang, "a gang starts when a node grows") {
    ok(known.upsert_node("n", machine(1)));
    add_gang(known, "g", 1, 2);
    refuse(answer::never, gate::space);
    ok(known.upsert_node("n", machine(2)));
    start();
}

TEST_CASE_FIXTURE(waiting_gang, "a gang starts when a node comes back") {
    ok(known.upsert_node("n", machine(2)));
    ok(known.remove_node("n"));
    add_gang(known, "g", 1, 2);
    refuse(answer::never, gate::space);
    ok(known.upsert_node("n", machine(2)));
    start();
}

TEST_CASE_FIXTURE(waiting_gang, "a gang starts when a node is uncordoned") {
    cluster::node_type node = machine(2);
    node.unschedulable = true;
    ok(known.upsert_node("n", node));
    add_gang(known, "g", 1, 2);
    refuse(answer::waiting, gate::space);
    ok(known.upsert_node("n", machine(2)));
    start();
}

TEST_CASE_FIXTURE(waiting_gang, "a gang starts when a node gets the label that it asks for") {
    ok(known.upsert_node("n", machine(2)));
    ok(known.upsert_gang("g", gang_of(1)));
    cluster::pod_type pod = asking(1);
    pod.where.selector = label_is("zone", "a");
    ok(known.upsert_pod("g-0", "g", pod));
    refuse(answer::never, gate::space);
    cluster::node_type node = machine(2);
    node.labels = {{"zone", "a"}};
    ok(known.upsert_node("n", node));
    start();
}

TEST_CASE_FIXTURE(waiting_gang, "a gang starts when a taint is removed") {
    cluster::node_type node = machine(2);
    node.taints.push_back({"mine", "", taint_effect::no_schedule});
    ok(known.upsert_node("n", node));
    add_gang(known, "g", 1, 2);
    refuse(answer::never, gate::space);
    ok(known.upsert_node("n", machine(2)));
    start();
}

TEST_CASE_FIXTURE(waiting_gang, "a gang starts when its queue's quota is raised") {
    ok(known.upsert_node("n", machine(9)));
    ok(known.upsert_queue("q", quota_of(1)));
    add_gang(known, "g", 1, 2, "q");
    refuse(answer::never, gate::quota);
    ok(known.upsert_queue("q", quota_of(2)));
    start();
}

TEST_CASE_FIXTURE(waiting_gang, "a gang starts when its queue's quota is given back") {
    ok(known.upsert_node("n", machine(9)));
    ok(known.upsert_queue("q", quota_of(4)));
    add_running(known, "r", 3, "n", "q");
    add_gang(known, "g", 1, 2, "q");
    refuse(answer::waiting, gate::quota);
    ok(known.remove_pod("r-0"));
    start();
}

TEST_CASE_FIXTURE(waiting_gang, "a gang starts when a gang that used its quota moves elsewhere") {
    ok(known.upsert_node("n", machine(9)));
    ok(known.upsert_queue("q", quota_of(4)));
    ok(known.upsert_queue("r", quota_of(4)));
    add_running(known, "r", 3, "n", "q");
    add_gang(known, "g", 1, 2, "q");
    refuse(answer::waiting, gate::quota);
    ok(known.upsert_gang("r", gang_of(1, "r")));
    start();
}

TEST_CASE_FIXTURE(waiting_gang, "a gang starts when its own request shrinks") {
    ok(known.upsert_node("n", machine(2)));
    add_gang(known, "g", 1, 3);
    refuse(answer::never, gate::space);
    ok(known.upsert_pod("g-0", "g", asking(2)));
    start();
}

TEST_CASE_FIXTURE(waiting_gang, "a gang starts when its minimum is lowered") {
    ok(known.upsert_node("n", machine(2)));
    add_gang(known, "g", 2, 2);
    refuse(answer::never, gate::space);
    ok(known.upsert_gang("g", gang_of(1)));
    start();
}

TEST_CASE_FIXTURE(waiting_gang, "a gang starts when its last member arrives") {
    ok(known.upsert_node("n", machine(9)));
    ok(known.upsert_gang("g", gang_of(2)));
    ok(known.upsert_pod("g-0", "g", asking(1)));
    refuse(answer::waiting, gate::members);
    ok(known.upsert_pod("g-1", "g", asking(1)));
    start();
}

TEST_CASE_FIXTURE(waiting_gang, "a gang starts when its last member's gates are lifted") {
    ok(known.upsert_node("n", machine(9)));
    ok(known.upsert_gang("g", gang_of(1)));
    ok(known.upsert_pod("g-0", "g", in_phase(pod_phase::gated, asking(1))));
    refuse(answer::waiting, gate::members);
    ok(known.upsert_pod("g-0", "g", asking(1)));
    start();
}

TEST_CASE_FIXTURE(waiting_gang, "a gang starts when its queue is made") {
    ok(known.upsert_node("n", machine(9)));
    add_gang(known, "g", 1, 1, "q");
    refuse(answer::waiting, gate::queue);
    ok(known.upsert_queue("q", {}));
    start();
}

TEST_CASE_FIXTURE(waiting_gang, "a gang starts when its queue is opened") {
    ok(known.upsert_node("n", machine(9)));
    cluster::queue_type queue;
    queue.closed = true;
    ok(known.upsert_queue("q", queue));
    add_gang(known, "g", 1, 1, "q");
    refuse(answer::waiting, gate::queue);
    queue.closed = false;
    ok(known.upsert_queue("q", queue));
    start();
}

TEST_CASE_FIXTURE(waiting_gang,
                  "a gang starts when its tenant gets the label that the queue asks") {
    ok(known.upsert_node("n", machine(9)));
    cluster::queue_type queue;
    queue.tenants = label_is("team", "a");
    ok(known.upsert_queue("q", queue));
    add_gang(known, "g", 1, 1, "q");
    refuse(answer::waiting, gate::queue);
    cluster::gang_type group = gang_of(1, "q");
    group.tenant = {{"team", "a"}};
    ok(known.upsert_gang("g", group));
    start();
}

TEST_CASE_FIXTURE(waiting_gang, "a gang starts when its group is made") {
    ok(known.upsert_node("n", machine(9)));
    ok(known.upsert_pod("g-0", "g", asking(1)));
    refuse(answer::waiting, gate::group);
    ok(known.upsert_gang("g", gang_of(1)));
    start();
}

TEST_CASE_FIXTURE(waiting_gang,
                  "a group that was removed waits, and starts when it is made again") {
    ok(known.upsert_node("n", machine(9)));
    ok(known.upsert_gang("g", gang_of(2)));
    ok(known.upsert_pod("g-0", "g", asking(1)));
    ok(known.remove_gang("g"));
    refuse(answer::waiting, gate::group);
    ok(known.upsert_gang("g", gang_of(1)));
    start();
}

TEST_CASE("surplus that waits is placed when there is room, in a cycle of its own") {
    cluster known;
    ok(known.upsert_node("n", machine(2)));
    ok(known.upsert_gang("g", gang_of(1)));
    add_members(known, "g", 2, asking(2));
    CHECK(run(known).counters.pods_placed == 1);
    CHECK(run(known).counters.asked == 0);
    ok(known.upsert_node("m", machine(2)));
    CHECK(run(known).counters.pods_placed == 1);
    CHECK(node_of(known, "g-1") == "m");
    ok(known.upsert_node("o", machine(2)));
    CHECK(run(known).counters.asked == 0);
}

TEST_CASE("events that can make nobody fit make nobody be asked again") {
    cluster known;
    ok(known.upsert_node("n", machine(4)));
    ok(known.upsert_queue("q", quota_of(9)));
    add_gang(known, "r", 1, 3, "q");
    static_cast<void>(run(known));
    add_gang(known, "g", 1, 2, "q");
    static_cast<void>(run(known));
    const auto asked = [&] { return run(known).counters.asked; };
    ok(known.confirm_bound("r-0"));
    CHECK(asked() == 0);
    // What was observed concerns its own gang alone.
    ok(known.upsert_pod("r-0", "r", in_phase(pod_phase::running, asking(3)), "n"));
    CHECK(asked() <= 1);
    ok(known.upsert_gang("new", gang_of(1, "q")));
    CHECK(asked() <= 1);
    ok(known.upsert_pod("new-0", "new", asking(9)));
    CHECK(asked() <= 1);
}

// ---- assumed, bound, forgotten -----------------------------------------------------------------

TEST_CASE("a bind that went through stays, and one that failed is placed anew") {
    cluster known;
    ok(known.upsert_node("n", machine(4)));
    add_gang(known, "g", 2, 2);
    static_cast<void>(run(known));
    ok(known.confirm_bound("g-0"));
    CHECK(known[known.find_pod("g-0")->index].phase == pod_phase::bound);
    CHECK(known.confirm_bound("g-0") == event_result::unexpected);
    CHECK(known.forget("g-0") == event_result::unexpected);
    ok(known.forget("g-1"));
    CHECK(free_cpu(known, "n") == 2);
    CHECK(node_of(known, "g-1").empty());
    CHECK(started(known, run(known)) == names{"g"});
    CHECK(node_of(known, "g-1") == "n");
    CHECK(free_cpu(known, "n") == 0);
}

TEST_CASE("an assumed pod stays assumed while it is seen pending, and is charged once when bound") {
    cluster known;
    ok(known.upsert_node("n", machine(4)));
    ok(known.upsert_node("other", machine(1)));
    add_gang(known, "g", 1, 3);
    static_cast<void>(run(known));
    ok(known.upsert_pod("g-0", "g", asking(3)));
    CHECK(known[known.find_pod("g-0")->index].assumed);
    CHECK(free_cpu(known, "n") == 1);
    CHECK(run(known).counters.pods_placed == 0);
    ok(known.upsert_pod("g-0", "g", in_phase(pod_phase::bound, asking(3)), "n"));
    CHECK_FALSE(known[known.find_pod("g-0")->index].assumed);
    CHECK(free_cpu(known, "n") == 1);
}

TEST_CASE("a pod that was bound elsewhere than assumed is charged where it stands") {
    cluster known;
    ok(known.upsert_node("a", machine(4)));
    ok(known.upsert_node("b", machine(4)));
    add_gang(known, "g", 1, 3);
    static_cast<void>(run(known));
    CHECK(node_of(known, "g-0") == "a");
    ok(known.upsert_pod("g-0", "g", in_phase(pod_phase::running, asking(3)), "b"));
    CHECK(free_cpu(known, "a") == 4);
    CHECK(free_cpu(known, "b") == 1);
}

TEST_CASE("an assumed pod that is deleted gives its room back") {
    cluster known;
    ok(known.upsert_node("n", machine(4)));
    ok(known.upsert_queue("q", quota_of(4)));
    add_gang(known, "g", 1, 3, "q");
    static_cast<void>(run(known));
    ok(known.remove_pod("g-0"));
    CHECK(free_cpu(known, "n") == 4);
    CHECK(used_cpu(known, "q") == 0);
}

// ---- budgets -----------------------------------------------------------------------------------

/// Takes a search to refuse, and is refused by it.
void add_hard_gang(cluster& to, const std::string& name) {
    gang_tree tree;
    const vertex_index small = tree.add({}, 4);
    const vertex_index large = tree.add({}, 3);
    ok(to.upsert_gang(name, gang_of(tree)));
    for (int at = 0; at < 4; ++at)
        ok(to.upsert_pod(name + "-s" + std::to_string(at), name, in_role(small, asking(2))));
    for (int at = 0; at < 3; ++at)
        ok(to.upsert_pod(name + "-l" + std::to_string(at), name, in_role(large, asking(4))));
}

TEST_CASE("a gang left undecided holds nothing, and is asked again when its epoch moves") {
    cluster known;
    for (const char* key : {"a", "b", "c"})
        ok(known.upsert_node(key, machine(7)));
    add_hard_gang(known, "g");
    const auto before = known.accounts();
    budget tiny;
    tiny.per_gang = 1;
    CHECK(run(known, tiny).counters.undecided == 1);
    CHECK(known.accounts() == before);
    CHECK(is(answered(known, "g"), answer::undecided, gate::space));
    CHECK(run(known, tiny).counters.asked == 0);
    ok(known.upsert_node("d", machine(9)));
    CHECK(started(known, run(known, tiny)) == names{"g"});
}

TEST_CASE("a spent budget keeps nobody from starting who needs no search") {
    cluster known;
    for (const char* key : {"a", "b", "c"})
        ok(known.upsert_node(key, machine(7)));
    add_hard_gang(known, "hard");
    add_gang(known, "plain", 1, 1);
    budget none;
    none.per_cycle = 0;
    CHECK(started(known, run(known, none)) == names{"plain"});
}

TEST_CASE("a gang that the cycle's budget did not reach is searched in the next cycle") {
    cluster known;
    for (const char* key : {"a", "b", "c"})
        ok(known.upsert_node(key, machine(7)));
    add_hard_gang(known, "first");
    add_hard_gang(known, "second");
    cluster measured = known;
    budget one_gang;
    one_gang.per_cycle = run(measured).counters.search_steps / 2;
    static_cast<void>(run(known, one_gang));
    CHECK(is(answered(known, "first"), answer::never, gate::space));
    CHECK(is(answered(known, "second"), answer::undecided, gate::space));
    static_cast<void>(run(known, one_gang));
    CHECK(is(answered(known, "second"), answer::never, gate::space));
}

TEST_CASE("whether a refused gang could ever start is asked once the budget reaches it") {
    cluster known;
    for (const char* key : {"a", "b", "c"})
        ok(known.upsert_node(key, machine(7)));
    add_hard_gang(known, "g");
    // Refused without a search: no large member has room now.
    for (const char* key : {"a", "b", "c"})
        add_running(known, std::string("on-") + key, 4, key);
    budget none;
    none.per_cycle = 0;
    static_cast<void>(run(known, none));
    CHECK(is(answered(known, "g"), answer::waiting, gate::space));
    CHECK(answered(known, "g").unreached_since > 0);
    static_cast<void>(run(known));
    CHECK(is(answered(known, "g"), answer::never, gate::space));
    CHECK(answered(known, "g").unreached_since == 0);
    CHECK(run(known).counters.asked == 0);
}

TEST_CASE("gangs that are asked anew in every cycle are all searched in turn") {
    cluster known;
    for (const char* key : {"a", "b", "c"})
        ok(known.upsert_node(key, machine(7)));
    for (const char* key : {"g", "h", "i", "j", "k"})
        add_hard_gang(known, key);
    budget two_gangs;
    two_gangs.per_gang = 20;
    two_gangs.per_cycle = 80;
    std::map<std::string, int> searched;
    for (int round = 0; round < 3; ++round) {
        ok(known.upsert_node("small", machine(0, round)));
        cycle_options all;
        all.list_all = true;
        for (const decision& made : cycle(known, 0, policy<>{}, two_gangs, all).decisions) {
            CHECK(made.outcome.kind == answer::undecided);
            searched[known.key(made.gang)] += made.outcome.steps > 0 ? 1 : 0;
        }
    }
    CHECK(searched.size() == 5);
    for (const auto& each : searched)
        CHECK(each.second >= 1);
}

TEST_CASE("what is announced as it is already wakes nobody") {
    cluster known;
    auto queue = quota_of(9);
    queue.weight = 2;
    ok(known.upsert_queue("parent", {}));
    ok(known.upsert_queue("q", queue, "parent"));
    auto node = machine(4);
    node.labels = {{"zone", "a"}};
    ok(known.upsert_node("n", node));
    add_gang(known, "g", 1, 5, "q");
    static_cast<void>(run(known));
    const auto released = known.release_epoch();
    const auto capability = known.capability_epoch();
    ok(known.upsert_node("n", node));
    ok(known.upsert_queue("q", queue, "parent"));
    CHECK(known.release_epoch() == released);
    CHECK(known.capability_epoch() == capability);
    CHECK(run(known).counters.asked == 0);
    ok(known.upsert_queue("q", queue));
    CHECK(known.release_epoch() > released);
    ok(known.remove_node("n"));
    const auto gone = known.release_epoch();
    ok(known.upsert_node("n", node));
    CHECK(known.release_epoch() > gone);
}

// ---- the same answers, whatever the way --------------------------------------------------------

std::string text(const cluster& in, const cycle_result& result) {
    std::string out;
    for (const decision& made : result.decisions) {
        out += in.key(made.gang) + " " + std::to_string(static_cast<int>(made.outcome.kind)) + " " +
               std::to_string(static_cast<int>(made.outcome.at)) + " " +
               std::to_string(made.outcome.steps) + ":";
        for (const placement& one : made.placements)
            out += " " + in.key(one.pod) + "@" + in.key(one.node);
        out += "\n";
    }
    return out + std::to_string(result.counters.search_steps);
}

struct busy_cluster {
    std::vector<void (*)(cluster&)> events{
        [](cluster& to) { ok(to.upsert_node("n1", machine(7))); },
        [](cluster& to) { ok(to.upsert_node("n2", machine(7, 1))); },
        [](cluster& to) { ok(to.upsert_node("n3", machine(7))); },
        [](cluster& to) { ok(to.upsert_queue("q", quota_of(9))); },
        [](cluster& to) { ok(to.upsert_queue("r", quota_of(6))); },
        [](cluster& to) { add_running(to, "old", 2, "n2", "r"); },
        [](cluster& to) { add_gang(to, "a", 2, 3, "q"); },
        [](cluster& to) { add_gang(to, "b", 3, 2, "r"); },
        [](cluster& to) { add_gang(to, "c", 1, 1, "r"); },
        [](cluster& to) { add_hard_gang(to, "hard"); },
        [](cluster& to) { ok(to.upsert_pod("late", "missing", asking(1))); },
    };

    cluster built() const {
        cluster made;
        for (const auto& event : events)
            event(made);
        return made;
    }
};

TEST_CASE_FIXTURE(busy_cluster,
                  "a preview gives the cycle's answers and leaves the state as it was") {
    cluster known = built();
    const auto accounts = known.accounts();
    const auto release = known.release_epoch();
    const cycle_result seen = preview(known, 0);
    CHECK(known.accounts() == accounts);
    CHECK(known.release_epoch() == release);
    CHECK_FALSE(answered(known, "a").is_known);
    CHECK(node_of(known, "a-0").empty());
    const std::string before = text(known, seen);
    CHECK(text(known, run(known)) == before);
    CHECK(preview(known, 0).decisions.empty());
}

TEST_CASE_FIXTURE(busy_cluster, "states decide alike, in whatever order their objects came") {
    cluster first = built();
    const std::string expected = text(first, run(first));
    CHECK(expected.find('@') != std::string::npos);
    for (std::size_t turn = 1; turn < events.size(); ++turn) {
        std::rotate(events.begin(), events.begin() + 1, events.end());
        cluster rotated = built();
        CHECK(text(rotated, run(rotated)) == expected);
        std::reverse(events.begin(), events.end());
        cluster reversed = built();
        CHECK(text(reversed, run(reversed)) == expected);
        std::reverse(events.begin(), events.end());
    }
}

TEST_CASE_FIXTURE(busy_cluster,
                  "a state that has seen much decides as one that was told the rest") {
    cluster grown;
    // Places in the tables are given and taken before the cluster that counts is told.
    for (int at = 0; at < 3; ++at)
        add_gang(grown, "gone-" + std::to_string(at), 2, 1, "q");
    ok(grown.upsert_node("n9", machine(50)));
    static_cast<void>(run(grown));
    for (const auto& event : events)
        event(grown);
    for (int at = 2; at >= 0; --at) {
        const std::string name = "gone-" + std::to_string(at);
        ok(grown.remove_pod(name + "-0"));
        ok(grown.remove_gang(name));
        ok(grown.remove_pod(name + "-1"));
    }
    ok(grown.remove_node("n9"));
    cluster rebuilt = built();
    CHECK(text(grown, run(grown)) == text(rebuilt, run(rebuilt)));
}

TEST_CASE("a pod group that is made again under its name is judged by its new definition") {
    cluster known;
    ok(known.upsert_node("n", machine(4)));
    add_gang(known, "g", 2, 1);
    static_cast<void>(run(known));
    ok(known.remove_gang("g"));
    CHECK(free_cpu(known, "n") == 2);
    static_cast<void>(run(known));
    CHECK(is(answered(known, "g"), answer::waiting, gate::group));
    ok(known.upsert_gang("g", gang_of(3)));
    static_cast<void>(run(known));
    CHECK(is(answered(known, "g"), answer::waiting, gate::members));
    ok(known.upsert_pod("g-2", "g", asking(1)));
    CHECK(started(known, run(known)) == names{"g"});
    CHECK(free_cpu(known, "n") == 1);
}

} // namespace

} // namespace cycle_cycle_test
