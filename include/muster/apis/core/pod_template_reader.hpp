// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json/object.hpp>

#include <muster/apis/core/pod_field_types.hpp>
#include <muster/apis/core/reading_context.hpp>
#include <muster/base/checked.hpp>
#include <muster/document/field_reader.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {
namespace detail {

/// Which volumes a container mounts, and how much memory it may use.
struct container_memory {
    std::vector<std::string_view> mounts;
    std::optional<int128> limit; ///< in thousandths
};

/// Strings of at most 256 KiB in all, keys and values, as Kubernetes takes them.
inline void check_annotations(const field& at) {
    constexpr std::size_t most = std::size_t{256} * 1024;
    std::size_t bytes = 0;
    object_reader object = at.as_object();
    object.for_each_string(
        [&](std::string_view key, std::string_view value) { bytes += key.size() + value.size(); });
    if (bytes > most)
        at.error("the annotations have " + std::to_string(bytes) + " bytes (expected at most " +
                 std::to_string(most) + ")");
}

/// Limits below requests are errors that name the container and the resource.
inline void check_resources(const field& at, std::string_view container, container_memory& memory) {
    object_reader object = at.as_object();
    const field requests_at = object.optional("requests");
    object_reader requests = requests_at.as_object();
    const field limits_at = object.optional("limits");
    object_reader limits = limits_at.as_object();
    limits.for_each([&](std::string_view kind, const field& limit_at) {
        const auto limit = read_quantity(limit_at);
        if (!limit)
            return;
        const int128 most = request_milli(*limit);
        if (kind == "memory")
            memory.limit = most;
        const field request_at = requests.optional(kind);
        if (!request_at.is_present())
            return;
        const auto request = read_quantity(request_at);
        if (request && most < request_milli(*request))
            limit_at.error("the limit of " + std::string(kind) + " of container " +
                           in_quotes(container) +
                           " is below its request (expected at least the request)");
    });
    requests.for_each([&](std::string_view kind, const field& request_at) {
        // Those with a limit were read with it.
        if (limits.value() == nullptr || !limits.value()->as_object().contains(kind))
            static_cast<void>(read_quantity(request_at));
    });
    std::vector<std::string> unsupported;
    finish(object, pod_tables::resources, unsupported);
}

inline void check_container(object_reader& container, std::vector<container_memory>& all) {
    container_memory memory;
    const auto* const name = container.optional("name").value();
    check_resources(container.optional("resources"),
                    name && name->is_string() ? std::string_view(name->get_string()) : "", memory);
    const field mounts_at = container.optional("volumeMounts");
    const array_reader mounts = mounts_at.as_array();
    mounts.for_each_object([&](object_reader& each) {
        if (const auto volume = each.required("name").as_string())
            memory.mounts.push_back(*volume);
        static_cast<void>(each.required("mountPath").as_string());
        check_types(each, mount_fields);
    });
    check_types_of_each(container.optional("ports"), pod_tables::port);
    check_container_types(container);
    container.finish();
    all.push_back(std::move(memory));
}

inline std::vector<container_memory> check_containers(const field& at) {
    std::vector<container_memory> all;
    const array_reader list = at.as_array();
    list.for_each_object([&](object_reader& each) { check_container(each, all); });
    return all;
}

/// A memory-backed volume counts towards the memory of the containers that mount it.
inline void check_shared_memory(object_reader& volume,
                                const std::vector<container_memory>& containers,
                                const reading_context& context) {
    const auto name = volume.required("name").as_string();
    const field empty_at = volume.optional("emptyDir");
    object_reader empty = empty_at.as_object();
    const auto medium = empty.optional("medium").as_string();
    const field size_at = empty.optional("sizeLimit");
    const auto size = read_quantity(size_at);
    empty.finish();
    volume.ignore_rest();
    if (!name || !size || medium != "Memory")
        return;
    const auto mounts = [&](const container_memory& each) {
        return std::ranges::find(each.mounts, *name) != each.mounts.end();
    };
    const bool mounted = std::ranges::any_of(containers, mounts);
    int128 limit = 0;
    bool limited = !containers.empty();
    for (const container_memory& each : containers) {
        if (mounted && !mounts(each))
            continue;
        limited = limited && each.limit.has_value();
        limit += each.limit.value_or(0);
    }
    if (limited && request_milli(*size) > limit)
        size_at.error("volume " + in_quotes(*name) +
                      " in memory is larger than the memory limit of its containers (expected at "
                      "most the limit)");
    else if (!limited && context.largest_node_memory &&
             size->units_up() > *context.largest_node_memory)
        size_at.warning("volume " + in_quotes(*name) +
                        " in memory is larger than the memory of the largest node");
}

} // namespace detail

/// Checks a PodTemplateSpec at its place: types of what a controller looks into, quantities, limits
/// below requests, volumes in memory beyond the memory limit. Everything else passes through to the
/// pods and is checked where pods are read. O(template).
inline void check_pod_template(const field& at, const reading_context& context) {
    object_reader object = at.as_object();
    const field metadata_at = object.optional("metadata");
    object_reader metadata = metadata_at.as_object();
    const field labels_at = metadata.optional("labels");
    object_reader labels = labels_at.as_object();
    labels.for_each_string([](std::string_view, std::string_view) {});
    detail::check_annotations(metadata.optional("annotations"));
    metadata.ignore_rest();
    const field spec_at = object.optional("spec");
    object_reader spec = spec_at.as_object();
    detail::check_containers(spec.optional("initContainers"));
    const auto containers = detail::check_containers(spec.optional("containers"));
    const field volumes_at = spec.optional("volumes");
    const array_reader volumes = volumes_at.as_array();
    volumes.for_each_object(
        [&](object_reader& each) { detail::check_shared_memory(each, containers, context); });
    const field selector_at = spec.optional("nodeSelector");
    object_reader selector = selector_at.as_object();
    selector.for_each_string([](std::string_view, std::string_view) {});
    detail::check_types_of_each(spec.optional("tolerations"), detail::pod_tables::toleration);
    detail::check_types(spec, detail::pod_tables::spec);
    spec.ignore_rest();
    object.finish();
}

} // namespace codec
} // namespace v0_1
} // namespace muster
