// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include <boost/json/object.hpp>

#include <muster/document/diagnostic.hpp>
#include <muster/kube/arrived.hpp>
#include <muster/kube/http.hpp>

namespace muster {
inline namespace v0_1 {
namespace kube {

/// What the API server says went wrong (meta/v1 Status). Its message holds foreign text.
struct api_status {
    std::int64_t code = 0;
    std::string reason;
    std::string message;
    std::optional<std::int64_t> retry_after; ///< nanoseconds
};

/// A wait that a server may ask for; a longer one is cut to it.
inline constexpr std::int64_t longest_retry_after = 5 * minute;

[[nodiscard]] inline api_status read_status(const boost::json::object& object) {
    api_status read{detail::number_in(object, "code"), detail::string_in(object, "reason"),
                    detail::string_in(object, "message"), std::nullopt};
    if (const boost::json::object* const details = detail::object_in(object, "details"))
        if (const std::int64_t seconds = detail::number_in(*details, "retryAfterSeconds");
            seconds > 0)
            read.retry_after = std::min(seconds, longest_retry_after / second) * second;
    return read;
}

/// The Status that an answer carries. Where its body is none, the code is the answer's own and the
/// rest is empty; a Retry-After of the answer's head counts in any case.
[[nodiscard]] inline api_status status_of(const http_answer& answer) {
    std::string wrong;
    api_status read;
    if (!answer.body.empty())
        if (const auto document = detail::one_document("answer", answer.body, wrong))
            if (detail::string_in(document->root().get_object(), "kind") == "Status")
                read = read_status(document->root().get_object());
    read.code = answer.status;
    if (answer.retry_after)
        read.retry_after = std::min(*answer.retry_after, longest_retry_after);
    return read;
}

/// One line about an answer that is no success, safe to print.
[[nodiscard]] inline std::string describe(const http_answer& answer) {
    if (answer.fault != http_fault::none)
        return answer.what;
    const api_status status = status_of(answer);
    std::string text = "HTTP " + std::to_string(answer.status);
    if (!status.reason.empty())
        text += " " + codec::in_quotes(status.reason);
    if (!status.message.empty())
        text += ": " + codec::in_quotes(status.message, 256);
    return text;
}

} // namespace kube
} // namespace v0_1
} // namespace muster
