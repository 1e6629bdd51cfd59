// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include <muster/apis/core/default_spread.hpp>
#include <muster/document/diagnostic.hpp>
#include <muster/document/nearest.hpp>
#include <muster/input/read_inputs.hpp>
#include <muster/vocabulary/pod_terms.hpp>

#include "choices.hpp"
#include "reading.hpp"

namespace cli {
namespace {

/// Reads the default spread constraints of a file. Throws CLI::ValidationError with the first error
/// in it.
std::vector<muster::spread_term> default_spread_of(const std::string& file) {
    muster::codec::diagnostics found;
    const std::vector<muster::codec::document> documents =
        muster::codec::read_inputs(std::vector{file}, found);
    std::vector<muster::spread_term> read;
    if (documents.size() == 1)
        read = muster::codec::read_default_spread(documents.front(), found);
    else if (found.ok())
        found.error({file, 0, 0}, std::to_string(documents.size()) +
                                      " documents (expected one KubeSchedulerConfiguration)");
    if (!found.ok())
        throw CLI::ValidationError("--default-spread",
                                   muster::codec::to_text(found.findings().front()));
    return read;
}

} // namespace

void add_files(CLI::App& to, std::vector<std::string>& files) {
    to.add_option(
          "-f,--filename", files,
          "A file, a directory, or - for stdin: YAML or JSON manifests, or a batch script of "
          "Slurm; may be repeated")
        ->required()
        ->allow_extra_args(false)
        ->type_name("FILE|DIR|-");
}

void add_rules(CLI::App& to, muster::codec::reading_rules& rules) {
    to.add_option_function<std::string>(
          "--kubernetes",
          [&rules](const std::string& text) {
              const auto version = muster::codec::parse_kubernetes_version(text);
              if (!version)
                  throw CLI::ValidationError(
                      "--kubernetes",
                      muster::codec::in_quotes(text) +
                          " is no version whose rules are known (expected 1." +
                          std::to_string(muster::codec::kubernetes_version::first_minor) +
                          " to 1." + std::to_string(muster::codec::kubernetes_version::last_minor) +
                          ")");
              rules.kubernetes = *version;
          },
          "Version of Kubernetes whose rules apply to pods, 1.35 to 1.38. A spread constraint with "
          "an empty label selector counts all pods of its namespace from 1.38 on, and no pods "
          "before")
        ->default_str("1.37")
        ->type_name("VERSION");

    to.add_option_function<std::string>(
          "--default-spread",
          [&rules](const std::string& text) {
              if (text == "none")
                  rules.default_spread.clear();
              else if (text == "system")
                  rules.default_spread = muster::codec::system_default_spread();
              else
                  rules.default_spread = default_spread_of(text);
          },
          "Spread constraints for pods that have none of their own and that a Service, "
          "ReplicaSet, StatefulSet or ReplicationController selects: none, "
          "kube-scheduler's defaults (system), or those of a KubeSchedulerConfiguration (FILE)")
        ->default_str("none")
        ->type_name("none|system|FILE");
}

void add_topology(CLI::App& to, std::vector<std::string>& levels) {
    to.add_option_function<std::string>(
          "--topology",
          [&levels](const std::string& text) {
              levels.clear();
              for (std::size_t from = 0; from <= text.size();) {
                  const std::size_t comma = std::min(text.find(',', from), text.size());
                  const std::string label = text.substr(from, comma - from);
                  if (label.empty() ||
                      std::find(levels.begin(), levels.end(), label) != levels.end())
                      throw CLI::ValidationError(
                          "--topology",
                          muster::codec::in_quotes(label) +
                              " is no level or is there twice (expected e.g. "
                              "topology.example.com/block,topology.example.com/rack)");
                  levels.push_back(label);
                  from = comma + 1;
              }
          },
          "Node labels from coarse to fine, for groups whose annotations name a level but no "
          "Topology (default: none)")
        ->type_name("LABEL,LABEL,...");
}

void add_grove_dialect(CLI::App& to, muster::translate::grove_dialect& dialect) {
    using muster::translate::grove_dialect;
    static const std::map<std::string, grove_dialect> dialects{
        {"seed", grove_dialect::seed}, {"upstream", grove_dialect::upstream}};
    add_choice(to, "--dialect", dialect, dialects,
               "Reading of Grove's API: as merged (upstream) or as in its complete example (seed) "
               "(default: upstream)");
}

} // namespace cli
