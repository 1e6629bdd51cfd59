// SPDX-License-Identifier: Apache-2.0
// The walk-through of Grove with backends, all six steps: what its page prints is what comes out.
#include <muster/lifecycle/grove_controller.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <doctest/doctest.h>

#include <muster/apis/grove/backends.hpp>

#include "muster/lifecycle/grove_kubectl.hpp"
#include "muster/lifecycle/grove_scheduler.hpp"
#include "muster/lifecycle/grove_server.hpp"

namespace lifecycle_grove_walk_through_test {

using namespace lifecycle_grove;
using muster::lifecycle::detail::list_at;
using muster::lifecycle::detail::text_at;
using muster::translate::default_backend;
using muster::translate::kai_backend;
using muster::translate::workload_version;
using names = std::vector<std::string>;

namespace {

constexpr std::int64_t second = 1'000'000'000;

/// One command of the page and what it prints.
struct command {
    std::vector<std::string> words;
    std::string output;
};

/// The page's blocks of commands, one after the other.
std::vector<std::vector<command>> blocks_of(const std::string& text) {
    std::vector<std::vector<command>> made(1);
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        if (line == "---") {
            made.emplace_back();
        } else if (line.starts_with("$ ") || line.starts_with("kubectl ")) {
            std::istringstream words(line);
            command one;
            for (std::string word; words >> word;)
                if (word != "$")
                    one.words.push_back(word);
            made.back().push_back(std::move(one));
        } else if (!line.empty() && !line.starts_with("# ")) {
            made.back().back().output += line + '\n';
        }
    }
    return made;
}

std::string option(const command& of, std::string_view name) {
    for (std::size_t at = 0; at + 1 < of.words.size(); ++at)
        if (of.words[at] == name)
            return of.words[at + 1];
    return {};
}

/// Printed names and uids, and ours that stand for them.
using renaming = std::vector<std::pair<std::string, std::string>>;

std::string renamed(std::string text, const renaming& by) {
    for (const auto& [printed, ours] : by)
        for (std::size_t at = text.find(printed); at != std::string::npos;
             at = text.find(printed, at + ours.size()))
            text.replace(at, printed.size(), ours);
    return text;
}

std::string uid(grove_server& server, const std::string& key) {
    return std::string(server.at(key).at("metadata").at("uid").as_string());
}

/// What the server knows beyond what a page shows.
json::object shown(json::object object, bool with_status) {
    for (const char* field : {"uid", "generation", "creationTimestamp"})
        object["metadata"].as_object().erase(field);
    if (!with_status)
        object.erase("status");
    return object;
}

/// The walk-through's page, block by block, against a server.
class page {
public:
    page() : blocks_(blocks_of(grove_file("walk-through.txt"))) { REQUIRE(blocks_.size() == 17); }

    /// Runs the commands of a block and compares what they print; of pods the page lists those of
    /// one gang.
    void run(std::size_t block, grove_server& server, const renaming& names,
             const std::string& pods_of = {}) const {
        CAPTURE(block);
        for (const command& each : blocks_[block]) {
            REQUIRE(each.words.at(0) == "kubectl");
            const std::string& verb = each.words.at(1);
            if (verb == "apply")
                server.apply(parse_yaml(grove_file(option(each, "-f"))));
            else if (verb == "patch")
                patch(each, server);
            else if (verb == "delete")
                server.remove(kubectl::kind_of(each.words.at(2)) + ' ' + each.words.at(3));
            else
                get(each, server, names, pods_of);
        }
    }

private:
    static void patch(const command& of, grove_server& server) {
        json::object& object = server.at(kubectl::kind_of(of.words.at(2)) + ' ' + of.words.at(3));
        std::string text = option(of, "-p");
        REQUIRE(text == "'{\"spec\":{\"replicas\":3}}'");
        const json::value change = json::parse(text.substr(1, text.size() - 2));
        for (const auto& each : change.at("spec").as_object())
            object["spec"].as_object()[each.key()] = each.value();
    }

    static void get(const command& of, grove_server& server, const renaming& by,
                    const std::string& pods_of) {
        REQUIRE(of.words.at(1) == "get");
        const std::string kind = kubectl::kind_of(of.words.at(2));
        const std::string name = of.words.size() > 3 && !of.words[3].starts_with("-")
                                     ? renamed(of.words[3], by)
                                     : std::string();
        const std::string home = option(of, "-n").empty() ? server.home : option(of, "-n");
        const std::string how = option(of, "-o");
        if (how == "yaml") {
            CHECK(
                server.objects.contains(kind + ' ' + name)); // the page prints it in a block apart
        } else if (how.starts_with("jsonpath=")) {
            const std::string path = how.substr(10, how.size() - 11);
            std::string output = of.output;
            if (const auto comment = output.find("  #"); comment != std::string::npos)
                output.resize(comment);
            if (output.ends_with('\n'))
                output.pop_back();
            CHECK(kubectl::field(server.at(kind + ' ' + name), path) == output);
        } else {
            table printed = cells_of(renamed(of.output, by));
            table ours = kubectl{server}.get(kind, home, name);
            if (kind == "Pod" && !pods_of.empty())
                std::erase_if(ours, [&](const std::vector<std::string>& row) {
                    return row[0] != "NAME" && !row[0].starts_with(pods_of);
                });
            // Random ends of names come in another order.
            std::ranges::sort(printed);
            std::ranges::sort(ours);
            CHECK(ours == printed);
        }
    }

    std::vector<std::vector<command>> blocks_;
};

/// The page's names of pods, and those that we gave them.
renaming pods_of(grove_server& server) {
    renaming made;
    const json::value& groups =
        server.at("scheduler.grove.io/PodGang ml-training-0").at("spec").at("podgroups");
    const std::vector<names> printed{{"ml-training-0-master-xyz"},
                                     {"ml-training-0-workers-abc", "ml-training-0-workers-def",
                                      "ml-training-0-workers-ghi", "ml-training-0-workers-jkl"}};
    for (std::size_t group = 0; group < printed.size(); ++group) {
        const json::array& list = groups.at(group).at("podReferences").as_array();
        REQUIRE(list.size() == printed[group].size());
        for (std::size_t at = 0; at < list.size(); ++at)
            made.emplace_back(printed[group][at], std::string(list[at].at("name").as_string()));
    }
    return made;
}

renaming with(renaming names, std::string printed, std::string ours) {
    names.emplace_back(std::move(printed), std::move(ours));
    return names;
}

} // namespace

TEST_CASE("the walk-through: two training clusters, gates, placement, a third one, deletion") {
    const page page;
    grove_server server;
    server.home = "default";
    const kai_backend kai;
    const grove_scheduler scheduler;
    const std::int64_t start = server.now;
    const auto at = [&](std::int64_t seconds) { server.now = start + seconds * second; };
    const std::string gang = "scheduler.grove.io/PodGang ml-training-";

    INFO("step 1: create the PodCliqueSet");
    page.run(0, server, {});
    server.settle("ml-training", kai);

    INFO("step 2: watch what is created");
    at(5);
    page.run(1, server, {});
    at(10);
    page.run(2, server, {});
    page.run(3, server, {});
    const renaming pods = pods_of(server);
    CHECK(shown(server.at(gang + "0"), false) ==
          parse_yaml(renamed(
              grove_file("ml-training-podgang.yaml"),
              with(pods, "abc-123-def", uid(server, "grove.io/PodCliqueSet ml-training")))));
    at(15);
    renaming groups{{"abc-123-def", uid(server, gang + "0")},
                    {"def-456-ghi", uid(server, gang + "1")}};
    page.run(4, server, groups);
    page.run(5, server, groups);

    INFO("step 3: scheduling");
    at(20);
    page.run(6, server, pods, "ml-training-0-");
    CHECK(server.names("Pod").size() == 10);
    page.run(7, server, pods);
    for (const std::string& name : server.names("Pod"))
        CHECK(kubectl::field(server.at("Pod " + name), "{.spec.schedulingGates}") ==
              R"([{"name":"grove.io/podgang"}])");
    at(44);
    CHECK(server.look("ml-training", kai).is_quiet()); // the gates are the scheduler's
    CHECK(scheduler.run(server) == 10);
    for (const std::string& name : server.names("Pod"))
        CHECK_FALSE(grove_server::is_gated(server.at("Pod " + name)));
    server.settle("ml-training", kai);
    at(45);
    page.run(8, server, pods, "ml-training-0-");
    // The page prints the PodGroup as it is when its gang has been scheduled.
    const std::string group = "scheduling.run.ai/PodGroup pg-ml-training-0-" + groups[0].second;
    CHECK(shown(server.at(group), true) ==
          parse_yaml(renamed(
              grove_file("ml-training-kai-podgroup.yaml"),
              with(groups, "2025-12-04T10:30:00Z", muster::time_text(start + 44 * second)))));
    CHECK(server.at("grove.io/PodCliqueSet ml-training").at("status").at("ready") == "2/2");
    CHECK(server.at(gang + "1").at("status").at("phase") == "Running");

    INFO("step 4: a third training cluster");
    at(115);
    page.run(9, server, {});
    server.settle("ml-training", kai);
    at(120);
    page.run(10, server, {});
    at(125);
    groups.emplace_back("ghi-789-jkl", uid(server, gang + "2"));
    page.run(11, server, groups);
    CHECK(server.names("Pod").size() == 15);
    CHECK(server.at("grove.io/PodCliqueSet ml-training").at("status").at("ready") == "2/3");
    CHECK(scheduler.run(server) == 5);
    server.settle("ml-training", kai);
    CHECK(server.at("grove.io/PodCliqueSet ml-training").at("status").at("ready") == "3/3");

    INFO("step 5: deletion");
    page.run(12, server, {});
    page.run(13, server, {});
    CHECK(server.objects.empty());
}

TEST_CASE("the walk-through's gang starts whole or not at all") {
    grove_server server;
    server.apply(parse_yaml(grove_file("ml-training.yaml")));
    server.settle("ml-training", kai_backend{});
    // Sixteen GPUs hold one gang of nine, and of the other its minimum of seven.
    CHECK(grove_scheduler{2}.run(server) == 9);
    grove_server small;
    small.apply(parse_yaml(grove_file("ml-training.yaml")));
    small.settle("ml-training", kai_backend{});
    // Eight hold the minimum of one: a master and three workers.
    CHECK(grove_scheduler{1}.run(small) == 4);
    small.settle("ml-training", kai_backend{});
    CHECK(small.at("grove.io/PodCliqueSet ml-training").at("status").at("ready") == "1/2");
}

TEST_CASE("the walk-through with the default scheduler makes a Workload instead") {
    const page page;
    for (const auto version : {workload_version::v1_35, workload_version::v1_36}) {
        const bool old = version == workload_version::v1_35;
        grove_server server;
        const default_backend backend{version};
        const std::int64_t start = server.now;
        server.apply(parse_yaml(grove_file("inference-service.yaml")));
        server.settle("inference-service", backend);
        server.now = start + 5 * second;
        page.run(14, server, {});
        page.run(15, server, {});
        server.now = start + 10 * second;
        page.run(16, server, {});
        CHECK(server.names("scheduling.run.ai/PodGroup").empty());

        const json::object printed = parse_yaml(grove_file("inference-service-workload.yaml"));
        const json::object& workload = server.at("scheduling.k8s.io/Workload inference-service-0");
        CHECK(text_at(workload, "apiVersion") ==
              (old ? text_at(printed, "apiVersion") : "scheduling.k8s.io/v1alpha2"));
        CHECK(workload.at("kind") == printed.at("kind"));
        CHECK(printed.at("spec").is_null());
        json::object metadata = printed.at("metadata").as_object();
        // What the page leaves out.
        const std::string gang = "scheduler.grove.io/PodGang inference-service-0";
        metadata["ownerReferences"].as_array()[0].as_object()["uid"] = uid(server, gang);
        metadata["labels"] = server.at(gang).at("metadata").at("labels");
        CHECK(shown(workload, false).at("metadata") == metadata);
        const std::string clique = "inference-service-0-servers";
        if (old) {
            CHECK(workload.at("spec") ==
                  json::parse(R"({"podGroups": [{"name": "inference-service-0-servers",
                                                 "policy": {"gang": {"minCount": 3}}}]})"));
        } else {
            CHECK(workload.at("spec") ==
                  json::parse(R"({"podGroupTemplates": [{"name": "inference-service-0-servers",
                                      "schedulingPolicy": {"gang": {"minCount": 3}}}]})"));
            CHECK(
                server.at("scheduling.k8s.io/PodGroup inference-service-0-" + clique).at("spec") ==
                json::parse(R"({"podGroupTemplateRef": {"workload": {
                                      "workloadName": "inference-service-0",
                                      "podGroupTemplateName": "inference-service-0-servers"}},
                                  "schedulingPolicy": {"gang": {"minCount": 3}}})"));
        }
        // The controller opens the gates, since all references are filled.
        REQUIRE(server.names("Pod").size() == 3);
        for (const std::string& name : server.names("Pod")) {
            const json::object& spec = server.at("Pod " + name).at("spec").as_object();
            CHECK_FALSE(grove_server::is_gated(server.at("Pod " + name)));
            if (old)
                CHECK(spec.at("workloadRef") ==
                      json::object{{"name", "inference-service-0"}, {"podGroup", clique}});
            else
                CHECK(spec.at("schedulingGroup") ==
                      json::object{{"podGroupName", "inference-service-0-" + clique}});
        }
        CHECK(grove_scheduler{}.run(server) == 3);
        server.settle("inference-service", backend);
        CHECK(server.at("grove.io/PodCliqueSet inference-service").at("status").at("ready") ==
              "1/1");
        server.remove("grove.io/PodCliqueSet inference-service");
        CHECK(server.objects.empty());
    }
}

TEST_CASE("Grove itself refuses the walk-through's set, and says why") {
    muster::codec::diagnostics out;
    const auto documents = muster::codec::read_documents("f", grove_file("ml-training.yaml"), out);
    muster::codec::object_reader root(documents.at(0), out);
    muster::codec::reading_context context;
    static_cast<void>(muster::codec::read_pod_clique_set(root, grove_dialect::upstream, context));
    std::string found;
    for (const auto& finding : out.findings())
        found += finding.path + ": " + finding.message + '\n';
    CHECK(found == "spec.template.cliques[0].spec.roleName: required, but missing\n"
                   "spec.template.cliques[1].spec.roleName: required, but missing\n"
                   "spec.template.cliques: no queue is named (expected a label or annotation "
                   "kai.scheduler/queue on the set or its cliques)\n");
}

TEST_CASE("with roles, a queue and a priority class the walk-through runs as Grove runs it") {
    grove_server server;
    server.dialect = grove_dialect::upstream;
    const kai_backend kai;
    const std::string gang = "scheduler.grove.io/PodGang ml-training-";
    server.apply(parse_yaml(grove_file("upstream-ml-training.yaml")));
    server.settle("ml-training", kai);
    CHECK(server.names("scheduler.grove.io/PodGang") == names{"ml-training-0", "ml-training-1"});
    CHECK(server.names("scheduling.run.ai/PodGroup") == names{"ml-training-0", "ml-training-1"});
    CHECK(shown(server.at(gang + "0"), false) ==
          parse_yaml(renamed(grove_file("upstream-podgang.yaml"),
                             with(pods_of(server), "abc-123-def",
                                  uid(server, "grove.io/PodCliqueSet ml-training")))));
    CHECK(shown(server.at("scheduling.run.ai/PodGroup ml-training-0"), true) ==
          parse_yaml(renamed(grove_file("upstream-kai-podgroup.yaml"),
                             {{"abc-123-def", uid(server, gang + "0")}})));
    // Grove opens the gates, once its gangs refer to the pods.
    REQUIRE(server.names("Pod").size() == 10);
    for (const std::string& name : server.names("Pod")) {
        const json::object& pod = server.at("Pod " + name);
        CHECK_FALSE(grove_server::is_gated(pod));
        CHECK(text_at(pod, "metadata", "annotations", "pod-group-name") ==
              text_at(pod, "metadata", "labels", "grove.io/podgang"));
        CHECK(text_at(pod, "metadata", "annotations", "kai.scheduler/skip-podgrouper") == "true");
        CHECK(text_at(pod, "metadata", "labels", "kai.scheduler/subgroup-name") ==
              text_at(pod, "metadata", "labels", "grove.io/podclique"));
        CHECK(text_at(pod, "spec", "schedulerName") == "kai-scheduler");
    }
    CHECK(grove_scheduler{}.run(server) == 10);
    server.settle("ml-training", kai);
    CHECK(server.at("grove.io/PodCliqueSet ml-training").at("status").at("availableReplicas") == 2);
    CHECK(server.at(gang + "0").at("status").at("phase") == "Running");
    // What KAI says of a PodGroup is KAI's affair.
    CHECK_FALSE(server.at("scheduling.run.ai/PodGroup ml-training-0").contains("status"));

    server.at("grove.io/PodCliqueSet ml-training")["spec"].as_object()["replicas"] = 3;
    server.settle("ml-training", kai);
    CHECK(server.names("scheduling.run.ai/PodGroup") ==
          names{"ml-training-0", "ml-training-1", "ml-training-2"});
    CHECK(grove_scheduler{}.run(server) == 5);
    server.remove("grove.io/PodCliqueSet ml-training");
    CHECK(server.objects.empty());
}

TEST_CASE("upstream's default scheduler gets pods and nothing else") {
    grove_server server;
    server.dialect = grove_dialect::upstream;
    json::object set = parse_yaml(grove_file("inference-service.yaml"));
    set["spec"].at("template").at("cliques").at(0).at("spec").as_object()["roleName"] = "server";
    server.apply(std::move(set));
    server.settle("inference-service", default_backend{});
    CHECK(text_at(server.at("scheduler.grove.io/PodGang inference-service-0"), "metadata", "labels",
                  "grove.io/scheduler-name") == "default-scheduler");
    CHECK(server.names("scheduling.k8s.io/Workload").empty());
    REQUIRE(server.names("Pod").size() == 3);
    const json::object& pod = server.at("Pod " + server.names("Pod").front());
    CHECK(text_at(pod, "spec", "schedulerName") == "default-scheduler");
    CHECK_FALSE(grove_server::is_gated(pod));
}

TEST_CASE("with Koordinator each podgroup is a PodGroup of one gang group, in both dialects") {
    for (const auto dialect : {grove_dialect::seed, grove_dialect::upstream}) {
        grove_server server;
        server.dialect = dialect;
        std::string text = grove_file("upstream-ml-training.yaml");
        for (auto at = text.find("kai-scheduler"); at != std::string::npos;
             at = text.find("kai-scheduler"))
            text.replace(at, 13, "koord-scheduler");
        server.apply(parse_yaml(text));
        server.settle("ml-training", muster::translate::koordinator_backend{});
        CHECK(server.names("scheduling.sigs.k8s.io/PodGroup").size() == 4);
        const json::object& group =
            server.at("scheduling.sigs.k8s.io/PodGroup ml-training-0-ml-training-0-workers");
        CHECK(group.at("spec").at("minMember") == 3);
        CHECK(
            group.at("metadata").at("annotations").at("gang.scheduling.koordinator.sh/groups") ==
            R"(["ml-workspace/ml-training-0-ml-training-0-master","ml-workspace/ml-training-0-ml-training-0-workers"])");
        CHECK(group.at("metadata").at("ownerReferences").at(0).at("kind") == "PodGang");
        for (const std::string& name : server.names("Pod"))
            CHECK_FALSE(grove_server::is_gated(server.at("Pod " + name)));
        CHECK(text_at(server.at("scheduler.grove.io/PodGang ml-training-0"), "metadata", "labels",
                      dialect == grove_dialect::seed ? "grove.io/scheduler-backend"
                                                     : "grove.io/scheduler-name") ==
              (dialect == grove_dialect::seed ? "koordinator" : "koord-scheduler"));
        server.remove("grove.io/PodCliqueSet ml-training");
        CHECK(server.objects.empty());
    }
}

} // namespace lifecycle_grove_walk_through_test
