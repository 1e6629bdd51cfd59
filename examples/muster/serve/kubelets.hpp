// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <muster/base/timestamp.hpp>
#include <muster/serve/api_store.hpp>
#include <muster/serve/pod_request.hpp>

namespace muster {
inline namespace v0_1 {
namespace testing {
namespace api_server {

/// The kubelets of all nodes of a server. They admit the pods that are bound to their nodes, refuse
/// what does not fit any more (phase Failed, reason OutOfcpu and its like), report Running, end
/// pods as their annotations say (`muster.dev/run-seconds`, `muster.dev/exit-code`: lists with an
/// entry for each pod of that name that its owner has run, the last for all to come), and confirm
/// deletions. They take nobody's word for what is free: they count what they run.
class kubelets {
public:
    explicit kubelets(api_store& of) : store_(&of) {}

    /// How long a pod takes to run after it was bound, and to go after it was told to.
    std::int64_t start_delay = 0;
    std::int64_t stop_delay = 0;

    /// How many pods were refused so far.
    [[nodiscard]] std::size_t refused() const noexcept { return refused_; }
    /// Pods that run.
    [[nodiscard]] std::size_t running() const noexcept { return pods_.size(); }
    /// When there is something to do next without any change; nothing when there is none.
    [[nodiscard]] std::optional<std::int64_t> next() const {
        return due_.empty() ? std::nullopt : std::optional(due_.begin()->first.first);
    }

    /// Does what is due at the store's time. True when it wrote anything.
    bool step() {
        const std::uint64_t before = store_->objects().version();
        see_changes();
        while (!due_.empty() && due_.begin()->first.first <= store_->time()) {
            const object_key key = due_.begin()->second;
            due_.erase(due_.begin());
            advance(key);
            see_changes();
        }
        return store_->objects().version() != before;
    }

private:
    struct tenant {
        std::string uid;
        std::string node;
        amounts takes;
        std::size_t attempt = 0; ///< how many of its name ran before
    };

    [[nodiscard]] std::size_t kind(std::string_view plural) const {
        return store_->kinds().at("", "v1", plural);
    }

    void see_changes() {
        const object_store& objects = store_->objects();
        if (seen_ < objects.forgotten()) {
            for (const auto& [key, pod] : objects.all(kind("pods")))
                look_at(key);
            seen_ = objects.version();
        }
        for (std::size_t at = objects.first_after(seen_); at < objects.history().size(); ++at) {
            const change& each = objects.history()[at];
            seen_ = each.version;
            if (each.kind != kind("pods"))
                continue;
            const auto known = pods_.find(each.key);
            const bool ended = known != pods_.end() && !runs(each, known->second.uid);
            if (ended)
                leave(known);
            if (each.what != change::type::deleted)
                look_at(each.key);
        }
    }

    /// The pod still takes its share of the node.
    [[nodiscard]] static bool runs(const change& each, const std::string& uid) {
        return each.what != change::type::deleted &&
               text_at(*each.object, {"metadata", "uid"}) == uid && is_held(*each.object);
    }

    void look_at(const object_key& key) {
        const shared_object pod = store_->objects().find(kind("pods"), key);
        if (!pod || text_at(*pod, {"spec", "nodeName"}).empty())
            return;
        const bool leaves = value_at(*pod, {"metadata", "deletionTimestamp"}) != nullptr;
        if (leaves)
            plan(store_->time() + stop_delay, key);
        else if (!pods_.contains(key) && is_held(*pod))
            plan(store_->time() + start_delay, key);
    }

    void plan(std::int64_t when, const object_key& key) {
        due_.emplace(std::pair{when, ++planned_}, key);
    }

    void advance(const object_key& key) {
        const shared_object pod = store_->objects().find(kind("pods"), key);
        if (!pod || text_at(*pod, {"spec", "nodeName"}).empty())
            return;
        if (value_at(*pod, {"metadata", "deletionTimestamp"})) {
            request gone = about(key, "DELETE");
            gone.body = R"({"gracePeriodSeconds":0,"preconditions":{"uid":")" +
                        std::string(text_at(*pod, {"metadata", "uid"})) + R"("}})";
            static_cast<void>(store_->handle(gone));
            return;
        }
        if (!is_held(*pod))
            return;
        if (const auto known = pods_.find(key); known != pods_.end()) {
            const std::size_t attempt = known->second.attempt;
            if (const auto ends = end_of(*pod, attempt); ends && *ends <= store_->time())
                finish(key, *pod, attempt);
            return;
        }
        admit(key, *pod);
    }

    void admit(const object_key& key, const json::object& pod) {
        const std::string node(text_at(pod, {"spec", "nodeName"}));
        const shared_object machine = store_->objects().find(kind("nodes"), {"", node});
        if (!machine)
            return; // Nobody is there to run it.
        amounts takes = request_of(pod);
        const amounts has =
            detail::read_amounts(object_at(*machine, {"status", "allocatable"}), false);
        amounts& used = used_[node];
        for (const auto& [name, amount] : takes) {
            const auto capacity = has.find(name);
            const std::int64_t all = capacity == has.end() ? 0 : capacity->second;
            if (amount == 0 || detail::sum_of(used[name], amount) <= all)
                continue;
            ++refused_;
            json::object status{{"phase", "Failed"},
                                {"reason", "OutOf" + name},
                                {"message", "Node didn't have enough resource: " + name +
                                                ", requested: " + std::to_string(amount) +
                                                "m, used: " + std::to_string(used[name]) +
                                                "m, capacity: " + std::to_string(all) + "m"},
                                {"startTime", now_text()}};
            patch_status(key, std::move(status));
            return;
        }
        detail::add_to(used, takes);
        const std::size_t attempt = next_attempt(key, pod);
        pods_[key] = {std::string(text_at(pod, {"metadata", "uid"})), node, std::move(takes),
                      attempt};
        // A restored pod may already run.
        if (text_at(pod, {"status", "phase"}) != "Running")
            report_running(key, pod);
        if (const auto ends = end_of(*store_->objects().find(kind("pods"), key), attempt))
            plan(*ends, key);
    }

    /// How many pods of that name the same owner has run before; only lists need to know.
    std::size_t next_attempt(const object_key& key, const json::object& pod) {
        const auto is_list = [&](std::string_view name) {
            return text_at(pod, {"metadata", "annotations", name}).find(',') !=
                   std::string_view::npos;
        };
        if (!is_list(run_seconds) && !is_list(exit_code))
            return 0;
        std::string owner;
        if (const json::array* const owners = array_at(pod, {"metadata", "ownerReferences"}))
            for (const json::value& each : *owners)
                if (const json::object* const one = each.if_object())
                    owner = text_at(*one, {"uid"});
        return attempts_[{key, owner}]++;
    }

    using tenants = std::map<object_key, tenant>;
    void leave(tenants::iterator at) {
        amounts& used = used_[at->second.node];
        for (const auto& [name, amount] : at->second.takes)
            used[name] -= amount;
        pods_.erase(at);
    }

    [[nodiscard]] std::string now_text() const {
        constexpr std::int64_t second = 1'000'000'000;
        return time_text(store_->time() / second * second);
    }

    static constexpr std::string_view run_seconds = "muster.dev/run-seconds";
    static constexpr std::string_view exit_code = "muster.dev/exit-code";

    /// What an annotation says of an attempt.
    [[nodiscard]] static std::string note(const json::object& pod, std::string_view name,
                                          std::size_t attempt) {
        std::string_view text = text_at(pod, {"metadata", "annotations", name});
        for (; attempt > 0 && text.find(',') != std::string_view::npos; --attempt)
            text.remove_prefix(text.find(',') + 1);
        text = text.substr(0, text.find(','));
        while (text.starts_with(' '))
            text.remove_prefix(1);
        while (text.ends_with(' '))
            text.remove_suffix(1);
        return std::string(text);
    }

    /// When a running pod ends by itself.
    [[nodiscard]] static std::optional<std::int64_t> end_of(const json::object& pod,
                                                            std::size_t attempt) {
        const std::string seconds = note(pod, run_seconds, attempt);
        const auto started = parse_timestamp(text_at(pod, {"status", "startTime"}));
        const auto lasts = parse_quantity(seconds);
        if (seconds.empty() || !started || !lasts)
            return std::nullopt;
        const std::int64_t milli = std::min<std::int64_t>(lasts->milli_up(), 1'000'000'000'000);
        return *started + milli * 1'000'000;
    }

    [[nodiscard]] json::array container_states(const json::object& pod, const json::object& state,
                                               bool runs) const {
        json::array made;
        if (const json::array* const list = array_at(pod, {"spec", "containers"}))
            for (const json::value& each : *list)
                if (const json::object* const one = each.if_object())
                    made.push_back(json::object{{"name", text_at(*one, {"name"})},
                                                {"image", text_at(*one, {"image"})},
                                                {"imageID", ""},
                                                {"restartCount", 0},
                                                {"ready", runs},
                                                {"started", runs},
                                                {"state", state}});
        return made;
    }

    [[nodiscard]] json::array conditions(bool ready) const {
        json::array made;
        for (const std::string_view type : {"Initialized", "Ready", "ContainersReady"})
            made.push_back(
                json::object{{"type", type},
                             {"status", ready || type == "Initialized" ? "True" : "False"},
                             {"lastProbeTime", nullptr},
                             {"lastTransitionTime", now_text()}});
        return made;
    }

    void report_running(const object_key& key, const json::object& pod) {
        const json::object state{{"running", json::object{{"startedAt", now_text()}}}};
        const std::uint64_t number = ++addresses_;
        const std::string address = "10." + std::to_string(number / 65'536 % 256) + "." +
                                    std::to_string(number / 256 % 256) + "." +
                                    std::to_string(number % 256);
        patch_status(key, {{"phase", "Running"},
                           {"startTime", now_text()},
                           {"hostIP", "127.0.0.1"},
                           {"podIP", address},
                           {"podIPs", json::array{json::object{{"ip", address}}}},
                           {"conditions", conditions(true)},
                           {"containerStatuses", container_states(pod, state, true)}});
    }

    void finish(const object_key& key, const json::object& pod, std::size_t attempt) {
        const std::string text = note(pod, exit_code, attempt);
        const auto code = parse_quantity(text.empty() ? "0" : text);
        const std::int64_t exit = code ? code->units_up() : 1;
        const json::object state{
            {"terminated", json::object{{"exitCode", exit},
                                        {"reason", exit == 0 ? "Completed" : "Error"},
                                        {"startedAt", text_at(pod, {"status", "startTime"})},
                                        {"finishedAt", now_text()}}}};
        patch_status(key, {{"phase", exit == 0 ? "Succeeded" : "Failed"},
                           {"conditions", conditions(false)},
                           {"containerStatuses", container_states(pod, state, false)}});
    }

    [[nodiscard]] static request about(const object_key& key, std::string method) {
        request made;
        made.method = std::move(method);
        made.path = "/api/v1/namespaces/" + key.first + "/pods/" + key.second;
        made.user = "system:node";
        return made;
    }

    void patch_status(const object_key& key, json::object status) {
        request made = about(key, "PATCH");
        made.path += "/status";
        made.content_type = "application/strategic-merge-patch+json";
        made.body = json::serialize(json::object{{"status", std::move(status)}});
        static_cast<void>(store_->handle(made));
    }

    api_store* store_;
    tenants pods_;
    std::map<std::string, amounts, std::less<>> used_;
    std::map<std::pair<std::int64_t, std::uint64_t>, object_key> due_;
    std::map<std::pair<object_key, std::string>, std::size_t> attempts_;
    std::uint64_t planned_ = 0;
    std::uint64_t seen_ = 0;
    std::uint64_t addresses_ = 0;
    std::size_t refused_ = 0;
};

} // namespace api_server
} // namespace testing
} // namespace v0_1
} // namespace muster
