// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include <muster/apis/core/objects.hpp>
#include <muster/apis/core/pod_terms_reader.hpp>
#include <muster/apis/core/reading_context.hpp>
#include <muster/document/diagnostic.hpp>
#include <muster/document/field_reader.hpp>
#include <muster/vocabulary/disruption_budget.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

namespace detail {

/// A number of pods, or a percentage of them from 0% to 100%.
[[nodiscard]] inline std::optional<pods_or_percent> read_pods_or_percent(const field& at) {
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    if (!at.is_present() || at.value()->is_null())
        return std::nullopt;
    if (!at.value()->is_string()) {
        const auto number = at.as_integer(0, most);
        return number ? std::optional(pods_or_percent{*number, false}) : std::nullopt;
    }
    const std::string_view text = *at.as_string();
    std::int64_t value = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, fault] = std::from_chars(text.data(), end, value);
    if (fault == std::errc{} && value >= 0 && value <= 100 && end - stop == 1 && *stop == '%')
        return pods_or_percent{value, true};
    at.error(in_quotes(text) + " is no percentage (expected a number of pods, or 0% to 100%)");
    return std::nullopt;
}

} // namespace detail

/// A policy/v1 PodDisruptionBudget.
[[nodiscard]] inline disruption_budget_object read_disruption_budget(object_reader& object,
                                                                     reading_context& context) {
    disruption_budget_object read;
    read.metadata = read_metadata(object, true, context);
    const field spec_at = object.required("spec");
    object_reader spec = spec_at.as_object();
    read.pods = read_label_selector(spec.optional("selector"));
    read.min_available = detail::read_pods_or_percent(spec.optional("minAvailable"));
    const field most_at = spec.optional("maxUnavailable");
    read.max_unavailable = detail::read_pods_or_percent(most_at);
    if (read.min_available && read.max_unavailable)
        most_at.error("stands beside minAvailable (expected one of the two)");
    const field unready_at = spec.optional("unhealthyPodEvictionPolicy");
    const auto unready = unready_at.as_string().value_or("IfHealthyBudget");
    if (unready != "IfHealthyBudget" && unready != "AlwaysAllow")
        unready_at.error(in_quotes(unready) +
                         " is not a policy (expected IfHealthyBudget or AlwaysAllow)");
    read.frees_unready = unready == "AlwaysAllow";
    spec.finish();
    const field status_at = object.optional("status");
    object_reader status = status_at.as_object();
    read.expected_pods =
        status.optional("expectedPods").as_integer(0, std::numeric_limits<std::int32_t>::max());
    status.ignore_rest();
    object.ignore({"apiVersion", "kind"});
    object.finish();
    return read;
}

/// What a budget keeps of so many pods: percentages are rounded up, of what stays and of what may
/// be missing (Kubernetes' disruption controller). Nothing said: all stay.
[[nodiscard]] inline std::int64_t pods_kept(const disruption_budget_object& of,
                                            std::int64_t expected) noexcept {
    const auto pods = [&](const pods_or_percent& said) {
        return said.percent ? (said.value * expected + 99) / 100 : said.value;
    };
    if (of.min_available)
        return pods(*of.min_available);
    if (of.max_unavailable)
        return std::max<std::int64_t>(0, expected - pods(*of.max_unavailable));
    return std::numeric_limits<std::int32_t>::max();
}

/// A pod of which a budget's percentages are: it matches, and has neither ended nor is about to.
[[nodiscard]] inline bool counts_for(const disruption_budget_object& budget,
                                     const pod_object& pod) {
    return budget.pods && pod.metadata.key.name_space == budget.metadata.key.name_space &&
           !pod.metadata.terminating && pod.phase != pod_phase::succeeded &&
           pod.phase != pod_phase::failed && budget.pods->matches(pod.metadata.labels);
}

/// The budget as the core has it, of so many pods.
[[nodiscard]] inline disruption_budget core_budget(const disruption_budget_object& object,
                                                   std::int64_t expected) {
    disruption_budget made;
    made.frees_unready = object.frees_unready;
    made.pods.tenants.emplace();
    if (object.pods) {
        made.pods.labels = *object.pods;
        made.pods.tenants->push_back(detail::namespaces_named({object.metadata.key.name_space}));
    }
    made.keeps = pods_kept(object, expected);
    return made;
}

/// The budget as the core has it. Percentages are of the pods that its status counts, which knows
/// what controllers want, or else of those of the input that count. O(pods).
[[nodiscard]] inline disruption_budget core_budget(const disruption_budget_object& object,
                                                   const manifests& objects, diagnostics& out) {
    std::int64_t expected = object.expected_pods.value_or(0);
    if (!object.expected_pods)
        expected = std::ranges::count_if(
            objects.pods, [&](const pod_object& pod) { return counts_for(object, pod); });
    if (!object.min_available && !object.max_unavailable)
        report(out, severity::warning, object.metadata.where, {"spec"},
               "no pod that it selects is ever evicted (expected minAvailable or maxUnavailable)");
    return core_budget(object, expected);
}

} // namespace codec
} // namespace v0_1
} // namespace muster
