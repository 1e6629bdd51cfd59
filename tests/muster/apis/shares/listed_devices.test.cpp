// SPDX-License-Identifier: Apache-2.0
#include <muster/apis/shares/listed_devices.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <muster/apis/shares/share_systems.hpp>

#include "muster/apis/shares/share_texts.hpp"

namespace listed_devices_test {

using namespace share_texts;

namespace {

const std::string hami_one = "{nvidia.com/gpu: 1, nvidia.com/gpumem: 10}";
const std::string hami_two = "{nvidia.com/gpu: 2}";

std::vector<muster::shared_device> devices_of(const std::vector<std::string>& ids) {
    std::vector<muster::shared_device> made;
    for (const std::string& each : ids) {
        made.emplace_back().id = each;
        if (const auto slash = each.find('/'); slash != std::string::npos)
            made.back().type = each.substr(0, slash);
    }
    return made;
}

/// A pod of these containers, the first `init` of which are init containers.
pod_object standing(const std::vector<std::string>& limits, const std::string& annotations,
                    std::size_t init = 0) {
    const read_object read(pod_text(limits, annotations));
    pod_object made;
    made.metadata = read.metadata;
    made.metadata.uid = "u";
    made.share_containers = read.containers;
    for (std::size_t at = 0; at < init; ++at)
        made.share_containers[at].is_init = true;
    return made;
}

struct tally_options {
    std::vector<std::string> ids{"GPU-a", "GPU-b", "GPU-c"};
    bool hides_devices = false;
    bool is_partitioned = false;
};

/// Returns `listed/requested` of the GPUs.
std::string tally(share_system system, const pod_object& pod, const tally_options& how = {}) {
    diagnostics out;
    std::vector<muster::shared_device> devices = devices_of(how.ids);
    for (muster::shared_device& each : devices)
        each.is_partitioned = how.is_partitioned;
    const auto held = read_held_shares(system, pod, out);
    device_tallies made =
        tally_devices(system, pod, held ? &*held : nullptr, devices, how.hides_devices);
    return std::to_string(made[""].listed) + "/" + std::to_string(made[""].requested);
}

std::string hami(const std::vector<std::string>& limits, const std::string& list,
                 std::size_t init = 0, const tally_options& how = {}) {
    return tally(share_system::hami,
                 standing(limits, "{hami.io/vgpu-devices-allocated: '" + list + "'}", init), how);
}

} // namespace

TEST_CASE("the devices that a pod of HAMi lists count against those of all its containers") {
    CHECK(hami({hami_one}, "GPU-a,NVIDIA,10,0:;") == "1/1");
    CHECK(hami({hami_two}, "GPU-a,NVIDIA,10,0:;") == "1/2");
    CHECK(hami({hami_two}, "GPU-a,NVIDIA,10,0:GPU-b,NVIDIA,10,0:;") == "2/2");
    CHECK(hami({"{cpu: 1}", hami_two, hami_one},
               ";GPU-a,NVIDIA,10,0:GPU-b,NVIDIA,10,0:;GPU-a,NVIDIA,10,0:;") == "3/3");
    CHECK(hami({hami_two, hami_one}, "GPU-a,NVIDIA,10,0:;GPU-b,NVIDIA,10,0:;") == "2/3");
    CHECK(hami({hami_one}, "") == "0/1");
    CHECK(hami({"{cpu: 1}"}, ";") == "0/0");
    // Without a count there is no device, as HAMi's webhook wrote none.
    CHECK(hami({"{nvidia.com/gpumem: 10}"}, ";") == "0/0");
    CHECK(tally(share_system::hami, standing({hami_one}, "{}")) == "0/1");
}

TEST_CASE("a device counts once for each container, unless it is partitioned") {
    const std::string twice = "GPU-a,NVIDIA,10,0:GPU-a,NVIDIA,10,0:;";
    CHECK(hami({hami_two}, twice) == "1/2");
    CHECK(hami({hami_two}, twice, 0, {.is_partitioned = true}) == "2/2");
    CHECK(hami({hami_one, hami_one}, "GPU-a,NVIDIA,10,0:;GPU-a,NVIDIA,10,0:;") == "2/2");
}

TEST_CASE("a device that the node does not have counts only if its register cannot be read") {
    const std::string other = "GPU-a,NVIDIA,10,0:GPU-z,NVIDIA,10,0:;";
    CHECK(hami({hami_two}, other) == "1/2");
    CHECK(hami({hami_two}, other, 0, {.hides_devices = true}) == "2/2");
}

TEST_CASE("init containers of HAMi may lack entries unless they request devices") {
    const std::string none = "{cpu: 1}";
    CHECK(hami({none, hami_one}, ";GPU-a,NVIDIA,10,0:;", 1) == "1/1");
    CHECK(hami({none, hami_one}, "GPU-a,NVIDIA,10,0:;", 1) == "1/1");
    CHECK(hami({hami_one, hami_two}, "GPU-a,NVIDIA,10,0:;GPU-a,NVIDIA,10,0:GPU-b,NVIDIA,10,0:;",
               1) == "3/3");
    // The entry of the init container does not stand in for one that is missing.
    CHECK(hami({hami_one, hami_two}, "GPU-a,NVIDIA,10,0:GPU-b,NVIDIA,10,0:;GPU-a,NVIDIA,10,0:;",
               1) == "2/3");
}

TEST_CASE("the list of Volcano has entries for containers with requests only") {
    const auto volcano = [](const std::vector<std::string>& limits, const std::string& list) {
        return tally(share_system::volcano,
                     standing(limits, "{volcano.sh/vgpu-ids-new: '" + list + "'}"));
    };
    const std::string two = "{volcano.sh/vgpu-number: 2, volcano.sh/vgpu-memory: 10}";
    CHECK(volcano({"{cpu: 1}", two}, "GPU-a,NVIDIA,10,0:GPU-b,NVIDIA,10,0:") == "2/2");
    CHECK(volcano({"{cpu: 1}", two}, "GPU-a,NVIDIA,10,0:") == "1/2");
    CHECK(volcano({two, two}, "GPU-a,NVIDIA,10,0:GPU-b,NVIDIA,10,0:;GPU-a,NVIDIA,10,0:") == "3/4");
    CHECK(volcano({"{volcano.sh/vgpu-memory: 10}"}, "GPU-a[0-1],NVIDIA,10,0:") == "1/1");
    CHECK(volcano({two}, ";") == "0/2");
}

TEST_CASE("the devices of a pod of Koordinator count by type, at least one of each it requests") {
    const std::vector<std::string> ids{"0", "1", "rdma/0", "rdma/1"};
    const auto tallies = [&](const std::string& limits, const std::string& list,
                             const std::string& more = "") {
        const pod_object pod = standing({limits}, "{scheduling.koordinator.sh/device-allocated: '" +
                                                      list + "'" + more + "}");
        diagnostics out;
        const auto held = read_held_shares(share_system::koordinator, pod, out);
        return tally_devices(share_system::koordinator, pod, held ? &*held : nullptr,
                             devices_of(ids), false);
    };
    const auto minors = [](const std::string& type, const std::vector<std::string>& all) {
        std::string list;
        for (const std::string& each : all)
            list += std::string(list.empty() ? "" : ",") + R"({"minor":)" + each +
                    R"(,"resources":{}})";
        return "\"" + type + "\":[" + list + "]";
    };
    const std::string two = "{koordinator.sh/gpu: 200}";
    CHECK(tallies(two, "{" + minors("gpu", {"0"}) + "}") == device_tallies{{"", {2, 1}}});
    CHECK(tallies(two, "{" + minors("gpu", {"0", "1"}) + "}") == device_tallies{{"", {2, 2}}});
    CHECK(tallies(two, "{" + minors("gpu", {"0", "0"}) + "}") == device_tallies{{"", {2, 1}}});
    CHECK(tallies(two, "{" + minors("gpu", {"0", "7"}) + "}") == device_tallies{{"", {2, 1}}});
    CHECK(tallies("{koordinator.sh/gpu-memory-ratio: 50}", "{" + minors("gpu", {"1"}) + "}") ==
          device_tallies{{"", {1, 1}}});
    CHECK(tallies("{koordinator.sh/gpu.shared: 2, koordinator.sh/gpu-memory-ratio: 100}", "{}") ==
          device_tallies{{"", {2, 0}}});
    CHECK(tallies("{amd.com/gpu: 2}", "{}") == device_tallies{{"", {1, 0}}});
    CHECK(tallies("{koordinator.sh/gpu: 200, koordinator.sh/rdma: 200}",
                  "{" + minors("gpu", {"0", "1"}) + "," + minors("rdma", {"1"}) + "}",
                  ", scheduling.koordinator.sh/device-joint-allocate: "
                  "'{\"deviceTypes\":[\"gpu\",\"rdma\"]}'") ==
          device_tallies{{"", {2, 2}}, {"rdma", {2, 1}}});
}

TEST_CASE("the indices of a pod of openb count against its number of GPUs") {
    const auto openb = [](const std::string& count, const std::string& indices) {
        return tally(share_system::openb,
                     [&] {
                         pod_object made =
                             standing({"{}"}, "{alibabacloud.com/gpu-milli: '500', "
                                              "alibabacloud.com/gpu-count: '" +
                                                  count + "', alibabacloud.com/gpu-index: '" +
                                                  indices + "'}");
                         made.share_marks = {"alibabacloud.com/gpu-milli"};
                         return made;
                     }(),
                     {.ids = {"0", "1"}});
    };
    CHECK(openb("2", "0-1") == "2/2");
    CHECK(openb("2", "0") == "1/2");
    CHECK(openb("2", "0-7") == "1/2");
    CHECK(openb("1", "0-1") == "2/1");
    CHECK(openb("many", "0") == "1/1");
}

} // namespace listed_devices_test
