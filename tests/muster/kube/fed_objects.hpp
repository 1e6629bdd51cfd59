// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <utility>

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <doctest/doctest.h>

#include <muster/adapter/cluster_view.hpp>
#include <muster/input/read_documents.hpp>
#include <muster/kube/live_objects.hpp>
#include <muster/kube/sent_objects.hpp>

/// The objects of a live cluster, which a test supplies as YAML. Objects of a kind with namespaces
/// are in `team` by default.
struct fed_objects {
    using live_type = muster::kube::live_objects<8>;

    static muster::kube::live_options options() {
        muster::kube::live_options how;
        how.dialects = {muster::kube::dialect::t9k};
        how.scheduler_names = {"gangs"};
        return how;
    }
    explicit fed_objects(muster::kube::live_options how = options()) : objects(std::move(how)) {}

    live_type objects;
    muster::state<live_type::traits> known{objects.pods_kind()};
    muster::adapter::cluster_view<live_type::traits> view{known};
    live_type::whole first{true, true, true, true};

    [[nodiscard]] std::size_t stream_of(const boost::json::object& object) const {
        const auto& all = objects.collections();
        for (std::size_t at = 0; at < all.size(); ++at)
            if (object.at("apiVersion").as_string() == all[at].version &&
                object.at("kind").as_string() == all[at].kind)
                return at;
        FAIL("no collection has " << boost::json::serialize(object));
        return 0;
    }
    template<class Use>
    void for_each_object(const std::string& yaml, const Use& use) {
        static const std::set<std::string> of_cluster{"Node", "DeviceClass", "ResourceSlice",
                                                      "NodeResourceTopology", "DeviceTaintRule"};
        muster::codec::diagnostics found;
        for (const muster::codec::document& each : muster::codec::read_documents(
                 "input", yaml, found, muster::codec::input_format::yaml)) {
            boost::json::object one = each.root().as_object();
            boost::json::object& metadata = one["metadata"].as_object();
            metadata.emplace("uid", "u-" + std::string(metadata.at("name").as_string()));
            metadata["resourceVersion"] = "1";
            if (!of_cluster.contains(std::string(one["kind"].as_string())))
                metadata.emplace("namespace", "team");
            use(one);
        }
        REQUIRE(found.ok());
    }
    void take(const std::string& yaml) {
        for_each_object(yaml, [&](const boost::json::object& object) {
            const auto read =
                muster::kube::read_sent_object("sent", boost::json::serialize(object));
            REQUIRE(read);
            objects.take(stream_of(object), muster::kube::arrived(*muster::kube::detail::identify(
                                                                      boost::json::value(object)),
                                                                  read->document, read->faults));
        });
    }
    void lose(const std::string& yaml) {
        for_each_object(yaml, [&](const boost::json::object& object) {
            objects.lose(stream_of(object),
                         *muster::kube::detail::identify(boost::json::value(object)));
        });
    }
};
