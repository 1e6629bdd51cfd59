// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <muster/apis/grove/names.hpp>
#include <muster/apis/grove/set.hpp>
#include <muster/lifecycle/document_fields.hpp>

namespace muster {
inline namespace v0_1 {
namespace lifecycle {
/// A pod of a PodClique as it was observed.
struct grove_pod_seen {
    const boost::json::object* document = nullptr;
    std::string_view name;
    std::int64_t index = 0;
    bool gated = false; ///< by Grove's gate
    bool scheduled = false;
    bool ready = false;
    /// Scheduled, and nothing speaks against its becoming ready: it has not failed, and its
    /// containers are not running without being ready.
    bool hopeful = false;
    bool updated = false; ///< made from the template as it is now
};

/// What was observed of a set: its own objects, and others that stand where its own are to be. The
/// documents must outlive it.
class grove_view {
public:
    grove_view(const translate::grove_set& set, std::span<const boost::json::object* const> seen) {
        for (const boost::json::object* each : seen) {
            if (detail::text_at(*each, "metadata", "namespace") != set.name_space)
                continue;
            const std::string_view kind = detail::text_at(*each, "kind");
            const std::string_view name = detail::text_at(*each, "metadata", "name");
            const bool own = detail::text_at(*each, "metadata", "labels",
                                             translate::grove::part_of_label) == set.name;
            if (kind == "Pod") {
                pod_names_.insert(name);
                if (own && !detail::is_terminating(*each))
                    pods_[owner_uid(*each)].push_back(each);
            } else {
                objects_.emplace(std::pair(group_kind(*each), name), each);
            }
        }
        for (auto& [uid, list] : pods_)
            std::ranges::sort(list, {}, [](const boost::json::object* pod) {
                return std::pair(index_of(*pod), detail::text_at(*pod, "metadata", "name"));
            });
    }

    /// The object of a kind (as `group/Kind`) and name, or null.
    [[nodiscard]] const boost::json::object* find(std::string_view group_and_kind,
                                                  std::string_view name) const {
        const auto at = objects_.find(std::pair(std::string(group_and_kind), name));
        return at == objects_.end() ? nullptr : at->second;
    }

    /// Every object but pods, by kind and name.
    [[nodiscard]] const auto& objects() const noexcept { return objects_; }
    [[nodiscard]] bool has_pod(std::string_view name) const { return pod_names_.contains(name); }

    /// The pods that a PodClique owns and that are not on their way out, by their index.
    [[nodiscard]] std::vector<grove_pod_seen>
    pods_of(std::string_view clique_uid, std::string_view gate, std::string_view hash) const {
        std::vector<grove_pod_seen> made;
        if (const auto at = pods_.find(clique_uid); at != pods_.end() && !clique_uid.empty())
            for (const boost::json::object* each : at->second)
                made.push_back(look_at(*each, gate, hash));
        return made;
    }

    /// `group/Kind` of an object, `Kind` where the group is the core one. Versions do not matter.
    [[nodiscard]] static std::string group_kind(const boost::json::object& object) {
        const std::string_view version = detail::text_at(object, "apiVersion");
        const std::size_t slash = version.find('/');
        std::string text;
        if (slash != std::string_view::npos)
            text.assign(version.substr(0, slash)).append("/");
        return text.append(detail::text_at(object, "kind"));
    }

    [[nodiscard]] static std::string_view owner_uid(const boost::json::object& object) {
        const auto* owners = detail::list_at(object, "metadata", "ownerReferences");
        if (!owners || owners->empty() || !owners->front().is_object())
            return {};
        return detail::text_at(owners->front().get_object(), "uid");
    }

private:
    static std::int64_t index_of(const boost::json::object& pod) {
        const std::string_view text =
            detail::text_at(pod, "metadata", "labels", translate::grove::pod_index_label);
        std::int64_t index = -1;
        std::from_chars(text.data(), text.data() + text.size(), index);
        return index;
    }

    static grove_pod_seen look_at(const boost::json::object& pod, std::string_view gate,
                                  std::string_view hash) {
        using namespace detail;
        grove_pod_seen made;
        made.document = &pod;
        made.name = text_at(pod, "metadata", "name");
        made.index = index_of(pod);
        if (const auto* gates = list_at(pod, "spec", "schedulingGates"))
            for (const boost::json::value& each : *gates)
                made.gated |= each.is_object() && text_at(each.get_object(), "name") == gate;
        made.scheduled = !text_at(pod, "spec", "nodeName").empty();
        const std::string_view phase = text_at(pod, "status", "phase");
        made.ready = made.scheduled && phase == "Running" && is_true(pod, "Ready");
        bool broken = phase == "Failed" || phase == "Succeeded" || phase == "Unknown";
        if (const auto* containers = list_at(pod, "status", "containerStatuses"))
            for (const boost::json::value& each : *containers) {
                if (!each.is_object())
                    continue;
                const boost::json::object& one = each.get_object();
                for (const std::string_view state : {"state", "lastState"})
                    broken |= number_at(one, state, "terminated", "exitCode").value_or(0) != 0;
                const auto* started = value_at(one, "started");
                broken |= started && started->is_bool() && started->get_bool() && !made.ready;
            }
        made.hopeful = made.scheduled && (made.ready || !broken);
        made.updated =
            text_at(pod, "metadata", "labels", translate::grove::template_hash_label) == hash;
        return made;
    }

    std::map<std::pair<std::string, std::string_view>, const boost::json::object*> objects_;
    std::map<std::string_view, std::vector<const boost::json::object*>> pods_;
    std::set<std::string_view, std::less<>> pod_names_;
};

} // namespace lifecycle
} // namespace v0_1
} // namespace muster
