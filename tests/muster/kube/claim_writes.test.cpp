// SPDX-License-Identifier: Apache-2.0
#include <muster/kube/claim_writes.hpp>

#include <cstdint>
#include <string>
#include <utility>

#include <doctest/doctest.h>

#include <muster/apis/core/claims/device_objects.hpp>

namespace claim_writes_test {

namespace adapter = muster::adapter;
namespace kube = muster::kube;
using muster::codec::object_key;

namespace {

const object_key about{"team", "allocation"};

kube::claim_writes::write of(const std::string& version, bool allocates = false) {
    return {{"team", "p"}, {"team", "c"}, version, allocates};
}
kube::live_devices claim_at(const std::string& version) {
    kube::live_devices made;
    muster::codec::resource_claim_object claim;
    claim.metadata.key = {"team", "c"};
    made.put(std::move(claim), version);
    return made;
}

} // namespace

TEST_CASE("a write of the same version is repeated after a delay, one of a newer version at once") {
    kube::claim_writes writes(10);
    CHECK(writes.begin(about, of("1"), 0));
    CHECK_FALSE(writes.begin(about, of("2"), 100)); // it is on its way
    REQUIRE(writes.end(about, adapter::outcome::conflict, "changed", 100));
    CHECK_FALSE(writes.begin(about, of("1"), 109));
    CHECK(writes.next_after(109) == 110);
    CHECK(writes.begin(about, of("2"), 109));
    writes.end(about, adapter::outcome::transient, {}, 200);
    CHECK(writes.begin(about, of("2"), 210));
}

TEST_CASE("a refused write is not made again for a minute, unless its pod is wanted anew") {
    kube::claim_writes writes(10);
    CHECK(writes.begin(about, of("1"), 0));
    writes.end(about, adapter::outcome::refused, "no", 0);
    REQUIRE(writes.find(about));
    CHECK(writes.find(about)->refused == "no");
    CHECK_FALSE(writes.begin(about, of("2"), 59 * adapter::second));
    writes.forget_failed({"team", "other"});
    CHECK(writes.find(about));
    writes.forget_failed({"team", "p"});
    CHECK(writes.begin(about, of("1"), 1));
}

TEST_CASE("a write is pending until its effect is observed, or until it is known to have none") {
    kube::claim_writes writes(10);
    CHECK(writes.begin(about, of("1"), 0));
    CHECK(writes.is_pending(about, claim_at("1")));
    writes.end(about, adapter::outcome::unknown, {}, 0);
    CHECK(writes.is_pending(about, claim_at("1")));
    CHECK_FALSE(writes.is_pending(about, claim_at("2")));
    CHECK(writes.begin(about, of("2"), 20));
    writes.end(about, adapter::outcome::conflict, {}, 20);
    CHECK_FALSE(writes.is_pending(about, claim_at("2")));
}

TEST_CASE("an allocation that may have been carried out is pending until the claim has changed") {
    kube::claim_writes writes(10);
    const auto is_allocating = [&](const std::string& version) {
        return writes.allocating(claim_at(version)).contains({"team", "c"});
    };
    CHECK(writes.begin(about, of("1", true), 0));
    CHECK(is_allocating("1"));
    writes.end(about, adapter::outcome::unknown, {}, 0);
    writes.forget_settled(claim_at("1"), 600 * adapter::second);
    CHECK(is_allocating("1"));
    // The first of two equal writes may be the reason why the second one has a conflict.
    CHECK(writes.begin(about, of("1", true), 600 * adapter::second));
    writes.end(about, adapter::outcome::conflict, {}, 600 * adapter::second);
    CHECK(is_allocating("1"));
    CHECK_FALSE(is_allocating("2"));
    CHECK(writes.begin(about, of("2", true), 601 * adapter::second));
    writes.end(about, adapter::outcome::conflict, {}, 601 * adapter::second);
    CHECK_FALSE(is_allocating("2"));
}

TEST_CASE("an allocation with an unknown result is unresolved until it is observed or refused") {
    kube::claim_writes writes(10);
    const auto is_unresolved = [&](const std::string& version, std::int64_t now) {
        return writes.unresolved(claim_at(version), now).contains({"team", "c"});
    };
    CHECK(writes.begin(about, of("1", true), 0));
    CHECK_FALSE(is_unresolved("1", 100)); // it is on its way
    writes.end(about, adapter::outcome::unknown, {}, 100);
    CHECK_FALSE(is_unresolved("1", 109));
    CHECK(is_unresolved("1", 110));
    CHECK_FALSE(is_unresolved("2", 110));
    CHECK(writes.begin(about, of("1", true), 110));
    writes.end(about, adapter::outcome::transient, {}, 120);
    CHECK(is_unresolved("1", 130));
    // A conflict says that the claim has changed.
    CHECK(writes.begin(about, of("1", true), 130));
    writes.end(about, adapter::outcome::conflict, {}, 140);
    CHECK_FALSE(is_unresolved("1", 150));
    CHECK(writes.begin(about, of("2", true), 150));
    writes.end(about, adapter::outcome::applied, {}, 160);
    CHECK_FALSE(is_unresolved("2", 170));
}

TEST_CASE("an allocation that is refused when it is repeated may have been carried out before") {
    kube::claim_writes writes(10);
    CHECK(writes.begin(about, of("1", true), 0));
    writes.end(about, adapter::outcome::unknown, {}, 0);
    CHECK(writes.begin(about, of("1", true), 10));
    writes.end(about, adapter::outcome::refused, "no", 20);
    const std::int64_t later = 20 + kube::claim_writes::refused_after;
    CHECK(writes.allocating(claim_at("1")).size() == 1);
    CHECK(writes.unresolved(claim_at("1"), later).size() == 1);
    writes.forget_failed({"team", "p"});
    CHECK(writes.find(about));
    // Once the claim has changed, neither can arrive.
    CHECK(writes.allocating(claim_at("2")).empty());
    CHECK(writes.unresolved(claim_at("2"), later).empty());
    // A write that is refused at once was not carried out.
    CHECK(writes.begin(about, of("2", true), later));
    writes.end(about, adapter::outcome::refused, "no", later);
    CHECK(writes.allocating(claim_at("2")).empty());
}

TEST_CASE("settled writes are forgotten, and those that are on their way are not") {
    kube::claim_writes writes(10);
    CHECK(writes.begin(about, of("1"), 0));
    writes.forget_settled(claim_at("2"), 1'000);
    CHECK(writes.has_any_of({"team", "c"}));
    writes.end(about, adapter::outcome::applied, {}, 1'000);
    writes.forget_settled(claim_at("1"), 1'020);
    CHECK(writes.has_any_of({"team", "c"}));
    writes.forget_settled(claim_at("2"), 1'020);
    CHECK_FALSE(writes.has_any_of({"team", "c"}));
    CHECK(writes.end(about, adapter::outcome::applied, {}, 1'020) == nullptr);
}

} // namespace claim_writes_test
