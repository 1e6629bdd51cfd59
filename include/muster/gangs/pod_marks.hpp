// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <muster/document/json_text.hpp>
#include <muster/gangs/gang_object.hpp>

namespace muster {
inline namespace v0_1 {
namespace translate {

/// The string under a key; no characters (data() is null) when there is none.
[[nodiscard]] inline std::string_view string_at(const boost::json::object& in,
                                                std::string_view key) noexcept {
    return find_text(&in, key).value_or(std::string_view{});
}

/// An entry of a manifest's `metadata.labels` or `.annotations`, as string_at() gives it.
[[nodiscard]] inline std::string_view metadata_entry(const boost::json::object& manifest,
                                                     std::string_view map,
                                                     std::string_view key) noexcept {
    const auto* metadata = find_object(&manifest, "metadata");
    const auto* entries = find_object(metadata, map);
    return entries ? string_at(*entries, key) : std::string_view{};
}

[[nodiscard]] inline std::string_view metadata_name(const boost::json::object& manifest) noexcept {
    const auto* metadata = find_object(&manifest, "metadata");
    return metadata ? string_at(*metadata, "name") : std::string_view{};
}

/// Empty where the manifest names none.
[[nodiscard]] inline std::string_view
metadata_namespace(const boost::json::object& manifest) noexcept {
    const auto* metadata = find_object(&manifest, "metadata");
    return metadata ? string_at(*metadata, "namespace") : std::string_view{};
}

namespace detail {

/// Moves an entry below `way` from one manifest to a patch that puts it back. What becomes empty by
/// it goes as well.
template<std::size_t Depth>
void move_entry(boost::json::object& from, boost::json::object& to,
                const std::array<std::string_view, Depth>& way, std::string_view key) {
    boost::json::object* source = &from;
    std::array<boost::json::object*, Depth> passed{};
    for (std::size_t at = 0; at < Depth; ++at) {
        passed[at] = source;
        auto* next = source->if_contains(way[at]);
        source = next ? next->if_object() : nullptr;
        if (!source)
            return;
    }
    auto* const found = source->if_contains(key);
    if (!found)
        return;
    boost::json::object* target = &to;
    for (const std::string_view step : way) {
        auto& next = (*target)[step];
        if (!next.is_object())
            next.emplace_object();
        target = &next.get_object();
    }
    (*target)[key] = std::move(*found);
    // erase() would put the last entry into the gap.
    source->stable_erase(source->find(key));
    for (std::size_t at = Depth; at-- > 0 && source->empty(); source = passed[at])
        passed[at]->stable_erase(passed[at]->find(way[at]));
}

} // namespace detail

/// Moves marks from a pod's document to the patch that puts them back.
class mark_remover {
public:
    explicit mark_remover(gang_pod& pod) : pod_(&pod) {}

    void label(std::string_view key) const {
        detail::move_entry<2>(pod_->document, pod_->marks, {"metadata", "labels"}, key);
    }
    void annotation(std::string_view key) const {
        detail::move_entry<2>(pod_->document, pod_->marks, {"metadata", "annotations"}, key);
    }
    /// A field of spec.
    void field(std::string_view key) const {
        detail::move_entry<1>(pod_->document, pod_->marks, {"spec"}, key);
    }
    /// A scheduling gate. The patch holds the whole list of gates, as merge patches do.
    void gate(std::string_view name) const {
        auto* spec = pod_->document.if_contains("spec");
        auto* gates =
            spec && spec->is_object() ? spec->get_object().if_contains("schedulingGates") : nullptr;
        if (!gates || !gates->is_array())
            return;
        const auto named = [&](const boost::json::value& each) {
            return each.is_object() && string_at(each.get_object(), "name") == name;
        };
        boost::json::array kept;
        for (const auto& each : gates->get_array())
            if (!named(each))
                kept.push_back(each);
        if (kept.size() == gates->get_array().size())
            return;
        auto& patch = pod_->marks["spec"];
        if (!patch.is_object())
            patch.emplace_object();
        if (!patch.get_object().contains("schedulingGates"))
            patch.get_object()["schedulingGates"] = *gates;
        if (kept.empty())
            spec->get_object().stable_erase(spec->get_object().find("schedulingGates"));
        else
            *gates = std::move(kept);
    }

private:
    gang_pod* pod_;
};

/// Applies a merge patch without removals (RFC 7386): objects are merged, all else is replaced.
inline void merge(boost::json::object& into, const boost::json::object& patch) {
    for (const auto& entry : patch) {
        auto& own = into[entry.key()];
        if (own.is_object() && entry.value().is_object())
            merge(own.get_object(), entry.value().get_object());
        else
            own = entry.value();
    }
}

/// What somebody would have written to create this object: without its status and what the API
/// server fills in.
[[nodiscard]] inline boost::json::object as_written(const boost::json::object& manifest) {
    boost::json::object made;
    for (const auto& entry : manifest) {
        if (entry.key() == "status")
            continue;
        if (entry.key() != "metadata" || !entry.value().is_object()) {
            made[entry.key()] = entry.value();
            continue;
        }
        auto& metadata = made["metadata"].emplace_object();
        for (const auto& field : entry.value().get_object()) {
            constexpr std::array<std::string_view, 8> filled_in{"uid",
                                                                "resourceVersion",
                                                                "creationTimestamp",
                                                                "generation",
                                                                "managedFields",
                                                                "selfLink",
                                                                "deletionTimestamp",
                                                                "deletionGracePeriodSeconds"};
            if (std::ranges::find(filled_in, std::string_view(field.key())) == filled_in.end())
                metadata[field.key()] = field.value();
        }
        auto* notes = metadata.if_contains("annotations");
        if (notes && notes->is_object()) {
            auto& entries = notes->get_object();
            const auto last = entries.find("kubectl.kubernetes.io/last-applied-configuration");
            if (last != entries.end())
                entries.stable_erase(last);
        }
    }
    return made;
}

/// Takes off owners without a uid: they are not there yet, and an API server would refuse them.
inline void drop_absent_owners(boost::json::object& manifest) {
    auto* metadata = manifest.if_contains("metadata");
    auto* owners = metadata && metadata->is_object()
                       ? metadata->get_object().if_contains("ownerReferences")
                       : nullptr;
    if (!owners || !owners->is_array())
        return;
    boost::json::array kept;
    for (const auto& each : owners->get_array())
        if (!each.is_object() || !find_text(&each.get_object(), "uid").value_or("").empty())
            kept.push_back(each);
    if (kept.empty())
        metadata->get_object().stable_erase(metadata->get_object().find("ownerReferences"));
    else
        *owners = std::move(kept);
}

/// The pod's document as its own API marked it.
[[nodiscard]] inline boost::json::object with_marks(const gang_pod& pod) {
    boost::json::object marked = pod.document;
    merge(marked, pod.marks);
    return marked;
}

} // namespace translate
} // namespace v0_1
} // namespace muster
