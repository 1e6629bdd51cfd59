// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <boost/json.hpp>

#include <muster/resource/quantity_text.hpp>

#include "peer_case.hpp"

namespace peer_cases {

/// The file, or a case, is not what it should be: names the field.
struct unreadable : std::runtime_error {
    using std::runtime_error::runtime_error;
};

namespace detail {

namespace json = boost::json;

/// Of a number or a flag its spelling: labels and names may be either.
[[nodiscard]] inline std::string text(const json::value& from) {
    if (from.is_number() || from.is_bool())
        return json::serialize(from);
    if (!from.is_string())
        throw unreadable("expected a string, found " + json::serialize(from));
    return std::string(from.get_string());
}

[[nodiscard]] inline std::string text_at(const json::object& from, std::string_view name) {
    const json::value* found = from.if_contains(name);
    return found && !found->is_null() ? text(*found) : std::string();
}

/// A number, or what spells one, as far as 64 bits go; nothing for a name that the peer's test has
/// in its place, of which the case does not say what it stands for.
[[nodiscard]] inline std::optional<std::int64_t> number(const json::value& from) {
    if (from.is_int64())
        return from.get_int64();
    if (from.is_number()) {
        constexpr double least = -9.2e18;
        constexpr double most = 9.2e18;
        return static_cast<std::int64_t>(std::clamp(from.to_number<double>(), least, most));
    }
    if (!from.is_string())
        return std::nullopt;
    std::int64_t read = 0;
    const std::string_view spelled = from.get_string();
    const auto [end, fault] =
        std::from_chars(spelled.data(), spelled.data() + spelled.size(), read);
    return fault == std::errc() && end == spelled.data() + spelled.size() ? std::optional(read)
                                                                          : std::nullopt;
}

[[nodiscard]] inline std::optional<std::int64_t> number_at(const json::object& from,
                                                           std::string_view name) {
    const json::value* found = from.if_contains(name);
    return found ? number(*found) : std::nullopt;
}

[[nodiscard]] inline bool flag_at(const json::object& from, std::string_view name, bool otherwise) {
    const json::value* found = from.if_contains(name);
    return found && found->is_bool() ? found->get_bool() : otherwise;
}

[[nodiscard]] inline std::vector<std::string> texts_at(const json::object& from,
                                                       std::string_view name) {
    std::vector<std::string> found;
    if (const json::value* list = from.if_contains(name); list && list->is_array())
        for (const json::value& each : list->get_array())
            found.push_back(text(each));
    return found;
}

[[nodiscard]] inline std::map<std::string, std::string> labels_at(const json::object& from,
                                                                  std::string_view name) {
    std::map<std::string, std::string> found;
    if (const json::value* labels = from.if_contains(name); labels && labels->is_object())
        for (const auto& each : labels->get_object())
            found[std::string(each.key())] = text(each.value());
    return found;
}

template<class Use>
void each_object(const json::object& from, std::string_view name, const Use& use) {
    if (const json::value* list = from.if_contains(name); list && list->is_array())
        for (const json::value& each : list->get_array())
            use(each.as_object());
}

/// Thousandths of a number or a quantity; nothing for "unlimited" and for negative numbers.
[[nodiscard]] inline std::optional<std::int64_t> thousandths(const json::value& from) {
    if (from.is_string()) {
        const std::string_view spelled = from.get_string();
        if (spelled == "unlimited")
            return std::nullopt;
        const auto parsed = muster::parse_quantity(spelled);
        const auto milli = parsed ? parsed->exact_milli() : std::nullopt;
        if (!milli)
            throw unreadable("not an amount: " + std::string(spelled));
        return *milli;
    }
    if (!from.is_number())
        throw unreadable("not an amount: " + json::serialize(from));
    const double value = from.to_number<double>();
    if (value < 0)
        return std::nullopt;
    constexpr double most = 9e18;
    return std::llround(std::min(value * 1000, most));
}

/// Amounts that are there; what is not a plain amount is told to `other`.
template<class Other>
[[nodiscard]] amounts amounts_at(const json::object& from, std::string_view name,
                                 const Other& other) {
    amounts found;
    const json::value* all = from.if_contains(name);
    if (!all || !all->is_object())
        return found;
    for (const auto& each : all->get_object()) {
        if (each.value().is_object() || each.value().is_array()) {
            other(std::string(each.key()));
            continue;
        }
        const auto amount = thousandths(each.value());
        if (!amount)
            throw unreadable(std::string(name) + "." + std::string(each.key()) +
                             ": an amount must be a number");
        found[std::string(each.key())] = *amount;
    }
    return found;
}

[[nodiscard]] inline amounts amounts_at(const json::object& from, std::string_view name) {
    return amounts_at(from, name, [](const std::string& kind) {
        throw unreadable(kind + ": expected an amount");
    });
}

[[nodiscard]] inline ceilings ceilings_at(const json::object& from, std::string_view name) {
    ceilings found;
    const json::value* all = from.if_contains(name);
    if (!all || !all->is_object())
        return found;
    for (const auto& each : all->get_object()) {
        const auto amount = thousandths(each.value());
        if (amount)
            found.named[std::string(each.key())] = *amount;
        else
            found.unlimited.emplace_back(each.key());
    }
    return found;
}

[[nodiscard]] inline pod_state state_of(std::string_view spelled) {
    if (const auto dot = spelled.rfind('.'); dot != std::string_view::npos)
        spelled.remove_prefix(dot + 1);
    if (spelled.starts_with("Pod"))
        spelled.remove_prefix(3);
    if (spelled == "Pending" || spelled.empty())
        return pod_state::pending;
    if (spelled == "Gated")
        return pod_state::gated;
    if (spelled == "Running" || spelled == "Binding" || spelled == "Bound" ||
        spelled == "Allocated" || spelled == "Unknown")
        return pod_state::bound;
    if (spelled == "Pipelined")
        return pod_state::nominated;
    if (spelled == "Releasing")
        return pod_state::leaving;
    if (spelled == "StuckInReleasing")
        return pod_state::stuck;
    if (spelled == "Succeeded")
        return pod_state::succeeded;
    if (spelled == "Failed")
        return pod_state::failed;
    throw unreadable("unknown state of a task: " + std::string(spelled));
}

} // namespace detail
} // namespace peer_cases
