// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "../live/log_line.hpp"

namespace cli {

/// What `muster up` is asked for.
struct up_request {
    /// Manifests of what is there from the start: definitions, nodes, queues.
    std::vector<std::string> files;
    /// Where the kubeconfig goes.
    std::string kubeconfig = "muster.kubeconfig";
    /// File of further bearer tokens: lines of `token,user`, as for kube-apiserver's
    /// --token-auth-file. Empty = none.
    std::string tokens = {};
    std::uint16_t port = 0;
    /// HTTP without TLS and tokens.
    bool plain = false;
    /// Do not run bound pods.
    bool no_kubelets = false;
    /// Bind claims to existing volumes, but provision no volumes.
    bool no_provisioner = false;
    /// Time in milliseconds until a bound pod runs, and until a deleted pod is gone.
    std::int64_t pod_milliseconds = 500;
    /// Rules for faults in requests, as JSON.
    std::vector<std::string> faults = {};
    /// Seed of faults and uids.
    std::uint64_t seed = 1;
    log_format format = log_format::text;
    /// Commands of this program that run beside it, on its cluster.
    std::vector<std::string> beside = {};
};

/// Serves a cluster in memory until SIGINT or SIGTERM; gives the exit code.
[[nodiscard]] int up(const up_request& asked);

} // namespace cli
