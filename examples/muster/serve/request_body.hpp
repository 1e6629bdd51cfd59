// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <utility>

#include <muster/serve/answer.hpp>
#include <muster/serve/json_values.hpp>
#include <muster/serve/protobuf_reader.hpp>

namespace muster {
inline namespace v0_1 {
namespace testing {
namespace api_server {

/// Reads a body in JSON or protobuf. Typed clients such as `kubectl create` send Kubernetes' own
/// kinds in protobuf and do not fall back to JSON. `into` is empty if the body cannot be read.
/// Returns an answer only to refuse another media type.
[[nodiscard]] inline std::optional<answer> read_body(const request& asked,
                                                     std::optional<json::value>& into) {
    if (asked.content_type.find("json") != std::string::npos) {
        into = parse_json(asked.body);
        return std::nullopt;
    }
    const auto body = read_protobuf_body(asked.body);
    if (!body || !is_protobuf_kind(body->kind))
        return refused(415, "UnsupportedMediaType",
                       "this server reads JSON, and protobuf of Kubernetes' own kinds (expected "
                       "Content-Type: application/json)");
    if (auto made = read_protobuf(*body))
        into = *std::move(made);
    return std::nullopt;
}

/// Returns the body as JSON text; empty if it is protobuf that cannot be read.
[[nodiscard]] inline std::string body_text(const request& asked) {
    const auto body = read_protobuf_body(asked.body);
    if (!body)
        return asked.body;
    const auto made = read_protobuf(*body);
    return made ? json::serialize(*made) : std::string();
}

} // namespace api_server
} // namespace testing
} // namespace v0_1
} // namespace muster
