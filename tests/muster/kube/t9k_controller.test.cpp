// SPDX-License-Identifier: Apache-2.0
#include <muster/kube/t9k_controller.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json/object.hpp>
#include <doctest/doctest.h>

#include <muster/kube/controllers.hpp>

#include "controller_world.hpp"

namespace kube_t9k_controller_test {

namespace kube = muster::kube;
using kube::minute;
using kube::second;
using muster_test::controller_world;
using process = muster_test::controller_process<kube::t9k_controller>;
using names = std::vector<std::string>;

namespace {

const std::string jobs = "/apis/batch.tensorstack.dev/v1beta1/namespaces/default/genericjobs";
const std::string groups = "/apis/scheduler.tensorstack.dev/v1beta1/namespaces/default/podgroups";
const std::string services = "/api/v1/namespaces/default/services";

/// The first sample of the page on GenericJobs, with two replicas, for the T9k scheduler.
std::string job(const std::string& name, const std::string& more = "") {
    return R"({"apiVersion":"batch.tensorstack.dev/v1beta1","kind":"GenericJob","metadata":{"name":")" +
           name +
           R"("},"spec":{"successRules":[{"worker":[0]}],"failureRules":[{"worker":[0]},{"worker":[1]}],)"
           R"("scheduler":{"t9kScheduler":{"queue":"default","priority":5}},)" +
           more +
           R"("replicaSpecs":[{"type":"worker","replicas":2,"template":{"spec":{"containers":)"
           R"([{"name":"sleep","image":"nginx:latest","command":["sleep","365"]}]}}}]}})";
}

const std::string torches =
    "/apis/batch.tensorstack.dev/v1beta1/namespaces/default/pytorchtrainingjobs";

std::string torch_job(const std::string& more = "") {
    const std::string pod =
        R"("template":{"spec":{"containers":[{"name":"pytorch","image":"i"}]}})";
    return R"({"apiVersion":"batch.tensorstack.dev/v1beta1","kind":"PyTorchTrainingJob",)"
           R"("metadata":{"name":"torch"},"spec":{)" +
           more +
           R"("scheduler":{"t9kScheduler":{"queue":"default"}},"replicaSpecs":[)"
           R"({"type":"master","replicas":1,)" +
           pod + R"(},{"type":"worker","replicas":2,)" + pod + "}]}}";
}

const std::string mpi = "/apis/batch.tensorstack.dev/v1beta1/namespaces/default/mpijobs";
const std::string maps = "/api/v1/namespaces/default/configmaps";

std::string mpi_job() {
    return R"({"apiVersion":"batch.tensorstack.dev/v1beta1","kind":"MPIJob","metadata":{"name":"mpi"},)"
           R"("spec":{"scheduler":{"t9kScheduler":{"queue":"default"}},)"
           R"("worker":{"replicas":2,"cmd":["run"],"template":{"spec":{"containers":[{"name":"worker","image":"i"}]}}}}})";
}

std::string condition(const boost::json::object& of, std::string_view type) {
    for (const boost::json::value& each : of.at("status").at("conditions").as_array())
        if (each.at("type") == boost::json::value(type))
            return std::string(each.at("status").as_string().c_str());
    return {};
}

} // namespace

TEST_CASE("a job that cannot be read is left alone and reported, and affects no other job") {
    controller_world of;
    std::string odd = job("odd");
    const std::string image = R"("image":"nginx:latest")";
    odd.replace(odd.find(image), image.size(),
                image + R"(,"more":)" + std::string(70, '[') + std::string(70, ']'));
    of.create(jobs, odd);
    of.create(jobs, job("train"));
    process run(of);
    run.run(of, 3 * second);
    CHECK(of.names(of.pods) == names{"train-worker-0", "train-worker-1"});
    REQUIRE(run.runs.troubles().size() == 1);
    CHECK(run.runs.troubles().front() ==
          "GenericJob default/odd: Unreadable: GenericJob odd: spec.replicaSpecs: nested too "
          "deeply (expected at most 64 levels)");
}

TEST_CASE("a job gets its group and pods, runs, and succeeds by its rule") {
    controller_world of;
    of.create(jobs, job("train"));
    process run(of);
    run.run(of, 3 * second);
    CHECK(run.runs.troubles() == names{});
    CHECK(of.names(of.pods) == names{"train-worker-0", "train-worker-1"});
    const auto group = of.get(groups + "/train");
    CHECK(group.at("spec").at("minMember") == boost::json::value(2));
    CHECK(group.at("metadata").at("ownerReferences").at(0).at("name") ==
          boost::json::value("train"));
    CHECK(of.at(jobs + "/train", {"status", "phase"}) == "Running");
    CHECK(of.get(of.pods + "/train-worker-1")
              .at("metadata")
              .at("labels")
              .at("scheduler.tensorstack.dev/group-name") == boost::json::value("train"));

    // Converged: nothing more is written.
    const std::size_t before = of.store.journal().size();
    run.run(of, 2 * minute);
    CHECK(of.store.journal().size() == before);
    CHECK(run.runs.is_quiet());

    of.end("train-worker-0", 0);
    run.run(of, 2 * second);
    const auto ended = of.get(jobs + "/train");
    CHECK(ended.at("status").at("phase") == boost::json::value("Succeeded"));
    CHECK(condition(ended, "Completed") == "True");
}

TEST_CASE("a job fails by its rule, with its status and an event") {
    controller_world of;
    process run(of);
    run.run(of, 1 * second);
    of.create(jobs, job("train"));
    run.run(of, 2 * second);
    of.end("train-worker-1", 3);
    run.run(of, 2 * second);
    const auto ended = of.get(jobs + "/train");
    CHECK(ended.at("status").at("phase") == boost::json::value("Failed"));
    CHECK(condition(ended, "Failed") == "True");
    CHECK(ended.at("status").at("aggregate").at("failed") == boost::json::value(1));
    CHECK(ended.at("status")
              .at("tasks")
              .at(0)
              .at("status")
              .at(1)
              .at("containers")
              .at(0)
              .at("exitCode") == boost::json::value(3));
    const auto events = of.get("/api/v1/namespaces/default/events");
    REQUIRE(events.at("items").as_array().size() == 1);
    CHECK(events.at("items").at(0).at("reason") == boost::json::value("JobFailed"));
}

TEST_CASE("a job whose pods get older than its queue's maxDuration is paused, and says so") {
    controller_world of;
    of.create("/api/v1/namespaces", R"({"metadata":{"name":"t9k-system"}})");
    const std::string queues =
        "/apis/scheduler.tensorstack.dev/v1beta1/namespaces/t9k-system/queues";
    of.create(queues, R"({"apiVersion":"scheduler.tensorstack.dev/v1beta1","kind":"Queue",)"
                      R"("metadata":{"name":"default"},"spec":{"maxDuration":"1m"}})");
    of.create(jobs, job("train"));
    process run(of);
    run.run(of, 50 * second);
    CHECK(of.at(jobs + "/train", {"status", "phase"}) == "Running");
    run.run(of, 30 * second);
    CHECK(of.at(jobs + "/train", {"status", "phase"}) == "Paused");
    CHECK(of.get(jobs + "/train").at("spec").at("runMode").at("pause").at("enabled") ==
          boost::json::value(true));
    CHECK(of.names(of.pods).empty());
    const auto events = of.get("/api/v1/namespaces/default/events");
    CHECK(events.at("items").at(0).at("reason") == boost::json::value("MaxDurationExceeded"));
    // What was paused is resumed by people, with pods that are new.
    REQUIRE(of.ask("PATCH", jobs + "/train", R"({"spec":{"runMode":{"pause":{"enabled":false}}}})")
                .code == 200);
    run.run(of, 10 * second);
    CHECK(of.at(jobs + "/train", {"status", "phase"}) == "Running");
    run.run(of, 30 * second);
    CHECK(of.names(of.pods).size() == 2);
}

TEST_CASE("a failed replica is started again as often as it may be, and each time counted once") {
    controller_world of;
    std::string restarting = job("train");
    const std::string spec = R"({"type":"worker",)";
    restarting.replace(restarting.find(spec), spec.size(),
                       spec + R"("restartPolicy":{"policy":"OnFailure","limit":1},)");
    of.create(jobs, restarting);
    process run(of);
    run.run(of, 2 * second);
    const std::string first = of.at(of.pods + "/train-worker-1", {"metadata", "uid"});
    of.end("train-worker-1", 1);
    run.run(of, 3 * second);
    const std::string next = of.at(of.pods + "/train-worker-1", {"metadata", "uid"});
    CHECK(next != first);
    CHECK(of.at(of.pods + "/train-worker-1", {"status", "phase"}) == "Running");
    CHECK(of.at(jobs + "/train", {"status", "phase"}) == "Running");
    CHECK(of.get(jobs + "/train").at("status").at("tasks").at(0).at("restartCount") ==
          boost::json::value(1));
    of.end("train-worker-1", 1);
    run.run(of, 3 * second);
    CHECK(of.at(jobs + "/train", {"status", "phase"}) == "Failed");
}

TEST_CASE("what a job owns goes with it, and a job of the same name begins anew") {
    controller_world of;
    of.create(jobs, job("train", R"("service":{"ports":[{"name":"p","port":80}]},)"));
    process run(of);
    run.run(of, 2 * second);
    CHECK(of.names(services) == names{"train-worker-0", "train-worker-1"});
    const std::string first = of.at(of.pods + "/train-worker-0", {"metadata", "uid"});
    CHECK(of.ask("DELETE", jobs + "/train").code == 200);
    of.create(jobs, job("train"));
    run.run(of, 3 * second);
    CHECK(of.names(services) == names{});
    CHECK(of.names(of.pods) == names{"train-worker-0", "train-worker-1"});
    CHECK(of.at(of.pods + "/train-worker-0", {"metadata", "uid"}) != first);
    CHECK(of.at(jobs + "/train", {"status", "phase"}) == "Running");
    CHECK(of.ask("DELETE", jobs + "/train").code == 200);
    run.run(of, 2 * second);
    CHECK(of.names(of.pods) == names{});
    CHECK(of.names(groups) == names{});
}

TEST_CASE("a controller that ends anywhere is taken over from, and nothing is done twice") {
    for (int writes = 0; writes < 8; ++writes) {
        CAPTURE(writes);
        controller_world of;
        of.create(jobs, job("train"));
        kube::controller_options how;
        how.election.emplace();
        how.election->name_space = "muster-system";
        how.election->name = "muster-controller";
        how.election->identity = "first";
        {
            process first(of, how);
            first.end_after(writes);
            first.run(of, 3 * second);
        }
        how.election->identity = "second";
        process second_run(of, how);
        second_run.run(of, 30 * second);
        CHECK(second_run.runs.troubles() == names{});
        CHECK(of.at(jobs + "/train", {"status", "phase"}) == "Running");
        CHECK(of.writes("create", "pods") == 2);
        CHECK(of.writes("create", "podgroups.scheduler.tensorstack.dev") == 1);
        CHECK(of.writes("delete", "pods") == 0);
        CHECK(of.get(jobs + "/train").at("status").at("tasks").at(0).at("restartCount") ==
              boost::json::value(0));
    }
}

TEST_CASE("what cannot be read, and what others own, is told and left alone") {
    controller_world of;
    of.create(
        of.pods,
        R"({"metadata":{"name":"train-worker-1"},"spec":{"containers":[{"name":"c","image":"i"}]}})");
    std::string wrong = job("wrong");
    const std::string rule = R"("failureRules":[{"worker":[0]})";
    wrong.replace(wrong.find(rule), rule.size(), R"("failureRules":[{"master":[0]})");
    of.create(jobs, wrong);
    of.create(jobs, job("train"));
    process run(of);
    run.run(of, 3 * second);
    const auto troubles = run.runs.troubles();
    REQUIRE(troubles.size() == 2);
    CHECK(troubles[0] == "GenericJob default/train: NotOwned: Pod train-worker-1 belongs to "
                         "another owner (expected the name to be free)");
    CHECK(troubles[1].starts_with("GenericJob default/wrong: InvalidJob: spec.failureRules"));
    CHECK(of.names("/api/v1/namespaces/default/events").size() == 2);
    CHECK(of.ask("DELETE", of.pods + "/train-worker-1").code == 200);
    run.run(of, 3 * second);
    CHECK(of.at(jobs + "/train", {"status", "phase"}) == "Running");
    CHECK(run.runs.troubles().size() == 1);
}

TEST_CASE("a write that is refused is told, and tried again later and later") {
    controller_world of;
    of.create(jobs, job("train"));
    process run(of);
    std::size_t refused = 0;
    run.carrier.harm = [&](const kube::http_request& what) {
        const bool pod = what.method == kube::http_method::post && what.path.ends_with("/pods");
        refused += pod ? 1U : 0U;
        return pod ? muster_test::store_carrier::mishap::refused
                   : muster_test::store_carrier::mishap::none;
    };
    run.run(of, 60 * second);
    CHECK(refused >= 8);
    CHECK(refused <= 40);
    CHECK(run.runs.troubles().size() >= 1);
    CHECK(of.names("/api/v1/namespaces/default/events").size() == 1);
    run.carrier.harm = {};
    run.run(of, 60 * second);
    CHECK(of.at(jobs + "/train", {"status", "phase"}) == "Running");
    CHECK(run.runs.troubles() == names{});
}

TEST_CASE("a deadline ends a job though nothing happens") {
    controller_world of;
    of.create(torches, torch_job(R"("runPolicy":{"activeDeadlineSeconds":40,)"
                                 R"("cleanUpPolicy":"All"},)"));
    process run(of);
    run.run(of, 30 * second);
    CHECK(of.at(torches + "/torch", {"status", "phase"}) == "Running");
    run.run(of, 15 * second);
    CHECK(of.at(torches + "/torch", {"status", "phase"}) == "Failed");
    CHECK(of.names(of.pods) == names{});
}

TEST_CASE("a job is paused, goes on with other commands, and is scaled") {
    controller_world of;
    of.create(
        torches,
        torch_job(R"("elastic":{"enabled":true,"minReplicas":2,"maxReplicas":6,)"
                  R"("expectedReplicas":3},"runMode":{"pause":{"enabled":false,"resumeSpecs":)"
                  R"([{"type":"worker","command":["resume"]}]}},)"));
    process run(of);
    run.run(of, 3 * second);
    const std::size_t all = of.names(of.pods).size();
    CHECK(of.at(torches + "/torch", {"status", "phase"}) == "Running");
    const auto change = [&](const std::string& spec) {
        REQUIRE(of.ask("PATCH", torches + "/torch", R"({"spec":)" + spec + "}").code == 200);
        run.run(of, 3 * second);
    };
    change(R"({"runMode":{"pause":{"enabled":true}}})");
    CHECK(of.names(of.pods) == names{});
    CHECK(of.at(torches + "/torch", {"status", "phase"}) == "Paused");
    change(R"({"runMode":{"pause":{"enabled":false}}})");
    CHECK(of.names(of.pods).size() == all);
    CHECK(of.at(torches + "/torch", {"status", "phase"}) == "Running");
    const auto worker = of.get(of.pods + "/torch-worker-0");
    CHECK(worker.at("spec").at("containers").at(0).at("command").at(0) ==
          boost::json::value("resume"));
    change(R"({"elastic":{"expectedReplicas":5}})");
    CHECK(of.names(of.pods).size() == 5);
    change(R"({"elastic":{"expectedReplicas":2}})");
    CHECK(of.names(of.pods).size() == 2);
    CHECK(of.at(torches + "/torch", {"status", "phase"}) == "Running");
    CHECK(run.runs.troubles() == names{});
}

TEST_CASE("a controller of one namespace leaves the others alone") {
    controller_world of;
    of.create("/api/v1/namespaces", R"({"metadata":{"name":"other"}})");
    const std::string elsewhere =
        "/apis/batch.tensorstack.dev/v1beta1/namespaces/other/genericjobs";
    of.create(jobs, job("train"));
    of.create(elsewhere, job("train"));
    kube::controller_options how;
    how.name_space = "other";
    process run(of, how);
    run.run(of, 3 * second);
    CHECK(of.names(of.pods) == names{});
    CHECK(of.names("/api/v1/namespaces/other/pods").size() == 2);
}

TEST_CASE("the other kinds run by their own rules") {
    controller_world of;
    of.create(torches, torch_job());
    of.create(mpi, mpi_job());
    process run(of);
    run.run(of, 3 * second);
    CHECK(run.runs.troubles() == names{});
    CHECK(of.names(of.pods) == names{"mpi-launcher", "mpi-worker-0", "mpi-worker-1",
                                     "torch-master-0", "torch-worker-0", "torch-worker-1"});
    CHECK(of.names("/api/v1/namespaces/default/configmaps") == names{"mpi-hosts"});
    CHECK(of.at(torches + "/torch", {"status", "phase"}) == "Running");
    CHECK(of.at(mpi + "/mpi", {"status", "phase"}) == "Running");
    of.end("torch-master-0", 0);
    of.end("mpi-launcher", 1);
    run.run(of, 2 * second);
    CHECK(of.at(torches + "/torch", {"status", "phase"}) == "Succeeded");
    CHECK(of.at(mpi + "/mpi", {"status", "phase"}) == "Failed");
}

TEST_CASE("ConfigMaps are fetched by name, never listed") {
    controller_world of;
    of.create(mpi, mpi_job());
    names asked;
    const auto watch = [&](process& run) {
        run.carrier.harm = [&](const kube::http_request& what) {
            if (what.path.find("configmaps") != std::string::npos)
                asked.push_back(std::string(kube::to_text(what.method)) + " " + what.path);
            return muster_test::store_carrier::mishap::none;
        };
    };
    {
        process run(of);
        watch(run);
        run.run(of, 3 * second);
        CHECK(run.runs.is_quiet());
        CHECK(asked == names{"GET " + maps + "/mpi-hosts", "POST " + maps});
    }
    // A new leader observes that one object exists and another one is gone.
    asked.clear();
    process run(of);
    watch(run);
    run.run(of, 3 * second);
    CHECK(asked == names{"GET " + maps + "/mpi-hosts"});
    CHECK(of.ask("DELETE", maps + "/mpi-hosts").code == 200);
    asked.clear();
    run.run(of, 61 * second);
    CHECK(of.ask("DELETE", of.pods + "/mpi-worker-0", R"({"gracePeriodSeconds":0})").code == 200);
    run.run(of, 3 * second);
    CHECK(asked == names{"GET " + maps + "/mpi-hosts", "POST " + maps});
    CHECK(of.names(maps) == names{"mpi-hosts"});
    CHECK(run.runs.troubles() == names{});
}

TEST_CASE("fetching a ConfigMap is retried after failures, reported, and not in a busy loop") {
    controller_world of;
    of.create(mpi, mpi_job());
    of.create(jobs, job("train"));
    process run(of);
    int asked = 0;
    run.carrier.harm = [&](const kube::http_request& what) {
        if (what.path != maps + "/mpi-hosts")
            return muster_test::store_carrier::mishap::none;
        ++asked;
        return muster_test::store_carrier::mishap::refused;
    };
    run.run(of, 10 * second);
    CHECK(asked > 2);
    CHECK(asked < 20);
    CHECK(of.names(of.pods) == names{"train-worker-0", "train-worker-1"});
    REQUIRE(run.runs.troubles().size() == 1);
    CHECK(run.runs.troubles().front().starts_with(
        "MPIJob default/mpi: get ConfigMap default/mpi-hosts: "));
    run.carrier.harm = {};
    run.run(of, 40 * second);
    CHECK(of.names(of.pods).size() == 5);
    CHECK(run.runs.troubles() == names{});
}

} // namespace kube_t9k_controller_test
