// SPDX-License-Identifier: Apache-2.0
#include <muster/kube/held_claims.hpp>

#include <map>
#include <set>
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

TEST_CASE("a claim is held for the pods that Muster allocates it for") {
    const kube::live_devices devices;
    CHECK(kube::is_held(user(), claim("u-p"), devices));
    CHECK_FALSE(kube::is_held(user(), claim(""), devices));
    CHECK_FALSE(kube::is_held(user(), claim("u-q"), devices));
    codec::resource_claim_object used = claim("u-p");
    used.reserved_for = {{"pods", "p", "u-p"}};
    CHECK(kube::is_held(user(), used, devices));
    used.reserved_for.push_back({"pods", "q", "u-q"});
    CHECK(kube::is_held(user(), used, devices));
    used.muster_pod = "u-q";
    CHECK(kube::is_held(user(), used, devices));
    used.reserved_for.erase(used.reserved_for.begin());
    CHECK_FALSE(kube::is_held(user(), used, devices));
    codec::resource_claim_object deleted = claim("u-p");
    deleted.metadata.terminating = true;
    CHECK_FALSE(kube::is_held(user(), deleted, devices));
}

TEST_CASE("the claim of a PodGroup is held for the pods that use it by an entry of the group") {
    kube::live_devices devices;
    codec::group_claims_object group;
    group.metadata.key = {"team", "g"};
    group.metadata.uid = "u-g";
    group.claims.push_back({"g", "c", {}, false});
    devices.put(group);
    codec::pod_object member = user();
    member.pod_group = "g";
    codec::resource_claim_object used = claim("u-q");
    used.reserved_for = {{"podgroups", "g", "u-g"}};
    CHECK(kube::is_held(member, used, devices));
    CHECK_FALSE(kube::is_held(user(), used, devices));
    codec::pod_object other = member;
    other.claims.front().name = "own";
    CHECK_FALSE(kube::is_held(other, used, devices));
    // An earlier PodGroup of that name.
    used.reserved_for.front().uid = "u-old";
    CHECK_FALSE(kube::is_held(member, used, devices));
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

TEST_CASE("a claim is released if all pods that it is reserved for are idle") {
    struct record {
        codec::pod_object object;
    };
    std::map<codec::object_key, record> pods;
    for (const std::string name : {"p", "q", "r"}) {
        codec::pod_object made = user();
        made.metadata.key.name = name;
        made.metadata.uid = "u-" + name;
        made.pod_group = name == "r" ? "" : "g";
        pods[made.metadata.key].object = made;
    }
    pods[{"team", "r"}].object.claims.clear();
    std::set<std::string> idle;
    const auto are_idle = [&](const codec::resource_claim_object& of) {
        return kube::are_users_idle(
            of, pods, [&](const codec::object_key& key) { return idle.contains(key.name); });
    };
    codec::resource_claim_object used = claim("u-p");
    CHECK(are_idle(used));
    used.reserved_for = {{"pods", "p", "u-p"}, {"pods", "q", "u-q"}};
    idle = {"p"};
    CHECK_FALSE(are_idle(used));
    idle = {"p", "q"};
    CHECK(are_idle(used));
    // Another pod of that name.
    used.reserved_for.back().uid = "u-x";
    CHECK_FALSE(are_idle(used));
    used.reserved_for.back() = {"pods", "unknown", "u-unknown"};
    CHECK_FALSE(are_idle(used));
    used.reserved_for = {{"podgroups", "g", "u-g"}};
    CHECK(are_idle(used));
    idle = {"p"};
    CHECK_FALSE(are_idle(used));
    // A pod of the group that has ended, or does not use the claim, does not matter.
    pods[{"team", "q"}].object.phase = muster::pod_phase::succeeded;
    CHECK(are_idle(used));
    pods[{"team", "q"}].object.phase = muster::pod_phase::failed;
    CHECK(are_idle(used));
    pods[{"team", "q"}].object.phase = muster::pod_phase::pending;
    CHECK_FALSE(are_idle(used));
    pods[{"team", "q"}].object.claims.clear();
    CHECK(are_idle(used));
    used.reserved_for = {{"jobs", "g", "u-g"}};
    CHECK_FALSE(are_idle(used));
}

} // namespace held_claims_test
