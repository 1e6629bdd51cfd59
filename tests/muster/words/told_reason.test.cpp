// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include <muster/explain/explain.hpp>
#include <muster/explain/explain_member.hpp>
#include <muster/words/told_reason.hpp>

#include "../builders.hpp"

namespace words_told_reason_test {

namespace {

using namespace builders;
using namespace muster;
using words::told_reason;

kind_table named_kinds() {
    kind_table kinds;
    static_cast<void>(kinds.intern("cpu"));
    static_cast<void>(kinds.intern("gpu"));
    return kinds;
}

template<class Details = words::no_details>
std::vector<told_reason> why(const cluster& known, const std::string& gang,
                             const Details& details = {}) {
    const kind_table kinds = named_kinds();
    const gang_index which = known.find_gang(gang)->index;
    return words::tell_reasons(known, which, explain(known, which), {&kinds},
                               words::key_names(known), details);
}

TEST_CASE("a reason has its name, its text, its amounts as quantities and its roles by name") {
    cluster known;
    ok(known.upsert_node("n", machine(4000)));
    gang_tree tree;
    const vertex_index worker = tree.add(vertex_index{0}, 3, "worker");
    ok(known.upsert_gang("g", gang_of(tree)));
    for (const char* name : {"g-0", "g-1", "g-2"})
        ok(known.upsert_pod(name, "g", in_role(worker, asking(1500))));
    const auto found = why(known, "g");
    REQUIRE(found.size() == 1);
    CHECK(found[0].code == "InsufficientResource");
    CHECK(found[0].kind == "blocking");
    CHECK(found[0].resource == "cpu");
    CHECK(found[0].needed == "4500m");
    CHECK(found[0].left == "4");
    CHECK(found[0].message ==
          "cpu: the gang needs 4500m, 4 are free: short by 500m; worker: 3 needed, room for 2");
    REQUIRE(found[0].roles.size() == 1);
    CHECK(found[0].roles[0].role == "worker");
    CHECK(found[0].roles[0].needed == 3);
    CHECK(found[0].roles[0].possible == 2);
}

TEST_CASE("a reason about a queue names the queue by its key") {
    cluster known;
    ok(known.upsert_node("n", machine(4000)));
    ok(known.upsert_queue("q", quota_of(1000)));
    ok(known.upsert_gang("g", gang_of(1, "q")));
    ok(known.upsert_pod("g-0", "g", asking(2000)));
    const auto found = why(known, "g");
    REQUIRE(found.size() == 1);
    CHECK(found[0].code == "QuotaExceeded");
    CHECK(found[0].queue == "q");
    ok(known.upsert_gang("lost", gang_of(1, "nowhere")));
    ok(known.upsert_pod("lost-0", "lost", asking(1)));
    REQUIRE(why(known, "lost").size() == 1);
    CHECK(why(known, "lost")[0].message == "there is no queue nowhere");
}

TEST_CASE("a reason about a node filter says which nodes it rejects") {
    cluster known;
    auto cordoned = machine(4000);
    cordoned.unschedulable = true;
    ok(known.upsert_node("n", cordoned));
    ok(known.upsert_gang("g", gang_of(1)));
    ok(known.upsert_pod("g-0", "g", asking(1000)));
    const auto found = why(known, "g");
    REQUIRE(found.size() == 1);
    CHECK(found[0].code == "NodeUnschedulable");
    CHECK(found[0].message == "node n is cordoned; 1 member needed, room for 0");
}

TEST_CASE("the reasons of one member are about the pod") {
    cluster known;
    ok(known.upsert_node("n", machine(4000)));
    ok(known.upsert_gang("g", gang_of(1)));
    ok(known.upsert_pod("g-0", "g", in_phase(pod_phase::running, asking(1000)), "n"));
    ok(known.upsert_pod("g-1", "g", asking(5000)));
    const kind_table kinds = named_kinds();
    const pod_index pod = known.find_pod("g-1")->index;
    words::telling how{&kinds};
    how.only = pod;
    const auto found =
        words::tell_reasons(known, known.find_gang("g")->index, explain_member(known, pod), how,
                            words::key_names(known));
    REQUIRE(found.size() == 1);
    CHECK(found[0].message == "cpu: the pod needs 5, 3 are free: short by 2");
}

TEST_CASE("gated members are counted, by gates that the reader of the pods knows") {
    cluster known;
    ok(known.upsert_node("n", machine(4000)));
    ok(known.upsert_gang("g", gang_of(2)));
    ok(known.upsert_pod("g-0", "g", asking(1)));
    ok(known.upsert_pod("g-1", "g", in_phase(pod_phase::gated, asking(1))));
    const auto found = why(known, "g", [](const reason&, words::reason_context& context) {
        context.gates = {"quota"};
    });
    REQUIRE(found.size() == 1);
    CHECK(found[0].code == "NotEnoughMembers");
    CHECK(found[0].message == "2 of 2 members exist, 1 held by scheduling gate quota");
}

/// Marks the texts of filters.
struct storing_details {
    void operator()(const reason&, words::reason_context&) const {}
    template<class Write>
    [[nodiscard]] std::string filter_text(const words::node_filter_key& key,
                                          const Write& write) const {
        CHECK(key.code == reason_code::node_unschedulable);
        return "stored: " + write();
    }
};

TEST_CASE("details may store the texts of node filters") {
    cluster known;
    auto cordoned = machine(4000);
    cordoned.unschedulable = true;
    ok(known.upsert_node("n", cordoned));
    ok(known.upsert_gang("g", gang_of(1)));
    ok(known.upsert_pod("g-0", "g", asking(1000)));
    const auto found = why(known, "g", storing_details{});
    REQUIRE(found.size() == 1);
    CHECK(found[0].message.starts_with("stored: node n is cordoned"));
}

} // namespace

} // namespace words_told_reason_test
