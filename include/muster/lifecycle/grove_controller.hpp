// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <muster/apis/grove/backend_concept.hpp>
#include <muster/apis/grove/documents.hpp>
#include <muster/apis/grove/gangs.hpp>
#include <muster/apis/grove/pods.hpp>
#include <muster/apis/grove/set.hpp>
#include <muster/gangs/target.hpp>
#include <muster/lifecycle/grove_replica.hpp>
#include <muster/lifecycle/grove_restore.hpp>
#include <muster/lifecycle/grove_rolling.hpp>
#include <muster/lifecycle/grove_status.hpp>
#include <muster/lifecycle/grove_step.hpp>
#include <muster/lifecycle/grove_termination.hpp>
#include <muster/lifecycle/grove_view.hpp>

namespace muster {
inline namespace v0_1 {
namespace lifecycle {
namespace detail {

/// One pass over one set.
template<translate::grove_backend Backend>
class grove_pass {
public:
    grove_pass(const translate::grove_set& set, const grove_view& view, std::int64_t now,
               const Backend& backend, const translate::grove_options& options,
               const translate::grove_topology* within)
        : set_(set),
          view_(view),
          now_(now),
          backend_(backend),
          options_(options),
          within_(within) {}

    [[nodiscard]] grove_step run() && {
        const replica_reader reader(set_, view_, options_.dialect);
        for (std::int64_t at = 0; at < set_.replicas; ++at)
            replicas_.push_back(reader.read(at));
        rolling_update update(set_, replicas_);
        for (std::size_t at = 0; at < replicas_.size(); ++at)
            judge(replicas_[at], update.current() == at);
        for (const grove_pod_seen* pod : update.run())
            remove(*pod->document);
        for (replica_state& replica : replicas_)
            keep(replica);
        remove_what_is_left();
        grove_step step;
        write_set_status(update);
        for (std::vector<grove_write>* part : {&statuses_, &deletions_, &creations_, &changes_})
            for (grove_write& each : *part)
                step.writes.push_back(std::move(each));
        step.wake = wake_;
        return step;
    }

private:
    using verb = grove_write::verb;

    /// Statuses of PodCliques and scaling groups, and which of them are to go.
    void judge(replica_state& replica, bool updating) {
        replica.for_each([&](member_state& member) {
            judge_member(member, translate::grove_template_hash(*member.clique), updating, now_);
        });
        gang_termination termination(set_, replica, now_, wake_);
        std::vector<std::optional<std::int64_t>> since(set_.groups.size());
        for (std::size_t group = 0; group < set_.groups.size(); ++group) {
            const auto* seen = view_.find(
                scaling_group_kind,
                translate::grove::part_name(set_.name, replica.index, set_.groups[group].name));
            if (!seen || is_terminating(*seen))
                continue;
            conditions known(seen, now_);
            const auto lost = termination.breached_replicas(group);
            const bool too_few = termination.too_few(group, lost);
            known.set(breached_condition, too_few,
                      too_few ? "InsufficientAvailableReplicas" : "SufficientAvailableReplicas");
            if (too_few)
                since[group] = known.since(breached_condition);
            boost::json::object status = group_status(replica, group);
            status["conditions"] = known.list();
            write_status(*seen, std::move(status));
        }
        termination.run([&](std::size_t group) { return since[group]; });
        replica.for_each([&](member_state& member) {
            if (member.doomed)
                gang_termination::mark(member, now_);
            if (!member.uid.empty())
                write_status(*member.document, std::move(member.status));
        });
    }

    /// All objects of one replica.
    void keep(replica_state& replica) {
        const auto owner = translate::grove_owner_of(set_, options_.dialect);
        ensure(translate::grove_service(set_, replica.index, options_), set_.uid);
        for (std::size_t group = 0; group < set_.groups.size(); ++group)
            ensure(translate::grove_scaling_group_object(set_, replica.index, group,
                                                         replica.group_replicas[group], options_),
                   set_.uid);
        const bool base_scheduled = replica.gangs.front().is_scheduled();
        for (gang_state& gang : replica.gangs)
            keep_gang(gang, base_scheduled);
        for (gang_state& gang : replica.gangs)
            for (const member_state& member : gang.members)
                keep_member(gang, member, owner);
    }

    void keep_gang(gang_state& gang, bool base_scheduled) {
        translate::gang_object object = translate::grove_gang_object(
            set_, gang.gang, options_.dialect,
            options_.dialect == translate::grove_dialect::seed
                ? std::string_view(backend_.name())
                : std::string_view(backend_.scheduler()),
            within_, [&](const translate::grove_member& of) {
                return gang.members[static_cast<std::size_t>(&of - gang.gang.members.data())]
                    .wanted;
            });
        if constexpr (requires { backend_.mark(object, options_.dialect); })
            backend_.mark(object, options_.dialect);
        const bool fill = gang.initialized || gang.is_complete();
        ensure(translate::grove_gang_document(object,
                                              [&](std::size_t leaf) {
                                                  std::vector<std::string> names;
                                                  if (fill)
                                                      for (const auto& pod :
                                                           gang.members[leaf].pods)
                                                          names.emplace_back(pod.name);
                                                  return names;
                                              }),
               set_.uid);
        if (gang.uid.empty())
            return;
        write_status(*gang.document, gang_status(gang, references_of(gang), now_));
        object.uid = gang.uid;
        open_gates(gang, base_scheduled);
        create_pods(gang, object);
        derive(gang, std::move(object));
    }

    /// The pods that the PodGang, as it was observed, refers to.
    [[nodiscard]] static std::set<std::string_view> references_of(const gang_state& gang) {
        std::set<std::string_view> names;
        if (const auto* groups = list_at(*gang.document, "spec", "podgroups"))
            for (const boost::json::value& group : *groups)
                if (const auto* list =
                        group.is_object() ? list_at(group.get_object(), "podReferences") : nullptr)
                    for (const boost::json::value& each : *list)
                        if (each.is_object())
                            names.insert(text_at(each.get_object(), "name"));
        return names;
    }

    /// Pods of a base gang once their gang refers to them; those of a scaled gang only when the
    /// base gang has its minima scheduled besides.
    void open_gates(const gang_state& gang, bool base_scheduled) {
        if (!backend_.opens_gates(options_.dialect) || (gang.gang.group && !base_scheduled))
            return;
        const std::set<std::string_view> known = references_of(gang);
        for (const member_state& member : gang.members)
            for (const grove_pod_seen& pod : member.pods) {
                if (!pod.gated || member.doomed || !known.contains(pod.name))
                    continue;
                boost::json::object open = *pod.document;
                translate::open_grove_gate(open, options_.dialect);
                changes_.push_back({verb::replace, std::move(open)});
            }
    }

    void create_pods(const gang_state& gang, const translate::gang_object& object) {
        translate::gang_bundle bundle{object, {}};
        for (std::size_t at = 0; at < gang.members.size(); ++at) {
            const member_state& member = gang.members[at];
            if (member.uid.empty() || member.doomed)
                continue;
            const auto count = static_cast<std::int64_t>(member.pods.size());
            const std::vector<const grove_pod_seen*> victims = victims_of(member);
            for (std::int64_t i = 0; i < count - member.wanted; ++i)
                remove(*victims[static_cast<std::size_t>(i)]->document);
            std::set<std::int64_t> taken;
            for (const grove_pod_seen& pod : member.pods)
                taken.insert(pod.index);
            std::int64_t index = 0;
            for (std::int64_t missing = member.wanted - count; missing > 0; ++index) {
                if (taken.contains(index))
                    continue;
                std::int64_t attempt = 0;
                std::string name = translate::grove_pod_name(member.member, index);
                while (view_.has_pod(name) || names_.contains(name))
                    name = translate::grove_pod_name(member.member, index, ++attempt);
                names_.insert(name);
                bundle.pods.push_back({object.sizes[at].leaf,
                                       translate::grove_pod(set_, gang.gang, member.member, index,
                                                            name, member.uid, options_)});
                --missing;
            }
        }
        if (bundle.pods.empty())
            return;
        translate::written made = backend_.write(bundle, options_.dialect);
        for (const translate::violation& wrong : made.violations)
            errors_.insert(wrong.object + ": " + wrong.field + ": " + wrong.message);
        if (!made.violations.empty())
            return;
        for (boost::json::object& each : made.objects)
            if (text_at(each, "kind") == "Pod")
                creations_.push_back({verb::create, std::move(each)});
    }

    /// What the backend makes of a PodGang.
    void derive(const gang_state& gang, translate::gang_object object) {
        const translate::gang_bundle bundle{std::move(object), {}};
        translate::written made = backend_.write(bundle, options_.dialect);
        for (const translate::violation& wrong : made.violations)
            errors_.insert(wrong.object + ": " + wrong.field + ": " + wrong.message);
        if (!made.violations.empty())
            return;
        for (const boost::json::object& each : made.objects) {
            derived_kinds_.insert(grove_view::group_kind(each));
            const auto* seen = ensure(each, gang.uid);
            if constexpr (requires { backend_.status(options_.dialect, true, ""); })
                if (seen && !is_terminating(*seen))
                    write_scheduling_status(*seen, gang.is_scheduled());
        }
    }

    /// What the scheduler says on an object of its own, once there is something to say. One that
    /// says it itself counts its transitions, and has the last word.
    void write_scheduling_status(const boost::json::object& seen, bool scheduled) {
        const auto* known = list_at(seen, "status", "schedulingConditions");
        if (!scheduled && !known)
            return;
        if (known && std::ranges::any_of(*known, [](const boost::json::value& each) {
                return each.is_object() && each.get_object().contains("transitionID");
            }))
            return;
        std::string since = time_text(now_);
        if (known && !known->empty() && known->front().is_object() &&
            (text_at(known->front().get_object(), "status") == "True") == scheduled)
            since = text_at(known->front().get_object(), "lastTransitionTime");
        if (boost::json::object status = backend_.status(options_.dialect, scheduled, since);
            !status.empty())
            write_status(seen, std::move(status));
    }

    void keep_member(const gang_state& gang, const member_state& member,
                     const translate::object_reference& owner) {
        if (member.doomed) {
            remove(*member.document);
            return;
        }
        translate::object_reference parent = owner;
        if (const auto group = member.clique->group) {
            const auto* seen = view_.find(scaling_group_kind,
                                          translate::grove::part_name(set_.name, gang.gang.replica,
                                                                      set_.groups[*group].name));
            if (!seen || is_terminating(*seen))
                return;
            parent = {std::string(translate::grove::api_version), "PodCliqueScalingGroup",
                      std::string(text_at(*seen, "metadata", "name")),
                      std::string(text_at(*seen, "metadata", "uid")), owner.controller};
        }
        ensure(
            translate::grove_clique_object(set_, gang.gang, member.member, member.wanted, parent),
            parent.uid);
    }

    /// Creates `wanted`, or makes it again what it was. What somebody else owns stays as it is.
    const boost::json::object* ensure(boost::json::object wanted, std::string_view owner) {
        const std::string kind = grove_view::group_kind(wanted);
        const std::string_view name = text_at(wanted, "metadata", "name");
        wanted_.insert(kind + ' ' + std::string(name));
        const boost::json::object* const seen = view_.find(kind, name);
        if (!seen) {
            creations_.push_back({verb::create, std::move(wanted)});
            return nullptr;
        }
        if (is_terminating(*seen))
            return seen;
        const std::string_view by = grove_view::owner_uid(*seen);
        if (by != owner && (!by.empty() || text_at(*seen, "metadata", "labels",
                                                   translate::grove::part_of_label) != set_.name)) {
            errors_.insert(kind + ' ' + std::string(name) +
                           " belongs to another owner (expected the name to be free)");
            return nullptr;
        }
        kept_.insert(text_at(*seen, "metadata", "uid"));
        // Upstream leaves a gang in the queue that somebody moved it to.
        const bool may_move = options_.dialect == translate::grove_dialect::upstream;
        if (auto made = restored(kind, *seen, wanted, may_move ? "queue" : ""))
            changes_.push_back({verb::replace, std::move(*made)});
        return seen;
    }

    /// What the set or something that stays owns, and is not to be any more.
    void remove_what_is_left() {
        for (const auto& [key, seen] : view_.objects()) {
            const auto& [kind, name] = key;
            const std::string_view owner = grove_view::owner_uid(*seen);
            const bool own = owner == set_.uid || kept_.contains(owner);
            const bool known = kind == clique_kind || kind == scaling_group_kind ||
                               kind == gang_kind || kind == "Service" ||
                               derived_kinds_.contains(kind);
            if (own && known && !owner.empty() &&
                text_at(*seen, "metadata", "labels", translate::grove::part_of_label) ==
                    set_.name &&
                !wanted_.contains(kind + ' ' + std::string(name)))
                remove(*seen);
        }
    }

    void remove(const boost::json::object& object) {
        if (is_terminating(object) || !removed_.insert(&object).second)
            return;
        deletions_.push_back({verb::remove, reference_to(object)});
    }

    /// Fields that are not named stay.
    void write_status(const boost::json::object& object, boost::json::object status) {
        boost::json::object next;
        if (const auto* known = object_at(object, "status"))
            next = *known;
        for (auto& each : status)
            next.insert_or_assign(each.key(), std::move(each.value()));
        if (const auto* known = object_at(object, "status"); known && *known == next)
            return;
        boost::json::object made = reference_to(object);
        made["status"] = std::move(next);
        statuses_.push_back({verb::status, std::move(made)});
    }

    [[nodiscard]] static boost::json::object group_status(replica_state& replica,
                                                          std::size_t group) {
        std::int64_t scheduled = 0;
        std::int64_t available = 0;
        std::int64_t updated = 0;
        for (std::int64_t each = 0; each < replica.group_replicas[group]; ++each) {
            bool is_scheduled = true;
            bool is_available = true;
            bool is_updated = true;
            replica.for_each_of(group, each, [&](const member_state& of) {
                is_scheduled &= of.is_scheduled();
                is_available &= of.is_ready();
                is_updated &= !of.pods.empty() && !rolling_update::is_outdated(of);
            });
            scheduled += is_scheduled;
            available += is_available;
            updated += is_updated;
        }
        return {{"replicas", replica.group_replicas[group]},
                {"scheduledReplicas", scheduled},
                {"availableReplicas", available},
                {"updatedReplicas", updated}};
    }

    void write_set_status(const rolling_update& update) {
        boost::json::object object{
            {"apiVersion", translate::grove::api_version},
            {"kind", "PodCliqueSet"},
            {"metadata", {{"name", set_.name}, {"namespace", set_.name_space}, {"uid", set_.uid}}}};
        if (set_.status)
            object["status"] = *set_.status;
        boost::json::object status =
            set_status(set_, replicas_, update.current(), options_.dialect, now_);
        boost::json::array errors;
        for (const std::string& each : errors_)
            errors.push_back(boost::json::object{{"description", each}});
        if (!errors.empty() || (set_.status && set_.status->contains("lastErrors")))
            status["lastErrors"] = std::move(errors);
        // The set's own status goes first: it says which replica is being updated.
        std::vector<grove_write> others;
        others.swap(statuses_);
        write_status(object, std::move(status));
        for (grove_write& each : others)
            statuses_.push_back(std::move(each));
    }

    const translate::grove_set& set_;
    const grove_view& view_;
    std::int64_t now_;
    const Backend& backend_;
    const translate::grove_options& options_;
    const translate::grove_topology* within_;
    std::vector<replica_state> replicas_;
    std::vector<grove_write> statuses_;
    std::vector<grove_write> deletions_;
    std::vector<grove_write> creations_;
    std::vector<grove_write> changes_;
    std::set<std::string> wanted_;    ///< kinds and names of objects that are to be
    std::set<std::string_view> kept_; ///< uids of those of them that are
    std::set<std::string> derived_kinds_;
    std::set<std::string> names_; ///< of pods that this pass creates
    std::set<const boost::json::object*> removed_;
    std::set<std::string> errors_;
    std::optional<std::int64_t> wake_;
};

} // namespace detail

/// One look at a PodCliqueSet: what is to be written so that its Services, scaling groups,
/// PodCliques, PodGangs, pods and what the backend derives from PodGangs come to be what the set
/// says. `seen` holds the objects of its namespace (more do no harm), `now` is in nanoseconds since
/// 1970. Objects are created when what owns them has been seen, so it takes some passes until all
/// is there; a set that is being deleted is left to whoever collects what it owns.
///
/// - Derived objects that were edited or deleted are restored.
/// - A PodGang is created before its pods, refers to them once all of them exist, and is
/// Initialized
///   from then on for as long as one of them is left.
/// - Of what is scaled in, the pods least missed go first.
/// O(seen · log seen + pods).
template<translate::grove_backend Backend>
[[nodiscard]] grove_step
reconcile(const translate::grove_set& set, std::span<const boost::json::object* const> seen,
          std::int64_t now, const Backend& backend, const translate::grove_options& options = {},
          const translate::grove_topology* within = nullptr) {
    if (set.terminating)
        return {};
    const grove_view view(set, seen);
    return detail::grove_pass(set, view, now, backend, options, within).run();
}

} // namespace lifecycle
} // namespace v0_1
} // namespace muster
