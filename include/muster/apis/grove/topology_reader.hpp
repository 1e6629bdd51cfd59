// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <muster/apis/core/reading_context.hpp>
#include <muster/apis/grove/set.hpp>
#include <muster/document/field_reader.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// A grove.io/v1alpha1 ClusterTopologyBinding (or ClusterTopology).
[[nodiscard]] inline translate::grove_topology read_grove_topology(object_reader& object,
                                                                   reading_context& context) {
    translate::grove_topology read;
    read.name = read_metadata(object, false, context).key.name;
    const field spec_at = object.required("spec");
    object_reader spec = spec_at.as_object();
    const field levels_at = spec.required("levels");
    const array_reader levels = levels_at.as_array();
    if (levels.is_present() && levels.size() == 0)
        levels_at.error("no levels (expected at least one)");
    levels.for_each_object([&](object_reader& each) {
        const field domain_at = each.required("domain");
        const field key_at = each.required("key");
        const auto domain = domain_at.as_string();
        const auto key = key_at.as_string();
        each.finish();
        if (!domain || !key)
            return;
        for (const translate::grove_topology::level& known : read.levels) {
            if (known.domain == *domain)
                domain_at.error(in_quotes(*domain) +
                                " is there twice (expected every domain once)");
            if (known.label == *key)
                key_at.error(in_quotes(*key) + " is there twice (expected every key once)");
        }
        read.levels.push_back({std::string(*domain), std::string(*key)});
    });
    spec.ignore({"schedulerTopologyBindings"});
    spec.finish();
    object.ignore({"apiVersion", "kind", "status"});
    object.finish();
    return read;
}

} // namespace codec
} // namespace v0_1
} // namespace muster
