// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>

#include <muster/apis/koordinator/devices/names.hpp>
#include <muster/apis/koordinator/devices/partition_reader.hpp>
#include <muster/devices/device_labels.hpp>
#include <muster/devices/device_partition.hpp>
#include <muster/document/metadata_text.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// Maximum number of expressions and values of a selector, as each device is compared with all.
inline constexpr std::size_t most_selector_words = 256;

/// How a pod requests devices of one type.
struct koordinator_hint {
    enum class strategy : std::uint8_t { by_amount, all, amount_is_count };

    /// Which devices are accepted; absent = all.
    std::optional<std::vector<device_label_check>> labels;
    /// Each device gives a virtual function whose labels are accepted; absent = none.
    std::optional<std::vector<device_label_check>> function;
    strategy how = strategy::by_amount;
    /// `PCIe`, `NUMANode` or `Node`; empty = none.
    std::string scope;
    /// No other pod gets a part of the devices.
    bool is_exclusive = false;
};

/// What the annotations of a pod add to its requests for devices.
struct koordinator_policies {
    /// By type of devices.
    std::map<std::string, koordinator_hint, std::less<>> hints;
    /// The types that are allocated together; empty = none.
    std::vector<std::string> joint;
    bool at_same_roots = false;
    std::optional<partition_wish> partition;
    /// Why the annotations are malformed or not modelled; each names its field.
    std::vector<std::string> wrong;
};

namespace detail {

/// Returns the text of a JSON string; empty if it is absent, null or no string.
[[nodiscard]] inline std::string_view json_text(const boost::json::object& in,
                                                std::string_view key) {
    const boost::json::value* const at = in.if_contains(key);
    const auto* const text = at ? at->if_string() : nullptr;
    return text ? std::string_view(text->data(), text->size()) : std::string_view{};
}

/// Reads one item of `matchExpressions`; nullopt if it is malformed.
[[nodiscard]] inline std::optional<device_label_check>
read_label_check(const boost::json::value& at) {
    const auto* const object = at.if_object();
    if (object == nullptr)
        return std::nullopt;
    // Koordinator ignores the case of keys.
    for (const auto& member : *object)
        if (const std::string_view key(member.key());
            key != "key" && key != "operator" && key != "values")
            return std::nullopt;
    device_label_check made;
    made.key = json_text(*object, "key");
    const std::string_view op = json_text(*object, "operator");
    if (made.key.empty())
        return std::nullopt;
    if (const auto* const values = object->if_contains("values"); values && !values->is_null()) {
        if (!values->is_array())
            return std::nullopt;
        for (const boost::json::value& each : values->get_array()) {
            if (!each.is_string())
                return std::nullopt;
            made.values.emplace_back(each.get_string());
        }
    }
    if (op == "In")
        made.op = device_label_operator::in;
    else if (op == "NotIn")
        made.op = device_label_operator::not_in;
    else if (op == "Exists")
        made.op = device_label_operator::exists;
    else if (op == "DoesNotExist")
        made.op = device_label_operator::does_not_exist;
    else
        return std::nullopt;
    const bool takes_values =
        made.op == device_label_operator::in || made.op == device_label_operator::not_in;
    return takes_values == !made.values.empty() ? std::optional(std::move(made)) : std::nullopt;
}

/// Reads a LabelSelector; nullopt if it is malformed.
[[nodiscard]] inline std::optional<std::vector<device_label_check>>
read_device_selector(const boost::json::value& at) {
    const auto* const object = at.if_object();
    if (object == nullptr)
        return std::nullopt;
    std::vector<device_label_check> checks;
    for (const auto& member : *object) {
        const std::string_view key(member.key().data(), member.key().size());
        const boost::json::value& value = member.value();
        if (value.is_null())
            continue;
        if (key == "matchLabels" && value.is_object()) {
            for (const auto& label : value.get_object()) {
                if (!label.value().is_string())
                    return std::nullopt;
                checks.push_back({std::string(label.key()),
                                  device_label_operator::in,
                                  {std::string(label.value().get_string())}});
            }
        } else if (key == "matchExpressions" && value.is_array()) {
            for (const boost::json::value& each : value.get_array()) {
                auto check = read_label_check(each);
                if (!check)
                    return std::nullopt;
                checks.push_back(std::move(*check));
            }
        } else {
            return std::nullopt;
        }
    }
    return checks;
}

/// Reads one field of a hint. Returns an error message; empty if there is none.
[[nodiscard]] inline std::string read_hint_field(std::string_view type, std::string_view key,
                                                 const boost::json::value& at,
                                                 koordinator_hint& to) {
    const std::string name = std::string(type) + "." + std::string(key);
    if (key == "selector" || key == "vfSelector") {
        auto checks = read_device_selector(at);
        if (!checks)
            return name + " is not a label selector";
        std::size_t words = checks->size();
        for (const device_label_check& each : *checks)
            words += each.values.size();
        if (words > most_selector_words)
            return name + " has more than " + std::to_string(most_selector_words) +
                   " expressions and values";
        if (key == "vfSelector" && type == koordinator_devices::gpu_type)
            return name + " is not modelled";
        (key == "selector" ? to.labels : to.function) = std::move(checks);
        return {};
    }
    const auto* const text = at.if_string();
    const std::string_view value =
        text ? std::string_view(text->data(), text->size()) : std::string_view{};
    const auto unknown = [&](std::string_view expected) {
        return name + " has an unknown value (expected " + std::string(expected) + ")";
    };
    if (key == "allocateStrategy") {
        if (value != "ApplyForAll" && value != "RequestsAsCount")
            return unknown("ApplyForAll or RequestsAsCount");
        to.how = value == "ApplyForAll" ? koordinator_hint::strategy::all
                                        : koordinator_hint::strategy::amount_is_count;
    } else if (key == "exclusivePolicy") {
        if (value != "DeviceLevel" && value != "PCIeLevel")
            return unknown("DeviceLevel or PCIeLevel");
        to.is_exclusive = value == "DeviceLevel";
    } else if (key == "requiredTopologyScope") {
        if (value != "PCIe" && value != "NUMANode" && value != "Node")
            return unknown("PCIe, NUMANode or Node");
        to.scope = value;
    } else {
        return name + " is not modelled";
    }
    return {};
}

/// Returns the object that an annotation holds; nullopt if it is absent, null or malformed. If it
/// is malformed, `wrong` gets the reason.
[[nodiscard]] inline std::optional<boost::json::object>
annotated_object(const metadata_text& at, std::vector<std::string>& wrong) {
    if (!at.is_present())
        return std::nullopt;
    boost::json::error_code error;
    boost::json::value root = boost::json::parse({at.text().data(), at.text().size()}, error);
    if (!error && root.is_null())
        return std::nullopt;
    if (error || !root.is_object()) {
        wrong.push_back(at.text_of("not a JSON object"));
        return std::nullopt;
    }
    return std::move(root.get_object());
}

inline void read_hints(const metadata_text& at, koordinator_policies& to) {
    const auto root = annotated_object(at, to.wrong);
    if (!root)
        return;
    for (const auto& member : *root) {
        const std::string_view type(member.key().data(), member.key().size());
        if (member.value().is_null())
            continue;
        if (!member.value().is_object()) {
            to.wrong.push_back(at.text_of(std::string(type) + " is not an object"));
            continue;
        }
        koordinator_hint& hint = to.hints[std::string(type)];
        for (const auto& field : member.value().get_object()) {
            const boost::json::value& value = field.value();
            const std::string_view key(field.key());
            // An empty text is no selector, but means the same as no text.
            const bool is_selector = key == "selector" || key == "vfSelector";
            if (value.is_null() ||
                (!is_selector && value.is_string() && value.get_string().empty()))
                continue;
            if (std::string wrong = read_hint_field(type, key, value, hint); !wrong.empty())
                to.wrong.push_back(at.text_of(wrong));
        }
    }
}

/// Returns the value of a key; nullptr if it is absent or null.
[[nodiscard]] inline const boost::json::value* json_value(const boost::json::object& in,
                                                          std::string_view key) {
    const boost::json::value* const at = in.if_contains(key);
    return at && !at->is_null() ? at : nullptr;
}

/// Adds the keys other than these to the reasons. Koordinator ignores the case of keys, so a key
/// that seems unknown can have an effect there.
inline void refuse_other_keys(const metadata_text& at, const boost::json::object& object,
                              std::initializer_list<std::string_view> known,
                              std::vector<std::string>& wrong) {
    for (const auto& member : object) {
        const std::string_view key(member.key());
        if (std::find(known.begin(), known.end(), key) == known.end())
            wrong.push_back(at.text_of(in_quotes(key) + " is not a known field"));
    }
}

/// Reads a text that must be one of these; empty if it is absent. Another one is added to the
/// reasons.
[[nodiscard]] inline std::string_view
read_choice(const metadata_text& at, const boost::json::object& object, std::string_view key,
            std::initializer_list<std::string_view> choices, std::vector<std::string>& wrong) {
    const boost::json::value* const value = json_value(object, key);
    if (value == nullptr || (value->is_string() && value->get_string().empty()))
        return {};
    const std::string_view text = json_text(object, key);
    if (std::find(choices.begin(), choices.end(), text) != choices.end())
        return text;
    std::string expected;
    for (const std::string_view each : choices)
        expected += (expected.empty() ? "" : " or ") + std::string(each);
    wrong.push_back(
        at.text_of(std::string(key) + " has an unknown value (expected " + expected + ")"));
    return {};
}

inline void read_joint(const metadata_text& at, koordinator_policies& to) {
    const auto root = annotated_object(at, to.wrong);
    if (!root)
        return;
    refuse_other_keys(at, *root, {"deviceTypes", "requiredScope"}, to.wrong);
    to.at_same_roots = !read_choice(at, *root, "requiredScope", {"SamePCIe"}, to.wrong).empty();
    const boost::json::value* const types = json_value(*root, "deviceTypes");
    if (types == nullptr)
        return;
    const bool is_list =
        types->is_array() && std::all_of(types->get_array().begin(), types->get_array().end(),
                                         [](const auto& each) { return each.is_string(); });
    if (!is_list)
        return to.wrong.push_back(at.text_of("deviceTypes is not a list of types"));
    for (const boost::json::value& each : types->get_array()) {
        std::string type(each.get_string());
        if (std::find(to.joint.begin(), to.joint.end(), type) != to.joint.end())
            return to.wrong.push_back(at.text_of("deviceTypes lists a type twice"));
        to.joint.push_back(std::move(type));
    }
}

/// As in Koordinator, an annotation of `null` requires partitions as `{}` does.
inline void read_partition_spec(const metadata_text& at, koordinator_policies& to) {
    const std::size_t reasons = to.wrong.size();
    const auto root = annotated_object(at, to.wrong);
    if (!at.is_present() || to.wrong.size() > reasons)
        return;
    partition_wish& wish = to.partition.emplace();
    wish.is_required = true;
    if (!root)
        return;
    refuse_other_keys(at, *root, {"allocatePolicy", "ringBusBandwidth"}, to.wrong);
    wish.least_score_only = read_choice(at, *root, "allocatePolicy", {"Restricted", "BestEffort"},
                                        to.wrong) == "Restricted";
    const boost::json::value* const bandwidth = json_value(*root, "ringBusBandwidth");
    if (bandwidth == nullptr)
        return;
    wish.bandwidth_milli = json_milli(*bandwidth);
    if (!wish.bandwidth_milli)
        to.wrong.push_back(at.text_of("ringBusBandwidth is not a quantity of at least 0"));
}

} // namespace detail

/// Reads the annotations that set how Koordinator chooses the devices of a pod. O(annotations).
[[nodiscard]] inline koordinator_policies read_koordinator_policies(const object_metadata& pod,
                                                                    diagnostics& out) {
    namespace names = koordinator_devices;
    koordinator_policies read;
    detail::read_hints({pod, "pod", names::hint_key, out}, read);
    detail::read_joint({pod, "pod", names::joint_key, out}, read);
    detail::read_partition_spec({pod, "pod", names::partition_key, out}, read);
    return read;
}

} // namespace codec
} // namespace v0_1
} // namespace muster
