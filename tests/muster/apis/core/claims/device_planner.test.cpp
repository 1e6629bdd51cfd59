// SPDX-License-Identifier: Apache-2.0
#include <muster/apis/core/claims/device_planner.hpp>

#include <cstddef>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <muster/input/cluster.hpp>
#include <muster/input/cluster_input.hpp>
#include <muster/input/read_documents.hpp>
#include <muster/muster.hpp>

namespace codec_device_planner_test {

using namespace muster::codec;

namespace {

/// Returns "pod=node " for the pods that have a node after one cycle, in the order of the pods.
std::string placed(const std::string& text) {
    diagnostics out;
    const auto documents = read_documents("f", text, out);
    const manifests objects = read_cluster(documents, {}, out);
    for (const diagnostic& each : out.findings())
        FAIL_CHECK(to_text(each));
    REQUIRE(out.ok());
    auto cluster = make_cluster<muster::max_kinds>(objects, {}, out);
    static_cast<void>(muster::cycle(cluster.state, cluster.now));
    std::string made;
    for (const auto& [key, pod] : cluster.state.pod_keys())
        if (cluster.state[pod].node)
            made += key.name + "=" + cluster.state.key(*cluster.state[pod].node) + " ";
    return made;
}

std::string node(const std::string& name) {
    return "---\napiVersion: v1\nkind: Node\nmetadata: {name: " + name + ", labels: {own: " + name +
           "}}\nstatus: {allocatable: {cpu: 9, pods: 110}}\n";
}
/// Class outer selects all devices, class inner those of type in.
const std::string classes =
    "---\napiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata: {name: inner}\n"
    "spec: {selectors: [{cel: {expression: \"device.attributes['x.com'].t == 'in'\"}}], "
    "extendedResourceName: x.com/inner}\n"
    "---\napiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata: {name: outer}\n"
    "spec: {selectors: [{cel: {expression: \"true\"}}], extendedResourceName: x.com/outer}\n";
/// A pool whose devices d0, d1 ... are of these types.
std::string slice(const std::string& pool, const std::string& nodes,
                  const std::vector<std::string>& types) {
    std::string list;
    for (std::size_t at = 0; at < types.size(); ++at)
        list += std::string(at > 0 ? ", " : "") + "{name: d" + std::to_string(at) +
                ", attributes: {t: {string: " + types[at] + "}}}";
    return "---\napiVersion: resource.k8s.io/v1\nkind: ResourceSlice\nmetadata: {name: s-" + pool +
           "}\nspec: {driver: x.com, pool: {name: " + pool +
           ", generation: 1, resourceSliceCount: 1}, " + nodes + ", devices: [" + list + "]}\n";
}
std::string pod(const std::string& name, const std::string& requests,
                const std::string& more = "") {
    return "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " + name + ", uid: u-" + name +
           "}\nspec:\n  containers: [{name: c, resources: {requests: {cpu: 1, " + requests +
           "}, limits: {cpu: 1, " + requests + "}}}]\n" + more;
}
/// A running pod that holds d0 for x.com/inner and `outer` for x.com/outer.
std::string running(const std::string& outer) {
    return pod("run", "x.com/inner: 1, x.com/outer: 1",
               "  nodeName: n1\nstatus: {phase: Running}\n") +
           "---\napiVersion: resource.k8s.io/v1\nkind: ResourceClaim\n"
           "metadata: {name: run-ext, uid: u-run-ext, annotations: "
           "{resource.kubernetes.io/extended-resource-claim: \"true\"}, ownerReferences: "
           "[{apiVersion: v1, kind: Pod, name: run, uid: u-run, controller: true}]}\n"
           "spec: {devices: {requests: ["
           "{name: container-0-request-0, exactly: {deviceClassName: inner, count: 1}}, "
           "{name: container-0-request-1, exactly: {deviceClassName: outer, count: 1}}]}}\n"
           "status: {allocation: {devices: {results: ["
           "{request: container-0-request-0, driver: x.com, pool: p, device: d0}, "
           "{request: container-0-request-1, driver: x.com, pool: p, device: " +
           outer + "}]}}, reservedFor: [{resource: pods, name: run, uid: u-run}]}\n";
}

} // namespace

TEST_CASE("a device that is held for an outer resource is none of the inner one for others") {
    const std::string on = node("n1") + classes + slice("p", "nodeName: n1", {"in", "in", "out"});
    // Pod run holds both inner devices, one of them for x.com/outer.
    CHECK(placed(on + running("d1") + pod("q", "x.com/inner: 1")) == "run=n1 ");
    CHECK(placed(on + running("d1") + pod("q", "x.com/outer: 1")) == "q=n1 run=n1 ");
    CHECK(placed(on + running("d2") + pod("q", "x.com/inner: 1")) == "q=n1 run=n1 ");
    CHECK(placed(on + running("d2") + pod("q", "x.com/outer: 1")) == "q=n1 run=n1 ");
    CHECK(placed(on + running("d2") + pod("q", "x.com/outer: 2")) == "run=n1 ");
}

TEST_CASE("a device of several nodes counts on one of them for all resources that it serves") {
    const std::string on = node("n1") + node("n2") + classes +
                           slice("p1", "nodeName: n1", {"out"}) +
                           slice("p2", "allNodes: true", {"in"});
    const std::string inner = pod("q", "x.com/inner: 1", "  nodeSelector: {own: n1}\n");
    const std::string outer = pod("r", "x.com/outer: 1", "  nodeSelector: {own: n2}\n");
    // One device serves at most one of them.
    CHECK(placed(on + inner + outer).size() <= std::string("q=n1 ").size());
    CHECK(placed(on + pod("q", "x.com/inner: 1") + pod("r", "x.com/outer: 1")) == "q=n1 r=n1 ");
}

} // namespace codec_device_planner_test
