// SPDX-License-Identifier: Apache-2.0
#include <muster/kube/metrics.hpp>

#include <array>
#include <cstdint>

#include <doctest/doctest.h>

namespace kube_metrics_test {

using namespace muster::kube;

TEST_CASE("metrics are written as Prometheus reads them") {
    metrics_writer out;
    out.family("muster_binds_total", "counter", "Binds by outcome.");
    out.sample(std::uint64_t{12}, {{"outcome", "applied"}});
    out.sample(std::uint64_t{1}, {{"outcome", "a \"b\" \\ \n c"}, {"queue", "q"}});
    out.family("muster_gang_partial_seconds", "gauge", "How long.");
    out.seconds(1'250'000'000);
    out.seconds(-1);
    CHECK(out.text() == R"(# HELP muster_binds_total Binds by outcome.
# TYPE muster_binds_total counter
muster_binds_total{outcome="applied"} 12
muster_binds_total{outcome="a \"b\" \\ \n c",queue="q"} 1
# HELP muster_gang_partial_seconds How long.
# TYPE muster_gang_partial_seconds gauge
muster_gang_partial_seconds 1.25
muster_gang_partial_seconds -0.000000001
)");
}

TEST_CASE("an amount in thousandths is written in whole units") {
    metrics_writer out;
    out.family("muster_queue_used", "gauge", "Cores.");
    out.thousandths(2500);
    out.thousandths(-1);
    out.thousandths(4000);
    CHECK(out.text().ends_with("muster_queue_used 2.5\nmuster_queue_used -0.001\n"
                               "muster_queue_used 4\n"));
}

TEST_CASE("a histogram counts what is up to each bound, bounds included") {
    span_histogram<2> spans(std::array<std::int64_t, 2>{millisecond, second});
    for (const std::int64_t each : {std::int64_t{0}, millisecond, millisecond + 1, 2 * second})
        spans.observe(each);
    metrics_writer out;
    out.family("muster_cycle_seconds", "histogram", "Of a cycle.");
    out.histogram(spans);
    CHECK(out.text() == R"(# HELP muster_cycle_seconds Of a cycle.
# TYPE muster_cycle_seconds histogram
muster_cycle_seconds_bucket{le="0.001"} 2
muster_cycle_seconds_bucket{le="1"} 3
muster_cycle_seconds_bucket{le="+Inf"} 4
muster_cycle_seconds_sum 2.002000001
muster_cycle_seconds_count 4
)");
}

} // namespace kube_metrics_test
