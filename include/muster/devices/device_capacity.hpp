// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/base/checked.hpp>
#include <muster/base/result.hpp>
#include <muster/resource/quantity.hpp>

namespace muster {
inline namespace v0_1 {

/// The amounts from `min` to `max` in steps from `min`.
struct capacity_range {
    quantity min;
    std::optional<quantity> max;
    std::optional<quantity> step;
};

/// Which amounts of a capacity a request can consume. If both `range` and `values` are set, the
/// range applies.
struct capacity_policy {
    /// What a request consumes that does not name the capacity.
    std::optional<quantity> default_request;
    std::optional<capacity_range> range;
    /// Ascending.
    std::vector<quantity> values;
};

/// A capacity of a device.
struct device_capacity {
    /// As published: the driver may leave out its domain.
    std::string name;
    quantity value;
    std::optional<capacity_policy> policy;
};

/// What a request consumes of a capacity.
struct capacity_share {
    quantity amount;
    /// False if the policy does not admit the amount.
    bool admitted = true;
};

enum class capacity_errc : std::uint8_t {
    /// The amount, rounded up to a step, does not fit int64.
    not_representable,
    /// The amount is below zero.
    negative
};

[[nodiscard]] constexpr std::string_view message(capacity_errc code) noexcept {
    switch (code) {
    case capacity_errc::not_representable:
        return "the request cannot be represented in the steps of the capacity's range";
    case capacity_errc::negative:
        return "the consumed amount is negative";
    }
    return "not a capacity share";
}

namespace detail {

inline constexpr int128 billion = 1'000'000'000;
inline constexpr int128 billionths_per_milli = 1'000'000;

[[nodiscard]] inline quantity quantity_of_billionths(int128 amount, quantity_format format) {
    const bool negative = amount < 0;
    std::string digits;
    for (auto rest = negative ? -amount : amount; rest > 0; rest /= 10)
        digits.insert(digits.begin(), static_cast<char>('0' + static_cast<int>(rest % 10)));
    return {negative, std::move(digits), -9, format};
}

/// Returns the smallest multiple of `unit` that is not below the amount.
[[nodiscard]] constexpr int128 rounded_up(int128 amount, int128 unit) noexcept {
    const int128 rest = amount % unit;
    return rest == 0 ? amount : amount - rest + (amount > 0 ? unit : 0);
}

[[nodiscard]] inline bool fits_milli(const quantity& amount) noexcept {
    return amount.billionths() % billionths_per_milli == 0 && amount.exact_milli().has_value();
}

/// Returns the unit in which Kubernetes counts the steps of a range: thousandths if all of its
/// bounds are whole thousandths and `fractional` is set, else ones.
[[nodiscard]] inline int128 step_unit(const capacity_range& range, bool fractional) noexcept {
    const bool milli = fractional && fits_milli(range.min) &&
                       (!range.max || fits_milli(*range.max)) &&
                       (!range.step || (fits_milli(*range.step) && range.step->sign() > 0));
    return milli ? billionths_per_milli : billion;
}

/// Returns the step in billionths, a multiple of `unit`; 0 if the range has no step.
[[nodiscard]] inline int128 step_of(const capacity_range& range, int128 unit) noexcept {
    const int128 step = range.step ? rounded_up(range.step->billionths(), unit) : 0;
    return step > 0 ? step : 0;
}

[[nodiscard]] inline result<quantity, capacity_errc>
round_up(const quantity& request, const capacity_range& range, bool fractional) {
    if (request < range.min)
        return range.min;
    const int128 unit = step_unit(range, fractional);
    const int128 step = step_of(range, unit);
    if (step == 0)
        return request;
    constexpr int128 top = std::numeric_limits<std::int64_t>::max();
    const int128 wanted = request.billionths();
    if (wanted > top * unit || (unit == billionths_per_milli && wanted % unit != 0))
        return failure{capacity_errc::not_representable};
    const int128 from = rounded_up(range.min.billionths(), unit);
    const int128 steps = (rounded_up(wanted, unit) - from + step - 1) / step;
    const int128 amount = from + steps * step;
    if (amount > top * unit)
        return failure{capacity_errc::not_representable};
    return quantity_of_billionths(amount, range.step->format());
}

[[nodiscard]] inline bool admits(const capacity_policy& policy, const quantity& amount,
                                 bool fractional) {
    if (policy.default_request && *policy.default_request == amount)
        return true;
    if (policy.range) {
        if (policy.range->max && amount > *policy.range->max)
            return false;
        const int128 unit = step_unit(*policy.range, fractional);
        const int128 step = step_of(*policy.range, unit);
        if (step == 0)
            return true;
        if (unit == billionths_per_milli && !fits_milli(amount))
            return false;
        return (rounded_up(amount.billionths(), unit) -
                rounded_up(policy.range->min.billionths(), unit)) %
                   step ==
               0;
    }
    for (const quantity& value : policy.values)
        if (value == amount)
            return true;
    return policy.values.empty();
}

} // namespace detail

/// Returns what a request consumes of the capacity: the requested amount, else the policy's
/// default, else all of it, rounded up to what the policy admits. `request` is null if the request
/// does not name the capacity. `fractional`: ranges may count in thousandths. O(values).
[[nodiscard]] inline result<capacity_share, capacity_errc>
share_of(const device_capacity& capacity, const quantity* request, bool fractional) {
    const capacity_policy* policy = capacity.policy ? &*capacity.policy : nullptr;
    quantity amount;
    if (request == nullptr) {
        amount = policy && policy->default_request ? *policy->default_request : capacity.value;
    } else if (policy && policy->range) {
        auto rounded = detail::round_up(*request, *policy->range, fractional);
        if (!rounded)
            return failure{rounded.error()};
        amount = *std::move(rounded);
    } else {
        amount = *request;
        if (policy)
            for (const quantity& value : policy->values)
                if (*request <= value) {
                    amount = value;
                    break;
                }
    }
    if (amount.sign() < 0)
        return failure{capacity_errc::negative};
    const bool admitted = policy == nullptr || detail::admits(*policy, amount, fractional);
    return capacity_share{std::move(amount), admitted};
}

} // namespace v0_1
} // namespace muster
