// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <doctest/doctest.h>

#include <muster/input/read_inputs.hpp>
#include <muster/kube/controllers.hpp>
#include <muster/serve/kubelets.hpp>

#include "store_carrier.hpp"

namespace muster_test {

namespace api = muster::testing::api_server;

/// A server with the kinds of examples/deploy, one large node, kubelets, and somebody who binds
/// whatever may be bound.
struct controller_world {
    static constexpr std::int64_t second = muster::kube::second;
    api::api_store store{7};
    api::kubelets nodes{store};
    bool binds = true;

    controller_world() {
        store.set_time(1'700'000'000 * second);
        const std::string crds = std::string(MUSTER_TEST_DATA) + "/../../examples/deploy/crds/";
        for (const char* file : {"t9k-scheduler.yaml", "t9k-jobs.yaml", "grove.yaml"})
            create_all(crds + file, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions");
        create("/api/v1/nodes", R"({"metadata":{"name":"a"},"status":{"allocatable":)"
                                R"({"cpu":"64","memory":"64Gi","pods":"110"}}})");
        create("/api/v1/namespaces", R"({"metadata":{"name":"muster-system"}})");
    }

    api::answer ask(std::string method, std::string_view target, std::string body = {}) {
        api::request made;
        made.content_type = method == "PATCH" ? "application/merge-patch+json" : "application/json";
        made.method = std::move(method);
        made.body = std::move(body);
        read_target(target, made);
        api::answer answered = store.handle(made);
        store.settle();
        return answered;
    }
    void create(std::string_view target, const std::string& body) {
        const api::answer made = ask("POST", target, body);
        CAPTURE(boost::json::serialize(made.body));
        REQUIRE(made.code == 201);
    }
    void create_all(const std::string& file, std::string_view target) {
        muster::codec::diagnostics found;
        const std::vector<std::string> files{file};
        const auto documents = muster::codec::read_inputs(files, found);
        REQUIRE(found.ok());
        for (const auto& each : documents)
            if (each.root().is_object())
                create(target, boost::json::serialize(each.root()));
    }

    [[nodiscard]] boost::json::object get(const std::string& path) { return ask("GET", path).body; }
    [[nodiscard]] std::string at(const std::string& path,
                                 std::initializer_list<std::string_view> field) {
        return std::string(api::text_at(get(path), field));
    }
    [[nodiscard]] std::vector<std::string> names(const std::string& collection) {
        std::vector<std::string> made;
        const boost::json::object list = get(collection);
        for (const boost::json::value& each : list.at("items").as_array())
            made.emplace_back(api::text_at(each.as_object(), {"metadata", "name"}));
        return made;
    }
    /// Ends a running pod.
    void end(const std::string& pod, int code) {
        const std::string text = std::to_string(code);
        const std::string phase = code == 0 ? "Succeeded" : "Failed";
        const api::answer made =
            ask("PATCH", pods + "/" + pod + "/status",
                R"({"status":{"phase":")" + phase +
                    R"(","containerStatuses":[{"name":"sleep","state":{"terminated":{"exitCode":)" +
                    text + "}}}]}}");
        REQUIRE(made.code == 200);
    }
    /// What the world does by itself.
    void live() {
        const boost::json::object list = get(pods);
        for (const boost::json::value& each : list.at("items").as_array()) {
            const boost::json::object& pod = each.as_object();
            const auto* gates = muster::lifecycle::detail::list_at(pod, "spec", "schedulingGates");
            if (binds && api::text_at(pod, {"spec", "nodeName"}).empty() &&
                (!gates || gates->empty()))
                static_cast<void>(ask(
                    "POST",
                    pods + "/" + std::string(api::text_at(pod, {"metadata", "name"})) + "/binding",
                    R"({"target":{"kind":"Node","name":"a"}})"));
        }
        nodes.step();
        store.settle();
    }
    [[nodiscard]] std::size_t writes(std::string_view verb, std::string_view resource) const {
        std::size_t count = 0;
        for (const api::journal_entry& each : store.journal())
            count += each.verb == verb && each.resource == resource && each.code < 300 ? 1U : 0U;
        return count;
    }

    const std::string pods = "/api/v1/namespaces/default/pods";
};

/// A controller that runs in it.
template<class Logic>
struct controller_process {
    store_carrier carrier;
    muster::kube::controllers<Logic, store_carrier> runs;

    explicit controller_process(controller_world& of, muster::kube::controller_options how = {},
                                Logic logic = {})
        : carrier(of.store), runs(carrier, std::move(how), std::move(logic)) {
        carrier.pass(of.store.time() - carrier.now().wall);
    }

    /// It ends after so many writes: the next one is carried out, but nobody hears of it.
    void end_after(int writes) {
        carrier.harm = [this, writes](const muster::kube::http_request& what) mutable {
            using mishap = store_carrier::mishap;
            if (what.method == muster::kube::http_method::get ||
                what.path.find("leases") != std::string::npos || writes-- > 0)
                return mishap::none;
            carrier.cut_off = true;
            return writes == -1 ? mishap::lost : mishap::not_sent;
        };
    }

    void run(controller_world& of, std::int64_t span) {
        const std::int64_t end = carrier.now().steady + span;
        while (carrier.now().steady < end) {
            runs.pump(50 * muster::kube::millisecond);
            of.live();
            carrier.pass(10 * muster::kube::millisecond);
        }
    }
};

} // namespace muster_test
