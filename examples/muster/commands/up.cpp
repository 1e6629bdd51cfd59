// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <memory>

#include "../options/live.hpp"
#include "../serve/up.hpp"
#include "command.hpp"
#include "commands.hpp"
#include "terminal.hpp"

namespace cli {
namespace {

void add_up(CLI::App& to, up_request& asked) {
    to.add_option("-f,--filename", asked.files,
                  "Objects to load at the start: definitions, nodes, queues; may be repeated "
                  "(default: none)")
        ->allow_extra_args(false)
        ->type_name("FILE|DIR|-");
    to.add_option("--kubeconfig", asked.kubeconfig,
                  "Path of the kubeconfig to write; a file that muster up did not write is not "
                  "replaced")
        ->capture_default_str()
        ->type_name("FILE");
    to.add_option("--tokens", asked.tokens,
                  "File of further bearer tokens that are accepted, lines of token,user (default: "
                  "none)")
        ->type_name("FILE");
    to.add_option("--port", asked.port, "TCP port to listen on; 0 = any free port")
        ->check(CLI::Range(0, 65535))
        ->capture_default_str()
        ->type_name("PORT");
    to.add_flag("--plain", asked.plain, "Serve HTTP without TLS and tokens, like kubectl proxy");
    to.add_flag_function(
        "--only-server", [&](std::int64_t) { asked.beside.clear(); },
        "Do not start muster schedule and muster controller on the cluster");
    to.add_flag("--no-kubelets", asked.no_kubelets, "Do not run bound pods");
    to.add_flag("--no-provisioner", asked.no_provisioner,
                "Bind claims to existing volumes only; by default, volumes are provisioned for "
                "every storage class that names a provisioner");
    to.add_option("--pod-delay", asked.pod_milliseconds,
                  "Time in milliseconds until a bound pod runs, and until a deleted pod is gone")
        ->check(CLI::Range(std::int64_t{0}, std::int64_t{3'600'000}))
        ->capture_default_str();
    to.add_option("--fault", asked.faults,
                  "Fault to inject into requests; may be repeated, the first rule that matches a "
                  "request applies (default: none)")
        ->allow_extra_args(false)
        ->type_name("RULE");
    to.add_option("--seed", asked.seed,
                  "Seed of faults and uids: the same requests get the same faults")
        ->capture_default_str();
    add_log_format(to, asked.format);
}

int run_up(const up_request& asked) {
#ifdef MUSTER_HAS_UP
    return up(asked);
#else
    static_cast<void>(asked);
    complain("muster up: built without OpenSSL (expected 3.0 or newer)");
    return usage;
#endif
}

} // namespace

runner declare_up(CLI::App& to) {
    const auto asked = std::make_shared<up_request>();
#ifdef MUSTER_HAS_LIVE
    asked->beside = {"schedule", "controller"};
#endif
    add_up(to, *asked);
    end_help(
        to,
        {.notes =
             "Objects of custom kinds need their definitions in one of the files; without one, "
             "the\n"
             "kinds that muster reads are served without a schema. Files may come from another "
             "cluster\n"
             "(muster snapshot, kubectl get -o yaml): an object that exists is changed, and "
             "nodes,\n"
             "claims, volumes and pods with a node keep their status.\n"
             "Annotations set how long a pod runs and its exit code: muster.dev/run-seconds,\n"
             "muster.dev/exit-code.\n"
             "A fault has a kind (delay, lose_answer, refuse, reset, truncate, half_line, "
             "end_watch,\n"
             "hold_watch, gone, gone_in_stream, compact), the requests that it affects (verb,\n"
             "resource, name), and how often it occurs (skip, times; 0 = always, percent):\n"
             "  --fault "
             "'{\"what\":\"refuse\",\"code\":429,\"verb\":\"create\",\"percent\":20,\"times\":0}'",
         .examples = {"muster up -f cluster.yaml --kubeconfig trial.kubeconfig"},
         .codes = {invalid_input}});
    return [asked] { return run_up(*asked); };
}

} // namespace cli
