// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <muster/model/taints.hpp>

namespace model_taints_test {

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

TEST_CASE("a condition's taint is known by its prefix") {
    CHECK(taint{"node.kubernetes.io/not-ready", "", {}}.is_condition());
    CHECK_FALSE(taint{"node.kubernetes.io", "", {}}.is_condition());
    CHECK_FALSE(taint{"my/node.kubernetes.io/x", "", {}}.is_condition());
}

} // namespace

} // namespace model_taints_test
