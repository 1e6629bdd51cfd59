// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstdint>
#include <string>

#include "../../../examples/muster/live/schedule_metrics.hpp"
#include "../builders.hpp"

namespace cli_schedule_metrics_test {

using namespace builders;
using namespace muster;

const auto none_held = [](const auto&) { return false; };

TEST_CASE("pending gangs are counted by queue and gate, and unknown queues have one label") {
    cluster known;
    cluster::queue_type queue;
    ok(known.upsert_queue("q \"1\"", queue));
    ok(known.upsert_gang("a", gang_of(2, "q \"1\"")));
    ok(known.upsert_pod("a-0", "a", asking(1)));
    for (const char* each : {"x", "y"}) {
        ok(known.upsert_gang(each, gang_of(1, std::string("unknown-") + each)));
        ok(known.upsert_pod(std::string(each) + "-0", each, asking(1)));
    }
    static_cast<void>(cycle(known, 0));
    kube::metrics_writer out;
    cli::write_pending_gangs(known, none_held, out);
    CHECK(out.text().find("muster_pending_gangs{queue=\"q \\\"1\\\"\",gate=\"members\"} 1\n") !=
          std::string::npos);
    CHECK(out.text().find("muster_pending_gangs{queue=\"\",gate=\"queue\"} 2\n") !=
          std::string::npos);
    CHECK(out.text().find("unknown") == std::string::npos);
    kube::metrics_writer held;
    cli::write_pending_gangs(
        known, [](const auto& key) { return key == "a"; }, held);
    CHECK(held.text().find("gate=\"held\"} 1\n") != std::string::npos);
}

TEST_CASE("use and quota of queues are written per resource, cpu in cores") {
    cluster known;
    kind_table kinds;
    static_cast<void>(kinds.intern("cpu"));
    cluster::queue_type queue;
    queue.quota.set(kind_id{0}, 2500);
    ok(known.upsert_queue("q", queue));
    kube::metrics_writer out;
    cli::write_queues(known, kinds, out);
    CHECK(out.text().find("muster_queue_used{queue=\"q\",resource=\"cpu\"} 0\n") !=
          std::string::npos);
    CHECK(out.text().find("muster_queue_quota{queue=\"q\",resource=\"cpu\"} 2.5\n") !=
          std::string::npos);
}

TEST_CASE("attempts are counted by result") {
    adapter::driver_counters count;
    count.failed = 1;
    count.attempts.scheduled = 3;
    kube::metrics_writer out;
    cli::write_attempts(count, out);
    CHECK(out.text().find("{result=\"scheduled\"} 3\n") != std::string::npos);
    CHECK(out.text().find("{result=\"error\"} 1\n") != std::string::npos);
}

} // namespace cli_schedule_metrics_test
