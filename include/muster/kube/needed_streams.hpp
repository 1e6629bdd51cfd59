// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <muster/kube/object_cache.hpp>
#include <muster/kube/reflector.hpp>

namespace muster {
inline namespace v0_1 {
namespace kube {

/// Decides which streams of a controller are needed, and sums up their state. The stream at each
/// position watches the kind at the same position. A stream never starts if its objects are fetched
/// by name, or if the server does not serve the only kind of owners that needs it.
class needed_streams {
public:
    needed_streams(const std::vector<followed_kind>& kinds, const std::vector<reflector>& all)
        : kinds_(&kinds), all_(&all) {}

    [[nodiscard]] bool is_needed(std::size_t at) const {
        if ((*kinds_)[at].by_name)
            return false;
        const reflector* const owners = needed_by(at);
        return owners == nullptr || !owners->is_absent();
    }

    /// True if the stream may start. Owned kinds are listed after their owners, so that they are
    /// never older.
    [[nodiscard]] bool may_start(std::size_t at) const {
        const std::vector<reflector>& all = *all_;
        if (!is_needed(at))
            return false;
        if (all[at].synced())
            return true;
        if (const reflector* const owners = needed_by(at); owners && !owners->synced())
            return false;
        if ((*kinds_)[at].as != followed_kind::role::owned)
            return true;
        for (std::size_t other = 0; other < all.size(); ++other)
            if ((*kinds_)[other].as != followed_kind::role::owned && is_needed(other) &&
                !all[other].synced())
                return false;
        return true;
    }

    /// True if no needed stream is in the middle of a list.
    [[nodiscard]] bool is_whole() const {
        const std::vector<reflector>& all = *all_;
        for (std::size_t at = 0; at < all.size(); ++at)
            if (!all[at].is_whole() && is_needed(at))
                return false;
        return true;
    }
    /// Returns the latest time at which all needed streams were complete (steady clock, ns).
    [[nodiscard]] std::int64_t as_of(std::int64_t now) const {
        const std::vector<reflector>& all = *all_;
        std::int64_t oldest = now;
        for (std::size_t at = 0; at < all.size(); ++at)
            if (const std::int64_t known = all[at].as_of(now); known < oldest && is_needed(at))
                oldest = known;
        return oldest;
    }

private:
    /// Returns the stream of the only owners that need this stream; nullptr if all owners do.
    [[nodiscard]] const reflector* needed_by(std::size_t at) const {
        const std::vector<followed_kind>& kinds = *kinds_;
        for (std::size_t other = 0; other < kinds.size() && !kinds[at].needed_by.empty(); ++other)
            if (kinds[other].as == followed_kind::role::owner &&
                kinds[other].kind == kinds[at].needed_by)
                return &(*all_)[other];
        return nullptr;
    }

    const std::vector<followed_kind>* kinds_;
    const std::vector<reflector>* all_;
};

} // namespace kube
} // namespace v0_1
} // namespace muster
