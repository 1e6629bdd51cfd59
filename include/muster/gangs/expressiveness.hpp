// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <muster/gangs/gang_object.hpp>

namespace muster {
inline namespace v0_1 {
namespace translate {

/// How an API says how important a gang is.
enum class priority_word : std::uint8_t {
    number,
    class_name,
    /// By the classes of its pods.
    pods,
};

/// What a target has words for, beside minima. What it has none for becomes a loss wherever a gang
/// asks for it; writers see to the rest.
struct expressiveness {
    gang_api api = gang_api::none; ///< whose own words it can give back
    bool queue = false;
    priority_word priority = priority_word::pods;
    bool preemptibility = false;
    bool timeout = false;
    bool min_resources = false;
    bool topology_required = false;
    bool topology_preferred = false;
    /// Members of one gang may live in several namespaces.
    bool namespaces = false;
    /// Parts of a gang are objects with words of their own.
    bool parts = false;
};

} // namespace translate
} // namespace v0_1
} // namespace muster
