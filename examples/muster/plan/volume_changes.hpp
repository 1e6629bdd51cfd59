// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <muster/apis/core/objects.hpp>
#include <muster/apis/core/volumes/volume_words.hpp>
#include <muster/input/membership.hpp>

#include "report.hpp"

namespace cli {

/// A group that waits and whose pods have volumes.
struct group_with_volumes {
    muster::codec::group_key key;
    /// The effects of the volumes of its waiting pods.
    muster::codec::volumes_of_pods volumes;
};

/// Corrects the changes that would start such a group, in its line. Volumes depend on objects that
/// the core does not have, so each of these changes is tried as `muster whatif` makes it:
/// - changes that do not start the group are removed, and if none is left that adds nodes, the
///   smallest numbers of copies that start it are added,
/// - the smallest set of claims that starts it once they are bound is added,
/// - nodes are added with the labels that a volume needs and no node has,
/// - the minimum is lowered where volumes keep so many pods from starting together.
/// Returns the number of tries, at most `most`; if more were needed, the line says that other
/// changes may exist. O(tries × (planning volumes + a cycle)).
[[nodiscard]] std::int64_t correct_changes(const muster::codec::manifests& objects,
                                           const request& asked, const group_with_volumes& group,
                                           std::int64_t most, group_line& line);

} // namespace cli
