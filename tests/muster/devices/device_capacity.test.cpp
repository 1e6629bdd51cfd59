// SPDX-License-Identifier: Apache-2.0

#include <optional>
#include <string>

#include <doctest/doctest.h>

#include <muster/devices/device_capacity.hpp>
#include <muster/resource/quantity_text.hpp>

namespace {

muster::quantity read(const std::string& text) {
    return *muster::parse_quantity(text);
}

/// Returns what a request consumes; "refused" if the policy does not admit it. An empty text is a
/// request that does not name the capacity.
std::string consumed(const muster::device_capacity& of, const std::string& request,
                     bool fractional = true) {
    std::optional<muster::quantity> amount;
    if (!request.empty())
        amount = read(request);
    const auto share = muster::share_of(of, amount ? &*amount : nullptr, fractional);
    if (!share)
        return std::string(message(share.error()));
    return share->admitted ? share->amount.to_text() : "refused";
}

muster::device_capacity with_range(const std::string& min, const std::string& max,
                                   const std::string& step) {
    muster::device_capacity capacity{"memory", read("10"), muster::capacity_policy{}};
    capacity.policy->range = {read(min), {}, {}};
    if (!max.empty())
        capacity.policy->range->max = read(max);
    if (!step.empty())
        capacity.policy->range->step = read(step);
    return capacity;
}

const std::string not_representable(message(muster::capacity_errc::not_representable));

} // namespace

TEST_CASE("without a policy a request consumes its amount, or all") {
    const muster::device_capacity capacity{"memory", read("10Gi"), {}};
    CHECK(consumed(capacity, "3Gi") == "3Gi");
    CHECK(consumed(capacity, "") == "10Gi");
    CHECK(consumed(capacity, "-1") == message(muster::capacity_errc::negative));
}

TEST_CASE("a request that does not name a capacity consumes the default") {
    auto capacity = with_range("2", "4", "2");
    CHECK(consumed(capacity, "") == "refused");
    capacity.policy->default_request = read("3");
    // A default need not be in the range.
    CHECK(consumed(capacity, "") == "3");
}

TEST_CASE("an amount is rounded up to a step of the range") {
    const auto capacity = with_range("2", "6", "2");
    CHECK(consumed(capacity, "1") == "2");
    CHECK(consumed(capacity, "2") == "2");
    CHECK(consumed(capacity, "2500m") == "4");
    CHECK(consumed(capacity, "5") == "6");
    CHECK(consumed(capacity, "7") == "refused");
    CHECK(consumed(with_range("2", "", ""), "2500m") == "2500m");
    CHECK(consumed(with_range("2", "", ""), "1e30") == "1e30");
}

TEST_CASE("steps are counted in thousandths if the bounds are, and the feature is on") {
    const auto capacity = with_range("200m", "1", "100m");
    CHECK(consumed(capacity, "250m") == "300m");
    CHECK(consumed(capacity, "250m", false) == "1");
    CHECK(consumed(capacity, "250u") == "200m");
    CHECK(consumed(capacity, "250500u") == not_representable);
    CHECK(consumed(with_range("200m", "1", "100u"), "250m") == "1");
}

TEST_CASE("an amount that does not fit int64 in steps cannot be represented") {
    const auto capacity = with_range("2", "", "2");
    CHECK(consumed(capacity, "9223372036854775806", false) == "9223372036854775806");
    CHECK(consumed(capacity, "9223372036854775807", false) == not_representable);
    // As thousandths.
    CHECK(consumed(capacity, "9223372036854774") == "9223372036854774");
    CHECK(consumed(capacity, "9223372036854775") == not_representable);
    CHECK(consumed(capacity, "18446744073709551616") == not_representable);
}

TEST_CASE("an amount is rounded up to one of the values") {
    muster::device_capacity capacity{"memory", read("10"), muster::capacity_policy{}};
    capacity.policy->values = {read("1"), read("4")};
    CHECK(consumed(capacity, "1") == "1");
    CHECK(consumed(capacity, "2") == "4");
    CHECK(consumed(capacity, "5") == "refused");
    CHECK(consumed(capacity, "") == "refused");
}
