// SPDX-License-Identifier: Apache-2.0
#include <muster/apis/openb/pod_shares.hpp>

#include <string>

#include <doctest/doctest.h>

#include "muster/apis/shares/share_texts.hpp"

namespace openb_pod_shares_test {

using namespace share_texts;

TEST_CASE("a pod holds its thousandths of each GPU that its index names") {
    object_metadata pod = annotated("alibabacloud.com/gpu-index", "2-3");
    pod.annotations.set("alibabacloud.com/gpu-milli", "400");
    diagnostics out;
    const auto read = read_openb_pod(pod, out);
    REQUIRE(read);
    CHECK(read->unread.empty());
    REQUIRE(read->shares.size() == 2);
    CHECK(read->shares[1].device == "3");
    CHECK(read->shares[1].memory == muster::share_memory(muster::memory_amount{400}));
    CHECK(openb_marks({{0, "2", 400, 40}, {0, "3", 400, 40}})
              .annotations.at("alibabacloud.com/gpu-index") == "2-3");
    CHECK(out.findings().empty());
}

TEST_CASE("a pod without an index holds nothing, and one that cannot be read is unknown") {
    diagnostics out;
    CHECK_FALSE(read_openb_pod(annotated("alibabacloud.com/gpu-milli", "400"), out));
    CHECK_FALSE(read_openb_pod(annotated("alibabacloud.com/gpu-index", ""), out));
    for (const char* const index : {"2-", "a", "1-1", "1"}) {
        CAPTURE(index);
        const auto read = read_openb_pod(annotated("alibabacloud.com/gpu-index", index), out);
        REQUIRE(read);
        CHECK_FALSE(read->unread.empty());
        CHECK(read->shares.empty());
    }
    CHECK(out.warnings() == 4);
}

} // namespace openb_pod_shares_test
