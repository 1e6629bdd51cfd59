// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <muster/policy/gpu_view.hpp>

namespace policy_gpu_view_test {

using namespace muster;

resources<4> amounts(std::int64_t cpu, std::int64_t memory, std::int64_t one, std::int64_t other) {
    resources<4> made;
    made[0] = cpu;
    made[1] = memory;
    made[2] = one;
    made[3] = other;
    return made;
}

/// Nodes of stock 1 have two GPUs; each demand is so many thousandths of the first.
struct one_gpu_in_use {
    std::size_t gpus_left(device_stock has, std::span<const device_demand> held,
                          std::span<std::int32_t> milli) const {
        if (has != device_stock{1})
            return 0;
        milli[0] = milli[1] = whole_gpu_milli;
        for (const device_demand one : held)
            milli[0] -= static_cast<std::int32_t>(one);
        return 2;
    }
    gpu_part part(device_stock, device_demand more) const {
        return {1, static_cast<std::int64_t>(more)};
    }
};

gpu_view view_of(const one_gpu_in_use& object) {
    gpu_view made;
    made.whole[2] = made.whole[3] = true;
    made.shared = gpu_reader::of(object);
    return made;
}

TEST_CASE("whole GPUs are read from the amounts, and each kind of them is a model") {
    const one_gpu_in_use object;
    const gpu_view view = view_of(object);
    const shared_gpu_node node =
        view.node(amounts(8'000, 1, 0, 4), amounts(3'000, 1, 0, 3), device_stock::none, {});
    CHECK(node.cpu == 3'000);
    CHECK(node.model == 3);
    CHECK(node.gpus == 4);
    CHECK(node.left[2] == whole_gpu_milli);
    CHECK(node.left[3] == 0);
    const shared_gpu_task task = view.task(amounts(500, 1, 0, 2), device_stock::none, {});
    CHECK(task == shared_gpu_task{500, 2, whole_gpu_milli, std::uint64_t{1} << 3});
    CHECK_FALSE(task.allows(2));
    CHECK(view.task(amounts(500, 1, 0, 0), device_stock::none, {}).gpus == 0);
}

TEST_CASE("amounts below 0 and beyond what a node can have are clamped") {
    const one_gpu_in_use object;
    const gpu_view view = view_of(object);
    const shared_gpu_node over =
        view.node(amounts(8, 1, 0, 4), amounts(-3, 1, 0, -2), device_stock::none, {});
    CHECK(over.cpu == 0);
    CHECK(over.idle_milli() == 0);
    const shared_gpu_node large =
        view.node(amounts(8, 1, 99, 0), amounts(8, 1, 99, 0), device_stock::none, {});
    CHECK(large.gpus == max_node_gpus);
    CHECK(large.idle_milli() == std::int64_t{max_node_gpus} * whole_gpu_milli);
}

TEST_CASE("shared GPUs are read by the reader, beside what is held") {
    const one_gpu_in_use object;
    const gpu_view view = view_of(object);
    const std::vector<device_demand> held{device_demand{250}, device_demand{500}};
    const shared_gpu_node node =
        view.node(amounts(8, 1, 9, 0), amounts(8, 1, 9, 0), device_stock{1}, held);
    CHECK(node.model == gpu_view::shared_model);
    CHECK(node.gpus == 2);
    CHECK(node.left[0] == 250);
    const shared_gpu_task task =
        view.task(amounts(7, 1, 0, 0), device_stock{1}, device_demand{250});
    CHECK(task == shared_gpu_task{7, 1, 250, std::uint64_t{1} << gpu_view::shared_model});
    // A node that shares no GPUs, and a view without a reader.
    CHECK(view.node(amounts(8, 1, 9, 0), amounts(8, 1, 9, 0), device_stock{2}, {}).model == 2);
    CHECK(gpu_view{}.node(amounts(8, 1, 9, 0), amounts(8, 1, 9, 0), device_stock{1}, {}).gpus == 0);
}

} // namespace policy_gpu_view_test
