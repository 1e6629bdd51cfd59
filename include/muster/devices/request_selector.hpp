// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <muster/devices/device_attributes.hpp>
#include <muster/devices/device_selector.hpp>

namespace muster {
inline namespace v0_1 {

/// A selector of a class or of a request. One that cannot be parsed fails, or is not supported, on
/// every device: as in Kubernetes, it does no harm until a device is matched.
struct request_selector {
    /// As written.
    std::string text;
    std::optional<device_selector> parsed;
    /// Why `parsed` is absent.
    selector_error error;
    /// False for a kind of selector that this version does not know. Allocation fails.
    bool is_known = true;

    [[nodiscard]] selector_verdict matches(const device_attributes& device) const {
        if (parsed)
            return parsed->matches(device);
        return {error.code == selector_errc::not_supported ? selector_outcome::not_supported
                                                           : selector_outcome::failed,
                error.text};
    }
};

/// Returns the selector that a CEL text describes.
[[nodiscard]] inline request_selector read_request_selector(std::string_view text) {
    request_selector selector;
    selector.text = text;
    auto parsed = parse_device_selector(text);
    if (parsed)
        selector.parsed = *std::move(parsed);
    else
        selector.error = parsed.error();
    return selector;
}

} // namespace v0_1
} // namespace muster
