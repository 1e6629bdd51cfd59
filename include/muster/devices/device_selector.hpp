// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <muster/base/result.hpp>
#include <muster/devices/cel_evaluation.hpp>
#include <muster/devices/cel_parser.hpp>
#include <muster/devices/device_attributes.hpp>

namespace muster {
inline namespace v0_1 {

enum class selector_outcome : std::uint8_t {
    matches,
    differs,
    /// CEL fails, for example because the device lacks the attribute. Kubernetes then does not
    /// allocate the claim.
    failed,
    /// This subset does not know what CEL answers, or the evaluation takes more than
    /// device_selector::max_steps.
    not_supported,
};

struct selector_verdict {
    selector_outcome outcome = selector_outcome::matches;
    /// Why a selector failed or is not supported; else empty.
    std::string text;
};

/// A CEL expression that selects devices, in the subset of CEL that selectors commonly use.
class device_selector {
public:
    /// Bytes of an expression, as the API server limits them.
    static constexpr std::size_t max_text = 10 * 1024;
    /// Steps of an evaluation: nodes, items and parts of texts. Not CEL's cost, which the API
    /// server limits to the same number.
    static constexpr std::size_t max_steps = 1'000'000;

    explicit device_selector(cel::syntax_tree tree)
        : tree_(std::make_shared<const cel::syntax_tree>(std::move(tree))) {}

    /// Evaluates the selector for a device. Pure. O(max_steps) time; stack for 100 levels.
    [[nodiscard]] selector_verdict matches(const device_attributes& device) const {
        const cel::value found = cel::evaluator(*tree_, device, max_steps).evaluate();
        if (const auto* flag = found.as<bool>())
            return {*flag ? selector_outcome::matches : selector_outcome::differs, {}};
        if (const auto* error = found.as<cel::error_value>())
            return {error->is_undecided ? selector_outcome::not_supported
                                        : selector_outcome::failed,
                    error->text};
        return {selector_outcome::failed,
                "the value must be a bool, not " + std::string(cel::kind_name(found.kind_of()))};
    }

private:
    /// Shared by copies.
    std::shared_ptr<const cel::syntax_tree> tree_;
};

/// Parses a selector. An error has the code `invalid` if the API server rejects the text too, and
/// `not_supported` if CEL may accept the text. Not in the subset: doubles, uints, bytes, maps,
/// timestamps, durations, type(), macros with two variables, patterns beyond text_pattern, and the
/// functions that cel::overloads does not list.
///
/// Types that are known are checked: `device.driver == 1` is invalid. The type of an attribute is
/// known when a device is matched: a wrong one then fails. The API server checks more, such as the
/// items of empty lists and constant arguments of int(); a selector that only it rejects is
/// evaluated. O(text) time; stack for 100 levels.
[[nodiscard]] inline result<device_selector, selector_error>
parse_device_selector(std::string_view text) {
    if (text.size() > device_selector::max_text)
        return failure<selector_error>{
            {selector_errc::invalid, device_selector::max_text, "the text is longer than 10 KiB"}};
    auto tree = cel::parser(text).parse();
    if (!tree)
        return failure<selector_error>{tree.error()};
    return device_selector(std::move(*tree));
}

} // namespace v0_1
} // namespace muster
