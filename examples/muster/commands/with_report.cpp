// SPDX-License-Identifier: Apache-2.0
#include <functional>
#include <string>
#include <vector>

#include <muster/apis/core/objects.hpp>
#include <muster/document/diagnostic.hpp>
#include <muster/document/document.hpp>

#include "../plan/read.hpp"
#include "exit_codes.hpp"
#include "terminal.hpp"
#include "with_report.hpp"

namespace cli {
namespace {

using namespace muster::codec;

/// Prints nothing after an error: the objects of gangs are then not read, and all count as skipped.
void print_skipped(const manifests& objects, const diagnostics& found) {
    if (!found.ok())
        return;
    for (const std::string& line : skipped_lines(objects))
        complain(line);
}

/// Warns if default spread constraints were asked for and the input does not show which pods they
/// apply to.
void warn_of_spread(const manifests& objects, const request& asked, diagnostics& found) {
    if (asked.rules.default_spread.empty() || !objects.spread_owners.empty() ||
        objects.lists_spread_owners || objects.pods.empty())
        return;
    muster::codec::report(
        found, severity::warning, object_place{}, {},
        "--default-spread has no effect: the input has no Service, ReplicaSet, StatefulSet or "
        "ReplicationController that selects pods (expected those of kubectl get "
        "services,replicasets,statefulsets,replicationcontrollers -A -o json)");
}

} // namespace

int with_objects(const request& asked, const std::function<int(manifests&, diagnostics&)>& use) {
    diagnostics found;
    std::vector<document> documents = read_objects(asked.files, found, on_unread::isolate);
    if (!found.ok()) {
        complain(found, asked.strict);
        return code_of_failure(found);
    }
    gang_options how;
    how.default_namespace = asked.default_namespace;
    how.rules = asked.rules;
    manifests objects = read_cluster(documents, how, found);
    warn_of_spread(objects, asked, found);
    if (!found.ok() ||
        (asked.strict && (found.warnings() > 0 || !skipped_lines(objects).empty()))) {
        complain(found, asked.strict);
        print_skipped(objects, found);
        return invalid_input;
    }
    return use(objects, found);
}

bool has_errors(const manifests& objects, const request& asked, const diagnostics& found) {
    complain(found, asked.strict);
    print_skipped(objects, found);
    return !found.ok() || (asked.strict && found.warnings() > 0);
}

int checked(const report& made, int code) {
    for (const std::string& violation : made.violations)
        complain("a bug in muster: " + violation);
    return made.violations.empty() ? code : int{broken};
}

int with_report(const request& asked, const std::function<int(const report&)>& show) {
    return with_objects(asked, [&](const manifests& objects, diagnostics& found) {
        const report made = make_report(objects, asked, found);
        if (has_errors(objects, asked, found))
            return int{invalid_input};
        return checked(made, show(made));
    });
}

} // namespace cli
