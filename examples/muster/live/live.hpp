// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <muster/apis/core/reading_rules.hpp>
#include <muster/gangs/target.hpp>
#include <muster/kube/dialect.hpp>
#include <muster/kube/reservation_requests.hpp>

#include "../plan/policy_options.hpp"
#include "log_line.hpp"

namespace cli {

/// Which cluster a command is about.
struct live_request {
    std::string kubeconfig;
    std::string context;
    /// Instead of a kubeconfig: a server that asks for no credentials (kubectl proxy).
    std::string server;
    std::vector<std::string> allowed_plugins;
    std::vector<muster::kube::dialect> dialects{muster::kube::dialect::t9k};
    /// Empty: those of the dialects' own schedulers.
    std::vector<std::string> scheduler_names;
    std::string queue_namespace = "t9k-system";
    /// Node labels from coarse to fine, for groups that name no Topology.
    std::vector<std::string> topology;
    muster::codec::reading_rules rules;
    /// Without an image, pods with fractions of KAI wait.
    muster::kube::reservation_options reservations;
    policy_options how;
    /// How long the first listing may take, in seconds.
    std::int64_t patience = 60;
    log_format format = log_format::text;
};

struct snapshot_request : live_request {
    /// stdout when empty.
    std::string output;
};

/// Of what writes into a cluster for as long as it leads.
struct leading_request : live_request {
    /// Decide once, print it, and write nothing.
    bool dry_run = false;
    bool elects = true;
    std::string lease_namespace = "muster-system";
    std::string lease_name;
    std::int64_t lease_seconds = 15;
    /// Address of the page with metrics and health; empty: none.
    std::string address = "127.0.0.1";
    std::uint16_t port = 0;
    bool verbose = false;
};

struct schedule_request : leading_request {
    schedule_request() {
        lease_name = "muster-scheduler";
        port = 10451;
    }
    /// How often what is known is held against a fresh listing, in seconds.
    std::int64_t compare_seconds = 600;
    /// For how long a gang of which some binds failed may be impossible to complete, in seconds.
    std::int64_t heal_seconds = 30;
    /// How long the volumes of a pod may take to be bound, in seconds.
    std::int64_t volume_seconds = 600;
};

struct controller_request : leading_request {
    controller_request() {
        lease_name = "muster-controller";
        port = 10452;
    }
    /// Jobs of this namespace only; empty: of all.
    std::string name_space;
    /// Which APIs Grove's gangs are written for; the first is that of sets that ask for no
    /// scheduler. Empty: Kubernetes' own, and the newest of the others.
    std::vector<muster::translate::target> backends;
    muster::translate::grove_dialect dialect = muster::translate::grove_dialect::upstream;
};

struct shadow_request : live_request {
    /// How long to watch, in seconds; 0 = until a signal stops it.
    std::int64_t seconds = 0;
};

/// Prints the objects of a cluster that decisions need, as one List.
[[nodiscard]] int snapshot(const snapshot_request& asked);

/// Schedules a cluster until SIGINT or SIGTERM.
[[nodiscard]] int schedule(const schedule_request& asked);

/// Runs the controllers of jobs in a cluster until SIGINT or SIGTERM.
[[nodiscard]] int control(const controller_request& asked);

/// Says where other schedulers' decisions differ from what Muster would have done; writes nothing.
[[nodiscard]] int shadow(const shadow_request& asked);

} // namespace cli
