// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <muster/serve/json_values.hpp>
#include <muster/serve/kinds.hpp>
#include <muster/serve/protobuf_reader.hpp>
#include <muster/serve/quantity_checks.hpp>
#include <muster/serve/schema.hpp>

namespace muster {
inline namespace v0_1 {
namespace testing {
namespace api_server {

/// What keeps an object from being decoded as its kind, in the words of Kubernetes.
struct decode_faults {
    /// The first value that has another type than its field; empty if there is none.
    std::string fault = {};
    /// Paths of fields that the kind does not have.
    std::vector<std::string> unknown = {};
};

namespace detail {

/// Compares JSON values with the fields of messages.
class message_decoder {
public:
    explicit message_decoder(decode_faults& found) : found_(&found) {}

    void check_message(std::string_view name, const json::object& object, const std::string& path) {
        const protobuf_message* const fields = find_message(name);
        if (!fields)
            return;
        for (const auto& [key, value] : object) {
            const std::string_view field(key.data(), key.size());
            if (path.empty() && (field == "apiVersion" || field == "kind"))
                continue;
            const protobuf_member* const member = find_member(*fields, field);
            if (member)
                check_member(*member, value, {name, path, field});
            else
                found_->unknown.push_back(joined(path, field));
        }
    }

private:
    /// Where a value stands.
    struct place {
        std::string_view message;
        const std::string& path;
        std::string_view field;
    };

    /// Finds a field of a message or of a message whose fields stand in it.
    [[nodiscard]] static const protobuf_member* find_member(const protobuf_message& fields,
                                                            std::string_view name) {
        for (const protobuf_member& each : fields) {
            if (each.name == name)
                return &each;
            const protobuf_message* const part =
                each.name == "^" ? find_message(each.type) : nullptr;
            if (const protobuf_member* const inner = part ? find_member(*part, name) : nullptr)
                return inner;
        }
        return nullptr;
    }

    void check_member(const protobuf_member& member, const json::value& value, const place& at) {
        const std::string path = joined(at.path, at.field);
        if (value.is_null())
            return;
        if (member.is_list) {
            const json::array* const list = value.if_array();
            if (!list)
                return refuse(value, at, "[]" + type_text(member.type));
            std::size_t index = 0;
            for (const json::value& each : *list)
                check_value(member.type, each, path + "[" + std::to_string(index++) + "]", at);
        } else if (member.is_map) {
            const json::object* const map = value.if_object();
            if (!map)
                return refuse(value, at, "map[string]" + type_text(member.type));
            for (const auto& each : *map)
                check_value(member.type, each.value(), path, at);
        } else {
            check_value(member.type, value, path, at);
        }
    }

    void check_value(std::string_view type, const json::value& value, const std::string& path,
                     const place& at) {
        if (value.is_null() || type == "json")
            return;
        if (type == "quantity") {
            if (!quantity_of(value) && found_->fault.empty())
                found_->fault = "quantities must match the regular expression "
                                "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
            return;
        }
        const bool is_integer = value.is_int64() || value.is_uint64();
        const bool is_message = find_message(type) != nullptr;
        const bool fits = type == "int"      ? is_integer
                          : type == "bool"   ? value.is_bool()
                          : type == "either" ? is_integer || value.is_string()
                          : is_message       ? value.is_object()
                                             : value.is_string();
        if (!fits)
            refuse(value, at, type_text(type));
        else if (is_message)
            check_message(type, value.get_object(), path);
    }

    [[nodiscard]] static std::string type_text(std::string_view type) {
        if (type == "time" || type == "microtime" || type == "bytes" || type == "either")
            return "string";
        return std::string(find_message(type) ? "v1." : "") + std::string(type);
    }

    void refuse(const json::value& value, const place& at, const std::string& type) {
        const std::string_view is = value.is_bool()     ? "bool"
                                    : value.is_number() ? "number"
                                                        : type_of(value);
        if (!found_->fault.empty())
            return;
        // The path of Go has no indexes.
        std::string path;
        bool in_index = false;
        for (const char each : joined(at.path, at.field)) {
            in_index = in_index || each == '[';
            if (!in_index)
                path += each;
            in_index = in_index && each != ']';
        }
        found_->fault = "json: cannot unmarshal " + std::string(is) + " into Go struct field " +
                        std::string(at.message) + "." + path + " of type " + type;
    }

    decode_faults* found_;
};

} // namespace detail

/// Decodes an object as its kind: the types of its fields, its quantities, and fields that the kind
/// does not have. Of custom kinds, and of Kubernetes' own kinds that `protobuf_messages` does not
/// have, only the metadata are checked. O(object).
[[nodiscard]] inline decode_faults decode(const kind_info& of, const json::object& object) {
    decode_faults found;
    detail::message_decoder decoder(found);
    // The message of that name is a part of containers.
    const bool is_known = !of.custom && of.group != "resource.k8s.io" && is_protobuf_kind(of.kind);
    if (is_known)
        decoder.check_message(of.kind, object, "");
    else if (const json::object* const metadata = object_at(object, {"metadata"}))
        decoder.check_message("ObjectMeta", *metadata, "metadata");
    return found;
}

} // namespace api_server
} // namespace testing
} // namespace v0_1
} // namespace muster
