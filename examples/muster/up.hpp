// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "log_line.hpp"

namespace cli {

/// What `muster up` is asked for.
struct up_request {
    /// Manifests of what is there from the start: definitions, nodes, queues.
    std::vector<std::string> files;
    /// Where the kubeconfig goes.
    std::string kubeconfig = "muster.kubeconfig";
    /// A file of lines `token,user`, as kube-apiserver's --token-auth-file: who else may come in.
    std::string tokens = {};
    std::uint16_t port = 0;
    /// HTTP without TLS and tokens.
    bool plain = false;
    /// Nobody runs the pods that are bound.
    bool no_kubelets = false;
    /// How long a bound pod takes to run, and a deleted one to go.
    std::int64_t pod_milliseconds = 500;
    /// Rules of what goes wrong with requests, as JSON.
    std::vector<std::string> faults = {};
    /// Of these, and of uids.
    std::uint64_t seed = 1;
    log_format format = log_format::text;
    /// Commands of this program that run beside it, on its cluster.
    std::vector<std::string> beside = {};
};

/// Serves a cluster in memory until SIGINT or SIGTERM; gives the exit code.
[[nodiscard]] int up(const up_request& asked);

} // namespace cli
