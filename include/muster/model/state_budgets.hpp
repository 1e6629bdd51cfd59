// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <muster/base/id.hpp>
#include <muster/model/disruption_budget.hpp>
#include <muster/model/event_result.hpp>
#include <muster/model/state_reservations.hpp>

namespace muster {
inline namespace v0_1 {

/// The budgets that evictions keep to. They may be told before or after the pods that they cover.
template<std::size_t Width>
class state_budgets : public state_reservations<Width> {
    using store = state_reservations<Width>;

public:
    /// Of a budget that is new. It is in the order of its key.
    budget_index add_budget(std::optional<budget_index> behind);
    event_result set_budget(budget_index which, disruption_budget spec);
    void remove_budget(budget_index which);

    /// Budgets in the order of their keys.
    [[nodiscard]] const order_labels<budget_tag>& budgets() const noexcept { return budget_order_; }
    [[nodiscard]] const disruption_budget& budget(budget_index at) const noexcept {
        return budgets_[at.value()];
    }

    /// Moves with every event that bears on any answer.
    [[nodiscard]] std::uint64_t changes() const noexcept { return this->changes_; }

protected:
    state_budgets() = default;
    explicit state_budgets(kind_id pods_kind) : store(pods_kind) {}

private:
    std::vector<disruption_budget> budgets_;
    std::vector<budget_index> unused_;
    order_labels<budget_tag> budget_order_;
};

} // namespace v0_1
} // namespace muster
