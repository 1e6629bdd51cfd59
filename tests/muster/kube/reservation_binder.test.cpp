// SPDX-License-Identifier: Apache-2.0
#include <muster/kube/reservation_binder.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <muster/kube/answers.hpp>

namespace reservation_binder_test {

using namespace muster::kube;
using muster::adapter::outcome;
using muster::adapter::second;
using muster::codec::object_key;
using muster::codec::pod_object;

namespace {

struct known_pod {
    pod_object object;
    muster::codec::group_key told_in{};
};

/// Pods `team/NAME` with fractions, the reservation pods of node n1, and the binder.
struct world {
    world() { known.serve("reserved"); }

    void pod(const std::string& name, const std::string& uid = {}) {
        pod_object& made = pods[{"team", name}].object;
        made.metadata.key = {"team", name};
        made.metadata.uid = uid.empty() ? "u-" + name : uid;
        made.metadata.annotations.set("runai/shared-gpu-configmap", name + "-maps");
        made.share_containers = {{"c", {}}};
        pods[{"team", name}].told_in = {"team", name};
        starting.insert({"team", name});
    }
    void want(std::uint64_t ticket, const std::string& name, std::vector<std::string> groups) {
        chosen.insert(groups.begin(), groups.end());
        binder.want(ticket, {"team", name}, "u-" + name, "n1", {std::move(groups), "0.50"}, now);
    }
    /// What the server and the agent of a reservation pod do.
    void reserve(const std::string& group, const std::string& gpu = {},
                 const std::string& by = "gangs", bool failed = false) {
        pod_object made;
        made.metadata.key = {"reserved", reservation_name("n1", group)};
        made.metadata.uid = "u-" + group;
        made.metadata.labels.set("runai-gpu-group", group);
        if (!gpu.empty())
            made.metadata.annotations.set("run.ai/reserve_for_gpu_index", gpu);
        if (!by.empty())
            made.metadata.annotations.set("muster.dev/reserved-by", by);
        made.node = "n1";
        made.phase = failed ? muster::pod_phase::failed : muster::pod_phase::running;
        known.put(made);
    }
    void unreserve(const std::string& group) {
        known.lose({"reserved", reservation_name("n1", group)});
    }
    void share(const std::string& name, const std::string& group) {
        pod_object made = pods[{"team", name}].object;
        made.metadata.key = {"team", name};
        made.metadata.labels.set("runai-gpu-group", group);
        made.node = "n1";
        known.put(made);
    }

    /// Returns the writes, which all get this outcome, in short: the method and the last part of
    /// the path, or the name of a created pod.
    std::vector<std::string> writes(outcome what = outcome::applied) {
        binder.review(
            known, chosen, [&](const object_key& key) { return starting.contains(key); }, now);
        std::vector<std::string> made;
        while (auto one = binder.next(known, pods, now)) {
            std::string path = one->request.path;
            if (one->request.method == http_method::post)
                path = one->about.name;
            made.push_back(std::string(to_text(one->request.method)) + " " +
                           path.substr(path.find_last_of("/ ") + 1));
            bodies[made.back()] = one->request.body;
            CHECK(binder.done(one->about, what, "no", now));
            REQUIRE(made.size() < 20);
        }
        return made;
    }
    /// Returns the orders that end: the ticket, the outcome, and the message.
    std::vector<std::string> ended() {
        binder.review(
            known, chosen, [&](const object_key& key) { return starting.contains(key); }, now);
        std::vector<std::string> made;
        for (const auto& each : binder.settle(known, pods, now))
            made.push_back(std::to_string(each.of) + " " +
                           outcome_names[static_cast<std::size_t>(each.what)] +
                           (each.message.empty() ? "" : ": " + each.message));
        return made;
    }

    live_reservations known;
    std::map<object_key, known_pod> pods;
    std::set<object_key> starting;
    std::set<std::string> chosen;
    std::map<std::string, std::string> bodies;
    std::int64_t now = 1000 * second;
    reservation_binder binder{{"reserved", "agent", "account", "", "gangs"}};
};

using lines = std::vector<std::string>;

const std::string no_rights = "1 refused: reservation pod reserved/gpu-reservation-n1-g ";

} // namespace

TEST_CASE("a GPU is reserved, then the ConfigMaps name it, then the pod may be bound") {
    world of;
    of.pod("a");
    of.want(1, "a", {"g"});
    CHECK(of.writes() == lines{"POST gpu-reservation-n1-g"});
    CHECK(of.ended().empty());
    of.reserve("g");
    CHECK(of.writes().empty());
    CHECK(of.ended().empty());
    of.reserve("g", "7");
    CHECK(of.writes() == lines{"PATCH a-maps-0", "PATCH a-maps-0-evar"});
    CHECK(of.bodies["PATCH a-maps-0"].find(R"("NVIDIA_VISIBLE_DEVICES":"7")") != std::string::npos);
    CHECK(of.bodies["PATCH a-maps-0"].find(R"("GPU_PORTION":"0.50")") != std::string::npos);
    CHECK(of.bodies["PATCH a-maps-0-evar"].find("GPU_PORTION") == std::string::npos);
    CHECK(of.ended() == lines{"1 applied"});
    CHECK(of.writes().empty());
}

TEST_CASE("pods of one group share its reservation, and a pod with several GPUs waits for all") {
    world of;
    for (const char* const name : {"a", "b"})
        of.pod(name);
    of.want(1, "a", {"g"});
    of.want(2, "b", {"g", "h"});
    CHECK(of.writes() == lines{"POST gpu-reservation-n1-g", "POST gpu-reservation-n1-h"});
    of.reserve("g", "0");
    of.reserve("h");
    CHECK(of.writes().size() == 2);
    CHECK(of.ended() == lines{"1 applied"});
    of.reserve("h", "3");
    CHECK(of.writes().size() == 2);
    CHECK(of.bodies["PATCH b-maps-0"].find(R"("NVIDIA_VISIBLE_DEVICES":"0,3")") !=
          std::string::npos);
    CHECK(of.ended() == lines{"2 applied"});
}

TEST_CASE("a reservation that exists is used, whoever made it") {
    world of;
    of.pod("a");
    of.reserve("g", "0", "");
    of.share("s", "g");
    of.want(1, "a", {"g"});
    CHECK(of.writes() == lines{"PATCH a-maps-0", "PATCH a-maps-0-evar"});
    CHECK(of.ended() == lines{"1 applied"});
}

TEST_CASE("a reservation that fails or cannot be created refuses the pod") {
    world of;
    of.pod("a");
    of.want(1, "a", {"g"});
    SUBCASE("the server refuses it") {
        CHECK(of.writes(outcome::refused) == lines{"POST gpu-reservation-n1-g"});
        CHECK(of.ended() == lines{no_rights + "cannot be created: no"});
    }
    SUBCASE("its namespace does not exist") {
        CHECK(of.writes(outcome::gone).size() == 1);
        CHECK(of.ended() == lines{no_rights + "cannot be created: no"});
    }
    SUBCASE("the kubelet refuses it") {
        CHECK(of.writes().size() == 1);
        of.reserve("g", "", "gangs", true);
        CHECK(of.ended() ==
              lines{no_rights + "has ended (does the kubelet of node n1 have a free GPU?)"});
        // It is deleted as soon as no pod is to have it.
        of.chosen.clear();
        CHECK(of.writes() == lines{"DELETE gpu-reservation-n1-g"});
    }
    SUBCASE("it does not name its GPU in time") {
        CHECK(of.writes().size() == 1);
        of.reserve("g");
        of.now += 119 * second;
        CHECK(of.ended().empty());
        CHECK(of.binder.wakes() == 1120 * second);
        of.now += 1 * second;
        CHECK(of.ended() == lines{no_rights + "does not name its GPU yet (waited 120 s)"});
        of.chosen.clear();
        CHECK(of.writes() == lines{"DELETE gpu-reservation-n1-g"});
    }
}

TEST_CASE("a ConfigMap that cannot be written refuses the pod") {
    world of;
    of.pod("a");
    of.reserve("g", "0");
    of.want(1, "a", {"g"});
    CHECK(of.writes(outcome::refused).size() == 2);
    CHECK(of.ended() == lines{"1 refused: ConfigMap team/a-maps-0 cannot be written: no"});
}

TEST_CASE("a write is made once, and again after a delay if it may not have reached the server") {
    world of;
    of.pod("a");
    of.want(1, "a", {"g"});
    CHECK(of.writes(outcome::unknown) == lines{"POST gpu-reservation-n1-g"});
    CHECK(of.writes().empty());
    CHECK(of.binder.wakes() == 1001 * second);
    of.now += second;
    // It was created before.
    CHECK(of.writes(outcome::conflict) == lines{"POST gpu-reservation-n1-g"});
    CHECK(of.ended().empty());
    of.reserve("g", "0");
    CHECK(of.writes(outcome::transient).size() == 2);
    CHECK(of.ended().empty());
    of.now += second;
    CHECK(of.writes().size() == 2);
    CHECK(of.ended() == lines{"1 applied"});
}

TEST_CASE("an order ends when its pod is gone, replaced or no longer about to start") {
    world of;
    of.pod("a");
    of.want(1, "a", {"g"});
    SUBCASE("gone") {
        of.pods.clear();
        CHECK(of.ended() == lines{"1 gone"});
    }
    SUBCASE("replaced") {
        of.pod("a", "other");
        CHECK(of.ended() == lines{"1 replaced"});
    }
    SUBCASE("not about to start") {
        of.starting.clear();
        CHECK(of.ended() == lines{"1 not_started"});
    }
    CHECK(of.writes().empty());
}

TEST_CASE(
    "a reservation goes when its last sharer left, and one that never had any after a while") {
    world of;
    of.reserve("g", "0");
    of.share("s", "g");
    CHECK(of.writes().empty());
    SUBCASE("the last sharer left") {
        of.known.lose({"team", "s"});
        CHECK(of.writes() == lines{"DELETE gpu-reservation-n1-g"});
        CHECK(of.bodies["DELETE gpu-reservation-n1-g"].find(R"("uid":"u-g")") != std::string::npos);
        CHECK(of.binder.leaving() == std::set<std::string>{"g"});
        of.unreserve("g");
        CHECK(of.writes().empty());
        CHECK(of.binder.leaving().empty());
    }
    SUBCASE("an earlier process left it without sharers") {
        of.reserve("h", "1");
        CHECK(of.writes().empty());
        CHECK(of.binder.wakes() == 1010 * second);
        of.now += 10 * second;
        CHECK(of.writes() == lines{"DELETE gpu-reservation-n1-h"});
    }
    SUBCASE("a pod that is about to start gets it") {
        of.reserve("h", "1");
        of.chosen.insert("h");
        of.now += 60 * second;
        CHECK(of.writes().empty());
    }
}

TEST_CASE("reservations that KAI or another scheduler made stay") {
    world of;
    of.reserve("g", "0", "");
    of.reserve("h", "1", "others");
    CHECK(of.writes().empty());
    of.now += 60 * second;
    CHECK(of.writes().empty());
}

TEST_CASE(
    "a deletion that the server refuses is tried again after a minute, and its GPU is usable") {
    world of;
    of.reserve("g", "0");
    of.now += 10 * second;
    CHECK(of.writes().empty());
    of.now += 10 * second;
    CHECK(of.writes(outcome::refused) == lines{"DELETE gpu-reservation-n1-g"});
    CHECK(of.binder.leaving().empty());
    of.now += 59 * second;
    CHECK(of.writes().empty());
    of.now += second;
    CHECK(of.writes() == lines{"DELETE gpu-reservation-n1-g"});
}

TEST_CASE("after a change of leadership reservations are found again") {
    world of;
    of.pod("a");
    of.want(1, "a", {"g"});
    CHECK(of.writes().size() == 1);
    of.reserve("g", "0");
    of.binder.clear();
    of.chosen.clear();
    CHECK(of.ended().empty());
    CHECK(of.writes().empty());
    of.now += 10 * second;
    CHECK(of.writes() == lines{"DELETE gpu-reservation-n1-g"});
}

TEST_CASE("an order whose GPU is reserved ends with those of its gang, and is watched until then") {
    world of;
    for (const char* const name : {"a", "b"}) {
        of.pod(name);
        of.pods[{"team", name}].told_in = {"team", "gang"};
    }
    of.reserve("g", "0");
    of.reserve("h");
    of.want(1, "a", {"g"});
    of.want(2, "b", {"h"});
    CHECK(of.writes().size() == 2);
    CHECK(of.ended().empty());
    SUBCASE("its reservation fails meanwhile") {
        of.reserve("g", "0", "gangs", true);
        of.reserve("h", "1");
        CHECK(of.writes().size() == 2);
        CHECK(of.ended() ==
              lines{no_rights + "has ended (does the kubelet of node n1 have a free GPU?)",
                    "2 applied"});
    }
    SUBCASE("all are reserved") {
        of.reserve("h", "1");
        CHECK(of.writes().size() == 2);
        CHECK(of.ended() == lines{"1 applied", "2 applied"});
    }
}

TEST_CASE("ConfigMaps are written again if a new reservation pod has another GPU") {
    world of;
    of.pod("a");
    of.reserve("g", "0");
    of.reserve("h");
    of.want(1, "a", {"g"});
    CHECK(of.writes() == lines{"PATCH a-maps-0", "PATCH a-maps-0-evar"});
    of.unreserve("g");
    CHECK(of.writes() == lines{"POST gpu-reservation-n1-g"});
    of.reserve("g", "1");
    CHECK(of.ended().empty());
    of.now += second;
    CHECK(of.writes() == lines{"PATCH a-maps-0", "PATCH a-maps-0-evar"});
    CHECK(of.bodies["PATCH a-maps-0"].find(R"("NVIDIA_VISIBLE_DEVICES":"1")") != std::string::npos);
    CHECK(of.ended() == lines{"1 applied"});
}

TEST_CASE("a reservation pod that does not name one GPU, or that of another one, is refused") {
    for (const std::string wrong :
         {"all", "none", "0,1", "-1", " 0", "GPU-1,GPU-2", "GPU-", "1.5"}) {
        INFO(wrong);
        world of;
        of.pod("a");
        of.reserve("g", wrong);
        of.want(1, "a", {"g"});
        CHECK(of.writes().empty());
        CHECK(of.ended() ==
              lines{no_rights + "names \"" + wrong + "\" (expected the index or UUID of a GPU)"});
    }
    world of;
    of.pod("a");
    of.reserve("g", "0");
    of.reserve("h", "0");
    of.want(1, "a", {"g"});
    CHECK(of.writes().empty());
    CHECK(of.ended() ==
          lines{no_rights + "names GPU 0, as reservation pod reserved/gpu-reservation-n1-h does"});
}

TEST_CASE(
    "a failed reservation stays while its group has sharers, and its GPU gets no other pods") {
    world of;
    of.reserve("h", "0", "gangs", true);
    of.share("s", "h");
    CHECK(of.writes().empty());
    // The kubelet gives the GPU to the reservation of another group.
    of.pod("a");
    of.want(1, "a", {"g"});
    of.reserve("g", "0");
    CHECK(of.writes().empty());
    CHECK(of.ended() == lines{no_rights + "names GPU 0, as reservation pod "
                                          "reserved/gpu-reservation-n1-h does, which has ended "
                                          "and has sharers"});
    // It goes with its last sharer.
    of.chosen.clear();
    of.known.lose({"team", "s"});
    CHECK(of.writes() == lines{"DELETE gpu-reservation-n1-g", "DELETE gpu-reservation-n1-h"});
}

TEST_CASE("a group with sharers gets no new reservation pod") {
    world of;
    of.pod("a");
    of.share("s", "g");
    of.want(1, "a", {"g"});
    CHECK(of.writes().empty());
    CHECK(of.ended() == lines{no_rights + "is gone, and pods use its GPU"});
}

TEST_CASE("a deletion whose answer is lost may be carried out while its pod is there") {
    world of;
    of.reserve("g", "0");
    CHECK(of.writes().empty());
    of.now += 10 * second;
    SUBCASE("the answer is lost") {
        CHECK(of.writes(outcome::unknown) == lines{"DELETE gpu-reservation-n1-g"});
    }
    SUBCASE("the lease is lost before the answer") {
        of.binder.review(
            of.known, {}, [](const object_key&) { return false; }, of.now);
        REQUIRE(of.binder.next(of.known, of.pods, of.now));
        of.binder.clear();
    }
    using names = std::set<std::string>;
    CHECK(of.binder.leaving() == names{"g"});
    // Another scheduler started a pod there.
    of.share("s", "g");
    CHECK(of.writes().empty());
    CHECK(of.binder.leaving() == names{"g"});
    of.binder.clear();
    CHECK(of.binder.leaving() == names{"g"});
    of.known.lose({"team", "s"});
    of.unreserve("g");
    CHECK(of.writes().empty());
    CHECK(of.binder.leaving().empty());
}

TEST_CASE("a deleted pod that a finalizer keeps is deleted again after a minute, not at once") {
    world of;
    of.reserve("g", "0");
    CHECK(of.writes().empty());
    of.now += 10 * second;
    CHECK(of.writes() == lines{"DELETE gpu-reservation-n1-g"});
    of.now += 59 * second;
    CHECK(of.writes().empty());
    CHECK(of.binder.leaving() == std::set<std::string>{"g"});
    of.now += second;
    CHECK(of.writes() == lines{"DELETE gpu-reservation-n1-g"});
}

TEST_CASE("results of writes are forgotten with their order, though others wait") {
    world of;
    of.pod("a");
    of.pod("b");
    of.want(1, "a", {"g"});
    of.want(2, "b", {"h"});
    CHECK(of.writes().size() == 2);
    of.reserve("g", "0");
    CHECK(of.writes().size() == 2);
    CHECK(of.ended() == lines{"1 applied"});
    CHECK(of.writes().empty());
    CHECK(of.binder.kept_writes() == 1);
}

TEST_CASE("an order ends when another scheduler binds its pod, or the pod is ordered again") {
    world of;
    of.pod("a");
    of.want(1, "a", {"g"});
    SUBCASE("bound") {
        of.pods[{"team", "a"}].object.node = "n2";
        CHECK(of.writes().empty());
        CHECK(of.ended() == lines{"1 not_started"});
    }
    SUBCASE("ordered again") {
        of.want(2, "a", {"h"});
        CHECK(of.writes() == lines{"POST gpu-reservation-n1-h"});
        CHECK(of.ended() == lines{"1 not_started"});
    }
}

TEST_CASE("a time limit that passes between settle and next is not forgotten") {
    world of;
    of.pod("a");
    of.want(1, "a", {"g"});
    CHECK(of.writes().size() == 1);
    of.reserve("g");
    of.now += 120 * second - 1;
    CHECK(of.ended().empty());
    of.now += 2;
    CHECK_FALSE(of.binder.next(of.known, of.pods, of.now));
    CHECK(of.binder.wakes() <= of.now + second);
}

} // namespace reservation_binder_test
