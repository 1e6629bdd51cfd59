// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <string>

#include <muster/codec/cluster.hpp>
#include <muster/codec/manifests.hpp>
#include <muster/codec/read_documents.hpp>

namespace codec_preemption_policy_test {

using namespace muster::codec;

namespace {

/// Whether others may be evicted for the pod `p`; findings go to `out`.
bool may_preempt(const std::string& text, diagnostics& out) {
    const auto documents = read_documents("f", text, out);
    const manifests objects = read_manifests(documents, {}, out);
    bool may = false;
    with_cluster(objects, {}, out, [&](const auto& cluster) {
        for (const auto& [key, gang] : cluster.state.gang_keys())
            if (key.name == "p")
                may = cluster.state[gang].spec.may_preempt;
    });
    return may;
}

std::string pod(const std::string& more) {
    return "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n"
           "spec: {containers: [{name: c}]" +
           more + "}\n---\n";
}

} // namespace

TEST_CASE("nobody is evicted for a pod whose preemption policy, or whose class's, is Never") {
    const std::string patient = "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\n"
                                "metadata: {name: patient}\nvalue: 9\npreemptionPolicy: Never\n";
    diagnostics out;
    CHECK(may_preempt(pod(""), out));
    CHECK(may_preempt(pod(", preemptionPolicy: PreemptLowerPriority"), out));
    CHECK_FALSE(may_preempt(pod(", preemptionPolicy: Never"), out));
    CHECK_FALSE(may_preempt(pod(", priorityClassName: patient") + patient, out));
    CHECK(may_preempt(pod("") + patient, out));
    CHECK(out.ok());
}

TEST_CASE("a preemption policy that does not exist is an error") {
    diagnostics out;
    static_cast<void>(may_preempt(pod(", preemptionPolicy: Sometimes"), out));
    REQUIRE(out.findings().size() == 1);
    CHECK(to_text(out.findings().front()) ==
          "f:4:51: spec.preemptionPolicy: \"Sometimes\" is not a policy (expected Never or "
          "PreemptLowerPriority)");
}

} // namespace codec_preemption_policy_test
