// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include <muster/lifecycle/advance.hpp>

#include "job_bench.hpp"

namespace lifecycle_advance_test {

using namespace lifecycle_test;

TEST_CASE("a new job asks for its group, then its services, then its pods, and is pending") {
    job_plan plan = plan_with({task("worker", 2), task("ps", 1)});
    plan.grouped = true;
    plan.tasks[0].services = 2;
    plan.tasks[1].services = 1;
    const job_step step = advance(plan, {}, {}, 0);
    CHECK(step.create_group);
    CHECK(step.create_services.size() == 3);
    CHECK(step.create_pods == std::vector<replica_id>{{0, 0}, {0, 1}, {1, 0}});
    CHECK_FALSE(step.resumed);
    CHECK(step.status.phase == job_phase::pending);
    CHECK(step.status.conditions.empty());
    CHECK(aggregate(step.status) == decltype(aggregate(step.status)){3, 0, 0, 0, 0, 0, 0});
}

TEST_CASE("a job is initialized when all that it needs has been seen") {
    job_plan plan = plan_with({task("worker", 2)});
    plan.grouped = true;
    plan.tasks[0].services = std::ssize(plan.tasks[0].pods);
    job_bench bench(plan);
    bench.pass();
    SUBCASE("its pods, group and services") {
        bench.pass();
        CHECK(bench.condition(condition_type::initialized) ==
              "True -: The job has been initialized successfully.");
        CHECK(bench.status.phase == job_phase::pending);
    }
    SUBCASE("no service is missing") {
        bench.seen.services.pop_back();
        bench.pass();
        CHECK(bench.conditions().empty());
        CHECK(bench.step.create_services == std::vector<replica_id>{{0, 1}});
    }
    SUBCASE("no pod is missing") {
        bench.lose("j-worker-1");
        bench.pass();
        CHECK(bench.conditions().empty());
    }
    SUBCASE("the group is not missing") {
        bench.seen.group = false;
        bench.pass();
        CHECK(bench.conditions().empty());
        CHECK(bench.step.create_group);
    }
}

TEST_CASE("a job runs when all its replicas run or are over") {
    job_plan plan = plan_with({task("worker", 3)});
    plan.success = {{{0, {1}}}};
    job_bench bench(plan);
    bench.settle();
    bench.pod("j-worker-0").phase = observed_phase::running;
    bench.pod("j-worker-1").phase = observed_phase::running;
    bench.settle();
    CHECK(bench.status.phase == job_phase::pending);
    bench.succeed("j-worker-2");
    bench.settle();
    CHECK(bench.status.phase == job_phase::running);
    CHECK(bench.conditions() == "Initialized=True Running=True ReplicaFailure=False");
    CHECK(bench.condition(condition_type::running) == "True -: All pods are running normally.");
    CHECK(bench.condition(condition_type::replica_failure) ==
          "False -: All pods are running normally.");
}

TEST_CASE("a rule of success is met when all its replicas have succeeded") {
    job_plan plan = plan_with({task("master", 3), task("worker", 3)});
    plan.success = {{{0, {0}}}, {{1, {0, 1, 2}}}, {{0, {2}}, {1, {0, 1}}}};
    job_bench bench(plan);
    bench.start();
    bench.succeed("j-worker-0");
    bench.succeed("j-worker-1");
    bench.settle();
    CHECK(bench.status.phase == job_phase::running);
    SUBCASE("one of one type") {
        bench.succeed("j-master-0");
    }
    SUBCASE("all of another") {
        bench.succeed("j-worker-2");
    }
    SUBCASE("some of both") {
        bench.succeed("j-master-2");
    }
    bench.settle();
    CHECK(bench.status.phase == job_phase::succeeded);
    CHECK(bench.conditions() ==
          "Initialized=True Running=False ReplicaFailure=False Completed=True Failed=False");
    for (const job_condition& each : bench.status.conditions)
        if (each.type != condition_type::initialized) {
            CHECK(each.reason == "Succeeded");
            CHECK(each.message == "The job has finished successfully.");
        }
}

TEST_CASE("without rules of success all replicas have to succeed") {
    job_bench bench(plan_with({task("worker", 2), task("ps", 1)}));
    bench.start();
    bench.succeed("j-worker-0");
    bench.succeed("j-ps-0");
    bench.settle();
    CHECK(bench.status.phase == job_phase::running);
    bench.succeed("j-worker-1");
    bench.settle();
    CHECK(bench.status.phase == job_phase::succeeded);
}

TEST_CASE("a rule of failure is met when all its replicas have failed for good") {
    job_plan plan = plan_with(
        {task("worker", 2, {restart_policy::never, 0}), task("ps", 2, {restart_policy::never, 0})});
    plan.failure = {{{0, {0, 1}}, {1, {0}}}};
    job_bench bench(plan);
    bench.start();
    bench.fail("j-worker-0", 3);
    bench.fail("j-worker-1", 4);
    bench.settle();
    CHECK(bench.status.phase == job_phase::running);
    CHECK(bench.condition(condition_type::replica_failure) ==
          "True ErrorInPod: Pod[j-worker-0] exited with error code 3");
    bench.fail("j-ps-0", 5);
    bench.settle();
    CHECK(bench.status.phase == job_phase::failed);
    CHECK(bench.conditions() ==
          "Initialized=True Running=False ReplicaFailure=True Completed=False Failed=True");
    const std::string message =
        R"(Failed: The job is failed with rule: { "worker": [0, 1], "ps": [0] })";
    CHECK(bench.condition(condition_type::running) == "False " + message);
    CHECK(bench.condition(condition_type::completed) == "False " + message);
    CHECK(bench.condition(condition_type::failed) == "True " + message);
    CHECK(bench.condition(condition_type::replica_failure) ==
          "True ErrorInPod: Pod[j-ps-0] exited with error code 5");
}

TEST_CASE("success goes before failure in one pass") {
    job_plan plan = plan_with({task("worker", 2, {restart_policy::never, 0})});
    plan.success = {{{0, {0}}}};
    plan.failure = {{{0, {1}}}};
    job_bench bench(plan);
    bench.start();
    bench.succeed("j-worker-0");
    bench.fail("j-worker-1");
    bench.settle();
    CHECK(bench.status.phase == job_phase::succeeded);
}

TEST_CASE("without rules of failure a job fails when no rule of success can be met any more") {
    job_plan plan = plan_with({task("worker", 3, {restart_policy::never, 0})});
    SUBCASE("of two rules, both") {
        plan.success = {{{0, {0, 1}}}, {{0, {2}}}};
        job_bench bench(plan);
        bench.start();
        bench.fail("j-worker-1");
        bench.settle();
        CHECK(bench.status.phase == job_phase::running);
        bench.fail("j-worker-2");
        bench.settle();
        CHECK(bench.status.phase == job_phase::failed);
        CHECK(bench.condition(condition_type::failed) ==
              "True Failed: The job is failed because no success rule can be met any more.");
    }
    SUBCASE("when all have to succeed, one failure is enough") {
        job_bench bench(plan);
        bench.start();
        bench.fail("j-worker-1");
        bench.settle();
        CHECK(bench.status.phase == job_phase::failed);
    }
    SUBCASE("with rules of failure only these count") {
        plan.success = {{{0, {0}}}};
        plan.failure = {{{0, {1}}}};
        job_bench bench(plan);
        bench.start();
        bench.fail("j-worker-0");
        bench.settle();
        CHECK(bench.status.phase == job_phase::running);
    }
}

TEST_CASE("an absent restart policy restarts nobody: OnFailure with limit 0") {
    job_plan plan = plan_with({task("worker", 1)});
    job_bench bench(plan);
    bench.start();
    bench.fail("j-worker-0");
    bench.settle();
    CHECK(bench.status.phase == job_phase::failed);
    CHECK(bench.replica("j-worker-0").restarts == 0);
}

TEST_CASE("a replica is started again until its own limit, and has failed only then") {
    job_bench bench(plan_with({task("worker", 2, {restart_policy::on_failure, 2})}));
    bench.start();
    for (int round = 1; round <= 2; ++round) {
        bench.fail("j-worker-0", 7);
        const std::string uid = bench.pod("j-worker-0").uid;
        bench.pass();
        CHECK(bench.step.deletions == std::vector<pod_deletion>{{"j-worker-0", uid}});
        CHECK(bench.replica("j-worker-0").phase == replica_phase::deleted);
        CHECK(bench.replica("j-worker-0").restarts == round);
        CHECK(bench.condition(condition_type::replica_failure) ==
              "True ErrorInPod: Pod[j-worker-0] exited with error code 7");
        bench.pass();
        CHECK(bench.step.create_pods == std::vector<replica_id>{{0, 0}});
        CHECK(bench.replica("j-worker-0").phase == replica_phase::creating);
        bench.settle();
        CHECK(bench.status.phase == job_phase::running);
        CHECK(bench.conditions() == "Initialized=True Running=True ReplicaFailure=True");
        bench.start();
        CHECK(bench.conditions() == "Initialized=True Running=True ReplicaFailure=False");
    }
    CHECK(restarts(bench.status.tasks[0]) == 2);
    bench.fail("j-worker-0", 8);
    bench.settle();
    CHECK(bench.status.phase == job_phase::failed);
    CHECK(bench.replica("j-worker-0").restarts == 2);
    CHECK(bench.has("j-worker-0"));
}

TEST_CASE("a written policy without a limit restarts without end") {
    job_bench bench(plan_with({task("worker", 1, {restart_policy::on_failure, unlimited})}));
    bench.start();
    for (int round = 1; round <= 30; ++round) {
        bench.fail("j-worker-0");
        bench.start();
        CHECK(bench.replica("j-worker-0").restarts == round);
    }
    CHECK(bench.status.phase == job_phase::running);
}

TEST_CASE("under Always a success starts again, and counts only when the limit is used up") {
    job_bench bench(plan_with({task("worker", 1, {restart_policy::always, 1})}));
    bench.start();
    bench.succeed("j-worker-0");
    bench.start();
    CHECK(bench.status.phase == job_phase::running);
    CHECK(bench.replica("j-worker-0").restarts == 1);
    CHECK(bench.conditions() == "Initialized=True Running=True ReplicaFailure=False");
    SUBCASE("success") {
        bench.succeed("j-worker-0");
        bench.settle();
        CHECK(bench.status.phase == job_phase::succeeded);
    }
    SUBCASE("failure") {
        bench.fail("j-worker-0");
        bench.settle();
        CHECK(bench.status.phase == job_phase::failed);
    }
}

TEST_CASE("under ExitCode only processes that were killed start again") {
    for (const std::int64_t code : {130, 137, 138, 143, 1, 0, 127, 255}) {
        CAPTURE(code);
        job_bench bench(plan_with({task("worker", 1, {restart_policy::exit_code, unlimited})}));
        bench.start();
        bench.fail("j-worker-0", code);
        bench.settle();
        CHECK((bench.status.phase == job_phase::running) == (code >= 130 && code <= 143));
    }
}

TEST_CASE("a bound on all restarts together is spent in the order of the replicas") {
    job_plan plan = plan_with({task("worker", 3, {restart_policy::on_failure, unlimited})});
    plan.success = {{{0, {0}}}};
    plan.restarts = 2;
    job_bench bench(plan);
    bench.start();
    for (const char* each : {"j-worker-0", "j-worker-1", "j-worker-2"})
        bench.fail(each);
    bench.pass();
    CHECK(bench.replica("j-worker-0").restarts == 1);
    CHECK(bench.replica("j-worker-1").restarts == 1);
    CHECK(bench.replica("j-worker-2").phase == replica_phase::failed);
    CHECK(bench.status.restarts == 2);
}

TEST_CASE("a failure counts once for a pod") {
    job_bench bench(plan_with({task("worker", 1, {restart_policy::on_failure, 5})}));
    bench.start();
    bench.fail("j-worker-0");
    const observation before = bench.seen;
    for (int i = 0; i < 3; ++i) {
        const job_step step = advance(bench.plan, bench.status, before, bench.now);
        CHECK(step.deletions.size() == 1);
        CHECK(step.status.tasks[0].replicas[0].restarts == 1);
        bench.status = step.status;
    }
}

TEST_CASE("a success lasts as long as its pod") {
    job_plan plan = plan_with({task("worker", 2)});
    job_bench bench(plan);
    bench.start();
    bench.succeed("j-worker-0");
    bench.settle();
    bench.pod("j-worker-0").phase = observed_phase::unknown;
    bench.settle();
    CHECK(bench.replica("j-worker-0").phase == replica_phase::succeeded);
    SUBCASE("and when it vanishes") {
        bench.lose("j-worker-0");
        bench.settle();
        CHECK(bench.replica("j-worker-0").phase == replica_phase::succeeded);
        CHECK_FALSE(bench.has("j-worker-0"));
    }
    SUBCASE("another pod in its place counts for itself") {
        bench.pod("j-worker-0").uid = "another";
        bench.settle();
        CHECK(bench.replica("j-worker-0").phase == replica_phase::unknown);
    }
}

TEST_CASE("a pod that goes without an end of its own comes back and is not counted") {
    job_bench bench(plan_with({task("worker", 2, {restart_policy::on_failure, 1})}));
    bench.start();
    SUBCASE("gone at once") {
        bench.lose("j-worker-0");
    }
    SUBCASE("told to go") {
        bench.pod("j-worker-0").terminating = true;
        bench.settle();
        CHECK(bench.replica("j-worker-0").phase == replica_phase::deleted);
        CHECK(bench.step.deletions.empty());
        bench.lose("j-worker-0");
    }
    SUBCASE("told to go, and it ends on that with a failure") {
        bench.pod("j-worker-0").terminating = true;
        bench.fail("j-worker-0", 143);
        bench.settle();
        bench.lose("j-worker-0");
    }
    SUBCASE("told to go, and it ends on that in order") {
        bench.pod("j-worker-0").terminating = true;
        bench.succeed("j-worker-0");
        bench.settle();
        bench.lose("j-worker-0");
    }
    SUBCASE("failed because its node was lost") {
        bench.pod("j-worker-0").disrupted = true;
        bench.fail("j-worker-0", 137);
        bench.pass();
        CHECK(bench.step.deletions.size() == 1);
    }
    bench.start();
    CHECK(bench.has("j-worker-0"));
    CHECK(bench.replica("j-worker-0").phase == replica_phase::running);
    CHECK(bench.replica("j-worker-0").restarts == 0);
    CHECK(bench.status.phase == job_phase::running);
    CHECK(bench.conditions() == "Initialized=True Running=True ReplicaFailure=False");
}

TEST_CASE("the phase is Unknown while a replica is and no rule decides") {
    job_plan plan = plan_with({task("worker", 2, {restart_policy::never, 0})});
    plan.success = {{{0, {1}}}};
    job_bench bench(plan);
    bench.start();
    bench.pod("j-worker-0").phase = observed_phase::unknown;
    SUBCASE("and it runs again afterwards") {
        bench.settle();
        CHECK(bench.status.phase == job_phase::unknown);
        bench.pod("j-worker-0").phase = observed_phase::running;
        bench.settle();
        CHECK(bench.status.phase == job_phase::running);
    }
    SUBCASE("but a rule goes before it") {
        bench.succeed("j-worker-1");
        bench.settle();
        CHECK(bench.status.phase == job_phase::succeeded);
    }
}

TEST_CASE("clean-up at the end") {
    job_plan plan = plan_with({task("worker", 5, {restart_policy::never, 0})});
    plan.success = {{{0, {0}}}};
    plan.tasks[0].services = std::ssize(plan.tasks[0].pods);
    plan.grouped = true;
    std::vector<std::string> stay;
    SUBCASE("None leaves all replicas") {
        stay = {"j-worker-0", "j-worker-1", "j-worker-2", "j-worker-3", "j-worker-4"};
    }
    SUBCASE("All takes all") {
        plan.tasks[0].at_end = clean_up_policy::all;
    }
    SUBCASE("Unfinished takes those that are Pending, Running or Unknown") {
        plan.tasks[0].at_end = clean_up_policy::unfinished;
        stay = {"j-worker-0", "j-worker-1"};
    }
    job_bench bench(plan);
    bench.start();
    bench.fail("j-worker-1");
    bench.pod("j-worker-2").phase = observed_phase::unknown;
    bench.pod("j-worker-3").phase = observed_phase::pending;
    bench.succeed("j-worker-0");
    bench.settle();
    CHECK(bench.status.phase == job_phase::succeeded);
    std::vector<std::string> left;
    for (const observed_pod& pod : bench.seen.pods)
        left.push_back(pod.name);
    CHECK(left == stay);
    CHECK(bench.seen.services.size() == 5);
    CHECK(bench.seen.group);
    for (const replica_status& replica : bench.status.tasks[0].replicas)
        CHECK((replica.phase == replica_phase::deleted) == !bench.has(replica.name));
}

TEST_CASE("what has ended stays as it ended") {
    job_plan plan = plan_with({task("worker", 2, {restart_policy::on_failure, 3})});
    plan.success = {{{0, {0}}}};
    job_bench bench(plan);
    bench.start();
    bench.succeed("j-worker-0");
    bench.settle();
    const std::vector<job_condition> conditions = bench.status.conditions;
    SUBCASE("though a replica fails") {
        bench.fail("j-worker-1");
        bench.settle();
        CHECK(bench.replica("j-worker-1").phase == replica_phase::failed);
    }
    SUBCASE("though all pods vanish") {
        bench.seen.pods.clear();
        bench.settle();
        CHECK(bench.seen.pods.empty());
        CHECK(bench.replica("j-worker-0").phase == replica_phase::deleted);
    }
    SUBCASE("though it is paused") {
        bench.plan.paused = true;
        bench.settle();
        CHECK(bench.seen.pods.size() == 2);
    }
    CHECK(bench.status.phase == job_phase::succeeded);
    CHECK(bench.status.conditions == conditions);
    CHECK(bench.replica("j-worker-1").restarts == 0);
}

TEST_CASE("a pause deletes every pod and suspends the rules") {
    job_plan plan = plan_with({task("worker", 3, {restart_policy::on_failure, 3})});
    plan.success = {{{0, {0}}}};
    job_bench bench(plan);
    bench.start();
    bench.fail("j-worker-2");
    bench.start();
    bench.plan.paused = true;
    bench.succeed("j-worker-0");
    bench.pass();
    CHECK(bench.step.deletions.size() == 3);
    CHECK(bench.step.create_pods.empty());
    CHECK(bench.status.phase == job_phase::paused);
    CHECK(bench.conditions() == "Initialized=True Running=False ReplicaFailure=False Paused=True");
    bench.settle();
    CHECK(bench.seen.pods.empty());
    CHECK(bench.status.phase == job_phase::paused);
    CHECK(bench.replica("j-worker-2").restarts == 1);

    bench.plan.paused = false;
    bench.pass();
    CHECK(bench.status.phase == job_phase::resuming);
    CHECK(bench.step.resumed);
    CHECK(bench.step.create_pods.size() == 3);
    CHECK(is_true(bench.status, condition_type::paused));
    bench.start();
    CHECK(bench.status.phase == job_phase::running);
    CHECK(bench.conditions() == "Initialized=True Running=True ReplicaFailure=False Paused=False");
    CHECK(bench.replica("j-worker-2").restarts == 1);
    SUBCASE("every pod from then on is a resumed one") {
        bench.lose("j-worker-1");
        bench.pass();
        CHECK(bench.step.resumed);
    }
    SUBCASE("and the job ends as any other") {
        bench.succeed("j-worker-0");
        bench.settle();
        CHECK(bench.conditions() == "Initialized=True Running=False ReplicaFailure=False "
                                    "Completed=True Failed=False Paused=False");
    }
}

TEST_CASE("a job that is paused from the start gets no pods") {
    job_plan plan = plan_with({task("worker", 2)});
    plan.paused = true;
    plan.grouped = true;
    job_bench bench(plan);
    bench.settle();
    CHECK(bench.pods_made == 0);
    CHECK(bench.status.phase == job_phase::paused);
    CHECK(bench.conditions() == "Paused=True");
    bench.plan.paused = false;
    bench.settle();
    CHECK(bench.status.phase == job_phase::resuming);
    bench.start();
    CHECK(bench.conditions() == "Initialized=True Running=True ReplicaFailure=False Paused=False");
}

TEST_CASE("pods that still leave after a pause are waited for") {
    job_bench bench(plan_with({task("worker", 1)}));
    bench.start();
    bench.plan.paused = true;
    job_step step = advance(bench.plan, bench.status, bench.seen, bench.now);
    bench.pod("j-worker-0").terminating = true;
    bench.plan.paused = false;
    step = advance(bench.plan, step.status, bench.seen, bench.now);
    CHECK(step.is_quiet());
    CHECK(step.status.phase == job_phase::resuming);
    bench.lose("j-worker-0");
    step = advance(bench.plan, step.status, bench.seen, bench.now);
    CHECK(step.create_pods.size() == 1);
}

TEST_CASE("a deletion that was decided is carried out though the pass was cut short") {
    job_bench bench(plan_with({task("worker", 1)}));
    bench.start();
    bench.plan.paused = true;
    job_step step = advance(bench.plan, bench.status, bench.seen, bench.now);
    bench.plan.paused = false;
    step = advance(bench.plan, step.status, bench.seen, bench.now);
    CHECK(step.deletions.size() == 1);
}

TEST_CASE("an elastic job runs from its least number on and follows its expected number") {
    job_plan plan = plan_with({task("worker", 4)});
    plan.running_from = 2;
    plan.success = {{{0, {0}}}};
    job_bench bench(plan);
    bench.settle();
    bench.pod("j-worker-0").phase = observed_phase::running;
    bench.settle();
    CHECK(bench.status.phase == job_phase::pending);
    bench.pod("j-worker-1").phase = observed_phase::running;
    bench.settle();
    CHECK(bench.status.phase == job_phase::running);
    SUBCASE("down: the highest ranks go") {
        bench.plan.tasks = {task("worker", 3)};
        bench.pass();
        REQUIRE(bench.step.deletions.size() == 1);
        CHECK(bench.step.deletions[0].name == "j-worker-3");
        bench.settle();
        CHECK(bench.status.tasks[0].replicas.size() == 3);
        CHECK(bench.seen.pods.size() == 3);
    }
    SUBCASE("up: new ranks come") {
        bench.plan.tasks = {task("worker", 6)};
        bench.pass();
        CHECK(bench.step.create_pods == std::vector<replica_id>{{0, 4}, {0, 5}});
        CHECK(bench.status.phase == job_phase::running);
    }
}

TEST_CASE("past its deadline a job fails, unless a rule decides first") {
    job_plan plan = plan_with({task("worker", 1)});
    plan.deadline_seconds = 100;
    job_bench bench(plan);
    bench.start();
    CHECK(bench.step.wake == 100 * second);
    bench.now = 100 * second;
    SUBCASE("on time") {
        bench.now -= 1;
        bench.pass();
        CHECK(bench.status.phase == job_phase::running);
    }
    SUBCASE("late") {
        bench.settle();
        CHECK(bench.status.phase == job_phase::failed);
        CHECK(bench.conditions() ==
              "Initialized=True Running=False ReplicaFailure=False Completed=False Failed=True");
        CHECK(bench.condition(condition_type::failed) ==
              "True Failed: The job is failed because it was active for longer than 100 seconds.");
    }
    SUBCASE("late, and it has succeeded") {
        bench.succeed("j-worker-0");
        bench.settle();
        CHECK(bench.status.phase == job_phase::succeeded);
    }
    SUBCASE("a pause starts the time anew") {
        bench.now = 50 * second;
        bench.plan.paused = true;
        bench.settle();
        CHECK_FALSE(bench.step.wake);
        bench.now = 500 * second;
        bench.plan.paused = false;
        bench.pass();
        CHECK(bench.step.wake == 600 * second);
    }
}

TEST_CASE("those who wait for others are created when these run") {
    job_plan plan = plan_with({task("manager", 1), task("submitter", 1)});
    plan.tasks[1].after_others = true;
    plan.conditions = condition_set::cluster;
    plan.success = {{{1, {0}}}};
    plan.failure = {{{1, {0}}}};
    plan.prints_rules = false;
    job_bench bench(plan);
    bench.settle();
    CHECK_FALSE(bench.has("j-submitter-0"));
    CHECK(bench.status.phase == job_phase::pending);
    bench.start();
    CHECK(bench.has("j-submitter-0"));
    CHECK(bench.conditions() == "ClusterRunning=True");
    bench.start();
    CHECK(bench.conditions() == "ClusterRunning=True JobRunning=True");
    CHECK(bench.status.phase == job_phase::running);
    bench.succeed("j-submitter-0");
    bench.settle();
    CHECK(bench.status.phase == job_phase::succeeded);
    CHECK(bench.conditions() == "ClusterRunning=True JobRunning=False");
}

TEST_CASE("nothing is done for a job that is being deleted") {
    job_bench bench(plan_with({task("worker", 2)}));
    bench.start();
    bench.plan.terminating = true;
    const job_status before = bench.status;
    bench.seen.pods.clear();
    bench.pass();
    CHECK(bench.step.is_quiet());
    CHECK(bench.status == before);
}

TEST_CASE("a change of a condition has an id and a time, and what does not change keeps them") {
    job_bench bench(plan_with({task("worker", 1, {restart_policy::on_failure, 9})}));
    bench.start();
    const job_condition running = *find_condition(bench.status, condition_type::running);
    const job_condition first = *find_condition(bench.status, condition_type::replica_failure);
    CHECK(first.transition_id.size() == 36);
    bench.fail("j-worker-0");
    const timestamp failed_at = bench.now;
    bench.settle();
    const job_condition then = *find_condition(bench.status, condition_type::replica_failure);
    CHECK(then.changed == failed_at);
    CHECK(then.transition_id ==
          transition_id(bench.plan.uid, "ReplicaFailure", first.transition_id));
    bench.start();
    const job_condition last = *find_condition(bench.status, condition_type::replica_failure);
    CHECK(last.transition_id != first.transition_id);
    CHECK(*find_condition(bench.status, condition_type::running) == running);
}

TEST_CASE("conditions of the sample keep Running and ReplicaFailure as they were before the end") {
    job_plan plan = plan_with({task("worker", 1, {restart_policy::never, 0})});
    plan.failure = {{{0, {0}}}};
    plan.keeps_conditions_at_end = true;
    job_bench bench(plan);
    bench.start();
    bench.fail("j-worker-0");
    bench.settle();
    CHECK(bench.condition(condition_type::running) == "True -: All pods are running normally.");
    CHECK(bench.condition(condition_type::replica_failure) ==
          "False -: All pods are running normally.");
}

} // namespace lifecycle_advance_test
