// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <muster/vocabulary/pod_terms.hpp>

namespace vocabulary_pod_terms_test {

using namespace muster;

namespace {

label_selector is(const char* key, const char* value) {
    return {{{key, label_operator::in, {value}}}};
}

} // namespace

TEST_CASE("a selector speaks of pods by their own labels and those of their tenant") {
    pod_selector which;
    which.labels = is("app", "web");
    const label_set web{{"app", "web"}};
    const label_set red{{"kubernetes.io/metadata.name", "red"}};
    CHECK(which.matches(web, red));
    CHECK(!which.matches({{"app", "db"}}, red));

    which.tenants = {is("kubernetes.io/metadata.name", "blue"), is("team", "a")};
    CHECK(!which.matches(web, red));
    CHECK(which.matches(web, {{"kubernetes.io/metadata.name", "blue"}}));
    CHECK(which.matches(web, {{"team", "a"}}));
}

TEST_CASE("no tenant named is every tenant, and none of a list is no pod") {
    pod_selector which;
    CHECK(which.matches({}, {}));
    which.tenants.emplace();
    CHECK(!which.matches({}, {}));
    which.tenants->push_back({});
    CHECK(which.matches({{"app", "web"}}, {{"team", "a"}}));
}

TEST_CASE("terms that ask for nothing are told") {
    pod_terms terms;
    CHECK(!terms.any());
    terms.spread.emplace_back();
    CHECK(terms.any());
}

} // namespace vocabulary_pod_terms_test
