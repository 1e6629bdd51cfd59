// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json.hpp>

#include <muster/devices/device_allocation.hpp>
#include <muster/devices/device_claim.hpp>
#include <muster/devices/device_features.hpp>
#include <muster/devices/device_pools.hpp>
#include <muster/devices/device_usage.hpp>
#include <muster/devices/request_selector.hpp>
#include <muster/devices/semantic_version_text.hpp>
#include <muster/resource/quantity_text.hpp>

/// Reads a case of kubernetes_allocator.json.
namespace device_cases {

namespace json = boost::json;

/// A device that the case expects: request, driver, pool, device, then what it consumes.
using expected_device = std::string;

struct device_case {
    std::string name;
    muster::device_features features;
    std::vector<muster::device_claim> claims;
    muster::device_classes classes;
    std::vector<std::unique_ptr<muster::device_slice>> slices;
    std::vector<muster::slice_view> views;
    muster::device_usage usage;
    /// Parts of the text of the expected error; empty = none is expected.
    std::vector<std::string> error;
    /// By claim, each list sorted; empty = no allocation.
    std::vector<std::vector<expected_device>> results;
};

class reader {
public:
    explicit reader(const json::object& source) : source_(source) {}

    [[nodiscard]] device_case read() {
        to_.name = text(source_, "name");
        read_features();
        read_node();
        for (const auto& each : list(source_, "classes")) {
            const auto& object = each.as_object();
            // As in the table's lister, the first one of a name counts.
            to_.classes.emplace(text(object, "name"),
                                muster::device_class{selectors(list(object, "selectors"))});
        }
        for (const auto& each : list(source_, "claims"))
            to_.claims.push_back(claim(each.as_object()));
        for (const auto& each : list(source_, "slices"))
            read_slice(each.as_object());
        read_usage();
        for (const auto& each : list(source_, "error"))
            to_.error.emplace_back(each.as_string());
        for (const auto& each : list(source_, "results"))
            to_.results.push_back(result(each.as_object()));
        return std::move(to_);
    }

    [[nodiscard]] static expected_device
    device_text(const std::string& request, const muster::device_id& id, bool admin, bool is_share,
                const std::map<std::string, std::string>& consumed) {
        std::string text = request + ' ' + id.driver + '/' + id.pool + '/' + id.device;
        text += admin ? " admin" : "";
        text += is_share ? " share" : "";
        for (const auto& [name, amount] : consumed)
            text += ' ' + name + '=' + amount;
        return text;
    }

private:
    static std::string text(const json::object& object, std::string_view key) {
        const auto* found = object.if_contains(key);
        return found != nullptr && found->is_string() ? std::string(found->as_string()) : "";
    }
    static std::int64_t number(const json::object& object, std::string_view key) {
        const auto* found = object.if_contains(key);
        return found == nullptr ? 0 : found->as_int64();
    }
    static bool flag(const json::object& object, std::string_view key) {
        const auto* found = object.if_contains(key);
        return found != nullptr && found->is_bool() && found->as_bool();
    }
    static const json::array& list(const json::object& object, std::string_view key) {
        static const json::array none;
        const auto* found = object.if_contains(key);
        return found != nullptr && found->is_array() ? found->as_array() : none;
    }
    static const json::object& child(const json::object& object, std::string_view key) {
        static const json::object none;
        const auto* found = object.if_contains(key);
        return found != nullptr && found->is_object() ? found->as_object() : none;
    }
    static std::vector<std::string> texts(const json::array& from) {
        std::vector<std::string> all;
        for (const auto& each : from)
            all.emplace_back(each.as_string());
        return all;
    }
    static muster::quantity amount(const json::value& from) {
        const auto parsed = muster::parse_quantity(std::string(from.as_string()));
        if (!parsed)
            throw std::runtime_error("not a quantity: " + std::string(from.as_string()));
        return *parsed;
    }
    static std::map<std::string, muster::quantity> amounts(const json::object& from) {
        std::map<std::string, muster::quantity> all;
        for (const auto& [name, value] : from)
            all.emplace(name, amount(value.is_object() ? value.as_object().at("value") : value));
        return all;
    }

    void read_features() {
        auto& to = to_.features;
        to = {false, false, false, false, false, false, false, false, false, false};
        for (const std::string& name : texts(list(source_, "features"))) {
            to.admin_access = to.admin_access || name == "DRAAdminAccess";
            to.compatibility_groups =
                to.compatibility_groups || name == "DRADeviceCompatibilityGroups";
            to.consumable_capacity = to.consumable_capacity || name == "DRAConsumableCapacity";
            to.binding_conditions = to.binding_conditions || name.starts_with("DRADeviceBinding");
            to.taints = to.taints || name == "DRADeviceTaints";
            to.fractional_capacity = to.fractional_capacity || name == "DRAFractionalCapacityRange";
            to.list_attributes = to.list_attributes || name == "DRAListTypeAttributes";
            to.partitionable_devices =
                to.partitionable_devices || name == "DRAPartitionableDevices";
            to.prioritized_list = to.prioritized_list || name == "DRAPrioritizedList";
            to.derived_attributes = to.derived_attributes || name == "DRADerivedAttributes";
            optional_operations_ = optional_operations_ || name == "DRAOptionalNodeOperations";
        }
    }

    void read_node() {
        const auto& node = child(source_, "node");
        // What the table has for cases without a node.
        node_name_ = node.empty() ? "node-1" : text(node, "name");
        if (node.empty())
            labels_ = {{"region", "region-1"}, {"planet", "earth"}};
        for (const auto& [name, value] : child(node, "labels"))
            labels_.emplace(name, value.as_string());
        for (const std::string& feature : texts(list(node, "declaredFeatures")))
            optional_operations_on_node_ =
                optional_operations_on_node_ || feature == "DRAOptionalNodeOperations";
    }

    /// Node selectors of one term with In requirements; the table has no others.
    [[nodiscard]] bool reaches(const json::object& target) const {
        if (const auto name = text(target, "nodeName"); !name.empty())
            return name == node_name_;
        if (flag(target, "allNodes"))
            return true;
        const auto& terms = list(child(target, "nodeSelector"), "nodeSelectorTerms");
        if (terms.empty())
            return false;
        for (const auto& term : terms) {
            bool matches = true;
            for (const auto* key : {"matchExpressions", "matchFields"})
                for (const auto& each : list(term.as_object(), key)) {
                    const auto& requirement = each.as_object();
                    if (text(requirement, "operator") != "In")
                        throw std::runtime_error("a node selector with another operator than In");
                    const auto name = text(requirement, "key");
                    const auto label = labels_.find(name);
                    const std::string value = name == "metadata.name"  ? node_name_
                                              : label == labels_.end() ? ""
                                                                       : label->second;
                    const auto values = texts(list(requirement, "values"));
                    matches =
                        matches && std::find(values.begin(), values.end(), value) != values.end();
                }
            if (matches)
                return true;
        }
        return false;
    }

    static std::vector<muster::request_selector> selectors(const json::array& from) {
        std::vector<muster::request_selector> all;
        for (const auto& each : from) {
            const auto& cel = child(each.as_object(), "cel");
            auto selector = muster::read_request_selector(text(cel, "expression"));
            selector.is_known = !cel.empty();
            all.push_back(std::move(selector));
        }
        return all;
    }

    static muster::device_taint_effect effect(const std::string& name) {
        return name == "NoSchedule"  ? muster::device_taint_effect::no_schedule
               : name == "NoExecute" ? muster::device_taint_effect::no_execute
                                     : muster::device_taint_effect::none;
    }

    static muster::device_alternative alternative(const json::object& from) {
        muster::device_alternative to;
        to.name = text(from, "name");
        to.class_name = text(from, "deviceClassName");
        const auto mode = text(from, "allocationMode");
        to.mode = mode == "ExactCount" ? muster::device_count_mode::exact
                  : mode == "All"      ? muster::device_count_mode::all
                                       : muster::device_count_mode::unknown;
        to.count = number(from, "count");
        to.admin_access = flag(from, "adminAccess");
        to.selectors = selectors(list(from, "selectors"));
        for (const auto& each : list(from, "tolerations")) {
            const auto& source = each.as_object();
            muster::device_toleration toleration{text(source, "key"),
                                                 text(source, "value"),
                                                 text(source, "operator") == "Exists",
                                                 {}};
            if (const auto name = text(source, "effect"); !name.empty())
                toleration.effect = effect(name);
            to.tolerations.push_back(std::move(toleration));
        }
        to.capacities = amounts(child(child(from, "capacity"), "requests"));
        for (const auto& each : list(from, "derivedAttributes"))
            to.derived.push_back(muster::read_derived_attribute(
                text(each.as_object(), "name"), text(each.as_object(), "expression")));
        return to;
    }

    static muster::device_claim claim(const json::object& from) {
        muster::device_claim to;
        to.name = text(from, "name");
        for (const auto& each : list(from, "requests")) {
            const auto& source = each.as_object();
            muster::device_request request;
            request.name = text(source, "name");
            for (const auto& one : list(source, "firstAvailable"))
                request.alternatives.push_back(alternative(one.as_object()));
            request.is_prioritized = !request.alternatives.empty();
            if (!request.is_prioritized)
                request.alternatives.push_back(alternative(child(source, "exactly")));
            to.requests.push_back(std::move(request));
        }
        for (const auto& each : list(from, "constraints")) {
            const auto& source = each.as_object();
            muster::device_constraint constraint;
            const auto match = text(source, "matchAttribute");
            const auto distinct = text(source, "distinctAttribute");
            constraint.kind = !match.empty()      ? muster::device_constraint_kind::match
                              : !distinct.empty() ? muster::device_constraint_kind::distinct
                                                  : muster::device_constraint_kind::unknown;
            constraint.attribute = match.empty() ? distinct : match;
            constraint.requests = texts(list(source, "requests"));
            to.constraints.push_back(std::move(constraint));
        }
        return to;
    }

    static std::string qualified(const std::string& name, const std::string& driver) {
        return name.find('/') == std::string::npos ? driver + '/' + name : name;
    }

    static muster::semantic_version version(const std::string& from) {
        auto read = muster::parse_semantic_version(from);
        if (!read)
            throw std::runtime_error("not a version: " + from);
        return *std::move(read);
    }

    /// Absent if the value has no type that this version of Kubernetes knows.
    [[nodiscard]] std::optional<muster::device_attribute>
    attribute(const json::object& from) const {
        using muster::device_attribute;
        for (const auto& [type, value] : from) {
            if (type == "bool")
                return device_attribute{value.as_bool()};
            if (type == "int")
                return device_attribute{value.as_int64()};
            if (type == "string")
                return device_attribute{std::string(value.as_string())};
            if (type == "version")
                return device_attribute{version(std::string(value.as_string()))};
            if (!value.is_array() || value.as_array().empty())
                continue;
            const auto& values = value.as_array();
            if (type == "bools") {
                std::vector<bool> all;
                for (const auto& each : values)
                    all.push_back(each.as_bool());
                return device_attribute{std::move(all)};
            }
            if (type == "ints") {
                std::vector<std::int64_t> all;
                for (const auto& each : values)
                    all.push_back(each.as_int64());
                return device_attribute{std::move(all)};
            }
            if (type == "strings")
                return device_attribute{texts(values)};
            if (type == "versions") {
                std::vector<muster::semantic_version> all;
                for (const std::string& each : texts(values))
                    all.push_back(version(each));
                return device_attribute{std::move(all)};
            }
        }
        return std::nullopt;
    }

    static muster::capacity_policy policy(const json::object& from) {
        muster::capacity_policy to;
        if (const auto* value = from.if_contains("default"))
            to.default_request = amount(*value);
        if (const auto* range = from.if_contains("validRange")) {
            const auto& source = range->as_object();
            to.range.emplace();
            to.range->min = amount(source.at("min"));
            if (const auto* max = source.if_contains("max"))
                to.range->max = amount(*max);
            if (const auto* step = source.if_contains("step"))
                to.range->step = amount(*step);
        }
        for (const auto& each : list(from, "validValues"))
            to.values.push_back(amount(each));
        return to;
    }

    muster::device device(const json::object& from, const std::string& driver) {
        muster::device to;
        to.name = text(from, "name");
        to.attributes.driver = driver;
        to.attributes.allows_multiple_allocations = flag(from, "allowMultipleAllocations");
        for (const auto& [name, value] : child(from, "attributes")) {
            auto read = attribute(value.as_object());
            if (read)
                to.attributes.attributes.emplace(qualified(name, driver), *std::move(read));
            else
                to.unreadable = "unsupported attribute value";
        }
        for (const auto& [name, value] : child(from, "capacity")) {
            const auto& source = value.as_object();
            muster::device_capacity capacity{name, amount(source.at("value")), {}};
            if (const auto* rules = source.if_contains("requestPolicy"))
                capacity.policy = policy(rules->as_object());
            to.attributes.capacities.emplace(qualified(name, driver), capacity.value);
            to.capacities.push_back(std::move(capacity));
        }
        for (const auto& each : list(from, "consumesCounters")) {
            const auto& source = each.as_object();
            to.consumes.push_back({text(source, "counterSet"), amounts(child(source, "counters")),
                                   texts(list(source, "compatibilityGroups"))});
        }
        for (const auto& each : list(from, "taints")) {
            const auto& source = each.as_object();
            to.taints.push_back(
                {text(source, "key"), text(source, "value"), effect(text(source, "effect"))});
        }
        to.binding_conditions = texts(list(from, "bindingConditions"));
        return to;
    }

    void read_slice(const json::object& from) {
        auto to = std::make_unique<muster::device_slice>();
        to->name = text(from, "name");
        to->driver = text(from, "driver");
        const auto& pool = child(from, "pool");
        to->pool = text(pool, "name");
        to->generation = number(pool, "generation");
        to->slice_count = number(pool, "resourceSliceCount");
        muster::slice_view view;
        view.reaches_node = reaches(from);
        const bool per_device = flag(from, "perDeviceNodeSelection");
        for (const auto& each : list(from, "devices")) {
            to->devices.push_back(device(each.as_object(), to->driver));
            if (per_device) {
                view.reached.push_back(reaches(each.as_object()));
                view.reaches_node = view.reaches_node || view.reached.back();
            }
        }
        for (const auto& each : list(from, "sharedCounters")) {
            const auto& source = each.as_object();
            to->counter_sets.push_back({text(source, "name"), amounts(child(source, "counters"))});
        }
        view.allocatable = list(from, "skipNodeOperations").empty() ||
                           (optional_operations_ && optional_operations_on_node_);
        view.slice = to.get();
        to_.views.push_back(std::move(view));
        to_.slices.push_back(std::move(to));
    }

    static muster::device_id id(const std::string& from) {
        const auto first = from.find('/');
        const auto second = from.find('/', first + 1);
        const auto third = from.find('/', second + 1);
        return {from.substr(0, first), from.substr(first + 1, second - first - 1),
                from.substr(second + 1, third - second - 1)};
    }

    void read_usage() {
        for (const std::string& each : texts(list(source_, "allocated")))
            to_.usage.whole.insert(id(each));
        for (const std::string& each : texts(list(source_, "shared")))
            to_.usage.shared[id(each)];
        for (const auto& [name, consumed] : child(source_, "consumed"))
            to_.usage.shared[id(name)] = amounts(consumed.as_object());
    }

    static std::vector<expected_device> result(const json::object& from) {
        std::vector<expected_device> all;
        for (const auto& each : list(from, "devices")) {
            const auto& source = each.as_object();
            std::map<std::string, std::string> consumed;
            for (const auto& [name, value] : amounts(child(source, "consumedCapacity")))
                consumed.emplace(name, value.to_text());
            all.push_back(
                device_text(text(source, "request"),
                            {text(source, "driver"), text(source, "pool"), text(source, "device")},
                            flag(source, "adminAccess"), source.contains("shareID"), consumed));
        }
        std::sort(all.begin(), all.end());
        return all;
    }

    const json::object& source_;
    device_case to_;
    std::string node_name_;
    std::map<std::string, std::string> labels_;
    bool optional_operations_ = false;
    bool optional_operations_on_node_ = false;
};

/// The devices that were allocated, in the form of device_case::results.
[[nodiscard]] inline std::vector<std::vector<expected_device>>
texts_of(const muster::device_allocation& allocation) {
    std::vector<std::vector<expected_device>> all;
    for (const auto& claim : allocation.claims) {
        auto& devices = all.emplace_back();
        for (const auto& device : claim.devices) {
            std::map<std::string, std::string> consumed;
            for (const auto& [name, amount] : device.consumed)
                consumed.emplace(name, amount.to_text());
            devices.push_back(reader::device_text(device.request, device.id, device.admin_access,
                                                  device.is_share, consumed));
        }
        std::sort(devices.begin(), devices.end());
    }
    return all;
}

} // namespace device_cases
