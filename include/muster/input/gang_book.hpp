// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <boost/json/object.hpp>

#include <muster/apis/ack/labels.hpp>
#include <muster/apis/core/objects.hpp>
#include <muster/apis/gang_apis.hpp>
#include <muster/apis/gang_claims.hpp>
#include <muster/apis/gang_definition.hpp>
#include <muster/apis/missing_group.hpp>
#include <muster/apis/spark/application.hpp>
#include <muster/apis/undescribed_group.hpp>
#include <muster/base/assert.hpp>
#include <muster/document/diagnostic.hpp>
#include <muster/gangs/gang_claims.hpp>
#include <muster/gangs/gang_marks.hpp>
#include <muster/gangs/gang_object.hpp>
#include <muster/input/gang_finish.hpp>
#include <muster/input/gang_groups.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// A gang with its pods, and where its object, or the first of its pods, stands.
struct booked_gang {
    std::size_t order = 0;
    translate::gang_bundle made;
    object_place where;
    /// Whose group it is; none of a job and of a pod by itself.
    translate::gang_api api = translate::gang_api::none;
    /// In a cluster as it stands: why it cannot be judged.
    std::string fault{};
};

/// A pod of a cluster as it stands that finds no gang, for all that its marks say.
struct stray_pod {
    object_key pod;
    /// The group that the input does not hold; empty when the marks themselves are wrong.
    std::string group;
    translate::gang_api api = translate::gang_api::none;
    /// What is missing, or what is wrong with the marks.
    std::string fault;
};

/// Collects the gangs that an input defines and its pods, in any order, and brings them together.
class gang_book {
public:
    /// `cluster` holds the input's PriorityClasses and Topologies when finish() is called. In a
    /// cluster as it `stands` pods without a gang are no errors but strays(), and pods of T9k's and
    /// of gangs that only labels define are left to those who read these there: they are pods by
    /// themselves here, with all their marks.
    gang_book(const manifests& cluster, std::string default_namespace, diagnostics& out,
              bool stands = false)
        : cluster_(&cluster),
          default_namespace_(std::move(default_namespace)),
          out_(&out),
          stands_(stands) {}

    /// Takes a gang; its pods know it by `name` (that of the gang's object when empty).
    std::size_t define(translate::gang_api api, gang_definition made, std::size_t order,
                       std::string name = {}) {
        const std::size_t at = entries_.size();
        if (name.empty())
            name = made.gang.name;
        entries_.push_back({std::move(made), api, order, {}, {}, false, false});
        anchor(api, entries_[at].made.gang.name_space, std::move(name), at, vertex_index{0});
        return at;
    }

    /// Lets pods know a vertex of a gang by a name of its own.
    void anchor(translate::gang_api api, std::string name_space, std::string name, std::size_t of,
                vertex_index at) {
        const auto [known, fresh] =
            anchors_.try_emplace({api, std::move(name_space), name}, target{of, at});
        if (!fresh)
            report(*out_, severity::error, entries_[of].made.where, {"metadata", "name"},
                   "a group " + in_quotes(name) + " is there twice (expected every group once)");
    }

    [[nodiscard]] bool knows(translate::gang_api api, const std::string& name_space,
                             const std::string& name) const {
        return anchors_.contains({api, name_space, name});
    }

    /// Says that a gang lists this pod as its own.
    void refer(object_key pod, std::size_t of, vertex_index leaf) {
        references_.try_emplace(std::move(pod), target{of, leaf});
    }

    /// Records that another reader handles this group, so pods that name it are left to that
    /// reader.
    void leave_out(translate::gang_api api, std::string name_space, std::string name) {
        left_out_.emplace(api, std::move(name_space), std::move(name));
    }

    /// True if the input is an existing cluster.
    [[nodiscard]] bool stands() const noexcept { return stands_; }

    [[nodiscard]] gang_definition& operator[](std::size_t at) { return entries_[at].made; }

    /// A pod that is `made` is one that a job would make: nothing else in the input holds it.
    void add_pod(boost::json::object document, object_place where, std::size_t order,
                 bool made = true) {
        translate::drop_absent_owners(document);
        object_key key{std::string(translate::metadata_namespace(document)),
                       std::string(translate::metadata_name(document))};
        if (key.name_space.empty())
            key.name_space = default_namespace_;
        pods_.push_back({std::move(key), std::move(document), std::move(where), order, made});
    }

    /// A place in the order of the input, for what is handed over later.
    [[nodiscard]] std::size_t reserve() noexcept { return sequence_++; }

    /// Takes a gang that a job expands to. Pods whose template names another group join that one.
    void add_job(translate::gang_bundle made, const object_place& where, std::size_t order) {
        std::vector<translate::gang_pod> kept;
        for (translate::gang_pod& pod : made.pods) {
            translate::drop_absent_owners(pod.document);
            bool leaves = false;
            for (const translate::gang_claim& claim : translate::claims_of(pod.document)) {
                if (claim.group == made.gang.name && claim.error.empty() && !is_elsewhere(claim) &&
                    !anchors_.contains({claim.api, made.gang.name_space, claim.group}))
                    translate::strip_marks(pod, claim.api);
                else
                    leaves = true;
            }
            if (leaves)
                add_pod(std::move(pod.document), where, order);
            else
                kept.push_back(std::move(pod));
        }
        if (kept.empty() && !made.pods.empty())
            return;
        made.pods = std::move(kept);
        done_.push_back({order, std::move(made), where, translate::gang_api::none, {}});
    }

    /// The gangs with their pods, in the order of the input.
    [[nodiscard]] std::vector<booked_gang> finish() {
        for (const loose_pod& pod : pods_)
            describe_by(pod);
        for (loose_pod& pod : pods_)
            settle(pod);
        diagnostics found;
        const gang_facts facts(*cluster_, found);
        std::vector<finished_gang> gangs;
        for (entry& each : entries_)
            if (each.undescribed && !each.members.empty())
                require_all(each.made, each.members, *out_);
        for (entry& each : entries_) {
            if (each.copied && each.members.empty())
                continue;
            joined_gang joined = facts.finish(std::move(each.made), std::move(each.members));
            joined.api = each.api;
            std::string fault = tell(found);
            if (joined.fault.empty())
                joined.fault = std::move(fault);
            gangs.push_back({each.order, std::move(joined)});
        }
        merge_gang_groups(gangs, *out_, stands_);
        for (finished_gang& each : gangs)
            done_.push_back({each.order, std::move(each.bundle.made), std::move(each.bundle.where),
                             each.bundle.api, std::move(each.bundle.fault)});
        std::ranges::stable_sort(done_, {}, &booked_gang::order);
        return std::move(done_);
    }

    [[nodiscard]] const std::vector<stray_pod>& strays() const noexcept { return strays_; }

private:
    using handle = std::tuple<translate::gang_api, std::string, std::string>;
    struct target {
        std::size_t definition = 0;
        vertex_index at{0};
    };
    struct entry {
        gang_definition made;
        translate::gang_api api;
        std::size_t order = 0;
        std::vector<gang_member> members;
        std::map<std::string, std::size_t, std::less<>> copies; ///< Kubernetes 1.35
        bool copied = false;
        bool undescribed = false; ///< only its pods speak of it
    };
    struct loose_pod {
        object_key key;
        boost::json::object document;
        object_place where;
        std::size_t order = 0;
        bool made = false;
    };

    /// Hands on what was found of a gang; its first error, when errors are faults of the gang
    /// alone.
    [[nodiscard]] std::string tell(diagnostics& found) const {
        std::string fault;
        for (diagnostic each : found.findings()) {
            if (stands_ && each.level == severity::error) {
                if (fault.empty())
                    fault = each.message;
                each.level = severity::warning;
            }
            out_->add(std::move(each));
        }
        found = diagnostics();
        return fault;
    }

    void complain(const loose_pod& pod, const std::string& message,
                  const translate::gang_claim* missing = nullptr) {
        if (!stands_)
            return report(*out_, severity::error, pod.where, {},
                          "pod " + pod.key.name + ": " + message);
        if (missing)
            return strays_.push_back({pod.key, missing->group, missing->api,
                                      missing_group_text(*missing, pod.key.name_space)});
        report(*out_, severity::warning, pod.where, {"metadata"},
               "pod " + pod.key.name + ": " + message);
        strays_.push_back({pod.key, {}, translate::gang_api::none, message});
    }

    /// T9k's marks, and labels that define a gang without an object, are read elsewhere in a
    /// cluster as it stands.
    [[nodiscard]] bool is_elsewhere(const translate::gang_claim& claim) const {
        return stands_ && claim.api == translate::gang_api::t9k;
    }
    [[nodiscard]] bool is_elsewhere(const std::vector<translate::gang_claim>& claims,
                                    const loose_pod& pod) const {
        namespace keys = translate::keys;
        if (!stands_)
            return false;
        bool labelled = false;
        for (const std::string_view key : {keys::sigs_name, keys::sigs_minimum})
            labelled = labelled ||
                       translate::metadata_entry(pod.document, "labels", key).data() != nullptr;
        return std::ranges::any_of(claims, [&](const translate::gang_claim& claim) {
            return is_elsewhere(claim) ||
                   (labelled && claim.api == translate::gang_api::coscheduling &&
                    !anchors_.contains({claim.api, pod.key.name_space, claim.group}));
        });
    }

    void quarrel(const loose_pod& pod, std::string_view one, std::string_view other) {
        complain(pod, std::string(one) + " and " + std::string(other) +
                          " both name its group (expected one gang API)");
    }

    void settle(loose_pod& pod) {
        if (!stands_ || !pod.made)
            return place(pod);
        boost::json::object whole = pod.document;
        const std::size_t before = strays_.size();
        place(pod);
        if (strays_.size() > before)
            leave_alone(std::move(whole), pod.order);
    }

    /// For those who read such pods elsewhere.
    void leave_alone(boost::json::object document, std::size_t order) {
        booked_gang alone;
        alone.order = order;
        alone.made.gang.kind = "Pod";
        alone.made.pods.push_back({vertex_index{0}, std::move(document), {}});
        done_.push_back(std::move(alone));
    }

    void place(loose_pod& pod) {
        std::vector<translate::gang_claim> claims = translate::claims_of(pod.document);
        if (is_elsewhere(claims, pod))
            return leave_alone(std::move(pod.document), pod.order);
        for (const translate::gang_claim& claim : claims)
            if (!claim.error.empty())
                return complain(pod, claim.error);
        gang_member member{{vertex_index{0}, std::move(pod.document), {}}, pod.where, {}, {}};
        for (const translate::gang_claim& claim : claims)
            translate::strip_marks(member.pod, claim.api);
        const auto listed = references_.find(pod.key);
        std::erase_if(claims, [&](const translate::gang_claim& claim) {
            return left_out_.contains({claim.api, pod.key.name_space, claim.group}) ||
                   (claim.api == translate::gang_api::grove && listed != references_.end());
        });
        leave_to_grove(claims, listed != references_.end(), pod);
        if (listed != references_.end()) {
            if (!claims.empty())
                return quarrel(pod, claims.front().key, "a PodGang");
            translate::strip_marks(member.pod, translate::gang_api::grove);
            member.anchor = listed->second.at;
            entries_[listed->second.definition].members.push_back(std::move(member));
        } else if (claims.size() > 1) {
            quarrel(pod, claims[0].key, claims[1].key);
        } else if (claims.empty()) {
            place_alone(std::move(member), pod);
        } else {
            join(std::move(member), claims.front(), pod);
        }
    }

    /// Grove's pods carry their backend's marks besides. Where the input holds the PodGang, it
    /// decides, and marks that lead nowhere are of what is derived from it; where it does not, the
    /// backend's marks are all there is, and where these lead nowhere either, Grove's.
    void leave_to_grove(std::vector<translate::gang_claim>& claims, bool listed,
                        const loose_pod& pod) const {
        const auto of_grove = [](const translate::gang_claim& claim) {
            return claim.api == translate::gang_api::grove;
        };
        const auto known = [&](const translate::gang_claim& claim) {
            return anchors_.contains({claim.api, pod.key.name_space, claim.group});
        };
        const auto own = std::ranges::find_if(claims, of_grove);
        const bool held = listed || (own != claims.end() && known(*own));
        const bool others = std::ranges::any_of(claims, [&](const translate::gang_claim& claim) {
            return !of_grove(claim) && known(claim);
        });
        const bool own_way = own != claims.end() && !others;
        std::erase_if(claims, [&](const translate::gang_claim& claim) {
            return of_grove(claim) ? others && !held : (held || own_way) && !known(claim);
        });
    }

    void join(gang_member member, const translate::gang_claim& claim, const loose_pod& pod) {
        auto known = anchors_.find({claim.api, pod.key.name_space, claim.group});
        if (known == anchors_.end() && !claim.minimum.empty()) {
            if (const std::string fault = fault_of_labels(claim); !fault.empty()) {
                complain(pod, fault);
                if (stands_)
                    return;
            }
            known = define_by_labels(member.pod.marks, claim, pod);
        }
        if (known == anchors_.end() && !stands_ && stands_alone(claim)) {
            const std::size_t fresh =
                define(claim.api, undescribed_gang(claim, pod.key.name_space, pod.where), pod.order,
                       claim.group);
            entries_[fresh].undescribed = true;
            known = anchors_.find({claim.api, pod.key.name_space, claim.group});
        }
        if (known == anchors_.end())
            return complain(pod,
                            std::string(claim.key) + " names the group " + in_quotes(claim.group) +
                                ", which the input does not hold (expected its object)",
                            &claim);
        std::size_t at = known->second.definition;
        member.anchor = known->second.at;
        member.role = claim.role;
        if (!claim.copy.empty())
            at = copy_of(at, claim.copy);
        const std::int64_t least = entries_[at].made.gang.tree[0].min_member;
        if (!claim.minimum.empty() && parse_count(claim.minimum) != least) {
            if (stands_ && claim.api == translate::gang_api::kueue)
                return refuse(at, std::move(member), claim, pod);
            return complain(pod, "the minimum " + in_quotes(claim.minimum) +
                                     " is not that of its group " + in_quotes(claim.group) + ", " +
                                     std::to_string(least) + " (expected all to agree)");
        }
        entries_[at].members.push_back(std::move(member));
    }

    /// Kueue admits no pod of a group whose pods disagree on their count.
    void refuse(std::size_t at, gang_member member, const translate::gang_claim& claim,
                const loose_pod& pod) {
        gang_definition& of = entries_[at].made;
        const std::string text = "pod " + pod.key.name + " has the minimum " + claim.minimum +
                                 ", other pods of its group " + in_quotes(claim.group) + " have " +
                                 std::to_string(of.gang.tree[0].min_member) +
                                 " (expected all to agree)";
        report(*out_, severity::warning, pod.where, {"metadata", "annotations"}, text);
        if (of.fault.empty())
            of.fault = text;
        entries_[at].members.push_back(std::move(member));
    }

    /// Takes the gang that a pod describes, if it describes one. All pods that describe the same
    /// gang must agree.
    void describe_by(const loose_pod& pod) {
        apis::find_api([&]<class Api>() {
            if constexpr (requires { Api::described_by(pod.document, pod.key.name_space); }) {
                auto made = Api::described_by(pod.document, pod.key.name_space);
                if (!made)
                    return false;
                made->where = pod.where;
                const auto known =
                    anchors_.find({Api::facts.api, pod.key.name_space, made->gang.name});
                if (known == anchors_.end()) {
                    static_cast<void>(define(Api::facts.api, *std::move(made), pod.order));
                    return true;
                }
                gang_definition& before = entries_[known->second.definition].made;
                if (same_minima(before.gang.tree, made->gang.tree) || !before.fault.empty())
                    return true;
                const std::string text = "pod " + pod.key.name + " and another pod of " +
                                         in_quotes(before.gang.name) +
                                         " describe its groups differently (expected all to agree)";
                report(*out_, stands_ ? severity::warning : severity::error, pod.where,
                       {"metadata", "annotations"}, text);
                before.fault = text;
                return true;
            }
            return false;
        });
    }

    using anchor_map = std::map<handle, target>;

    /// What is wrong with labels that define a gang; empty when nothing is.
    [[nodiscard]] static std::string fault_of_labels(const translate::gang_claim& claim) {
        if (!parse_count(claim.minimum, 1))
            return in_quotes(claim.minimum) +
                   " is not a minimum (expected a whole number from 1 to 2147483647)";
        if (!is_subdomain(claim.group))
            return in_quotes(claim.group) + " is not a name (expected a DNS subdomain)";
        return {};
    }

    /// A gang that has no object, only pods that say how many of them it takes.
    anchor_map::iterator define_by_labels(const boost::json::object& marks,
                                          const translate::gang_claim& claim,
                                          const loose_pod& pod) {
        gang_definition made;
        made.gang.kind = "PodGroup";
        made.gang.name_space = pod.key.name_space;
        made.gang.name = claim.group;
        // Without one it is an error already; others of its pods need not complain of it.
        made.gang.tree = gang_tree(parse_count(claim.minimum, 1).value_or(1));
        made.where = pod.where;
        apis::find_api([&]<class Api>() {
            if constexpr (requires { Api::define(claim, marks, made, *out_, stands_); })
                if (Api::facts.api == claim.api)
                    Api::define(claim, marks, made, *out_, stands_);
            return false;
        });
        static_cast<void>(define(claim.api, std::move(made), pod.order));
        return anchors_.find({claim.api, pod.key.name_space, claim.group});
    }

    std::size_t copy_of(std::size_t original, const std::string& which) {
        const auto [known, fresh] = entries_[original].copies.try_emplace(which, entries_.size());
        const std::size_t at = known->second;
        if (fresh) {
            const entry& from = entries_[original];
            entry copy{from.made, from.api, from.order, {}, {}, false, from.undescribed};
            copy.made.gang.name += '-' + which;
            if (copy.made.gang.follows)
                copy.made.gang.follows->copy = which;
            entries_.push_back(std::move(copy));
            entries_[original].copied = true;
        }
        return at;
    }

    void place_alone(gang_member member, const loose_pod& pod) {
        const std::string application(translate::spark_application(member.pod.document));
        if (!application.empty()) {
            const auto [known, fresh] =
                applications_.try_emplace({pod.key.name_space, application}, entries_.size());
            if (!fresh) {
                translate::strip_scheduler(member.pod);
                entries_[known->second].members.push_back(std::move(member));
                return;
            }
        }
        entry alone{{}, translate::gang_api::none, pod.order, {}, {}, false, false};
        alone.made.gang.kind = "Pod";
        alone.made.gang.name_space = pod.key.name_space;
        alone.made.gang.name = application.empty() ? pod.key.name : application;
        alone.made.gang.tree = gang_tree(1);
        alone.made.where = pod.where;
        const auto& written = member.pod.document;
        translate::take_eviction_words(
            translate::metadata_entry(written, "labels", translate::owner_mark::preemptibility),
            translate::find_object(translate::find_object(&written, "metadata"), "annotations"),
            alone.made.gang);
        translate::strip_scheduler(member.pod);
        alone.members.push_back(std::move(member));
        entries_.push_back(std::move(alone));
    }

    const manifests* cluster_;
    std::string default_namespace_;
    diagnostics* out_;
    std::size_t sequence_ = 0;
    std::vector<entry> entries_;
    anchor_map anchors_;
    std::map<object_key, target> references_;
    std::map<object_key, std::size_t> applications_; ///< of Spark
    std::set<handle> left_out_;
    std::vector<loose_pod> pods_;
    std::vector<booked_gang> done_;
    std::vector<stray_pod> strays_;
    bool stands_;
};

} // namespace codec
} // namespace v0_1
} // namespace muster
