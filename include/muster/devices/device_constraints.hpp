// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <muster/base/sequence.hpp>
#include <muster/devices/claim_table.hpp>
#include <muster/devices/device_attributes.hpp>
#include <muster/devices/device_claim.hpp>
#include <muster/devices/device_table.hpp>

namespace muster {
inline namespace v0_1 {
namespace detail {

/// The values of an attribute of a device, by number.
struct value_set {
    /// Ascending. Empty if the device has the attribute without a value.
    sequence<std::uint32_t> values;
    bool is_present = false;
    bool is_list = false;

    [[nodiscard]] sequence<std::uint32_t> common(const sequence<std::uint32_t>& others) const {
        sequence<std::uint32_t> found;
        for (const auto value : values)
            if (std::binary_search(others.begin(), others.end(), value))
                found.push_back(value);
        return found;
    }
};

/// Numbers the values of attributes. Values of different types differ.
class value_numbers {
public:
    [[nodiscard]] value_set numbers(const device_attribute& attribute) {
        value_set found;
        found.is_present = true;
        std::visit([&](const auto& value) { add(value, found); }, attribute);
        std::sort(found.values.begin(), found.values.end());
        return found;
    }

private:
    static std::string key(bool value) { return value ? "b1" : "b0"; }
    static std::string key(std::int64_t value) { return 'i' + std::to_string(value); }
    static std::string key(const std::string& value) { return 's' + value; }
    static std::string key(const semantic_version& value) {
        std::string text = 'v' + std::to_string(value.major) + '.' + std::to_string(value.minor) +
                           '.' + std::to_string(value.patch);
        char separator = '-';
        for (const std::string& identifier : value.prerelease) {
            text += separator + identifier;
            separator = '.';
        }
        return text + '+' + value.build;
    }

    template<class Value>
    void add(const Value& value, value_set& to) {
        to.values.push_back(
            numbers_.emplace(key(value), static_cast<std::uint32_t>(numbers_.size()))
                .first->second);
    }
    template<class Value>
    void add(const std::vector<Value>& values, value_set& to) {
        to.is_list = true;
        for (const Value& value : values)
            add(value, to);
    }

    std::map<std::string, std::uint32_t> numbers_;
};

/// A constraint of a claim, and the devices that it holds for so far.
struct constraint_row {
    device_constraint_kind kind = device_constraint_kind::match;
    /// Column of device_constraints::values_.
    std::size_t attribute = 0;
    /// By alternative of the claim table: the constraint applies.
    sequence<std::uint8_t> applies;
    /// By alternative: 1 + the position of the derived attribute that it compares; 0 = it compares
    /// the device's own.
    sequence<std::size_t> derived;
    /// match: the values that the first k + 1 devices have in common. distinct: those of the k-th.
    sequence<sequence<std::uint32_t>> stack;
};

/// The constraints of all claims.
class device_constraints {
public:
    device_constraints(const claim_table& claims, const device_table& devices,
                       const device_features& features)
        : claims_(claims), devices_(devices), with_lists_(features.list_attributes) {
        for (std::size_t claim = 0; claim < claims.claims.size(); ++claim) {
            first_.push_back(rows_.size());
            for (const device_constraint& source : claims.claims[claim].source->constraints)
                add(source, claim, claims);
        }
        first_.push_back(rows_.size());
    }

    /// Adds a device to the constraints of a claim; false, and nothing is added, if it violates
    /// one.
    [[nodiscard]] bool add(std::size_t claim, std::size_t alternative, std::size_t device) {
        for (auto row = first_[claim]; row < first_[claim + 1]; ++row)
            if (rows_[row].applies[alternative] != 0 && !add(rows_[row], alternative, device)) {
                remove(claim, alternative, row);
                return false;
            }
        return true;
    }

    /// Undoes the last add() of the claim.
    void remove(std::size_t claim, std::size_t alternative) {
        remove(claim, alternative, first_[claim + 1]);
    }

    /// Appends what the constraints of a claim demand of further devices.
    void append_state(std::size_t claim, std::string& key) const {
        for (auto row = first_[claim]; row < first_[claim + 1]; ++row)
            append_state(rows_[row], key);
    }

    /// Appends the values of a device that constraints compare.
    void append_values(std::size_t device, std::string& key) {
        for (std::size_t column = 0; column < names_.size(); ++column) {
            const value_set& found = values(column, device);
            key += found.is_present ? (found.is_list ? 'l' : 's') : '-';
            append(found.values, key);
        }
        for (const constraint_row& row : rows_)
            for (std::size_t alternative = 0; alternative < row.derived.size(); ++alternative) {
                if (row.applies[alternative] == 0 || row.derived[alternative] == 0)
                    continue;
                const value_set found = derived_values(row, alternative, device);
                key += found.is_present ? (found.is_list ? 'L' : 'S') : '-';
                append(found.values, key);
            }
    }

private:
    void add(const device_constraint& source, std::size_t claim, const claim_table& claims) {
        constraint_row row;
        row.kind = source.kind;
        const auto name = std::find(names_.begin(), names_.end(), source.attribute);
        row.attribute = static_cast<std::size_t>(name - names_.begin());
        if (name == names_.end()) {
            names_.push_back(source.attribute);
            values_.emplace_back();
            values_.back().resize(devices_.devices.size());
            is_known_.emplace_back();
            is_known_.back().resize(devices_.devices.size(), 0);
        }
        for (const alternative_row& alternative : claims.alternatives) {
            const auto names = [&](const std::string& text) {
                return std::find(source.requests.begin(), source.requests.end(), text) !=
                       source.requests.end();
            };
            const bool applies =
                alternative.claim == claim &&
                (source.requests.empty() || names(claims.name_of(alternative)) ||
                 names(claims.requests[claims.request_index(alternative)].source->name));
            row.applies.push_back(applies ? 1 : 0);
            row.derived.push_back(0);
            const auto& derived = alternative.source->derived;
            for (std::size_t at = 0; at < derived.size(); ++at)
                if (derived[at].name == source.attribute)
                    row.derived.back() = at + 1;
        }
        rows_.push_back(std::move(row));
    }

    /// Returns the derived values that the constraint compares. Preconditions: there are some, and
    /// claim_table::matches() was called for the device.
    [[nodiscard]] value_set derived_values(const constraint_row& row, std::size_t alternative,
                                           std::size_t device) {
        const auto& made = claims_.alternatives[alternative].derived[device];
        const std::size_t at = row.derived[alternative] - 1;
        return at < made.size() ? numbers_.numbers(made[at]) : value_set{};
    }

    [[nodiscard]] bool add(constraint_row& row, std::size_t alternative, std::size_t device) {
        return row.derived[alternative] == 0 ? add(row, values(row.attribute, device))
                                             : add(row, derived_values(row, alternative, device));
    }

    [[nodiscard]] bool add(constraint_row& row, const value_set& found) const {
        const bool is_first = row.stack.empty();
        if (!found.is_present)
            return false;
        // Without the feature, a list is a value of unknown type, and only the first device of a
        // constraint can have one.
        const bool is_unknown = found.values.empty() || (found.is_list && !with_lists_);
        if (is_unknown && (with_lists_ || !is_first))
            return false;
        if (is_first) {
            row.stack.push_back(is_unknown ? sequence<std::uint32_t>{} : found.values);
            return true;
        }
        if (row.kind == device_constraint_kind::match) {
            auto common = found.common(row.stack.back());
            if (common.empty())
                return false;
            row.stack.push_back(std::move(common));
            return true;
        }
        for (const auto& others : row.stack)
            if (!found.common(others).empty())
                return false;
        row.stack.push_back(found.values);
        return true;
    }

    void remove(std::size_t claim, std::size_t alternative, std::size_t end) {
        for (auto row = first_[claim]; row < end; ++row)
            if (rows_[row].applies[alternative] != 0)
                rows_[row].stack.pop_back();
    }

    static void append(const sequence<std::uint32_t>& values, std::string& key) {
        key += std::to_string(values.size());
        for (const auto value : values)
            key += ',' + std::to_string(value);
        key += ';';
    }

    static void append_state(const constraint_row& row, std::string& key) {
        if (row.stack.empty()) {
            key += '-';
            return;
        }
        if (row.kind == device_constraint_kind::match)
            return append(row.stack.back(), key);
        // Which device has which values does not matter to further ones.
        sequence<std::uint32_t> all;
        for (const auto& values : row.stack)
            for (const auto value : values)
                all.push_back(value);
        std::sort(all.begin(), all.end());
        append(all, key);
    }

    const value_set& values(std::size_t column, std::size_t device) {
        value_set& found = values_[column][device];
        if (is_known_[column][device] == 0) {
            is_known_[column][device] = 1;
            const auto& attributes = devices_.devices[device].source->attributes.attributes;
            if (const auto attribute = attributes.find(names_[column]);
                attribute != attributes.end())
                found = numbers_.numbers(attribute->second);
        }
        return found;
    }

    const claim_table& claims_;
    const device_table& devices_;
    bool with_lists_;
    value_numbers numbers_;
    sequence<std::string> names_;
    /// By attribute and device.
    sequence<sequence<value_set>> values_;
    sequence<sequence<std::uint8_t>> is_known_;
    sequence<constraint_row> rows_;
    /// By claim: its first row; one more at the end.
    sequence<std::size_t> first_;
};

} // namespace detail
} // namespace v0_1
} // namespace muster
