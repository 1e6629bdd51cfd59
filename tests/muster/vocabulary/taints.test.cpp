// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <muster/vocabulary/taints.hpp>

namespace vocabulary_taints_test {

namespace {

using namespace muster;

const taint gpus_only{"gpu", "yes", taint_effect::no_schedule};

TEST_CASE("a toleration without key, value and effect tolerates everything") {
    CHECK(toleration{}.tolerates(gpus_only));
    CHECK(toleration{}.tolerates({"node.kubernetes.io/not-ready", "", taint_effect::no_execute}));
}

TEST_CASE("what a toleration names must be equal") {
    CHECK(toleration{"gpu", {}, {}}.tolerates(gpus_only));
    CHECK(toleration{"gpu", "yes", {}}.tolerates(gpus_only));
    CHECK(toleration{"gpu", "yes", taint_effect::no_schedule}.tolerates(gpus_only));
    CHECK_FALSE(toleration{"cpu", {}, {}}.tolerates(gpus_only));
    CHECK_FALSE(toleration{"gpu", "no", {}}.tolerates(gpus_only));
    CHECK_FALSE(toleration{"gpu", "yes", taint_effect::no_execute}.tolerates(gpus_only));
}

TEST_CASE("an empty value is a value of its own") {
    CHECK_FALSE(toleration{"gpu", "", {}}.tolerates(gpus_only));
    CHECK(toleration{"gpu", "", {}}.tolerates({"gpu", "", taint_effect::no_schedule}));
}

TEST_CASE("one toleration that fits is enough, and without any nothing is tolerated") {
    CHECK(tolerated(gpus_only, {{"cpu", {}, {}}, {"gpu", {}, {}}}));
    CHECK_FALSE(tolerated(gpus_only, {{"cpu", {}, {}}}));
    CHECK_FALSE(tolerated(gpus_only, {}));
}

TEST_CASE("Gt and Lt compare the taint's number with the toleration's") {
    using enum taint_comparison;
    const auto tolerates = [](taint_comparison op, const char* bound, const char* found) {
        return toleration{"sla", bound, {}, op}.tolerates(
            {"sla", found, taint_effect::no_schedule});
    };
    CHECK(tolerates(greater, "950", "951"));
    CHECK_FALSE(tolerates(greater, "950", "950"));
    CHECK_FALSE(tolerates(greater, "950", "949"));
    CHECK(tolerates(less, "950", "949"));
    CHECK_FALSE(tolerates(less, "950", "950"));
    CHECK(tolerates(less, "0", "-1"));
    CHECK(tolerates(greater, "-9223372036854775808", "9223372036854775807"));
    CHECK_FALSE((toleration{"sla", "1", taint_effect::no_execute, greater}.tolerates(
        {"sla", "2", taint_effect::no_schedule})));
    CHECK_FALSE(
        (toleration{"other", "1", {}, greater}.tolerates({"sla", "2", taint_effect::no_schedule})));
}

TEST_CASE("a value that is not a canonical 64-bit integer compares with nothing") {
    using enum taint_comparison;
    for (const char* wrong : {"", "-", "95.5", "0950", "+5", "-0", "-05", " 5", "5 ", "high", "0x5",
                              "9223372036854775808"}) {
        CAPTURE(wrong);
        CHECK_FALSE((toleration{"k", "1", {}, greater}.tolerates({"k", wrong, {}})));
        CHECK_FALSE((toleration{"k", wrong, {}, less}.tolerates({"k", "-5", {}})));
    }
}

TEST_CASE("a condition's taint is known by its prefix") {
    CHECK(taint{"node.kubernetes.io/not-ready", "", {}}.is_condition());
    CHECK_FALSE(taint{"node.kubernetes.io", "", {}}.is_condition());
    CHECK_FALSE(taint{"my/node.kubernetes.io/x", "", {}}.is_condition());
}

} // namespace

} // namespace vocabulary_taints_test
