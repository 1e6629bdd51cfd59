// SPDX-License-Identifier: Apache-2.0
#include <muster/kube/dialect.hpp>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

namespace dialect_test {

namespace kube = muster::kube;

namespace {

bool holds(const std::vector<kube::collection>& all, std::string_view kind) {
    return std::ranges::find(all, kind, &kube::collection::kind) != all.end();
}

} // namespace

TEST_CASE("a snapshot holds the templates of claims, which a scheduler does not follow") {
    const std::vector<kube::collection> all = kube::snapshot_collections();
    CHECK(holds(all, "ResourceClaimTemplate"));
    CHECK(all.back().kind == "Pod");
    std::vector<kube::dialect> every;
    for (const kube::dialect_facts& each : kube::dialects)
        every.push_back(each.which);
    const std::vector<kube::collection> followed = kube::collections_of(every);
    CHECK(holds(followed, "ResourceClaim"));
    CHECK(!holds(followed, "ResourceClaimTemplate"));
}

} // namespace dialect_test
