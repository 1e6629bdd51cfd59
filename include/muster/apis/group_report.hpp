// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <boost/json/object.hpp>

#include <muster/adapter/writes.hpp>
#include <muster/apis/core/objects.hpp>
#include <muster/vocabulary/answer.hpp>

namespace muster {
inline namespace v0_1 {
namespace apis {

/// What the status of a group's object is made from.
struct group_report {
    std::string_view version; ///< of the object, such as scheduling.volcano.sh/v1beta1
    std::string_view kind;
    std::string_view uid;
    std::int64_t generation = 0;
    /// Its spec, and its status as it was written last; null where it has none.
    const boost::json::object* spec = nullptr;
    const boost::json::object* before = nullptr;
    /// The object of T9k's, as it was read.
    const codec::pod_group_object* of_t9k = nullptr;
    /// The pods that name this object, in the order of their names.
    std::span<const codec::pod_object* const> members;
    /// How the gang stands that it is, or is a part of.
    const adapter::gang_status* standing = nullptr;
};

[[nodiscard]] inline std::string_view to_text(gate at) {
    switch (at) {
    case gate::none:
        break;
    case gate::group:
        return "its group is missing or malformed, or its members disagree about it";
    case gate::members:
        return "it has too few members yet";
    case gate::queue:
        return "its queue is unknown, closed, or not for its namespace";
    case gate::unsupported:
        return "members carry constraints that are not supported";
    case gate::quota:
        return "its queue's quota stops it";
    case gate::space:
        return "it does not fit the nodes that are free";
    case gate::order:
        return "a gang ahead of it waits, in a queue that keeps strict order";
    case gate::volumes:
        return "volumes or claims of members are not ready";
    }
    return "it was not decided yet";
}

/// Why members of a gang wait: the words for people, or else those of the gate.
[[nodiscard]] inline std::string waiting_text(const adapter::gang_status& of) {
    if (!of.message.empty())
        return of.message;
    if (of.surplus_waits && !of.lacks_volumes)
        return "its gang has its minimum, and no node has room for more members";
    return std::string(of.lacks_volumes ? "volumes or claims of members are not ready"
                                        : to_text(of.at));
}

} // namespace apis
} // namespace v0_1
} // namespace muster
