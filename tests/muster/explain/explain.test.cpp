// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <muster/explain/explain.hpp>

#include "../builders.hpp"

namespace explain_explain_test {

namespace {

using namespace builders;
using namespace muster;

std::vector<reason> why(const cluster& known, const std::string& gang,
                        const explain_options& options = {}) {
    return explain(known, gang_at(known, gang), options);
}

/// The one reason that there should be.
reason only(const std::vector<reason>& reasons) {
    CHECK(reasons.size() == 1);
    return reasons.empty() ? reason{} : reasons.front();
}

std::vector<reason_code> codes(const std::vector<reason>& reasons, reason_kind kind) {
    std::vector<reason_code> found;
    for (const reason& each : reasons)
        if (each.kind == kind)
            found.push_back(each.code);
    return found;
}

using list = std::vector<reason_code>;

TEST_CASE("a gang that fits has no reason to wait") {
    cluster known;
    ok(known.upsert_node("n", machine(4)));
    add_gang(known, "g", 2, 2);
    CHECK(why(known, "g").empty());
}

TEST_CASE("a gate before the search is the one reason") {
    cluster known;
    ok(known.upsert_pod("p", "g", asking(1)));
    CHECK(only(why(known, "g")).code == reason_code::group_missing);
    cluster::gang_type group = gang_of(2, "q");
    group.fault = gang_fault::malformed;
    ok(known.upsert_gang("g", group));
    CHECK(only(why(known, "g")).code == reason_code::group_malformed);
    group.fault = gang_fault::disagreement;
    ok(known.upsert_gang("g", group));
    CHECK(only(why(known, "g")).code == reason_code::members_disagree);
    ok(known.upsert_gang("g", gang_of(2, "q")));
    CHECK(only(why(known, "g")).code == reason_code::not_enough_members);
    cluster::pod_type odd = asking(1);
    odd.where.unsupported = true;
    ok(known.upsert_pod("p2", "g", odd));
    CHECK(only(why(known, "g")).code == reason_code::queue_unknown);
    cluster::queue_type queue;
    queue.tenants.reset();
    queue.closed = true;
    ok(known.upsert_queue("q", queue));
    CHECK(only(why(known, "g")).code == reason_code::queue_forbidden);
    queue.tenants.emplace();
    ok(known.upsert_queue("q", queue));
    const reason closed = only(why(known, "g"));
    CHECK(closed.code == reason_code::queue_closed);
    CHECK(closed.queue == known.find_queue("q")->index);
    ok(known.upsert_queue("q", {}));
    CHECK(only(why(known, "g")).code == reason_code::unsupported_constraint);
}

TEST_CASE("the reason is volume_not_ready only if no constraint of the gang is unsupported") {
    cluster known;
    ok(known.upsert_node("a", machine(8)));
    ok(known.upsert_gang("g", gang_of(2)));
    cluster::pod_type held = asking(1);
    held.where.volume_not_ready = true;
    ok(known.upsert_pod("p", "g", held));
    ok(known.upsert_pod("q", "g", asking(1)));
    CHECK(only(why(known, "g")).code == reason_code::volume_not_ready);
    cluster::pod_type odd = asking(1);
    odd.where.unsupported = true;
    ok(known.upsert_pod("q", "g", odd));
    CHECK(only(why(known, "g")).code == reason_code::unsupported_constraint);
    ok(known.upsert_pod("p", "g", asking(1)));
    ok(known.upsert_pod("q", "g", asking(1)));
    CHECK(why(known, "g").empty());
}

TEST_CASE("nodes that lack the label of a spread are counted apart") {
    cluster known;
    auto racked = machine(8);
    racked.labels.set("rack", "r1");
    ok(known.upsert_node("a", racked));
    ok(known.upsert_node("b", machine(8)));
    racked.labels.set("rack", "r2");
    racked.taints.push_back({"full", "", taint_effect::no_schedule});
    ok(known.upsert_node("c", racked));
    cluster::pod_type web = asking(1);
    web.labels.set("app", "web");
    spread_term even;
    even.pods.labels.requirements.push_back({"app", label_operator::in, {"web"}});
    even.topology = "rack";
    web.where.pods.emplace().spread.push_back(even);
    ok(known.upsert_gang("f", gang_of(1)));
    ok(known.upsert_pod("f", "f", in_phase(pod_phase::running, web), "a"));
    ok(known.upsert_gang("g", gang_of(1)));
    ok(known.upsert_pod("g", "g", web));
    const reason found = only(why(known, "g"));
    CHECK(found.code == reason_code::spread_uneven);
    CHECK(found.nodes == 2);
    CHECK(found.unlabelled == 1);
}

TEST_CASE("a volume that is not ready hides no other reason") {
    cluster known;
    ok(known.upsert_node("a", machine(8)));
    gang_tree tree(2);
    const vertex_index small = tree.add(vertex_index{0}, 1, "small");
    const vertex_index large = tree.add(vertex_index{0}, 1, "large");
    ok(known.upsert_gang("g", gang_of(tree)));
    cluster::pod_type held = asking(1);
    held.role = small;
    held.where.volume_not_ready = true;
    ok(known.upsert_pod("p", "g", held));
    cluster::pod_type other = asking(9);
    other.role = large;
    ok(known.upsert_pod("q", "g", other));
    const auto found = why(known, "g");
    REQUIRE(found.size() == 2);
    CHECK(found[0].code == reason_code::volume_not_ready);
    CHECK(found[1].code == reason_code::insufficient_resource);
    CHECK(found[1].kind == reason_kind::blocking);
    // The amount includes the member whose volume is not ready.
    CHECK(found[1].amount_needed == 10);
    // Both fit alone, and not together.
    other = asking(8);
    other.role = large;
    ok(known.upsert_pod("q", "g", other));
    CHECK(why(known, "g").size() == 2);
    other = asking(7);
    other.role = large;
    ok(known.upsert_pod("q", "g", other));
    CHECK(only(why(known, "g")).code == reason_code::volume_not_ready);
    // The member that is held may be the one that fits no node.
    held.where.selector.requirements.push_back({"disk", label_operator::in, {"ssd"}});
    ok(known.upsert_pod("p", "g", held));
    REQUIRE(why(known, "g").size() == 2);
    CHECK(why(known, "g")[1].code == reason_code::node_selector_mismatch);
}

TEST_CASE("nodes that cannot use a volume are a separate reason, besides missing room") {
    cluster known;
    auto near = machine(1);
    near.labels.set("zone", "a");
    ok(known.upsert_node("near", near));
    ok(known.upsert_node("far", machine(8)));
    ok(known.upsert_gang("g", gang_of(2)));
    cluster::pod_type user = asking(1);
    node_term zone;
    zone.labels.requirements.push_back({"zone", label_operator::in, {"a"}});
    user.where.volumes.push_back({{zone}, true});
    ok(known.upsert_pod("p", "g", user));
    ok(known.upsert_pod("q", "g", user));
    const auto reasons = why(known, "g");
    CHECK(codes(reasons, reason_kind::blocking_together) ==
          list{reason_code::insufficient_resource, reason_code::volume_out_of_reach});
}

TEST_CASE("missing members are counted per role, and only where they are missing") {
    cluster known;
    gang_tree tree(3);
    const vertex_index first = tree.add({}, 1);
    const vertex_index second = tree.add({}, 2);
    ok(known.upsert_gang("g", gang_of(tree)));
    ok(known.upsert_pod("a", "g", in_role(first, asking(1))));
    ok(known.upsert_pod("b", "g", in_role(second, asking(1))));
    const reason missing = only(why(known, "g"));
    CHECK(missing.code == reason_code::not_enough_members);
    bool named = false;
    for (const role_shortage& each : missing.roles) {
        CHECK(each.role != first);
        if (each.role == second) {
            named = true;
            CHECK(each.needed == 2);
            CHECK(each.possible == 1);
        }
    }
    CHECK(named);
}

TEST_CASE("a kind that is short in all is blocking, with what is needed and what is left") {
    cluster known;
    ok(known.upsert_node("a", machine(3)));
    ok(known.upsert_node("b", machine(2)));
    add_gang(known, "g", 3, 2);
    const auto reasons = why(known, "g");
    CHECK(codes(reasons, reason_kind::blocking) == list{reason_code::insufficient_resource});
    const reason cpus = reasons.front();
    CHECK(cpus.resource == cpu);
    CHECK(cpus.amount_needed == 6);
    CHECK(cpus.amount_left == 5);
    CHECK(cpus.roles.size() == 1);
    CHECK(cpus.roles.front().needed == 3);
    CHECK(cpus.roles.front().possible == 2);
}

/// The numbers of that vertex, if the reason names it.
role_shortage numbers_of(const reason& of, std::size_t vertex) {
    for (const role_shortage& each : of.roles)
        if (each.role.value() == vertex)
            return each;
    return {};
}

TEST_CASE("the number needed does not count members that hold, even in roles below their minimum") {
    cluster known;
    ok(known.upsert_node("n", machine(4)));
    gang_tree tree(3);
    const vertex_index master = tree.add({}, 2, "master");
    const vertex_index worker = tree.add({}, 1, "worker");
    ok(known.upsert_gang("g", gang_of(tree)));
    ok(known.upsert_pod("a", "g", in_phase(pod_phase::running, in_role(master, asking(1))), "n"));
    ok(known.upsert_pod("b", "g", in_role(master, asking(2))));
    ok(known.upsert_pod("c", "g", in_role(worker, asking(2))));
    const reason cpus = only(why(known, "g"));
    CHECK(cpus.code == reason_code::insufficient_resource);
    CHECK(cpus.amount_needed == 4);
    CHECK(numbers_of(cpus, 0).needed == 2);
    CHECK(numbers_of(cpus, 0).held == 1);
    CHECK(numbers_of(cpus, 0).possible == 1);
    CHECK(numbers_of(cpus, master.value()).needed == 1);
    CHECK(numbers_of(cpus, master.value()).held == 1);
    CHECK(numbers_of(cpus, worker.value()).needed == 1);
    CHECK(numbers_of(cpus, worker.value()).held == 0);
}

TEST_CASE("the number needed counts all members that the gang's subgroups lack") {
    cluster known;
    ok(known.upsert_node("n", machine(1)));
    gang_tree tree(3);
    const vertex_index first = tree.add({}, 1);
    const vertex_index second = tree.add({}, 4);
    const vertex_index third = tree.add({}, 3);
    tree.require_subgroups({}, 2);
    ok(known.upsert_gang("g", gang_of(tree)));
    for (const char* key : {"a", "b"})
        ok(known.upsert_pod(key, "g", in_phase(pod_phase::running, in_role(first, asking(0))),
                            "n"));
    for (const char* key : {"c", "d", "e", "f"})
        ok(known.upsert_pod(key, "g", in_role(second, asking(1))));
    const auto needed = [&] { return numbers_of(only(why(known, "g")), 0).needed; };
    // The third subgroup would need fewer members, but none of its members waits.
    CHECK(needed() == 4);
    for (const char* key : {"x", "y", "z"})
        ok(known.upsert_pod(key, "g", in_role(third, asking(1))));
    CHECK(needed() == 3);
}

TEST_CASE("members with unsupported constraints do not count as possible") {
    cluster known;
    ok(known.upsert_gang("g", gang_of(4)));
    ok(known.upsert_node("n", machine(9)));
    ok(known.upsert_pod("a", "g", in_phase(pod_phase::running, asking(1)), "n"));
    auto odd = asking(1);
    odd.where.unsupported = true;
    ok(known.upsert_pod("b", "g", asking(1)));
    ok(known.upsert_pod("c", "g", odd));
    ok(known.upsert_pod("d", "g", odd));
    const reason found = only(why(known, "g"));
    CHECK(found.code == reason_code::unsupported_constraint);
    CHECK(numbers_of(found, 0).needed == 3);
    CHECK(numbers_of(found, 0).held == 1);
    CHECK(numbers_of(found, 0).possible == 1);
}

TEST_CASE("the quota is a reason beside the nodes, naming its queue") {
    cluster known;
    ok(known.upsert_node("n", machine(2)));
    ok(known.upsert_queue("q", quota_of(3)));
    add_gang(known, "g", 2, 2, "q");
    const auto reasons = why(known, "g");
    CHECK(codes(reasons, reason_kind::blocking) ==
          list{reason_code::insufficient_resource, reason_code::quota_exceeded});
    CHECK(reasons.back().queue == known.find_queue("q")->index);
    CHECK(reasons.back().amount_needed == 4);
    CHECK(reasons.back().amount_left == 3);
}

TEST_CASE("the quota names the queue above whose ceiling leaves least, and how much that is") {
    cluster known;
    ok(known.upsert_node("n", machine(20)));
    ok(known.upsert_queue("root", quota_of(6)));
    ok(known.upsert_queue("q", quota_of(5), "root"));
    ok(known.upsert_queue("sibling", {}, "root"));
    add_running(known, "r", 4, "n", "sibling");
    add_gang(known, "g", 1, 3, "q");
    const auto reasons = why(known, "g");
    CHECK(codes(reasons, reason_kind::blocking) == list{reason_code::quota_exceeded});
    CHECK(reasons.front().queue == known.find_queue("root")->index);
    CHECK(reasons.front().amount_needed == 3);
    CHECK(reasons.front().amount_left == 2);
}

TEST_CASE("of one kind every ceiling that alone is too low is named, the queue's own first") {
    cluster known;
    ok(known.upsert_node("n", machine(20)));
    ok(known.upsert_queue("root", quota_of(7)));
    ok(known.upsert_queue("middle", quota_of(12), "root"));
    ok(known.upsert_queue("q", quota_of(5), "middle"));
    ok(known.upsert_queue("sibling", {}, "root"));
    add_running(known, "r", 4, "n", "sibling");
    add_gang(known, "g", 3, 2, "q");
    const auto reasons = why(known, "g");
    REQUIRE(codes(reasons, reason_kind::blocking) ==
            list{reason_code::quota_exceeded, reason_code::quota_exceeded});
    CHECK(reasons.size() == 2);
    CHECK(reasons[0].queue == known.find_queue("q")->index);
    CHECK(reasons[0].amount_left == 5);
    CHECK(reasons[0].roles.front().possible == 2);
    CHECK(reasons[1].queue == known.find_queue("root")->index);
    CHECK(reasons[1].amount_left == 3);
    CHECK(reasons[1].roles.front().possible == 1);
}

TEST_CASE("the ceiling for gangs that nobody may evict is told from the one for all") {
    cluster known;
    ok(known.upsert_node("n", machine(20)));
    cluster::queue_type limited = quota_of(5);
    limited.non_preemptible_quota.set(cpu, 2);
    ok(known.upsert_queue("q", limited));
    add_gang(known, "g", 3, 2, "q");
    cluster::gang_type non_preemptible = known.spec_of(known.find_gang("g")->index);
    non_preemptible.preemptible = false;
    ok(known.upsert_gang("g", non_preemptible));
    const auto reasons = why(known, "g");
    REQUIRE(codes(reasons, reason_kind::blocking) ==
            list{reason_code::quota_exceeded, reason_code::quota_exceeded});
    CHECK_FALSE(reasons[0].non_preemptible);
    CHECK(reasons[0].amount_left == 5);
    CHECK(reasons[1].non_preemptible);
    CHECK(reasons[1].amount_left == 2);
}

TEST_CASE("a closed queue above is named as the one that is closed") {
    cluster known;
    ok(known.upsert_node("n", machine(20)));
    cluster::queue_type closed;
    closed.closed = true;
    ok(known.upsert_queue("root", closed));
    ok(known.upsert_queue("q", {}, "root"));
    add_gang(known, "g", 1, 3, "q");
    const auto reasons = why(known, "g");
    CHECK(codes(reasons, reason_kind::blocking) == list{reason_code::queue_closed});
    CHECK(reasons.front().queue == known.find_queue("root")->index);
}

TEST_CASE("what stops a gang on every node is blocking, each by its own name") {
    cluster known;
    cluster::pod_type pod = asking(1);
    pod.where.selector = label_is("zone", "a");
    ok(known.upsert_gang("g", gang_of(1)));
    ok(known.upsert_pod("p", "g", pod));
    cluster::node_type node = machine(4);
    ok(known.upsert_node("n", node));
    CHECK(codes(why(known, "g"), reason_kind::blocking) ==
          list{reason_code::node_selector_mismatch});
    node.labels = {{"zone", "a"}};
    node.taints = {{"mine", "", taint_effect::no_schedule}};
    ok(known.upsert_node("n", node));
    CHECK(codes(why(known, "g"), reason_kind::blocking) == list{reason_code::untolerated_taint});
    node.taints.clear();
    node.unschedulable = true;
    ok(known.upsert_node("n", node));
    CHECK(codes(why(known, "g"), reason_kind::blocking) == list{reason_code::node_unschedulable});
    CHECK(why(known, "g", {std::int64_t{1} << 18, nullptr, certificate_scope::empty_cluster})
              .empty());
}

TEST_CASE("a port that is taken everywhere is blocking") {
    cluster known;
    ok(known.upsert_node("n", machine(4)));
    cluster::pod_type web = asking(1);
    web.where.claims.ports.push_back({"TCP", "", 80});
    ok(known.upsert_gang("r", gang_of(1)));
    ok(known.upsert_pod("r-0", "r", in_phase(pod_phase::running, web), "n"));
    ok(known.upsert_gang("g", gang_of(1)));
    ok(known.upsert_pod("g-0", "g", web));
    CHECK(codes(why(known, "g"), reason_kind::blocking) == list{reason_code::host_port_taken});
}

TEST_CASE("constraints of which none stops the gang alone are blocking together") {
    cluster known;
    // The node with cpus has no gpu, the one with a gpu has no cpus.
    ok(known.upsert_node("cpus", machine(4, 0)));
    ok(known.upsert_node("gpus", machine(0, 1)));
    ok(known.upsert_gang("g", gang_of(1)));
    ok(known.upsert_pod("p", "g", asking(2, 1)));
    const auto reasons = why(known, "g");
    CHECK(codes(reasons, reason_kind::blocking).empty());
    CHECK(codes(reasons, reason_kind::blocking_together) ==
          list{reason_code::insufficient_resource, reason_code::insufficient_resource});
    for (const reason& each : reasons)
        CHECK_FALSE(each.not_minimal);
}

TEST_CASE("what does not decide and yet takes room contributes") {
    cluster known;
    cluster::node_type cordoned = machine(2);
    cordoned.unschedulable = true;
    ok(known.upsert_node("a", cordoned));
    ok(known.upsert_node("b", machine(2)));
    add_gang(known, "g", 3, 2);
    const auto reasons = why(known, "g");
    CHECK(codes(reasons, reason_kind::blocking) == list{reason_code::insufficient_resource});
    CHECK(codes(reasons, reason_kind::contributing) == list{reason_code::node_unschedulable});
}

TEST_CASE("kinds are listed by their names, whatever their columns") {
    cluster known;
    ok(known.upsert_node("n", machine(0, 0)));
    ok(known.upsert_gang("g", gang_of(1)));
    ok(known.upsert_pod("p", "g", asking(1, 1)));
    kind_table kinds;
    CHECK(kinds.intern("zinc") == cpu);
    CHECK(kinds.intern("argon") == gpu);
    explain_options named;
    named.kinds = &kinds;
    const auto reasons = why(known, "g", named);
    CHECK(reasons.size() == 2);
    CHECK(reasons.front().resource == gpu);
    CHECK(reasons.back().resource == cpu);
    CHECK(why(known, "g").front().resource == cpu);
}

TEST_CASE("whoever stands behind another in a strict queue is told so") {
    cluster known;
    ok(known.upsert_node("n", machine(4)));
    add_running(known, "r", 3, "n");
    cluster::queue_type strict;
    strict.strict_order = true;
    ok(known.upsert_queue("q", strict));
    add_gang(known, "a", 1, 4, "q");
    add_gang(known, "b", 1, 1, "q");
    static_cast<void>(cycle(known, 0));
    CHECK(only(why(known, "b")).code == reason_code::behind_in_queue);
}

TEST_CASE("no refusal of a cycle is without a reason, also when the budget ended") {
    cluster known;
    for (const char* key : {"a", "b", "c"})
        ok(known.upsert_node(key, machine(7, 3)));
    gang_tree tree;
    const vertex_index small = tree.add({}, 4);
    const vertex_index large = tree.add({}, 3);
    ok(known.upsert_gang("g", gang_of(tree)));
    for (const char* name : {"s0", "s1", "s2", "s3"})
        ok(known.upsert_pod(name, "g", in_role(small, asking(3))));
    for (const char* name : {"l0", "l1", "l2"})
        ok(known.upsert_pod(name, "g", in_role(large, asking(4))));
    budget tiny;
    tiny.per_gang = 1;
    static_cast<void>(cycle(known, 0, policy<>{}, tiny));
    const auto reasons = why(known, "g");
    CHECK_FALSE(reasons.empty());
    if (answered(known, "g").kind == answer::undecided)
        CHECK(reasons.back().code == reason_code::search_budget_spent);
}

TEST_CASE("asking why changes nothing") {
    cluster known;
    ok(known.upsert_node("n", machine(4)));
    add_gang(known, "g", 3, 2);
    const auto before = known.accounts();
    const auto epoch = known.release_epoch();
    static_cast<void>(why(known, "g"));
    CHECK(known.accounts() == before);
    CHECK(known.release_epoch() == epoch);
    CHECK_FALSE(answered(known, "g").is_known);
}

} // namespace

} // namespace explain_explain_test
