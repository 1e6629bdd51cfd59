// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/apis/core/claims/device_catalog.hpp>
#include <muster/apis/core/claims/device_objects.hpp>
#include <muster/apis/core/reading_context.hpp>
#include <muster/devices/device_claim.hpp>
#include <muster/document/field_reader.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// Which devices of the claim a container gets for a resource.
struct extended_mapping {
    std::string container;
    std::string resource;
    std::string request;

    [[nodiscard]] friend auto operator<=>(const extended_mapping&,
                                          const extended_mapping&) = default;
};

/// The one claim for the extended resources of a pod on a node.
struct extended_claim {
    device_claim asks;
    std::vector<extended_mapping> mappings;
};

namespace detail {

/// Adds the whole amounts of extended resources that a container requests. What it does not request
/// but limits, it requests up to the limit, as the API server sets it.
inline void read_extended_requests(const field& resources_at, std::string_view container,
                                   std::size_t position, bool is_init,
                                   std::vector<extended_request>& to) {
    object_reader resources = resources_at.as_object();
    std::map<std::string, std::int64_t> sorted;
    for (const std::string_view list : {"requests", "limits"}) {
        const field amounts_at = resources.optional(list);
        object_reader amounts = amounts_at.as_object();
        amounts.for_each([&](std::string_view name, const field& at) {
            const auto amount = name.find('/') == std::string_view::npos ? std::optional<quantity>()
                                                                         : read_quantity(at);
            sorted.emplace(name, amount ? amount->units_down() : 0);
        });
    }
    std::size_t ordinal = 0;
    for (const auto& [name, count] : sorted) {
        if (count > 0)
            to.push_back({std::string(container), position, is_init, name, ordinal, count});
        ++ordinal;
    }
}

/// Adds the requests and mappings of one resource. An init container uses devices of later
/// containers first, and all init containers share what else they need.
inline void add_resource(const std::vector<extended_request>& all, const std::string& resource,
                         const std::string& class_name, extended_claim& to) {
    const auto make = [&](const std::string& name, std::int64_t count) {
        device_request made;
        made.name = name;
        made.alternatives.emplace_back();
        made.alternatives.back().class_name = class_name;
        made.alternatives.back().count = count;
        to.asks.requests.push_back(std::move(made));
    };
    std::vector<const extended_request*> lasting;
    for (const extended_request& each : all)
        if (each.resource == resource && !each.is_init) {
            lasting.push_back(&each);
            make(each.name(), each.count);
            to.mappings.push_back({each.container, resource, each.name()});
        }
    const extended_request* largest = nullptr;
    std::int64_t most = 0;
    std::vector<const extended_request*> short_of;
    for (const extended_request& each : all) {
        if (each.resource != resource || !each.is_init)
            continue;
        std::int64_t left = each.count;
        for (const extended_request* const other : lasting)
            if (other->position >= each.position && left > 0) {
                to.mappings.push_back({each.container, resource, other->name()});
                left -= other->count;
            }
        if (left <= 0)
            continue;
        short_of.push_back(&each);
        if (left > most) {
            most = left;
            largest = &each;
        }
    }
    if (!largest)
        return;
    make(largest->name(), most);
    for (const extended_request* const each : short_of)
        to.mappings.push_back({each->container, resource, largest->name()});
}

} // namespace detail

/// Makes the claim for those of a pod's resources that devices serve on its node, as kube-scheduler
/// 1.36 makes it. Every resource has a class. O(containers² · resources).
[[nodiscard]] inline extended_claim
make_extended_claim(const std::vector<extended_request>& requests,
                    const std::set<std::string>& resources, const device_catalog& catalog) {
    extended_claim made;
    for (const std::string& each : resources)
        if (const device_class_object* const of = catalog.class_of(each))
            detail::add_resource(requests, each, of->metadata.key.name, made);
    std::ranges::sort(made.asks.requests, {}, &device_request::name);
    return made;
}

} // namespace codec
} // namespace v0_1
} // namespace muster
