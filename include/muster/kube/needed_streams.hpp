// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <muster/kube/object_cache.hpp>
#include <muster/kube/reflector.hpp>

namespace muster::inline v0_1 {
namespace kube {

/// Which of a controller's streams are needed, and how those stand. A stream follows the kind at
/// its position; of a kind that is got by name, or that only owners need which are not served, the
/// stream never starts.
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

    /// What is owned is listed when its owners were: it is never older than they.
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

    /// What is known of all that is needed is no half of a list.
    [[nodiscard]] bool is_whole() const {
        const std::vector<reflector>& all = *all_;
        for (std::size_t at = 0; at < all.size(); ++at)
            if (!all[at].is_whole() && is_needed(at))
                return false;
        return true;
    }
    /// When all of it was last known to be all there is. Steady.
    [[nodiscard]] std::int64_t as_of(std::int64_t now) const {
        const std::vector<reflector>& all = *all_;
        std::int64_t oldest = now;
        for (std::size_t at = 0; at < all.size(); ++at)
            if (const std::int64_t known = all[at].as_of(now); known < oldest && is_needed(at))
                oldest = known;
        return oldest;
    }

private:
    /// The stream of the owners that alone need this one; nullptr when others do as well.
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
} // namespace muster::inline v0_1
