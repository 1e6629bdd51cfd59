// SPDX-License-Identifier: Apache-2.0
#include <muster/apis/hami/pod_shares.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <muster/apis/hami/node_register.hpp>

#include "muster/apis/shares/share_texts.hpp"

namespace hami_pod_shares_test {

using namespace share_texts;
using muster::share_amounts;

namespace {

const std::string list = "GPU-0,NVIDIA,4000,30:GPU-1,NVIDIA,2000,0:;;GPU-0,NVIDIA,1000,10:;";

node_shares two_gpus() {
    diagnostics out;
    return *read_hami_node(annotated(hami::register_key, "GPU-0,10,16000,100,NVIDIA-T4,0,true:"
                                                         "GPU-1,10,16000,100,NVIDIA-T4,0,true:"),
                           out);
}

} // namespace

TEST_CASE("HAMi's list of a pod's devices has ; between containers") {
    diagnostics out;
    auto pod = annotated(hami::allocated_key, list);
    pod.annotations.set(std::string(hami::node_key), "n1");
    const auto read = read_hami_pod(pod, out);
    REQUIRE(read.has_value());
    CHECK(read->node == "n1");
    CHECK(read->pod == "/x");
    REQUIRE(read->shares.size() == 3);
    CHECK(read->shares[0].device == "GPU-0");
    CHECK(read->shares[0].cores == 30);
    CHECK(read->shares[2].container == 2);
    CHECK(out.findings().empty());
    CHECK_FALSE(read_hami_pod({}, out).has_value());
    CHECK(read_hami_pod(annotated(hami::allocated_key, ""), out)->shares.empty());
}

TEST_CASE("the shares of a pod are added to the use of its node's devices") {
    auto node = two_gpus();
    diagnostics out;
    CHECK(add_pod_shares(node, *read_hami_pod(annotated(hami::allocated_key, list), out)).empty());
    CHECK(node.devices[0].used == share_amounts{2, 5000, 40});
    CHECK(node.devices[1].used == share_amounts{1, 2000, 0});
}

TEST_CASE("an init container counts only for what it holds beyond the sum of the containers") {
    auto node = two_gpus();
    diagnostics out;
    const auto pod = read_hami_pod(
        annotated(hami::allocated_key, "GPU-0,N,9000,5:;GPU-0,N,100,50:;GPU-0,N,4000,30:;"), out);
    CHECK(add_pod_shares(node, *pod, 2).empty());
    CHECK(node.devices[0].used == share_amounts{1, 9000, 50});
}

TEST_CASE("a device that the node does not have is returned by id") {
    auto node = two_gpus();
    diagnostics out;
    const auto pod =
        read_hami_pod(annotated(hami::allocated_key, "GPU-7,N,1,1:GPU-7,N,1,1:;"), out);
    CHECK(add_pod_shares(node, *pod) == std::vector<std::string>{"GPU-7"});
}

TEST_CASE("a pod whose devices cannot be read blocks its node") {
    for (const char* const value : {"GPU-0,NVIDIA,5:;", "GPU-0,NVIDIA,-5,0:;", "GPU-0,N,5,x:;",
                                    ",N,5,0:;", "GPU-0,N,2147483648,0:;", "GPU-0[0,N,5,0:;"}) {
        auto node = two_gpus();
        diagnostics out;
        const auto pod = read_hami_pod(annotated(hami::allocated_key, value), out);
        INFO(value);
        CHECK(pod->shares.empty());
        CHECK(out.warnings() == 1);
        static_cast<void>(add_pod_shares(node, *pod));
        CHECK(node.blocked.find("pod x: hami.io/vgpu-devices-allocated: ") == 0);
    }
}

TEST_CASE("a share that names an instance is a share of the device") {
    diagnostics out;
    const auto pod = read_hami_pod(annotated(hami::allocated_key, "GPU-0[0,1],N,5,7:;"), out);
    REQUIRE(pod->shares.size() == 1);
    CHECK(pod->shares[0].device == "GPU-0");
    CHECK(pod->shares[0].cores == 7);
    CHECK(pod->shares[0].instance == "0,1");
}

TEST_CASE("a pod without a list of devices has the instances that HAMi reserved for it") {
    diagnostics out;
    const auto pod = read_hami_pod(
        annotated(hami::mig_allocations_key,
                  R"([{"gpuUUID":"GPU-0","profile":"1g","placement":{"start":3,"size":1}}])"),
        out);
    REQUIRE(pod.has_value());
    CHECK(pod->shares.empty());
    CHECK(pod->unread.empty());
    REQUIRE(pod->instances.size() == 1);
    CHECK(pod->instances[0].slices == 8);
    CHECK_FALSE(read_hami_pod(annotated(hami::mig_allocations_key, ""), out).has_value());
    CHECK(out.warnings() == 0);
    const auto unread = read_hami_pod(annotated(hami::mig_allocations_key, "{"), out);
    REQUIRE(unread.has_value());
    CHECK(unread->unread.find("pod x: hami.io/vgpu-mig-allocations: ") == 0);
    CHECK(out.warnings() == 1);
}

TEST_CASE("HAMi's marks read back as the chosen shares") {
    const std::vector<chosen_share> chosen{
        {0, "GPU-1", 4000, 30}, {0, "GPU-0", 4000, 30}, {2, "GPU-1", 100, 0}};
    const auto marks = hami_marks(chosen, 3, "n1", 1'700'000'000);
    CHECK(marks.labels.empty());
    CHECK(marks.annotations.size() == 7);
    CHECK(marks.annotations.at("hami.io/vgpu-devices-to-allocate") ==
          "GPU-1,NVIDIA,4000,30:GPU-0,NVIDIA,4000,30:;;GPU-1,NVIDIA,100,0:;");
    CHECK(marks.annotations.at("hami.io/vgpu-node") == "n1");
    CHECK(marks.annotations.at("hami.io/vgpu-time") == "1700000000");
    CHECK(marks.annotations.at("hami.io/bind-phase") == "allocating");
    object_metadata pod;
    // From an earlier attempt to bind the pod.
    pod.annotations.set(std::string(hami::mig_allocations_key),
                        R"([{"gpuUUID":"GPU-0","profile":"1g","placement":{"start":3,"size":1}}])");
    for (const auto& [key, value] : marks.annotations)
        pod.annotations.set(key, value);
    diagnostics out;
    const auto read = read_hami_pod(pod, out);
    CHECK(read->instances.empty());
    CHECK(out.findings().empty());
    REQUIRE(read->shares.size() == chosen.size());
    for (std::size_t at = 0; at < chosen.size(); ++at) {
        CHECK(read->shares[at].device == chosen[at].device);
        CHECK(read->shares[at].container == chosen[at].container);
        CHECK(muster::units_of(read->shares[at].memory, 0) == chosen[at].memory);
        CHECK(read->shares[at].cores == chosen[at].cores);
    }
}

TEST_CASE("the reader of HAMi's list accepts any text") {
    muster::testing::random chance(muster::testing::random_seed());
    std::size_t readable = 0;
    for (std::uint64_t at = 0; at < muster::testing::case_count(4000); ++at) {
        const std::string text = mutated(list, chance);
        INFO(text);
        diagnostics out;
        const auto pod = read_hami_pod(annotated(hami::allocated_key, text), out);
        check_sound(*pod);
        CHECK(pod->unread.empty() == out.findings().empty());
        auto node = two_gpus();
        static_cast<void>(add_pod_shares(node, *pod, at % 3));
        check_sound(node);
        readable += pod->unread.empty() ? 1U : 0U;
    }
    CHECK(readable > 0);
}

} // namespace hami_pod_shares_test
