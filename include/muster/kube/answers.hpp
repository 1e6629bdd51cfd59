// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include <boost/json/object.hpp>

#include <muster/adapter/writes.hpp>
#include <muster/kube/api_status.hpp>
#include <muster/kube/arrived.hpp>
#include <muster/kube/http.hpp>
#include <muster/kube/sent_objects.hpp>

namespace muster {
inline namespace v0_1 {
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
        // Of a write, and of a deletion or an eviction.
        made.what = says("UID in precondition") || says("UID in the precondition")
                        ? outcome::replaced
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

/// Counts by `adapter::outcome`, in its order.
using outcome_counts = std::array<std::uint64_t, 9>;
inline constexpr std::array<const char*, std::tuple_size_v<outcome_counts>> outcome_names{
    "applied", "conflict",  "gone",        "replaced", "gated",
    "refused", "transient", "not_started", "unknown"};

namespace detail {

/// Judges the answer to a read of one object, and calls `look(const object&, const listed_object&,
/// order_result&)` when it is the one with this uid.
template<class Traits, class Look>
[[nodiscard]] adapter::order_result<Traits> judge_read(adapter::ticket of, const std::string& uid,
                                                       const http_answer& answer,
                                                       const Look& look) {
    judged_answer judged = judge(answer);
    adapter::order_result<Traits> made;
    made.of = of;
    made.what = judged.what;
    made.retry_after = judged.retry_after;
    made.message = std::move(judged.message);
    if (judged.what != adapter::outcome::applied)
        return made;
    const auto read = read_sent_object("answer", answer.body);
    const auto who = read ? identify(read->document.root()) : std::nullopt;
    if (!who) {
        made.what = adapter::outcome::unknown;
        made.message = "the answer is no object";
    } else if (!uid.empty() && who->uid != uid) {
        made.what = adapter::outcome::replaced;
    } else {
        look(read->document.root().get_object(), *who, made);
    }
    return made;
}

} // namespace detail

/// The answer to the question where a pod is.
template<class Traits>
[[nodiscard]] adapter::order_result<Traits> where_it_is(adapter::ticket of, const std::string& uid,
                                                        const http_answer& answer) {
    return detail::judge_read<Traits>(
        of, uid, answer, [](const boost::json::object& pod, const listed_object&, auto& made) {
            const boost::json::object* const spec = detail::object_in(pod, "spec");
            std::string node = spec ? detail::string_in(*spec, "nodeName") : std::string{};
            if (!node.empty())
                made.on = std::move(node);
        });
}

/// The answer to the question whether an object is still the one with that mark.
template<class Traits>
[[nodiscard]] adapter::order_result<Traits>
whether_current(adapter::ticket of, const std::string& uid, const std::string& mark,
                const http_answer& answer) {
    return detail::judge_read<Traits>(
        of, uid, answer,
        [&](const boost::json::object& object, const listed_object& who, auto& made) {
            const auto generation =
                detail::number_in(*detail::object_in(object, "metadata"), "generation");
            if (mark_of(generation, who.version) != mark)
                made.what = adapter::outcome::conflict;
        });
}

} // namespace kube
} // namespace v0_1
} // namespace muster
