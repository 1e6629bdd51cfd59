// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/object.hpp>

#include <muster/apis/grove/documents.hpp>
#include <muster/apis/grove/gangs.hpp>
#include <muster/apis/grove/names.hpp>
#include <muster/apis/grove/set.hpp>
#include <muster/lifecycle/grove_step.hpp>
#include <muster/lifecycle/grove_view.hpp>

namespace muster {
inline namespace v0_1 {
namespace lifecycle {

inline constexpr std::string_view clique_kind = "grove.io/PodClique";
inline constexpr std::string_view scaling_group_kind = "grove.io/PodCliqueScalingGroup";
inline constexpr std::string_view gang_kind = "scheduler.grove.io/PodGang";

namespace detail {

/// A PodClique as it is to be, and as it is.
struct member_state {
    translate::grove_member member;
    const translate::grove_clique* clique = nullptr;
    std::int64_t wanted = 0; ///< pods
    const boost::json::object* document = nullptr;
    std::string_view uid; ///< empty while it does not exist, or is on its way out
    std::vector<grove_pod_seen> pods;
    std::int64_t scheduled = 0;
    std::int64_t ready = 0;
    std::int64_t hopeful = 0;
    std::int64_t updated = 0;
    std::int64_t gated = 0;
    /// It had its minimum scheduled once.
    bool was_scheduled = false;
    bool breached = false; ///< it had, and has it no longer
    std::optional<std::int64_t> breached_since;
    bool doomed = false; ///< to be deleted, as its gang is terminated or updated
    boost::json::object status;

    [[nodiscard]] bool is_scheduled() const { return scheduled >= clique->min_available; }
    [[nodiscard]] bool is_ready() const { return ready >= clique->min_available; }
    /// Nothing is missing or on its way.
    [[nodiscard]] bool is_whole() const {
        const auto count = static_cast<std::int64_t>(pods.size());
        return count == wanted && ready == count;
    }
};

struct gang_state {
    translate::grove_gang gang;
    std::vector<member_state> members;
    const boost::json::object* document = nullptr;
    std::string_view uid;
    /// Its references were filled, and some of the pods are still there.
    bool initialized = false;

    template<class Predicate>
    [[nodiscard]] bool every(Predicate predicate) const {
        return std::ranges::all_of(members, predicate);
    }
    [[nodiscard]] bool is_scheduled() const {
        return every([](const member_state& each) { return each.is_scheduled(); });
    }
    [[nodiscard]] bool is_ready() const {
        return every([](const member_state& each) { return each.is_ready(); });
    }
    /// Every pod exists.
    [[nodiscard]] bool is_complete() const {
        return every([](const member_state& each) {
            return static_cast<std::int64_t>(each.pods.size()) >= each.wanted;
        });
    }
    [[nodiscard]] bool is_empty() const {
        return every([](const member_state& each) { return each.pods.empty(); });
    }
};

/// One replica of a set.
struct replica_state {
    std::int64_t index = 0;
    std::vector<std::int64_t> group_replicas;
    std::vector<gang_state> gangs; ///< the base gang first

    template<class Visit>
    void for_each(Visit visit) {
        for (gang_state& gang : gangs)
            for (member_state& member : gang.members)
                visit(member);
    }
    template<class Predicate>
    [[nodiscard]] bool every(Predicate predicate) const {
        return std::ranges::all_of(gangs,
                                   [&](const gang_state& gang) { return gang.every(predicate); });
    }
    /// Those of one replica of a scaling group.
    template<class Visit>
    void for_each_of(std::size_t group, std::int64_t replica, Visit visit) {
        for_each([&](member_state& member) {
            if (member.clique->group == group && member.member.group_replica == replica)
                visit(member);
        });
    }
};

/// How many replicas there are: what somebody else scaled it to, where that is allowed.
[[nodiscard]] inline std::int64_t
scaled_replicas(const std::optional<translate::grove_scale>& scale, std::int64_t usual,
                const boost::json::object* seen) {
    if (!scale || !seen)
        return usual;
    return std::clamp(number_at(*seen, "spec", "replicas").value_or(usual), scale->least,
                      scale->most);
}

/// Compares what is to be with what is.
class replica_reader {
public:
    replica_reader(const translate::grove_set& set, const grove_view& view,
                   translate::grove_dialect dialect)
        : set_(set), view_(view), gate_(translate::grove_gate(dialect)) {
        for (const translate::grove_clique& clique : set.cliques)
            hashes_.push_back(translate::grove_template_hash(clique));
    }

    [[nodiscard]] replica_state read(std::int64_t index) const {
        replica_state made;
        made.index = index;
        for (const translate::grove_scaling_group& group : set_.groups)
            made.group_replicas.push_back(std::max(
                group.min_available,
                scaled_replicas(
                    group.scale, group.replicas,
                    view_.find(scaling_group_kind,
                               translate::grove::part_name(set_.name, index, group.name)))));
        for (translate::grove_gang& gang :
             translate::grove_gangs_of(set_, index, made.group_replicas)) {
            gang_state each;
            for (const translate::grove_member& member : gang.members)
                each.members.push_back(read(member));
            each.document = view_.find(gang_kind, gang.name);
            each.uid = uid_of(each.document);
            each.initialized =
                !each.uid.empty() && is_true(*each.document, "Initialized") && !each.is_empty();
            each.gang = std::move(gang);
            made.gangs.push_back(std::move(each));
        }
        return made;
    }

private:
    static std::string_view uid_of(const boost::json::object* document) {
        if (!document || is_terminating(*document))
            return {};
        return text_at(*document, "metadata", "uid");
    }

    [[nodiscard]] member_state read(const translate::grove_member& member) const {
        member_state made;
        made.member = member;
        made.clique = &set_.cliques[member.clique];
        made.document = view_.find(clique_kind, member.name);
        made.uid = uid_of(made.document);
        made.wanted = scaled_replicas(made.clique->scale, made.clique->replicas, made.document);
        made.pods = view_.pods_of(made.uid, gate_, hashes_[member.clique]);
        for (const grove_pod_seen& pod : made.pods) {
            made.scheduled += pod.scheduled;
            made.ready += pod.ready;
            made.hopeful += pod.hopeful;
            made.updated += pod.updated;
            made.gated += pod.gated;
        }
        return made;
    }

    const translate::grove_set& set_;
    const grove_view& view_;
    std::string_view gate_;
    std::vector<std::string> hashes_;
};

} // namespace detail
} // namespace lifecycle
} // namespace v0_1
} // namespace muster
