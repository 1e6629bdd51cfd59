// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <string>

#include <muster/policy/gpu_use.hpp>
#include <muster/policy/typical_tasks.hpp>

#include "../builders.hpp"

namespace policy_gpu_use_test {

using namespace builders;
using namespace muster;

TEST_CASE("what typical tasks cannot use of the idle GPUs is averaged over the tasks") {
    cluster known{kind_id{2}};
    gpu_view view;
    view.whole[gpu.value()] = true;
    const auto use = [&] { return use_of_gpus(known, view, typical_tasks(known, view, 100)); };
    CHECK(use() == gpu_use{});
    // 4 GPUs of which 2 are idle with 1 CPU, and 2 idle ones with 8 CPUs.
    ok(known.upsert_node("a", machine(3, 4)));
    ok(known.upsert_node("b", machine(8, 2)));
    ok(known.upsert_node("without", machine(8)));
    CHECK(use() == gpu_use{6, 6'000, 6'000});
    ok(known.upsert_gang("g", gang_of(1)));
    ok(known.upsert_pod("r", "g", in_phase(pod_phase::running, asking(2, 2)), "a"));
    // All tasks are as the running one: 2 GPUs and 2 CPUs, for which node a has too few CPUs.
    CHECK(use() == gpu_use{6, 4'000, 2'000});
    // One more kind, which fits nowhere: on average half of b and all of a cannot be used.
    ok(known.upsert_pod("large", "g", asking(1, 4)));
    CHECK(use() == gpu_use{6, 4'000, 3'000});
    ok(known.remove_node("b"));
    CHECK(use() == gpu_use{4, 2'000, 2'000});
}

} // namespace policy_gpu_use_test
