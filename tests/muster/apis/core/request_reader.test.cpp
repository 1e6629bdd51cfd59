// SPDX-License-Identifier: Apache-2.0
#include <muster/apis/core/request_reader.hpp>

#include <cstdint>
#include <limits>
#include <string>

#include <doctest/doctest.h>

#include <muster/apis/core/pod_reader.hpp>
#include <muster/input/read_documents.hpp>

namespace codec_request_reader_test {

using namespace muster::codec;
using muster::int128;

namespace {

struct read_result {
    named_amounts requests;
    std::string findings;
};

/// Reads a pod from what is in its spec.
read_result read(const std::string& spec) {
    read_result made;
    diagnostics out;
    const auto documents = read_documents("f", "metadata: {name: p}\n" + spec, out);
    REQUIRE(documents.size() == 1);
    reading_context context;
    object_reader root(documents[0], out);
    made.requests = read_pod(root, context).requests;
    for (const diagnostic& finding : out.findings())
        made.findings += to_text(finding) + '\n';
    return made;
}

/// Thousandths of a kind, -1 when the pod does not name it.
std::int64_t milli(const named_amounts& amounts, const std::string& kind) {
    const auto at = amounts.find(kind);
    return at == amounts.end() ? -1 : muster::saturate(at->second.milli);
}

std::int64_t cpu(const std::string& spec) {
    const auto [requests, findings] = read(spec);
    CHECK(findings.empty());
    return milli(requests, "cpu");
}

} // namespace

TEST_CASE("containers ask together") {
    CHECK(cpu(R"(spec:
  containers:
  - resources: {requests: {cpu: 1}}
  - resources: {requests: {cpu: 500m}}
  - {}
)") == 1500);
}

TEST_CASE("init containers run one after the other: only the greatest peak counts") {
    CHECK(cpu(R"(spec:
  initContainers:
  - resources: {requests: {cpu: 3}}
  - resources: {requests: {cpu: 2}}
  containers:
  - resources: {requests: {cpu: 1}}
)") == 3000);
    CHECK(cpu(R"(spec:
  initContainers:
  - resources: {requests: {cpu: 1}}
  containers:
  - resources: {requests: {cpu: 2}}
)") == 2000);
}

TEST_CASE("peaks and sums are compared kind by kind") {
    const auto requests = read(R"(spec:
  initContainers:
  - resources: {requests: {cpu: 3, memory: 1}}
  containers:
  - resources: {requests: {cpu: 1, memory: 2}}
)")
                              .requests;
    CHECK(milli(requests, "cpu") == 3000);
    CHECK(milli(requests, "memory") == 2000);
}

TEST_CASE("a sidecar runs on beside the init containers after it, not beside those before it") {
    CHECK(cpu(R"(spec:
  initContainers:
  - resources: {requests: {cpu: 5}}
  - {restartPolicy: Always, resources: {requests: {cpu: 2}}}
  - resources: {requests: {cpu: 1}}
  containers:
  - resources: {requests: {cpu: 1}}
)") == 5000);
    CHECK(cpu(R"(spec:
  initContainers:
  - {restartPolicy: Always, resources: {requests: {cpu: 2}}}
  - resources: {requests: {cpu: 5}}
  containers:
  - resources: {requests: {cpu: 1}}
)") == 7000);
    CHECK(cpu(R"(spec:
  initContainers:
  - {restartPolicy: Always, resources: {requests: {cpu: 2}}}
  - {restartPolicy: Always, resources: {requests: {cpu: 3}}}
  containers:
  - resources: {requests: {cpu: 1}}
)") == 6000);
    CHECK(cpu(R"(spec:
  initContainers:
  - {restartPolicy: OnFailure, resources: {requests: {cpu: 2}}}
  containers:
  - resources: {requests: {cpu: 1}}
)") == 2000);
}

TEST_CASE("the overhead comes on top of everything") {
    CHECK(cpu(R"(spec:
  overhead: {cpu: 250m}
  initContainers:
  - resources: {requests: {cpu: 3}}
  containers:
  - resources: {requests: {cpu: 1}}
)") == 3250);
    CHECK(cpu(R"(spec:
  overhead: {cpu: 250m}
  resources: {requests: {cpu: 2}}
  containers: [{}]
)") == 2250);
}

TEST_CASE("a limit stands in for a request that is not there, kind by kind") {
    const auto requests = read(R"(spec:
  containers:
  - resources: {limits: {cpu: 2, nvidia.com/gpu: 1}, requests: {cpu: 0}}
)")
                              .requests;
    CHECK(milli(requests, "cpu") == 0);
    CHECK(milli(requests, "nvidia.com/gpu") == 1000);
    CHECK(cpu(R"(spec:
  initContainers:
  - resources: {limits: {cpu: 4}}
  containers: [{}]
)") == 4000);
}

TEST_CASE("pod-level requests replace those of the containers for the kinds that they name") {
    const auto requests = read(R"(spec:
  resources: {requests: {cpu: 1}}
  containers:
  - resources: {requests: {cpu: 4, memory: 1, nvidia.com/gpu: 2}}
)")
                              .requests;
    CHECK(milli(requests, "cpu") == 1000);
    CHECK(milli(requests, "memory") == 1000);
    CHECK(milli(requests, "nvidia.com/gpu") == 2000);
}

TEST_CASE("a pod-level limit stands in only where neither the pod nor a container requests") {
    const std::string limits = "spec:\n  resources: {limits: {cpu: 4, memory: 8}}\n";
    CHECK(cpu(limits + "  containers: [{}]\n") == 4000);
    CHECK(cpu(limits + "  containers: [{resources: {requests: {cpu: 1}}}]\n") == 1000);
    CHECK(cpu(limits + "  initContainers: [{resources: {requests: {cpu: 1}}}]\n" +
              "  containers: [{}]\n") == 1000);
    CHECK(milli(read(limits + "  containers: [{resources: {requests: {cpu: 1}}}]\n").requests,
                "memory") == 8000);
    CHECK(cpu("spec:\n  resources: {limits: {cpu: 4}, requests: {cpu: 3}}\n  containers: [{}]\n") ==
          3000);
}

TEST_CASE("a pod-level limit of huge pages is what the pod requests of them") {
    const auto requests = read(R"(spec:
  resources: {limits: {hugepages-2Mi: 8Mi}}
  containers: [{resources: {limits: {hugepages-2Mi: 4Mi}}}]
)")
                              .requests;
    CHECK(milli(requests, "hugepages-2Mi") == std::int64_t{8 * 1024 * 1024} * 1000);
}

TEST_CASE("what containers cannot share is no pod-level resource") {
    CHECK(
        read("spec:\n  resources: {limits: {nvidia.com/gpu: 1}}\n  containers: [{}]\n").findings ==
        "f:3:14: spec.resources: \"nvidia.com/gpu\" is no pod-level resource (expected cpu, "
        "memory or hugepages-...)\n");
}

TEST_CASE("every pod takes one of pods, and what it writes about that does not count") {
    CHECK(milli(read("spec: {containers: [{resources: {requests: {pods: 5}}}]}").requests,
                "pods") == -1);
}

TEST_CASE("each amount is rounded up to thousandths before the sum, as the API server does it") {
    CHECK(cpu("spec: {containers: [{resources: {requests: {cpu: 0.1m}}}]}") == 1);
    CHECK(cpu(R"(spec:
  containers:
  - resources: {requests: {cpu: 0.4m}}
  - resources: {requests: {cpu: 0.4m}}
)") == 2);
    CHECK(milli(read("spec: {containers: [{resources: {requests: {memory: 0.1m}}}]}").requests,
                "memory") == 1);
    CHECK(cpu("spec: {containers: [{resources: {requests: {cpu: 1e-30}}}]}") == 1);
}

TEST_CASE("amounts beyond int64 saturate and their sums do not wrap") {
    constexpr auto top = std::numeric_limits<std::int64_t>::max();
    const auto requests = read(R"(spec:
  containers:
  - resources: {requests: {memory: 1e300, cpu: 12E}}
  - resources: {requests: {memory: 9Ei, cpu: 12E}}
)")
                              .requests;
    CHECK(requests.at("memory").milli == int128{2} * top * 1000);
    CHECK(requests.at("cpu").milli > int128{top});
    // Between int64 thousandths and int64 units the unit is still exact.
    CHECK(read("spec: {containers: [{resources: {requests: {memory: 9223372036854775806}}}]}")
              .requests.at("memory")
              .milli == int128{9223372036854775806} * 1000);
}

TEST_CASE("a negative request is an error with its place") {
    CHECK(read("spec:\n  containers:\n  - resources: {requests: {cpu: -1m}}\n").findings ==
          "f:4:33: spec.containers[0].resources.requests.cpu: \"-1m\" is negative (expected a "
          "quantity of at least 0)\n");
    CHECK(read("spec:\n  overhead: {memory: -1}\n  containers: [{}]\n").findings ==
          "f:3:22: spec.overhead.memory: \"-1\" is negative (expected a quantity of at least 0)\n");
}

TEST_CASE("a limit below its request is an error at the limit") {
    CHECK(read(R"(spec:
  containers:
  - {}
  - resources:
      requests: {cpu: 2}
      limits:
        cpu: 1999m
)")
              .findings == "f:8:14: spec.containers[1].resources.limits.cpu: the limit of cpu is "
                           "below its request (expected at least the request)\n");
    CHECK(read("spec:\n  resources: {requests: {cpu: 2}, limits: {cpu: 1}}\n  containers: [{}]\n")
              .findings == "f:3:49: spec.resources.limits.cpu: the limit of cpu is below its "
                           "request (expected at least the request)\n");
    CHECK(cpu("spec: {containers: [{resources: {requests: {cpu: 2}, limits: {cpu: 2000m}}}]}") ==
          2000);
}

TEST_CASE("while a pod is resized, the greater of what it asks for and what is set aside counts") {
    CHECK(cpu(R"(spec:
  containers:
  - {name: a, resources: {requests: {cpu: 1}}}
  - {name: b, resources: {requests: {cpu: 1}}}
status:
  containerStatuses:
  - {name: a, allocatedResources: {cpu: 3}}
  - {name: b, allocatedResources: {cpu: 500m}, resources: {requests: {cpu: 2}}}
  - {name: gone, allocatedResources: {cpu: 64}}
)") == 5000);
}

TEST_CASE("an unknown field of resources makes the pod wait, with a warning") {
    CHECK(read("spec:\n  containers:\n  - resources: {request: {cpu: 1}}\n").findings ==
          "f:4:17: warning: spec.containers[0].resources.request: unknown field, and the pod waits "
          "because it may say where the pod may run (expected a field of Kubernetes 1.37; "
          "did you mean requests?)\n");
}

} // namespace codec_request_reader_test
