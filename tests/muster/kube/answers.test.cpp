// SPDX-License-Identifier: Apache-2.0
#include <muster/kube/answers.hpp>

#include <string>

#include <doctest/doctest.h>

namespace kube_answers_test {

using namespace muster::kube;
using muster::adapter::outcome;

namespace {

http_answer answer(int status, const std::string& message = {}) {
    http_answer made;
    made.status = status;
    made.body = R"({"kind":"Status","code":)" + std::to_string(status) +
                R"(,"reason":"Conflict",)" + R"("message":")" + message + R"("})";
    return made;
}

} // namespace

TEST_CASE("what became of a write is told by code, and a conflict by its words") {
    CHECK(judge(answer(201)).what == outcome::applied);
    CHECK(judge(answer(404)).what == outcome::gone);
    CHECK(judge(answer(409, "the UID in the precondition (a) does not match the UID in record (b). "
                            "The object might have been deleted and then recreated"))
              .what == outcome::replaced);
    CHECK(judge(answer(409, "Precondition failed: UID in precondition: a, UID in object meta: b"))
              .what == outcome::replaced);
    CHECK(judge(answer(409, "pod web-0 has non-empty .spec.schedulingGates")).what ==
          outcome::gated);
    CHECK(judge(answer(409, "pod web-0 is already assigned to node x")).what == outcome::conflict);
    CHECK(judge(answer(400)).what == outcome::refused);
    CHECK(judge(answer(403)).what == outcome::refused);
    CHECK(judge(answer(413)).what == outcome::refused);
    CHECK(judge(answer(422)).what == outcome::refused);
    CHECK(judge(answer(401)).what == outcome::transient);
    CHECK(judge(answer(429)).what == outcome::transient);
    CHECK(judge(answer(503)).what == outcome::transient);
    CHECK(judge(answer(500)).what == outcome::unknown);
    CHECK(judge(answer(504)).what == outcome::unknown);
    CHECK(judge(answer(302)).what == outcome::unknown);
}

TEST_CASE("a request that never left did nothing, a lost answer says nothing") {
    http_answer lost;
    lost.fault = http_fault::no_answer;
    lost.what = "POST /x: reset";
    CHECK(judge(lost).what == outcome::unknown);
    CHECK(judge(lost).message == "POST /x: reset");
    lost.fault = http_fault::not_sent;
    CHECK(judge(lost).what == outcome::transient);
    // The head said 201 and then the body broke off.
    lost.status = 201;
    lost.fault = http_fault::no_answer;
    CHECK(judge(lost).what == outcome::unknown);
}

TEST_CASE("a wait that is asked for is found in the head or the body, and bounded") {
    http_answer busy = answer(429);
    CHECK_FALSE(judge(busy).retry_after);
    busy.retry_after = 7 * second;
    CHECK(judge(busy).retry_after == 7 * second);
    busy.retry_after = 100'000 * second;
    CHECK(judge(busy).retry_after == longest_retry_after);
    busy.retry_after.reset();
    busy.body = R"({"kind":"Status","details":{"retryAfterSeconds":3}})";
    CHECK(judge(busy).retry_after == 3 * second);
    busy.body = R"({"kind":"Status","details":{"retryAfterSeconds":9223372036854775807}})";
    CHECK(judge(busy).retry_after == longest_retry_after);
}

TEST_CASE("bodies that are no Status leave the code alone to tell, whatever they hold") {
    for (const char* body : {"", "<html>", "[1]", "{", R"({"kind":"Status","message":7})",
                             R"({"kind":"Pod","message":"UID in precondition"})"}) {
        http_answer odd;
        odd.status = 409;
        odd.body = body;
        CHECK(judge(odd).what == outcome::conflict);
    }
    http_answer deep;
    deep.status = 409;
    for (int i = 0; i < 100'000; ++i)
        deep.body += "[";
    CHECK(judge(deep).what == outcome::conflict);
}

TEST_CASE("foreign text in a message cannot break out of its line") {
    const std::string said = judge(answer(403, "no\\nTIME admin logged in\\u001b[2J")).message;
    CHECK(said.find('\n') == std::string::npos);
    CHECK(said.find('\x1b') == std::string::npos);
    CHECK(said.find("HTTP 403") == 0);
}

} // namespace kube_answers_test
