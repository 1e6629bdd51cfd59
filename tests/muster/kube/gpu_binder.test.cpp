// SPDX-License-Identifier: Apache-2.0
#include <muster/kube/gpu_binder.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <muster/adapter/instant.hpp>
#include <muster/kube/answers.hpp>

#include "muster/kube/fed_objects.hpp"

namespace gpu_binder_test {

using namespace muster::kube;
using muster::adapter::outcome;
using muster::adapter::second;
using muster::codec::object_key;

namespace {

live_options with_reservations() {
    live_options how = fed_objects::options();
    how.reservations = reservation_options{"reserved", "agent", "account", "", "gangs"};
    return how;
}

std::string node(int gpus) {
    return "---\napiVersion: v1\nkind: Node\nmetadata: {name: n1, labels: "
           "{nvidia.com/gpu.memory: '10000'}}\nstatus: {allocatable: {cpu: 9, pods: 99, "
           "nvidia.com/gpu: " +
           std::to_string(gpus) + "}}\n";
}
/// A pod that waits, or stands with these groups.
std::string fraction(const std::string& name, const std::string& part,
                     const std::vector<std::string>& groups = {}, int gpus = 1) {
    std::string labels;
    for (const std::string& each : groups)
        labels += (groups.size() > 1 ? "runai-gpu-group/" + each : "runai-gpu-group") + ": " +
                  each + ", ";
    return "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " + name + ", labels: {" + labels +
           "}, annotations: {gpu-fraction: '" + part + "', gpu-fraction-num-devices: '" +
           std::to_string(gpus) + "', runai/shared-gpu-configmap: " + name + "}}\nspec: {" +
           (groups.empty() ? "" : "nodeName: n1, ") +
           "schedulerName: gangs, containers: [{name: c}]}\n";
}
std::string whole(const std::string& name, bool stands = false) {
    return "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " + name + "}\nspec: {" +
           (stands ? "nodeName: n1, " : "") +
           "schedulerName: gangs, containers: [{name: c, resources: {limits: {nvidia.com/gpu: "
           "1}}}]}\n";
}

/// A cluster whose reservation pods are in the namespace `reserved`, and the binder.
struct world {
    explicit world(const std::string& yaml) : of(with_reservations()) { take(yaml); }

    void take(const std::string& yaml) {
        of.take(yaml);
        of.objects.tell(of.view, std::exchange(of.first, {}));
    }
    [[nodiscard]] static std::string reservation(const std::string& group, const std::string& gpu,
                                                 const std::string& phase = "Running",
                                                 const std::string& by = "gangs") {
        return "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " + reservation_name("n1", group) +
               ", namespace: reserved, labels: {runai-gpu-group: " + group +
               "}, annotations: {muster.dev/reserved-by: " + by +
               (gpu.empty() ? "" : ", run.ai/reserve_for_gpu_index: '" + gpu + "'") +
               "}}\nspec: {nodeName: n1, containers: [{name: c, resources: {limits: "
               "{nvidia.com/gpu: 1}}}]}\nstatus: {phase: " +
               phase + "}\n";
    }
    void reserve(const std::string& group, const std::string& gpu = "0") {
        take(reservation(group, gpu));
    }
    void unreserve(const std::string& group) {
        of.lose(reservation(group, ""));
        take("");
    }
    [[nodiscard]] const live_storage& storage() const { return of.objects.storage(); }
    [[nodiscard]] const live_devices& devices() const { return storage().devices(); }
    [[nodiscard]] const auto& pods() const { return of.objects.gangs().pods(); }

    /// Orders the binding of the pods, whose tickets are their positions, counted from 1.
    void want(const std::vector<std::string>& names) {
        for (const std::string& each : names) {
            starting.insert({"team", each});
            binder.want({"team", each}, "u-" + each, "n1", of.objects.storage().plan(),
                        {now, wall++});
        }
        step();
        for (const std::string& each : names)
            ready.push_back({++tickets, {"team", each}, outcome::applied, {}});
        settle();
    }
    void step() {
        binder.choose(
            storage(), pods(),
            [&](const object_key& key) { return starting.contains(key) ? &n1 : nullptr; }, now);
    }
    void settle() {
        for (auto& each : binder.settle(std::exchange(ready, {}), devices(), pods(), now))
            ended[each.of] = std::string(outcome_names[static_cast<std::size_t>(each.what)]) +
                             (each.message.empty() ? "" : ": " + each.message);
    }
    /// Carries out all writes: reservation pods are there and name their GPU.
    std::size_t serve() {
        std::size_t created = 0;
        while (auto one = binder.next(devices(), pods(), now)) {
            CHECK(binder.done(one->about, outcome::applied, "", now));
            if (one->request.method == http_method::post) {
                const std::string first = "gpu-reservation-n1-";
                const std::size_t begins = one->about.name.find(first) + first.size();
                reserve(one->about.name.substr(begins), std::to_string(created++));
            }
        }
        step();
        settle();
        return created;
    }
    /// The groups that the labels of the Binding name.
    [[nodiscard]] std::vector<std::string> groups(const std::string& name) const {
        std::vector<std::string> made;
        for (const auto& [key, value] : binder.marks({"team", name}, 0, storage()).first.labels)
            made.push_back(value);
        return made;
    }
    /// Why the pod cannot be bound; empty = it can.
    [[nodiscard]] std::string unready(const std::string& name) const {
        return binder.marks({"team", name}, 0, storage()).second;
    }
    [[nodiscard]] std::string group(const std::string& name) const {
        const auto all = groups(name);
        return all.size() == 1 ? all.front() : "";
    }

    fed_objects of;
    gpu_binder binder{with_reservations().reservations};
    std::set<object_key> starting;
    std::vector<gpu_binder::result> ready;
    std::map<std::uint64_t, std::string> ended;
    std::uint64_t tickets = 0;
    std::int64_t now = 1000 * second;
    std::int64_t wall = 5;
    const std::string n1 = "n1";
};

const std::string too_few = "refused: node n1 can no longer serve the shares of GPUs: its free "
                            "GPUs do not suffice for all pods";

} // namespace

TEST_CASE(
    "four halves of a gang get two new groups, which are reserved before the pods are bound") {
    world of(node(2) + fraction("a", "0.5") + fraction("b", "0.5") + fraction("c", "0.5") +
             fraction("d", "0.5"));
    of.want({"a", "b", "c", "d"});
    CHECK(of.ended.empty());
    CHECK(of.serve() == 2);
    CHECK(of.ended.size() == 4);
    std::map<std::string, int> sharers;
    for (const char* const each : {"a", "b", "c", "d"}) {
        CHECK(of.ended[static_cast<std::uint64_t>(*each - 'a') + 1] == "applied");
        ++sharers[of.group(each)];
        CHECK(of.binder.marks({"team", each}, 0, of.storage())
                  .first.annotations.at("received-resource-type") == "Fraction");
    }
    CHECK(sharers.size() == 2);
    CHECK(sharers.begin()->second == 2);
    CHECK(sharers.begin()->first.size() == 36);
}

TEST_CASE("groups that are chosen and not observed yet hold their GPUs") {
    world of(node(2) + fraction("a", "0.6") + fraction("b", "0.6") + fraction("c", "0.6") +
             fraction("d", "0.4"));
    of.want({"a"});
    of.want({"b"});
    of.want({"c"});
    CHECK(of.ended == std::map<std::uint64_t, std::string>{{3, too_few}});
    // Part of a GPU that is not reserved yet can be shared.
    of.want({"d"});
    CHECK(of.ended.size() == 1);
    CHECK(of.group("d") == of.group("a"));
    CHECK(of.serve() == 2);
    CHECK(of.ended.size() == 4);
}

TEST_CASE("whole GPUs and groups never have one GPU, before and after these are observed") {
    world of(node(2) + whole("w") + whole("v") + fraction("a", "0.5") + fraction("b", "0.5"));
    of.want({"w"});
    CHECK(of.ended[1] == "applied");
    CHECK(of.binder.marks({"team", "w"}, 0, of.storage())
              .first.annotations.at("received-resource-type") == "Regular");
    of.want({"a"});
    of.want({"v"});
    CHECK(of.ended[3] == too_few);
    of.starting.erase({"team", "v"});
    CHECK(of.serve() == 1);
    CHECK(of.ended[2] == "applied");
    of.want({"v"});
    CHECK(of.ended[4] == too_few);
    of.take(whole("w", true) + fraction("a", "0.5", {of.group("a")}));
    of.want({"b"});
    CHECK(of.groups("b").size() == 1);
    CHECK(of.serve() == 0);
    CHECK(of.ended[5] == "applied");
}

TEST_CASE("a reservation without sharers is used again, but not for a pod with a whole GPU") {
    world of(node(1) + fraction("a", "0.5") + whole("w"));
    of.reserve("left");
    of.want({"w"});
    CHECK(of.ended[1] == too_few);
    of.starting.clear();
    of.want({"a"});
    CHECK(of.group("a") == "left");
    CHECK(of.serve() == 0);
    CHECK(of.ended[2] == "applied");
    of.now += 60 * second;
    of.step();
    CHECK_FALSE(of.binder.next(of.devices(), of.pods(), of.now));
}

TEST_CASE("a group that is being deleted gets no pods") {
    world of(node(1) + fraction("a", "0.5"));
    of.reserve("left");
    of.step();
    of.now += 10 * second;
    const auto one = of.binder.next(of.devices(), of.pods(), of.now);
    REQUIRE(one);
    CHECK(one->request.method == http_method::erase);
    of.want({"a"});
    CHECK(of.ended[1] == too_few);
}

TEST_CASE("a pod with parts of several GPUs gets one group for each") {
    world of(node(2) + fraction("a", "0.5", {}, 2) + fraction("b", "0.5", {}, 2));
    of.want({"a"});
    CHECK(of.groups("a").size() == 2);
    CHECK(of.serve() == 2);
    CHECK(of.ended[1] == "applied");
    of.take(fraction("a", "0.5", of.groups("a"), 2));
    of.want({"b"});
    CHECK(of.serve() == 0);
    CHECK(of.groups("b") == of.groups("b"));
    CHECK(of.ended[2] == "applied");
}

TEST_CASE("each attempt to start a pod names new groups") {
    world of(node(1) + fraction("a", "0.5"));
    of.want({"a"});
    const std::string first = of.group("a");
    of.starting.clear();
    of.step();
    of.settle();
    CHECK(of.ended[1] == "not_started");
    of.want({"a"});
    CHECK(of.group("a") != first);
}

TEST_CASE(
    "live, a fraction waits unless reservation pods can be made, and its ConfigMaps are named") {
    const auto waits = [](live_options how, const std::string& yaml) {
        fed_objects of(std::move(how));
        of.take(yaml);
        of.objects.tell(of.view, of.first);
        const auto* const effects = of.objects.storage().plan().find({"team", "a"});
        const auto pod = of.objects.copies().pods.front();
        if (!effects)
            return pod.unsupported.empty() ? std::string() : pod.unsupported.front();
        return effects->waits.empty() ? std::string() : effects->waits.front();
    };
    const std::string pod = node(1) + fraction("a", "0.5");
    CHECK(waits(with_reservations(), pod).empty());
    CHECK(waits(fed_objects::options(), pod) ==
          "metadata.annotations[gpu-fraction] (only KAI serves it)");
    std::string unnamed = pod;
    unnamed.replace(unnamed.find("runai/shared"), 12, "runai/other");
    CHECK(waits(with_reservations(), unnamed)
              .starts_with("annotation runai/shared-gpu-configmap is missing"));
}

TEST_CASE("a pod whose Binding was lost with the lease is bound with the same groups") {
    world of(node(1) + fraction("a", "0.5"));
    of.want({"a"});
    CHECK(of.serve() == 1);
    CHECK(of.ended[1] == "applied");
    const std::string group = of.group("a");
    of.binder.clear();
    of.step();
    CHECK(of.group("a") == group);
    CHECK(of.unready("a").empty());
}

TEST_CASE("a pod that requests shares is not bound without a choice or without reserved GPUs") {
    world of(node(1) + fraction("a", "0.5"));
    const std::string none = "no shares of GPUs are chosen for the pod";
    CHECK(of.unready("a") == none);
    of.binder.want({"team", "a"}, "u-a", "n1", of.storage().plan(), {of.now, 1});
    CHECK(of.unready("a") == none);
    of.want({"a"});
    CHECK(of.unready("a") == "its GPUs on node n1 are not reserved");
    CHECK(of.serve() == 1);
    CHECK(of.unready("a").empty());
}

TEST_CASE("a pod is not bound if its reservation changed after its ConfigMaps were written") {
    const std::string changed = "the reservation of its GPUs on node n1 changed after its "
                                "ConfigMaps were written";
    world of(node(2) + fraction("a", "0.5"));
    of.want({"a"});
    CHECK(of.serve() == 1);
    CHECK(of.ended[1] == "applied");
    const std::string group = of.group("a");
    SUBCASE("it failed") {
        of.take(world::reservation(group, "0", "Failed"));
        CHECK(of.unready("a") == changed);
    }
    SUBCASE("it is gone") {
        of.unreserve(group);
        CHECK(of.unready("a") == changed);
    }
    SUBCASE("another one has another GPU") {
        of.unreserve(group);
        of.reserve(group, "1");
        CHECK(of.unready("a") == changed);
    }
    SUBCASE("it is as it was") {
        CHECK(of.unready("a").empty());
    }
}

TEST_CASE("a group gets no pods if no reservation pod that stands names its GPU") {
    const auto groups = [](const std::string& reservations) {
        world of(node(2) + fraction("s", "0.4", {"g"}) + fraction("a", "0.5") + reservations);
        of.want({"a"});
        return of.groups("a");
    };
    using names = std::vector<std::string>;
    CHECK(groups(world::reservation("g", "0")) == names{"g"});
    for (const std::string& each : {std::string(), world::reservation("g", "0", "Failed"),
                                    world::reservation("g", ""), world::reservation("g", "all"),
                                    world::reservation("g", "0") + world::reservation("h", "0")}) {
        INFO(each);
        CHECK(groups(each) != names{"g"});
    }
    CHECK(groups("").size() == 1);
}

TEST_CASE("only reservation pods of the scheduler itself await sharers") {
    world of(node(2) + fraction("a", "0.5") + world::reservation("g", "0", "Running", "others"));
    of.want({"a"});
    CHECK(of.groups("a") != std::vector<std::string>{"g"});
    CHECK(of.groups("a").size() == 1);
}

TEST_CASE("whole GPUs of pods that started before any pod shared a GPU are in use") {
    world of(node(1) + whole("w"));
    of.starting.insert({"team", "w"});
    of.step();
    of.take(fraction("a", "0.5"));
    of.step();
    of.want({"a"});
    CHECK(of.ended[1] == too_few);
    CHECK(of.unready("w") == "");
}

TEST_CASE("whole GPUs that were chosen before the GPUs of the node were shared are in use") {
    const std::string other =
        "---\napiVersion: v1\nkind: Node\nmetadata: {name: h, annotations: "
        "{hami.io/node-nvidia-register: "
        "'[{\"id\":\"g\",\"count\":8,\"devmem\":100,\"devcore\":100,\"health\":true}]'}}\nstatus: "
        "{allocatable: {cpu: 8, pods: 110, nvidia.com/gpu: 8}}\n";
    world of(node(1) + other + whole("w") + whole("v"));
    REQUIRE(of.storage().plan().find({"team", "w"}));
    of.want({"w"});
    CHECK(of.ended[1] == "applied");
    of.take(fraction("a", "0.5"));
    of.want({"a"});
    CHECK(of.ended[2] == too_few);
    // Its binding goes on.
    CHECK(of.unready("w") == "");
}

TEST_CASE("a waiting pod that names its group already waits, and does not share the group") {
    std::string stale = fraction("a", "0.5", {"g"});
    stale.erase(stale.find("nodeName: n1, "), 14);
    world of(node(1) + stale);
    of.reserve("g");
    const auto* const effects = of.storage().plan().find({"team", "a"});
    REQUIRE(effects);
    REQUIRE(effects->unmodelled.size() == 1);
    CHECK(effects->unmodelled.front().starts_with("label runai-gpu-group names a group before"));
    CHECK_FALSE(of.devices().reservations().has_sharers("g"));
}

} // namespace gpu_binder_test
