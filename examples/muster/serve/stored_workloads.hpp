// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <muster/serve/api_store.hpp>
#include <muster/serve/controller_client.hpp>

namespace muster {
inline namespace v0_1 {
namespace testing {
namespace api_server {

/// Writes an event on each new Deployment, Job or similar object: this server has no controller
/// that creates the object's pods.
class stored_workloads {
public:
    explicit stored_workloads(api_store& of) : store_(&of), client_(of, "muster-up") {}

    /// Acts on the changes since the last call. O(changes).
    void step() {
        const object_store& from = store_->objects();
        const std::uint64_t last = from.version();
        for (std::size_t at = from.first_after(seen_);
             at < from.history().size() && from.history()[at].version <= last; ++at) {
            const change each = from.history()[at];
            const kind_info& of = store_->kinds()[each.kind];
            if (each.what == change::type::added && is_workload(of))
                client_.say(*each.object, "Warning", "NoController",
                            "muster up has no controller that creates the pods of a " + of.kind +
                                "; it has those of T9k's jobs and Grove's sets");
        }
        seen_ = last;
    }

private:
    [[nodiscard]] static bool is_workload(const kind_info& of) {
        using namespace std::string_view_literals;
        static constexpr std::array names{"deployments"sv, "replicasets"sv, "statefulsets"sv,
                                          "daemonsets"sv,  "jobs"sv,        "cronjobs"sv};
        return (of.group == "apps" || of.group == "batch") &&
               std::ranges::find(names, of.plural) != names.end();
    }

    api_store* store_;
    controller_client client_;
    std::uint64_t seen_ = 0;
};

} // namespace api_server
} // namespace testing
} // namespace v0_1
} // namespace muster
