// SPDX-License-Identifier: Apache-2.0
// muster: translate
// A backend of one's own for Grove: a scheduler that Muster has never heard of gets its gangs.
#include <array>
#include <cstdio>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <boost/json/serialize.hpp>

#include <muster/apis/gang_facts.hpp>
#include <muster/apis/grove/backends.hpp>
#include <muster/apis/grove/set_reader.hpp>
#include <muster/input/read_documents.hpp>
#include <muster/lifecycle/grove_controller.hpp>

namespace {

namespace json = boost::json;
namespace translate = muster::translate;

/// Our scheduler wants one object for each gang, and a label on its pods.
struct orchestra_backend {
    static constexpr std::string_view name() { return "orchestra"; }
    static constexpr std::string_view scheduler() { return "orchestra-scheduler"; }
    static constexpr bool opens_gates(translate::grove_dialect) { return true; }

    static translate::written write(const translate::gang_bundle& bundle,
                                    translate::grove_dialect) {
        const translate::gang_object& gang = bundle.gang;
        translate::written made;
        json::object seats;
        for (std::size_t at = 1; at < gang.tree.size(); ++at)
            if (gang.tree.is_leaf(at))
                seats[gang.tree[at].name] = gang.tree[at].min_member;
        json::object owner{{"apiVersion", muster::translate::grove_gang_version},
                           {"kind", "PodGang"},
                           {"name", gang.name},
                           {"uid", gang.uid}};
        made.objects.push_back({{"apiVersion", "example.com/v1"},
                                {"kind", "Ensemble"},
                                {"metadata",
                                 {{"name", gang.name},
                                  {"namespace", gang.name_space},
                                  {"labels", gang.labels},
                                  {"ownerReferences", json::array{std::move(owner)}}}},
                                {"spec", {{"seats", std::move(seats)}}}});
        for (const translate::gang_pod& pod : bundle.pods) {
            made.objects.push_back(pod.document);
            json::object& document = made.objects.back();
            document["metadata"].as_object()["labels"].as_object()["example.com/ensemble"] =
                gang.name;
            document["spec"].as_object()["schedulerName"] = scheduler();
        }
        return made;
    }
};

static_assert(translate::grove_backend<orchestra_backend>);

constexpr const char* manifest = R"(
apiVersion: grove.io/v1alpha1
kind: PodCliqueSet
metadata: {name: symphony, uid: s-1}
spec:
  replicas: 1
  template:
    cliques:
    - name: strings
      spec: {roleName: strings, replicas: 3, minAvailable: 2, podSpec: {schedulerName: orchestra-scheduler, containers: [{name: violin}]}}
    - name: winds
      spec: {roleName: winds, replicas: 1, podSpec: {schedulerName: orchestra-scheduler, containers: [{name: oboe}]}}
)";

} // namespace

int main() {
    muster::codec::diagnostics found;
    const auto documents = muster::codec::read_documents("symphony.yaml", manifest, found);
    muster::codec::object_reader root(documents.at(0), found);
    muster::codec::reading_context context;
    const std::array<std::string_view, 1> ours{orchestra_backend::scheduler()};
    const auto set =
        muster::codec::read_pod_clique_set(root, translate::grove_dialect::upstream, ours, context);
    for (const auto& finding : found.findings())
        std::printf("%s\n", to_text(finding).c_str());

    // What an API server would keep, with a uid for each object.
    std::vector<json::object> cluster;
    const auto look = [&](const auto& backend) {
        std::vector<const json::object*> seen;
        for (const json::object& each : cluster)
            seen.push_back(&each);
        for (const auto& write : muster::lifecycle::reconcile(set, seen, 0, backend).writes) {
            if (write.what != muster::lifecycle::grove_write::verb::create)
                continue;
            cluster.push_back(write.object);
            json::object& metadata = cluster.back()["metadata"].as_object();
            metadata["uid"] = "u-" + std::to_string(cluster.size());
            std::printf("create %s %s\n", cluster.back()["kind"].as_string().c_str(),
                        metadata["name"].as_string().c_str());
        }
    };
    const auto backends =
        std::tuple_cat(std::tuple(orchestra_backend{}), translate::upstream_backends());
    translate::with_backend(backends, set.scheduler, [&](const auto& backend) {
        for (int pass = 0; pass < 2; ++pass)
            look(backend);
    });
    for (const json::object& each : cluster)
        if (each.at("kind") == "Ensemble")
            std::printf("%s\n", json::serialize(each.at("spec")).c_str());
}
