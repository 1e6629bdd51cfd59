// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <muster/apis/core/volumes/storage_objects.hpp>
#include <muster/document/object_metadata.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// Indexes storage objects by name. Holds pointers: the objects must outlive it.
class storage_catalog {
public:
    /// `knows_claims`, `knows_volumes` and `knows_classes` are false if the input has none of these
    /// objects and may have left out all of them.
    explicit storage_catalog(const storage_objects& objects)
        : knows_claims(objects.knows_claims()),
          knows_volumes(objects.knows_volumes()),
          knows_classes(objects.knows_classes()) {
        for (const claim_object& each : objects.claims)
            claims.emplace(each.metadata.key, &each);
        for (const volume_object& each : objects.volumes)
            volumes.emplace(each.metadata.key.name, &each);
        for (const storage_class_object& each : objects.classes)
            classes.emplace(each.metadata.key.name, &each);
        for (const csi_node_object& each : objects.nodes)
            nodes.emplace(each.metadata.key.name, &each);
        for (const csi_driver_object& each : objects.drivers)
            drivers.emplace(each.metadata.key.name, &each);
        for (const storage_capacity_object& each : objects.capacities)
            capacities[each.storage_class].push_back(&each);
        for (const attachment_object& each : objects.attachments)
            attachments[each.driver].push_back(&each);
        // The order of an input's objects does not matter.
        const auto key = [](const auto* each) { return each->metadata.key; };
        for (auto& each : capacities)
            std::ranges::stable_sort(each.second, {}, key);
        for (auto& each : attachments)
            std::ranges::stable_sort(each.second, {}, key);
    }
    storage_catalog() = default;

    std::map<object_key, const claim_object*> claims;
    std::map<std::string_view, const volume_object*> volumes;
    std::map<std::string_view, const storage_class_object*> classes;
    std::map<std::string_view, const csi_node_object*> nodes;
    std::map<std::string_view, const csi_driver_object*> drivers;
    /// By storage class.
    std::map<std::string_view, std::vector<const storage_capacity_object*>> capacities;
    /// By CSI driver.
    std::map<std::string_view, std::vector<const attachment_object*>> attachments;
    bool knows_claims = true;
    bool knows_volumes = true;
    bool knows_classes = true;

    template<class Map, class Key>
    [[nodiscard]] static auto find(const Map& in, const Key& key) -> typename Map::mapped_type {
        const auto at = in.find(key);
        return at == in.end() ? nullptr : at->second;
    }

    /// Returns the storage class of a claim: the class that it names, else the default class, else
    /// empty. Of several default classes the newest counts; of equal age, the first by name.
    [[nodiscard]] std::string_view class_of(const claim_request& asks) const {
        if (asks.storage_class)
            return *asks.storage_class;
        const storage_class_object* found = nullptr;
        for (const auto& [name, each] : classes)
            if (each->is_default && (!found || each->metadata.created.value_or(0) >
                                                   found->metadata.created.value_or(0)))
                found = each;
        return found ? std::string_view(found->metadata.key.name) : std::string_view{};
    }
};

} // namespace codec
} // namespace v0_1
} // namespace muster
