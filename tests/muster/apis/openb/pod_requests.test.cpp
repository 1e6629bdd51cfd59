// SPDX-License-Identifier: Apache-2.0
#include <muster/apis/openb/pod_requests.hpp>

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "muster/apis/shares/share_texts.hpp"

namespace openb_pod_requests_test {

using namespace share_texts;
using muster::memory_part;
using muster::share_memory;
using muster::whole_memory;

namespace {

/// Annotations of openb, without their prefix.
pod_share_requests read(const std::vector<std::string>& annotations,
                        const std::string& limits = "{}") {
    std::string text;
    for (const std::string& each : annotations)
        text += (text.empty() ? "alibabacloud.com/gpu-" : ", alibabacloud.com/gpu-") + each;
    read_object pod(pod_text({limits}, "{" + text + "}"));
    return read_openb_requests(pod.metadata, pod.containers, pod.out);
}

muster::share_request one(const std::vector<std::string>& annotations) {
    const pod_share_requests made = read(annotations);
    REQUIRE(made.unsupported.empty());
    REQUIRE(made.requests.size() == 1);
    return made.requests[0].request;
}

} // namespace

TEST_CASE("thousandths are a share of the memory and, rounded up, of the cores of each GPU") {
    const muster::share_request share = one({"milli: '455'", "count: '1'"});
    CHECK(share.memory == share_memory(memory_part{455, 1000}));
    CHECK(share.cores == 46);
    CHECK(share.count == 1);
    const muster::share_request whole = one({"milli: '1000'", "count: '8'"});
    CHECK(whole.memory == share_memory(whole_memory{}));
    CHECK(whole.cores == 100);
    CHECK(whole.count == 8);
    CHECK(read({"milli: '0'", "count: '1'"}).empty());
    CHECK(read({"count: '1'"}).empty());
}

TEST_CASE("a pod names models between bars, and GPUs by their indices") {
    using words = std::vector<std::string>;
    CHECK(one({"milli: '1'", "count: '1'", "card-model: V100M16|T4"}).filter.model_names ==
          words{"V100M16", "T4"});
    CHECK_FALSE(one({"milli: '1'", "count: '1'", "card-model: '|'"}).filter.model_names);
    CHECK(one({"milli: '1'", "count: '2'", "index: 2-3"}).filter.ids == words{"2", "3"});
    CHECK_FALSE(one({"milli: '1'", "count: '1'", "index: ''"}).filter.ids);
}

TEST_CASE("nvidia.com/gpu requests idle GPUs of openb") {
    const pod_share_requests made = read({}, "{nvidia.com/gpu: 2}");
    REQUIRE(made.requests.size() == 1);
    CHECK(made.requests[0].request.count == 2);
    CHECK(made.requests[0].request.needs_idle);
}

TEST_CASE("annotations of openb that are not numbers in range are refused") {
    for (const std::vector<std::string>& wrong :
         std::vector<std::vector<std::string>>{{"milli: '1001'", "count: '1'"},
                                               {"milli: '-1'", "count: '1'"},
                                               {"milli: half", "count: '1'"},
                                               {"milli: '500'"},
                                               {"milli: '500'", "count: '0'"},
                                               {"milli: '500'", "count: '2'", "index: '1'"},
                                               {"milli: '500'", "count: '2'", "index: 1-1"},
                                               {"milli: '500'", "count: '1'", "index: a"}}) {
        CAPTURE(wrong.front());
        const pod_share_requests made = read(wrong);
        CHECK(made.requests.empty());
        CHECK(made.unsupported.size() == 1);
    }
    CHECK(read({"milli: '500'", "count: '1'"}, "{nvidia.com/gpu: 1}").unsupported.size() == 1);
}

} // namespace openb_pod_requests_test
