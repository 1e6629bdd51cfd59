// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include <muster/base/id.hpp>
#include <muster/model/disruption_budget.hpp>
#include <muster/model/event_result.hpp>
#include <muster/model/state_reservations.hpp>

namespace muster::inline v0_1 {

/// The budgets that evictions keep to. They may be told before or after the pods that they cover.
template<class Traits>
class state_budgets : public state_reservations<Traits> {
    using store = state_reservations<Traits>;

public:
    using typename store::pod_key;
    using budget_map = std::map<pod_key, disruption_budget, key_less<Traits>>;

    /// A budget is new or changed. Its key is one of its own, though of the type of pods' keys.
    /// O(log budgets).
    event_result upsert_budget(const pod_key& key, disruption_budget spec) {
        if (spec.keeps < 0)
            return event_result::out_of_range;
        budgets_.insert_or_assign(key, std::move(spec));
        ++this->changes_;
        return event_result::applied;
    }

    event_result remove_budget(const pod_key& key) {
        if (budgets_.erase(key) == 0)
            return event_result::unexpected;
        ++this->changes_;
        return event_result::applied;
    }

    [[nodiscard]] const budget_map& budgets() const noexcept { return budgets_; }

    /// Moves with every event that bears on any answer.
    [[nodiscard]] std::uint64_t changes() const noexcept { return this->changes_; }

protected:
    state_budgets() = default;
    explicit state_budgets(kind_id pods_kind) : store(pods_kind) {}

private:
    budget_map budgets_;
};

} // namespace muster::inline v0_1
