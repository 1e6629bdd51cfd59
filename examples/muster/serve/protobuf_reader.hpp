// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/base/timestamp.hpp>
#include <muster/serve/json_values.hpp>
#include <muster/serve/protobuf_fields.hpp>
#include <muster/serve/protobuf_messages.hpp>

namespace muster {
inline namespace v0_1 {
namespace testing {
namespace api_server {

namespace detail {

/// A field of a message, as `protobuf_messages` describes it.
struct protobuf_member {
    std::uint64_t number = 0;
    std::string_view name;
    std::string_view type;
    bool kept_empty = false;
    bool is_list = false;
    bool is_map = false;
};

[[nodiscard]] inline protobuf_member parse_member(std::string_view text) {
    protobuf_member made;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), made.number);
    text.remove_prefix(static_cast<std::size_t>(read.ptr - text.data()));
    if (text.starts_with('!')) {
        made.kept_empty = true;
        text.remove_prefix(1);
    }
    const std::size_t colon = std::min(text.find(':'), text.size());
    made.name = text.substr(0, colon);
    made.type = colon < text.size() ? text.substr(colon + 1) : "string";
    made.is_list = made.type.ends_with("[]");
    made.is_map = made.type.ends_with("{}");
    if (made.is_list || made.is_map)
        made.type.remove_suffix(2);
    return made;
}

using protobuf_message = std::vector<protobuf_member>;

/// Parses the line of a message: its name, and its fields.
[[nodiscard]] inline std::pair<std::string_view, protobuf_message>
parse_message(std::string_view text) {
    std::pair<std::string_view, protobuf_message> made;
    made.first = text.substr(0, text.find_first_of(" \n"));
    for (std::size_t at = made.first.size(); at < text.size();) {
        at = std::min(text.find_first_not_of(" \n", at), text.size());
        const std::size_t end = std::min(text.find_first_of(" \n", at), text.size());
        if (end > at)
            made.second.push_back(parse_member(text.substr(at, end - at)));
        at = end;
    }
    return made;
}

/// Returns all messages by name.
[[nodiscard]] inline const std::map<std::string_view, protobuf_message>& messages_by_name() {
    static const auto all = [] {
        std::map<std::string_view, protobuf_message> made;
        std::string_view rest = protobuf_messages.substr(1);
        while (!rest.empty()) {
            std::size_t end = rest.find('\n');
            while (end + 1 < rest.size() && rest[end + 1] == ' ')
                end = rest.find('\n', end + 1);
            made.insert(parse_message(rest.substr(0, end)));
            rest.remove_prefix(std::min(end + 1, rest.size()));
        }
        return made;
    }();
    return all;
}

/// Returns the fields of a message, or null if there is no message of that name. O(log messages).
[[nodiscard]] inline const protobuf_message* find_message(std::string_view name) {
    const auto found = messages_by_name().find(name);
    return found == messages_by_name().end() ? nullptr : &found->second;
}

[[nodiscard]] inline std::string base64_text(std::string_view bytes) {
    constexpr std::string_view letters =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string made;
    for (std::size_t at = 0; at < bytes.size(); at += 3) {
        std::uint32_t group = 0;
        for (std::size_t each = at; each < at + 3; ++each)
            group =
                group << 8U | (each < bytes.size() ? static_cast<unsigned char>(bytes[each]) : 0U);
        for (std::size_t each = 0; each < 4; ++each)
            made += at + each > bytes.size() ? '=' : letters[group >> (18U - 6U * each) & 63U];
    }
    return made;
}

/// The fields of the messages that JSON writes as one value (Time, IntOrString, Quantity).
struct protobuf_scalars {
    std::uint64_t first = 0;
    std::uint64_t second = 0;
    std::string_view first_text;
    std::string_view third_text;
    bool any = false;
};

[[nodiscard]] inline std::optional<protobuf_scalars> read_scalars(std::string_view message) {
    protobuf_scalars made;
    protobuf_fields fields(message);
    while (const auto each = fields.next()) {
        made.any = true;
        if (each->number == 1) {
            made.first = each->value;
            made.first_text = each->content;
        } else if (each->number == 2) {
            made.second = each->value;
        } else if (each->number == 3) {
            made.third_text = each->content;
        }
    }
    return fields.failed() ? std::nullopt : std::optional(made);
}

/// Converts a Time message to RFC 3339: in whole seconds or, with `fine`, in microseconds.
[[nodiscard]] inline std::optional<json::value> read_time(std::string_view message, bool fine) {
    const auto read = read_scalars(message);
    if (!read)
        return std::nullopt;
    if (!read->any)
        return json::value(nullptr);
    constexpr std::int64_t second = 1'000'000'000;
    constexpr std::int64_t most = INT64_MAX / second;
    const auto seconds = static_cast<std::int64_t>(read->first);
    if (seconds < -most || seconds > most || read->second >= std::uint64_t{second})
        return std::nullopt;
    std::string text = time_text(seconds * second);
    if (fine) {
        const std::string digits = std::to_string(1'000'000 + read->second / 1000);
        text.insert(text.size() - 1, "." + digits.substr(1));
    }
    return json::value(text);
}

[[nodiscard]] inline std::optional<json::object> read_message(std::string_view name,
                                                              std::string_view message);

[[nodiscard]] inline std::optional<json::value>
read_protobuf_value(std::string_view type, const protobuf_fields::field& from) {
    if (type == "string")
        return json::value(from.content);
    if (type == "int")
        return json::value(static_cast<std::int64_t>(from.value));
    if (type == "bool")
        return json::value(from.value != 0);
    if (type == "bytes")
        return json::value(base64_text(from.content));
    if (type == "time" || type == "microtime")
        return read_time(from.content, type == "microtime");
    if (type == "json")
        if (const auto read = read_scalars(from.content))
            return parse_json(read->first_text);
    if (type == "quantity" || type == "either") {
        const auto read = read_scalars(from.content);
        if (!read)
            return std::nullopt;
        if (type == "quantity")
            return json::value(read->first_text);
        return read->first == 0 ? json::value(static_cast<std::int64_t>(read->second))
                                : json::value(read->third_text);
    }
    auto made = read_message(type, from.content);
    return made ? std::optional<json::value>(*std::move(made)) : std::nullopt;
}

[[nodiscard]] inline bool is_empty(const json::value& of) noexcept {
    return of.is_null() || (of.is_string() && of.get_string().empty()) ||
           (of.is_object() && of.get_object().empty()) || (of.is_int64() && of.get_int64() == 0) ||
           (of.is_bool() && !of.get_bool());
}

/// Adds an entry of a map. Returns false if the entry cannot be read.
[[nodiscard]] inline bool add_entry(json::value& to, std::string_view type,
                                    std::string_view message) {
    std::string_view key;
    std::optional<json::value> value;
    protobuf_fields fields(message);
    while (const auto each = fields.next())
        if (each->number == 1)
            key = each->content;
        else if (each->number == 2)
            value = read_protobuf_value(type, *each);
    if (fields.failed())
        return false;
    if (!to.is_object())
        to.emplace_object();
    to.get_object()[key] = value ? *std::move(value) : json::value(std::string_view{});
    return true;
}

[[nodiscard]] inline std::optional<json::object> read_message(std::string_view name,
                                                              std::string_view message) {
    const protobuf_message* const members = find_message(name);
    if (!members)
        return std::nullopt;
    json::object made;
    protobuf_fields fields(message);
    while (const auto each = fields.next()) {
        const auto member = std::ranges::find(*members, each->number, &protobuf_member::number);
        if (member == members->end())
            continue;
        if (member->is_map) {
            if (!add_entry(made[member->name], member->type, each->content))
                return std::nullopt;
            continue;
        }
        auto value = read_protobuf_value(member->type, *each);
        if (!value)
            return std::nullopt;
        if (member->is_list) {
            json::value& list = made[member->name];
            if (!list.is_array())
                list.emplace_array();
            list.get_array().push_back(*std::move(value));
        } else if (member->name == "^") {
            if (auto* const parts = value->if_object())
                for (auto& part : *parts)
                    made[part.key()] = std::move(part.value());
        } else if (member->kept_empty || !is_empty(*value)) {
            made[member->name] = *std::move(value);
        }
    }
    if (fields.failed())
        return std::nullopt;
    return made;
}

} // namespace detail

/// A request body in protobuf: the type of its object, and the encoded object.
struct protobuf_body {
    std::string_view api_version;
    std::string_view kind;
    std::string_view message;
};

/// Splits a body: the bytes "k8s\0" and a message Unknown. Returns nullopt for any other body.
[[nodiscard]] inline std::optional<protobuf_body> read_protobuf_body(std::string_view body) {
    constexpr std::string_view magic("k8s\0", 4);
    if (!body.starts_with(magic))
        return std::nullopt;
    protobuf_body made;
    protobuf_fields outer(body.substr(magic.size()));
    while (const auto each = outer.next()) {
        if (each->number == 2)
            made.message = each->content;
        if (each->number != 1)
            continue;
        protobuf_fields type(each->content);
        while (const auto part = type.next())
            (part->number == 1 ? made.api_version : made.kind) = part->content;
    }
    return outer.failed() ? std::nullopt : std::optional(made);
}

[[nodiscard]] inline bool is_protobuf_kind(std::string_view kind) {
    return detail::find_message(kind) != nullptr;
}

/// Decodes the object of a body to JSON. Returns nullopt if it is cut off or of an unknown kind.
[[nodiscard]] inline std::optional<json::object> read_protobuf(const protobuf_body& body) {
    auto made = detail::read_message(body.kind, body.message);
    if (made) {
        (*made)["apiVersion"] = body.api_version;
        (*made)["kind"] = body.kind;
    }
    return made;
}

} // namespace api_server
} // namespace testing
} // namespace v0_1
} // namespace muster
