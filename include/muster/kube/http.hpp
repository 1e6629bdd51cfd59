// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <muster/kube/time.hpp>

namespace muster {
inline namespace v0_1 {
namespace kube {

enum class http_method : std::uint8_t { get, post, put, patch, erase };

[[nodiscard]] constexpr std::string_view to_text(http_method method) noexcept {
    switch (method) {
    case http_method::get:
        return "GET";
    case http_method::post:
        return "POST";
    case http_method::put:
        return "PUT";
    case http_method::patch:
        return "PATCH";
    case http_method::erase:
        return "DELETE";
    }
    return "GET";
}

inline constexpr std::string_view json_type = "application/json";
inline constexpr std::string_view merge_patch_type = "application/merge-patch+json";
/// Server-side apply: creates the object if it does not exist.
inline constexpr std::string_view apply_patch_type = "application/apply-patch+yaml";
inline constexpr std::string_view strategic_patch_type = "application/strategic-merge-patch+json";

/// What is asked of the API server.
struct http_request {
    http_method method = http_method::get;
    std::string path;  ///< with a leading slash, without a query
    std::string query; ///< without the question mark; escaped
    std::string body;
    std::string content_type; ///< of the body
    /// How long the whole of it may take. Of a stream: how long until its answer begins.
    std::int64_t patience = 30 * second;
    /// The answer's body is wanted as it comes, without an end in sight (a watch).
    bool stream = false;

    friend bool operator==(const http_request&, const http_request&) = default;
};

/// How far a request came that was not answered in full.
enum class http_fault : std::uint8_t {
    none,
    /// It never left: no address, no connection, no trust. Nothing was done.
    not_sent,
    /// It may have been carried out: the answer was lost, late, cut off or no HTTP.
    no_answer,
    /// The answer is larger than what is taken, in its head or its body.
    too_large,
};

struct http_answer {
    int status = 0; ///< 0 unless `fault` is none, or the body of a stream broke off
    std::string body;
    /// Seconds that the server asks to wait, in nanoseconds.
    std::optional<std::int64_t> retry_after;
    http_fault fault = http_fault::none;
    /// What went wrong, for people. Never holds credentials.
    std::string what;

    [[nodiscard]] bool is_success() const noexcept {
        return fault == http_fault::none && status >= 200 && status < 300;
    }
};

/// Text as a part of a path or the value of a query field (RFC 3986).
[[nodiscard]] inline std::string escape(std::string_view text) {
    constexpr std::string_view hex = "0123456789ABCDEF";
    std::string out;
    out.reserve(text.size());
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                           (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_' || c == '~';
        if (plain) {
            out += c;
        } else {
            out += '%';
            out += hex[byte >> 4U];
            out += hex[byte & 15U];
        }
    }
    return out;
}

/// Adds `key=value` to a query; the value is escaped.
inline void add_to_query(std::string& query, std::string_view key, std::string_view value) {
    if (!query.empty())
        query += '&';
    query.append(key).append("=").append(escape(value));
}

} // namespace kube
} // namespace v0_1
} // namespace muster
