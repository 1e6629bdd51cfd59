// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include <muster/base/id.hpp>
#include <muster/model/state_promises.hpp>

namespace muster {
inline namespace v0_1 {

/// Since when gangs have been below their minima, as far as cycles saw it.
template<std::size_t Width>
class state_staleness : public state_promises<Width> {
    using store = state_promises<Width>;

public:
    // ---- for the cycle -------------------------------------------------------------------------

    /// Calls `use(gang)` for every gang that something happened to since a cycle took them.
    template<class Use>
    void for_each_changed_gang(const Use& use) const {
        for (const gang_index which : this->changed_gangs_)
            use(which);
    }

    /// The gang stands below its minima, since `now` unless it was seen so before, or says so
    /// itself.
    void found_short(gang_index which, std::int64_t now) {
        auto& record = gangs_[which.value()];
        if (record.short_since)
            return;
        record.short_since = record.spec.short_since.value_or(now);
        short_.push_back(which);
    }
    void found_whole(gang_index which) noexcept { gangs_[which.value()].short_since.reset(); }

    /// The gangs that were found below their minima, in the order of keys. O(such gangs · log).
    [[nodiscard]] std::vector<gang_index> short_gangs() {
        std::erase_if(short_,
                      [this](gang_index which) { return !gangs_[which.value()].short_since; });
        std::ranges::sort(short_, [this](gang_index lhs, gang_index rhs) {
            return this->gang_order_.before(lhs, rhs);
        });
        short_.erase(std::unique(short_.begin(), short_.end()), short_.end());
        return short_;
    }

    /// No gang's time is over by then, as the last cycle saw it.
    [[nodiscard]] bool stale_at_rest(std::int64_t now) const noexcept {
        return !stale_from_ || now < *stale_from_;
    }
    void stale_seen(std::optional<std::int64_t> next) noexcept { stale_from_ = next; }

protected:
    state_staleness() = default;
    explicit state_staleness(kind_id pods_kind) : store(pods_kind) {}

    using store::gangs_;

private:
    std::vector<gang_index> short_;
    std::optional<std::int64_t> stale_from_;
};

} // namespace v0_1
} // namespace muster
