// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <boost/json/object.hpp>

#include <muster/adapter/sightings.hpp>
#include <muster/codec/membership.hpp>
#include <muster/kube/arrived.hpp>
#include <muster/kube/http.hpp>
#include <muster/kube/reflector.hpp>

namespace muster::inline v0_1 {
namespace kube {

/// Lists nodes, PodGroups and pods once, by nothing but their JSON: what a view is held against
/// shares no more with it than that.
class fresh_listing {
public:
    fresh_listing(const reflector_options& watches, std::vector<std::string> scheduler_names)
        : scheduler_names_(std::move(scheduler_names)) {
        constexpr std::array<const char*, 3> paths{
            "/api/v1/nodes", "/apis/scheduler.tensorstack.dev/v1beta1/podgroups", "/api/v1/pods"};
        for (std::size_t at = 0; at < paths.size(); ++at) {
            reflector_options how = watches;
            how.path = paths[at];
            how.may_be_absent = at == 1;
            how.seed += 16 + at;
            lists_.emplace_back(std::move(how));
        }
    }

    /// Calls `start(std::size_t, http_request)` for what is to be asked now.
    template<class Start>
    void next(std::int64_t now, const Start& start) {
        for (std::size_t at = 0; at < lists_.size(); ++at)
            if (lists_[at].lists() == 0)
                if (auto wanted = lists_[at].next(now); wanted.start)
                    start(at, std::move(*wanted.start));
    }
    void done(std::size_t at, const http_answer& answer, std::int64_t now) {
        lists_[at].done(answer, now, sink{this, at});
    }
    [[nodiscard]] std::int64_t wakes() const {
        std::int64_t first = never_comes;
        for (const reflector& each : lists_)
            if (each.lists() == 0)
                first = std::min(first, each.wakes());
        return first;
    }
    [[nodiscard]] bool complete() const {
        return std::ranges::all_of(lists_, [](const reflector& each) { return each.lists() > 0; });
    }

    template<class Traits>
    [[nodiscard]] adapter::listing<Traits> take() {
        adapter::listing<Traits> made;
        for (const auto& [key, of] : seen_[0])
            made.nodes.push_back(key.name);
        for (const auto& [key, of] : seen_[1])
            made.gangs.emplace_back(
                codec::group_key{key.name_space, key.name, codec::group_origin::pod_group}, of.uid);
        for (auto& [key, of] : seen_[2]) {
            typename adapter::listing<Traits>::listed_pod pod{key, of.uid, {}, of.ended, of.ours};
            if (!of.node.empty())
                pod.on = of.node;
            made.pods.push_back(std::move(pod));
        }
        return made;
    }

private:
    struct facts {
        std::string uid;
        std::string node;
        bool ended = false;
        bool ours = false;
    };
    struct sink {
        fresh_listing* to;
        std::size_t at;
        void upsert(const arrived& object) {
            facts& of = to->seen_[at][object.who().key];
            of = {object.who().uid, {}, false, false};
            const boost::json::object& top = object.value().get_object();
            if (const boost::json::object* const spec = detail::object_in(top, "spec")) {
                of.node = detail::string_in(*spec, "nodeName");
                of.ours = std::ranges::find(to->scheduler_names_,
                                            detail::string_in(*spec, "schedulerName")) !=
                          to->scheduler_names_.end();
            }
            if (const boost::json::object* const status = detail::object_in(top, "status")) {
                const std::string phase = detail::string_in(*status, "phase");
                of.ended = phase == "Succeeded" || phase == "Failed";
            }
        }
        void gone(const listed_object& who) { to->seen_[at].erase(who.key); }
    };

    std::vector<std::string> scheduler_names_;
    std::vector<reflector> lists_;
    std::array<std::map<codec::object_key, facts>, 3> seen_;
};

} // namespace kube
} // namespace muster::inline v0_1
