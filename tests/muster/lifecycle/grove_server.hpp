// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <doctest/doctest.h>

#include <muster/apis/grove/set_reader.hpp>
#include <muster/base/timestamp.hpp>
#include <muster/gangs/target.hpp>
#include <muster/input/read_documents.hpp>
#include <muster/lifecycle/cascade.hpp>
#include <muster/lifecycle/grove_controller.hpp>

namespace lifecycle_grove {

namespace json = boost::json;
using muster::lifecycle::grove_view;
using muster::lifecycle::grove_write;
using muster::translate::grove_dialect;

inline std::string grove_file(const std::string& name) {
    std::ifstream in(std::string(MUSTER_TEST_DATA) + "/grove/" + name);
    REQUIRE(in.good());
    return {std::istreambuf_iterator<char>(in), {}};
}

inline json::object parse_yaml(std::string text) {
    muster::codec::diagnostics out;
    const auto documents = muster::codec::read_documents("f", std::move(text), out);
    REQUIRE(out.ok());
    REQUIRE(documents.size() == 1);
    return documents[0].root().as_object();
}

/// An API server that keeps objects, and collects what has lost its owners. Time passes only when
/// it is told to.
struct grove_server {
    std::map<std::string, json::object> objects;  ///< by `group/Kind name`
    std::int64_t now = 1'764'844'200'000'000'000; // 2025-12-04T10:30:00Z
    int uids = 0;
    grove_dialect dialect = grove_dialect::seed;
    std::string home = "default"; ///< the namespace of those who name none

    static std::string key(const json::object& object) {
        return grove_view::group_kind(object) + ' ' +
               std::string(muster::lifecycle::detail::text_at(object, "metadata", "name"));
    }

    /// As `kubectl apply`: spec and metadata as given, the rest as it was.
    void apply(json::object object) {
        const std::string at = key(object);
        auto known = objects.find(at);
        if (known == objects.end())
            return create(std::move(object));
        json::object& metadata = known->second["metadata"].as_object();
        metadata["generation"] = metadata["generation"].as_int64() + 1;
        known->second["spec"] = object["spec"];
    }

    void create(json::object object) {
        const std::string at = key(object);
        REQUIRE_MESSAGE(!objects.contains(at), at);
        json::object& metadata = object["metadata"].as_object();
        if (!metadata.contains("namespace"))
            metadata["namespace"] = home;
        metadata["uid"] = "uid-" + std::to_string(++uids);
        metadata["generation"] = 1;
        metadata["creationTimestamp"] = muster::time_text(now);
        if (object.at("kind") == "Pod")
            object["status"] = {{"phase", "Pending"}};
        else
            object.erase("status");
        objects.emplace(at, std::move(object));
    }

    void write(const grove_write& what) {
        const std::string at = key(what.object);
        switch (what.what) {
        case grove_write::verb::create:
            return create(what.object);
        case grove_write::verb::remove:
            REQUIRE(objects.contains(at));
            CHECK(objects.at(at).at("metadata").at("uid") == what.object.at("metadata").at("uid"));
            objects.erase(at);
            return collect();
        case grove_write::verb::status:
            REQUIRE(objects.contains(at));
            objects.at(at)["status"] = what.object.at("status");
            return;
        case grove_write::verb::replace: {
            REQUIRE(objects.contains(at));
            json::object next = what.object;
            if (const auto* status = objects.at(at).if_contains("status"))
                next["status"] = *status;
            CHECK(next.at("metadata").at("uid") == objects.at(at).at("metadata").at("uid"));
            objects.at(at) = std::move(next);
            return;
        }
        }
    }

    void collect() {
        std::vector<const json::object*> all;
        std::vector<std::string> keys;
        for (const auto& [name, each] : objects) {
            all.push_back(&each);
            keys.push_back(name);
        }
        for (const std::size_t at : muster::lifecycle::orphans_of(all))
            objects.erase(keys[at]);
    }

    void remove(const std::string& at) {
        REQUIRE(objects.contains(at));
        objects.erase(at);
        collect();
    }

    [[nodiscard]] json::object& at(const std::string& name) {
        REQUIRE_MESSAGE(objects.contains(name), name);
        return objects.at(name);
    }

    /// Names of objects of a kind, in their order.
    [[nodiscard]] std::vector<std::string> names(std::string_view kind) const {
        std::vector<std::string> made;
        for (const auto& [name, each] : objects)
            if (name.starts_with(std::string(kind) + ' '))
                made.push_back(name.substr(kind.size() + 1));
        return made;
    }

    /// One pass of the controller over the set of this name.
    template<class Backend>
    muster::lifecycle::grove_step look(const std::string& set, const Backend& backend) {
        json::value copy = at("grove.io/PodCliqueSet " + set);
        muster::codec::diagnostics out;
        const auto documents = muster::codec::read_documents("set", json::serialize(copy), out);
        muster::codec::object_reader root(documents.at(0), out);
        muster::codec::reading_context context;
        const auto read = muster::codec::read_pod_clique_set(root, dialect, context);
        for (const auto& finding : out.findings())
            INFO(to_text(finding));
        CHECK(out.ok());
        std::vector<const json::object*> seen;
        for (const auto& [name, each] : objects)
            seen.push_back(&each);
        return muster::lifecycle::reconcile(read, seen, now, backend, {dialect, "grove-initc"});
    }

    /// Passes until all is quiet; how many it took. After `crash` writes in all no more are done.
    template<class Backend>
    int settle(const std::string& set, const Backend& backend, int* writes_left = nullptr) {
        for (int pass = 0; pass < 50; ++pass) {
            if (!objects.contains("grove.io/PodCliqueSet " + set))
                return pass;
            const auto step = look(set, backend);
            if (step.is_quiet())
                return pass;
            for (const grove_write& each : step.writes) {
                if (writes_left && (*writes_left)-- <= 0)
                    return pass;
                write(each);
            }
        }
        FAIL("it never comes to rest");
        return 0;
    }

    /// The kubelet's part: the pod stands on a node, and is ready.
    void run_pod(json::object& pod, std::string_view node) {
        pod["spec"].as_object()["nodeName"] = node;
        pod["status"] = {
            {"phase", "Running"},
            {"conditions", json::array{json::object{{"type", "Ready"}, {"status", "True"}}}}};
    }

    [[nodiscard]] static bool is_gated(const json::object& pod) {
        const auto* gates = muster::lifecycle::detail::list_at(pod, "spec", "schedulingGates");
        return gates && !gates->empty();
    }

    /// Every pod without a gate is placed and ready.
    void run_ungated() {
        for (auto& [name, each] : objects)
            if (name.starts_with("Pod ") && !is_gated(each) &&
                muster::lifecycle::detail::text_at(each, "spec", "nodeName").empty())
                run_pod(each, "node");
    }
};

} // namespace lifecycle_grove
