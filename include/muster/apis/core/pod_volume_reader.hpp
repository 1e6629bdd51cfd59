// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <muster/apis/core/objects.hpp>
#include <muster/apis/core/pod_field_types.hpp>
#include <muster/apis/core/pod_fields.hpp>
#include <muster/apis/core/volumes/csi_migration.hpp>
#include <muster/apis/core/volumes/storage_reader.hpp>
#include <muster/document/field_reader.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {
namespace detail {

/// Reads a generic ephemeral volume: the claim that is created for the pod.
inline void read_ephemeral(const field& at, pod_volume& volume,
                           std::vector<std::string>& unsupported) {
    object_reader object = at.as_object();
    const field template_at = object.required("volumeClaimTemplate");
    object_reader claim = template_at.as_object();
    const field spec_at = claim.required("spec");
    object_reader spec = spec_at.as_object();
    volume.draft = read_claim_request(spec, {}, &unsupported);
    finish(claim, pod_tables::claim_template, unsupported);
    finish(object, pod_tables::ephemeral_source, unsupported);
}

inline void read_disk(const field& at, const disk_source& from, pod_volume& volume,
                      std::vector<std::string>& unsupported) {
    object_reader disk = at.as_object();
    volume.driver = csi_driver_of(from.plugin);
    volume.handle = read_handle(disk, from);
    volume.read_only = disk.optional("readOnly").as_boolean().value_or(false);
    volume.exclusive = from.exclusive;
    if (!from.readers_share)
        volume.read_only = false;
    finish(disk, pod_tables::disk_source, unsupported);
}

/// Reads the volumes of a pod that may restrict its nodes. Volumes that may do so and are not
/// modelled make the pod wait.
inline void read_volumes(const field& at, pod_object& pod) {
    const array_reader list = at.as_array();
    list.for_each_object([&](object_reader& each) {
        pod_volume made;
        made.name = string_or_empty(each.required("name"));
        bool bears = false;
        if (const field source = each.optional("persistentVolumeClaim"); source.is_present()) {
            object_reader claim = source.as_object();
            made.claim = string_or_empty(claim.required("claimName"));
            finish(claim, pod_tables::claim_source, pod.unsupported);
            bears = true;
        }
        if (const field source = each.optional("ephemeral"); source.is_present()) {
            made.from = pod_volume::source::ephemeral;
            made.claim = pod.metadata.key.name + "-" + made.name;
            read_ephemeral(source, made, pod.unsupported);
            bears = true;
        }
        if (const field source = each.optional("csi"); source.is_present()) {
            made.from = pod_volume::source::csi;
            object_reader csi = source.as_object();
            made.driver = string_or_empty(csi.required("driver"));
            finish(csi, pod_tables::csi_source, pod.unsupported);
            bears = true;
        }
        for (const disk_source& disk : disk_sources)
            if (const field source = each.optional(disk.field); source.is_present()) {
                made.from = pod_volume::source::disk;
                read_disk(source, disk, made, pod.unsupported);
                bears = true;
            }
        finish(each, pod_tables::volume, pod.unsupported);
        if (bears)
            pod.volumes.push_back(std::move(made));
    });
}

} // namespace detail
} // namespace codec
} // namespace v0_1
} // namespace muster
