// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include <support/memory_client.hpp>

namespace muster {
inline namespace v0_1 {
namespace adapter {

/// A `conformance_world`: a server in memory, with a client that is a `memory_client<4>` or derives
/// from it.
template<class Client>
struct memory_world {
    using cluster_type = Client;
    using traits = typename Client::traits;

    explicit memory_world(election_options elections = {}) : client(api, "a", "a", elections) {}

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

} // namespace adapter
} // namespace v0_1
} // namespace muster
