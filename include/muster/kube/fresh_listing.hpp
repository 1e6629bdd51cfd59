// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <boost/json/object.hpp>

#include <muster/adapter/sightings.hpp>
#include <muster/input/membership.hpp>
#include <muster/kube/arrived.hpp>
#include <muster/kube/dialect.hpp>
#include <muster/kube/http.hpp>
#include <muster/kube/live_links.hpp>
#include <muster/kube/reflector.hpp>

namespace muster {
inline namespace v0_1 {
namespace kube {

/// Lists nodes, the objects of groups and pods once, by nothing but their JSON: what a view is held
/// against shares no more with it than that.
class fresh_listing {
public:
    fresh_listing(const reflector_options& watches, const std::vector<collection>& followed,
                  std::vector<std::string> scheduler_names)
        : scheduler_names_(std::move(scheduler_names)) {
        for (std::size_t at = 0; at < followed.size(); ++at) {
            const collection& each = followed[at];
            if (each.holds != content::node && each.holds != content::group &&
                each.holds != content::pod)
                continue;
            reflector_options how = watches;
            how.path = each.path();
            how.may_be_absent = each.may_be_absent;
            how.seed += 32 + at;
            lists_.emplace_back(std::move(how));
            of_.push_back({each, at, {}});
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

    /// A gang is there when the first of its objects is; which these are the gangs that are known
    /// say.
    template<class Traits, class Gangs>
    [[nodiscard]] adapter::listing<Traits> take(const Gangs& known) {
        adapter::listing<Traits> made;
        std::set<live_object> told;
        known.each_gang([&](const codec::group_key& key, const std::vector<live_object>& objects) {
            told.insert(objects.begin(), objects.end());
            for (const listed& each : of_)
                if (each.at == objects.front().collection)
                    if (const auto at = each.seen.find(objects.front().key); at != each.seen.end())
                        made.gangs.emplace_back(key, at->second.uid);
        });
        for (listed& from : of_) {
            const content holds = from.of.holds;
            for (auto& [key, of] : from.seen) {
                if (holds == content::node) {
                    made.nodes.push_back(key.name);
                } else if (holds == content::pod) {
                    typename adapter::listing<Traits>::listed_pod pod{
                        key, of.uid, {}, of.ended, of.ours};
                    if (!of.node.empty())
                        pod.on = of.node;
                    made.pods.push_back(std::move(pod));
                } else if (from.of.of == dialect::t9k && !told.contains({from.at, key})) {
                    made.gangs.emplace_back(
                        codec::group_key{key.name_space, key.name, codec::group_origin::pod_group},
                        of.uid);
                }
            }
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
            facts& of = to->of_[at].seen[object.who().key];
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
        void gone(const listed_object& who) { to->of_[at].seen.erase(who.key); }
    };

    std::vector<std::string> scheduler_names_;
    std::vector<reflector> lists_;
    struct listed {
        collection of;
        std::size_t at = 0;
        std::map<codec::object_key, facts> seen;
    };
    std::vector<listed> of_;
};

} // namespace kube
} // namespace v0_1
} // namespace muster
