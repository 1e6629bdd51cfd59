// SPDX-License-Identifier: Apache-2.0
// Koordinator's gang groups through the model and back.
#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include <muster/apis/write_all.hpp>
#include <muster/input/gang_reader.hpp>
#include <muster/input/read_documents.hpp>

namespace codec_gang_groups_test {
namespace {

using namespace muster::codec;
using muster::translate::target;

struct outcome {
    std::vector<boost::json::object> objects;
    std::string findings;
    std::string losses;
};

outcome translate(const std::string& text, target to) {
    diagnostics found;
    const auto documents = read_documents("in", text, found);
    const auto made = muster::translate::write_all(to, read_gangs(documents, {}, found).bundles);
    outcome now{made.objects, {}, {}};
    for (const auto& each : found.findings())
        now.findings += to_text(each) + "\n";
    for (const auto& each : made.losses)
        now.losses += std::string(to_text(each.what)) + ": " + each.detail + "\n";
    return now;
}

void check_identity(const std::string& text, const std::string& findings = "") {
    const outcome now = translate(text, target::koordinator);
    CHECK(now.findings == findings);
    CHECK(now.losses == "");
    diagnostics aside;
    const auto before = read_documents("in", text, aside);
    REQUIRE(before.size() == now.objects.size());
    for (std::size_t i = 0; i < before.size(); ++i)
        CHECK_MESSAGE(before[i].root() == now.objects[i], boost::json::serialize(now.objects[i]));
}

/// A gang of the group of a and b.
std::string gang(const std::string& name, const std::string& beside, const std::string& spec,
                 const std::string& labels = "") {
    return "---\napiVersion: scheduling.sigs.k8s.io/v1alpha1\nkind: PodGroup\nmetadata: {name: " +
           name + ", namespace: ns, " + labels +
           "annotations: {gang.scheduling.koordinator.sh/groups: '[\"ns/a\",\"ns/b\"]'" + beside +
           "}}\nspec: {" + spec + "}\n";
}

std::string pod(const std::string& name, const std::string& of) {
    return "---\n{apiVersion: v1, kind: Pod, metadata: {name: " + name +
           ", namespace: ns, labels: {pod-group.scheduling.sigs.k8s.io: " + of +
           "}}, spec: {schedulerName: koord-scheduler, containers: [{name: c, image: i}]}}\n";
}

} // namespace

TEST_CASE("a gang group of Koordinator becomes itself") {
    check_identity(gang("a", "", "minMember: 2") + gang("b", "", "minMember: 3") + pod("p", "a") +
                   pod("q", "b"));
    // Also where the members that there are to be leave the roles no choice.
    const std::string total = ", gang.scheduling.koordinator.sh/total-number: ";
    check_identity(gang("a", total + "'1'", "minMember: 1") +
                   gang("b", total + "'2'", "minMember: 2"));
}

TEST_CASE("gangs of a group keep what each of them says") {
    check_identity(gang("a", ", note: x",
                        "minMember: 2, minResources: {cpu: '4'}, scheduleTimeoutSeconds: 30",
                        "labels: {team: red}, ") +
                   gang("b", ", note: z",
                        "minMember: 3, minResources: {cpu: '9'}, scheduleTimeoutSeconds: 600",
                        "labels: {team: blue}, "));
    const std::string topology =
        ", gang.scheduling.koordinator.sh/network-topology-spec: "
        "'{\"gatherStrategy\":[{\"layer\":\"rackLayer\",\"strategy\":\"PreferGather\"}]}'";
    check_identity(gang("a", topology, "minMember: 2") + gang("b", "", "minMember: 2"),
                   "in:9:11: warning: metadata: the gangs of its group differ in mode, "
                   "match-policy or topology; those of \"a\" count\n");
}

TEST_CASE("gangs of a group keep the owners that each of them has") {
    const auto owned = [](const std::string& name) {
        return "ownerReferences: [{apiVersion: v1, kind: Pod, name: " + name + ", uid: u-" + name +
               ", controller: true}], ";
    };
    const std::string both =
        gang("a", "", "minMember: 2", owned("x")) + gang("b", "", "minMember: 3", owned("z"));
    check_identity(both);
    // The second has none.
    check_identity(gang("a", "", "minMember: 2", owned("x")) + gang("b", "", "minMember: 3"));
    CHECK(translate(both, target::volcano).losses.find("metadata: owner Pod z of 'b'\n") !=
          std::string::npos);
}

TEST_CASE("labels and annotations that a target has no object for are lost by name") {
    const std::string both =
        gang("a", ", note: x", "minMember: 2", "labels: {team: red, app: z}, ") +
        gang("b", ", note: x", "minMember: 3", "labels: {team: blue, app: z}, ") + pod("p", "a") +
        pod("q", "b");
    CHECK(translate(both, target::volcano).losses.find("metadata: label team of 'b'\n") !=
          std::string::npos);
    for (const target to : {target::pods, target::ack_1_31})
        CHECK(translate(both, to).losses.find(
                  "metadata: label team, label app, annotation note of the gang's object\n") !=
              std::string::npos);
    CHECK(translate(both, target::koordinator).losses == "");
}

TEST_CASE("other targets lose what each gang of a group says by the gang's name") {
    const std::string both =
        gang("a", "", "minMember: 2, minResources: {cpu: '4'}, scheduleTimeoutSeconds: 30") +
        gang("b", "", "minMember: 3, scheduleTimeoutSeconds: 600");
    const std::string losses = translate(both, target::volcano).losses;
    CHECK(losses.find("min-resources: resources that must be free for 'a'\n") != std::string::npos);
    CHECK(losses.find("timeout: how long members of 'a' wait for each other\n") !=
          std::string::npos);
    CHECK(losses.find("min-resources: resources that must be free for 'b'") == std::string::npos);
    CHECK(losses.find("members of 'b' wait") == std::string::npos);
}

} // namespace codec_gang_groups_test
