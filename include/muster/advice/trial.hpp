// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <muster/advice/change.hpp>
#include <muster/cluster/state.hpp>
#include <muster/cycle/cycle.hpp>

namespace muster {
inline namespace v0_1 {
namespace detail {

/// Tries changes on copies of a state, for one waiting gang, up to a maximum number of tries.
template<class Traits, class Namer>
class trial {
public:
    trial(const state<Traits>& cluster, gang_index which, std::int64_t now,
          const any_policy<core_of<Traits>>& how, const Namer& namer, const budget& limit,
          std::int64_t most)
        : cluster_(&cluster),
          which_(which),
          now_(now),
          how_(&how),
          namer_(&namer),
          limit_(&limit),
          most_(most) {}

    /// Returns true if an ordinary cycle starts the gang once the changes are applied. If all tries
    /// are used up, returns false without a try, and `complete()` is false from then on.
    [[nodiscard]] bool starts(const remedy& changes) {
        if (made_ >= most_) {
            complete_ = false;
            return false;
        }
        ++made_;
        tried_ = *cluster_;
        if (!apply(tried_, which_, changes, *namer_))
            return false;
        cycle(tried_, now_, *how_, *limit_, {}, result_);
        return tried_[which_].last.kind == answer::admitted;
    }

    /// The state without changes.
    [[nodiscard]] const state<Traits>& before() const noexcept { return *cluster_; }
    /// The state after the last try.
    [[nodiscard]] const state<Traits>& after() const noexcept { return tried_; }
    [[nodiscard]] bool complete() const noexcept { return complete_; }
    [[nodiscard]] std::int64_t made() const noexcept { return made_; }

private:
    const state<Traits>* cluster_;
    gang_index which_;
    std::int64_t now_;
    const any_policy<core_of<Traits>>* how_;
    const Namer* namer_;
    const budget* limit_;
    std::int64_t most_;
    std::int64_t made_ = 0;
    bool complete_ = true;
    state<Traits> tried_;
    cycle_result result_;
};

} // namespace detail
} // namespace v0_1
} // namespace muster
