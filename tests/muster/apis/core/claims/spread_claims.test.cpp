// SPDX-License-Identifier: Apache-2.0
#include <muster/apis/core/claims/spread_claims.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <muster/apis/core/claims/device_assignment.hpp>
#include <muster/input/cluster.hpp>
#include <muster/input/cluster_input.hpp>
#include <muster/input/read_documents.hpp>
#include <muster/muster.hpp>
#include <muster/testing/random.hpp>

namespace codec_spread_claims_test {

using namespace muster::codec;

namespace {

struct outcome {
    /// By pod, its node.
    std::map<std::string, std::string> on;
    /// "pod=node ", in the order of pods; pods without a node are left out.
    std::string placed;
    std::string waits;
    bool never = false;
    /// By pod and entry, the devices as "pool/device".
    std::map<std::pair<std::string, std::string>, std::set<std::string>> devices;
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
                made.devices[{each.first.name, one.entry}].insert(one.pool + "/" + one.device);
    return made;
}

std::string node(const std::string& name, const std::string& zone, int cpu = 99) {
    return "---\napiVersion: v1\nkind: Node\nmetadata: {name: " + name +
           ", labels: {zone: " + zone + "}}\nstatus: {allocatable: {cpu: " + std::to_string(cpu) +
           ", pods: 110}}\n";
}
const std::string gpus =
    "---\napiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata: {name: gpu}\n"
    "spec: {selectors: [{cel: {expression: \"true\"}}]}\n";

const std::string everywhere = "allNodes: true";
std::string in_zone(const std::string& zone) {
    return "nodeSelector: {nodeSelectorTerms: [{matchExpressions: [{key: zone, operator: In, "
           "values: [" +
           zone + "]}]}]}";
}
std::string slice(const std::string& pool, const std::string& nodes, int devices,
                  const std::string& more = "") {
    std::string list;
    for (int at = 0; at < devices; ++at)
        list += (at > 0 ? ", {name: d" : "{name: d") + std::to_string(at) + more + "}";
    return "---\napiVersion: resource.k8s.io/v1\nkind: ResourceSlice\nmetadata: {name: s-" + pool +
           "}\nspec: {driver: x.com, pool: {name: " + pool +
           ", generation: 1, resourceSliceCount: 1}, " + nodes + ", devices: [" + list + "]}\n";
}
std::string spec(const std::string& count) {
    return "{devices: {requests: [{name: r, exactly: {deviceClassName: gpu, " + count + "}}]}}";
}
std::string claim(const std::string& name, const std::string& count = "count: 1",
                  const std::string& more = "") {
    return "---\napiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {name: " + name +
           "}\nspec: " + spec(count) + "\n" + more;
}
const std::string own_template = "---\napiVersion: resource.k8s.io/v1\nkind: "
                                 "ResourceClaimTemplate\nmetadata: {name: own}\nspec: "
                                 "{spec: " +
                                 spec("count: 1") + "}\n";
/// A pod with claims by name and "own", in a gang of `members` pods.
std::string pod(const std::string& name, const std::vector<std::string>& claims,
                const std::string& gang, int members, int cpu = 1, const std::string& more = "") {
    std::string list;
    for (const std::string& each : claims)
        list += (list.empty() ? "{name: " : ", {name: ") + each +
                (each == "own" ? ", resourceClaimTemplateName: own}"
                               : ", resourceClaimName: " + each + "}");
    return "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " + name + ", uid: u-" + name +
           ", labels: {pod-group.scheduling.sigs.k8s.io/name: " + gang +
           ", pod-group.scheduling.sigs.k8s.io/min-available: \"" + std::to_string(members) +
           "\"}}\nspec:\n  containers: [{name: c, resources: {requests: {cpu: " +
           std::to_string(cpu) + "}}}]\n" +
           (list.empty() ? "" : "  resourceClaims: [" + list + "]\n") + more;
}
/// Two pods that share the claim, on different nodes if each node has one CPU.
std::string pair(const std::string& name, const std::string& of) {
    return pod(name + "0", {of}, name, 2) + pod(name + "1", {of}, name, 2);
}
const std::string two_zones =
    node("n1", "a", 1) + node("n2", "a", 1) + node("n3", "b", 1) + node("n4", "b", 1) + gpus;

} // namespace

TEST_CASE("pods that share a claim of devices of all nodes stand on any nodes") {
    const outcome made =
        decide(two_zones + slice("net", everywhere, 1) + claim("c") + pair("g", "c"));
    CHECK(made.on.size() == 2);
    CHECK(made.waits.empty());
    CHECK(made.devices.at({"g0", "c"}) == std::set<std::string>{"net/d0"});
    CHECK(made.devices.at({"g1", "c"}) == std::set<std::string>{"net/d0"});
}

TEST_CASE("pods that share a claim stand on nodes that all reach its devices") {
    const auto made = [&](const std::string& slices, const std::string& count = "count: 1") {
        return decide(two_zones + slices + claim("c", count) + pair("g", "c")).placed;
    };
    CHECK(made(slice("b", in_zone("b"), 1)) == "g0=n3 g1=n4 ");
    // The devices of zone a do not suffice.
    CHECK(made(slice("a", in_zone("a"), 1) + slice("b", in_zone("b"), 2), "count: 2") ==
          "g0=n3 g1=n4 ");
    CHECK(made(slice("a", in_zone("a"), 1) + slice("b", in_zone("b"), 1), "count: 2").empty());
    CHECK(made(slice("a", in_zone("a"), 1) + slice("all", everywhere, 1), "count: 2") ==
          "g0=n1 g1=n2 ");
    // A device of one node, or one that binds the claim to a node, serves no pod elsewhere.
    CHECK(made(slice("b", in_zone("b"), 1) + slice("n1", "nodeName: n1", 1), "count: 2").empty());
    CHECK(made(slice("b", in_zone("b"), 1, ", bindsToNode: true")).empty());
    // All devices: every node must reach the same.
    CHECK(made(slice("b", in_zone("b"), 1), "allocationMode: All") == "g0=n3 g1=n4 ");
    CHECK(made(slice("b", in_zone("b"), 1) + slice("n3", "nodeName: n3", 1), "allocationMode: All")
              .empty());
}

TEST_CASE("a gang that lacks devices waits, and it may start later") {
    const outcome made =
        decide(two_zones + slice("b", in_zone("b"), 1) + claim("c", "count: 2") + pair("g", "c"));
    CHECK(made.placed.empty());
    CHECK_FALSE(made.never);
    const std::string why =
        "resource claim c is shared with other waiting pods, and no node reaches "
        "free devices of complete pools that satisfy it; ";
    CHECK(made.waits == "g0: " + why + "g1: " + why);
}

TEST_CASE("devices that are in use now never prove that pods of a shared claim can never start") {
    // Zone b has room for both pods, and its device is held by another pod for now.
    const std::string nodes = node("n1", "a", 1) + node("n2", "b", 9) + gpus;
    const std::string held =
        claim("held", "count: 1",
              "status: {allocation: {devices: {results: [{request: r, driver: x.com, pool: b, "
              "device: d0}]}}, reservedFor: [{resource: pods, name: other, uid: u-o}]}\n");
    const std::string rest =
        slice("a", in_zone("a"), 1) + slice("b", in_zone("b"), 1) + claim("c") + pair("g", "c");
    CHECK(decide(nodes + rest).placed == "g0=n2 g1=n2 ");
    const outcome made = decide(nodes + held + rest);
    CHECK(made.placed.empty());
    CHECK_FALSE(made.never);
}

TEST_CASE("claims that compete for devices get those of different zones, whoever comes first") {
    const std::string claims = claim("c") + claim("e") + pair("g", "c") + pair("h", "e");
    const std::string one_each = slice("a", in_zone("a"), 1) + slice("b", in_zone("b"), 1);
    CHECK(decide(two_zones + one_each + claims).on.size() == 4);
    // Only one of the gangs gets the device.
    CHECK(decide(two_zones + slice("a", in_zone("a"), 1) + claims).on.size() == 2);
    // No node reaches devices for both claims of a pod.
    const outcome both =
        decide(two_zones + one_each + claim("c") + claim("e") + pod("g0", {"c", "e"}, "g", 1));
    CHECK(both.placed.empty());
    // One claim can only use zone a, so the other one leaves it.
    const outcome one_gang =
        decide(two_zones + one_each + claim("c") + claim("e") + pod("w0", {"c"}, "w", 4) +
               pod("w1", {"e"}, "w", 4, 1, "  nodeSelector: {zone: a}\n") +
               pod("w2", {"c"}, "w", 4) + pod("w3", {"e"}, "w", 4));
    CHECK(one_gang.on.size() == 4);
    CHECK(one_gang.on.at("w1") < "n3");
    CHECK(one_gang.on.at("w0") > "n2");
}

TEST_CASE("devices of a shared claim are not given to other claims") {
    const std::string pods = claim("c") + own_template + pair("g", "c") +
                             pod("x", {"own"}, "x", 1) + pod("z", {"own"}, "z", 1);
    const outcome made =
        decide(node("n1", "a", 2) + node("n2", "a", 2) + gpus + slice("a", in_zone("a"), 2) + pods);
    CHECK(made.on.size() == 3);
    CHECK(made.devices.at({"g0", "c"}) == made.devices.at({"g1", "c"}));
    const std::string other = made.on.contains("x") ? "x" : "z";
    CHECK(made.devices.at({other, "own"}) != made.devices.at({"g0", "c"}));
}

namespace {

/// Up to four pods of one gang on up to four nodes in two zones. Devices are of all nodes, of a
/// zone, or of a node; each pod uses some of the shared claims, and perhaps one of its own.
struct world {
    struct user {
        std::set<int> claims;
        bool has_own = false;
        int cpu = 1;
    };
    struct pool {
        std::string name;
        std::string where;
        std::set<int> nodes;
        int devices = 1;
    };
    std::vector<int> cpus;
    std::vector<pool> pools;
    std::vector<int> sizes;
    std::vector<user> users;

    world(muster::testing::random& draw, int claims, bool with_own, bool with_local) {
        for (std::int64_t at = draw.between(2, 4); at > 0; --at)
            cpus.push_back(static_cast<int>(draw.between(1, 3)));
        const auto add = [&](const std::string& name, const std::string& where,
                             const auto& reaches) {
            if (draw.between(0, 1) == 0)
                return;
            pool& made = pools.emplace_back(pool{name, where, {}, 1});
            made.devices = static_cast<int>(draw.between(1, 2));
            for (int at = 0; at < static_cast<int>(cpus.size()); ++at)
                if (reaches(at))
                    made.nodes.insert(at);
        };
        add("all", everywhere, [](int) { return true; });
        add("a", in_zone("a"), [](int at) { return at % 2 == 0; });
        add("b", in_zone("b"), [](int at) { return at % 2 == 1; });
        if (with_local)
            for (int on = 0; on < static_cast<int>(cpus.size()); ++on)
                add("n" + std::to_string(on), "nodeName: n" + std::to_string(on),
                    [&](int at) { return at == on; });
        for (int each = 0; each < claims; ++each)
            sizes.push_back(static_cast<int>(draw.between(1, 2)));
        for (std::int64_t at = draw.between(2, 2 * std::max(2, claims)); at > 0; --at) {
            user& made = users.emplace_back();
            // No pod uses two claims, so that claims can be kept apart.
            if (const auto one = static_cast<int>(draw.between(-1, claims - 1)); one >= 0)
                made.claims.insert(one);
            made.has_own = with_own && draw.between(0, 3) == 0;
            made.cpu = static_cast<int>(draw.between(1, 2));
        }
        // A claim of one pod is not shared.
        for (int each = 0; each < claims; ++each)
            if (std::ranges::count_if(users,
                                      [&](const user& of) { return of.claims.contains(each); }) < 2)
                for (user& of : users)
                    of.claims.erase(each);
    }
    [[nodiscard]] static std::string name(std::size_t at) {
        return std::string(1, static_cast<char>('p' + at));
    }
    [[nodiscard]] std::string text() const {
        std::string made = gpus + own_template;
        for (std::size_t at = 0; at < cpus.size(); ++at)
            made += node("n" + std::to_string(at), at % 2 == 0 ? "a" : "b", cpus[at]);
        for (const pool& each : pools)
            made += slice(each.name, each.where, each.devices);
        for (std::size_t at = 0; at < sizes.size(); ++at)
            made += claim("c" + std::to_string(at), "count: " + std::to_string(sizes[at]));
        for (std::size_t at = 0; at < users.size(); ++at) {
            std::vector<std::string> claims;
            for (const int one : users[at].claims)
                claims.push_back("c" + std::to_string(one));
            if (users[at].has_own)
                claims.push_back("own");
            made += pod(name(at), claims, "g", static_cast<int>(users.size()), users[at].cpu);
        }
        return made;
    }
    /// True if the nodes have the CPUs, and the devices can be divided among the claims.
    [[nodiscard]] bool holds(const std::vector<int>& on) const {
        std::vector<int> cpu = cpus;
        std::vector<std::pair<int, std::set<int>>> needs;
        for (std::size_t at = 0; at < sizes.size(); ++at) {
            std::set<int> nodes;
            for (std::size_t pod_at = 0; pod_at < users.size(); ++pod_at)
                if (users[pod_at].claims.contains(static_cast<int>(at)))
                    nodes.insert(on[pod_at]);
            if (!nodes.empty())
                needs.emplace_back(sizes[at], nodes);
        }
        for (std::size_t at = 0; at < users.size(); ++at) {
            if ((cpu[static_cast<std::size_t>(on[at])] -= users[at].cpu) < 0)
                return false;
            if (users[at].has_own)
                needs.emplace_back(1, std::set<int>{on[at]});
        }
        std::vector<int> left;
        for (const pool& each : pools)
            left.push_back(each.devices);
        return divides(needs, 0, left);
    }
    /// Gives the needs from position `at` on devices of pools that all their nodes reach.
    [[nodiscard]] bool divides(std::vector<std::pair<int, std::set<int>>>& needs, std::size_t at,
                               std::vector<int>& left) const {
        if (at == needs.size())
            return true;
        if (needs[at].first == 0)
            return divides(needs, at + 1, left);
        for (std::size_t from = 0; from < pools.size(); ++from) {
            if (left[from] == 0 || !std::ranges::includes(pools[from].nodes, needs[at].second))
                continue;
            --left[from];
            --needs[at].first;
            const bool fits = divides(needs, at, left);
            ++needs[at].first;
            ++left[from];
            if (fits)
                return true;
        }
        return false;
    }
    [[nodiscard]] bool can_start() const {
        std::vector<int> on(users.size(), 0);
        for (;;) {
            if (holds(on))
                return true;
            std::size_t at = 0;
            while (at < on.size() && ++on[at] == static_cast<int>(cpus.size()))
                on[at++] = 0;
            if (at == on.size())
                return false;
        }
    }
};

struct tally {
    int started = 0;
    int refused = 0;
    int missed = 0;
};

tally compare(std::uint64_t seed, int rounds, int claims, bool with_own, bool with_local) {
    muster::testing::random draw(seed);
    tally made;
    for (int round = 0; round < rounds; ++round) {
        const world each(draw, claims, with_own, with_local);
        const outcome found = decide(each.text());
        INFO(each.text());
        const bool can = each.can_start();
        const bool starts = !found.on.empty();
        if (starts) {
            CHECK(found.on.size() == each.users.size());
            std::vector<int> on;
            for (std::size_t at = 0; at < each.users.size(); ++at)
                on.push_back(std::stoi(found.on.at(world::name(at)).substr(1)));
            CHECK(each.holds(on));
        }
        CHECK((!starts || can));
        CHECK((!found.never || !can));
        made.started += starts ? 1 : 0;
        made.refused += can ? 0 : 1;
        made.missed += can && !starts ? 1 : 0;
    }
    return made;
}

} // namespace

TEST_CASE("pods that could use no node keep no devices from others") {
    const std::string nodes = node("n1", "a", 9) + node("n2", "a", 9) + gpus;
    const std::string net = slice("net", everywhere, 1) + own_template + claim("c");
    const std::string single = pod("x", {"own"}, "x", 1);
    const auto placed = [&](const std::string& more, int cpu = 1) {
        return decide(nodes + net + single + pod("g0", {"c"}, "g", 2, cpu, more) +
                      pod("g1", {"c"}, "g", 2, cpu, more))
            .placed;
    };
    CHECK(placed("") == "g0=n1 g1=n1 ");
    CHECK(placed("  nodeSelector: {zone: none}\n") == "x=n1 ");
    CHECK(placed("", 50) == "x=n1 ");
    CHECK(placed("  schedulingGates: [{name: later}]\n") == "x=n1 ");
}

TEST_CASE("a claim of an older pod keeps the device that it can be given") {
    const std::string old = "---\napiVersion: v1\nkind: Pod\nmetadata: {name: old, uid: u-old, "
                            "creationTimestamp: \"2020-01-01T00:00:00Z\"}\nspec:\n  containers: "
                            "[{name: c, resources: {requests: {cpu: 1}}}]\n  resourceClaims: "
                            "[{name: own, resourceClaimName: own}]\n";
    const std::string rest =
        node("n1", "a") + node("n2", "a") + gpus + claim("own") + claim("c") + pair("g", "c") + old;
    const outcome made = decide(rest + slice("net", everywhere, 1));
    CHECK(made.placed == "old=n1 ");
    CHECK(made.waits.find("g0: ") == 0);
    // Two devices serve both.
    CHECK(decide(rest + slice("net", everywhere, 2)).on.size() == 3);
}

TEST_CASE("requests with admin access keep no devices from others") {
    for (const std::string count : {"count: 1", "allocationMode: All"}) {
        const outcome made = decide(
            node("n1", "a") + node("n2", "a") + gpus + slice("net", everywhere, 1) + own_template +
            claim("c", count + ", adminAccess: true") + pair("g", "c") + pod("x", {"own"}, "x", 1));
        CHECK(made.on.size() == 3);
    }
}

TEST_CASE("a claim for all devices waits while a pool that the nodes reach is being updated") {
    const std::string updated =
        "---\napiVersion: resource.k8s.io/v1\nkind: ResourceSlice\nmetadata: {name: s-upd}\n"
        "spec: {driver: x.com, pool: {name: upd, generation: 1, resourceSliceCount: 2}, "
        "nodeSelector: {nodeSelectorTerms: [{matchExpressions: [{key: zone, operator: In, values: "
        "[b]}]}]}, devices: [{name: u0}]}\n";
    const auto made = [&](const std::string& zone, const std::string& count) {
        return decide(two_zones + slice(zone, in_zone(zone), 1) + updated + claim("c", count) +
                      pair("g", "c"));
    };
    CHECK(made("b", "count: 1").on.size() == 2);
    CHECK(made("b", "allocationMode: All").on.empty());
    CHECK_FALSE(made("b", "allocationMode: All").never);
}

TEST_CASE("a claim for all devices gets those that bind it to a node, on one node") {
    const std::string net =
        "---\napiVersion: resource.k8s.io/v1\nkind: ResourceSlice\nmetadata: {name: s-net}\nspec: "
        "{driver: x.com, pool: {name: net, generation: 1, resourceSliceCount: 1}, allNodes: true, "
        "devices: [{name: d0}, {name: d1, bindsToNode: true}]}\n";
    const std::string all = claim("c", "allocationMode: All") + pair("g", "c");
    // The pods need two nodes of one CPU each, or one of two.
    CHECK(decide(node("n1", "a", 1) + node("n2", "a", 1) + gpus + net + all).on.empty());
    const outcome made = decide(node("n1", "a", 1) + node("n2", "a", 2) + gpus + net + all +
                                own_template + pod("x", {"own"}, "x", 1));
    CHECK(made.placed == "g0=n2 g1=n2 ");
    CHECK(made.devices.at({"g0", "c"}) == std::set<std::string>{"net/d0", "net/d1"});
}

TEST_CASE("only the devices of requests for all of them must be the same on all nodes") {
    const std::string classes =
        "---\napiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata: {name: net}\n"
        "spec: {selectors: [{cel: {expression: \"device.attributes['x.com'].t == 'net'\"}}]}\n"
        "---\napiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata: {name: gpu}\n"
        "spec: {selectors: [{cel: {expression: \"device.attributes['x.com'].t == 'gpu'\"}}]}\n";
    const auto of_type = [](const std::string& type) {
        return ", attributes: {t: {string: " + type + "}}";
    };
    const std::string mixed =
        "---\napiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {name: c}\nspec: "
        "{devices: {requests: [{name: r, exactly: {deviceClassName: net, allocationMode: All}}, "
        "{name: s, exactly: {deviceClassName: gpu, count: 1}}]}}\n";
    const outcome made = decide(
        node("n1", "a", 1) + node("n2", "a", 1) + classes +
        slice("net", everywhere, 1, of_type("net")) + slice("any", everywhere, 1, of_type("gpu")) +
        slice("local", "nodeName: n1", 1, of_type("gpu")) + mixed + pair("g", "c"));
    CHECK(made.placed == "g0=n1 g1=n2 ");
    CHECK(made.devices.at({"g1", "c"}) == std::set<std::string>{"net/d0", "any/d0"});
}

TEST_CASE("three claims that do not fit together are found beside claims that conflict in pairs") {
    // c0 and c1 both need the device of type y. c0, c2 and c3 fit in pairs, but need three of x.
    const auto class_of = [](const std::string& type) {
        return "---\napiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata: {name: " + type +
               "}\nspec: {selectors: [{cel: {expression: \"device.attributes['x.com'].t == '" +
               type + "'\"}}]}\n";
    };
    const auto asking = [](const std::string& name, const std::vector<std::string>& types) {
        std::string list;
        for (const std::string& type : types)
            list += (list.empty() ? "{name: r-" : ", {name: r-") + type +
                    ", exactly: {deviceClassName: " + type + ", count: 1}}";
        return "---\napiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {name: " +
               name + "}\nspec: {devices: {requests: [" + list + "]}}\n";
    };
    const std::string net =
        "---\napiVersion: resource.k8s.io/v1\nkind: ResourceSlice\nmetadata: {name: s-net}\nspec: "
        "{driver: x.com, pool: {name: net, generation: 1, resourceSliceCount: 1}, allNodes: true, "
        "devices: [{name: x0, attributes: {t: {string: x}}}, {name: x1, attributes: {t: {string: "
        "x}}}, {name: y0, attributes: {t: {string: yy}}}]}\n";
    const outcome made =
        decide(node("n1", "a") + class_of("x") + class_of("yy") + net + asking("c0", {"yy", "x"}) +
               asking("c1", {"yy"}) + asking("c2", {"x"}) + asking("c3", {"x"}) + pair("g", "c0") +
               pair("h", "c1") + pair("i", "c2") + pair("j", "c3"));
    // decide() verifies that the devices suffice.
    CHECK(made.on.size() >= 4);
}

TEST_CASE("sets of nodes without free devices do not use up the search") {
    // The device of each single node is in use; the nodes of zone b come last.
    std::string all = gpus;
    std::string held;
    for (int at = 0; at < 530; ++at) {
        const std::string name = "m" + std::to_string(at);
        all += node(name, "c", 1) + slice(name, "nodeName: " + name, 1);
        held += std::string(held.empty() ? "" : ", ") +
                "{request: r, driver: x.com, pool: " + name + ", device: d0}";
    }
    all += node("n1", "b", 2) + slice("b", in_zone("b"), 1, ", bindsToNode: true") +
           claim("held", "count: 1",
                 "status: {allocation: {devices: {results: [" + held +
                     "]}}, reservedFor: [{resource: pods, name: other, uid: u-o}]}\n") +
           claim("c") + pair("g", "c");
    CHECK(decide(all).placed == "g0=n1 g1=n1 ");
}

TEST_CASE("claims beyond those that can be weighed get what older ones leave") {
    // Ten claims of two pods each, in one gang each, for nine devices.
    std::string all = node("n1", "a") + node("n2", "a") + gpus + slice("a", in_zone("a"), 9);
    for (char each = 'a'; each < 'a' + 10; ++each)
        all +=
            claim(std::string("c") + each) + pair(std::string("g") + each, std::string("c") + each);
    const outcome made = decide(all);
    CHECK(made.on.size() == 18);
    std::set<std::string> given;
    for (const auto& [user, devices] : made.devices)
        given.insert(devices.begin(), devices.end());
    CHECK(given.size() == 9);
    CHECK(made.waits.find("older claims may get the devices that satisfy it") != std::string::npos);
}

TEST_CASE("the oldest of many claims leaves the others an option each") {
    // Nine claims compete for the devices of nine nodes, each of which has room for one pair. The
    // device of all nodes is in use.
    std::string all =
        gpus + slice("net", everywhere, 1) +
        claim("held", "count: 1",
              "status: {allocation: {devices: {results: [{request: r, driver: x.com, pool: net, "
              "device: d0}]}}, reservedFor: [{resource: pods, name: other, uid: u-o}]}\n");
    for (char each = 'a'; each < 'a' + 9; ++each)
        all += node(std::string("n") + each, "a", 2) +
               slice(std::string("l") + each, std::string("nodeName: n") + each, 1) +
               claim(std::string("c") + each) +
               pair(std::string("g") + each, std::string("c") + each);
    CHECK(decide(all).on.size() == 18);
}

TEST_CASE("gangs with one or two shared claims start exactly if devices can be divided for them") {
    for (const int claims : {1, 2}) {
        const tally made =
            compare(20261128U + static_cast<unsigned>(claims), 200, claims, false, false);
        CHECK(made.started > 40);
        CHECK(made.refused > 40);
        CHECK(made.missed == 0);
    }
}

TEST_CASE("gangs with three shared claims, local devices and claims of their own get no too much") {
    tally sum;
    for (const bool is_mixed : {false, true}) {
        const tally made = compare(20261130U + (is_mixed ? 1U : 0U), 150, 3, is_mixed, is_mixed);
        sum.started += made.started;
        sum.refused += made.refused;
        sum.missed += made.missed;
    }
    CHECK(sum.started > 60);
    CHECK(sum.refused > 40);
    CHECK(sum.missed < sum.started / 10);
}

} // namespace codec_spread_claims_test
