// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include <muster/serve/json_values.hpp>

namespace muster {
inline namespace v0_1 {
namespace testing {
namespace api_server {

/// One write that a client asked for, and what came of it.
struct journal_entry {
    std::int64_t time = 0;
    std::string verb;
    std::string
        resource; ///< with group and subresource: `pods/binding`, `leases.coordination.k8s.io`
    std::string in_namespace;
    std::string name;
    std::string user;
    int code = 0;
    std::string body = {};
    /// What was answered; of a failure its Status.
    json::object answered = {};
};

/// What a request asks for, in the words of audit logs and faults.
struct request_name {
    std::string verb; ///< get, list, watch, create, update, patch, delete, deletecollection
    std::string resource = {};
    std::string in_namespace = {};
    std::string name = {};
};

} // namespace api_server
} // namespace testing
} // namespace v0_1
} // namespace muster
