// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <muster/adapter/writes.hpp>
#include <muster/kube/api_status.hpp>
#include <muster/kube/http.hpp>

namespace muster::inline v0_1 {
namespace kube {

/// An answer to a write, or to a read of one object, as what became of it.
struct judged_answer {
    adapter::outcome what = adapter::outcome::unknown;
    std::optional<std::int64_t> retry_after;
    std::string message; ///< of what is not applied, safe to print
};

/// What became of a write. Three refusals share the code and reason of a conflict (409) and differ
/// in words alone: another uid, an assigned pod, a gated pod (kube-apiserver 1.36).
[[nodiscard]] inline judged_answer judge(const http_answer& answer) {
    using adapter::outcome;
    if (answer.is_success())
        return {outcome::applied, std::nullopt, {}};
    judged_answer made;
    made.message = describe(answer);
    if (answer.fault != http_fault::none) {
        made.what = answer.fault == http_fault::not_sent ? outcome::transient : outcome::unknown;
        return made;
    }
    const api_status status = status_of(answer);
    made.retry_after = status.retry_after;
    const auto says = [&](std::string_view words) {
        return status.message.find(words) != std::string::npos;
    };
    switch (answer.status) {
    case 404:
        made.what = outcome::gone;
        break;
    case 409:
        made.what = says("UID in precondition")     ? outcome::replaced
                    : says(".spec.schedulingGates") ? outcome::gated
                                                    : outcome::conflict;
        break;
    case 401: // The token has run out; with a new one it may go through.
    case 429:
    case 503:
        made.what = outcome::transient;
        break;
    default:
        made.what =
            answer.status >= 400 && answer.status < 500 ? outcome::refused : outcome::unknown;
    }
    return made;
}

} // namespace kube
} // namespace muster::inline v0_1
