// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <muster/testing/api_server/json_values.hpp>

namespace muster::inline v0_1 {
namespace testing {
namespace api_server {

/// Reads the fields of a protobuf message one after the other; what is cut off or of an unknown
/// form ends it.
class protobuf_fields {
public:
    explicit protobuf_fields(std::string_view message) noexcept : rest_(message) {}

    struct field {
        std::uint64_t number = 0;
        std::string_view content; ///< empty, unless it is a string or a message
    };

    [[nodiscard]] std::optional<field> next() noexcept {
        const auto tag = rest_.empty() ? std::nullopt : number();
        if (!tag)
            return std::nullopt;
        field made{*tag >> 3U, {}};
        std::size_t length = 0;
        switch (*tag & 7U) {
        case 0:
            return number() ? std::optional(made) : std::nullopt;
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

private:
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
};

namespace detail {

[[nodiscard]] inline json::object read_string_map_entry(std::string_view message) {
    std::string key;
    std::string value;
    protobuf_fields fields(message);
    while (const auto each = fields.next())
        (each->number == 1 ? key : value) = each->content;
    return {{key, value}};
}

} // namespace detail

/// The Namespace of a body in protobuf, which `kubectl create namespace` sends: its name, labels
/// and annotations. Nothing when it is of another kind, or cannot be read. Source: Kubernetes'
/// runtime.Unknown behind the four bytes "k8s\0", and its ObjectMeta.
[[nodiscard]] inline std::optional<json::object> read_protobuf_namespace(std::string_view body) {
    constexpr std::string_view magic("k8s\0", 4);
    if (!body.starts_with(magic))
        return std::nullopt;
    std::string kind;
    std::string_view raw;
    protobuf_fields outer(body.substr(magic.size()));
    while (const auto each = outer.next()) {
        if (each->number == 2)
            raw = each->content;
        if (each->number != 1)
            continue;
        protobuf_fields type(each->content);
        while (const auto one = type.next())
            if (one->number == 2)
                kind = one->content;
    }
    if (kind != "Namespace")
        return std::nullopt;
    json::object metadata;
    protobuf_fields inner(raw);
    while (const auto part = inner.next()) {
        if (part->number != 1)
            continue;
        protobuf_fields fields(part->content);
        while (const auto each = fields.next()) {
            if (each->number == 1)
                metadata["name"] = each->content;
            if (each->number != 11 && each->number != 12)
                continue;
            json::value& map = metadata[each->number == 11 ? "labels" : "annotations"];
            if (!map.is_object())
                map = json::object{};
            for (const auto& [key, value] : detail::read_string_map_entry(each->content))
                map.get_object()[key] = value;
        }
    }
    return json::object{{"metadata", std::move(metadata)}};
}

} // namespace api_server
} // namespace testing
} // namespace muster::inline v0_1
