// SPDX-License-Identifier: Apache-2.0
#include <muster/gangs/gang_leaves.hpp>

#include <cstddef>
#include <string>

#include <boost/json/string.hpp>
#include <doctest/doctest.h>

#include <muster/apis/batch/job_reader.hpp>
#include <muster/apis/jobset/job_set_reader.hpp>
#include <muster/apis/kubeflow/job_reader.hpp>
#include <muster/apis/lws/leader_worker_set_reader.hpp>
#include <muster/apis/ray/reader.hpp>
#include <muster/job_fixture.hpp>

namespace translate_gang_leaves_test {

namespace fixture = muster_job_fixture;
using namespace muster::translate;
using namespace muster::codec;

namespace {

/// What each gang's vertices want, `name: level`, preferred ones in parentheses; then what no gang
/// can say.
std::string close_of(const fixture::read_result& made) {
    std::string text = made.findings;
    for (const auto& bundle : made.gangs) {
        const muster::gang_tree& tree = bundle.gang.tree;
        for (std::size_t at = 0; at < tree.size(); ++at)
            if (const auto& asked = tree[at].together) {
                text += text.empty() ? "" : ", ";
                text += at == 0 ? "gang" : tree[at].name;
                text += ':';
                if (asked->required)
                    text += ' ' + asked->within.levels[*asked->required];
                if (asked->preferred)
                    text += " (" + asked->within.levels[*asked->preferred] + ')';
            }
        for (const own_word& word : bundle.gang.own_words)
            text += " lost " + word.field + ' ' + std::string(to_text(word.what)) + ' ' +
                    word.value.as_string().c_str();
    }
    return text;
}

std::string kueue(const std::string& words) {
    return "{metadata: {annotations: {" + words + "}}, spec: {containers: [{name: c, image: i}]}}";
}
std::string required(const std::string& level) {
    return "kueue.x-k8s.io/podset-required-topology: " + level;
}
std::string in_group(const std::string& level) {
    return required(level) + ", kueue.x-k8s.io/podset-group-name: both";
}
std::string in_slices(const std::string& level, const std::string& size) {
    return "kueue.x-k8s.io/podset-slice-required-topology: " + level +
           ", kueue.x-k8s.io/podset-slice-size: \"" + size + "\"";
}

const std::string plain = kueue("");

std::string set(const std::string& words, const std::string& other = plain) {
    return "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {name: s}\n"
           "spec: {replicatedJobs: [{name: a, replicas: 2, template: {spec: {parallelism: 3, "
           "completions: 3, template: " +
           kueue(words) + "}}}, {name: b, template: {spec: {template: " + other + "}}}]}\n";
}

std::string groups(const std::string& leader, const std::string& workers) {
    return "apiVersion: leaderworkerset.x-k8s.io/v1\nkind: LeaderWorkerSet\nmetadata: {name: l}\n"
           "spec: {leaderWorkerTemplate: {size: 3, " +
           (leader.empty() ? "" : "leaderTemplate: " + leader + ", ") +
           "workerTemplate: " + workers + "}}\n";
}

std::string read(job_reader reader, const std::string& text) {
    return close_of(fixture::read_job(reader, text));
}

} // namespace

TEST_CASE("all pods of one of Kueue's podsets stand in the domain that its template names") {
    CHECK(
        read(read_job, "apiVersion: batch/v1\nkind: Job\nmetadata: {name: j}\nspec: {parallelism: "
                       "2, template: " +
                           kueue(required("rack")) + "}\n") == "gang: rack");
    // All Jobs of a replicated job are one podset.
    CHECK(read(read_job_set, set(required("rack"))) == "a: rack");
    CHECK(read(read_ray<ray_kind::cluster>,
               "apiVersion: ray.io/v1\nkind: RayCluster\nmetadata: {name: r}\nspec: "
               "{headGroupSpec: {template: " +
                   plain + "}, workerGroupSpecs: [{groupName: g, replicas: 2, template: " +
                   kueue(required("rack")) + "}]}\n") == "g: rack");
    CHECK(read(read_kubeflow<kubeflow_kind::pytorch>,
               "apiVersion: kubeflow.org/v1\nkind: PyTorchJob\nmetadata: {name: p}\nspec: "
               "{pytorchReplicaSpecs: {Worker: {replicas: 2, template: " +
                   kueue(required("rack")) + "}}}\n") == "gang: rack");
    CHECK(read(read_leader_worker_set, groups(plain, kueue(required("rack")))) == "workers: rack");
    CHECK(read(read_leader_worker_set, groups("", kueue(required("rack")))) == "gang: rack");
}

TEST_CASE("a level that Kueue is to prefer is preferred") {
    CHECK(read(read_job_set, set("kueue.x-k8s.io/podset-preferred-topology: zone")) == "a: (zone)");
}

TEST_CASE("podsets of one group stand together") {
    CHECK(read(read_leader_worker_set, groups(kueue(in_group("rack")), kueue(in_group("rack")))) ==
          "gang: rack");
    CHECK(read(read_job_set, set(in_group("rack"), kueue(in_group("rack")))) == "gang: rack");
}

TEST_CASE("slices of a podset stand together where they are roles, else that is lost") {
    CHECK(read(read_job_set, set(in_slices("host", "3"))) ==
          "a-replica-0: host, a-replica-1: host");
    CHECK(read(read_job_set, set(required("rack") + ", " + in_slices("host", "3"))) ==
          "a: rack, a-replica-0: host, a-replica-1: host");
    CHECK(read(read_job_set, set(in_slices("host", "2"))) ==
          " lost kueue.x-k8s.io/podset-slice-required-topology topology-required host");
}

TEST_CASE("what the job itself says of closeness wins over Kueue's annotations") {
    CHECK(read(read_job, "apiVersion: batch/v1\nkind: Job\nmetadata: {name: j, annotations: "
                         "{kai.scheduler/topology-required-placement: block}}\nspec: {template: " +
                             kueue(required("rack")) + "}\n") == "gang: block");
}

} // namespace translate_gang_leaves_test
