// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include <muster/serve/json_values.hpp>
#include <muster/serve/kinds.hpp>
#include <muster/serve/pod_columns.hpp>
#include <muster/serve/pod_request.hpp>
#include <muster/serve/selectors.hpp>

namespace muster {
inline namespace v0_1 {
namespace testing {
namespace api_server {

[[nodiscard]] inline bool is_claim(const kind_info& of) noexcept {
    return of.group.empty() && of.plural == "persistentvolumeclaims";
}
[[nodiscard]] inline bool is_volume(const kind_info& of) noexcept {
    return of.group.empty() && of.plural == "persistentvolumes";
}
[[nodiscard]] inline bool is_storage_class(const kind_info& of) noexcept {
    return of.group == "storage.k8s.io" && of.plural == "storageclasses";
}

/// True if an object that is restored from a backup keeps the status in the backup.
[[nodiscard]] inline bool keeps_restored_status(const kind_info& of, const json::object& object) {
    const bool is_pod = of.group.empty() && of.plural == "pods";
    return of.plural == "nodes" || of.plural == "resourceclaims" || is_claim(of) || is_volume(of) ||
           (is_pod && !text_at(object, {"spec", "nodeName"}).empty());
}

/// Fills in the defaults of claims, volumes and storage classes, as the API server does on every
/// write.
inline void default_storage(const kind_info& of, json::object& made) {
    const auto fill = [](json::object& in, std::string_view name, std::string_view value) {
        if (json::value& at = in[name]; at.is_null())
            at = value;
    };
    if (is_claim(of) || is_volume(of)) {
        fill(make_object(made, "spec"), "volumeMode", "Filesystem");
        fill(make_object(made, "status"), "phase", "Pending");
    }
    if (is_volume(of))
        fill(make_object(made, "spec"), "persistentVolumeReclaimPolicy", "Retain");
    if (is_storage_class(of)) {
        fill(made, "reclaimPolicy", "Delete");
        fill(made, "volumeBindingMode", "Immediate");
    }
}

/// Returns the storage class of a claim or of a volume; empty if it has none.
[[nodiscard]] inline std::string_view class_name_of(const json::object& object) {
    const auto old =
        text_at(object, {"metadata", "annotations", "volume.beta.kubernetes.io/storage-class"});
    return old.empty() ? text_at(object, {"spec", "storageClassName"}) : old;
}

/// Returns the provisioner of a class; empty if volumes of the class are not provisioned.
[[nodiscard]] inline std::string_view provisioner_of(const json::object& storage_class) {
    const std::string_view name = text_at(storage_class, {"provisioner"});
    return name == "kubernetes.io/no-provisioner" ? std::string_view{} : name;
}

[[nodiscard]] inline bool waits_for_consumer(const json::object& storage_class) {
    return text_at(storage_class, {"volumeBindingMode"}) == "WaitForFirstConsumer";
}

[[nodiscard]] inline bool is_default_class(const json::object& storage_class) {
    return std::ranges::any_of(
        std::initializer_list<std::string_view>{"storageclass.kubernetes.io/is-default-class",
                                                "storageclass.beta.kubernetes.io/is-default-class"},
        [&](std::string_view name) {
            return text_at(storage_class, {"metadata", "annotations", name}) == "true";
        });
}

/// Returns the size of a volume in thousandths of a byte.
[[nodiscard]] inline std::int64_t size_of_volume(const json::object& volume) {
    const json::value* const size = value_at(volume, {"spec", "capacity", "storage"});
    return size ? detail::milli_of(*size, false) : 0;
}

/// True if a volume can serve a claim: its class, size, access modes and mode, and the attributes
/// class and the labels that the claim asks for. The volume may be reserved for another claim.
[[nodiscard]] inline bool serves(const json::object& volume, const json::object& claim) {
    const json::value* const size = value_at(claim, {"spec", "resources", "requests", "storage"});
    if (class_name_of(volume) != class_name_of(claim) ||
        size_of_volume(volume) < (size ? detail::milli_of(*size, true) : 0))
        return false;
    for (const std::string_view field : {"volumeMode", "volumeAttributesClassName"})
        if (text_at(volume, {"spec", field}) != text_at(claim, {"spec", field}))
            return false;
    const json::array* const offered = array_at(volume, {"spec", "accessModes"});
    if (const json::array* const wanted = array_at(claim, {"spec", "accessModes"}))
        for (const json::value& each : *wanted)
            if (!offered || std::ranges::find(*offered, each) == offered->end())
                return false;
    const auto labels = read_label_selector(object_at(claim, {"spec", "selector"}));
    return !labels || selectors{*labels, {}}.accepts(volume);
}

namespace detail {

/// Returns access modes as kubectl shows them: `RWO,ROX`.
[[nodiscard]] inline std::string modes_text(const json::array* modes) {
    std::string text;
    for (const auto& [name, short_name] :
         {std::pair{"ReadWriteOnce", "RWO"}, std::pair{"ReadOnlyMany", "ROX"},
          std::pair{"ReadWriteMany", "RWX"}, std::pair{"ReadWriteOncePod", "RWOP"}})
        if (modes && std::ranges::find(*modes, json::value(name)) != modes->end())
            text += (text.empty() ? "" : ",") + std::string(short_name);
    return text;
}

[[nodiscard]] inline json::value text_or(std::string_view text, std::string_view other) {
    return json::value(text.empty() ? other : text);
}

[[nodiscard]] inline json::value amount_text(const json::value* amount) {
    if (!amount)
        return json::value("");
    return amount->is_string() ? *amount : json::value(json::serialize(*amount));
}

[[nodiscard]] inline json::value phase_text(const json::object& object) {
    return json::value(value_at(object, {"metadata", "deletionTimestamp"})
                           ? std::string_view("Terminating")
                           : text_at(object, {"status", "phase"}));
}

} // namespace detail

/// The cells of a claim in the table of claims.
[[nodiscard]] inline json::array claim_cells(const json::object& claim, std::int64_t now) {
    const std::string_view volume = text_at(claim, {"spec", "volumeName"});
    return {json::value(text_at(claim, {"metadata", "name"})),
            detail::phase_text(claim),
            json::value(volume),
            detail::amount_text(
                volume.empty() ? nullptr : value_at(claim, {"status", "capacity", "storage"})),
            json::value(volume.empty()
                            ? std::string()
                            : detail::modes_text(array_at(claim, {"status", "accessModes"}))),
            json::value(class_name_of(claim)),
            detail::text_or(text_at(claim, {"spec", "volumeAttributesClassName"}), "<unset>"),
            json::value(age_text(text_at(claim, {"metadata", "creationTimestamp"}), now)),
            detail::text_or(text_at(claim, {"spec", "volumeMode"}), "<unset>")};
}

/// The cells of a volume in the table of volumes.
[[nodiscard]] inline json::array volume_cells(const json::object& volume, std::int64_t now) {
    std::string claim;
    if (object_at(volume, {"spec", "claimRef"}))
        claim = std::string(text_at(volume, {"spec", "claimRef", "namespace"})) + "/" +
                std::string(text_at(volume, {"spec", "claimRef", "name"}));
    return {json::value(text_at(volume, {"metadata", "name"})),
            detail::amount_text(value_at(volume, {"spec", "capacity", "storage"})),
            json::value(detail::modes_text(array_at(volume, {"spec", "accessModes"}))),
            json::value(text_at(volume, {"spec", "persistentVolumeReclaimPolicy"})),
            detail::phase_text(volume),
            json::value(claim),
            json::value(class_name_of(volume)),
            detail::text_or(text_at(volume, {"spec", "volumeAttributesClassName"}), "<unset>"),
            json::value(text_at(volume, {"status", "reason"})),
            json::value(age_text(text_at(volume, {"metadata", "creationTimestamp"}), now)),
            detail::text_or(text_at(volume, {"spec", "volumeMode"}), "<unset>")};
}

/// The cells of a storage class in the table of storage classes.
[[nodiscard]] inline json::array storage_class_cells(const json::object& of, std::int64_t now) {
    const std::string name(text_at(of, {"metadata", "name"}));
    return {json::value(name + (is_default_class(of) ? " (default)" : "")),
            json::value(text_at(of, {"provisioner"})),
            detail::text_or(text_at(of, {"reclaimPolicy"}), "Delete"),
            detail::text_or(text_at(of, {"volumeBindingMode"}), "Immediate"),
            json::value(true_at(of, {"allowVolumeExpansion"})),
            json::value(age_text(text_at(of, {"metadata", "creationTimestamp"}), now))};
}

} // namespace api_server
} // namespace testing
} // namespace v0_1
} // namespace muster
