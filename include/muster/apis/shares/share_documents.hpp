// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <muster/apis/core/reading_context.hpp>
#include <muster/apis/core/request_reader.hpp>
#include <muster/apis/shares/share_demand.hpp>
#include <muster/apis/shares/share_translation.hpp>
#include <muster/document/diagnostic.hpp>
#include <muster/document/document.hpp>
#include <muster/document/field_reader.hpp>
#include <muster/document/json_text.hpp>
#include <muster/document/metadata_text.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {
namespace detail {

inline constexpr std::array<std::string_view, 2> container_lists{"initContainers", "containers"};

/// Returns the names of a spec's entries for ResourceClaims. O(entries).
[[nodiscard]] inline std::vector<std::string> claim_entries_of(const boost::json::object& spec) {
    std::vector<std::string> names;
    if (const auto* const entries = translate::find_array(&spec, "resourceClaims"))
        for (const boost::json::value& each : *entries)
            names.emplace_back(translate::find_text(each.if_object(), "name").value_or(""));
    return names;
}

/// Reads the containers of a spec, init containers first. Sidecars count as ordinary containers,
/// because they run beside these.
[[nodiscard]] inline share_template read_share_template(const boost::json::object& metadata,
                                                        const boost::json::object& spec,
                                                        const std::string& file, diagnostics& out) {
    share_template read;
    boost::json::object maps;
    for (const std::string_view map : {"labels", "annotations"})
        if (const auto* const found = metadata.if_contains(map))
            maps[map] = *found;
    const document of_metadata(file, std::move(maps));
    object_reader texts(of_metadata, out);
    read.metadata.labels = read_labels(texts.optional("labels"));
    read.metadata.annotations = read_labels(texts.optional("annotations"));
    boost::json::object lists;
    for (const std::string_view list : container_lists)
        if (const auto* const containers = translate::find_array(&spec, list))
            lists[list] = *containers;
    const document alone(file, std::move(lists));
    object_reader root(alone, out);
    for (const std::string_view list : container_lists) {
        const field list_at = root.optional(list);
        const array_reader containers = list_at.as_array();
        containers.for_each_object([&](object_reader& each) {
            std::vector<std::string> unsupported;
            container_resources& to = read.containers.emplace_back();
            to.name = each.optional("name").as_string().value_or(std::string_view{});
            to.amounts = read_resources(each.optional("resources"), unsupported);
            to.is_init = list == container_lists.front() &&
                         each.optional("restartPolicy").as_string() != "Always";
            read.init_containers += list == container_lists.front() ? 1U : 0U;
            each.ignore_rest();
        });
    }
    root.ignore_rest();
    read.claims = claim_entries_of(spec);
    return read;
}

inline void erase_if_empty(boost::json::object& from, std::string_view key) {
    const auto found = from.find(key);
    if (found != from.end() && found->value().is_object() && found->value().get_object().empty())
        from.stable_erase(found);
}

inline void apply_limits(boost::json::object& container, const share_translation& made,
                         const std::map<std::string, std::string>* limits) {
    boost::json::object& resources = translate::child_at(container, "resources");
    for (const std::string_view list : {"requests", "limits"})
        if (auto* const found = resources.if_contains(list); found && found->is_object()) {
            for (const std::string& name : made.dropped_resources)
                if (const auto at = found->get_object().find(name); at != found->get_object().end())
                    found->get_object().stable_erase(at);
            erase_if_empty(resources, list);
        }
    if (limits)
        for (const auto& [resource, amount] : *limits) {
            boost::json::value& to = translate::child_at(resources, "limits")[resource];
            if (const auto number =
                    whole_number(amount, 0, std::numeric_limits<std::int64_t>::max()))
                to = *number;
            else
                to = amount;
        }
    erase_if_empty(container, "resources");
}

inline void apply_shares(boost::json::object& metadata, boost::json::object& spec,
                         const share_translation& made) {
    std::size_t position = 0;
    for (const std::string_view list : container_lists) {
        boost::json::value* const containers = spec.if_contains(list);
        if (!containers || !containers->is_array())
            continue;
        for (boost::json::value& each : containers->get_array()) {
            const auto limits = made.limits.find(position++);
            if (each.is_object())
                apply_limits(each.get_object(), made,
                             limits == made.limits.end() ? nullptr : &limits->second);
        }
    }
    boost::json::object& annotations = translate::child_at(metadata, "annotations");
    for (const std::string& key : made.dropped_annotations)
        if (const auto at = annotations.find(key); at != annotations.end())
            annotations.stable_erase(at);
    for (const auto& [key, value] : made.annotations)
        annotations[key] = value;
    erase_if_empty(metadata, "annotations");
}

/// Translates the shares of the pods that a template describes.
[[nodiscard]] inline std::vector<share_loss>
translate_template(boost::json::object& metadata, boost::json::object& spec, share_system to,
                   const std::string& file, diagnostics& out) {
    const std::size_t errors = out.errors();
    const share_template read = read_share_template(metadata, spec, file, out);
    if (out.errors() != errors)
        return {};
    share_translation made = translate_shares(read, to);
    if (made.changes)
        apply_shares(metadata, spec, made);
    return std::move(made.losses);
}

/// Returns the field if it is an object with a list of containers, else nullptr.
[[nodiscard]] inline boost::json::object* pod_spec_at(boost::json::object& in,
                                                      std::string_view key) {
    boost::json::value* const found = in.if_contains(key);
    boost::json::object* const spec = found ? found->if_object() : nullptr;
    return translate::find_array(spec, "containers") ? spec : nullptr;
}

} // namespace detail

/// Translates the shares of GPUs that a pod requests, or that the pods of a job's templates
/// request, to the notation of another system, as translate_shares() does. A template is any object
/// with `metadata` and a `spec` that lists containers or, as in Grove's cliques, a `spec.podSpec`.
/// Claims that Grove adds to pods (`resourceSharing`) are a loss.
/// Malformed resources are errors in `out`, with `file` and their path in the template. Returns
/// each loss once. O(manifest).
[[nodiscard]] inline std::vector<share_loss>
translate_manifest_shares(boost::json::object& manifest, share_system to, const std::string& file,
                          diagnostics& out) {
    std::vector<share_loss> losses;
    const auto note = [&](std::vector<share_loss> more) {
        for (share_loss& each : more)
            if (std::find(losses.begin(), losses.end(), each) == losses.end())
                losses.push_back(std::move(each));
    };
    const std::function<void(boost::json::value&)> walk = [&](boost::json::value& value) {
        if (auto* const list = value.if_array())
            for (boost::json::value& each : *list)
                walk(each);
        auto* const object = value.if_object();
        if (!object)
            return;
        note(translate_manifest_shares(*object, to, file, out));
    };
    if (detail::pod_spec_at(manifest, "spec")) {
        // The insertion of `metadata` can move the other members, so the spec is found afterwards.
        boost::json::object& metadata = translate::child_at(manifest, "metadata");
        note(detail::translate_template(metadata, *detail::pod_spec_at(manifest, "spec"), to, file,
                                        out));
        detail::erase_if_empty(manifest, "metadata");
        return losses;
    }
    if (boost::json::value* const spec = manifest.if_contains("spec"); spec && spec->is_object())
        if (boost::json::object* const pod = detail::pod_spec_at(spec->get_object(), "podSpec"))
            note(detail::translate_template(manifest, *pod, to, file, out));
    // Grove adds these claims to the pods.
    if (const auto* const sharing = translate::find_array(&manifest, "resourceSharing");
        sharing && !sharing->empty())
        note({{"resourceSharing", "ResourceClaims cannot be translated; they stay as they are"}});
    for (auto& each : manifest)
        walk(each.value());
    return losses;
}

} // namespace codec
} // namespace v0_1
} // namespace muster
