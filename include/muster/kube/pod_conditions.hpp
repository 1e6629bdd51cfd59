// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include <muster/adapter/backoff.hpp>
#include <muster/adapter/token_bucket.hpp>
#include <muster/adapter/writes.hpp>
#include <muster/apis/core/objects.hpp>
#include <muster/document/diagnostic.hpp>
#include <muster/kube/http.hpp>
#include <muster/kube/order_requests.hpp>
#include <muster/kube/pod_waiting.hpp>
#include <muster/kube/time.hpp>

namespace muster {
inline namespace v0_1 {
namespace kube {

struct pod_condition_options {
    /// For how long a pod waits at the same gate before it is said of it: most are bound by then.
    std::int64_t after = 2 * second;
    adapter::rate pace{50, 100};
};

/// What waiting pods come to say of themselves: the condition PodScheduled=False with its reason,
/// which `kubectl`, autoscalers and people look for. A courtesy: written late, slowly, and only
/// where it would differ from what the pod says. Each write carries the version that was seen, so
/// that it never follows a bind.
class pod_conditions {
public:
    explicit pod_conditions(pod_condition_options how = {}) : how_(how), bucket_(how.pace) {}

    /// To be said of the pod, unless it is to be said already.
    void want(const codec::object_key& pod, pod_waiting what, std::int64_t now) {
        const auto [at, fresh] = wishes_.try_emplace(pod);
        wish& of = at->second;
        if (!fresh && of.what == what)
            return;
        constexpr std::size_t longest_message = 1024;
        what.message = codec::shortened(what.message, longest_message);
        if (fresh || of.what.reason != what.reason)
            of.due = now + how_.after;
        of.what = std::move(what);
        wakes_ = std::min(wakes_, of.due);
    }
    /// It waits no more, or is about to be bound.
    void drop(const codec::object_key& pod) { wishes_.erase(pod); }

    /// The next request that is due, with the pod that it is about. `seen(pod)` gives what is
    /// known of the pod (`version`, `uid`, `says`), or nothing when it waits no more.
    template<class Seen>
    [[nodiscard]] std::optional<std::pair<codec::object_key, http_request>> next(instant now,
                                                                                 const Seen& seen) {
        if (now.steady < wakes_)
            return std::nullopt;
        wakes_ = never_comes;
        for (auto at = wishes_.begin(); at != wishes_.end();) {
            wish& of = at->second;
            if (of.asked) {
                ++at;
                continue;
            }
            if (of.due > now.steady) {
                wakes_ = std::min(wakes_, of.due);
                ++at;
                continue;
            }
            const auto pod = seen(at->first);
            if (!pod || *pod->says == of.what) {
                at = wishes_.erase(at);
                continue;
            }
            if (!bucket_.take(now.steady)) {
                wakes_ = bucket_.ready(now.steady);
                return std::nullopt;
            }
            of.asked = of.what;
            wakes_ = now.steady;
            return std::pair(at->first, request_of(at->first, *pod, of.what, now.wall));
        }
        return std::nullopt;
    }

    /// What became of it; gives what was said when that was done.
    [[nodiscard]] std::optional<pod_waiting> done(const codec::object_key& pod,
                                                  adapter::outcome what, std::int64_t now) {
        const auto at = wishes_.find(pod);
        if (at == wishes_.end() || !at->second.asked)
            return std::nullopt; // It was dropped meanwhile.
        wish& of = at->second;
        std::optional<pod_waiting> asked = std::exchange(of.asked, std::nullopt);
        using adapter::outcome;
        const bool may_do =
            what == outcome::conflict || what == outcome::transient || what == outcome::unknown;
        if (may_do && ++of.failures < 5) {
            // It changed: what it is now is seen soon.
            of.due = now + of.failures * second;
            wakes_ = std::min(wakes_, of.due);
            return std::nullopt;
        }
        if (*asked != of.what) {
            // Meanwhile there is something else to be said.
            of.due = now + how_.after;
            of.failures = 0;
            wakes_ = std::min(wakes_, of.due);
        } else {
            wishes_.erase(at);
        }
        return what == outcome::applied ? asked : std::nullopt;
    }
    /// What is wanted was wanted in another term.
    void clear() { wishes_.clear(); }

    [[nodiscard]] std::int64_t wakes() const noexcept { return wakes_; }
    [[nodiscard]] std::size_t size() const noexcept { return wishes_.size(); }

private:
    struct wish {
        pod_waiting what;
        std::int64_t due = 0;
        std::int64_t failures = 0;
        /// What is on its way.
        std::optional<pod_waiting> asked;
    };

    template<class Pod>
    static http_request request_of(const codec::object_key& key, const Pod& pod,
                                   const pod_waiting& what, std::int64_t wall) {
        boost::json::object condition{{"type", "PodScheduled"},
                                      {"status", "False"},
                                      {"reason", what.reason},
                                      {"message", what.message}};
        // One that is False already has been so since then.
        if (pod.says->reason.empty())
            condition["lastTransitionTime"] = time_text(wall - wall % second);
        http_request made;
        made.method = http_method::patch;
        made.path = pod_path(key) + "/status";
        made.content_type = strategic_patch_type;
        // Conditions are told apart by their type: the others stay.
        made.body = boost::json::serialize(boost::json::object{
            {"metadata", {{"uid", *pod.uid}, {"resourceVersion", *pod.version}}},
            {"status", {{"conditions", boost::json::array{std::move(condition)}}}}});
        return made;
    }

    pod_condition_options how_;
    adapter::token_bucket bucket_;
    std::map<codec::object_key, wish> wishes_;
    std::int64_t wakes_ = never_comes;
};

} // namespace kube
} // namespace v0_1
} // namespace muster
