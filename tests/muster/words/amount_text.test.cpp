// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <muster/words/amount_text.hpp>

namespace words_amount_text_test {

using muster::words::amount_text;

TEST_CASE("an amount of cpu is in thousandths, every other in units") {
    CHECK(amount_text("cpu", 2500) == "2500m");
    CHECK(amount_text("cpu", 3000) == "3");
    CHECK(amount_text("nvidia.com/gpu", 3000) == "3k");
}

TEST_CASE("kinds that count bytes are written by powers of two") {
    for (const char* kind : {"memory", "ephemeral-storage", "hugepages-2Mi",
                             "fast.storageclass.storage.k8s.io/requests.storage"})
        CHECK(amount_text(kind, std::int64_t{8} << 30) == "8Gi");
    CHECK(amount_text("pods", 1024) == "1024");
}

} // namespace words_amount_text_test
