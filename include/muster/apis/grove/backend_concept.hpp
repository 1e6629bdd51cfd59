// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <string_view>

#include <muster/gangs/gang_object.hpp>
#include <muster/gangs/target.hpp>

namespace muster {
inline namespace v0_1 {
namespace translate {

/// What stands between Grove and a scheduler: it turns PodGangs into what that scheduler knows, and
/// marks their pods. A small value; one of one's own does as well as the built-in ones.
template<class Backend>
concept grove_backend = requires(const Backend& backend, const gang_bundle& gang,
                                 grove_dialect dialect, std::string_view scheduler) {
    /// What the label `grove.io/scheduler-backend` says in the dialect `seed`.
    { backend.name() } -> std::convertible_to<std::string_view>;
    /// The schedulerName of its pods, and what `grove.io/scheduler-name` says in `upstream`.
    { backend.scheduler() } -> std::convertible_to<std::string_view>;
    /// Grove's controller removes the gates of pods; otherwise the scheduler does it itself.
    { backend.opens_gates(dialect) } -> std::same_as<bool>;
    /// The objects derived from a PodGang, and then its pods as they are to be created. `gang` has
    /// the PodGang's uid, and the pods that are to be marked, which may be none.
    { backend.write(gang, dialect) } -> std::same_as<written>;
};

} // namespace translate
} // namespace v0_1
} // namespace muster
