// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <muster/codec/koordinator_devices/pod_requests.hpp>

#include "device_cases/share_case.hpp"

namespace share_cases {
namespace koordinator_cases {

/// Returns an amount in units; nullopt if it is absent.
[[nodiscard]] inline std::optional<std::int64_t> units_at(const object& amounts,
                                                          std::string_view key) {
    const value* const found = amounts.if_contains(key);
    if (found == nullptr)
        return std::nullopt;
    const auto parsed = muster::parse_quantity(std::string(found->as_string()));
    return parsed ? std::optional(parsed->units_up()) : std::nullopt;
}

[[nodiscard]] inline std::string request_text(std::int64_t count,
                                              const muster::share_memory& memory,
                                              std::int64_t cores, bool is_shared) {
    constexpr std::int64_t device = std::int64_t{16} << 30;
    return std::to_string(count) + " x " + std::to_string(muster::units_of(memory, device)) +
           " bytes, " + std::to_string(cores) + " cores" + (is_shared ? ", shared" : "");
}

/// The memory and the cores of one GPU.
[[nodiscard]] inline muster::share_memory memory_of_each(const object& each) {
    namespace names = muster::codec::koordinator_devices;
    if (const auto ratio = units_at(each, names::ratio_resource))
        return muster::memory_part{*ratio, 100};
    return muster::memory_amount{units_at(each, names::memory_resource).value_or(0)};
}

[[nodiscard]] inline std::string check_request(const object& source) {
    namespace names = muster::codec::koordinator_devices;
    const object& from = source.at("amounts").as_object();
    koordinator_amounts amounts;
    amounts.gpu = units_at(from, names::gpu_resource);
    amounts.shared = units_at(from, names::shared_resource);
    amounts.core = units_at(from, names::core_resource);
    amounts.memory = units_at(from, names::memory_resource);
    amounts.ratio = units_at(from, names::ratio_resource);
    for (const char* const whole : {"nvidia.com/gpu", "amd.com/gpu", "dcu.com/gpu"})
        if (const auto count = units_at(from, whole))
            amounts.whole = count;
    const auto got = koordinator_request_of(amounts);
    const std::string wrong =
        compare("valid", source.at("valid").as_bool(), got.request.has_value());
    if (!wrong.empty() || !got.request)
        return wrong;
    const object& expected = source.at("request").as_object();
    const object& each = expected.at("each").as_object();
    return compare(
        "request",
        request_text(number_at(expected, "count"), memory_of_each(each),
                     units_at(each, names::core_resource).value_or(0),
                     expected.at("shared").as_bool()),
        request_text(got.request->count, got.request->memory, got.request->cores, got.is_shared));
}

[[nodiscard]] inline std::string check_choice(const object& source) {
    namespace names = muster::codec::koordinator_devices;
    using muster::device_key;
    std::vector<muster::shared_device> devices;
    for (const value& entry : source.at("devices").as_array()) {
        const object& from = entry.as_object();
        const object& total = from.at("total").as_object();
        const object& used = from.at("used").as_object();
        auto& device = devices.emplace_back();
        device.id = std::to_string(number_at(from, "minor"));
        device.cores = units_at(total, names::core_resource);
        device.memory = units_at(total, names::memory_resource).value_or(0);
        device.healthy = !total.empty();
        device.used = {used.empty() ? 0 : 1, units_at(used, names::memory_resource).value_or(0),
                       units_at(used, names::core_resource).value_or(0)};
        if (!from.at("numa").is_null())
            device.numa = number_at(from, "numa");
        device.pcie = text_at(from, "pcie");
    }
    const object& asked = source.at("request").as_object();
    const object& each = asked.at("each").as_object();
    const bool is_shared = asked.at("shared").as_bool();
    const std::string scope = text_at(asked, "scope");
    const std::string scorer = text_at(source, "scorer");
    muster::share_request request;
    request.count = number_at(asked, "count");
    request.memory = memory_of_each(each);
    request.cores = units_at(each, names::core_resource).value_or(0);
    request.prefers_near = source.at("hasTree").as_bool() && (!is_shared || request.count == 1);
    if (!scope.empty()) {
        object_metadata pod;
        pod.annotations.set(std::string(names::hint_key),
                            R"({"gpu":{"requiredTopologyScope":")" + scope + "\"}}");
        diagnostics out;
        const metadata_text hint(pod, "pod", names::hint_key, out);
        if (!muster::codec::detail::read_koordinator_hint(hint, is_shared, request).empty())
            return compare("fits", source.at("fits").as_bool(), false);
    }
    if (!scorer.empty()) {
        const bool least = scorer == "least";
        request.order[0] = least ? device_key::percent_up : device_key::percent_down;
        request.near_order[0] = least ? device_key::in_use_up : device_key::in_use_down;
    } else {
        request.near_order = request.order;
    }
    const std::vector<muster::share_request> requests{request};
    const auto answer =
        muster::allocate_shares(devices, requests, muster::koordinator_rules, 10'000);
    const bool fits = answer.outcome == muster::share_outcome::allocated;
    const std::string wrong = compare("fits", source.at("fits").as_bool(), fits);
    if (!wrong.empty() || !fits)
        return wrong;
    std::string expected;
    for (const value& minor : source.at("chosen").as_array())
        expected += std::to_string(minor.to_number<std::int64_t>()) + " ";
    std::string got;
    for (const std::size_t index : answer.devices.front())
        got += devices[index].id + " ";
    return compare("devices", expected, got);
}

} // namespace koordinator_cases

[[nodiscard]] inline std::string check_koordinator(const object& source) {
    const std::string kind = text_at(source, "kind");
    if (kind == "request")
        return koordinator_cases::check_request(source);
    if (kind == "node")
        return koordinator_cases::check_choice(source);
    return "no kind of case: " + kind;
}

} // namespace share_cases
