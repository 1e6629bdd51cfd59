// SPDX-License-Identifier: Apache-2.0
#include <muster/apis/t9k/jobs/objects.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <doctest/doctest.h>

#include <muster/apis/core/pod_reader.hpp>
#include <muster/apis/t9k/writer.hpp>
#include <muster/gangs/write_with.hpp>
#include <muster/testing/random.hpp>

#include "muster/t9k_jobs.hpp"

namespace codec_t9k_job_robustness_test {

using namespace muster;
using namespace muster::translate;
using muster_test::read_t9k;
using muster_test::t9k_input;

namespace json = boost::json;

namespace {

/// A job of every kind and generation, each with as many fields as it has.
const std::vector<std::string>& whole_jobs() {
    const std::string pod =
        R"j({"metadata": {"labels": {"l": "v"}, "annotations": {"muster.dev/run-seconds": "5"}},
            "spec": {"initContainers": [{"name": "i", "image": "x", "command": ["$(rank)"]}],
                     "containers": [{"name": "NAME", "image": "x", "command": ["a", "$(type)"],
                       "args": ["b"], "env": [{"name": "A", "value": "$(replicas[worker])"}],
                       "resources": {"requests": {"cpu": "1", "memory": "1Gi"},
                                     "limits": {"cpu": 2, "memory": "2Gi"}},
                       "volumeMounts": [{"name": "shm", "mountPath": "/dev/shm"}]}],
                     "volumes": [{"name": "shm", "emptyDir": {"medium": "Memory",
                                                              "sizeLimit": "1Gi"}}]
}
})j";
    const auto named = [&](std::string_view name) {
        std::string text = pod;
        return text.replace(text.find("NAME"), 4, name);
    };
    const auto job = [](std::string_view kind, const std::string& spec) {
        return R"j({"apiVersion": "batch.tensorstack.dev/v1beta1", "kind": ")j" +
               std::string(kind) +
               R"j(", "metadata": {"name": "j", "namespace": "lab", "uid": "u", "labels": {"a": "b"}},
                 "spec": {"scheduler": {"t9kScheduler": {"queue": "q", "priority": 3}}, )j" +
               spec + "}}";
    };
    const std::string mode =
        R"j("runMode": {"debug": {"enabled": false, "replicaSpecs": [{"type": "worker",
           "skipInitContainer": true, "command": ["c"]}]}, "pause": {"enabled": false,
           "resumeSpecs": [{"type": "worker", "command": ["d"], "args": ["e"]}]}}, )j";
    const std::string policy =
        R"j("runPolicy": {"activeDeadlineSeconds": 60, "backoffLimit": 2, "cleanUpPolicy": "All"}, )j";
    const std::string elastic =
        R"j("elastic": {"enabled": true, "minReplicas": 1, "maxReplicas": 4,
           "expectedReplicas": 3}, )j";
    static const std::vector<std::string> all{
        job("GenericJob",
            mode +
                R"j("successRules": [{"worker": [0, "1"]}], "failureRules": [{"ps": [0]}],
                "cleanUpPolicy": "Unfinished", "service": {"ports": [{"name": "p", "port": 80}]},
                "replicaSpecs": [{"type": "worker", "replicas": 2, "restartPolicy":
                {"policy": "OnFailure", "limit": 1}, "template": )j" +
                named("c") + R"j(}, {"type": "ps", "template": )j" + named("c") + "}]"),
        job("TensorFlowTrainingJob",
            mode + policy + R"j("replicaSpecs": [{"type": "worker", "replicas": 2, "restartPolicy":
                "ExitCode", "template": )j" +
                named("tensorflow") + R"j(}, {"type": "evaluator", "template": )j" +
                named("tensorflow") + R"j(}])j"),
        job("PyTorchTrainingJob", mode + policy + elastic +
                                      R"j("torchrunConfig": {"enabled": true, "procPerNode": "1",
                "maxRestarts": 2, "rdzvBackend": "c10d", "extraOptions": ["-x"]},
                "replicaSpecs": [{"type": "worker", "scalingWeight": 2, "template": )j" +
                                      named("python") +
                                      R"j(}, {"type": "ps", "scalingWeight": 1, "template": )j" +
                                      named("c") + R"j(}])j"),
        job("XGBoostTrainingJob", mode + policy +
                                      R"j("replicaSpecs": [{"type": "master", "template": )j" +
                                      named("xgboost") + R"j(}, {"type": "worker", "template": )j" +
                                      named("xgboost") + R"j(}])j"),
        job("MPIJob", mode + R"j("mca": {"a": "b"}, "mpiHome": "/m", "ssh": {"sshdPath": "/s",
                "sshAuthMountPath": "/k"}, "runPolicy": {"cleanUpWorkers": true}, "worker":
                {"replicas": 2, "extraMPIArgs": ["-N", "2"], "cmd": ["run"], "template": )j" +
                          named("mpi-worker") + "}"),
        job("MPIJob", mode + R"j("mpiConfig": {"mca": {"a": "b"}, "home": "/m", "extraArgs": ["-x"],
                "script": ["run"]}, "replicaSpecs": [{"type": "worker", "template": )j" +
                          named("worker") + R"j(}, {"type": "launcher", "template": )j" +
                          named("launcher") + "}]"),
        job("ColossalAIJob", mode + R"j("launcher": {"image": "i", "workingDir": "/w", "env":
                [{"name": "A", "value": "b"}], "resources": {"limits": {"cpu": 1}}}, "ssh":
                {"authMountPath": "/k"}, "worker": {"replicas": 2, "procPerWorker": 2, "command":
                ["t.py"], "torchArgs": ["-x"], "template": )j" +
                                 named("worker") + "}"),
        job("ColossalAIJob", mode + R"j("torchConfig": {"procPerWorker": 2, "script": ["t.py"],
                "extraArgs": ["-x"]}, "replicaSpecs": [{"type": "worker", "template": )j" +
                                 named("worker") + "}]"),
        job("DeepSpeedJob", mode + policy + elastic + R"j("disableCustomEnv": false, "config":
                {"slotsPerWorker": 2, "localRank": true, "autotune": "run", "otherArgs": ["-x"],
                "run": {"module": ["m"]}}, "worker": {"replicas": 1, "restartPolicy": "Always",
                "template": )j" +
                                named("worker") + "}"),
        job("BeamJob", R"j("runPolicy": {"cleanUpCluster": true}, "runMode": {"debug": {"enabled":
                false}}, "flinkClusterTemplate": {"spec": {"image": {"name": "f"}, "jobManager":
                {"resources": {"limits": {"cpu": 1}}}, "taskManager": {"replicas": 2, "sidecars":
                [{"name": "s"}]}}}, "jobTemplate": {"spec": {"backoffLimit": 1, "template": )j" +
                           named("b") + "}}"),
    };
    return all;
}

/// Every value below another, the other included.
void collect(json::value& at, std::vector<json::value*>& to) {
    to.push_back(&at);
    if (at.is_object())
        for (auto& field : at.get_object())
            collect(field.value(), to);
    else if (at.is_array())
        for (json::value& each : at.get_array())
            collect(each, to);
}

json::value odd_value(testing::random& chance, const json::value& before) {
    switch (chance.between(0, 11)) {
    case 0:
        return nullptr;
    case 1:
        return -1;
    case 2:
        return chance.between(0, 5);
    case 3:
        return 1.5;
    case 4:
        return "";
    case 5:
        return "$(service.worker[0].host)";
    case 6:
        return json::array{};
    case 7:
        return json::object{};
    case 8:
        return json::array{before, before};
    case 9:
        return json::object{{"worker", before}};
    case 10:
        return true;
    default:
        return std::int64_t{9'000'000'000'000'000'000};
    }
}

std::size_t count_of(const std::string& text, const std::string& what) {
    std::size_t count = 0;
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1))
        ++count;
    return count;
}

} // namespace

TEST_CASE("every kind reads without an error, and its pods read as pods") {
    for (const std::string& text : whole_jobs()) {
        INFO(text);
        const t9k_input input = read_t9k(text);
        if (text.find("torchrunConfig") == std::string::npos)
            CHECK(input.findings == "");
        else // The only thing that is left out.
            CHECK(count_of(input.findings, "warning: ") ==
                  count_of(input.findings, "command: is left out: torchrun runs what args say"));
        CHECK(count_of(input.findings, "error: ") == 0);
        const auto objects = objects_of(input.job);
        std::size_t pods = 0;
        for (const json::object& each : objects) {
            if (each.at("kind") != "Pod")
                continue;
            ++pods;
            codec::diagnostics out;
            const auto documents = codec::read_documents("pod.json", json::serialize(each), out);
            REQUIRE(documents.size() == 1);
            codec::reading_context context;
            codec::object_reader root(documents[0], out);
            const codec::pod_object pod = codec::read_pod(root, context);
            for (const codec::diagnostic& finding : out.findings())
                FAIL_CHECK(to_text(finding));
            CHECK(pod.scheduler_name == "t9k-scheduler");
            CHECK(pod.unsupported.empty());
        }
        std::size_t replicas = 0;
        for (const std::int64_t each : replica_counts(input.job))
            replicas += static_cast<std::size_t>(each);
        CHECK(pods == replicas);
    }
}

TEST_CASE("the T9k writer gives a job's gang and pods as its controller makes them") {
    for (const std::string& text : whole_jobs()) {
        INFO(text);
        const t9k_input input = read_t9k(text);
        for (const bool roles : {false, true}) {
            t9k_options options;
            options.fill_roles = roles;
            std::vector<json::object> made;
            for (json::object& each : objects_of(input.job, options))
                if (each.at("kind") == "PodGroup" || each.at("kind") == "Pod")
                    made.push_back(std::move(each));
            const written out = write_with(
                t9k_writer{}, {gangs_of(input.job, options)[0], pods_of(input.job, options)});
            CHECK(out.losses.empty());
            for (const violation& each : out.violations)
                FAIL_CHECK(each.object, " ", each.field, ": ", each.message);
            REQUIRE(out.objects.size() == made.size());
            REQUIRE(out.objects[0].at("kind") == "PodGroup");
            CHECK(out.objects[0].at("spec") == made[0].at("spec"));
            CHECK(out.objects[0].at("metadata").at("name") == "j");
            for (std::size_t i = 1; i < made.size(); ++i)
                CHECK(json::value(out.objects[i]) == json::value(made[i]));
        }
    }
}

TEST_CASE("jobs with odd values anywhere are refused or expanded, never fatal") {
    testing::random chance(2026);
    std::size_t refused = 0;
    std::size_t expanded = 0;
    for (const std::string& text : whole_jobs()) {
        for (int round = 0; round < 400; ++round) {
            json::value whole = json::parse(text);
            const int changes = 1 + static_cast<int>(chance.between(0, 2));
            for (int change = 0; change < changes; ++change) {
                std::vector<json::value*> all;
                collect(whole.at("spec"), all);
                json::value& at = *all[static_cast<std::size_t>(
                    chance.between(1, static_cast<std::int64_t>(all.size()) - 1))];
                at = odd_value(chance, at);
            }
            INFO(json::serialize(whole));
            codec::diagnostics out;
            const auto documents = codec::read_documents("f", json::serialize(whole), out);
            REQUIRE(documents.size() == 1);
            codec::object_reader root(documents[0], out);
            const auto kind = codec::t9k_job_kind(t9k_job_api, whole.at("kind").as_string());
            REQUIRE(kind);
            codec::reading_context context;
            const t9k_job job = codec::read_t9k_job(root, *kind, context);
            if (!out.ok()) {
                ++refused;
                for (const codec::diagnostic& finding : out.findings())
                    CHECK(finding.path.starts_with("spec"));
                continue;
            }
            ++expanded;
            std::int64_t replicas = 0;
            for (const std::int64_t each : replica_counts(job))
                replicas += each;
            const auto gangs = gangs_of(job);
            if (!gangs.empty())
                CHECK(gangs[0].tree[0].min_member <= replicas);
            if (replicas <= 100)
                static_cast<void>(objects_of(job));
        }
    }
    // Both ends are reached by many.
    CHECK(refused > 300);
    CHECK(expanded > 300);
}

} // namespace codec_t9k_job_robustness_test
