// SPDX-License-Identifier: Apache-2.0
#include <muster/lifecycle/edits.hpp>

#include <string>
#include <string_view>

#include <boost/json/object.hpp>
#include <doctest/doctest.h>

#include "muster/t9k_jobs.hpp"

namespace lifecycle_edits_test {

using namespace muster::lifecycle;
using muster_test::t9k_input;
using muster_test::t9k_of;

t9k_input generic(std::string_view run_mode) {
    return t9k_of("GenericJob", "{runMode: " + std::string(run_mode) +
                                    ", replicaSpecs: [{type: worker, template: {spec: {containers: "
                                    "[{name: c, image: i}]}}}]}");
}

t9k_input elastic(std::string_view bounds) {
    return t9k_of("PyTorchTrainingJob",
                  "{elastic: " + std::string(bounds) +
                      ", torchrunConfig: {enabled: true}, replicaSpecs: [{type: worker, template: "
                      "{spec: {containers: [{name: pytorch, image: i}]}}}]}");
}

/// The fields at fault, each followed by a space.
std::string faults(const t9k_input& before, const t9k_input& after, bool has_pods = true) {
    CAPTURE(before.findings + after.findings);
    REQUIRE(before.findings.empty());
    REQUIRE(after.findings.empty());
    std::string all;
    for (const edit_fault& each : check_edit(before.job, after.job, has_pods)) {
        CHECK(each.message.find("expected") != std::string::npos);
        all += each.field + ' ';
    }
    return all;
}

TEST_CASE("the pause may be switched at any time, but resumeSpecs are immutable") {
    const t9k_input before =
        generic("{pause: {enabled: false, resumeSpecs: [{type: worker, command: [a]}]}}");
    CHECK(faults(before, generic("{pause: {enabled: true, resumeSpecs: [{type: worker, command: "
                                 "[a]}]}}")) == "");
    for (const char* other :
         {"{pause: {enabled: false}}",
          "{pause: {enabled: false, resumeSpecs: [{type: worker, "
          "command: [b]}]}}",
          "{pause: {enabled: true, resumeSpecs: [{type: worker, command: [a], args: [x]}]}}",
          "{pause: {enabled: false, resumeSpecs: [{type: worker, command: [a], skipInitContainer: "
          "true}]}}"}) {
        CAPTURE(other);
        CHECK(faults(before, generic(other)) == "spec.runMode.pause.resumeSpecs ");
    }
}

TEST_CASE("of an elastic job only the expected number may change") {
    const t9k_input before =
        elastic("{enabled: true, minReplicas: 2, maxReplicas: 8, expectedReplicas: 4}");
    CHECK(faults(before, elastic("{enabled: true, minReplicas: 2, maxReplicas: 8, "
                                 "expectedReplicas: 8}")) == "");
    CHECK(faults(before, elastic("{enabled: true, minReplicas: 1, maxReplicas: 8, "
                                 "expectedReplicas: 4}")) == "spec.elastic.minReplicas ");
    CHECK(faults(before, elastic("{enabled: true, minReplicas: 2, maxReplicas: 9, "
                                 "expectedReplicas: 4}")) == "spec.elastic.maxReplicas ");
}

TEST_CASE("debug mode is settled while the job has pods") {
    const t9k_input before = generic("{debug: {enabled: true}}");
    const t9k_input off = generic("{debug: {enabled: false}}");
    const t9k_input other =
        generic("{debug: {enabled: true, replicaSpecs: [{type: worker, command: [sshd]}]}}");
    CHECK(faults(before, off) == "spec.runMode.debug ");
    CHECK(faults(before, other) == "spec.runMode.debug ");
    CHECK(faults(before, off, false) == "");
    CHECK(faults(before, before) == "");
}

TEST_CASE("a pod never changes its group, its role or its queue") {
    const boost::json::object before{{"scheduler.tensorstack.dev/group-name", "g"}, {"app", "a"}};
    boost::json::object after = before;
    after["app"] = "b";
    CHECK(check_pod_edit(before, after).empty());
    after["scheduler.tensorstack.dev/group-name"] = "h";
    after["scheduler.tensorstack.dev/queue"] = "q";
    const auto found = check_pod_edit(before, after);
    REQUIRE(found.size() == 2);
    CHECK(found[0].field == "metadata.labels[scheduler.tensorstack.dev/group-name]");
    CHECK(found[1].field == "metadata.labels[scheduler.tensorstack.dev/queue]");
    after.erase("scheduler.tensorstack.dev/group-name");
    CHECK(check_pod_edit(before, after).size() == 2);
}

} // namespace lifecycle_edits_test
