// SPDX-License-Identifier: Apache-2.0
// What a live cluster tells object by object is what a file says of it as a whole.
#include <muster/kube/live_objects.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <doctest/doctest.h>

#include <muster/cycle/cycle.hpp>
#include <muster/input/broken_objects.hpp>
#include <muster/input/cluster_input.hpp>
#include <muster/input/read_documents.hpp>
#include <muster/kube/sent_objects.hpp>

namespace live_dialects_test {

namespace adapter = muster::adapter;
namespace codec = muster::codec;
namespace json = boost::json;
namespace kube = muster::kube;

namespace {

constexpr std::size_t width = 8;
using live_type = kube::live_objects<width>;
using state_type = muster::state<live_type::traits>;

std::string text_of(const muster::gang_tree& tree) {
    std::string made;
    for (std::size_t at = 0; at < tree.size(); ++at) {
        made += " (" + tree[at].name + " " + std::to_string(tree[at].min_member);
        if (at > 0)
            made += " below " + std::to_string(tree[at].parent);
        if (tree[at].min_subgroups)
            made += " of " + std::to_string(*tree[at].min_subgroups);
        if (tree[at].together)
            made += " within " + std::to_string(tree[at].together->required.value_or(99)) + "/" +
                    std::to_string(tree[at].together->preferred.value_or(99));
        made += ')';
    }
    return made;
}

/// All that decisions go by, in the order of names.
std::string text_of(const state_type& known) {
    std::vector<std::string> lines;
    for (const auto& [key, handle] : known.gang_keys()) {
        const auto& gang = known[handle];
        std::string line = key.name_space + "/" + key.name + " " +
                           std::string(to_text(key.origin)) + " queue " +
                           (gang.queue ? known.key(*gang.queue) : "-") + " priority " +
                           std::to_string(gang.spec.priority) + " fault " +
                           std::to_string(static_cast<int>(gang.spec.fault)) +
                           (gang.spec.preemptible ? "" : " firm") +
                           (gang.spec.may_preempt ? "" : " meek") + text_of(gang.spec.tree);
        std::vector<std::string> members;
        for (const muster::pod_index pod : gang.members) {
            const auto spec = known.spec_of(pod);
            members.push_back("\n  " + known.key(pod).name + " " +
                              std::to_string(spec.role.value()) +
                              (spec.where.unsupported ? " unsupported" : "") +
                              (known[pod].node ? " on " + known.key(*known[pod].node) : ""));
        }
        std::ranges::sort(members);
        for (const std::string& each : members)
            line += each;
        lines.push_back(std::move(line));
    }
    for (const auto& [key, handle] : known.queue_keys()) {
        const auto& queue = known[handle];
        lines.push_back("queue " + key + " " + std::to_string(queue.spec.weight) + " " +
                        std::to_string(queue.spec.priority) + (queue.spec.closed ? " closed" : "") +
                        (queue.parent ? " below " + known.key(*queue.parent) : ""));
    }
    for (const auto& [key, which] : known.budget_keys())
        lines.push_back("budget " + key.name + " " + std::to_string(known.budget(which).keeps));
    std::ranges::sort(lines);
    std::string made;
    for (const std::string& each : lines)
        made += each + "\n";
    return made;
}

/// The objects of a text as an API server would hand them out.
std::vector<json::object> objects_of(const std::string& yaml) {
    codec::diagnostics found;
    std::vector<json::object> made;
    for (const codec::document& each :
         codec::read_documents("input", yaml, found, codec::input_format::yaml))
        if (const json::object* const object = each.root().if_object()) {
            json::object one = *object;
            json::object& metadata = one["metadata"].as_object();
            const std::string id = std::to_string(made.size() + 1);
            metadata["uid"] = "u" + id;
            metadata["resourceVersion"] = id;
            const std::string kind(one["kind"].as_string());
            if (!metadata.contains("namespace") && kind != "Node" && kind != "Queue" &&
                kind != "PriorityClass" && kind != "Topology")
                metadata["namespace"] = "team";
            made.push_back(std::move(one));
        }
    REQUIRE(found.ok());
    return made;
}

std::string read_as_file(const std::vector<json::object>& objects) {
    json::array items(objects.begin(), objects.end());
    codec::diagnostics found;
    const auto documents = codec::read_documents(
        "snapshot",
        json::serialize(json::object{{"apiVersion", "v1"}, {"kind", "List"}, {"items", items}}),
        found, codec::input_format::json);
    const codec::manifests read = codec::read_cluster(documents, {}, found);
    const auto made = codec::make_cluster<width>(read, {}, found);
    std::string wrong;
    for (const auto& each : found.findings())
        if (each.level == codec::severity::error)
            wrong += to_text(each) + "\n";
    REQUIRE(wrong == "");
    return text_of(made.state);
}

/// A live cluster that is fed by hand.
struct live {
    live_type objects;
    state_type known;
    adapter::cluster_view<live_type::traits> view;
    live_type::whole first{true, true, true, true};
    bool by_watch = false;

    explicit live(kube::dialect which)
        : objects(options(which)), known(objects.pods_kind()), view(known) {}

    static kube::live_options options(kube::dialect which) {
        kube::live_options how;
        how.dialects = {which};
        how.scheduler_names = {"gangs"};
        return how;
    }
    std::size_t stream_of(const json::object& object) const {
        const auto& all = objects.collections();
        for (std::size_t at = 0; at < all.size(); ++at)
            if (object.at("apiVersion").as_string() == all[at].version &&
                object.at("kind").as_string() == all[at].kind)
                return at;
        FAIL("nobody follows " << json::serialize(object));
        return 0;
    }
    void take(const json::object& object) {
        std::string wrong;
        const auto document = kube::detail::one_document(
            "sent",
            json::serialize(by_watch ? json::object{{"object", object}}
                                     : json::object{{"items", json::array{object}}}),
            wrong);
        REQUIRE(document);
        const auto who = kube::detail::identify(json::value(object));
        REQUIRE(who);
        objects.take(stream_of(object),
                     kube::arrived(*who, *document,
                                   by_watch ? std::nullopt : std::optional<std::size_t>(0)));
    }
    /// Takes an object in which the text "ODD" is replaced by one that cannot be read.
    void take_odd(const json::object& object) {
        std::string text = json::serialize(object);
        const std::string deep = std::string(70, '[') + std::string(70, ']');
        text.replace(text.find("\"ODD\""), 5, deep);
        const auto read = kube::read_sent_object("sent", text);
        REQUIRE(read);
        objects.take(stream_of(object), kube::arrived(*kube::detail::identify(json::value(object)),
                                                      read->document, read->faults));
    }
    void lose(const json::object& object) {
        objects.lose(stream_of(object), *kube::detail::identify(json::value(object)));
    }
    /// The same from copies of all objects, as files are planned.
    std::string copied() {
        codec::diagnostics found;
        const codec::manifests copies = objects.copies();
        return text_of(codec::make_cluster<width>(copies, {}, found).state);
    }
    /// At first all is listed, then what changes is told.
    std::string told() {
        objects.tell(view, std::exchange(first, {}));
        return text_of(known);
    }
};

/// However the objects come, and whatever was there between, the state is that of the file.
void agree(kube::dialect which, const std::string& yaml, const std::string& named) {
    const std::vector<json::object> objects = objects_of(yaml);
    const std::string expected = read_as_file(objects);
    CAPTURE(expected);
    CHECK(expected.find(named) != std::string::npos);
    for (std::uint32_t seed = 0; seed < 12; ++seed) {
        std::minstd_rand random(seed + 1);
        std::vector<json::object> order = objects;
        std::shuffle(order.begin(), order.end(), random);
        live of(which);
        for (const json::object& each : order) {
            of.take(each);
            if (random() % 2 == 0)
                static_cast<void>(of.told());
        }
        for (int again = 0; again < 6; ++again) {
            const json::object& each = order[random() % order.size()];
            of.lose(each);
            if (random() % 2 == 0)
                static_cast<void>(of.told());
            of.take(each);
        }
        CAPTURE(seed);
        REQUIRE(of.told() == expected);
        REQUIRE(of.copied() == expected);
        REQUIRE(of.told() == expected);
    }
}

std::string pods(const std::string& names, const std::string& metadata,
                 const std::string& spec = {}) {
    std::string made;
    for (const char name : names)
        made += "---\napiVersion: v1\nkind: Pod\nmetadata: {name: p" + std::string(1, name) + ", " +
                metadata + "}\nspec: {schedulerName: gangs, " + spec +
                "containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]}\n";
    return made;
}

const std::string nodes = "---\napiVersion: v1\nkind: Node\nmetadata: {name: a}\n"
                          "status: {allocatable: {cpu: \"8\", pods: \"20\"}}\n";
const std::string classes =
    "---\napiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: high}\n"
    "value: 700\n";

} // namespace

TEST_CASE("scheduler-plugins' groups are the same live and from a file") {
    agree(kube::dialect::scheduler_plugins,
          nodes + classes +
              "---\napiVersion: scheduling.x-k8s.io/v1alpha1\nkind: PodGroup\n"
              "metadata: {name: train}\nspec: {minMember: 3}\n" +
              pods("abcd", "labels: {scheduling.x-k8s.io/pod-group: train}",
                   "priorityClassName: high, priority: 700, ") +
              pods("x", "labels: {scheduling.x-k8s.io/pod-group: gone}") +
              pods("y", "labels: {app: web}"),
          "team/train coscheduling queue - priority 700 fault 0 ( 3)\n  pa 0\n  pb 0");
}

TEST_CASE("Volcano's groups and queues are the same live and from a file") {
    agree(kube::dialect::volcano,
          nodes + classes +
              "---\napiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\n"
              "metadata: {name: root}\nspec: {}\n"
              "---\napiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\n"
              "metadata: {name: research}\nspec: {weight: 4, capability: {cpu: 6}}\n"
              "---\napiVersion: scheduling.volcano.sh/v1beta1\nkind: PodGroup\n"
              "metadata: {name: train}\n"
              "spec: {minMember: 3, minTaskMember: {ps: 1, worker: 2}, queue: research, "
              "priorityClassName: high}\n"
              "---\napiVersion: scheduling.volcano.sh/v1beta1\nkind: PodGroup\n"
              "metadata: {name: parts}\n"
              "spec: {minMember: 2, subGroupPolicy: [{name: rack, subGroupSize: 2, minSubGroups: "
              "1, labelSelector: {matchLabels: {app: x}}, matchLabelKeys: [row]}]}\n" +
              pods("a", "annotations: {scheduling.k8s.io/group-name: train, "
                        "volcano.sh/task-spec: ps}") +
              pods("bcd", "annotations: {scheduling.k8s.io/group-name: train, "
                          "volcano.sh/task-spec: worker}") +
              pods("ef", "annotations: {scheduling.k8s.io/group-name: parts}, labels: {app: x, "
                         "row: r1}") +
              pods("gh", "annotations: {scheduling.k8s.io/group-name: parts}, labels: {app: x, "
                         "row: r2}"),
          "team/train volcano queue research priority 700 fault 0 ( 3) (ps 1 below 0) (worker 2 "
          "below "
          "0)\n  pa 1\n  pb 2");
}

TEST_CASE("KAI's groups, queues and topologies are the same live and from a file") {
    agree(kube::dialect::kai,
          nodes + classes +
              "---\napiVersion: scheduling.run.ai/v2\nkind: Queue\nmetadata: {name: all}\n"
              "spec: {resources: {cpu: {quota: -1, limit: -1, overQuotaWeight: 2}}}\n"
              "---\napiVersion: scheduling.run.ai/v2\nkind: Queue\nmetadata: {name: team}\n"
              "spec: {parentQueue: all, resources: {cpu: {quota: 4000, limit: -1, "
              "overQuotaWeight: 3}}}\n"
              "---\napiVersion: kai.scheduler/v1alpha1\nkind: Topology\nmetadata: {name: racks}\n"
              "spec: {levels: [{nodeLabel: block}, {nodeLabel: rack}]}\n"
              "---\napiVersion: scheduling.run.ai/v2alpha2\nkind: PodGroup\n"
              "metadata: {name: train}\n"
              "spec: {minMember: 1, queue: team, priorityClassName: high, topologyConstraint: "
              "{topology: racks, requiredTopologyLevel: rack}, subGroups: [{name: ps, minMember: "
              "1}, {name: workers, minMember: 2}]}\n" +
              pods("a", "annotations: {pod-group-name: train}, labels: "
                        "{kai.scheduler/subgroup-name: ps}") +
              pods("bcd", "annotations: {pod-group-name: train}, labels: "
                          "{kai.scheduler/subgroup-name: workers}"),
          "team/train kai queue team priority 700");
}

TEST_CASE("a pod of Grove's joins the group of its backend") {
    agree(kube::dialect::kai,
          nodes +
              "---\napiVersion: scheduling.run.ai/v2alpha2\nkind: PodGroup\nmetadata: {name: "
              "pg-set-0-u3}\nspec: {queue: q, subGroups: [{name: set-0-w, minMember: 2}]}\n" +
              pods("ab", "annotations: {pod-group-name: pg-set-0-u3}, labels: {grove.io/podgang: "
                         "set-0, kai.scheduler/subgroup-name: set-0-w}"),
          "team/pg-set-0-u3 kai queue q priority 0 fault 0 ( 2) (set-0-w 2 below 0)\n  pa 1");
}

TEST_CASE("KAI's default queue admits everybody where nobody made it, and only then") {
    const std::string group =
        "---\napiVersion: scheduling.run.ai/v2alpha2\nkind: PodGroup\n"
        "metadata: {name: train}\nspec: {minMember: 1, queue: default-queue}\n" +
        pods("a", "annotations: {pod-group-name: train}");
    agree(kube::dialect::kai, nodes + group, "queue default-queue 1 0\n");
    const std::string made = "---\napiVersion: scheduling.run.ai/v2\nkind: Queue\nmetadata: {name: "
                             "default-queue}\nspec: {resources: {cpu: {quota: 1, limit: 1, "
                             "overQuotaWeight: 4}}}\n";
    agree(kube::dialect::kai, nodes + group + made, "queue default-queue 4 100\n");
    CHECK(live(kube::dialect::t9k).told().find("default-queue") == std::string::npos);

    live of(kube::dialect::kai);
    for (const json::object& each : objects_of(nodes + group))
        of.take(each);
    static_cast<void>(of.told());
    const auto found = muster::cycle(of.known, 0);
    REQUIRE(found.decisions.size() == 1);
    CHECK(found.decisions.front().placements.size() == 1);
}

TEST_CASE("Koordinator's gangs of several groups are the same live and from a file") {
    const std::string together =
        "{gang.scheduling.koordinator.sh/groups: '[\"team/ps\",\"team/workers\"]'}";
    agree(kube::dialect::koordinator,
          nodes + classes +
              "---\napiVersion: scheduling.sigs.k8s.io/v1alpha1\nkind: PodGroup\n"
              "metadata: {name: ps, annotations: " +
              together +
              "}\nspec: {minMember: 1}\n"
              "---\napiVersion: scheduling.sigs.k8s.io/v1alpha1\nkind: PodGroup\n"
              "metadata: {name: workers, annotations: " +
              together + "}\nspec: {minMember: 2}\n" +
              "---\napiVersion: scheduling.sigs.k8s.io/v1alpha1\nkind: PodGroup\n"
              "metadata: {name: alone}\nspec: {minMember: 2}\n" +
              pods("a", "labels: {pod-group.scheduling.sigs.k8s.io: ps}") +
              pods("bc", "labels: {pod-group.scheduling.sigs.k8s.io: workers}") +
              pods("de", "labels: {pod-group.scheduling.sigs.k8s.io: alone}") +
              pods("fg", "annotations: {gang.scheduling.koordinator.sh/name: noted, "
                         "gang.scheduling.koordinator.sh/min-available: \"2\"}"),
          "team/ps coscheduling queue - priority 0 fault 0 ( 3) (ps 1 below 0) (workers 2 below "
          "0)\n  pa 1\n"
          "  pb 2");
}

TEST_CASE("Kubernetes' groups of 1.36 are the same live and from a file") {
    agree(kube::dialect::workload,
          nodes + classes +
              "---\napiVersion: scheduling.k8s.io/v1alpha2\nkind: Workload\n"
              "metadata: {name: train}\nspec: {podGroupTemplates: [{name: worker, "
              "schedulingPolicy: {gang: {minCount: 3}}}, {name: spare, schedulingPolicy: {basic: "
              "{}}}]}\n"
              "---\napiVersion: scheduling.k8s.io/v1alpha2\nkind: PodGroup\n"
              "metadata: {name: train-worker}\nspec: {podGroupTemplateRef: {workload: "
              "{workloadName: train, podGroupTemplateName: worker}}, schedulingPolicy: {gang: "
              "{minCount: 3}}}\n" +
              pods("abc", "labels: {app: x}", "schedulingGroup: {podGroupName: train-worker}, ") +
              pods("x", "labels: {app: x}", "schedulingGroup: {podGroupName: gone}, "),
          "team/train-worker workload queue - priority 0 fault 0 ( 3)");
}

TEST_CASE("Kubernetes' groups of 1.35 are the same live and from a file") {
    agree(kube::dialect::workload,
          nodes + classes +
              "---\napiVersion: scheduling.k8s.io/v1alpha1\nkind: Workload\n"
              "metadata: {name: train}\nspec: {podGroups: [{name: worker, policy: {gang: "
              "{minCount: 2}}}, {name: ps, policy: {basic: {}}}]}\n" +
              pods("abc", "labels: {app: x}", "workloadRef: {name: train, podGroup: worker}, ") +
              pods("d", "labels: {app: x}", "workloadRef: {name: train, podGroup: ps}, ") +
              pods("ef", "labels: {app: x}",
                   "workloadRef: {name: train, podGroup: worker, podGroupReplicaKey: k2}, "),
          "team/train-worker workload queue - priority 0 fault 0 ( 2)");
}

TEST_CASE("T9k's and ACK's groups, budgets and queues are the same live and from a file") {
    agree(kube::dialect::t9k,
          nodes + classes +
              "---\napiVersion: scheduler.tensorstack.dev/v1beta1\nkind: PodGroup\n"
              "metadata: {name: train}\nspec: {minMember: 2, roles: [{name: ps, minMember: 1}]}\n"
              "---\napiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: web}\n"
              "spec: {maxUnavailable: 50%, selector: {matchLabels: {app: web}}}\n" +
              pods("a", "labels: {scheduler.tensorstack.dev/group-name: train, "
                        "scheduler.tensorstack.dev/role: ps}") +
              pods("b", "labels: {scheduler.tensorstack.dev/group-name: train}") +
              pods("cde", "labels: {app: web}") +
              pods("fg", "labels: {pod-group.scheduling.sigs.k8s.io/name: smoke, "
                         "pod-group.scheduling.sigs.k8s.io/min-available: \"2\"}"),
          "budget web 1");
}

TEST_CASE("a group that cannot be read is malformed, and its pods wait for it") {
    live of(kube::dialect::volcano);
    for (const json::object& each :
         objects_of("---\napiVersion: scheduling.volcano.sh/v1beta1\nkind: PodGroup\n"
                    "metadata: {name: train}\nspec: {minMember: many}\n" +
                    pods("a", "annotations: {scheduling.k8s.io/group-name: train}")))
        of.take(each);
    CHECK(of.told().find("team/train volcano queue - priority 0 fault 2") != std::string::npos);
    CHECK(of.objects.broken().contains("PodGroup team/train"));
}

TEST_CASE("a group with a part that cannot be read as JSON is malformed, in every dialect") {
    const std::pair<kube::dialect, std::pair<std::string, std::string>> all[] = {
        {kube::dialect::t9k,
         {"scheduler.tensorstack.dev/v1beta1", "labels: {scheduler.tensorstack.dev/group-name: "
                                               "train}"}},
        {kube::dialect::volcano,
         {"scheduling.volcano.sh/v1beta1", "annotations: {scheduling.k8s.io/group-name: train}"}},
        {kube::dialect::scheduler_plugins,
         {"scheduling.x-k8s.io/v1alpha1", "labels: {scheduling.x-k8s.io/pod-group: train}"}}};
    for (const auto& one : all) {
        const std::pair<std::string, std::string>& words = one.second;
        CAPTURE(words.first);
        live of(one.first);
        for (const std::string& name : {std::string("train"), std::string("fine")}) {
            const auto objects = objects_of("---\napiVersion: " + words.first +
                                            "\nkind: PodGroup\nmetadata: {name: " + name +
                                            "}\nspec: {minMember: 1, more: ODD}\n");
            name == "train" ? of.take_odd(objects[0]) : of.take(objects[0]);
        }
        for (const json::object& each : objects_of(pods("a", words.second)))
            of.take(each);
        const std::string told = of.told();
        CAPTURE(told);
        const std::size_t line = told.find("team/train");
        REQUIRE(line != std::string::npos);
        CHECK(told.substr(line, told.find('(', line) - line).find("fault 2") != std::string::npos);
        CHECK(of.objects.broken().at("PodGroup team/train").front() ==
              "spec.more: nested too deeply (expected at most 64 levels)");
    }
}

TEST_CASE("a node takes no new pods while the requests of a pod on it cannot be read") {
    live of(kube::dialect::t9k);
    for (const json::object& each : objects_of(nodes))
        of.take(each);
    auto pod = objects_of("---\napiVersion: v1\nkind: Pod\nmetadata: {name: odd}\n"
                          "spec: {schedulerName: others, nodeName: a, overhead: ODD, containers: "
                          "[{name: c, image: i, resources: {requests: {cpu: 1}}}]}\n")[0];
    const auto closed = [&] {
        static_cast<void>(of.told());
        const auto& node = of.known[of.known.find_node("a")->index].spec;
        return std::ranges::any_of(node.taints, [](const muster::taint& one) {
            return one.key == muster::unread_taint_key &&
                   one.effect == muster::taint_effect::no_schedule;
        });
    };
    of.take_odd(pod);
    CHECK(closed());
    CHECK(of.objects.broken().at("Pod team/odd").front() ==
          "spec.overhead: nested too deeply (expected at most 64 levels), so its node a takes no "
          "new pods");
    SUBCASE("until it can be read") {
        pod["spec"].as_object().erase("overhead");
        of.take(pod);
    }
    SUBCASE("until it has ended") {
        pod["status"] = json::object{{"phase", "Succeeded"}};
        of.take_odd(pod);
    }
    SUBCASE("until it is gone") {
        of.lose(pod);
    }
    CHECK_FALSE(closed());
}

namespace {

/// A gang of Koordinator in a namespace, with one pod, that lists these gangs as its group.
std::string listing(const std::string& name_space, const std::string& name,
                    const std::string& list) {
    const std::string in = "name: " + name + ", namespace: " + name_space;
    return "---\napiVersion: scheduling.sigs.k8s.io/v1alpha1\nkind: PodGroup\nmetadata: {" + in +
           (list.empty()
                ? ""
                : ", annotations: {gang.scheduling.koordinator.sh/groups: '" + list + "'}") +
           "}\nspec: {minMember: 1}\n---\napiVersion: v1\nkind: Pod\nmetadata: {" + in +
           ", labels: {pod-group.scheduling.sigs.k8s.io: " + name +
           "}}\nspec: {schedulerName: gangs, containers: [{name: c, image: i}]}\n";
}

} // namespace

TEST_CASE("a gang that lists another tenant's gang without its consent affects only itself") {
    for (const std::string& list :
         {std::string(R"(["evil/x","team/a"])"), std::string(R"(["team/a"])"),
          std::string(R"(["team/a","team/b"])"), std::string(R"(["evil/x","team/a","team/b"])"),
          std::string(R"(["evil/x","team/a",7])")}) {
        CAPTURE(list);
        const std::string all = nodes + classes + listing("team", "a", R"(["team/a","team/b"])") +
                                listing("team", "b", R"(["team/a","team/b"])") +
                                listing("team", "lone", "") + listing("evil", "x", list);
        live of(kube::dialect::koordinator);
        for (const json::object& each : objects_of(all))
            of.take(each);
        const std::string told = of.told();
        CAPTURE(told);
        CHECK(told.find("team/a coscheduling queue - priority 0 fault 0 ( 2)") !=
              std::string::npos);
        CHECK(told.find("team/lone coscheduling queue - priority 0 fault 0") != std::string::npos);
        CHECK(told.find("evil/x coscheduling queue - priority 0 fault 2") != std::string::npos);
    }
    agree(kube::dialect::koordinator,
          nodes + classes + listing("team", "a", "") +
              listing("evil", "x", R"(["evil/x","team/a"])"),
          "team/a coscheduling queue - priority 0 fault 0 ( 1)");
    live of(kube::dialect::koordinator);
    for (const json::object& each : objects_of(listing("evil", "x", R"(["evil/x","team/a"])")))
        of.take(each);
    static_cast<void>(of.told());
    CHECK(of.objects.gangs().wrong_with(
              {"evil", "x",
               codec::group_origin::declared(muster::translate::gang_api::coscheduling)}) ==
          "its gang group names \"team/a\", which is not there or lists other gangs (expected all "
          "gangs of a group, with the same list)");
}

TEST_CASE("gangs of two namespaces start together when both say so") {
    const std::string list = R"(["team/a","other/b"])";
    agree(kube::dialect::koordinator,
          nodes + classes + listing("team", "a", list) + listing("other", "b", list) +
              listing("other", "c", ""),
          "fault 0 ( 2) (");
}

TEST_CASE("a gang group has at most 256 gangs, and larger groups wait with a reason") {
    const auto group = [](std::size_t size) {
        std::string list;
        for (std::size_t at = 0; at < size; ++at)
            list += std::string(at == 0 ? "[" : ",") + "\"team/g" + std::to_string(at) + "\"";
        std::string all;
        for (std::size_t at = 0; at < size; ++at)
            all += listing("team", "g" + std::to_string(at), list + "]");
        return objects_of(all);
    };
    live fits(kube::dialect::koordinator);
    for (const json::object& each : group(codec::most_linked_gangs))
        fits.take(each);
    CHECK(fits.told().find("team/g0 coscheduling queue - priority 0 fault 0 ( 256)") !=
          std::string::npos);
    live of(kube::dialect::koordinator);
    for (const json::object& each : group(codec::most_linked_gangs + 1))
        of.take(each);
    CHECK(of.told().find("team/g0 coscheduling queue - priority 0 fault 2") != std::string::npos);
    CHECK(of.objects.gangs().wrong_with(
              {"team", "g0",
               codec::group_origin::declared(muster::translate::gang_api::coscheduling)}) ==
          "gang.scheduling.koordinator.sh/groups: lists too many gangs (expected at most 256)");
}

TEST_CASE("gangs in an endless chain of lists wait with a reason until the chain is cut") {
    // Each gang's pods list it with its neighbours.
    const std::size_t length = codec::most_linked_gangs + 10;
    std::vector<json::object> all;
    for (std::size_t at = 0; at < length; ++at)
        for (const std::size_t low : {at == 0 ? at : at - 1, at}) {
            const std::string name = "g" + std::to_string(at);
            json::object pod = objects_of(
                "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " + name + "-" +
                std::to_string(low) +
                ", annotations: {gang.scheduling.koordinator.sh/name: " + name +
                ", gang.scheduling.koordinator.sh/min-available: \"1\", "
                "gang.scheduling.koordinator.sh/groups: '[\"team/g" +
                std::to_string(low) + "\",\"team/g" + std::to_string(low + 1) +
                "\"]'}}\nspec: {schedulerName: gangs, containers: [{name: c, image: i}]}\n")[0];
            pod["metadata"].as_object()["uid"] = name + "-" + std::to_string(low);
            all.push_back(std::move(pod));
        }
    live of(kube::dialect::koordinator);
    for (const json::object& each : all) {
        of.take(each);
        if (of.objects.pods() % 100 == 0)
            static_cast<void>(of.told());
    }
    const codec::group_key far{
        "team", "g200", codec::group_origin::declared(muster::translate::gang_api::coscheduling)};
    static_cast<void>(of.told());
    CHECK(of.objects.gangs().wrong_with(far) ==
          "its gang group is linked with more than 256 gangs (expected at most so many)");
    const auto told_at_once = [](const std::vector<json::object>& objects) {
        live fresh(kube::dialect::koordinator);
        for (const json::object& each : objects)
            fresh.take(each);
        return fresh.told();
    };
    CHECK(of.told() == told_at_once(all));
    // The chain is cut in its middle.
    for (int cut = 0; cut < 2; ++cut) {
        const std::size_t middle = all.size() / 2;
        of.lose(all[middle]);
        all.erase(all.begin() + static_cast<std::ptrdiff_t>(middle));
    }
    CHECK(of.told() == told_at_once(all));
    CHECK(of.objects.gangs().wrong_with(far) !=
          "its gang group is linked with more than 256 gangs (expected at most so many)");
}

TEST_CASE("a plain pod group of Kueue is one gang, live as in a file") {
    const auto member = [](const std::string& name, const std::string& group,
                           const std::string& count, const std::string& spec = "") {
        return "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " + name +
               ", labels: {kueue.x-k8s.io/pod-group-name: " + group +
               "}, annotations: {kueue.x-k8s.io/pod-group-total-count: '" + count +
               "'}}\nspec: {schedulerName: gangs, " + spec + "containers: [{name: c, image: i}]}\n";
    };
    const std::string fine =
        member("a", "g", "2", "schedulingGates: [{name: kueue.x-k8s.io/admission}], ") +
        member("b", "g", "2");
    agree(kube::dialect::workload, nodes + fine,
          "team/g kueue queue - priority 0 fault 0 ( 2)\n  a 0\n  b 0");
    agree(kube::dialect::workload,
          nodes + fine + member("c", "odd", "2") + member("d", "odd", "3") +
              member("e", "few", "none"),
          "team/odd kueue queue - priority 0 fault 2 ( 2)\n  c 0\n  d 0");
}

TEST_CASE("a gang group of which a part is not there yet waits as a whole") {
    const std::vector<json::object> objects = objects_of(
        "---\napiVersion: scheduling.sigs.k8s.io/v1alpha1\nkind: PodGroup\nmetadata: {name: ps, "
        "annotations: {gang.scheduling.koordinator.sh/groups: "
        "'[\"team/ps\",\"team/workers\"]'}}\nspec: {minMember: 1}\n" +
        pods("a", "labels: {pod-group.scheduling.sigs.k8s.io: ps}"));
    live of(kube::dialect::koordinator);
    for (const json::object& each : objects)
        of.take(each);
    CHECK(of.told().find("team/ps coscheduling queue - priority 0 fault 2") != std::string::npos);
}

TEST_CASE("what is wrong with an object, or not modelled, is said alike however the object came") {
    const json::object node = objects_of("---\napiVersion: v1\nkind: Node\nmetadata: {name: a}\n"
                                         "status: {allocatable: {cpu: many}}\n")[0];
    const json::object pod = objects_of(pods("a",
                                             "labels: {pod-group.scheduling.sigs.k8s.io/name: "
                                             "odd}",
                                             "volumes: [{name: v, fc: {}}], "))[0];
    for (const bool by_watch : {false, true}) {
        live of(kube::dialect::t9k);
        of.by_watch = by_watch;
        of.take(node);
        of.take(pod);
        static_cast<void>(of.told());
        CHECK(of.objects.broken().at("Node /a") ==
              std::vector<std::string>{"status.allocatable.cpu: \"many\" is not a quantity "
                                       "(expected e.g. 500m, 4, 2Gi)"});
        CHECK(of.objects.gangs().pods().begin()->second.object.unsupported ==
              std::vector<std::string>{"spec.volumes[0].fc"});
        CHECK(of.objects.gangs().wrong_with({"team", "pa", codec::group_origin::single_pod}) ==
              "label pod-group.scheduling.sigs.k8s.io/name is there, but label "
              "pod-group.scheduling.sigs.k8s.io/min-available is not (expected both)");
    }
}

TEST_CASE("a queue of T9k's outside its namespace is ignored, and that is said") {
    const auto objects = objects_of("---\napiVersion: scheduler.tensorstack.dev/v1beta1\nkind: "
                                    "Queue\nmetadata: {name: q, namespace: team}\nspec: {}\n");
    live of(kube::dialect::t9k);
    of.take(objects[0]);
    CHECK(of.told().find("queue q") == std::string::npos);
    CHECK(of.objects.broken().at("Queue team/q") ==
          std::vector<std::string>{"is ignored (expected namespace t9k-system)"});
    of.lose(objects[0]);
    CHECK(of.objects.broken().empty());
}

TEST_CASE(
    "what nodes have of kinds that nobody asks for counts where there is room for all of it") {
    const auto objects = objects_of(
        "---\napiVersion: v1\nkind: Node\nmetadata: {name: a}\nstatus: {allocatable: {cpu: 8, gpu: "
        "4}}\n---\napiVersion: v1\nkind: Node\nmetadata: {name: b}\nstatus: {allocatable: {b: 1, "
        "c: "
        "1, d: 1, e: 1, f: 1, g: 1}}\n" +
        pods("a", "labels: {app: x}"));
    live of(kube::dialect::t9k);
    of.take(objects[0]);
    static_cast<void>(of.told());
    const auto gpu = of.objects.kinds().find("gpu");
    REQUIRE(gpu);
    const auto node = of.known.find_node("a");
    REQUIRE(node);
    CHECK(of.known[node->index].spec.allocatable[*gpu] == 4);
    of.take(objects[1]);
    of.take(objects[2]);
    static_cast<void>(of.told());
    CHECK_FALSE(of.objects.kinds().find("b"));
    CHECK(of.objects.lost_kinds().empty());

    live anew(kube::dialect::t9k);
    for (const json::object& each : objects)
        anew.take(each);
    static_cast<void>(anew.told());
    CHECK_FALSE(anew.objects.kinds().find("gpu"));
    CHECK(anew.objects.kinds().find("cpu"));

    // What went with its node no longer counts; whoever asks comes before what nobody asks for.
    of.lose(objects[1]);
    for (const json::object& each :
         objects_of("---\napiVersion: v1\nkind: Node\nmetadata: {name: c}\nstatus: {allocatable: "
                    "{h: 1, i: 1, j: 1, k: 1, l: 1}}\n---\napiVersion: v1\nkind: Pod\nmetadata: "
                    "{name: late}\nspec: {schedulerName: gangs, containers: [{name: c, image: i, "
                    "resources: {requests: {m: 1}}}]}\n")) {
        of.take(each);
        static_cast<void>(of.told());
    }
    CHECK(of.objects.kinds().find("h"));
    CHECK(of.objects.lost_kinds() == std::set<std::string>{"m"});
    CHECK(of.objects.has_stale_kinds());
}

TEST_CASE("kinds of resources that have no room are named, and known to have some once others go") {
    std::string yaml;
    for (const char* kinds : {"a: 1, b: 1, c: 1, d: 1", "e: 1, f: 1, g: 1, h: 1"})
        yaml += std::string("---\napiVersion: v1\nkind: Pod\nmetadata: {name: ") + kinds[0] +
                "}\nspec: {schedulerName: gangs, containers: [{name: c, image: i, resources: "
                "{requests: {" +
                kinds + "}}}]}\n";
    const std::vector<json::object> objects = objects_of(yaml);
    live of(kube::dialect::t9k);
    of.take(objects[0]);
    CHECK_FALSE(of.objects.has_stale_kinds());
    of.take(objects[1]);
    CHECK(of.objects.lost_kinds() == std::set<std::string>{"h"});
    CHECK_FALSE(of.objects.has_stale_kinds());
    CHECK(of.told().find("e 0 unsupported") != std::string::npos);
    of.lose(objects[0]);
    CHECK(of.objects.has_stale_kinds());
}

} // namespace live_dialects_test
