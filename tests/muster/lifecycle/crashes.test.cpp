// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <muster/lifecycle/advance.hpp>
#include <muster/testing/random.hpp>
#include <support/settings.hpp>

#include "job_bench.hpp"
#include "random_jobs.hpp"

namespace lifecycle_crashes_test {

using namespace lifecycle_test;

/// Says before every write whether the controller dies instead.
using crash_plan = std::function<bool(std::size_t write)>;

/// A cluster that does nothing until the controller has nothing more to write. Then one thing
/// happens, as the seed has it.
class patient_world {
public:
    patient_world(std::uint64_t seed, crash_plan crash)
        : dice_(seed), plan_(as_plan(random_job(dice_))), crash_(std::move(crash)) {}

    /// What is there whenever the controller is done.
    std::vector<std::string> run() {
        std::vector<std::string> trace;
        for (now_ = 0; now_ < 30; ++now_) {
            if (!settle())
                trace.push_back("the controller never comes to an end");
            trace.push_back(text());
            something_happens();
        }
        return trace;
    }
    [[nodiscard]] std::size_t writes() const noexcept { return writes_; }

private:
    bool settle() {
        for (int i = 0; i < 200; ++i) {
            const job_step step = advance(plan_, status_, seen_, now_);
            if (step.status == status_ && step.is_quiet())
                return true;
            carry_out(step);
        }
        return false;
    }

    bool dies() { return crash_(writes_++); }

    void carry_out(const job_step& step) {
        if (step.status != status_) {
            if (dies())
                return;
            status_ = step.status;
        }
        for (const pod_deletion& each : step.deletions) {
            if (dies())
                return;
            for (observed_pod& pod : seen_.pods)
                pod.terminating = pod.terminating || pod.uid == each.uid;
        }
        if (step.create_group) {
            if (dies())
                return;
            seen_.group = true;
        }
        for (const replica_id& each : step.create_services) {
            if (dies())
                return;
            seen_.services.push_back(name(each));
        }
        for (const replica_id& each : step.create_pods) {
            if (dies())
                return;
            observed_pod pod;
            pod.name = name(each);
            pod.uid = pod.name + "#" + std::to_string(++attempts_[pod.name]);
            // Cells of the world are visited in the order of names, not of creation.
            const auto at = std::ranges::lower_bound(seen_.pods, pod.name, {}, &observed_pod::name);
            seen_.pods.insert(at, std::move(pod));
        }
    }

    void something_happens() {
        std::erase_if(seen_.pods, [](const observed_pod& pod) { return pod.terminating; });
        if (dice_.percent(15))
            plan_.paused = !plan_.paused;
        for (observed_pod& pod : seen_.pods) {
            const auto roll = dice_.between(0, 99);
            if (pod.phase == observed_phase::pending && roll < 80) {
                pod.phase = observed_phase::running;
            } else if (pod.phase == observed_phase::running && roll < 40) {
                pod.phase = roll < 20 ? observed_phase::failed : observed_phase::succeeded;
                pod.containers = {{"main", roll < 20 ? roll + 1 : 0}};
            } else if (pod.phase == observed_phase::running && roll < 45) {
                pod.phase = observed_phase::unknown;
            } else if (roll >= 95) {
                pod.terminating = true;
            }
        }
        if (dice_.percent(5))
            seen_.group = false;
    }

    [[nodiscard]] std::string name(replica_id id) const {
        return plan_.tasks[id.task].pods[static_cast<std::size_t>(id.rank)];
    }

    [[nodiscard]] std::string text() const {
        std::string out = std::to_string(now_) + " " + std::string(to_text(*status_.phase));
        for (const job_condition& each : status_.conditions)
            out += "\n  " + std::string(to_text(each.type)) +
                   (each.is_true ? " True " : " False ") + each.reason + " " + each.message + " " +
                   each.transition_id + " @" + std::to_string(each.changed);
        for (const task_status& task : status_.tasks)
            for (const replica_status& each : task.replicas)
                out += "\n  " + each.name + " " + each.uid + " " +
                       std::string(to_text(each.phase)) + " " + std::to_string(each.restarts);
        for (const observed_pod& each : seen_.pods)
            out += "\n  pod " + each.uid + (each.terminating ? " leaves" : "");
        return out + "\n  services " + std::to_string(seen_.services.size());
    }

    dice_cup dice_;
    job_plan plan_;
    crash_plan crash_;
    job_status status_;
    observation seen_;
    std::map<std::string, int> attempts_;
    std::size_t writes_ = 0;
    timestamp now_ = 0;
};

/// Where two runs part, or nothing.
std::string difference(const std::vector<std::string>& expected,
                       const std::vector<std::string>& actual) {
    for (std::size_t i = 0; i < expected.size(); ++i)
        if (expected[i] != actual[i])
            return "expected\n" + expected[i] + "\nand found\n" + actual[i];
    return {};
}

TEST_CASE("a controller that dies between any two writes comes to the same end") {
    const std::uint64_t seed = muster::testing::random_seed();
    const std::uint64_t cases = muster::testing::case_count(10'000) / 50;
    std::size_t runs = 0;
    std::size_t faults = 0;
    const auto compare = [&](std::uint64_t case_seed, const std::vector<std::string>& expected,
                             const crash_plan& crash) {
        ++runs;
        const std::string fault = difference(expected, patient_world(case_seed, crash).run());
        if (!fault.empty() && ++faults < 4)
            std::printf("crash, case seed %llu: %s\n", static_cast<unsigned long long>(case_seed),
                        fault.c_str());
    };
    for (std::uint64_t i = 0; i < cases; ++i) {
        const std::uint64_t case_seed = seed * 1'000'003 + i;
        patient_world calm(case_seed, [](std::size_t) { return false; });
        const std::vector<std::string> expected = calm.run();
        REQUIRE(calm.writes() > 0);
        for (std::size_t at = 0; at < calm.writes(); ++at)
            compare(case_seed, expected, [at](std::size_t write) { return write == at; });
        dice_cup dice(case_seed);
        compare(case_seed, expected, [&dice](std::size_t) { return dice.percent(40); });
    }
    std::printf("crashes: %zu runs of %llu histories from MUSTER_SEED=%llu, %zu with a fault\n",
                runs, static_cast<unsigned long long>(cases), static_cast<unsigned long long>(seed),
                faults);
    CHECK(faults == 0);
}

} // namespace lifecycle_crashes_test
