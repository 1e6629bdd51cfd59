// SPDX-License-Identifier: Apache-2.0
#include <muster/apis/t9k/jobs/gang.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "muster/t9k_jobs.hpp"

namespace translate_t9k_gang_test {

using namespace muster;
using namespace muster::translate;
using muster_test::read_t9k;
using muster_test::t9k_of;

namespace {

constexpr std::string_view scheduler =
    "scheduler: {t9kScheduler: {queue: default, priority: 10}}, ";

std::string with_scheduler(std::string_view rest) {
    return "{" + std::string(scheduler) + std::string(rest) + "}";
}

/// What a row of the documents' table of kinds says.
struct row {
    std::string_view kind;
    std::string_view spec;
    std::int64_t replicas;
    std::int64_t min_member;
    std::string_view pods; ///< names of all pods
};

std::string names_of(const t9k_job& job) {
    std::string names;
    const auto counts = replica_counts(job);
    for (std::size_t spec = 0; spec < counts.size(); ++spec)
        for (std::int64_t rank = 0; rank < counts[spec]; ++rank)
            names.append(names.empty() ? "" : " ").append(pod_name(job, {spec, rank}));
    return names;
}

std::int64_t sum(const std::vector<std::int64_t>& counts) {
    std::int64_t total = 0;
    for (const std::int64_t each : counts)
        total += each;
    return total;
}

} // namespace

TEST_CASE("the gang of a job has all its replicas, of an elastic one minReplicas") {
    const row rows[] = {
        {"GenericJob", "replicaSpecs: [{type: worker, replicas: 4}, {type: ps, replicas: 1}]", 5, 5,
         "j-worker-0 j-worker-1 j-worker-2 j-worker-3 j-ps-0"},
        {"TensorFlowTrainingJob",
         "replicaSpecs: [{type: chief, replicas: 1}, {type: ps, replicas: 2}, "
         "{type: worker, replicas: 4}]",
         7, 7, "j-chief-0 j-ps-0 j-ps-1 j-worker-0 j-worker-1 j-worker-2 j-worker-3"},
        {"PyTorchTrainingJob", "replicaSpecs: [{type: ps}, {type: worker, replicas: 4}]", 5, 5,
         "j-ps-0 j-worker-0 j-worker-1 j-worker-2 j-worker-3"},
        {"PyTorchTrainingJob",
         "elastic: {enabled: true, minReplicas: 3, expectedReplicas: 7, maxReplicas: 10}, "
         "torchrunConfig: {enabled: true}, replicaSpecs: [{type: worker}]",
         7, 3, "j-worker-0 j-worker-1 j-worker-2 j-worker-3 j-worker-4 j-worker-5 j-worker-6"},
        {"PyTorchTrainingJob",
         "elastic: {enabled: true, minReplicas: 4, expectedReplicas: 7, maxReplicas: 10}, "
         "torchrunConfig: {enabled: true}, replicaSpecs: [{type: node}]",
         7, 4, "j-node-0 j-node-1 j-node-2 j-node-3 j-node-4 j-node-5 j-node-6"},
        {"XGBoostTrainingJob",
         "replicaSpecs: [{type: master, replicas: 1}, {type: worker, replicas: 2}]", 3, 3,
         "j-master-0 j-worker-0 j-worker-1"},
        {"MPIJob", "worker: {replicas: 5}", 6, 6,
         "j-launcher j-worker-0 j-worker-1 j-worker-2 j-worker-3 j-worker-4"},
        {"ColossalAIJob", "launcher: {image: c}, worker: {replicas: 2}", 3, 3,
         "j-launcher j-worker-0 j-worker-1"},
        {"DeepSpeedJob", "worker: {replicas: 4}", 4, 4,
         "j-worker-0 j-worker-1 j-worker-2 j-worker-3"},
        {"DeepSpeedJob",
         "elastic: {enabled: true, minReplicas: 1, expectedReplicas: 3, maxReplicas: 3}, "
         "worker: {replicas: 1}",
         3, 1, "j-worker-0 j-worker-1 j-worker-2"},
    };
    for (const row& each : rows) {
        INFO(std::string(each.kind), ": ", std::string(each.spec));
        const auto [documents, job, findings, bare] = t9k_of(each.kind, with_scheduler(each.spec));
        CHECK(findings == "");
        CHECK(names_of(job) == each.pods);
        CHECK(sum(replica_counts(job)) == each.replicas);
        const auto gangs = gangs_of(job);
        REQUIRE(gangs.size() == 1);
        const gang_object& gang = gangs[0];
        CHECK(gang.name == "j");
        CHECK(gang.name_space == "lab");
        CHECK(gang.queue == "default");
        CHECK(gang.priority.number == 10);
        CHECK(gang.tree[0].min_member == each.min_member);
        REQUIRE(gang.owners.size() == 1);
        CHECK(gang.owners[0] == object_reference{"batch.tensorstack.dev/v1beta1",
                                                 std::string(each.kind), "j", "u-1", true});
        for (std::size_t i = 1; i < gang.tree.size(); ++i)
            CHECK(gang.tree[i].min_member == 0);
    }
}

TEST_CASE("a BeamJob's cluster makes the gang, its submitter follows uncounted") {
    const auto [documents, job, findings, bare] = t9k_of(
        "BeamJob", with_scheduler("flinkClusterTemplate: {spec: {jobManager: {}, taskManager: "
                                  "{replicas: 2}}}, jobTemplate: {spec: {template: {}}}"));
    CHECK(findings == "");
    const std::string names = names_of(job);
    CHECK(names.starts_with("j-flinkcluster-jobmanager-0 j-flinkcluster-taskmanager-0 "
                            "j-flinkcluster-taskmanager-1 j-batchjob-"));
    CHECK(names.size() - names.rfind('-') == 6);
    CHECK(gangs_of(job)[0].tree[0].min_member == 3);
    t9k_options counted;
    counted.count_submitter = true;
    CHECK(gangs_of(job, counted)[0].tree[0].min_member == 4);
    // A second attempt has a name of its own.
    CHECK(pod_name(job, {2, 0}) != pod_name(job, {2, 1}));
}

TEST_CASE("options leave launchers out of the count, fill roles and add five digits to names") {
    const auto [documents, job, findings, bare] =
        t9k_of("MPIJob", with_scheduler("worker: {replicas: 5}"));
    t9k_options options;
    options.count_launcher = false;
    CHECK(gangs_of(job, options)[0].tree[0].min_member == 5);
    options.fill_roles = true;
    options.suffix = "860ae";
    const gang_object gang = gangs_of(job, options)[0];
    CHECK(gang.name == "j-860ae");
    CHECK(pod_name(job, {0, 0}, options) == "j-860ae-launcher");
    CHECK(pod_name(job, {1, 3}, options) == "j-860ae-worker-3");
    REQUIRE(gang.tree.size() == 3);
    CHECK(gang.tree[1].name == "launcher");
    CHECK(gang.tree[1].min_member == 0);
    CHECK(gang.tree[2].name == "worker");
    CHECK(gang.tree[2].min_member == 5);
    CHECK(gang.sizes == std::vector<leaf_size>{{vertex_index{1}, 1}, {vertex_index{2}, 5}});
}

TEST_CASE("replicas of one type are a root of that name") {
    const auto [documents, job, findings, bare] =
        t9k_of("GenericJob", with_scheduler("replicaSpecs: [{type: worker, replicas: 4}]"));
    const gang_object gang = gangs_of(job)[0];
    REQUIRE(gang.tree.size() == 1);
    CHECK(gang.tree[0].name == "worker");
    CHECK(gang.sizes == std::vector<leaf_size>{{vertex_index{0}, 4}});
    CHECK(leaf_of(job, 0) == vertex_index{0});
}

TEST_CASE("a job without t9kScheduler has no gang") {
    CHECK(gangs_of(t9k_of("GenericJob", "{replicaSpecs: [{type: w}]}").job).empty());
    CHECK(gangs_of(t9k_of("GenericJob", "{scheduler: {}, replicaSpecs: [{type: w}]}").job).empty());
}

TEST_CASE("an absent queue is the default one, an absent priority 0") {
    const auto [documents, job, findings, bare] =
        t9k_of("GenericJob", "{scheduler: {t9kScheduler: {}}, replicaSpecs: [{type: w}]}");
    CHECK(gangs_of(job)[0].queue == "default");
    CHECK(gangs_of(job)[0].priority.number == 0);
}

TEST_CASE("an elastic job's replicas are shared by weight, the largest remainder first") {
    const auto job_of = [](std::string_view specs) {
        return t9k_of("PyTorchTrainingJob",
                      "{elastic: {enabled: true, minReplicas: 1, maxReplicas: 99, "
                      "expectedReplicas: 10}, torchrunConfig: {enabled: true}, replicaSpecs: " +
                          std::string(specs) + "}");
    };
    using counts = std::vector<std::int64_t>;
    CHECK(replica_counts(job_of("[{type: a}, {type: b}]").job) == counts{5, 5});
    CHECK(replica_counts(job_of("[{type: a}, {type: b}, {type: c}]").job) == counts{4, 3, 3});
    // 10 * 3/7 = 4 2/7, 10 * 4/7 = 5 5/7
    CHECK(
        replica_counts(job_of("[{type: a, scalingWeight: 3}, {type: b, scalingWeight: 4}]").job) ==
        counts{4, 6});
    CHECK(replica_counts(job_of("[{type: a, scalingWeight: 0}, {type: b}]").job) == counts{0, 10});
}

TEST_CASE("the master is the replica whose end is the job's end") {
    const auto master = [](std::string_view kind, std::string_view spec) {
        const auto input = t9k_of(kind, "{" + std::string(spec) + "}");
        const auto found = master_of(input.job);
        return found ? pod_name(input.job, *found) : std::string("none");
    };
    CHECK(master("GenericJob", "replicaSpecs: [{type: w}]") == "none");
    CHECK(master("TensorFlowTrainingJob", "replicaSpecs: [{type: ps}, {type: worker}]") ==
          "j-worker-0");
    CHECK(master("TensorFlowTrainingJob", "replicaSpecs: [{type: worker}, {type: chief}]") ==
          "j-chief-0");
    CHECK(master("PyTorchTrainingJob", "replicaSpecs: [{type: ps}, {type: worker}]") == "j-ps-0");
    CHECK(master("XGBoostTrainingJob", "replicaSpecs: [{type: worker}, {type: master}]") ==
          "j-master-0");
    CHECK(master("MPIJob", "worker: {}") == "j-launcher");
    CHECK(master("ColossalAIJob", "worker: {}") == "j-launcher");
    CHECK(master("DeepSpeedJob", "worker: {}") == "j-worker-0");
}

} // namespace translate_t9k_gang_test
