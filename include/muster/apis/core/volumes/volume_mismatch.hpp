// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/apis/core/volumes/storage_objects.hpp>
#include <muster/apis/core/volumes/volume_demand.hpp>
#include <muster/document/diagnostic.hpp>
#include <muster/resource/quantity.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// Returns "ReadWriteOnce, ReadWriteMany" for a sum of access modes.
[[nodiscard]] inline std::string access_text(std::uint8_t modes) {
    constexpr std::pair<access_mode, std::string_view> names[] = {
        {read_write_once, "ReadWriteOnce"},
        {read_only_many, "ReadOnlyMany"},
        {read_write_many, "ReadWriteMany"},
        {read_write_once_pod, "ReadWriteOncePod"}};
    std::string text;
    for (const auto& [mode, name] : names)
        if ((modes & mode) != 0)
            text += (text.empty() ? "" : ", ") + std::string(name);
    return text;
}

/// Returns why no volume of the class can be bound to the claim, by the first property of each that
/// rules it out: `no free volume of class "fast" matches: 3 are smaller than 10Gi, 1 is bound to or
/// kept for another claim`. O(volumes).
[[nodiscard]] inline std::string mismatch_text(const volume_demand& claim,
                                               const std::vector<const volume_object*>& of_class,
                                               std::string_view storage_class) {
    if (of_class.empty())
        return "there is no volume of class " + in_quotes(storage_class);
    enum property { size, access, mode, attributes, labels, affinity, deleted, released, taken };
    std::array<std::size_t, taken + 1> counts{};
    const claim_request& asks = *claim.asks;
    for (const volume_object* const each : of_class) {
        const bool kept = each->claim && !is_kept_for(*each, claim);
        const property first =
            kept                                                          ? taken
            : !each->claim && !each->available                            ? released
            : each->metadata.terminating                                  ? deleted
            : each->bytes < asks.bytes                                    ? size
            : !each->claim && (each->access & asks.access) != asks.access ? access
            : each->block != asks.block                                   ? mode
            : each->attributes_class != asks.attributes_class             ? attributes
            : !each->claim && asks.labels && !asks.labels->matches(each->metadata.labels)
                ? labels
                : affinity;
        ++counts[first];
    }
    const auto count = [&](property at, std::string_view one, std::string_view several) {
        return std::string(counts[at] == 1 ? one : several);
    };
    const std::array<std::string, taken + 1> texts = {
        count(size, "is", "are") + " smaller than " +
            quantity_text(asks.bytes, quantity_scale::units, quantity_format::binary_si),
        count(access, "lacks", "lack") + " access mode " + access_text(asks.access),
        count(mode, "does not have", "do not have") + " volumeMode " +
            (asks.block ? "Block" : "Filesystem"),
        count(attributes, "has", "have") + " another volumeAttributesClassName",
        count(labels, "does not match", "do not match") + " the claim's selector",
        count(affinity, "has a node affinity that is", "have a node affinity that is") +
            " not understood",
        count(deleted, "is", "are") + " being deleted",
        count(released, "is", "are") + " not Available",
        count(taken, "is bound to or kept for another claim",
              "are bound to or kept for other claims")};
    std::string text;
    for (std::size_t at = 0; at < counts.size(); ++at)
        if (counts[at] > 0)
            text += (text.empty() ? ": " : ", ") + std::to_string(counts[at]) + " " + texts[at];
    return "no free volume of class " + in_quotes(storage_class) + " matches" + text;
}

} // namespace codec
} // namespace v0_1
} // namespace muster
