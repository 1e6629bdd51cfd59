// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include <muster/base/id.hpp>
#include <muster/base/sequence.hpp>
#include <muster/cluster/cluster_state.hpp>
#include <muster/explain/explain.hpp>
#include <muster/vocabulary/reason.hpp>

namespace muster {
inline namespace v0_1 {

/// Suspends all reservations of the state for the life of this object. Nothing else may change the
/// state meanwhile.
template<class Traits>
class without_reservations {
public:
    /// O(parts of all reservations).
    explicit without_reservations(cluster_state<Traits>& cluster)
        : cluster_(&cluster), lifted_(cluster.reservations().size(), 1) {
        for (std::size_t at = 0; at < lifted_.size(); ++at)
            cluster.suspend_reservation(at);
    }
    without_reservations(const without_reservations&) = delete;
    without_reservations& operator=(const without_reservations&) = delete;
    ~without_reservations() {
        for (std::size_t at = 0; at < lifted_.size(); ++at)
            keep(at, true);
    }

    /// Returns why a gang does not start: what stops it even without reservations. If that is
    /// nothing: `room_reserved`, with the owners of a minimal set of reservations that together
    /// stop it. Costs as much as `explain` and, in the latter case, once more for every
    /// reservation.
    [[nodiscard]] std::vector<reason> explain(gang_index which,
                                              const explain_options& options = {}) {
        std::vector<reason> found = detail::stopping_reasons(*cluster_, which, options);
        if (found.empty())
            explain_kept(which, options, found);
        detail::add_fits_by_now(*cluster_, which, found);
        return found;
    }

private:
    void explain_kept(gang_index which, const explain_options& options,
                      std::vector<reason>& found) {
        const auto& all = cluster_->reservations();
        for (std::size_t at = 0; at < all.size(); ++at)
            keep(at, all[at].owner.index != which);
        const auto stopped = [&] {
            return !detail::stopping_reasons(*cluster_, which, options).empty();
        };
        if (stopped()) {
            reason kept;
            kept.code = reason_code::room_reserved;
            for (std::size_t at = 0; at < all.size(); ++at) {
                if (all[at].owner.index == which)
                    continue;
                keep(at, false);
                if (stopped())
                    continue;
                keep(at, true);
                kept.owners.push_back(all[at].owner.index);
            }
            found.push_back(std::move(kept));
        }
        for (std::size_t at = 0; at < all.size(); ++at)
            keep(at, false);
    }

    void keep(std::size_t at, bool wanted) noexcept {
        if (wanted != (lifted_[at] != 0))
            return;
        lifted_[at] = wanted ? 0 : 1;
        wanted ? cluster_->resume_reservation(at) : cluster_->suspend_reservation(at);
    }

    cluster_state<Traits>* cluster_;
    detail::sequence<char> lifted_;
};

} // namespace v0_1
} // namespace muster
