// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include <muster/gangs/gang_api.hpp>
#include <muster/gangs/target.hpp>

namespace muster {
inline namespace v0_1 {
namespace translate {

/// Where on a pod a mark of a gang API stands.
enum class mark_place : std::uint8_t {
    label,
    annotation,
    field, ///< of spec
    gate,  ///< a scheduling gate
};

/// What a mark is for.
enum class mark_use : std::uint8_t {
    word,       ///< something else about the gang
    membership, ///< names the pod's gang
    queue,      ///< names the pod's queue
};

/// A key by which an API speaks on pods.
struct gang_mark {
    mark_place at = mark_place::label;
    std::string_view key{};
    mark_use use = mark_use::word;
};

/// What the objects of a collection are to decisions.
enum class api_content : std::uint8_t { group, queue, topology };

/// Objects of one kind that an API keeps in an API server.
struct api_collection {
    api_content holds = api_content::group;
    std::string_view version{};
    std::string_view kind{};
    std::string_view plural{};
    /// Read from snapshots only: on a live cluster other groups are made of these objects.
    bool planned_only = false;
};

/// What is known of a gang API without reading or writing its objects.
struct api_facts {
    gang_api api{};
    /// The name under which a live scheduler follows the API's objects; empty: none does.
    std::string_view dialect{};
    /// The name by which pods ask for the API's own scheduler; empty: it has none of its own.
    std::string_view scheduler{};
    /// In the order in which they are taken off a pod.
    std::span<const gang_mark> marks{};
    std::span<const target> targets{};
    std::span<const api_collection> collections{};
    /// The name of a pod's scheduler belongs to the API's marks.
    bool owns_scheduler = true;
    /// A gang without a priority of its own has that of its pods, if they agree.
    bool priority_of_pods = false;
};

} // namespace translate
} // namespace v0_1
} // namespace muster
