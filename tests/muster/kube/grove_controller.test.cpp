// SPDX-License-Identifier: Apache-2.0
#include <muster/kube/grove_controller.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include <boost/json/object.hpp>
#include <doctest/doctest.h>

#include <muster/kube/controllers.hpp>
#include <muster/kube/job_controllers.hpp>

#include "controller_world.hpp"

namespace kube_grove_controller_test {

namespace kube = muster::kube;
using kube::minute;
using kube::second;
using muster_test::controller_world;
using process = muster_test::controller_process<kube::job_controllers>;
using names = std::vector<std::string>;

namespace {

const std::string sets = "/apis/grove.io/v1alpha1/namespaces/default/podcliquesets";
const std::string cliques = "/apis/grove.io/v1alpha1/namespaces/default/podcliques";
const std::string gangs = "/apis/scheduler.grove.io/v1alpha1/namespaces/default/podgangs";
const std::string kai = "/apis/scheduling.run.ai/v2alpha2/namespaces/default/podgroups";

std::string set(const std::string& scheduler, int workers = 2) {
    const std::string spec = R"("podSpec":{"schedulerName":")" + scheduler +
                             R"(","containers":[{"name":"c","image":"i"}]})";
    return R"({"apiVersion":"grove.io/v1alpha1","kind":"PodCliqueSet",)"
           R"("metadata":{"name":"train","labels":{"kai.scheduler/queue":"default"}},)"
           R"("spec":{"replicas":1,"template":{"cliques":[)"
           R"({"name":"leader","spec":{"roleName":"leader","replicas":1,)" +
           spec + R"(}},{"name":"worker","spec":{"roleName":"worker","replicas":)" +
           std::to_string(workers) + R"(,"minAvailable":1,)" + spec + "}}]}}}";
}

/// With KAI's PodGroups.
struct grove_world : controller_world {
    grove_world() {
        create(
            "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
            R"({"metadata":{"name":"podgroups.scheduling.run.ai"},"spec":{"group":"scheduling.run.ai",)"
            R"("scope":"Namespaced","names":{"kind":"PodGroup","plural":"podgroups"},)"
            R"("versions":[{"name":"v2alpha2","served":true,"storage":true,)"
            R"("subresources":{"status":{}},"schema":{"openAPIV3Schema":{"type":"object",)"
            R"("x-kubernetes-preserve-unknown-fields":true}}}]}})");
    }
    [[nodiscard]] std::size_t running() {
        std::size_t count = 0;
        const boost::json::object list = get(pods);
        for (const boost::json::value& each : list.at("items").as_array())
            count += each.at("status").at("phase") == boost::json::value("Running") ? 1U : 0U;
        return count;
    }
};

} // namespace

TEST_CASE("a set becomes cliques, a gang, what its backend derives, and pods that run") {
    grove_world of;
    of.create(sets, set("kai-scheduler"));
    process run(of);
    run.run(of, 10 * second);
    for (const std::string& each : run.runs.troubles())
        FAIL_CHECK(each);
    CHECK(of.names(cliques) == names{"train-0-leader", "train-0-worker"});
    CHECK(of.names(gangs) == names{"train-0"});
    REQUIRE(of.names(kai).size() == 1);
    CHECK(of.names(of.pods).size() == 3);
    CHECK(of.running() == 3);
    CHECK(of.at(gangs + "/train-0", {"status", "phase"}) == "Running");
    CHECK(of.get(sets + "/train").at("status").at("availableReplicas") == boost::json::value(1));

    // Converged: nothing more is written.
    const std::size_t before = of.store.journal().size();
    run.run(of, 2 * minute);
    CHECK(of.store.journal().size() == before);
    CHECK(run.runs.is_quiet());
}

TEST_CASE("gates stay until the gang refers to all its pods") {
    grove_world of;
    of.binds = false;
    of.create(sets, set("kai-scheduler"));
    process run(of);
    std::size_t referred = 0;
    std::size_t opened = 0;
    run.carrier.harm = [&](const kube::http_request& what) {
        const bool patch = what.method == kube::http_method::patch;
        if (patch && what.path.starts_with(gangs) &&
            what.body.find("podReferences") != what.body.npos)
            ++referred;
        if (patch && what.path.starts_with(of.pods)) {
            ++opened;
            CHECK(referred > 0);
        }
        return muster_test::store_carrier::mishap::none;
    };
    run.run(of, 10 * second);
    CHECK(opened == 3);
    CHECK(of.running() == 0);
}

TEST_CASE("derived objects that were edited or deleted are restored, and scaling is followed") {
    grove_world of;
    of.create(sets, set("kai-scheduler"));
    process run(of);
    run.run(of, 10 * second);
    REQUIRE(of.names(kai).size() == 1);
    const std::string group = kai + "/" + of.names(kai).front();
    CHECK(of.ask("PATCH", group, R"({"spec":{"minMember":77}})").code == 200);
    CHECK(of.ask("DELETE", of.pods + "/" + of.names(of.pods).back()).code == 200);
    run.run(of, 10 * second);
    CHECK(of.get(group).at("spec").at("minMember") != boost::json::value(77));
    CHECK(of.running() == 3);
    CHECK(of.ask("PATCH", sets + "/train", set("kai-scheduler", 4)).code == 200);
    run.run(of, 10 * second);
    CHECK(of.running() == 5);
    CHECK(of.ask("DELETE", sets + "/train").code == 200);
    run.run(of, 5 * second);
    CHECK(of.names(of.pods) == names{});
    CHECK(of.names(gangs) == names{});
}

TEST_CASE("whether KAI's group is scheduled is told for a scheduler that does not say so itself") {
    grove_world of;
    of.create(sets, set("kai-scheduler"));
    kube::job_controllers all;
    all.grove.options.dialect = muster::translate::grove_dialect::seed;
    process run(of, {}, all);
    run.run(of, 10 * second);
    REQUIRE(of.names(kai).size() == 1);
    const std::string group = kai + "/" + of.names(kai).front();
    const auto conditions = [&] {
        return of.get(group).at("status").at("schedulingConditions").as_array();
    };
    for (const std::string& each : of.names(of.pods))
        CHECK(of.ask("PATCH", of.pods + "/" + each, R"({"spec":{"schedulingGates":[]}})").code ==
              200);
    run.run(of, 10 * second);
    CHECK(of.running() == 3);
    REQUIRE(conditions().size() == 1);
    CHECK(conditions().front().at("type") == boost::json::value("Scheduled"));
    CHECK(conditions().front().at("status") == boost::json::value("True"));

    // A scheduler that does says more, and nobody takes it back.
    CHECK(of.ask("PATCH", group + "/status",
                 R"({"status":{"schedulingConditions":[{"type":"UnschedulableOnNodePool",)"
                 R"("status":"True","transitionID":"1"}]}})")
              .code == 200);
    const std::size_t before = of.store.journal().size();
    run.run(of, 10 * second);
    CHECK(of.store.journal().size() == before);
    CHECK(conditions().front().at("transitionID") == boost::json::value("1"));
}

TEST_CASE("a set that asks for no scheduler gets the one that was chosen") {
    grove_world of;
    of.create(sets, set(""));
    kube::job_controllers all;
    all.grove.scheduler = "kai-scheduler";
    process run(of, {}, all);
    run.run(of, 10 * second);
    REQUIRE(of.names(kai).size() == 1);
    CHECK(of.at(of.pods + "/" + of.names(of.pods).front(), {"spec", "schedulerName"}) ==
          "kai-scheduler");
}

TEST_CASE(
    "a set's controller that ends at any write is taken over from, and nothing is done twice") {
    for (int writes = 0; writes < 26; ++writes) {
        CAPTURE(writes);
        grove_world of;
        of.create(sets, set("kai-scheduler"));
        kube::controller_options how;
        how.election.emplace();
        how.election->name_space = "muster-system";
        how.election->name = "muster-controller";
        how.election->identity = "first";
        how.election->duration = 3 * second;
        how.election->renew_deadline = 2 * second;
        how.election->retry = second / 2;
        {
            process first(of, how);
            first.end_after(writes);
            first.run(of, 2 * second);
        }
        how.election->identity = "second";
        process next(of, how);
        next.run(of, 8 * second);
        CHECK(next.runs.troubles() == names{});
        CHECK(of.running() == 3);
        CHECK(of.writes("create", "pods") == 3);
        CHECK(of.writes("delete", "pods") == 0);
        CHECK(of.names(kai).size() == 1);
        CHECK(next.runs.is_quiet());
    }
}

TEST_CASE("whoever may not read sets runs the jobs of others, and asks for nothing of Grove's") {
    grove_world of;
    of.create(
        "/apis/batch.tensorstack.dev/v1beta1/namespaces/default/genericjobs",
        R"({"apiVersion":"batch.tensorstack.dev/v1beta1","kind":"GenericJob",)"
        R"("metadata":{"name":"job"},"spec":{"scheduler":{"t9kScheduler":{"queue":"default"}},)"
        R"("replicaSpecs":[{"type":"worker","replicas":2,"template":{"spec":{"containers":[)"
        R"({"name":"c","image":"i"}]}}}]}})");
    of.create(sets, set("kai-scheduler"));
    process run(of);
    std::size_t asked = 0;
    run.carrier.harm = [&](const kube::http_request& what) {
        const bool t9k = what.path.starts_with("/api/v1/") ||
                         what.path.find(".tensorstack.dev/") != std::string::npos;
        asked += t9k || what.path.ends_with("/podcliquesets") ? 0U : 1U;
        return t9k ? muster_test::store_carrier::mishap::none
                   : muster_test::store_carrier::mishap::refused;
    };
    run.run(of, 2 * minute);
    CHECK(of.running() == 2);
    CHECK(asked == 0);
    CHECK(run.runs.is_quiet());
    // That is said, but nothing goes wrong.
    CHECK(run.runs.troubles() == names{});
    const names denials = run.runs.denials();
    REQUIRE(denials.size() == 1);
    CHECK(denials.front().starts_with("/apis/grove.io/v1alpha1/podcliquesets: "));
    CHECK(denials.front().find("403") != std::string::npos);

    // Once they may be read, they run as well.
    run.carrier.harm = {};
    run.run(of, minute);
    CHECK(run.runs.troubles() == names{});
    CHECK(run.runs.denials() == names{});
    CHECK(of.running() == 5);
    CHECK(of.names(gangs) == names{"train-0"});

    // What is there stays when they may be read no more.
    run.carrier.harm = [&](const kube::http_request& what) {
        return what.path.find("grove.io/") != std::string::npos
                   ? muster_test::store_carrier::mishap::refused
                   : muster_test::store_carrier::mishap::none;
    };
    const std::size_t deleted = of.writes("delete", "pods");
    run.run(of, 80 * minute);
    CHECK(of.writes("delete", "pods") == deleted);
    of.end("job-worker-0", 1);
    run.run(of, 5 * second);
    CHECK(of.at("/apis/batch.tensorstack.dev/v1beta1/namespaces/default/genericjobs/job",
                {"status", "phase"}) == "Failed");
    CHECK(run.runs.troubles() == names{});
    CHECK(run.runs.denials().size() == 1);
}

TEST_CASE("gates stay closed while the backend's kind is not served, and it is told") {
    controller_world of; // without KAI's PodGroups
    of.create(sets, set("kai-scheduler"));
    process run(of);
    run.run(of, 5 * second);
    REQUIRE(run.runs.troubles().size() >= 1);
    CHECK(run.runs.troubles().front().starts_with(
        "PodCliqueSet default/train: create PodGroup default/"));
    for (const std::string& pod : of.names(of.pods))
        CHECK(of.get(of.pods + "/" + pod).at("spec").as_object().contains("schedulingGates"));
}

} // namespace kube_grove_controller_test
