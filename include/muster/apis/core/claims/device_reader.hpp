// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/apis/core/claims/claim_spec_reader.hpp>
#include <muster/apis/core/claims/device_objects.hpp>
#include <muster/apis/core/claims/device_slice_reader.hpp>
#include <muster/apis/core/node_affinity_reader.hpp>
#include <muster/apis/core/reading_context.hpp>
#include <muster/apis/core/volumes/storage_reader.hpp>
#include <muster/document/field_reader.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {
namespace detail {

[[nodiscard]] inline bool has_finalizer(object_reader& object, std::string_view name) {
    const field metadata_at = object.optional("metadata");
    object_reader metadata = metadata_at.as_object();
    const field list_at = metadata.optional("finalizers");
    const std::vector<std::string> all = read_strings(list_at.as_array());
    metadata.ignore_rest();
    return std::ranges::find(all, name) != all.end();
}

/// Conditions under which a pod with an allocated device is bound.
struct binding_terms {
    device_id id;
    std::string share;
    std::vector<std::string> conditions;
    std::vector<std::string> failures;
};

[[nodiscard]] inline claim_status read_claim_allocation(object_reader& object,
                                                        std::vector<binding_terms>& terms) {
    claim_status read;
    read.nodes = read_node_selector(object.optional("nodeSelector"), read.unsupported);
    const field devices_at = object.optional("devices");
    object_reader devices = devices_at.as_object();
    const field results_at = devices.optional("results");
    const array_reader results = results_at.as_array();
    bool skips = false;
    results.for_each_object([&](object_reader& each) {
        allocated_device made;
        made.request = string_or_empty(each.optional("request"));
        made.id = {string_or_empty(each.required("driver")), string_or_empty(each.required("pool")),
                   string_or_empty(each.required("device"))};
        made.admin_access = each.optional("adminAccess").as_boolean().value_or(false);
        made.is_share = each.optional("shareID").is_present();
        made.consumed = read_device_amounts(each.optional("consumedCapacity"));
        const field conditions_at = each.optional("bindingConditions");
        const field failures_at = each.optional("bindingFailureConditions");
        const field skips_at = each.optional("skipNodeOperations");
        skips = skips || skips_at.as_array().size() > 0;
        if (conditions_at.is_present())
            terms.push_back({made.id, string_or_empty(each.optional("shareID")),
                             read_strings(conditions_at.as_array()),
                             read_strings(failures_at.as_array())});
        each.ignore_rest();
        read.devices.push_back(std::move(made));
    });
    devices.ignore_rest();
    object.ignore_rest();
    // Only kubelets that declare `optional_operations` can skip operations.
    if (skips && !read.nodes)
        read.nodes.emplace(1);
    if (skips)
        for (node_term& each : *read.nodes)
            each.labels.requirements.push_back(
                {std::string(optional_operations_mark), label_operator::exists, {}});
    return read;
}

/// What the driver says of an allocated device.
struct device_state {
    device_id id;
    std::string share;
    std::set<std::string> holding;
    /// By condition.
    std::map<std::string, std::string> messages;
};

[[nodiscard]] inline std::vector<device_state> read_device_states(const field& at) {
    std::vector<device_state> read;
    const array_reader list = at.as_array();
    list.for_each_object([&](object_reader& each) {
        device_state made;
        made.id = {string_or_empty(each.required("driver")), string_or_empty(each.required("pool")),
                   string_or_empty(each.required("device"))};
        made.share = string_or_empty(each.optional("shareID"));
        const field conditions_at = each.optional("conditions");
        const array_reader conditions = conditions_at.as_array();
        conditions.for_each_object([&](object_reader& one) {
            const std::string type = string_or_empty(one.required("type"));
            if (string_or_empty(one.required("status")) == "True")
                made.holding.insert(type);
            made.messages[type] = string_or_empty(one.optional("message"));
            one.ignore_rest();
        });
        each.ignore_rest();
        read.push_back(std::move(made));
    });
    return read;
}

/// Fills `pending` and `failed`.
inline void judge_bindings(const std::vector<binding_terms>& terms,
                           const std::vector<device_state>& states, claim_status& to) {
    for (const binding_terms& each : terms) {
        const auto state = std::ranges::find_if(states, [&](const device_state& one) {
            return one.id == each.id && one.share == each.share;
        });
        const auto holds = [&](const std::string& condition) {
            return state != states.end() && state->holding.contains(condition);
        };
        const std::string of = " of device " + each.id.device;
        for (const std::string& condition : each.failures)
            if (holds(condition) && to.failed.empty()) {
                const std::string& why = state->messages.find(condition)->second;
                to.failed = condition + of + (why.empty() ? "" : ": " + why);
            }
        for (const std::string& condition : each.conditions)
            if (!holds(condition))
                to.pending.push_back(condition + of);
    }
}

} // namespace detail

/// Reads a resource.k8s.io ResourceClaim of v1, v1beta2 or v1beta1.
[[nodiscard]] inline resource_claim_object read_resource_claim(object_reader& object,
                                                               reading_context& context) {
    resource_claim_object read;
    read.metadata = read_metadata(object, true, context);
    detail::read_controller(object, read);
    read.is_extended = detail::annotation_of(read.metadata, extended_claim_mark) == "true";
    read.muster_pod = detail::annotation_of(read.metadata, allocated_for);
    read.is_protected = detail::has_finalizer(object, claim_finalizer);
    const field status_at = object.optional("status");
    object_reader status = status_at.as_object();
    const field allocation_at = status.optional("allocation");
    object_reader allocation = allocation_at.as_object();
    if (allocation.is_present()) {
        std::vector<detail::binding_terms> terms;
        read.allocation = detail::read_claim_allocation(allocation, terms);
        if (!terms.empty())
            detail::judge_bindings(terms, detail::read_device_states(status.optional("devices")),
                                   *read.allocation);
    }
    const field consumers_at = status.optional("reservedFor");
    const array_reader consumers = consumers_at.as_array();
    consumers.for_each_object([&](object_reader& each) {
        read.reserved_for.push_back({detail::string_or_empty(each.required("resource")),
                                     detail::string_or_empty(each.required("name")),
                                     detail::string_or_empty(each.optional("uid"))});
        each.ignore_rest();
    });
    status.ignore_rest();
    read.spec = detail::read_claim_spec(object.optional("spec"));
    object.ignore({"apiVersion", "kind"});
    object.finish();
    return read;
}

/// Reads a resource.k8s.io ResourceClaimTemplate. A controller creates its claims.
[[nodiscard]] inline resource_claim_template_object
read_resource_claim_template(object_reader& object, reading_context& context) {
    resource_claim_template_object read;
    read.metadata = read_metadata(object, true, context);
    const field spec_at = object.optional("spec");
    object_reader spec = spec_at.as_object();
    read.spec = detail::read_claim_spec(spec.optional("spec"));
    // Labels and annotations of its claims.
    spec.ignore({"metadata"});
    detail::note_unknown_fields(spec, read.spec.unsupported);
    object.ignore_rest();
    return read;
}

/// Reads a resource.k8s.io DeviceClass.
[[nodiscard]] inline device_class_object read_device_class(object_reader& object,
                                                           reading_context& context) {
    device_class_object read;
    read.metadata = read_metadata(object, false, context);
    const field spec_at = object.optional("spec");
    object_reader spec = spec_at.as_object();
    read.resource = detail::string_or_empty(spec.optional("extendedResourceName"));
    const field selectors_at = spec.optional("selectors");
    std::vector<std::string> unknown;
    read.texts = detail::read_selector_texts(selectors_at, unknown);
    read.selectors.selectors = detail::parse_selectors(read.texts);
    // A selector of another kind selects no device for certain.
    for (std::string& each : unknown) {
        request_selector& made = read.selectors.selectors.emplace_back();
        made.text = std::move(each);
        made.is_known = false;
    }
    read.config = detail::json_list_of(spec.optional("config"));
    spec.ignore_rest();
    object.ignore({"apiVersion", "kind"});
    object.finish();
    return read;
}

} // namespace codec
} // namespace v0_1
} // namespace muster
