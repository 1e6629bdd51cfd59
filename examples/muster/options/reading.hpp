// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include <muster/apis/core/reading_rules.hpp>
#include <muster/gangs/target.hpp>

namespace cli {

/// Adds `-f`, which is required.
void add_files(CLI::App& to, std::vector<std::string>& files);

/// Adds the options about how objects are read: the version of Kubernetes and the default spread
/// constraints.
void add_rules(CLI::App& to, muster::codec::reading_rules& rules);

/// Adds `--topology`: node labels from coarse to fine.
void add_topology(CLI::App& to, std::vector<std::string>& levels);

/// Adds `--dialect` of Grove's API.
void add_grove_dialect(CLI::App& to, muster::translate::grove_dialect& dialect);

} // namespace cli
