// SPDX-License-Identifier: Apache-2.0
#include <muster/apis/shares/share_translation.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <doctest/doctest.h>

#include <muster/testing/random.hpp>
#include <support/settings.hpp>

#include "muster/apis/shares/share_pods.hpp"
#include "muster/apis/shares/share_texts.hpp"

namespace codec_share_translation_test {

using namespace share_pods;
using muster::memory_amount;
using muster::memory_part;
using muster::share_request;
using muster::whole_memory;

namespace {

struct expected {
    /// The pod after the translation; `same`: it does not change.
    std::string made;
    std::string losses;
};
/// A pod, and what it becomes for each system, in the order of all_systems.
struct row {
    pod from;
    std::array<expected, 5> to;
};

std::vector<row> rows() {
    return {
        {{{{{"nvidia.com/gpu", "2"},
            {"nvidia.com/gpumem-percentage", "50"},
            {"nvidia.com/gpucores", "30"}}},
          {{"nvidia.com/use-gputype", "A100,V100"}}},
         {{{"same", ""},
           {"c0{volcano.sh/vgpu-cores: 30, volcano.sh/vgpu-memory-percentage: 50, "
            "volcano.sh/vgpu-number: 2} nvidia.com/use-gputype: A100,V100",
            ""},
           {"c0{koordinator.sh/gpu-core: 60, koordinator.sh/gpu-memory-ratio: 100, "
            "koordinator.sh/gpu.shared: 2}",
            "nvidia.com/use-gputype A100,V100: Koordinator cannot say these models"},
           {"gpu-fraction: 0.5, gpu-fraction-num-devices: 2",
            "nvidia.com/gpucores of container c0: KAI does not limit cores: 30 % are not reserved; "
            "nvidia.com/use-gputype A100,V100: KAI cannot say these models"},
           {"alibabacloud.com/gpu-card-model: A100|V100, alibabacloud.com/gpu-count: 2, "
            "alibabacloud.com/gpu-milli: 500",
            "nvidia.com/gpucores of container c0: openb has one share of memory and cores: 50 % of "
            "the cores, not 30 %; nvidia.com/use-gputype A100,V100: openb accepts these models "
            "only by their whole names"}}}},
        {{{{{"nvidia.com/gpu", "1"}, {"nvidia.com/gpumem", "4000"}}}},
         {{{"same", ""},
           {"c0{volcano.sh/vgpu-memory: 4000, volcano.sh/vgpu-number: 1}", ""},
           {"c0{koordinator.sh/gpu-memory: 4000Mi}", ""},
           {"gpu-memory: 4000", ""},
           {"same", "nvidia.com/gpumem of container c0: openb knows parts of GPUs, not amounts of "
                    "memory; the pod stays as it is"}}}},
        {{{{{"volcano.sh/vgpu-number", "1"},
            {"volcano.sh/vgpu-memory", "4000"},
            {"volcano.sh/vgpu-cores", "25"}}}},
         {{{"c0{nvidia.com/gpu: 1, nvidia.com/gpucores: 25, nvidia.com/gpumem: 4000}", ""},
           {"same", ""},
           {"c0{koordinator.sh/gpu-core: 25, koordinator.sh/gpu-memory: 4000Mi}", ""},
           {"gpu-memory: 4000", "volcano.sh/vgpu-cores of container c0: KAI does not limit cores: "
                                "25 % are not reserved"},
           {"same", "volcano.sh/vgpu-memory of container c0: openb knows parts of GPUs, not "
                    "amounts of memory; the pod stays as it is"}}}},
        {{{{{"volcano.sh/vgpu-number", "2"}, {"volcano.sh/vgpu-memory-percentage", "100"}}}},
         {{{"c0{nvidia.com/gpu: 2, nvidia.com/gpucores: 0, nvidia.com/gpumem-percentage: 100}", ""},
           {"same", ""},
           {"c0{koordinator.sh/gpu-memory-ratio: 200, koordinator.sh/gpu.shared: 2}", ""},
           {"c0{nvidia.com/gpu: 2}",
            "volcano.sh/vgpu-number of container c0: KAI gives whole GPUs: all cores, not 0 %"},
           {"alibabacloud.com/gpu-count: 2, alibabacloud.com/gpu-milli: 1000",
            "volcano.sh/vgpu-number of container c0: openb has one share of memory and cores: 100 "
            "% of the cores, not 0 %"}}}},
        {{{{{"koordinator.sh/gpu", "50"}}}},
         {{{"c0{nvidia.com/gpu: 1, nvidia.com/gpucores: 50, nvidia.com/gpumem-percentage: 50}", ""},
           {"c0{volcano.sh/vgpu-cores: 50, volcano.sh/vgpu-memory-percentage: 50, "
            "volcano.sh/vgpu-number: 1}",
            ""},
           {"same", ""},
           {"gpu-fraction: 0.5",
            "koordinator.sh/gpu of container c0: KAI does not limit cores: 50 % are not reserved"},
           {"alibabacloud.com/gpu-count: 1, alibabacloud.com/gpu-milli: 500", ""}}}},
        {{{{{"koordinator.sh/gpu", "200"}}}},
         {{{"c0{nvidia.com/gpu: 2}", ""},
           {"c0{volcano.sh/vgpu-cores: 100, volcano.sh/vgpu-number: 2}", ""},
           {"same", ""},
           {"c0{nvidia.com/gpu: 2}", ""},
           {"alibabacloud.com/gpu-count: 2, alibabacloud.com/gpu-milli: 1000", ""}}}},
        {{{{{"koordinator.sh/gpu-memory", "4000M"},
            {"koordinator.sh/gpu-core", "60"},
            {"koordinator.sh/gpu.shared", "2"}}}},
         {{{"c0{nvidia.com/gpu: 2, nvidia.com/gpucores: 30, nvidia.com/gpumem: 1908}",
            "koordinator.sh/gpu-memory of container c0: rounded up to 1908 MiB for each GPU"},
           {"c0{volcano.sh/vgpu-cores: 30, volcano.sh/vgpu-memory: 1908, volcano.sh/vgpu-number: "
            "2}",
            "koordinator.sh/gpu-memory of container c0: rounded up to 1908 MiB for each GPU"},
           {"same", ""},
           {"gpu-fraction-num-devices: 2, gpu-memory: 1908",
            "koordinator.sh/gpu-memory of container c0: rounded up to 1908 MiB for each GPU; "
            "koordinator.sh/gpu-core of container c0: KAI does not limit cores: 30 % are not "
            "reserved"},
           {"same", "koordinator.sh/gpu-memory of container c0: openb knows parts of GPUs, not "
                    "amounts of memory; the pod stays as it is"}}}},
        {{{{}}, {{"gpu-fraction", "0.5"}}},
         {{{"c0{nvidia.com/gpu: 1, nvidia.com/gpumem-percentage: 50}", ""},
           {"c0{volcano.sh/vgpu-memory-percentage: 50, volcano.sh/vgpu-number: 1}", ""},
           {"c0{koordinator.sh/gpu-memory-ratio: 50}", ""},
           {"same", ""},
           {"alibabacloud.com/gpu-count: 1, alibabacloud.com/gpu-milli: 500",
            "gpu-fraction 0.5: openb has one share of memory and cores: 50 % of the cores, not 0 "
            "%"}}}},
        {{{{}}, {{"gpu-fraction", "0.333"}, {"gpu-fraction-num-devices", "2"}}},
         {{{"c0{nvidia.com/gpu: 2, nvidia.com/gpumem-percentage: 34}",
            "gpu-fraction 0.333: rounded up to 34 % of the memory"},
           {"c0{volcano.sh/vgpu-memory-percentage: 34, volcano.sh/vgpu-number: 2}",
            "gpu-fraction 0.333: rounded up to 34 % of the memory"},
           {"c0{koordinator.sh/gpu-memory-ratio: 68, koordinator.sh/gpu.shared: 2}",
            "gpu-fraction 0.333: rounded up to 34 % of the memory"},
           {"same", ""},
           {"alibabacloud.com/gpu-count: 2, alibabacloud.com/gpu-milli: 333",
            "gpu-fraction 0.333: openb has one share of memory and cores: 34 % of the cores, not 0 "
            "%"}}}},
        {{{{}}, {{"gpu-memory", "4000"}}},
         {{{"c0{nvidia.com/gpu: 1, nvidia.com/gpumem: 4000}", ""},
           {"c0{volcano.sh/vgpu-memory: 4000, volcano.sh/vgpu-number: 1}", ""},
           {"c0{koordinator.sh/gpu-memory: 4000Mi}", ""},
           {"same", ""},
           {"same", "gpu-memory 4000: openb knows parts of GPUs, not amounts of memory; the pod "
                    "stays as it is"}}}},
        {{{{}},
          {{"alibabacloud.com/gpu-milli", "455"},
           {"alibabacloud.com/gpu-count", "1"},
           {"alibabacloud.com/gpu-card-model", "A10|T4"}}},
         {{{"c0{nvidia.com/gpu: 1, nvidia.com/gpucores: 46, nvidia.com/gpumem-percentage: 46} "
            "nvidia.com/use-gputype: A10,T4",
            "alibabacloud.com/gpu-milli 455: rounded up to 46 % of the memory; "
            "alibabacloud.com/gpu-card-model A10|T4: HAMi accepts every model whose name contains "
            "one of these"},
           {"c0{volcano.sh/vgpu-cores: 46, volcano.sh/vgpu-memory-percentage: 46, "
            "volcano.sh/vgpu-number: 1} nvidia.com/use-gputype: A10,T4",
            "alibabacloud.com/gpu-milli 455: rounded up to 46 % of the memory; "
            "alibabacloud.com/gpu-card-model A10|T4: Volcano accepts every model whose name "
            "contains one of these"},
           {"c0{koordinator.sh/gpu: 46}",
            "alibabacloud.com/gpu-milli 455: rounded up to 46 % of the memory; "
            "alibabacloud.com/gpu-card-model A10|T4: Koordinator cannot say these models"},
           {"gpu-fraction: 0.455",
            "alibabacloud.com/gpu-milli 455: KAI does not limit cores: 46 % are not reserved; "
            "alibabacloud.com/gpu-card-model A10|T4: KAI cannot say these models"},
           {"same", ""}}}},
        {{{{}}, {{"alibabacloud.com/gpu-milli", "1000"}, {"alibabacloud.com/gpu-count", "8"}}},
         {{{"c0{nvidia.com/gpu: 8}", ""},
           {"c0{volcano.sh/vgpu-cores: 100, volcano.sh/vgpu-number: 8}", ""},
           {"c0{nvidia.com/gpu: 8}", ""},
           {"c0{nvidia.com/gpu: 8}", ""},
           {"same", ""}}}},
        {{{{{"nvidia.com/gpu", "2"}}, {{"nvidia.com/gpu", "1"}}}},
         {{{"same", ""},
           {"c0{volcano.sh/vgpu-cores: 100, volcano.sh/vgpu-number: 2} c1{volcano.sh/vgpu-cores: "
            "100, volcano.sh/vgpu-number: 1}",
            ""},
           {"same", ""},
           {"same", ""},
           {"alibabacloud.com/gpu-count: 3, alibabacloud.com/gpu-milli: 1000",
            "nvidia.com/gpu of container c0: openb gives the GPUs to the pod, not to container c0; "
            "nvidia.com/gpu of container c1: openb gives the GPUs to the pod, not to container "
            "c1"}}}},
    };
}

} // namespace

TEST_CASE("shares of each notation are translated to each other one, with what is lost") {
    for (const row& each : rows())
        for (std::size_t at = 0; at < all_systems.size(); ++at) {
            CAPTURE(each.from.text());
            CAPTURE(at);
            const share_translation made = translate_shares(each.from.made(), all_systems[at]);
            CHECK((made.changes ? each.from.with(made).text() : "same") == each.to[at].made);
            CHECK(text_of(made.losses) == each.to[at].losses);
        }
}

namespace {

/// The pod after a translation to each of these systems, one after the other, and its losses.
std::pair<std::string, std::string> translated(pod of, const std::vector<share_system>& to) {
    std::string losses;
    for (const share_system each : to) {
        const share_translation made = translate_shares(of.made(), each);
        if (made.changes)
            of = of.with(made);
        losses += text_of(made.losses);
    }
    return {of.text(), losses};
}

std::string losses_of(const pod& of, share_system to) {
    return translated(of, {to}).second;
}

pod hami_pod(const amounts& annotations, int containers = 1) {
    return {std::vector<amounts>(static_cast<std::size_t>(containers),
                                 {{"nvidia.com/gpu", "1"}, {"nvidia.com/gpumem", "100"}}),
            annotations};
}

} // namespace

TEST_CASE("wishes for devices go where they can be said, and are losses elsewhere") {
    const pod of = hami_pod({{"nvidia.com/use-gpuuuid", "GPU-1"},
                             {"nvidia.com/nouse-gputype", "T4"},
                             {"nvidia.com/vgpu-mode", "mps"},
                             {"nvidia.com/numa-bind", "true"},
                             {"hami.io/gpu-scheduler-policy", "binpack"}});
    const auto [volcano, lost] = translated(of, {share_system::volcano});
    CHECK(
        volcano ==
        "c0{volcano.sh/vgpu-memory: 100, volcano.sh/vgpu-number: 1} nvidia.com/nouse-gputype: T4, "
        "volcano.sh/vgpu-mode: mps, volcano.sh/vgpu-use-gpuuuid: GPU-1");
    CHECK(lost == "hami.io/gpu-scheduler-policy binpack: Volcano has no such policy; "
                  "nvidia.com/numa-bind true: Volcano cannot keep the GPUs at this place");
    CHECK(losses_of(of, share_system::koordinator) ==
          "hami.io/gpu-scheduler-policy binpack: Koordinator has no such policy; "
          "nvidia.com/nouse-gputype T4: Koordinator cannot exclude these models; "
          "nvidia.com/use-gpuuuid GPU-1: Koordinator cannot name these GPUs; "
          "nvidia.com/vgpu-mode mps: Koordinator cannot say this mode");
    // Volcano ignores nouse-gputype beside use-gputype, and cannot refuse all models.
    CHECK(losses_of(hami_pod({{"nvidia.com/use-gputype", "A"}, {"nvidia.com/nouse-gputype", "B"}}),
                    share_system::volcano) ==
          "nvidia.com/nouse-gputype B: Volcano cannot exclude these models");
    CHECK(losses_of(hami_pod({{"nvidia.com/use-gputype", ","}}), share_system::volcano) ==
          "nvidia.com/use-gputype ,: Volcano cannot say these models");
    CHECK(losses_of({{{{"volcano.sh/vgpu-number", "1"}}},
                     {{"volcano.sh/vgpu-podgroup-policy", "spread"}}},
                    share_system::hami) ==
          "volcano.sh/vgpu-podgroup-policy spread: HAMi cannot keep the pods of a group apart");
    CHECK(losses_of({{{}},
                     {{"alibabacloud.com/gpu-milli", "500"},
                      {"alibabacloud.com/gpu-count", "1"},
                      {"alibabacloud.com/gpu-index", "3"}}},
                    share_system::hami) ==
          "alibabacloud.com/gpu-index 3: HAMi cannot name these GPUs");
}

TEST_CASE("a mode that the target cannot say is a loss, and so are several instances of one GPU") {
    const pod mig = hami_pod({{"nvidia.com/vgpu-mode", "mig"}});
    CHECK(translated(mig, {share_system::volcano}).first ==
          "c0{volcano.sh/vgpu-memory: 100, volcano.sh/vgpu-number: 1} volcano.sh/vgpu-mode: mig");
    CHECK(losses_of(mig, share_system::volcano).empty());
    CHECK(losses_of(mig, share_system::koordinator) ==
          "nvidia.com/vgpu-mode mig: Koordinator cannot say this mode");
    CHECK(losses_of(mig, share_system::kai) ==
          "nvidia.com/vgpu-mode mig: KAI cannot say this mode");
    CHECK(losses_of(hami_pod({{"nvidia.com/vgpu-mode", "mig,mps"}}), share_system::volcano) ==
          "nvidia.com/vgpu-mode mig,mps: Volcano cannot say this mode");
    CHECK(losses_of({{{{"volcano.sh/vgpu-number", "1"}}}, {{"volcano.sh/vgpu-mode", "other"}}},
                    share_system::hami) == "volcano.sh/vgpu-mode other: HAMi cannot say this mode");
    const pod two{{{{"nvidia.com/gpu", "2"}, {"nvidia.com/gpumem", "100"}}},
                  {{"nvidia.com/vgpu-mode", "mig"}}};
    CHECK(losses_of(two, share_system::volcano) ==
          "nvidia.com/gpu of container c0: Volcano gives a container instances (MIG) of different "
          "GPUs only");
    CHECK(losses_of({{{{"volcano.sh/vgpu-number", "2"}}}, {{"volcano.sh/vgpu-mode", "mig"}}},
                    share_system::hami) ==
          "volcano.sh/vgpu-number of container c0: HAMi can give a container several instances "
          "(MIG) of one GPU");
    CHECK(losses_of(hami_pod({{"hami.io/device-scoring-weights", "slot=1,core=1,memory=2"}}),
                    share_system::volcano) ==
          "hami.io/device-scoring-weights slot=1,core=1,memory=2: Volcano has no such policy");
}

TEST_CASE("GPUs of one NUMA node are asked of HAMi and of Koordinator, if it allows that") {
    const amounts numa = {{"nvidia.com/numa-bind", "true"}};
    CHECK(translated(hami_pod(numa), {share_system::koordinator}).first ==
          "c0{koordinator.sh/gpu-memory: 100Mi} scheduling.koordinator.sh/device-allocate-hint: "
          "{\"gpu\":{\"requiredTopologyScope\":\"NUMANode\"}}");
    CHECK(translated(hami_pod(numa), {share_system::koordinator, share_system::hami}) ==
          std::pair(hami_pod(numa).text(), std::string()));
    CHECK(losses_of({{{{"nvidia.com/gpu", "2"}, {"nvidia.com/gpumem", "100"}}}, numa},
                    share_system::koordinator) ==
          "nvidia.com/numa-bind true: Koordinator cannot keep the GPUs at this place");
}

TEST_CASE("a pod of which a request cannot be said stays as it is, and the loss says so") {
    const auto stays = [](const pod& of, share_system to) {
        const share_translation made = translate_shares(of.made(), to);
        CHECK_FALSE(made.changes);
        CHECK(made.limits.empty());
        return text_of(made.losses);
    };
    const std::string kept = "; the pod stays as it is";
    CHECK(stays(hami_pod({}, 2), share_system::kai) ==
          "nvidia.com/gpu of container c1: KAI gives shares to one container of a pod" + kept);
    CHECK(stays(hami_pod({}, 2), share_system::koordinator) ==
          "nvidia.com/gpu of container c1: Koordinator adds up the shares of several containers" +
              kept);
    CHECK(stays(hami_pod({}, 2), share_system::openb) ==
          "nvidia.com/gpu of container c1: openb gives one share to all containers of a pod" +
              kept);
    CHECK(stays(hami_pod({{"gpu-fraction", "0.5"}}), share_system::volcano) ==
          "HAMi and KAI: several notations in one pod cannot be translated" + kept);
    CHECK(stays({{{{"aliyun.com/gpu-mem", "2"}}}}, share_system::hami) ==
          "aliyun.com/gpu-mem of container c0: cannot be translated" + kept);
    CHECK(stays({{{{"nvidia.com/gpu", "1"}, {"amd.com/gpumem", "2"}}}}, share_system::kai) ==
          "amd.com/gpumem of container c0: cannot be translated" + kept);
    CHECK(stays({{{{"volcano.sh/vgpu-number", "1"}, {"volcano.sh/vgpu-cores", "150"}}}},
                share_system::hami) ==
          "volcano.sh/vgpu-cores of container c0: no GPU has more than 100 % of the cores" + kept);
    CHECK(stays({{{{"koordinator.sh/gpu", "150"}}}}, share_system::kai) ==
          "a percentage above 100 is not a multiple of 100: cannot be translated" + kept);
    CHECK(stays({{{}}, {{"gpu-memory", "99999999999"}}}, share_system::hami) ==
          "gpu-memory 99999999999: so much memory cannot be said" + kept);
    CHECK(
        stays({{{}}, {{"gpu-fraction", "0.5"}, {"gpu-fraction-container-name", "x"}}},
              share_system::hami) ==
        "gpu-fraction-container-name x: the pod has no such container, or it is an init container" +
            kept);
}

TEST_CASE("a pod without shares of another notation does not change") {
    CHECK_FALSE(translate_shares(pod{{{{"cpu", "1"}}}}.made(), share_system::hami).changes);
    CHECK_FALSE(translate_shares(share_template{}, share_system::openb).changes);
    CHECK_FALSE(translate_shares(pod{{{{"cpu", "1"}}}, {{"nvidia.com/use-gputype", "A"}}}.made(),
                                 share_system::kai)
                    .changes);
    CHECK_FALSE(
        translate_shares(pod{{{{"nvidia.com/gpu", "0"}}}}.made(), share_system::volcano).changes);
}

TEST_CASE("the container that uses the shares keeps them") {
    const pod second{{{}, {}}, {{"gpu-fraction", "0.5"}, {"gpu-fraction-container-name", "c1"}}};
    CHECK(translated(second, {share_system::hami}).first ==
          "c1{nvidia.com/gpu: 1, nvidia.com/gpumem-percentage: 50}");
    CHECK(translated(second, {share_system::hami, share_system::kai}) ==
          std::pair(second.text(), std::string()));
    // Koordinator gives the devices to all containers of the pod.
    CHECK(losses_of({{{{"koordinator.sh/gpu", "50"}}, {{"koordinator.sh/gpu", "50"}}}},
                    share_system::volcano) ==
          "koordinator.sh/gpu of container c1: only container c0 gets the GPUs that Koordinator "
          "gives to the pod");
}

namespace {

/// Random pods of one notation, most of them valid.
class pod_maker {
public:
    explicit pod_maker(std::uint64_t seed) : draw_(seed) {}

    pod make(share_system system) {
        pod made;
        made.limits.resize(draw_.below(3) + 1);
        switch (system) {
        case share_system::hami:
            hami(made);
            break;
        case share_system::volcano:
            volcano(made);
            break;
        case share_system::koordinator:
            koordinator(made.limits.front());
            break;
        case share_system::kai:
            kai(made);
            break;
        case share_system::openb:
            openb(made);
            break;
        }
        return made;
    }

private:
    std::string number(std::int64_t least, std::int64_t most) {
        return std::to_string(draw_.between(least, most));
    }
    bool chance(std::uint64_t one_in) { return draw_.below(one_in) == 0; }
    std::string word(const std::vector<std::string>& of) { return of[draw_.below(of.size())]; }

    void hami(pod& to) {
        for (amounts& each : to.limits) {
            if (chance(2) && to.limits.size() > 1)
                continue;
            each["nvidia.com/gpu"] = number(0, 4);
            if (chance(3))
                each["nvidia.com/gpumem"] = number(0, 40000);
            else if (!chance(4))
                each["nvidia.com/gpumem-percentage"] = number(0, 100);
            if (chance(2))
                each["nvidia.com/gpucores"] = number(0, 100);
        }
        wishes(to, "nvidia.com/use-gpuuuid", "nvidia.com/nouse-gpuuuid", "nvidia.com/vgpu-mode");
        if (chance(4))
            to.annotations["nvidia.com/numa-bind"] = word({"true", "false", "maybe"});
        if (chance(6))
            to.annotations["hami.io/gpu-scheduler-policy"] = word({"binpack", "mutex", "numa"});
    }
    void wishes(pod& to, const char* ids, const char* not_ids, const char* mode) {
        if (chance(4))
            to.annotations["nvidia.com/use-gputype"] =
                word({"A100", "A100,T4", "A100, T4", ",", "", "A|B"});
        if (chance(6))
            to.annotations["nvidia.com/nouse-gputype"] = word({"A10", "A10, T4", ",", ""});
        if (chance(6))
            to.annotations[ids] = word({"GPU-1", "GPU-1, GPU-2", ",", ""});
        if (chance(6))
            to.annotations[not_ids] = word({"GPU-1", "GPU-1, GPU-2", ",", ""});
        if (chance(6))
            to.annotations[mode] = word({"hami-core", "mig", "mps", "mig,mps", "other", ""});
    }
    void volcano(pod& to) {
        for (amounts& each : to.limits) {
            if (chance(2) && to.limits.size() > 1)
                continue;
            each["volcano.sh/vgpu-number"] = number(0, 4);
            if (chance(3))
                each["volcano.sh/vgpu-memory"] = number(0, 40000);
            if (chance(3))
                each["volcano.sh/vgpu-memory-percentage"] = number(0, 110);
            if (chance(2))
                each["volcano.sh/vgpu-cores"] = number(0, 110);
        }
        wishes(to, "volcano.sh/vgpu-use-gpuuuid", "volcano.sh/vgpu-nouse-gpuuuid",
               "volcano.sh/vgpu-mode");
        if (chance(6))
            to.annotations["volcano.sh/vgpu-podgroup-policy"] = word({"spread", "pack"});
    }
    void koordinator(amounts& to) {
        if (chance(3)) {
            to["koordinator.sh/gpu"] = chance(3) ? number(1, 4) + "00" : number(1, 110);
            return;
        }
        const std::int64_t count = chance(2) ? 1 : draw_.between(1, 4);
        const std::string per = std::to_string(count * draw_.between(0, 110));
        if (count > 1 || chance(4))
            to["koordinator.sh/gpu.shared"] = std::to_string(count);
        if (chance(2))
            to["koordinator.sh/gpu-memory"] = number(1, 40000) + word({"Mi", "M", "", "k"});
        else
            to["koordinator.sh/gpu-memory-ratio"] = std::to_string(count * draw_.between(1, 100));
        if (chance(2))
            to["koordinator.sh/gpu-core"] = per;
    }
    void kai(pod& to) {
        if (chance(2))
            to.annotations["gpu-memory"] = number(1, 40000);
        else
            to.annotations["gpu-fraction"] =
                "0." + word({"5", "25", "333", "999", "0001", "999999999", "07"});
        if (chance(3))
            to.annotations["gpu-fraction-num-devices"] = number(1, 4);
        if (chance(3))
            to.annotations["gpu-fraction-container-name"] = "c" + number(0, 2);
    }
    void openb(pod& to) {
        to.annotations["alibabacloud.com/gpu-milli"] = chance(3)   ? "1000"
                                                       : chance(2) ? number(0, 1000)
                                                                   : number(1, 100) + "0";
        to.annotations["alibabacloud.com/gpu-count"] = number(1, 3);
        if (chance(3))
            to.annotations["alibabacloud.com/gpu-card-model"] = word({"A10", "A10|T4", "|", "A,B"});
        if (chance(6))
            to.annotations["alibabacloud.com/gpu-index"] = word({"0", "1-2", "x"});
    }

    muster::testing::random draw_;
};

/// What a pod requests of a system, with memory in one form: MiB, a reduced part of a GPU, or all.
pod_share_requests requests_of(const pod& of, share_system system) {
    const share_template made = of.made();
    diagnostics aside(0);
    pod_share_requests read;
    if (system == share_system::hami)
        read = read_hami_requests(made.metadata, made.containers, {}, aside);
    else if (system == share_system::volcano)
        read = read_volcano_vgpu_requests(made.metadata, made.containers, {});
    else if (system == share_system::koordinator)
        read = read_koordinator_requests(made.metadata, made.containers, "nvidia.com/gpu", aside);
    else if (system == share_system::kai)
        read = read_kai_requests(made.metadata, made.containers, kai_order::pack, aside);
    else
        read = read_openb_requests(made.metadata, made.containers, aside);
    for (container_share& each : read.requests) {
        share_request& request = each.request;
        // KAI's whole GPUs have all cores.
        if (request.needs_idle && std::holds_alternative<whole_memory>(request.memory) &&
            system == share_system::kai)
            request.cores = 100;
        if (auto* const part = std::get_if<memory_part>(&request.memory)) {
            const std::int64_t common = std::gcd(part->parts, part->of);
            *part = {part->parts / common, part->of / common};
            if (part->parts == part->of)
                request.memory = whole_memory{};
        }
    }
    return read;
}

/// Memory of one device in bytes, or in billionths of its memory.
muster::int128 memory_of(const share_request& request, share_system system) {
    if (const auto* const amount = std::get_if<memory_amount>(&request.memory))
        return static_cast<muster::int128>(amount->units) *
               (system == share_system::koordinator ? 1 : 1024 * 1024);
    if (const auto* const part = std::get_if<memory_part>(&request.memory))
        return static_cast<muster::int128>(part->parts) * 1'000'000'000 / part->of;
    return 1'000'000'000;
}

/// Checks that the pod `after` needs no less than `before`, apart from cores in KAI, which the
/// losses name then.
void check_needs(const pod_share_requests& before, share_system from,
                 const pod_share_requests& after, share_system to, const std::string& losses) {
    REQUIRE(after.unsupported.empty());
    REQUIRE_FALSE(after.requests.empty());
    std::int64_t devices = 0;
    for (const container_share& each : after.requests)
        devices += each.request.count;
    for (const container_share& each : before.requests)
        devices -= each.request.count;
    CHECK(devices >= 0);
    for (std::size_t at = 0; at < before.requests.size(); ++at) {
        const share_request& asked = before.requests[at].request;
        // Systems that give whole GPUs to pods add them up.
        const share_request& made = after.requests[std::min(at, after.requests.size() - 1)].request;
        if (std::holds_alternative<memory_amount>(asked.memory))
            CHECK(std::holds_alternative<memory_amount>(made.memory));
        else
            CHECK_FALSE(std::holds_alternative<memory_amount>(made.memory));
        CHECK(memory_of(made, to) >= memory_of(asked, from));
        if (made.cores < asked.cores) {
            CHECK(to == share_system::kai);
            CHECK(losses.find("KAI does not limit cores") != std::string::npos);
        }
    }
}

} // namespace

TEST_CASE("partitions, selectors and RDMA of Koordinator are not translated") {
    const auto losses = [](const std::string& limits, const std::string& annotations) {
        const share_texts::read_object of(share_texts::pod_text({limits}, annotations));
        const share_translation made =
            translate_shares({of.metadata, of.containers, 0}, share_system::hami);
        CHECK_FALSE(made.changes);
        return text_of(made.losses);
    };
    CHECK(
        losses("{koordinator.sh/gpu: 100}", "{scheduling.koordinator.sh/gpu-partition-spec: '{}'}")
            .find("gpu-partition-spec") != std::string::npos);
    // Whole GPUs belong to Koordinator if the pod has one of its annotations.
    CHECK(losses("{nvidia.com/gpu: 8}", "{scheduling.koordinator.sh/gpu-partition-spec: '{}'}")
              .find("gpu-partition-spec") != std::string::npos);
    CHECK(losses("{koordinator.sh/gpu: 100}",
                 "{scheduling.koordinator.sh/device-allocate-hint: "
                 R"('{"gpu":{"selector":{"matchLabels":{"a":"b"}}}}'})")
              .find("gpu.selector") != std::string::npos);
    CHECK(losses("{koordinator.sh/gpu: 100, koordinator.sh/rdma: 1}", "{}")
              .find("koordinator.sh/rdma") != std::string::npos);
}

TEST_CASE("a translated pod never needs less, and comes back the same if nothing was lost") {
    std::array<int, 5> exact{};
    std::array<int, 5> lossy{};
    std::array<int, 5> refused{};
    constexpr std::uint64_t usually = 4000;
    const std::uint64_t first = muster::testing::random_seed();
    for (std::uint64_t seed = first; seed < first + muster::testing::case_count(usually); ++seed) {
        CAPTURE(seed);
        pod_maker maker(seed);
        const share_system from = all_systems[seed % all_systems.size()];
        const pod before = maker.make(from);
        const pod_share_requests asked = requests_of(before, from);
        CAPTURE(before.text());
        for (const share_system to : all_systems) {
            if (to == from)
                continue;
            CAPTURE(to);
            const share_translation made = translate_shares(before.made(), to);
            const std::string losses = text_of(made.losses);
            CAPTURE(losses);
            if (!made.changes) {
                // Nothing was asked, it is plain GPUs already, or the losses say why.
                CHECK((!losses.empty() || asked.empty() ||
                       notations_of(before.made().metadata, before.made().containers).empty()));
                ++refused[static_cast<std::size_t>(to)];
                continue;
            }
            const pod after = before.with(made);
            CAPTURE(after.text());
            check_needs(asked, from, requests_of(after, to), to, losses);
            ++(losses.empty() ? exact : lossy)[static_cast<std::size_t>(to)];
            if (!losses.empty())
                continue;
            const share_translation home = translate_shares(after.made(), from);
            CHECK(text_of(home.losses).empty());
            const pod_share_requests back =
                requests_of(home.changes ? after.with(home) : after, from);
            REQUIRE(back.requests.size() == asked.requests.size());
            for (std::size_t at = 0; at < back.requests.size(); ++at) {
                CHECK(back.requests[at].container == asked.requests[at].container);
                CHECK(back.requests[at].request == asked.requests[at].request);
            }
        }
    }
    for (std::size_t at = 0; at < all_systems.size() && muster::testing::all_cases(usually); ++at) {
        CAPTURE(at);
        CHECK(exact[at] > 20);
        CHECK(lossy[at] > 20);
        CHECK(refused[at] > 20);
    }
}

} // namespace codec_share_translation_test
