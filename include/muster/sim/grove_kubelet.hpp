// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <muster/adapter/virtual_time.hpp>
#include <muster/apis/core/objects.hpp>
#include <muster/apis/grove/names.hpp>
#include <muster/base/timestamp.hpp>
#include <muster/document/json_text.hpp>
#include <muster/gangs/pod_marks.hpp>

namespace muster {
inline namespace v0_1 {
namespace sim {

/// The kubelets of Grove's pods: pods start when the PodCliques before them are ready, run for as
/// long as they declare, and are started again in their place as their restartPolicy says, at once
/// at first and then after 10 seconds, twice as long each time, up to five minutes.
class grove_kubelet {
public:
    using object_key = codec::object_key;

    struct pod {
        std::size_t set = 0;
        std::string gang;
        std::string clique; ///< the PodClique
        std::string host;   ///< stays the same when the pod is made anew
        std::string restart_policy;
        /// PodCliques that have to have so many ready pods first.
        std::vector<std::pair<std::string, std::int64_t>> after;
        bool added = false; ///< those who have the nodes know it
        bool placed = false;
        bool waited = false; ///< for others before it started
        bool started = false;
        bool ready = false;
        bool lost = false; ///< its node is out of sight
        bool over = false;
        std::int64_t attempt = 0; ///< of its host: how many there have been
        std::int64_t restarts = 0;
        std::optional<std::int64_t> code; ///< of the last attempt that ended
        std::optional<std::int64_t> due;  ///< when it ends, or starts again
        std::uint64_t number = 0;         ///< tells it from others of its name
    };

    [[nodiscard]] const std::map<object_key, pod>& pods() const noexcept { return pods_; }
    [[nodiscard]] bool has(const object_key& key) const { return pods_.contains(key); }
    [[nodiscard]] pod& at(const object_key& key) { return pods_.at(key); }
    [[nodiscard]] const pod& at(const object_key& key) const { return pods_.at(key); }

    void add(const object_key& key, std::size_t set, const boost::json::object& document) {
        const auto label = [&](std::string_view name) {
            return std::string(translate::metadata_entry(document, "labels", name));
        };
        const auto* spec = translate::find_object(&document, "spec");
        pod made;
        made.set = set;
        made.gang = label(translate::grove::gang_label);
        made.clique = label(translate::grove::clique_label);
        made.host = std::string(translate::find_text(spec, "hostname").value_or(""));
        made.restart_policy =
            std::string(translate::find_text(spec, "restartPolicy").value_or("Always"));
        made.after = awaited_of(spec);
        made.number = ++created_;
        pods_.insert_or_assign(key, std::move(made));
    }
    void forget(const object_key& key) {
        change(key, at(key), false, false);
        waiting_.erase(key);
        pods_.erase(key);
    }

    void place(const object_key& key) {
        pod& of = at(key);
        of.placed = true;
        of.waited = !is_free(key.name_space, of);
        waiting_.insert(key);
    }

    /// For whom it waits before it starts.
    [[nodiscard]] std::string awaited(const object_key& key) const {
        std::string text;
        for (const auto& [clique, least] : at(key).after)
            if (ready_of(key.name_space, clique) < least)
                text.append(text.empty() ? "" : ", ").append(clique);
        return text;
    }

    /// The first by name that has a node and nobody left to wait for.
    [[nodiscard]] std::optional<object_key> next_to_start() const {
        for (const object_key& key : waiting_)
            if (const pod& of = at(key); !of.lost && is_free(key.name_space, of))
                return key;
        return std::nullopt;
    }

    /// Which attempt the next one is, from 0.
    [[nodiscard]] std::int64_t next_attempt(const object_key& key) const {
        const auto known = attempts_.find({key.name_space, at(key).host});
        return known == attempts_.end() ? 0 : known->second;
    }
    void start(const object_key& key, std::int64_t now, std::optional<std::int64_t> runs) {
        pod& of = at(key);
        waiting_.erase(key);
        of.started = true;
        change(key, of, true, of.lost);
        of.attempt = ++attempts_[{key.name_space, of.host}];
        of.due.reset();
        if (runs && *runs <= std::numeric_limits<std::int64_t>::max() - now)
            plan(key, of, now + *runs);
    }

    /// Whether its end is that of the pod.
    [[nodiscard]] bool ends_for_good(const object_key& key, bool well) const {
        const std::string& policy = at(key).restart_policy;
        return policy == "Never" || (policy == "OnFailure" && well);
    }
    void finish(const object_key& key, std::int64_t code) {
        pod& of = at(key);
        of.code = code;
        of.over = true;
        change(key, of, false, of.lost);
        of.due.reset();
    }
    /// Says after how long it starts again.
    std::int64_t crash(const object_key& key, std::int64_t code, std::int64_t now) {
        constexpr std::int64_t second = 1'000'000'000;
        pod& of = at(key);
        of.code = code;
        change(key, of, false, of.lost);
        std::int64_t delay = 0;
        for (std::int64_t restart = 0; restart < of.restarts && delay < 300 * second; ++restart)
            delay = delay == 0 ? 10 * second : std::min(2 * delay, 300 * second);
        ++of.restarts;
        plan(key, of, now + delay);
        return delay;
    }

    /// Whether it started and is to be started again.
    [[nodiscard]] bool waits(const object_key& key) const { return !at(key).ready; }

    void see(const object_key& key, bool lost, std::int64_t now) {
        pod& of = at(key);
        change(key, of, of.ready, lost);
        if (!lost && of.due)
            plan(key, of, std::max(now, *of.due));
    }

    [[nodiscard]] std::optional<std::int64_t> next() const { return due_.next(); }
    /// The next pod that ends, or starts again, by then.
    [[nodiscard]] std::optional<object_key> take_due(std::int64_t now) {
        while (const auto due = due_.take(now)) {
            const auto found = pods_.find(due->first);
            if (found != pods_.end() && found->second.number == due->second && found->second.due &&
                *found->second.due <= now && !found->second.lost)
                return due->first;
        }
        return std::nullopt;
    }

    [[nodiscard]] boost::json::object status(const object_key& key) const {
        const pod& of = at(key);
        boost::json::object made{
            {"phase", of.over      ? of.code == 0 ? "Succeeded" : "Failed"
                      : of.lost    ? "Unknown"
                      : of.started ? "Running"
                                   : "Pending"},
            {"conditions",
             boost::json::array{boost::json::object{
                 {"type", "Ready"}, {"status", of.ready && !of.lost ? "True" : "False"}}}}};
        if (of.code) {
            boost::json::object ended{{"exitCode", *of.code}};
            made["containerStatuses"] = boost::json::array{boost::json::object{
                {"restartCount", of.restarts}, {"lastState", {{"terminated", std::move(ended)}}}}};
        }
        return made;
    }

private:
    void plan(const object_key& key, pod& of, std::int64_t when) {
        of.due = when;
        due_.plan(when, {key, of.number});
    }

    /// Whether it is ready, and whether it is out of sight.
    void change(const object_key& key, pod& of, bool ready, bool lost) {
        const bool was = of.ready && !of.lost;
        const bool is = ready && !lost;
        of.ready = ready;
        of.lost = lost;
        if (was != is)
            ready_[{key.name_space, of.clique}] += is ? 1 : -1;
    }
    [[nodiscard]] std::int64_t ready_of(const std::string& name_space,
                                        const std::string& clique) const {
        const auto known = ready_.find({name_space, clique});
        return known == ready_.end() ? 0 : known->second;
    }
    [[nodiscard]] bool is_free(const std::string& name_space, const pod& of) const {
        return std::ranges::all_of(of.after, [&](const auto& each) {
            return ready_of(name_space, each.first) >= each.second;
        });
    }

    /// As Grove's waiting container reads its arguments: `--podcliques=NAME:READY`.
    static std::vector<std::pair<std::string, std::int64_t>>
    awaited_of(const boost::json::object* spec) {
        std::vector<std::pair<std::string, std::int64_t>> made;
        const auto* list = translate::find_array(spec, "initContainers");
        for (std::size_t at = 0; list && at < list->size(); ++at) {
            const auto* container = (*list)[at].if_object();
            if (translate::find_text(container, "name") != "grove-initc")
                continue;
            if (const auto* arguments = translate::find_array(container, "args"))
                for (const boost::json::value& each : *arguments) {
                    if (!each.is_string())
                        continue;
                    std::string_view text(each.get_string().data(), each.get_string().size());
                    constexpr std::string_view flag = "--podcliques=";
                    const std::size_t colon = text.rfind(':');
                    if (!text.starts_with(flag) || colon == std::string_view::npos)
                        continue;
                    std::int64_t least = 0;
                    std::from_chars(text.data() + colon + 1, text.data() + text.size(), least);
                    made.emplace_back(text.substr(flag.size(), colon - flag.size()), least);
                }
        }
        return made;
    }

    std::map<object_key, pod> pods_;
    std::set<object_key> waiting_; ///< placed, and not started
    /// How many pods of a PodClique are ready.
    std::map<object_key, std::int64_t> ready_;
    /// How many attempts each host has had.
    std::map<object_key, std::int64_t> attempts_;
    adapter::virtual_time<std::pair<object_key, std::uint64_t>> due_;
    std::uint64_t created_ = 0;
};

} // namespace sim
} // namespace v0_1
} // namespace muster
