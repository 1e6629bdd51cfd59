// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "../live/live.hpp"
#include "../options/live.hpp"
#include "command.hpp"
#include "commands.hpp"
#include "live_only.hpp"

namespace cli {
namespace {

void add_reservations(CLI::App& to, muster::kube::reservation_options& how) {
    to.add_option("--kai-reservation-image", how.image,
                  "Image of KAI's agent resource-reservation. With this image, pods with the "
                  "annotations gpu-fraction or gpu-memory share GPUs that reservation pods hold "
                  "(default: none, such pods wait)")
        ->type_name("IMAGE");
    to.add_option("--kai-reservation-namespace", how.name_space,
                  "Namespace of the reservation pods of KAI")
        ->capture_default_str()
        ->type_name("NAMESPACE");
    to.add_option("--kai-reservation-account", how.service_account,
                  "Service account of the reservation pods of KAI")
        ->capture_default_str()
        ->type_name("NAME");
    to.add_option("--kai-runtime-class", how.runtime_class,
                  "Runtime class of the reservation pods of KAI (default: none)")
        ->type_name("NAME");
}

} // namespace

runner declare_schedule(CLI::App& to) {
    const auto asked = std::make_shared<schedule_request>();
    add_scheduling(to, *asked);
    add_leading(to, *asked);
    add_seconds(to, "--heal-after", asked->heal_seconds,
                "Time in seconds for which a group may be partly bound and impossible to "
                "complete before its bound pods are evicted");
    add_seconds(to, "--volume-timeout", asked->volume_seconds,
                "Time limit in seconds for binding the volumes of a pod. If it passes, no pod of "
                "the group is bound, and the group is decided again");
    add_reservations(to, asked->reservations);
    add_seconds(to, "--compare-every", asked->compare_seconds,
                "Interval in seconds between comparisons of the cached state with a fresh "
                "listing");
    end_help(to, {.examples = {"muster schedule --dry-run"}, .codes = {pending}});
    return [asked] { return run_live<schedule_request, schedule>(*asked); };
}

} // namespace cli
