// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <muster/kube/dialect.hpp>

#include "choices.hpp"
#include "live.hpp"
#include "policy.hpp"
#include "reading.hpp"

namespace cli {

void add_log_format(CLI::App& to, log_format& format) {
    static const std::map<std::string, log_format> formats{{"json", log_format::json},
                                                           {"text", log_format::text}};
    add_choice(to, "--log-format", format, formats,
               "Format of the log lines on stderr (default: text)");
}

void add_live(CLI::App& to, live_request& asked) {
    to.add_option("--kubeconfig", asked.kubeconfig,
                  "Path to a kubeconfig (default: $KUBECONFIG, ~/.kube/config, in-cluster)")
        ->type_name("FILE");
    to.add_option("--context", asked.context,
                  "Context of the kubeconfig (default: its current context)")
        ->type_name("NAME");
    to.add_option("--server", asked.server,
                  "URL of an API server without authentication, such as kubectl proxy; replaces "
                  "the kubeconfig (default: none)")
        ->type_name("URL");
    to.add_option("--allow-exec-plugin", asked.allowed_plugins,
                  "Absolute path of a credential plugin that the kubeconfig may run; may be "
                  "repeated (default: none)")
        ->allow_extra_args(false)
        ->type_name("/PATH");
    to.add_option("--timeout", asked.patience, "Time limit of the first listing, in seconds")
        ->check(CLI::Range(1, 3600))
        ->capture_default_str()
        ->type_name("SECONDS");
    add_log_format(to, asked.format);
}

void add_queue_namespace(CLI::App& to, live_request& asked) {
    to.add_option("--queue-namespace", asked.queue_namespace, "Namespace of T9k Queues")
        ->capture_default_str()
        ->type_name("NAMESPACE");
}

void add_scheduling(CLI::App& to, live_request& asked) {
    add_live(to, asked);
    std::vector<std::string> names;
    for (const auto& each : muster::kube::dialects)
        names.emplace_back(each.name);
    to.add_option_function<std::vector<std::string>>(
          "--dialect",
          [&asked](const std::vector<std::string>& chosen) {
              asked.dialects.clear();
              for (const std::string& each : chosen)
                  asked.dialects.push_back(*muster::kube::find_dialect(each));
          },
          "API whose groups and queues are read and whose status is written; may be repeated")
        ->check(one_of(names))
        ->allow_extra_args(false)
        ->default_str("t9k");
    to.add_option("--scheduler-name", asked.scheduler_names,
                  "Scheduler name of the pods to schedule; may be repeated (default: the "
                  "schedulers of the dialects)")
        ->allow_extra_args(false)
        ->type_name("NAME");
    add_queue_namespace(to, asked);
    add_topology(to, asked.topology);
    add_rules(to, asked.rules);
    add_policy(to, asked.how);
}

/// A time in whole seconds, of at most a day.
void add_seconds(CLI::App& to, const char* name, std::int64_t& seconds, const char* help) {
    to.add_option(name, seconds, help)
        ->check(CLI::Range(1, 86'400))
        ->capture_default_str()
        ->type_name("SECONDS");
}

void add_leading(CLI::App& to, leading_request& asked) {
    to.add_flag("--dry-run", asked.dry_run, "Decide once, print the decisions, and write nothing");
    to.add_flag("--leader-elect,!--no-leader-elect", asked.elects,
                "Write only while holding a Lease (default: on)");
    to.add_option("--lease-namespace", asked.lease_namespace, "Namespace of the Lease")
        ->capture_default_str();
    to.add_option("--lease-name", asked.lease_name, "Name of the Lease")->capture_default_str();
    to.add_option("--lease-duration", asked.lease_seconds, "Duration of the Lease, in seconds")
        ->check(CLI::Range(2, 3600))
        ->capture_default_str()
        ->type_name("SECONDS");
    to.add_option("--address", asked.address,
                  "IP address of /metrics, /healthz and /readyz; empty = do not serve them")
        ->capture_default_str();
    to.add_option("--port", asked.port,
                  "TCP port of /metrics, /healthz and /readyz; 0 = any free port")
        ->check(CLI::Range(0, 65535))
        ->capture_default_str()
        ->type_name("PORT");
    to.add_flag("-v,--verbose", asked.verbose, "Log each write");
}

} // namespace cli
