// SPDX-License-Identifier: Apache-2.0
#include <muster/apis/write.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <support/settings.hpp>

#include "muster/gangs/gangs.hpp"

namespace translate_write_properties_test {

using namespace muster::translate;
using namespace translate_tests;

namespace {

using counts = std::vector<std::int64_t>; ///< members that start, by vertex (leaves only)
using documents = std::vector<boost::json::object>;

/// Whether a gang may start with these members, read off its tree as it is defined: a subgroup that
/// does not reach its minima counts for nothing above.
bool may_start(const muster::gang_tree& tree, const counts& members) {
    std::function<std::pair<bool, std::int64_t>(std::size_t)> visit = [&](std::size_t at) {
        if (tree.is_leaf(at))
            return std::pair(members[at] >= tree[at].min_member, members[at]);
        std::int64_t reached = 0, below = 0, children = 0;
        for (std::size_t child = at + 1; child < tree.size(); ++child)
            if (tree[child].parent == at) {
                ++children;
                if (const auto [whole, count] = visit(child); whole) {
                    ++reached;
                    below += count;
                }
            }
        const bool enough =
            reached >= std::min(children, tree[at].min_subgroups.value_or(children));
        return std::pair(enough && below >= tree[at].min_member, below);
    };
    return visit(0).first;
}

std::string text(const boost::json::object& document, std::initializer_list<const char*> path) {
    const boost::json::value* found = nullptr;
    const boost::json::object* in = &document;
    for (const char* key : path) {
        found = in ? in->if_contains(key) : nullptr;
        in = found ? found->if_object() : nullptr;
    }
    return found && found->is_string() ? std::string(found->get_string()) : std::string();
}
std::int64_t number(const boost::json::object& in, const char* key, std::int64_t otherwise = 0) {
    const auto* found = in.if_contains(key);
    return found ? found->to_number<std::int64_t>() : otherwise;
}

/// How many of the pods carry this value there.
std::int64_t marked(const documents& pods, std::initializer_list<const char*> path,
                    std::string_view value) {
    return std::ranges::count_if(pods, [&](const auto& pod) { return text(pod, path) == value; });
}

// What the schedulers of these APIs ask for, read off the manifests.

bool t9k_starts(const boost::json::object& group, const documents& pods) {
    const auto& spec = group.at("spec").as_object();
    const auto in_group =
        marked(pods, {"metadata", "labels", "scheduler.tensorstack.dev/group-name"},
               text(group, {"metadata", "name"}));
    bool starts = in_group >= number(spec, "minMember");
    if (const auto* roles = spec.if_contains("roles"))
        for (const auto& role : roles->as_array())
            starts &= marked(pods, {"metadata", "labels", "scheduler.tensorstack.dev/role"},
                             role.at("name").as_string()) >= number(role.as_object(), "minMember");
    return starts;
}

bool volcano_starts(const boost::json::object& group, const documents& pods) {
    const auto& spec = group.at("spec").as_object();
    const auto of_task = [&](std::string_view task) {
        return marked(pods, {"metadata", "annotations", "volcano.sh/task-spec"}, task);
    };
    bool starts = marked(pods, {"metadata", "annotations", "scheduling.k8s.io/group-name"},
                         text(group, {"metadata", "name"})) >= number(spec, "minMember");
    if (const auto* tasks = spec.if_contains("minTaskMember")) {
        std::int64_t sum = 0;
        for (const auto& task : tasks->as_object())
            sum += task.value().to_number<std::int64_t>();
        for (const auto& task : tasks->as_object())
            starts &= number(spec, "minMember") < sum ||
                      of_task(task.key()) >= task.value().to_number<std::int64_t>();
    }
    if (const auto* policies = spec.if_contains("subGroupPolicy"))
        for (const auto& policy : policies->as_array()) {
            std::int64_t whole = 0;
            for (const auto& task :
                 policy.at("labelSelector").at("matchExpressions").at(0).at("values").as_array())
                whole += of_task(task.as_string()) >= number(policy.as_object(), "subGroupSize");
            starts &= whole >= number(policy.as_object(), "minSubGroups");
        }
    return starts;
}

bool kai_starts(const boost::json::object& group, const documents& pods) {
    const auto& spec = group.at("spec").as_object();
    const auto* subgroups = spec.if_contains("subGroups");
    if (!subgroups)
        return marked(pods, {"metadata", "annotations", "pod-group-name"},
                      text(group, {"metadata", "name"})) >= number(spec, "minMember", 1);
    std::function<bool(std::string, const boost::json::object&)> reached =
        [&](const std::string& name, const boost::json::object& of) {
            std::int64_t children = 0, whole = 0;
            for (const auto& each : subgroups->as_array()) {
                const auto& child = each.as_object();
                if (text(child, {"parent"}) != name)
                    continue;
                ++children;
                whole += reached(text(child, {"name"}), child);
            }
            if (children > 0) // a minMember beside them counts for nothing
                return whole >= number(of, "minSubGroup", children);
            return marked(pods, {"metadata", "labels", "kai.scheduler/subgroup-name"}, name) >=
                   number(of, "minMember");
        };
    return reached("", spec);
}

bool grove_starts(const boost::json::object& gang, const documents& pods) {
    for (const auto& podgroup : gang.at("spec").at("podgroups").as_array())
        if (marked(pods, {"metadata", "labels", "grove.io/podclique"},
                   podgroup.at("name").as_string()) < number(podgroup.as_object(), "minReplicas"))
            return false;
    return true;
}

bool workload_starts(const documents& groups, const documents& pods) {
    const auto enough = [](const boost::json::object& policy, const char* key, std::int64_t count) {
        const auto* gang = policy.if_contains("gang");
        return !gang || count >= number(gang->as_object(), key);
    };
    std::function<bool(const boost::json::object&)> reached = [&](const boost::json::object&
                                                                      group) {
        const auto& policy = group.at("spec").at("schedulingPolicy").as_object();
        const std::string name = text(group, {"metadata", "name"});
        if (text(group, {"kind"}) == "PodGroup")
            return enough(policy, "minCount",
                          marked(pods, {"spec", "schedulingGroup", "podGroupName"}, name));
        return enough(
            policy, "minGroupCount", std::ranges::count_if(groups, [&](const auto& each) {
                return text(each, {"spec", "parentCompositePodGroupName"}) == name && reached(each);
            }));
    };
    bool starts = true;
    for (const auto& each : groups) {
        if (text(each, {"kind"}) == "Workload") {
            if (const auto* old = each.at("spec").as_object().if_contains("podGroups"))
                for (const auto& part : old->as_array())
                    starts &= enough(part.at("policy").as_object(), "minCount",
                                     marked(pods, {"spec", "workloadRef", "podGroup"},
                                            part.at("name").as_string()));
        } else if (text(each, {"spec", "parentCompositePodGroupName"}).empty()) {
            starts &= reached(each);
        }
    }
    return starts;
}

bool named_gangs_start(const documents& groups, const documents& pods, const char* label) {
    for (const auto& group : groups)
        if (marked(pods, {"metadata", "labels", label}, text(group, {"metadata", "name"})) <
            number(group.at("spec").as_object(), "minMember"))
            return false;
    return true;
}

bool labels_start(const documents& all, const documents& pods) {
    std::map<std::string, std::int64_t> gangs;
    for (const auto& pod : all)
        if (const auto least =
                text(pod, {"metadata", "labels", "pod-group.scheduling.sigs.k8s.io/min-available"});
            !least.empty())
            gangs[text(pod, {"metadata", "labels", "pod-group.scheduling.sigs.k8s.io/name"})] =
                std::stoll(least);
    return std::ranges::all_of(gangs, [&](const auto& gang) {
        return marked(pods, {"metadata", "labels", "pod-group.scheduling.sigs.k8s.io/name"},
                      gang.first) >= gang.second;
    });
}

/// Every task group that some pod lists has as many pods as it says.
bool task_groups_start(const documents& all, const documents& pods) {
    const auto note = [](const boost::json::object& pod, const char* key) {
        const auto* const notes = pod.at("metadata").as_object().if_contains("annotations");
        const auto* const found = notes ? notes->as_object().if_contains(key) : nullptr;
        return found ? std::string(found->as_string()) : std::string();
    };
    for (const boost::json::object& listed : all) {
        const std::string text = note(listed, "yunikorn.apache.org/task-groups");
        if (text.empty())
            continue;
        const boost::json::value groups = boost::json::parse(text);
        for (const auto& group : groups.as_array())
            if (std::ranges::count_if(pods, [&](const boost::json::object& pod) {
                    return note(pod, "yunikorn.apache.org/task-group-name") ==
                           group.at("name").as_string();
                }) < group.at("minMember").as_int64())
                return false;
    }
    return true;
}

/// Whether the target's scheduler would start these pods of all that were written.
bool target_starts(target to, const documents& groups, const documents& all,
                   const documents& pods) {
    if (to == target::t9k)
        return t9k_starts(groups.at(0), pods);
    if (to == target::ack_1_30 || to == target::ack_1_31)
        return labels_start(all, pods);
    if (to == target::scheduler_plugins)
        return named_gangs_start(groups, pods, "scheduling.x-k8s.io/pod-group");
    if (to == target::volcano)
        return volcano_starts(groups.at(0), pods);
    if (to == target::koordinator)
        return named_gangs_start(groups, pods, "pod-group.scheduling.sigs.k8s.io");
    if (to == target::kai_0_14 || to == target::kai_0_15)
        return kai_starts(groups.at(0), pods);
    if (to.name.starts_with("workload"))
        return workload_starts(groups, pods);
    if (to == target::grove)
        return grove_starts(groups.at(0), pods);
    if (to.name == "yunikorn")
        return task_groups_start(all, pods);
    REQUIRE(to == target::pods); // another target needs its rule here
    return true;
}

class gang_maker {
public:
    explicit gang_maker(std::uint64_t seed) : random_(seed) {}

    gang_bundle operator()() {
        gang_bundle made = gang("g", 0);
        std::int64_t members = 0;
        do {
            made = gang("g", 0);
            members = 0;
            grow(made, muster::vertex_index{0}, 0, members);
        } while (made.gang.sizes.size() > 6);
        made.gang.tree.require_members(muster::vertex_index{0}, upto(2) == 0 ? upto(members) : 0);
        return made;
    }
    std::int64_t upto(std::int64_t most) {
        return std::uniform_int_distribution<std::int64_t>(0, most)(random_);
    }

private:
    void grow(gang_bundle& to, muster::vertex_index at, int depth, std::int64_t& members) {
        const std::int64_t children = 1 + upto(2);
        const std::int64_t before = members;
        for (std::int64_t child = 0; child < children; ++child) {
            const std::string name = "r" + std::to_string(to.gang.tree.size());
            if (depth < 2 && upto(3) == 0) {
                grow(to, add(to, name, 0, 0, at), depth + 1, members);
                continue;
            }
            const std::int64_t size = 1 + upto(1);
            members += size;
            add(to, name, upto(3) == 0 ? 0 : 1 + upto(size - 1), static_cast<std::size_t>(size),
                at);
        }
        if (upto(3) == 0)
            to.gang.tree.require_subgroups(at, 1 + upto(children - 1));
        if (depth > 0 && upto(3) == 0)
            to.gang.tree.require_members(at, upto(members - before));
    }

    std::mt19937_64 random_;
};

/// "r1:2(r2:1 r3:0)/1" is 1 of two, with at least 2 members.
std::string text(const muster::gang_tree& tree, std::size_t at = 0) {
    std::string made = tree[at].name + ":" + std::to_string(tree[at].min_member);
    if (tree.is_leaf(at))
        return made;
    made += "(";
    for (std::size_t child = at + 1; child < tree.size(); ++child)
        if (tree[child].parent == at)
            made += (made.back() == '(' ? "" : " ") + text(tree, child);
    return made + ")" +
           (tree[at].min_subgroups ? "/" + std::to_string(*tree[at].min_subgroups) : "");
}

bool says(const written& out, std::initializer_list<loss_kind> any) {
    return std::ranges::any_of(out.losses, [&](const loss& each) {
        return std::ranges::find(any, each.what) != any.end();
    });
}

/// Calls with every choice of members, but for none at all.
template<class Visit>
void for_each_choice(const gang_bundle& bundle, Visit visit) {
    counts sizes(bundle.gang.tree.size());
    for (const leaf_size& each : bundle.gang.sizes)
        sizes[each.leaf.value()] = each.replicas;
    counts chosen(sizes.size());
    for (;;) {
        std::size_t at = 0;
        while (at < chosen.size() && chosen[at] == sizes[at])
            chosen[at++] = 0;
        if (at == chosen.size())
            return;
        ++chosen[at];
        visit(chosen);
    }
}

} // namespace

TEST_CASE("a target never asks for more than the gang, and for less only where it says so") {
    gang_maker make(muster::testing::random_seed());
    const std::uint64_t cases = muster::testing::case_count(300);
    std::map<std::string, std::int64_t> exact;
    for (std::uint64_t at = 0; at < cases; ++at) {
        const gang_bundle bundle = make();
        CAPTURE(at);
        CAPTURE(text(bundle.gang.tree));
        for (const auto& each : targets) {
            const target to = each.first;
            const std::string name(each.second);
            if (to == target::pods)
                continue;
            const written out = write(to, bundle);
            CAPTURE(name);
            REQUIRE(violations(out) == "");
            documents groups, pods;
            for (const auto& object : out.objects)
                (object.at("kind").as_string() == "Pod" ? pods : groups).push_back(object);
            REQUIRE(pods.size() == bundle.pods.size());
            const bool lossy = says(out, {loss_kind::total_minimum, loss_kind::role_minima,
                                          loss_kind::subgroup_minima, loss_kind::all_or_nothing});
            exact[name] += lossy ? 0 : 1;
            for_each_choice(bundle, [&](const counts& members) {
                documents chosen;
                counts left = members;
                for (std::size_t pod = 0; pod < pods.size(); ++pod)
                    if (left[bundle.pods[pod].leaf.value()]-- > 0)
                        chosen.push_back(pods[pod]);
                const bool source = may_start(bundle.gang.tree, members);
                const bool written_so = target_starts(to, groups, pods, chosen);
                if (source && !written_so)
                    FAIL_CHECK("stricter than the gang");
                if (!lossy && written_so && !source)
                    FAIL_CHECK("weaker than the gang, and no loss says so");
            });
        }
    }
    for (const auto& each : exact)
        CHECK_MESSAGE(each.second > 0, each.first);
}

} // namespace translate_write_properties_test
