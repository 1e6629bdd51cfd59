// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace muster {
inline namespace v0_1 {
namespace testing {
namespace api_server {

/// Reads the fields of a protobuf message one after the other.
class protobuf_fields {
public:
    explicit protobuf_fields(std::string_view message) noexcept : rest_(message) {}

    struct field {
        std::uint64_t number = 0;
        std::uint64_t value = 0;  ///< of a number or a truth value
        std::string_view content; ///< of a string or a message
    };

    /// Returns the next field. Returns nullopt at the end, and from the first field on that is cut
    /// off or has an unknown wire type.
    [[nodiscard]] std::optional<field> next() noexcept {
        if (rest_.empty())
            return std::nullopt;
        const auto found = read();
        failed_ = !found;
        if (failed_)
            rest_ = {};
        return found;
    }
    /// True if a field was cut off or had an unknown wire type.
    [[nodiscard]] bool failed() const noexcept { return failed_; }

private:
    std::optional<field> read() noexcept {
        const auto tag = number();
        if (!tag)
            return std::nullopt;
        field made{*tag >> 3U, 0, {}};
        std::size_t length = 0;
        switch (*tag & 7U) {
        case 0: {
            const auto value = number();
            made.value = value.value_or(0);
            return value ? std::optional(made) : std::nullopt;
        }
        case 1:
            length = 8;
            break;
        case 5:
            length = 4;
            break;
        case 2:
            if (const auto told = number(); told && *told <= rest_.size()) {
                made.content = rest_.substr(0, *told);
                length = *told;
                break;
            }
            return std::nullopt;
        default:
            return std::nullopt;
        }
        if (length > rest_.size())
            return std::nullopt;
        rest_.remove_prefix(length);
        return made;
    }

    std::optional<std::uint64_t> number() noexcept {
        std::uint64_t made = 0;
        for (unsigned shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
            const auto byte = static_cast<unsigned char>(rest_.front());
            rest_.remove_prefix(1);
            made |= std::uint64_t{byte & 127U} << shift;
            if (byte < 128)
                return made;
        }
        return std::nullopt;
    }

    std::string_view rest_;
    bool failed_ = false;
};

} // namespace api_server
} // namespace testing
} // namespace v0_1
} // namespace muster
