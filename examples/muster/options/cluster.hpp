// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

#include <muster/vocabulary/labels.hpp>

#include "../plan/report.hpp"

namespace cli {

/// Adds the options of all commands that read a cluster from files, with those of the policy.
void add_cluster(CLI::App& to, request& asked);

/// Adds `-l`.
void add_selector(CLI::App& to, muster::label_selector& selector, const char* help);

/// Adds `-l` for groups and their pods.
void add_group_selector(CLI::App& to, request& asked);

} // namespace cli
