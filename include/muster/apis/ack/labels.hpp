// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include <muster/apis/core/objects.hpp>
#include <muster/apis/gang_facts.hpp>
#include <muster/document/diagnostic.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

inline constexpr std::string_view ack_name_label = translate::keys::sigs_name;
inline constexpr std::string_view ack_minimum_label = translate::keys::sigs_minimum;

/// What a pod's ACK gang labels say.
struct ack_labels {
    std::string name;
    std::int64_t min_available = 0;
    /// What is wrong with them; empty when nothing is.
    std::string error;
};

/// A DNS subdomain name (RFC 1123), as Kubernetes names its objects.
[[nodiscard]] inline bool is_subdomain(std::string_view text) noexcept {
    const auto plain = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
    if (text.empty() || text.size() > 253)
        return false;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const bool edge = at == 0 || at + 1 == text.size() || text[at - 1] == '.' ||
                          text[at + 1] == '.' || text[at] == '.';
        const bool inner = text[at] == '-' || text[at] == '.';
        if (plain(text[at]) || (inner && !edge))
            continue;
        if (text[at] == '.' && at > 0 && at + 1 < text.size() && plain(text[at - 1]) &&
            plain(text[at + 1]))
            continue;
        return false;
    }
    return true;
}

/// Reads the gang labels of ACK (and of the first scheduler-plugins) from a pod; nothing when it
/// has neither. Both must be there and valid: a pod that means to be in a gang is never taken for
/// one that does not.
[[nodiscard]] inline std::optional<ack_labels> read_ack_labels(const pod_object& pod) {
    const std::string* name = pod.metadata.labels.find(ack_name_label);
    const std::string* minimum = pod.metadata.labels.find(ack_minimum_label);
    if (!name && !minimum)
        return std::nullopt;
    ack_labels read;
    if (!name) {
        read.error = "label " + std::string(ack_minimum_label) + " is there, but label " +
                     std::string(ack_name_label) + " is not (expected both)";
        return read;
    }
    read.name = *name;
    if (!is_subdomain(*name))
        read.error = "label " + std::string(ack_name_label) + ": " + in_quotes(*name) +
                     " is not a name (expected a DNS subdomain)";
    else if (!minimum)
        read.error = "label " + std::string(ack_name_label) + " is there, but label " +
                     std::string(ack_minimum_label) + " is not (expected both)";
    else {
        std::int32_t value = 0;
        const char* end = minimum->data() + minimum->size();
        const auto parsed = std::from_chars(minimum->data(), end, value);
        if (parsed.ec != std::errc{} || parsed.ptr != end || value < 1)
            read.error = "label " + std::string(ack_minimum_label) + ": " + in_quotes(*minimum) +
                         " is not a minimum (expected a whole number from 1 to 2147483647)";
        read.min_available = value;
    }
    return read;
}

} // namespace codec
} // namespace v0_1
} // namespace muster
