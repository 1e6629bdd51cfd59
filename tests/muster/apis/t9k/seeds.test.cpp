// SPDX-License-Identifier: Apache-2.0
#include <muster/apis/t9k/jobs/objects.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <doctest/doctest.h>

#include <muster/apis/t9k/reader.hpp>

#include "muster/t9k_jobs.hpp"

namespace codec_t9k_seeds_test {

using namespace muster;
using namespace muster::translate;
using muster_test::read_t9k;
using muster_test::t9k_input;

namespace json = boost::json;

namespace {

std::string file(const std::string& name) {
    std::ifstream in(std::string(MUSTER_TEST_DATA) + "/t9k/" + name);
    REQUIRE(in);
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
}

std::vector<std::string> lines(const std::string& text) {
    std::vector<std::string> all;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);)
        all.push_back(line);
    return all;
}

/// The `at`th document of a file.
std::string document(const std::string& name, std::size_t at) {
    std::vector<std::string> all(1);
    for (const std::string& line : lines(file(name)))
        if (line == "---")
            all.emplace_back();
        else
            all.back() += line + '\n';
    REQUIRE(at < all.size());
    return all[at];
}

json::value yaml(const std::string& text) {
    codec::diagnostics out;
    const auto documents = codec::read_documents("f", text, out);
    REQUIRE(documents.size() == 1);
    return documents[0].root();
}

/// A printed output with the deviations put right that the table lists.
json::value printed(const std::string& name) {
    json::value whole = yaml(file(name));
    for (const std::string& line : lines(file("deviations.tsv"))) {
        std::vector<std::string> cells(1);
        for (const char c : line)
            if (c == '\t')
                cells.emplace_back();
            else
                cells.back() += c;
        if (line.starts_with("#") || cells[0] != name)
            continue;
        REQUIRE(cells.size() == 5);
        const std::size_t slash = cells[1].rfind('/');
        json::object& parent = whole.at_pointer(cells[1].substr(0, slash)).as_object();
        std::string key = cells[1].substr(slash + 1);
        if (const std::size_t tilde = key.find("~1"); tilde != std::string::npos)
            key.replace(tilde, 2, "/");
        if (cells[2] == "-")
            REQUIRE_FALSE(parent.contains(key));
        else
            REQUIRE(parent.at(key) == json::value(cells[2]));
        parent[key] = cells[3];
    }
    return whole;
}

const json::value& field(const json::object& of, std::string_view pointer) {
    const json::value* at = nullptr;
    std::size_t begin = 1;
    const json::object* in = &of;
    while (true) {
        const std::size_t end = pointer.find('/', begin);
        at = in->if_contains(pointer.substr(begin, end - begin));
        REQUIRE(at != nullptr);
        if (end == std::string_view::npos)
            return *at;
        REQUIRE(at->is_object());
        in = &at->get_object();
        begin = end + 1;
    }
}

/// The strings of a list in the first container, with blanks between them.
std::string words(const json::object& pod, std::string_view key) {
    const json::object& container = field(pod, "/spec/containers").at(0).as_object();
    std::string text;
    if (const json::value* const list = container.if_contains(key))
        for (const json::value& each : list->as_array())
            text.append(text.empty() ? "" : " ").append(each.as_string());
    return text;
}

} // namespace

TEST_CASE("what makes a whole of a fragment adds to its lines and changes none") {
    for (const std::string name :
         {"genericjob-aggregate", "genericjob-conditions", "genericjob-debug", "genericjob-pause",
          "genericjob-rules", "genericjob-scheduler", "genericjob-service",
          "genericjob-shared-memory", "genericjob-tasks", "podgroup-elastic", "podgroup-job",
          "podgroup-roles"}) {
        INFO(name);
        const std::vector<std::string> whole = lines(file(name + ".whole.yaml"));
        auto at = whole.begin();
        for (const std::string& line : lines(file(name + ".yaml"))) {
            if (line.find("...") != std::string::npos)
                continue;
            at = std::find(at, whole.end(), line);
            REQUIRE_MESSAGE(at != whole.end(), line);
            ++at;
        }
    }
}

TEST_CASE("every job of the pages reads without an error") {
    for (const std::string name :
         {"genericjob-basic", "genericjob-resources", "genericjob-shared-memory.whole",
          "genericjob-environment", "genericjob-rules.whole", "genericjob-service.whole",
          "genericjob-scheduler.whole", "genericjob-conditions.whole", "genericjob-tasks.whole",
          "genericjob-aggregate.whole", "podgroup-job.whole", "podgroup-elastic.whole"}) {
        INFO(name);
        CHECK(read_t9k(file(name + ".yaml")).findings == "");
    }
}

TEST_CASE("the basic GenericJob has four workers, one success rule and two failure rules") {
    const t9k_input input = read_t9k(file("genericjob-basic.yaml"));
    CHECK(objects_of(input.job).size() == 4);
    REQUIRE(input.job.success_rules.size() == 1);
    REQUIRE(input.job.failure_rules.size() == 2);
    CHECK(input.job.failure_rules[1][0].ranks[0] == 1);
    CHECK(words(make_pod(input.job, {0, 3}), "command") == "sleep 365");
}

TEST_CASE("resources, shared memory and referenced variables pass through to the pods") {
    const t9k_input resources = read_t9k(file("genericjob-resources.yaml"));
    CHECK(field(make_pod(resources.job, {0, 0}), "/spec/containers").at(0).at("resources") ==
          yaml("{limits: {cpu: 4, memory: 4Gi}, requests: {cpu: 2, memory: 2Gi}}"));
    const t9k_input shared = read_t9k(file("genericjob-shared-memory.whole.yaml"));
    CHECK(field(make_pod(shared.job, {0, 0}), "/spec/volumes") ==
          yaml("[{name: dshm, emptyDir: {medium: Memory, sizeLimit: 1Gi}}]"));
    const t9k_input environment = read_t9k(file("genericjob-environment.yaml"));
    CHECK(field(make_pod(environment.job, {0, 0}), "/spec/containers").at(0).at("env") ==
          yaml("[{name: ENV_DIRECT, value: env-value}, {name: ENV_REFERENCED, valueFrom: "
               "{secretKeyRef: {name: secret-name, key: key-in-secret}}}]"));
}

TEST_CASE("TF_CONFIG as printed has no service: its addresses stay, with a warning") {
    const t9k_input input = read_t9k(file("genericjob-tf-config.yaml"));
    CHECK(std::ranges::count(input.findings, '\n') == 1);
    CHECK(input.findings.find("warning: spec.replicaSpecs[0].template.spec.containers[0].env[0]."
                              "value: \"$(service.worker[0].host)\" stays as it is") !=
          std::string::npos);
    const std::string host = "$(service.worker[";
    std::string hosts;
    for (const std::string_view rank : {"0", "1", "2", "3"})
        hosts += (hosts.empty() ? "\"" : ",\"") + host + std::string(rank) +
                 "].host):$(service.port[http])\"";
    CHECK(
        field(make_pod(input.job, {0, 2}), "/spec/containers").at(0).at("env").at(0).at("value") ==
        json::value("{\"task\":{\"type\":\"worker\",\"index\":2},\"cluster\":{\"worker\":[" +
                    hosts + "]}}"));
}

TEST_CASE("with the port added TF_CONFIG is filled in") {
    std::string text = file("genericjob-tf-config.yaml");
    text.insert(text.find("  replicaSpecs:"), "  service:\n    ports:\n      - name: http\n"
                                              "        port: 2222\n");
    const t9k_input input = read_t9k(text);
    CHECK(input.findings == "");
    CHECK(
        field(make_pod(input.job, {0, 3}), "/spec/containers").at(0).at("env").at(0).at("value") ==
        R"({"task":{"type":"worker","index":3},"cluster":{"worker":[)"
        R"("generic-example-worker-0:2222","generic-example-worker-1:2222",)"
        R"("generic-example-worker-2:2222","generic-example-worker-3:2222"]}})");
}

TEST_CASE("the rules of the page name master and worker replicas") {
    const t9k_input input = read_t9k(file("genericjob-rules.whole.yaml"));
    const auto& rules = input.job.success_rules;
    REQUIRE(rules.size() == 3);
    CHECK(rules[1][0].ranks == std::vector<std::int64_t>{0, 1, 2});
    REQUIRE(rules[2].size() == 2);
    CHECK(rules[2][0].ranks == std::vector<std::int64_t>{2});
    CHECK(rules[2][1].ranks == std::vector<std::int64_t>{0, 1});
}

TEST_CASE("a service exposes each replica under its pod's name") {
    const t9k_input input = read_t9k(file("genericjob-service.whole.yaml"));
    const auto services = services_of(input.job);
    REQUIRE(services.size() == 1);
    CHECK(field(services[0], "/metadata/name") == "generic-example-worker-0");
    CHECK(field(services[0], "/spec") ==
          yaml("{clusterIP: None, ports: [{name: http, port: 2222}], selector: "
               "{genericjob-replica: generic-example-worker-0}}"));
}

TEST_CASE("t9kScheduler puts the replicas into queue default with priority 50") {
    const t9k_input input = read_t9k(file("genericjob-scheduler.whole.yaml"));
    const auto group = pod_group_of(input.job);
    REQUIRE(group);
    CHECK(field(*group, "/spec") == yaml("{minMember: 4, queue: default, priority: 50}"));
    CHECK(field(make_pod(input.job, {0, 0}), "/spec/schedulerName") == "t9k-scheduler");
}

TEST_CASE("the two examples of debug mode: sshd without init containers, and sleep inf") {
    const t9k_input first = read_t9k(document("genericjob-debug.whole.yaml", 0));
    CHECK(first.findings == "");
    const json::object one = make_pod(first.job, {0, 0});
    CHECK(words(one, "command") == "/usr/bin/sshd");
    CHECK_FALSE(field(one, "/spec").get_object().contains("initContainers"));
    const t9k_input second = read_t9k(document("genericjob-debug.whole.yaml", 1));
    CHECK(second.findings == "");
    const json::object two = make_pod(second.job, {0, 0});
    CHECK(words(two, "command") == "sleep inf");
    CHECK(field(two, "/spec").get_object().contains("initContainers"));
}

TEST_CASE("the two examples of pause mode: nothing runs, and what a resume will run") {
    const t9k_input first = read_t9k(document("genericjob-pause.whole.yaml", 0));
    CHECK(first.findings == "");
    CHECK(pods_of(first.job).empty());
    CHECK(objects_of(first.job).empty());
    const json::object one = make_pod(first.job, {0, 0}, {}, t9k_start::resumed);
    CHECK(words(one, "command") == "/usr/bin/sshd");
    CHECK_FALSE(field(one, "/spec").get_object().contains("initContainers"));
    const t9k_input second = read_t9k(document("genericjob-pause.whole.yaml", 1));
    const json::object two = make_pod(second.job, {0, 0}, {}, t9k_start::resumed);
    CHECK(words(two, "command") == "sleep 365");
    CHECK(field(two, "/spec").get_object().contains("initContainers"));
}

TEST_CASE("the job of the page gets the PodGroup and the pod that it prints") {
    const t9k_input input = read_t9k(file("podgroup-job.whole.yaml"));
    const auto group = pod_group_of(input.job);
    REQUIRE(group);
    const json::value wanted = printed("podgroup-job-podgroup.yaml");
    for (const std::string_view key : {"apiVersion", "kind", "spec"})
        CHECK(group->at(key) == wanted.at(key));
    CHECK(field(*group, "/metadata/name") == wanted.at("metadata").at("name"));
    CHECK(field(*group, "/metadata/ownerReferences").as_array().size() == 1);

    const json::object pod = make_pod(input.job, {0, 0});
    const json::value sample = printed("podgroup-job-pod.yaml");
    for (const std::string_view key : {"apiVersion", "kind"})
        CHECK(pod.at(key) == sample.at(key));
    for (const std::string_view key : {"name", "namespace", "labels"})
        CHECK(pod.at("metadata").at(key) == sample.at("metadata").at(key));
    CHECK(field(pod, "/metadata/ownerReferences").as_array().size() == 1);
}

TEST_CASE("the elastic job of the page gets a PodGroup of minReplicas and seven pods") {
    const t9k_input input = read_t9k(file("podgroup-elastic.whole.yaml"));
    const auto group = pod_group_of(input.job);
    REQUIRE(group);
    const json::value wanted = printed("podgroup-elastic-podgroup.yaml");
    CHECK(group->at("spec") == wanted.at("spec"));
    CHECK(field(*group, "/metadata/name") == wanted.at("metadata").at("name"));
    CHECK(pods_of(input.job).size() == 7);
}

TEST_CASE("the page's PodGroups have the minima, priority and queue that its text says") {
    const auto read = [](const std::string& name) {
        codec::diagnostics out;
        const auto documents = codec::read_documents("f", file(name), out);
        codec::object_reader root(documents.at(0), out);
        codec::reading_context context;
        const auto group = codec::read_pod_group(root, context);
        CHECK(out.findings().empty());
        return group;
    };
    const auto chorus = read("podgroup-chorus.yaml");
    CHECK(chorus.metadata.key == codec::object_key{"default", "chorus"});
    CHECK(chorus.min_member == 3);
    CHECK(chorus.priority == 50);
    CHECK(chorus.queue == "default");
    const auto sample = read("podgroup-roles.whole.yaml");
    CHECK(sample.queue == "default");
    CHECK(sample.priority == 0);
    REQUIRE(sample.roles.size() == 2);
    CHECK(sample.roles[0].name == "master");
    CHECK(sample.roles[0].min_member == 1);
    CHECK(sample.roles[1].name == "worker");
    CHECK(sample.roles[1].min_member == 3);
}

// The group `runs` of that input has the pods and times that the page tells of; the program's own
// test holds it to that output.
TEST_CASE("the status of a running PodGroup comes out as the page prints it") {
    const json::value all = json::parse(file("../../muster_cli/golden/everything.json"));
    const json::value* ours = nullptr;
    for (const json::value& each : all.at("groups").as_array())
        if (each.at("name") == "runs")
            ours = &each.at("status");
    REQUIRE(ours != nullptr);
    json::value wanted = printed("podgroup-status.yaml").at("status");
    // A quantity that is a number is the same quantity.
    json::value& cpu = wanted.at("allocated").at("cpu");
    cpu = json::serialize(cpu);
    CHECK(*ours == wanted);
}

} // namespace codec_t9k_seeds_test
