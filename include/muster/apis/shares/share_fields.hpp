// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include <muster/apis/hami/pod_requests.hpp>
#include <muster/apis/kai/fractions/pod_shares.hpp>
#include <muster/apis/koordinator/devices/device_reader.hpp>
#include <muster/apis/koordinator/devices/pod_requests.hpp>
#include <muster/apis/openb/pod_requests.hpp>
#include <muster/apis/shares/share_demand.hpp>
#include <muster/apis/volcano/vgpu/node_register.hpp>
#include <muster/apis/volcano/vgpu/pod_requests.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// The fields by which pods request shares in one notation: names of resources, or keys of
/// annotations. An empty name: the notation has no field for it.
struct share_fields {
    std::string_view system = {};
    std::string_view count = {};
    std::string_view amount = {};
    std::string_view part = {};
    std::string_view cores = {};
    std::string_view models = {};
    std::string_view models_not = {};
    std::string_view ids = {};
    std::string_view ids_not = {};
    std::string_view modes = {};
    std::string_view nearness = {};
    std::string_view group = {};
    /// All resources of the notation, the most general first.
    std::vector<std::string_view> resources = {};
    /// All annotations of the notation.
    std::vector<std::string_view> annotations = {};
    /// Annotations whose meaning is not modelled, so it is lost in every other notation.
    std::vector<std::string_view> own = {};
    /// Ids of devices are UUIDs.
    bool has_uuids = false;
};

namespace detail {

[[nodiscard]] inline share_fields hami_fields() {
    share_fields made;
    made.system = "HAMi";
    made.count = hami::count_resource;
    made.amount = hami::memory_resource;
    made.part = hami::percentage_resource;
    made.cores = hami::cores_resource;
    made.models = hami::use_type_key;
    made.models_not = hami::no_use_type_key;
    made.ids = hami::use_id_key;
    made.ids_not = hami::no_use_id_key;
    made.modes = hami::mode_key;
    made.nearness = hami::numa_bind_key;
    made.resources = {made.count, made.amount, made.part, made.cores};
    made.own = {hami::policy_key, hami::node_policy_key, hami::weights_key};
    made.annotations = {made.models,      made.models_not, made.ids,         made.ids_not,
                        made.modes,       made.nearness,   hami::policy_key, hami::node_policy_key,
                        hami::weights_key};
    made.has_uuids = true;
    return made;
}

[[nodiscard]] inline share_fields volcano_fields() {
    share_fields made;
    made.system = "Volcano";
    made.count = volcano_vgpu::count_resource;
    made.amount = volcano_vgpu::memory_resource;
    made.part = volcano_vgpu::percentage_resource;
    made.cores = volcano_vgpu::cores_resource;
    made.models = volcano_vgpu::use_type_key;
    made.models_not = volcano_vgpu::no_use_type_key;
    made.ids = volcano_vgpu::use_id_key;
    made.ids_not = volcano_vgpu::no_use_id_key;
    made.modes = volcano_vgpu::mode_key;
    made.group = volcano_vgpu::group_policy_key;
    made.resources = {made.count, made.amount, made.part, made.cores};
    made.annotations = {made.models,  made.models_not, made.ids,
                        made.ids_not, made.modes,      made.group};
    made.has_uuids = true;
    return made;
}

[[nodiscard]] inline share_fields koordinator_fields() {
    namespace names = koordinator_devices;
    share_fields made;
    made.system = "Koordinator";
    made.count = names::shared_resource;
    made.amount = names::memory_resource;
    made.part = names::ratio_resource;
    made.cores = names::core_resource;
    made.nearness = names::hint_key;
    made.resources = {names::gpu_resource, kai_fractions::gpu_resource,
                      made.count,          made.amount,
                      made.part,           made.cores};
    made.annotations = {made.nearness, names::joint_key, names::partition_key};
    made.own = {names::joint_key};
    return made;
}

[[nodiscard]] inline share_fields kai_fields() {
    share_fields made;
    made.system = "KAI";
    made.count = kai_fractions::count_key;
    made.amount = kai_fractions::memory_key;
    made.part = kai_fractions::fraction_key;
    made.annotations = {made.count, made.amount, made.part, kai_fractions::container_key};
    return made;
}

[[nodiscard]] inline share_fields openb_fields() {
    share_fields made;
    made.system = "openb";
    made.count = openb::count_key;
    made.part = openb::milli_key;
    made.cores = openb::milli_key;
    made.models = openb::model_key;
    made.ids = openb::index_key;
    made.annotations = {made.count, made.part, made.models, made.ids};
    return made;
}

} // namespace detail

/// Returns the fields of a system's notation; absent: of plain GPUs, which belong to no system.
[[nodiscard]] inline share_fields share_fields_of(std::optional<share_system> system) {
    if (!system) {
        share_fields made;
        made.system = "plain GPUs";
        made.count = kai_fractions::gpu_resource;
        made.resources = {made.count};
        return made;
    }
    switch (*system) {
    case share_system::hami:
        return detail::hami_fields();
    case share_system::volcano:
        return detail::volcano_fields();
    case share_system::koordinator:
        return detail::koordinator_fields();
    case share_system::kai:
        return detail::kai_fields();
    case share_system::openb:
        break;
    }
    return detail::openb_fields();
}

} // namespace codec
} // namespace v0_1
} // namespace muster
