// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/kube/object_cache.hpp>
#include <muster/kube/object_requests.hpp>
#include <muster/kube/time.hpp>
#include <muster/lifecycle/document_fields.hpp>

namespace muster {
inline namespace v0_1 {
namespace kube {

[[nodiscard]] constexpr std::string_view to_text(lifecycle::object_write::verb what) noexcept {
    using verb = lifecycle::object_write::verb;
    switch (what) {
    case verb::status:
        return "status";
    case verb::remove:
        return "delete";
    case verb::create:
        return "create";
    case verb::replace:
        break;
    }
    return "patch";
}

/// What is known to have been written, and is to be seen before anything is decided again.
struct awaited_object {
    object_id of;
    std::string uid;     ///< empty = any object of the name
    std::string version; ///< empty: any
    bool gone = false;   ///< or on its way out

    [[nodiscard]] bool is_seen_in(const object_cache& cache) const {
        const object_cache::entry* const seen = cache.find(of);
        if (gone)
            return !seen || seen->uid != uid || lifecycle::detail::is_terminating(seen->object);
        if (!seen)
            return false;
        return uid.empty() || seen->uid != uid || reaches(seen->version);
    }

private:
    /// Versions are numbers in practice; others are only compared for equality.
    [[nodiscard]] bool reaches(const std::string& seen) const {
        const auto number = [](const std::string& text) {
            std::uint64_t read = 0;
            const auto end = std::from_chars(text.data(), text.data() + text.size(), read);
            return end.ec == std::errc{} && end.ptr == text.data() + text.size()
                       ? std::optional(read)
                       : std::nullopt;
        };
        const auto is = number(seen);
        const auto wanted = number(version);
        return is && wanted ? *is >= *wanted : seen == version;
    }
};

/// What is to be done for one owner: when it is looked at next, and what the last look asked for
/// that is not written yet. Times are steady but for `wake`.
struct controller_work {
    controller_work() = default;
    explicit controller_work(std::string of) : uid(std::move(of)) {}

    std::string uid; ///< the owner's
    bool dirty = true;
    std::optional<std::int64_t> wake; ///< wall
    std::deque<object_change> todo;
    std::size_t under_way = 0;
    std::size_t asks = 0;                      ///< GET requests for single objects under way
    std::map<object_id, std::string> versions; ///< as they are, of what is changed
    std::vector<std::string> troubles;

    [[nodiscard]] bool is_idle() const { return !dirty && todo.empty() && !is_busy(); }
    /// True while a write or a GET request of the owner has no answer yet.
    [[nodiscard]] bool is_busy() const { return under_way > 0 || asks > 0; }

    /// When to look again; at or before `now`: at once.
    [[nodiscard]] std::int64_t due(instant now, const object_cache& cache) {
        if (wake && now.wall >= *wake)
            dirty = true;
        if (!dirty)
            return wake ? now.steady + (*wake - now.wall) : never_comes;
        std::erase_if(awaited_, [&](const awaited_object& each) { return each.is_seen_in(cache); });
        const std::int64_t seen_by = awaited_.empty() ? 0 : await_until_;
        return std::max(seen_by, not_before_);
    }

    void looked(std::optional<std::int64_t> next) {
        dirty = false;
        wake = next;
        awaited_.clear();
        versions.clear();
        troubles.clear();
        failed_ = false;
        pause_ = 0;
    }

    /// A sum of what a look asked for: the same twice in a row does not help.
    void asked_for(std::size_t what) {
        repeats_ = !todo.empty() && asked_ == what;
        asked_ = what;
    }
    void came_to_rest() {
        asked_.reset();
        pauses_.reset();
        not_before_ = 0;
    }

    /// Writes of the same sort go side by side; others wait for those before them.
    [[nodiscard]] bool may_send() const {
        return !todo.empty() && (under_way == 0 || (todo.front().what == sort_.first &&
                                                    todo.front().of.kind == sort_.second));
    }
    [[nodiscard]] object_change take_next() {
        object_change next = std::move(todo.front());
        todo.pop_front();
        ++under_way;
        sort_ = {next.what, next.of.kind};
        return next;
    }

    /// One was written, or was so already; `now_is` what the server says that it is now.
    void done(const object_change& change, const listed_object* now_is) {
        using verb = lifecycle::object_write::verb;
        --under_way;
        if (change.what == verb::remove) {
            awaited_.push_back({change.of, change.uid, {}, true});
        } else if (now_is != nullptr) {
            versions[change.of] = now_is->version;
            awaited_.push_back({change.of, now_is->uid, now_is->version, false});
        } else {
            awaited_.push_back({change.of, {}, {}, false});
        }
    }
    void failed(std::int64_t pause) {
        --under_way;
        todo.clear();
        failed_ = true;
        pause_ = std::max(pause_, pause);
    }

    /// After either: when nothing of it is left, it is looked at again.
    void ended(std::int64_t now, std::int64_t settles_in, jitter& spread) {
        if (under_way > 0 || !todo.empty())
            return;
        dirty = true;
        await_until_ = now + settles_in;
        not_before_ = 0;
        if (failed_ || repeats_)
            not_before_ = now + std::max(pauses_.failed(now, spread), pause_);
    }

    /// Counts a GET request for an object. The owner is reconciled again after the answer.
    void asked() {
        ++asks;
        dirty = false;
    }
    void answered(bool well, std::int64_t now, std::int64_t pause, jitter& spread) {
        --asks;
        dirty = true;
        if (!well)
            not_before_ = now + std::max(pauses_.failed(now, spread), pause);
    }

    /// Another term: nothing that was known counts.
    void forget() {
        todo.clear();
        awaited_.clear();
        dirty = true;
        not_before_ = 0;
    }

private:
    std::pair<lifecycle::object_write::verb, std::size_t> sort_{};
    std::vector<awaited_object> awaited_;
    std::int64_t await_until_ = 0;
    std::int64_t not_before_ = 0;
    std::int64_t pause_ = 0;
    bool failed_ = false;
    bool repeats_ = false;
    std::optional<std::size_t> asked_;
    backoff pauses_{{100 * millisecond, 30 * second, 2 * minute}};
};

} // namespace kube
} // namespace v0_1
} // namespace muster
