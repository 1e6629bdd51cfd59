// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/devices/gpu_instance.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {
namespace volcano_vgpu {

/// Equal instances of a geometry.
struct mig_template {
    std::string name;
    /// In MiB.
    std::int64_t memory = 0;
    std::int64_t count = 0;
};

/// A way to divide a GPU into instances that exist together.
struct mig_geometry {
    std::string group;
    std::vector<mig_template> templates;
};

/// The geometries of GPUs whose model contains one of these names, in the order in which they are
/// tried.
struct mig_models {
    std::vector<std::string> models;
    std::vector<mig_geometry> geometries;
};

using mig_config = std::vector<mig_models>;

/// Returns the geometries (`knownMigGeometries`) of Volcano's documented configuration of its vGPU
/// device plugin, docs/design/dynamic-mig.md.
[[nodiscard]] inline mig_config known_mig_geometries() {
    return {
        {{"A30"},
         {{"group1", {{"1g.6gb", 6144, 4}}},
          {"group2", {{"2g.12gb", 12'288, 2}}},
          {"group3", {{"4g.24gb", 24'576, 1}}}}},
        {{"A100-SXM4-40GB", "A100-40GB-PCIe", "A100-PCIE-40GB"},
         {{"group1", {{"1g.5gb", 5120, 7}}},
          {"group2", {{"2g.10gb", 10'240, 3}, {"1g.5gb", 5120, 1}}},
          {"group3", {{"3g.20gb", 20'480, 2}}},
          {"group4", {{"7g.40gb", 40'960, 1}}}}},
        {{"A100-SXM4-80GB", "A100-80GB-PCIe", "A100-PCIE-80GB"},
         {{"group1", {{"1g.10gb", 10'240, 7}}},
          {"group2", {{"2g.20gb", 20'480, 3}, {"1g.10gb", 10'240, 1}}},
          {"group3", {{"3g.40gb", 40'960, 2}}},
          {"group4", {{"7g.79gb", 80'896, 1}}}}},
    };
}

} // namespace volcano_vgpu

namespace detail {

/// Adds the instances of one geometry, by memory. `first`: the geometry's first slice, as slices
/// are numbered across all geometries; `own`: its slices; `all`: the slices of all geometries.
inline void add_geometry(const volcano_vgpu::mig_geometry& of, std::int64_t first,
                         std::uint64_t own, std::uint64_t all, std::vector<gpu_instance>& to) {
    std::vector<std::pair<const volcano_vgpu::mig_template*, std::int64_t>> sorted;
    std::int64_t position = 0;
    for (const volcano_vgpu::mig_template& each : of.templates) {
        sorted.emplace_back(&each, position);
        position += each.count;
    }
    std::stable_sort(sorted.begin(), sorted.end(), [](const auto& lhs, const auto& rhs) {
        return lhs.first->memory < rhs.first->memory;
    });
    for (const auto& [kind, start] : sorted)
        for (std::int64_t each = 0; each < kind->count; ++each)
            to.push_back({of.group + "-" + std::to_string(start + each),
                          kind->memory,
                          {},
                          slices_at(first + start + each, 1),
                          all & ~own,
                          slices_at(first + start, kind->count)});
}

} // namespace detail

/// Returns the instances of a GPU with these geometries, in the order in which Volcano tries them:
/// geometry by geometry, in each the smallest first. Volcano gives no instance of another geometry,
/// or of another kind in the same geometry, once one is in use. Their names are `group-position`.
/// Returns none if the geometries are malformed: a count is not positive, a memory is negative, a
/// group is empty, listed twice or has `-` or a bracket in it, or there are more than `most_slices`
/// instances. O(instances).
[[nodiscard]] inline std::vector<gpu_instance>
mig_instances(const std::vector<volcano_vgpu::mig_geometry>& of) {
    std::int64_t count = 0;
    for (std::size_t at = 0; at < of.size(); ++at) {
        const std::string& group = of[at].group;
        const auto is_same = [&](const auto& each) { return each.group == group; };
        if (group.empty() || group.find_first_of("-[],:;") != std::string::npos ||
            std::any_of(of.begin(), of.begin() + static_cast<std::ptrdiff_t>(at), is_same))
            return {};
        for (const volcano_vgpu::mig_template& each : of[at].templates) {
            if (each.count <= 0 || each.memory < 0 || each.count > most_slices - count)
                return {};
            count += each.count;
        }
    }
    std::vector<gpu_instance> made;
    std::int64_t first = 0;
    for (const volcano_vgpu::mig_geometry& each : of) {
        std::int64_t size = 0;
        for (const volcano_vgpu::mig_template& kind : each.templates)
            size += kind.count;
        detail::add_geometry(each, first, slices_at(first, size), slices_at(0, count), made);
        first += size;
    }
    return made;
}

/// Returns the geometries of the first entry with a name that `model` contains; nullptr if there is
/// no such entry. O(names).
[[nodiscard]] inline const std::vector<volcano_vgpu::mig_geometry>*
find_geometries(const volcano_vgpu::mig_config& in, std::string_view model) {
    for (const volcano_vgpu::mig_models& each : in)
        for (const std::string& name : each.models)
            if (model.find(name) != std::string_view::npos)
                return &each.geometries;
    return nullptr;
}

} // namespace codec
} // namespace v0_1
} // namespace muster
