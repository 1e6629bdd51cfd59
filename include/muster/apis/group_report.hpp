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
#include <muster/words/gate_text.hpp>

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

/// Why members of a gang wait: the words for people, or else those of the gate.
[[nodiscard]] inline std::string waiting_text(const adapter::gang_status& of) {
    if (!of.message.empty())
        return of.message;
    if (of.surplus_waits && !of.lacks_volumes)
        return std::string(words::surplus_waits_text);
    return std::string(words::gate_text(of.lacks_volumes ? gate::volumes : of.at));
}

} // namespace apis
} // namespace v0_1
} // namespace muster
