// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <muster/devices/device_attributes.hpp>
#include <muster/resource/quantity.hpp>

namespace muster {
inline namespace v0_1 {
/// A subset of the Common Expression Language, as selectors of devices use it.
namespace cel {

/// The kind of a value. For an expression: what the checker knows of its value.
enum class kind : std::uint8_t {
    null,
    boolean,
    integer,
    text,
    amount,
    version,
    list,
    /// The variable `device`.
    device,
    /// `device.attributes` or `device.capacity`: maps a domain to names.
    domains,
    /// The attributes or the capacities of one domain: maps a name to a value.
    names,
    optional,
    /// For expressions only: known when the expression is evaluated.
    dynamic,
};

struct value;

struct null_value {};

struct amount_value {
    quantity amount;
    /// The text was not canonical and had a fraction, an exponent or a suffix below one. Kubernetes
    /// then does not always convert a whole amount to an integer.
    bool was_scaled = false;
    /// A result of add() or sub(), which Kubernetes does not accept on the right of `==`.
    bool was_computed = false;
};

struct list_value {
    std::shared_ptr<const std::vector<value>> items;
    /// 1 + the depth of the deepest item.
    std::size_t depth = 1;
};

struct device_value {};

struct domains_value {
    bool of_capacities = false;
};

struct names_value {
    bool of_capacities = false;
    std::string domain;
};

struct optional_value {
    /// Null = none.
    std::shared_ptr<const value> held;
    std::size_t depth = 1;
};

/// Why an expression has no value.
struct error_value {
    /// False: CEL fails. True: this subset does not know what CEL does.
    bool is_undecided = false;
    std::string text;
};

/// In the order of `kind`; an error in the place of `dynamic`.
struct value : std::variant<null_value, bool, std::int64_t, std::string, amount_value,
                            semantic_version, list_value, device_value, domains_value, names_value,
                            optional_value, error_value> {
    using variant::variant;
    [[nodiscard]] bool is_error() const noexcept { return index() == std::size_t(kind::dynamic); }
    [[nodiscard]] kind kind_of() const noexcept { return static_cast<kind>(index()); }
    template<class T>
    [[nodiscard]] const T* as() const noexcept {
        return std::get_if<T>(static_cast<const variant*>(this));
    }
};

[[nodiscard]] inline value fails(std::string text) {
    return error_value{false, std::move(text)};
}
[[nodiscard]] inline value undecided(std::string text) {
    return error_value{true, std::move(text)};
}

[[nodiscard]] constexpr std::string_view kind_name(kind which) noexcept {
    constexpr std::string_view names[] = {"null",
                                          "bool",
                                          "int",
                                          "string",
                                          "kubernetes.Quantity",
                                          "kubernetes.Semver",
                                          "list",
                                          "device",
                                          "map",
                                          "map",
                                          "optional",
                                          "dyn"};
    return names[static_cast<std::size_t>(which)];
}

} // namespace cel
} // namespace v0_1
} // namespace muster
