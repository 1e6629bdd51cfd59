// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/apis/core/claims/device_objects.hpp>
#include <muster/apis/core/claims/device_taint_rules.hpp>
#include <muster/apis/core/claims/pooled_devices.hpp>
#include <muster/document/object_metadata.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// Prefix of the implicit extended resource of each DeviceClass; the name of the class follows.
inline constexpr std::string_view implicit_device_resource = "deviceclass.resource.kubernetes.io/";

/// Indexes device objects by name. Holds pointers: the objects must outlive it. Slices have the
/// taints of DeviceTaintRules.
class device_catalog {
public:
    explicit device_catalog(const device_objects& objects) {
        for (const resource_claim_object& each : objects.claims)
            claims.emplace(each.metadata.key, &each);
        for (const resource_claim_template_object& each : objects.templates)
            templates.emplace(each.metadata.key, &each);
        for (const resource_slice_object& each : objects.slices)
            slices.push_back(&each);
        for (const group_claims_object& each : objects.groups)
            groups.emplace(each.metadata.key, &each);
        // The order of an input's objects does not matter.
        std::ranges::stable_sort(slices, {}, [](const auto* each) { return each->metadata.key; });
        for (const device_class_object& each : objects.classes)
            add(each);
        taint(objects.taint_rules);
    }
    device_catalog() = default;

    std::map<object_key, const resource_claim_object*> claims;
    std::map<object_key, const resource_claim_template_object*> templates;
    /// PodGroups with claims.
    std::map<object_key, const group_claims_object*> groups;
    std::vector<const resource_slice_object*> slices;
    std::map<std::string_view, const device_class_object*> classes;

    void add(const device_class_object& each) {
        classes.emplace(each.metadata.key.name, &each);
        if (each.resource.empty())
            return;
        const device_class_object*& known = by_resource_[each.resource];
        if (!known || is_before(each, *known))
            known = &each;
    }

    /// Returns the class whose devices serve an extended resource, or nullptr. O(log classes).
    [[nodiscard]] const device_class_object* class_of(std::string_view resource) const {
        const auto& in = resource.starts_with(implicit_device_resource) ? classes : by_resource_;
        if (&in == &classes)
            resource.remove_prefix(implicit_device_resource.size());
        const auto found = in.find(resource);
        return found == in.end() ? nullptr : found->second;
    }

private:
    /// Replaces slices with devices that a rule matches by tainted copies.
    void taint(const std::vector<device_taint_rule_object>& rules) {
        std::vector<const device_taint_rule_object*> matching;
        for (const resource_slice_object*& each : slices) {
            matching.clear();
            for (const device_taint_rule_object& rule : rules)
                if (may_match(rule, each->slice))
                    matching.push_back(&rule);
            if (matching.empty())
                continue;
            auto copy = std::make_shared<resource_slice_object>(*each);
            if (add_taints(matching, copy->slice))
                each = tainted_.emplace_back(std::move(copy)).get();
        }
    }

    /// If several classes serve one resource, the newest counts; of equal age, the first by name.
    static bool is_before(const device_class_object& lhs, const device_class_object& rhs) {
        const auto created = [](const device_class_object& of) {
            return of.metadata.created.value_or(0);
        };
        return created(lhs) != created(rhs) ? created(lhs) > created(rhs)
                                            : lhs.metadata.key.name < rhs.metadata.key.name;
    }

    std::map<std::string_view, const device_class_object*> by_resource_;
    /// Copies of the catalog share them: `slices` points to them.
    std::vector<std::shared_ptr<const resource_slice_object>> tainted_;
};

/// True if no claim without tolerations can get the device.
[[nodiscard]] inline bool is_tainted(const device& of) {
    return taints_prevent_allocation(of.taints, {});
}

} // namespace codec
} // namespace v0_1
} // namespace muster
