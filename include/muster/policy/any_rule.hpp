// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <muster/base/any_value.hpp>
#include <muster/policy/reservation.hpp>
#include <muster/policy/reservation_concept.hpp>
#include <muster/policy/staleness.hpp>
#include <muster/policy/staleness_concept.hpp>
#include <muster/policy/surplus.hpp>
#include <muster/policy/surplus_concept.hpp>

namespace muster {
inline namespace v0_1 {

/// Holds the values of any reservation rule, copied at conversion.
class any_reservation_rule {
public:
    any_reservation_rule() = default;

    template<class Rule>
        requires(!std::same_as<Rule, any_reservation_rule> && reservation_rule<Rule>)
    any_reservation_rule(const Rule& rule)
        : planned_(rule.planned()), max_bypasses_(rule.max_bypasses()) {}

    [[nodiscard]] std::size_t planned() const noexcept { return planned_; }
    [[nodiscard]] std::optional<std::int64_t> max_bypasses() const noexcept {
        return max_bypasses_;
    }
    [[nodiscard]] friend bool operator==(const any_reservation_rule&,
                                         const any_reservation_rule&) = default;

private:
    std::size_t planned_ = 0;
    std::optional<std::int64_t> max_bypasses_;
};

/// Holds the values of any surplus rule, copied at conversion.
class any_surplus_rule {
public:
    any_surplus_rule() = default;

    template<class Rule>
        requires(!std::same_as<Rule, any_surplus_rule> && surplus_rule<Rule>)
    any_surplus_rule(const Rule& rule)
        : takes_turns_(surplus_takes_turns(rule)), per_turn_(rule.per_turn()) {}

    [[nodiscard]] bool takes_turns() const noexcept { return takes_turns_; }
    [[nodiscard]] surplus_request per_turn() const noexcept { return per_turn_; }

private:
    bool takes_turns_ = false;
    surplus_request per_turn_{};
};

/// Holds any staleness rule (type erasure).
class any_staleness_rule {
public:
    static constexpr bool none = false;

    any_staleness_rule() : any_staleness_rule(keep_stale{}) {}

    template<class Rule>
        requires(!std::same_as<Rule, any_staleness_rule> && staleness_rule<Rule>)
    any_staleness_rule(const Rule& rule) : is_none_(Rule::none), value_(rule), call_(&call<Rule>) {}

    [[nodiscard]] std::optional<std::int64_t>
    operator()(std::optional<std::int64_t> own) const noexcept {
        return call_(value_, own);
    }
    [[nodiscard]] bool is_none() const noexcept { return is_none_; }
    [[nodiscard]] friend bool operator==(const any_staleness_rule& lhs,
                                         const any_staleness_rule& rhs) {
        return lhs.value_ == rhs.value_;
    }

private:
    template<class Rule>
    static std::optional<std::int64_t> call(const detail::any_value& value,
                                            std::optional<std::int64_t> own) noexcept {
        return value.as<Rule>()(own);
    }

    bool is_none_;
    detail::any_value value_;
    std::optional<std::int64_t> (*call_)(const detail::any_value&,
                                         std::optional<std::int64_t>) noexcept;
};

} // namespace v0_1
} // namespace muster
