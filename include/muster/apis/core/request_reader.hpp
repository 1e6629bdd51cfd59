// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/apis/core/objects.hpp>
#include <muster/apis/core/pod_field_types.hpp>
#include <muster/apis/core/pod_fields.hpp>
#include <muster/apis/core/reading_context.hpp>
#include <muster/document/field_reader.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

inline void add(named_amounts& to, const named_amounts& more) {
    for (const auto& [kind, amount] : more) {
        const auto [at, fresh] = to.try_emplace(kind, amount);
        if (!fresh)
            at->second.milli += amount.milli;
    }
}

inline void raise(named_amounts& to, const named_amounts& other) {
    for (const auto& [kind, amount] : other) {
        const auto [at, fresh] = to.try_emplace(kind, amount);
        if (!fresh)
            at->second.milli = std::max(at->second.milli, amount.milli);
    }
}

[[nodiscard]] inline named_amounts read_amounts(const field& at) {
    named_amounts read;
    object_reader object = at.as_object();
    object.for_each([&](std::string_view kind, const field& amount_at) {
        if (const auto amount = read_quantity(amount_at))
            read.emplace(std::string(kind), named_amount{request_milli(*amount), amount->format()});
    });
    return read;
}

/// A limit below its request is an error. An unknown field makes the pod wait (`unsupported`).
[[nodiscard]] inline resource_lists read_resources(const field& at,
                                                   std::vector<std::string>& unsupported) {
    resource_lists read;
    object_reader object = at.as_object();
    read.requests = read_amounts(object.optional("requests"));
    const field limits_at = object.optional("limits");
    read.limits = read_amounts(limits_at);
    object_reader limits = limits_at.as_object();
    for (const auto& [kind, limit] : read.limits) {
        const auto request = read.requests.find(kind);
        if (request != read.requests.end() && limit.milli < request->second.milli)
            limits.optional(kind).error("the limit of " + kind +
                                        " is below its request (expected at least the request)");
    }
    detail::finish(object, detail::pod_tables::resources, unsupported);
    return read;
}

/// Returns the requests, with the limit of a kind for which there is no request.
[[nodiscard]] inline named_amounts with_defaults(const resource_lists& of) {
    named_amounts made = of.requests;
    for (const auto& [kind, limit] : of.limits)
        made.try_emplace(kind, limit);
    return made;
}

/// What a container requests: where it names no request of a kind, the limit.
[[nodiscard]] inline named_amounts read_container_requests(const field& at,
                                                           std::vector<std::string>& unsupported) {
    return with_defaults(read_resources(at, unsupported));
}

/// `resources` of a pod, which may name only what containers can share.
[[nodiscard]] inline resource_lists
read_pod_level_resources(const field& at, std::vector<std::string>& unsupported) {
    resource_lists read = read_resources(at, unsupported);
    for (const named_amounts* list : {&read.requests, &read.limits})
        for (const auto& [kind, amount] : *list)
            if (kind != "cpu" && kind != "memory" && !kind.starts_with("hugepages-"))
                at.error(in_quotes(kind) +
                         " is no pod-level resource (expected cpu, memory or hugepages-...)");
    return read;
}

/// What a pod requests in all: the greater of what its containers and sidecars ask for together and
/// the peak while its init containers run, one after the other; pod-level requests stand in for the
/// kinds that they name, pod-level limits for kinds that nobody requests; and the overhead on top
/// (Kubernetes' PodRequests, after its defaulting).
class pod_request {
public:
    void add_container(const named_amounts& amounts) { add(running_, amounts); }

    /// In the order of the list. A sidecar goes on beside all that comes after it.
    void add_init_container(const named_amounts& amounts, bool sidecar) {
        named_amounts together = sidecars_;
        add(together, amounts);
        raise(peak_, together);
        if (sidecar)
            sidecars_ = std::move(together);
    }

    [[nodiscard]] named_amounts total(const resource_lists& pod_level,
                                      const named_amounts& overhead) const {
        named_amounts sum = running_;
        add(sum, sidecars_);
        raise(sum, peak_);
        for (const auto& [kind, limit] : pod_level.limits)
            // Huge pages are never overcommitted: their limit is their request.
            if (kind.starts_with("hugepages-"))
                sum[kind] = limit;
            else
                sum.try_emplace(kind, limit);
        for (const auto& [kind, request] : pod_level.requests)
            sum[kind] = request;
        add(sum, overhead);
        return sum;
    }

private:
    named_amounts running_;
    named_amounts sidecars_;
    named_amounts peak_;
};

} // namespace codec
} // namespace v0_1
} // namespace muster
