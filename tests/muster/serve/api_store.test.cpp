// SPDX-License-Identifier: Apache-2.0
#include "asking.hpp"

#include <string>

#include <doctest/doctest.h>

namespace api_server_test {

TEST_CASE("an object is stored with uid, version, time and generation") {
    asking server;
    const answer made = server.pod("a");
    REQUIRE(made.code == 201);
    CHECK(text_at(made.body, {"metadata", "uid"}).size() == 36);
    CHECK(text_at(made.body, {"metadata", "creationTimestamp"}) == "2023-11-14T22:13:20Z");
    CHECK(integer_at(made.body, {"metadata", "generation"}) == 1);
    CHECK(text_at(made.body, {"spec", "schedulerName"}) == "default-scheduler");
    CHECK(text_at(made.body, {"status", "phase"}) == "Pending");
    CHECK(server.get(pods + "/a").body == made.body);
    CHECK(verdict(server.pod("a")) == "409 AlreadyExists");
    CHECK(verdict(server.get(pods + "/b")) == "404 NotFound");
    CHECK(verdict(server.post("/api/v1/namespaces/nowhere/pods", "{}")) == "404 NotFound");
    CHECK(verdict(server.pod("No Name")) == "422 Invalid");
    CHECK(verdict(server.post(pods, R"({"metadata":{"name":"x"},"spec":{}})")) == "422 Invalid");
    CHECK(verdict(server.post(pods, "{")) == "400 BadRequest");
    CHECK(verdict(server.get("/api/v1/flowers")) == "404 NotFound");
}

TEST_CASE("the same requests give the same uids and names again") {
    const auto made = [] {
        asking server;
        return server
            .post(pods, R"({"metadata":{"generateName":"p-"},)"
                        R"("spec":{"containers":[{"name":"c","image":"i"}]}})")
            .body;
    };
    const json::object first = made();
    CHECK(first == made());
    CHECK(text_at(first, {"metadata", "name"}).size() == 7);
}

TEST_CASE("lists come page by page, as of their first page") {
    asking server;
    for (const char* name : {"a", "b", "c"})
        REQUIRE(server.pod(name).code == 201);
    const answer first = server.get(pods + "?limit=2");
    REQUIRE(array_at(first.body, {"items"})->size() == 2);
    CHECK(integer_at(first.body, {"metadata", "remainingItemCount"}) == 1);
    const std::string token(text_at(first.body, {"metadata", "continue"}));
    REQUIRE(server.remove(pods + "/c").code == 200);
    REQUIRE(server.pod("d").code == 201);
    const answer second = server.get(pods + "?limit=2&continue=" + token);
    REQUIRE(array_at(second.body, {"items"})->size() == 1);
    CHECK(text_at(array_at(second.body, {"items"})->at(0).as_object(), {"metadata", "name"}) ==
          "c");
    CHECK(text_at(second.body, {"metadata", "continue"}).empty());
    CHECK(text_at(second.body, {"metadata", "resourceVersion"}) ==
          text_at(first.body, {"metadata", "resourceVersion"}));
    server.store.compact();
    CHECK(verdict(server.get(pods + "?limit=2&continue=" + token)) == "410 Expired");
}

TEST_CASE("selectors choose by labels and by fields") {
    asking server;
    server.node("n", "8");
    REQUIRE(server.pod("a", "1", "", R"(,"labels":{"app":"x","tier":"1"})").code == 201);
    REQUIRE(server.pod("b", "1", R"(,"schedulerName":"muster")", R"(,"labels":{"app":"y"})").code ==
            201);
    REQUIRE(server.bind("a", "n").code == 201);
    const auto names = [&](const std::string& query) {
        const answer made = server.get(pods + "?" + query);
        std::string all;
        if (const json::array* const items = array_at(made.body, {"items"}))
            for (const json::value& each : *items)
                all += text_at(each.as_object(), {"metadata", "name"});
        return made.code == 200 ? all : std::to_string(made.code);
    };
    CHECK(names("labelSelector=app%3Dx") == "a");
    CHECK(names("labelSelector=app+in+(x,y),tier") == "a");
    CHECK(names("labelSelector=app+notin+(x)") == "b");
    CHECK(names("labelSelector=!tier") == "b");
    CHECK(names("fieldSelector=spec.nodeName%3Dn") == "a");
    CHECK(names("fieldSelector=spec.nodeName%3D") == "b");
    CHECK(names("fieldSelector=spec.schedulerName=muster,status.phase!=Failed") == "b");
    CHECK(names("fieldSelector=metadata.name=b") == "b");
    CHECK(names("labelSelector=a+b") == "400");
}

TEST_CASE("a watch tells what changed, and what begins or ceases to match") {
    asking server;
    REQUIRE(server.pod("a").code == 201);
    const std::string from = server.field(pods, {"metadata", "resourceVersion"});
    watch all = server.open(pods + "?watch=1&resourceVersion=" + from);
    watch chosen = server.open(pods + "?watch=1&labelSelector=on&resourceVersion=" + from);
    watch late = server.open(pods + "?watch=1");
    CHECK(server.told(all).empty());
    CHECK(server.told(late) == "ADDED a");
    REQUIRE(server.merge(pods + "/a", R"({"metadata":{"labels":{"on":""}}})").code == 200);
    REQUIRE(server.merge(pods + "/a", R"({"metadata":{"labels":{"on":null}}})").code == 200);
    REQUIRE(server.remove(pods + "/a").code == 200);
    CHECK(server.told(all) == "MODIFIED a MODIFIED a DELETED a");
    CHECK(server.told(chosen) == "ADDED a DELETED a");
    CHECK(server.told(chosen).empty());
    server.store.compact();
    watch stale = server.open(pods + "?watch=1&resourceVersion=" + from);
    CHECK(server.told(stale) == "ERROR Expired");
}

TEST_CASE("a watch that asks for them first gets the objects and then their end") {
    asking server;
    REQUIRE(server.pod("a").code == 201);
    watch all = server.open(pods + "?watch=1&sendInitialEvents=true&allowWatchBookmarks=true");
    const auto lines = server.store.events(all);
    REQUIRE(lines.size() == 2);
    CHECK(lines[0].find("ADDED") != std::string::npos);
    CHECK(lines[1].find("k8s.io/initial-events-end") != std::string::npos);
}

TEST_CASE(
    "an update needs the version it was made from, and changes nothing when it says nothing") {
    asking server;
    json::object made = server.pod("a").body;
    const answer same = server.ask("PUT", pods + "/a", json::serialize(made));
    CHECK(same.body == made);
    make_object(make_object(made, "metadata"), "labels")["x"] = "1";
    const answer first = server.ask("PUT", pods + "/a", json::serialize(made));
    CHECK(first.code == 200);
    make_object(make_object(made, "metadata"), "labels")["x"] = "2";
    CHECK(verdict(server.ask("PUT", pods + "/a", json::serialize(made))) == "409 Conflict");
    CHECK(verdict(server.merge(pods + "/a", R"({"metadata":{"resourceVersion":"1"}})")) ==
          "409 Conflict");
    CHECK(verdict(server.merge(pods + "/a", R"({"metadata":{"uid":"x"}})")) == "422 Invalid");
}

TEST_CASE("a status is written through its subresource only") {
    asking server;
    REQUIRE(server.pod("a").code == 201);
    REQUIRE(server.merge(pods + "/a", R"({"status":{"phase":"Running"}})").code == 200);
    CHECK(server.field(pods + "/a", {"status", "phase"}) == "Pending");
    REQUIRE(
        server.merge(pods + "/a/status", R"({"status":{"phase":"Running"},"spec":{"x":1}})").code ==
        200);
    CHECK(server.field(pods + "/a", {"status", "phase"}) == "Running");
    CHECK_FALSE(value_at(server.get(pods + "/a").body, {"spec", "x"}));
}

TEST_CASE("of a pod's spec nearly nothing changes, and gates only go") {
    asking server;
    REQUIRE(server.pod("a", "1", R"(,"schedulingGates":[{"name":"g"}])").code == 201);
    CHECK(verdict(server.merge(pods + "/a", R"({"spec":{"schedulerName":"x"}})")) == "422 Invalid");
    CHECK(verdict(server.merge(pods + "/a",
                               R"({"spec":{"schedulingGates":[{"name":"g"},{"name":"h"}]}})")) ==
          "422 Invalid");
    CHECK(server
              .strategic(pods + "/a",
                         R"({"spec":{"schedulingGates":[{"$patch":"delete","name":"g"}]}})")
              .code == 200);
    CHECK_FALSE(array_at(server.get(pods + "/a").body, {"spec", "schedulingGates"}));
}

TEST_CASE("a binding is refused to the wrong uid, a second time, behind gates, and to nobody") {
    asking server;
    server.node("n", "8");
    const std::string uid(text_at(server.pod("a").body, {"metadata", "uid"}));
    REQUIRE(server.pod("gated", "1", R"(,"schedulingGates":[{"name":"g"}])").code == 201);
    CHECK(verdict(server.bind("a", "n", "other")) == "409 Conflict");
    CHECK(verdict(server.bind("gated", "n")) == "409 Conflict");
    CHECK(verdict(server.bind("nobody", "n")) == "404 NotFound");
    CHECK(server.bind("a", "n", uid).code == 201);
    CHECK(server.field(pods + "/a", {"spec", "nodeName"}) == "n");
    CHECK(verdict(server.bind("a", "n", uid)) == "409 Conflict");
    REQUIRE(server.pod("b").code == 201);
    CHECK(server.bind("b", "no-such-node").code == 201);
    const journal_entry& last = server.store.journal().back();
    CHECK(last.resource == "pods/binding");
    CHECK(last.name == "b");
    CHECK(last.code == 201);
}

TEST_CASE("a pod gets the labels and annotations of its Binding") {
    asking server;
    REQUIRE(server.pod("a", "1", "", R"(,"labels":{"l":"old","m":"kept"})").code == 201);
    REQUIRE(server
                .post(pods + "/a/binding",
                      R"({"metadata":{"name":"a","labels":{"l":"new"},"annotations":{"x":"y"}},)"
                      R"("target":{"kind":"Node","name":"n"}})")
                .code == 201);
    CHECK(server.field(pods + "/a", {"metadata", "labels", "l"}) == "new");
    CHECK(server.field(pods + "/a", {"metadata", "labels", "m"}) == "kept");
    CHECK(server.field(pods + "/a", {"metadata", "annotations", "x"}) == "y");
}

TEST_CASE("a bound pod stays until its kubelet lets it go, an unbound one does not") {
    asking server;
    const std::string uid(text_at(server.pod("a").body, {"metadata", "uid"}));
    REQUIRE(server.pod("b").code == 201);
    REQUIRE(server.bind("a", "n").code == 201);
    CHECK(verdict(server.remove(pods + "/a", R"({"preconditions":{"uid":"x"}})")) ==
          "409 Conflict");
    CHECK(server.remove(pods + "/a").code == 200);
    CHECK(server.remove(pods + "/b").code == 200);
    CHECK(server.get(pods + "/b").code == 404);
    CHECK(integer_at(server.get(pods + "/a").body, {"metadata", "deletionGracePeriodSeconds"}) ==
          30);
    const answer last = server.remove(pods + "/a", R"({"gracePeriodSeconds":0})");
    CHECK(last.code == 200);
    CHECK(integer_at(last.body, {"metadata", "deletionGracePeriodSeconds"}) == 0);
    CHECK(server.get(pods + "/a").code == 404);
}

TEST_CASE("an object with finalizers goes with the last of them") {
    asking server;
    REQUIRE(server
                .post("/api/v1/namespaces/default/configmaps",
                      R"({"metadata":{"name":"a","finalizers":["x/y"]}})")
                .code == 201);
    const std::string at = "/api/v1/namespaces/default/configmaps/a";
    CHECK(server.remove(at).code == 200);
    CHECK_FALSE(server.field(at, {"metadata", "deletionTimestamp"}).empty());
    CHECK(server.merge(at, R"({"metadata":{"finalizers":null}})").code == 200);
    CHECK(server.get(at).code == 404);
}

TEST_CASE("a PodGroup of Kubernetes' own goes when the last of its pods has ended or is gone") {
    asking server;
    const std::string in = "/api/v1/namespaces/default/pods";
    const std::string groups = "/apis/scheduling.k8s.io/v1alpha2/namespaces/default/podgroups";
    REQUIRE(server.post(groups, R"({"metadata":{"name":"g"},"spec":{}})").code == 201);
    CHECK(server.field(groups + "/g", {"spec", "disruptionMode"}) == "Pod");
    const std::string rest = R"("},"spec":{"containers":[{"name":"c","image":"i"}],)"
                             R"("schedulingGroup":{"podGroupName":"g"}}})";
    for (const std::string name : {"a", "b"})
        REQUIRE(server.post(in, R"({"metadata":{"name":")" + name + rest).code == 201);
    CHECK(server.remove(groups + "/g").code == 200);
    server.store.settle();
    CHECK_FALSE(server.field(groups + "/g", {"metadata", "deletionTimestamp"}).empty());
    CHECK(server.remove(in + "/a").code == 200);
    server.store.settle();
    CHECK(server.get(groups + "/g").code == 200);
    SUBCASE("ended") {
        CHECK(server.merge(in + "/b/status", R"({"status":{"phase":"Failed"}})").code == 200);
    }
    SUBCASE("gone") {
        CHECK(server.remove(in + "/b").code == 200);
    }
    server.store.settle();
    CHECK(server.get(groups + "/g").code == 404);
}

TEST_CASE("what is owned goes with its last owner, and a namespace with all that is in it") {
    asking server;
    const std::string maps = "/api/v1/namespaces/default/configmaps";
    const auto made = [&](const std::string& name, const std::string& owner) {
        return std::string(text_at(server
                                       .post(maps, R"({"metadata":{"name":")" + name +
                                                       R"(","ownerReferences":[)" + owner + "]}}")
                                       .body,
                                   {"metadata", "uid"}));
    };
    const auto owner = [](const std::string& uid) {
        return R"({"apiVersion":"v1","kind":"ConfigMap","name":"x","uid":")" + uid + "\"}";
    };
    const std::string root = made("root", "");
    const std::string other = made("other", "");
    const std::string child = made("child", owner(root));
    made("grandchild", owner(child));
    made("shared", owner(root) + "," + owner(other));
    REQUIRE(server.remove(maps + "/root").code == 200);
    server.store.settle();
    CHECK(server.get(maps + "/child").code == 404);
    CHECK(server.get(maps + "/grandchild").code == 404);
    CHECK(server.get(maps + "/shared").code == 200);
    REQUIRE(server.remove(maps + "/other", R"({"propagationPolicy":"Orphan"})").code == 200);
    server.store.settle();
    CHECK(server.get(maps + "/other").code == 404);
    CHECK(server.get(maps + "/shared").code == 200);
    REQUIRE(server.remove("/api/v1/namespaces/default").code == 200);
    CHECK(verdict(server.post(maps, R"({"metadata":{"name":"late"}})")) == "403 Forbidden");
    server.store.settle();
    CHECK(server.get(maps + "/shared").code == 404);
    CHECK(server.get("/api/v1/namespaces/default").code == 404);
}

TEST_CASE("an owner deleted in the foreground goes after those that block it") {
    asking server;
    const std::string maps = "/api/v1/namespaces/default/configmaps";
    const std::string uid(
        text_at(server.post(maps, R"({"metadata":{"name":"root"}})").body, {"metadata", "uid"}));
    REQUIRE(server
                .post(maps, R"({"metadata":{"name":"child","finalizers":["a/b"],)"
                            R"("ownerReferences":[{"uid":")" +
                                uid + R"(","blockOwnerDeletion":true}]}})")
                .code == 201);
    REQUIRE(server.remove(maps + "/root", R"({"propagationPolicy":"Foreground"})").code == 200);
    server.store.settle();
    CHECK(server.get(maps + "/root").code == 200);
    CHECK_FALSE(server.field(maps + "/child", {"metadata", "deletionTimestamp"}).empty());
    REQUIRE(server.merge(maps + "/child", R"({"metadata":{"finalizers":null}})").code == 200);
    server.store.settle();
    CHECK(server.get(maps + "/child").code == 404);
    CHECK(server.get(maps + "/root").code == 404);
}

TEST_CASE("an eviction deletes, unless a disruption budget is used up") {
    asking server;
    const auto evict = [&](const std::string& name) {
        return server.post(pods + "/" + name + "/eviction",
                           R"({"metadata":{"name":")" + name + R"("}})");
    };
    for (const char* name : {"a", "b"}) {
        REQUIRE(server.pod(name, "1", "", R"(,"labels":{"app":"x"})").code == 201);
        REQUIRE(server.bind(name, "n").code == 201);
        REQUIRE(server
                    .strategic(pods + "/" + name + "/status",
                               R"({"status":{"phase":"Running","conditions":)"
                               R"([{"type":"Ready","status":"True"}]}})")
                    .code == 200);
    }
    REQUIRE(server
                .post("/apis/policy/v1/namespaces/default/poddisruptionbudgets",
                      R"({"metadata":{"name":"keep-one"},"spec":{"minAvailable":1,)"
                      R"("selector":{"matchLabels":{"app":"x"}}}})")
                .code == 201);
    CHECK(evict("a").code == 201);
    CHECK_FALSE(server.field(pods + "/a", {"metadata", "deletionTimestamp"}).empty());
    CHECK(verdict(evict("b")) == "429 TooManyRequests");
    CHECK(verdict(evict("c")) == "404 NotFound");
}

TEST_CASE("a dry run answers and changes nothing") {
    asking server;
    const auto before = server.store.objects().version();
    CHECK(server
              .post(pods + "?dryRun=All",
                    R"({"metadata":{"name":"a"},"spec":{"containers":[{"name":"c","image":"i"}]}})")
              .code == 201);
    CHECK(server.store.objects().version() == before);
}

TEST_CASE("tables show pods as kubectl prints them") {
    asking server;
    REQUIRE(server.pod("a").code == 201);
    server.pass(125);
    const answer made =
        server.ask("GET", pods, "", "", "application/json;as=Table;v=v1;g=meta.k8s.io");
    REQUIRE(text_at(made.body, {"kind"}) == "Table");
    const json::array& rows = *array_at(made.body, {"rows"});
    REQUIRE(rows.size() == 1);
    const json::array expected{"a",      "0/1",    "Pending", "0",     "2m5s",
                               "<none>", "<none>", "<none>",  "<none>"};
    CHECK(*array_at(rows[0].as_object(), {"cells"}) == expected);
    CHECK(text_at(rows[0].as_object(), {"object", "metadata", "name"}) == "a");
}

} // namespace api_server_test
