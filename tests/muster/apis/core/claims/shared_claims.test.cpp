// SPDX-License-Identifier: Apache-2.0
#include <muster/apis/core/claims/shared_claims.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <muster/apis/core/claims/device_assignment.hpp>
#include <muster/apis/core/volumes/volume_words.hpp>
#include <muster/input/cluster.hpp>
#include <muster/input/cluster_input.hpp>
#include <muster/input/read_documents.hpp>
#include <muster/muster.hpp>
#include <muster/testing/random.hpp>

namespace codec_shared_claims_test {

using namespace muster::codec;

namespace {

struct outcome {
    /// By pod, its node.
    std::map<std::string, std::string> on;
    /// "pod=node ", in the order of pods; pods without a node are left out.
    std::string placed;
    std::string waits;
    bool never = false;
    /// "pod:entry=device ", of the pods that are placed.
    std::string devices;
};

outcome decide(const std::string& text) {
    diagnostics out;
    const auto documents = read_documents("f", text, out);
    const manifests objects = read_cluster(documents, {}, out);
    for (const diagnostic& each : out.findings())
        FAIL_CHECK(to_text(each));
    REQUIRE(out.ok());
    auto cluster = make_cluster<muster::max_kinds>(objects, {}, out);
    outcome made;
    for (const auto& each : muster::cycle(cluster.state, cluster.now).decisions)
        made.never = made.never || each.outcome.kind == muster::answer::never;
    device_assignment::placements placed;
    for (const auto& [key, pod] : cluster.state.pod_keys()) {
        if (cluster.state[pod].node) {
            const std::string& node = cluster.state.key(*cluster.state[pod].node);
            made.on.emplace(key.name, node);
            made.placed += key.name + "=" + node + " ";
            placed.emplace(key, node);
        }
        if (const auto* effects = cluster.volumes.find(key))
            for (const std::string& each : effects->waits)
                made.waits += key.name + ": " + each + "; ";
    }
    const std::set<object_key> gone;
    const device_assignment assigned(objects, placed, gone);
    CHECK(assigned.lacking().empty());
    for (const auto& each : placed)
        if (const auto* const devices = assigned.of(each.first))
            for (const assigned_device& one : *devices)
                made.devices += each.first.name + ":" + one.entry + "=" + one.device + " ";
    return made;
}

std::string node(const std::string& name, int cpu = 99) {
    return "---\napiVersion: v1\nkind: Node\nmetadata: {name: " + name +
           "}\nstatus: {allocatable: {cpu: " + std::to_string(cpu) + ", pods: 110}}\n";
}
const std::string gpus =
    "---\napiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata: {name: gpu}\n"
    "spec: {selectors: [{cel: {expression: \"true\"}}]}\n";

std::string slice(const std::string& on, int devices, const std::string& nodes = "") {
    std::string list;
    for (int at = 0; at < devices; ++at)
        list += (at > 0 ? ", {name: d" : "{name: d") + std::to_string(at) + "}";
    return "---\napiVersion: resource.k8s.io/v1\nkind: ResourceSlice\nmetadata: {name: s-" + on +
           "}\nspec: {driver: x.com, pool: {name: " + on +
           ", generation: 1, resourceSliceCount: 1}, " +
           (nodes.empty() ? "nodeName: " + on : nodes) + ", devices: [" + list + "]}\n";
}
std::string spec(int count) {
    return "{devices: {requests: [{name: r, exactly: {deviceClassName: gpu, count: " +
           std::to_string(count) + "}}]}}";
}
std::string claim(const std::string& name, int count, const std::string& more = "") {
    return "---\napiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {name: " + name +
           "}\nspec: " + spec(count) + "\n" + more;
}
std::string made_from(const std::string& name, int count) {
    return "---\napiVersion: resource.k8s.io/v1\nkind: ResourceClaimTemplate\nmetadata: {name: " +
           name + "}\nspec: {spec: " + spec(count) + "}\n";
}
/// A pod with claims by name and from templates ("t:NAME"), in a gang of `members` pods.
std::string pod(const std::string& name, const std::vector<std::string>& claims,
                const std::string& gang = "", int members = 0, int cpu = 1) {
    std::string list;
    for (std::size_t at = 0; at < claims.size(); ++at) {
        const bool is_made = claims[at].starts_with("t:");
        list += (at > 0 ? ", " : "") + ("{name: e" + std::to_string(at)) +
                (is_made ? ", resourceClaimTemplateName: " : ", resourceClaimName: ") +
                (is_made ? claims[at].substr(2) : claims[at]) + "}";
    }
    return "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " + name + ", uid: u-" + name +
           (gang.empty() ? ""
                         : ", labels: {pod-group.scheduling.sigs.k8s.io/name: " + gang +
                               ", pod-group.scheduling.sigs.k8s.io/min-available: \"" +
                               std::to_string(members) + "\"}") +
           "}\nspec:\n  containers: [{name: c, resources: {requests: {cpu: " + std::to_string(cpu) +
           "}}}]\n" + (list.empty() ? "" : "  resourceClaims: [" + list + "]\n");
}

} // namespace

TEST_CASE("a claim that waiting pods share is allocated once, on one node") {
    const std::string all = node("n1") + node("n2") + gpus + slice("n2", 2) + claim("c", 2);
    const outcome made = decide(all + pod("a", {"c"}, "g", 2) + pod("b", {"c"}, "g", 2));
    CHECK(made.placed == "a=n2 b=n2 ");
    CHECK(made.devices == "a:e0=d0 a:e0=d1 b:e0=d0 b:e0=d1 ");
    // Pods of no gang, too.
    CHECK(decide(all + pod("a", {"c"}) + pod("b", {"c"})).placed == "a=n2 b=n2 ");
    // The devices are in use for all others.
    const outcome other =
        decide(all + claim("d", 1) + pod("a", {"c"}) + pod("b", {"c"}) + pod("x", {"d"}));
    CHECK(other.placed == "a=n2 b=n2 ");
}

TEST_CASE("pods that share a claim have claims of their own beside it") {
    const std::string all = node("n1") + node("n2") + gpus + slice("n1", 2) + slice("n2", 3) +
                            claim("c", 1) + made_from("one", 1);
    CHECK(
        decide(all + pod("a", {"c", "t:one"}, "g", 2) + pod("b", {"c", "t:one"}, "g", 2)).placed ==
        "a=n2 b=n2 ");
    CHECK(decide(all + pod("a", {"c", "t:one"}, "g", 3) + pod("b", {"c", "t:one"}, "g", 3) +
                 pod("d", {"c", "t:one"}, "g", 3))
              .placed.empty());
}

TEST_CASE("the pods that share a claim go where there is room for all of them") {
    const std::string all = node("n1", 1) + node("n2", 3) + node("n3", 2) + gpus + slice("n1", 1) +
                            slice("n2", 1) + slice("n3", 1) + claim("c", 1);
    const std::string gang =
        pod("a", {"c"}, "g", 3) + pod("b", {"c"}, "g", 3) + pod("d", {"c"}, "g", 3);
    CHECK(decide(all + gang).placed == "a=n2 b=n2 d=n2 ");
    const outcome never = decide(node("n1", 1) + node("n3", 2) + gpus + slice("n1", 1) +
                                 slice("n3", 1) + claim("c", 1) + gang);
    CHECK(never.placed.empty());
    CHECK(never.never);
}

TEST_CASE("pods that share a claim with a pod that waits for something else are planned alone") {
    const std::string all = node("n1") + gpus + slice("n1", 1) + claim("c", 1);
    const outcome made = decide(all + pod("a", {"c"}) + pod("b", {"c", "missing"}));
    CHECK(made.placed == "a=n1 ");
    CHECK(made.waits ==
          "b: resource claim missing does not exist (expected a ResourceClaim of that "
          "name); ");
}

TEST_CASE("a claim that two entries of a pod name is allocated once") {
    const std::string all = node("n1") + gpus + slice("n1", 2) + claim("c", 2);
    const outcome made = decide(all + pod("a", {"c", "c"}));
    CHECK(made.placed == "a=n1 ");
    CHECK(made.devices == "a:e0=d0 a:e0=d1 a:e1=d0 a:e1=d1 ");
    CHECK(decide(all + pod("a", {"c", "c"}) + pod("b", {"c", "c"})).placed == "a=n1 b=n1 ");
}

TEST_CASE("a claim has at most 256 consumers") {
    std::string all = node("n1", 999) + gpus + slice("n1", 1) + claim("c", 1);
    for (std::string::value_type tens = 'a'; tens < 'a' + 26; ++tens)
        for (std::string::value_type ones = 'a'; ones < 'a' + 10; ++ones)
            all += pod(std::string{tens, ones}, {"c"});
    // Nodes list room for 110 pods.
    const auto at = all.find("pods: 110");
    all.replace(at, 9, "pods: 999");
    const outcome made = decide(all);
    CHECK(made.on.size() == 256);
    CHECK(std::count(made.waits.begin(), made.waits.end(), ';') == 4);
    CHECK(
        made.waits.find("zj: resource claim c is reserved for 0 others, and 256 waiting pods come "
                        "first (expected less than 256); ") != std::string::npos);
}

TEST_CASE("a shared claim waits if its devices count for an extended resource") {
    std::string served = gpus;
    served.replace(served.find("spec: {"), 7, "spec: {extendedResourceName: x.com/gpu, ");
    std::string user = pod("x", {});
    user.replace(user.find("cpu: 1"), 6, "cpu: 1, x.com/gpu: 1");
    user.replace(user.find("}}}]"), 4, "}, limits: {x.com/gpu: 1}}}]");
    const std::string all = node("n1") + served + slice("n1", 2) + claim("c", 1);
    const outcome made = decide(all + pod("a", {"c"}) + pod("b", {"c"}) + user);
    CHECK(made.placed == "x=n1 ");
    CHECK(made.waits ==
          "a: resource claim c is shared with other waiting pods, and other nodes or an extended "
          "resource can use its devices: such claims are not planned yet; b: resource claim c is "
          "shared with other waiting pods, and other nodes or an extended resource can use its "
          "devices: such claims are not planned yet; ");
}

namespace {

std::string group(const std::string& name, int members, const std::string& claims,
                  const std::string& status = "") {
    return "---\napiVersion: scheduling.k8s.io/v1alpha3\nkind: PodGroup\nmetadata: {name: " + name +
           ", uid: u-" + name +
           "}\nspec:\n  schedulingPolicy: {gang: {minCount: " + std::to_string(members) +
           "}}\n  resourceClaims: [" + claims + "]\n" + status;
}
/// A pod of the group with one claim.
std::string member(const std::string& name, const std::string& group, const std::string& claim,
                   const std::string& status = "") {
    return pod(name, {}) + "  resourceClaims: [" + claim +
           "]\n  schedulingGroup: {podGroupName: " + group + "}\n" + status;
}
const std::string by_template = "{name: e, resourceClaimTemplateName: two}";
const std::string by_name = "{name: e, resourceClaimName: c}";

} // namespace

TEST_CASE("a claim that a template makes for a PodGroup is made once for the group") {
    const std::string all =
        node("n1") + node("n2") + gpus + slice("n1", 1) + slice("n2", 4) + made_from("two", 2);
    const auto gang = [](const std::string& name, const std::string& claims) {
        return group(name, 2, claims) + member(name + "a", name, by_template) +
               member(name + "b", name, by_template);
    };
    const outcome made = decide(all + gang("g", by_template) + gang("h", by_template));
    CHECK(made.placed == "ga=n2 gb=n2 ha=n2 hb=n2 ");
    CHECK(made.devices == "ga:e=d0 ga:e=d1 gb:e=d0 gb:e=d1 ha:e=d2 ha:e=d3 hb:e=d2 hb:e=d3 ");
    // An entry that differs in any field is the pod's own.
    for (const char* const other :
         {"{name: f, resourceClaimTemplateName: two}", "{name: e, resourceClaimTemplateName: one}",
          "{name: e, resourceClaimName: two}"})
        CHECK(decide(all + gang("g", other) + gang("h", other)).placed == "ga=n2 gb=n2 ");
    // The pods of a group have one node, unless the group has no such claim.
    const std::string two_nodes =
        node("n1") + node("n2") + gpus + slice("n1", 2) + slice("n2", 2) + made_from("two", 2);
    CHECK(decide(two_nodes + gang("g", "{name: f, resourceClaimName: c}")).on.size() == 2);
    CHECK(decide(two_nodes + gang("g", by_template) + gang("h", by_template)).on.size() == 4);
}

TEST_CASE("a claim that was made for a PodGroup is used by the pods of that group") {
    const auto made = [&](const std::string& owner, bool is_told = true) {
        const std::string status =
            "status: {resourceClaimStatuses: [{name: e, resourceClaimName: made}]}\n";
        return decide(
            node("n1") + gpus + slice("n1", 2) + made_from("two", 2) +
            group("g", 2, by_template, status) +
            member("a", "g", by_template, is_told ? status : "") +
            member("b", "g", by_template, is_told ? status : "") +
            "---\napiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {name: made, "
            "ownerReferences: [{apiVersion: scheduling.k8s.io/v1alpha3, kind: PodGroup, name: " +
            owner + ", uid: u-" + owner + ", controller: true}]}\nspec: " + spec(2) + "\n");
    };
    CHECK(made("g").placed == "a=n1 b=n1 ");
    CHECK(made("h").placed.empty());
    // The status of the PodGroup names the claim before those of the pods do.
    CHECK(made("g", false).placed == "a=n1 b=n1 ");
    CHECK(made("h", false).waits == made("h").waits);
    CHECK(made("h").waits.find("a: resource claim made was not made for PodGroup g (expected the "
                               "PodGroup as its controller); ") != std::string::npos);
}

namespace {

/// A PodGroup below the CompositePodGroup `top`, with two pods.
std::string below_top(const std::string& name, const std::string& claims) {
    std::string made = group(name, 2, claims);
    made.replace(made.find("spec:"), 5,
                 "spec:\n  parentCompositePodGroupName: top\n  workloadRef: {workloadName: w, "
                 "templateName: " +
                     name + "}");
    return made + member(name + "a", name, by_template) + member(name + "b", name, by_template);
}
std::string top(const std::string& more = "") {
    return "---\napiVersion: scheduling.k8s.io/v1alpha3\nkind: CompositePodGroup\nmetadata: {name: "
           "top}\nspec: {workloadRef: {workloadName: w, templateName: t}, schedulingPolicy: {gang: "
           "{minGroupCount: 2}}" +
           more + "}\n";
}

} // namespace

TEST_CASE("PodGroups below a CompositePodGroup share their claims, each its own") {
    const std::string all = node("n1") + node("n2") + gpus + slice("n1", 2) + slice("n2", 2) +
                            made_from("two", 2) + below_top("g", by_template) +
                            below_top("h", by_template);
    const outcome made = decide(all + top());
    CHECK(made.waits.empty());
    CHECK(made.on.size() == 4);
    CHECK(made.on.at("ga") == made.on.at("gb"));
    CHECK(made.on.at("ha") == made.on.at("hb"));
    CHECK(made.on.at("ga") != made.on.at("ha"));
    // All groups or none.
    CHECK(decide(node("n1") + gpus + slice("n1", 2) + made_from("two", 2) +
                 below_top("g", by_template) + below_top("h", by_template) + top())
              .placed.empty());
}

TEST_CASE("a CompositePodGroup has no claims, and its pods wait with a reason that says so") {
    diagnostics out;
    const auto documents =
        read_documents("f",
                       node("n1") + below_top("g", by_template) + below_top("h", by_template) +
                           top(", resourceClaims: [{name: e, resourceClaimTemplateName: two}]"),
                       out);
    const manifests objects = read_cluster(documents, {}, out);
    REQUIRE(objects.gangs.size() == 1);
    CHECK(objects.gangs[0].fault == muster::gang_fault::malformed);
    CHECK(objects.gangs[0].fault_detail ==
          "spec.resourceClaims of a CompositePodGroup, which the API does not have (expected "
          "resourceClaims of its PodGroups)");
}

TEST_CASE("a PodGroup is one consumer of its claim") {
    std::string others;
    for (int at = 0; at < 255; ++at)
        others += (at > 0 ? ", " : "") + ("{resource: pods, name: o" + std::to_string(at)) + "}";
    const auto reserved = [&](const std::string& more) {
        return decide(node("n1") + gpus + slice("n1", 2) + group("g", 2, by_name) +
                      member("a", "g", by_name) + member("b", "g", by_name) +
                      claim("c", 1, "status: {reservedFor: [" + others + more + "]}\n"));
    };
    CHECK(reserved("").placed == "a=n1 b=n1 ");
    CHECK(reserved(", {resource: pods, name: last}").placed.empty());
    CHECK(reserved(", {apiGroup: scheduling.k8s.io, resource: podgroups, name: g}").placed ==
          "a=n1 b=n1 ");
}

TEST_CASE("reasons name the shared claim") {
    volume_effects of;
    muster::affinity_term term;
    term.pods.labels.requirements.push_back(
        {"resource-claim:default/c", muster::label_operator::exists, {}});
    term.topology = muster::volume_node_label;
    of.near.push_back(term);
    CHECK(shared_claims_text({{"x", &of}}, muster::volume_node_label) ==
          "resource claim c (not allocated)");
    term.pods.labels.requirements.front().key = "claim:default/v";
    of.near.push_back(term);
    CHECK(shared_claims_text({{"x", &of}}, muster::volume_node_label) ==
          "claim v (not bound) and resource claim c (not allocated)");
}

namespace {

/// Up to four pods of one gang on up to three nodes; each pod uses some of three claims by name,
/// and some pods a claim of their own.
struct world {
    struct user {
        std::set<int> claims;
        int own = 0;
        int cpu = 1;
    };
    std::vector<std::pair<int, int>> nodes; ///< devices and CPUs
    std::array<int, 3> sizes{};
    std::vector<user> users;
    int minimum = 0;

    explicit world(muster::testing::random& draw) {
        for (std::int64_t at = draw.between(1, 3); at > 0; --at)
            nodes.emplace_back(static_cast<int>(draw.between(1, 6)),
                               static_cast<int>(draw.between(2, 5)));
        for (int& each : sizes)
            each = static_cast<int>(draw.between(1, 2));
        for (std::int64_t at = draw.between(2, 4); at > 0; --at) {
            user& made = users.emplace_back();
            for (int one = 0; one < 3; ++one)
                if (draw.between(0, 2) == 0)
                    made.claims.insert(one);
            made.own = static_cast<int>(std::max<std::int64_t>(0, draw.between(-1, 2)));
            made.cpu = static_cast<int>(draw.between(1, 2));
        }
        minimum = static_cast<int>(users.size());
    }
    [[nodiscard]] static std::string name(std::size_t at) {
        return std::string(1, static_cast<char>('a' + at));
    }
    [[nodiscard]] std::string text() const {
        std::string made = gpus + made_from("one", 1) + made_from("two", 2);
        for (std::size_t at = 0; at < nodes.size(); ++at) {
            const std::string on = "n" + std::to_string(at);
            made += node(on, nodes[at].second) + slice(on, nodes[at].first);
        }
        for (std::size_t at = 0; at < sizes.size(); ++at)
            made += claim("c" + std::to_string(at), sizes[at]);
        for (std::size_t at = 0; at < users.size(); ++at) {
            std::vector<std::string> claims;
            for (const int one : users[at].claims)
                claims.push_back("c" + std::to_string(one));
            if (users[at].own > 0)
                claims.push_back(users[at].own == 1 ? "t:one" : "t:two");
            made += pod(name(at), claims, "g", minimum, users[at].cpu);
        }
        return made;
    }
    /// True if the pods may be on these nodes; -1 = the pod is not placed.
    [[nodiscard]] bool holds(const std::vector<int>& on) const {
        std::map<int, int> home;
        std::vector<int> devices(nodes.size(), 0);
        std::vector<int> cpu(nodes.size(), 0);
        for (std::size_t at = 0; at < users.size(); ++at) {
            if (on[at] < 0)
                continue;
            const auto here = static_cast<std::size_t>(on[at]);
            cpu[here] += users[at].cpu;
            devices[here] += users[at].own;
            for (const int one : users[at].claims) {
                const auto [known, is_new] = home.emplace(one, on[at]);
                if (known->second != on[at])
                    return false;
                if (is_new)
                    devices[here] += sizes[static_cast<std::size_t>(one)];
            }
        }
        for (std::size_t at = 0; at < nodes.size(); ++at)
            if (devices[at] > nodes[at].first || cpu[at] > nodes[at].second)
                return false;
        return true;
    }
    /// True if some placement of all pods holds.
    [[nodiscard]] bool can_start() const {
        std::vector<int> on(users.size(), 0);
        for (;;) {
            if (holds(on))
                return true;
            std::size_t at = 0;
            while (at < on.size() && ++on[at] == static_cast<int>(nodes.size()))
                on[at++] = 0;
            if (at == on.size())
                return false;
        }
    }
};

} // namespace

TEST_CASE("gangs that share claims start exactly if some placement satisfies them") {
    muster::testing::random draw(20261128);
    int started = 0;
    int refused = 0;
    int missed = 0;
    for (int round = 0; round < 300; ++round) {
        const world each(draw);
        const outcome made = decide(each.text());
        std::vector<int> on;
        for (std::size_t at = 0; at < each.users.size(); ++at) {
            const auto found = made.on.find(world::name(at));
            on.push_back(found == made.on.end() ? -1 : std::stoi(found->second.substr(1)));
        }
        const bool starts = !made.on.empty();
        INFO(each.text());
        if (starts) {
            CHECK(made.on.size() == each.users.size());
            CHECK(each.holds(on));
        }
        const bool can = each.can_start();
        missed += can && !starts ? 1 : 0;
        CHECK((!starts || can));
        CHECK((!made.never || !can));
        started += starts ? 1 : 0;
        refused += can ? 0 : 1;
    }
    CHECK(started > 60);
    CHECK(refused > 60);
    CHECK(missed == 0);
}

} // namespace codec_shared_claims_test
