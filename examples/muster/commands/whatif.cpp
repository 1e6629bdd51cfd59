// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>
#include <vector>

#include <muster/apis/core/objects.hpp>
#include <muster/document/diagnostic.hpp>

#include "../options/cluster.hpp"
#include "../options/look.hpp"
#include "../options/reading.hpp"
#include "../plan/edits.hpp"
#include "../print/plan_diff.hpp"
#include "command.hpp"
#include "commands.hpp"
#include "diff_text.hpp"
#include "terminal.hpp"
#include "with_report.hpp"

namespace cli {
namespace {

struct whatif_options {
    request asked;
    look how;
    std::vector<edit> edits;
};

void add_edits(CLI::App& to, std::vector<edit>& edits) {
    const auto add = [&](const char* name, edit::kind what, const char* value, const char* help) {
        to.add_option_function<std::string>(
              name,
              [&edits, what](const std::string& text) {
                  edits.push_back({what, text});
              },
              help)
            ->trigger_on_parse()
            ->type_name(value);
    };
    using kind = edit::kind;
    add("--add-nodes", kind::add_nodes, "COUNTxNODE[,LABEL=VALUE...]",
        "Add copies of a node, e.g. 4xnode-a, not cordoned and without taints of conditions;\n"
        "labels that follow replace those of the node");
    add("--cordon", kind::cordon, "NODE", "Cordon the node: it takes no new pods");
    add("--uncordon", kind::uncordon, "NODE", "Uncordon the node: it takes pods again");
    add("--drain", kind::drain, "NODE", "Cordon the node, and make its pods wait for another node");
    add("--remove-gang", kind::remove_gang, "[NAMESPACE/]NAME",
        "Remove the group and all its pods");
    add("--remove-pod", kind::remove_pod, "[NAMESPACE/]NAME", "Remove the pod");
    add("--bind-claim", kind::bind_claim, "[NAMESPACE/]NAME",
        "Bind the PersistentVolumeClaim to a new volume that every node can use; a claim that\n"
        "does not exist is created first");
    add("--set", kind::set, "WHAT=VALUE",
        "Set a field of a queue or group:\n"
        "queue.NAME.quota.RESOURCE=QUANTITY (or none), .deserved.RESOURCE=QUANTITY,\n"
        ".priority=N, .closed=true,\n"
        ".preemptible=true, .weight=N,\n"
        "group.NAME.minMember=N, .roles.ROLE.minMember=N, .priority=N, .queue=NAME,\n"
        ".toleration=KEY[=VALUE]:EFFECT, .nodeSelector.LABEL=VALUE (empty: dropped),\n"
        "and fields that an empty value drops: .nodeAffinity=, .podAffinity=, .podAntiAffinity=,\n"
        ".topologySpread=, .topology= (of the group as a whole), .roles.ROLE.topology=");
}

int print_changes(muster::codec::manifests& objects, muster::codec::diagnostics& found,
                  const whatif_options& options) {
    const request& asked = options.asked;
    const report before = make_report(objects, asked, found);
    if (has_errors(objects, asked, found))
        return invalid_input;
    std::vector<std::string> remarks;
    if (const std::string fault = apply_edits(options.edits, asked, objects, remarks);
        !fault.empty()) {
        complain(fault);
        return usage;
    }
    for (const std::string& remark : remarks)
        complain(remark);
    muster::codec::diagnostics of_edits;
    const report after = make_report(objects, asked, of_edits);
    if (!of_edits.ok()) {
        complain(of_edits, asked.strict);
        return invalid_input;
    }
    std::vector<std::string> changes;
    for (const edit& change : options.edits)
        changes.push_back(option_text(change));
    const std::string text =
        diff_text("WhatIf", changes, digest_of(before), digest_of(after), options.how);
    return checked(before, checked(after, finish(write(text), after.pods_pending > 0)));
}

int run_whatif(whatif_options options) {
    if (options.edits.empty()) {
        complain("nothing is to change (expected e.g. --add-nodes 4xnode-a, see --help)");
        return usage;
    }
    options.asked.all_groups = true;
    return with_objects(options.asked, [&](auto& objects, auto& found) {
        return print_changes(objects, found, options);
    });
}

} // namespace

runner declare_whatif(CLI::App& to) {
    const auto options = std::make_shared<whatif_options>();
    add_cluster(to, options->asked);
    add_rules(to, options->asked.rules);
    add_look(to, options->how, {"table", "wide", "json", "yaml"});
    add_edits(to, options->edits);
    add_group_selector(to, options->asked);
    end_help(to, {.notes = "Changes apply in the given order, and may be repeated.",
                  .examples = {"muster whatif -f cluster.yaml --add-nodes 2xnode-a --set "
                               "queue.a.quota.cpu=40"},
                  .codes = {invalid_input, pending, broken}});
    return [options] { return run_whatif(*options); };
}

} // namespace cli
