// SPDX-License-Identifier: Apache-2.0
#include <muster/kube/lease.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <doctest/doctest.h>

#include <muster/testing/random.hpp>
#include <support/settings.hpp>

namespace kube_lease_test {

using namespace muster::kube;
namespace json = boost::json;

namespace {

instant at(std::int64_t steady) {
    return {steady, 1'700'000'000 * second + steady};
}

/// Holds one Lease, as an API server does.
class store {
public:
    http_answer serve(const http_request& asked) {
        http_answer made;
        if (asked.method == http_method::get) {
            if (!held_)
                return refusal(404);
            return given(200);
        }
        json::object body = json::parse(asked.body).as_object();
        json::object& metadata = body["metadata"].as_object();
        if (asked.method == http_method::post) {
            if (held_)
                return refusal(409);
        } else if (!held_) {
            return refusal(404);
        } else if (metadata["resourceVersion"].as_string() != std::to_string(version_)) {
            return refusal(409);
        }
        metadata["resourceVersion"] = std::to_string(++version_);
        metadata["uid"] = "u";
        held_ = std::move(body);
        return given(asked.method == http_method::post ? 201 : 200);
    }
    [[nodiscard]] json::value spec(const char* key) const {
        return held_->at("spec").as_object().at(key);
    }
    [[nodiscard]] std::string holder() const {
        const json::value name = spec("holderIdentity");
        return {name.as_string().data(), name.as_string().size()};
    }
    void remove() { held_.reset(); }
    static http_answer refusal(int status) {
        http_answer made;
        made.status = status;
        return made;
    }

private:
    http_answer given(int status) const {
        http_answer made;
        made.status = status;
        made.body = json::serialize(*held_);
        return made;
    }
    std::optional<json::object> held_;
    std::int64_t version_ = 0;
};

lease_options named(const std::string& who) {
    lease_options how;
    how.name_space = "muster";
    how.name = "scheduler";
    how.identity = who;
    return how;
}

/// Lets it ask whatever is due, at once.
void turn(lease& who, store& server, std::int64_t now) {
    for (int i = 0; i < 4; ++i)
        if (const auto asked = who.next(at(now)))
            who.done(server.serve(*asked), at(now));
}

/// Turns every 100 ms.
void run(lease& who, store& server, std::int64_t& now, std::int64_t span) {
    for (const std::int64_t end = now + span; now < end; now += 100 * millisecond)
        turn(who, server, now);
}

} // namespace

TEST_CASE("where there is no lease it is made, and led at once") {
    store server;
    lease a(named("a"));
    CHECK(a.term() == 0);
    turn(a, server, 0);
    CHECK(a.leads(0));
    CHECK(a.term() == 1);
    CHECK(server.holder() == "a");
    CHECK(server.spec("leaseTransitions").as_int64() == 0);
    CHECK(server.spec("leaseDurationSeconds").as_int64() == 15);
    CHECK(server.spec("renewTime").as_string() == "2023-11-14T22:13:20.000000Z");
}

TEST_CASE("a leader renews, and stays the leader of one term") {
    store server;
    lease a(named("a"));
    std::int64_t now = 0;
    run(a, server, now, 5 * minute);
    CHECK(a.leads(now));
    CHECK(a.term() == 1);
    CHECK(server.spec("leaseTransitions").as_int64() == 0);
    CHECK(server.spec("acquireTime").as_string() == "2023-11-14T22:13:20.000000Z");
    CHECK(server.spec("renewTime").as_string() != "2023-11-14T22:13:20.000000Z");
}

TEST_CASE("a candidate takes over when it saw the same record for a whole lease, not before") {
    store server;
    lease a(named("a"));
    std::int64_t now = 0;
    run(a, server, now, 5 * second);
    lease b(named("b"));
    const std::int64_t began = now;
    run(b, server, now, 15 * second - 100 * millisecond);
    CHECK_FALSE(b.leads(now));
    run(b, server, now, 3 * second);
    CHECK(b.leads(now));
    CHECK(now - began < 18 * second + 1);
    CHECK(server.holder() == "b");
    CHECK(server.spec("leaseTransitions").as_int64() == 1);
    turn(a, server, now);
    CHECK_FALSE(a.leads(now));
}

TEST_CASE("a record that moves on is no chance, whatever its times say") {
    store server;
    // The leader's wall clock stands an hour back.
    lease a(named("a"));
    lease b(named("b"));
    for (std::int64_t now = 0; now < 3 * minute; now += 500 * millisecond) {
        const instant slow{now, now};
        if (const auto asked = a.next(slow))
            a.done(server.serve(*asked), slow);
        if (const auto asked = b.next(at(now)))
            b.done(server.serve(*asked), at(now));
        CHECK_FALSE(b.leads(now));
    }
}

TEST_CASE("no write may be started once the last renewal is a deadline old") {
    store server;
    lease a(named("a"));
    std::int64_t now = 0;
    run(a, server, now, 3 * second);
    const std::int64_t until = a.leads_until();
    CHECK(a.leads(until - 1));
    CHECK_FALSE(a.leads(until));
    // The answers are slow: the renewal counts from when it was sent.
    lease slow(named("slow"));
    store other;
    turn(slow, other, 0);
    now = slow.wakes();
    const auto asked = slow.next(at(now));
    REQUIRE(asked);
    CHECK(asked->method == http_method::put);
    slow.done(other.serve(*asked), at(now + 4 * second));
    CHECK(slow.leads_until() == now + 10 * second);
}

TEST_CASE("a process that was frozen does not lead when it wakes up") {
    store server;
    lease a(named("a"));
    std::int64_t now = 0;
    run(a, server, now, 3 * second);
    now += 20 * second;
    CHECK_FALSE(a.leads(now));
    // Nobody else came: it leads again, in another term.
    run(a, server, now, second);
    CHECK(a.leads(now));
    CHECK(a.term() == 2);
}

TEST_CASE("a renewal whose answer is lost is looked after, and the leader goes on") {
    store server;
    lease a(named("a"));
    turn(a, server, 0);
    std::int64_t now = a.wakes();
    const auto asked = a.next(at(now));
    REQUIRE(asked);
    static_cast<void>(server.serve(*asked));
    http_answer lost;
    lost.fault = http_fault::no_answer;
    lost.what = "lost";
    a.done(lost, at(now));
    CHECK(a.trouble() == "lost");
    run(a, server, now, 4 * second);
    CHECK(a.leads(now));
    CHECK(a.term() == 1);
    CHECK(a.trouble().empty());
}

TEST_CASE("what hinders the making of a lease is said until it is made") {
    lease a(named("a"));
    http_answer missing;
    missing.status = 404;
    std::string said;
    for (int turn = 0; turn < 8; ++turn) {
        const std::int64_t now = a.wakes();
        const auto asked = a.next(at(now));
        REQUIRE(asked);
        a.done(missing, at(now));
        if (turn > 0) {
            CHECK_FALSE(a.trouble().empty());
            CHECK((turn == 1 || a.trouble() == said));
        }
        said = a.trouble();
    }
    store server;
    std::int64_t now = a.wakes();
    run(a, server, now, 4 * second);
    CHECK(a.leads(now));
    CHECK(a.trouble().empty());
}

TEST_CASE("of two that write at once one leads") {
    store server;
    lease a(named("a"));
    lease b(named("b"));
    const auto looks_a = a.next(at(0));
    const auto looks_b = b.next(at(0));
    a.done(server.serve(*looks_a), at(0));
    b.done(server.serve(*looks_b), at(0));
    const auto takes_a = a.next(at(0));
    const auto takes_b = b.next(at(0));
    REQUIRE(takes_a);
    REQUIRE(takes_b);
    b.done(server.serve(*takes_b), at(0));
    a.done(server.serve(*takes_a), at(0));
    CHECK(b.leads(1));
    CHECK_FALSE(a.leads(1));
}

TEST_CASE("a lease that was given up is taken at once") {
    store server;
    lease a(named("a"));
    std::int64_t now = 0;
    run(a, server, now, 3 * second);
    CHECK_FALSE(a.released());
    a.release();
    CHECK_FALSE(a.leads(now));
    turn(a, server, now);
    CHECK(a.released());
    CHECK(server.holder().empty());
    lease b(named("b"));
    turn(b, server, now);
    CHECK(b.leads(now));
    // What never led has nothing to give up.
    lease c(named("c"));
    c.release();
    CHECK(c.released());
}

TEST_CASE("a lease that is deleted is made anew by its leader") {
    store server;
    lease a(named("a"));
    std::int64_t now = 0;
    run(a, server, now, 3 * second);
    server.remove();
    run(a, server, now, 5 * second);
    CHECK(a.leads(now));
    CHECK(server.holder() == "a");
}

TEST_CASE("odd records do not crash and do not lead") {
    for (const char* body :
         {"", "[]", "{}", R"({"metadata":{"resourceVersion":"1"}})",
          R"({"metadata":{"resourceVersion":"1"},"spec":{"holderIdentity":"x",)"
          R"("leaseDurationSeconds":9223372036854775807,"leaseTransitions":"a"}})"}) {
        lease a(named("a"));
        REQUIRE(a.next(at(0)));
        http_answer odd;
        odd.status = 200;
        odd.body = body;
        a.done(odd, at(0));
        CHECK_FALSE(a.leads(0));
        CHECK(a.wakes() >= 0);
    }
}

TEST_CASE("never do two lead, whatever is lost, late or frozen") {
    const std::uint64_t cases = muster::testing::case_count(200);
    for (std::uint64_t seed = 1; seed <= cases; ++seed) {
        CAPTURE(seed);
        muster::testing::random chance(seed);
        store server;
        struct process {
            lease who;
            std::int64_t offset;
            std::optional<http_request> asked;
            std::optional<http_answer> answer;
            std::int64_t frozen_until = 0;
        };
        std::vector<process> all;
        for (int i = 0; i < 3; ++i) {
            lease_options how = named("p" + std::to_string(i));
            how.seed = seed * 3 + static_cast<std::uint64_t>(i);
            // Their clocks have nothing in common but their rate.
            all.push_back({lease(how), chance.between(0, 1000) * second, {}, {}, 0});
        }
        bool led = false;
        for (std::int64_t now = 0; now < 5 * minute; now += 200 * millisecond) {
            for (process& each : all) {
                if (now < each.frozen_until)
                    continue;
                if (chance.percent(1) && chance.percent(50))
                    each.frozen_until = now + chance.between(1, 30) * second;
                const instant own = at(now + each.offset);
                if (!each.asked) {
                    each.asked = each.who.next(own);
                } else if (!each.answer && chance.percent(60)) {
                    if (chance.percent(10)) {
                        if (chance.percent(50))
                            static_cast<void>(server.serve(*each.asked));
                        each.answer.emplace();
                        each.answer->fault = http_fault::no_answer;
                    } else {
                        each.answer = server.serve(*each.asked);
                    }
                } else if (each.answer && chance.percent(70)) {
                    each.who.done(*std::exchange(each.answer, {}), own);
                    each.asked.reset();
                }
            }
            const auto leaders = std::ranges::count_if(
                all, [&](const process& each) { return each.who.leads(now + each.offset); });
            REQUIRE(leaders <= 1);
            led |= leaders == 1;
        }
        CHECK(led);
    }
}

} // namespace kube_lease_test
