// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <muster/apis/core/claims/device_objects.hpp>
#include <muster/apis/core/claims/device_slice_reader.hpp>
#include <muster/apis/core/reading_context.hpp>
#include <muster/apis/core/volumes/storage_reader.hpp>
#include <muster/document/field_reader.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {
namespace detail {

[[nodiscard]] inline std::optional<std::string> text_if_present(const field& at) {
    const auto text = at.as_string();
    return text ? std::optional<std::string>(*text) : std::nullopt;
}

/// Warns of each field that was not read, and adds the warning to `unmodelled`.
inline void note_unmodelled(object_reader& object, const std::string& consequence,
                            std::vector<std::string>& unmodelled) {
    object.take_each([&](std::string_view, const field& at) {
        if (!at.is_present())
            return true;
        const std::string why = "is not supported (" + consequence + ")";
        at.warning(why);
        unmodelled.push_back(at.path() + " " + why);
        return true;
    });
}

} // namespace detail

/// Reads a resource.k8s.io DeviceTaintRule of v1, v1beta2 or v1alpha3. A field of the selector that
/// is not modelled (`deviceClassName` and `selectors`, before Kubernetes 1.35) is a warning, and
/// the rule matches all devices that meet the others. O(fields).
[[nodiscard]] inline device_taint_rule_object read_device_taint_rule(object_reader& object,
                                                                     reading_context& context) {
    device_taint_rule_object read;
    read.metadata = read_metadata(object, false, context);
    const field spec_at = object.required("spec");
    object_reader spec = spec_at.as_object();
    const field selector_at = spec.optional("deviceSelector");
    object_reader selector = selector_at.as_object();
    read.matches_none =
        !selector_at.is_present() && !context.rules.kubernetes.empty_rule_taints_all();
    read.driver = detail::text_if_present(selector.optional("driver"));
    read.pool = detail::text_if_present(selector.optional("pool"));
    read.device = detail::text_if_present(selector.optional("device"));
    detail::note_unmodelled(selector,
                            "the rule counts for all devices that meet the rest of the selector",
                            read.unmodelled);
    const field taint_at = spec.required("taint");
    object_reader taint = taint_at.as_object();
    read.taint.key = detail::string_or_empty(taint.required("key"));
    read.taint.value = detail::string_or_empty(taint.optional("value"));
    const field effect_at = taint.required("effect");
    const std::string effect = detail::string_or_empty(effect_at);
    read.taint.effect = detail::device_effect(effect);
    if (read.taint.effect == device_taint_effect::none && !effect.empty() && effect != "None") {
        const std::string why = in_quotes(effect) +
                                " is not an effect (expected NoSchedule, NoExecute or None); it "
                                "counts as None, as in Kubernetes";
        effect_at.warning(why);
        read.unmodelled.push_back(effect_at.path() + " " + why);
    }
    taint.ignore({"timeAdded"});
    const std::string keeps_off =
        "the rule's devices are only given to requests that tolerate all taints";
    const std::size_t before = read.unmodelled.size();
    detail::note_unmodelled(taint, keeps_off, read.unmodelled);
    detail::note_unmodelled(spec, keeps_off, read.unmodelled);
    read.is_unread = read.unmodelled.size() > before;
    object.ignore({"apiVersion", "kind", "status"});
    object.finish();
    return read;
}

} // namespace codec
} // namespace v0_1
} // namespace muster
