// SPDX-License-Identifier: Apache-2.0
#include <support/memory_client.hpp>

#include <cstdint>
#include <span>
#include <string>

#include <doctest/doctest.h>

#include <muster/testing/cluster_conformance.hpp>

namespace adapter_memory_client_test {

using namespace muster;
using namespace muster::adapter;

struct world {
    using cluster_type = memory_client<4>;
    using traits = cluster_type::traits;

    explicit world(election_options elections = {}) : client(api, "a", "a", elections) {}

    cluster_type& cluster() { return client; }
    static state<traits> make_state() { return {}; }
    static std::string pod(const std::string& name) { return name; }
    static std::string node(const std::string& name) { return name; }
    static std::string gang(const std::string& name) { return name; }
    void put_node(const std::string& name, std::int64_t size) {
        muster::node<4> spec;
        spec.allocatable[kind_id{0}] = size;
        api.put_node(name, spec);
    }
    void put_gang(const std::string& name, std::int64_t minimum) {
        muster::gang<std::string> spec;
        spec.tree = single_role(minimum);
        api.put_gang(name, spec);
    }
    void create_pod(const std::string& name, const std::string& in, bool ours) {
        memory_api<4>::pod_object made;
        made.gang = in;
        made.spec.request[kind_id{0}] = 1;
        made.ours = ours;
        api.create_pod(name, made);
    }
    void delete_pod(const std::string& name) { api.delete_pod(name); }
    std::string uid_of(const std::string& name) { return api.pods().objects.at(name).uid; }
    std::string node_of(const std::string& name) {
        const auto at = api.pods().objects.find(name);
        return at == api.pods().objects.end() ? "" : at->second.on.value_or("");
    }
    void bind_elsewhere(const std::string& name, const std::string& on) {
        api.bind_elsewhere(name, on);
    }
    bool lose_next_answer() {
        api.faults.push_back({order_kind::bind, "", 1, 1, {fault_kind::lost_after, 0}, 0});
        return true;
    }
    void wait() { api.run_until(api.now() + 20 * millisecond); }

    memory_api<4> api;
    cluster_type client;
};

static_assert(testing::conformance_world<world>);

TEST_CASE("a client of a server in memory is a cluster") {
    for (const auto& rule : testing::cluster_conformance<world>::rules())
        for (const bool elects : {false, true}) {
            CAPTURE(rule.name);
            CAPTURE(elects);
            world fresh(election_options{elects});
            for (const std::string& wrong : testing::cluster_conformance<world>::check(rule, fresh))
                FAIL_CHECK(wrong);
        }
}

/// Breaks one promise at a time.
struct liar : memory_client<4> {
    using memory_client<4>::memory_client;
    static inline int lie = 0;

    void bind(std::span<const bind_order<traits>> all) {
        for (bind_order<traits> each : all) {
            if (lie == 0)
                each.uid = "u4";
            if (lie == 1)
                each.node = "node-a";
            if (lie != 2)
                memory_client<4>::bind(std::span<const bind_order<traits>>(&each, 1));
            if (lie == 3)
                memory_client<4>::bind(std::span<const bind_order<traits>>(&each, 1));
        }
    }
    bool would_change(const std::string& gang, const gang_status& status) const {
        return lie == 4 || memory_client<4>::would_change(gang, status);
    }
    bool take_listing(listing<traits>& into) {
        const bool taken = memory_client<4>::take_listing(into);
        if (lie == 5 && taken)
            into.pods.pop_back();
        return taken;
    }
    view_status observe(cluster_view<traits>& view) {
        view_status status = memory_client<4>::observe(view);
        if (lie == 6)
            status.synced = true;
        return status;
    }
};

struct lying_world : world {
    using cluster_type = liar;
    liar& cluster() { return of; }
    liar of{api, "b"};
};

TEST_CASE("the suite notices every promise that is broken") {
    for (liar::lie = 0; liar::lie <= 6; ++liar::lie) {
        CAPTURE(liar::lie);
        std::size_t wrong = 0;
        for (const auto& rule : testing::cluster_conformance<lying_world>::rules()) {
            lying_world fresh;
            wrong += testing::cluster_conformance<lying_world>::check(rule, fresh).size();
        }
        CHECK(wrong > 0);
    }
}

} // namespace adapter_memory_client_test
