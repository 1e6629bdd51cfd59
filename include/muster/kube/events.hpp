// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include <muster/apis/core/objects.hpp>
#include <muster/document/diagnostic.hpp>
#include <muster/kube/http.hpp>
#include <muster/kube/time.hpp>

namespace muster {
inline namespace v0_1 {
namespace kube {

/// What an event is about.
struct object_reference {
    std::string api_version;
    std::string kind;
    codec::object_key key;
    std::string uid;
};

struct event_options {
    std::string controller; ///< who reports, such as muster.dev/scheduler
    std::string instance;
    /// The same again within this time counts up the event that there is.
    std::int64_t series = 6 * minute;
    /// A count is written at most once in this time.
    std::int64_t update = 30 * second;
    adapter::rate pace{50, 100};
    /// Events that wait or may go on as a series; beyond it new ones are dropped and counted.
    std::size_t most = 4096;
};

/// Kubernetes Events (core v1, which every server and every kubectl knows), without I/O. The same
/// reason about the same object becomes one event with a count: a gang that keeps waiting makes a
/// write every half a minute, not one per cycle. Events are a courtesy: what cannot be written is
/// tried three times and dropped.
class event_recorder {
public:
    explicit event_recorder(event_options how) : how_(std::move(how)), bucket_(how_.pace) {}

    /// `type` is Normal or Warning; `action` says what was tried, such as Binding. The last note of
    /// a series stands.
    void record(const object_reference& about, std::string_view type, std::string_view reason,
                std::string_view action, std::string_view note, instant now) {
        const auto [at, is_new] = entries_.try_emplace(
            key{about.uid.empty() ? about.key.name_space + "/" + about.key.name : about.uid,
                std::string(type), std::string(reason)});
        entry& made = at->second;
        if (!is_new && now.steady - made.last.steady > how_.series && made.written == made.count &&
            !made.under_way)
            made = {};
        if (is_new && entries_.size() > how_.most) {
            entries_.erase(at);
            ++dropped_;
            return;
        }
        if (made.count == 0) {
            made.about = about;
            made.action = action;
            made.first = now;
            made.due = now.steady;
            made.name = name_of(about, now);
        } else if (made.written == made.count) {
            made.due = std::max(made.due, made.last_written + how_.update);
        }
        constexpr std::size_t longest_note = 1024;
        made.note = codec::shortened(note, longest_note);
        made.last = now;
        ++made.count;
        wakes_ = std::min(wakes_, made.due);
    }

    /// The next request that is due, with a number for done().
    [[nodiscard]] std::optional<std::pair<std::uint64_t, http_request>> next(instant now) {
        if (now.steady < wakes())
            return std::nullopt;
        wakes_ = never_comes;
        for (auto at = entries_.begin(); at != entries_.end();) {
            entry& each = at->second;
            const bool waits = each.written < each.count && !each.under_way;
            if (waits && each.due <= now.steady) {
                if (!bucket_.take(now.steady)) {
                    wakes_ = bucket_.ready(now.steady);
                    return std::nullopt;
                }
                each.under_way = ++number_;
                each.asked = each.count;
                each.last_written = now.steady;
                wakes_ = now.steady;
                return std::pair(number_, request_of(at->first, each));
            }
            if (waits)
                wakes_ = std::min(wakes_, each.due);
            if (!waits && !each.under_way && now.steady - each.last.steady > how_.series)
                at = entries_.erase(at);
            else
                ++at;
        }
        return std::nullopt;
    }

    void done(std::uint64_t number, const http_answer& answer, instant now) {
        for (auto& [what, each] : entries_) {
            if (each.under_way != number)
                continue;
            each.under_way = 0;
            if (answer.is_success()) {
                each.written = each.asked;
                each.failures = 0;
            } else if (answer.status == 404 && each.written > 0) {
                // The event ran out meanwhile: the series begins anew.
                each.written = 0;
                each.name = name_of(each.about, now);
                each.due = now.steady;
            } else if (++each.failures >= 3 || answer.status == 403 || answer.status == 404) {
                each.written = each.count;
                ++dropped_;
            } else {
                each.due = now.steady + answer.retry_after.value_or(each.failures * second);
            }
            wakes_ = 0;
            return;
        }
    }

    [[nodiscard]] std::int64_t wakes() const noexcept { return wakes_; }
    /// Events that were not written, or not to the end.
    [[nodiscard]] std::uint64_t dropped() const noexcept { return dropped_; }

private:
    using key = std::tuple<std::string, std::string, std::string>;

    struct entry {
        object_reference about;
        std::string action;
        std::string note;
        std::string name;
        instant first;
        instant last;
        std::int64_t due = 0;
        std::int64_t last_written = 0;
        std::int64_t count = 0;
        std::int64_t asked = 0;
        std::int64_t written = 0; ///< the count that the server has
        std::uint64_t under_way = 0;
        std::int64_t failures = 0;
    };

    static std::string name_of(const object_reference& about, instant now) {
        constexpr std::string_view hex = "0123456789abcdef";
        constexpr std::size_t longest_name = 253 - 17;
        std::string name = about.key.name.substr(0, longest_name) + '.';
        const auto bits = static_cast<std::uint64_t>(now.wall);
        for (unsigned shift = 64; shift > 0; shift -= 4)
            name += hex[(bits >> (shift - 4)) & 15U];
        return name;
    }

    [[nodiscard]] http_request request_of(const key& what, const entry& each) const {
        const std::string& home =
            each.about.key.name_space.empty() ? "default" : each.about.key.name_space;
        http_request request;
        request.path = "/api/v1/namespaces/" + escape(home) + "/events";
        const std::string last = seconds_text(each.last.wall);
        if (each.written > 0) {
            request.method = http_method::patch;
            request.path += "/" + escape(each.name);
            request.content_type = merge_patch_type;
            request.body = boost::json::serialize(boost::json::object{
                {"count", each.count}, {"lastTimestamp", last}, {"message", each.note}});
            return request;
        }
        request.method = http_method::post;
        request.content_type = json_type;
        request.body = boost::json::serialize(
            boost::json::object{{"apiVersion", "v1"},
                                {"kind", "Event"},
                                {"metadata", {{"name", each.name}, {"namespace", home}}},
                                {"type", std::get<1>(what)},
                                {"reason", std::get<2>(what)},
                                {"action", each.action},
                                {"message", each.note},
                                {"count", each.count},
                                {"firstTimestamp", seconds_text(each.first.wall)},
                                {"lastTimestamp", last},
                                {"source", {{"component", how_.controller}}},
                                {"reportingComponent", how_.controller},
                                {"reportingInstance", how_.instance},
                                {"involvedObject",
                                 {{"apiVersion", each.about.api_version},
                                  {"kind", each.about.kind},
                                  {"namespace", each.about.key.name_space},
                                  {"name", each.about.key.name},
                                  {"uid", each.about.uid}}}});
        return request;
    }

    static std::string seconds_text(std::int64_t wall) {
        return time_text(wall - ((wall % second) + second) % second);
    }

    event_options how_;
    token_bucket bucket_;
    std::map<key, entry> entries_;
    std::uint64_t number_ = 0;
    std::uint64_t dropped_ = 0;
    std::int64_t wakes_ = never_comes;
};

} // namespace kube
} // namespace v0_1
} // namespace muster
