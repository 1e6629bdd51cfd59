// SPDX-License-Identifier: Apache-2.0
#include <muster/apis/core/volumes/volume_planner.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <muster/cycle/cycle.hpp>
#include <muster/input/cluster.hpp>
#include <muster/testing/random.hpp>
#include <support/settings.hpp>

namespace codec_volume_worlds_test {

using namespace muster::codec;

namespace {

/// Nodes, free volumes of one class, and gangs whose pods have a claim each.
struct volume_world {
    manifests objects;
    std::map<std::string, std::size_t> gang_sizes;
};

muster::node_term on(const std::string& key, const std::string& value) {
    muster::node_term term;
    term.labels.requirements.push_back({key, muster::label_operator::in, {value}});
    return term;
}

/// Where volumes of the class are made, besides the free ones.
enum class making { none, topologies, pools_of_nodes, pools };

void make_volumes(manifests& objects, muster::testing::random& chance, making how) {
    if (how == making::none)
        return;
    storage_class_object& of = objects.storage.classes.front();
    of.provisioner = "csi.x";
    if (how == making::topologies || chance.percent(30))
        of.topologies = {chance.percent(50) ? on("host", "a1") : on("zone", "a")};
    if (how == making::topologies)
        return;
    csi_driver_object& driver = objects.storage.drivers.emplace_back();
    driver.metadata.key.name = "csi.x";
    driver.tracks_capacity = true;
    for (std::size_t at = 0, count = chance.below(4); at < count; ++at) {
        storage_capacity_object& pool = objects.storage.capacities.emplace_back();
        pool.metadata.key.name = "p" + std::to_string(at);
        pool.storage_class = "local";
        pool.bytes = 10 * chance.between(1, 8);
        if (chance.percent(20))
            pool.largest = 10 * chance.between(1, 4);
        // One pool per node, or the pools of zones.
        const bool of_zone = how == making::pools && at < 2 && chance.percent(60);
        const std::string zone = at % 2 == 0 ? "a" : "b";
        pool.nodes =
            of_zone ? on("zone", zone).labels : on("host", zone + (at < 2 ? "1" : "2")).labels;
    }
}

volume_world random_world(muster::testing::random& chance, bool one_gang, std::int64_t cpu,
                          making how = making::none) {
    volume_world made;
    for (const std::string zone : {"a", "b"})
        for (const std::string number : {"1", "2"}) {
            node_object& node = made.objects.nodes.emplace_back();
            node.metadata.key.name = zone + number;
            node.metadata.labels = {{"zone", zone}, {"host", zone + number}};
            node.allocatable = {{"cpu", cpu * 1000}, {"pods", 110}};
        }
    storage_class_object& local = made.objects.storage.classes.emplace_back();
    local.metadata.key.name = "local";
    local.provisioner = "kubernetes.io/no-provisioner";
    local.waits_for_consumer = true;
    make_volumes(made.objects, chance, how);
    const bool all_local = chance.percent(50);
    for (std::size_t at = 0, count = chance.below(7); at < count; ++at) {
        volume_object& volume = made.objects.storage.volumes.emplace_back();
        volume.metadata.key.name = "v" + std::to_string(at);
        volume.storage_class = "local";
        volume.bytes = 10 * chance.between(1, 4);
        volume.access = read_write_once;
        const std::size_t node = chance.below(4);
        if (all_local || chance.percent(40))
            volume.nodes = {on("host", made.objects.nodes[node].metadata.key.name)};
        else if (chance.percent(50))
            volume.nodes = {on("zone", node < 2 ? "a" : "b")};
    }
    const std::size_t gangs = one_gang ? 1 : 1 + chance.below(3);
    for (std::size_t gang = 0; gang < gangs; ++gang) {
        const std::string name = "g" + std::to_string(gang);
        const std::size_t size = 1 + chance.below(4);
        made.gang_sizes[name] = size;
        for (std::size_t rank = 0; rank < size; ++rank) {
            const std::string own = name + "-" + std::to_string(rank);
            pod_object& pod = made.objects.pods.emplace_back();
            pod.metadata.key = {"default", own};
            pod.metadata.labels = {
                {"pod-group.scheduling.sigs.k8s.io/name", name},
                {"pod-group.scheduling.sigs.k8s.io/min-available", std::to_string(size)}};
            pod.requests["cpu"].milli = 1000;
            pod_volume& use = pod.volumes.emplace_back();
            use.name = "v";
            use.claim = "c-" + own;
            claim_object& claim = made.objects.storage.claims.emplace_back();
            claim.metadata.key = {"default", use.claim};
            claim.metadata.uid = use.claim;
            claim.asks.storage_class = "local";
            claim.asks.access = read_write_once;
            claim.asks.bytes = 10 * chance.between(1, 4);
        }
    }
    return made;
}

/// Finds an assignment of a different free volume or of a new one to each claim, if there is one.
/// `node` is the node of the claim's pod, or null for any node.
bool can_match(const manifests& objects,
               const std::vector<std::pair<const claim_object*, const node_object*>>& claims) {
    const auto& volumes = objects.storage.volumes;
    std::vector<bool> used(volumes.size(), false);
    const auto meets = [](const muster::node_term& term, const node_object& node) {
        const auto& one = term.labels.requirements.front();
        const std::string* value = node.metadata.labels.find(one.key);
        return value && *value == one.values.front();
    };
    const storage_class_object& of = objects.storage.classes.front();
    auto pools = objects.storage.capacities;
    // A volume may be made on the node, from this pool if the driver tracks capacity.
    const auto can_make = [&](const storage_capacity_object* pool, const node_object* at) {
        for (const node_object& node : objects.nodes)
            if ((!at || at == &node) && (!of.topologies || meets(of.topologies->front(), node)) &&
                (!pool || meets({*pool->nodes, {}}, node)))
                return true;
        return false;
    };
    const std::function<bool(std::size_t)> give = [&](std::size_t at) {
        if (at == claims.size())
            return true;
        const auto& [claim, node] = claims[at];
        for (std::size_t volume = 0; volume < volumes.size(); ++volume) {
            const auto& terms = volumes[volume].nodes;
            if (used[volume] || volumes[volume].bytes < claim->asks.bytes ||
                (node && terms && !meets(terms->front(), *node)))
                continue;
            used[volume] = true;
            if (give(at + 1))
                return true;
            used[volume] = false;
        }
        if (!of.provisions())
            return false;
        if (objects.storage.drivers.empty())
            return can_make(nullptr, node) && give(at + 1);
        for (storage_capacity_object& pool : pools) {
            if (*pool.bytes < claim->asks.bytes ||
                pool.largest.value_or(claim->asks.bytes) < claim->asks.bytes ||
                !can_make(&pool, node))
                continue;
            *pool.bytes -= claim->asks.bytes;
            const bool served = give(at + 1);
            *pool.bytes += claim->asks.bytes;
            if (served)
                return true;
        }
        return false;
    };
    return give(0);
}

/// Where the pods of a world are placed.
std::map<std::string, std::string> decide(const manifests& objects) {
    std::map<std::string, std::string> placed;
    diagnostics out;
    auto cluster = make_cluster<muster::max_kinds>(objects, {}, out);
    static_cast<void>(muster::cycle(cluster.state, cluster.now));
    for (const auto& [key, pod] : cluster.state.pod_keys())
        if (cluster.state[pod].node)
            placed.emplace(key.name, cluster.state.key(*cluster.state[pod].node));
    return placed;
}

} // namespace

TEST_CASE("each placed pod has its own volume that its node can use, and gangs start whole") {
    muster::testing::random chance(muster::testing::random_seed());
    std::size_t started = 0;
    const auto cases = muster::testing::case_count(1500);
    for (std::uint64_t at = 0; at < cases; ++at) {
        const auto how = static_cast<making>(chance.below(4));
        const volume_world world = random_world(chance, false, chance.between(1, 3), how);
        const auto placed = decide(world.objects);
        std::vector<std::pair<const claim_object*, const node_object*>> claims;
        std::map<std::string, std::size_t> sizes;
        for (std::size_t pod = 0; pod < world.objects.pods.size(); ++pod) {
            const std::string& name = world.objects.pods[pod].metadata.key.name;
            const auto where = placed.find(name);
            if (where == placed.end())
                continue;
            ++sizes[name.substr(0, name.find('-'))];
            for (const node_object& node : world.objects.nodes)
                if (node.metadata.key.name == where->second)
                    claims.emplace_back(&world.objects.storage.claims[pod], &node);
        }
        CAPTURE(at);
        REQUIRE(can_match(world.objects, claims));
        for (const auto& [gang, size] : sizes)
            REQUIRE(size == world.gang_sizes.at(gang));
        started += sizes.size();
    }
    if (muster::testing::all_cases(1500))
        CHECK(started > 300);
}

TEST_CASE("a gang with room on every node starts if and only if its claims can be matched") {
    muster::testing::random chance(muster::testing::random_seed() + 1);
    std::size_t started = 0;
    const auto cases = muster::testing::case_count(1500);
    for (std::uint64_t at = 0; at < cases; ++at) {
        // With pools, of one size, whose number on a node is known exactly.
        const auto how = static_cast<making>(chance.below(3));
        volume_world world = random_world(chance, true, 64, how);
        if (how == making::pools_of_nodes)
            for (claim_object& each : world.objects.storage.claims)
                each.asks.bytes = 20;
        std::vector<std::pair<const claim_object*, const node_object*>> claims;
        for (const claim_object& each : world.objects.storage.claims)
            claims.emplace_back(&each, nullptr);
        const bool starts = !decide(world.objects).empty();
        CAPTURE(at);
        REQUIRE(starts == can_match(world.objects, claims));
        started += starts ? 1U : 0U;
    }
    if (muster::testing::all_cases(1500))
        CHECK(started > 300);
}

TEST_CASE(
    "gangs of pods with two claims start while volumes last, each pod with both in its zone") {
    // 100 volumes in each of three zones; pods of 40 gangs want 320.
    manifests objects;
    for (std::size_t at = 0; at < 600; ++at) {
        node_object& node = objects.nodes.emplace_back();
        node.metadata.key.name = "n" + std::to_string(at);
        node.metadata.labels = {{"zone", "z" + std::to_string(at % 3)}};
        node.allocatable = {{"cpu", 64000}, {"pods", 110}};
    }
    storage_class_object& of = objects.storage.classes.emplace_back();
    of.metadata.key.name = "zonal";
    of.provisioner = "kubernetes.io/no-provisioner";
    of.waits_for_consumer = true;
    for (std::size_t at = 0; at < 300; ++at) {
        volume_object& volume = objects.storage.volumes.emplace_back();
        volume.metadata.key.name = "v" + std::to_string(at);
        volume.storage_class = "zonal";
        volume.bytes = 10;
        volume.access = read_write_once;
        volume.nodes = {on("zone", "z" + std::to_string(at % 3))};
    }
    for (std::size_t at = 0; at < 160; ++at) {
        const std::string own = "p" + std::to_string(at);
        pod_object& pod = objects.pods.emplace_back();
        pod.metadata.key = {"default", own};
        pod.metadata.labels = {
            {"pod-group.scheduling.sigs.k8s.io/name", "g" + std::to_string(at / 4)},
            {"pod-group.scheduling.sigs.k8s.io/min-available", "4"}};
        pod.requests["cpu"].milli = 1000;
        for (const std::string which : {"a", "b"}) {
            pod_volume& use = pod.volumes.emplace_back();
            use.name = which;
            use.claim = own + which;
            claim_object& claim = objects.storage.claims.emplace_back();
            claim.metadata.key = {"default", use.claim};
            claim.metadata.uid = use.claim;
            claim.asks.storage_class = "zonal";
            claim.asks.access = read_write_once;
            claim.asks.bytes = 5;
        }
    }
    CHECK(decide(objects).size() == 37 * 4);
}

TEST_CASE("the order of the objects of an input does not matter") {
    muster::testing::random chance(muster::testing::random_seed() + 3);
    const auto shuffle = [&](auto& list) {
        for (std::size_t at = list.size(); at > 1; --at)
            std::swap(list[at - 1], list[chance.below(at)]);
    };
    const auto cases = muster::testing::case_count(500);
    for (std::uint64_t at = 0; at < cases; ++at) {
        volume_world world =
            random_world(chance, false, chance.between(1, 3), static_cast<making>(chance.below(4)));
        const auto before = decide(world.objects);
        shuffle(world.objects.nodes);
        shuffle(world.objects.pods);
        shuffle(world.objects.storage.volumes);
        shuffle(world.objects.storage.claims);
        shuffle(world.objects.storage.capacities);
        CAPTURE(at);
        REQUIRE(decide(world.objects) == before);
    }
}

TEST_CASE("a gang starts beside one that never starts if and only if it starts alone") {
    muster::testing::random chance(muster::testing::random_seed() + 2);
    std::size_t started = 0;
    const auto cases = muster::testing::case_count(1000);
    for (std::uint64_t at = 0; at < cases; ++at) {
        const auto how = static_cast<making>(chance.below(4));
        volume_world world = random_world(chance, true, chance.between(1, 3), how);
        const auto alone = decide(world.objects);
        // The other gang is older. Either its pods fit no node, or only the last one, which has no
        // volume; or there is no class for the last one's claim.
        enum class wrong { all, without_volume, claim };
        const auto which = static_cast<wrong>(chance.below(3));
        const std::size_t more = (which == wrong::all ? 1 : 2) + chance.below(3);
        for (std::size_t rank = 0; rank < more; ++rank) {
            const std::string own = "a-" + std::to_string(rank);
            pod_object& pod = world.objects.pods.emplace_back();
            pod.metadata.key = {"default", own};
            pod.metadata.created = 1;
            pod.metadata.labels = {
                {"pod-group.scheduling.sigs.k8s.io/name", "a"},
                {"pod-group.scheduling.sigs.k8s.io/min-available", std::to_string(more)}};
            const bool is_last = rank + 1 == more;
            pod.requests["cpu"].milli =
                which == wrong::all || (which == wrong::without_volume && is_last) ? 1'000'000
                                                                                   : 1000;
            if (which == wrong::without_volume && is_last)
                continue;
            pod_volume& use = pod.volumes.emplace_back();
            use.name = "v";
            use.claim = "c-" + own;
            claim_object claim = world.objects.storage.claims.front();
            claim.metadata.key.name = use.claim;
            claim.metadata.uid = use.claim;
            claim.asks.bytes = 10 * chance.between(1, 5);
            if (which == wrong::claim && is_last)
                claim.asks.storage_class = "none";
            world.objects.storage.claims.push_back(claim);
        }
        const auto beside = decide(world.objects);
        CAPTURE(at);
        REQUIRE(alone.size() == beside.size());
        started += alone.empty() ? 0U : 1U;
    }
    if (muster::testing::all_cases(1000))
        CHECK(started > 200);
}

} // namespace codec_volume_worlds_test
