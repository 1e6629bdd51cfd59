// SPDX-License-Identifier: Apache-2.0
#include <muster/apis/hami/pod_requests.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <muster/apis/hami/node_register.hpp>

#include "muster/apis/shares/share_texts.hpp"

namespace hami_pod_requests_test {

using namespace share_texts;
using muster::device_key;
using muster::device_order;
using muster::memory_amount;
using muster::memory_part;
using muster::share_memory;
using muster::share_nearness;
using muster::whole_memory;

namespace {

pod_share_requests read(const std::vector<std::string>& limits,
                        const std::string& annotations = "{}", const hami_options& options = {}) {
    read_object pod(pod_text(limits, annotations));
    return read_hami_requests(pod.metadata, pod.containers, options, pod.out);
}

muster::share_request one(const std::string& limits, const std::string& annotations = "{}",
                          const hami_options& options = {}) {
    const auto made = read({limits}, annotations, options);
    REQUIRE(made.unsupported.empty());
    REQUIRE(made.requests.size() == 1);
    return made.requests[0].request;
}

} // namespace

TEST_CASE("HAMi's gpumem overrides gpumem-percentage, and without both all memory is requested") {
    CHECK(one("{nvidia.com/gpu: 2, nvidia.com/gpumem: 3000}").count == 2);
    CHECK(one("{nvidia.com/gpu: 2, nvidia.com/gpumem: 3000}").memory ==
          share_memory(memory_amount{3000}));
    CHECK(one("{nvidia.com/gpu: 1, nvidia.com/gpumem: 3000, nvidia.com/gpumem-percentage: 50}")
              .memory == share_memory(memory_amount{3000}));
    CHECK(one("{nvidia.com/gpu: 1, nvidia.com/gpumem-percentage: 50}").memory ==
          share_memory(memory_part{50, 100}));
    CHECK(one("{nvidia.com/gpu: 1, nvidia.com/gpumem-percentage: 500}").memory ==
          share_memory(memory_part{100, 100}));
    CHECK(one("{nvidia.com/gpu: 1}").memory == share_memory(whole_memory{}));
    CHECK(one("{nvidia.com/gpu: 1, nvidia.com/gpumem: 0}").memory == share_memory(whole_memory{}));
    CHECK(one("{nvidia.com/gpu: 1, nvidia.com/gpumem-percentage: 0}").memory ==
          share_memory(whole_memory{}));
}

TEST_CASE("HAMi's settings define defaults and the unit of memory") {
    hami_options options;
    options.default_memory = 500;
    options.default_cores = 7;
    options.memory_factor = 10;
    CHECK(one("{nvidia.com/gpu: 1, nvidia.com/gpumem: 3}", "{}", options).memory ==
          share_memory(memory_amount{30}));
    CHECK(one("{nvidia.com/gpu: 1, nvidia.com/gpumem: 3}", "{}", options).cores == 7);
    CHECK(one("{nvidia.com/gpu: 1}", "{}", options).memory == share_memory(memory_amount{500}));
    options.default_count = 3;
    CHECK(one("{nvidia.com/gpumem: 3}", "{}", options).count == 3);
    options.default_count = 0;
    CHECK(read({"{nvidia.com/gpumem: 3}"}, "{}", options).empty());
}

TEST_CASE("what HAMi's webhook adds to created pods is added to pods without a uid") {
    CHECK(one("{nvidia.com/gpucores: 20}").count == 1);
    CHECK(one("{nvidia.com/gpu: 1}").cores == 100);
    CHECK(one("{nvidia.com/gpu: 1, nvidia.com/gpumem-percentage: 100}").cores == 100);
    CHECK(one("{nvidia.com/gpu: 1, nvidia.com/gpumem-percentage: 99}").cores == 0);
    CHECK(one("{nvidia.com/gpu: 1, nvidia.com/gpumem: 5}").cores == 0);
    CHECK(one("{nvidia.com/gpu: 1, nvidia.com/gpucores: 0}").cores == 0);
    CHECK(one("{nvidia.com/gpu: 1, nvidia.com/gpucores: 250}").cores == 100);
    read_object created(
        "kind: Pod\nmetadata: {name: p, namespace: ns, uid: u}\n"
        "spec: {containers: [{name: c, resources: {limits: {nvidia.com/gpu: 1}}}]}");
    const auto made = read_hami_requests(created.metadata, created.containers, {}, created.out);
    CHECK(made.requests.at(0).request.cores == 0);
}

TEST_CASE("each container of a pod of HAMi has its own request") {
    const auto made = read({"{nvidia.com/gpu: 1}", "{cpu: 1}", "{nvidia.com/gpu: 2}"});
    REQUIRE(made.requests.size() == 2);
    CHECK(made.requests[1].container == 2);
    CHECK(made.requests[1].request.count == 2);
    CHECK(made.containers == 3);
    CHECK(read({"{cpu: 1}"}).empty());
    CHECK(read({"{nvidia.com/gpu: 0}"}).empty());
}

TEST_CASE("the annotations of a pod of HAMi restrict its devices") {
    const std::string limits = "{nvidia.com/gpu: 1}";
    const auto with = [&](const std::string& annotations) { return one(limits, annotations); };
    CHECK(with("{nvidia.com/use-gputype: ' A100, , h100'}").filter.models ==
          std::vector<std::string>{"A100", "h100"});
    CHECK_FALSE(with("{nvidia.com/use-gputype: '  '}").filter.models.has_value());
    CHECK(with("{nvidia.com/use-gputype: ','}").filter.models->empty());
    CHECK(with("{nvidia.com/nouse-gputype: 'T4'}").filter.models_not ==
          std::vector<std::string>{"T4"});
    CHECK(with("{nvidia.com/use-gpuuuid: 'a,b'}").filter.ids == std::vector<std::string>{"a", "b"});
    CHECK(with("{nvidia.com/nouse-gpuuuid: 'a'}").filter.ids_not == std::vector<std::string>{"a"});
    CHECK(with("{nvidia.com/vgpu-mode: 'mig,hami-core'}").filter.modes ==
          std::vector<std::string>{"hami-core", "mig"});
    CHECK(with("{nvidia.com/numa-bind: 'T'}").within == share_nearness::same_numa);
    CHECK(with("{nvidia.com/numa-bind: 'yes'}").within == share_nearness::anywhere);
    CHECK(with("{hami.io/gpu-scheduler-policy: 'mutex'}").needs_idle);
    CHECK_FALSE(with("{hami.io/gpu-scheduler-policy: 'binpack'}").needs_idle);
}

TEST_CASE("each policy of HAMi is an order of devices") {
    using detail::hami_order;
    constexpr auto load_up = device_key::load_up;
    constexpr auto load_down = device_key::load_down;
    constexpr auto numa_down = device_key::numa_down;
    constexpr auto last = device_key::index_down;
    CHECK(hami_order("spread", false) == device_order{load_up, numa_down, last});
    CHECK(hami_order("", false) == device_order{load_up, numa_down, last});
    CHECK(hami_order("binpack", false) == device_order{load_down, numa_down, last});
    CHECK(hami_order("binpack", true) == device_order{device_key::numa_up, load_down, last});
    CHECK(hami_order("spread", true) == device_order{numa_down, load_up, last});
    CHECK(hami_order("numa", false) == device_order{numa_down, last, last});
    CHECK(hami_order("numa, binpack", false) == device_order{numa_down, load_down, last});
    CHECK(hami_order("spread,numa", false) == device_order{load_up, numa_down, last});
    CHECK(hami_order("binpack,mutex", true) == device_order{numa_down, load_down, last});
    CHECK(hami_order("mutex,topology-aware", false) == device_order{load_up, last, last});
    CHECK(hami_order("mutex", true) == device_order{device_key::slots_up, numa_down, last});
}

TEST_CASE("HAMi's weights of the load of a device are read, and malformed ones make the pod wait") {
    const auto with = [](const std::string& weights) {
        return read({"{nvidia.com/gpu: 1}"}, "{hami.io/device-scoring-weights: '" + weights + "'}");
    };
    CHECK(with("slot=1,core=0,memory=3").requests.at(0).request.weights ==
          muster::load_weights{1, 3, 0});
    CHECK(with(" memory = 2 , slot=0,core=5").requests.at(0).request.weights ==
          muster::load_weights{0, 2, 5});
    CHECK(with("slot=1,core=1,memory=1").unsupported.empty());
    for (const char* const wrong :
         {"", "slot=1", "slot=1,core=1", "slot=1,core=1,memory=1,slot=1", "slot=1,core=1,core=1",
          "slot=1,core=1,mem=1", "slot=-1,core=1,memory=1", "slot=0,core=0,memory=0",
          "slot=1,core=1,memory=2147483648", "slot,core,memory", "slot=1,core=1,memory=x"}) {
        CAPTURE(wrong);
        const auto made = with(wrong);
        REQUIRE(made.unsupported.size() == 1);
        CHECK(made.unsupported[0].find("metadata.annotations[hami.io/device-scoring-weights] \"") ==
              0);
    }
}

TEST_CASE("a pod of HAMi with the policy topology-aware prefers devices by their links") {
    const auto with = [](const std::string& policy) {
        return read({"{nvidia.com/gpu: 1}"}, "{hami.io/gpu-scheduler-policy: '" + policy + "'}")
            .requests.at(0)
            .request.prefers_links;
    };
    CHECK(with("topology-aware"));
    CHECK(with("binpack, topology-aware"));
    CHECK_FALSE(with("spread"));
}

TEST_CASE("a pod with a request that HAMi cannot read waits") {
    CHECK(read({"{nvidia.com/gpu: 1, nvidia.com/gpumem: 3G}"}).unsupported.size() == 1);
    CHECK(read({"{nvidia.com/gpu: 1, nvidia.com/gpumem: 500m}"}).unsupported.size() == 1);
    CHECK(read({"{nvidia.com/gpu: 3G}"}).unsupported ==
          std::vector<std::string>{"nvidia.com/gpu of container \"c0\" (expected a whole number "
                                   "from 0 to 2147483647)"});
    read_object pod("kind: Pod\nmetadata: {name: p, namespace: ns}\nspec: {initContainers: [{name: "
                    "i, resources: {limits: {nvidia.com/gpu: 1}}}], containers: [{name: c}]}");
    const auto made = read_hami_requests(pod.metadata, pod.containers, {}, pod.out);
    CHECK(made.unsupported == std::vector<std::string>{"shares of GPUs for init container \"i\""});
    CHECK(made.containers == 2);
}

TEST_CASE("HAMi's reader accepts any annotation, and no device gets more than it has") {
    muster::testing::random chance(muster::testing::random_seed());
    const std::string old =
        "GPU-0,3,7680,100,NVIDIA-T4,0,true:GPU-1,5,80,9,NVIDIA-T4,1,true,1,mps:";
    const std::vector<std::string_view> keys{
        hami::use_type_key,  hami::no_use_type_key, hami::use_id_key, hami::no_use_id_key,
        hami::numa_bind_key, hami::mode_key,        hami::policy_key};
    std::vector<read_object> pods;
    for (const char* const limits :
         {"{nvidia.com/gpu: 1, nvidia.com/gpumem: 3000}", "{nvidia.com/gpu: 2}",
          "{nvidia.com/gpu: 1, nvidia.com/gpumem-percentage: 50, nvidia.com/gpucores: 30}"})
        pods.emplace_back(pod_text({limits}));
    for (std::uint64_t at = 0; at < muster::testing::case_count(3000); ++at) {
        diagnostics out;
        const auto node = read_hami_node(annotated(hami::register_key, mutated(old, chance)), out);
        const read_object& pod = pods[chance.below(pods.size())];
        auto metadata = pod.metadata;
        for (const std::string_view key : keys)
            if (chance.percent(30))
                metadata.annotations.set(std::string(key),
                                         mutated("NVIDIA,T4,GPU-0,binpack,true", chance));
        check_capacities(*node, read_hami_requests(metadata, pod.containers, {}, out),
                         muster::hami_rules);
    }
}

} // namespace hami_pod_requests_test
