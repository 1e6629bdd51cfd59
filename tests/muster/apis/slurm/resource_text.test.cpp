// SPDX-License-Identifier: Apache-2.0
#include <muster/apis/slurm/resource_text.hpp>

#include <string>

#include <doctest/doctest.h>

namespace codec_slurm_resource_text_test {

using namespace muster::codec::slurm;

namespace {

std::string text_of(const gpu_request& gpus) {
    return std::to_string(gpus.count) + (gpus.type.empty() ? "" : " " + gpus.type) +
           (gpus.mixed ? " mixed" : "");
}

std::string gpus(const char* text) {
    const auto read = parse_gpus(text);
    return read ? text_of(*read) : "refused";
}
std::string gres(const char* text) {
    const auto read = parse_gres(text);
    return read ? text_of(read->gpus) + (read->others ? " others" : "") : "refused";
}
std::string tres(const char* text) {
    const auto read = parse_tres(text);
    return read ? "cpu " + std::to_string(read->cpus) + " gpu " + text_of(read->gpus) +
                      (read->others ? " others" : "")
                : "refused";
}

} // namespace

TEST_CASE("a number of GPUs may name their type") {
    CHECK(gpus("4") == "4");
    CHECK(gpus("a100:4") == "4 a100");
    CHECK(gpus("3090:2") == "2 3090");
    CHECK(gpus("a100:2,a100:1") == "3 a100");
    CHECK(gpus("a100:2,v100:1") == "3 v100 mixed");
    CHECK(gpus("a100:2,1") == "3 mixed");
    CHECK(gpus("0") == "0");
    for (const char* const text : {"", ",", "4,", ":4", "a100:", "a100:x", "-1", "a b:2", "a:b:2",
                                   "9999999999", "2147483647,1"})
        CHECK(gpus(text) == "refused");
}

TEST_CASE("generic resources other than gpu are noted") {
    CHECK(gres("gpu") == "1");
    CHECK(gres("gpu:2") == "2");
    CHECK(gres("gpu:a100") == "1 a100");
    CHECK(gres("gpu:a100:4") == "4 a100");
    CHECK(gres("gres/gpu:2") == "2");
    CHECK(gres("gpu:1,nic:2") == "1 others");
    CHECK(gres("gpu_mem:5") == "0 others");
    CHECK(gres("none") == "0");
    for (const char* const text :
         {"", "gpu:", "gpu::2", "gpu:a100:", "gpu:a100:2:3", "gpu,", "gres:"})
        CHECK(gres(text) == "refused");
}

TEST_CASE("resources per task are CPUs, GPUs and others") {
    CHECK(tres("cpu=4") == "cpu 4 gpu 0");
    CHECK(tres("cpu:8,gres/gpu:a100=2") == "cpu 8 gpu 2 a100");
    CHECK(tres("gres/gpu=1") == "cpu 0 gpu 1");
    CHECK(tres("cpu=8,license/ansys=1") == "cpu 8 gpu 0 others");
    for (const char* const text : {"", "cpu", "cpu=0", "cpu=x", "gres/gpu", "gres/gpu=", "cpu=1,"})
        CHECK(tres(text) == "refused");
}

} // namespace codec_slurm_resource_text_test
