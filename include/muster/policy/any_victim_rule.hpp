// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>

#include <muster/base/any_value.hpp>
#include <muster/policy/consolidation.hpp>
#include <muster/policy/consolidation_concept.hpp>
#include <muster/policy/victim_rule.hpp>
#include <muster/policy/victim_rule_concept.hpp>

namespace muster {
inline namespace v0_1 {

/// Holds any victim rule (type erasure).
class any_victim_rule {
public:
    static constexpr bool none = false;
    static constexpr bool timeless = false;

    any_victim_rule() : any_victim_rule(no_eviction{}) {}

    template<class Rule>
        requires(!std::derived_from<Rule, any_victim_rule> && victim_rule<Rule>)
    any_victim_rule(const Rule& rule)
        : is_none_(Rule::none),
          is_timeless_(ignores_time(rule)),
          spares_all_(evicts_none(rule)),
          by_fair_share_(goes_by_fair_shares(rule)),
          in_order_(takes_in_order(rule)),
          for_surplus_(serves_surplus(rule)),
          value_(rule),
          call_(&call<Rule>) {
        if constexpr (!Rule::timeless)
            next_change_ = &next<Rule>;
    }

    [[nodiscard]] std::optional<victim_terms> operator()(const gang_view& preemptor,
                                                         const gang_view& victim,
                                                         std::int64_t now) const noexcept {
        return call_(value_, preemptor, victim, now);
    }
    [[nodiscard]] std::optional<std::int64_t> next_change(const gang_view& victim,
                                                          std::int64_t now) const noexcept {
        return next_change_ ? next_change_(value_, victim, now) : std::nullopt;
    }
    /// True if the rule's type evicts nothing: the cycle then runs no preempt phase.
    [[nodiscard]] bool is_none() const noexcept { return is_none_; }
    [[nodiscard]] bool is_timeless() const noexcept { return is_timeless_; }
    [[nodiscard]] bool spares_all() const noexcept { return spares_all_; }
    [[nodiscard]] bool by_fair_share() const noexcept { return by_fair_share_; }
    [[nodiscard]] bool in_order() const noexcept { return in_order_; }
    [[nodiscard]] bool for_surplus() const noexcept { return for_surplus_; }

    [[nodiscard]] friend bool operator==(const any_victim_rule& lhs, const any_victim_rule& rhs) {
        return lhs.value_ == rhs.value_;
    }

protected:
    [[nodiscard]] const detail::any_value& value() const noexcept { return value_; }

private:
    template<class Rule>
    static std::optional<victim_terms> call(const detail::any_value& value,
                                            const gang_view& preemptor, const gang_view& victim,
                                            std::int64_t now) noexcept {
        return value.as<Rule>()(preemptor, victim, now);
    }
    template<class Rule>
    static std::optional<std::int64_t> next(const detail::any_value& value, const gang_view& victim,
                                            std::int64_t now) noexcept {
        return value.as<Rule>().next_change(victim, now);
    }

    bool is_none_;
    bool is_timeless_;
    bool spares_all_;
    bool by_fair_share_;
    bool in_order_;
    bool for_surplus_;
    detail::any_value value_;
    std::optional<victim_terms> (*call_)(const detail::any_value&, const gang_view&,
                                         const gang_view&, std::int64_t) noexcept;
    std::optional<std::int64_t> (*next_change_)(const detail::any_value&, const gang_view&,
                                                std::int64_t) noexcept = nullptr;
};

/// Holds any consolidation rule (type erasure).
class any_consolidation_rule : public any_victim_rule {
public:
    any_consolidation_rule() : any_consolidation_rule(no_consolidation{}) {}

    template<class Rule>
        requires(!std::derived_from<Rule, any_victim_rule> && consolidation_rule<Rule>)
    any_consolidation_rule(const Rule& rule) : any_victim_rule(rule), kept_until_(&until<Rule>) {}

    [[nodiscard]] std::optional<std::int64_t> kept_until(std::int64_t now) const noexcept {
        return kept_until_(value(), now);
    }

private:
    template<class Rule>
    static std::optional<std::int64_t> until(const detail::any_value& value,
                                             std::int64_t now) noexcept {
        return value.as<Rule>().kept_until(now);
    }

    std::optional<std::int64_t> (*kept_until_)(const detail::any_value&, std::int64_t) noexcept;
};

} // namespace v0_1
} // namespace muster
