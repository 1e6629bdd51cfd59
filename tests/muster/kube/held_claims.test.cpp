// SPDX-License-Identifier: Apache-2.0
#include <muster/kube/held_claims.hpp>

#include <string>
#include <utility>

#include <doctest/doctest.h>

namespace held_claims_test {

namespace codec = muster::codec;
namespace kube = muster::kube;

namespace {

codec::pod_object user() {
    codec::pod_object made;
    made.metadata.key = {"team", "p"};
    made.metadata.uid = "u-p";
    made.claims.push_back({"g", "c", {}, false});
    return made;
}
codec::resource_claim_object claim(const std::string& mark) {
    codec::resource_claim_object made;
    made.metadata.key = {"team", "c"};
    made.muster_pod = mark;
    return made;
}

} // namespace

TEST_CASE("a claim is held for the pod that Muster allocates it for, if no other one uses it") {
    CHECK(kube::is_held(user(), claim("u-p")));
    CHECK_FALSE(kube::is_held(user(), claim("")));
    CHECK_FALSE(kube::is_held(user(), claim("u-q")));
    codec::resource_claim_object used = claim("u-p");
    used.reserved_for = {{"pods", "p", "u-p"}};
    CHECK(kube::is_held(user(), used));
    used.reserved_for.push_back({"pods", "q", "u-q"});
    CHECK_FALSE(kube::is_held(user(), used));
    codec::resource_claim_object deleted = claim("u-p");
    deleted.metadata.terminating = true;
    CHECK_FALSE(kube::is_held(user(), deleted));
}

TEST_CASE("a pod holds its claims, and the claim for its extended resources") {
    kube::live_devices devices;
    CHECK_FALSE(kube::holds_any(user(), devices));
    SUBCASE("a claim of its own") {
        codec::resource_claim_object made = claim("u-p");
        made.allocation.emplace().failed = "Down";
        devices.put(std::move(made), "1");
        CHECK(kube::holds_any(user(), devices));
        CHECK(kube::has_failed_device(user(), devices));
    }
    SUBCASE("a claim for extended resources") {
        codec::resource_claim_object made = claim("u-p");
        made.metadata.key.name = "made";
        made.is_extended = true;
        made.owner_uid = "u-p";
        made.owner_name = "p";
        devices.put(std::move(made), "1");
        CHECK(kube::holds_any(user(), devices));
        CHECK_FALSE(kube::has_failed_device(user(), devices));
        devices.lose("ResourceClaim", {"team", "made"});
        CHECK_FALSE(kube::holds_any(user(), devices));
    }
}

} // namespace held_claims_test
