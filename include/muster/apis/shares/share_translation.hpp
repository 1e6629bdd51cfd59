// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <muster/apis/core/objects.hpp>
#include <muster/apis/hami/request_writer.hpp>
#include <muster/apis/kai/fractions/request_writer.hpp>
#include <muster/apis/koordinator/devices/request_writer.hpp>
#include <muster/apis/openb/request_writer.hpp>
#include <muster/apis/shares/device_shares.hpp>
#include <muster/apis/shares/share_draft.hpp>
#include <muster/apis/shares/share_fields.hpp>
#include <muster/apis/shares/share_notation.hpp>
#include <muster/apis/shares/share_objects.hpp>
#include <muster/apis/volcano/vgpu/request_writer.hpp>
#include <muster/devices/share_request.hpp>
#include <muster/document/diagnostic.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// The parts of a pod, or of a template of pods, that its shares of GPUs depend on.
struct share_template {
    object_metadata metadata;
    /// Init containers first.
    std::vector<container_resources> containers;
    /// Length of the list of init containers.
    std::size_t init_containers = 0;
    /// Names of the pod's entries for ResourceClaims.
    std::vector<std::string> claims = {};
};

namespace detail {

[[nodiscard]] inline bool requests(const container_resources& of, std::string_view resource) {
    const auto amount = find_amount(of, resource);
    return amount && amount->milli != 0;
}

/// Reads the requests of one pod for shares of GPUs, and their notation.
class share_source {
public:
    explicit share_source(const share_template& of) : of_(&of) {}

    /// Returns the notation; nullopt if the pod requests plain GPUs or none, or if the notation is
    /// unknown. In the last case `wrong()` has the reasons.
    [[nodiscard]] std::optional<share_system> notation() {
        const std::set<share_system> used = notations_of(of_->metadata, of_->containers);
        if (used.size() > 1) {
            std::string names;
            for (const share_system each : used)
                names += (names.empty() ? "" : " and ") + std::string(share_fields_of(each).system);
            wrong_.push_back({names, "several notations in one pod cannot be translated"});
            return std::nullopt;
        }
        find_unread();
        if (!used.empty())
            return *used.begin();
        for (const share_system system : {share_system::hami, share_system::koordinator})
            for (const std::string_view key : share_fields_of(system).annotations)
                if (of_->metadata.annotations.find(key) && has_plain_gpus())
                    return system;
        return std::nullopt;
    }
    [[nodiscard]] bool has_plain_gpus() const {
        return std::any_of(of_->containers.begin(), of_->containers.end(), [](const auto& each) {
            return requests(each, kai_fractions::gpu_resource);
        });
    }
    [[nodiscard]] const std::vector<share_loss>& wrong() const noexcept { return wrong_; }

    /// Reads the requests, each with its container. Adds requests that cannot be read to `wrong()`.
    [[nodiscard]] std::vector<container_share> read(std::optional<share_system> system) {
        diagnostics aside(0);
        object_metadata pod = of_->metadata;
        // A translated pod is created anew, by the rules for new pods.
        pod.uid.clear();
        pod_share_requests read;
        if (!system)
            read_plain(read);
        else if (*system == share_system::hami)
            read = read_hami_requests(pod, of_->containers, {}, aside);
        else if (*system == share_system::volcano)
            read = read_volcano_vgpu_requests(pod, of_->containers, {});
        else if (*system == share_system::koordinator)
            read =
                read_koordinator_requests(pod, of_->containers, kai_fractions::gpu_resource, aside);
        else if (*system == share_system::kai)
            read = read_kai_requests(pod, of_->containers, kai_order::pack, aside);
        else
            read = read_openb_requests(pod, of_->containers, aside);
        for (const std::string& each : read.unsupported)
            wrong_.push_back({each, "cannot be translated"});
        if (system == share_system::koordinator)
            for (container_share& each : read.requests)
                leave_koordinator(each.request);
        if (wrong_.empty() && system && is_of_pod(*system) && !read.requests.empty())
            read.requests.front().container = holder(*system);
        return std::move(read.requests);
    }

    /// Returns the containers, except the holder, whose requests share the devices of the pod.
    [[nodiscard]] std::vector<std::size_t> sharers(share_system system, std::size_t holder) const {
        std::vector<std::size_t> found;
        for (std::size_t at = 0; at < of_->containers.size(); ++at)
            if (at != holder && requests_any(at, share_fields_of(system)))
                found.push_back(at);
        return found;
    }

private:
    /// Removes from a request the requirements that only Koordinator supports. Requirements that
    /// cannot be removed are added to `wrong_`.
    void leave_koordinator(share_request& of) {
        namespace names = koordinator_devices;
        const auto refuse = [&](std::string field) {
            wrong_.push_back({std::move(field), "cannot be translated"});
        };
        if (of.filter.model_names)
            refuse(std::string(names::npu_core_resource));
        if (!of.filter.labels.empty())
            refuse(std::string(names::hint_key) + " gpu.selector");
        if (of.partition && of.partition->is_required)
            refuse(std::string(names::partition_key));
        of.filter.models_not.clear();
        of.partition.reset();
    }

    /// Adds to `wrong_` the requests that no reader handles, such as other vendors' devices, and
    /// the ResourceClaims: no notation of shares expresses them.
    void find_unread() {
        for (const std::string& claim : of_->claims)
            wrong_.push_back({"resourceClaims " + claim, "a ResourceClaim cannot be translated"});
        for (const container_resources& container : of_->containers)
            for (const named_amounts* const list :
                 {&container.amounts.requests, &container.amounts.limits})
                for (const auto& [name, amount] : *list) {
                    const device_share* const share = find_share_resource(name);
                    if (share == nullptr || amount.milli == 0)
                        continue;
                    const auto system = share_system_named(share->scheduler);
                    const share_fields fields = share_fields_of(system);
                    if (system && std::find(fields.resources.begin(), fields.resources.end(),
                                            name) != fields.resources.end())
                        continue;
                    share_loss lost{name + " of container " + container.name,
                                    "cannot be translated"};
                    if (std::find(wrong_.begin(), wrong_.end(), lost) == wrong_.end())
                        wrong_.push_back(std::move(lost));
                }
    }

    void read_plain(pod_share_requests& to) {
        for (std::size_t at = 0; at < of_->containers.size(); ++at) {
            const auto count =
                read_share_amount(of_->containers[at], kai_fractions::gpu_resource,
                                  std::numeric_limits<std::int32_t>::max(), to.unsupported);
            if (count.value_or(0) == 0)
                continue;
            if (of_->containers[at].is_init) {
                to.unsupported.push_back("GPUs for init container " +
                                         in_quotes(of_->containers[at].name));
                continue;
            }
            share_request request;
            request.count = *count;
            request.cores = 100;
            to.requests.push_back({at, std::move(request)});
        }
    }

    [[nodiscard]] static bool is_of_pod(share_system system) noexcept {
        return system == share_system::koordinator || system == share_system::kai ||
               system == share_system::openb;
    }
    [[nodiscard]] bool requests_any(std::size_t at, const share_fields& fields) const {
        return std::any_of(
            fields.resources.begin(), fields.resources.end(),
            [&](std::string_view each) { return requests(of_->containers[at], each); });
    }

    /// Returns the container that gets the devices which the pod requests as a whole.
    [[nodiscard]] std::size_t holder(share_system system) {
        const std::size_t first = of_->init_containers;
        if (system == share_system::koordinator) {
            const share_fields fields = share_fields_of(system);
            for (std::size_t at = 0; at < of_->containers.size(); ++at)
                if (!of_->containers[at].is_init && requests_any(at, fields))
                    return at;
            wrong_.push_back({"init containers", "their GPUs cannot be translated"});
        } else if (const std::string* const name =
                       of_->metadata.annotations.find(kai_fractions::container_key);
                   name && system == share_system::kai) {
            for (std::size_t at = 0; at < of_->containers.size(); ++at)
                if (of_->containers[at].name == *name && !of_->containers[at].is_init)
                    return at;
            wrong_.push_back({std::string(kai_fractions::container_key) + " " + *name,
                              "the pod has no such container, or it is an init container"});
        }
        return std::min(first, of_->containers.empty() ? 0 : of_->containers.size() - 1);
    }

    const share_template* of_;
    std::vector<share_loss> wrong_;
};

/// Brings a request into the form that share_draft requires. Refuses requests that no GPU can
/// serve.
inline void normalize(container_share& of, std::optional<share_system> system, share_draft& out) {
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    constexpr std::int64_t mib = 1024 * 1024;
    const share_fields& from = out.from();
    share_request& request = of.request;
    request.needs_idle = false;
    if (request.count > most)
        return out.refuse(from.count, of.container, "so many GPUs cannot be said");
    if (request.cores > 100)
        return out.refuse(from.cores, of.container, "no GPU has more than 100 % of the cores");
    if (auto* const amount = std::get_if<memory_amount>(&request.memory)) {
        if (system == share_system::koordinator) {
            const std::int64_t units = amount->units / mib + (amount->units % mib != 0 ? 1 : 0);
            if (units * mib != amount->units || units == 0)
                out.lose(from.amount, of.container,
                         "rounded up to " + std::to_string(std::max<std::int64_t>(units, 1)) +
                             " MiB for each GPU");
            amount->units = std::max<std::int64_t>(units, 1);
        }
        if (amount->units > most)
            out.refuse(from.amount, of.container, "so much memory cannot be said");
    } else if (const auto* const part = std::get_if<memory_part>(&request.memory)) {
        if (part->parts > part->of)
            return out.refuse(from.part, of.container, "no GPU has so much memory");
        if (part->parts == part->of)
            request.memory = whole_memory{};
    }
}

inline void write_requests(share_system to, const std::vector<container_share>& asked,
                           share_draft& out) {
    switch (to) {
    case share_system::hami:
        return write_hami_requests(asked, out);
    case share_system::volcano:
        return write_volcano_vgpu_requests(asked, out);
    case share_system::koordinator:
        return write_koordinator_requests(asked, out);
    case share_system::kai:
        return write_kai_requests(asked, out);
    case share_system::openb:
        break;
    }
    write_openb_requests(asked, out);
}

} // namespace detail

/// Translates the requests of a pod for shared GPUs to the notation of another system. The pod is
/// still to be created. A constraint that the target cannot express is a loss. An amount that the
/// target cannot express exactly is rounded up. If the target cannot express a request at all, if
/// the pod has ResourceClaims, or if the notation of the source cannot be read, the pod stays as it
/// is, and the losses give the reasons. `nvidia.com/gpu` alone means whole GPUs, and stays if the
/// target means the same by it (HAMi, Koordinator, KAI). O(containers × resources + items of
/// filters).
[[nodiscard]] inline share_translation translate_shares(const share_template& of, share_system to) {
    detail::share_source source(of);
    const std::optional<share_system> from = source.notation();
    const bool keeps_plain =
        to == share_system::hami || to == share_system::koordinator || to == share_system::kai;
    share_translation kept;
    if (source.wrong().empty() &&
        (from == to || (!from && (keeps_plain || !source.has_plain_gpus()))))
        return kept;
    const share_fields fields = share_fields_of(from);
    share_draft out(of.metadata, of.containers, of.init_containers, fields,
                    share_fields_of(to).system);
    std::vector<container_share> asked;
    if (source.wrong().empty())
        asked = source.read(from);
    for (const share_loss& each : source.wrong())
        out.refuse(each.field, each.what);
    if (out.is_refused())
        return std::move(out).done();
    if (asked.empty())
        return kept;
    for (container_share& each : asked)
        detail::normalize(each, from, out);
    if (out.is_refused())
        return std::move(out).done();
    if (from == share_system::koordinator && to != share_system::openb)
        for (const std::size_t each : source.sharers(*from, asked.front().container))
            out.lose(fields.count, each,
                     "only container " + of.containers[asked.front().container].name +
                         " gets the GPUs that Koordinator gives to the pod");
    for (const std::string_view key : fields.own)
        if (of.metadata.annotations.find(key))
            out.lose(key, asked.front().container,
                     std::string(share_fields_of(to).system) + " has no such policy");
    out.drop_source();
    detail::write_requests(to, asked, out);
    return std::move(out).done();
}

} // namespace codec
} // namespace v0_1
} // namespace muster
