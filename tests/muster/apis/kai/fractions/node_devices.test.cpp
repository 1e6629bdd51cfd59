// SPDX-License-Identifier: Apache-2.0
#include <muster/apis/kai/fractions/node_devices.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <muster/apis/kai/fractions/pod_shares.hpp>

#include "muster/apis/shares/share_texts.hpp"

namespace kai_node_devices_test {

using namespace share_texts;

namespace {

/// A pod with annotations and labels in YAML's flow style, and limits of one container.
std::string pod(const std::string& annotations, const std::string& labels = "{}",
                const std::string& limits = "{}", const std::string& name_space = "ns") {
    return "kind: Pod\nmetadata: {name: p, namespace: " + name_space +
           ", annotations: " + annotations + ", labels: " + labels +
           "}\nspec: {containers: [{name: c, resources: {limits: " + limits + "}}]}\n";
}

kai_pod standing(const std::string& text) {
    read_object object(text);
    kai_pod read = read_kai_pod(object.metadata, object.containers, object.out);
    CHECK(read.unread.empty() == object.findings().empty());
    return read;
}

muster::share_request one(const std::string& text) {
    read_object object(text);
    const auto made =
        read_kai_requests(object.metadata, object.containers, kai_order::pack, object.out);
    REQUIRE(made.requests.size() == 1);
    return made.requests[0].request;
}

} // namespace

TEST_CASE("the GPUs of a node of KAI are those of groups, those of pods, and idle ones") {
    object_metadata node;
    node.labels.set("nvidia.com/gpu.memory", "16160");
    diagnostics out;
    const std::vector<kai_pod> pods{
        standing(pod("{gpu-fraction: '0.5'}", "{runai-gpu-group: g}")),
        standing(pod("{gpu-memory: '1000'}", "{runai-gpu-group: g}")),
        standing(pod("{run.ai/reserve_for_gpu_index: '0'}", "{runai-gpu-group: g}",
                     "{nvidia.com/gpu: 1}", "kai-resource-reservation")),
        standing(pod("{}", "{}", "{nvidia.com/gpu: 1}"))};
    const auto made = kai_devices(node, 4, pods, out);
    check_sound(made);
    REQUIRE(made.devices.size() == 4);
    CHECK(made.devices[0].id == "g");
    CHECK(made.devices[0].memory == 16100);
    CHECK(made.devices[0].used == muster::share_amounts{2, 9050, 0});
    CHECK(made.devices[0].healthy);
    CHECK_FALSE(made.devices[1].healthy);
    CHECK(made.devices[1].used.memory == 16100);
    CHECK(made.devices[2].used == muster::share_amounts{});
    CHECK(made.devices[2].id.starts_with(kai_fractions::idle_prefix));
    CHECK(made.devices[3].healthy);
}

TEST_CASE("the GPU of a group of KAI without sharers gets no pods") {
    diagnostics out;
    const std::vector<kai_pod> pods{standing(
        pod("{}", "{runai-gpu-group: g}", "{nvidia.com/gpu: 1}", "kai-resource-reservation"))};
    const auto made = kai_devices({}, 1, pods, out);
    REQUIRE(made.devices.size() == 1);
    CHECK_FALSE(made.devices[0].healthy);
}

TEST_CASE("the GPU of a group without sharers gets pods if Muster made its reservation pod") {
    diagnostics out;
    const std::string made = pod("{muster.dev/reserved-by: gangs}", "{runai-gpu-group: g}",
                                 "{nvidia.com/gpu: 1}", "kai-resource-reservation");
    CHECK(kai_devices({}, 1, {standing(made)}, out).devices.at(0).healthy);
    std::string ending = made;
    ending.replace(ending.find("name: p"), 7, "name: p, deletionTimestamp: '2026-01-01T00:00:00Z'");
    CHECK_FALSE(kai_devices({}, 1, {standing(ending)}, out).devices.at(0).healthy);
    const auto awaits = [&](const char* scheduler) {
        read_object object(made);
        return read_kai_pod(object.metadata, object.containers, object.out,
                            kai_fractions::reservation_namespace, scheduler)
            .awaits_sharers;
    };
    CHECK(awaits("gangs"));
    CHECK_FALSE(awaits("others"));
}

TEST_CASE("a text names one GPU if it is an index or a UUID") {
    for (const char* const right : {"0", "15", "GPU-2f1c-0A", "MIG-1", "MIG-GPU-1/2/0"})
        CHECK(names_kai_gpu(right));
    for (const char* const wrong : {"", "all", "none", "void", "0,1", "-1", " 0", "0 ", "0x1",
                                    "9999999999", "GPU-", "GPU-1,GPU-2", "XPU-1"})
        CHECK_FALSE(names_kai_gpu(wrong));
}

TEST_CASE(
    "a group with sharers gets more only if a reservation pod names its GPU, with a warning") {
    const std::string sharer = pod("{gpu-fraction: '0.5'}", "{runai-gpu-group: g}");
    const auto reservation = [](const std::string& gpu, const std::string& group = "g") {
        return pod(gpu.empty() ? "{}" : "{run.ai/reserve_for_gpu_index: '" + gpu + "'}",
                   "{runai-gpu-group: " + group + "}", "{nvidia.com/gpu: 1}",
                   "kai-resource-reservation");
    };
    // Returns the warning, or an empty text if the group gets more pods.
    const auto warning = [&](const std::vector<kai_pod>& reservations) {
        std::vector<kai_pod> pods{standing(sharer)};
        pods.insert(pods.end(), reservations.begin(), reservations.end());
        object_metadata node;
        node.key.name = "n1";
        diagnostics out;
        const bool is_healthy = kai_devices(node, 2, pods, out).devices.at(0).healthy;
        CHECK(is_healthy == out.findings().empty());
        return out.findings().empty() ? std::string() : out.findings().front().message;
    };
    const auto ending = [&](const kai_pod& of, bool has_ended) {
        kai_pod made = of;
        made.is_ending = true;
        made.has_ended = has_ended;
        return made;
    };
    const std::string no_pods = "node n1: GPU group g gets no pods: ";
    const std::string none = no_pods +
                             "it has sharers, and no reservation pod on the node names its GPU "
                             "(expected annotation run.ai/reserve_for_gpu_index)";
    CHECK(warning({}) == none);
    CHECK(warning({standing(reservation(""))}) == none);
    CHECK(warning({standing(reservation("all"))}) ==
          no_pods + "its reservation pod names \"all\" (expected the index or UUID of a GPU)");
    CHECK(warning({standing(reservation("0"))}).empty());
    CHECK(warning({standing(reservation("0")), standing(reservation("1", "h"))}).empty());
    const std::string twice = no_pods + "its reservation pod names GPU 0, as that of group h does";
    const kai_pod of_h = standing(reservation("0", "h"));
    CHECK(warning({standing(reservation("0")), of_h}) == twice);
    std::string deleted = reservation("0");
    deleted.replace(deleted.find("name: p"), 7,
                    "name: p, deletionTimestamp: '2026-01-01T00:00:00Z'");
    CHECK(warning({standing(deleted)}) == none);
    // The sharers of h still use the GPU of a reservation pod that ended.
    const kai_pod sharer_of_h = standing(pod("{gpu-fraction: '0.5'}", "{runai-gpu-group: h}"));
    for (const bool has_ended : {false, true}) {
        CHECK(warning({standing(reservation("0")), ending(of_h, has_ended)}).empty());
        CHECK(warning({standing(reservation("0")), ending(of_h, has_ended), sharer_of_h}) == twice);
    }
}

TEST_CASE("groups that await sharers and name the same GPU get none") {
    const auto awaiting = [](const std::string& group) {
        return standing(pod("{muster.dev/reserved-by: m, run.ai/reserve_for_gpu_index: '0'}",
                            "{runai-gpu-group: " + group + "}", "{nvidia.com/gpu: 1}",
                            "kai-resource-reservation"));
    };
    diagnostics out;
    CHECK(kai_devices({}, 2, {awaiting("g")}, out).devices.at(0).healthy);
    CHECK(out.findings().empty());
    const auto both = kai_devices({}, 2, {awaiting("g"), awaiting("h")}, out);
    CHECK_FALSE(both.devices.at(0).healthy);
    CHECK_FALSE(both.devices.at(1).healthy);
    CHECK(out.findings().size() == 2);
}

TEST_CASE("an ended reservation pod holds no GPU") {
    kai_pod ended = standing(
        pod("{}", "{runai-gpu-group: g}", "{nvidia.com/gpu: 1}", "kai-resource-reservation"));
    ended.is_ending = ended.has_ended = true;
    diagnostics out;
    const auto made = kai_devices({}, 1, {ended}, out);
    REQUIRE(made.devices.size() == 1);
    CHECK(made.devices[0].id.starts_with(kai_fractions::idle_prefix));
    CHECK(made.devices[0].healthy);
}

TEST_CASE("reservation pods may be in another namespace") {
    read_object object(pod("{}", "{runai-gpu-group: g}", "{nvidia.com/gpu: 1}", "other"));
    CHECK(read_kai_pod(object.metadata, object.containers, object.out, "other").is_reservation);
    CHECK_FALSE(read_kai_pod(object.metadata, object.containers, object.out).is_reservation);
}

TEST_CASE("KAI rounds the memory of a GPU down to a multiple of 100 MiB, and reads large numbers "
          "as bytes") {
    const auto memory = [](const std::string& label) {
        object_metadata node;
        node.key.name = "n1";
        node.labels.set("nvidia.com/gpu.memory", label);
        diagnostics out;
        const std::int64_t value = kai_gpu_memory(node, out);
        return out.findings().empty() ? value : -1;
    };
    CHECK(memory("16160") == 16100);
    CHECK(memory("99") == 0);
    CHECK(memory("16945512448") == 16100);
    CHECK(memory("many") == -1);
    CHECK(memory("-5") == -1);
    diagnostics out;
    CHECK(kai_gpu_memory({}, out) == 100);
    CHECK(out.findings().empty());
}

TEST_CASE("fractions of KAI fill a GPU, fullest first, and then the next one") {
    object_metadata node;
    node.labels.set("nvidia.com/gpu.memory", "10000");
    diagnostics out;
    const auto devices =
        kai_devices(node, 2,
                    {standing(pod("{gpu-fraction: '0.4'}", "{runai-gpu-group: g}")),
                     standing(pod("{run.ai/reserve_for_gpu_index: '0'}", "{runai-gpu-group: g}",
                                  "{nvidia.com/gpu: 1}", "kai-resource-reservation"))},
                    out)
            .devices;
    const auto third = one(pod("{gpu-fraction: '0.3'}"));
    const auto whole = one(pod("{}", "{}", "{nvidia.com/gpu: 1}"));
    using chosen = std::vector<std::vector<std::size_t>>;
    const auto allocate = [&](const std::vector<muster::share_request>& all) {
        return muster::allocate_shares(devices, all, muster::kai_rules, 1000);
    };
    CHECK(allocate({third, third, third}).devices == chosen{{0}, {0}, {1}});
    CHECK(allocate({third, whole}).devices == chosen{{0}, {1}});
    CHECK(allocate({third, third, third, whole}).outcome == muster::share_outcome::none);
}

TEST_CASE("a node of KAI with partitioned GPUs gives no devices") {
    object_metadata node;
    node.labels.set("node-role.kubernetes.io/mig-enabled", "true");
    diagnostics out;
    CHECK_FALSE(kai_devices(node, 2, {}, out).blocked.empty());
    CHECK(kai_devices({}, -5, {}, out).devices.empty());
}

} // namespace kai_node_devices_test
