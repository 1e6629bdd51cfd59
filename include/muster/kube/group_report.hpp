// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include <boost/json/object.hpp>

#include <muster/adapter/writes.hpp>
#include <muster/apis/core/objects.hpp>
#include <muster/kube/live_gangs.hpp>

namespace muster {
inline namespace v0_1 {
namespace kube {

/// What the status of a group's object is made from.
struct group_report {
    const group_record* object = nullptr;
    /// The pods that name this object, in the order of their names.
    std::span<const codec::pod_object* const> members;
    /// How the gang stands that it is, or is a part of.
    const adapter::gang_status* status = nullptr;
};

/// Writes nothing into groups.
struct no_status {
    [[nodiscard]] boost::json::object operator()(const group_report&, std::int64_t) const {
        return {};
    }
};

} // namespace kube
} // namespace v0_1
} // namespace muster
