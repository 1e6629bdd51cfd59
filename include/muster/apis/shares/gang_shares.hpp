// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/object.hpp>

#include <muster/apis/shares/device_shares.hpp>
#include <muster/apis/shares/share_demand.hpp>
#include <muster/apis/shares/share_documents.hpp>
#include <muster/document/diagnostic.hpp>
#include <muster/document/json_text.hpp>
#include <muster/gangs/gang_object.hpp>
#include <muster/gangs/loss.hpp>
#include <muster/gangs/writing.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {
namespace detail {

/// Erases from a minimum the GPU resources that no pod requests any more. Returns their names.
[[nodiscard]] inline std::vector<std::string>
erase_gone_gpus(std::optional<boost::json::object>& minimum, const std::set<std::string>& gone) {
    std::vector<std::string> erased;
    if (!minimum)
        return erased;
    for (const std::string& name : gone)
        if (const auto found = minimum->find(name); found != minimum->end()) {
            minimum->stable_erase(found);
            erased.push_back(name);
        }
    return erased;
}

/// Adds the names of the GPU resources in the requests and limits of a pod.
inline void find_gpus(const boost::json::object& pod, std::set<std::string>& to) {
    const auto* const spec = translate::find_object(&pod, "spec");
    for (const std::string_view list : container_lists)
        if (const auto* const containers = translate::find_array(spec, list))
            for (const boost::json::value& container : *containers)
                for (const std::string_view amounts : {"requests", "limits"})
                    if (const auto* const named = translate::find_object(
                            translate::find_object(container.if_object(), "resources"), amounts))
                        for (const auto& each : *named)
                            if (is_gpu_resource(std::string_view(each.key())))
                                to.emplace(each.key());
}

} // namespace detail

/// Translates the shares of GPUs that the pods of a gang request to the notation of a system, as
/// translate_manifest_shares() does. Resources that no pod requests after that are removed from the
/// gang's `min_resources`, which is a loss. O(pods × size of a pod).
inline void translate_gang_shares(translate::gang_bundle& of, share_system to,
                                  std::vector<translate::loss>& losses, diagnostics& out) {
    using translate::loss;
    using translate::loss_kind;
    const std::string object =
        translate::object_text(of.gang.kind, of.gang.name_space, of.gang.name);
    const auto lose = [&](loss_kind what, std::string detail) {
        loss lost{what, object, std::move(detail)};
        if (std::find(losses.begin(), losses.end(), lost) == losses.end())
            losses.push_back(std::move(lost));
    };
    std::set<std::string> before;
    std::set<std::string> after;
    for (translate::gang_pod& pod : of.pods) {
        detail::find_gpus(pod.document, before);
        for (const share_loss& each : translate_manifest_shares(pod.document, to, object, out))
            lose(loss_kind::device_share, each.field + ": " + each.what);
        detail::find_gpus(pod.document, after);
    }
    for (const std::string& each : after)
        before.erase(each);
    std::vector<std::string> erased = detail::erase_gone_gpus(of.gang.min_resources, before);
    for (translate::leaf_size& each : of.gang.sizes)
        if (each.own)
            for (std::string& name : detail::erase_gone_gpus(each.own->min_resources, before))
                erased.push_back(std::move(name));
    for (const std::string& name : erased)
        lose(loss_kind::min_resources, name + ", which its pods no longer request");
}

} // namespace codec
} // namespace v0_1
} // namespace muster
