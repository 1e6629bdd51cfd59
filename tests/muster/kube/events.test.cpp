// SPDX-License-Identifier: Apache-2.0
#include <muster/kube/events.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <boost/json/parse.hpp>
#include <doctest/doctest.h>

namespace kube_events_test {

using namespace muster::kube;
namespace json = boost::json;

namespace {

instant at(std::int64_t steady) {
    return {steady, 1'700'000'000 * second + steady};
}

event_options muster_events() {
    event_options how;
    how.controller = "muster.dev/scheduler";
    how.instance = "muster-0";
    return how;
}

object_reference group(const std::string& uid = "u1") {
    return {"scheduler.tensorstack.dev/v1beta1", "PodGroup", {"team", "train"}, uid};
}

http_answer status(int code) {
    http_answer made;
    made.status = code;
    return made;
}

/// Everything that is due, answered by `code`.
std::vector<http_request> sent(event_recorder& from, std::int64_t now, int code = 201) {
    std::vector<http_request> all;
    while (auto one = from.next(at(now))) {
        all.push_back(one->second);
        from.done(one->first, status(code), at(now));
    }
    return all;
}

} // namespace

TEST_CASE("an event says what happened to which object, and who says so") {
    event_recorder of(muster_events());
    CHECK(of.wakes() == never_comes);
    of.record(group(), "Normal", "GangBound", "Binding", "4 of 4 pods are bound", at(0));
    const auto all = sent(of, 0);
    REQUIRE(all.size() == 1);
    CHECK(all[0].method == http_method::post);
    CHECK(all[0].path == "/api/v1/namespaces/team/events");
    const json::value body = json::parse(all[0].body);
    CHECK(body.at("involvedObject").at("uid").as_string() == "u1");
    CHECK(body.at("reason").as_string() == "GangBound");
    CHECK(body.at("action").as_string() == "Binding");
    CHECK(body.at("firstTimestamp").as_string() == "2023-11-14T22:13:20Z");
    CHECK(body.at("count").as_int64() == 1);
    CHECK(body.at("metadata").at("name").as_string().find("train.") == 0);
    CHECK(sent(of, minute).empty());
}

TEST_CASE("the same again becomes a count, written now and then") {
    event_recorder of(muster_events());
    int writes = 0;
    for (std::int64_t now = 0; now < 10 * minute; now += second) {
        of.record(group(), "Warning", "GangWaits", "Scheduling", "no room", at(now));
        for (const http_request& each : sent(of, now)) {
            if (++writes == 1)
                continue;
            CHECK(each.method == http_method::patch);
            CHECK(each.content_type == merge_patch_type);
            CHECK(json::parse(each.body).at("count").as_int64() == now / second + 1);
        }
    }
    CHECK(writes >= 15);
    CHECK(writes <= 21);
}

TEST_CASE("after a while of silence the same is a new event, and so is another object") {
    event_recorder of(muster_events());
    of.record(group(), "Normal", "GangBound", "Binding", "", at(0));
    CHECK(sent(of, 0).size() == 1);
    of.record(group(), "Normal", "GangBound", "Binding", "", at(20 * minute));
    const auto again = sent(of, 20 * minute);
    REQUIRE(again.size() == 1);
    CHECK(again[0].method == http_method::post);
    of.record(group("u2"), "Normal", "GangBound", "Binding", "", at(20 * minute));
    CHECK(sent(of, 20 * minute).size() == 1);
}

TEST_CASE("events never exceed their pace") {
    event_options how = muster_events();
    how.pace = {10, 20};
    event_recorder of(how);
    for (int i = 0; i < 500; ++i)
        of.record(group("u" + std::to_string(i)), "Normal", "GangBound", "Binding", "", at(0));
    CHECK(sent(of, 0).size() == 20);
    std::size_t all = 20;
    std::int64_t now = 0;
    while (all < 500 && now < 100 * second) {
        now = of.wakes();
        all += sent(of, now).size();
    }
    CHECK(all == 500);
    CHECK(now == 48 * second);
}

TEST_CASE("what cannot be written is tried three times, and what is forbidden once") {
    event_recorder of(muster_events());
    of.record(group(), "Normal", "GangBound", "Binding", "", at(0));
    std::size_t tries = 0;
    for (std::int64_t now = 0; now < minute; now += second)
        tries += sent(of, now, 500).size();
    CHECK(tries == 3);
    CHECK(of.dropped() == 1);
    of.record(group("u2"), "Normal", "GangBound", "Binding", "", at(minute));
    for (std::int64_t now = minute; now < 2 * minute; now += second)
        tries += sent(of, now, 403).size();
    CHECK(tries == 4);
}

TEST_CASE("a hostile note is cut, and too many events are dropped and counted") {
    event_options how = muster_events();
    how.most = 3;
    event_recorder of(how);
    std::string note;
    while (note.size() < 5000)
        note += "ä";
    for (int i = 0; i < 5; ++i)
        of.record(group("u" + std::to_string(i)), "Normal", "GangBound", "Binding", note, at(0));
    CHECK(of.dropped() == 2);
    const auto all = sent(of, 0);
    CHECK(all.size() == 3);
    const json::value body = json::parse(all[0].body);
    CHECK(body.at("message").as_string().size() <= 1024);
    CHECK(body.at("message").as_string().size() > 1000);
}

} // namespace kube_events_test
