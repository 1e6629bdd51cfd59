// SPDX-License-Identifier: Apache-2.0
#include <muster/kube/order_requests.hpp>

#include <string>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <doctest/doctest.h>

#include <muster/input/cluster.hpp>

namespace kube_order_requests_test {

using namespace muster::kube;
namespace adapter = muster::adapter;
namespace json = boost::json;

TEST_CASE("every write names the uid of its object") {
    const muster::codec::object_key pod{"team", "a/b"};
    const http_request binds = bind_request(pod, "u1", "node-a");
    CHECK(binds.method == http_method::post);
    CHECK(binds.path == "/api/v1/namespaces/team/pods/a%2Fb/binding");
    const json::value binding = json::parse(binds.body);
    CHECK(binding.at("metadata").at("uid").as_string() == "u1");
    CHECK(binding.at("target").at("name").as_string() == "node-a");

    const http_request evicts = evict_request(pod, "u1");
    CHECK(evicts.path.ends_with("/eviction"));
    CHECK(json::parse(evicts.body).at("deleteOptions").at("preconditions").at("uid").as_string() ==
          "u1");

    const http_request ungates = ungate_request(pod, "u1");
    CHECK(ungates.method == http_method::patch);
    CHECK(ungates.body == R"({"metadata":{"uid":"u1"},"spec":{"schedulingGates":[]}})");

    const http_request tells = status_request("/x/y", "u1", {{"running", 1}});
    CHECK(tells.path == "/x/y/status");
    CHECK(tells.content_type == merge_patch_type);
    CHECK(tells.body == R"({"metadata":{"uid":"u1"},"status":{"running":1}})");
}

TEST_CASE("a merge patch holds what differs, and takes away what is no more") {
    const auto patch = [](const char* from, const char* to) {
        return json::serialize(
            merge_patch(json::parse(from).as_object(), json::parse(to).as_object()));
    };
    CHECK(patch(R"({"a":1,"b":[1]})", R"({"b":[1],"a":1})") == "{}");
    CHECK(patch(R"({"a":1})", R"({"a":2})") == R"({"a":2})");
    CHECK(patch(R"({"a":1,"b":2})", R"({"b":2})") == R"({"a":null})");
    CHECK(patch(R"({"a":{"x":1,"y":2}})", R"({"a":{"x":1,"z":3}})") == R"({"a":{"y":null,"z":3}})");
    CHECK(patch(R"({"a":[1,2]})", R"({"a":[1]})") == R"({"a":[1]})");
    CHECK(patch(R"({"a":{"x":1}})", R"({"a":7})") == R"({"a":7})");
    CHECK(patch("{}", R"({"a":{}})") == R"({"a":{}})");
}

TEST_CASE("an event says in words what happened") {
    using order = adapter::event_order<muster::codec::kubernetes_traits<4>>;
    order of;
    of.reason = adapter::event_reason::bound;
    of.count = 1;
    CHECK(words_of(of).note == "1 pod is bound");
    CHECK(words_of(of).type == "Normal");
    of.count = 4;
    CHECK(words_of(of).note == "4 pods are bound");
    of.reason = adapter::event_reason::waiting;
    of.at = muster::gate::quota;
    CHECK(words_of(of).note == "its queue's quota stops it");
    of.message = "cpu is short by 3";
    CHECK(words_of(of).note == "cpu is short by 3");
    of.reason = adapter::event_reason::bind_failed;
    CHECK(words_of(of).type == "Warning");
    of.reason = adapter::event_reason::evicted;
    of.why = adapter::eviction_cause::preempted;
    CHECK(words_of(of).note == "4 pods are evicted, for a gang of higher rank");
}

} // namespace kube_order_requests_test
