// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace cli {

/// Which cluster a command is about.
struct live_request {
    std::string kubeconfig;
    std::string context;
    /// Instead of a kubeconfig: a server that asks for no credentials (kubectl proxy).
    std::string server;
    std::vector<std::string> allowed_plugins;
    std::vector<std::string> scheduler_names{"t9k-scheduler"};
    std::string queue_namespace = "t9k-system";
    /// How long the first listing may take, in seconds.
    std::int64_t patience = 60;
};

struct snapshot_request : live_request {
    /// stdout when empty.
    std::string output;
};

struct schedule_request : live_request {
    /// Decide once, print it, and write nothing.
    bool dry_run = false;
    bool elects = true;
    std::string lease_namespace = "muster-system";
    std::string lease_name = "muster-scheduler";
    std::int64_t lease_seconds = 15;
    /// Address of the page with metrics and health; empty: none.
    std::string address = "127.0.0.1";
    std::uint16_t port = 10451;
    bool verbose = false;
};

struct shadow_request : live_request {
    /// How long to watch, in seconds; 0: until it is told to stop.
    std::int64_t seconds = 0;
};

/// Prints the objects of a cluster that decisions need, as one List.
[[nodiscard]] int snapshot(const snapshot_request& asked);

/// Schedules a cluster until SIGINT or SIGTERM.
[[nodiscard]] int schedule(const schedule_request& asked);

/// Says where other schedulers' decisions differ from what Muster would have done; writes nothing.
[[nodiscard]] int shadow(const shadow_request& asked);

} // namespace cli
