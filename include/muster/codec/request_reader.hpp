// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include <muster/codec/field_reader.hpp>
#include <muster/codec/objects.hpp>
#include <muster/codec/reading_context.hpp>

namespace muster::inline v0_1 {
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

/// `resources` of a container or a pod: requests, and where there is none, the limit. A limit below
/// its request is an error.
[[nodiscard]] inline named_amounts read_resources(const field& at) {
    object_reader object = at.as_object();
    named_amounts requests = read_amounts(object.optional("requests"));
    const field limits_at = object.optional("limits");
    const named_amounts limits = read_amounts(limits_at);
    for (const auto& [kind, limit] : limits) {
        const auto [request, fresh] = requests.try_emplace(kind, limit);
        if (!fresh && limit.milli < request->second.milli)
            limits_at.error("the limit of " + kind +
                            " is below its request (expected at least the request)");
    }
    object.ignore({"claims"});
    object.finish();
    return requests;
}

/// What a pod requests in all: the greater of what its containers and sidecars ask for together and
/// the peak while its init containers run, one after the other; pod-level resources stand in for
/// the kinds that they name; and the overhead on top (Kubernetes' PodRequests).
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

    [[nodiscard]] named_amounts total(const named_amounts& pod_level,
                                      const named_amounts& overhead) const {
        named_amounts sum = running_;
        add(sum, sidecars_);
        raise(sum, peak_);
        for (const auto& [kind, amount] : pod_level)
            sum[kind] = amount;
        add(sum, overhead);
        return sum;
    }

private:
    named_amounts running_;
    named_amounts sidecars_;
    named_amounts peak_;
};

} // namespace codec
} // namespace muster::inline v0_1
